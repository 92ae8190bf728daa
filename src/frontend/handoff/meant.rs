//! Where a line says how old a file is, or that directories below are left out, and the command says something else. A
//! small model writes `-mtime -2` for two hours, which is two days, and forgets `-maxdepth 1`: what it then deletes is more than
//! was meant. Only what can be read without a doubt is changed. So is a text to print in other letters, an archive that its name
//! says is plain, a sum that counts what `wc` itself has summed up, and a `grep -q` whose output something else would read.

use std::ops::Range;

use crate::locale::{Locale, word};
use crate::terminal::sanitize_line;

/// One thing that a command says differently now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// The line says it, the command said nothing of it.
    Added { said: String, now: String },
    /// The command said something else.
    Instead { said: String, was: String, now: String },
    /// `wc` prints a total that would be counted, too.
    CountedTwice { now: String },
    /// A quiet program's output was to be read.
    SaysNothing { was: String, now: String },
    /// What stands on both sides of an `-o` belongs together.
    Grouped { now: String },
}

impl Change {
    /// Words it for the person.
    pub(super) fn worded(&self, locale: &Locale) -> String {
        match self {
            Self::Added { said, now } => locale.with(word::handoff::Meant { said: &sanitize_line(said), now }),
            Self::Instead { said, was, now } => {
                locale.with(word::handoff::MeantNot { said: &sanitize_line(said), now, was: &sanitize_line(was) })
            }
            Self::CountedTwice { now } => locale.with(word::handoff::CountedTwice { now }),
            Self::SaysNothing { was, now } => locale.with(word::handoff::SaysNothing { was, now }),
            Self::Grouped { now } => locale.with(word::handoff::Grouped { now: &sanitize_line(now) }),
        }
    }
}

