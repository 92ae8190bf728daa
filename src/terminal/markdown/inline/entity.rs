//! Character references: `&amp;`, `&#8212;`, `&#x2014;`. The names are pulldown-cmark's table.

use pulldown_cmark::{Event, Parser};

/// The longest name there is, with `&` and `;`.
const LONGEST: usize = 33;

/// Decodes the reference at the start of `text`; returns its length and the characters it stands for.
pub(super) fn decode(text: &str) -> Option<(usize, String)> {
    let end = text.bytes().take(LONGEST).position(|byte| byte == b';')?;
    let body = text.get(1..end)?;
    let decoded = match body.strip_prefix('#') {
        Some(number) => numeric(number)?.to_string(),
        None => named(body, &text[..=end])?,
    };
    Some((end + 1, crate::terminal::markdown::source::visible(&decoded).into_owned()))
}

fn numeric(number: &str) -> Option<char> {
    let hexadecimal = number.strip_prefix(['x', 'X']);
    let (digits, radix, longest) = hexadecimal.map_or((number, 10, 7), |digits| (digits, 16, 6));
    let good = (1..=longest).contains(&digits.len()) && digits.chars().all(|digit| digit.is_digit(radix));
    let code = u32::from_str_radix(digits, radix).ok().filter(|_| good)?;
    Some(char::from_u32(code).filter(|character| *character != '\0').unwrap_or(char::REPLACEMENT_CHARACTER))
}

fn named(name: &str, reference: &str) -> Option<String> {
    let common = match name {
        "amp" => "&",
        "lt" => "<",
        "gt" => ">",
        "quot" => "\"",
        "apos" => "'",
        "nbsp" => "\u{a0}",
        _ => "",
    };
    if !common.is_empty() {
        return Some(common.to_owned());
    }
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let decoded: String = Parser::new(reference)
        .filter_map(|event| if let Event::Text(text) = event { Some(text.into_string()) } else { None })
        .collect();
    (decoded != reference).then_some(decoded)
}
