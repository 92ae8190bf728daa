//! The settings that hold, and where each value comes from.

use super::finding::Spot;
use super::setting::{Form, Setting};

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Nobody has set it.
    Default,
    /// The person's file.
    File(Spot),
    /// A project's file.
    Project(Spot),
    /// A variable of the environment.
    Variable(&'static str),
    /// A flag of this run.
    Flag(&'static str),
}

/// The value of a setting that holds.
#[derive(Debug, Clone)]
pub struct Held {
    /// The dotted key.
    pub key: String,
    /// Its declaration.
    pub setting: &'static Setting,
    /// The value as a file has it; empty where there is none.
    pub value: String,
    /// Where it comes from; several where a list is gathered.
    pub origins: Vec<Origin>,
}

impl Held {
    /// Tells whether the value may be a secret, which is shown to nobody.
    #[must_use]
    pub fn is_secret(&self) -> bool {
        self.setting.form == Form::Secret && !self.value.is_empty()
    }
}
