//! Colours by language; each list sorted, as searching needs it.

use nu_ansi_term::Style;

use super::*;
use crate::terminal::theme::Theme;

fn colours(language: &str, code: &str) -> Vec<(String, &'static str)> {
    let theme = Theme { added: Style::new().bold(), removed: Style::new().reverse(), ..Theme::ansi() };
    let mut highlighter = Highlighter::new(language).unwrap();
    let named = [
        (theme.code_keyword, "keyword"),
        (theme.code_type, "type"),
        (theme.code_function, "function"),
        (theme.code_string, "string"),
        (theme.code_number, "number"),
        (theme.code_comment, "comment"),
        (theme.added, "added"),
        (theme.removed, "removed"),
    ];
    code.lines()
        .flat_map(|line| highlighter.line(line, &theme).spans)
        .filter_map(|span| {
            let name = named.iter().find(|(style, _)| *style == span.style)?.1;
            Some((span.text.trim().to_owned(), name))
        })
        .collect()
}

fn pairs(expected: &[(&str, &'static str)]) -> Vec<(String, &'static str)> {
    expected.iter().map(|(text, name)| ((*text).to_owned(), *name)).collect()
}

#[test]
fn words_are_sorted() {
    for language in LANGUAGES {
        for list in [language.keywords, language.types, language.constants] {
            assert!(list.is_sorted(), "{:?}: {list:?}", language.names);
        }
    }
}

#[test]
fn rust_is_coloured() {
    assert_eq!(
        colours(
            "rust,ignore",
            "fn go<'a>(x: &'a str) -> u8 { call('c', \"s\\\"t\"); 0x1f } /* a\n/* b */ c */ true // end"
        ),
        pairs(&[
            ("fn", "keyword"),
            ("go", "function"),
            ("str", "type"),
            ("u8", "type"),
            ("call", "function"),
            ("'c'", "string"),
            ("\"s\\\"t\"", "string"),
            ("0x1f", "number"),
            ("/* a", "comment"),
            ("/* b */ c */", "comment"),
            ("true", "number"),
            ("// end", "comment"),
        ])
    );
}

#[test]
fn strings_go_on_over_lines() {
    assert_eq!(
        colours("py", "x = \"\"\"one\ntwo\"\"\" + 'a' # c"),
        pairs(&[("\"\"\"one", "string"), ("two\"\"\"", "string"), ("'a'", "string"), ("# c", "comment")])
    );
}

#[test]
fn keys_of_data_are_coloured() {
    assert_eq!(
        colours("json", "{\"a\": \"b\", \"c\": null}"),
        pairs(&[("\"a\"", "type"), ("\"b\"", "string"), ("\"c\"", "type"), ("null", "number")])
    );
    assert_eq!(
        colours("yaml", "- my-key: yes # c"),
        pairs(&[("my-key", "type"), ("yes", "number"), ("# c", "comment")])
    );
    assert_eq!(colours("toml", "[a.b]\nc = 1"), pairs(&[("[a.b]", "type"), ("c", "type"), ("1", "number")]));
}

#[test]
fn markup_and_diffs_are_coloured() {
    assert_eq!(
        colours("html", "<a href=\"x\">t</a><!-- c\nd -->"),
        pairs(&[
            ("<a", "keyword"),
            ("href=", "type"),
            ("\"x\"", "string"),
            (">", "keyword"),
            ("</a>", "keyword"),
            ("<!-- c", "comment"),
            ("d -->", "comment")
        ])
    );
    assert_eq!(colours("diff", "+a\n-b\n c"), pairs(&[("+a", "added"), ("-b", "removed")]));
}

#[test]
fn code_is_never_altered() {
    let theme = Theme::ansi();
    for language in LANGUAGES {
        let mut highlighter = Highlighter::new(language.names[0]).unwrap();
        for line in
            ["\tlet é = \"中文\\", "'\\u{1F600}' $x ${y} @z #[w] <a b='c", "-- /* x", "*/ ]] -} 'é", "\\", "é'é\"`"]
        {
            assert_eq!(highlighter.line(line, &theme).text(), line, "{:?}", language.names);
        }
    }
}

#[test]
fn the_first_word_of_a_shell_command_is_one() {
    assert_eq!(
        colours(
            "sh",
            "make install PREFIX=/usr\n$ sudo ./run.sh --now | sort -u && A=1 B=\"x y\" cat <in 2>&1 >out\n\
             docker run \\\n  test alpine $(date +%s); if test -f x; then rm x; fi\n# done\n\"$HOME/bin/x\" y"
        ),
        pairs(&[
            ("make", "function"),
            ("sudo", "keyword"),
            ("./run.sh", "function"),
            ("sort", "function"),
            ("\"x y\"", "string"),
            ("cat", "function"),
            ("in", "keyword"),
            ("2", "number"),
            ("1", "number"),
            ("docker", "function"),
            ("$", "type"),
            ("date", "function"),
            ("if test", "keyword"),
            ("then", "keyword"),
            ("rm", "function"),
            ("fi", "keyword"),
            ("# done", "comment"),
            ("\"$HOME/bin/x\"", "string"),
        ])
    );
}
