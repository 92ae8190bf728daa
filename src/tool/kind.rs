//! What kind of file some bytes are: pictures a model can see, well-known binaries, text or not. Pure.

/// How many bytes from the start decide; the same as git's and ripgrep's first look.
pub(crate) const SAMPLE: usize = 8192;

/// What the first bytes say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Text in some encoding.
    Text,
    /// A picture of this media type.
    Picture(&'static str),
    /// Something else, with a name for it.
    Binary(&'static str),
}

/// Magic numbers, from the formats' own documents; `file(1)` knows the same.
const BINARIES: &[(&[u8], &str)] = &[
    (b"\x7fELF", "ELF program or library"),
    (b"MZ\x90\0", "Windows program"),
    (b"\xcf\xfa\xed\xfe", "Mach-O program"),
    (b"\xca\xfe\xba\xbe", "Java class or universal Mach-O"),
    (b"PK\x03\x04", "zip archive or office document"),
    (b"\x1f\x8b", "gzip archive"),
    (b"\x28\xb5\x2f\xfd", "zstd archive"),
    (b"\xfd7zXZ\0", "xz archive"),
    (b"7z\xbc\xaf\x27\x1c", "7z archive"),
    (b"%PDF-", "PDF document"),
    (b"SQLite format 3\0", "SQLite database"),
    (b"\0asm", "WebAssembly module"),
    (b"OggS", "Ogg sound or video"),
    (b"ID3", "MP3 sound"),
    (b"BM", "BMP picture"),
    (b"II*\0", "TIFF picture"),
    (b"MM\0*", "TIFF picture"),
];

/// Looks at the start of a file, at most [`SAMPLE`] bytes of it.
pub(crate) fn kind(sample: &[u8]) -> Kind {
    if let Some(media_type) = picture(sample) {
        return Kind::Picture(media_type);
    }
    if sample.starts_with(&[0xff, 0xfe]) || sample.starts_with(&[0xfe, 0xff]) || !is_binary(sample) {
        // "BM" and "ID3" may open a text, so that only what is binary anyway gets a name.
        return if sample.starts_with(b"%PDF-") { Kind::Binary("PDF document") } else { Kind::Text };
    }
    let name =
        BINARIES.iter().find(|(magic, _)| sample.starts_with(magic)).map_or("unknown type", |(_, name)| name);
    Kind::Binary(name)
}

fn picture(sample: &[u8]) -> Option<&'static str> {
    if sample.starts_with(b"\x89PNG\r\n\x1a\n") {
        Some("image/png")
    } else if sample.starts_with(b"\xff\xd8\xff") {
        Some("image/jpeg")
    } else if sample.starts_with(b"GIF87a") || sample.starts_with(b"GIF89a") {
        Some("image/gif")
    } else if sample.starts_with(b"RIFF") && sample.get(8..12) == Some(b"WEBP") {
        Some("image/webp")
    } else {
        None
    }
}

/// Tells whether bytes are no text: there is a NUL, or there are too many control characters that are no UTF-8.
pub(crate) fn is_binary(sample: &[u8]) -> bool {
    if sample.contains(&0) {
        return true;
    }
    let invalid = match std::str::from_utf8(sample) {
        Ok(_) => return false,
        // A character that the end of the sample cuts does not count as wrong.
        Err(error) if error.error_len().is_none() => return false,
        Err(_) => sample.utf8_chunks().map(|chunk| chunk.invalid().len()).sum::<usize>(),
    };
    let control = sample.iter().filter(|byte| **byte < 0x20 && !b"\t\n\r\x0c\x1b\x08".contains(byte)).count();
    // Latin-1 prose has no control characters and few high bytes; compressed data has a tenth of the one
    // and half of the other.
    control * 50 > sample.len() || invalid * 3 > sample.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_by_their_first_bytes() {
        assert_eq!(kind(b""), Kind::Text);
        assert_eq!(kind("né\n".as_bytes()), Kind::Text);
        assert_eq!(kind(b"caf\xe9 au lait, d\xe9j\xe0 vu, and more plain words\n"), Kind::Text);
        assert_eq!(kind(&[0xff, 0xfe, b'a', 0]), Kind::Text);
        assert_eq!(kind(b"\x89PNG\r\n\x1a\n...."), Kind::Picture("image/png"));
        assert_eq!(kind(b"\xff\xd8\xff\xe0"), Kind::Picture("image/jpeg"));
        assert_eq!(kind(b"GIF89a"), Kind::Picture("image/gif"));
        assert_eq!(kind(b"RIFF....WEBPVP8 "), Kind::Picture("image/webp"));
        assert_eq!(kind(b"\x7fELF\x02\x01\x01\0"), Kind::Binary("ELF program or library"));
        assert_eq!(kind(b"a\0b"), Kind::Binary("unknown type"));
        assert_eq!(kind(b"BMW builds cars"), Kind::Text);
    }

    #[test]
    fn a_character_cut_by_the_sample_is_text() {
        assert!(!is_binary(&"é".as_bytes()[..1]));
    }
}
