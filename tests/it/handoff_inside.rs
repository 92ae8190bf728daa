//! The agent's commands find the shell as the person has it: aliases, functions and options, also those that only that
//! shell reads; and what a function of the person's does to the shell comes back.

use std::path::Path;

use crate::support::server::{Server, answer};
use crate::support::shells::{AtPrompt, ROWS, Row};
use crate::support::skip::has;
use crate::support::talk::last_said;
use crate::trial::can_try;

const ALLOW: &str = "[permissions]\nallow = [\"shell\"]\n";

/// What each shell's start-up file defines. `seen` is what the option makes of `false | true`.
const OWN: [(&str, &str, &str); 3] = [
    (
        "zsh",
        "alias gg='echo ali\"a\"sed' rm='rm -i'\nhello() {\n  local -a words=(one two)\n  echo ${words[1]:u} $(_name) \"$1\"\n}\n\
         _name() { echo me; }\nsetopt pipefail\n",
        "1",
    ),
    (
        "bash",
        "alias gg='echo ali\"a\"sed' rm='rm -i'\nhello() {\n  local -a words=(one two)\n  echo \"${words[0]^^}\" $(_name) \"$1\"\n}\n\
         _name() { echo me; }\nset -o pipefail\n",
        "1",
    ),
    (
        "fish",
        "alias gg 'echo aliased'\nfunction hello\n  set -l words one two\n  echo (string upper $words[1]) (_name) $argv[1]\nend\n\
         function _name; echo me; end\n",
        "0",
    ),
];

fn start(row: &Row, server: &Server, own: &str, prepare: &dyn Fn(&Path)) -> Option<AtPrompt> {
    let before = match row.name() {
        "fish" => "function fish_prompt; echo '@@ '; end\nfunction fish_greeting; end\n",
        _ => "PS1='@@ '\n",
    };
    row.start_prepared(server, &format!("{before}{own}{}", row.load), &|home| {
        std::fs::create_dir_all(home.join("config/axi")).unwrap();
        std::fs::write(home.join("config/axi/config.toml"), ALLOW).unwrap();
        prepare(home);
    })
}

/// Has the agent run a command; returns what it printed.
fn runs(person: &mut AtPrompt, server: &Server, command: &str) -> String {
    let input = serde_json::json!({ "command": command }).to_string();
    server.push(answer::chat_call("call_1", "shell", &input));
    server.push(answer::chat_text("Done it."));
    person.types("\x0c");
    person.waits(|view| view.text().trim_end() == "@@", "an empty screen");
    person.hands_over("do it");
    person.waits(|view| ["Yes, once", "Done it."].iter().any(|text| view.text().contains(text)), "an end");
    if person.pty.view(|view| view.text().contains("❯ ")) {
        person.types("y");
    }
    person.sees("Done it.");
    last_said(server.requests().last().unwrap())
}

#[test]
fn the_agents_commands_find_aliases_functions_and_options_of_the_shell() {
    for (row, (shell, own, status)) in ROWS.iter().zip(OWN) {
        assert_eq!(row.name(), shell);
        let server = Server::start([]);
        let Some(mut person) = start(row, &server, own, &|_| {}) else { continue };
        let command =
            "gg; hello 'you 2'; false | true; echo \"$?\"; touch made; rm made; test ! -e made && echo gone";
        let printed = runs(&mut person, &server, command);
        assert!(printed.starts_with(&format!("aliased\nONE me you 2\n{status}\ngone")), "{shell}: {printed}");
        // Nothing of it changed the shell, and nothing of what was handed over is left.
        person.sees_line("");
        let runtime = person.home.path().join("runtime/axi");
        let left: Vec<_> = runtime.read_dir().into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
        assert!(left.is_empty(), "{shell}: {left:?}");
    }
}

#[test]
fn what_is_tried_from_a_question_finds_the_same_shell() {
    if !can_try() {
        return;
    }
    for (row, (shell, own, _)) in ROWS.iter().zip(OWN) {
        let server = Server::start([]);
        let offered = if shell == "fish" { "set -e AXI_TRIAL\n" } else { "unset AXI_TRIAL\n" };
        let settings = |home: &Path| std::fs::write(home.join("config/axi/config.toml"), "").unwrap();
        let Some(mut person) = start(row, &server, &format!("{own}{offered}"), &settings) else { continue };
        let input = serde_json::json!({ "command": "gg > made; [[ -s made ]] && hello x >> made" }).to_string();
        server.push(answer::chat_call("call_1", "shell", &input));
        server.push(answer::chat_text("Tried it."));
        person.hands_over("do it");
        person.waits(|view| view.text().contains("Yes, once"), "the question");
        person.types("t");
        person.waits(|view| view.text().contains("+ made (") && view.text().contains("❯ "), "the trial's page");
        // A shell in it, and what that starts, are as they would be without axi.
        person.types("o");
        person.sees("A shell in the trial");
        person.types("bash -c 'echo env=${BASH_ENV-none} ${AXI_DEFINITIONS-none}' > env\rexit\r");
        person.waits(|view| view.text().contains("+ env (") && view.text().contains("❯ "), "the page again");
        person.types("y");
        person.sees("Tried it.");
        let seen = std::fs::read_to_string(person.home.work().join("env"));
        assert_eq!(seen.ok().as_deref(), Some("env=none none\n"), "{shell}");
        let made = std::fs::read_to_string(person.home.work().join("made"));
        assert_eq!(made.ok().as_deref(), Some("aliased\nONE me x\n"), "{shell}");
        let told = last_said(server.requests().last().unwrap());
        assert!(!told.contains("axi-env"), "{shell}: {told}");
    }
}

