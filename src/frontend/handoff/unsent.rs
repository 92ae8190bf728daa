//! What was typed while axi worked and was not sent.

use crate::terminal::Unsent;

/// Lists what was typed while axi worked and was not sent, in its order.
pub fn unsent(typed: &Unsent) -> Vec<String> {
    let lines = typed.queue.iter().chain([&typed.line]);
    lines.filter(|line| !line.trim().is_empty()).cloned().collect()
}
