//! Parses arguments, runs the app, prints the error, chooses the exit code.

use std::process::ExitCode;

use axi::app::{self, Start};
use axi::tool::{shell_adopter, shell_child, shell_keeper, shell_trash};

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    if shell_trash::is_called_as(arguments.first()) {
        let own = std::env::current_exe().ok();
        let (path, directory) = (std::env::var_os("PATH"), std::env::current_dir().ok());
        return shell_trash::rm_main(&arguments, path.as_deref(), own, directory.as_deref());
    }
    if arguments.get(1).is_some_and(|argument| argument == shell_child::ARGUMENT) {
        return shell_child::child_main(arguments.into_iter().skip(2));
    }
    if arguments.get(1).is_some_and(|argument| argument == shell_adopter::ARGUMENT) {
        return shell_adopter::adopter_main(arguments.into_iter().skip(2));
    }
    if arguments.get(1).is_some_and(|argument| argument == shell_child::CONFINED_ARGUMENT) {
        return shell_child::confined_main(arguments.into_iter().skip(2));
    }
    if arguments.get(1).is_some_and(|argument| argument == shell_child::TERMINAL_ARGUMENT) {
        return shell_child::terminal_main(arguments.into_iter().skip(2));
    }
    if arguments.get(1).is_some_and(|argument| argument == shell_keeper::ARGUMENT) {
        return shell_keeper::keeper_main(arguments.into_iter().skip(2));
    }
    if arguments.get(1).is_some_and(|argument| argument == shell_keeper::FRONT_ARGUMENT) {
        return shell_keeper::front_main(arguments.into_iter().skip(2));
    }
    let start = Start {
        arguments,
        variables: |name| std::env::var(name).ok(),
        raw_variables: |name| std::env::var_os(name),
        home: std::env::home_dir(),
        program: std::env::current_exe().ok(),
    };
    let exit = std::panic::catch_unwind(|| app::run(start)).unwrap_or_else(|_| app::panicked());
    ExitCode::from(exit as u8)
}
