//! `axi local` in an axi that was built without a model of its own.

use super::super::console::Console;
use super::super::context::App;
use super::super::left_out::left_out;
use crate::agent::Beginning;
use crate::cli::LocalAction;
use crate::frontend::exit::Exit;

pub(in crate::app) fn local(app: &App, _action: &LocalAction, _first: &dyn Fn(&App) -> Beginning) -> Exit {
    Console::new(&app.locale).fail(&left_out(&app.locale));
    Exit::NotConfigured
}
