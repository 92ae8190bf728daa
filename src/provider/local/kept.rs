//! Keys and values of the fixed beginning of every prompt, kept on disk: reading it again would take seconds.
//!
//! The file: eight bytes of name and version, the sizes, the tokens, then keys and values of each layer as `past` writes
//! them, all little-endian. A file that does not fit is no error: the beginning is then read anew.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::network::{Memory, Shape};
use super::past::Past;
use crate::fingerprint::fingerprint;

const NAME: &[u8; 8] = b"axi-kv 2";
/// How many beginnings are kept: a few models and sets of tools.
const MOST: usize = 6;

/// Where the beginnings of one model are kept.
#[derive(Debug, Clone)]
pub(super) struct PrefixCache {
    folder: PathBuf,
    /// Tells models apart: the name of the weights and their size.
    model: String,
}

impl PrefixCache {
    pub(super) fn new(folder: &Path, weights: &Path) -> Self {
        let size = fs::metadata(weights).map_or(0, |metadata| metadata.len());
        let name = weights.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let name: String = name.chars().filter(char::is_ascii_alphanumeric).take(48).collect();
        Self { folder: folder.to_owned(), model: format!("{name}-{size}") }
    }

    fn path(&self, tokens: &[u32]) -> PathBuf {
        // It only tells a handful of files apart: the tokens themselves are compared when one is read.
        let hash = fingerprint(tokens.iter().flat_map(|token| token.to_le_bytes()));
        self.folder.join(format!("{}-{hash:016x}.kv", self.model))
    }

    /// Reads the beginning of these tokens.
    pub(super) fn load(&self, tokens: &[u32], shape: &Shape) -> Option<Memory> {
        let bytes = fs::read(self.path(tokens)).ok()?;
        let head = header(tokens, shape);
        let body = bytes.strip_prefix(head.as_slice())?;
        let heads = tokens.len() * shape.key_heads;
        let layer = Past::size(heads, shape.head);
        if layer == 0 || body.len() != layer * shape.layers * 2 {
            return None;
        }
        let mut layers = body.chunks_exact(layer).map(|written| Past::from_disk(written, heads, shape.head));
        let keys = layers.by_ref().take(shape.layers).collect();
        Some(Memory { keys, values: layers.collect(), length: tokens.len() })
    }

    /// Keeps the first `tokens` of a memory, and forgets the oldest files.
    pub(super) fn save(&self, tokens: &[u32], memory: &Memory, shape: &Shape) -> std::io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let heads = tokens.len() * shape.key_heads;
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(&header(tokens, shape))?;
        for layer in memory.keys.iter().chain(&memory.values) {
            file.write_all(&layer.to_disk(heads, shape.head))?;
        }
        file.persist(self.path(tokens)).map_err(|error| error.error)?;
        self.forget_oldest();
        Ok(())
    }

    fn forget_oldest(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        let mut files: Vec<_> = entries
            .flatten()
            .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "kv"))
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        files.sort();
        let surplus = files.len().saturating_sub(MOST);
        for (_, path) in files.into_iter().take(surplus) {
            if let Err(error) = fs::remove_file(&path) {
                tracing::info!(%error, "an old beginning stays");
            }
        }
    }
}

fn header(tokens: &[u32], shape: &Shape) -> Vec<u8> {
    let sizes = [shape.layers, shape.key_heads, shape.head, tokens.len()];
    let sizes = sizes.iter().flat_map(|size| (*size as u64).to_le_bytes());
    NAME.iter().copied().chain(sizes).chain(tokens.iter().flat_map(|token| token.to_le_bytes())).collect()
}
