//! The line to a program that is the client: what it sends, line by line, and what it is sent. Knows no method. From the
//! bottom: `lines`, `client`.

mod client;
mod lines;
mod plain;

pub(super) use client::{Client, Lines, Reply, wait};
pub(super) use lines::{Heard, read_lines};
