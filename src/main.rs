//! Parses arguments, runs the app, prints the error, chooses the exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == axi::tool::shell_child::ARGUMENT) {
        return axi::tool::shell_child::child_main(arguments);
    }
    ExitCode::SUCCESS
}
