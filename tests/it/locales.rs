//! The words people read: what `locales/build.rs` makes of the files, and what it refuses. That every key is used, and
//! every placeholder filled in, the compiler sees.

#[expect(dead_code, clippy::print_stdout, reason = "its pure half is tested; cargo runs and reads the rest")]
#[path = "../../locales/build.rs"]
mod build;

use crate::support::rust_source::repository;

/// What is generated from the texts of the languages, English first; the error in words.
fn generated(files: &[&str]) -> Result<(String, String), String> {
    let tags = ["en", "x1", "x2"];
    let files: Vec<_> = tags.iter().zip(files).map(|(tag, file)| ((*tag).to_owned(), (*file).to_owned())).collect();
    build::generate(&files).map_err(|error| error.to_string())
}

fn refused(files: &[&str]) -> String {
    generated(files).expect_err("it has a fault")
}

#[test]
fn only_languages_live_beside_the_build_script() {
    for entry in std::fs::read_dir(repository().join("locales")).expect("locales/ is there") {
        let path = entry.expect("an entry").path();
        let is_language = path.extension().is_some_and(|end| end == "json");
        assert!(is_language || path.ends_with("build.rs"), "{}", path.display());
    }
}

#[test]
fn a_key_becomes_a_constant_or_a_struct_with_its_placeholders() {
    let file = r#"{"a": {"b_c": "x", "d": "{all} of {count}", "e": {"other": "{count} x"}}, "f": "y",
        "g": "{at}: {cause}"}"#;
    let (_, word) = generated(&[file]).expect("it is right");
    for line in [
        "pub(crate) mod a {",
        "pub(crate) const B_C: crate::locale::Word = crate::locale::Word(0);",
        "pub(crate) struct D<'a> {\n    pub(crate) all: &'a str,\n    pub(crate) count: &'a str,\n}",
        "crate::locale::Filled::new(1, &[self.all, self.count])",
        "pub(crate) const E: crate::locale::Plural = crate::locale::Plural(2);",
        "pub(crate) const F: crate::locale::Word = crate::locale::Word(8);",
        // What the system says is said in the language.
        "crate::locale::Filled::new(9, &[self.at, self.cause]).with_cause(1)",
    ] {
        assert!(word.contains(line), "{line}\n{word}");
    }
}

#[test]
fn a_failure_of_the_system_is_said_in_the_field_that_is_translated() {
    // These hand it on: to a `cause`, and to the words for a model's file.
    let passed_on = ["app/talk/rules.rs", "repl/editor/read.rs", "provider/local/mod.rs"];
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        if passed_on.iter().any(|known| path.ends_with(known)) {
            continue;
        }
        for row in text.lines() {
            let parts: Vec<&str> = row.split("error.to_string()").collect();
            for before in &parts[..parts.len() - 1] {
                let name =
                    before.trim_end_matches(|letter: char| letter.is_ascii_lowercase() || "._&".contains(letter));
                if !name.ends_with("cause: ") && name.ends_with(": ") {
                    wrong.push(format!("{path}: {}", row.trim()));
                }
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// Each file below src/ that is no test, with its text.
fn sources() -> Vec<(String, String)> {
    let (mut folders, mut found) = (vec![repository().join("src")], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.display().to_string();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") && !name.ends_with("_tests.rs") {
                found.push((name, std::fs::read_to_string(path).expect("a text")));
            }
        }
    }
    found
}

#[test]
fn a_mark_of_direction_in_a_file_is_no_part_of_the_words() {
    let marks = "{\"a\": \"\u{200f}\u{2068}{count}\u{2069}\u{202b}y\u{61c}\u{200e}\"}";
    let (tables, _) = generated(&[r#"{"a": "{count}x"}"#, marks]).expect("it is right");
    assert!(tables.contains(r#"text: "\u{1}y", places: &[(0, 2), ]"#), "{tables}");
}

#[test]
fn the_language_that_no_one_speaks_has_a_mark_of_direction_in_each_text() {
    // Without them the walk through its screens would not see that a mark gets through.
    let english = r#"{"a": {"b": "to {path}", "c": {"one": "{count} x", "other": "{count} xs"}, "d": " "}}"#;
    let made = build::pseudo(&serde_json::from_str(english).expect("it is right"));
    for place in ["/a/b", "/a/c/one", "/a/c/other"] {
        let text = made.pointer(place).and_then(serde_json::Value::as_str).expect("a text");
        assert!(text.starts_with('\u{200f}') && text.contains('{'), "{place}: {text:?}");
    }
    assert_eq!(made["a"]["d"], " ");
}

#[test]
fn a_plural_has_the_forms_of_its_language() {
    let english = r#"{"a": {"one": "{count} x", "other": "{count} xs"}}"#;
    let three = r#"{"a": {"one": "{count} o", "few": "{count} f", "many": "m", "other": "{count} r"}}"#;
    let (tables, _) = generated(&[english, three]).expect("it is right");
    // zero, one, two, few, many, other: where each begins and how long it is.
    assert!(tables.contains(r"(0, 4), (4, 3), (0, 4), (0, 4), (0, 4), (0, 4), "), "{tables}");
    assert!(tables.contains(r"(0, 3), (3, 3), (0, 3), (6, 3), (9, 1), (0, 3), "), "{tables}");
}

#[test]
fn what_a_language_lacks_or_has_too_many_of_is_refused() {
    let english = r#"{"a": {"b": "{count} of {all}", "c": "x", "d": {"one": "1", "other": "{count}"}}}"#;
    let other = |a: &str| refused(&[english, &format!(r#"{{"a": {a}}}"#)]);
    let (b, c, d) = (r#""b": "{all}: {count}""#, r#""c": "y""#, r#""d": {"other": "{count}"}"#);
    assert!(generated(&[english, &format!(r#"{{"a": {{{b}, {c}, {d}}}}}"#)]).is_ok());
    assert_eq!(other(&format!("{{{b}, {d}}}")), "locales/x1.json: a.c is missing");
    assert_eq!(other(&format!(r#"{{{b}, {c}, {d}, "e": "x"}}"#)), "locales/x1.json: a.e is not in en.json");
    assert_eq!(other(&format!(r#"{{{b}, "c": " ", {d}}}"#)), "locales/x1.json: a.c is empty in one of the two");
    assert_eq!(
        other(&format!(r#"{{"b": "{{all}}", {c}, {d}}}"#)),
        "locales/x1.json: a.b has other placeholders than {\"all\", \"count\"}"
    );
    assert_eq!(other(&format!(r#"{{{b}, {c}, "d": "x"}}"#)), "locales/x1.json: a.d is a plural in one of the two");
}

#[test]
fn a_file_of_the_wrong_form_is_refused() {
    let file = |a: &str| refused(&[&format!(r#"{{"a": {a}}}"#)]);
    assert_eq!(file("1"), "locales/en.json: a is no text");
    assert_eq!(file(r#"{"other": 1}"#), "locales/en.json: a is no text");
    assert_eq!(file(r#"{"B": "x"}"#), "locales/en.json: a.B: a key is made of a-z, 0-9 and _");
    assert_eq!(file(r#""\u0001""#), "a holds a control character");
    assert_eq!(
        file(r#"{"one": "{what}", "other": "x"}"#),
        "a: the only placeholder of a plural is {count}",
        "until one is needed"
    );
    assert!(refused(&["{"]).starts_with("locales/en.json: EOF"));
    assert_eq!(build::generate(&[]).expect_err("none").to_string(), "locales/en.json is the first language");
}
