//! Tests that cannot be made here say so; `tests/run` counts them.

use std::fmt::Display;
use std::io::Write as _;

/// Says why the test that runs is skipped, in whole or in part.
pub(crate) fn skip(why: impl Display) {
    let thread = std::thread::current();
    let said = format!("skipped: {}: {why}\n", thread.name().unwrap_or("a test"));
    // Not with a macro: what a test that passes prints with one is never seen.
    let _ = std::io::stderr().write_all(said.as_bytes());
}

/// Tells whether a program is installed; says that the test is skipped where it is not.
pub(crate) fn has(program: &str) -> bool {
    let found = super::pty::is_installed(program);
    if !found {
        skip(format_args!("{program} is not installed"));
    }
    found
}

/// A file or folder of `tests/it/fixtures`.
pub(crate) fn fixture(name: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures").join(name)
}
