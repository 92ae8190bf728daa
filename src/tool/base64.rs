//! Standard base64 with padding (RFC 4648 §4), for pictures.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Encodes bytes.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group =
            chunk.iter().fold(0_u32, |group, byte| group << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            if place > chunk.len() {
                text.push('=');
            } else {
                let index = (group >> (18 - 6 * place)) & 63;
                text.push(char::from(ALPHABET[usize::from(index.to_le_bytes()[0])]));
            }
        }
    }
    text
}

/// Decodes a text; line breaks in it are passed over. `None` where it is not base64.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let written: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    if !written.len().is_multiple_of(4) {
        return None;
    }
    let digits = written.iter().rposition(|byte| *byte != b'=').map_or(0, |last| last + 1);
    if written.len() - digits > 2 {
        return None;
    }
    let mut bytes = Vec::with_capacity(digits / 4 * 3 + 3);
    for chunk in written[..digits].chunks(4) {
        let mut group = 0;
        for place in 0..4 {
            let digit = match chunk.get(place) {
                Some(byte) => ALPHABET.iter().position(|known| known == byte)?,
                None => 0,
            };
            group = group << 6 | u32::try_from(digit).ok()?;
        }
        let [_, decoded @ ..] = group.to_be_bytes();
        bytes.extend_from_slice(&decoded[..chunk.len() - 1]);
    }
    Some(bytes)
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
