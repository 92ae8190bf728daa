//! What one program prints and the next one reads.

use super::{Change, raw};

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
    const SEARCHES: &str = "grep egrep fgrep";
    const TESTS: &str = "-name -iname -path -ipath -regex -type -size -empty -newer -mtime -mmin -atime -amin -ctime -cmin \
        -perm -user -group -not -maxdepth -mindepth";
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
    // Before it, `find` only tests: an action of its own may print. Errors may go the same way.
    let begun = (0..grep).rev().find(|at| ends(word(*at))).map_or(0, |at| at + 1);
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
