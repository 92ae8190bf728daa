//! `axi doctor`: one page on everything, each ✗ with what to do, and never the value of a key.

use serde_json::{Value, json};

use crate::support::home::Home;
use crate::support::pty::Pty;
use crate::support::server::{Answer, Server};
use crate::support::skip::skip;
use crate::support::talk::{KEY, run};

fn page(home: &Home, arguments: &[&str], variables: &[(&str, &str)]) -> Value {
    let mut command = home.axi();
    for name in ["OLLAMA_HOST", "LMSTUDIO_BASE_URL", "LLAMACPP_BASE_URL", "VLLM_BASE_URL", "LITELLM_BASE_URL"] {
        command.env(name, "http://127.0.0.1:1");
    }
    let ran = run(command.envs(variables.iter().copied()).args(["doctor", "--json"]).args(arguments));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(!ran.out.contains(KEY), "{ran:?}");
    serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{ran:?}"))
}

fn check<'a>(page: &'a Value, group: &str, name: &str) -> &'a Value {
    let groups = page["groups"].as_array().unwrap();
    let found = groups.iter().find(|known| known["group"] == group).unwrap();
    let checks = found["checks"].as_array().unwrap();
    checks.iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("{name} in {page:#}"))
}

#[test]
fn every_group_is_there_and_whatever_is_wrong_says_what_to_do() {
    let home = Home::new();
    home.write("config/axi/config.toml", "model = [broken\n");
    let page = page(&home, &[], &[("OPENAI_API_KEY", KEY), ("LANG", "xx_YY.UTF-8"), ("LC_ALL", "")]);
    let groups: Vec<&str> =
        page["groups"].as_array().unwrap().iter().map(|group| group["group"].as_str().unwrap()).collect();
    assert_eq!(groups, ["system", "files", "models", "guard", "errors", "display", "hooks"]);
    for group in page["groups"].as_array().unwrap() {
        for check in group["checks"].as_array().unwrap() {
            let todo = check["hint"].as_str();
            assert_eq!(check["ok"] == true, todo.is_none(), "{check}");
            assert!(todo.is_none_or(|todo| !todo.trim().is_empty()), "{check}");
        }
    }
    assert!(check(&page, "files", "settings")["hint"].as_str().unwrap().contains("axi config edit"));
    assert_eq!(check(&page, "models", "key of openai")["found"], "OPENAI_API_KEY");
    assert!(check(&page, "guard", "undo")["found"].as_str().unwrap().contains("tried just now"), "{page:#}");
    if std::process::Command::new("locale").arg("-a").output().is_ok() {
        let language = check(&page, "system", "language");
        assert!(
            language["hint"].as_str().is_some_and(|todo| todo.contains("LANG names xx_YY.UTF-8")),
            "{language}"
        );
    } else {
        skip("there is no `locale` to ask");
    }
    let text = run(home.axi().env("OPENAI_API_KEY", KEY).arg("doctor"));
    assert!(text.out.contains("**✗ files**") && text.out.contains("\n- ✗ settings: "), "{text:?}");
    assert!(!text.out.contains(KEY), "{text:?}");
}

#[test]
fn what_cannot_be_written_is_wrong() {
    let home = Home::new();
    let file = home.write("file", "");
    let below = file.join("below").display().to_string();
    let page = page(&home, &[], &[("XDG_STATE_HOME", &below)]);
    for (group, name) in [("files", "sessions"), ("guard", "undo")] {
        let check = check(&page, group, name);
        assert!(check["hint"].as_str().is_some_and(|todo| todo.contains("XDG_STATE_HOME")), "{check}");
    }
}

#[test]
fn the_model_that_a_turn_would_ask_is_not_missing() {
    let home = Home::new();
    let server = Server::start([]);
    server.route("GET /v1/models", Answer::json(200, &json!({"data": [{"id": "mine"}]})));
    let url = server.url("/v1");
    let of = |arguments: &[&str], variables: &[(&str, &str)]| {
        check(&page(&home, arguments, variables), "models", "model").clone()
    };
    let quiet = of(&[], &[("OPENAI_BASE_URL", &url)]);
    assert_eq!(
        (&quiet["ok"], quiet["found"].as_str().unwrap()),
        (&json!(true), &*format!("the first one that {url} lists"))
    );
    assert_eq!(server.requests().len(), 0, "nothing is called without --network");
    let called = of(&["--network"], &[("OPENAI_BASE_URL", &url)]);
    assert!(called["found"].as_str().unwrap().starts_with("openai/mine ("), "{called}");
    let keyed = of(&[], &[("ANTHROPIC_API_KEY", "x")]);
    assert!(keyed["found"].as_str().unwrap().starts_with("anthropic/"), "{keyed}");
    assert_eq!(of(&[], &[])["ok"], false);
}

