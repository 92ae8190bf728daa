//! Stand-ins for secrets: what a model, a file or a log would have of one, and the way back.

use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt::Write as _;
use std::sync::{Mutex, OnceLock, PoisonError};

use ring::hmac;

use super::form::{DIGITS, START, digits};
use super::{Known, Level, find, find_known};

/// Which secrets are stood in for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kinds {
    /// Exact values of variables and files whose names say that they are secret.
    pub known: bool,
    /// What looks like a secret.
    pub shapes: bool,
}

/// Gets the key that stand-ins are made with, when the first one is.
pub type MakeKey = Box<dyn Fn() -> [u8; 32] + Send + Sync>;

/// Stands in for secrets, always by the same text for the same one, and knows which is which.
pub struct StandIns {
    known: Mutex<Known>,
    kinds: Kinds,
    key: OnceLock<hmac::Key>,
    make_key: MakeKey,
    secrets: Mutex<HashMap<String, String>>,
}

impl StandIns {
    /// Stands in for these values beside what [`find`] finds. The key makes the stand-ins: who does not have it learns
    /// nothing of a secret from them.
    #[must_use]
    pub fn new(known: Known, kinds: Kinds, make_key: MakeKey) -> Self {
        let (known, secrets) = (Mutex::new(known), Mutex::default());
        Self { known, kinds, key: OnceLock::new(), make_key, secrets }
    }

    /// Stands in for nothing.
    #[must_use]
    pub fn none() -> Self {
        Self::new(Known::default(), Kinds { known: false, shapes: false }, Box::new(|| [0; 32]))
    }

    /// Stands in for these values, too.
    pub fn learn(&self, values: impl IntoIterator<Item = String>) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).add(values);
    }

    /// Puts stand-ins for the secrets of a text; tells how many there were. None where nothing is stood in for.
    #[must_use]
    pub fn hide(&self, text: &str) -> Option<(String, usize)> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let found = match self.kinds {
            Kinds { known: false, shapes: false } => return None,
            Kinds { known: true, shapes: true } => find(text, &known, Level::Kept),
            Kinds { known: false, shapes: true } => find(text, &Known::default(), Level::Kept),
            Kinds { known: true, shapes: false } => find_known(text, &known),
        };
        drop(known);
        if found.is_empty() {
            return None;
        }
        let mut secrets = self.secrets.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut hidden, mut written) = (String::with_capacity(text.len()), 0);
        for range in &found {
            let secret = &text[range.clone()];
            let stand_in = self.stand_in(secret);
            hidden.push_str(&text[written..range.start]);
            hidden.push_str(&stand_in);
            secrets.entry(stand_in).or_insert_with(|| secret.to_owned());
            written = range.end;
        }
        hidden.push_str(&text[written..]);
        Some((hidden, found.len()))
    }

    /// Puts the secrets of a text back.
    ///
    /// # Errors
    /// The first stand-in whose secret is not known here: the one who wrote it is told, and nothing is done with it.
    pub fn reveal(&self, text: &str) -> Result<String, String> {
        replaced(text, |stand_in| self.secret(stand_in).ok_or_else(|| stand_in.to_owned()))
    }

    /// Puts back those secrets of a text that are in what was `said`.
    #[must_use]
    pub fn reveal_said(&self, text: &str, said: &str) -> String {
        let secret = |stand_in: &str| self.secret(stand_in).filter(|secret| said.contains(secret));
        let Ok(text): Result<_, Infallible> =
            replaced(text, |stand_in| Ok(secret(stand_in).unwrap_or_else(|| stand_in.to_owned())));
        text
    }

    fn secret(&self, stand_in: &str) -> Option<String> {
        let secrets = self.secrets.lock().unwrap_or_else(PoisonError::into_inner);
        // An earlier axi made it of a value that is still known.
        secrets.get(stand_in).cloned().or_else(|| self.known_as(stand_in))
    }

    fn known_as(&self, stand_in: &str) -> Option<String> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.now().iter().find(|value| self.stand_in(value) == stand_in).map(str::to_owned)
    }

    fn stand_in(&self, secret: &str) -> String {
        let key = self.key.get_or_init(|| hmac::Key::new(hmac::HMAC_SHA256, &(self.make_key)()));
        let tag = hmac::sign(key, secret.as_bytes());
        let mut stand_in = START.to_owned();
        for byte in tag.as_ref().iter().take(DIGITS / 2) {
            // Writing to a String cannot fail.
            let _ = write!(stand_in, "{byte:02x}");
        }
        stand_in
    }
}

/// Puts something in the place of each stand-in.
fn replaced<E>(text: &str, mut with: impl FnMut(&str) -> Result<String, E>) -> Result<String, E> {
    let (mut written, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find(START) {
        let end = at + START.len() + digits(&rest[at + START.len()..]);
        written.push_str(&rest[..at]);
        if end == at + START.len() + DIGITS {
            written.push_str(&with(&rest[at..end])?);
        } else {
            written.push_str(&rest[at..end]);
        }
        rest = &rest[end..];
    }
    written.push_str(rest);
    Ok(written)
}

impl std::fmt::Debug for StandIns {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("StandIns")
    }
}
