//! JSON values of a stream, also where a server wrote what JSON does not allow. Pure; knows no provider.

use serde_json::{Deserializer, Value};

/// A text that holds no JSON values, or only the beginning of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoJson;

/// Reads the values of one stream, text after text.
#[derive(Debug, Default)]
pub(crate) struct ValueReader {
    /// The first half of a character whose second half may begin a string of the next text.
    high: Option<u16>,
}

impl ValueReader {
    /// Takes note of a text that was read elsewhere: it ended with no half of a character.
    pub(crate) const fn forget(&mut self) {
        self.high = None;
    }

    /// Reads all values of a text, one or several in a row.
    ///
    /// Repairs what real servers write instead of JSON: `NaN` and infinities become null, control characters in
    /// strings count as escaped, and the halves of a character outside the basic plane (`"\ud83d"` in one chunk,
    /// `"\ude00"` in the next) are joined. A half alone becomes U+FFFD.
    pub(crate) fn read(&mut self, text: &str) -> Result<Vec<Value>, NoJson> {
        if let Ok(value) = serde_json::from_str(text) {
            self.high = None;
            return Ok(vec![value]);
        }
        let mended = Mend { rest: text, high: self.high.take(), out: String::with_capacity(text.len()) }.run();
        let values = Deserializer::from_str(&mended.0).into_iter().collect::<Result<Vec<Value>, _>>();
        self.high = mended.1;
        values.map_err(|_| NoJson).and_then(|values| if values.is_empty() { Err(NoJson) } else { Ok(values) })
    }
}

/// Reads a count, however it is written: whole, as a float, or in quotes. Negative counts and nonsense are none.
pub(crate) fn count(value: &Value) -> Option<u64> {
    let text = match value {
        Value::Number(number) => number.as_u64().map_or_else(|| number.to_string(), |count| count.to_string()),
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    let whole = text.trim().split_once('.').map_or(text.trim(), |(whole, _)| whole);
    whole.parse().ok()
}

/// Writes a text anew, as JSON.
struct Mend<'a> {
    rest: &'a str,
    high: Option<u16>,
    out: String,
}

impl Mend<'_> {
    /// Returns the text, and the first half of a character at the end of a string.
    fn run(mut self) -> (String, Option<u16>) {
        let mut open = None;
        while let Some(letter) = self.rest.chars().next() {
            if letter == '"' {
                self.skip(1);
                self.out.push('"');
                open = self.string().or(open);
                continue;
            }
            let word = ["-Infinity", "Infinity", "NaN"].into_iter().find(|word| self.rest.starts_with(word));
            if let Some(word) = word {
                self.skip(word.len());
                self.out.push_str("null");
                continue;
            }
            self.skip(letter.len_utf8());
            self.out.push(letter);
        }
        (self.out, open)
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    /// Copies a string to its closing quote. Returns the first half of a character that stands at its end.
    fn string(&mut self) -> Option<u16> {
        let mut first = true;
        while let Some(letter) = self.rest.chars().next() {
            let at_start = std::mem::take(&mut first);
            match letter {
                '"' => {
                    self.skip(1);
                    self.out.push('"');
                    return None;
                }
                '\\' => match unit(self.rest) {
                    Some(high @ 0xd800..=0xdbff) => {
                        let after = self.rest.get(6..).unwrap_or_default();
                        match unit(after) {
                            Some(low @ 0xdc00..=0xdfff) => {
                                self.skip(12);
                                self.pair(high, low);
                            }
                            _ if after.starts_with('"') => {
                                self.skip(7);
                                self.out.push('"');
                                return Some(high);
                            }
                            _ => {
                                self.skip(6);
                                self.out.push('\u{fffd}');
                            }
                        }
                    }
                    Some(low @ 0xdc00..=0xdfff) => {
                        self.skip(6);
                        match self.high.take_if(|_| at_start) {
                            Some(high) => self.pair(high, low),
                            None => self.out.push('\u{fffd}'),
                        }
                    }
                    _ => {
                        let escaped = self.rest.char_indices().nth(2).map_or(self.rest.len(), |(end, _)| end);
                        self.out.push_str(&self.rest[..escaped]);
                        self.skip(escaped);
                    }
                },
                '\u{0}'..='\u{1f}' => {
                    self.skip(1);
                    for part in ["\\u00", if letter < '\u{10}' { "0" } else { "1" }] {
                        self.out.push_str(part);
                    }
                    self.out.extend(char::from_digit(u32::from(letter) % 16, 16));
                }
                _ => {
                    self.skip(letter.len_utf8());
                    self.out.push(letter);
                }
            }
        }
        None
    }

    fn pair(&mut self, high: u16, low: u16) {
        self.out.extend(char::decode_utf16([high, low]).map(|letter| letter.unwrap_or('\u{fffd}')));
    }
}

