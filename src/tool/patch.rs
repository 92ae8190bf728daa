//! The patch language of codex: parsing, and applying hunks to a text. Pure.
//!
//! Format: openai/codex, `codex-rs/apply-patch/apply_patch_tool_instructions.md`.

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

/// One change of an update.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Hunk {
    /// Lines that come before it, each after the one before (`@@ fn main()`).
    pub(crate) anchors: Vec<String>,
    /// The lines that are there: context and removed.
    pub(crate) old: Vec<String>,
    /// The lines in their place: context and added.
    pub(crate) new: Vec<String>,
    /// Whether it belongs at the end of the file.
    pub(crate) at_end: bool,
}

/// A text after its hunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Patched {
    /// The whole text, lines ended by LF.
    pub(crate) text: String,
    /// Hunks that matched only loosely: (number from 1, in which way).
    pub(crate) loose: Vec<(usize, &'static str)>,
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
    let lines: Vec<&str> = patch.lines().collect();
    // Models wrap it in a heredoc or a fence; what is outside of the marks is not looked at.
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
            && hunks.iter().all(|hunk| hunk.old == hunk.new)
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
        if hunks.last().is_none_or(|hunk| !hunk.old.is_empty() || !hunk.new.is_empty()) {
            hunks.push(Hunk::default());
        }
        let anchor = anchor.trim_end_matches("@@").trim();
        // "@@ -1,2 +3,4 @@" is a habit from diffs; its numbers are not to be trusted.
        let numbers = anchor.starts_with('-') && anchor.contains(" +");
        if let Some(hunk) = hunks.last_mut()
            && !anchor.is_empty()
            && !numbers
        {
            hunk.anchors.push(anchor.to_owned());
        }
        return Ok(());
    }
    if hunks.last().is_none_or(|hunk| hunk.at_end) {
        hunks.push(Hunk::default());
    }
    let Some(hunk) = hunks.last_mut() else { return Err("there is no change before it") };
    match line.split_at_checked(1) {
        // A context line that lost its blank.
        None => {
            hunk.old.push(String::new());
            hunk.new.push(String::new());
        }
        Some((" ", rest)) => {
            hunk.old.push(rest.to_owned());
            hunk.new.push(rest.to_owned());
        }
        Some(("-", rest)) => hunk.old.push(rest.to_owned()),
        Some(("+", rest)) => hunk.new.push(rest.to_owned()),
        Some(_) => return Err("a line of a change must begin with a blank, `-` or `+`"),
    }
    Ok(())
}

/// Takes out of a line what does not count.
type Fold = fn(&str) -> String;

/// Ways two lines may be the same, the strictest first.
const WAYS: &[(&str, Fold)] = &[
    ("exactly", str::to_owned),
    ("but for blanks at line ends", |line| line.trim_end().to_owned()),
    ("but for indentation", |line| line.trim().to_owned()),
    ("but for typographic characters", |line| super::edit_match::plain_letters(line)),
];

/// Applies hunks to a text whose lines end in LF.
///
/// # Errors
/// The text for the model: which hunk, and what was looked for.
pub(crate) fn apply(text: &str, hunks: &[Hunk]) -> Result<Patched, String> {
    let ends_open = !text.is_empty() && !text.ends_with('\n');
    let lines: Vec<&str> = text.lines().collect();
    let mut patched: Vec<String> = Vec::new();
    let mut loose = Vec::new();
    let mut next = 0;
    for (index, hunk) in hunks.iter().enumerate() {
        let problem = |what: &str, wanted: &[String]| {
            format!("change {}: {what} from line {} on:\n{}", index + 1, next + 1, wanted.join("\n"))
        };
        let mut from = next;
        for anchor in &hunk.anchors {
            let found = find(&lines, from, std::slice::from_ref(anchor), false);
            let (at, _) = found
                .ok_or_else(|| problem("the line after @@ is not in the file", std::slice::from_ref(anchor)))?;
            // The anchor may itself be the first context line.
            from = if hunk.old.first().is_some_and(|first| first.trim() == anchor.trim()) { at } else { at + 1 };
        }
        let (at, length) = if hunk.old.is_empty() {
            // Only new lines: behind the anchor, else at the end.
            (if hunk.anchors.is_empty() { lines.len() } else { from }, 0)
        } else {
            let (at, way) = find(&lines, from, &hunk.old, hunk.at_end)
                .or_else(|| without_last_blank(&hunk.old).and_then(|old| find(&lines, from, old, hunk.at_end)))
                .ok_or_else(|| problem("these lines are not in the file", &hunk.old))?;
            if way > 0 {
                loose.push((index + 1, WAYS[way].0));
            }
            (at, hunk.old.len().min(lines.len() - at))
        };
        patched.extend(lines[next..at].iter().map(|line| (*line).to_owned()));
        patched.extend(replaced(hunk, &lines[at..at + length]));
        next = at + length;
    }
    patched.extend(lines[next..].iter().map(|line| (*line).to_owned()));
    let mut text = patched.join("\n");
    let keeps_open = ends_open && next < lines.len();
    if !patched.is_empty() && !keeps_open {
        text.push('\n');
    }
    Ok(Patched { text, loose })
}

/// The lines that come in: context stays as it is in the file, also where it matched only loosely.
fn replaced(hunk: &Hunk, there: &[&str]) -> Vec<String> {
    let same = |a: &String, b: &String| a == b;
    let before = hunk.old.iter().zip(&hunk.new).take_while(|(a, b)| same(a, b)).count().min(there.len());
    let most = (hunk.old.len().min(hunk.new.len())).saturating_sub(before);
    let after = hunk.old.iter().rev().zip(hunk.new.iter().rev()).take(most).take_while(|(a, b)| same(a, b)).count();
    let after = if there.len() == hunk.old.len() { after } else { 0 };
    let mut lines: Vec<String> = there[..before].iter().map(|line| (*line).to_owned()).collect();
    lines.extend(hunk.new[before..hunk.new.len() - after].iter().cloned());
    lines.extend(there[there.len() - after..].iter().map(|line| (*line).to_owned()));
    lines
}

fn without_last_blank(old: &[String]) -> Option<&[String]> {
    old.split_last().filter(|(last, rest)| last.is_empty() && !rest.is_empty()).map(|(_, rest)| rest)
}

/// Finds lines from a line on: (where, which of [`WAYS`]).
fn find(lines: &[&str], from: usize, wanted: &[String], at_end: bool) -> Option<(usize, usize)> {
    let last = lines.len().checked_sub(wanted.len()).filter(|last| *last >= from)?;
    for (way, (_, fold)) in WAYS.iter().enumerate() {
        let folded: Vec<String> = wanted.iter().map(|line| fold(line)).collect();
        let fits = |start: usize| lines[start..].iter().zip(&folded).all(|(line, wanted)| fold(line) == *wanted);
        if at_end && fits(last) {
            return Some((last, way));
        }
        if let Some(start) = (from..=last).find(|start| fits(*start)) {
            return Some((start, way));
        }
    }
    None
}

#[cfg(test)]
#[path = "patch_tests.rs"]
mod tests;
