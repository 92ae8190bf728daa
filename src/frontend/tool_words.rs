//! What is said of each tool of axi's own: while it runs, when it is done, before it may. One row a tool; a tool of
//! somebody else's is called by its name. Pure.

use crate::locale::word::{activity, approve::question, title};
use crate::locale::{Filled, Message, Word};

/// What a tool is doing with `what`; `None` for one that axi has no words for.
pub(super) fn doing<'a>(tool: &str, what: &'a str) -> Option<Filled<'a>> {
    Some(match tool {
        "shell" => activity::tool::Shell { what }.filled(),
        "read" => activity::tool::Read { what }.filled(),
        "write" => activity::tool::Write { what }.filled(),
        "edit" => activity::tool::Edit { what }.filled(),
        "multi_edit" => activity::tool::MultiEdit { what }.filled(),
        "apply_patch" => activity::tool::ApplyPatch { what }.filled(),
        "mkdir" => activity::tool::Mkdir { what }.filled(),
        "move" => activity::tool::Move { what }.filled(),
        "delete" => activity::tool::Delete { what }.filled(),
        "web_fetch" => activity::tool::WebFetch { what }.filled(),
        "terminal" => activity::tool::Terminal { what }.filled(),
        "glob" => activity::tool::Glob { what }.filled(),
        "grep" => activity::tool::Grep { what }.filled(),
        "list" => activity::tool::List { what }.filled(),
        _ => return None,
    })
}

/// What a tool has done with `what`, which may be empty; `None` where there are no words for that.
pub(super) fn done<'a>(tool: &str, what: &'a str) -> Option<Filled<'a>> {
    Some(match tool {
        "shell_job" => title::SHELL_JOB.filled(),
        "todo" => title::TODO.filled(),
        "ask_user" => title::ASK_USER.filled(),
        _ if what.is_empty() => return None,
        "shell" => title::Shell { what }.filled(),
        "read" => title::Read { what }.filled(),
        "write" => title::Write { what }.filled(),
        "edit" => title::Edit { what }.filled(),
        "multi_edit" => title::MultiEdit { what }.filled(),
        "apply_patch" => title::ApplyPatch { what }.filled(),
        "mkdir" => title::Mkdir { what }.filled(),
        "move" => title::Move { what }.filled(),
        "delete" => title::Delete { what }.filled(),
        "web_fetch" => title::WebFetch { what }.filled(),
        "terminal" => title::Terminal { what }.filled(),
        "glob" => title::Glob { what }.filled(),
        "grep" => title::Grep { what }.filled(),
        "list" => title::List { what }.filled(),
        "explore" => title::Explore { what }.filled(),
        _ => return None,
    })
}

/// The question whether a tool may; `None` for one that axi has no words for.
pub(super) fn may(tool: &str) -> Option<Word> {
    Some(match tool {
        "shell" => question::SHELL,
        "write" => question::WRITE,
        "edit" => question::EDIT,
        "multi_edit" => question::MULTI_EDIT,
        "apply_patch" => question::APPLY_PATCH,
        "mkdir" => question::MKDIR,
        "move" => question::MOVE,
        "delete" => question::DELETE,
        "web_fetch" => question::WEB_FETCH,
        "terminal" => question::TERMINAL,
        _ => return None,
    })
}
