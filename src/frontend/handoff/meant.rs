//! Where a line says how old a file is, or that directories below are left out, and the command says something else. A
//! small model writes `-mtime -2` for two hours, which is two days, and forgets `-maxdepth 1`: what it then deletes is more than
//! was meant. Only what can be read without a doubt is changed. So is a sum that counts what `wc` itself has summed up, and a
//! `grep -q` whose output something else would read.

use std::ops::Range;

use crate::locale::{Locale, word};
use crate::terminal::sanitize_line;

/// One thing that a command says differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The words of the line; empty where the command is wrong whatever it says.
    pub said: String,
    /// What the command said; empty where it said nothing.
    pub was: String,
    /// What it says now.
    pub now: String,
}

impl Change {
    /// Words it for the person.
    pub(super) fn worded(&self, locale: &Locale) -> String {
        let Self { said, was, now } = self;
        let (said, was, now) = (&sanitize_line(said), &sanitize_line(was), now);
        if said.is_empty() && was == COUNTS {
            locale.with(word::handoff::CountedTwice { now })
        } else if said.is_empty() {
            locale.with(word::handoff::SaysNothing { was, now })
        } else if was.is_empty() {
            locale.with(word::handoff::Meant { said, now })
        } else {
            locale.with(word::handoff::MeantNot { said, now, was })
        }
    }
}

/// Changes a command to what the line says; lists what was changed.
#[must_use]
pub fn meant(line: &str, command: &str) -> Option<(String, Vec<Change>)> {
    let mut command = command.to_owned();
    let changes = [
        age(line, &mut command),
        size(line, &mut command),
        depth(line, &mut command),
        kept(line, &mut command),
        once(&mut command),
        heard(&mut command),
    ];
    let changes: Vec<Change> = changes.into_iter().flatten().collect();
    (!changes.is_empty()).then_some((command, changes))
}

/// Minutes of each unit.
const UNITS: &[(&str, u64)] = &[("minute", 1), ("hour", 60), ("day", DAY), ("week", 7 * DAY)];
const DAY: u64 = 24 * 60;
const NUMBERS: &[&str] = &["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
const OLDER: &[&str] = &["more than", "over", "older than", "at least", "longer than", "earlier than"];
const YOUNGER: &[&str] =
    &["less than", "within", "last", "past", "newer than", "younger than", "under", "within the", "previous"];
/// Words that turn a sentence around.
const NOT: &[&str] = &["not", "no", "never", "without", "except", "excluding", "non", "nor", "cannot"];

/// The words of a line in small letters, without what stands around them.
fn words(line: &str) -> Vec<String> {
    let words = line.split(|letter: char| letter.is_whitespace() || "-/".contains(letter));
    let words = words.map(|word| word.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase());
    words.filter(|word| !word.is_empty()).collect()
}

fn turns(word: &str) -> bool {
    NOT.contains(&word) || word.ends_with("n't") || word.ends_with("n’t") || word == "dont"
}

/// Makes the one age that `find` asks for the one that the line names.
fn age(line: &str, command: &mut String) -> Option<Change> {
    let words = words(line);
    if words.iter().any(|word| word == "between") {
        return None;
    }
    let mut ages = words.windows(2).enumerate().filter_map(|(at, pair)| {
        let number = match pair[0].as_str() {
            "a" | "an" => Some(1),
            word => NUMBERS.iter().position(|name| *name == word).map(|at| at as u64 + 1).or(word.parse().ok()),
        };
        let (_, unit) = UNITS.iter().find(|(name, _)| pair[1].strip_suffix('s').unwrap_or(&pair[1]) == *name)?;
        Some((at, number?, *unit))
    });
    let (at, number, unit) = ages.next().filter(|_| ages.next().is_none())?;
    let minutes = number.checked_mul(unit).filter(|minutes| (1..1_000_000_000).contains(minutes))?;
    let before = words[at.saturating_sub(2)..at].join(" ");
    let has = |names: &[&str]| {
        names
            .iter()
            .any(|name| before.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with(' ')))
    };
    let sign = match (words.iter().any(|word| turns(word)), has(OLDER), has(YOUNGER)) {
        (false, true, false) => Some('+'),
        (false, false, true) => Some('-'),
        _ => None,
    };
    let all = raw(command)?;
    let is_age = |word: &str| ["-mtime", "-ctime", "-atime", "-mmin", "-cmin", "-amin"].contains(&word);
    let mut tests = all.windows(2).filter(|pair| is_age(&command[pair[0].clone()]));
    let pair = tests.next().filter(|_| tests.next().is_none())?;
    let (flag, value) = (&command[pair[0].clone()], &command[pair[1].clone()]);
    let digits = value.trim_start_matches(['+', '-']);
    let amount: u64 = digits.parse().ok().filter(|_| value.len() - digits.len() <= 1)?;
    let own = value.chars().next().filter(|sign| "+-".contains(*sign));
    let in_minutes = amount.saturating_mul(if flag.ends_with("min") { 1 } else { DAY });
    // Whole days are counted: `0` is the last one.
    let is_same = in_minutes == minutes || (amount == 0 && minutes == DAY && flag.ends_with("time"));
    if is_same && sign.is_none_or(|sign| own == Some(sign) || amount == 0) {
        return None;
    }
    let (kind, count) = if unit < DAY { ("min", minutes) } else { ("time", minutes / DAY) };
    let sign = sign.or(own).map(String::from).unwrap_or_default();
    let now = format!("{}{kind} {sign}{count}", &flag[..2]);
    let range = pair[0].start..pair[1].end;
    let was = command[range.clone()].to_owned();
    command.replace_range(range, &now);
    let from = if sign.is_empty() { at } else { at.saturating_sub(2) };
    Some(Change { said: words[from..at + 2].join(" "), was, now })
}

