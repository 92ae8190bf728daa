//! Diffs as git makes them, taken as patches: models write them out of habit, and `git show` can be passed on. Pure.
//!
//! Format: git's `Documentation/diff-format.txt`, "Generating patch text with -p".

use super::patch::{FilePatch, Hunk, Side};

/// Tells whether a text is such a diff, and no patch of codex.
pub(crate) fn is_unified(patch: &str) -> bool {
    let mut before = "";
    for line in patch.lines() {
        if line.trim() == "*** Begin Patch" {
            return false;
        }
        if line.starts_with("diff --git ") || before.starts_with("--- ") && line.starts_with("+++ ") {
            return true;
        }
        before = line;
    }
    false
}

/// Reads the first line of `@@ -12,3 +14,5 @@`, without the marks; `None` for another anchor.
pub(crate) fn numbers(anchor: &str) -> Option<usize> {
    let (old, new) = anchor.strip_prefix('-')?.split_once(" +")?;
    new.starts_with(|letter: char| letter.is_ascii_digit())
        .then(|| old.split(',').next()?.trim().parse().ok())
        .flatten()
}

/// What is known of a file before it is complete.
#[derive(Default)]
struct Open {
    /// The name in git's own line, where both of them are the same.
    both: Option<String>,
    old: Option<String>,
    new: Option<String>,
    added: bool,
    deleted: bool,
    renamed: bool,
    hunks: Vec<Hunk>,
}

/// How many lines of the two texts a hunk still has.
struct Left {
    old: usize,
    new: usize,
}

/// Parses a diff.
///
/// # Errors
/// The text for the model, with the number of the line.
pub(crate) fn parse(patch: &str) -> Result<Vec<FilePatch>, String> {
    let mut files = Vec::new();
    let mut open: Option<Open> = None;
    let mut left = Left { old: 0, new: 0 };
    // Not `lines()`: a CR belongs to the text.
    let body = patch.strip_suffix('\n').unwrap_or(patch);
    for (index, line) in body.split('\n').enumerate() {
        let problem = |says: &str| format!("line {} of the diff: {says}: {line:?}", index + 1);
        if let Some(file) = &mut open {
            if line.starts_with('\\') {
                no_newline(file);
                continue;
            }
            // Models count badly: what follows a change belongs to it, unless it begins something else.
            let begins = line.starts_with("diff --git ") || line.starts_with("@@ ");
            let counted = (left.old > 0 || left.new > 0) && !begins;
            let more = !file.hunks.is_empty() && line.starts_with([' ', '+', '-']);
            // The last line of `git format-patch` has a mark of mails before it.
            if counted || more && !line.starts_with("--- ") && line != "-- " {
                let hunk = file.hunks.last_mut().ok_or_else(|| problem("a change without a place"))?;
                let (side, text) = match line.split_at_checked(1) {
                    None => (Side::Both, ""),
                    Some((" ", text)) => (Side::Both, text),
                    Some(("-", text)) => (Side::Old, text),
                    Some(("+", text)) => (Side::New, text),
                    Some(_) => return Err(problem("a line of a change must begin with a blank, `-` or `+`")),
                };
                left.old -= usize::from(side != Side::New && left.old > 0);
                left.new -= usize::from(side != Side::Old && left.new > 0);
                hunk.lines.push((side, text.to_owned()));
                continue;
            }
        }
        if line.starts_with("diff --git ") {
            files.extend(open.take().map(finish).transpose()?.flatten());
            open = Some(Open { both: same_name(line), ..Open::default() });
        } else if let Some(name) = line.strip_prefix("--- ") {
            // Without git's own line each pair of names begins a file.
            if open.as_ref().is_none_or(|file| !file.hunks.is_empty()) {
                files.extend(open.take().map(finish).transpose()?.flatten());
                open = Some(Open::default());
            }
            if let Some(file) = &mut open {
                file.old = named(name, "a/");
                file.added |= file.old.is_none();
            }
        } else if let Some(file) = &mut open {
            if let Some(name) = line.strip_prefix("+++ ") {
                file.new = named(name, "b/");
                file.deleted |= file.new.is_none();
            } else if let Some(rest) = line.strip_prefix("@@ ") {
                let (range, _) = rest.split_once(" @@").ok_or_else(|| problem("no place of a change"))?;
                left = counts(range).ok_or_else(|| problem("no place of a change"))?;
                file.hunks.push(Hunk { line: numbers(range), ..Hunk::default() });
            } else {
                header(file, line).map_err(problem)?;
            }
        }
    }
    files.extend(open.take().map(finish).transpose()?.flatten());
    if files.is_empty() {
        return Err("the diff changes no file's text".to_owned());
    }
    Ok(files)
}