/// Changes a command to what the line says; lists what was changed.
#[must_use]
pub(crate) fn meant(line: &str, command: &str) -> Option<(String, Vec<Change>)> {
    let mut command = command.to_owned();
    let changes = [
        age(line, &mut command),
        size(line, &mut command),
        depth(line, &mut command),
        kept(line, &mut command),
        printed(line, &mut command),
        unpacked(line, &mut command),
        grouped(&mut command),
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
    // Only one of the three times is that of the last look.
    let says = |stem: &str| words.iter().position(|word| word.starts_with(stem));
    let look = says("accessed")
        .filter(|_| !["modif", "chang", "creat", "edit"].into_iter().any(|stem| says(stem).is_some()));
    let look = look.filter(|_| !flag.starts_with("-a"));
    let which = if look.is_some() { "-a" } else { &flag[..2] };
    if is_same && look.is_none() && sign.is_none_or(|sign| own == Some(sign) || amount == 0) {
        return None;
    }
    let (kind, count) = if unit < DAY { ("min", minutes) } else { ("time", minutes / DAY) };
    let sign = sign.or(own).map(String::from).unwrap_or_default();
    let now = format!("{which}{kind} {sign}{count}");
    let range = pair[0].start..pair[1].end;
    let was = command[range.clone()].to_owned();
    command.replace_range(range, &now);
    let from = if sign.is_empty() { at } else { at.saturating_sub(2) };
    let said = from.min(look.unwrap_or(from))..(at + 2).max(look.map_or(0, |look| look + 1));
    let said = words[said].join(" ");
    Some(Change::Instead { said, was, now })
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
    Some(Change::Instead { said, was: format!("-size {was}"), now: format!("-size {now}") })
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
    let find = the_find(command, &all)?;
    if all.iter().any(|word| ["-maxdepth", "-mindepth", "-prune", "-depth"].contains(&&command[word.clone()])) {
        return None;
    }
    let tests = |word: &Range<usize>| command[word.clone()].starts_with(['-', '(', '\\', '!', '|', ';', '&']);
    let paths = all[find + 1..].iter().take_while(|word| !tests(word)).count();
    let end = all[find + paths].end;
    let now = "-maxdepth 1".to_owned();
    command.insert_str(end, &format!(" {now}"));
    Some(Change::Added { said, now })
}

/// Where the one `find` of a command stands.
fn the_find(command: &str, all: &[Range<usize>]) -> Option<usize> {
    let is_start = |at: usize| {
        let before = at.checked_sub(1).map(|before| &command[all[before].clone()]);
        before.is_none_or(|before| before == "sudo" || before.ends_with(['|', '&', ';']))
    };
    let mut finds = (0..all.len()).filter(|at| &command[all[*at].clone()] == "find" && is_start(*at));
    finds.next().filter(|_| finds.next().is_none())
}

/// Puts brackets around the names between which `find` has an `-o`: without them, what stands before holds for the first of them
/// only, and what is done is done to the last only.
fn grouped(command: &mut String) -> Option<Change> {
    const NAMES: &str = "-name -iname -path -ipath -wholename -regex -iregex";
    const BOUND: &str = "-maxdepth -mindepth";
    let all = raw(command)?;
    let word = |at: usize| all.get(at).map_or("", |range| &command[range.clone()]);
    let is_one_of = |at: usize, known: &str| known.split(' ').any(|known| known == word(at));
    let is_or = |at: usize| is_one_of(at, "-o -or");
    let begun = the_find(command, &all)? + 1;
    let is_end = |at: &usize| is_one_of(*at, "| || && &") || (word(*at).ends_with(';') && word(*at) != "\\;");
    let end = (begun..all.len()).find(is_end).unwrap_or(all.len());
    let first = (begun..end).find(|at| is_one_of(*at, NAMES) && is_or(at + 2))?;
    let mut last = first;
    while is_or(last + 2) && is_one_of(last + 3, NAMES) {
        last += 3;
    }
    let is_inside = |at: &usize| (first..last + 2).contains(at);
    let others = (begun..end).filter(|at| !is_inside(at));
    let is_told = |at: usize| {
        is_or(at) || is_one_of(at, "\\( \\) ( ) ! -not , -prune -a -and") || word(at).contains(['(', '`'])
    };
    if last == first || last + 1 >= end || others.clone().any(is_told) {
        return None;
    }
    // A bound of the depth holds for all anyway.
    let mut tests = others.filter(|at| word(*at).starts_with('-') && !is_one_of(*at, BOUND));
    tests.next()?;
    let range = all[first].start..all[last + 1].end;
    let now = format!("\\( {} \\)", &command[range.clone()]);
    command.replace_range(range, &now);
    Some(Change::Grouped { now })
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
    Some(Change::Added { said: words[at..words.len().min(at + 3)].join(" "), now: "-k".to_owned() })
}

/// Prints the text of the line as it stands there: a small model gives "hello world" a capital and a comma.
fn printed(line: &str, command: &mut String) -> Option<Change> {
    let (verb, said) = line.trim().split_once(' ')?;
    let said = said.trim();
    let quoted = ['\'', '"'].iter().find_map(|quote| said.strip_prefix(*quote)?.strip_suffix(*quote));
    let said = quoted.unwrap_or(said);
    let text = command
        .strip_prefix("echo ")
        .filter(|text| !text.contains(['$', '`', '>', '<', '|', ';', '&', '\\', '*']))?;
    let text = shlex::split(text)?.join(" ");
    let is_text = "print echo say output display".split(' ').any(|known| verb.eq_ignore_ascii_case(known));
    // A shell may take these for more than letters.
    let is_plain = !said.starts_with('-') && !said.contains(['\\', '$', '`']);
    if !is_text || !is_plain || said == text || words(said).is_empty() || words(said) != words(&text) {
        return None;
    }
    let now = format!("echo {}", shlex::try_quote(said).ok()?);
    let was = std::mem::replace(command, now.clone());
    Some(Change::Instead { said: said.to_owned(), was, now })
}

/// Leaves an archive unpacked whose name in the line ends in `.tar`.
fn unpacked(line: &str, command: &mut String) -> Option<Change> {
    let all = raw(command)?;
    let word = |at: usize| all.get(at).map_or("", |range| &command[range.clone()]);
    let (was, archive) = (word(1).to_owned(), word(2).to_owned());
    let letters = was.strip_prefix('-').unwrap_or(&was);
    let is_made =
        letters.starts_with('c') && letters.ends_with('f') && letters.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_packed =
        ["gz", "zip", "compress", "bz", "xz", "pack"].iter().any(|word| line.to_lowercase().contains(word));
    let is_named =
        archive.ends_with(".tar") && line.split_whitespace().any(|word| word.trim_matches(['\'', '"']) == archive);
    let now: String = was.chars().filter(|letter| !"zj".contains(*letter)).collect();
    (word(0) == "tar" && is_made && is_named && !is_packed && now != was)
        .then(|| command.replace_range(all[1].clone(), &now))?;
    Some(Change::Instead { said: archive, was, now })
}

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
    Some(Change::CountedTwice { now })
}

/// Lets `grep` say what it finds where something else reads that: with `-q` it never prints anything. Behind `find -exec` it then
/// lists the files.
fn heard(command: &mut String) -> Option<Change> {
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
#[path = "meant_tests.rs"]
mod tests;