#[test]
fn only_where_it_is_asked_for_is_each_provider_called() {
    let home = Home::new();
    let server = Server::start([]);
    server.decide(|request| {
        let well = request.header("authorization") == Some(&format!("Bearer {KEY}"));
        let (status, body) =
            if well { (200, json!({"data": [{"id": "m"}]})) } else { (401, json!({"error": "no"})) };
        Some(Answer::json(status, &body))
    });
    let section = |name: &str| {
        format!(
            "[providers.{name}]\nbase_url = \"{}\"\napi_key_env = \"{}\"\n",
            server.url("/v1"),
            name.to_uppercase()
        )
    };
    home.write("config/axi/config.toml", &(section("lab") + &section("old")));
    let variables = [("LAB", KEY), ("OLD", "expired-key-9")];
    let quiet = page(&home, &[], &variables);
    assert_eq!(check(&quiet, "models", "key of lab")["found"], "LAB");
    assert_eq!(server.requests().len(), 0, "nothing is called without --network");
    let called = page(&home, &["--network"], &variables);
    assert!(check(&called, "models", "call to lab")["found"].as_str().unwrap().starts_with("answered in "));
    let refused = check(&called, "models", "call to old");
    assert!(refused["ok"] == false && !refused["hint"].as_str().unwrap().is_empty(), "{refused}");
    assert!(!called.to_string().contains("expired-key-9"), "{called}");
}

#[test]
fn a_self_check_has_a_turn_run_and_fails_with_what_it_found_wrong() {
    let home = Home::new();
    let ran = run(home.axi().arg("self-check"));
    assert!(ran.out.contains("- answer of a scripted model: arrives as it was sent"), "{ran:?}");
    let is_well = !ran.out.contains("✗");
    assert_eq!(ran.code, Some(i32::from(!is_well)), "{ran:?}");
    // The turn needs nothing of the person's: their broken settings and dead proxy are not its business.
    home.write("config/axi/config.toml", "model = [broken\n");
    let ran = run(home.axi().env("http_proxy", "http://127.0.0.1:1").arg("self-check"));
    assert!(ran.out.contains("arrives as it was sent") && ran.out.contains("- ✗ settings: "), "{ran:?}");
    assert_eq!(ran.code, Some(1), "{ran:?}");
}

#[test]
fn a_narrow_terminal_gets_rows_that_break_at_words_and_a_line_for_the_shell_whole() {
    let home = Home::new();
    let whole = run(home.axi().env("SHELL", "/bin/zsh").arg("doctor"));
    let words: std::collections::BTreeSet<&str> = whole.out.split_whitespace().collect();
    for columns in [40, 60] {
        let mut pty = Pty::options().size(columns, 400).spawn(home.axi().env("SHELL", "/bin/zsh").arg("doctor"));
        pty.wait_exit();
        let raw = pty.view(|view| String::from_utf8_lossy(view.raw()).into_owned());
        let prose = |row: &&str| !row.starts_with("    ") && !row.contains('\x1b');
        // Of the terminal nothing is said where there is none.
        let (head, rest) = raw.split_once(" terminal**").expect("its group");
        let tail = rest.split_once("\n**").expect("the last group").1;
        for row in head.lines().chain(tail.lines()).filter(prose) {
            assert!(row.chars().count() < usize::from(columns), "{row:?}\n{raw}");
            // A path is too long for a row, and figures differ from one moment to the next.
            let plain = |word: &&str| !word.contains('/') && !word.contains(|letter: char| letter.is_ascii_digit());
            let broken: Vec<&str> =
                row.split_whitespace().filter(plain).filter(|word| !words.contains(word)).collect();
            assert!(broken.is_empty(), "{broken:?} in {row:?}\n{raw}");
        }
        assert!(raw.contains("&& . ~/"), "{raw}");
    }
    // Wide characters take two columns.
    let mut pty = Pty::options().size(40, 400).spawn(home.axi().args(["--lang", "zh-CN", "doctor"]));
    pty.wait_exit();
    let raw = pty.view(|view| String::from_utf8_lossy(view.raw()).into_owned());
    let width = |row: &str| row.chars().map(|letter| if letter > '\u{2e80}' { 2 } else { 1 }).sum::<usize>();
    for row in raw.lines().filter(|row| !row.starts_with("    ") && !row.contains('\x1b')) {
        assert!(width(row.trim_end()) < 40, "{row:?}\n{raw}");
    }
}
