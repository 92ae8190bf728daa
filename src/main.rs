//! Parses arguments, runs the app, prints the error, chooses the exit code.

use std::process::ExitCode;

use axi::app::{self, Start};
use axi::child;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    if let Some(exit) = child::run(&arguments) {
        return exit;
    }
    let start = Start {
        arguments,
        variables: |name| app::variable(name)?.into_string().ok(),
        raw_variables: app::variable,
        home: app::home(),
        program: std::env::current_exe().ok(),
    };
    let exit = std::panic::catch_unwind(|| app::run(start)).unwrap_or_else(|_| app::panicked());
    ExitCode::from(exit.code())
}
