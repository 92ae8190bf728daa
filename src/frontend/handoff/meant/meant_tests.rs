use proptest::prelude::*;

use super::find::{DAY, UNITS};
use super::*;

fn changed(line: &str, command: &str) -> String {
    meant(line, command).map_or_else(|| command.to_owned(), |(command, _)| command)
}

#[test]
fn grep_says_what_it_finds_where_that_is_read() {
    for (command, now) in [
        ("grep -rq foo a | wc -l", "grep -r foo a | wc -l"),
        ("ls | grep -q foo | wc -l", "ls | grep foo | wc -l"),
        ("grep --quiet foo a | head", "grep foo a | head"),
        (
            "find . -name '*.html' -exec grep -q foo {} \\; | wc -l",
            "find . -name '*.html' -exec grep -l foo {} \\; | wc -l",
        ),
        ("find . -exec grep -qi 'a|b' {} + | wc -l", "find . -exec grep -il 'a|b' {} + | wc -l"),
    ] {
        assert_eq!(changed("count them", command), now);
    }
    for command in [
        "grep -q foo a && echo yes",
        "grep -q foo a || echo no | cat",
        "grep -q foo a; ls | wc -l",
        "find . -exec grep -q foo {} \\; -print | wc -l",
        "find . -exec grep -q foo {} \\;",
        "grep foo -q | wc -l",
        "find . -print -exec grep -q foo {} \\; | wc -l",
        "find . -exec ls {} \\; -exec grep -q foo {} \\; | wc -l",
        "grep -q foo a 2>&1 | wc -l",
        "grep -e -q a | wc -l",
        "echo grep -q a | wc -l",
        "grep -q 'a | b' c",
    ] {
        assert_eq!(changed("count them", command), command);
    }
}

#[test]
fn an_age_is_that_of_the_line() {
    for (line, command, now) in [
        (
            "remove *.txt files modified more than 5 minutes ago",
            "find a -mtime +5 -delete",
            "find a -mmin +5 -delete",
        ),
        ("remove logs younger than 7 days", "find . -mtime +7 -exec rm {} \\;", "find . -mtime -7 -exec rm {} \\;"),
        ("files that changed over an hour ago", "find /w -type f -cmin +3600", "find /w -type f -cmin +60"),
        ("files modified in the last 2 hours", "find . -mtime -2 | head", "find . -mmin -120 | head"),
        ("files of the last two weeks", "find . -mtime -2", "find . -mtime -14"),
        ("files modified 3 hours ago", "find . -mtime 3", "find . -mmin 180"),
        ("files that were accessed over an hour ago", "find /w -mtime +1", "find /w -amin +60"),
        ("files accessed in the last 2 days", "find /w -mtime -2", "find /w -atime -2"),
        ("files accessed in the last 2 days", "find /w -atime -2", ""),
        ("files accessed or modified in the last 2 days", "find /w -mtime -2", ""),
        // What says the same, or cannot be told.
        ("find files changed in the last 24 hours", "find . -mtime -1", ""),
        ("find files changed in the last 24 hours", "find . -mtime 0", ""),
        ("files not modified in the last 30 days", "find . -mtime +30", ""),
        ("files between 2 and 5 days old", "find . -mtime +2", ""),
        ("files older than 2 days and newer than 9 days", "find . -mtime +2", ""),
        ("files older than 2 hours", "find . -mmin +120 -mtime -5", ""),
        ("sleep 5 minutes", "sleep 300", ""),
        ("older than 5 minutes", "find . -mtime '+5", ""),
    ] {
        assert_eq!(changed(line, command), if now.is_empty() { command } else { now }, "{line}");
    }
}

#[test]
fn what_is_below_is_left_out_where_the_line_says_so() {
    let command = "find /s dir2 -type f -name '*.txt' -delete";
    let now = "find /s dir2 -maxdepth 1 -type f -name '*.txt' -delete";
    for line in [
        "empty files here, do not search sub directories",
        "remove all *.txt files. Do not include subdirectories.",
        "remove files in '/s' directory but not in it's subdirectories",
        "move what is here, don't go into sub-folders",
        "list them, not recursively",
    ] {
        assert_eq!(changed(line, command), now, "{line}");
    }
    for line in ["directories that do not have subdirectories", "files here and in subdirectories", "not sub"] {
        assert_eq!(changed(line, command), command, "{line}");
    }
    for command in ["ls -d *", "find . -maxdepth 2", "grep find x", "find a; find b", "echo 'find . "] {
        assert_eq!(changed("not in subdirectories", command), command);
    }
    assert_eq!(changed("without subfolders", "sudo find"), "sudo find -maxdepth 1");
    let both = "find . -mtime -3 -delete";
    let said = meant("delete files newer than 3 hours, not in subfolders", both).unwrap();
    assert_eq!(said.0, "find . -maxdepth 1 -mmin -180 -delete");
    assert!(matches!(&said.1[0], Change::Instead { said, .. } if said == "newer than 3 hours"));
}

