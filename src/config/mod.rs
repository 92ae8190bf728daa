//! Settings: read in layers, written without losing comments.
