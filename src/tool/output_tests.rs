//! Terminal codes out, ends kept.

use proptest::prelude::*;

use super::*;

#[test]
fn terminal_sequences_go() {
    for (bytes, text) in [
        (&b"\x1b[1;31mred\x1b[0m"[..], "red"),
        (b"\x1b]0;title\x07after", "after"),
        (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        (b"\x1b(Bplain\x1b=", "plain"),
        (b"\x1bPq data\x1b\\x", "x"),
        (b"\x1b[?25l\x1b[2Kx", "x"),
        (b"\x1b]0;never ends\nnext", "\nnext"),
        (b"cut \x1b[3", "cut "),
        (b"a\x07b\x7f\x0b", "ab"),
        ("csi \u{9b}31m".as_bytes(), "csi 31m"),
    ] {
        assert_eq!(clean(bytes), text, "{bytes:?}");
    }
}

#[test]
fn a_progress_bar_is_its_last_state_and_windows_line_ends_are_line_ends() {
    assert_eq!(clean(b"10%\r50%\r100%\ndone\r\nx\r"), "100%\ndone\nx");
    assert_eq!(clean(b"abc\r\x1b[Kxy"), "xy");
}

#[test]
fn backspaces_are_carried_out_and_a_nul_is_shown() {
    assert_eq!(clean(b"N\x08NA\x08A"), "NA");
    assert_eq!(clean("é\x08x\x08\x08\x08y".as_bytes()), "y");
    assert_eq!(clean(b"a\0b\0"), "a\\0b\\0");
    assert_eq!(clean(b"a\xffb"), "a\u{fffd}b");
}

#[test]
fn a_long_output_keeps_both_ends() {
    let text = (1..=1000).map(|number| number.to_string() + "\n").collect::<String>();
    let cut = trim(&text, LIMITS);
    assert!(cut.starts_with("1\n2\n") && cut.ends_with("\n999\n1000\n"));
    assert!(cut.contains("\n100\n[… 800 lines, 3.1 KB cut …]\n901\n"), "{cut}");
    assert_eq!(trim("a\nb", LIMITS), "a\nb");
}

#[test]
fn a_long_line_is_cut_between_graphemes() {
    let text = "👩‍👩‍👧".repeat(2000);
    let cut = trim(&text, Limits { lines: 10, bytes: 1000 });
    let (head, rest) = cut.split_once("\n[… ").unwrap();
    let tail = rest.split_once("…]\n").unwrap().1;
    for end in [head, tail] {
        assert!(end.len() > 400 && end.len() <= 500, "{}", end.len());
        assert_eq!(end.replace("👩‍👩‍👧", ""), "");
    }
}

proptest! {
    #[test]
    fn however_the_bytes_are_cut_the_text_is_the_same(
        bytes in proptest::collection::vec(prop_oneof![
            Just(0x1b_u8), Just(b'['), Just(b']'), Just(b'm'), Just(b'\n'), Just(b'\r'), Just(7), Just(8), any::<u8>()
        ], 0..60),
        at in 0_usize..60,
    ) {
        let mut parts = String::new();
        let mut cleaner = Cleaner::new(usize::MAX);
        let (first, second) = bytes.split_at(at.min(bytes.len()));
        for part in [first, second] {
            cleaner.push(part, |line| { parts.push_str(&line); parts.push('\n'); });
        }
        parts.push_str(&cleaner.partial());
        let whole = clean(&bytes);
        prop_assert_eq!(&parts, &whole);
        prop_assert!(!whole.chars().any(|letter| letter.is_control() && letter != '\n' && letter != '\t'));
    }

    #[test]
    fn what_is_trimmed_is_short_and_made_of_the_text(text in "[aé👩‍\n]{0,400}", lines in 2_usize..20, bytes in 20_usize..200) {
        let limits = Limits { lines, bytes };
        let cut = trim(&text, limits);
        prop_assert!(cut.len() <= bytes + 80, "{}", cut.len());
        if fits(&text, limits) {
            prop_assert_eq!(cut, text);
        } else {
            let (head, tail) = ends(&text, &text, limits);
            prop_assert!(text.starts_with(head) && text.ends_with(tail));
            prop_assert!(head.len() + tail.len() <= text.len());
        }
    }
}

/// What is cut is looked through for secrets afterwards.
mod of_a_value {
    use super::*;
    use crate::secret::{Known, Level, redact};

    proptest! {
        #[test]
        fn no_eight_letters_remain_beside_a_cut(
            value in "[a-z0-9éß\"\\\\/#$%]{8,40}",
            before in "([ .,-]{0,30}\n?){0,6}",
            behind in "([ .,-]{0,30}\n?){0,6}",
            lines in 2_usize..9,
            bytes in 20_usize..90,
        ) {
            let text = trim(&format!("{before}{value}{behind}"), Limits { lines, bytes });
            let (left, _) = redact(&text, &Known::new([value.clone()]), Level::Kept);
            let letters: Vec<char> = value.chars().collect();
            let is_left = letters.windows(8).any(|part| left.contains(&part.iter().collect::<String>()));
            prop_assert!(!is_left, "{left}");
        }
    }
}

#[test]
fn sizes_are_worded() {
    assert_eq!(size(12), "12 B");
    assert_eq!(size(1536), "1.5 KB");
    assert_eq!(size(1 << 30), "1.0 GB");
    assert_eq!(size(u64::MAX), "17179869183.9 GB");
}