#[test]
fn a_size_below_is_counted_in_bytes() {
    for (line, command, now) in [
        ("files smaller than 1 MB", "find . -size -1M", "find . -size -1048576c"),
        ("delete files smaller than 10kb", "find . -size -10k -delete", "find . -size -10240c -delete"),
        ("files larger than 1 MB", "find . -size +1M", ""),
        ("files not smaller than 1 MB", "find . -size -1M", ""),
        ("files smaller than 1 MB", "find . -size -1048576c", ""),
        ("files smaller than 1 MB and larger than 1 KB", "find . -size -1M", ""),
    ] {
        assert_eq!(changed(line, command), if now.is_empty() { command } else { now }, "{line}");
    }
}

#[test]
fn what_is_to_be_kept_is_kept() {
    let line = "gzip the file a.php keeping the original file";
    assert_eq!(changed(line, "gzip a.php"), "gzip -k a.php");
    assert_eq!(changed("compress a.log and keep the original", "find . -exec xz {} +"), "find . -exec xz -k {} +");
    for command in ["gzip -k a", "gzip -9k a", "gzip --keep a", "gzip -c a > b", "tar czf a.tgz a"] {
        assert_eq!(changed(line, command), command);
    }
    assert_eq!(changed("gzip a.php, not keeping the original", "gzip a.php"), "gzip a.php");
}

#[test]
fn a_text_is_printed_as_the_line_has_it() {
    for (line, command, now) in [
        ("print hello world", "echo 'Hello, world!'", "echo 'hello world'"),
        ("echo 'It works: yes'", "echo \"it works yes\"", "echo 'It works: yes'"),
        ("say wörter 日本", "echo 'Wörter 日本.'", "echo 'wörter 日本'"),
        ("print hello world", "echo hello world", ""),
        ("print hello world in red", "echo 'Hello, world!'", ""),
        ("print hello", "echo hello > a", ""),
        ("print the date", "echo $(date)", ""),
        ("greet hello", "echo Hello", ""),
        ("print -n a", "echo 'n a'", ""),
        ("print ...", "echo 'hi'", ""),
    ] {
        assert_eq!(changed(line, command), if now.is_empty() { command } else { now }, "{line}");
    }
}

#[test]
fn an_archive_that_is_called_plain_is_plain() {
    for (line, command, now) in [
        ("tar a.php to /t/a.tar", "tar -czvf /t/a.tar a.php", "tar -cvf /t/a.tar a.php"),
        ("put src into 'b.tar'", "tar cjf b.tar src", "tar cf b.tar src"),
        ("tar a.php to a.tar with gzip", "tar -czf a.tar a.php", ""),
        ("tar a.php to a.tar.gz", "tar -czf a.tar.gz a.php", ""),
        ("tar a.php", "tar -czf a.tar a.php", ""),
        ("unpack a.tar", "tar -xzf a.tar", ""),
        ("tar a to b.tar", "tar -cf b.tar a", ""),
        ("tar a to b.tar", "tar -c -zf b.tar a", ""),
    ] {
        assert_eq!(changed(line, command), if now.is_empty() { command } else { now }, "{line}");
    }
}

