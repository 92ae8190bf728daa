//! Replacements that work, and what is said about those that do not.

use proptest::prelude::*;

use super::*;

fn one(old: &str, new: &str) -> Replacement {
    Replacement { old: old.to_owned(), new: new.to_owned(), all: false }
}

fn all(old: &str, new: &str) -> Replacement {
    Replacement { all: true, ..one(old, new) }
}

#[test]
fn a_unique_text_is_replaced() {
    assert_eq!(
        replace("a\nb\nc\n", &one("b", "x\ny")),
        Ok(Replaced { text: "a\nx\ny\nc\n".to_owned(), count: 1, line: 2 })
    );
    assert_eq!(replace("aXbX", &all("X", "")).unwrap(), Replaced { text: "ab".to_owned(), count: 2, line: 1 });
}

#[test]
fn windows_line_ends_match_and_stay() {
    assert_eq!(replace("a\r\nb\r\nc\r\n", &one("a\nb\n", "1\n2\n3\n")).unwrap().text, "1\r\n2\r\n3\r\nc\r\n");
    assert_eq!(replace("a\r\nb\r\n", &one("b", "1\n2")).unwrap().text, "a\r\n1\r\n2\r\n");
    // Mixed: the ends of the place itself count.
    assert_eq!(replace("a\nb\nc\r\n", &one("a\nb", "1\n2\n3")).unwrap().text, "1\n2\n3\nc\r\n");
    assert_eq!(
        replace("a\r\nb", &one("a\n", "a\r\n")),
        Err("old_string and new_string differ only in line ends; nothing would change.".to_owned())
    );
}

#[test]
fn what_cannot_be_done_is_refused() {
    assert!(replace("a", &one("", "b")).unwrap_err().contains("empty"));
    assert!(replace("a", &one("a", "a")).unwrap_err().contains("the same"));
    assert_eq!(
        replace("x\ny\nx\n", &one("x", "z")).unwrap_err(),
        "old_string is there 2 times, at lines 1, 3. Add lines around it until it is unique, or set replace_all."
    );
}

#[test]
fn white_space_differences_are_named() {
    let says =
        replace("fn main() {\n\tprintln!();\n}\n", &one("fn main() {\n    println!();\n}", "x")).unwrap_err();
    assert_eq!(
        says,
        "old_string is not in the file. It is there but for white space (tabs, spaces, indentation, line breaks):\n     1\tfn main() {\n     2\t\tprintln!();\n     3\t}"
    );
}

#[test]
fn typographic_differences_are_named() {
    let says = replace("say “hello” – now\n", &one("say \"hello\" - now", "x")).unwrap_err();
    assert!(says.contains("typographic") && says.contains("     1\tsay “hello” – now"), "{says}");
}

#[test]
fn the_nearest_lines_are_shown() {
    let text = "one\nlet total = sum(a, b);\nreturn total;\nend\n";
    let says = replace(text, &one("let total = sum(a, c);\nreturn total;", "x")).unwrap_err();
    assert_eq!(
        says,
        "old_string is not in the file. The nearest lines are:\n     2\tlet total = sum(a, b);\n     3\treturn total;"
    );
    assert_eq!(replace(text, &one("zzz", "x")).unwrap_err(), "old_string is not in the file.");
}

#[test]
fn copied_line_numbers_are_recognised() {
    let says = replace("fn a() {}\nfn b() {}\n", &one("     1\tfn a() {}\n     2\tfn b() {}", "x")).unwrap_err();
    assert!(says.contains("leave them out"), "{says}");
}

proptest! {
    #[test]
    fn no_text_makes_it_panic_and_success_holds_the_new_text(
        text in "[ab\r\n“ ]{0,40}", old in "[ab\r\n\" ]{0,5}", new in "[abx\n]{0,5}", every in any::<bool>()
    ) {
        let replacement = Replacement { old: old.clone(), new: new.clone(), all: every };
        if let Ok(replaced) = replace(&text, &replacement) {
            prop_assert!(replaced.text.replace("\r\n", "\n").contains(&new));
            prop_assert!(replaced.count == 1 || every);
        }
    }

    #[test]
    fn a_windows_file_stays_one(lines in proptest::collection::vec("[ab]{1,3}", 2..6), new in "[x\n]{1,5}") {
        let text = lines.join("\r\n") + "\r\n";
        let old = format!("{}\n{}", lines[0], lines[1]);
        if let Ok(replaced) = replace(&text, &one(&old, &new)) {
            prop_assert_eq!(replaced.text.matches('\n').count(), replaced.text.matches("\r\n").count());
        }
    }
}

#[test]
fn a_whole_new_text_keeps_the_line_ends_of_the_old_one() {
    for (old, new, result) in [
        ("a\r\nb\r\n", "x\ny\n", "x\r\ny\r\n"),
        ("a\r\nb\r\n", "x\r\ny\n", "x\r\ny\n"),
        ("a\nb\n", "x\ny\n", "x\ny\n"),
        ("a\nb\n", "x\r\n", "x\r\n"),
        ("", "x\n", "x\n"),
    ] {
        assert_eq!(with_ends_of(old, new.to_owned()), result);
    }
}
