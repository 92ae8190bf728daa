//! What a line of code leaves open for the next line.

/// What is open at the end of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Open {
    #[default]
    Nothing,
    /// A comment: its kind, and how deep.
    Comment(usize, usize),
    /// A string of this kind.
    Text(usize),
    /// A tag.
    Tag,
}
