//! `axi config check` and `axi config schema`, and what a wrong value says at the start.

use serde_json::Value;

use crate::support::home::Home;
use crate::support::talk::{Ran, run};

fn check(home: &Home, arguments: &[&str]) -> Ran {
    run(home.axi().args(["config", "check"]).args(arguments))
}

fn findings(home: &Home) -> (Option<i32>, Vec<Value>) {
    let ran = check(home, &["--json"]);
    let Value::Array(rows) = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{ran:?}")) else {
        panic!("{ran:?}")
    };
    (ran.code, rows)
}

#[test]
fn settings_without_a_mistake_are_clean() {
    let home = Home::new();
    assert_eq!(findings(&home), (Some(0), Vec::new()), "none at all");
    home.write("config/axi/config.toml", "model = \"openai/one\"\n[styles]\nheading = \"yellow bold\"\n");
    assert_eq!(findings(&home), (Some(0), Vec::new()));
    let ran = check(&home, &[]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "", "the settings have no mistakes\n"));
}

#[test]
fn a_home_that_is_relative_is_not_said_to_be_unset() {
    let home = Home::new();
    let mut command = home.axi();
    command.env_remove("XDG_CONFIG_HOME").env("HOME", "rel").args(["config", "path"]);
    let ran = run(&mut command);
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""));
    assert!(ran.err.contains("neither HOME nor XDG_CONFIG_HOME is set to an absolute path"), "{}", ran.err);
}

#[test]
fn a_server_that_cannot_be_used_is_a_row() {
    let home = Home::new();
    home.write(
        "config/axi/config.toml",
        "[mcp.none]\nargs = [\".\"]\n[mcp.a__b]\ncommand = \"x\"\n[mcp.good]\ncommand = \"x\"\n[mcp.off]\nenabled = false\n",
    );
    let (code, rows) = findings(&home);
    let rows: Vec<_> =
        rows.iter().map(|row| (row["key"].as_str().unwrap(), row["line"].as_u64().unwrap())).collect();
    assert_eq!((code, rows), (Some(2), vec![("mcp.none", 2), ("mcp.a__b", 4)]));
}

#[test]
fn an_empty_section_is_named_and_has_its_place() {
    let home = Home::new();
    home.write(
        "config/axi/config.toml",
        "language = \"en\"\n\n[mcp.bare]\n[providers.bare]\n[mcp]\n\"a b\" = {}\n",
    );
    let (code, rows) = findings(&home);
    let places: Vec<_> =
        rows.iter().map(|row| (row["key"].as_str().unwrap(), row["line"].as_u64().unwrap())).collect();
    assert_eq!((code, places), (Some(2), vec![("mcp.bare", 3), ("providers.bare", 4), ("mcp.a b", 6)]));
    for (row, name) in rows.iter().zip(["bare", "bare", "a b"]) {
        assert!(row["problem"].as_str().unwrap().contains(name), "{row}");
    }
}

/// What the first start and `/setup` write themselves has no mistake.
#[test]
fn axis_own_models_are_known() {
    let home = Home::new();
    home.write(
        "config/axi/config.toml",
        "model = \"local/qwen2.5-coder-1.5b\"\nfallback_model = \"local/qwen2.5-coder-0.5b\"\nsuggest_model = \"local/qwen2.5-coder-0.5b\"\n",
    );
    assert_eq!(findings(&home), (Some(0), Vec::new()));
    let listed = run(home.axi().args(["models", "local"]));
    assert_eq!((listed.code, listed.out.as_str()), (Some(0), ""), "none is on this machine: {listed:?}");
    for arguments in [["doctor", "model"].as_slice(), &["login", "local"]] {
        let ran = run(home.axi().args(arguments));
        assert!(ran.code != Some(0) && ran.err.contains("inside of axi"), "{arguments:?}: {ran:?}");
    }
}

#[test]
fn a_provider_without_an_address_and_a_model_of_nobody_are_rows() {
    let home = Home::new();
    home.write(
        "config/axi/config.toml",
        "model = \"lib/one\"\nfallback_model = \"lab/one, nosuch/two\"\nsuggest_model = \"off\"\n\
         [providers.lab]\nbase_url = \"http://127.0.0.1:1/v1\"\n[providers.lost]\napi_key_env = \"LOST\"\n\
         [providers.openai]\napi_key_env = \"MINE\"\n",
    );
    let (code, rows) = findings(&home);
    let text = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
    let found: Vec<_> = rows.iter().map(|row| (text(row, "key"), row["line"].as_u64().unwrap())).collect();
    let at = |key: &str, line| (key.to_owned(), line);
    assert_eq!((code, found), (Some(2), vec![at("model", 1), at("fallback_model", 2), at("providers.lost", 7)]));
    assert!(text(&rows[0], "hint").contains("lab"), "it names what there is: {rows:?}");
    assert_eq!(text(&rows[2], "problem"), "provider lost has no base_url");
}

