//! The values of `.env` files whose names say that they are secret. A file is read again when it has changed; what it held
//! before stays known.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::platform::os::fs::MetadataExt as _;

use super::exact::looked_for;
use super::name::is_secret_name;

/// The files that are read in a project; other `.env.*` files are not.
const FILES: &[&str] = &[".env", ".env.local"];
/// The largest such file that is read, in bytes.
const LARGEST: u64 = 64 * 1024;

/// The files of a project; all who hold a copy of this know the same values.
#[derive(Clone)]
pub struct Dotenv(Arc<Mutex<Files>>);

struct Files {
    paths: Vec<(PathBuf, Option<Stamp>)>,
    values: Arc<[String]>,
}

/// What changes with a file: which one it is, its length in bytes, when it was changed last.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    file: u64,
    length: u64,
    changed: (i64, i64),
}

impl Dotenv {
    /// Takes the files in these folders. None is read before a text is looked through.
    #[must_use]
    pub fn of(folders: &[&Path]) -> Self {
        let folders: BTreeSet<&Path> = folders.iter().copied().collect();
        let paths = folders.iter().flat_map(|folder| FILES.iter().map(|name| (folder.join(name), None))).collect();
        Self(Arc::new(Mutex::new(Files { paths, values: Arc::default() })))
    }

    /// Returns the values as they are now, and as they were before.
    pub(super) fn values(&self) -> Arc<[String]> {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut read = Vec::new();
        for (path, was) in &mut files.paths {
            let now = stamp(path);
            if now != *was {
                // The stamp is older than what is read: a change in between is seen the next time.
                *was = now;
                read.extend(now.map(|_| values(&text(path))).into_iter().flatten());
            }
        }
        if !read.is_empty() {
            files.values = looked_for(files.values.iter().cloned(), read).into();
        }
        Arc::clone(&files.values)
    }
}

impl fmt::Debug for Dotenv {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Dotenv")
    }
}

impl PartialEq for Dotenv {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Dotenv {}

/// Looks at a file; `None` where there is none that is read. Reading a pipe would block.
fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = std::fs::metadata(path).ok()?;
    (metadata.is_file() && metadata.len() <= LARGEST).then(|| Stamp {
        file: metadata.ino(),
        length: metadata.len(),
        changed: (metadata.ctime(), metadata.ctime_nsec()),
    })
}

fn text(path: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned()
}

/// Returns the secret values of a file's text. Readers of such files differ: each value is told in every way that one of
/// them may take it.
fn values(text: &str) -> Vec<String> {
    let mut values = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let line = rest.lines().next().unwrap_or_default();
        if let Some((name, value)) = line.split_once('=')
            && is_secret_name(variable(name))
        {
            // A value in quotes may go on in the lines below.
            let from = rest[name.len() + 1..].trim_start_matches([' ', '\t']);
            values.extend(ways(value.trim(), from));
        }
        rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
    }
    values
}

/// The name of a variable, as it stands before the sign: `export NAME`.
fn variable(before: &str) -> &str {
    let before = before.trim_start_matches('\u{feff}').trim();
    let exported = before.strip_prefix("export").filter(|name| name.starts_with(char::is_whitespace));
    exported.unwrap_or(before).trim()
}

/// The ways to take what stands behind the sign: `line` up to the line's end, `rest` up to the file's.
fn ways(line: &str, rest: &str) -> Vec<String> {
    let mut ways = vec![line.trim_matches(['"', '\'']).to_owned()];
    if let Some(quote @ ('"' | '\'' | '`')) = rest.chars().next() {
        let inside = quoted(&rest[1..], quote);
        ways.extend(inside.into_iter().flat_map(|inside| [inside.to_owned(), unescaped(inside)]));
    } else {
        // A sign without a blank before it belongs to the value.
        let comment = line.match_indices('#').find(|(at, _)| line[..*at].ends_with([' ', '\t']));
        ways.extend(comment.map(|(at, _)| line[..at].trim_end().to_owned()));
    }
    ways
}

