//! The words people read: every language has every key with the same placeholders, and source and files agree.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::support::rust_source::{Placed, Token, repository, rust_files, tokens};

/// Beginnings of keys that are put together at run time in a way the source does not show as `format!("x.{…}")`.
const COMPOSED: &[&str] = &["command."];

type Texts = BTreeMap<String, String>;

/// Reads `{"a": {"b": "text"}}` as `a.b -> text`; the second list holds what is neither text nor group.
fn flatten(value: &Value) -> (Texts, Vec<String>) {
    fn walk(value: &Value, key: &str, texts: &mut Texts, faults: &mut Vec<String>) {
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    let inner = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
                    walk(member, &inner, texts, faults);
                }
            }
            Value::String(text) => {
                if texts.insert(key.to_owned(), text.clone()).is_some() {
                    faults.push(format!("{key} is there twice, nested and dotted"));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
                faults.push(format!("{key} is no text"));
            }
        }
    }
    let (mut texts, mut faults) = (Texts::new(), Vec::new());
    walk(value, "", &mut texts, &mut faults);
    (texts, faults)
}

/// The names in braces: `{count} of {all}` has `all` and `count`. `{{` is a brace, no placeholder.
fn placeholders(text: &str) -> BTreeSet<String> {
    let plain = text.replace("{{", "").replace("}}", "");
    plain
        .split('{')
        .skip(1)
        .filter_map(|rest| rest.split_once('}'))
        .map(|(name, _)| name.trim().to_owned())
        .collect()
}

/// What is different between the first language and another one.
fn compare(first: &Texts, other: &Texts) -> Vec<String> {
    let mut faults = Vec::new();
    for (key, text) in first {
        match other.get(key) {
            None => faults.push(format!("{key} is missing")),
            // Nothing to say is a text too, but then in every language.
            Some(translated) if translated.trim().is_empty() != text.trim().is_empty() => {
                faults.push(format!("{key} is empty in one of the two"));
            }
            Some(translated) if placeholders(translated) != placeholders(text) => faults.push(format!(
                "{key} has {:?}, en.json has {:?}",
                placeholders(translated),
                placeholders(text)
            )),
            Some(_) => {}
        }
    }
    faults
        .extend(other.keys().filter(|key| !first.contains_key(*key)).map(|key| format!("{key} is not in en.json")));
    faults
}

/// How a key ends that `.count("key", number)` looks up, by whether the number is one.
const COUNTED: &[&str] = &[".one", ".other"];

/// A call of `.text("key")`, `.count("key", number)` or `.with("key", &[("name", …)])`.
#[derive(Debug, PartialEq, Eq)]
struct Call {
    key: String,
    line: usize,
    /// Whether the key is looked up with an ending of [`COUNTED`].
    counted: bool,
    /// The names given, where they are written out.
    names: Option<BTreeSet<String>>,
}

fn is_key(text: &str) -> bool {
    let part = |part: &str| {
        part.starts_with(|first: char| first.is_ascii_lowercase() || first.is_ascii_digit())
            && part.chars().all(|one| one.is_ascii_lowercase() || one.is_ascii_digit() || "_-".contains(one))
    };
    text.contains('.') && text.split('.').all(part)
}

/// Finds the calls whose first argument is a dotted key, on whatever the words are called there.
fn calls(source: &str) -> Vec<Call> {
    let tokens = tokens(source);
    let mut found = Vec::new();
    for (index, window) in tokens.windows(4).enumerate() {
        let [dot, name, open, key] = window else { continue };
        let is_call = dot.token.is_mark('.') && open.token.is_mark('(');
        let takes_names = name.token.is_word("with");
        let Token::Text(text) = &key.token else { continue };
        let counted = name.token.is_word("count");
        if is_call && (takes_names || counted || name.token.is_word("text")) && is_key(text) {
            let names = match (takes_names, counted) {
                (true, _) => names(&tokens[index + 4..]),
                (false, true) => None,
                (false, false) => Some(BTreeSet::new()),
            };
            found.push(Call { key: text.clone(), line: key.line, counted, names });
        }
    }
    found
}

