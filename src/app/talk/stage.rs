//! Takes over the terminal for a conversation.

use std::rc::Rc;

use tokio::runtime::Runtime;

use super::super::context::App;
use super::super::failed::Failed;
use crate::command::Problem;
use crate::frontend::exit::Exit;
use crate::frontend::stage::Stage;
use crate::locale::word;
use crate::terminal::Depth;

/// Takes over the terminal as the settings and the environment say.
///
/// # Errors
/// If there is no terminal.
pub(super) fn stage(app: &App, runtime: &Rc<Runtime>) -> Result<Stage, Failed> {
    let display = app.display();
    let color = display.depth() >= Depth::Ansi;
    let taken = Stage::take(Rc::clone(runtime), display.is_remote(), display.linear(), color);
    let mut stage = taken.map_err(|error| {
        let what = app.locale.with(word::error::Terminal { cause: &error.to_string() });
        Failed::new(Problem { what, hint: String::new() }, Exit::Failed)
    })?;
    stage.copies &= display.terminal.takes_copies();
    Ok(stage)
}
