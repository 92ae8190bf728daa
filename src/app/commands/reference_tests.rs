//! docs/reference.md says what the declarations say: every command, option and slash command.

use std::fmt::Write as _;

use crate::cli;
use crate::command::{Argument, COMMANDS};
use crate::locale::Locale;

/// A cell of a table: one line, no bar that would end it.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

/// Words as code, with commas between.
fn codes<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// Writes a command and those below it; `names` are the words that lead to it, `above` the options that those above have
/// said already.
fn describe(command: &clap::Command, names: &str, above: &[clap::Id], page: &mut String) {
    let mut line = names.to_owned();
    for argument in command.get_positionals() {
        let name = argument.get_value_names().map_or_else(String::new, |names| names.join(" "));
        let name =
            if argument.get_num_args().is_some_and(|range| range.max_values() > 1) { name + "…" } else { name };
        let _ = if argument.is_required_set() { write!(line, " {name}") } else { write!(line, " [{name}]") };
    }
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let _ = write!(page, "### `{line}`\n\n{about}\n\n");
    let mut rows = String::new();
    for argument in command.get_arguments().filter(|one| !one.is_hide_set() && !above.contains(one.get_id())) {
        let mut name = match (argument.get_short(), argument.get_long()) {
            (Some(short), Some(long)) => format!("-{short}, --{long}"),
            (None, Some(long)) => format!("--{long}"),
            (Some(short), None) => format!("-{short}"),
            (None, None) => argument.get_value_names().map_or_else(String::new, |names| names.join(" ")),
        };
        if name == "-h, --help" {
            continue;
        }
        if argument.get_long().is_some() && argument.get_action().takes_values() {
            let of = argument.get_value_names().map_or_else(String::new, |names| names.join(" "));
            let _ = write!(name, " {of}");
        }
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        let values = argument.get_possible_values();
        let values: Vec<&str> = values.iter().map(clap::builder::PossibleValue::get_name).collect();
        let takes_any = values.is_empty() || !argument.get_action().takes_values();
        let of = if takes_any || help.ends_with(&values.join(", ")) {
            String::new()
        } else {
            format!(". One of: {}", codes(values.into_iter()))
        };
        let _ = writeln!(rows, "| `{name}` | {}{of} |", cell(&help));
    }
    if !rows.is_empty() {
        let _ = write!(page, "| | |\n| --- | --- |\n{rows}\n");
    }
    let globals = command.get_arguments().filter(|one| one.is_global_set()).map(|one| one.get_id().clone());
    let said: Vec<_> = above.iter().cloned().chain(globals).collect();
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        describe(below, &format!("{names} {}", below.get_name()), &said, page);
    }
}

fn reference() -> String {
    let locale = Locale::new("en");
    let mut page = "# Reference\n\nEvery command and option, made from what declares them: `UPDATE_DOCS=1 cargo test --lib reference` writes \
                    this page anew. Settings have a page of their own: [settings.md](settings.md).\n\n## Commands of the shell\n\n"
        .to_owned();
    let mut command = cli::command(&|word| locale.text(word));
    command.build();
    describe(&command, "axi", &[], &mut page);
    let codes_of_exit = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let (heading, list) = codes_of_exit.split_once(": ").expect("a heading and a list");
    let _ = write!(page, "## {heading}\n\n");
    for code in list.trim_end_matches('.').split(", ") {
        let _ = writeln!(page, "- {code}");
    }
    page += "\n## Commands of the conversation\n\n| | |\n| --- | --- |\n";
    for row in COMMANDS {
        let names: Vec<_> =
            std::iter::once(&row.name).chain(row.aliases).map(|name| format!("`/{name}`")).collect();
        let words = match row.argument {
            Argument::Word(words) if !words.is_empty() => format!(". Takes: {}", codes(words.iter().copied())),
            Argument::Word(_)
            | Argument::None
            | Argument::Model
            | Argument::Language
            | Argument::Session
            | Argument::SessionId
            | Argument::Provider => String::new(),
        };
        let _ = writeln!(page, "| {} | {}{words} |", names.join(", "), cell(locale.text(row.says)));
    }
    page
}

#[test]
fn the_reference_is_what_is_declared() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference.md");
    let page = reference();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &page).expect("docs/ can be written");
    }
    let kept = std::fs::read_to_string(&path).expect("docs/reference.md is there");
    assert!(
        kept == page,
        "docs/reference.md differs from what is declared: UPDATE_DOCS=1 cargo test --lib reference"
    );
}
