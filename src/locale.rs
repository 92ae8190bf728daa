//! Words: every text a person reads comes from `locales/`, one JSON file a language.
//!
//! A key is a dotted path into the file's objects, and here an item of `word`: `error.label` is the constant
//! `word::error::LABEL`, `error.no_key` with its placeholder `{provider}` the struct `word::error::NoKey { provider }`.
//! `locales/build.rs` makes them, and sees to it that every language has them all.

mod plural;
mod system;

include!(concat!(env!("OUT_DIR"), "/word.rs"));

/// Every language there is, in the order of their tags.
static LANGUAGES: &[Words] = include!(concat!(env!("OUT_DIR"), "/languages.rs"));

/// The language of everybody whose own is not there.
const FALLBACK: &str = "en";

/// The words of one language, as `locales/build.rs` lays them out.
#[derive(Debug, PartialEq, Eq)]
struct Words {
    tag: &'static str,
    /// Every text, one behind the other; a placeholder is a control character, the first one U+0001.
    text: &'static str,
    /// Of each [`Word`], where it begins and how long it is; in bytes.
    places: &'static [(u32, u32)],
}

/// A text without placeholders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word(u16);

/// A text that has one form for each kind of number its language tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plural(u16);

/// A text with what its placeholders stand for: the structs of `word`.
pub trait Message<'a> {
    /// Returns it as its place and the values, in the order of the placeholders' names.
    fn filled(self) -> Filled<'a>;
}

/// A [`Message`] whatever its struct is: for one that a `match` chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Filled<'a> {
    word: Word,
    values: [&'a str; word::MOST],
    /// Which of the values the system may have said.
    cause: Option<usize>,
}

impl<'a> Filled<'a> {
    fn new(place: u16, given: &[&'a str]) -> Self {
        let mut values = [""; word::MOST];
        for (value, given) in values.iter_mut().zip(given) {
            *value = given;
        }
        Self { word: Word(place), values, cause: None }
    }

    const fn with_cause(self, at: usize) -> Self {
        Self { cause: Some(at), ..self }
    }
}

impl<'a> Message<'a> for Filled<'a> {
    fn filled(self) -> Self {
        self
    }
}

impl Message<'static> for Word {
    fn filled(self) -> Filled<'static> {
        Filled::new(self.0, &[])
    }
}

/// The words of one language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Locale {
    words: &'static Words,
}

impl Locale {
    /// Finds the language that fits `tag` best: `zh_TW.UTF-8` and `zh` give `zh-CN`, anything unknown English.
    #[must_use]
    pub fn new(tag: &str) -> Self {
        let tag = matching(tag).unwrap_or(FALLBACK);
        // There is always a first one: build.rs finds the fallback at least.
        Self { words: LANGUAGES.iter().find(|words| words.tag == tag).unwrap_or(&LANGUAGES[0]) }
    }

    /// Returns the language's tag: the name of its file.
    #[must_use]
    pub const fn tag(&self) -> &'static str {
        self.words.tag
    }

    /// Returns a text.
    #[must_use]
    pub fn text(&self, word: Word) -> &'static str {
        let (start, length) = self.words.places[usize::from(word.0)];
        &self.words.text[start as usize..(start + length) as usize]
    }

    /// Returns a text with its placeholders filled in.
    #[must_use]
    pub fn with<'a>(&self, message: impl Message<'a>) -> String {
        let Filled { word, values, cause } = message.filled();
        let Some(at) = cause else { return fill(self.text(word), &values) };
        let said = self.said_by_system(values[at]);
        let mut values = values;
        values[at] = &said;
        fill(self.text(word), &values)
    }

    /// Returns the form of a text for a number, `{count}` filled in.
    #[must_use]
    pub fn count(&self, plural: Plural, count: u64) -> String {
        self.count_as(plural, count, &count.to_string())
    }

    /// The same, the number written as `shown`.
    #[must_use]
    pub fn count_as(&self, plural: Plural, count: u64, shown: &str) -> String {
        let form = Word(plural.0 + plural::form(self.tag(), count) as u16);
        fill(self.text(form), &[shown])
    }
}

/// Fills placeholders in, in one pass, so that a value that looks like a placeholder stays what it is.
fn fill(text: &str, values: &[&str]) -> String {
    let mut filled = String::with_capacity(text.len() + values.iter().map(|value| value.len()).sum::<usize>());
    for letter in text.chars() {
        // U+0001 is the first one.
        match (letter as usize).checked_sub(1).and_then(|place| values.get(place)) {
            Some(value) => filled.push_str(value),
            None => filled.push(letter),
        }
    }
    filled
}

/// Writes a number with its digits in groups of three: `1,204`.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// The language that no one speaks; only a debug build has it, for its tests.
const PSEUDO: &str = "qps-ploc";

/// Returns the tags of all languages that people speak, in order.
pub fn tags() -> impl Iterator<Item = &'static str> {
    LANGUAGES.iter().map(|words| words.tag).filter(|tag| *tag != PSEUDO)
}

