//! Pictures that are dropped on the terminal, which then pastes their paths: each becomes a mention.

use crate::frontend::repl::line::write_mention;
use std::path::{Path, PathBuf};

/// What the names of pictures end in that models can see.
const ENDINGS: [&str; 5] = ["png", "jpg", "jpeg", "gif", "webp"];
/// Paths of a paste at most; more are a text.
const MOST: usize = 20;

/// Returns what is put into the line for a paste that names nothing but pictures that are there; `None` for any other.
///
/// Terminals write paths in their own ways: quoted, with `\ ` for blanks, as `file://` addresses.
pub(crate) fn dropped_mentions(pasted: &str) -> Option<String> {
    let text = pasted.trim();
    // Most pastes end here, without a look at the disk.
    if text.len() > MOST * 4096 || !text.starts_with(['/', '\'', '"', 'f']) {
        return None;
    }
    let bare = Path::new(text);
    let words = if is_picture(bare) { vec![text.to_owned()] } else { shlex::split(text)? };
    if words.is_empty() || words.len() > MOST {
        return None;
    }
    let paths: Option<Vec<PathBuf>> = words.iter().map(|word| path(word).filter(|path| is_picture(path))).collect();
    let written: Option<Vec<String>> = paths?.iter().map(|path| picture_mention(path)).collect();
    Some(format!("{} ", written?.join(" ")))
}

/// Writes a picture's path as a mention; `None` where it cannot be written.
pub(crate) fn picture_mention(path: &Path) -> Option<String> {
    let path = path.to_str().filter(|path| !path.contains('"') && !path.chars().any(char::is_control))?;
    Some(write_mention(path))
}

fn path(word: &str) -> Option<PathBuf> {
    let Some(address) = word.strip_prefix("file://") else { return Some(PathBuf::from(word)) };
    let local = address.strip_prefix("localhost").unwrap_or(address);
    percent_decoded(local).map(PathBuf::from)
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first == b'%' {
            let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &rest[2..];
        } else {
            bytes.push(first);
        }
    }
    String::from_utf8(bytes).ok()
}

fn is_picture(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
    path.is_absolute() && ending.is_some_and(|ending| ENDINGS.contains(&ending.as_str())) && path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_pictures_become_mentions_however_they_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, "x").unwrap();
            path.to_str().unwrap().to_owned()
        };
        let (plain, spaced, text) = (at("a.png"), at("my photo.JPG"), at("notes.txt"));
        let quoted = format!("@\"{spaced}\" ");
        assert_eq!(dropped_mentions(&format!("{plain}\n")), Some(format!("@{plain} ")));
        assert_eq!(dropped_mentions(&spaced).as_ref(), Some(&quoted), "a bare path with a blank");
        assert_eq!(dropped_mentions(&format!("'{spaced}' ")).as_ref(), Some(&quoted));
        assert_eq!(dropped_mentions(&spaced.replace(' ', "\\ ")).as_ref(), Some(&quoted));
        assert_eq!(dropped_mentions(&format!("file://{}", spaced.replace(' ', "%20"))).as_ref(), Some(&quoted));
        assert_eq!(dropped_mentions(&format!("{plain} '{spaced}'")), Some(format!("@{plain} {quoted}")));
        for other in [
            text.as_str(),
            "/no/such/picture.png",
            "a.png",
            "/",
            "",
            "file://%zz.png",
            "'unbalanced",
            &format!("{plain} is broken"),
            &format!("see {plain}"),
        ] {
            assert_eq!(dropped_mentions(other), None, "{other}");
        }
    }
}
