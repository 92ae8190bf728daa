//! Nothing from outside commands the terminal, and ordinary text of every script stays what it is.

use std::borrow::Cow;

use proptest::prelude::*;

use super::{concealed, escape_json, sanitize, sanitize_line};

/// What attacks look like, and what they must become.
const ATTACKS: &[(&str, &str)] = &[
    ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
    ("\x1b]0;title\x07", "␛]0;title␇"),
    ("\x1b]52;c;ZWNobw==\x1b\\", "␛]52;c;ZWNobw==␛\\"),
    ("\x1bP+q544e\x1b\\", "␛P+q544e␛\\"),
    ("\u{9b}2J\u{9d}0;x\u{9c}\u{90}q", "<U+009B>2J<U+009D>0;x<U+009C><U+0090>q"),
    ("a\rb", "a␍b"),
    ("a\x08b\x7f\0", "a␈b␡␀"),
    ("\x0e\x0f\x05", "␎␏␅"),
    ("if admin \u{202E}} // \u{2066}check\u{2069}", "if admin <U+202E>} // <U+2066>check<U+2069>"),
    ("\u{200F}\u{200E}\u{61C}", "<U+200F><U+200E><U+061C>"),
    ("pass\u{200B}word", "pass<U+200B>word"),
    ("pass\u{200D}word\u{200C}s", "pass<U+200D>word<U+200C>s"),
    ("\u{FEFF}a\u{FEFF}", "<U+FEFF>a<U+FEFF>"),
    ("\u{E0041}\u{E0042}", "<U+E0041><U+E0042>"),
    ("x\u{FE0F}\u{FE0E}", "x\u{FE0F}<U+FE0E>"),
    ("a\u{E0100}", "a<U+E0100>"),
    ("\u{2028}\u{2029}\u{2060}", "<U+2028><U+2029><U+2060>"),
    ("\u{FFF9}a\u{FFFA}b\u{FFFB}", "<U+FFF9>a<U+FFFA>b<U+FFFB>"),
    ("\u{1F3F4}\u{E0067}\u{E0062}", "\u{1F3F4}<U+E0067><U+E0062>"),
    ("\u{3164}\u{115F}\u{AD}", "<U+3164><U+115F><U+00AD>"),
];

#[test]
fn json_escaped_means_the_same_and_is_seen() {
    let attacks: Vec<String> = ATTACKS.iter().map(|(attack, _)| (*attack).to_owned()).collect();
    let json = escape_json(serde_json::to_string(&attacks).unwrap());
    assert!(
        concealed(&json)
            .iter()
            .all(|range| matches!(&json[range.clone()], "\u{200D}" | "\u{200C}" | "\u{FE0E}" | "\u{E0100}")),
        "{json}"
    );
    assert!(!json.chars().any(char::is_control), "{json}");
    assert_eq!(serde_json::from_str::<Vec<String>>(&json).unwrap(), attacks);
    assert_eq!(escape_json("[\"\u{9b}\u{E0041}\"]".into()), r#"["\u009b\udb40\udc41"]"#);
}

#[test]
fn what_is_concealed_is_what_is_shown_otherwise() {
    for &(attack, _) in ATTACKS {
        let mut kept = attack.to_owned();
        for range in concealed(attack).into_iter().rev() {
            kept.replace_range(range, "");
        }
        assert_eq!(sanitize(&kept), kept, "{attack:?}");
    }
}

#[test]
fn no_attack_of_the_corpus_leaks() {
    for &(attack, shown) in ATTACKS {
        assert_eq!(sanitize(attack), shown, "{attack:?}");
    }
}

#[test]
fn ordinary_text_is_borrowed_unchanged() {
    for text in [
        "plain\ttext\nwith lines",
        "naïve — “quoted” … 日本語 한국어 ไทย हिन्दी",
        "می\u{200C}خواهم",
        "क्\u{200D}ष",
        "👩\u{200D}👩\u{200D}👧 ❤\u{FE0F}\u{200D}🔥 🏳\u{FE0F}\u{200D}🌈 👍🏽 🇩🇪 1\u{FE0F}\u{20E3}",
        "\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F} England",
        "e\u{301}",
        "葛\u{E0100}",
        "\u{E0B0} a prompt's private glyph",
    ] {
        assert!(matches!(sanitize(text), Cow::Borrowed(same) if same == text), "{text:?} -> {:?}", sanitize(text));
    }
}

#[test]
fn windows_line_ends_are_line_ends() {
    assert_eq!(sanitize("a\r\nb\r\r\n"), "a\nb␍\n");
}

#[test]
fn one_row_stays_one_row() {
    assert_eq!(sanitize_line("file\nname\r\n\tx"), "file␊name␍␊\tx");
}

proptest! {
    #[test]
    fn no_control_comes_through(text in any::<String>()) {
        prop_assert!(sanitize(&text).chars().all(|it| !it.is_control() || it == '\n' || it == '\t'));
        prop_assert!(sanitize_line(&text).chars().all(|it| !it.is_control() || it == '\t'));
    }

    #[test]
    fn hostile_alphabets_come_through_clean_and_stay_so(
        text in proptest::collection::vec(prop::sample::select(vec![
            '\x1b', '[', 'm', '\u{202E}', '\u{200D}', '\u{200C}', '\u{FE0F}', '👩', 'ن', 'a', '\n', '\r', '\u{85}',
            '\u{1F3F4}', '\u{E0067}', '\u{E007F}', ' ',
        ]), 0..24)
    ) {
        let text: String = text.into_iter().collect();
        let clean = sanitize(&text).into_owned();
        let leaks = clean.contains(['\x1b', '\u{202E}', '\u{85}', '\r']);
        prop_assert!(!leaks);
        prop_assert_eq!(sanitize(&clean), clean.as_str());
    }
}
