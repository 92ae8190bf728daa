//! A line of a history.

/// A line that was typed at a shell's prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Typed {
    /// The line, of several rows where it had them.
    pub text: String,
    /// When it was started, in seconds since 1970, where the shell kept that.
    pub when: Option<u64>,
    /// The shell, or `atuin`.
    pub shell: &'static str,
    /// Where, where that was kept.
    pub cwd: Option<String>,
    /// How it ended, where that was kept.
    pub exit: Option<i32>,
}
