//! `/shell`: what would come back to the shell's prompt.

use super::{Context, Outcome};
use crate::locale::word;

/// Shows it.
pub(super) fn shell(context: &mut Context<'_>, _: &str) -> Outcome {
    let locale = context.locale;
    let left = context.world.left_in_shells();
    let mut rows = left.left_out(locale);
    let Some(line) = left.line else {
        rows.push(locale.text(word::said::SHELL_NOTHING).to_owned());
        return Outcome::Say(rows.join("\n"));
    };
    let said = if context.world.has_prompt() { word::said::SHELL_BACK } else { word::said::SHELL_COPY };
    rows.insert(0, locale.text(said).to_owned());
    Outcome::Both(Box::new(Outcome::Say(rows.join("\n"))), Box::new(Outcome::Raw(line)))
}
