//! The line a person types on: editing, history, menus, ghost text, pastes.
//!
//! It knows no agent, command, model or session: commands come in as plain data ([`CommandMenu`]), what was typed
//! goes out as text ([`ReadOutcome`]).

mod attach;
mod bindings;
mod burst;
mod clipboard;
mod command_arguments;
mod command_menu;
mod draft_file;
mod drafts;
mod dropped;
mod edit_mode;
mod editor;
mod editor_read;
mod escape;
mod feedback;
mod file_index;
mod file_ranking;
mod ghost;
mod git_index;
mod highlighter;
mod hinter;
mod history;
mod history_compact;
mod history_file;
mod history_lines;
mod history_older;
mod history_search;
mod kick;
mod late_up;
mod mention;
mod menu;
mod menu_lists;
mod outcomes;
mod outside;
mod pager;
mod paste;
mod plain;
mod plan;
mod prompt;
pub mod run;
mod secret;
mod session_words;
mod shell_guess;
mod shell_line;
pub mod show;
mod sources;
mod state;
mod suggest;
mod turns;
mod user_commands;

pub use attach::{AttachFact, AttachOptions, Attachments, Refusal, attach};
pub use bindings::{ACTIONS, KeyAction, KeyBinding, KeyError, parse_binding};
pub use clipboard::{Clipboard, NoPicture};
pub use command_menu::{Arguments, Candidate, Candidates, CommandEntry, CommandMenu};
pub use drafts::Drafts;
pub use editor::{EditStyle, Editor, EditorOptions, EditorWords, Foreground, ReadOutcome};
pub use feedback::read_words;
pub use history::HistoryOptions;
pub use history_file::recent_lines;
pub use menu_lists::{ListedModel, ListedSession, MenuLists, MenuSources, ModelGroup};
pub use plain::read_line;
pub use prompt::PromptParts;
pub use suggest::{Exchange, Suggest, SuggestTiming, Wanted};
pub use user_commands::UserCommands;