/// What stands in quotes, without what follows them.
fn quoted(text: &str, quote: char) -> Option<&str> {
    let mut is_escaped = false;
    for (at, letter) in text.char_indices() {
        if letter == quote && !is_escaped {
            return Some(&text[..at]);
        }
        // Only in double quotes a backslash is more than itself.
        is_escaped = quote == '"' && letter == '\\' && !is_escaped;
    }
    None
}

/// What a text in double quotes means.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        let escape = if letter == '\\' { letters.next() } else { None };
        plain.push(match escape {
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some(other) => other,
            None => letter,
        });
    }
    plain
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Known, find_known};
    use super::*;

    /// What is known of a text that stands beside such a file.
    fn found<'a>(folder: &Path, text: &'a str) -> Vec<&'a str> {
        let known = Known::default().with(Dotenv::of(&[folder, folder]));
        find_known(text, &known).into_iter().map(|range| &text[range]).collect()
    }

    /// Writes a line with a value as it may stand in such a file.
    fn line(value: &str, form: usize) -> String {
        let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
        match form {
            0 => format!("DB_PASSWORD={value}\n"),
            1 => format!("export DB_PASSWORD={value} # production\n"),
            2 => format!("export\tDB_PASSWORD = \"{escaped}\" # it's \"production\"\r\n"),
            3 => format!("DB_PASSWORD='{value}'\t# it's production"),
            _ => format!("\u{feff}DB_PASSWORD=`{value}`#production\r\n"),
        }
    }

    proptest! {
        #[test]
        fn a_value_is_known_however_its_line_is_written(
            value in "[A-Za-z0-9!@$%^&*()_+=?.:/#\\\\\"-]{8,24}",
            form in 0..5_usize,
            before in "([A-Z]{1,4}=[a-z\"']{0,9}\n|# text\n|\n){0,3}",
        ) {
            // A quote at the ends of a bare value is not of it.
            prop_assume!(!value.starts_with('"') && !value.ends_with('"'));
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join(".env"), before + &line(&value, form)).unwrap();
            let text = format!("got ({value}) there");
            prop_assert_eq!(found(folder.path(), &text), [&value]);
        }
    }

    #[test]
    fn a_value_over_several_lines_is_one() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(".env"), "MY_SECRET=\"first line\nand second\" # x\nPORT=80808080\n")
            .unwrap();
        let found = found(folder.path(), "a first line\nand second\" 80808080");
        assert_eq!(found, ["first line\nand second"]);
    }

    #[test]
    fn a_file_that_changes_is_read_again_and_what_it_held_stays_known() {
        let folder = tempfile::tempdir().unwrap();
        let known = Known::default().with(Dotenv::of(&[folder.path()]));
        let is_hidden = |value: &str| find_known(value, &known).iter().any(|found| found.len() == value.len());
        assert!(!is_hidden("troubadour42plz"), "there is no file");
        let path = folder.path().join(".env.local");
        std::fs::write(&path, "API_TOKEN=troubadour42plz\n").unwrap();
        assert!(is_hidden("troubadour42plz") && !is_hidden("flamingo77qqqq"));
        std::fs::write(&path, "API_TOKEN=flamingo77qqqq2\n").unwrap();
        assert!(is_hidden("flamingo77qqqq2") && is_hidden("troubadour42plz"));
        // As editors do: another file in its place, of the same length.
        std::fs::write(folder.path().join("new"), "API_TOKEN=kolibri99xxxxx3\n").unwrap();
        std::fs::rename(folder.path().join("new"), &path).unwrap();
        assert!(is_hidden("kolibri99xxxxx3") && is_hidden("flamingo77qqqq2"));
        std::fs::remove_file(&path).unwrap();
        assert!(is_hidden("kolibri99xxxxx3"));
    }
}