/// Finds the language file for a tag as a person or an environment variable writes it.
#[must_use]
pub fn matching(tag: &str) -> Option<&'static str> {
    let plain = tag.split(['.', '@']).next().unwrap_or_default().replace('_', "-").to_ascii_lowercase();
    let exact = LANGUAGES.iter().map(|words| words.tag).find(|known| known.to_ascii_lowercase() == plain);
    let language = plain.split('-').next().unwrap_or_default();
    exact.or_else(|| tags().find(|known| known.to_ascii_lowercase().split('-').next() == Some(language)))
}

/// Detects the language of an environment as gettext does: the first one of `LC_ALL`, `LC_MESSAGES`, `LANG` that is set
/// is the locale, and `LANGUAGE`, a list, goes before it unless it is `C`. The locale's encoding does not matter: axi
/// writes UTF-8.
#[must_use]
pub fn detect(environment: &dyn Fn(&str) -> Option<String>) -> &'static str {
    let set = |name: &&str| environment(name).filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].iter().find_map(set).unwrap_or_default();
    if matches!(locale.split(['.', '@']).next(), Some("C" | "POSIX")) {
        return FALLBACK;
    }
    let list = set(&"LANGUAGE").unwrap_or_default();
    list.split(':').chain([locale.as_str()]).find_map(matching).unwrap_or(FALLBACK)
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
    fn numbers_are_grouped() {
        for (number, expected) in
            [(0, "0"), (999, "999"), (1_000, "1,000"), (123_456, "123,456"), (1_234_567, "1,234,567")]
        {
            assert_eq!(grouped(number), expected);
        }
    }

    #[test]
    fn a_locale_has_the_language_of_its_name_whatever_its_encoding() {
        for name in ["ja", "ja_JP", "ja_JP.UTF-8", "ja_JP.utf8", "ja_JP.eucJP", "ja_JP.SJIS", "ja.UTF-8@x", "JA"] {
            for variable in ["LC_ALL", "LC_MESSAGES", "LANG"] {
                let set = |asked: &str| (asked == variable).then(|| name.to_owned());
                assert_eq!(detect(&set), "ja", "{variable}={name}");
            }
        }
    }

    #[test]
    fn a_list_of_languages_goes_before_the_locale_but_not_before_none() {
        let detected = |list: &str, locale: &str| {
            detect(&|name| match name {
                "LANGUAGE" => Some(list.to_owned()),
                "LANG" => Some(locale.to_owned()),
                _ => None,
            })
        };
        assert_eq!(detected("ja", "en_US.UTF-8"), "ja");
        assert_eq!(detected("xx::ja_JP:zh_CN", "en_US.UTF-8"), "ja");
        assert_eq!(detected("en_US:ja", "ja_JP.UTF-8"), "en");
        assert_eq!(detected("ja", ""), "ja");
        assert_eq!(detected("", "ja_JP.UTF-8"), "ja");
        assert_eq!(detected("xx", "ja_JP.UTF-8"), "ja");
        for none in ["C", "POSIX", "C.UTF-8"] {
            assert_eq!(detected("ja", none), "en", "{none}");
        }
    }

    #[test]
    fn placeholders_are_filled_once() {
        let values = ["\u{2}{x}", "2"];
        assert_eq!(fill("\u{1} and \u{2} {unknown} {\n", &values), "\u{2}{x} and 2 {unknown} {\n");
    }

    fn file_of(tag: &str) -> serde_json::Value {
        let file = format!("{}/locales/{tag}.json", env!("CARGO_MANIFEST_DIR"));
        serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
    }

    /// Tells whether each plural of a value has these forms.
    fn has_forms(value: &serde_json::Value, forms: &[String]) -> bool {
        let Some(fields) = value.as_object() else { return true };
        let is_form = |name: &String| ["zero", "one", "two", "few", "many", "other"].contains(&name.as_str());
        if fields.contains_key("other") && fields.keys().all(is_form) {
            return forms.iter().all(|form| fields.contains_key(form));
        }
        fields.values().all(|field| has_forms(field, forms))
    }

    #[test]
    fn a_plural_has_each_form_that_a_number_takes_in_its_language() {
        for tag in tags() {
            let numbers = (0..=200).chain([1_000_000]);
            let forms: Vec<String> =
                numbers.map(|number| format!("{:?}", plural::form(tag, number)).to_lowercase()).collect();
            assert!(has_forms(&file_of(tag), &forms), "{tag}");
        }
    }

    #[test]
    fn every_text_is_where_its_key_says() {
        for tag in tags() {
            let file = file_of(tag);
            let at = |path: &str| file.pointer(path).unwrap().as_str().unwrap().to_owned();
            let locale = Locale::new(tag);
            assert_eq!(locale.text(word::error::LABEL), at("/error/label"));
            assert_eq!(locale.text(word::usage::HELP), at("/usage/help"), "near the end");
            let filled = locale.with(word::title::Within { what: "{folder}", folder: "x" });
            assert_eq!(filled, at("/title/within").replace("{folder}", "x").replace("{what}", "{folder}"));
            let forms = [1, 2].map(|count| locale.count(word::title::FILES, count));
            let form = if tag == "en" { "one" } else { "other" };
            assert_eq!(forms[0], at(&format!("/title/files/{form}")).replace("{count}", "1"));
            assert_eq!(forms[1], at("/title/files/other").replace("{count}", "2"));
        }
        assert_eq!(Locale::new("xx"), Locale::new("en"));
    }
}
