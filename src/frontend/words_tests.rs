use std::path::PathBuf;

use serde_json::json;

use super::*;
use crate::conversation::{ToolIdentity, ToolSpec};

fn told(name: &str, input: Value, subject: &Subject) -> [String; 2] {
    let mut tools = Toolbox::new(crate::tool::table::standard(None, None));
    let identity = ToolIdentity { verb: ToolVerb::Explore, ..ToolIdentity::default() };
    tools.declare(ToolSpec { name: "explore".into(), identity, ..ToolSpec::default() });
    let roots = Roots { cwd: "/w".into(), workspace: "/w".into(), home: None };
    let call = ToolCall {
        id: "c".into(),
        name: name.into(),
        input,
        invalid_input: None,
        extra: serde_json::Map::default(),
        model: String::new(),
        arguments: String::new(),
    };
    ["en", "zh-CN"].map(|tag| {
        let locale = Locale::new(tag);
        let what = about(&locale, &roots, &recorded(&tools, &roots, &call).1, subject);
        title_about(&locale, &what, (name, tools.identity(name).verb), Outcome::Ok, &ToolFacts::default(), 0)
    })
}

fn paths(names: &[&str]) -> Subject {
    Subject::Paths { paths: names.iter().map(|name| PathBuf::from("/w").join(name)).collect() }
}

#[test]
fn a_title_says_what_a_call_was_about() {
    let cases = [
        ("grep", json!({"pattern": "door"}), paths(&[""]), "Searched for \"door\"", "已搜索 \"door\""),
        (
            "grep",
            json!({"pattern": "door"}),
            paths(&["src"]),
            "Searched for \"door\" in src",
            "已搜索 src 中的 \"door\"",
        ),
        ("glob", json!({"pattern": "*.rs"}), paths(&["src"]), "Looked for *.rs in src", "已查找 src 中的 *.rs"),
        ("move", json!({"from": "a", "to": "b/a"}), paths(&["a", "b/a"]), "Moved a → b/a", "已移动 a → b/a"),
        ("apply_patch", json!({}), paths(&["a", "b", "c"]), "Patched a and 2 more", "已应用补丁 a 等，另有 2 个"),
        (
            "shell",
            json!({"commands": ["make", "make test"]}),
            Subject::Command { line: "set -e\nmake\nmake test".into() },
            "Ran make && make test",
            "已运行 make && make test",
        ),
        (
            "terminal",
            json!({"action": "send", "terminal": 1, "keys": "ls<enter>"}),
            Subject::Command { line: "terminal_keys 1 'ls<enter>'".into() },
            "Used a terminal: ls<enter>",
            "已使用终端：ls<enter>",
        ),
        (
            "terminal",
            json!({"action": "read", "terminal": 1}),
            Subject::Whole,
            "Used a terminal: looked at its screen",
            "已使用终端：查看了屏幕",
        ),
        ("explore", json!({"question": "Where?"}), Subject::Whole, "Explored: Where?", "已探索：Where?"),
    ];
    for (name, input, subject, english, chinese) in cases {
        assert_eq!(told(name, input.clone(), &subject), [english, chinese], "{name} {input}");
    }
}

#[test]
fn a_server_that_fails_is_told_with_what_helps_where_it_is_said() {
    for failure in [crate::mcp::Failure::SignIn, crate::mcp::Failure::NotMcp] {
        let told = crate::agent::Notice::Server { name: "lab".into(), failure };
        let hint = |speaking| notice(&Locale::new("en"), &told, speaking).hint;
        assert!(hint(Speaking::AtPrompt).contains("/mcp"));
        let by_flags = hint(Speaking::ByFlags);
        assert!(by_flags.contains("axi mcp ") && !by_flags.contains("/mcp"), "{by_flags}");
    }
}

#[test]
fn a_turn_that_ends_early_advises_what_there_is_where_it_is_said() {
    for tag in ["en", "zh-CN", "ja"] {
        let hint = |end: &TurnEnd, speaking| turn_end(&Locale::new(tag), end, speaking).unwrap().hint;
        assert!(hint(&TurnEnd::Looping, Speaking::AtPrompt).contains("/model"));
        let by_flags = hint(&TurnEnd::Looping, Speaking::ByFlags);
        assert!(by_flags.contains("-m") && !by_flags.contains('/'), "{by_flags}");
    }
}

#[test]
fn a_mistake_in_a_file_of_hooks_is_no_wish_of_a_hook() {
    let roots = Roots { cwd: "/w".into(), workspace: "/w".into(), home: None };
    let words = "/w/hooks.json: no event is called PreToolUSe".to_owned();
    let said = reasons(&Locale::new("en"), &roots, &[Reason::HookMistake { words: words.clone() }]).concat();
    assert!(said.starts_with("a file of hooks has a mistake") && said.ends_with(&words), "{said}");
}
