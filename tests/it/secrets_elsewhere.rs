//! Secret files and who asks beside a terminal: an editor at `axi acp`, another program at `axi mcp serve`. Of a planted
//! home and workspace nothing goes to the model or into an answer unasked.
#![cfg(target_os = "linux")]

use serde_json::{Value, json};

use crate::support::editor::Editor;
use crate::support::home::Home;
use crate::support::server::{Server, answer};
use crate::support::talk::{axi, run, run_until_answered, said};

/// In words that look like no secret: nothing but the law of files keeps them back.
const CANARY: &str = "a quokka sits on the wall";

/// Below the home; the workspace is `work`.
const PLANTED: &[&str] = &[
    "work/.env",
    "work/sub/.env.local",
    "work/server.pem",
    "work/a/id_ed25519",
    "work/config/secrets.yml",
    "work/deep/.aws/config",
    ".ssh/id_rsa",
    ".aws/credentials",
    ".netrc",
    ".git-credentials",
    ".config/gh/hosts.yml",
    ".kaggle/kaggle.json",
    "other/.env",
];

/// Lines that read a file, `F`.
const READING: &[&str] = &[
    "cat F",
    "head -c 99 F",
    "grep . F",
    "sed -n p F",
    "sort F",
    "strings F",
    "while read l; do echo $l; done < F",
    "diff F /dev/null",
    "cp F /dev/stdout",
    "curl -s file://F",
];
/// Lines that find files by themselves.
const FINDING: &[&str] = &[
    "grep -rs quokka .",
    "find . -type f -exec cat {} +",
    "cat .e*",
    "cat */.e*",
    "cat ../.netrc ../.ssh/*",
    "tar c . | strings",
    "git grep --no-index quokka",
    "cat notes.txt second.txt",
    "head */* .[a-z]*",
];

fn planted() -> Home {
    let home = Home::new();
    for file in PLANTED {
        home.write(file, &format!("{CANARY}\n"));
    }
    home.write("work/notes.txt", "plain words\n");
    std::fs::hard_link(home.work().join(".env"), home.work().join("second.txt")).unwrap();
    std::os::unix::fs::symlink(".env", home.work().join("link.txt")).unwrap();
    home
}

fn calls(home: &Home) -> Vec<(&'static str, Value)> {
    let mut calls = Vec::new();
    for file in PLANTED {
        let path = home.path().join(file).display().to_string();
        calls.push(("read", json!({ "path": path })));
        calls.push(("grep", json!({ "pattern": "quokka", "path": path })));
        calls.push(("grep", json!({ "pattern": ".", "path": format!("{path}/..") })));
        calls.extend(READING.iter().map(|line| ("shell", json!({ "command": line.replace('F', &path) }))));
    }
    for file in ["link.txt", "second.txt"] {
        calls.push(("read", json!({ "path": file })));
        calls.extend(READING.iter().map(|line| ("shell", json!({ "command": line.replace('F', file) }))));
    }
    for path in [".", "..", "sub", "deep"] {
        for glob in ["*", ".*", "**/*", "*.pem"] {
            calls.push(("grep", json!({ "pattern": "quokka", "path": path, "glob": glob })));
        }
    }
    calls.extend(FINDING.iter().map(|line| ("shell", json!({ "command": line }))));
    calls
}

#[test]
fn an_editor_whose_person_says_no_gets_no_secret_to_the_model() {
    let home = planted();
    let calls = calls(&home);
    assert!(calls.len() >= 200, "{}", calls.len());
    let script = calls.iter().enumerate().flat_map(|(at, (name, input))| {
        [answer::chat_call(&format!("call_{at}"), name, &input.to_string()), answer::chat_text("I see.")]
    });
    let server = Server::start(script.chain([answer::chat_text("The end.")]));
    let mut editor = Editor::meets(&mut axi(&home, &server));
    let session = editor.opens(&home.work());
    let (mut asked, mut refused) = (0, 0);
    for (name, input) in &calls {
        let prompt = editor.prompts(&session, "look");
        loop {
            let message = editor.waits("a question or the end", |message| {
                message["id"] == prompt && message.get("method").is_none()
                    || message["method"] == "session/request_permission"
            });
            if message["method"].is_null() {
                assert!(message["result"]["stopReason"].is_string(), "{name} {input}: {message}");
                break;
            }
            asked += 1;
            editor.chooses(&message, "no");
        }
        refused += editor.updates("tool_call_update").iter().filter(|update| update["status"] == "failed").count();
    }
    let requests = server.requests();
    let leaked = requests.iter().find(|request| request.body.to_string().contains("quokka sits"));
    assert!(leaked.is_none(), "{:?}", leaked.map(|request| request.body["messages"].to_string()));
    let plain = requests.iter().any(|request| request.body.to_string().contains("plain words"));
    assert!(plain && asked > 50 && refused > 50, "{plain} {asked} {refused}");
    eprintln!("{} calls, {asked} asked, {refused} refused, {} requests", calls.len(), requests.len());
}

