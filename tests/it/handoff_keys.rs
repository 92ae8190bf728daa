//! The shells' hooks and the keys around them: searches and menus keep their own, the chord that rewrites, an answer
//! for always, fg, and no process at a prompt.

use crate::support::server::{Gate, Server, answer};
use crate::support::shells::{AtPrompt, ROWS};
use crate::support::talk::last_said;

/// Whether a search shows its word and what it found: zsh the line above it, bash behind it, fish below it.
fn finds(screen: &str, searching: &str) -> bool {
    let found = screen.matches("true wanted").count() > 1;
    found && screen.contains(&format!("{searching}wan"))
}

#[test]
fn searches_and_menus_keep_ctrl_g_for_themselves() {
    let menus = ["zstyle ':completion:*' menu select; autoload -U compinit; compinit -u -D\n", "", ""];
    // One that finds nothing any more is a `(failed reverse-i-search)`.
    let searches = ["bck-i-search: ", "reverse-i-search)`", "search: "];
    for ((row, menus), searching) in ROWS.iter().zip(menus).zip(searches) {
        let server = Server::start([]);
        let Some(mut person) = row.start(&server, menus, None, false) else { continue };
        for file in ["apple", "apricot"] {
            std::fs::write(person.home.work().join(file), "").unwrap();
        }
        person.enters("true wanted");
        person.sees_line("");
        // A search for it; the key ends the search, and what was on the line before is there again.
        person.types("\x12");
        person.sees(searching);
        person.types("wan");
        // Found, and not only what is on the screen already.
        person.waits(|view| finds(&view.text(), searching), "what is searched for");
        person.types("\x07");
        // fish leaves what was typed, as it does by itself.
        person.waits(|view| !view.text().contains(searching), "its end");
        person.types("\x05\x15");
        person.sees_line("");
        // A menu of completions; bash has none.
        if row.shell != "bash" {
            person.types("ls ap");
            person.sees_line("ls ap");
            person.types("\t\t");
            person.waits(|view| view.text().matches("apricot").count() > 0, "a menu");
            person.types("\x07\x05\x15");
            person.sees_line("");
        }
        assert_eq!(server.requests().len(), 0, "{}", row.shell);
        assert!(!person.pty.transcript().contains("axi handoff"), "{}", person.pty.describe());
        person.types("\x0c");
        let cleared = |view: &mut crate::support::pty::View<'_>| view.text().trim_end() == "@@";
        person.waits(cleared, "a clear screen");
        // The next one is ours again.
        server.push(answer::chat_text("Still here."));
        person.hands_over("are you there?");
        person.sees("Still here.");
        person.sees_line("");
        person.settled("search and menu", 0, &["true wanted", "are you there?"].map(str::to_owned));
    }
}

#[test]
fn bash_keeps_what_else_ends_a_search_and_what_stood_before_it() {
    let server = Server::start([]);
    let settings = "bind 'set isearch-terminators \"\\C-o\"'\n";
    let Some(mut person) = ROWS[1].start(&server, settings, None, false) else { return };
    person.enters("true wanted");
    person.sees_line("");
    for key in ["\x07", "\x0f"] {
        person.types("half");
        person.sees_line("half");
        person.types("\x12wan");
        person.waits(|view| finds(&view.text(), "reverse-i-search)`"), "what is searched for");
        person.types(key);
        person.sees_line("true");
        person.types("\x1b>");
        person.sees_line("half");
        person.types("\x15");
        person.sees_line("");
    }
}

#[test]
fn the_chord_rewrites_too() {
    for row in &ROWS {
        // Without a limit, fish would keep Ctrl+X (copy) waiting for a second key.
        let settings = if row.shell == "fish" { "set -g fish_sequence_key_delay_ms 900\n" } else { "" };
        let server = Server::start([answer::chat_text("touch rewritten")]);
        let Some(mut person) = row.start(&server, settings, None, false) else { continue };
        person.types("make that file");
        person.sees_line("make that file");
        person.types("\x18\x07");
        person.sees_line("touch rewritten");
        person.types("\x1f");
        person.sees_line("make that file");
        person.types("\x15");
        person.sees_line("");
        person.settled("quick rewrite, Ctrl+X Ctrl+G", 0, &[]);
    }
}

/// Waits until what was typed has been read by a program that shows nothing of it: the kernel hands it on a while after
/// it was written, and until then nothing is unread.
fn reads_in_silence(person: &AtPrompt) {
    person.pty.wait_until(|_| false, std::time::Duration::from_millis(300));
    person.pty.wait_read();
}

#[test]
fn what_is_typed_while_a_rewrite_asks_is_told_and_not_lost() {
    for row in &ROWS {
        let server = Server::start([]);
        let Some(mut person) = row.start(&server, "", None, false) else { continue };
        for (requests, key) in [(1, ""), (2, "\x03")] {
            let gate = Gate::new();
            server.push(answer::chat_text("touch rewritten").gate_before(0, &gate));
            person.types("make that file");
            person.sees_line("make that file");
            person.types("\x1bg");
            person.sees("esc to stop");
            server.wait_requests(requests);
            person.types("touch queued\rand more");
            reads_in_silence(&person);
            person.types(key);
            if key.is_empty() {
                gate.open();
                person.sees_line("touch rewritten");
            } else {
                person.sees_line("make that file");
                gate.open();
            }
            let told = if key.is_empty() { "already has a command: " } else { "not sent: " };
            person.sees(&format!("{told}touch queued"));
            person.sees("and more");
            person.types("\x15");
            person.sees_line("");
            person.types("\x0c");
            person.waits(|view| view.text().trim_end() == "@@", "a clear screen");
        }
        for name in ["rewritten", "queued"] {
            assert!(!person.home.work().join(name).exists(), "{}: {name}", row.shell);
        }
        person.settled("quick rewrite, typed meanwhile", 0, &[]);
    }
}

