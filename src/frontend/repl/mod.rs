//! The line a person types on: editing, history, menus, ghost text, pastes; and the loop that reads one line after the
//! other.
//!
//! Only `run` knows the agent, its commands, model and session: to the other rooms commands come in as plain data
//! ([`CommandMenu`]), what was typed goes out as text ([`ReadOutcome`]). From the bottom: `drafts`, `line`, then
//! `history` and `files`, `menu` and `ghost`, `editor`, `run`.

mod drafts;
mod editor;
mod files;
mod ghost;
mod history;
mod line;
mod menu;
mod run;

pub use super::prompt::PromptParts;
pub use drafts::Drafts;
pub use editor::{
    ACTIONS, EditStyle, Editor, EditorOptions, EditorWords, Foreground, KeyAction, KeyBinding, KeyError,
    ReadOutcome, parse_binding,
};
pub use files::{AttachFact, AttachOptions, Attachments, Clipboard, NoPicture, Refusal, attach};
pub use ghost::{Exchange, Suggest, SuggestTiming, Wanted};
pub use history::{HistoryOptions, SentLine, recent_lines, sent_lines};
pub use menu::{
    Arguments, Candidate, Candidates, CommandEntry, CommandMenu, ListedModel, ListedSession, MenuLists,
    MenuSources, ModelGroup, ServerMenu,
};
pub use run::{
    NewSession, ReloadSettings, Reloaded, Repl, ReplParts, ResumeSession, SetUpAgain, ShellLines, UserCommands,
    editor_words,
};
