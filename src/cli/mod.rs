//! The command line: its shape, and what a given one means. Words come in as a function, so that help and
//! errors speak the user's language.

mod interpret;
mod invocation;
mod shape;

use std::ffi::OsString;

use clap::ArgMatches;
use clap::error::ErrorKind;

use interpret::{interpret, usage_error};
pub use invocation::{
    AgentKind, ColorChoice, CommonOptions, ConfigAction, HandoffKind, InitOptions, Invocation, LocalAction,
    McpAction, Output, RenderOptions, RunOptions, SessionsAction, SessionsOptions, Suggestion, ToolsAction,
    TryOptions, TryOutput, UsageError, UsageFault,
};
pub use shape::{Words, command};

/// Reads a command line, program name first.
///
/// # Errors
/// [`UsageError`]: exit code 2.
pub fn parse(arguments: Vec<OsString>, words: Words<'_>) -> Result<Invocation, UsageError> {
    let arguments = help_asked(command_first(arguments));
    // Describing all commands and their help to clap takes most of a millisecond of each start. So they are described
    // only for a line that asks for help or is wrong.
    if !arguments.iter().skip(1).any(is_command)
        && let Ok(matches) = shape::conversation(&|_| "").try_get_matches_from(&arguments)
    {
        return Ok(interpret(&matches));
    }
    let no_text = arguments.iter().skip(1).find(|argument| argument.to_str().is_none()).cloned();
    match shape::whole(words).try_get_matches_from(&arguments) {
        Ok(matches) => match behind_options(&arguments, &matches) {
            Some(argument) => Err(UsageError { fault: UsageFault::BehindOptions, argument, suggestion: None }),
            None => Ok(interpret(&matches)),
        },
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            Ok(Invocation::Print(error.render().to_string()))
        }
        Err(error) if error.kind() == ErrorKind::InvalidUtf8 => {
            // Clap does not say which.
            #[expect(clippy::unnecessary_debug_formatting, reason = "escaped, so that the bytes can be seen")]
            let argument = no_text.map(|argument| format!("{argument:?}")).unwrap_or_default();
            Err(UsageError { fault: UsageFault::NoText, argument, suggestion: None })
        }
        Err(error) => Err(usage_error(&error)),
    }
}

/// Moves a command before the options that all commands take: `axi --lang ja sessions` means `axi sessions --lang ja`.
/// Behind any other option the same word belongs to the message, as in `axi -p man`.
fn command_first(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let is_option = |argument: &OsString| argument.as_encoded_bytes().starts_with(b"-");
    if !arguments.get(1).is_some_and(is_option) || !arguments.iter().any(is_command) {
        return arguments;
    }
    let Ok(matches) = shape::options_of_all().try_get_matches_from(&arguments) else { return arguments };
    if let Some((name, behind)) = matches.subcommand().filter(|(name, _)| is_command(&OsString::from(name))) {
        let behind = behind.get_raw("").map_or(0, Iterator::count);
        let place = arguments.len() - behind - 1;
        debug_assert_eq!(arguments[place], *name, "what stands behind a command comes back whole");
        if arguments[place - 1] != "--" {
            arguments[1..=place].rotate_right(1);
        }
    }
    arguments
}

/// Finds a whole command behind options that only a conversation takes: `mcp list` in `axi -m a/b mcp list`. It would be
/// sent to the model. With `-p` or behind `--` it is plainly a message.
fn behind_options(arguments: &[OsString], matches: &ArgMatches) -> Option<String> {
    if matches.subcommand().is_some() || matches.get_flag("print") || arguments.iter().any(|word| word == "--") {
        return None;
    }
    let words: Vec<&String> = matches.get_many("message")?.collect();
    let line = std::iter::once("axi").chain(words.iter().map(|word| word.as_str()));
    let of_line = shape::whole(&|_| "").try_get_matches_from(line).ok()?;
    of_line.subcommand()?;
    Some(words.into_iter().map(String::as_str).collect::<Vec<_>>().join(" "))
}

/// Takes `axi help` and `axi help COMMAND` for `axi --help` and `axi COMMAND --help`; with other words it is a message.
fn help_asked(mut arguments: Vec<OsString>) -> Vec<OsString> {
    if let [_, help, command @ ..] = arguments.as_mut_slice()
        && help == "help"
        && (command.is_empty() || command.len() == 1 && is_command(&command[0]))
    {
        *help = "--help".into();
        arguments[1..].rotate_left(1);
    }
    arguments
}

fn is_command(argument: &OsString) -> bool {
    argument.to_str().is_some_and(|text| shape::COMMANDS.contains(&text))
}

/// Finds `--lang TAG` before the command line is parsed: its help and errors depend on it.
#[must_use]
pub fn language_flag(arguments: &[OsString]) -> Option<String> {
    let mut texts = arguments.iter().skip(1).filter_map(|argument| argument.to_str());
    while let Some(text) = texts.next() {
        if text == "--" {
            return None;
        }
        if text == "--lang" {
            return texts.next().map(str::to_owned);
        }
        if let Some(tag) = text.strip_prefix("--lang=") {
            return Some(tag.to_owned());
        }
    }
    None
}

#[cfg(test)]
#[path = "cli_tests.rs"]
mod tests;
