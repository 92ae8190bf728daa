//! What a model's name says about how it thinks: names change oftener than manners. Pure.

/// How a model is asked to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Thinking {
    /// Not at all, or by a budget that costs tokens each time: left as the server has it.
    Unasked,
    /// As much as it sees fit. Its thoughts have to be asked for: they come empty else, and what the newest say
    /// between calls is among them (dcdpr/jp PR#1191).
    Adaptive,
}

/// Reads how a model thinks; a name that is newer than this list is taken for the newest of its family.
pub(crate) fn thinking(model: &str) -> Thinking {
    let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
    let Some((_, rest)) = name.split_once("claude-") else { return Thinking::Unasked };
    let words: Vec<&str> = rest.split(['-', '.', '@', ':', '_']).collect();
    // Older names have the number first: claude-3-7-sonnet.
    if words.first().is_some_and(|word| word.parse::<u32>().is_ok()) {
        return Thinking::Unasked;
    }
    // Dates have eight digits.
    let numbers = words.iter().skip(1).map_while(|word| word.parse::<u32>().ok().filter(|_| word.len() <= 2));
    let numbers: Vec<u32> = numbers.collect();
    let version = (numbers.first().copied(), numbers.get(1).copied().unwrap_or(0));
    let adaptive = match (words.first().copied().unwrap_or_default(), version) {
        ("haiku", (Some(major), _)) => major >= 5,
        ("opus" | "sonnet", (Some(major), minor)) => (major, minor) >= (4, 6),
        ("opus" | "sonnet" | "haiku", (None, _)) => false,
        // Fable, Mythos, and families to come.
        (family, _) => !matches!(family, "instant" | "v2" | ""),
    };
    if adaptive { Thinking::Adaptive } else { Thinking::Unasked }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_how_a_model_thinks_and_unknown_newer_ones_count_as_the_newest() {
        for model in [
            "claude-opus-4-6",
            "claude-opus-4-7-20260401",
            "claude-opus-5",
            "claude-opus-5-5",
            "claude-sonnet-4-6",
            "claude-sonnet-5",
            "claude-fable-5",
            "claude-mythos-5",
            "claude-haiku-5",
            "claude-sonnet-7-2",
            "anthropic/claude-opus-4.8",
            "us.anthropic.claude-sonnet-5-v1:0",
            "claude-saga-1",
        ] {
            assert_eq!(thinking(model), Thinking::Adaptive, "{model}");
        }
        for model in [
            "claude-3-haiku-20240307",
            "claude-3-7-sonnet-latest",
            "claude-opus-4-20250514",
            "claude-opus-4-5",
            "claude-sonnet-4-5-20250929",
            "claude-haiku-4-5",
            "claude-x",
            "qwen",
            "",
        ] {
            let expected = if model == "claude-x" { Thinking::Adaptive } else { Thinking::Unasked };
            assert_eq!(thinking(model), expected, "{model}");
        }
    }
}
