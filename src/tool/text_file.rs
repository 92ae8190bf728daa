//! A text file in memory: its encoding is known and kept when it is written again.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::path::Path;

use crate::platform::os::fs::{FileTypeExt as _, OpenOptionsExt as _};

use super::file_memory::FileState;
use super::kind::{self, Kind, SAMPLE};
use super::{Roots, output, paths};

/// Files up to this size are loaded whole (bytes); larger ones are read in pieces and cannot be edited.
pub(crate) const WHOLE_LIMIT: u64 = 16 * 1024 * 1024;

/// How a text's characters are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// UTF-8 without a mark.
    Utf8,
    /// UTF-8 behind a byte order mark.
    Utf8Mark,
    /// UTF-16, little end first, behind a byte order mark.
    Utf16Little,
    /// UTF-16, big end first, behind a byte order mark.
    Utf16Big,
    /// ISO 8859-1: every byte is the character of that number; what is not UTF-8 is taken for it.
    Latin1,
}

/// A loaded text file.
pub(crate) struct TextFile {
    /// Its text without byte order mark, line ends as they are.
    pub(crate) text: String,
    /// How it is stored.
    pub(crate) encoding: Encoding,
    /// Its state.
    pub(crate) seen: FileState,
}

impl Encoding {
    /// Names it where a reader should know.
    pub(crate) fn remark(self) -> Option<&'static str> {
        match self {
            Self::Utf8 | Self::Utf8Mark => None,
            Self::Utf16Little => Some("UTF-16 LE"),
            Self::Utf16Big => Some("UTF-16 BE"),
            Self::Latin1 => Some("not UTF-8, read as Latin-1"),
        }
    }

    /// Stores a text.
    ///
    /// # Errors
    /// The first character the encoding does not have.
    pub(crate) fn encode(self, text: &str) -> Result<Vec<u8>, char> {
        match self {
            Self::Utf8 => Ok(text.as_bytes().to_vec()),
            Self::Utf8Mark => Ok([b"\xef\xbb\xbf", text.as_bytes()].concat()),
            Self::Utf16Little => {
                Ok(std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect())
            }
            Self::Utf16Big => {
                Ok(std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_be_bytes).collect())
            }
            Self::Latin1 => text.chars().map(|letter| u8::try_from(letter).map_err(|_| letter)).collect(),
        }
    }
}

/// Takes bytes for text.
///
/// # Errors
/// What they are instead.
pub(crate) fn decode(bytes: Vec<u8>) -> Result<(String, Encoding), &'static str> {
    if let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf") {
        return String::from_utf8(rest.to_vec())
            .map(|text| (text, Encoding::Utf8Mark))
            .map_err(|_| "damaged UTF-8 text");
    }
    for (mark, encoding) in [([0xff, 0xfe], Encoding::Utf16Little), ([0xfe, 0xff], Encoding::Utf16Big)] {
        if let Some(rest) = bytes.strip_prefix(&mark) {
            return utf16(rest, encoding).map(|text| (text, encoding)).ok_or("damaged UTF-16 text");
        }
    }
    match kind::kind(&bytes[..bytes.len().min(SAMPLE)]) {
        Kind::Text => {}
        Kind::Picture(name) | Kind::Binary(name) => return Err(name),
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok((text, Encoding::Utf8)),
        Err(error) => {
            let bytes = error.into_bytes();
            if kind::is_binary(&bytes) {
                return Err("unknown type");
            }
            Ok((bytes.iter().map(|byte| char::from(*byte)).collect(), Encoding::Latin1))
        }
    }
}

fn utf16(bytes: &[u8], encoding: Encoding) -> Option<String> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    let units = pairs.iter().map(|pair| match encoding {
        Encoding::Utf16Big => u16::from_be_bytes(*pair),
        Encoding::Utf16Little | Encoding::Utf8 | Encoding::Utf8Mark | Encoding::Latin1 => u16::from_le_bytes(*pair),
    });
    char::decode_utf16(units).collect::<Result<String, _>>().ok()
}

/// Opens a regular file for reading; never waits on a pipe or a device.
///
/// # Errors
/// The text for the model.
pub(crate) fn open(roots: &Roots, path: &Path) -> Result<(File, Metadata), String> {
    // Without NONBLOCK the open itself would wait for a FIFO's writer.
    let flags = crate::platform::fs::OFlags::NONBLOCK | crate::platform::fs::OFlags::NOCTTY;
    let opened = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path);
    let file = opened.map_err(|error| problem(roots, path, &error))?;
    let metadata = file.metadata().map_err(|error| problem(roots, path, &error))?;
    regular(roots, path, &metadata)?;
    Ok((file, metadata))
}

/// Refuses what is no regular file.
///
/// # Errors
/// The text for the model.
pub(crate) fn regular(roots: &Roots, path: &Path, metadata: &Metadata) -> Result<(), String> {
    let kind = metadata.file_type();
    let what = if kind.is_file() {
        return Ok(());
    } else if kind.is_dir() {
        return Err(format!("{} is a directory; use `list` to see what is in it.", paths::shown(roots, path)));
    } else if kind.is_fifo() {
        "a FIFO"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    };
    Err(format!("{} is {what}, not a regular file; it is not touched.", paths::shown(roots, path)))
}

/// Asks whether a directory can be listed.
///
/// # Errors
/// The text for the model.
pub(crate) fn listed(roots: &Roots, path: &Path) -> Result<(), String> {
    let metadata = path.metadata().map_err(|error| problem(roots, path, &error))?;
    if !metadata.is_dir() {
        return Err(format!("{} is not a directory; use `read`.", paths::shown(roots, path)));
    }
    path.read_dir().map(drop).map_err(|error| problem(roots, path, &error))
}

/// Words an error of the file system.
pub(crate) fn problem(roots: &Roots, path: &Path, error: &io::Error) -> String {
    let shown = paths::shown(roots, path);
    match error.kind() {
        io::ErrorKind::NotFound => paths::missing(roots, path),
        io::ErrorKind::PermissionDenied => format!("{shown}: permission denied."),
        io::ErrorKind::NotADirectory => format!("{shown}: a part of this path is a file, not a directory."),
        // Opening a socket gives ENXIO before its metadata can be asked for.
        _ if path.symlink_metadata().is_ok_and(|metadata| metadata.file_type().is_socket()) => {
            format!("{shown} is a socket, not a regular file; it is not touched.")
        }
        _ => format!("{shown}: {error}"),
    }
}

/// Loads a text file whole.
///
/// # Errors
/// The text for the model: not there, not regular, too large, not text.
pub(crate) fn load(roots: &Roots, path: &Path) -> Result<TextFile, String> {
    let (file, metadata) = open(roots, path)?;
    let mut bytes = Vec::new();
    file.take(WHOLE_LIMIT + 1).read_to_end(&mut bytes).map_err(|error| problem(roots, path, &error))?;
    if bytes.len() as u64 > WHOLE_LIMIT {
        return Err(format!(
            "{} is too large to be changed here ({}); use the shell.",
            paths::shown(roots, path),
            output::size(metadata.len())
        ));
    }
    let seen = FileState::of(&bytes, metadata.modified().ok());
    let length = metadata.len();
    let (text, encoding) = decode(bytes).map_err(|what| {
        format!("{} is a binary file ({what}, {}).", paths::shown(roots, path), output::size(length))
    })?;
    Ok(TextFile { text, encoding, seen })
}

#[cfg(test)]
#[path = "text_file_tests.rs"]
mod tests;
