//! A line of a history.

use std::borrow::Cow;

/// A line that was typed at a shell's prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Typed<'a> {
    /// The line, of several rows where it had them.
    pub text: Cow<'a, str>,
    /// When it was started, in seconds since 1970, where the shell kept that.
    pub when: Option<u64>,
    /// The shell, or `atuin`.
    pub shell: &'static str,
    /// Where, where that was kept.
    pub cwd: Option<Cow<'a, str>>,
    /// How it ended, where that was kept.
    pub exit: Option<i32>,
}

impl Typed<'_> {
    /// The same, without a copy of its text.
    pub(super) fn borrowed(&self) -> Typed<'_> {
        let cwd = self.cwd.as_deref().map(Cow::Borrowed);
        Typed { text: Cow::Borrowed(&self.text), cwd, ..*self }
    }
}
