//! The line editor: reedline put together, what each key does, and how a line comes to its end.

mod bindings;
mod burst;
mod escape;
mod highlighter;
mod in_step;
mod keys;
mod kick;
mod line_editor;
mod outside;
mod prompt_marks;
mod read;

pub use bindings::{ACTIONS, KeyAction, KeyBinding, KeyError, parse_binding};
pub use line_editor::{EditStyle, Editor, EditorOptions, EditorWords, Foreground, ReadOutcome};
