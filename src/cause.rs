//! Why something failed, where an error wraps another: the innermost says it.

use std::error::Error;

/// Returns the words of the innermost error; what wraps it says only where it happened.
#[must_use]
pub fn innermost(error: &dyn Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
