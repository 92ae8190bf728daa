//! What a command changes for the commands after it: the directory, variables, the meaning of names.

use std::path::PathBuf;

use super::super::known::Value;
use super::super::known::{State, was_read};
use super::call::{Call, Field};
use crate::approval::program::{Grammar, Naming};

/// What a command changes for the commands after it.
pub(crate) enum After {
    /// Nothing that axi follows.
    Same,
    /// There is no command after it: it does not return.
    Never,
    /// If it succeeds, the line goes on in one of these directories.
    In(Vec<Option<PathBuf>>),
    /// These variables have these values; an empty list means that the value is not known.
    Set(Vec<(String, Vec<Value>)>),
    /// Any variable may have another value.
    Opaque,
    /// These names mean something else.
    Redefined(Vec<String>),
    /// These functions and variables are removed.
    Unset(Vec<String>),
}

/// Returns what a command changes for the commands after it.
pub(crate) fn after_call(call: &Call<'_, '_>) -> After {
    match call.name {
        _ if !call.is(Grammar::Builtin) => After::Same,
        "exit" => After::Never,
        "cd" | "pushd" => directory(call),
        "popd" => After::In(vec![None]),
        "read" | "getopts" | "mapfile" | "readarray" => read(call),
        "shift" | "set" => {
            // A parameter beyond the ninth is as little known as the ninth.
            let names = (1..=9).map(|n| n.to_string()).chain(["@".to_owned(), "*".to_owned()]);
            // The values are kept under a name that no variable can have: an expression may evaluate them.
            let held = call.arguments.iter().map(|field| field.value.clone()).collect();
            After::Set(names.map(|n| (n, Vec::new())).chain([("set …".to_owned(), held)]).collect())
        }
        "unset" => {
            let names: Option<Vec<String>> = call
                .positionals()
                .iter()
                .map(|field| field.value.known().map(|name| base(&name).to_owned()))
                .collect();
            names.map_or(After::Opaque, After::Unset)
        }
        "export" | "declare" | "typeset" | "readonly" | "local" => declared(call),
        "printf" => written(call, "-v"),
        "wait" => written(call, "-p"),
        "alias" => After::Redefined(
            call.positionals()
                .iter()
                .filter_map(|field| field.value.start().split_once('=').map(|(name, _)| name.to_owned()))
                .collect(),
        ),
        "hash" if call.arguments.is_empty() => After::Same,
        "hash" | "enable" => {
            After::Redefined(call.positionals().iter().filter_map(|field| field.value.known()).collect())
        }
        // From then on, a name that is no directory may be taken for a variable.
        "setopt" | "unsetopt" | "emulate" => After::Set(vec![("CDPATH".to_owned(), Vec::new())]),
        "shopt"
            if call.arguments.iter().any(|field| {
                !matches!(
                    field.value.start(),
                    "globstar"
                        | "nullglob"
                        | "-s"
                        | "-u"
                        | "dotglob"
                        | "extglob"
                        | "-q"
                        | "-p"
                        | "failglob"
                        | "nocaseglob"
                        | "lastpipe"
                        | "inherit_errexit"
                )
            }) =>
        {
            After::Set(vec![("CDPATH".to_owned(), Vec::new())])
        }
        _ => After::Same,
    }
}

/// Tells whether `cd` follows links before it reads `..` from then on.
pub(crate) fn makes_physical(call: &Call<'_, '_>) -> bool {
    let physical = |field: &Field| {
        let start = field.value.start();
        start.is_empty() || start == "physical" || start.starts_with('-') && start.contains('P')
    };
    match call.name {
        "set" => call.arguments.iter().any(physical),
        "setopt" | "unsetopt" | "emulate" => true,
        // The directory then has its real name.
        "cd" | "pushd" => {
            call.arguments.iter().any(|field| field.value.start().starts_with('-') && physical(field))
        }
        _ => false,
    }
}

