//! Which models are of one family, by their names: what stays when the numbers and the day are left out.

use super::abilities::Known;
use super::rows;

/// The name without the day at its end, and without `-latest`: the same model at the same price.
pub(super) fn undated(model: &str) -> Option<&str> {
    if let Some(name) = model.strip_suffix("-latest") {
        return Some(name);
    }
    let digits = |text: &str, count: usize| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    let (name, last) = model.rsplit_once('-')?;
    if digits(last, 8) {
        return Some(name);
    }
    let (name, month) = name.rsplit_once('-').filter(|_| digits(last, 2))?;
    let (name, year) = name.rsplit_once('-').filter(|_| digits(month, 2))?;
    digits(year, 4).then_some(name)
}

/// Finds the newest row that has a day behind this name: `claude-3-7-sonnet` is `claude-3-7-sonnet-20250219`.
pub(super) fn newest_dated(provider: &str, model: &str) -> Option<&'static str> {
    let dated = rows::of(provider).filter_map(|row| Some((row, rows::read(row)?)));
    let alike = dated.filter(|(_, known)| undated(&known.name) == Some(model));
    alike.max_by_key(|(_, known)| known.released).map(|(row, _)| row)
}

/// The words of a name without their numbers: `claude-opus-5-5` is `claude opus`, `o3-mini` is `o mini`.
fn words(model: &str) -> Vec<String> {
    let lower = model.to_ascii_lowercase();
    let parts = lower.split(['-', '.', '_', ':', '@', '/', ' ']).enumerate();
    let words = parts.filter_map(|(at, part)| {
        let letters = part.trim_end_matches(|last: char| last.is_ascii_digit());
        let kept = if at == 0 { letters } else { part };
        let is_word = !kept.is_empty() && !kept.contains(|letter: char| letter.is_ascii_digit());
        (is_word && kept != "latest" && kept != "preview").then(|| kept.to_owned())
    });
    words.collect()
}

/// Finds the newest model of the provider's that has the same words; else the newest that begins with the same ones,
/// as far as any does.
pub(super) fn newest(provider: &str, model: &str) -> Option<Known> {
    let wanted = words(model);
    // A name that begins with its maker belongs only to families that do so, too.
    let least = if model.contains('/') { 2 } else { 1 };
    let alike = rows::of(provider).filter_map(|row| {
        let known = rows::read(row)?;
        let own = words(&known.name);
        let same = own.iter().zip(&wanted).take_while(|(one, other)| one == other).count();
        // A model with a word that the name lacks is further away than a model that lacks a word.
        let strange = own.len() - same;
        (same >= least && known.context_window.is_some())
            .then_some(((same, std::cmp::Reverse(strange), known.released), known))
    });
    alike.max_by_key(|(near, _)| *near).map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_at_the_end_is_no_part_of_the_name() {
        let names = [
            ("gpt-5-mini-2025-08-07", Some("gpt-5-mini")),
            ("claude-opus-4-5-20251101", Some("claude-opus-4-5")),
            ("gemini-flash-latest", Some("gemini-flash")),
            ("gpt-5", None),
            ("kimi-k2-0711", None),
            ("", None),
        ];
        for (name, expected) in names {
            assert_eq!(undated(name), expected, "{name}");
        }
    }

    #[test]
    fn a_family_is_what_stays_without_the_numbers() {
        assert_eq!(words("claude-opus-5-5"), ["claude", "opus"]);
        assert_eq!(words("o3-mini"), ["o", "mini"]);
        assert_eq!(words("anthropic/claude-sonnet-4.5"), ["anthropic", "claude", "sonnet"]);
        assert_eq!(words("gpt-4o-mini-2024-07-18"), ["gpt", "mini"]);
        assert!(words("4-5").is_empty());
    }
}
