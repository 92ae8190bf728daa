//! The first start of a REPL, in every state a home can be in: what is asked, what is written, and what is not.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use rustix::termios::LocalModes;
use serde_json::json;

use crate::support::home::Home;
use crate::support::pty::{Options, Pty};
use crate::support::server::{Answer, Gate, Server, answer};
use crate::support::talk::{Person, last_said};

const QUESTION: &str = "Which model shall answer?";
const KEY: &str = "odd-key-4471";

/// axi with nothing but a home; no server of this machine is asked.
fn nothing(home: &Home) -> Command {
    let mut command = home.axi();
    for variable in ["OLLAMA_HOST", "LMSTUDIO_BASE_URL", "LLAMACPP_BASE_URL", "VLLM_BASE_URL", "LITELLM_BASE_URL"] {
        command.env(variable, "http://127.0.0.1:1");
    }
    command
}

/// A server that lists two models for who has the key, and answers.
fn lab() -> Server {
    let server = Server::start([answer::chat_text("hello back")]);
    server.decide(|request| {
        if !request.text.is_empty() && !request.body.is_null() {
            return None;
        }
        let has_key = request.header("authorization") == Some(&format!("Bearer {KEY}"));
        let list = json!({"data": [{"id": "one"}, {"id": "two"}]});
        Some(if has_key {
            Answer::json(200, &list)
        } else {
            Answer::json(401, &json!({"error": {"message": "no"}}))
        })
    });
    server
}

fn settings(home: &Home) -> Option<String> {
    std::fs::read_to_string(home.path().join("config/axi/config.toml")).ok()
}

/// Every file below a directory, by its name.
fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let below = entries.flat_map(|entry| {
        let path = entry.path();
        if path.is_dir() { files(&path) } else { vec![path.display().to_string()] }
    });
    below.collect()
}

fn started(terminal: Options, command: &Command) -> Pty {
    let pty = terminal.spawn(command);
    pty.wait_for(QUESTION);
    pty
}

#[test]
fn an_empty_home_is_asked_once_and_not_now_says_how_to_come_back() {
    for keys in ["\x1b", "n"] {
        let home = Home::new();
        let mut pty = started(Pty::options(), &nothing(&home));
        let keys = if keys == "n" { pty.number("not now") } else { keys.to_owned() };
        assert!(pty.transcript().contains("axi has no model yet"), "{}", pty.describe());
        pty.send(keys);
        assert_eq!(pty.wait_exit().code(), Some(3));
        let seen = pty.transcript();
        for way in ["export ANTHROPIC_API_KEY", "axi local pull", "/setup"] {
            assert!(seen.contains(way), "{seen}");
        }
        assert_eq!(settings(&home), None);
        let raw = pty.view(|view| String::from_utf8_lossy(view.raw()).into_owned());
        assert!(raw.rfind("\x1b[?25h") > raw.rfind("\x1b[?25l"), "the cursor is given back: {raw:?}");
    }
}

#[test]
fn nothing_is_asked_where_either_end_is_no_terminal() {
    let home = Home::new();
    for arguments in [["hello"].as_slice(), &["-p", "hello"]] {
        let ran = crate::support::talk::run(nothing(&home).args(arguments));
        assert_eq!(ran.code, Some(3), "{ran:?}");
        assert!(!ran.err.contains(QUESTION) && ran.err.contains("no model is configured"), "{ran:?}");
    }
}

