//! The shells' hooks where a shell is not as it comes: vi keys, a key that is taken, a hook loaded twice, lines the
//! shell was told to forget, unfinished commands, a terminal that never answers.

use std::path::Path;

use crate::support::home::Home;
use crate::support::pty::View;
use crate::support::server::{Answer, Gate, Server, answer};
use crate::support::shells::{AtPrompt, ROWS, Row};
use crate::support::skip::has;
use crate::support::talk::{last_said, run};
use crate::support::tiny_model::answering;

/// Hands over and gets an answer.
#[track_caller]
fn is_answered(person: &mut AtPrompt, server: &Server, keys: &str) {
    server.push(answer::chat_text("Here you are."));
    person.types("what now?");
    person.sees_line("what now?");
    person.types(keys);
    person.sees("Here you are.");
    person.sees_line("");
    assert!(last_said(server.requests().last().unwrap()).starts_with("what now?"));
    person.settled("answered", 0, &["what now?".to_owned()]);
}

fn proposes(command: &str) -> Answer {
    let arguments = serde_json::json!({"command": command, "why": "because"});
    answer::chat_call("call_1", "propose_command", &arguments.to_string())
}

fn vi(row: &Row) -> &'static str {
    match row.shell {
        "zsh" => "bindkey -v\n",
        "bash" => "set -o vi\n",
        _ => "fish_vi_key_bindings\nfunction fish_mode_prompt; end\n",
    }
}

#[test]
fn vi_keys_hand_over_from_both_modes_and_take_the_command_back() {
    for row in &ROWS {
        for (keys, in_tmux) in [("\x07", false), ("\x1b\x07", false), ("\x07", true)] {
            let server = Server::start([]);
            let Some(mut person) = row.start(&server, vi(row), None, in_tmux) else { continue };
            server.push(answer::chat_text("Here you are."));
            person.types("what now?");
            person.sees_line("what now?");
            if keys.starts_with('\x1b') {
                // In the mode of commands the cursor stands on a character, so it goes back by one.
                let column = |view: &mut View<'_>| view.screen().cursor_position().1;
                let mut end = 0;
                person.waits(
                    |view| {
                        end = column(view);
                        true
                    },
                    "the end of the line",
                );
                person.types("\x1b");
                person.waits(|view| column(view) + 1 == end, "the mode of commands");
            }
            person.types("\x07");
            person.sees("Here you are.");
            person.sees_line("");
            server.push(proposes("touch back"));
            person.hands_over("again");
            person.sees_line("touch back");
            person.types("\r");
            person.sees_line("");
            assert!(person.home.work().join("back").exists());
            let case = if keys == "\x07" { "vi mode" } else { "vi mode, from its commands" };
            person.settled(case, 0, &["what now?", "again", "touch back"].map(str::to_owned));
        }
    }
}

#[test]
fn a_key_that_is_taken_stays_where_it_is_and_the_person_is_told_once() {
    let taken = [
        "navi() { BUFFER=mine; }; zle -N navi; bindkey '^g' navi\n",
        "bind -x '\"\\C-g\": READLINE_LINE=mine'\n",
        "bind \\cg 'commandline -r mine'\n",
    ];
    for ((row, taken), in_tmux) in ROWS.iter().zip(taken).flat_map(|row| [(row, false), (row, true)]) {
        let server = Server::start([]);
        let Some(mut person) = row.start(&server, taken, None, in_tmux) else { continue };
        let told = "axi: ctrl-g belongs to";
        assert_eq!(person.pty.transcript().matches(told).count(), 1, "{}", person.pty.describe());
        assert!(person.pty.transcript().contains("alt-m, alt-"), "{}", person.pty.describe());
        person.types("what now?\x07");
        person.sees_line("mine");
        person.types("\x05\x15");
        person.sees_line("");
        person.settled("key already taken", 0, &[]);
        person.enters("axi doctor");
        person.sees("its key: none: ctrl-g belongs to");
        // The next shell says nothing.
        person.types("\x0c");
        person.sees_line("");
        person.enters(&row.program());
        person.sees_line("");
        assert_eq!(person.pty.transcript().matches(told).count(), 0, "{}", person.pty.describe());
    }
}