/// Bytes of each unit, as `find` counts them.
const SIZES: &[(&str, u64)] = &[
    ("k", 1 << 10),
    ("kb", 1 << 10),
    ("kilobyte", 1 << 10),
    ("kilobytes", 1 << 10),
    ("m", 1 << 20),
    ("mb", 1 << 20),
    ("megabyte", 1 << 20),
    ("megabytes", 1 << 20),
    ("g", 1 << 30),
    ("gb", 1 << 30),
    ("gigabyte", 1 << 30),
    ("gigabytes", 1 << 30),
];

/// Makes "smaller than 1 MB" that: `find -size -1M` rounds up to whole ones, and finds what is empty.
fn size(line: &str, command: &mut String) -> Option<Change> {
    let words = words(line);
    let mut sizes = words.iter().enumerate().filter_map(|(at, word)| {
        let digits = word.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = word.split_at(digits);
        let (unit, end) = if unit.is_empty() { (words.get(at + 1)?.as_str(), at + 2) } else { (unit, at + 1) };
        let (_, bytes) = SIZES.iter().find(|(name, _)| *name == unit)?;
        Some((at, end, number.parse::<u64>().ok()?.checked_mul(*bytes)?))
    });
    let (at, end, bytes) = sizes.next().filter(|_| sizes.next().is_none())?;
    let before = words[at.saturating_sub(2)..at].join(" ");
    let is_smaller = ["smaller than", "less than", "under", "below"].iter().any(|name| before.ends_with(name));
    if !is_smaller || words.iter().any(|word| turns(word)) {
        return None;
    }
    let all = raw(command)?;
    let mut tests = all.windows(2).filter(|pair| &command[pair[0].clone()] == "-size");
    let value = tests.next().filter(|_| tests.next().is_none())?[1].clone();
    let was = command[value.clone()].to_owned();
    let number = was.strip_prefix('-')?.strip_suffix(['k', 'M', 'G'])?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let now = format!("-{bytes}c");
    is_number.then(|| command.replace_range(value, &now))?;
    let said = words[at.saturating_sub(2)..end].join(" ");
    Some(Change { said, was: format!("-size {was}"), now: format!("-size {now}") })
}

