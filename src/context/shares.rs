//! What a request is made of, by kind.

use crate::conversation::{ATTACHED, ContentBlock, Message, Role, tokens};

/// How many tokens each kind of content has, as [`tokens`] estimates them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shares {
    /// The system prompt, without the instructions in it.
    pub system: u64,
    /// What `AGENTS.md` and the like say.
    pub instructions: u64,
    /// The descriptions of the tools.
    pub tools: u64,
    /// Files and folders that were attached.
    pub files: u64,
    /// What the person and the model said, thought and called, and what stands for what is not sent any more.
    pub conversation: u64,
    /// What tools gave back.
    pub outputs: u64,
    /// Pictures.
    pub pictures: u64,
    /// How many a request and its answer may have, as far as anybody has said.
    pub window: Option<u64>,
    /// How many the provider will likely count of all of them.
    pub counted: u64,
}

impl Shares {
    /// Counts the messages of a request.
    #[must_use]
    pub fn of(messages: &[Message]) -> Self {
        let mut shares = Self::default();
        for message in messages {
            for block in &message.content {
                if let (ContentBlock::Text { text }, Role::User) = (block, message.role) {
                    // Files stand behind what was typed.
                    let (typed, files) = text.split_at(text.find(ATTACHED).unwrap_or(text.len()));
                    shares.conversation += tokens::estimate(typed);
                    shares.files += tokens::estimate(files);
                    continue;
                }
                let place = match block {
                    ContentBlock::Image(_) => &mut shares.pictures,
                    ContentBlock::ToolResult(_) => &mut shares.outputs,
                    ContentBlock::Text { .. }
                    | ContentBlock::Reasoning(_)
                    | ContentBlock::ToolCall(_)
                    | ContentBlock::WireItem(_) => &mut shares.conversation,
                };
                *place += tokens::estimate_block(block);
            }
        }
        shares
    }

    /// How much of the window is likely filled, in percent; `None` while the window is not known.
    #[must_use]
    pub fn percent(&self) -> Option<u64> {
        let window = self.window.filter(|window| *window > 0)?;
        Some((self.counted.saturating_mul(100) / window).min(100))
    }

    /// All of them.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.system + self.instructions + self.tools + self.files + self.conversation + self.outputs + self.pictures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_filled_by_what_the_provider_counts() {
        let shares = Shares { conversation: 1_600, counted: 2_942, window: Some(4_096), ..Shares::default() };
        assert_eq!(shares.percent(), Some(71));
        assert_eq!(Shares { window: Some(1_000), ..shares }.percent(), Some(100));
        assert_eq!([None, Some(0)].map(|window| Shares { window, ..shares }.percent()), [None, None]);
    }

    #[test]
    fn files_are_counted_apart_from_the_words_they_came_with() {
        let asked = Message::user("what is this?");
        let words = Shares::of(std::slice::from_ref(&asked)).conversation;
        let mut message = asked;
        let file = format!("{ATTACHED}a.rs\">\nfn a() {{}}\n</file>\n");
        message.content.push(ContentBlock::Text { text: file.clone() });
        let expected = Shares { conversation: words, files: tokens::estimate(&file), ..Shares::default() };
        assert_eq!(Shares::of(&[message]), expected);
        let of_an_editor = Message::user(format!("what is this?{file}"));
        assert_eq!(Shares::of(&[of_an_editor]), expected);
    }
}
