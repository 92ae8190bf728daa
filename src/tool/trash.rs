//! The trash that a call shares with whoever keeps what commands remove.

use std::sync::{Arc, Mutex};

use crate::journal::Trash;

/// What is shared between the agent and the thread that answers.
pub type SharedTrash = Arc<Mutex<Trash>>;
