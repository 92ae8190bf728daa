//! What a server's sentence says of the window when it refuses a request for its length. Pure. Only a number that the
//! words call the limit is one: others count a part of the request, or are codes.

/// The words that call the number after them the limit, the surest first.
const BEFORE_LIMIT: &[&str] = &[
    "context length",
    "context window",
    "context size",
    "n_ctx",
    "max_model_len",
    "model length",
    "prompt length",
    "input length",
    "tokens allowed",
    "cannot exceed",
    "must be <=",
    "must have less than",
    "limit of",
    "limit is",
    "limit:",
];
/// The words that call the number before them the limit.
const AFTER_LIMIT: &[&str] = &["maximum", "token context", "tokens context", "context window"];
/// The words that count what a request had and stand before the number.
const BEFORE_READ: &[&str] = &[
    "prompt is too long",
    "exceed context limit",
    "token count",
    "resulted in",
    "prompt contains",
    "request contains",
    "n_prompt_tokens",
    "received",
    "given",
    "prompt (length",
    "total length",
    "request (",
];
/// Those that stand after it: such numbers are added up.
const AFTER_READ: &[&str] = &[
    "in the messages",
    "in the functions",
    "in the tools",
    "in your prompt",
    "of text input",
    "of tool input",
    "of image input",
    "input tokens",
    "`inputs` tokens",
];
/// The words that count what a request had together with the answer it asked for.
const BEFORE_ALL: &[&str] = &["requested"];
/// What may stand between such words and their number.
const FILLERS: &[&str] = &["is", "of", "only", "about", "to"];
/// Windows have so many tokens, at least and at most: what is less or more is another number.
const WINDOWS: std::ops::RangeInclusive<u64> = 256..=100_000_000;

/// What a refusal told, in tokens.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Told {
    /// How much fits.
    pub(super) window: Option<u64>,
    /// How much the request had, without the answer it asked for.
    pub(super) read: Option<u64>,
    /// The same with the answer.
    pub(super) all: Option<u64>,
}

/// A number in a text, and where it stands.
struct Number {
    begin: usize,
    end: usize,
    value: u64,
}

/// Reads a refusal.
pub(super) fn told(message: &str) -> Told {
    let text = &without_separators(&message.to_ascii_lowercase());
    let numbers = numbers(text);
    let after = |words: &[&str]| words.iter().find_map(|words| behind(text, &numbers, words));
    let before = |words: &[&str]| words.iter().find_map(|words| ahead(text, &numbers, words).next());
    let compared = compared(text, &numbers);
    let window = compared.map(|(window, _)| window).or_else(|| after(BEFORE_LIMIT)).or_else(|| before(AFTER_LIMIT));
    let window = window.filter(|window| WINDOWS.contains(window));
    let parts: Vec<u64> = AFTER_READ.iter().flat_map(|words| ahead(text, &numbers, words)).collect();
    let parts = (!parts.is_empty()).then(|| parts.iter().fold(0, |sum: u64, part| sum.saturating_add(*part)));
    let sum = compared.and_then(|(_, sum)| sum);
    let read = parts.or_else(|| after(BEFORE_READ)).filter(|read| Some(*read) != window);
    let all = sum.or_else(|| after(BEFORE_ALL)).filter(|all| read.is_none_or(|read| read <= *all)).or(read);
    Told { window, read: read.or(sum), all }
}

/// Writes "10,300" as "10300".
fn without_separators(text: &str) -> String {
    let bytes = text.as_bytes();
    let digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    let between = |at: usize| digit(at.checked_sub(1)) && (1..=3).all(|next| digit(Some(at + next)));
    text.char_indices().filter(|(at, it)| *it != ',' || !between(*at)).map(|(_, it)| it).collect()
}