#[test]
fn settings_that_are_broken_are_mended_and_the_typed_line_is_sent() {
    let home = Home::new();
    home.write("config/axi/config.toml", "model = [broken\n");
    let mut pty = Pty::options().spawn(&nothing(&home));
    pty.wait_for("read them again");
    assert!(pty.transcript().contains("config.toml:1:"), "{}", pty.describe());
    pty.send("n");
    assert_eq!(pty.wait_exit().code(), Some(3));
    assert_eq!(settings(&home).as_deref(), Some("model = [broken\n"));

    let server = lab();
    let mended = format!("model = \"lab/one\"\n[providers.lab]\nbase_url = \"{}\"\n", server.url("/v1"));
    let fixed = home.write("fixed.toml", &mended);
    let mut command = nothing(&home);
    command.env("EDITOR", format!("cp {}", fixed.display())).arg("hello there");
    let pty = Pty::options().spawn(&command);
    pty.wait_for("read them again");
    let mut person = Person { pty };
    person.types("e");
    person.sees("hello back");
    assert_eq!(last_said(&server.requests()[0]), "hello there");
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn a_model_that_is_gone_is_told_from_none_at_all() {
    let home = Home::new();
    home.write("config/axi/config.toml", "# mine\nmodel = \"gone/x\"\n");
    let mut pty = started(Pty::options(), &nothing(&home));
    let seen = pty.transcript();
    assert!(
        seen.contains("there is no provider named gone") && seen.contains("The model in your settings"),
        "{seen}"
    );
    pty.send("\x03");
    assert_eq!(pty.wait_exit().code(), Some(130));
    assert_eq!(settings(&home).as_deref(), Some("# mine\nmodel = \"gone/x\"\n"));
}

#[test]
fn a_provider_its_key_and_a_model_are_chosen_and_the_typed_line_is_sent() {
    let home = Home::new();
    let server = lab();
    let mut command = nothing(&home);
    command.env("OPENAI_BASE_URL", server.url("/v1")).arg("hello there");
    let mut person = Person { pty: started(Pty::options(), &command) };
    let other = person.pty.number("another provider");
    person.types(other);
    person.sees("Which provider?");
    person.types("openai");
    person.sees("› openai");
    person.types("\r");
    person.sees("How do you want to give the key?");
    person.types("k");
    person.sees("Key for openai");
    person.types("wrong\r");
    person.sees("openai refused the key");
    person.sees_choice("type or paste it");
    person.types("k");
    person.waits(|view| view.text().matches("Key for openai").count() == 2, "the key again");
    person.types(format!("{KEY}\r"));
    person.sees("openai accepts it");
    let two = person.pty.number("  two");
    person.types(two);
    person.sees("Yes, in this file");
    person.types("y");
    person.sees("axi uses openai/two from now on; kept in ~/config/axi/config.toml");
    person.sees("hello back");
    assert_eq!(server.requests().last().unwrap().body["model"], "two");
    let kept = settings(&home).unwrap();
    assert!(kept.contains("model = \"openai/two\"") && !kept.contains(KEY), "{kept}");
    assert_eq!(person.count(KEY), 0);
    let file = home.path().join("state/axi/keys.json");
    assert!(std::fs::read_to_string(file).unwrap().contains(KEY));
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn a_server_at_another_address_is_asked_for_its_protocol_its_key_and_a_model() {
    let home = Home::new();
    let server = lab();
    let mut command = nothing(&home);
    command.arg("hello there");
    let mut person = Person { pty: started(Pty::options(), &command) };
    let elsewhere = person.pty.number("a server at another address");
    person.types(&elsewhere);
    person.sees("the server's address ❯");
    person.types("no address\r");
    let protocol = person.pty.number("openai-chat");
    person.types(&protocol);
    person.sees("no address is not the address of a server");
    person.waits(|view| view.text().matches(QUESTION).count() == 2, "the offers again");
    person.types(&elsewhere);
    person.waits(|view| view.text().matches("the server's address ❯").count() == 2, "the address again");
    person.types(format!("{}\r", server.url("")));
    person.waits(|view| view.text().matches("Which protocol does it speak?").count() == 2, "the protocol");
    person.types(&protocol);
    person.sees("How do you want to give the key?");
    person.types("k");
    person.sees("Key for 127-0-0-1");
    person.types(format!("{KEY}\r"));
    let two = person.pty.number("  two");
    person.types(two);
    person.sees("Yes, in this file");
    person.types("y");
    person.sees("axi uses 127-0-0-1/two from now on");
    person.sees("hello back");
    let kept = settings(&home).unwrap();
    let section =
        format!("[providers.127-0-0-1]\nprotocol = \"openai-chat\"\nbase_url = \"{}\"\n", server.url("/v1"));
    assert!(kept.contains("model = \"127-0-0-1/two\"") && kept.contains(&section) && !kept.contains(KEY), "{kept}");
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn a_server_that_lists_no_models_is_asked_for_the_one_the_person_names() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("hello back")]);
    server.decide(|request| request.body.is_null().then(|| Answer::json(404, &json!({"error": "no such page"}))));
    let mut command = nothing(&home);
    command.arg("hello there");
    let mut person = Person { pty: started(Pty::options(), &command) };
    let elsewhere = person.pty.number("a server at another address");
    person.types(&elsewhere);
    person.sees("the server's address ❯");
    person.types(format!("{}\r", server.url("")));
    let protocol = person.pty.number("openai-chat");
    person.types(&protocol);
    person.sees("the model's name ❯");
    person.types("mine\r");
    person.sees("axi uses 127-0-0-1/mine from now on");
    person.sees("hello back");
    assert_eq!(server.requests().last().unwrap().body["model"], "mine");
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn what_another_agent_asks_is_taken_over_and_its_secret_only_after_a_yes() {
    for yes in [true, false] {
        let home = Home::new();
        let server = lab();
        let codex = format!(
            "model = \"two\"\nmodel_provider = \"lab\"\n[model_providers.lab]\nbase_url = \"{}\"\nwire_api = \"chat\"\n",
            server.url("/v1")
        );
        home.write(".codex/config.toml", &codex);
        home.write(".codex/auth.json", &json!({"OPENAI_API_KEY": KEY}).to_string());
        let mut person = Person { pty: started(Pty::options(), &nothing(&home)) };
        let import = person.pty.number("lab/two, as in codex");
        person.types(import);
        person.sees("Use it in axi?");
        person.types(if yes { "y" } else { "n" });
        if yes {
            person.sees_choice("two");
            person.types("\r");
            person.sees("Yes, in this file");
            person.types("n");
            person.sees("axi uses lab/two from now on");
            person.sends("hello");
            person.sees("hello back");
            let kept = settings(&home).unwrap();
            assert!(kept.contains("[providers.lab]") && kept.contains("base_url") && !kept.contains(KEY), "{kept}");
            assert!(!files(&home.path().join("state")).iter().any(|file| file.ends_with("keys.json")));
            assert_eq!(person.leaves(), Some(0));
        } else {
            person.sees("How do you want to give the key?");
            person.types("\x03");
            assert_eq!(person.pty.wait_exit().code(), Some(130));
            let keyed = |request: &crate::support::server::Recorded| {
                request.header("authorization").is_some_and(|value| value.contains(KEY))
            };
            assert!(!server.requests().iter().any(keyed));
        }
    }
}

#[test]
fn what_is_typed_while_a_key_is_tried_is_not_shown_and_ctrl_c_leaves() {
    let home = Home::new();
    let (server, gate) = (Server::start([]), Gate::new());
    let held = gate.clone();
    let list = json!({"data": [{"id": "one"}, {"id": "two"}]});
    server.decide(move |request| {
        let no = || Answer::json(401, &json!({"error": {"message": "no"}}));
        let tried = request.header("authorization").map(|_| Answer::json(200, &list).gate_before(0, &held));
        Some(tried.unwrap_or_else(no))
    });
    let mut command = nothing(&home);
    command.env("OPENAI_BASE_URL", server.url("/v1"));
    let mut person = Person { pty: started(Pty::options(), &command) };
    let other = person.pty.number("another provider");
    person.types(other);
    person.sees("Which provider?");
    person.types("openai");
    person.sees("› openai");
    person.types("\r");
    person.sees("How do you want to give the key?");
    person.types("k");
    person.sees("Key for openai");
    person.types(format!("{KEY}\r"));
    gate.wait_reached();
    let mut pty = person.pty;
    pty.send("pasted-too-early\r");
    pty.wait_read();
    assert!(!pty.termios().local_modes.contains(LocalModes::ECHO), "typed keys are echoed");
    pty.send("\x03");
    assert_eq!(pty.wait_exit().code(), Some(130), "{}", pty.describe());
    assert!(!pty.view(|view| String::from_utf8_lossy(view.raw()).contains("pasted")), "{}", pty.describe());
    assert_eq!(files(&home.path().join("config")), Vec::<String>::new());
    assert!(pty.termios().local_modes.contains(LocalModes::ECHO), "the terminal is given back");
}

#[test]
fn ctrl_c_at_any_step_leaves_nothing_half_written() {
    // The keys up to each question, by the text of the question.
    let steps =
        [("Which provider?", "other"), ("How do you want to give the key?", "openai\r"), ("Key for openai", "k")];
    for last in 0..=steps.len() {
        let home = Home::new();
        let server = lab();
        let mut command = nothing(&home);
        command.env("OPENAI_BASE_URL", server.url("/v1"));
        let mut pty = started(Pty::options(), &command);
        for (question, keys) in &steps[..last] {
            let keys = if *keys == "other" { pty.number("another provider") } else { (*keys).to_owned() };
            if let Some((name, _)) = keys.split_once('\r') {
                pty.send(name);
                pty.wait_for(&format!("› {name}"));
                pty.send("\r");
            } else {
                pty.send(keys);
            }
            pty.wait_for(question);
        }
        pty.send("\x03");
        // From the list of providers and from the key the way leads back to the first question.
        if last == 1 || last == 3 {
            assert!(
                pty.wait_until(|view| view.text().trim_end().ends_with("not now"), crate::support::pty::PATIENCE)
            );
            pty.send("\x03");
        }
        assert_eq!(pty.wait_exit().code(), Some(130), "{}", pty.describe());
        assert_eq!(files(&home.path().join("config")), Vec::<String>::new());
        assert!(!files(&home.path().join("state")).iter().any(|file| file.ends_with("keys.json")));
    }
}

#[test]
fn settings_that_cannot_be_written_cost_only_the_next_start() {
    let home = Home::new();
    let server = lab();
    let home_of_settings = home.write("file", "no directory");
    home.write(".codex/config.toml", &format!(
        "model = \"one\"\nmodel_provider = \"lab\"\n[model_providers.lab]\nbase_url = \"{}\"\nenv_key = \"LAB\"\nwire_api = \"chat\"\n",
        server.url("/v1")
    ));
    let mut command = nothing(&home);
    command.env("XDG_CONFIG_HOME", home_of_settings.join("below")).env("LAB", KEY);
    let mut person = Person { pty: started(Pty::options(), &command) };
    let import = person.pty.number("lab/one, as in codex");
    person.types(import);
    person.sees_choice("one");
    person.types("\r");
    person.sees("warning:");
    person.sees_prompt();
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn it_speaks_the_persons_language_in_forty_columns() {
    for (language, question, later) in
        [("zh_CN.UTF-8", "由哪个模型来回答？", "以后再说"), ("ja_JP.UTF-8", "どのモデルを使いますか？", "後で")]
    {
        let home = Home::new();
        let mut command = nothing(&home);
        command.env("LC_ALL", language);
        let mut pty = Pty::options().size(40, 30).spawn(&command);
        pty.wait_for(question);
        pty.wait_for(later);
        assert!(!pty.transcript().contains("offline"), "{}", pty.describe());
        pty.send("\x1b");
        assert_eq!(pty.wait_exit().code(), Some(3));
        assert!(pty.transcript().contains("/setup"), "{}", pty.describe());
    }
}

#[test]
fn setup_runs_it_again_and_the_next_line_goes_to_the_new_model() {
    let home = Home::new();
    let server = lab();
    home.write(
        "config/axi/config.toml",
        &format!(
            "# mine\nmodel = \"lab/one\"\n[providers.lab]\nbase_url = \"{}\"\napi_key_env = \"LAB\"\n",
            server.url("/v1")
        ),
    );
    let mut command = nothing(&home);
    command.env("LAB", KEY);
    let mut person = Person::meets(&command);
    person.sends("/setup");
    person.sees(QUESTION);
    let lab = person.pty.number("lab, with the key in LAB");
    person.types(lab);
    person.sees("lab accepts it");
    let two = person.pty.number("  two");
    person.types(two);
    person.sees("using lab/two");
    person.sends("hello");
    person.sees("hello back");
    assert_eq!(server.requests().last().unwrap().body["model"], "two");
    assert!(settings(&home).unwrap().starts_with("# mine\nmodel = \"lab/two\"\n"), "{:?}", settings(&home));
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn a_server_that_is_installed_is_started_and_goes_on_running() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("hello back")]);
    let runs = home.path().join("runs");
    let is_started = runs.clone();
    let list = json!({"data": [{"id": "one"}]});
    server.decide(move |request| {
        let answered = if is_started.exists() { Answer::json(200, &list) } else { Answer::json(503, &json!({})) };
        request.body.is_null().then_some(answered)
    });
    let script = format!("#!/bin/sh\necho \"$*\" $$ >'{}'\nexec sleep 1000\n", runs.display());
    let lms = home.write("bin/lms", &script);
    std::fs::set_permissions(&lms, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", lms.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut command = nothing(&home);
    command.env("LMSTUDIO_BASE_URL", server.url("/v1")).env("PATH", path).arg("hello there");
    let mut person = Person { pty: started(Pty::options(), &command) };
    let start = person.pty.number("start lmstudio: lms server start");
    person.types(start);
    person.sees("axi started `lms server start`");
    person.sees("axi uses lmstudio/one from now on");
    person.sees("hello back");
    let said = std::fs::read_to_string(&runs).unwrap();
    let (arguments, process) = said.trim().rsplit_once(' ').unwrap();
    assert_eq!(arguments, "server start");
    assert!(person.count(&format!("(process {process})")) > 0, "{}", person.pty.describe());
    assert_eq!(person.leaves(), Some(0));
    let process = rustix::process::Pid::from_raw(process.parse().unwrap()).unwrap();
    // It was axi's child, and is nobody's when axi has ended.
    rustix::process::test_kill_process(process).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::KILL).unwrap();
}

#[test]
fn a_server_that_cannot_be_started_is_told_and_the_offers_come_again() {
    let home = Home::new();
    let lms = home.write("bin/lms", "#!/bin/sh\nexit 7\n");
    std::fs::set_permissions(&lms, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", lms.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut command = nothing(&home);
    let mut person = Person { pty: started(Pty::options(), command.env("PATH", path)) };
    let start = person.pty.number("start lmstudio");
    person.types(start);
    person.sees("`lms server start` did not start a server");
    person.waits(|view| view.text().matches(QUESTION).count() == 2, "the offers again");
    person.types("\x03");
    assert_eq!(person.pty.wait_exit().code(), Some(130));
}
