//! Words: every text a person reads comes from `locales/`, one JSON file a language.
//!
//! Keys are dotted paths into the file's objects, placeholders are `{name}`. A key a language lacks falls back
//! to English, a key nobody has shows itself.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

/// Every language there is: its tag and its file.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/locales.rs"));

/// The language everything falls back to.
const FALLBACK: &str = "en";

/// The words of one language. Clones share them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Locale {
    tag: &'static str,
    words: Arc<HashMap<String, String>>,
    fallback: Arc<HashMap<String, String>>,
}

impl Locale {
    /// Loads the language that fits `tag` best: `zh_TW.UTF-8` and `zh` give `zh-CN`, anything unknown English.
    #[must_use]
    pub fn new(tag: &str) -> Self {
        let tag = matching(tag).unwrap_or(FALLBACK);
        let fallback = if tag == FALLBACK { HashMap::new() } else { load(FALLBACK) };
        Self { tag, words: Arc::new(load(tag)), fallback: Arc::new(fallback) }
    }

    /// Returns the language's tag: the name of its file.
    #[must_use]
    pub const fn tag(&self) -> &'static str {
        self.tag
    }

    /// Returns the text of a key.
    #[must_use]
    pub fn text<'a>(&'a self, key: &'a str) -> &'a str {
        self.words.get(key).or_else(|| self.fallback.get(key)).map_or(key, String::as_str)
    }

    /// Returns the text of a key with its placeholders filled in.
    #[must_use]
    pub fn with(&self, key: &str, values: &[(&str, &str)]) -> String {
        let mut filled = String::new();
        let mut rest = self.text(key);
        // One pass, so that a value that looks like a placeholder stays what it is.
        while let Some((before, after)) = rest.split_once('{') {
            filled.push_str(before);
            let known = after.split_once('}').and_then(|(name, tail)| {
                values.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value, tail))
            });
            if let Some((value, tail)) = known {
                filled.push_str(value);
                rest = tail;
            } else {
                filled.push('{');
                rest = after;
            }
        }
        filled.push_str(rest);
        filled
    }

    /// Returns the text of a key for a number: `KEY.one` for 1, else `KEY.other`, `{count}` filled in.
    #[must_use]
    pub fn count(&self, key: &str, count: u64) -> String {
        let form = if count == 1 { "one" } else { "other" };
        self.with(&format!("{key}.{form}"), &[("count", &count.to_string())])
    }
}

/// Returns the tags of all languages, in order.
pub fn tags() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(tag, _)| *tag)
}

/// Finds the language file for a tag as a person or an environment variable writes it.
#[must_use]
pub fn matching(tag: &str) -> Option<&'static str> {
    let plain = tag.split(['.', '@']).next().unwrap_or_default().replace('_', "-").to_ascii_lowercase();
    let exact = tags().find(|known| known.to_ascii_lowercase() == plain);
    let language = plain.split('-').next().unwrap_or_default();
    exact.or_else(|| tags().find(|known| known.to_ascii_lowercase().split('-').next() == Some(language)))
}

/// Detects the language of an environment: `LC_ALL`, `LC_MESSAGES`, `LANG`, the first one set, as POSIX says.
#[must_use]
pub fn detect(environment: &dyn Fn(&str) -> Option<String>) -> &'static str {
    let names = ["LC_ALL", "LC_MESSAGES", "LANG"];
    let set = names.iter().find_map(|name| environment(name).filter(|value| !value.is_empty()));
    set.and_then(|value| matching(&value)).unwrap_or(FALLBACK)
}

fn load(tag: &str) -> HashMap<String, String> {
    let source = FILES.iter().find(|(known, _)| *known == tag).map_or("{}", |(_, source)| source);
    let mut words = HashMap::new();
    // A file that is no JSON cannot get here: tests/it/locales.rs parses every one.
    if let Ok(value) = serde_json::from_str::<Value>(source) {
        flatten(String::new(), value, &mut words);
    }
    words
}

fn flatten(prefix: String, value: Value, words: &mut HashMap<String, String>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let key = if prefix.is_empty() { name } else { format!("{prefix}.{name}") };
                flatten(key, field, words);
            }
        }
        Value::String(text) => {
            words.insert(prefix, text);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_decides_the_language_in_posix_order() {
        let environment = |pairs: &'static [(&'static str, &'static str)]| {
            move |name: &str| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        };
        assert_eq!(detect(&environment(&[("LANG", "zh_CN.UTF-8")])), "zh-CN");
        assert_eq!(detect(&environment(&[("LANG", "zh_TW.UTF-8"), ("LC_ALL", "")])), "zh-CN");
        assert_eq!(detect(&environment(&[("LANG", "zh_CN.UTF-8"), ("LC_ALL", "C")])), "en");
        assert_eq!(detect(&environment(&[("LC_MESSAGES", "zh"), ("LANG", "de_DE")])), "zh-CN");
        assert_eq!(detect(&environment(&[])), "en");
    }

    #[test]
    fn placeholders_are_filled_once() {
        let mut locale = Locale::new("en");
        Arc::make_mut(&mut locale.words).insert("t".into(), "{a} and {b} {unknown} {".into());
        assert_eq!(locale.with("t", &[("a", "{b}"), ("b", "2")]), "{b} and 2 {unknown} {");
    }
}
