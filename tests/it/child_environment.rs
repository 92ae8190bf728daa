//! What an approved command finds of the secrets in axi's environment, and what of a planted home is ever sent.

use serde_json::json;

use crate::support::home::Home;
use crate::support::server::{Server, answer};
use crate::support::talk::{KEY, axi, run};

/// Runs a line with a yes to all, and returns what the model was told of it.
fn told(home: &Home, line: &str) -> String {
    let arguments = json!({"command": line}).to_string();
    let server = Server::start([answer::chat_call("call_1", "shell", &arguments), answer::chat_text("Done.")]);
    let mut axi = axi(home, &server);
    axi.env("GITHUB_TOKEN", "gh-odd-value-1").env("DB_PASSWORD", "db-odd-value-2").env("PLAIN", "seen");
    let ran = run(axi.args(["-y", "-p", "go"]));
    let requests = server.requests();
    assert_eq!((ran.code, requests.len()), (Some(0), 2), "{ran:?}");
    requests[1].text.clone()
}

#[test]
fn an_approved_command_gets_no_key_and_only_the_secrets_its_line_names() {
    let home = Home::new();
    let line = "touch made; env";
    let text = told(&home, line);
    assert!(text.contains("PLAIN=seen") && home.work().join("made").exists(), "{text}");
    assert!(![KEY, "gh-odd-value-1", "db-odd-value-2"].iter().any(|secret| text.contains(secret)), "{text}");

    let text = told(&home, "touch made; printf %s \"$DB_PASSWORD\" | wc -c; printf %s \"$OPENAI_API_KEY\" | wc -c");
    assert!(text.contains("14\\n0"), "{text}");

    let text = told(&home, "touch made; false");
    assert!(text.contains("not in its environment: ") && text.contains("GITHUB_TOKEN"), "{text}");

    home.write("config/axi/config.toml", "command_secrets = \"all\"\n");
    let text = told(&home, line);
    assert!(text.contains("GITHUB_TOKEN="), "{text}");
}

#[test]
fn no_reading_call_brings_a_planted_secret_into_a_request() {
    const CANARY: &str = "canary-4be1-odd";
    let home = Home::new();
    for name in [
        ".ssh/id_rsa",
        ".aws/credentials",
        ".netrc",
        ".git-credentials",
        ".config/gh/hosts.yml",
        ".kaggle/kaggle.json",
        ".cache/huggingface/token",
        "config/axi/config.toml",
        "state/axi/history",
        "work/.env",
        "work/a/b/.env",
        "work/key.pem",
        "work/tls.key",
        "work/sub/id_ed25519",
        "work/secrets.yml",
        "work/credentials.json",
    ] {
        home.write(name, &format!("# {CANARY}\n"));
    }
    let calls = [
        ("grep", json!({"pattern": "canary", "path": "~", "glob": "*"})),
        ("grep", json!({"pattern": "canary", "path": "~", "glob": ".*"})),
        ("grep", json!({"pattern": "canary"})),
        ("grep", json!({"pattern": "canary", "glob": "**/.env"})),
        ("grep", json!({"pattern": "canary", "path": "~/.ssh"})),
        ("read", json!({"path": ".env"})),
        ("read", json!({"path": "~/.config/gh/hosts.yml"})),
        ("read", json!({"path": "../config/axi/config.toml"})),
        ("read", json!({"path": "../state/axi/history"})),
        ("shell", json!({"command": "grep -r canary ."})),
        ("shell", json!({"command": "find . -type f -exec cat {} +"})),
        ("shell", json!({"command": "cat a/b/.e*"})),
        ("shell", json!({"command": "cat < a/b/.env"})),
        ("shell", json!({"command": "git grep --no-index canary"})),
        ("shell", json!({"command": "ls -A sub | xargs -I{} cat sub/{}"})),
        ("shell", json!({"command": "head -n 9 *"})),
    ];
    for agent in ["build", "plan", "explore"] {
        for (tool, arguments) in &calls {
            let call = answer::chat_call("call_1", tool, &arguments.to_string());
            let server = Server::start([call, answer::chat_text("Done.")]);
            let ran = run(axi(&home, &server).args(["--agent", agent, "-p", "look"]));
            let sent: Vec<String> = server.requests().iter().map(|request| request.text.clone()).collect();
            assert!(!sent.iter().any(|text| text.contains(CANARY)), "{agent} {tool} {arguments}\n{ran:?}");
        }
    }
}
