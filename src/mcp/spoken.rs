//! What axi says of itself to a server, and the revisions of the protocol that it speaks.

use serde_json::{Value, json};

/// The revision spoken without a session.
pub(super) const STATELESS: &str = "2026-07-28";
/// The newest revision with one.
pub(super) const SESSION: &str = "2025-11-25";

/// Who we are.
pub(super) fn client() -> Value {
    json!({"name": "axi", "version": env!("CARGO_PKG_VERSION")})
}
