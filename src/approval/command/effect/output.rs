//! What a command prints, as far as the next one in a pipeline may run it or take it for file names.

use super::super::known::Value;
use super::super::known::names_revisions;
use super::call::{Call, Input};
use crate::approval::program::Grammar;

fn known(call: &Call<'_, '_>) -> Option<Vec<String>> {
    call.arguments.iter().map(|field| field.value.known()).collect()
}

pub(super) fn git(call: &Call<'_, '_>) -> Option<Input> {
    let texts = known(call)?;
    let words: Vec<&str> = texts.iter().map(String::as_str).collect();
    names_revisions(&words).map(|revisions| Input::Names(vec![revisions])).or_else(|| names(call))
}

pub(super) fn cat(call: &Call<'_, '_>) -> Option<Input> {
    let passes = call.positionals().iter().all(|field| field.value.start() == "-");
    passes.then(|| call.input.clone())
}

pub(super) fn builtin(call: &Call<'_, '_>) -> Option<Input> {
    let seen = |text: String| if text.contains('\\') { Input::Unknown { unseen: true } } else { Input::Text(text) };
    let texts = known(call);
    match (call.name, texts.as_deref()) {
        ("echo" | "printf", None) => Some(Input::Unknown { unseen: false }),
        ("echo", Some([first, ..])) if first.starts_with('-') && first.contains('e') => {
            Some(Input::Unknown { unseen: true })
        }
        ("echo", Some(texts)) => {
            let words: Vec<&str> = texts.iter().map(String::as_str).skip_while(|text| *text == "-n").collect();
            Some(seen(words.join(" ") + "\n"))
        }
        ("printf", Some([format])) if !format.contains('%') => Some(seen(format.replace("\\n", "\n"))),
        ("printf", Some([format, text])) if matches!(format.as_str(), "%s" | "%s\\n" | "%s\n") => {
            Some(Input::Text(format!("{text}\n")))
        }
        ("printf", Some(_)) => Some(Input::Unknown { unseen: true }),
        _ => None,
    }
}

/// Returns the names of files that it prints, below the directories it is given.
pub(super) fn names(call: &Call<'_, '_>) -> Option<Input> {
    let texts = known(call)?;
    let program = call.program?;
    let lists = match program.grammar {
        Grammar::Git => texts.iter().any(|text| text == "ls-files" || text == "--name-only"),
        Grammar::Search => texts.iter().any(|text| {
            matches!(text.as_str(), "--files" | "--files-with-matches")
                || (text.starts_with('-') && !text.starts_with("--") && text.contains(['l', 'L']))
        }),
        _ => true,
    };
    let searches = program.grammar == Grammar::Search;
    if searches && matches!(call.input, Input::Names(_)) && call.positionals().len() == 1 {
        return Some(call.input.some());
    }
    let elsewhere = texts.iter().any(|text| ["--base", "--search", "-C"].iter().any(|flag| text.starts_with(flag)));
    // A pattern among the words does no harm: it counts as one more directory.
    let named = call.positionals().into_iter().filter(|_| program.grammar != Grammar::Git);
    let mut roots: Vec<Value> = named.map(|field| field.value.clone()).collect();
    // `ls` prints names relative to the directory it lists: only without arguments can they be used as they are.
    let relative = program.grammar == Grammar::Ls && !roots.is_empty();
    if !lists || elsewhere || relative {
        return Some(Input::Unknown { unseen: call.input.is_unseen() });
    }
    if roots.is_empty() {
        roots.push(Value::text("."));
    }
    Some(Input::Names(call.state.some_below(&roots, None)))
}
