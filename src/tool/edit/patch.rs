//! What a patch says: the language of codex here, git's diffs in [`super::patch_unified`]. Pure.
//!
//! Format: openai/codex, `codex-rs/apply-patch/apply_patch_tool_instructions.md`.

use super::patch_unified;

/// What a patch does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FilePatch {
    /// Makes a file.
    Add {
        /// As the model wrote it.
        path: String,
        /// The whole text.
        text: String,
    },
    /// Takes a file away.
    Delete {
        /// As the model wrote it.
        path: String,
    },
    /// Changes a file, and may move it.
    Update {
        /// As the model wrote it.
        path: String,
        /// Where it goes.
        destination: Option<String>,
        /// The changes, from top to bottom.
        hunks: Vec<Hunk>,
    },
}

/// Which of the two texts a line of a change is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// Both: context.
    Both,
    /// The old one: it is taken out.
    Old,
    /// The new one: it comes in.
    New,
}

/// One change of an update.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Hunk {
    /// Lines that come before it, each after the one before (`@@ fn main()`).
    pub(crate) anchors: Vec<String>,
    /// Its lines, in order.
    pub(crate) lines: Vec<(Side, String)>,
    /// Whether it belongs at the end of the file.
    pub(crate) at_end: bool,
    /// The line number it claims, from 1; only a hint, because models count badly.
    pub(crate) line: Option<usize>,
    /// Whether the text ends with its last new line, without a line end.
    pub(crate) open: bool,
}

impl Hunk {
    /// Returns the lines that are there: context and removed.
    pub(crate) fn old(&self) -> Vec<&str> {
        self.lines.iter().filter(|(side, _)| *side != Side::New).map(|(_, text)| text.as_str()).collect()
    }

    /// Tells whether it takes out or brings in anything.
    pub(crate) fn changes(&self) -> bool {
        self.lines.iter().any(|(side, _)| *side != Side::Both)
    }
}

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File: ";
const DELETE: &str = "*** Delete File: ";
const UPDATE: &str = "*** Update File: ";
const MOVE: &str = "*** Move to: ";
const END_OF_FILE: &str = "*** End of File";

/// Parses a patch.
///
/// # Errors
/// The text for the model, with the number of the line.
pub(crate) fn parse(patch: &str) -> Result<Vec<FilePatch>, String> {
    if patch_unified::is_unified(patch) {
        return patch_unified::parse(patch);
    }
    let lines: Vec<&str> = patch.lines().collect();
    // Models wrap it in a heredoc or a fence; text outside of the marks is ignored.
    let begin = lines.iter().position(|line| line.trim() == BEGIN);
    let begin = begin.ok_or_else(|| format!("the patch must begin with the line `{BEGIN}`"))?;
    let end = lines.iter().rposition(|line| line.trim() == END).filter(|end| *end > begin);
    let end = end.ok_or_else(|| format!("the patch must end with the line `{END}`"))?;
    let mut files: Vec<FilePatch> = Vec::new();
    for (index, line) in lines.iter().enumerate().take(end).skip(begin + 1) {
        let problem = |says: &str| format!("line {} of the patch: {says}: {line:?}", index + 1);
        if let Some(path) = line.strip_prefix(ADD) {
            files.push(FilePatch::Add { path: path.trim().to_owned(), text: String::new() });
        } else if let Some(path) = line.strip_prefix(DELETE) {
            files.push(FilePatch::Delete { path: path.trim().to_owned() });
        } else if let Some(path) = line.strip_prefix(UPDATE) {
            files.push(FilePatch::Update { path: path.trim().to_owned(), destination: None, hunks: Vec::new() });
        } else {
            match files.last_mut() {
                None => {
                    return Err(problem("expected `*** Add File: `, `*** Update File: ` or `*** Delete File: `"));
                }
                Some(FilePatch::Delete { .. }) if line.trim().is_empty() => {}
                Some(FilePatch::Delete { .. }) => return Err(problem("nothing may follow a deleted file's name")),
                Some(FilePatch::Add { text, .. }) => {
                    let added = line
                        .strip_prefix('+')
                        .ok_or_else(|| problem("a line of a new file must begin with `+`"))?;
                    text.push_str(added);
                    text.push('\n');
                }
                Some(FilePatch::Update { destination, hunks, .. }) => {
                    if let Some(path) = line.strip_prefix(MOVE).filter(|_| hunks.is_empty()) {
                        *destination = Some(path.trim().to_owned());
                    } else {
                        update_line(hunks, line).map_err(problem)?;
                    }
                }
            }
        }
    }
    if files.is_empty() {
        return Err("the patch changes no file".to_owned());
    }
    for file in &files {
        if let FilePatch::Update { path, destination: None, hunks } = file
            && !hunks.iter().any(Hunk::changes)
        {
            return Err(format!("the update of {path} changes nothing"));
        }
    }
    Ok(files)
}

fn update_line(hunks: &mut Vec<Hunk>, line: &str) -> Result<(), &'static str> {
    if line.trim_end() == END_OF_FILE {
        let hunk = hunks.last_mut().ok_or("there is no change before it")?;
        hunk.at_end = true;
        return Ok(());
    }
    if let Some(anchor) = line.strip_prefix("@@") {
        // Several anchors in a row narrow the place: a class, then its method.
        if hunks.last().is_none_or(|hunk| !hunk.lines.is_empty()) {
            hunks.push(Hunk::default());
        }
        let anchor = anchor.trim_end_matches("@@").trim();
        if let Some(hunk) = hunks.last_mut()
            && !anchor.is_empty()
        {
            // "@@ -1,2 +3,4 @@" is a habit from diffs.
            match patch_unified::numbers(anchor) {
                Some(line) => hunk.line = Some(line),
                None => hunk.anchors.push(anchor.to_owned()),
            }
        }
        return Ok(());
    }
    if hunks.last().is_none_or(|hunk| hunk.at_end) {
        hunks.push(Hunk::default());
    }
    let Some(hunk) = hunks.last_mut() else { return Err("there is no change before it") };
    let (side, text) = match line.split_at_checked(1) {
        // A context line that lost its blank.
        None => (Side::Both, ""),
        Some((" ", rest)) => (Side::Both, rest),
        Some(("-", rest)) => (Side::Old, rest),
        Some(("+", rest)) => (Side::New, rest),
        Some(_) => return Err("a line of a change must begin with a blank, `-` or `+`"),
    };
    hunk.lines.push((side, text.to_owned()));
    Ok(())
}

#[cfg(test)]
#[path = "patch_tests.rs"]
mod tests;
