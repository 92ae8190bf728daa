//! Where a value ends, and whether it only stands for one.

use std::ops::Range;

/// The longest value in quotes, in bytes: a longer one is a text.
const LONGEST: usize = 4096;

/// A value and the quote around it.
#[derive(Debug, Clone)]
pub(super) struct Value {
    /// Without its quotes.
    pub(super) range: Range<usize>,
    pub(super) quote: Option<char>,
}

impl Value {
    /// Tells whether it only stands for a value: `$TOKEN`, `<your token>`, `****`.
    pub(super) fn is_placeholder(&self, text: &str) -> bool {
        const WORDS: &[&str] = &[
            "none",
            "null",
            "nil",
            "true",
            "false",
            "undefined",
            "required",
            "optional",
            "yes",
            "no",
            "string",
            "str",
            "int",
            "bytes",
            "bool",
            "and",
            "or",
            "in",
            "not",
            "if",
            "is",
            "the",
            "empty",
            "unset",
            "redacted",
        ];
        let trimmed = text.trim_matches(['"', '\'', '\\', ',', ';', ')', '.']);
        let mut letters = trimmed.chars();
        let first = letters.next();
        let is_mask = first.is_none_or(|first| letters.all(|letter| letter == first));
        let is_variable = text.starts_with('$') && (self.quote != Some('\'') || is_variable(text));
        is_mask
            || is_variable
            || text.starts_with(super::level::MARK)
            || text.starts_with(['<', '{', '(', '*', '…'])
            || text.starts_with('[') && self.quote.is_none()
            || text.starts_with("...")
            || text.starts_with("%(")
            || text.starts_with("your")
            || WORDS.contains(&trimmed.to_ascii_lowercase().as_str())
    }
}

/// Tells whether a word says something of a secret rather than being one.
pub(super) fn is_ordinary(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "string",
        "boolean",
        "integer",
        "number",
        "required",
        "optional",
        "hidden",
        "changed",
        "expired",
        "invalid",
        "incorrect",
        "missing",
        "accepted",
        "denied",
        "failed",
        "updated",
        "saved",
        "stored",
        "protected",
        "encrypted",
        "hashed",
        "enabled",
        "disabled",
        "default",
        "unknown",
        "forgotten",
        "placeholder",
        "example",
        "password",
        "passwort",
        "passphrase",
        "secret",
        "secrets",
        "username",
        "keyring",
        "keychain",
        "prompt",
        "prompted",
        "plaintext",
        "plain-text",
        "interactive",
        "never",
        "always",
        "unchanged",
        "nothing",
        "private",
        "public",
        "include",
        "optionally",
        "object",
        "varchar",
        "undefined",
        "sensitive",
        "masked",
        "redacted",
        "removed",
        "deleted",
        "authentication",
        "authenticated",
        "external",
        "internal",
        "generated",
        "provided",
        "inherit",
        "nullable",
        "character",
        "characters",
        "description",
        "credentials",
        "credential",
        "environment",
        "variable",
        "field",
        "input",
        "strong",
        "medium",
        "correct",
        "matches",
        "mandatory",
        "vergessen",
        "unsupported",
        "supported",
        "available",
        "unavailable",
        "present",
        "absent",
        "allowed",
    ];
    let lower = text.to_ascii_lowercase();
    let mut letters = text.chars();
    let is_name =
        letters.next().is_some_and(char::is_uppercase) && letters.all(|letter| letter.is_ascii_lowercase());
    is_name || WORDS.contains(&lower.as_str())
}

/// `$NAME` and `${NAME}`, whole.
fn is_variable(text: &str) -> bool {
    let name = text.trim_start_matches('$').trim_matches(['{', '}']);
    name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_') && name.len() > 1
}

/// Finds the value that begins at a place: in quotes, or a word.
pub(super) fn value(line: &str, start: usize) -> Option<Value> {
    let start = start + marks(line.get(start..)?);
    let rest = line.get(start..)?;
    // Looked at no further: a line may be full of them.
    if rest.starts_with(super::level::MARK) || rest.starts_with(['<', '{', '(', '*']) {
        return None;
    }
    // `$'…'`, `b"…"`, `f"…"`, and a quote that is escaped itself.
    let prefix =
        ["$'", "b\"", "b'", "f\"", "r\"", "u\"", "@\"", "\\\"", "\\'"].iter().find(|it| rest.starts_with(**it));
    let open = start + prefix.map_or(0, |prefix| prefix.len() - 1);
    if let Some(quote) = line[open..].chars().next().filter(|first| matches!(first, '"' | '\'' | '`' | '“' | '「'))
    {
        let inside = open + quote.len_utf8();
        let close = match quote {
            '“' => '”',
            '「' => '」',
            other => other,
        };
        let escaped = prefix.is_some_and(|prefix| prefix.starts_with('\\'));
        let end = line.floor_char_boundary((inside + LONGEST).min(line.len()));
        if let Some(length) = closing(&line[inside..end], close, escaped) {
            return Some(Value { range: inside..inside + length, quote: Some(quote) });
        }
        return word(line, inside).map(|range| Value { range, quote: Some(quote) });
    }
    word(line, start).map(|range| Value { range, quote: None })
}

/// `&anchor `, `!!str `: what YAML puts before a value.
fn marks(text: &str) -> usize {
    let mut from = 0;
    while let Some(mark) =
        text[from..].split(' ').next().filter(|mark| mark.starts_with(['&', '!']) && mark.len() > 1)
    {
        let is_mark = mark[1..].bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-!".contains(&byte));
        if !is_mark || from + mark.len() + 1 >= text.len() {
            break;
        }
        from += mark.len() + 1;
    }
    from
}

fn closing(text: &str, quote: char, escaped: bool) -> Option<usize> {
    let mut before = '\0';
    for (at, letter) in text.char_indices() {
        if letter == quote && escaped == (before == '\\') {
            return Some(if escaped { at - 1 } else { at });
        }
        before = if before == '\\' && letter == '\\' { '\0' } else { letter };
    }
    None
}

/// A word: up to room, a quote that was open before it, or the tag behind it.
fn word(line: &str, start: usize) -> Option<Range<usize>> {
    let rest = line.get(start..)?;
    let rest = &rest[..rest.floor_char_boundary(LONGEST.min(rest.len()))];
    let mut end = rest.len();
    for (at, letter) in rest.char_indices() {
        let next = rest[at + letter.len_utf8()..].chars().next();
        // One in the middle of a word of a shell ends nothing: `abc"def"`.
        let ends_quote = matches!(letter, '"' | '\'' | '`')
            && next.is_none_or(|next| next.is_whitespace() || ",;:)]}|&<>".contains(next));
        if letter.is_whitespace() || ends_quote || letter == '<' || letter == '\u{3002}' || letter == '，' {
            end = at;
            break;
        }
    }
    let text = rest[..end].trim_end_matches([',', ';', ')', '}', ']', '|', '&', '\\']);
    let text = text.find(['&', ';']).filter(|at| *at >= 3).map_or(text, |at| &text[..at]);
    (!text.is_empty()).then_some(start..start + text.len())
}
