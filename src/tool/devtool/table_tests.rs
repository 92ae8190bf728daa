//! The table of developer tools, row by row.

use std::collections::HashSet;

use serde_json::json;

use super::*;
use crate::tool::devtool::ParameterKind;

/// Values for all parameters of an action.
fn filled(action: &Action) -> Map<String, Value> {
    let value = |kind| match kind {
        ParameterKind::Number => json!(7),
        ParameterKind::Boolean => json!(true),
        ParameterKind::Text | ParameterKind::File | ParameterKind::Directory => json!("x"),
    };
    action.parameters().iter().map(|parameter| (parameter.name.to_owned(), value(parameter.kind))).collect()
}

#[test]
fn every_row_can_be_read_and_run() {
    let mut ids = HashSet::new();
    for tool in TABLE {
        assert!(ids.insert(tool.id), "{} stands twice", tool.id);
        let programs: Vec<_> = tool.candidates().collect();
        assert!(!programs.is_empty() && !tool.package.is_empty());
        let mut names = HashSet::new();
        for action in tool.actions {
            assert!(names.insert(action.name), "{} {}", tool.id, action.name);
            let words = action.arguments(&filled(action)).unwrap();
            assert!(programs.contains(&words[0].as_str()), "{} runs another program: {words:?}", tool.id);
            assert!(words.iter().all(|word| !word.contains(['{', '}', '[', ']'])), "{words:?}");
            for parameter in action.parameters() {
                let kind = ["text", "number", "boolean", "file", "directory"];
                assert!(kind.iter().any(|kind| action.runs.contains(&format!("{{{}:{kind}", parameter.name))));
            }
        }
    }
    assert!(TABLE.len() >= 25);
}

#[test]
fn each_system_has_its_own_way_to_install() {
    let row = |id| TABLE.iter().find(|tool| tool.id == id).unwrap();
    assert_eq!(row("jq").install(Some("apt-get")), "apt-get install jq");
    assert_eq!(row("ninja").install(Some("pacman")), "pacman -S ninja");
    assert_eq!(row("cargo").install(Some("apt-get")), "https://rustup.rs");
    assert_eq!(row("jq").install(None), "https://repology.org/project/jq");
}
