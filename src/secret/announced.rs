//! A secret that a line announces, and that stands at its end (`token generated: X`) or alone in one of the next: `Use the
//! following password:`, an empty line, the password; `password`, the password; `Password … successfully reset.`, `New value: X`.

use std::ops::Range;

use super::looks::PASSWORD_WORDS;
use super::prose::{is_chosen, lowered};
use super::random::{is_hexadecimal, is_likely};

/// So many lines below it may stand.
const FARTHEST: usize = 3;
/// What a line announces beside a password.
const ANNOUNCED: &[&str] = &["token", "api key", "secret", "private key", "recovery code", "unseal key"];

/// What a line says of one that is new.
const MADE: &[&str] = &["generated", "created", "issued", "temporary", "initial", "changed to", "set to", "new "];

/// What the line before said.
#[derive(Default)]
pub(super) struct Announced {
    /// In how many lines more it may stand alone, and behind a word of its own.
    alone: usize,
    named: usize,
}

impl Announced {
    /// Finds it in the next line.
    pub(super) fn find(&mut self, line: &str, found: &mut Vec<Range<usize>>) {
        let text = line.trim();
        let is_secret = |text: &str| is_chosen(text) || is_likely(text) || is_hexadecimal(text.as_bytes());
        if self.alone > 0 && !text.contains(char::is_whitespace) && is_secret(text) {
            let at = line.find(text).unwrap_or(0);
            found.push(at..at + text.len());
        }
        if self.named > 0
            && let Some((name, value)) = text.rsplit_once(": ")
            && name.to_ascii_lowercase().ends_with("value")
            && is_secret(value.trim())
        {
            let at = line.rfind(value.trim()).unwrap_or(0);
            found.push(at..at + value.trim().len());
        }
        (self.alone, self.named) = (self.alone.saturating_sub(1), self.named.saturating_sub(1));
        if let Some((name, value)) = text.rsplit_once(": ") {
            let name = lowered(name);
            let is_made = MADE.iter().any(|word| name.contains(word)) && is_chosen(value);
            if (is_made || is_likely(value)) && !value.contains(char::is_whitespace) && announces(&name) {
                let at = line.rfind(value).unwrap_or(0);
                found.push(at..at + value.len());
            }
        }
        let ends = text.ends_with([':', '：']);
        let is_name = || PASSWORD_WORDS.iter().chain(ANNOUNCED).any(|word| text.eq_ignore_ascii_case(word));
        if !ends && !text.ends_with('.') && !is_name() {
            return;
        }
        let lower = lowered(text);
        let speaks = PASSWORD_WORDS.iter().any(|word| lower.contains(word));
        if ends && announces(&lower) {
            self.alone = FARTHEST;
        } else if is_name() {
            self.alone = 1;
        }
        if speaks {
            self.named = FARTHEST;
        }
    }
}

/// Tells whether a text, in small letters, speaks of a secret.
fn announces(text: &str) -> bool {
    PASSWORD_WORDS.iter().chain(ANNOUNCED).any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let mut announced = Announced::default();
        let mut values = Vec::new();
        for line in text.lines() {
            let mut found = Vec::new();
            announced.find(line, &mut found);
            values.extend(found.into_iter().map(|range| line[range].to_owned()));
        }
        values
    }

    #[test]
    fn what_a_line_announces_is_found_below_it() {
        for text in [
            "Please use the following password:\n\nhunter22\n\nThis may be",
            "Password for the [elastic] user successfully reset.\nNew value: hunter22",
            "初始密码：\nhunter22",
            "Your token:\n  hunter22",
            "Note: use the following password:\nhunter22",
            "Status: the password was reset.\nNew value: hunter22",
            "password\nhunter22\n",
        ] {
            assert_eq!(found(text), ["hunter22"], "{text}");
        }
        assert_eq!(found("token generated: 8nPblDH8qrCx"), ["8nPblDH8qrCx"]);
        for text in [
            "files:\nhunter22",
            "password\n\nhunter22",
            "token generated: hunters",
            "password:\nplain words here2\nsrc/a.rs",
            "It is reset.\nvalue: hunter22",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }
}
