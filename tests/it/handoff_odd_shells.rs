//! The shells' hooks in shells that people have made their own: options that change the language, prompts and variables
//! set anew, a hand-off that comes to no answer.

use crate::support::server::{Answer, Gate, Server, answer};
use crate::support::shells::{AtPrompt, ROWS};
use crate::support::talk::last_said;

fn proposes(command: &str) -> Answer {
    answer::chat_call(
        "call_1",
        "propose_command",
        &serde_json::json!({"command": command, "why": "because"}).to_string(),
    )
}

/// Hands over, takes a command back and enters it.
#[track_caller]
fn takes_a_command_back(person: &mut AtPrompt, server: &Server) {
    server.push(proposes("touch back"));
    person.hands_over("make it");
    person.sees_line("touch back");
    person.types("\r");
    person.sees_line("");
    assert!(person.home.work().join("back").exists());
}

#[test]
fn a_line_that_came_to_no_answer_is_back_on_the_prompt() {
    for row in &ROWS {
        let server = Server::start([]);
        let Some(mut person) = row.start(&server, "", None, false) else { continue };
        takes_a_command_back(&mut person, &server);
        // The directory is gone: axi cannot work there.
        person.enters("mkdir gone; cd gone; rmdir ../gone");
        person.sees_line("");
        person.hands_over("what 'now'?");
        person.sees("the directory was removed");
        person.sees_line("what 'now'?");
        person.types("\x15");
        person.sees_line("");
        person.enters(if row.shell == "fish" { "echo code=$status" } else { "echo code=$?" });
        person.sees("code=1");
        person.sees_line("");
        person.enters("cd ..");
        person.sees_line("");
        let kept = ["make it", "touch back", "mkdir gone; cd gone; rmdir ../gone", "what 'now'?"];
        let echo = if row.shell == "fish" { "echo code=$status" } else { "echo code=$?" };
        let history: Vec<String> = kept.into_iter().chain([echo, "cd .."]).map(str::to_owned).collect();
        person.settled("no answer", 0, &history);
    }
}

#[test]
fn a_hand_off_that_was_killed_leaves_the_window_its_title() {
    for row in &ROWS {
        let gate = Gate::new();
        let server = Server::start([answer::chat_text("alpha beta gamma").gate_before(3, &gate)]);
        let Some(mut person) = row.start(&server, "", None, false) else { continue };
        person.hands_over("and then?");
        person.sees("alpha beta");
        person.sees("esc to stop");
        person.kills();
        person.sees_line("and then?");
        let (kept, given) = person.pty.view(|view| {
            let raw = String::from_utf8_lossy(view.raw()).into_owned();
            (raw.matches("\x1b[22;2t").count(), raw.matches("\x1b]2;\x1b\\\x1b[23;2t").count())
        });
        assert_eq!((kept, given), (1, 1), "{}", row.shell);
        let left = person.pty.transcript();
        assert!(!left.contains("esc to stop"), "{}: {left}", row.shell);
        gate.open();
        // One that ends by itself has given it back.
        server.push(answer::chat_text("It is over."));
        person.types("\x15");
        person.sees_line("");
        person.hands_over("over?");
        person.sees("It is over.");
        person.sees_line("");
        let given = person.pty.view(|view| String::from_utf8_lossy(view.raw()).matches("\x1b[23;2t").count());
        assert_eq!(given, 2, "{}", row.shell);
    }
}

#[test]
fn zsh_loads_the_hook_whatever_its_language_is_set_to() {
    let odd = [
        "setopt ignore_braces sh_glob",
        "emulate sh",
        "emulate ksh",
        "setopt ksh_arrays sh_word_split glob_subst no_unset no_multios",
        "setopt warn_create_global warn_nested_var",
    ];
    for settings in odd {
        let server = Server::start([]);
        // The prompt again: another emulation has one of its own.
        let settings = format!("{settings}\nPS1='@@ '\n");
        let Some(mut person) = ROWS[0].start(&server, &settings, None, false) else { return };
        takes_a_command_back(&mut person, &server);
        server.push(answer::chat_text("Two."));
        person.hands_over("what is 1+1?");
        person.sees("Two.");
        person.sees_line("");
        let seen = person.pty.transcript();
        for complaint in ["error", "created globally", "enclosing scope", "not set", "bad "] {
            assert!(!seen.contains(complaint), "{settings}: {seen}");
        }
    }
}

