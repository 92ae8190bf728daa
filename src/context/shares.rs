//! What a request is made of, by kind.

use crate::conversation::{ContentBlock, Message, Role, tokens};

/// How many tokens each kind of content has, as [`tokens`] estimates them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shares {
    /// The system prompt, with what `AGENTS.md` says.
    pub system: u64,
    /// The descriptions of the tools.
    pub tools: u64,
    /// What the person said, and what stands for what is not sent any more.
    pub person: u64,
    /// What the model said, thought and called.
    pub model: u64,
    /// What tools gave back.
    pub outputs: u64,
    /// Pictures.
    pub pictures: u64,
}

impl Shares {
    /// Counts the messages of a request.
    #[must_use]
    pub fn of(messages: &[Message]) -> Self {
        let mut shares = Self::default();
        for message in messages {
            for block in &message.content {
                let place = match (block, message.role) {
                    (ContentBlock::Image(_), _) => &mut shares.pictures,
                    (ContentBlock::ToolResult(_), _) => &mut shares.outputs,
                    (_, Role::User) => &mut shares.person,
                    (_, Role::Assistant) => &mut shares.model,
                };
                *place += tokens::estimate_block(block);
            }
        }
        shares
    }

    /// All of them.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.system + self.tools + self.person + self.model + self.outputs + self.pictures
    }
}
