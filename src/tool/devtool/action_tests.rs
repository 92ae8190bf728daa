//! Actions as tools: what they are told as, and that nothing a caller says makes more of them than the row.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::tool::devtool::TABLE;

fn tools() -> Vec<Arc<ActionTool>> {
    let found = TABLE.iter().map(|tool| {
        let program = tool.candidates().next().unwrap();
        Found { tool, path: Some(format!("/usr/bin/{program}").into()), version: None }
    });
    found.flat_map(|found| actions(&found, None).collect::<Vec<_>>()).collect()
}

fn tool(name: &str) -> Arc<ActionTool> {
    tools().into_iter().find(|tool| tool.name == name).unwrap()
}

fn roots() -> Roots {
    Roots { cwd: "/work".into(), workspace: "/work".into(), home: None }
}

fn line(name: &str, input: &Value) -> Result<String, String> {
    tool(name).call(input, &roots()).map(|call| call.whole)
}

#[test]
fn an_action_is_told_with_its_parameters() {
    let spec = tool("git_log").spec();
    assert_eq!(spec.description, "Runs `git log --oneline -n COUNT [-- PATH]`.");
    let properties = json!({
        "count": {"type": "integer", "default": 20}, "path": {"type": "string"}, "cwd": {"type": "string"}
    });
    assert_eq!(spec.input_schema, json!({"type": "object", "properties": properties, "required": []}));
    assert_eq!(tool("git_diff").spec().description, "Runs `git diff [--staged] [-- PATH]`.");
    let names: std::collections::BTreeSet<String> = tools().iter().map(|tool| tool.name.clone()).collect();
    assert_eq!(names.len(), tools().len());
    let fits = |letter: char| letter.is_ascii_lowercase() || letter == '_';
    assert!(names.iter().all(|name| name.chars().all(fits) && !name.contains("__")), "{names:?}");
}

#[test]
fn it_is_judged_as_the_line_that_says_the_same() {
    let all = json!({"path": "a b;rm -rf ~", "count": 3});
    assert_eq!(line("git_log", &all).unwrap(), "git log --oneline -n 3 -- 'a b;rm -rf ~'");
    assert_eq!(line("git_status", &json!(null)).unwrap(), "git status --short --branch");
    assert_eq!(
        line("git_status", &json!({"cwd": "my app"})).unwrap(),
        "cd '/work/my app' && git status --short --branch"
    );
    assert_eq!(line("git_status", &json!({"cwd": 7})).unwrap_err(), "git_status: `cwd` must be a directory");
    assert_eq!(
        line("git_show", &json!({"revision": "--output=x"})).unwrap_err(),
        "git_show: `revision` must not begin with a dash"
    );
    assert_eq!(line("git_status", &json!(["x"])).unwrap_err(), "git_status: the arguments must be an object");
}

fn word() -> impl Strategy<Value = String> {
    let nasty = [
        "-x",
        "--output=a",
        "-",
        "--",
        "$(id)",
        "`id`",
        "a;b",
        "a\nb",
        "'",
        "\"",
        "~",
        "*",
        "a b",
        "=x",
        "\\",
        "é",
        "#",
    ];
    prop_oneof![".{1,12}", proptest::sample::select(nasty.to_vec()).prop_map(str::to_owned)]
}

proptest! {
    /// Whatever is given, the words of the row stand where they stand, each value is one word that is no option, and
    /// what a shell would read is what runs.
    #[test]
    fn a_value_stays_one_word_and_becomes_no_option(index in 0_usize..1_000, words in proptest::collection::vec(word(), 4), number in any::<i64>(), yes in any::<bool>()) {
        let tools = tools();
        let tool = &tools[index % tools.len()];
        let mut input = Map::new();
        for (parameter, word) in tool.action.parameters().iter().zip(&words) {
            input.insert(parameter.name.to_owned(), match parameter.kind {
                ParameterKind::Number => json!(number),
                ParameterKind::Boolean => json!(yes),
                ParameterKind::Text | ParameterKind::File | ParameterKind::Directory => json!(word),
            });
        }
        let Ok(call) = tool.call(&Value::Object(input), &roots()) else { return Ok(()) };
        let read = shlex::split(&call.line).unwrap();
        prop_assert_eq!(&read[1..], &call.arguments[..]);
        let fixed: Vec<&str> = tool.action.runs.split([' ', '[', ']']).collect();
        let dashed = call.arguments.iter().position(|word| word == "--").unwrap_or(call.arguments.len());
        for word in call.arguments[..dashed].iter().filter(|word| word.starts_with('-')) {
            let is_number = word.parse::<i64>().is_ok();
            prop_assert!(is_number || fixed.contains(&word.as_str()), "{word:?} in {:?}", call.arguments);
        }
    }
}
