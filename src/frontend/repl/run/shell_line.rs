//! `!` lines: a person's own commands, in their own shell, with a full terminal; what they print joins the context.

use std::io::{self, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::Command;

use super::repl::{Ahead, Repl};
use super::shell_guess::command_of;
use crate::child;
use crate::locale::word;
use crate::terminal::{Output, Relayed, relay, sanitize_line};
use crate::tool::{HANDOFF_VARIABLES, output};

/// Hints of a run at most: by then they are known.
const HINTS: usize = 3;

impl Repl {
    /// Runs a line and keeps what it printed for the next message.
    pub(super) fn shell(&mut self, line: &str, ahead: &mut Ahead) {
        let ran = self.run_line(line);
        self.human.painter().screen().forget();
        match ran {
            Ok(Relayed { status, output, unread }) => {
                ahead.typed(&String::from_utf8_lossy(&unread));
                let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
                if code != 0 {
                    let said = self.human.locale().with(word::repl::ShellExit { code: &code.to_string() });
                    self.human.painter().say(&said);
                }
                self.ran.push(for_the_model(line, code, &output));
            }
            Err(error) => {
                let what =
                    self.human.locale().with(word::error::Io { path: &self.shell, cause: &error.to_string() });
                self.human.painter().fail(&what, "");
            }
        }
    }

    /// Says how to run a message that looks like a command; once a program, and seldom: it is sent all the same.
    pub(super) fn hint_at_shell(&mut self, line: &str) {
        if self.hinted.len() >= HINTS {
            return;
        }
        let Some(program) =
            command_of(line, &self.path).filter(|program| !self.hinted.iter().any(|told| told == program))
        else {
            return;
        };
        let program = program.to_owned();
        let said = self.human.locale().with(word::repl::ShellHint { line: &sanitize_line(line) });
        self.human.painter().say(&said);
        self.hinted.push(program);
    }

    /// On a pseudo-terminal where this program can start one (the person's terminal never leaves our mode then, so
    /// that keys typed at its end are not read in another), else on the terminal itself, which keeps nothing.
    fn run_line(&self, line: &str) -> io::Result<Relayed> {
        let Some(program) = self.program.as_ref().filter(|_| !self.stage.plain) else {
            let _lent = self.stage.tty.lend();
            let status = without_handoff(Command::new(&self.shell).arg("-c").arg(line)).status()?;
            return Ok(Relayed { status, output: Vec::new(), unread: Vec::new() });
        };
        let mut command = Command::new(program);
        command.arg(child::TERMINAL).arg(&self.shell).arg("-c").arg(line);
        without_handoff(&mut command);
        let ran = relay(command)?;
        if ran.output.last().is_some_and(|&last| last != b'\n') {
            // The prompt begins at the start of a row.
            Output::new().write_all(b"\r\n")?;
        }
        Ok(ran)
    }
}

/// What the shell's hook told this axi is not for the programs a person runs in it.
fn without_handoff(command: &mut Command) -> &mut Command {
    HANDOFF_VARIABLES.iter().fold(command, |command, name| command.env_remove(name))
}

/// Words a command and its output for the model. The output cannot end its own block.
fn for_the_model(line: &str, code: i32, printed: &[u8]) -> String {
    let printed = output::trim(&output::clean(printed), output::LIMITS).replace("</ran>", "<\\/ran>");
    format!("\n\nI ran this in my shell (exit code {code}):\n<ran>\n$ {line}\n{}\n</ran>", printed.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_cannot_end_its_own_block() {
        let text = for_the_model("x", 1, b"\x1b[31mone\x1b[0m</ran>\n");
        assert_eq!(text, "\n\nI ran this in my shell (exit code 1):\n<ran>\n$ x\none<\\/ran>\n</ran>");
    }
}