#[test]
fn names_on_both_sides_of_an_or_belong_together() {
    for (command, now) in [
        (
            "find /s -type f -name 'a.out' -o -name '*.o' -mtime -7 -exec rm {} +",
            "find /s -type f \\( -name 'a.out' -o -name '*.o' \\) -mtime -7 -exec rm {} +",
        ),
        (
            "find . -name a -o -iname b -or -path c -delete",
            "find . \\( -name a -o -iname b -or -path c \\) -delete",
        ),
        ("sudo find -type d -name a -o -name b | wc -l", "sudo find -type d \\( -name a -o -name b \\) | wc -l"),
        (
            "find . -name a -o -name b -exec ls {} \\; ; ls",
            "find . \\( -name a -o -name b \\) -exec ls {} \\; ; ls",
        ),
    ] {
        assert_eq!(changed("", command), now);
    }
    for command in [
        "find . -name a -o -name b",
        "find . -maxdepth 2 -name a -o -name b | sort -r",
        "find . \\( -name a -o -name b \\) -delete",
        "find . -type f -name a -delete",
        "find . -name a -print -o -name b -print",
        "find . -name a -o -type d -name b -print",
        "find . -name a -prune -o -name b -print",
        "find . -name a -o -name b ! -name c -print",
        "find . -name a -o -name b -o -size 3 -print",
        "find . -name a -o -name",
        "find a -name b -delete; find c -name a -o -name b -delete",
        "echo 'find . -name a -o -name b -delete",
    ] {
        assert_eq!(changed("", command), command);
    }
}

#[test]
fn what_wc_has_summed_up_is_not_added_again() {
    let now = "find . -name '*.c' -exec cat {} + | wc -l";
    for sum in ["'{sum += $1} END {print sum}'", "'{s+=$1}END{print s}'"] {
        assert_eq!(
            changed("lines of all c files", &format!("find . -name '*.c' -exec wc -l {{}} + | awk {sum}")),
            now
        );
    }
    for command in [
        r"find . -exec wc -l {} \; | awk '{s+=$1} END {print s}'",
        "find . -exec wc -l {} + | awk '{s+=$2} END {print s}'",
        "find . -exec wc -l {} + | awk '{s+=$1} END {print s/NR}'",
        "find . -exec wc {} + | awk '{s+=$1} END {print s}'",
        "find . -exec wc -l {} + | awk '{s+=$1} END {print t}'",
    ] {
        assert_eq!(changed("lines of all c files", command), command);
    }
}

#[test]
fn letters_in_quotes_are_looked_for_in_no_other_case() {
    for (line, command, now) in [
        ("lines of a that contain 'the' and 'b'", "grep -i 'the' a | grep -ni 'b'", "grep 'the' a | grep -n 'b'"),
        ("files with \"Foo\" in them", "find . -exec grep -li Foo {} +", "find . -exec grep -l Foo {} +"),
        ("lines that contain 'the', whatever the case", "grep -i 'the' a", ""),
        ("any cased text 'Hello'", "grep -rni 'Hello' .", ""),
        ("lines that contain the", "grep -i 'the' a", ""),
        ("lines that contain 'the'", "grep -i 'they' a", ""),
        ("lines that contain 'the'", "grep -ie 'the' a", ""),
        ("lines that contain 'the'", "grep 'the' -i a", ""),
        ("say 'the'", "echo grep -i 'the'", ""),
    ] {
        assert_eq!(changed(line, command), if now.is_empty() { command } else { now }, "{line}");
    }
}

#[test]
fn what_goes_to_stdout_is_not_unpacked_on_the_disk() {
    let line = "unzip files to stdout in a.tar.gz and search for x";
    assert_eq!(changed(line, "tar -xzvf a.tar.gz | grep x"), "tar -xzvf a.tar.gz -O | grep x");
    for command in
        ["tar -tzf a.tar.gz | grep x", "tar -xzf a.tar.gz", "tar -xzf a.tgz -C b | cat", "cat a | tar xf -"]
    {
        assert_eq!(changed(line, command), command);
    }
    assert_eq!(changed("unpack a.tar", "tar -xf a.tar | cat"), "tar -xf a.tar | cat");
}

#[test]
fn du_names_files_where_they_are_asked_for() {
    for (line, command, now) in [
        ("sizes of all files/directories in w", "du -h /w | sort -rh", "du -a -h /w | sort -rh"),
        ("the largest files here", "du . | sort -n | tail", "du -a . | sort -n | tail"),
        ("the largest directories", "du -h . | sort -rh", ""),
        ("size of all files together", "du -sh .", ""),
        ("sizes of all files", "du -h *", ""),
        ("sizes of all files", "du -ah .", ""),
        ("sizes of all files", "du --max-depth=1 .", ""),
    ] {
        assert_eq!(changed(line, command), if now.is_empty() { command } else { now }, "{line}");
    }
}

