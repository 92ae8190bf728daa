//! A row of the doctor's page.

/// Something that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Check {
    /// What it is.
    pub(super) name: String,
    /// What was found.
    pub(super) found: String,
    /// What to do about it; `None` where nothing is wrong.
    pub(super) todo: Option<String>,
}

impl Check {
    /// Something that is as it should be, or only to be known.
    pub(super) fn good(name: &str, found: impl Into<String>) -> Self {
        Self { name: name.to_owned(), found: found.into(), todo: None }
    }

    /// Something that is wrong, with what to do.
    pub(super) fn bad(name: &str, found: impl Into<String>, todo: impl Into<String>) -> Self {
        Self { name: name.to_owned(), found: found.into(), todo: Some(todo.into()) }
    }
}
