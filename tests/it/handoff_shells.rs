//! The contract of the shells' hooks: every case, in every shell, alone and inside tmux; after each of them the
//! terminal, the prompt, the history and the exit code are as they must be, and nothing ran that was not entered.

use crate::support::server::{Answer, Gate, Server, answer};
use crate::support::shells::{AtPrompt, ROWS, Row};
use crate::support::talk::last_said;

/// One shell through all cases, and what must be in its history by now.
pub(crate) struct Round {
    pub(crate) person: AtPrompt,
    pub(crate) server: Server,
    history: Vec<String>,
    name: String,
}

fn proposes(command: &str) -> Answer {
    let arguments = serde_json::json!({"command": command, "why": "because", "touches": "a file"});
    answer::chat_call("call_1", "propose_command", &arguments.to_string())
}

impl Round {
    pub(crate) fn start(row: &Row, settings: &str, load: Option<&str>, in_tmux: bool) -> Option<Self> {
        let server = Server::start([]);
        let person = row.start(&server, settings, load, in_tmux)?;
        let name = format!("{}{}", row.shell, if in_tmux { " in tmux" } else { "" });
        Some(Self { person, server, history: Vec::new(), name })
    }

    fn kept(&mut self, line: &str) {
        self.history.push(line.to_owned());
    }

    #[track_caller]
    fn settled(&mut self, case: &str, code: i32) {
        // elvish has none.
        let code = if self.name.starts_with("elvish") { 0 } else { code };
        self.person.settled(case, code, &self.history);
    }

    /// What the model was asked last, without what travels along.
    fn asked(&self) -> String {
        let text = last_said(self.server.requests().last().unwrap());
        text.split("\n\n<shell>").next().unwrap().trim_end_matches('\n').to_owned()
    }

    fn has(&self, file: &str) -> bool {
        self.person.home.work().join(file).exists()
    }

    /// How the hand-off's own line looks in this shell.
    fn shown(&self, line: &str) -> String {
        let shown = line.lines().next().unwrap_or_default();
        match self.name.split(' ').next() {
            Some("bash" | "fish") => format!("axi handoff{}{shown}", if shown.is_empty() { "" } else { " # " }),
            Some("elvish") => format!("axi-handoff # {shown}"),
            _ => line.to_owned(),
        }
    }

    pub(crate) fn answer(&mut self) {
        self.server.push(answer::chat_text("It is two."));
        self.person.hands_over("what is 1+1?");
        self.person.sees("It is two.");
        self.person.sees_line("");
        assert_eq!(self.asked(), "what is 1+1?");
        assert_eq!(self.person.prompts(), [self.shown("what is 1+1?")]);
        self.kept("what is 1+1?");
        self.settled("answer", 0);
    }

    pub(crate) fn back_and_entered(&mut self) {
        self.server.push(proposes("touch entered"));
        self.person.hands_over("make a file");
        self.person.sees_line("touch entered");
        assert!(!self.has("entered"), "nobody pressed Enter");
        self.person.types("\r");
        self.person.sees_line("");
        assert!(self.has("entered"));
        assert_eq!(self.person.prompts(), [self.shown("make a file"), "touch entered".into()]);
        self.kept("make a file");
        self.kept("touch entered");
        self.settled("command back and entered", 0);
    }

    pub(crate) fn back_and_edited(&mut self) {
        self.server.push(proposes("touch edi"));
        self.person.hands_over("make another");
        self.person.sees_line("touch edi");
        self.person.types("ted\x1b[D\x1b[D\x1b[DX\r");
        self.person.sees_line("");
        assert!(self.has("ediXted") && !self.has("edi") && !self.has("edited"));
        self.kept("make another");
        self.kept("touch ediXted");
        self.settled("command back and edited", 0);
    }

    pub(crate) fn stopped_by(&mut self, key: &str, case: &str) {
        let gate = Gate::new();
        self.server.push(answer::chat_text("alpha beta gamma").gate_before(3, &gate));
        self.person.hands_over("tell me a story");
        self.person.sees("alpha beta");
        self.person.types(key);
        self.person.sees_line("tell me a story");
        self.person.types("\x15");
        self.person.sees_line("");
        gate.open();
        self.kept("tell me a story");
        // Nor does $? tell of it.
        self.settled(case, 0);
    }