#[test]
fn where_bash_may_not_be_set_up_it_says_so_once_and_stays_as_it_was() {
    for variable in ["PROMPT_COMMAND", "PS2", "HISTIGNORE"] {
        let server = Server::start([]);
        let settings = format!("readonly {variable}=:\n");
        let load = "eval \"$(axi init bash)\"\nLOADED=yes\n";
        let Some(mut person) = ROWS[1].start(&server, &settings, Some(load), false) else { return };
        let told = format!("axi: {variable} is readonly in this shell");
        let seen = person.pty.transcript();
        assert_eq!((seen.matches(&told).count(), seen.matches("readonly variable").count()), (1, 0), "{seen}");
        person.enters("echo =$LOADED=");
        person.sees("=yes=");
        // The key is the shell's own.
        person.types("what now?\x07\x15");
        person.sees_line("");
        person.settled("a variable that is readonly", 0, &["echo =$LOADED=".to_owned()]);
        person.enters("axi doctor");
        person.sees(&format!("its key: none: {variable} is readonly"));
        person.types("\x0c");
        person.sees_line("");
        person.enters(&ROWS[1].program());
        person.sees_line("");
        assert_eq!(person.pty.transcript().matches("axi:").count(), 0, "{}", person.pty.describe());
    }
}

#[test]
fn inside_zellij_the_person_is_told_once_which_keys_are_free() {
    for row in &ROWS {
        let server = Server::start([]);
        let settings = if row.shell == "fish" { "set -gx ZELLIJ 0\n" } else { "export ZELLIJ=0\n" };
        let Some(mut person) = row.start(&server, settings, None, false) else { continue };
        let told = "axi: Zellij keeps ctrl-g for itself";
        assert_eq!(person.pty.transcript().matches(told).count(), 1, "{}", person.pty.describe());
        let shown = person.pty.transcript();
        let (_, free) = shown.split_once("Free in both: ").unwrap();
        let (free, _) = free.split_once(". Choose").unwrap();
        assert!(free.contains("alt-m"), "{shown}");
        // What Zellij 0.45 binds outside of its modes (assets/config/default.kdl).
        assert!(!"finohjklp".chars().any(|key| free.contains(&format!("alt-{key}"))), "{shown}");
        person.enters("axi doctor");
        person.sees("its key: ctrl-g, but Zellij keeps");
        person.sees("multiplexer: zellij");
        // The next shell says nothing.
        person.types("\x0c");
        person.sees_line("");
        // The doctor's page may have moved the first time above the screen, where it stays.
        let before = person.pty.transcript().matches(told).count();
        person.enters(&row.program());
        person.sees_line("");
        assert_eq!(person.pty.transcript().matches(told).count(), before, "{}", person.pty.describe());
    }
}

#[test]
fn another_key_can_be_chosen_and_none_at_all() {
    for row in &ROWS {
        let load = |options: &str| match row.shell {
            "fish" => format!("axi init fish {options} | source\n"),
            shell => format!("eval \"$(axi init {shell} {options})\"\n"),
        };
        let server = Server::start([]);
        let chosen = load("--key alt-m");
        let Some(mut person) = row.start(&server, "", Some(&chosen), false) else { continue };
        is_answered(&mut person, &server, "\x1bm");
        person.enters("axi doctor");
        person.sees("its key: alt-m");
        let server = Server::start([]);
        let Some(mut person) = row.start(&server, "", Some(&load("--no-bind")), false) else { continue };
        person.enters("axi doctor");
        person.sees("its key: none, as you asked");
        assert_eq!(server.requests().len(), 0);
    }
}

#[test]
fn a_shell_without_the_hook_inside_of_one_with_it_is_told_so() {
    // Nobody else can tell who runs axi.
    if !has("ps") {
        return;
    }
    for row in &ROWS {
        let server = Server::start([]);
        let Some(mut person) = row.start(&server, "", None, false) else { continue };
        person.enters("/bin/sh -c 'axi doctor; :'");
        person.sees("shell hook: not loaded in ");
        person.sees(&format!("; the outer {} ", row.shell));
        person.types("\x0c");
        person.sees_line("");
        // A copy of the shell has what the shell has.
        person.enters(if row.shell == "fish" {
            "begin; axi doctor; echo; end | cat"
        } else {
            "(axi doctor; :) | cat"
        });
        person.sees("its key: ctrl-g");
    }
}