#[test]
fn each_mistake_is_a_row_with_its_place() {
    let home = Home::new();
    let path = home.write(
        "config/axi/config.toml",
        "edit_mode = \"vim\"\nmodle = \"a/b\"\n[permissions]\nallow = [\"shell(\"]\n[keys]\n\"ctrl+q\" = \"explode\"\n\
         [styles]\nhat = \"red\"\n[providers.lab]\nprotocol = \"telnet\"\nbase_url = \"http://127.0.0.1:1\"\n",
    );
    let project = home.write("work/.axi/config.toml", "sandbox = \"off\"\nsuggest_model = \"evil/x\"\n");
    let (code, rows) = findings(&home);
    assert_eq!(code, Some(2));
    assert_eq!(check(&home, &[]).err, "", "each is told once");
    let text = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
    let places: Vec<_> = rows
        .iter()
        .map(|row| {
            (text(row, "file"), row["line"].as_u64().unwrap(), row["column"].as_u64().unwrap(), text(row, "key"))
        })
        .collect();
    let (own, project) = (path.display().to_string(), project.display().to_string());
    let at = |file: &str, line, column, key: &str| (file.to_owned(), line, column, key.to_owned());
    assert_eq!(
        places,
        [
            at(&own, 1, 13, "edit_mode"),
            at(&own, 2, 1, "modle"),
            at(&own, 4, 10, "permissions.allow"),
            at(&own, 6, 12, "keys.ctrl+q"),
            at(&own, 8, 7, "styles.hat"),
            at(&own, 10, 12, "providers.lab.protocol"),
            at(&project, 1, 11, "sandbox"),
            at(&project, 2, 1, "suggest_model"),
        ]
    );
    assert_eq!(text(&rows[0], "problem"), "edit_mode cannot be \"vim\"; it is ignored");
    assert_eq!(text(&rows[0], "hint"), "it is one of: emacs, vi");
    assert_eq!(text(&rows[1], "hint"), "did you mean model?");
    assert!(rows.iter().all(|row| row.as_object().unwrap().len() == 6), "{rows:?}");
}

#[test]
fn a_mistake_is_shown_with_a_caret() {
    let home = Home::new();
    home.write("config/axi/config.toml", "# 设置\n\tlanguage = \"english\" # 好\n");
    let ran = check(&home, &[]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let rows: Vec<&str> = ran.out.lines().collect();
    assert!(rows[0].ends_with("config.toml:2:13: language cannot have this value"), "{ran:?}");
    assert_eq!(rows[1], "   language = \"english\" # 好");
    assert_eq!(rows[2], format!("{}^^^^^^^^^", " ".repeat(14)));
    assert_eq!(rows[3], "  hint: there are: auto, en, ja, zh-CN");
    assert_eq!(rows.last(), Some(&"1 finding"));
}

#[test]
fn a_file_that_is_no_toml_is_a_finding_too() {
    let home = Home::new();
    home.write("config/axi/config.toml", "model = [broken\n");
    let (code, rows) = findings(&home);
    assert_eq!(
        (code, rows.len(), rows[0]["line"].as_u64(), rows[0]["key"].as_str()),
        (Some(2), 1, Some(1), Some(""))
    );
    std::fs::write(home.path().join("config/axi/config.toml"), b"\xff").unwrap();
    let (code, rows) = findings(&home);
    assert_eq!((code, rows.len()), (Some(2), 1), "no UTF-8");
}

#[test]
fn a_wrong_value_is_told_at_the_start_and_nothing_stops() {
    let home = Home::new();
    home.write("config/axi/config.toml", "edit_mode = \"vim\"\n");
    home.write("work/text.md", "plain words\n");
    let ran = run(home.axi().args(["render", "text.md"]));
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "plain words\n"));
    let rows: Vec<&str> = ran.err.lines().map(str::trim_end).collect();
    assert!(rows[0].starts_with("warning: ") && rows[0].contains("config.toml:1:13: edit_mode cannot be \"vim\""));
    assert_eq!(rows[1..], ["    edit_mode = \"vim\"", "                ^^^^^", "  it is one of: emacs, vi"]);
}

#[test]
fn a_file_that_axi_makes_names_its_schema() {
    let home = Home::new();
    let editor = home.write("bin/add", "#!/bin/sh\necho 'theme = \"dark\"' >>\"$1\"\n");
    let ran = run(home.axi().env("EDITOR", format!("sh {}", editor.display())).args(["config", "edit"]));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let read = |name: &str| std::fs::read_to_string(home.path().join("config/axi").join(name)).unwrap();
    assert_eq!(read("config.toml"), "#:schema config.schema.json\ntheme = \"dark\"\n");
    let printed = run(home.axi().args(["config", "schema"]));
    assert_eq!((printed.code, printed.out), (Some(0), read("config.schema.json")));
    let schema: Value = serde_json::from_str(&read("config.schema.json")).unwrap();
    assert_eq!(schema["properties"]["edit_mode"]["enum"], serde_json::json!(["emacs", "vi"]));
    // A file the person began is theirs, and no schema is put beside it.
    home.write("config/axi/config.toml", "# mine\n");
    std::fs::remove_file(home.path().join("config/axi/config.schema.json")).unwrap();
    run(home.axi().env("EDITOR", "true").args(["config", "edit"]));
    assert!(!home.path().join("config/axi/config.schema.json").exists());
    assert_eq!(read("config.toml"), "# mine\n");
}

#[test]
fn a_folder_that_cannot_be_made_is_not_the_editors_fault() {
    let home = Home::new();
    home.write("file", "");
    let blocked = home.path().join("file");
    let ran = run(home.axi().env("XDG_CONFIG_HOME", &blocked).env("EDITOR", "true").args(["config", "edit"]));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.err.contains("cannot be written (") && !ran.err.contains("true failed"), "{ran:?}");
}
