//! Finds the output of the last command in the text that a terminal holds. Pure.
//!
//! The text is cut at the marks of OSC 133 if it has them. Otherwise it is cut between the row with the command
//! behind a prompt, and the row of the hand-off. If that is not certain nothing is found: no output is better than
//! another command's output.

use crate::terminal::width::width;

/// Characters that stand directly before a command on its row. A prompt may end in anything else, but then nobody
/// can tell where it ends.
const SIGNS: &[char] = &['$', '%', '#', '>', '❯', '»', '➜', 'λ', '→', '❮', '›', ':', '▶', '⟩'];

/// What screen's hardcopy turns those that are not ASCII into: one byte each (❯ becomes o). They count only where
/// they stand alone.
const LOST_SIGNS: &[char] = &['o', 'n', '\u{fffd}'];

/// How much of a command is looked for: terminals that do not join wrapped rows break longer ones.
const ENOUGH: usize = 40;

/// Where the hand-off and the command before it stand.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'a> {
    /// The last command.
    pub(super) command: &'a str,
    /// The line that was handed over; may be empty.
    pub(super) line: &'a str,
    /// How wide the screen is.
    pub(super) columns: usize,
}

/// Finds what the last command printed; `None` when that is not certain, or when it printed nothing.
pub(super) fn last_output(screen: &str, wanted: Wanted<'_>) -> Option<String> {
    let found = match marked(screen) {
        Some(found) => found.to_owned(),
        None => between_prompts(screen, wanted)?,
    };
    let lines: Vec<&str> = found.lines().map(str::trim_end).collect();
    let start = lines.iter().position(|line| !line.is_empty())?;
    let end = lines.iter().rposition(|line| !line.is_empty())?;
    Some(lines.get(start..=end)?.join("\n"))
}

/// Between the last `133;D` (a command ended) and the `133;C` (its output began) before it.
fn marked(screen: &str) -> Option<&str> {
    let end = screen.rfind("\x1b]133;D")?;
    let start = screen[..end].rfind("\x1b]133;C")?;
    let body = &screen[start..end];
    let after = body.find(['\x07', '\\']).map(|at| at + 1)?;
    // Two ends without a start between them: the command between them was empty.
    let (inside, _) = body.get(after..)?.split_once("\x1b]133;D").unwrap_or((body.get(after..)?, ""));
    Some(inside)
}

fn between_prompts(screen: &str, wanted: Wanted<'_>) -> Option<String> {
    let rows: Vec<&str> = screen.trim_end().lines().map(str::trim_end).collect();
    let screen = Rows { rows: &rows, columns: wanted.columns };
    let command = first_line(wanted.command)?;
    let handoff = match first_line(wanted.line) {
        Some(line) => {
            let found = (0..rows.len()).rev().find(|at| screen.behind_prompt(*at, line).is_some())?;
            let ends_there = |at: &usize| screen.behind_prompt(*at, line).is_some_and(|(_, after)| after == found);
            // bash before 4.2 writes the line once more, with our command before it.
            let twice = line != command && rows[found].contains("handoff # ");
            (0..found).rev().find(ends_there).filter(|_| twice).unwrap_or(found)
        }
        None => rows.len().checked_sub(1)?,
    };
    // What a shell says of a command ends in the command, too: `zsh: permission denied: ./run.sh`.
    let is_like = |sign: char| {
        let mut signs = rows[handoff].match_indices(sign);
        signs.any(|(at, sign)| rows[handoff][at + sign.len()..].chars().next().is_none_or(char::is_whitespace))
    };
    let found = (0..handoff).rev().find_map(|at| {
        let (place, after) = screen.behind_prompt(at, command)?;
        let sign = rows[at][..place].trim_end().chars().next_back();
        let is_it = first_line(wanted.line).is_some() || sign.is_some_and(is_like);
        is_it.then_some((at, (place, after)))
    });
    let (entered, (place, mut start)) = found?;
    let prompt = rows[entered][..place].trim_end();
    // Each further line of a command has a row of its own, or several.
    for line in wanted.command.trim().lines().skip(1) {
        start = screen.further(start, line.trim());
    }
    let mut end = handoff;
    loop {
        let mut above = entered;
        // Prompts of several rows: those that are the same above both commands.
        while end > start && above > 0 && is_prompt_row(rows[end - 1], rows[above - 1]) {
            (end, above) = (end - 1, above - 1);
        }
        // An empty Enter, or a prompt that was drawn again after a resize: the prompt appears once more.
        let last = rows.get(start..end)?.iter().rposition(|row| !row.is_empty()).map(|last| start + last);
        let Some(bare) = last.filter(|last| is_bare(rows[*last], prompt)) else { break };
        end = bare;
    }
    Some(rows.get(start..end)?.join("\n"))
}

