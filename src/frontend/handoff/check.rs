//! What is known to be wrong with a proposed command before it stands on the prompt line: its shell cannot read it, or
//! a program in it is not installed. Nothing of the command is run: the shell only parses it, and looks names up.

use std::ffi::OsString;
use std::process::Stdio;
use std::time::Duration;

use crate::locale::{Locale, word};
use crate::shell;
use crate::terminal::sanitize_line;

/// How long a shell may take to read a line.
const PATIENCE: Duration = Duration::from_secs(2);

/// The longest complaint of a shell, in characters.
const SAID: usize = 160;

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// The shell cannot read the line, and says why.
    Unread { shell: String, says: String },
    /// No program, builtin or keyword of this name is known.
    Missing { program: String },
}

impl Fault {
    /// Words it for the person.
    pub(super) fn worded(&self, locale: &Locale) -> String {
        match self {
            Self::Unread { shell, says } => {
                locale.with(word::handoff::Unread { shell: &sanitize_line(shell), says: &sanitize_line(says) })
            }
            Self::Missing { program } => {
                locale.with(word::handoff::NotInstalled { program: &sanitize_line(program) })
            }
        }
    }

    /// Words it for the model.
    pub(super) fn told(&self) -> String {
        let what = match self {
            Self::Unread { shell, says } => format!("{shell} cannot read that command: {says}"),
            Self::Missing { program } => format!("`{program}` is not installed on this machine."),
        };
        format!("{what}\nPropose another command, or the same again if it is right as it is.")
    }
}

/// Looks for faults.
#[derive(Debug, Clone, Default)]
pub struct Check {
    /// `PATH`.
    pub path: OsString,
}

impl Check {
    /// Looks for a fault of a line whose simple commands begin with these words, in the shell that will read it.
    /// `None` too where that shell is not known, or does not answer.
    ///
    /// # Cancel safety
    /// Dropping it ends the shell.
    pub(super) async fn fault(&self, line: &str, programs: &[String], shell: &str, known: &str) -> Option<Fault> {
        let row = shell::find(shell).filter(|row| !row.reads.is_empty())?;
        let (read, says) = self.run(row.name, row.reads, line).await?;
        if !read {
            let says = says.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
            return Some(Fault::Unread { shell: shell.to_owned(), says: says.chars().take(SAID).collect() });
        }
        for program in programs {
            // What the person defines is not in `PATH`, and what the line itself installs is not there yet.
            let is_named =
                known.split(|letter: char| letter.is_whitespace() || letter == '=').any(|word| word == program);
            let installs = line.matches(program.as_str()).count() > 1;
            if is_named || installs || program.contains(['/', '=']) {
                continue;
            }
            if !self.run(row.name, row.knows, program).await?.0 {
                return Some(Fault::Missing { program: program.clone() });
            }
        }
        None
    }

    /// Runs a shell on a text that it does not run; tells whether it went well, and what it said.
    async fn run(&self, shell: &str, arguments: &[&str], text: &str) -> Option<(bool, String)> {
        let mut command = tokio::process::Command::new(shell);
        command.args(arguments).arg(text).env_clear().env("PATH", &self.path).env("LC_ALL", "C.UTF-8");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
        let output = tokio::time::timeout(PATIENCE, command.output()).await.ok()?.ok()?;
        Some((output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn fault(line: &str, programs: &[&str]) -> Option<Fault> {
        let check = Check { path: std::env::var_os("PATH").unwrap_or_default() };
        let programs: Vec<String> = programs.iter().map(|name| (*name).to_owned()).collect();
        check.fault(line, &programs, "bash", "alias mine='ls'").await
    }

    #[tokio::test]
    async fn what_bash_cannot_read_and_what_is_not_there_is_a_fault_and_nothing_is_run() {
        let place = tempfile::tempdir().unwrap();
        let made = place.path().join("made");
        let line = format!("touch {}; cd x && ls", made.display());
        assert_eq!(fault(&line, &["touch", "cd", "ls", "mine"]).await, None);
        let unread = fault(&format!("touch {}; echo $(ls", made.display()), &["touch"]).await;
        assert!(matches!(unread, Some(Fault::Unread { .. })), "{unread:?}");
        let missing = Fault::Missing { program: "no-such-program".into() };
        assert_eq!(fault("no-such-program -x", &["no-such-program"]).await, Some(missing));
        assert_eq!(fault("apt install no-such-program && no-such-program", &["no-such-program"]).await, None);
        assert!(fault("$(touch x)", &["$(touch x)"]).await.is_some());
        assert!(!made.exists());
    }
}