/// Keeps the one `find` of a command out of the directories below, where the line says so.
fn depth(line: &str, command: &mut String) -> Option<Change> {
    /// What may stand between the "not" and the directories below.
    const BETWEEN: &str = "include including search searching look go descend descending recurse check move copy touch delete \
        remove list in into inside the any it's its their of at files folders from through do directories or";
    let words = words(line);
    let said = (0..words.len()).find_map(|at| {
        let is_below = |word: &str| ["director", "folder", "dir"].iter().any(|name| word.starts_with(name));
        let word = words[at].as_str();
        let end = match (word.strip_prefix("sub"), words.get(at + 1)) {
            (Some(""), Some(next)) if is_below(next) => at + 2,
            (Some(rest), _) if is_below(rest) => at + 1,
            _ if word.starts_with("recursive") && at > 0 && turns(&words[at - 1]) => {
                return Some(words[at - 1..=at].join(" "));
            }
            _ => return None,
        };
        let between =
            words[..at].iter().rev().take_while(|word| BETWEEN.split(' ').any(|known| known == *word)).count();
        let not = at.checked_sub(between + 1).filter(|not| turns(&words[*not]))?;
        Some(words[not..end].join(" "))
    })?;
    let all = raw(command)?;
    let is_start = |at: usize| {
        let before = at.checked_sub(1).map(|before| &command[all[before].clone()]);
        before.is_none_or(|before| before == "sudo" || before.ends_with(['|', '&', ';']))
    };
    let mut finds = (0..all.len()).filter(|at| &command[all[*at].clone()] == "find" && is_start(*at));
    let find = finds.next().filter(|_| finds.next().is_none())?;
    if all.iter().any(|word| ["-maxdepth", "-mindepth", "-prune", "-depth"].contains(&&command[word.clone()])) {
        return None;
    }
    let tests = |word: &Range<usize>| command[word.clone()].starts_with(['-', '(', '\\', '!', '|', ';', '&']);
    let paths = all[find + 1..].iter().take_while(|word| !tests(word)).count();
    let end = all[find + paths].end;
    let now = "-maxdepth 1".to_owned();
    command.insert_str(end, &format!(" {now}"));
    Some(Change { said, was: String::new(), now })
}

/// Keeps the file that is compressed, where the line says so: `gzip` and the like delete it.
fn kept(line: &str, command: &mut String) -> Option<Change> {
    let words = words(line);
    let at = words.iter().position(|word| word.starts_with("keep"))?;
    let original = words[at..].iter().take(4).any(|word| word.starts_with("original") || word == "source");
    let is_turned = at > 0 && turns(&words[at - 1]);
    let all = raw(command)?;
    let mut packs = all.iter().filter(|word| ["gzip", "bzip2", "xz", "zstd"].contains(&&command[(*word).clone()]));
    let pack = packs.next().filter(|_| packs.next().is_none() && original && !is_turned)?;
    let is_flag = |word: &Range<usize>| {
        let word = &command[word.clone()];
        word.starts_with('-') && (word.contains(['k', 'c']) || word.starts_with("--"))
    };
    let end = pack.end;
    if all.iter().any(|word| word.start > end && is_flag(word)) {
        return None;
    }
    command.insert_str(end, " -k");
    Some(Change { said: words[at..words.len().min(at + 3)].join(" "), was: String::new(), now: "-k".to_owned() })
}

/// What counts, and prints a total of its own.
const COUNTS: &str = "wc";

/// Counts what all files have together, where `wc` prints its own total among what is added up.
fn once(command: &mut String) -> Option<Change> {
    let (counts, adds) = command.split_once(" | awk ")?;
    let (before, flag) = counts.strip_suffix(" {} +")?.rsplit_once(" -exec wc ")?;
    let adds: String = adds.chars().filter(|letter| !letter.is_whitespace()).collect();
    let name = adds.strip_prefix("'{")?.split_once("+=$1}END{print")?.0;
    let is_sum = adds == format!("'{{{name}+=$1}}END{{print{name}}}'") && ["-l", "-w", "-c", "-m"].contains(&flag);
    let is_name = !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphabetic());
    let now = format!("-exec cat {{}} + | wc {flag}");
    let changed = format!("{before} {now}");
    (is_sum && is_name).then(|| *command = changed)?;
    Some(Change { said: String::new(), was: COUNTS.to_owned(), now })
}

