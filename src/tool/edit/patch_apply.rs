//! Applying hunks to a text, exactly where possible, loosely and with a report where not. Pure.

use std::borrow::Cow;

use super::matching;
use super::patch::{Hunk, Side};

/// A text after its hunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Patched {
    /// The whole text; lines that were there keep their ends.
    pub(crate) text: String,
    /// Hunks that did not fit as they were written.
    pub(crate) loose: Vec<Loose>,
}

/// How a hunk found its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Loose {
    /// Which hunk, from 1.
    pub(crate) hunk: usize,
    /// What did not count when its lines were compared; empty when they were the same.
    pub(crate) way: &'static str,
    /// The line it claimed and the line it was applied at, from 1, if they differ by more than the shift of the
    /// hunks before.
    pub(crate) moved: Option<(usize, usize)>,
}

/// Takes out of a line what does not count.
type Fold = for<'a> fn(&'a str) -> Cow<'a, str>;

/// Ways in which two lines may be equal, the strictest first. Different line ends are not worth reporting.
const WAYS: &[(&str, Fold)] = &[
    ("", |line| Cow::Borrowed(line)),
    ("", |line| Cow::Borrowed(line.strip_suffix('\r').unwrap_or(line))),
    ("but for blanks at line ends", |line| Cow::Borrowed(line.trim_end())),
    ("but for indentation", |line| Cow::Borrowed(line.trim())),
    ("but for typographic characters", |line| Cow::Owned(matching::plain_letters(line))),
];

/// Which of several places is meant.
#[derive(Debug, Clone, Copy)]
enum Hint {
    First,
    /// The one nearest to this line, from 0.
    Near(usize),
    /// The match at the end of the file, otherwise the first.
    End,
}

/// Applies hunks to a text.
///
/// # Errors
/// Tells the model which hunk failed, and which lines were searched.
pub(crate) fn apply(text: &str, hunks: &[Hunk]) -> Result<Patched, String> {
    let ends_open = !text.is_empty() && !text.ends_with('\n');
    // With their CRs: each line keeps its own end.
    let lines: Vec<&str> =
        if text.is_empty() { Vec::new() } else { text.strip_suffix('\n').unwrap_or(text).split('\n').collect() };
    let mut patched: Vec<Cow<'_, str>> = Vec::new();
    let mut loose = Vec::new();
    let mut next = 0;
    // The distance between the file and the one the patch was made for, as the hunks before have shown.
    let mut drift: isize = 0;
    for (index, hunk) in hunks.iter().enumerate() {
        let problem = |what: &str, wanted: &[&str]| {
            format!("change {}: {what} from line {} on:\n{}", index + 1, next + 1, wanted.join("\n"))
        };
        let old = hunk.old();
        let mut from = next;
        for anchor in &hunk.anchors {
            let found = find(&lines, from, &[anchor], Hint::First);
            let (at, _) = found.ok_or_else(|| problem("the line after @@ is not in the file", &[anchor]))?;
            // The anchor may itself be the first context line.
            from = if old.first().is_some_and(|first| first.trim() == anchor.trim()) { at } else { at + 1 };
        }
        let said = hunk.line.map(|line| line.saturating_sub(1).saturating_add_signed(drift));
        let (at, length) = if old.is_empty() {
            // The hunk has only new lines: they go behind the anchor, or behind the line that git counts, or at the
            // end.
            let at = match said {
                _ if !hunk.anchors.is_empty() => from,
                Some(said) => said + usize::from(hunk.line != Some(0)),
                None => lines.len(),
            };
            (at.clamp(next, lines.len()), 0)
        } else {
            let hint = match said {
                _ if hunk.at_end => Hint::End,
                Some(said) => Hint::Near(said),
                None => Hint::First,
            };
            let (at, way) = find(&lines, from, &old, hint)
                .or_else(|| find(&lines, from, without_last_blank(&old)?, hint))
                .ok_or_else(|| problem("these lines are not in the file", &old))?;
            let moved = said.filter(|said| *said != at).map(|said| (said + 1, at + 1));
            if !WAYS[way].0.is_empty() || moved.is_some() {
                loose.push(Loose { hunk: index + 1, way: WAYS[way].0, moved });
            }
            drift += said.map_or(0, |said| at.cast_signed() - said.cast_signed());
            (at, old.len().min(lines.len() - at))
        };
        patched.extend(lines[next..at].iter().copied().map(Cow::Borrowed));
        let there = &lines[at..at + length];
        let neighbour = there.first().or_else(|| lines[..at].last()).or_else(|| lines.get(at));
        let windows = neighbour.is_some_and(|line| line.ends_with('\r'));
        patched.extend(replaced(hunk, there, windows));
        next = at + length;
    }
    patched.extend(lines[next..].iter().copied().map(Cow::Borrowed));
    let mut text = patched.join("\n");
    let open = if next < lines.len() { ends_open } else { hunks.last().is_some_and(|hunk| hunk.open) };
    if !patched.is_empty() && !open {
        text.push('\n');
    }
    Ok(Patched { text, loose })
}

/// The lines that come in: context stays as it is in the file, also where it matched only loosely. New lines among
/// CR LF ones get a CR, unless the patch itself speaks of CRs.
fn replaced(hunk: &Hunk, there: &[&str], windows: bool) -> Vec<Cow<'static, str>> {
    let carriage = windows && !hunk.lines.iter().any(|(_, text)| text.ends_with('\r'));
    let mut there = there.iter();
    let mut lines = Vec::new();
    for (side, text) in &hunk.lines {
        match side {
            Side::Both => lines.extend(there.next().map(|line| Cow::Owned((*line).to_owned()))),
            Side::Old => drop(there.next()),
            Side::New if carriage => lines.push(Cow::Owned(format!("{text}\r"))),
            Side::New => lines.push(Cow::Owned(text.clone())),
        }
    }
    lines
}

fn without_last_blank<'a, 'b>(old: &'b [&'a str]) -> Option<&'b [&'a str]> {
    old.split_last().filter(|(last, rest)| last.is_empty() && !rest.is_empty()).map(|(_, rest)| rest)
}

/// Finds lines from a line on: (where, which of [`WAYS`]).
fn find(lines: &[&str], from: usize, wanted: &[&str], hint: Hint) -> Option<(usize, usize)> {
    let last = lines.len().checked_sub(wanted.len()).filter(|last| *last >= from)?;
    for (way, (_, fold)) in WAYS.iter().enumerate() {
        let folded: Vec<Cow<'_, str>> = wanted.iter().map(|line| fold(line)).collect();
        let fits = |start: &usize| lines[*start..].iter().zip(&folded).all(|(line, wanted)| fold(line) == *wanted);
        let start = match hint {
            Hint::End if fits(&last) => Some(last),
            Hint::End | Hint::First => (from..=last).find(fits),
            Hint::Near(line) => {
                // Outwards from the hint, the upper one first.
                let line = line.clamp(from, last);
                let below = (line..=last).find(fits);
                let above = (from..line).rev().find(fits);
                match (above, below) {
                    (Some(above), Some(below)) => Some(if line - above <= below - line { above } else { below }),
                    (above, below) => above.or(below),
                }
            }
        };
        if let Some(start) = start {
            return Some((start, way));
        }
    }
    None
}
