//! Finding what the last command printed in what a terminal holds. Pure.
//!
//! Cut at the marks of OSC 133 where the text has them, else between the row with the command behind a prompt and the
//! row of the hand-off. What cannot be found for certain is not found: nothing is better than another command's
//! output.

/// What stands right before a command on its row. A prompt may end in anything else, but then nobody can tell where
/// it ends.
const SIGNS: &[char] = &['$', '%', '#', '>', '❯', '»', '➜', 'λ', '→', '❮', '›', ':', '▶', '⟩'];

/// How much of a command is looked for: terminals that do not join wrapped rows break longer ones.
const ENOUGH: usize = 40;

/// Where the hand-off and the command before it stand.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'a> {
    /// The last command.
    pub(super) command: &'a str,
    /// The line that was handed over; may be empty.
    pub(super) line: &'a str,
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
    // Two ends without a beginning between them: the command in between was empty.
    let (inside, _) = body.get(after..)?.split_once("\x1b]133;D").unwrap_or((body.get(after..)?, ""));
    Some(inside)
}

fn between_prompts(screen: &str, wanted: Wanted<'_>) -> Option<String> {
    let rows: Vec<&str> = screen.trim_end().lines().map(str::trim_end).collect();
    let handoff = match first_line(wanted.line) {
        Some(line) => rows.iter().rposition(|row| behind_prompt(row, line).is_some())?,
        None => rows.len().checked_sub(1)?,
    };
    let command = first_line(wanted.command)?;
    let entered = rows[..handoff].iter().rposition(|row| behind_prompt(row, command).is_some())?;
    let sign = behind_prompt(rows[entered], command)?;
    // Each line of a command has a row of its own.
    let start = entered + wanted.command.trim().lines().count();
    let mut end = handoff;
    let mut above = entered;
    // Prompts of several rows: those that are the same above both commands.
    while end > start && above > 0 && is_prompt_row(rows[end - 1], rows[above - 1]) {
        (end, above) = (end - 1, above - 1);
    }
    if first_line(wanted.line).is_none() && !rows[handoff].contains(sign) {
        return None;
    }
    Some(rows.get(start..end)?.join("\n"))
}

fn first_line(text: &str) -> Option<&str> {
    text.trim().lines().next().map(str::trim_end).filter(|line| !line.is_empty())
}

/// Tells whether a row is a prompt with this text behind it, perhaps with something at the right margin. Returns the
/// prompt's last character.
fn behind_prompt(row: &str, text: &str) -> Option<char> {
    let cut = text.char_indices().nth(ENOUGH).map_or(text.len(), |(at, _)| at);
    let (wanted, is_whole) = (&text[..cut], cut == text.len());
    let mut from = 0;
    while let Some(at) = row[from..].find(wanted).map(|at| at + from) {
        let before = &row[..at];
        let after = &row[at + wanted.len()..];
        let sign = before.trim_end().chars().next_back().filter(|sign| SIGNS.contains(sign));
        let ends = !is_whole || after.is_empty() || after.starts_with("  ");
        if let Some(sign) = sign.filter(|_| before.ends_with([' ', '\u{a0}']) && ends) {
            return Some(sign);
        }
        from = at + wanted.chars().next().map_or(1, char::len_utf8);
    }
    None
}

/// Tells whether a row above a command is part of its prompt: empty, or the same row with a path above the other one.
fn is_prompt_row(row: &str, other: &str) -> bool {
    row == other && (row.is_empty() || row.starts_with(['~', '/', '[', '╭', '┌']))
}

#[cfg(test)]
#[path = "cut_tests.rs"]
mod tests;