#[test]
fn a_key_that_begins_others_is_theirs_in_zsh() {
    let server = Server::start([]);
    let Some(mut person) = ROWS[0].start(&server, "bindkey '^g^b' kill-word\n", None, false) else { return };
    person.sees("axi: ctrl-g belongs to kill-word");
    person.enters("axi doctor");
    person.sees("its key: none: ctrl-g belongs to kill-word");
}

#[test]
fn a_key_that_was_bound_after_the_hook_is_told_by_doctor() {
    // bash cannot be asked for a key at little cost.
    for (row, later) in [(&ROWS[0], "bindkey '^g' kill-word"), (&ROWS[2], "bind \\cg kill-word")] {
        let server = Server::start([]);
        let load = format!("{}{later}\n", row.load);
        let Some(mut person) = row.start(&server, "", Some(&load), false) else { continue };
        person.enters("axi doctor");
        person.sees("its key: none: ctrl-g belongs to kill-word");
    }
}

#[test]
fn zsh_keeps_its_history_where_its_hooks_were_set_anew() {
    let server = Server::start([]);
    let load = format!("{}precmd_functions=() preexec_functions=()\n", ROWS[0].load);
    let Some(mut person) = ROWS[0].start(&server, "", Some(&load), false) else { return };
    takes_a_command_back(&mut person, &server);
    person.enters("echo later");
    person.sees_line("");
    person.settled("hooks set anew", 0, &["make it", "touch back", "echo later"].map(str::to_owned));
}

#[test]
fn bash_puts_its_hook_back_where_the_prompts_command_was_set_anew() {
    let server = Server::start([]);
    let load = format!("{}PROMPT_COMMAND=:\n", ROWS[1].load);
    let Some(mut person) = ROWS[1].start(&server, "", Some(&load), false) else { return };
    person.types("\x07");
    person.sees("axi: something set PROMPT_COMMAND");
    person.sees_line("");
    person.types("\r");
    // The prompt below the one that was entered: what is typed before that stands in no line.
    person.waits(|view| view.text().matches("@@").count() > 1, "the next prompt");
    person.sees_line("");
    takes_a_command_back(&mut person, &server);
}

#[test]
fn bash_without_what_the_hook_would_like_shows_nothing_of_it() {
    for settings in ["shopt -u promptvars", "export PS1", "set -o posix", "IFS=,", "IFS=_", "set +o history"] {
        let server = Server::start([]);
        let Some(mut person) = ROWS[1].start(&server, &format!("{settings}\n"), None, false) else { return };
        person.enters("sh -c 'exit 3'");
        person.sees_line("");
        takes_a_command_back(&mut person, &server);
        // A shell that is started from that prompt asks the terminal nothing.
        server.push(proposes("bash --norc"));
        person.hands_over("another");
        person.sees_line("bash --norc");
        person.types("\r");
        person.types("echo in=$((1+1))=in\r");
        person.sees("in=2=in");
        person.types("exit\r");
        person.sees_line("");
        let seen = person.pty.transcript();
        for text in ["__axi", "identifier", "command not found", "declare"] {
            assert!(!seen.contains(text), "{settings}: {seen}");
        }
        let forgets = settings.ends_with("history");
        let said = last_said(server.requests().first().unwrap());
        assert_eq!(said.contains("exit 3"), !forgets, "{settings}: {said}");
    }
}

#[test]
fn fish_hands_over_a_line_that_the_arrow_keys_brought() {
    let server = Server::start([]);
    let Some(mut person) = ROWS[2].start(&server, "", None, false) else { return };
    person.enters("echo three");
    person.sees_line("");
    for typed in ["", " four"] {
        person.types("\x1b[A");
        person.sees_line("echo three");
        person.types(typed);
        person.sees_line(&format!("echo three{typed}"));
        server.push(answer::chat_text("Here you are."));
        let count = server.requests().len();
        person.types("\x07");
        server.wait_requests(count + 1);
        person.sees_line("");
        assert!(last_said(server.requests().last().unwrap()).starts_with(&format!("echo three{typed}")));
        person.enters("echo three");
        person.sees_line("");
    }
}
