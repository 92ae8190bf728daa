//! What stands in a frame beside what code finds.

/// What stands in the frame beside what code finds.
#[derive(Debug, Clone, Copy, Default)]
pub struct Beside<'a> {
    /// The model's own summary of what is cut.
    pub summary: Option<&'a str>,
    /// What the person wants kept at hand.
    pub pins: &'a [String],
    /// The open steps of the task.
    pub todos: Option<&'a str>,
}