#[test]
fn a_hook_that_is_loaded_twice_is_loaded_once() {
    for row in &ROWS {
        let twice = match row.shell {
            "fish" => "axi init fish | source\naxi init fish | source\n".to_owned(),
            // A start-up file that is strict must not die of the hook, nor show a word of it.
            shell => format!("set -eu\neval \"$(axi init {shell})\"\neval \"$(axi init {shell})\"\nset +eu\n"),
        };
        for in_tmux in [false, true] {
            let server = Server::start([]);
            let Some(mut person) = row.start(&server, "", Some(&twice), in_tmux) else { continue };
            assert_eq!(person.pty.transcript().trim(), "@@", "{}: quiet", row.shell);
            is_answered(&mut person, &server, "\x07");
            server.push(proposes("touch once"));
            person.hands_over("again");
            person.sees_line("touch once");
            person.types("\x15");
            person.sees_line("");
            person.settled("hook sourced twice", 0, &["what now?", "again"].map(str::to_owned));
        }
    }
}

#[test]
fn a_shell_that_stays_strict_hands_over_and_takes_a_command_back() {
    for row in ROWS.iter().filter(|row| row.shell != "fish") {
        let server = Server::start([]);
        let Some(mut person) = row.start(&server, "set -u\n", None, false) else { continue };
        is_answered(&mut person, &server, "\x07");
        server.push(proposes("touch strict"));
        person.hands_over("again");
        person.sees_line("touch strict");
        person.types("\r");
        person.sees_line("");
        assert!(person.home.work().join("strict").exists());
        assert!(!person.pty.transcript().contains("unbound"), "{}", person.pty.transcript());
    }
}

#[test]
fn what_the_shell_was_told_to_forget_is_forgotten() {
    let settings = ["setopt hist_ignore_space hist_ignore_dups\n", "HISTCONTROL=ignoreboth\n", ""];
    for (row, settings) in ROWS.iter().zip(settings) {
        let server = Server::start([]);
        let Some(mut person) = row.start(&server, settings, None, false) else { continue };
        for line in [" a secret", "what now?", "what now?"] {
            server.push(answer::chat_text("Here you are."));
            person.hands_over(line);
            person.sees("Here you are.");
            person.sees_line("");
            person.types("\x0c");
            let cleared =
                person.pty.wait_until(|view| view.text().trim_end() == "@@", crate::support::pty::PATIENCE);
            assert!(cleared, "{}", person.pty.describe());
        }
        person.settled("what is to be forgotten", 0, &["what now?".to_owned()]);
        // Nor does a command that is to be forgotten travel along.
        person.enters(" sh -c 'exit 4'");
        person.sees_line("");
        server.push(answer::chat_text("Nothing known."));
        person.hands_over("why did it fail?");
        person.sees("Nothing known.");
        person.sees_line("");
        assert!(!server.requests().last().unwrap().text.contains("exit 4"), "{}", row.shell);
        // One that is repeated is not to be forgotten.
        for _ in 0..2 {
            person.enters("sh -c 'exit 5'");
            person.sees_line("");
        }
        server.push(answer::chat_text("Five."));
        person.hands_over("why did it fail?");
        person.sees("Five.");
        assert!(last_said(server.requests().last().unwrap()).contains("exit 5"), "{}", row.shell);
    }
}

#[test]
fn what_another_shell_ran_does_not_travel() {
    for row in &ROWS[..2] {
        let server = Server::start([answer::chat_text("Nothing ran here.")]);
        let prepare = |home: &Path| std::fs::write(home.join(".history"), "make elsewhere\n").unwrap();
        let Some(mut person) = row.start_prepared(&server, row.load, &prepare) else { continue };
        person.hands_over("what ran here?");
        person.sees("Nothing ran here.");
        assert!(!server.requests()[0].text.contains("make elsewhere"), "{}", person.pty.describe());
        person.sees_line("");
        person.settled("the first line of a shell", 0, &["make elsewhere", "what ran here?"].map(str::to_owned));
    }
}

