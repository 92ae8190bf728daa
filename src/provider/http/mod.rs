//! HTTP beneath the wires: clients, and what failures of connections and servers mean. Knows no protocol.

mod client;
mod likely;
mod problem;
mod proxy;
mod redact;
mod retry;
mod sleep;
mod transport;
mod unpack;

pub(crate) use client::{Answer, Call};
pub use client::{Client, Patience, SILENCE_TOLD_AFTER};
pub(crate) use problem::Complaint;
pub use problem::Origin;
pub use retry::RetryPlan;
pub(crate) use sleep::Sleep;
pub use transport::cause;
