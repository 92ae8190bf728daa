//! The words for each tool: before it may run, while it runs, when it is done. Each verb has one row; a tool
//! without words is called by its name. Pure.

use crate::conversation::ToolVerb;
use crate::locale::word::{activity, approve::question, title};
use crate::locale::{Filled, Message, Word};

/// What a tool is doing with `what`; `None` where there are no words for that.
pub(super) fn doing(verb: ToolVerb, what: &str) -> Option<Filled<'_>> {
    Some(match verb {
        ToolVerb::Delete => activity::tool::Delete { what }.filled(),
        ToolVerb::Edit => activity::tool::Edit { what }.filled(),
        ToolVerb::Fetch => activity::tool::Fetch { what }.filled(),
        ToolVerb::FindFiles => activity::tool::FindFiles { what }.filled(),
        ToolVerb::List => activity::tool::List { what }.filled(),
        ToolVerb::MakeDirectory => activity::tool::MakeDirectory { what }.filled(),
        ToolVerb::Move => activity::tool::Move { what }.filled(),
        ToolVerb::Patch => activity::tool::Patch { what }.filled(),
        ToolVerb::Read => activity::tool::Read { what }.filled(),
        ToolVerb::Run => activity::tool::Run { what }.filled(),
        ToolVerb::Search => activity::tool::Search { what }.filled(),
        ToolVerb::UseTerminal => activity::tool::UseTerminal { what }.filled(),
        ToolVerb::Write => activity::tool::Write { what }.filled(),
        ToolVerb::Ask
        | ToolVerb::Call
        | ToolVerb::Explore
        | ToolVerb::LookAfterJobs
        | ToolVerb::Plan
        | ToolVerb::Propose => return None,
    })
}

/// What a tool has done with `what`, which may be empty; `None` where there are no words for that.
pub(super) fn done(verb: ToolVerb, what: &str) -> Option<Filled<'_>> {
    let alone = matches!(verb, ToolVerb::Ask | ToolVerb::LookAfterJobs | ToolVerb::Plan);
    if what.is_empty() && !alone {
        return None;
    }
    Some(match verb {
        ToolVerb::Ask => title::ASK.filled(),
        ToolVerb::LookAfterJobs => title::LOOK_AFTER_JOBS.filled(),
        ToolVerb::Plan => title::PLAN.filled(),
        ToolVerb::Call | ToolVerb::Propose => return None,
        ToolVerb::Delete => title::Delete { what }.filled(),
        ToolVerb::Edit => title::Edit { what }.filled(),
        ToolVerb::Explore => title::Explore { what }.filled(),
        ToolVerb::Fetch => title::Fetch { what }.filled(),
        ToolVerb::FindFiles => title::FindFiles { what }.filled(),
        ToolVerb::List => title::List { what }.filled(),
        ToolVerb::MakeDirectory => title::MakeDirectory { what }.filled(),
        ToolVerb::Move => title::Move { what }.filled(),
        ToolVerb::Patch => title::Patch { what }.filled(),
        ToolVerb::Read => title::Read { what }.filled(),
        ToolVerb::Run => title::Run { what }.filled(),
        ToolVerb::Search => title::Search { what }.filled(),
        ToolVerb::UseTerminal => title::UseTerminal { what }.filled(),
        ToolVerb::Write => title::Write { what }.filled(),
    })
}

/// What a tool was to do with `what`, and did not; `None` where there are no words for that.
pub(super) fn wanted(verb: ToolVerb, what: &str) -> Option<Filled<'_>> {
    if what.is_empty() {
        return None;
    }
    Some(match verb {
        ToolVerb::Delete => title::wanted::Delete { what }.filled(),
        ToolVerb::Edit => title::wanted::Edit { what }.filled(),
        ToolVerb::Explore => title::wanted::Explore { what }.filled(),
        ToolVerb::Fetch => title::wanted::Fetch { what }.filled(),
        ToolVerb::FindFiles => title::wanted::FindFiles { what }.filled(),
        ToolVerb::List => title::wanted::List { what }.filled(),
        ToolVerb::MakeDirectory => title::wanted::MakeDirectory { what }.filled(),
        ToolVerb::Move => title::wanted::Move { what }.filled(),
        ToolVerb::Patch => title::wanted::Patch { what }.filled(),
        ToolVerb::Read => title::wanted::Read { what }.filled(),
        ToolVerb::Run => title::wanted::Run { what }.filled(),
        ToolVerb::Search => title::wanted::Search { what }.filled(),
        ToolVerb::UseTerminal => title::wanted::UseTerminal { what }.filled(),
        ToolVerb::Write => title::wanted::Write { what }.filled(),
        ToolVerb::Ask | ToolVerb::Call | ToolVerb::LookAfterJobs | ToolVerb::Plan | ToolVerb::Propose => {
            return None;
        }
    })
}

/// The question whether a tool may; `None` where there are no words for that.
pub(super) const fn may(verb: ToolVerb) -> Option<Word> {
    Some(match verb {
        ToolVerb::Delete => question::DELETE,
        ToolVerb::Edit => question::EDIT,
        ToolVerb::Fetch => question::FETCH,
        ToolVerb::MakeDirectory => question::MAKE_DIRECTORY,
        ToolVerb::Move => question::MOVE,
        ToolVerb::Patch => question::PATCH,
        ToolVerb::Run => question::RUN,
        ToolVerb::UseTerminal => question::USE_TERMINAL,
        ToolVerb::Write => question::WRITE,
        ToolVerb::Ask
        | ToolVerb::Call
        | ToolVerb::Explore
        | ToolVerb::FindFiles
        | ToolVerb::List
        | ToolVerb::LookAfterJobs
        | ToolVerb::Plan
        | ToolVerb::Propose
        | ToolVerb::Read
        | ToolVerb::Search => return None,
    })
}
