//! The values that are secrets for certain, wherever they stand.

use std::ops::Range;
use std::sync::Arc;

use super::cut::Cuts;
use super::dotenv::Dotenv;
use super::exact;

/// Values that are secrets for certain: keys of providers, those of variables whose name says so, those of `.env` files.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Known {
    values: Vec<String>,
    files: Option<Dotenv>,
}

impl Known {
    /// Takes the values that are long enough.
    #[must_use]
    pub fn new(values: impl IntoIterator<Item = String>) -> Self {
        Self { values: exact::looked_for([], values), files: None }
    }

    /// Knows the values in these files, too, as they are whenever a text is looked through.
    #[must_use]
    pub fn with(self, files: Dotenv) -> Self {
        Self { files: Some(files), ..self }
    }

    /// Tells whether one of them is in the text.
    #[must_use]
    pub fn is_in(&self, text: &str) -> bool {
        self.now().iter().any(|value| text.contains(value))
    }

    /// Takes more values.
    pub(super) fn add(&mut self, values: impl IntoIterator<Item = String>) {
        self.values = exact::looked_for(std::mem::take(&mut self.values), values);
    }

    /// Returns the values as they are now.
    pub(super) fn now(&self) -> Now<'_> {
        Now { values: &self.values, of_files: self.files.as_ref().map(Dotenv::values).unwrap_or_default() }
    }
}

/// The values at one time.
pub(super) struct Now<'a> {
    values: &'a [String],
    of_files: Arc<[String]>,
}

impl Now<'_> {
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.values.iter().chain(self.of_files.iter()).map(String::as_str)
    }

    /// Finds them in a text, and parts of them where it was cut.
    pub(super) fn find(&self, text: &str, found: &mut Vec<Range<usize>>) {
        let cuts = Cuts::of(text);
        for value in self.iter() {
            found.extend(text.match_indices(value).map(|(at, value)| at..at + value.len()));
            cuts.find(value, found);
        }
    }
}

impl std::fmt::Debug for Known {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Known({})", self.values.len())
    }
}
