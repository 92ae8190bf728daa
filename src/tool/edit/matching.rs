//! Replacing text in a text: exactly, with its own line ends, and with help when it is not there. Pure.

use std::fmt::Write as _;

/// How many lines of the nearest region an error shows.
const SHOWN_LINES: usize = 20;
/// Files with more lines are not searched for a near match: the comparison is lines × lines.
const NEAR_LIMIT: usize = 50_000;
/// How many places of a repeated text an error names.
const SHOWN_PLACES: usize = 10;

/// One replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Replacement {
    /// The text that is there.
    pub(crate) old: String,
    /// The text that comes in its place.
    pub(crate) new: String,
    /// Whether every occurrence is meant; else there must be exactly one.
    pub(crate) all: bool,
}

/// A text after replacements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Replaced {
    /// The whole text.
    pub(crate) text: String,
    /// How many occurrences were replaced.
    pub(crate) count: usize,
    /// The line of the first one, from 1.
    pub(crate) line: usize,
}

/// Replaces, or says why it cannot be done.
///
/// In a file with CR LF line ends the model's LF strings match, and what comes in has CR LF too.
///
/// # Errors
/// The text for the model.
pub(crate) fn replace(text: &str, replacement: &Replacement) -> Result<Replaced, String> {
    if replacement.old.is_empty() {
        return Err("old_string is empty; to make a file use `write`.".to_owned());
    }
    if replacement.old == replacement.new {
        return Err("old_string and new_string are the same; nothing would change.".to_owned());
    }
    let windows = text.contains("\r\n");
    let mut old = replacement.old.clone();
    let mut count = text.matches(&old).count();
    if windows && count == 0 {
        old = to_windows(&old);
        count = text.matches(&old).count();
    }
    if count == 0 {
        return Err(not_found(text, &replacement.old));
    }
    if count > 1 && !replacement.all {
        return Err(found_often(text, &old, count));
    }
    // The line ends around the place decide; a mixed file keeps both kinds where they are.
    let takes_windows = windows && if old.contains('\n') { old.contains("\r\n") } else { mostly_windows(text) };
    let new = if takes_windows { to_windows(&replacement.new) } else { replacement.new.clone() };
    let first = text.find(&old).unwrap_or(0);
    let line = text[..first].matches('\n').count() + 1;
    let replaced = text.replace(&old, &new);
    if replaced == text {
        return Err("old_string and new_string differ only in line ends; nothing would change.".to_owned());
    }
    Ok(Replaced { text: replaced, count, line })
}

/// Gives a whole new text the line ends of the old one, unless it has Windows line ends of its own.
pub(crate) fn with_ends_of(old: &str, new: String) -> String {
    if mostly_windows(old) && !new.contains("\r\n") { to_windows(&new) } else { new }
}

fn to_windows(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}

fn mostly_windows(text: &str) -> bool {
    text.matches("\r\n").count() * 2 > text.matches('\n').count()
}

fn found_often(text: &str, old: &str, count: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut line = 1;
    let mut before = 0;
    for (index, _) in text.match_indices(old).take(SHOWN_PLACES) {
        line += text[before..index].matches('\n').count();
        before = index;
        lines.push(line.to_string());
    }
    if count > SHOWN_PLACES {
        lines.push("…".to_owned());
    }
    format!(
        "old_string is there {count} times, at lines {}. Add lines around it until it is unique, or set replace_all.",
        lines.join(", ")
    )
}

fn not_found(text: &str, old: &str) -> String {
    let mut says = String::from("old_string is not in the file.");
    if let Some(bare) = without_numbers(old)
        && text.contains(&bare)
    {
        says.push_str(" It holds the line numbers that `read` shows; leave them out.");
        return says;
    }
    let lines: Vec<&str> = text.lines().collect();
    let wanted: Vec<&str> = old.lines().collect();
    let Some((start, score)) = nearest(&lines, &wanted) else { return says };
    let end = (start + wanted.len()).min(lines.len());
    let region = &lines[start..end];
    let same = |fold: fn(&str) -> String| {
        let there: String = region.iter().map(|line| fold(line)).collect();
        let asked: String = wanted.iter().map(|line| fold(line)).collect();
        there.contains(&asked)
    };
    if same(without_blanks) {
        says.push_str(" It is there but for white space (tabs, spaces, indentation, line breaks):");
    } else if same(plain_letters) {
        says.push_str(" It is there but for typographic quotes, dashes or spaces:");
    } else if score > 0 {
        says.push_str(" The nearest lines are:");
    } else {
        return says;
    }
    for (index, line) in region.iter().enumerate().take(SHOWN_LINES) {
        let short: String = line.chars().take(200).collect();
        // Writing to a String cannot fail.
        let _ = write!(says, "\n{:>6}\t{short}", start + index + 1);
    }
    if region.len() > SHOWN_LINES {
        says.push_str("\n     …");
    }
    says
}

