//! What `find` looks for: the age, the size, the depth and the names that the line says.

use std::ops::Range;

use super::change::Change;
use super::text::{NUMBERS, raw, turns, words};
use crate::approval::stands_before_program;

/// Minutes of each unit.
pub(super) const UNITS: &[(&str, u64)] = &[("minute", 1), ("hour", 60), ("day", DAY), ("week", 7 * DAY)];
pub(super) const DAY: u64 = 24 * 60;

/// What stands before an age.
const OLDER: &[&str] = &["more than", "over", "older than", "at least", "longer than", "earlier than"];
const YOUNGER: &[&str] =
    &["less than", "within", "last", "past", "newer than", "younger than", "under", "within the", "previous"];

/// Makes the one age that `find` asks for the one that the line names.
pub(super) fn age(line: &str, command: &mut String) -> Option<Change> {
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
    let look = says("accessed").filter(|_| !"modif chang creat edit".split(' ').any(|stem| says(stem).is_some()));
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
pub(super) fn size(line: &str, command: &mut String) -> Option<Change> {
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
pub(super) fn depth(line: &str, command: &mut String) -> Option<Change> {
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
        before.is_none_or(|before| stands_before_program(before) || before.ends_with(['|', '&', ';']))
    };
    let mut finds = (0..all.len()).filter(|at| &command[all[*at].clone()] == "find" && is_start(*at));
    finds.next().filter(|_| finds.next().is_none())
}

/// Puts brackets around the names that stand on both sides of an `-o` of `find`. Without brackets the tests in front of them
/// hold for the first name only, and the action behind them holds for the last name only.
pub(super) fn grouped(command: &mut String) -> Option<Change> {
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
