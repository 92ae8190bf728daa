//! A real Secret Service: keys are kept in it, found in it and taken out of it; a locked or absent one holds nobody up.

use std::process::Command;

use serde_json::json;

use crate::support::authority::Authority;
use crate::support::home::Home;
use crate::support::server::{Answer, Server, answer};
use crate::support::skip;
use crate::support::talk::{Ran, run, run_with};

fn lab(home: &Home) -> Server {
    named(home, "api_key_env = \"LAB_KEY\"\n")
}

/// A server whose key stands where the settings say, or nowhere.
fn named(home: &Home, variable: &str) -> Server {
    let server = Server::start([answer::chat_text("one"), answer::chat_text("two")]);
    server.route("GET /v1/models", Answer::json(200, &json!({"data": [{"id": "m"}]})));
    let section = format!("[providers.lab]\nbase_url = \"{}\"\n{variable}", server.url("/v1"));
    home.write("config/axi/config.toml", &section);
    server
}

/// Runs a script in a D-Bus session of its own, which ends with it.
fn in_session(home: &Home, script: &str) -> Ran {
    let axi = home.axi();
    let mut command: Command = home.command("dbus-run-session");
    let with_axi = format!("axi() {{ '{}' \"$@\"; }}; {script}", axi.get_program().to_str().unwrap());
    run(command.args(["--", "bash", "-c", &with_axi]))
}

fn installed() -> bool {
    ["dbus-run-session", "gnome-keyring-daemon"].into_iter().all(skip::has)
}

/// The daemon opens a keyring of its own with the password it reads.
const UNLOCKED: &str =
    "printf pw | gnome-keyring-daemon --unlock --components=secrets --daemonize >/dev/null 2>&1; ";

#[test]
fn a_key_is_kept_in_the_keychain_found_there_and_taken_out_again() {
    if !installed() {
        return;
    }
    let home = Home::new();
    let server = lab(&home);
    let script = "printf sk-chain-7f3b1c9d | axi login lab && axi -p hi -m lab/m; \
                  axi logout lab; axi logout lab; axi -p hi -m lab/m";
    let ran = in_session(&home, &format!("{UNLOCKED}{script}"));
    assert!(ran.err.contains("in the keychain") || ran.err.contains("lab accepts it"), "{}", ran.err);
    let keys: Vec<Option<String>> =
        server.requests().iter().map(|sent| sent.header("authorization").map(str::to_owned)).collect();
    let key = || Some("Bearer sk-chain-7f3b1c9d".to_owned());
    assert_eq!(keys.get(..2), Some(&[key(), key()][..]), "tried, then asked with: {}", ran.err);
    assert!(keys.iter().skip(2).all(Option::is_none), "{keys:?}");
    assert!(!ran.err.contains("sk-chain") && !ran.out.contains("sk-chain"), "{}", ran.err);
    for entry in ["state/axi/keys.json", "config/axi/keys.json"] {
        assert!(!home.path().join(entry).exists(), "{entry}: it is in the keychain and nowhere else");
    }
}

#[test]
fn a_key_for_a_server_on_this_machine_is_found_too_though_such_a_server_seldom_has_one() {
    if !installed() {
        return;
    }
    let home = Home::new();
    let server = named(&home, "");
    let file = home.path().join("state/axi/keys.json");
    let login = in_session(
        &home,
        &format!(
            "{UNLOCKED}printf sk-chain-7f3b1c9d | axi login lab && axi -p hi -m lab/m; cat '{}'; axi logout lab",
            file.display()
        ),
    );
    let keys: Vec<Option<String>> =
        server.requests().iter().map(|sent| sent.header("authorization").map(str::to_owned)).collect();
    assert_eq!(keys, vec![Some("Bearer sk-chain-7f3b1c9d".to_owned()); 2], "{}", login.err);
    // That there is one is noted, so that nobody else's start waits for a locked keychain; the key itself is not.
    assert!(login.out.contains("lab http") && !login.out.contains("sk-chain"), "{}", login.out);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "{}", "the note goes with the key");
}

#[test]
fn for_a_server_on_this_machine_the_keychain_is_asked_only_where_something_says_that_there_is_a_key() {
    if !skip::has("dbus-run-session") {
        return;
    }
    for (variable, is_asked) in [("", false), ("api_key_env = \"LAB_KEY\"\n", true)] {
        let home = Home::new();
        let _server = named(&home, variable);
        let started = home.path().join("started");
        // The bus starts the service for whoever asks it.
        let service = format!(
            "[D-BUS Service]\nName=org.freedesktop.secrets\nExec=/bin/sh -c 'echo x >{}'\n",
            started.display()
        );
        home.write("data/dbus-1/services/org.freedesktop.secrets.service", &service);
        let ran = in_session(&home, "axi -p hi -m lab/m");
        assert_eq!((ran.code, ran.out.trim()), (Some(0), "one"), "{}", ran.err);
        assert_eq!(started.exists(), is_asked, "{variable}");
    }
}

