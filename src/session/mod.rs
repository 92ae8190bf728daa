//! What is kept of a conversation: an append-only file a session.
