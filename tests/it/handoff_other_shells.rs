//! The contract of the hooks in the shells whose grammar axi does not know: the cases of `handoff_shells` that such a shell
//! has words for.

use crate::handoff_shells::Round;
use crate::support::home::Home;
use crate::support::server::{Gate, Server, answer};
use crate::support::shells::{OTHERS, Row};
use crate::support::talk::run;

fn all_cases(row: &Row, in_tmux: bool) {
    let Some(mut round) = Round::start(row, "", None, in_tmux) else { return };
    round.answer();
    round.back_and_entered();
    round.back_and_edited();
    round.stopped_by("\x1b", "ESC");
    round.stopped_by("\x03", "Ctrl+C");
    round.killed();
    // elvish stops no job, and nu brings one back by another word.
    if row.shell == "xonsh" {
        round.suspended();
        round.suspended_with_a_command();
    }
    round.empty();
    round.empty_after_a_failure();
    round.many_lines();
    round.many_lines_back();
    round.quotes_and_unicode();
    round.long();
    assert_eq!(round.server.violations(), Vec::<String>::new());
}

#[test]
fn nu_keeps_the_contract() {
    all_cases(&OTHERS[0], false);
}

#[test]
fn xonsh_keeps_the_contract() {
    all_cases(&OTHERS[1], false);
}

#[test]
fn elvish_keeps_the_contract() {
    all_cases(&OTHERS[2], false);
}

#[test]
fn nu_keeps_the_contract_inside_tmux() {
    all_cases(&OTHERS[0], true);
}

#[test]
fn xonsh_keeps_the_contract_inside_tmux() {
    all_cases(&OTHERS[1], true);
}

#[test]
fn elvish_keeps_the_contract_inside_tmux() {
    all_cases(&OTHERS[2], true);
}

#[test]
fn without_its_history_elvish_gets_the_command_and_the_line_back_all_the_same() {
    let row = &OTHERS[2];
    let server = Server::start([]);
    // A folder where its history would be.
    let prepare = |home: &std::path::Path| std::fs::create_dir(home.join("db")).unwrap();
    let Some(mut person) = row.start_prepared(&server, row.load, &prepare) else { return };
    let proposed = serde_json::json!({"command": "touch back", "why": "because"}).to_string();
    server.push(answer::chat_call("call_1", "propose_command", &proposed));
    person.hands_over("make it");
    person.sees_line("touch back");
    person.types("\x15");
    person.sees_line("");
    let gate = Gate::new();
    server.push(answer::chat_text("alpha beta gamma").gate_before(3, &gate));
    person.hands_over("and then?");
    person.sees("alpha beta");
    person.types("\x1b");
    person.sees_line("and then?");
    assert!(!person.pty.transcript().contains("xception"), "{}", person.pty.describe());
}

#[test]
fn a_key_that_is_taken_stays_where_it_is_and_doctor_says_so() {
    let taken = [
        "$env.config.keybindings ++= [{name: mine, modifier: control, keycode: char_g, mode: emacs, \
         event: {edit: insertstring, value: mine}}]\n",
        "@events.on_ptk_create\ndef _mine(bindings, **_):\n    \
         bindings.add('c-g')(lambda event: event.current_buffer.insert_text('mine'))\n",
        "set edit:insert:binding[Ctrl-g] = { edit:insert-at-dot mine }\n",
    ];
    for (row, taken) in OTHERS.iter().zip(taken) {
        let server = Server::start([]);
        let Some(mut person) = row.start(&server, taken, None, false) else { continue };
        person.types("\x07");
        person.sees_line("mine");
        person.types("\x15");
        person.sees_line("");
        person.enters("axi doctor");
        person.sees("its key: none: ctrl-g belongs to");
    }
}

#[test]
fn a_xonsh_without_prompt_toolkit_says_once_that_the_key_does_nothing() {
    let server = Server::start([]);
    let Some(mut person) = OTHERS[1].start(&server, "$SHELL_TYPE = 'readline'\n", None, false) else { return };
    person.sees("ctrl-g does nothing here: xonsh reads lines with readline");
    person.enters("axi doctor");
    person.sees("none: this shell reads its lines without prompt_toolkit");
    person.sees_line("");
    let raw = person.pty.view(|view| String::from_utf8_lossy(view.raw()).into_owned());
    assert_eq!(raw.matches("does nothing here").count(), 1, "{}", person.pty.describe());
}

#[test]
fn what_the_agent_changed_is_told_where_the_shell_has_no_words_for_it() {
    for row in &OTHERS {
        let command = serde_json::json!({"command": "mkdir -p deep && cd deep"});
        let server = Server::start([answer::chat_call("call_1", "shell", &command.to_string())]);
        server.push(answer::chat_text("You are there."));
        let Some(mut person) = row.start(&server, "", None, false) else { continue };
        person.hands_over("go deep");
        person.sees("Yes, once");
        person.types("\r");
        person.sees("You are there.");
        // No line of bash's comes to its prompt.
        person.sees_line("");
    }
}

#[test]
fn init_prints_a_hook_for_each_with_the_words_it_says() {
    for (shell, long) in [
        ("nu", "const __axi_words_long = "),
        ("powershell", "$global:__axi_words_long = "),
        ("xonsh", "_axi_words_long = "),
        ("elvish", "var __axi-words-long = "),
    ] {
        let ran = run(Home::new().axi().args(["init", shell]));
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{shell}");
        assert!(ran.out.contains(long) && ran.out.contains("handoff"), "{}", ran.out);
    }
}
