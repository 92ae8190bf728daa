//! Compressed answers: some proxies compress although the request asks for plain bytes.

use std::io::Write as _;

use flate2::write::{GzDecoder, ZlibDecoder};

/// Takes the compression off an answer, piece by piece.
#[derive(Debug)]
pub(super) enum Unpacking {
    Plain,
    Gzip(Box<GzDecoder<Vec<u8>>>),
    Zlib(Box<ZlibDecoder<Vec<u8>>>),
    /// A compression we do not know, by its name.
    Unknown(String),
}

/// The bytes are damaged, or compressed in a way that axi does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NotUnpacked(pub(super) String);

impl Unpacking {
    /// Chooses by the `content-encoding` of the answer.
    pub(super) fn of(encoding: Option<&str>) -> Self {
        match encoding.unwrap_or_default().trim().to_ascii_lowercase().as_str() {
            "" | "identity" => Self::Plain,
            "gzip" | "x-gzip" => Self::Gzip(Box::new(GzDecoder::new(Vec::new()))),
            "deflate" => Self::Zlib(Box::new(ZlibDecoder::new(Vec::new()))),
            other => Self::Unknown(other.chars().filter(char::is_ascii_graphic).take(20).collect()),
        }
    }

    /// Takes the next bytes of the body and returns what they unpack to, possibly nothing yet.
    pub(super) fn take(&mut self, bytes: Vec<u8>) -> Result<Vec<u8>, NotUnpacked> {
        let damaged = |_| NotUnpacked("the compressed answer is damaged".to_owned());
        match self {
            Self::Plain => Ok(bytes),
            Self::Gzip(decoder) => {
                decoder.write_all(&bytes).and_then(|()| decoder.flush()).map_err(damaged)?;
                Ok(std::mem::take(decoder.get_mut()))
            }
            Self::Zlib(decoder) => {
                decoder.write_all(&bytes).and_then(|()| decoder.flush()).map_err(damaged)?;
                Ok(std::mem::take(decoder.get_mut()))
            }
            Self::Unknown(name) => {
                Err(NotUnpacked(format!("the answer came compressed ({name}) though it was asked for plain")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::{GzEncoder, ZlibEncoder};

    use super::*;

    #[test]
    fn packed_answers_are_unpacked_however_they_are_cut() {
        let text = "data: {\"a\":1}\n\n".repeat(300);
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(text.as_bytes()).unwrap();
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
        zlib.write_all(text.as_bytes()).unwrap();
        for (name, packed) in [("gzip", gzip.finish().unwrap()), ("deflate", zlib.finish().unwrap())] {
            for size in [1, 7, packed.len()] {
                let mut unpacking = Unpacking::of(Some(name));
                let pieces = packed.chunks(size).map(|piece| unpacking.take(piece.to_vec()).unwrap());
                assert_eq!(pieces.collect::<Vec<_>>().concat(), text.as_bytes(), "{name} by {size}");
            }
        }
    }

    #[test]
    fn what_was_flushed_comes_at_once() {
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(b"data: 1\n\n").unwrap();
        packed.flush().unwrap();
        let mut unpacking = Unpacking::of(Some("GZIP"));
        assert_eq!(unpacking.take(packed.get_ref().clone()).unwrap(), b"data: 1\n\n");
    }

    #[test]
    fn other_packings_and_damage_are_named() {
        let told = |encoding, bytes: &[u8]| Unpacking::of(Some(encoding)).take(bytes.to_vec()).unwrap_err().0;
        assert!(told("br", b"x").contains("(br)"));
        assert!(told("gzip", b"no gzip at all").contains("damaged"));
        assert_eq!(Unpacking::of(Some("identity")).take(b"x".to_vec()).unwrap(), b"x");
        assert_eq!(Unpacking::of(None).take(b"x".to_vec()).unwrap(), b"x");
    }
}
