//! What a tool is stands in its own file: nobody else knows it by its name, so that a new tool is a file and a line.

use std::collections::BTreeSet;
use std::sync::Arc;

use axi::tool::{ProposeCommandTool, Tool, WebSearchTool, table};

use super::{Fault, report, sources};
use crate::support::file_graph::without_tests;
use crate::support::rust_source::{Placed, Token, tokens};

const NAMED: &str = "a tool's name stands in its own file only, because a second list of names is forgotten when a \
                     tool is added; ask its ToolIdentity, or declare there what you need to know";

/// Words that are tools' names by chance: where they stand, which (none: any), and what they mean there. The tools' own
/// files are not looked at: arguments have such names.
const OTHER_MEANINGS: &[(&str, &[&str], &str)] = &[
    ("src/agent/explore.rs", &["explore"], "a tool that the agent runs itself: its own file"),
    ("src/agent/recall.rs", &["recall"], "a tool that the agent runs itself: its own file"),
    ("src/approval/command/", &[], "programs, their words, and those of shells"),
    ("src/approval/verdict.rs", &["explore"], "a mode"),
    ("src/cli/", &["delete", "edit", "explore", "list", "recall", "shell"], "words of axi's own command line"),
    ("src/command/", &["delete", "explore", "list", "recall", "shell"], "words of slash commands, and a mode"),
    ("src/config/choices.rs", &["shell"], "the history of a shell"),
    ("src/conversation/spec.rs", &["read", "write", "shell"], "what stands in rules for several tools"),
    (
        "src/frontend/acp/",
        &["delete", "edit", "list", "move", "read", "recall", "terminal"],
        "words of the protocol, a slash command",
    ),
    ("src/frontend/handoff/extract.rs", &["shell"], "the language of a code block"),
    ("src/frontend/repl/", &["delete", "edit", "grep", "list", "mkdir"], "keys, their actions, programs, sessions"),
    ("src/provider/", &["web_search"], "the search of providers, in their protocols"),
    ("src/secret/table.rs", &["write"], "a word with which programs keep a secret"),
    ("src/terminal/markdown/highlight/", &["delete", "list", "move", "read", "shell", "terminal"], "languages"),
    ("src/tool/project_table.rs", &["grep"], "a program"),
    ("src/tool/terminal/keys.rs", &["delete"], "a key"),
];

/// Finds a tool's name that others may take from its own file: whoever imports it knows the tool by its name, too.
fn check_exported(files: &[(String, String)], names: &BTreeSet<String>) -> Vec<Fault> {
    let own = files.iter().filter(|(file, _)| file.ends_with("_tool.rs"));
    let mut faults = Vec::new();
    for (file, text) in own {
        let tokens = without_tests(&tokens(text));
        for (at, placed) in tokens.iter().enumerate() {
            let opens =
                placed.token.is_word("const") && !tokens.get(at + 1).is_some_and(|next| next.token.is_word("fn"));
            // `pub(crate)` has four tokens.
            let before = tokens[..at].iter().rev().take(4);
            let mut before = before.take_while(|before| !matches!(before.token, Token::Mark(';' | '}')));
            let is_public = opens && before.any(|before| before.token.is_word("pub"));
            let end = tokens[at..].iter().position(|placed| placed.token.is_mark(';')).unwrap_or_default();
            let is_name = |placed: &Placed| matches!(&placed.token, Token::Text(word) if names.contains(word));
            if is_public && tokens[at..at + end].iter().any(is_name) {
                faults.push(Fault { rule: NAMED, place: format!("{file}:{}: a public constant", placed.line) });
            }
        }
    }
    faults
}

fn names() -> BTreeSet<String> {
    let others: [Arc<dyn Tool>; 2] = [Arc::new(ProposeCommandTool), Arc::new(WebSearchTool::default())];
    let names = table::standard(None, None).into_iter().chain(others).map(|tool| tool.spec().name);
    names.chain(["explore", "recall"].map(str::to_owned)).collect()
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
    let (files, names) = (sources(), names());
    report(check(&files, &names).into_iter().chain(check_exported(&files, &names)).collect());
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

#[test]
fn the_check_finds_a_name_that_is_lent() {
    let found = |text: &str| {
        check_exported(&[("src/tool/edit/edit_tool.rs".to_owned(), text.to_owned())], &["edit".to_owned()].into())
            .len()
    };
    assert_eq!(found("pub const NAME: &str = \"edit\";"), 1);
    assert_eq!(found("use x; pub(crate) const NAME: &str = \"edit\";"), 1);
    assert_eq!(
        found(
            "pub const fn f() -> &str { \"edit\" } const NAME: &str = \"edit\"; pub const OTHER: &str = \"word\";"
        ),
        0
    );
}
