//! Standard base64 with padding (RFC 4648 §4), for pictures.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Encodes bytes.
pub(crate) fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Decodes a text; line breaks in it are passed over. `None` where it is not base64.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let written: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    STANDARD.decode(written).ok()
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};

    #[test]
    fn the_examples_of_the_rfc() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(encode(bytes.as_bytes()), text);
            assert_eq!(decode(text).as_deref(), Some(bytes.as_bytes()));
        }
        for wrong in ["Z", "Zg=", "Zg===", "====", "Z===", "Zm9%", "Zg==Zg=="] {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
        assert_eq!(decode("Zm9v\nYmFy\n").as_deref(), Some(&b"foobar"[..]));
        assert_eq!(encode(&[0xff, 0xfe, 0x00]), "//4A");
    }
}
