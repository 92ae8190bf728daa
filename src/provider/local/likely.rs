//! Which token comes next.

use super::blocks::exp;

/// How much a token said before is less likely: what the Qwen family's own settings say.
const REPEATED: f32 = 1.1;

/// The most likely token, and how sure it is, from 0 to 1.
pub(super) fn likeliest(likely: &[f32]) -> (u32, f32) {
    let best = likely.iter().enumerate().max_by(|left, right| left.1.total_cmp(right.1));
    let Some((token, best)) = best else { return (0, 0.0) };
    let sum: f32 = likely.iter().map(|value| exp(value - best)).sum();
    (u32::try_from(token).unwrap_or(0), 1.0 / sum)
}

/// Takes the most likely of the tokens that are allowed.
pub(super) fn most_likely(likely: &[f32], allowed: impl Fn(u32) -> bool) -> Option<u32> {
    let mut best: Option<(u32, f32)> = None;
    for (token, value) in likely.iter().enumerate() {
        let Ok(token) = u32::try_from(token) else { break };
        if best.is_none_or(|(_, best)| *value > best) && allowed(token) {
            best = Some((token, *value));
        }
    }
    best.map(|(token, _)| token)
}

/// Takes the most likely token; those said before count less.
pub(super) fn choose(likely: &mut [f32], said: &[u32]) -> u32 {
    let mut said = said.to_vec();
    said.sort_unstable();
    said.dedup();
    for token in said {
        if let Some(value) = likely.get_mut(token as usize) {
            *value = if *value > 0.0 { *value / REPEATED } else { *value * REPEATED };
        }
    }
    let best = likely.iter().enumerate().max_by(|left, right| left.1.total_cmp(right.1));
    best.map_or(0, |(token, _)| u32::try_from(token).unwrap_or(0))
}
