//! The flags between a wrapper and its command, as its row lists them.
//!
//! A flag that the row does not list, or the beginning of a long one, may take the next word along: then another word
//! is the command than it seems.

use super::super::effect::Field;
use super::super::known::Value;
use crate::approval::program::Program;

/// A flag that is given, by its own name, with its value.
pub(super) struct Given {
    pub(super) name: String,
    pub(super) value: Option<Value>,
}

/// The flags of a wrapper, and what stands behind them.
pub(super) struct Flags<'f> {
    pub(super) given: Vec<Given>,
    pub(super) rest: &'f [Field],
    /// Whether each of them is known, and so where the command begins.
    pub(super) certain: bool,
}

impl<'f> Flags<'f> {
    /// Reads the flags in front of the first word that is none.
    pub(super) fn read(program: &Program, fields: &'f [Field]) -> Self {
        let mut flags = Self { given: Vec::new(), rest: &[], certain: true };
        let mut at = 0;
        while let Some(field) = fields.get(at) {
            let start = field.value.start();
            if !start.starts_with('-') || start == "-" {
                break;
            }
            at += 1;
            if start == "--" && field.value.known().is_some() {
                break;
            }
            let takes_next =
                if start.starts_with("--") { flags.long(program, field) } else { flags.cluster(program, field) };
            if takes_next {
                if let Some(given) = flags.given.last_mut() {
                    given.value = fields.get(at).map(|field| field.value.clone());
                }
                at += 1;
            }
        }
        flags.rest = fields.get(at..).unwrap_or_default();
        flags
    }

    /// Returns where the last of these flags stands.
    pub(super) fn last(&self, names: &[&str]) -> Option<usize> {
        self.given.iter().rposition(|given| names.contains(&given.name.as_str()))
    }

    /// Tells whether there are no other flags than these.
    pub(super) fn only(&self, names: &[&str]) -> bool {
        self.certain && self.given.iter().all(|given| names.contains(&given.name.as_str()))
    }

    fn push(&mut self, name: &str, value: Option<Value>) {
        self.given.push(Given { name: name.to_owned(), value });
    }

    /// Reads `--name` or `--name=value`; tells whether the next word is its value.
    fn long(&mut self, program: &Program, field: &Field) -> bool {
        let start = field.value.start();
        let (name, joined) = match start.split_once('=') {
            Some((name, _)) => (name, Some(field.value.without_start(name.len() + 1))),
            None => (start, None),
        };
        let (is_joined, is_whole) = (joined.is_some(), field.value.known().is_some());
        self.push(name, joined);
        let takes = program.valued.contains(name);
        self.certain &= (is_joined || is_whole)
            && (takes || program.optional.contains(name) || program.bare.contains(name) && !is_joined);
        takes && !is_joined && is_whole
    }

    /// Reads letters behind one dash; tells whether the next word is the value of the last one.
    fn cluster(&mut self, program: &Program, field: &Field) -> bool {
        let (start, is_whole) = (field.value.start(), field.value.known().is_some());
        for (at, letter) in start.char_indices().skip(1) {
            let (name, behind) = (format!("-{letter}"), at + letter.len_utf8());
            if program.bare.contains(&name) {
                self.push(&name, None);
                continue;
            }
            let joined = behind < start.len();
            let value = (joined || !is_whole).then(|| field.value.without_start(behind));
            self.push(&name, value);
            let takes = program.valued.contains(&name);
            // A part that is only known at run time may be empty: then the next word is the value.
            self.certain &= program.optional.contains(&name) || takes && (joined || is_whole);
            return takes && !joined && is_whole;
        }
        self.certain &= is_whole;
        false
    }
}
