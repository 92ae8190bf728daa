//! How Claude is asked to think, at Anthropic's own door and at Bedrock's. Pure.
//!
//! Only the catalogue knows which way a model takes ([`Abilities`]). An id newer than the catalogue inherits from the
//! newest model of its family.

use serde_json::{Value, json};

use crate::provider::catalogue::{Abilities, Effort};

/// The least budget of thought, in tokens (<https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking>).
const LEAST_BUDGET: u64 = 1_024;

/// The field `thinking`. Newer models decide themselves how much they think; older ones take a budget. A budget is
/// part of the output limit and costs tokens each time, so only the person sets one. The request has to ask for the
/// text of thoughts: otherwise they come empty, and the newest models put what they say between calls into them
/// (dcdpr/jp PR#1191).
pub(crate) fn thinking(abilities: &Abilities, adaptive: bool, effort: Option<Effort>, limit: u64) -> Option<Value> {
    match (adaptive, effort) {
        (true, Some(Effort::None)) => Some(json!({"type": "disabled"})),
        (true, _) => Some(json!({"type": "adaptive", "display": "summarized"})),
        (false, None | Some(Effort::None)) => None,
        (false, Some(effort)) => {
            let (least, _) = abilities.thinking.budget?;
            let least = least.unwrap_or(LEAST_BUDGET);
            // Half of it stays for the answer.
            let most = (limit / 2).max(least);
            (limit > most).then(|| json!({"type": "enabled", "budget_tokens": effort.budget(least, most)}))
        }
    }
}

/// The word of `output_config`, where the model takes one.
pub(crate) fn effort_word(abilities: &Abilities, adaptive: bool, effort: Option<Effort>) -> Option<&'static str> {
    let takes_words = adaptive || !abilities.efforts.is_empty();
    effort.filter(|effort| takes_words && *effort != Effort::None).map(Effort::word)
}
