//! Keys are the same however their bytes are cut.

use proptest::prelude::*;

use super::*;

fn parse(bytes: &[u8]) -> Vec<Key> {
    let (mut parser, mut keys) = (Parser::default(), Vec::new());
    parser.feed(bytes, &mut keys);
    parser.expire(&mut keys);
    keys
}

#[test]
fn every_key_is_known_by_its_bytes() {
    use Key::{
        Backspace, Character, DeleteLine, DeleteWord, End, Enter, Escape, Focus, Interrupt, Newline, Suspend, Up,
    };
    let cases: &[(&str, &[Key])] = &[
        ("a", &[Character('a')]),
        ("中é👍", &[Character('中'), Character('é'), Character('👍')]),
        ("\r", &[Enter]),
        (
            "\n\x1b\r\x1b[13;2u\x1b[13;3u\x1b[27;5;13~\x1b[106;5u",
            &[Newline, Newline, Newline, Newline, Newline, Newline],
        ),
        ("\x7f\x08\x1b[127u", &[Backspace, Backspace, Backspace]),
        ("\x17\x1b\x7f\x1b[119;5u\x1b[127;5u", &[DeleteWord, DeleteWord, DeleteWord, DeleteWord]),
        ("\x15\x1b[117;5u", &[DeleteLine, DeleteLine]),
        ("\x03\x1b[99;5u\x1b[99;5:1u\x1b[99;133u", &[Interrupt, Interrupt, Interrupt, Interrupt]),
        ("\x1a\x1b[122;5u", &[Suspend, Suspend]),
        ("\x04\x1b[100;5u", &[End, End]),
        ("\x1b[A\x1bOA\x1b[1;1A\x1b\x1b[A", &[Up, Up, Up, Up]),
        ("\x1b[I\x1b[O", &[Focus(true), Focus(false)]),
        ("\x1b]11;rgb:ffff/ffff/ffff\x1b\\", &[Key::Background(Background::Light)]),
        ("\x1b]11;rgb:0/0/0\x07\x1b[?62;22c", &[Key::Background(Background::Dark), Key::Attributes]),
        ("\x1b", &[Escape]),
        ("\x1b[27u\x1b[27;1u\x1b[91;5u", &[Escape, Escape, Escape]),
        ("\x1b[97;2u\x1b[97u", &[Character('A'), Character('a')]),
    ];
    for (bytes, expected) in cases {
        assert_eq!(parse(bytes.as_bytes()), *expected, "{bytes:?}");
    }
}

#[test]
fn what_is_no_key_of_ours_is_swallowed_whole() {
    for bytes in [
        "\x1b[C\x1b[D\x1b[1;5C\x1bOP\x1b[15~\x1b[3~\x1b[Z\x1b[[A",
        "\x1b[24;80R\x1b[?0u\x1b[>1;10;0c\x1b[0n\x1b[8;24;80t\x1b[?2026;2$y",
        "\x1b]10;rgb:ffff/ffff/ffff\x1b\\\x1b]11;nonsense\x07\x1bP1+r544e=78\x1b\\\x1b_Gi=1;OK\x1b\\",
        "\x1b[<0;10;10M\x1b[<0;10;10m\x1b[M !!",
        "\x1b[99;5:3u\x1b[97;5u\x1b[57441u\x1bx\x01\x02\t",
    ] {
        assert_eq!(parse(bytes.as_bytes()), [], "{bytes:?}");
    }
}

#[test]
fn a_paste_is_text_whatever_is_in_it() {
    let keys = parse(b"\x1b[200~one\r\ntwo\rthree \x1b[A \x03 \x1b[201x\x1b[201~!");
    assert_eq!(keys, [Key::Paste("one\ntwo\nthree \x1b[A \x03 \x1b[201x".to_owned()), Key::Character('!')]);
    assert_eq!(parse(b"\x1b[200~never ended"), [Key::Paste("never ended".to_owned())]);
}

#[test]
fn an_interrupt_gets_through_half_a_sequence() {
    for before in ["\x1b[12;", "\x1b]0;title", "\x1bP", "\x1bO"] {
        assert_eq!(parse(format!("{before}\x03").as_bytes()).last(), Some(&Key::Interrupt), "{before:?}");
    }
}