fn directory(call: &Call<'_, '_>) -> After {
    let flag = |letter: char| {
        let named = |field: &Field| {
            let start = field.value.start();
            start.starts_with('-') && !start.starts_with("--") && start.contains(letter)
        };
        call.arguments.iter().any(named)
    };
    if call.name == "pushd" && flag('n') {
        return After::Same;
    }
    // Given two words, some shells go to the first, some to a mixture of both, and some nowhere.
    if call.positionals().len() > 1 {
        return After::In(vec![None]);
    }
    let target = call.positionals().first().map(|field| field.value.clone());
    let value = match target {
        Some(value) => value,
        None if call.name == "cd" => call.state.variable("HOME").into_iter().next().unwrap_or_else(Value::unknown),
        None => Value::unknown(),
    };
    // To the previous directory, or along the stack of directories.
    if value.known().as_deref() == Some("-") || value.start().starts_with('+') || value.had_empty {
        return After::In(vec![None]);
    }
    let mut directories = arrive(&value, call.state, flag('P'));
    let start = value.start();
    let by_itself = start.starts_with('/')
        || matches!(start, "." | "..")
        || start.starts_with("./")
        || start.starts_with("../");
    if !by_itself {
        directories.extend(by_search(&value, call.state));
    }
    After::In(directories)
}

/// Returns the directories in which `cd` to this name may arrive. `..` removes the name in front of it, as a shell
/// reads it; or it leads to the real parent directory, as the system reads it, and a shell that finds nothing under
/// the name.
pub(crate) fn arrive(value: &Value, state: &State<'_>, physical: bool) -> Vec<Option<PathBuf>> {
    let mut directories: Vec<Option<PathBuf>> = Vec::new();
    let mut push = |directory: Option<PathBuf>| {
        if !directories.contains(&directory) {
            directories.push(directory);
        }
    };
    for pattern in value.patterns(&state.directories) {
        let by_name = pattern.path();
        // A directory above the starting directory exists, and is reached without a link.
        let is_there = by_name.as_deref().is_some_and(|path| state.place.cwd.starts_with(path));
        let written = pattern.written().filter(|written| by_name.as_ref() != Some(written));
        push(by_name);
        if (physical || state.physical || !is_there) && written.is_some() {
            push(written);
        }
    }
    directories
}

/// Returns the other directories in which `cd` searches for a name (`CDPATH`).
fn by_search(value: &Value, state: &State<'_>) -> Vec<Option<PathBuf>> {
    let is_set = |name: &str| state.variables.contains_key(name) || state.place.environment.contains_key(name);
    if state.variables.contains_key("cdpath") {
        return vec![None];
    }
    if !is_set("CDPATH") {
        return Vec::new();
    }
    let mut found = Vec::new();
    let values = state.variable("CDPATH");
    if values.is_empty() {
        return vec![None];
    }
    for searched in values {
        let Some(searched) = searched.known() else { return vec![None] };
        for entry in searched.split(':').filter(|entry| !matches!(*entry, "" | ".")) {
            let mut below = Value::text(format!("{entry}/"));
            below.append(value);
            found.extend(arrive(&below, state, true));
        }
    }
    found
}

/// Lists the links that a call of `ln` may create, as far as they are known.
pub(crate) fn links(call: &Call<'_, '_>) -> Vec<PathBuf> {
    if call.program.and_then(|program| program.naming) != Some(Naming::Links) || !call.has_flag("s", &["symbolic"])
    {
        return Vec::new();
    }
    let positionals = call.positionals();
    let into = call.value_of(["-t", "--target-directory"]);
    // A link target beside the link belongs to the workspace.
    let beside = |field: &&Field| {
        let text = field.value.known().unwrap_or_else(|| "/".to_owned());
        !text.starts_with('/') && !text.split('/').any(|part| part == "..")
    };
    let sources = positionals.split_last().map_or(&[][..], |(_, sources)| sources);
    if into.is_none() && !sources.is_empty() && sources.iter().all(beside) {
        return Vec::new();
    }
    let places: Vec<Value> = [into, positionals.last().map(|field| field.value.clone()), Some(Value::text("."))]
        .into_iter()
        .flatten()
        .collect();
    let mut links = Vec::new();
    for place in places.iter().flat_map(|place| place.patterns(&call.state.directories)) {
        let Some(path) = place.path() else { continue };
        // If the destination is a directory, the link gets the file's own name in it.
        for field in &positionals {
            let named = field.value.patterns(&call.state.directories).into_iter().filter_map(|named| named.path());
            links.extend(named.filter_map(|named| Some(path.join(named.file_name()?))));
        }
        // A parent of the starting directory is no link, but a directory.
        if !call.state.place.cwd.starts_with(&path) {
            links.push(path);
        }
    }
    links
}