fn first_line(text: &str) -> Option<&str> {
    text.trim().lines().next().map(str::trim_end).filter(|line| !line.is_empty())
}

/// What is on the screen.
struct Rows<'a> {
    rows: &'a [&'a str],
    columns: usize,
}

impl Rows<'_> {
    /// Tells whether a row is a prompt with this text behind it, perhaps with something at the right margin. Returns
    /// where in the row the text begins, and the row after it.
    fn behind_prompt(&self, at: usize, text: &str) -> Option<(usize, usize)> {
        let row = self.rows.get(at)?;
        let cut = text.char_indices().nth(ENOUGH).map_or(text.len(), |(at, _)| at);
        for (place, _) in row.char_indices() {
            let (before, shown) = row.split_at(place);
            if !is_prompt(before) {
                continue;
            }
            if let Some(after) = self.goes_on(at, shown, text) {
                return Some((place, after));
            }
            if cut < text.len() && shown.starts_with(&text[..cut]) {
                return Some((place, at + 1));
            }
        }
        None
    }

    /// The row after a further line of a command, which is on this row behind a prompt that may be anything.
    fn further(&self, at: usize, text: &str) -> usize {
        let row = self.rows.get(at).copied().unwrap_or_default();
        let found = row.char_indices().find_map(|(place, _)| self.goes_on(at, &row[place..], text));
        found.unwrap_or(at + 1)
    }

    /// Returns the row after a text whose first part is `shown` at the end of a row; if that row is full, the text
    /// continues in the next.
    fn goes_on(&self, at: usize, shown: &str, text: &str) -> Option<usize> {
        if let Some(after) = shown.strip_prefix(text) {
            return (after.is_empty() || after.starts_with("  ")).then_some(at + 1);
        }
        // Spaces at the break are not on the screen, nor is half of a wide character.
        let is_full = width(self.rows.get(at)?) + 1 >= self.columns;
        let rest = text.strip_prefix(shown).filter(|_| is_full && !shown.is_empty())?.trim_start();
        self.goes_on(at + 1, self.rows.get(at + 1)?.trim_start(), rest)
    }
}

/// Tells whether this may be a prompt.
fn is_prompt(before: &str) -> bool {
    let mut backwards = before.trim_end().chars().rev();
    let Some(sign) = backwards.next().filter(|_| before.ends_with([' ', '\u{a0}'])) else { return false };
    let stands_alone = backwards.next().is_none_or(char::is_whitespace);
    SIGNS.contains(&sign) || stands_alone && LOST_SIGNS.contains(&sign)
}

/// Tells whether a row is this prompt and nothing, perhaps with something at the right margin.
fn is_bare(row: &str, prompt: &str) -> bool {
    row.strip_prefix(prompt).is_some_and(|rest| rest.is_empty() || rest.starts_with("  "))
}

/// Tells whether a row above a command is part of its prompt: empty, or the same row with a path above the other one.
fn is_prompt_row(row: &str, other: &str) -> bool {
    row == other && (row.is_empty() || row.starts_with(['~', '/', '[', '╭', '┌']))
}

#[cfg(test)]
#[path = "cut_tests.rs"]
mod tests;