/// Lets `grep` say what it finds where something else reads that: with `-q` it never prints anything. Behind `find -exec` it then
/// lists the files.
fn heard(command: &mut String) -> Option<Change> {
    const SEARCHES: &str = "grep egrep fgrep";
    let all = raw(command)?;
    let word = |at: usize| all.get(at).map_or("", |range| &command[range.clone()]);
    let ends = |word: &str| ["|", "||", "&&"].contains(&word) || word.ends_with([';', '&']);
    let starts = |at: usize| at == 0 || ends(word(at - 1)) || word(at - 1) == "-exec";
    let grep = (0..all.len()).find(|at| SEARCHES.split(' ').any(|name| name == word(*at)) && starts(*at))?;
    let is_quiet = |flag: &str| {
        let letters = flag.strip_prefix('-').unwrap_or_default();
        let is_short = letters.contains('q') && letters.chars().all(|letter| "EFGHRchilnoqrsvwx".contains(letter));
        is_short || ["--quiet", "--silent"].contains(&flag)
    };
    let quiet = (grep + 1..all.len()).take_while(|at| word(*at).starts_with('-')).find(|at| is_quiet(word(*at)))?;
    // What stands before it may take it as its argument.
    if quiet > grep + 1 && word(quiet - 1).ends_with(['e', 'f', 'm', 'A', 'B', 'C', 'd', 'D', '-']) {
        return None;
    }
    let is_inside = grep > 0 && word(grep - 1) == "-exec";
    let end = (quiet..all.len())
        .find(|at| if is_inside { ["\\;", "+", "';'"].contains(&word(*at)) } else { ends(word(*at)) })?;
    let pipe = if is_inside { end + 1 } else { end };
    // What else prints: an action of `find` before it, and errors that go the same way.
    let begun = (0..grep).rev().find(|at| ends(word(*at))).map_or(0, |at| at + 1);
    let acts = |at: usize| ["-print", "-exec", "-ls", "-ok"].iter().any(|name| word(at).starts_with(name));
    let is_alone = !is_inside || (word(begun) == "find" && !(begun..grep - 1).any(acts));
    if word(pipe) != "|" || !is_alone || (begun..pipe).any(|at| word(at).contains('>')) {
        return None;
    }
    let was = word(quiet).to_owned();
    let letters: String =
        was.strip_prefix('-').unwrap_or_default().chars().filter(|letter| *letter != 'q').collect();
    let flag = match (was.starts_with("--"), is_inside) {
        (true, true) => "-l".to_owned(),
        (false, true) => format!("-{}l", letters.replace('l', "")),
        (false, false) if !letters.is_empty() => format!("-{letters}"),
        (_, false) => String::new(),
    };
    let from = if flag.is_empty() { all[quiet - 1].end } else { all[quiet].start };
    let (now, range) = (format!("{} {flag}", word(grep)).trim_end().to_owned(), from..all[quiet].end);
    let was = format!("{} {was}", word(grep));
    command.replace_range(range, &flag);
    Some(Change { said: String::new(), was, now })
}

/// Where the words of a command stand, as they are written; `None` where quotes do not end.
fn raw(command: &str) -> Option<Vec<Range<usize>>> {
    let (mut words, mut begun, mut quote) = (Vec::new(), None, None);
    let mut letters = command.char_indices();
    while let Some((at, letter)) = letters.next() {
        match (quote, letter) {
            (None, letter) if letter.is_whitespace() => {
                words.extend(begun.take().map(|begun| begun..at));
                continue;
            }
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), letter) if open == letter => quote = None,
            (None | Some('"'), '\\') => {
                letters.next()?;
            }
            _ => {}
        }
        begun.get_or_insert(at);
    }
    words.extend(begun.map(|begun| begun..command.len()));
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
            (
                "remove logs younger than 7 days",
                "find . -mtime +7 -exec rm {} \\;",
                "find . -mtime -7 -exec rm {} \\;",
            ),
            ("files that changed over an hour ago", "find /w -type f -cmin +3600", "find /w -type f -cmin +60"),
            ("files modified in the last 2 hours", "find . -mtime -2 | head", "find . -mmin -120 | head"),
            ("files of the last two weeks", "find . -mtime -2", "find . -mtime -14"),
            ("files modified 3 hours ago", "find . -mtime 3", "find . -mmin 180"),
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
        assert_eq!(said.1[0].said, "newer than 3 hours");
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
        assert_eq!(
            changed("compress a.log and keep the original", "find . -exec xz {} +"),
            "find . -exec xz -k {} +"
        );
        for command in ["gzip -k a", "gzip -9k a", "gzip --keep a", "gzip -c a > b", "tar czf a.tgz a"] {
            assert_eq!(changed(line, command), command);
        }
        assert_eq!(changed("gzip a.php, not keeping the original", "gzip a.php"), "gzip a.php");
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

    proptest! {
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

        #[test]
        fn nothing_is_changed_without_a_word_for_it(line in "[a-z ]{0,30}", command in "\\PC{0,40}") {
            let says = ["minute", "hour", "day", "week", "sub", "recurs"].iter().any(|word| line.contains(word));
            prop_assert!(says || meant(&line, &command).is_none());
        }
    }
}