/// Returns a variable's name without its index.
fn base(name: &str) -> &str {
    name.split('[').next().unwrap_or_default()
}

fn read(call: &Call<'_, '_>) -> After {
    let mut names = vec!["REPLY".to_owned()];
    let mut fields = call.arguments.iter();
    while let Some(field) = fields.next() {
        let start = field.value.start();
        if start.starts_with('-') {
            // The callback runs for each line, or for every so many lines.
            if start.contains('C') && call.name != "read" {
                return After::Opaque;
            }
            names.extend(start.split_once('a').map(|(_, name)| name.to_owned()));
            if matches!(start, "-p" | "-d" | "-n" | "-N" | "-t" | "-u" | "-i" | "-O" | "-s" | "-c")
                && call.name != "getopts"
            {
                // A word that is not the flag's value is a variable's name.
                names.extend(fields.next().and_then(|field| field.value.known()));
            }
            continue;
        }
        let Some(name) = field.value.known() else { return After::Opaque };
        names.push(base(&name).to_owned());
    }
    // The input is kept under a name that no variable can have: an expression would evaluate it.
    let given = names.iter().map(|name| (was_read(name), Vec::new())).collect::<Vec<_>>();
    After::Set(names.into_iter().map(|name| (name, Vec::new())).chain(given).collect())
}

/// Returns the variable that `printf -v` or `wait -p` writes.
fn written(call: &Call<'_, '_>, flag: &str) -> After {
    match call.value_of([flag]) {
        Some(value) => match value.known() {
            Some(name) => After::Set(vec![(base(&name).to_owned(), Vec::new())]),
            None => After::Opaque,
        },
        None => After::Same,
    }
}

fn declared(call: &Call<'_, '_>) -> After {
    let flags: String = call
        .arguments
        .iter()
        .map(|field| field.value.start())
        .filter(|start| start.starts_with(['-', '+']))
        .collect();
    let declares = !matches!(call.name, "export" | "readonly");
    // These flags make a second name for a variable, change the case of its letters, or stop exporting it.
    if declares && flags.contains(['n', 'l', 'u', 'c', '+']) || call.name == "export" && flags.contains('n') {
        return After::Opaque;
    }
    let inside = declares && call.state.arguments.is_some();
    let mut set = Vec::new();
    for field in call.positionals() {
        let text = field.value.start();
        let Some((name, _)) = text.split_once('=') else {
            let Some(name) = field.value.known() else { return After::Opaque };
            // A local variable without a value.
            if inside {
                let mut values = call.state.variable(&name);
                if !values.is_empty() {
                    values.push(Value::emptied());
                }
                set.push((base(&name).to_owned(), values));
            }
            continue;
        };
        let value = field.value.without_start(name.len() + 1);
        let partly = name.ends_with('+') || name.contains('[') || value.is_unknown();
        let values = if partly { Vec::new() } else { vec![value] };
        set.push((base(name.trim_end_matches('+')).to_owned(), values));
    }
    After::Set(set)
}

/// Lists the names that a command exports to the programs started later.
pub(crate) fn exported(call: &Call<'_, '_>) -> Vec<String> {
    let exports = match call.name {
        "export" => true,
        "declare" | "typeset" => call.has_flag("x", &[]),
        _ => false,
    };
    if !exports {
        return Vec::new();
    }
    let name = |field: &&Field| field.value.start().split('=').next().unwrap_or_default().to_owned();
    call.positionals().iter().map(name).collect()
}