fn numbers(text: &str) -> Vec<Number> {
    let mut found = Vec::new();
    let mut end = 0;
    while let Some(begin) = text[end..].find(|it: char| it.is_ascii_digit()).map(|at| end + at) {
        end = text[begin..].find(|it: char| !it.is_ascii_digit()).map_or(text.len(), |length| begin + length);
        let apart = !text[..begin].ends_with(|it: char| it.is_alphanumeric() || it == '.')
            && !text[end..].starts_with(|it: char| it.is_alphanumeric());
        found.extend(text[begin..end].parse().ok().filter(|_| apart).map(|value| Number { begin, end, value }));
    }
    found
}

/// The first number that follows these words.
fn behind(text: &str, numbers: &[Number], words: &str) -> Option<u64> {
    text.match_indices(words).find_map(|(at, _)| {
        let begin = at + words.len();
        let next = numbers.iter().find(|number| number.begin >= begin)?;
        is_filler(&text[begin..next.begin]).then_some(next.value)
    })
}

fn is_filler(text: &str) -> bool {
    let mut words = text.split([' ', ':', '=', '(', '"', '`']).filter(|word| !word.is_empty());
    words.all(|word| FILLERS.contains(&word))
}

/// The numbers that stand right before these words.
fn ahead<'a>(text: &'a str, numbers: &'a [Number], words: &'a str) -> impl Iterator<Item = u64> + 'a {
    let before = numbers.iter().filter(move |number| {
        let rest = text[number.end..].trim_start_matches([' ', '-']);
        let rest = rest.strip_prefix("tokens ").filter(|rest| rest.starts_with("in ")).unwrap_or(rest);
        rest.starts_with(words)
    });
    before.map(|number| number.value)
}

