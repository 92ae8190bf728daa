//! What holds the messages of a session's file while its lines are read.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::entry::{EntryKind, ReadLine, read_line};
use crate::conversation::Message;
use crate::platform::os::fs::FileExt as _;

/// The position of a line in its file.
#[derive(Clone, Copy)]
pub(super) struct Position<'a> {
    pub(super) path: &'a Path,
    pub(super) offset: u64,
    /// The length of the line with its newline, in bytes.
    pub(super) length: u64,
}

/// What holds the messages of a file while it is read.
pub(super) trait Holder {
    /// Makes an empty holder.
    fn anew(&self) -> Self;
    /// Takes in a line without parsing all of it. Returns false if the caller must parse the line.
    fn line(&mut self, line: &[u8], position: Position<'_>) -> bool;
    /// Takes in a message that the caller parsed.
    fn message(&mut self, message: Message, position: Position<'_>);
    /// Answers the calls that a crash left open.
    fn close(&mut self);
    /// Goes back to so many messages, as [`crate::conversation::Conversation::rewind`] does.
    fn rewind(&mut self, messages: usize);
    /// How many messages there are.
    fn count(&self) -> usize;
}

/// The files in which held lines stand.
#[derive(Default)]
pub(super) struct Files(Vec<PathBuf>);

impl Files {
    pub(super) fn number(&mut self, path: &Path) -> usize {
        let known = self.0.iter().position(|known| known == path);
        known.unwrap_or_else(|| {
            self.0.push(path.to_owned());
            self.0.len() - 1
        })
    }

    pub(super) fn open(&self) -> std::io::Result<Vec<File>> {
        self.0.iter().map(File::open).collect()
    }
}

/// The position of a line whose text is not held.
pub(super) struct Line {
    pub(super) file: usize,
    pub(super) offset: u64,
    /// In bytes.
    pub(super) length: u64,
}

impl Line {
    /// Reads the line's message. `None` if the line is no message, or a part of it is not understood.
    pub(super) fn read(&self, files: &[File]) -> Option<Message> {
        match read_line(&self.bytes(files.get(self.file)?)?) {
            ReadLine::Whole(EntryKind::Message { message }) => Some(message),
            ReadLine::Whole(_) | ReadLine::Part(_) | ReadLine::Nothing => None,
        }
    }

    /// Reads the line as it stands in its file.
    pub(super) fn bytes(&self, file: &File) -> Option<Vec<u8>> {
        let mut line = vec![0; usize::try_from(self.length).ok()?];
        file.read_exact_at(&mut line, self.offset).ok()?;
        Some(line)
    }
}