/// Takes one of git's lines between the name and the changes.
fn header(file: &mut Open, line: &str) -> Result<(), &'static str> {
    if let Some(name) = line.strip_prefix("rename from ") {
        file.old = Some(unquoted(name));
    } else if let Some(name) = line.strip_prefix("rename to ") {
        file.new = Some(unquoted(name));
        file.renamed = true;
    } else if line.starts_with("copy from ") {
        return Err("copies cannot be applied; add the file");
    } else if line.starts_with("GIT binary patch") || line.starts_with("Binary files ") {
        return Err("binary files cannot be patched");
    } else if line.ends_with("mode 120000") {
        return Err("symbolic links cannot be patched; use the shell");
    }
    file.added |= line.starts_with("new file mode ");
    file.deleted |= line.starts_with("deleted file mode ");
    Ok(())
}

/// Takes `\ No newline at end of file`: it is about the line before it.
fn no_newline(file: &mut Open) {
    if let Some(hunk) = file.hunks.last_mut() {
        hunk.open |= hunk.lines.last().is_some_and(|(side, _)| *side != Side::Old);
    }
}

fn finish(file: Open) -> Result<Option<FilePatch>, String> {
    let Open { both, old, new, added, deleted, renamed, hunks } = file;
    Ok(match (old, new) {
        // An empty file has no names of its own.
        (None, None) if added => both.map(|path| FilePatch::Add { path, text: String::new() }),
        (None, None) if deleted => both.map(|path| FilePatch::Delete { path }),
        (None, Some(path)) if added => {
            let lines: Vec<String> =
                hunks.iter().flat_map(|hunk| &hunk.lines).map(|(_, text)| text.clone()).collect();
            let open = lines.is_empty() || hunks.last().is_some_and(|hunk| hunk.open);
            Some(FilePatch::Add { path, text: lines.join("\n") + if open { "" } else { "\n" } })
        }
        (Some(path), None) if deleted => Some(FilePatch::Delete { path }),
        (Some(old), Some(new)) => {
            // `diff -u old/x new/x`, without git, means one file.
            let (path, destination) = if renamed { (old, Some(new)) } else { (new, None) };
            if destination.is_none() && !hunks.iter().any(Hunk::changes) {
                return Err(format!("the diff of {path} changes nothing"));
            }
            Some(FilePatch::Update { path, destination, hunks })
        }
        // Only a mode: there is no text in it.
        (Some(_), None) | (None, Some(_) | None) => None,
    })
}

/// Reads `diff --git a/NAME b/NAME`.
fn same_name(line: &str) -> Option<String> {
    let names = line.strip_prefix("diff --git ")?;
    let (old, new) = names.split_at_checked(names.len() / 2)?;
    let (old, new) = (named(old, "a/")?, named(new.strip_prefix(' ')?, "b/")?);
    (old == new).then_some(new)
}

/// Reads a name of a `---` or `+++` line; `None` for /dev/null.
fn named(name: &str, prefix: &str) -> Option<String> {
    // `diff -u` puts a time behind a tab, git a bare tab behind names with blanks.
    let name = if name.starts_with('"') { name } else { name.split('\t').next().unwrap_or(name) };
    let name = unquoted(name.trim_end_matches('\r'));
    (name != "/dev/null").then(|| name.strip_prefix(prefix).map(str::to_owned).unwrap_or(name))
}

/// Undoes git's quoting of names with control characters, quotes or bytes above 127 (`core.quotePath`).
fn unquoted(name: &str) -> String {
    let Some(inner) = name.strip_prefix('"').and_then(|name| name.trim_end().strip_suffix('"')) else {
        return name.to_owned();
    };
    let mut bytes = Vec::new();
    let mut rest = inner.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(b'r') => bytes.push(b'\r'),
            Some(b'a') => bytes.push(7),
            Some(b'b') => bytes.push(8),
            Some(b'f') => bytes.push(12),
            Some(b'v') => bytes.push(11),
            Some(first @ b'0'..=b'3') => {
                let mut value = first - b'0';
                for _ in 0..2 {
                    if let Some(digit @ b'0'..=b'7') = rest.peek().copied() {
                        value = (value << 3) | (digit - b'0');
                        rest.next();
                    }
                }
                bytes.push(value);
            }
            Some(other) => bytes.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads `-12,3 +14,5`; a missing count is 1.
fn counts(range: &str) -> Option<Left> {
    let (old, new) = range.strip_prefix('-')?.split_once(" +")?;
    let count = |part: &str| part.split_once(',').map_or(Some(1), |(_, count)| count.trim().parse().ok());
    Some(Left { old: count(old)?, new: count(new)? })
}

#[cfg(test)]
#[path = "patch_unified_tests.rs"]
mod tests;