/// Reads the `\uXXXX` that a text begins with.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(texts: &[&str]) -> Vec<Result<Vec<Value>, NoJson>> {
        let mut reader = ValueReader::default();
        texts.iter().map(|text| reader.read(text)).collect()
    }

    #[test]
    fn a_character_cut_in_two_is_put_together() {
        let found = read(&[r#"{"a":"x\ud83d"}"#, r#"{"a":"\ude00y"}"#]);
        assert_eq!(found, [Ok(vec![json!({"a": "x"})]), Ok(vec![json!({"a": "😀y"})])]);
        // An empty string between them belongs to another field.
        let found = read(&[r#"{"r":"","a":"x\ud83d"}"#, r#"{"r":"","a":"\ude00"}"#]);
        assert_eq!(found[1], Ok(vec![json!({"r": "", "a": "😀"})]));
    }

    #[test]
    fn half_a_character_alone_is_the_replacement_character() {
        let found = read(&[r#"["\ud83dx", "\ude00", "\ud83d\ude00", "\\ud83d", "😀"]"#]);
        assert_eq!(found, [Ok(vec![json!(["\u{fffd}x", "\u{fffd}", "😀", "\\ud83d", "😀"])])]);
        // What follows is read as it is.
        let found = read(&[r#"["\ud83d"]"#, r#"["a"]"#, r#"["\ude00"]"#]);
        assert_eq!(found[2], Ok(vec![json!(["\u{fffd}"])]));
    }

    #[test]
    fn numbers_that_json_lacks_are_null_and_stay_words_in_strings() {
        let found = read(&[r#"{"a":NaN,"b":-Infinity,"c":[Infinity],"d":"NaN"}"#]);
        assert_eq!(found, [Ok(vec![json!({"a": null, "b": null, "c": [null], "d": "NaN"})])]);
    }

    #[test]
    fn several_values_in_a_row_are_all_read() {
        assert_eq!(
            read(&[r#"{"a":1}{"b":2} {"c":3}"#]),
            [Ok(vec![json!({"a":1}), json!({"b":2}), json!({"c":3})])]
        );
        assert_eq!(read(&["{\"a\":\"x\ny\"}"]), [Ok(vec![json!({"a": "x\ny"})])]);
        for nothing in ["", " ", "{", "{\"a\":1}{", "word", "\"\\u12"] {
            assert_eq!(read(&[nothing]), [Err(NoJson)], "{nothing}");
        }
    }

    #[test]
    fn counts_are_read_however_they_are_written() {
        for (value, expected) in [
            (json!(7), Some(7)),
            (json!(7.0), Some(7)),
            (json!("7"), Some(7)),
            (json!("7.9"), Some(7)),
            (json!(-7), None),
            (json!(1e300), None),
            (json!(null), None),
            (json!("seven"), None),
        ] {
            assert_eq!(count(&value), expected, "{value}");
        }
    }

    proptest! {
        #[test]
        fn what_is_json_is_read_as_it_is_and_nothing_panics(text in "[\\\\u\"{}a-d0-9,: é😀\n]{0,60}", words in ".{0,20}") {
            let _ = ValueReader::default().read(&text);
            let value = json!({"words": words});
            prop_assert_eq!(ValueReader::default().read(&format!("{value}{value}")), Ok(vec![value.clone(), value]));
        }
    }
}
