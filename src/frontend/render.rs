//! `axi render`: markdown from a file or a pipe through the renderer of the REPL, as it arrives.

use std::io::{ErrorKind, Read, Write};

use crate::terminal::{Layout, MarkdownStream, Screen};

/// How much is read at once; what arrives slower is printed as it comes.
const CHUNK: usize = 64 * 1024;

/// Where the width of the rows comes from.
#[derive(Debug, Clone, Copy)]
pub enum Width {
    /// The layout's, whatever happens: no terminal, or the person chose it.
    Fixed,
    /// The terminal's, whose columns and rows this tells, asked before each piece of the text.
    Follows(fn() -> (u16, u16)),
}

/// Why a text could not be printed to its end.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// The text could not be read.
    #[error("the text cannot be read: {0}")]
    Read(std::io::Error),
    /// What was made of it could not be written.
    #[error("the rows cannot be written: {0}")]
    Write(std::io::Error),
}

/// Prints everything `source` has. A closed pipe on the way out ends it quietly.
///
/// # Errors
/// [`RenderError`], with what reading or writing said.
pub fn run<W: Write>(
    source: &mut impl Read,
    screen: &mut Screen<W>,
    layout: Layout,
    width: Width,
) -> Result<(), RenderError> {
    let mut stream = MarkdownStream::new(layout);
    let mut bytes = vec![0; CHUNK];
    let mut kept = 0;
    loop {
        let read = match source.read(&mut bytes[kept..]) {
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(RenderError::Read(error)),
        };
        let end = kept + read;
        // A character cut by the end of the chunk waits for its rest; the end of the input has no rest.
        let whole = if read == 0 { end } else { complete(&bytes[..end]) };
        let text = String::from_utf8_lossy(&bytes[..whole]);
        if let Width::Follows(size) = width {
            let (columns, rows) = size();
            screen.resize(columns, rows);
            stream.resize(usable(columns));
        }
        let mut rows = stream.push(&text);
        if read == 0 {
            rows.extend(stream.finish());
        }
        screen.commit_all(&rows);
        if read == 0 {
            screen.end_live();
        } else {
            screen.commit_all(&stream.take_gap());
            let (open, tail) = stream.live();
            screen.live(&open, &crate::terminal::Line::new());
            screen.tail(&tail);
        }
        screen.flush();
        match screen.broken() {
            Some(ErrorKind::BrokenPipe) => return Ok(()),
            Some(kind) => return Err(RenderError::Write(kind.into())),
            None => {}
        }
        if read == 0 {
            return Ok(());
        }
        bytes.copy_within(whole..end, 0);
        kept = end - whole;
    }
}

/// Returns how many cells a row may have on a terminal with that many columns: one less, because terminals disagree
/// about the cursor's position after a full row.
#[must_use]
pub const fn usable(columns: u16) -> usize {
    columns.saturating_sub(1) as usize
}

/// Returns how many bytes end with a whole character (at most three are left over).
fn complete(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to().max(bytes.len().saturating_sub(3)),
        Ok(_) | Err(_) => bytes.len(),
    }
}