#[test]
fn a_locked_an_absent_and_a_silent_keychain_are_told_with_a_way_on() {
    if !installed() {
        return;
    }
    // A daemon that nobody unlocked asks in a window that nobody sees; without a daemon there is nobody to ask; and one
    // that is started and never comes up says nothing, until it ends, which is told otherwise: what axi says of it shows
    // that axi was done before.
    let (refused, silent) = ("the keychain cannot be used: ", "the keychain cannot be used: it does not answer");
    let locked = "gnome-keyring-daemon --start --components=secrets >/dev/null 2>&1; ";
    for (case, before, word) in [("locked", locked, refused), ("absent", "", refused), ("silent", "", silent)] {
        let home = Home::new();
        let server = lab(&home);
        if case == "silent" {
            let service =
                "[D-BUS Service]\nName=org.freedesktop.secrets\nExec=/bin/sh -c 'exec sleep 20 >/dev/null 2>&1'\n";
            home.write("data/dbus-1/services/org.freedesktop.secrets.service", service);
        }
        let ran = in_session(&home, &format!("{before}printf sk-chain-7f3b1c9d | axi login lab"));
        assert_eq!(ran.code, Some(1), "{case}: {}", ran.err);
        let way_on = "set LAB_KEY in the environment instead, or keep the key in a file that only you can read: \
                      axi login lab --file";
        assert!(ran.err.contains(way_on), "{case}: {}", ran.err);
        assert!(ran.err.contains(word) && !ran.err.contains("sk-chain"), "{case}: {}", ran.err);
        let is_library = |word: &&str| ran.err.contains(word);
        assert_eq!(
            ["Platform", "platform", "store has", "D-Bus"].iter().find(|word| is_library(word)),
            None,
            "{}",
            ran.err
        );
        // A question goes on without it.
        let ran = in_session(&home, &format!("{before}LAB_KEY=sk-env axi -p hi -m lab/m"));
        assert_eq!(ran.code, Some(0), "{case}: {}", ran.err);
        assert_eq!(server.requests().last().unwrap().header("authorization"), Some("Bearer sk-env"), "{case}");
    }
}

#[test]
fn where_no_keychain_is_at_all_axi_says_so_in_its_own_words_in_each_language() {
    let home = Home::new();
    let _server = lab(&home);
    for (language, words) in [
        ("en", "no keychain service answers here"),
        ("zh-CN", "这里没有可用的钥匙串服务"),
        ("ja", "ここではキーチェーンのサービスが応答しません"),
    ] {
        let ran = run_with(home.axi().args(["--lang", language, "login", "lab"]), "sk-chain-7f3b1c9d");
        assert_eq!(ran.code, Some(1), "{}", ran.err);
        assert!(ran.err.contains(words) && ran.err.contains("axi login lab --file"), "{}", ran.err);
        assert!(!ran.err.contains("store") && !ran.err.contains("sk-chain"), "{}", ran.err);
    }
}

#[test]
fn models_are_listed_of_a_provider_whose_key_is_kept_and_of_none_without() {
    let listed = |home: &Home, in_file: bool| {
        let server = Server::start([]);
        server.route("GET /v1/models", Answer::json(200, &json!({"data": [{"id": "m"}]})));
        let section = format!("[providers.mistral]\nbase_url = \"{}\"\n", server.url("/v1"));
        home.write("config/axi/config.toml", &section);
        let before = run(home.axi().arg("models"));
        assert!(!before.out.contains("mistral/"), "{}", before.out);
        if in_file {
            let kept = run_with(home.axi().args(["login", "mistral", "--file"]), "sk-kept-7f3b1c9d");
            assert_eq!(kept.code, Some(0), "{}", kept.err);
            return run(home.axi().arg("models"));
        }
        in_session(home, &format!("{UNLOCKED}printf sk-kept-7f3b1c9d | axi login mistral; axi models"))
    };
    let ran = listed(&Home::new(), true);
    assert!(ran.out.contains("mistral/m"), "{}{}", ran.out, ran.err);
    if installed() {
        let ran = listed(&Home::new(), false);
        assert!(ran.out.contains("mistral/m"), "{}{}", ran.out, ran.err);
    }
}

#[test]
fn a_token_of_a_server_is_kept_in_the_keychain_and_taken_out_again() {
    if !installed() {
        return;
    }
    let authority = Authority::start();
    let home = authority.home();
    // The person pastes the address where their browser ended.
    let issuer = authority.issuer().replace(':', "%3A").replace('/', "%2F");
    let script = format!(
        "coproc SIGN {{ axi mcp login far; }}; back=${{SIGN[1]}}; read -r url <&${{SIGN[0]}}; state=${{url#*state=}}; \
         echo \"http://127.0.0.1/callback?code=c0de&state=${{state%%&*}}&iss={issuer}\" >&$back; wait $SIGN_PID; \
         axi mcp test far; axi mcp logout far; axi mcp logout far; axi mcp test far"
    );
    let ran = in_session(&home, &format!("{UNLOCKED}{script}"));
    let said =
        ["signed in to far; the token is in the keychain", "signed out of far", "there was no token for far"];
    for said in said {
        assert!(ran.err.contains(said), "{said}: {}", ran.err);
    }
    assert!(ran.out.contains("far works: "), "{} {}", ran.out, ran.err);
    assert!(ran.err.ends_with("hint: axi mcp login far\n"), "{}", ran.err);
    assert!(!home.path().join("state/axi/keys.json").exists(), "it is in the keychain and nowhere else");
}