    pub(crate) fn killed(&mut self) {
        let gate = Gate::new();
        self.server.push(answer::chat_text("alpha beta gamma").gate_before(3, &gate));
        self.person.hands_over("and then?");
        self.person.sees("alpha beta");
        self.person.sees("esc to stop");
        self.person.kills();
        // It came to write nothing: the line is the person's still.
        self.person.sees_line("and then?");
        self.person.waits(|view| !view.text().contains("esc to stop"), "the row of the killed axi gone");
        self.person.types("\x15");
        self.person.sees_line("");
        gate.open();
        self.kept("and then?");
        // nu and xonsh have the code of the person's last command still.
        let keeps = ["nu", "xonsh"].iter().any(|name| self.name.starts_with(name));
        self.settled("kill -9", if keeps { 0 } else { 137 });
    }

    pub(crate) fn suspended(&mut self) {
        let gate = Gate::new();
        self.server.push(answer::chat_text("alpha beta gamma").gate_before(3, &gate));
        self.person.hands_over("one more");
        self.person.sees("alpha beta");
        self.person.types("\x1a");
        self.person.sees_line("");
        // The prompt is the person's while axi waits.
        self.person.enters("touch meanwhile");
        self.person.sees_line("");
        assert!(self.has("meanwhile"));
        self.person.enters("fg");
        gate.open();
        self.person.sees("gamma");
        self.person.sees_line("");
        for line in ["one more", "touch meanwhile", "fg"] {
            self.kept(line);
        }
        self.settled("Ctrl+Z, then fg", 0);
    }

    pub(crate) fn suspended_with_a_command(&mut self) {
        let gate = Gate::new();
        self.server.push(proposes("touch late").gate_before(0, &gate));
        let count = self.server.requests().len();
        self.person.hands_over("make it later");
        self.server.wait_requests(count + 1);
        self.person.types("\x1a");
        self.person.sees_line("");
        self.person.enters("fg");
        gate.open();
        self.person.sees_line("touch late");
        self.person.types("\x15");
        self.person.sees_line("");
        assert!(!self.has("late"));
        self.kept("make it later");
        self.kept("fg");
        self.settled("Ctrl+Z, then fg, command back", 0);
    }

    pub(crate) fn empty(&mut self) {
        self.person.enters("true");
        self.person.sees_line("");
        self.person.types("\x07");
        self.person.sees("❯");
        self.person.types("\x04");
        self.person.sees_line("");
        self.kept("true");
        self.settled("empty line", 0);
    }

    pub(crate) fn empty_after_a_failure(&mut self) {
        let failing = "sh -c 'exit 3'";
        // Mending has its own tests.
        self.person.home.write("config/axi/config.toml", "[handoff]\nmend_model = \"off\"\n");
        self.person.enters(failing);
        self.person.sees_line("");
        self.server.push(answer::chat_text("It ended with three."));
        self.person.types("\x07");
        self.person.sees("It ended with three.");
        self.person.sees_line("");
        assert_eq!(self.asked(), "What happened?");
        assert!(self.server.requests().last().unwrap().text.contains("its exit code: 3"));
        self.kept(failing);
        // $? is the person's still.
        self.settled("empty line after a failure", 3);
    }

    /// Ctrl+C at a prompt has an exit code of its own, which is not the command's.
    fn empty_after_a_dropped_line(&mut self) {
        self.person.enters("sh -c 'exit 4'");
        self.person.sees_line("");
        self.person.types("half");
        self.person.sees_line("half");
        // A shell that has shown what was typed, and does not read yet, loses Ctrl+C.
        self.person.types_until("\x03", "");
        self.server.push(answer::chat_text("It ended with four."));
        self.person.types("\x07");
        self.person.sees("It ended with four.");
        self.person.sees_line("");
        assert!(self.server.requests().last().unwrap().text.contains("its exit code: 4"));
        self.kept("sh -c 'exit 4'");
        self.settled("empty line after Ctrl+C", 130);
    }

    /// What a command of the agent changed in its own shell is a line to review in this one.
    fn changed(&mut self) {
        let command = serde_json::json!({"command": "mkdir -p deep && cd deep && export A='x y'"});
        self.server.push(answer::chat_call("call_1", "shell", &command.to_string()));
        self.server.push(answer::chat_text("You are there."));
        self.person.hands_over("go deep");
        self.person.sees("Yes, once");
        self.person.types("\r");
        let is_fish = self.name.starts_with("fish");
        let line = if is_fish { "cd deep && set -gx A 'x y'" } else { "cd deep && export A='x y'" };
        self.person.sees_line(line);
        self.person.types("\r");
        self.person.sees_line("");
        self.person.enters("touch \"$A\"");
        self.person.sees_line("");
        assert!(self.has("deep/x y"));
        self.person.enters("cd ..");
        self.person.sees_line("");
        for line in ["go deep", line, "touch \"$A\"", "cd .."] {
            self.kept(line);
        }
        self.settled("cd and export back", 0);
    }

