//! What is wrong with what a settings file says, and where. Facts; the words are found by who tells them.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::setting::Setting;
use crate::platform::RealPath as _;
use crate::secret::files::is_secret;

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spot {
    /// The file, or the name of the variable of the environment.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// The character in it, from 1.
    pub column: usize,
    /// How many characters of that line it is.
    pub width: usize,
    /// The line; empty if the file is a link to a secret file.
    pub text: String,
}

impl Spot {
    /// Finds the place of a range of bytes.
    #[must_use]
    pub fn new(file: &Path, source: &str, range: Option<Range<usize>>) -> Self {
        let range = range.unwrap_or_default();
        let start = source.floor_char_boundary(range.start);
        let before = &source[..start];
        let from = before.rfind('\n').map_or(0, |newline| newline + 1);
        let text = source[from..].lines().next().unwrap_or_default();
        let end = source.floor_char_boundary(range.end.clamp(start, from + text.len()).max(start));
        // A repository can have a link where its settings should be, and what is shown may go into a public log.
        let is_hidden = file.real_path().is_ok_and(|real| is_secret(&real, None));
        let text = if is_hidden { "" } else { text };
        Self {
            file: file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: source[from..start].chars().count() + 1,
            width: source[start..end].chars().count().max(1),
            text: text.to_owned(),
        }
    }

    /// The whole of what a variable holds.
    #[must_use]
    pub fn of_variable(name: &str, value: &str) -> Self {
        let text = value.lines().next().unwrap_or_default();
        Self { file: name.into(), line: 1, column: 1, width: text.chars().count().max(1), text: text.to_owned() }
    }
}

/// Something a settings file says that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Where.
    pub spot: Spot,
    /// The dotted key.
    pub key: String,
    /// What is wrong.
    pub fault: Fault,
}

/// What is wrong with a setting.
#[derive(Debug, Clone)]
pub enum Fault {
    /// The file is no TOML; of a project's nothing holds but the rules that could be read by themselves.
    Syntax {
        /// What, from the parser.
        cause: String,
    },
    /// A name nobody knows.
    Unknown {
        /// The nearest there is.
        nearest: Option<String>,
    },
    /// A value of another kind, such as a text for a number.
    WrongKind {
        /// The setting, which says what it takes.
        setting: &'static Setting,
    },
    /// Not one of the words there are.
    NoChoice {
        /// What is there.
        found: String,
        /// What there is.
        words: &'static [&'static str],
    },
    /// A number that is too small or too large.
    OutOfRange {
        /// The smallest.
        least: u64,
        /// The largest.
        most: u64,
    },
    /// A text that does not stand for what it should.
    WrongForm {
        /// The setting, which says what it should.
        setting: &'static Setting,
    },
    /// A project's file says what only the person may say.
    ProjectMayNot,
    /// A project's file would make looser what it may only make stricter.
    Loosens,
}

impl PartialEq for Fault {
    fn eq(&self, other: &Self) -> bool {
        // Declarations hold functions, which have no equality: their names do.
        format!("{self:?}") == format!("{other:?}")
    }
}

impl Eq for Fault {}

/// Finds the word that was meant, if one is near.
#[must_use]
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = |known: &str| {
        let distance = strsim::damerau_levenshtein(&word.to_lowercase(), known);
        let begins = word.len() >= 2 && known.starts_with(word) || known.len() >= 3 && word.starts_with(known);
        // One letter, and one more for each four.
        (begins || distance <= 1 + word.chars().count() / 4).then_some(distance)
    };
    let found = known.into_iter().filter_map(|known| Some((near(known)?, known)));
    found.min_by_key(|(distance, _)| *distance).map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spot_counts_characters_and_ends_with_its_line() {
        let source = "a = 1\nnä = \"é\nx\"\n";
        let at = |range| {
            let Spot { line, column, width, text, .. } = Spot::new(Path::new("f"), source, Some(range));
            (line, column, width, text)
        };
        assert_eq!(at(0..1), (1, 1, 1, "a = 1".to_owned()));
        assert_eq!(at(12..18), (2, 6, 2, "nä = \"é".to_owned()));
        assert_eq!(at(source.len()..source.len()), (4, 1, 1, String::new()));
        assert_eq!(at(7..8).1, 2, "inside a character");
        assert_eq!(Spot::new(Path::new("f"), "", None).line, 1);
    }

    #[test]
    fn of_a_file_that_is_a_link_to_a_secret_no_line_is_shown() {
        let place = tempfile::tempdir().unwrap();
        let (secret, settings) = (place.path().join("credentials"), place.path().join("config.toml"));
        std::fs::write(&secret, "key = x\n").unwrap();
        crate::platform::os::fs::symlink(&secret, &settings).unwrap();
        assert_eq!(Spot::new(&settings, "key = x\n", Some(6..7)).text, "");
    }

    #[test]
    fn the_nearest_is_near() {
        let known = ["model", "language", "edit_mode", "max_steps"];
        for (word, meant) in [
            ("modle", Some("model")),
            ("Language", Some("language")),
            ("edit_mod", Some("edit_mode")),
            ("edit", Some("edit_mode")),
            ("maxsteps", Some("max_steps")),
            ("x", None),
            ("hooks", None),
        ] {
            assert_eq!(nearest(word, known), meant, "{word}");
        }
    }
}
