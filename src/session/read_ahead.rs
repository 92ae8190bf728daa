//! Reads a long file on a thread of its own, some pieces ahead of who takes them: what is waited for is the reading of
//! lines alone.

use std::io::{self, BufRead, Read};
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};

/// How much is read at once, in bytes.
const PIECE: usize = 256 * 1024;
/// How many pieces may wait to be taken.
const MOST_WAITING: usize = 4;

pub(super) struct ReadAhead {
    pieces: Receiver<io::Result<Vec<u8>>>,
    /// Where pieces that were taken go to be filled again.
    taken: Sender<Vec<u8>>,
    piece: Vec<u8>,
    /// How much of the piece was taken.
    at: usize,
}

impl ReadAhead {
    /// Begins to read. The thread ends with the file, or when nobody takes its pieces any more.
    ///
    /// # Errors
    /// If there can be no thread.
    pub(super) fn begin(mut file: impl Read + Send + 'static) -> io::Result<Self> {
        let (filled, pieces) = sync_channel(MOST_WAITING);
        let (taken, again) = channel::<Vec<u8>>();
        std::thread::Builder::new().spawn(move || {
            loop {
                let mut piece = again.try_recv().unwrap_or_default();
                piece.resize(PIECE, 0);
                let read = file.read(&mut piece).map(|length| {
                    piece.truncate(length);
                    piece
                });
                let is_last = read.as_ref().is_ok_and(Vec::is_empty);
                if filled.send(read).is_err() || is_last {
                    return;
                }
            }
        })?;
        Ok(Self { pieces, taken, piece: Vec::new(), at: 0 })
    }
}

impl BufRead for ReadAhead {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.piece.len()
            && let Ok(next) = self.pieces.recv()
        {
            let taken = std::mem::replace(&mut self.piece, next?);
            self.at = 0;
            // A thread that has read all fills none any more.
            let _ = self.taken.send(taken);
        }
        Ok(&self.piece[self.at..])
    }

    fn consume(&mut self, amount: usize) {
        self.at += amount;
    }
}

impl Read for ReadAhead {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = self.fill_buf()?.read(into)?;
        self.consume(length);
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_comes_once_and_in_order() {
        for length in [0, 1, PIECE - 1, PIECE, PIECE + 1, PIECE * (MOST_WAITING + 3) + 17] {
            let bytes: Vec<u8> = (0..length).map(|at| u8::try_from(at % 251).unwrap()).collect();
            let mut read = Vec::new();
            ReadAhead::begin(io::Cursor::new(bytes.clone())).unwrap().read_to_end(&mut read).unwrap();
            assert!(read == bytes, "{length}");
        }
    }

    #[test]
    fn an_error_is_told_where_it_happened() {
        struct Fails(usize);
        impl Read for Fails {
            fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
                self.0 += 1;
                if self.0 == 2 { Err(io::ErrorKind::InvalidData.into()) } else { Ok(into.len()) }
            }
        }
        let mut ahead = ReadAhead::begin(Fails(0)).unwrap();
        assert_eq!(ahead.fill_buf().unwrap().len(), PIECE);
        ahead.consume(PIECE);
        assert_eq!(ahead.fill_buf().unwrap_err().kind(), io::ErrorKind::InvalidData);
        // Left in the middle: the thread ends, because nobody takes what it reads.
        assert_eq!(ahead.fill_buf().unwrap().len(), PIECE);
    }
}
