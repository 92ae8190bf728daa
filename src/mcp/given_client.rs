//! The program as which axi signs in to a server, where the person made it known there.

/// A program that the person made known themselves.
#[derive(Clone, PartialEq, Eq)]
pub struct GivenClient {
    /// Its name at the authority, or an `https` address that says what it is.
    pub id: String,
    /// What it proves itself with, as it was written, variables in it not filled in.
    pub secret: Option<String>,
}

impl std::fmt::Debug for GivenClient {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("GivenClient").field("id", &self.id).finish_non_exhaustive()
    }
}
