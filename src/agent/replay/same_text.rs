//! Tells whether two outputs of the same command are the same, but for what differs from run to run by itself.

use std::path::Path;

use crate::secret::placeholders;

/// How two outputs compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Likeness {
    /// They are the same.
    Same,
    /// They are the same but for what looks like a time or a duration.
    ButTimes,
    /// They differ: the lines that only one of them has, from the first that differs.
    Differs {
        /// The line of the recorded one.
        then: Option<String>,
        /// The line of this one.
        now: Option<String>,
    },
}

/// Notes that axi puts below an output: they tell of the sandbox, which is another one in a replay.
const NOTES: &[&str] = &[
    "[it ran where it can ",
    "[Several steps brought nothing new.",
    "[A hook of the user's says: ",
    "[not in its environment: ",
];

/// Compares outputs, each with the place of its whole text where it is only a part.
pub(super) fn same((then, full_then): (&str, Option<&Path>), (now, full_now): (&str, Option<&Path>)) -> Likeness {
    let (then, now) = (plain(then, full_then), plain(now, full_now));
    if then == now {
        return Likeness::Same;
    }
    let (steady_then, steady_now) = (steady(&then), steady(&now));
    if steady_then == steady_now {
        return Likeness::ButTimes;
    }
    let lines = |steady: &str, text: &str| -> Vec<(String, String)> {
        steady.lines().map(str::to_owned).zip(text.lines().map(str::to_owned)).collect()
    };
    let (then, now) = (lines(&steady_then, &then), lines(&steady_now, &now));
    let first = then.iter().zip(&now).take_while(|(one, other)| one.0 == other.0).count();
    let line = |lines: &[(String, String)]| lines.get(first).map(|(_, line)| line.clone());
    Likeness::Differs { then: line(&then), now: line(&now) }
}

/// Tells whether two texts have the same lines, in whatever order.
pub(super) fn same_lines(then: &str, now: &str) -> bool {
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    sorted(then) == sorted(now)
}

/// Takes out what axi itself put there: the place of the whole output, marks of secrets, notes of the sandbox.
fn plain(text: &str, full: Option<&Path>) -> String {
    let mut text = text.to_owned();
    if let Some(full) = full {
        text = text.replace(&full.display().to_string(), "<output>");
    }
    let mut written = String::new();
    let mut at = 0;
    for range in placeholders(&text) {
        written.push_str(&text[at..range.start]);
        written.push_str("<secret>");
        at = range.end;
    }
    written.push_str(&text[at..]);
    let lines: Vec<&str> =
        written.lines().filter(|line| !NOTES.iter().any(|note| line.starts_with(note))).collect();
    lines.join("\n").trim_end().to_owned()
}

/// Says of one directory what is said of another.
pub(super) fn moved(text: &str, from: &Path, to: &Path) -> String {
    let (from, to) = (from.to_string_lossy(), to.to_string_lossy());
    if from == to || from.len() < 2 {
        return text.to_owned();
    }
    let mut written = String::new();
    let mut at = 0;
    for (found, _) in text.match_indices(from.as_ref()) {
        let is_name = |letter: char| letter.is_alphanumeric() || "_-.".contains(letter);
        let behind = text[found + from.len()..].chars().next();
        let before = text[..found].chars().next_back();
        if behind.is_some_and(is_name) && !ends_a_sentence(&text[found + from.len()..])
            || before.is_some_and(|letter| is_name(letter) || letter == '/')
        {
            continue;
        }
        written.push_str(&text[at..found]);
        written.push_str(&to);
        at = found + from.len();
    }
    written.push_str(&text[at..]);
    written
}

/// A dot that no name goes on behind.
fn ends_a_sentence(behind: &str) -> bool {
    let mut letters = behind.chars();
    letters.next() == Some('.') && letters.next().is_none_or(char::is_whitespace)
}

const MONTHS: &[&str] = &["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DAYS: &[&str] = &["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
/// Units behind a number that is a duration.
const UNITS: &[&str] =
    &["ns", "us", "µs", "ms", "s", "sec", "secs", "second", "seconds", "m", "min", "minutes", "h", "hours"];

/// Puts a mark in the place of each time, date and duration, and one blank in the place of several.
fn steady(text: &str) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut written: Vec<&str> = Vec::new();
        let mut after_month = 0;
        for (place, word) in words.iter().enumerate() {
            let bare = word.trim_matches(|letter: char| !letter.is_alphanumeric());
            let is_month = MONTHS.contains(&bare);
            let is_number = !bare.is_empty() && bare.bytes().all(|byte| byte.is_ascii_digit());
            let of_month = after_month > 0 && is_number && bare.len() <= 4;
            let next = words.get(place + 1).map(|next| next.trim_matches(|letter: char| !letter.is_alphanumeric()));
            let has_unit = is_decimal(bare) && next.is_some_and(|next| UNITS.contains(&next));
            let is_day =
                DAYS.contains(&bare) && next.is_some_and(|next| MONTHS.contains(&next) || is_decimal(next));
            let is_time =
                is_month && next.is_some_and(is_decimal) || of_month || is_day || has_unit || is_time(bare);
            after_month = if is_month { 3 } else { i32::max(after_month - 1, 0) };
            written.push(if is_time { "<time>" } else { word });
        }
        lines.push(written.join(" "));
    }
    lines.join("\n")
}

