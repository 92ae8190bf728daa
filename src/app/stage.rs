//! The terminal, taken for a conversation.

use std::rc::Rc;

use tokio::runtime::Runtime;

use super::Base;
use super::setup::Failed;
use crate::command::Problem;
use crate::frontend::exit::Exit;
use crate::frontend::stage::Stage;
use crate::locale::word;
use crate::terminal::Depth;

/// Takes the terminal as the settings and the environment say.
///
/// # Errors
/// There is none.
pub(super) fn stage(base: &Base, runtime: &Rc<Runtime>) -> Result<Stage, Failed> {
    let color = base.depth() >= Depth::Ansi;
    Stage::take(Rc::clone(runtime), base.is_remote(), base.linear(), color).map_err(|error| {
        let what = base.locale.with(word::error::Terminal { cause: &error.to_string() });
        Failed::new(Problem { what, hint: String::new() }, Exit::Failed)
    })
}
