//! What a tool is stands in its own file: nobody else knows it by its name, so that a new tool is a file and a line.

use std::collections::BTreeSet;
use std::sync::Arc;

use axi::tool::{ProposeCommandTool, Tool, table};

use super::{Fault, report, sources};
use crate::support::file_graph::without_tests;
use crate::support::rust_source::{Token, tokens};

const NAMED: &str = "a tool's name stands in its own file only, because a second list of names is forgotten when a \
                     tool is added; ask its ToolIdentity, or declare there what you need to know";

/// Words that are tools' names by chance: where they stand, which (none: any), and what they mean there. The tools' own
/// files are not looked at: arguments have such names.
const OTHER_MEANINGS: &[(&str, &[&str], &str)] = &[
    ("src/agent/explore.rs", &["explore"], "a tool that the agent runs itself: its own file"),
    ("src/approval/command/", &[], "programs, their words, and those of shells"),
    ("src/approval/verdict.rs", &["explore"], "a mode"),
    ("src/cli/", &["delete", "edit", "explore", "list", "shell"], "words of axi's own command line"),
    ("src/command/", &["delete", "explore", "list", "shell"], "words of slash commands, and a mode"),
    ("src/config/choices.rs", &["shell"], "the history of a shell"),
    ("src/conversation/spec.rs", &["read", "write", "shell"], "what stands in rules for several tools"),
    ("src/frontend/acp/", &["delete", "edit", "list", "move", "read", "terminal"], "words of the protocol"),
    ("src/frontend/handoff/extract.rs", &["shell"], "the language of a code block"),
    ("src/frontend/repl/", &["delete", "edit", "grep", "list", "mkdir"], "keys, their actions, programs, sessions"),
    ("src/secret/table.rs", &["write"], "a word with which programs keep a secret"),
    ("src/terminal/markdown/highlight/", &["delete", "list", "move", "read", "shell", "terminal"], "languages"),
    ("src/tool/shell/project_table.rs", &["grep"], "a program"),
    ("src/tool/terminal/keys.rs", &["delete"], "a key"),
];

fn names() -> BTreeSet<String> {
    let tools = table::standard(None, None).into_iter().chain([Arc::new(ProposeCommandTool) as Arc<dyn Tool>]);
    tools.map(|tool| tool.spec().name).chain(["explore".to_owned()]).collect()
}

fn check(files: &[(String, String)], names: &BTreeSet<String>) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut used = BTreeSet::new();
    let elsewhere = |file: &str| !file.ends_with("_tests.rs") && !file.ends_with("_tool.rs");
    for (file, text) in files.iter().filter(|(file, _)| elsewhere(file)) {
        for placed in without_tests(&tokens(text)) {
            let Token::Text(word) = placed.token else { continue };
            if !names.contains(&word) {
                continue;
            }
            let known = |row: &&(&str, &[&str], &str)| {
                file.starts_with(row.0) && (row.1.is_empty() || row.1.contains(&word.as_str()))
            };
            match OTHER_MEANINGS.iter().find(known) {
                Some(row) => drop(used.insert((row.0, word))),
                None => faults.push(Fault { rule: NAMED, place: format!("{file}:{}: {word:?}", placed.line) }),
            }
        }
    }
    let rows = OTHER_MEANINGS.iter().flat_map(|row| row.1.iter().map(|word| (row.0, (*word).to_owned())));
    let stale = rows.filter(|row| !used.contains(row));
    faults.extend(stale.map(|row| Fault { rule: NAMED, place: format!("OTHER_MEANINGS: {row:?} is not there") }));
    faults
}

#[test]
fn a_tool_is_known_by_its_name_in_its_own_file_only() {
    report(check(&sources(), &names()));
}

#[test]
fn the_check_finds_a_list_of_names() {
    let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let found = |files: &[(String, String)]| {
        let faults = check(files, &["edit".to_owned()].into());
        faults.into_iter().map(|fault| fault.place).filter(|place| !place.starts_with("OTHER")).collect::<Vec<_>>()
    };
    let own = file("src/tool/edit/edit_tool.rs", "ToolSpec { name: \"edit\".to_owned() }; parse(\"edit\")");
    assert_eq!(found(std::slice::from_ref(&own)), [""; 0]);
    let list = file(
        "src/approval/policy.rs",
        "// \"edit\"\nmatch tool { \"edit\" => 1 }\n#[cfg(test)]\nmod t { \"edit\" }",
    );
    assert_eq!(found(&[own, list]), ["src/approval/policy.rs:2: \"edit\""]);
}
