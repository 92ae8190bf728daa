//! `!` lines: a person's own commands, in their own shell, with a full terminal; what they print joins the context.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::shell_guess::command_of;
use crate::approval::Surroundings;
use crate::approval::command::judge;
use crate::child;
use crate::frontend::human::Painter;
use crate::frontend::stage::Stage;
use crate::locale::word;
use crate::platform::os::process::ExitStatusExt as _;
use crate::terminal::{Output, Pending, Relayed, relay, sanitize_line};
use crate::tool::{HANDOFF_VARIABLES, output};

/// Hints of a run at most: by then they are known.
const HINTS: usize = 3;

/// How a line begins whose rest is tried.
const TRY: &str = "try ";

/// The person's shell.
#[derive(Debug, Default)]
pub struct ShellLines {
    /// The shell.
    shell: String,
    /// This program, which starts children on a terminal of their own.
    program: Option<PathBuf>,
    /// PATH.
    path: String,
    /// Where its lines run, to know which of them read a secret file.
    place: Surroundings,
    /// Programs that were hinted at already.
    hinted: Vec<String>,
}

/// The line that is to be tried first, where one is.
fn to_try(line: &str) -> Option<&str> {
    line.strip_prefix(TRY).map(str::trim).filter(|line| !line.is_empty())
}

impl ShellLines {
    /// Runs lines in `shell`. `program` is axi itself; `path` is where programs are found,
    /// `place` where the lines run.
    #[must_use]
    pub fn new(shell: String, program: Option<PathBuf>, path: String, place: Surroundings) -> Self {
        Self { shell, program, path, place, ..Self::default() }
    }

    /// Runs a line; returns what the model is told of it: not what one printed that reads or prints a secret. `None` where
    /// it could not be run.
    pub(super) fn run<W: io::Write>(
        &mut self,
        line: &str,
        session: Option<&str>,
        stage: &Stage,
        painter: &mut Painter<W>,
        pending: &Pending,
    ) -> Option<String> {
        let judged = judge(to_try(line).unwrap_or(line), &self.place);
        let secret = judged.prints_secret() || judged.parts.iter().any(|part| part.credential.is_some());
        let tried = to_try(line).zip(self.program.as_deref());
        let command = if let Some((line, program)) = tried {
            trial_of(program, line, session, painter.locale().tag(), stage.plain)
        } else {
            let mut command = Command::new(&self.shell);
            command.arg("-c").arg(line);
            command
        };
        let ran = self.run_line(command, stage);
        painter.screen().forget();
        match ran {
            Ok(Relayed { status, output, unread }) => {
                pending.typed(&String::from_utf8_lossy(&unread));
                let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
                // What became of a trial stands there already.
                if code != 0 && tried.is_none() {
                    let said = painter.locale().with(word::repl::ShellExit { code: &code.to_string() });
                    painter.say(&said);
                }
                if secret {
                    let said = painter.locale().text(word::repl::SHELL_SECRET).to_owned();
                    painter.say(&said);
                }
                let told = if secret { b"(not told: it reads a secret)".as_slice() } else { &output };
                Some(for_the_model(line, code, told))
            }
            Err(error) => {
                let cause = &error.to_string();
                let what = painter.locale().with(word::error::Io { path: &self.shell, cause });
                painter.fail(&what, "");
                None
            }
        }
    }

    /// Says how to run a message that looks like a command: once for each program, and seldom. The message is sent
    /// all the same.
    pub(super) fn hint<W: io::Write>(&mut self, line: &str, painter: &mut Painter<W>) {
        if self.hinted.len() >= HINTS {
            return;
        }
        let is_new = |program: &&str| !self.hinted.iter().any(|told| told == program);
        let Some(program) = command_of(line, &self.path).filter(is_new) else { return };
        let program = program.to_owned();
        let said = painter.locale().with(word::repl::ShellHint { line: &sanitize_line(line) });
        painter.say(&said);
        self.hinted.push(program);
    }

    /// Runs it on a pseudo-terminal if this program can start one; otherwise on the terminal itself, and then
    /// nothing of the output is kept. With a pseudo-terminal the person's terminal never leaves our mode, so keys
    /// typed at the end of the run are not read in another mode.
    fn run_line(&self, mut command: Command, stage: &Stage) -> io::Result<Relayed> {
        let Some(program) = self.program.as_ref().filter(|_| !stage.plain) else {
            let _lent = stage.tty.lend();
            let status = without_handoff(&mut command).status()?;
            return Ok(Relayed { status, output: Vec::new(), unread: Vec::new() });
        };
        let mut apart = Command::new(program);
        apart.arg(child::TERMINAL).arg(command.get_program()).args(command.get_args());
        without_handoff(&mut apart);
        let ran = relay(apart)?;
        if ran.output.last().is_some_and(|&last| last != b'\n') {
            // The prompt begins at the start of a row.
            Output::new().write_all(b"\r\n")?;
        }
        Ok(ran)
    }
}

/// What tries a line: this program, which asks what becomes of the changes.
fn trial_of(program: &Path, line: &str, session: Option<&str>, language: &str, plain: bool) -> Command {
    let mut command = Command::new(program);
    command.args(["try", "--ask", "--lang", language]);
    if plain {
        command.arg("--linear");
    }
    if let Some(session) = session {
        command.args(["--session", session]);
    }
    command.arg("--").arg(line);
    command
}

/// The shell's hook told this axi something that programs the person runs inside it must not see.
fn without_handoff(command: &mut Command) -> &mut Command {
    HANDOFF_VARIABLES.iter().fold(command, |command, name| command.env_remove(name))
}

/// Words a command and its output for the model. The output cannot end its own block.
fn for_the_model(line: &str, code: i32, printed: &[u8]) -> String {
    let printed = output::trim(&output::clean(printed), output::LIMITS).replace("</ran>", "<\\/ran>");
    format!("I ran this in my shell (exit code {code}):\n<ran>\n$ {line}\n{}\n</ran>", printed.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_cannot_end_its_own_block() {
        let text = for_the_model("x", 1, b"\x1b[31mone\x1b[0m</ran>\n");
        assert_eq!(text, "I ran this in my shell (exit code 1):\n<ran>\n$ x\none<\\/ran>\n</ran>");
    }
}