#[test]
fn what_tmux_holds_of_the_last_command_is_sent_after_a_yes() {
    let prompts = ["PS1='>> '", "PS1='>> '", "function fish_prompt; echo '>> '; end"];
    for (row, prompt) in ROWS.iter().zip(prompts) {
        let server = Server::start([answer::chat_text("Four indeed."), answer::chat_text("Nothing known.")]);
        let Some(mut person) = row.start(&server, "", None, true) else { continue };
        // One whose end a stranger can tell.
        person.enters(prompt);
        person.sees_end(">>");
        person.types("sh -c 'echo odd; echo word; exit 4'\r");
        person.waits(|view| view.text().contains("\nodd\nword\n"), "what it printed");
        person.sees_end(">>");
        person.types("why four?");
        person.sees_end(">> why four?");
        person.types("\x07");
        person.sees("(2 lines, from tmux)");
        person.types("y");
        person.sees("Four indeed.");
        assert!(last_said(&server.requests()[0]).contains("<output>\nodd\nword\n</output>"), "{}", row.shell);
        person.sees_end(">>");
        person.types("sh -c 'echo more; exit 5'\r");
        person.waits(|view| view.text().contains("\nmore\n"), "what it printed");
        person.sees_end(">>");
        person.types("why five?");
        person.sees_end(">> why five?");
        person.types("\x07");
        person.sees("(1 line, from tmux)");
        person.waits(|view| view.text().lines().any(|line| line.starts_with('❯') && line.ends_with("No")), "No");
        person.types("\r");
        person.sees("Nothing known.");
        assert!(!last_said(&server.requests()[1]).contains("<output>"), "{}", row.shell);
        eprintln!("holds | {} | tmux | output of the last command, asked for", row.shell);
    }
}

#[test]
fn the_one_command_that_a_small_model_writes_lands_on_the_line() {
    let settings = ["export AXI_MODEL=local/tiny.gguf\n", "export AXI_MODEL=local/tiny.gguf\n"];
    for (row, settings) in ROWS.iter().zip(settings.into_iter().chain(["set -gx AXI_MODEL local/tiny.gguf\n"])) {
        let server = Server::start([]);
        let Some(mut person) = row.start(&server, settings, None, false) else { continue };
        answering(&person.home, "Make it so:\n\n```sh\ntouch fenced\n```");
        person.hands_over("make that file");
        person.sees_line("touch fenced");
        assert!(person.pty.transcript().contains("the command of the answer is on your prompt line"));
        assert!(!person.home.work().join("fenced").exists(), "nobody pressed Enter");
        person.types("\r");
        person.sees_line("");
        assert!(person.home.work().join("fenced").exists());
        person.settled("a small model's command back", 0, &["make that file", "touch fenced"].map(str::to_owned));
    }
}

#[test]
fn functions_and_aliases_travel_when_they_are_named() {
    let settings = [
        "deploy() { echo zone-nine; }\nunused() { echo zone-ten; }\nalias gs='git status'\n",
        "deploy() { echo zone-nine; }\nunused() { echo zone-ten; }\nalias gs='git status'\n",
        "function deploy; echo zone-nine; end\nfunction unused; echo zone-ten; end\nalias gs='git status'\n",
    ];
    for (row, settings) in ROWS.iter().zip(settings) {
        let server = Server::start([answer::chat_text("It says nine.")]);
        let Some(mut person) = row.start(&server, settings, None, false) else { continue };
        // What only looks like a function's name is no word of the shell's either.
        person.hands_over("what does A=1 deploy do, and gs");
        person.sees("It says nine.");
        person.sees_line("");
        let shown = person.pty.transcript();
        assert!(shown.contains("\nwith: 2 definitions\n") && !shown.contains("declare"), "{shown}");
        let said = last_said(&server.requests()[0]);
        assert!(said.contains("functions in it:") && said.contains("echo zone-nine"), "{}: {said}", row.shell);
        assert!(said.contains("git status") && !said.contains("zone-ten"), "{}: {said}", row.shell);
    }
}

#[test]
fn an_unfinished_command_is_never_mixed_with_a_hand_off() {
    let server = Server::start([]);
    if let Some(mut zsh) = ROWS[0].start(&server, "", None, false) {
        zsh.types("for i in 1 2\r");
        zsh.sees("for>");
        zsh.types("do touch $i\x07");
        // All of it comes into the editor; the key again hands it over.
        zsh.sees_end("do touch $i");
        server.push(answer::chat_text("It lacks done."));
        zsh.types("\x07");
        zsh.sees("It lacks done.");
        zsh.sees_line("");
        assert!(last_said(&server.requests()[0]).starts_with("for i in 1 2\ndo touch $i"));
        assert!(!zsh.home.work().join("1").exists());
    }
    if let Some(mut bash) = ROWS[1].start(&server, "", None, false) {
        bash.types("for i in 1 2\r");
        bash.sees("> ");
        bash.types("do touch $i\x07; done\r");
        bash.sees_line("");
        assert!(bash.home.work().join("2").exists());
        // Nor is what a command reads.
        bash.enters("read -e -p 'name: ' name; echo \"<$name>\"");
        bash.sees("name:");
        bash.types("somebody\x07\r");
        bash.sees("<somebody>");
    }
    if let Some(mut fish) = ROWS[2].start(&server, "", None, false) {
        fish.enters("read -P 'name: ' name; echo \"<$name>\"");
        fish.sees("name:");
        fish.types("somebody\x07\r");
        fish.sees("<somebody>");
    }
}

