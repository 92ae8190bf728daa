//! A hand-off: the shell runs axi with the person's line. axi runs one turn of a conversation in the scrollback,
//! and its result goes back to the prompt line.
//!
//! For the shell it is an ordinary job: job control, modes and prompts are the shell's own business. It opens no
//! editor. A line that is typed and sent meanwhile is the next message. Text that is typed and not sent stands on
//! the prompt line afterwards; if something else stands there (a command, or the stopped line), it is printed
//! instead.

mod capture;
mod check;
mod consent;
mod cut;
mod extract;
mod facts;
mod meant;
mod mend;
mod mending;
mod near;
mod output;
mod reply;
mod rerun;
mod rewrite;
mod tldr;
mod turns;
mod unsent;
mod weigh;
mod within;

pub use check::Check;
pub use consent::OutputConsent;
pub use facts::{Facts, LastCommand};
pub(crate) use meant::meant;
pub use mend::Mender;
pub use near::Near;
pub use output::{Lookup, OutputSource};
pub use reply::{Put, write as write_reply, write_ran};
pub use rerun::{Again, MakeRun, Rerun};
pub use rewrite::{NoCommand, paint, rewrite as rewrite_line, system_prompt as rewrite_prompt};
pub use turns::{Handoff, RanCommand, Remember};
pub use unsent::unsent;
pub use within::lineage;