/// Reads the names of `, &[("name", value), …])`; `None` where the list is not written out.
fn names(tokens: &[Placed]) -> Option<BTreeSet<String>> {
    let begins = |index: usize, mark: char| tokens.get(index).is_some_and(|placed| placed.token.is_mark(mark));
    if !(begins(0, ',') && begins(1, '&') && begins(2, '[')) {
        return None;
    }
    let mut names = BTreeSet::new();
    let mut depth = 0;
    for (index, placed) in tokens.iter().enumerate().skip(2) {
        match &placed.token {
            Token::Mark('[' | '(' | '{') => depth += 1,
            Token::Mark(']' | ')' | '}') => depth -= 1,
            Token::Text(name) if depth == 2 && tokens[index - 1].token.is_mark('(') => {
                names.insert(name.clone());
            }
            Token::Text(_) | Token::Word(_) | Token::Mark(_) => {}
        }
        if depth == 0 {
            return Some(names);
        }
    }
    None
}

/// What a source file says wrongly, given the first language.
fn check_calls(file: &str, source: &str, first: &Texts) -> Vec<String> {
    let mut faults = Vec::new();
    for call in calls(source) {
        let place = format!("{file}:{}: {}", call.line, call.key);
        if call.counted {
            let missing = COUNTED.iter().filter(|end| !first.contains_key(&format!("{}{end}", call.key)));
            faults.extend(missing.map(|end| format!("{place}{end} is not in en.json")));
            continue;
        }
        match (first.get(&call.key), &call.names) {
            (None, _) => faults.push(format!("{place} is not in en.json")),
            (Some(text), Some(names)) if placeholders(text) != *names => {
                faults.push(format!("{place} is given {names:?}, its text has {:?}", placeholders(text)));
            }
            (Some(_), _) => {}
        }
    }
    faults
}

/// Keys that no literal of the source names, neither whole nor as the beginning of a composed key.
fn unused<'a>(sources: &[(String, String)], first: &'a Texts) -> Vec<&'a str> {
    let mut literals = BTreeSet::new();
    let mut beginnings: BTreeSet<String> = COMPOSED.iter().map(|&prefix| prefix.to_owned()).collect();
    for (_, source) in sources {
        for placed in tokens(source) {
            let Token::Text(text) = placed.token else { continue };
            if let Some((beginning, _)) = text.split_once('{')
                && beginning.strip_suffix('.').is_some_and(|stem| is_key(&format!("{stem}.x")))
            {
                beginnings.insert(beginning.to_owned());
            }
            literals.insert(text);
        }
    }
    let counted =
        |key: &str| COUNTED.iter().any(|end| key.strip_suffix(end).is_some_and(|stem| literals.contains(stem)));
    let used = |key: &str| {
        counted(key) || literals.contains(key) || beginnings.iter().any(|beginning| key.starts_with(beginning))
    };
    first.keys().map(String::as_str).filter(|key| !used(key)).collect()
}

fn read(path: &Path) -> Texts {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let (texts, faults) = flatten(&value);
    assert!(faults.is_empty(), "{}: {faults:#?}", path.display());
    texts
}

/// The languages by file name. A file that is not JSON is a fault, since its translator would wait for it in vain; but
/// for build.rs, which lists them.
fn languages() -> BTreeMap<String, Texts> {
    let entries = std::fs::read_dir(repository().join("locales")).expect("locales/ is there");
    let mut languages = BTreeMap::new();
    for entry in entries {
        let path = entry.expect("an entry").path();
        if path.ends_with("build.rs") {
            continue;
        }
        assert!(path.extension().is_some_and(|end| end == "json"), "only languages live here: {}", path.display());
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        languages.insert(name, read(&path));
    }
    languages
}

/// Source without its test files, whose keys are made up.
fn sources() -> Vec<(String, String)> {
    let mut files = rust_files(repository(), "src");
    files.retain(|(name, _)| !name.ends_with("_tests.rs"));
    files
}

