//! Reading the sessions of other agents: their files stay as they are, what they say becomes a conversation.

mod claude;
mod codex;
mod talk;

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::conversation::Conversation;
use talk::Talk;

/// The longest line that is read, in bytes.
const LONGEST: u64 = 256 * 1024 * 1024;

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Foreign {
    /// Claude Code's.
    ClaudeCode,
    /// codex's.
    Codex,
}

/// What another agent's session came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// Whose it was.
    pub from: Foreign,
    /// The directory it ran in; empty where it does not say.
    pub directory: PathBuf,
    /// The model it says last; may be empty.
    pub model: String,
    /// What was said, repaired.
    pub conversation: Conversation,
    /// Lines that are no JSON.
    pub skipped: usize,
}

/// Why a file could not be imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The system said no.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// Nothing in it is a message of a known kind.
    #[error("no session of a known agent")]
    Unknown,
}

/// Reads a session of Claude Code or codex, whichever it is.
///
/// # Errors
/// [`ImportError`].
pub fn import(path: &Path) -> Result<Imported, ImportError> {
    let mut branch = claude::Branch::default();
    each_line(path, |value| value.iter().for_each(|line| branch.note(line)))?;
    branch.close();
    let (mut talk, mut skipped) = (Talk::default(), 0);
    let (mut claude, mut codex) = (0_usize, 0_usize);
    each_line(path, |line| match line {
        Some(value) if codex::read(&value, &mut talk) => codex += 1,
        Some(value) if claude::read(&value, &branch, &mut talk) => claude += 1,
        Some(_) => {}
        None => skipped += 1,
    })?;
    let Talk { directory, model, messages } = talk;
    let conversation = Conversation::restore(messages);
    if conversation.messages().is_empty() {
        return Err(ImportError::Unknown);
    }
    let from = if codex > claude { Foreign::Codex } else { Foreign::ClaudeCode };
    Ok(Imported { from, directory, model, conversation, skipped })
}

/// Hands each line of a file on that is not empty; `None` for one that is no JSON.
fn each_line(path: &Path, mut take: impl FnMut(Option<Value>)) -> std::io::Result<()> {
    let mut reader = BufReader::new(File::open(path)?);
    let mut line = Vec::new();
    loop {
        line.clear();
        if Read::by_ref(&mut reader).take(LONGEST).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_start_matches('\u{feff}').trim();
        if !text.is_empty() {
            take(serde_json::from_str(text).ok());
        }
    }
}

#[cfg(test)]
#[path = "import_tests.rs"]
mod tests;