#[test]
fn init_is_the_hook_with_settings_in_front_and_wrong_keys_are_refused() {
    let home = Home::new();
    for shell in ["zsh", "bash", "fish"] {
        let ran = run(home.axi().args(["init", shell]));
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
        let hook =
            std::fs::read_to_string(format!("{}/shell-hooks/axi.{shell}", env!("CARGO_MANIFEST_DIR"))).unwrap();
        let lines = hook.lines().map(str::trim_start).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let bare: Vec<&str> = lines.collect();
        assert!(ran.out.trim_end().ends_with(&bare.join("\n")), "{shell}");
        // No axi on PATH: the hook starts this very program.
        assert!(
            ran.out.contains(
                &format!("program '{}'", env!("CARGO_BIN_EXE_axi"))
                    .replace(' ', if shell == "fish" { " " } else { "=" })
            )
        );
    }
    for wrong in [["init", "zsh", "--key", "g"], ["init", "fish", "--key", "ctrl-c"]] {
        let ran = run(home.axi().args(wrong));
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
        assert!(ran.err.contains("--key") && ran.err.contains("alt-m"), "{}", ran.err);
    }
    assert_eq!(run(home.axi().args(["init", "tcsh"])).code, Some(2));
    // Settings that cannot be read do not cost anybody the hook.
    home.write("config/axi/config.toml", "no toml at all [");
    assert_eq!(run(home.axi().args(["init", "bash"])).code, Some(0));
}

#[test]
fn a_rewrite_takes_the_lines_place_and_undo_brings_it_back() {
    for row in &ROWS {
        let server = Server::start([]);
        let Some(mut person) = row.start(&server, "", None, false) else { continue };
        let gate = Gate::new();
        server.push(answer::chat_text("```\ntouch rewritten\n```").gate_before(0, &gate));
        person.types("make that file\x1bg");
        person.sees("esc to stop");
        gate.open();
        person.sees_line("touch rewritten");
        assert!(!person.pty.transcript().contains("esc to stop"), "{}", person.pty.describe());
        person.types("\x1f");
        person.sees_line("make that file");
        // ESC and Ctrl+C leave the line as it was, with the cursor where it was.
        for (requests, key) in [(2, "\x1b"), (3, "\x03")] {
            let gate = Gate::new();
            server.push(answer::chat_text("rm x").gate_before(0, &gate));
            person.types("\x1bg");
            person.sees("esc to stop");
            server.wait_requests(requests);
            person.types(key);
            person.sees_line("make that file");
            person.types("X");
            person.sees_line("make that fileX");
            person.types("\x7f");
            person.sees_line("make that file");
            gate.open();
        }
        // A failure says why, and the line stays.
        server.push(answer::chat_text("I cannot do that."));
        person.types("\x1bg");
        person.waits(|view| view.text().contains("axi:") || view.text().contains("no command"), "why not");
        person.sees_line("make that file");
        assert!(!person.home.work().join("rewritten").exists());
        person.types("\x15");
        person.sees_line("");
        person.settled("quick rewrite", 0, &[]);
    }
}

#[test]
fn without_an_answer_of_the_terminal_bash_leaves_the_command_in_its_history() {
    let server = Server::start([]);
    let Some(mut person) = ROWS[1].start_mute(&server) else { return };
    server.push(proposes("touch later"));
    person.hands_over("make it");
    person.sees("because");
    person.sees_line("");
    person.types("\r");
    person.sees("press the up arrow");
    person.sees_line("");
    person.types("\x1b[A");
    person.sees_line("touch later");
    person.types("\r");
    person.sees_line("");
    assert!(person.home.work().join("later").exists());
}
