//! Tests that cannot be made here say so, as `tests/it/support/skip.rs` does for the integration tests; `tests/run`
//! counts them. It is built for tests alone.

use std::fmt::Display;
use std::io::Write as _;

/// Says why the test that runs is skipped, in whole or in part.
pub(crate) fn skip(why: impl Display) {
    let thread = std::thread::current();
    let said = format!("skipped: {}: {why}\n", thread.name().unwrap_or("a test"));
    // Not with a macro: what a test that passes prints with one is never seen.
    let _ = std::io::stderr().write_all(said.as_bytes());
}