#[test]
fn under_a_prompt_of_two_rows_fish_tells_it_too() {
    let server = Server::start([]);
    let settings = "function fish_prompt; echo top; echo -n '@@ '; end\n";
    let Some(mut person) = ROWS[2].start(&server, settings, None, false) else { return };
    let gate = Gate::new();
    server.push(answer::chat_text("touch rewritten").gate_before(0, &gate));
    person.types("make that file");
    person.sees_line("make that file");
    person.types("\x1bg");
    person.sees("esc to stop");
    server.wait_requests(1);
    person.types("and more");
    reads_in_silence(&person);
    gate.open();
    person.sees_line("touch rewritten");
    person.sees("already has a command: and more\ntop\n@@ touch rewritten");
}

#[test]
fn an_output_that_is_always_sent_is_asked_for_once() {
    let prompts = ["PS1='>> '", "PS1='>> '", "function fish_prompt; echo '>> '; end"];
    for (row, prompt) in ROWS.iter().zip(prompts) {
        let server = Server::start([answer::chat_text("Four indeed."), answer::chat_text("Five indeed.")]);
        let Some(mut person) = row.start(&server, "", None, true) else { continue };
        // One whose end a stranger can tell.
        person.enters(prompt);
        person.sees_end(">>");
        for (printed, code, line) in [("odd", 4, "why four?"), ("more", 5, "why five?")] {
            person.types(format!("sh -c 'echo {printed}; exit {code}'\r"));
            person.waits(|view| view.text().contains(&format!("\n{printed}\n")), "what it printed");
            person.sees_end(">>");
            person.types(line);
            person.sees_end(&format!(">> {line}"));
            person.types("\x07");
            if code == 4 {
                person.sees("(1 line, from tmux)");
                person.types("\x1b[A");
                let chosen = |line: &str| line.starts_with('❯') && line.contains("always in");
                person.waits(|view| view.text().lines().any(chosen), "always");
                person.types("\r");
                person.sees("Four indeed.");
            } else {
                person.sees("Five indeed.");
            }
            person.sees_end(">>");
            let said = last_said(server.requests().last().unwrap());
            assert!(said.contains(&format!("<output>\n{printed}\n</output>")), "{}: {said}", row.shell);
        }
        eprintln!("holds | {} | tmux | output, always in this directory", row.shell);
    }
}

#[test]
fn bringing_a_hand_off_back_is_no_command_to_tell_of() {
    for row in &ROWS {
        let gate = Gate::new();
        let server = Server::start([answer::chat_text("alpha beta gamma").gate_before(3, &gate)]);
        let Some(mut person) = row.start(&server, "", None, false) else { continue };
        person.hands_over("tell me a story");
        person.sees("alpha beta");
        person.types("\x1a");
        person.sees_line("");
        person.enters("sh -c 'exit 3'");
        person.sees_line("");
        person.enters("fg");
        gate.open();
        person.sees("gamma");
        person.sees_line("");
        server.push(answer::chat_text("That is all."));
        person.hands_over("and then?");
        person.sees("That is all.");
        let said = last_said(server.requests().last().unwrap());
        assert!(!said.contains("last command:"), "{}: {said}", row.shell);
    }
}

#[test]
fn in_private_mode_fish_writes_nothing_of_the_line_into_its_history() {
    let server = Server::start([answer::chat_text("Nobody knows.")]);
    // A history that is there already: to a new one nothing would be added in any case.
    let settings =
        "mkdir -p $XDG_DATA_HOME/fish; echo >>$XDG_DATA_HOME/fish/fish_history\nset -g fish_private_mode 1\n";
    let Some(mut person) = ROWS[2].start(&server, settings, None, false) else { return };
    person.hands_over("what is the plum word?");
    person.sees("Nobody knows.");
    person.sees_line("");
    person.enters("history save");
    person.sees_line("");
    let history = std::fs::read_to_string(person.home.path().join("data/fish/fish_history")).unwrap();
    assert!(!history.contains("plum") && !history.contains("handoff"), "{history}");
}

/// How many pages the processes brought in that this shell has waited for: more as soon as it started one.
#[cfg(target_os = "linux")]
fn pages_of_children(person: &AtPrompt) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{}/stat", person.pty.id())).unwrap();
    // Behind the name in parentheses, cminflt is the ninth (proc(5)).
    text.rsplit_once(") ").unwrap().1.split(' ').nth(8).unwrap().parse().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn no_process_is_started_at_an_ordinary_prompt() {
    for row in &ROWS {
        let server = Server::start([answer::chat_text("Here you are.")]);
        let Some(mut person) = row.start(&server, "", None, false) else { continue };
        for handed_over in [false, true] {
            if handed_over {
                person.hands_over("what now?");
                person.sees("Here you are.");
                person.sees_line("");
            }
            let before = pages_of_children(&person);
            for command in ["true", "cd .", "true one; true two", ""] {
                let prompts = person.pty.view(|view| view.text().matches("@@").count());
                person.enters(command);
                // The prompt before an empty line looks like the one after it.
                person.waits(|view| view.text().matches("@@").count() > prompts, "the next prompt");
                person.sees_line("");
            }
            assert_eq!(pages_of_children(&person), before, "{}, handed over: {handed_over}", row.shell);
            // What would be seen.
            person.enters("sh -c :");
            person.sees_line("");
            assert!(pages_of_children(&person) > before, "{}", row.shell);
        }
        eprintln!("holds | {} | pty | no process at a prompt", row.shell);
    }
}
