//! What is different after a command: the directory, variables, the meaning of names.

use std::path::PathBuf;

use super::call::Call;
use super::value::{PathPattern, Value};

/// What is different after a command.
pub(crate) enum After {
    /// Nothing that is followed.
    Same,
    /// It does not come back.
    Never,
    /// When it succeeds, the line goes on in another directory.
    In(Vec<Option<PathBuf>>),
    /// Variables have these values; none where they are not known.
    Set(Vec<(String, Vec<Value>)>),
    /// Names mean something else.
    Redefined(Vec<String>),
}

/// What is different after a command.
pub(crate) fn after(call: &Call<'_, '_>) -> After {
    match call.name {
        "exit" => After::Never,
        "cd" | "pushd" => {
            // With two words shells go to the first, to a mixture of both, or nowhere.
            if call.positionals().len() > 1 {
                return After::In(vec![None]);
            }
            let target = call.positionals().first().map(|field| field.value.clone());
            let value = match target {
                Some(value) => value,
                None if call.name == "cd" => {
                    call.state.variable("HOME").into_iter().next().unwrap_or_else(Value::unknown)
                }
                None => Value::unknown(),
            };
            if value.known().as_deref() == Some("-") || value.had_empty {
                return After::In(vec![None]);
            }
            After::In(value.patterns(&call.state.directories).iter().map(PathPattern::path).collect())
        }
        "popd" => After::In(vec![None]),
        "read" | "getopts" | "mapfile" | "readarray" => {
            let names = call.positionals().iter().filter_map(|field| field.value.known()).collect::<Vec<_>>();
            After::Set(names.into_iter().chain(["REPLY".to_owned()]).map(|name| (name, Vec::new())).collect())
        }
        "shift" | "set" => {
            let names = (1..10).map(|n| n.to_string()).chain(["@".to_owned(), "*".to_owned()]);
            // Under a name no variable has: an expression may come upon what they hold.
            let held = call.arguments.iter().map(|field| field.value.clone()).collect();
            After::Set(names.map(|n| (n, Vec::new())).chain([("set …".to_owned(), held)]).collect())
        }
        "unset" => After::Set(
            call.positionals()
                .iter()
                .filter_map(|field| field.value.known())
                .map(|name| (name, vec![Value { chunks: Vec::new(), had_empty: true }]))
                .collect(),
        ),
        "export" | "declare" | "typeset" | "readonly" | "local" => After::Set(
            call.positionals()
                .iter()
                .filter_map(|field| {
                    let text = field.value.start();
                    let (name, _) = text.split_once('=')?;
                    let value = field.value.without_start(name.len() + 1);
                    let name = name.trim_end_matches('+').to_owned();
                    Some((name, if value.is_unknown() { Vec::new() } else { vec![value] }))
                })
                .collect(),
        ),
        "printf" if call.has_flag("v", &[]) => After::Set(
            call.arguments
                .get(1)
                .and_then(|field| field.value.known())
                .map(|name| (name, Vec::new()))
                .into_iter()
                .collect(),
        ),
        "alias" => After::Redefined(
            call.positionals()
                .iter()
                .filter_map(|field| field.value.start().split_once('=').map(|(name, _)| name.to_owned()))
                .collect(),
        ),
        _ => After::Same,
    }
}
