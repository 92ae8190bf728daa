//! A change set as a patch, in the form that `git apply` reads.

use std::fmt::Write as _;

use similar::TextDiff;

use crate::trial::{Change, ChangeSet, Kind};

/// Longer texts are not compared line by line (bytes).
const MOST: u64 = 16 * 1024 * 1024;

/// Writes the changes as a patch. It leaves out what no patch can say: directories and times. Another name of a file stands
/// in it as a file of its own. Of a file that is not text it says only that it differs.
#[must_use]
pub fn trial_patch(set: &ChangeSet) -> String {
    let mut patch = String::new();
    for change in set.changes.iter().filter(|change| !change.is_directory()) {
        add(&mut patch, change, &set.shown(&change.path).to_string_lossy());
    }
    patch
}

fn add(patch: &mut String, change: &Change, name: &str) {
    let (old, new) = (quoted("a", name), quoted("b", name));
    let (before, after) = change.git_modes();
    let head = |patch: &mut String| {
        let _ = writeln!(patch, "diff --git {old} {new}");
        let _ = match (before, after) {
            (None, Some(mode)) => writeln!(patch, "new file mode {mode}"),
            (Some(mode), None) => writeln!(patch, "deleted file mode {mode}"),
            (Some(before), Some(after)) if before != after => {
                writeln!(patch, "old mode {before}\nnew mode {after}")
            }
            // A link is told by its mode, which stands nowhere else.
            (Some(mode), Some(_)) => writeln!(patch, "index 0000000..0000000 {mode}"),
            (None, None) => Ok(()),
        };
    };
    let (from, to) = (
        if before.is_some() { old.as_str() } else { "/dev/null" },
        if after.is_some() { new.as_str() } else { "/dev/null" },
    );
    if change.kind == Kind::Mode {
        if before != after {
            head(patch);
        }
        return;
    }
    let Ok((was, is)) = change.texts(MOST) else {
        head(patch);
        let _ = writeln!(patch, "Binary files {from} and {to} differ");
        return;
    };
    head(patch);
    if was != is {
        let diff = TextDiff::from_lines(&was, &is);
        let _ = write!(patch, "{}", diff.unified_diff().header(from, to));
    }
}

/// Writes a name as git does: in quotes if there is something in it that would end it.
fn quoted(side: &str, name: &str) -> String {
    let name = format!("{side}/{name}");
    if !name.chars().any(|letter| letter.is_control() || matches!(letter, '"' | '\\')) {
        return name;
    }
    let mut quoted = String::from("\"");
    for letter in name.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            letter if letter.is_control() => {
                let mut bytes = [0; 4];
                for byte in letter.encode_utf8(&mut bytes).bytes() {
                    let _ = write!(quoted, "\\{byte:03o}");
                }
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_name_that_would_end_a_line_is_quoted_as_git_quotes_it() {
        assert_eq!(quoted("a", "plain name.txt"), "a/plain name.txt");
        assert_eq!(quoted("b", "one\ntwo\"\\"), r#""b/one\012two\"\\""#);
    }
}