/// What each tool that only reads is given for each of its arguments.
const GIVEN: &[&str] = &[
    ".env",
    "sub/.env.local",
    "server.pem",
    "second.txt",
    "link.txt",
    "HEAD",
    "HEAD:.env",
    ".",
    "notes.txt",
    ".e*",
];

#[test]
fn another_program_gets_no_secret_by_the_tools_that_only_read() {
    let home = planted();
    let git =
        "git init -q . && git add -A && git -c user.name=a -c user.email=a@b commit -qm x && echo more >> .env";
    let made = std::process::Command::new("sh").args(["-c", git]).current_dir(home.work()).status().unwrap();
    assert!(made.success());
    let serve = || {
        let mut command = home.axi();
        command.args(["mcp", "serve"]).env("PATH", "/usr/bin:/bin");
        command
    };
    let message = |id: usize, method: &str, params: &Value| {
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string() + "\n"
    };
    let listed = run_until_answered(&mut serve(), &[message(1, "tools/list", &json!({}))]).out;
    let listed: Value = serde_json::from_str(listed.lines().next().unwrap()).unwrap();
    let mut lines = Vec::new();
    for tool in listed["result"]["tools"].as_array().unwrap() {
        let fields = tool["inputSchema"]["properties"].as_object().cloned().unwrap_or_default();
        lines.push(message(lines.len(), "tools/call", &json!({ "name": tool["name"], "arguments": {} })));
        for (name, _) in fields.iter().filter(|(_, field)| field["type"] == "string") {
            for given in GIVEN {
                let arguments = json!({ "name": tool["name"], "arguments": { name: given } });
                lines.push(message(lines.len(), "tools/call", &arguments));
            }
        }
    }
    assert!(lines.len() >= 50, "{}", lines.len());
    let ran = run_until_answered(&mut serve(), &lines);
    let leaked = ran.out.lines().find(|line| line.contains("quokka sits"));
    assert_eq!(leaked, None, "of {}", lines.len());
    assert!(ran.out.contains("plain words"), "{}", ran.out);
    assert!(ran.out.lines().count() >= lines.len(), "{}", ran.err);
    eprintln!("{} calls", lines.len());
}

#[test]
fn an_edit_that_fails_tells_nothing_of_a_file_that_is_not_read_unasked() {
    let home = Home::new();
    home.write("work/.env", "# CANARY stands near\n");
    home.write("work/private/diary.txt", "# CANARY stands near\n");
    home.write("work/plain.txt", "# CANARY stands near\n");
    std::fs::hard_link(home.work().join(".env"), home.work().join("second.txt")).unwrap();
    for (path, is_told) in
        [(".env", false), ("second.txt", false), ("private/diary.txt", false), ("plain.txt", true)]
    {
        let old = "# CANARY stands far";
        let patch = format!("*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+x\n*** End Patch");
        for (tool, arguments) in [
            ("edit", json!({ "path": path, "old_string": old, "new_string": "x" })),
            ("multi_edit", json!({ "path": path, "edits": [{ "old_string": old, "new_string": "x" }] })),
            ("apply_patch", json!({ "patch": patch })),
        ] {
            let call = answer::chat_call("call_1", tool, &arguments.to_string());
            let server = Server::start([call, answer::chat_text("It is done.")]);
            let ran = run(axi(&home, &server).args(["-p", "--deny", "read(private/**)", "change it"]));
            let requests = server.requests();
            let told = requests.iter().skip(1).map(|request| said(request, 3)).collect::<String>();
            if is_told {
                assert_eq!(ran.code, Some(0), "{tool} {path}: {ran:?}");
            } else {
                assert_eq!((ran.code, told.as_str()), (Some(5), ""), "{tool} {path}: {ran:?}");
            }
            assert_eq!(told.contains("stands near"), is_told && tool != "apply_patch", "{tool} {path}: {told}");
        }
    }
}
