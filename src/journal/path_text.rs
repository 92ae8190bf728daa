//! Serializes paths for a line of JSON.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::platform::os::ffi::{OsStrExt as _, OsStringExt as _};

/// A path: as text if it is UTF-8, otherwise as its bytes.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum PathText {
    Text(String),
    Bytes(Vec<u8>),
}

/// Writes a path.
pub(super) fn write_path<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    match path.to_str() {
        Some(text) => text.serialize(serializer),
        None => path.as_os_str().as_bytes().serialize(serializer),
    }
}

/// Reads what [`write_path`] wrote.
pub(super) fn read_path<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    Ok(match PathText::deserialize(deserializer)? {
        PathText::Text(text) => PathBuf::from(text),
        PathText::Bytes(bytes) => PathBuf::from(OsString::from_vec(bytes)),
    })
}