/// "188240 + 21333 > 200000", "210045 tokens > 200000 maximum": the right side, and all that the left comes to.
fn compared(text: &str, numbers: &[Number]) -> Option<(u64, Option<u64>)> {
    let limit = numbers.iter().position(|number| text[..number.begin].trim_end().ends_with('>'))?;
    let left = &numbers[limit.checked_sub(1)?];
    let sign = text[left.end..numbers[limit].begin].replace("tokens", "");
    if sign.trim() != ">" {
        return None;
    }
    let added = limit.checked_sub(2).map(|at| &numbers[at]);
    let added = added.filter(|added| text[added.end..left.begin].trim() == "+").map(|added| added.value);
    // "4096 > 8192 - 5000": what is left of the window for the answer.
    let rest = text[numbers[limit].end..].trim_start().starts_with('-');
    let taken = if rest { numbers.get(limit + 1).map(|taken| taken.value) } else { Some(added.unwrap_or(0)) };
    Some((numbers[limit].value, taken.map(|taken| left.value.saturating_add(taken))))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Sentence = (&'static str, Option<u64>, Option<u64>, Option<u64>);

    /// Sentences of servers, the window they name, what they say the request had, and that with the answer.
    const SENTENCES: &[Sentence] = &[
        // OpenAI, Azure, DeepSeek, vLLM.
        (
            "This model's maximum context length is 16385 tokens. However, your messages resulted in 18013 tokens (15909 in the messages, 2104 in the functions). Please reduce the length of the messages or functions.",
            Some(16_385),
            Some(18_013),
            Some(18_013),
        ),
        (
            "This model's maximum context length is 128000 tokens. However, you requested 129024 tokens (128000 in the messages, 1024 in the completion). Please reduce the length of the messages or completion.",
            Some(128_000),
            None,
            Some(129_024),
        ),
        (
            "This model's maximum context length is 4097 tokens, however you requested 5360 tokens (3360 in your prompt; 2000 for the completion).",
            Some(4_097),
            Some(3_360),
            Some(5_360),
        ),
        (
            "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300123 tokens.",
            Some(272_000),
            Some(300_123),
            Some(300_123),
        ),
        (
            "This model's maximum context length is 8192 tokens. However, you requested 10,300 tokens",
            Some(8_192),
            None,
            Some(10_300),
        ),
        // Anthropic, Bedrock.
        ("prompt is too long: 210045 tokens > 200000 maximum", Some(200_000), Some(210_045), Some(210_045)),
        (
            "The model returned the following errors: prompt is too long: 213462 tokens > 200000 maximum",
            Some(200_000),
            Some(213_462),
            Some(213_462),
        ),
        (
            "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again",
            Some(200_000),
            Some(188_240),
            Some(209_573),
        ),
        ("Input is too long for requested model.", None, None, None),
        // llama.cpp, and what axi makes of the fields beside its older words.
        (
            "request (5123 tokens) exceeds the available context size (4096 tokens), try increasing it",
            Some(4_096),
            Some(5_123),
            Some(5_123),
        ),
        (
            "the request exceeds the available context size, try increasing it (5123 tokens > 4096)",
            Some(4_096),
            Some(5_123),
            Some(5_123),
        ),
        (
            r#"{"code":400,"message":"the request exceeds the available context size","n_prompt_tokens":5123,"n_ctx":4096}"#,
            Some(4_096),
            Some(5_123),
            Some(5_123),
        ),
        // Gemini.
        (
            "The input token count (1200345) exceeds the maximum number of tokens allowed (1048576).",
            Some(1_048_576),
            Some(1_200_345),
            Some(1_200_345),
        ),
        // vLLM.
        (
            "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 8192 tokens and your request has 5000 input tokens (4096 > 8192 - 5000).",
            Some(8_192),
            Some(5_000),
            Some(9_096),
        ),
        (
            "You passed 40961 input tokens and requested 0 output tokens. However, the model's context length is only 40960 tokens, resulting in a maximum input length of 40960 tokens.",
            Some(40_960),
            Some(40_961),
            Some(40_961),
        ),
        (
            "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
            Some(4_096),
            Some(5_000),
            Some(5_000),
        ),
        // Mistral, Cohere, xAI, OpenRouter, Moonshot, Copilot, TGI, LM Studio.
        (
            "Prompt contains 35000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
            Some(32_768),
            Some(35_000),
            Some(35_000),
        ),
        (
            "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000. Try using a shorter prompt",
            Some(4_081),
            Some(5_000),
            Some(5_000),
        ),
        (
            "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
            Some(131_072),
            Some(537_812),
            Some(537_812),
        ),
        (
            "This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens (130000 of text input, 10000 in the output).",
            Some(131_072),
            Some(130_000),
            Some(140_000),
        ),
        (
            "Invalid request: Your request exceeded model token limit: 8192 (requested: 9000)",
            Some(8_192),
            None,
            Some(9_000),
        ),
        ("prompt token count of 150000 exceeds the limit of 128000", Some(128_000), Some(150_000), Some(150_000)),
        (
            "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 512 `max_new_tokens`",
            Some(4_096),
            Some(4_000),
            Some(4_000),
        ),
        (
            "Trying to keep the first 4932 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens",
            Some(4_096),
            None,
            None,
        ),
        // A code, a date, a name: no windows.
        ("context window exceeds limit (2013)", None, None, None),
        ("the request exceeds the available context size", None, None, None),
        ("code 4096", None, None, None),
        ("gpt-4-32768 on 2026-11-29 10:00:00: input is too long", None, None, None),
        ("your context length is 128k", None, None, None),
    ];

    #[test]
    fn the_number_that_the_words_call_the_limit_is_the_window() {
        for (sentence, window, read, all) in SENTENCES {
            let told = told(sentence);
            assert_eq!(told.window, *window, "{sentence}");
            if read.is_some() {
                assert_eq!(told.read, *read, "{sentence}");
            }
            assert_eq!(told.all, *all, "{sentence}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_and_no_window_is_implausible(text in "[a-z0-9 ,.:()>+=\"é-]{0,80}|\\PC{0,40}") {
            prop_assert!(told(&text).window.is_none_or(|window| WINDOWS.contains(&window)));
        }

        #[test]
        fn whatever_stands_around_it_the_window_is_the_same(window in 1_000..2_000_000_u64, other in 1..9_000_000_u64) {
            let sentence = format!("request {other}: maximum context length is {window} tokens. However, you requested {other} tokens");
            prop_assert_eq!(told(&sentence).window, Some(window));
        }
    }
}
