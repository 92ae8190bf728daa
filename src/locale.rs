//! Words: every text a person reads comes from `locales/`, one JSON file a language.
//!
//! Keys are dotted paths into the file's objects, placeholders are `{name}`. A key a language lacks falls back
//! to English, a key nobody has shows itself.

/// Every language there is, in the order of their tags.
static LANGUAGES: &[Words] = include!(concat!(env!("OUT_DIR"), "/locales.rs"));

/// The language everything falls back to.
const FALLBACK: &str = "en";

/// The words of one language, as `locales/build.rs` lays them out.
#[derive(Debug, PartialEq, Eq)]
struct Words {
    tag: &'static str,
    /// Every key with its text behind it.
    text: &'static str,
    /// Of each key, in order: where it begins, its length, the length of its text; in bytes.
    places: &'static [(u32, u32, u32)],
}

impl Words {
    fn of(tag: &str) -> &'static Self {
        // There is always a first one: build.rs finds the fallback at least.
        LANGUAGES.iter().find(|words| words.tag == tag).unwrap_or(&LANGUAGES[0])
    }

    fn get(&self, key: &str) -> Option<&'static str> {
        let part = |from: u32, length: u32| &self.text[from as usize..(from + length) as usize];
        let found = self.places.binary_search_by(|&(start, length, _)| part(start, length).cmp(key)).ok()?;
        let (start, length, text) = self.places[found];
        Some(part(start + length, text))
    }
}

/// The words of one language, English where it has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Locale {
    words: &'static Words,
    fallback: &'static Words,
}

impl Locale {
    /// Finds the language that fits `tag` best: `zh_TW.UTF-8` and `zh` give `zh-CN`, anything unknown English.
    #[must_use]
    pub fn new(tag: &str) -> Self {
        Self { words: Words::of(matching(tag).unwrap_or(FALLBACK)), fallback: Words::of(FALLBACK) }
    }

    /// Returns the language's tag: the name of its file.
    #[must_use]
    pub const fn tag(&self) -> &'static str {
        self.words.tag
    }

    /// Returns the text of a key.
    #[must_use]
    pub fn text<'a>(&'a self, key: &'a str) -> &'a str {
        self.words.get(key).or_else(|| self.fallback.get(key)).unwrap_or(key)
    }

    /// Returns the text of a key with its placeholders filled in.
    #[must_use]
    pub fn with(&self, key: &str, values: &[(&str, &str)]) -> String {
        fill(self.text(key), values)
    }

    /// Returns the text of a key for a number: `KEY.one` for 1, else `KEY.other`, `{count}` filled in.
    #[must_use]
    pub fn count(&self, key: &str, count: u64) -> String {
        let form = if count == 1 { "one" } else { "other" };
        self.with(&format!("{key}.{form}"), &[("count", &count.to_string())])
    }
}

/// Fills placeholders in, in one pass, so that a value that looks like a placeholder stays what it is.
fn fill(mut rest: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::new();
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let known = after
            .split_once('}')
            .and_then(|(name, tail)| values.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value, tail)));
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

/// Returns the tags of all languages, in order.
pub fn tags() -> impl Iterator<Item = &'static str> {
    LANGUAGES.iter().map(|words| words.tag)
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
        let values = [("a", "{b}"), ("b", "2")];
        assert_eq!(fill("{a} and {b} {unknown} {", &values), "{b} and 2 {unknown} {");
    }

    #[test]
    fn every_key_of_every_file_is_found() {
        for (tag, file) in
            [("en", include_str!("../locales/en.json")), ("zh-CN", include_str!("../locales/zh-CN.json"))]
        {
            let locale = Locale::new(tag);
            let mut waiting = vec![(String::new(), serde_json::from_str::<serde_json::Value>(file).unwrap())];
            while let Some((key, value)) = waiting.pop() {
                match value {
                    serde_json::Value::Object(fields) => {
                        let dot = if key.is_empty() { "" } else { "." };
                        waiting
                            .extend(fields.into_iter().map(|(name, value)| (format!("{key}{dot}{name}"), value)));
                    }
                    other => assert_eq!(Some(locale.text(&key)), other.as_str(), "{tag} {key}"),
                }
            }
        }
        assert_eq!(
            (Locale::new("xx").text("error.hint"), Locale::new("xx").tag()),
            (Locale::new("en").text("error.hint"), "en")
        );
    }
}