#[test]
fn every_language_has_every_key_with_its_placeholders() {
    let languages = languages();
    let first = languages.get("en").expect("locales/en.json is the first language");
    assert!(languages.contains_key("zh-CN"), "locales/zh-CN.json is the second: {:?}", languages.keys());
    for (name, texts) in &languages {
        let faults = compare(first, texts);
        assert!(faults.is_empty(), "locales/{name}.json: {faults:#?}");
    }
}

#[test]
fn every_key_in_source_exists_and_gets_its_placeholders() {
    let languages = languages();
    let first = &languages["en"];
    let faults: Vec<String> =
        sources().iter().flat_map(|(file, source)| check_calls(file, source, first)).collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn every_key_is_used() {
    let languages = languages();
    let left = unused(&sources(), &languages["en"]);
    assert!(left.is_empty(), "nobody says these, so nobody should translate them: {left:#?}");
}

mod the_checker_can_fail {
    //! Each rule is broken once on purpose, and kept once.

    use super::*;

    fn texts(json: &str) -> Texts {
        flatten(&serde_json::from_str(json).expect("JSON")).0
    }

    #[test]
    fn on_the_form_of_a_file() {
        let value = serde_json::json!({ "a": { "b": "x", "c": " ", "d": 1 }, "a.b": "y" });
        let (texts, faults) = flatten(&value);
        assert_eq!(texts.keys().collect::<Vec<_>>(), ["a.b", "a.c"]);
        assert_eq!(faults, ["a.d is no text", "a.b is there twice, nested and dotted"]);
    }

    #[test]
    fn on_keys_and_placeholders() {
        let first = texts(r#"{"a": {"b": "{count} of {all}", "c": "{{x}}", "e": "x"}}"#);
        assert_eq!(compare(&first, &texts(r#"{"a": {"b": "{all}: {count}", "c": "x", "e": "y"}}"#)), [""; 0]);
        let faults = compare(&first, &texts(r#"{"a": {"b": "{all}", "e": " "}, "d": "x"}"#));
        assert_eq!(
            faults,
            [
                "a.b has {\"all\"}, en.json has {\"all\", \"count\"}",
                "a.c is missing",
                "a.e is empty in one of the two",
                "d is not in en.json"
            ]
        );
    }

    #[test]
    fn on_source() {
        let first = texts(r#"{"a": {"b": "{count}", "c": "x", "d": "x", "e": "x"}}"#);
        let good =
            r#"words.with("a.b", &[("count", &f("n", [("x", 1)]))]); locale.text("a.c"); span.text("no key")"#;
        assert_eq!(check_calls("f", good, &first), [""; 0]);
        let bad = "locale.text(\"a.b\");\nlocale.with(\"a.b\", &[(\"kount\", 1)]);\nlocale.text(\"a.x\")";
        assert_eq!(
            check_calls("f", bad, &first),
            [
                "f:1: a.b is given {}, its text has {\"count\"}",
                "f:2: a.b is given {\"kount\"}, its text has {\"count\"}",
                "f:3: a.x is not in en.json"
            ]
        );
        let counted = texts(r#"{"a": {"b": {"one": "{count} x", "other": "{count} x"}, "c": {"one": "x"}}}"#);
        assert_eq!(check_calls("f", "locale.count(\"a.b\", 2)", &counted), [""; 0]);
        assert_eq!(check_calls("f", "locale.count(\"a.c\", 2)", &counted), ["f:1: a.c.other is not in en.json"]);
        let source = |text: &str| vec![("f".to_owned(), text.to_owned())];
        assert_eq!(unused(&source(good), &first), ["a.d", "a.e"]);
        assert_eq!(unused(&source("locale.count(\"a.b\", 2)"), &counted), ["a.c.one"]);
        assert_eq!(unused(&source("format!(\"a.{kind}\")"), &first), [""; 0]);
    }
}
