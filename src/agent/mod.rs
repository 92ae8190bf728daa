//! The turn: ask the model, run what it calls, ask again, until it calls nothing.
//!
//! Knows no terminal and no locale: everything that happens is an [`AgentEvent`], shown by the one front end.

mod event;

pub use event::{Activity, AgentEvent, Approval, ApprovalRequest, Failure, Frontend, Notice, TurnEnd};
