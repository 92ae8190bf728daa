//! What the agent's commands changed in their own shells comes back to the person's as one line: nothing is changed
//! before Enter, and all of it after.

use crate::support::server::{Server, answer};
use crate::support::shells::{AtPrompt, ROWS, Row};
use crate::support::skip::skip;

/// Lets every command run: the questions have their own tests.
const ALLOW: &str = "[permissions]\nallow = [\"shell\"]\n";

/// Writes down all that a line can change, for each shell; what changes by itself is left out.
const WITNESS: [(&str, &str); 3] = [
    (
        "zsh",
        "witness() {\n  { pwd; alias; functions -m '[a-z]*'; set -o; typeset -p | grep -v \
         '^typeset[^=]* \\(_\\|.*AXI.*\\|_axi.*\\|HIST.*\\|RANDOM\\|SECONDS\\|LINENO\\|EPOCH.*\\|TTYIDLE\\|ERRNO\\|reply\\|.*history.*\\|.*_functions\\|funcstack\\|.*stat.*\\|.*jobs.*\\|.*dir.*\\|COLUMNS\\|LINES\\|.*trace\\|argv\\|\\?.*\\|\\!.*\\)=' ; \
         } >$1 2>/dev/null\n}\n",
    ),
    (
        "bash",
        "witness() {\n  { pwd; alias; for name in $(compgen -A function); do [[ $name == __axi* ]] || declare -f $name; done; set +o; shopt; declare -p | grep -v \
         '^declare [^ ]* \\(_\\|.*AXI.*\\|__axi.*\\|HIST.*\\|[S]*RANDOM\\|SECONDS\\|LINENO\\|EPOCH.*\\|BASH.*\\|FUNCNAME\\|PIPESTATUS\\|READLINE.*\\|COLUMNS\\|LINES\\|PS[012]\\|PROMPT_COMMAND\\)\\(=\\|$\\)'; \
         } >$1 2>/dev/null\n}\n",
    ),
    (
        "fish",
        "function witness\n  begin; pwd; functions -n; set | grep -v \
         '^\\(_\\|.*axi.*\\|.*AXI.*\\|.*status.*\\|CMD_DURATION\\|history\\|fish_pid\\|argv\\|COLUMNS\\|LINES\\|.*generation.*\\|fish_.*color.*\\|fish_killring\\|SECONDS\\)\\( \\|$\\)'; \
         end >$argv[1] 2>/dev/null\nend\n",
    ),
];