#[test]
fn what_follows_an_escape_that_was_believed_is_its_rest_or_text() {
    use Key::{Character, Enter, Escape, Up};
    let late = |rest: &[u8]| {
        let (mut parser, mut keys) = (Parser::default(), Vec::new());
        parser.feed(b"\x1b", &mut keys);
        parser.expire(&mut keys);
        parser.expect_tail();
        for byte in rest {
            parser.feed(&[*byte], &mut keys);
        }
        parser.expire(&mut keys);
        assert_eq!(keys.remove(0), Escape);
        assert_eq!(parser.awaited(), Awaited::Nothing);
        keys
    };
    assert_eq!(late(b"[A"), [Up]);
    assert_eq!(late(b"OA"), [Up]);
    assert_eq!(late(b"[D[3~"), [Character('['), Character('3'), Character('~')], "one key is late, not two");
    for swallowed in [&b"[1;5C"[..], b"[3~", b"OH", b"[Z", b""] {
        assert_eq!(late(swallowed), [], "{swallowed:?}");
    }
    for text in ["[", "[a]", "Ok", "O", "no", "[1] x", "[12345678A"] {
        let expected: Vec<Key> = text.chars().map(Character).collect();
        assert_eq!(late(text.as_bytes()), expected);
    }
    assert_eq!(late(b"[\r"), [Character('['), Enter]);
    assert_eq!(late("中".as_bytes()), [Character('中')]);
}

#[test]
fn what_is_unfinished_is_told() {
    for (bytes, pending) in [
        (&b""[..], Awaited::Nothing),
        (b"a", Awaited::Nothing),
        (b"\x1b", Awaited::Escape),
        (b"\x1b[1", Awaited::Sequence),
        (b"\xe4\xb8", Awaited::Sequence),
        (b"\x1b[200~x", Awaited::Paste),
    ] {
        let mut parser = Parser::default();
        parser.feed(bytes, &mut Vec::new());
        assert_eq!(parser.awaited(), pending, "{bytes:?}");
    }
}

#[test]
fn escape_right_before_what_the_terminal_says_is_the_key() {
    let said: [(&[u8], Key); 4] = [
        (b"\x1b]11;rgb:0/0/0\x07", Key::Background(Background::Dark)),
        (b"\x1b[?62;22c", Key::Attributes),
        (b"\x1b[O", Key::Focus(false)),
        (b"\x1b[I", Key::Focus(true)),
    ];
    for (bytes, key) in said {
        assert_eq!(parse(&[b"\x1b", bytes].concat()), [Key::Escape, key.clone()], "{bytes:?}");
        assert_eq!(parse(&[b"\x1b\x1b", bytes, b"\x1b[A"].concat()), [Key::Escape, key, Key::Up], "{bytes:?}");
    }
    for bytes in
        ["\x1b[0n", "\x1b[24;80R", "\x1b[8;24;80t", "\x1b[<0;10;10M", "\x1b[M !!", "\x1b]10;x\x07", "\x1bP1\x1b\\"]
    {
        assert_eq!(parse(format!("\x1b{bytes}").as_bytes()), [Key::Escape], "{bytes:?}");
    }
    assert_eq!(parse(b"\x1b\x1b[1;1A\x1b\x1b[3~\x1b\x1b[1;5C"), [Key::Up]);
    assert_eq!(parse(b"\x1b\x1b"), [Key::Escape]);
    assert_eq!(parse(b"\x1b\x1b[A\x1b[?62;22c"), [Key::Up, Key::Attributes]);
}

#[test]
fn broken_characters_are_marked_and_the_next_one_is_whole() {
    use Key::Character;
    assert_eq!(parse(b"\xe4\xb8a"), [Character('\u{FFFD}'), Character('a')]);
    assert_eq!(parse(b"\xff\xe4\xb8\xad"), [Character('\u{FFFD}'), Character('中')]);
    assert_eq!(parse(b"\xe4\xb8"), [Character('\u{FFFD}')]);
}

fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let known = prop::sample::select(vec![
        "\x1b[A",
        "\x1b[200~pa\rste\x1b[201~",
        "\x1b]11;x\x1b\\",
        "中",
        "👩\u{200d}👧",
        "\x1b[99;5u",
        "abc",
        "\x1b",
        "\r",
        "\x1bOA",
        "\x1b[27u",
        "\x03",
        "\x1b[M !!",
    ]);
    proptest::collection::vec(
        prop_oneof![
            4 => known.prop_map(|it| it.as_bytes().to_vec()),
            1 => proptest::collection::vec(any::<u8>(), 0..6),
        ],
        0..12,
    )
    .prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_cutting_gives_the_same_keys(bytes in pieces(), cuts in proptest::collection::vec(0usize..80, 0..8)) {
        let (mut parser, mut keys) = (Parser::default(), Vec::new());
        let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(bytes.len())).chain([0, bytes.len()]).collect();
        cuts.sort_unstable();
        for ends in cuts.windows(2) {
            parser.feed(&bytes[ends[0]..ends[1]], &mut keys);
        }
        parser.expire(&mut keys);
        prop_assert_eq!(parser.awaited(), Awaited::Nothing);
        prop_assert_eq!(keys, parse(&bytes));
    }
}

#[test]
fn pages_are_keys_of_their_own_without_modifiers() {
    assert_eq!(parse(b"\x1b[5~\x1b[6~\x1b[5;2~\x1b[3~"), [Key::PageUp, Key::PageDown]);
}