/// Finds where most lines agree: (first line from 0, score).
fn nearest(lines: &[&str], wanted: &[&str]) -> Option<(usize, usize)> {
    if lines.len() > NEAR_LIMIT || wanted.is_empty() || lines.is_empty() {
        return None;
    }
    let wanted: Vec<String> = wanted.iter().take(SHOWN_LINES * 2).map(|line| plain_letters(line)).collect();
    let there: Vec<String> = lines.iter().map(|line| plain_letters(line)).collect();
    let score = |start: usize| -> usize {
        wanted
            .iter()
            .zip(&there[start..])
            .filter(|(asked, _)| !asked.is_empty())
            .map(|(asked, line)| if asked == line { 4 } else { usize::from(alike(asked, line)) * 2 })
            .sum()
    };
    // The first of the best.
    (0..lines.len()).map(|start| (start, score(start))).rev().max_by_key(|(_, score)| *score)
}

/// Tells cheaply whether two lines share at least half of their words, or one is in the other.
fn alike(asked: &str, line: &str) -> bool {
    if asked.len() >= 4 && line.contains(asked) || line.len() >= 4 && asked.contains(line) {
        return true;
    }
    let words = |text: &'_ str| -> Vec<String> {
        text.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let (asked, line) = (words(asked), words(line));
    let shared = asked.iter().filter(|word| line.contains(word)).count();
    shared > 0 && shared * 2 >= asked.len().max(line.len())
}

fn without_blanks(line: &str) -> String {
    line.chars().filter(|letter| !letter.is_whitespace()).collect()
}

/// Folds what models and word processors exchange: quotes, dashes, odd spaces; runs of blanks.
pub(crate) fn plain_letters(line: &str) -> String {
    let folded: String = line
        .chars()
        .map(|letter| match letter {
            '\u{2018}' | '\u{2019}' | '\u{201b}' => '\'',
            '\u{201c}' | '\u{201d}' | '\u{201f}' => '"',
            '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
            letter if letter.is_whitespace() => ' ',
            letter => letter,
        })
        .collect();
    folded.split(' ').filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Takes the numbers of `read` off every line, if every line has one.
fn without_numbers(old: &str) -> Option<String> {
    let mut bare = Vec::new();
    for line in old.split('\n') {
        if line.is_empty() {
            bare.push("");
            continue;
        }
        let (number, rest) = line.split_once('\t')?;
        if number.trim().is_empty() || !number.trim().bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        bare.push(rest);
    }
    Some(bare.join("\n"))
}

/// Counts the lines a change adds and removes.
pub(crate) fn counts(old: &str, new: &str) -> (u64, u64) {
    let diff = similar::TextDiff::configure().timeout(std::time::Duration::from_millis(200)).diff_lines(old, new);
    let mut added = 0;
    let mut removed = 0;
    for change in diff.iter_all_changes() {
        match change.tag() {
            similar::ChangeTag::Insert => added += 1,
            similar::ChangeTag::Delete => removed += 1,
            similar::ChangeTag::Equal => {}
        }
    }
    (added, removed)
}

/// Makes a short unified diff for the model, at most `limit` bytes.
pub(crate) fn diff(old: &str, new: &str, limit: usize) -> String {
    let diff = similar::TextDiff::configure().timeout(std::time::Duration::from_millis(200)).diff_lines(old, new);
    let mut text = diff.unified_diff().context_radius(2).to_string();
    if text.len() > limit {
        text.truncate(text.floor_char_boundary(limit));
        text.push_str("\n[diff cut]");
    }
    text
}

#[cfg(test)]
#[path = "matching_tests.rs"]
mod tests;
