//! Commands that only print (completions, the manual), and the one that resets the terminal's mode.

use super::super::console::Console;
use super::super::context::App;
use crate::cli;
use crate::command::Problem;
use crate::frontend::exit::Exit;
use crate::locale::word;

/// Resets a terminal that a killed program has left in a bad mode.
pub(in crate::app) fn reset_terminal(app: &App) -> Exit {
    let console = Console::new(&app.locale);
    match crate::terminal::reset_terminal() {
        Ok(()) => {
            console.note(app.locale.text(word::doctor::TERMINAL_RESET));
            Exit::Done
        }
        Err(error) => {
            let what = app.locale.with(word::error::Terminal { cause: &error.to_string() });
            console.fail(&Problem { what, hint: app.locale.text(word::doctor::TERMINAL_RESET_HINT).to_owned() });
            Exit::Failed
        }
    }
}

pub(in crate::app) fn completions(app: &App, shell: clap_complete::Shell) -> Exit {
    let mut command = cli::command(&|word| app.locale.text(word));
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command, "axi", &mut text);
    Console::new(&app.locale).print(&String::from_utf8_lossy(&text))
}

pub(in crate::app) fn manual(app: &App) -> Exit {
    let command = cli::command(&|word| app.locale.text(word));
    let mut text = Vec::new();
    match clap_mangen::Man::new(command).render(&mut text) {
        Ok(()) => Console::new(&app.locale).print(&String::from_utf8_lossy(&text)),
        Err(error) => {
            let what = app.locale.with(word::error::Io { path: "stdout", cause: &error.to_string() });
            Console::new(&app.locale).fail(&Problem { what, hint: String::new() });
            Exit::Failed
        }
    }
}
