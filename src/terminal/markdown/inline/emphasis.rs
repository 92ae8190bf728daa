//! Pairs up runs of `*`, `_` and `~~` by CommonMark's algorithm.

use super::delimiter::{Marks, REACH};
use super::tokens::Parsed;

/// The text in which runs are paired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// The text of a link: nothing in it pairs with anything outside.
    Link,
    /// The whole text.
    Text,
}

/// Pairs the runs from index `bottom` on.
pub(super) fn pair_runs(parsed: &mut Parsed, bottom: usize, scope: Scope) {
    // For each kind of closer that found no opener: where the next search can stop.
    let mut floors = [bottom; 18];
    let mut closer = bottom;
    while closer < parsed.delimiters.len() {
        let run = &parsed.delimiters[closer];
        if !(run.alive && run.can_close && run.left > 0) {
            closer += 1;
            continue;
        }
        let kind = match run.byte {
            b'*' => 0,
            b'_' => 1,
            _ => 2,
        };
        let key = kind * 6 + usize::from(run.can_open) * 3 + run.length % 3;
        let start = run.start;
        let mut opener = None;
        for index in (floors[key]..closer).rev() {
            let candidate = &parsed.delimiters[index];
            if start - candidate.start > REACH {
                break;
            }
            if candidate.pairs_with(&parsed.delimiters[closer]) {
                opener = Some(index);
                break;
            }
        }
        let Some(opener) = opener else {
            floors[key] = closer;
            if !parsed.delimiters[closer].can_open {
                parsed.delimiters[closer].alive = false;
            }
            closer += 1;
            continue;
        };
        for between in &mut parsed.delimiters[opener + 1..closer] {
            between.alive = false;
        }
        let both = parsed.delimiters[opener].left.min(parsed.delimiters[closer].left);
        let strikethrough = kind == 2;
        let used = if both >= 2 { 2 } else { 1 };
        let mark = |marks: &mut Marks| {
            if strikethrough {
                marks.strikethrough += 1;
            } else if used == 2 {
                marks.strong += 1;
            } else {
                marks.emphasis += 1;
            }
        };
        mark(&mut parsed.delimiters[opener].opens);
        mark(&mut parsed.delimiters[closer].closes);
        parsed.delimiters[opener].left -= used;
        parsed.delimiters[closer].left -= used;
        let end = parsed.delimiters[closer].start + parsed.delimiters[closer].length;
        parsed.pairs.push((parsed.delimiters[opener].start, end));
        if parsed.delimiters[opener].left == 0 {
            parsed.delimiters[opener].alive = false;
        }
    }
    if scope == Scope::Link {
        for run in parsed.delimiters.iter_mut().skip(bottom) {
            run.alive = false;
        }
    }
}

/// Treats every open run as if it closed at the end.
pub(super) fn assume_closed(parsed: &mut Parsed) {
    for run in parsed.delimiters.iter_mut().filter(|run| run.may_open()) {
        match (run.byte, run.left) {
            (b'~', _) => run.opens.strikethrough += 1,
            (_, 1) => run.opens.emphasis += 1,
            (_, 2) => run.opens.strong += 1,
            (_, _) => {
                run.opens.emphasis += 1;
                run.opens.strong += 1;
            }
        }
        run.left = 0;
    }
}
