//! Slash commands: one row a command in `table.rs`, the bodies by theme beside it.
//!
//! A body decides and says what to do; the REPL does it. Knows no terminal.

mod bill_words;
mod bodies;
mod chart;
mod compact;
mod context;
mod dev_tools;
mod export;
mod find;
mod jobs;
mod memory;
mod modes;
mod money;
mod outcome;
mod permissions;
mod recall;
mod replay;
mod row;
mod script;
mod script_forms;
mod script_lines;
mod servers;
mod sessions;
mod settings;
mod shell;
mod shell_line;
mod table;
mod trial;
mod trial_patch;
mod undo;
mod user;

pub use bill_words::bill;
pub(crate) use bodies::SAVE;
pub use chart::Chart;
pub use context::{Context, KeyAction, World};
pub use dev_tools::{tools_json, tools_stats, tools_stats_json, tools_text};
pub use export::{ExportForm, export};
pub use find::{find, nearest};
pub use outcome::{Outcome, Problem, SharedLog};
pub use permissions::{describe, rule_error};
pub use recall::recalled_row;
pub use replay::{Replayed, ReplayedFile, replay_page};
pub use row::{Argument, SlashCommand};
pub use script::{Recorded, ScriptForm, script};
pub use servers::{era_word, facts, no_servers, server_failure, state_word, unknown_server};
pub use sessions::{SessionPreviews, session_damage, session_lines, session_problem, session_rows};
pub use shell::{LeftInShells, ShellGoal, left_in_shells};
pub use table::COMMANDS;
pub use trial::{trial_cause, trial_changes, trial_json, trial_page, trial_refused, trial_unapplied};
pub use trial_patch::trial_patch;
pub use user::{CommandSource, Unusable, UnusableCommand, UserCommand, command_body, load_user_commands};
