//! A hand-off: the shell ran axi with the person's line; one conversation's turn in the scrollback, and what comes
//! of it goes back to the prompt line.
//!
//! It is an ordinary job of the shell: job control, modes and prompts are the shell's own business. It opens no
//! editor: what is typed and sent meanwhile is the next message, what is typed and not sent stands on the prompt
//! line afterwards, or is told where something else stands there: a command, or the line that was stopped.

mod capture;
mod consent;
mod cut;
mod extract;
mod facts;
mod left;
mod output;
mod reply;
mod rewrite;
mod turns;
mod within;

pub use consent::OutputConsent;
pub use facts::{Facts, LastCommand};
pub use output::{Lookup, OutputSource};
pub use reply::{Put, write as write_reply};
pub use rewrite::{NoCommand, paint, rewrite as rewrite_line, system_prompt as rewrite_prompt};
pub use turns::Handoff;
pub use within::lineage;
