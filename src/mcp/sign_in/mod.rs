//! Signing in to a server behind an address: OAuth 2.1 as the revision 2026-07-28 of the protocol wants it (Authorization), from
//! a 401 to a token that is kept, sent to that server alone, and made anew when it is refused.
//!
//! Opens no browser and knows no keychain: it gives the address to open, and a [`TokenStore`] keeps the token. From the
//! bottom: `error`, then `web`, `challenge` and `redirect`, then `discovery`, `client`, `grant`, and `flow` and `pass` above them.
//!
//! Our own and not the crates oauth2 or rmcp: what they do is to draw two random texts and to read one answer. What
//! matters here (who is believed about what, RFC 8414, 8707, 9207, 9728) the first does not know, and the second only
//! for connections of its own.

mod challenge;
mod client;
mod discovery;
mod error;
mod flow;
mod grant;
mod pass;
mod redirect;
mod web;

pub(super) use challenge::Challenge;
pub use error::SignInError;
pub(super) use flow::{Asked, begin};
pub use flow::{Pages, SignIn};
pub(super) use grant::account;
pub(super) use pass::{NoTokens, Pass};
pub(super) use web::MakeClient;

/// Keeps tokens of servers where nobody else reads them. Asked on a thread that may wait.
pub trait TokenStore: Send + Sync {
    /// Finds what is kept under a name.
    fn find(&self, account: &str) -> Option<String>;

    /// Keeps a text under a name, where the one before was kept.
    ///
    /// # Errors
    /// Why it cannot be kept, without the text.
    fn keep(&self, account: &str, text: &str) -> Result<(), String>;

    /// Forgets what is kept under a name.
    ///
    /// # Errors
    /// Why it cannot be forgotten.
    fn forget(&self, account: &str) -> Result<Forgotten, String>;

    /// Waits until no other axi makes a token anew, and keeps the others waiting as long as the file is open; nothing
    /// where there is no place for such a file.
    fn alone(&self) -> Option<std::fs::File>;
}

/// What was forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Forgotten {
    /// There was nothing.
    Nothing,
    /// All there was.
    All,
    /// What was found; there may be more where nobody answers.
    Perhaps {
        /// Why nobody knows.
        cause: String,
    },
}
