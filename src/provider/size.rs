//! How large a model is, by what its name says: `qwen2.5-coder:1.5b-instruct-q4_K_M`, `Llama-3.2-3B`, `smollm2:360m`.

/// Below this many parameters a model is told less: with the words and tools of a large one these answer with calls of
/// tools that do not exist, and read for minutes.
const SMALL: f64 = 3.6e9;

/// Tells whether a name says that the model is small. A name without a size says nothing.
pub(super) fn is_small(model: &str) -> bool {
    parameters(model).is_some_and(|parameters| parameters < SMALL)
}

/// The largest number of parameters in a name: a mixture says two, all of them and those at work (`30b-a3b`).
fn parameters(model: &str) -> Option<f64> {
    let words = model.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '.');
    words.filter_map(count).max_by(f64::total_cmp)
}

/// `1.5b`, `360M`; experts as `8x7b`.
fn count(word: &str) -> Option<f64> {
    let (number, unit) = word.split_at_checked(word.len().checked_sub(1)?)?;
    let unit = match unit {
        "b" | "B" => 1e9,
        "m" | "M" => 1e6,
        _ => return None,
    };
    let (experts, number) = number.split_once(['x', 'X']).unwrap_or(("1", number));
    let is_number = |text: &str| text.starts_with(|letter: char| letter.is_ascii_digit());
    if !is_number(experts) || !is_number(number) {
        return None;
    }
    Some(experts.parse::<f64>().ok()? * number.parse::<f64>().ok()? * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_how_large_its_model_is() {
        for (name, size) in [
            ("qwen2.5-coder:1.5b-instruct-q4_K_M", Some(1.5e9)),
            ("qwen2.5-coder-0.5b-instruct-q4_k_m.gguf", Some(0.5e9)),
            ("/models/Llama-3.2-3B-Instruct.Q4_0.gguf", Some(3e9)),
            ("smollm2:360m", Some(3.6e8)),
            ("Qwen3-30B-A3B", Some(3e10)),
            ("mixtral:8x7b", Some(5.6e10)),
            ("phi-4", None),
            ("deepseek-r1:latest", None),
            ("gpt-4.1-mini", None),
            ("b", None),
            ("x中b", None),
            ("", None),
        ] {
            assert_eq!(parameters(name), size, "{name}");
        }
        assert!(is_small("llama3.2:3b") && !is_small("qwen3:4b") && !is_small("llama3"));
    }
}
