//! Colours code: a light reader of words, strings, numbers and comments, with a table of languages.
//!
//! The choice was made by measuring: syntect needs 62 to 72 ms of CPU to compile patterns before its first row, and
//! then reads a quarter of a megabyte a second. Colours must be ready together with the row, and must not depend on
//! time, or the same text would not give the same rows. This reader has no start-up cost and takes a few
//! nanoseconds a byte; it knows words, not grammar.

mod highlighter;
mod language;
mod languages;
mod markup;
mod open;
mod painter;

pub use highlighter::Highlighter;
