//! The marks of OSC 133 around the prompt: where it begins, and where the person's line does.

use std::borrow::Cow;

use reedline::{PromptKind, SemanticPromptMarkers};

/// Marks that want no clicks: `click_events=0` takes back what the shell before axi asked for, which kitty keeps from
/// one prompt to the next (kitty's issue 9765).
pub(super) struct PromptMarks;

impl SemanticPromptMarkers for PromptMarks {
    fn prompt_start(&self, kind: PromptKind) -> Cow<'_, str> {
        Cow::Borrowed(match kind {
            PromptKind::Primary => "\x1b]133;A;k=i;click_events=0\x1b\\",
            PromptKind::Secondary => "\x1b]133;A;k=s;click_events=0\x1b\\",
            PromptKind::Right => "\x1b]133;P;k=r\x1b\\",
        })
    }

    fn command_input_start(&self) -> Cow<'_, str> {
        Cow::Borrowed("\x1b]133;B\x1b\\")
    }
}