/// A version manager like nvm: a function that puts a version's programs in front, and says so.
const MANAGER: &str = "vm() {\n  if [ \"$1\" != use ] || [ ! -d \"$HOME/versions/$2\" ]; then echo \"no $2\" >&2; return 3; fi\n  \
    export VM_BIN=\"$HOME/versions/$2/bin\"\n  export PATH=\"$VM_BIN:$PATH\"\n  unset VM_OLD\n  echo \"Now using $2\"\n}\n\
    export VM_OLD=1\n";
const MANAGER_OF_FISH: &str = "function vm\n  if test $argv[1] != use; or not test -d $HOME/versions/$argv[2]\n    echo no $argv[2] >&2\n    return 3\n  end\n  \
    set -gx VM_BIN $HOME/versions/$argv[2]/bin\n  set -gx PATH $VM_BIN $PATH\n  set -e VM_OLD\n  echo Now using $argv[2]\nend\n\
    set -gx VM_OLD 1\n";

#[test]
fn what_a_version_manager_does_comes_back() {
    for row in &ROWS {
        let server = Server::start([]);
        let own = if row.name() == "fish" { MANAGER_OF_FISH } else { MANAGER };
        let versions = |home: &Path| {
            let bin = home.join("versions/v20/bin");
            std::fs::create_dir_all(&bin).unwrap();
            std::fs::write(bin.join("tool"), "#!/bin/sh\necho tool of 20\n").unwrap();
            let ran = std::process::Command::new("chmod").arg("+x").arg(bin.join("tool")).status().unwrap();
            assert!(ran.success());
        };
        let Some(mut person) = start(row, &server, own, &versions) else { continue };
        let printed = runs(&mut person, &server, "vm use v9; vm use v20 && tool");
        assert!(printed.contains("no v9") && printed.contains("tool of 20"), "{printed}");
        // Looking at it was the last of that; this is for the shell.
        person.types("\x15");
        person.sees_line("");
        runs(&mut person, &server, "vm use v20");
        let home = person.home.path().canonicalize().unwrap().display().to_string();
        person.sees("your shell is unchanged");
        person.waits(|view| view.text().contains("VM_BIN"), "the line");
        let text: String = person.pty.view(|view| view.text()).split_whitespace().collect();
        let line = if row.name() == "fish" {
            format!("@@set-gxPATH{home}/versions/v20/bin$PATH&&set-gxVM_BIN{home}/versions/v20/bin&&set-eVM_OLD")
        } else {
            format!(
                "@@exportPATH={home}/versions/v20/bin:\"$PATH\"&&exportVM_BIN={home}/versions/v20/bin&&unsetVM_OLD"
            )
        };
        assert!(text.contains(&line), "{}: {line}\n{text}", row.name());
        person.types("\r");
        person.sees_line("");
        person.types("clear\r");
        person.waits(|view| view.text().trim_end() == "@@", "an empty screen");
        let check =
            if row.name() == "fish" { "tool; set -q VM_OLD; or echo unset" } else { "tool; echo ${VM_OLD-unset}" };
        person.enters(check);
        person.sees("tool of 20\nunset");
    }
}

#[test]
fn what_direnv_loads_comes_back_by_direnv() {
    if !has("direnv") {
        return;
    }
    for row in &ROWS {
        let server = Server::start([]);
        let project = |home: &Path| {
            std::fs::create_dir_all(home.join("work/project")).unwrap();
            std::fs::write(home.join("work/project/.envrc"), "export LOADED=yes PLACE=here\n").unwrap();
        };
        let Some(mut person) = start(row, &server, "", &project) else { continue };
        person.enters("direnv allow project");
        person.sees_line("");
        runs(&mut person, &server, "cd project && eval \"$(direnv export bash)\"");
        let line = match row.name() {
            "fish" => "cd project && direnv export fish | source".to_owned(),
            shell => format!("cd project && eval \"$(direnv export {shell})\""),
        };
        person.sees_line(&line);
        person.types("\r");
        person.sees_line("");
        person.types("clear\r");
        person.waits(|view| view.text().trim_end() == "@@", "an empty screen");
        person.enters("echo $LOADED $PLACE; direnv status | grep -c 'Loaded RC path'");
        person.sees("yes here\n1");
    }
}