    pub(crate) fn many_lines(&mut self) {
        // fish 4 takes the indentation of what is pasted away by itself.
        let indent = if self.name.starts_with("fish") { "" } else { "  " };
        let line = format!("first line\n{indent}second  'line'\nthird");
        let line = line.as_str();
        self.server.push(answer::chat_text("Three lines."));
        self.person.pastes(line);
        self.person.sees("third");
        self.person.types("\x07");
        self.person.sees("Three lines.");
        self.person.sees_line("");
        assert_eq!(self.asked(), line);
        self.kept(line);
        self.settled("multi-line", 0);
    }

    pub(crate) fn quotes_and_unicode(&mut self) {
        let line = r#"it's "odd" \ $(touch ran) `touch ran` !! #x *~ né 中文 🙂"#;
        self.server.push(answer::chat_text("Odd indeed."));
        self.person.hands_over(line);
        self.person.sees("Odd indeed.");
        self.person.sees_line("");
        assert_eq!(self.asked(), line);
        assert!(!self.has("ran"));
        self.kept(line);
        self.settled("quotes and Unicode", 0);
    }

    /// The same way back, byte for byte.
    fn quotes_and_unicode_back(&mut self) {
        let command = r#"printf '%s\n' "né 中 🙂" '!!' \$HOME > odd"#;
        self.server.push(proposes(command));
        self.person.hands_over("write it");
        self.person.sees_line(command);
        self.person.types("\r");
        self.person.sees_line("");
        let written = std::fs::read_to_string(self.person.home.work().join("odd")).unwrap();
        assert_eq!(written, "né 中 🙂\n!!\n$HOME\n");
        self.kept("write it");
        self.kept(command);
        self.settled("quotes and Unicode back", 0);
    }

    pub(crate) fn many_lines_back(&mut self) {
        let command = "touch one\ntouch 'two three'";
        self.server.push(proposes(command));
        self.person.hands_over("make two");
        self.person.sees("touch 'two three'");
        // xonsh runs several lines from an empty one behind them only.
        if self.name.starts_with("xonsh") {
            self.person.sees("   touch 'two three'");
        } else {
            self.person.sees_end("touch 'two three'");
        }
        assert!(!self.has("one"));
        self.person.types("\r");
        self.person.sees_line("");
        assert!(self.has("one") && self.has("two three"));
        self.kept("make two");
        if self.name.starts_with("bash") {
            // bash enters the lines of one edit one by one.
            self.kept("touch one");
            self.kept("touch 'two three'");
        } else {
            self.kept(command);
        }
        self.settled("multi-line back", 0);
    }

    pub(crate) fn long(&mut self) {
        let line = format!("why {}end?", "0123456789".repeat(1024));
        self.server.push(answer::chat_text("Long indeed."));
        self.person.pastes(&line);
        // fish 3.6 loses its place in a line that is longer than the screen, by itself.
        self.person.sees_bytes("9end");
        self.person.types("\x07");
        self.person.sees("Long indeed.");
        self.person.sees_line("");
        assert_eq!(self.asked(), line);
        self.kept(&line);
        self.settled("10 KB", 0);
    }
}

fn all_cases(row: &Row, in_tmux: bool) {
    let Some(mut round) = Round::start(row, "", None, in_tmux) else { return };
    round.answer();
    round.back_and_entered();
    round.back_and_edited();
    round.stopped_by("\x1b", "ESC");
    round.stopped_by("\x03", "Ctrl+C");
    round.killed();
    round.suspended();
    round.suspended_with_a_command();
    round.empty();
    round.empty_after_a_failure();
    // fish keeps the command's own code.
    if row.shell != "fish" {
        round.empty_after_a_dropped_line();
    }
    round.changed();
    round.many_lines();
    round.many_lines_back();
    round.quotes_and_unicode();
    round.quotes_and_unicode_back();
    round.long();
    assert_eq!(round.server.violations(), Vec::<String>::new());
}

#[test]
fn zsh_keeps_the_contract() {
    all_cases(&ROWS[0], false);
}

#[test]
fn bash_keeps_the_contract() {
    all_cases(&ROWS[1], false);
}

#[test]
fn fish_keeps_the_contract() {
    all_cases(&ROWS[2], false);
}

#[test]
fn zsh_keeps_the_contract_inside_tmux() {
    all_cases(&ROWS[0], true);
}

#[test]
fn bash_keeps_the_contract_inside_tmux() {
    all_cases(&ROWS[1], true);
}

#[test]
fn fish_keeps_the_contract_inside_tmux() {
    all_cases(&ROWS[2], true);
}
