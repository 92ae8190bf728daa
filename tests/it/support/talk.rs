//! The real binary asking the scripted server: in a pipe (`-p`), or in a pseudo-terminal as a person would.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use super::home::Home;
use super::pty::{Options, PATIENCE, Pty, View};
use super::server::{Gate, Recorded, Server, answer};

/// The key every run has in its environment: long enough and odd enough to be searched for.
pub(crate) const KEY: &str = "odd-key-7f3b1c9d5e2a4860";

/// axi, asking the server in the words of openai-chat.
pub(crate) fn axi(home: &Home, server: &Server) -> Command {
    // The menu of models asks for it while "/model …" is typed.
    server.ignore("GET /v1/models");
    let mut command = home.axi();
    command.env("OPENAI_BASE_URL", server.url("/v1")).env("OPENAI_API_KEY", KEY).env("AXI_MODEL", "openai/any");
    command
}

/// What a finished process left.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

/// Runs to the end with an empty standard input.
pub(crate) fn run(command: &mut Command) -> Ran {
    command.stdin(Stdio::null()).output().unwrap().into()
}

/// Runs to the end with this standard input.
pub(crate) fn run_with(command: &mut Command, input: &str) -> Ran {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap().into()
}

/// Runs with these lines as its standard input, which stays open until as many lines are printed.
pub(crate) fn run_until_answered(command: &mut Command, lines: &[String]) -> Ran {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut answers = String::new();
    std::thread::scope(|scope| {
        scope.spawn(|| lines.iter().for_each(|line| input.write_all(line.as_bytes()).unwrap()));
        for _ in lines {
            output.read_line(&mut answers).unwrap();
        }
    });
    drop(input);
    output.read_to_string(&mut answers).unwrap();
    Ran { out: answers, ..child.wait_with_output().unwrap().into() }
}

/// The text of a message of an openai-chat request.
pub(crate) fn said(request: &Recorded, index: usize) -> String {
    let content = &request.body["messages"][index]["content"];
    match content {
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        other => other.as_str().unwrap_or_default().to_owned(),
    }
}

/// The text of the last message of an openai-chat request.
pub(crate) fn last_said(request: &Recorded) -> String {
    said(request, request.body["messages"].as_array().unwrap().len() - 1)
}

/// The roles of the messages of a request.
pub(crate) fn roles(request: &Recorded) -> Vec<String> {
    let messages = request.body["messages"].as_array().unwrap();
    messages.iter().map(|message| message["role"].as_str().unwrap().to_owned()).collect()
}

/// The session files of a home, by name.
pub(crate) fn session_files(home: &Home) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(home.path().join("state/axi/sessions")).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    // Beside them stands what there is of an answer that still arrives.
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    paths.sort();
    paths
}

/// The lines of a home's only session file.
pub(crate) fn session_lines(home: &Home) -> Vec<Value> {
    let files = session_files(home);
    assert_eq!(files.len(), 1, "{files:?}");
    let text = std::fs::read_to_string(&files[0]).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A person at the REPL.
pub(crate) struct Person {
    pub(crate) pty: Pty,
}

impl Person {
    /// Starts the REPL on an 80 × 24 terminal and waits for its prompt.
    pub(crate) fn meets(command: &Command) -> Self {
        Self::on(Pty::options(), command)
    }

    /// The same on another terminal.
    pub(crate) fn on(terminal: Options, command: &Command) -> Self {
        let person = Self { pty: terminal.spawn(command) };
        person.sees_prompt();
        person
    }

    /// Types.
    pub(crate) fn types(&mut self, keys: impl AsRef<[u8]>) {
        self.pty.send(keys);
    }

    /// Types a line at the prompt and sends it once it is shown there.
    pub(crate) fn sends(&mut self, line: &str) {
        self.pty.send(line);
        self.sees_line(line);
        self.pty.send("\r");
    }

    /// Waits for a text on the screen.
    #[track_caller]
    pub(crate) fn sees(&self, text: &str) {
        self.pty.wait_for(text);
    }

    /// Waits for an empty prompt with the cursor behind it.
    #[track_caller]
    pub(crate) fn sees_prompt(&self) {
        self.waits(|view| cursor_row(view).trim_end().ends_with('❯'), "an empty prompt");
    }

    /// Waits for a prompt with this text, up to the cursor.
    #[track_caller]
    pub(crate) fn sees_line(&self, text: &str) {
        let text = text.trim_end();
        self.waits(|view| cursor_row(view).trim_end().ends_with(&format!("❯ {text}")), text);
    }

    /// Waits for something to be true of the screen.
    #[track_caller]
    pub(crate) fn waits(&self, condition: impl FnMut(&mut View<'_>) -> bool, what: &str) {
        assert!(self.pty.wait_until(condition, PATIENCE), "never saw {what} in:\n{}", self.pty.describe());
    }

    /// Waits for a question with this choice under the cursor of the menu, whatever its letter.
    #[track_caller]
    pub(crate) fn sees_choice(&self, choice: &str) {
        let found =
            |view: &mut View<'_>| view.text().lines().any(|row| row.starts_with('❯') && is_choice(row, choice));
        self.waits(found, choice);
    }

    /// How often a text stands in scrollback and screen, rows that the terminal wrapped joined.
    pub(crate) fn count(&self, text: &str) -> usize {
        self.pty.transcript().matches(text).count()
    }

    /// Leaves by Ctrl+D at the prompt; returns the exit code.
    #[track_caller]
    pub(crate) fn leaves(mut self) -> Option<i32> {
        self.sees_prompt();
        self.types("\x04");
        self.pty.wait_exit().code()
    }
}

/// Whether a row of a menu is this choice, with or without its letter in front.
pub(crate) fn is_choice(row: &str, choice: &str) -> bool {
    let row = row.trim_start_matches(['❯', ' ']);
    let after_letter = row.char_indices().nth(1).map_or("", |(at, _)| row[at..].trim_start());
    row.starts_with(choice) || after_letter.starts_with(choice)
}

fn cursor_row(view: &View<'_>) -> String {
    let screen = view.screen();
    let (row, column) = screen.cursor_position();
    screen.rows(0, column).nth(usize::from(row)).unwrap_or_default()
}

/// Asks, and waits until two words of the answer are on the screen and the rest waits at a gate.
pub(crate) fn in_the_middle(person: &mut Person, server: &Server) -> Gate {
    let gate = Gate::new();
    server.push(answer::chat_text("alpha beta gamma delta").gate_before(3, &gate));
    person.sends("count");
    person.sees("alpha beta");
    gate
}