#[test]
fn all_is_shown_where_no_part_is_asked_for() {
    for (line, command, now) in [
        (
            "count the lines of files under /w/dir2",
            "find /w/dir2 -exec wc -l {} + | sort -nr | head -n 5",
            "find /w/dir2 -exec wc -l {} +",
        ),
        ("list the files by size", "ls -l | sort -k5 -n | head -5", "ls -l | sort -k5 -n"),
        ("show what is in a", "cat a | head -n 10", "cat a"),
        ("show the 3 largest files", "du -a | sort -n | head -n 3", ""),
        ("show the three largest", "du -a | sort -n | head -n 3", ""),
        ("list a few files", "ls | head -n 5", ""),
        ("zeige alle Dateien", "ls | head -n 5", ""),
        ("list 最大 files", "ls | head -n 5", ""),
        ("list files", "ls | head -c 5", ""),
        ("list files", "ls | head -n", ""),
        ("list files", "ls | head é", ""),
        ("list files", "ls | head -é", ""),
        ("list files", "echo 'a | head -n 5'", ""),
    ] {
        assert_eq!(changed(line, command), if now.is_empty() { command } else { now }, "{line}");
    }
}

#[test]
fn what_is_compared_is_what_was_meant() {
    for (command, now) in [
        ("find . -exec md5sum {} + | sort | uniq -d", "find . -exec md5sum {} + | sort | uniq -w32 -d"),
        ("sha256sum * | sort | uniq -D | cut -c1-64", "sha256sum * | sort | uniq -w64 -D | cut -c1-64"),
        (
            "find . -type f -exec md5sum {} \\; | sort | uniq -dc",
            "find . -type f -exec md5sum {} \\; | sort | uniq -w32 -dc",
        ),
        ("ls -lh /d | sort -rh | head -n 3", "ls -lh /d | sort -k5,5 -rh | head -n 3"),
    ] {
        assert_eq!(changed("show the 3 there", command), now);
    }
    for command in [
        "md5sum * | awk '{print $1}' | sort | uniq -d",
        "md5sum * | sort | uniq -c",
        "md5sum * | sort | uniq -w32 -d",
        "md5sum -z * | sort | uniq -d",
        "cat sums | sort | uniq -d",
        "ls -l | sort -k5 -n",
        "ls -l | sort -r",
        "ls | sort -n",
        "ls -i | sort -n",
        "ls -l -o | sort -n",
        "ls -ls | sort -n",
        "ls -l --author | sort -n",
        "ls -lh | sort -n",
    ] {
        assert_eq!(changed("show the 3 there", command), command);
    }
}

