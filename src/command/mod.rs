//! Slash commands: one row a command, the bodies by theme.