fn is_decimal(word: &str) -> bool {
    !word.is_empty()
        && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && word.starts_with(|letter: char| letter.is_ascii_digit())
}

/// Tells whether a word is a time, a date, or a number with the unit of a duration.
fn is_time(word: &str) -> bool {
    let number =
        word.len() - word.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.').len();
    let (digits, unit) = word.split_at(number);
    if is_decimal(digits) && UNITS.contains(&unit) {
        return true;
    }
    let is_separated = |separator: char, counts: &[usize]| {
        let parts: Vec<&str> = word.split(separator).collect();
        counts.contains(&parts.len())
            && parts.iter().all(|part| {
                let whole = part.split('.').next().unwrap_or_default();
                (1..=4).contains(&whole.len()) && is_decimal(part)
            })
    };
    // 12:30:01.5 · 0m0.003s · 2026-11-24T12:30:00Z
    let day = |text: &str| {
        let parts: Vec<&str> = text.split(['-', '/']).collect();
        parts.len() == 3
            && parts.iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
            && (parts[0].len() == 4 && parts[1].len() <= 2 && parts[2].len() <= 2)
    };
    let begins_with_day = word.get(..10).is_some_and(day)
        && word[10..].chars().all(|letter| letter.is_ascii_digit() || "T:.+-Z".contains(letter));
    let minutes = word.split_once('m').is_some_and(|(minutes, rest)| {
        minutes.bytes().all(|byte| byte.is_ascii_digit())
            && !minutes.is_empty()
            && rest.strip_suffix('s').is_some_and(is_decimal)
    });
    is_separated(':', &[2, 3]) && word.split(':').nth(1).is_some_and(|part| part.len() >= 2)
        || begins_with_day
        || minutes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn likeness(then: &str, now: &str) -> Likeness {
        same((then, None), (now, None))
    }

    #[test]
    fn times_and_durations_may_differ_and_nothing_else() {
        for (then, now) in [
            ("took 0.02s", "took 1.7s"),
            ("-rw-r--r-- 1 u u 5 Nov  4 12:30 a", "-rw-r--r-- 1 u u 5 Dec 24  2025 a"),
            ("Tue Nov 24 00:31:02 UTC 2026", "Wed Nov 25 10:31:02 UTC 2026"),
            ("2026-11-24T00:31:02Z x", "2026-12-01T10:00:00Z x"),
            ("real\t0m0.003s", "real\t0m1.203s"),
            ("ok in 12 ms.", "ok in 3 ms."),
            ("2026-11-24 a", "2026-11-25 a"),
        ] {
            assert_eq!(likeness(then, now), Likeness::ButTimes, "{then} | {now}");
        }
        for (then, now) in [
            ("5 files", "6 files"),
            ("a:12 x", "a:13 x"),
            ("v1.2", "v1.3"),
            ("10 s of", "10 x of"),
            ("-rw-r--r-- 1 u u 5 Nov  4 12:30 a", "-rw-r--r-- 1 u u 6 Nov  4 12:30 a"),
            ("main.rs:3:5: error", "main.rs:4:5: error"),
            ("127.0.0.1", "127.0.0.2"),
        ] {
            assert!(matches!(likeness(then, now), Likeness::Differs { .. }), "{then} | {now}");
        }
        assert_eq!(likeness("a\nb [redacted]\n", "a\nb AXI-HIDDEN-0123456789"), Likeness::Same);
        let differs = Likeness::Differs { then: Some("b  2".into()), now: None };
        assert_eq!(likeness("a 1s\nb  2", "a 2s"), differs);
    }

    #[test]
    fn a_directory_is_said_in_the_other_ones_place_and_no_longer_name_is() {
        let (from, to) = (Path::new("/a/b"), Path::new("/c"));
        let text = "/a/b /a/b/x '/a/b' /a/bc /x/a/b see /a/b. file:/a/b";
        assert_eq!(moved(text, from, to), "/c /c/x '/c' /a/bc /x/a/b see /c. file:/c");
        assert_eq!(moved("x", Path::new("/"), to), "x");
    }
}
