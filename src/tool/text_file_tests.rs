//! Encodings there and back.

use proptest::prelude::*;

use super::*;

const ALL: [Encoding; 4] = [Encoding::Utf8, Encoding::Utf8Mark, Encoding::Utf16Little, Encoding::Utf16Big];

#[test]
fn latin1_is_said_and_goes_back_byte_for_byte() {
    let bytes = b"caf\xe9, d\xe9j\xe0 vu and other plain words\r\n".to_vec();
    let (text, encoding) = decode(bytes.clone()).unwrap();
    assert_eq!((text.as_str(), encoding), ("café, déjà vu and other plain words\r\n", Encoding::Latin1));
    assert_eq!(encoding.encode(&text), Ok(bytes));
    assert_eq!(encoding.encode("…"), Err('…'));
}

#[test]
fn damaged_unicode_is_not_taken_for_text() {
    assert_eq!(decode(b"\xff\xfea\0b".to_vec()), Err("damaged UTF-16 text"));
    assert_eq!(decode(b"\xff\xfe\x00\xd8".to_vec()), Err("damaged UTF-16 text"));
    assert_eq!(decode(b"\xef\xbb\xbf\xff".to_vec()), Err("damaged UTF-8 text"));
}

proptest! {
    #[test]
    fn every_text_comes_back(text in "[^\0]{0,60}") {
        for encoding in ALL {
            // Without a mark, a text that opens with one is a marked text.
            prop_assume!(!text.starts_with('\u{feff}'));
            let bytes = encoding.encode(&text).unwrap();
            prop_assert_eq!(decode(bytes), Ok((text.clone(), encoding)));
        }
    }

    #[test]
    fn any_bytes_that_are_text_go_back_unchanged(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        if let Ok((text, encoding)) = decode(bytes.clone()) {
            prop_assert_eq!(encoding.encode(&text), Ok(bytes));
        }
    }
}