proptest! {
    /// "prints nothing for what reads it" is true: what stands before the pipe is run for real.
    #[test]
    fn what_is_made_to_say_something_said_nothing(
        before in prop::sample::select(vec!["", "ls | ", "cat a b | ", "true; ", "true && "]),
        search in prop::sample::select(vec!["grep", "egrep", "fgrep"]),
        first in prop::sample::select(vec!["", "-r", "-n ", "-e ", "-m ", "-c ", "-s ", "-- ", "-l ", "--color "]),
        quiet in prop::sample::select(vec!["-q", "-qi", "-lq", "-rqs", "-cq", "--quiet", "--silent", "-qe", "-v"]),
        rest in prop::sample::select(vec!["x", "x a", "x a b c", "-L x a", "x .", "-H x a 2>&1", "x none", "y a", "'' a"]),
        inside in prop::sample::select(vec!["", "find . -exec ", "find . -type f -exec ", "find . -print -exec ", "find . -exec cat {} + -exec ", "find . -fprint /dev/stdout -exec ", "find . -execdir "]),
        end in prop::sample::select(vec!["{} \\;", "{} +", "{} ';'", "{} \\; -print", "{} \\; -o -print"]),
    ) {
        let search = format!("{search} {first}{quiet} {rest}");
        let quiet = if inside.is_empty() { format!("{before}{search}") } else { format!("{before}{inside}{search} {end}") };
        if meant("", &format!("{quiet} | wc -l")).is_some() {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join("a"), "x\n").unwrap();
            std::fs::write(folder.path().join("b"), "y\nx\n").unwrap();
            let run = std::process::Command::new("sh").args(["-c", &quiet]).current_dir(folder.path()).output().unwrap();
            prop_assert!(run.stdout.is_empty(), "{quiet}: {:?}", String::from_utf8_lossy(&run.stdout));
        }
    }

    /// The brackets make it what was meant: each name, and each other test. `find` runs for real.
    #[test]
    fn what_is_grouped_finds_all_names_that_pass_the_other_tests(
        names in prop::collection::vec(prop::sample::select(vec!["a", "b", "c", "d", "*"]), 2..4),
        kind in prop::sample::select(vec![None, Some("f"), Some("d")]),
        is_before in any::<bool>(),
        end in prop::sample::select(vec!["", " -print", " -exec echo {} \\;", " -exec echo {} + | cat", " ; true"]),
    ) {
        let test = kind.map(|kind| format!(" -type {kind}")).unwrap_or_default();
        let chain = names.iter().map(|name| format!("-name '{name}'")).collect::<Vec<_>>().join(" -o ");
        let (before, behind) = if is_before { (test.as_str(), "") } else { ("", test.as_str()) };
        let command = changed("", &format!("find .{before} {chain}{behind}{end}"));
        let folder = tempfile::tempdir().unwrap();
        for (path, is_folder) in [("a", false), ("b", true), ("b/a", true), ("b/c", false), ("d", false)] {
            let path = folder.path().join(path);
            if is_folder { std::fs::create_dir(path).unwrap() } else { std::fs::write(path, "").unwrap() }
        }
        let wanted = [("./a", "f"), ("./b", "d"), ("./b/a", "d"), ("./b/c", "f"), ("./d", "f"), (".", "d")];
        let fits = |(path, is): &&(&str, &str)| {
            let name = path.rsplit('/').next().unwrap();
            names.iter().any(|known| *known == "*" || *known == name) && kind.is_none_or(|kind| kind == *is)
        };
        let mut wanted: Vec<&str> = wanted.iter().filter(fits).map(|(path, _)| *path).collect();
        let ran = std::process::Command::new("sh").args(["-c", &command]).current_dir(folder.path()).output().unwrap();
        let printed = String::from_utf8(ran.stdout).unwrap();
        let mut found: Vec<&str> = printed.split_whitespace().collect();
        wanted.sort_unstable();
        found.sort_unstable();
        prop_assert_eq!(found, wanted, "{}", command);
    }

    /// "which is -mmin …" is true: it is as many minutes as the line says, older or younger as it says.
    #[test]
    fn the_minutes_are_those_of_the_line(
        number in 1_u64..500,
        (unit, minutes) in prop::sample::select(UNITS),
        (word, sign) in prop::sample::select(vec![("more than", '+'), ("older than", '+'), ("in the last", '-'), ("less than", '-')]),
        flag in prop::sample::select(vec!["-mtime", "-cmin", "-amin", "-ctime"]),
        value in "[+-]?[0-9]{1,4}",
    ) {
        let line = format!("find what changed {word} {number} {unit}s ago");
        let command = changed(&line, &format!("find . {flag} {value} -print"));
        let words: Vec<&str> = command.split(' ').collect();
        let amount: u64 = words[3].trim_start_matches(['+', '-']).parse().unwrap();
        let all = amount * if words[2].ends_with("min") { 1 } else { DAY };
        let is_last_day = amount == 0 && number * minutes == DAY;
        prop_assert!(all == number * minutes && words[3].starts_with(sign) || is_last_day, "{line}: {command}");
        prop_assert!(words[2][..2] == flag[..2] && words[4] == "-print");
    }

    /// "your line says …" is true: what is printed now are those letters.
    #[test]
    fn what_is_printed_stands_in_the_line(said in "[ -~äß日]{1,24}", other in "[ -~]{0,12}", as_is in any::<bool>()) {
        let text = if as_is { said.to_uppercase() + "!" } else { other };
        let (line, command) = (format!("print {said}"), format!("echo {}", shlex::try_quote(&text).unwrap()));
        let now = changed(&line, &command);
        if now != command {
            let printed = std::process::Command::new("sh").args(["-c", &now]).output().unwrap().stdout;
            let printed = String::from_utf8(printed).unwrap();
            prop_assert!(line.contains(printed.trim_end_matches('\n')), "{line}: {now} printed {printed}");
        }
    }

    #[test]
    fn nothing_is_changed_without_a_word_for_it(line in "[a-z ]{0,30}", command in "\\PC{0,40}") {
        let says = ["minute", "hour", "day", "week", "sub", "recurs"].iter().any(|word| line.contains(word));
        prop_assert!(says || meant(&line, &command).is_none());
    }
}
