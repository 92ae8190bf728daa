//! What one program prints and the next one reads.

use super::change::Change;
use super::text::{NUMBERS, is_joint, is_search, raw, words};

/// Counts what all files have together, where `wc` prints its own total among what is added up.
pub(super) fn once(command: &mut String) -> Option<Change> {
    let (counts, adds) = command.split_once(" | awk ")?;
    let (before, flag) = counts.strip_suffix(" {} +")?.rsplit_once(" -exec wc ")?;
    let adds: String = adds.chars().filter(|letter| !letter.is_whitespace()).collect();
    let name = adds.strip_prefix("'{")?.split_once("+=$1}END{print")?.0;
    let is_sum = adds == format!("'{{{name}+=$1}}END{{print{name}}}'") && ["-l", "-w", "-c", "-m"].contains(&flag);
    let is_name = !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphabetic());
    let now = format!("-exec cat {{}} + | wc {flag}");
    let changed = format!("{before} {now}");
    (is_sum && is_name).then(|| *command = changed)?;
    Some(Change::CountedTwice { now })
}

/// Lets `grep` say what it finds where something else reads that: with `-q` it never prints anything. Behind `find -exec` it then
/// lists the files.
pub(super) fn heard(command: &mut String) -> Option<Change> {
    const TESTS: &str = "-name -iname -path -ipath -regex -type -size -empty -newer -mtime -mmin -atime -amin -ctime -cmin \
        -perm -user -group -not -maxdepth -mindepth";
    let all = raw(command)?;
    let word = |at: usize| all.get(at).map_or("", |range| &command[range.clone()]);
    let starts = |at: usize| at == 0 || is_joint(word(at - 1)) || word(at - 1) == "-exec";
    let grep = (0..all.len()).find(|at| is_search(word(*at)) && starts(*at))?;
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
        .find(|at| if is_inside { ["\\;", "+", "';'"].contains(&word(*at)) } else { is_joint(word(*at)) })?;
    let pipe = if is_inside { end + 1 } else { end };
    // Before it, `find` only tests: an action of its own may print. Errors may go the same way.
    let begun = (0..grep).rev().find(|at| is_joint(word(*at))).map_or(0, |at| at + 1);
    let tests = |at: usize| {
        let digits = word(at).trim_start_matches(['-', '+']).bytes().all(|byte| byte.is_ascii_digit());
        digits || !word(at).starts_with('-') || TESTS.split(' ').any(|test| test == word(at))
    };
    let is_alone = !is_inside || (word(begun) == "find" && (begun..grep - 1).all(tests));
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
    Some(Change::SaysNothing { was, now })
}

/// Shows all, where the line does not ask for some: a small model likes the first five.
pub(super) fn shown(line: &str, command: &mut String) -> Option<Change> {
    const SOME: &str = "top first large larger largest big bigger biggest small smaller smallest long longest short shortest most \
        least new newest newer old oldest older latest recent recently few some example examples sample best worst high highest low \
        lowest heavy heaviest last one single any max min maximum minimum only head beginning begin start starting preview n quick quickly \
        handful couple several brief briefly peek glimpse glance overview part portion half limit limited less dozen random main important";
    const ORDER: &[&str] = &["sort", "order", "rank", "ascend", "descend", "alphabet", "by"];
    const ASKS: &str = "list show display print count find search get give compute calculate sum which what how";
    let words = words(line);
    // What another language asks for is not known.
    let is_english =
        line.is_ascii() && words.first().is_some_and(|first| ASKS.split(' ').any(|verb| verb == first));
    let is_some = |word: &String| {
        let is_number = word.bytes().any(|byte| byte.is_ascii_digit()) || NUMBERS.contains(&word.as_str());
        is_number || SOME.split(' ').any(|some| some == word)
    };
    // A path may have digits in it.
    let mut said = line.split_whitespace().filter(|word| !word.contains('/')).flat_map(super::text::words);
    if !is_english || said.any(|word| is_some(&word)) {
        return None;
    }
    let all = raw(command)?;
    let word = |at: usize| all.get(at).map_or("", |range| &command[range.clone()]);
    let pipe = (0..all.len()).rev().find(|at| is_joint(word(*at)))?;
    let count = command[all.get(pipe + 2)?.start..].strip_prefix('-')?;
    let count = count.strip_prefix('n').unwrap_or(count).trim();
    if word(pipe) != "|" || word(pipe + 1) != "head" || count.parse::<u32>().is_err() {
        return None;
    }
    let is_sorted = words.iter().any(|word| ORDER.iter().any(|order| word.starts_with(order)));
    let sort =
        (0..pipe).rev().find(|at| is_joint(word(*at))).filter(|at| word(*at) == "|" && word(at + 1) == "sort");
    let sort = sort.filter(|at| !is_sorted && (at + 2..pipe).all(|at| word(at).starts_with('-')));
    let from = all[sort.unwrap_or(pipe)].start;
    let was = command[from..].to_owned();
    command.truncate(command[..from].trim_end().len());
    Some(Change::Shown { was })
}

/// Compares what is to be compared: `uniq -d` behind `md5sum` would compare the names, too, and `sort -h` behind `ls -l` the
/// permissions.
pub(super) fn compared(command: &mut String) -> Option<Change> {
    const SUMS: &[(&str, &str)] = &[("md5sum", "32"), ("sha1sum", "40"), ("sha256sum", "64"), ("sha512sum", "128")];
    let piped = |program: &str| {
        let (before, rest) = command.split_once(&format!(" | {program} -"))?;
        let (flags, _) = rest.split_once(" | ").unwrap_or((rest, ""));
        Some((before, flags, before.len() + " | ".len() + program.len()))
    };
    let all_of = |flags: &str, letters: &str| flags.chars().all(|flag| letters.contains(flag));
    let same =
        piped("uniq").filter(|(_, flags, _)| all_of(flags, "dDuc") && *flags != "c").and_then(|(before, _, at)| {
            let sums =
                [" | sort", " | sort -r"].into_iter().find_map(|sort| before.strip_suffix(sort)).unwrap_or(before);
            let sums = sums.rsplit(" | ").next()?.replace(" -exec ", " -exec | ");
            let sums = sums.rsplit("| ").next()?;
            let (_, width) =
                SUMS.iter().find(|(name, _)| sums.strip_prefix(name).is_some_and(|rest| rest.starts_with(' ')))?;
            let is_plain = !sums.split(' ').any(|word| word.starts_with('-'));
            is_plain.then(|| ("uniq", format!("-w{width}"), at))
        });
    // Other flags of `ls` add columns or take some away, and "4.0K" is no number.
    let long = piped("sort").filter(|(_, flags, _)| all_of(flags, "rhn") && *flags != "r").and_then(
        |(before, sort, at)| {
            let listed = before.rsplit(" | ").next()?.strip_prefix("ls ")?;
            let flags: String = listed.split(' ').filter_map(|word| word.strip_prefix('-')).collect();
            let is_read =
                flags.contains('l') && all_of(&flags, "lhaAStr1") && (sort.contains('h') || !flags.contains('h'));
            is_read.then(|| ("sort", "-k5,5".to_owned(), at))
        },
    );
    let (program, now, at) = same.or(long)?;
    command.insert_str(at, &format!(" {now}"));
    Some(Change::Compared { program: program.to_owned(), now })
}