/// A command of the agent, the line that comes back in bash, zsh and fish, and what shows that it did it.
struct Case {
    command: &'static str,
    lines: [&'static str; 3],
    check: [&'static str; 3],
    seen: &'static str,
}

const CASES: &[Case] = &[
    Case {
        command: "alias gg='echo ali\"a\"sed'",
        lines: ["alias gg='echo ali\"a\"sed'", "alias gg='echo ali\"a\"sed'", "alias gg 'echo ali\"a\"sed'"],
        check: ["gg", "gg", "gg"],
        seen: "aliased",
    },
    Case {
        command: "greet() { if true; then echo \"hi $1\"; fi; echo end; }",
        lines: [
            "greet () { if true; then echo \"hi $1\"; fi; echo end; }",
            "greet () { if true; then echo \"hi $1\"; fi; echo end; }",
            "function greet; bash -c 'greet () { if true; then echo \"hi $1\"; fi; echo end; }; greet \"$@\"' greet \
             $argv; end",
        ],
        check: ["greet 'a b'", "greet 'a b'", "greet 'a b'"],
        seen: "hi a b",
    },
    Case {
        command: "mkdir -p 'deep er' && cd 'deep er'",
        lines: ["cd 'deep er'", "cd 'deep er'", "cd 'deep er'"],
        check: ["pwd; cd ..", "pwd; cd ..", "pwd; cd .."],
        seen: "/work/deep er",
    },
    Case {
        command: "export AA=\"it's \\$x\"",
        lines: ["export AA='it'\\''s $x'", "export AA='it'\\''s $x'", "set -gx AA 'it\\'s $x'"],
        check: ["printenv AA", "printenv AA", "printenv AA"],
        seen: "it's $x",
    },
    Case {
        command: "export PATH=\"$PWD/b in:$PATH\"",
        lines: ["@PATH", "@PATH", "@PATH"],
        check: ["printenv PATH | cut -d: -f1", "printenv PATH | cut -d: -f1", "printenv PATH | cut -d: -f1"],
        seen: "/work/b in",
    },
    Case {
        command: "arr=(1 '2 3' \"it's\")",
        lines: ["arr=(1 '2 3' 'it'\\''s')", "arr=(1 '2 3' 'it'\\''s')", "set -g arr 1 '2 3' 'it\\'s'"],
        check: [
            "printf '<%s>' \"${arr[@]}\"; echo",
            "printf '<%s>' \"${arr[@]}\"; echo",
            "printf '<%s>' $arr; echo",
        ],
        seen: "<1><2 3><it's>",
    },
    Case {
        command: "unset GONE",
        lines: ["unset GONE", "unset GONE", "set -e GONE"],
        check: ["echo gone-${GONE-no}", "echo gone-${GONE-no}", "echo gone-(set -q GONE; or echo no)"],
        seen: "gone-no",
    },
    Case {
        command: "source ./venv/bin/activate",
        lines: ["source venv/bin/activate", "source venv/bin/activate", "source venv/bin/activate.fish"],
        check: ["echo $VIRTUAL_ENV; deactivate", "echo $VIRTUAL_ENV; deactivate", "echo $VIRTUAL_ENV; deactivate"],
        seen: "/work/venv",
    },
    Case {
        command: "set -o noclobber",
        lines: ["set -o noclobber", "set -o noclobber", ""],
        check: ["echo x >f1; echo y >f1", "echo x >f1; echo y >f1", "echo exist"],
        seen: "exist",
    },
];

fn start(row: &Row, server: &Server) -> Option<AtPrompt> {
    let (_, witness) = WITNESS.iter().find(|(shell, _)| *shell == row.name()).unwrap();
    let gone = if row.name() == "fish" {
        "set -gx GONE 1\nset -gx VIRTUAL_ENV_DISABLE_PROMPT 1\n"
    } else {
        "export GONE=1 VIRTUAL_ENV_DISABLE_PROMPT=1\n"
    };
    let person = row.start(server, &format!("{gone}{witness}"), None, false)?;
    person.home.write("config/axi/config.toml", ALLOW);
    Some(person)
}

fn asks_for(server: &Server, command: &str) {
    let input = serde_json::json!({"command": command}).to_string();
    server.push(answer::chat_call("call_1", "shell", &input));
    server.push(answer::chat_text("Done it."));
}

fn round_trips(index: usize) {
    let row = &ROWS[index];
    let server = Server::start([]);
    let Some(mut person) = start(row, &server) else { return };
    let at = ["bash", "zsh", "fish"].iter().position(|shell| *shell == row.name()).unwrap();
    let venv = std::process::Command::new("python3")
        .args(["-m", "venv", "--without-pip"])
        .arg(person.home.work().join("venv"))
        .status();
    // The keys' half of the hook is read at the first press.
    server.push(answer::chat_text("Two."));
    person.hands_over("what is 1+1?");
    person.sees("Two.");
    person.sees_line("");
    for case in CASES {
        if case.command.contains("venv") && !venv.as_ref().is_ok_and(std::process::ExitStatus::success) {
            skip("python3 makes no virtual environment here");
            continue;
        }
        let expected = match case.lines[at] {
            "@PATH" if row.name() == "fish" => format!("set -gx PATH '{}/b in' $PATH", person.work()),
            "@PATH" => format!("export PATH='{}/b in:'\"$PATH\"", person.work()),
            line => line.to_owned(),
        };
        // Twice: the first line is thrown away, and the shell is as it was.
        person.enters("witness ~/before");
        person.sees_line("");
        for enters in [false, true] {
            asks_for(&server, case.command);
            person.types("\x15");
            person.hands_over("do it");
            person.waits(|view| ["Yes, once", "Done it."].iter().any(|text| view.text().contains(text)), "an end");
            if person.pty.view(|view| view.text().contains("❯ y")) {
                person.types("y");
            }
            person.sees("Done it.");
            if expected.is_empty() {
                person.sees("your shell's line cannot express it: noclobber");
                person.sees_line("");
                break;
            }
            person.sees_wrapped(&expected);
            if !enters {
                person.types("\x15");
                person.sees_line("");
                person.enters("witness ~/after");
                person.sees_line("");
                let read = |name: &str| std::fs::read_to_string(person.home.path().join(name)).unwrap();
                let (before, after) = (read("before"), read("after"));
                assert!(before.lines().count() > 30, "{}: {before}", row.name());
                let new = |from: &str, to: &str| -> Vec<String> {
                    to.lines().filter(|line| !from.lines().any(|old| old == *line)).map(str::to_owned).collect()
                };
                let changed = (new(&after, &before), new(&before, &after));
                assert_eq!(changed, (Vec::new(), Vec::new()), "{}: {}", row.name(), case.command);
                person.types("clear\r");
                person.waits(|view| view.text().trim_end() == "@@", "an empty screen");
            }
        }
        person.types("\r");
        person.sees_line("");
        person.types("clear\r");
        person.waits(|view| view.text().trim_end() == "@@", "an empty screen");
        person.enters(case.check[at]);
        person.sees(case.seen);
        person.sees_line("");
        person.types("clear\r");
        person.waits(|view| view.text().trim_end() == "@@", "an empty screen");
    }
}

#[test]
fn zsh_gets_back_what_was_changed() {
    round_trips(0);
}

#[test]
fn bash_gets_back_what_was_changed() {
    round_trips(1);
}

#[test]
fn fish_gets_back_what_was_changed() {
    round_trips(2);
}

#[test]
fn a_secret_is_left_out_and_told() {
    for row in &ROWS {
        let server = Server::start([]);
        let Some(mut person) = start(row, &server) else { continue };
        asks_for(&server, "export A=1 GITHUB_TOKEN=$(printf 'ghp_%s' 16C7e42F292c6912E7710c838347Ae178B4a)");
        person.hands_over("log me in");
        person.waits(|view| ["Yes, once", "Done it."].iter().any(|text| view.text().contains(text)), "an end");
        if person.pty.view(|view| view.text().contains("❯ y")) {
            person.types("y");
        }
        person.sees("left out, because it looks like a secret: GITHUB_TOKEN");
        person.sees_line(if row.name() == "fish" { "set -gx A 1" } else { "export A=1" });
    }
}

#[test]
fn in_the_conversation_slash_shell_shows_the_line_and_the_end_puts_it_on_the_prompt() {
    for row in &ROWS {
        let server = Server::start([]);
        let Some(mut person) = start(row, &server) else { continue };
        person.types("\x07");
        person.sees("❯");
        person.types("/shell\r");
        person.sees("no command changed anything");
        asks_for(&server, "mkdir -p sub && cd sub && export B=2");
        person.types("go there\r");
        person.waits(|view| ["Yes, once", "Done it."].iter().any(|text| view.text().contains(text)), "an end");
        if person.pty.view(|view| view.text().contains("❯ y")) {
            person.types("y");
        }
        person.sees("Done it.");
        person.types("/shell\r");
        person.sees("axi puts this on your prompt when it ends");
        let line = if row.name() == "fish" { "cd sub && set -gx B 2" } else { "cd sub && export B=2" };
        person.sees(&format!("\n{line}\n"));
        person.types("\x04");
        person.sees_line(line);
    }
}
