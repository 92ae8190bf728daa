//! What was asked for keys in this run: a person's command runs once, a keychain that did not answer is left alone.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::keychain;
use crate::command::Problem;
use crate::locale::{Locale, word};
use crate::provider::Secret;

/// A person's own command gave no key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::app) struct CommandFailed {
    command: String,
    cause: String,
}

impl CommandFailed {
    pub(in crate::app) fn into_problem(self, provider: &str, locale: &Locale) -> Problem {
        let (command, cause) = (&self.command, &self.cause);
        Problem {
            what: locale.with(word::error::KeyCommand { provider, command, cause }),
            hint: locale.text(word::error::KEY_COMMAND_HINT).to_owned(),
        }
    }
}

/// Asks for keys. Clones know the answers that the others got.
#[derive(Debug, Clone, Default)]
pub(in crate::app) struct Asked {
    answers: Arc<Answers>,
    /// Whether somebody else owns the terminal.
    quiet: bool,
}

#[derive(Debug, Default)]
struct Answers {
    /// What commands printed, or why not: one that needs the terminal fails without it each time.
    commands: Mutex<BTreeMap<String, Result<Secret, CommandFailed>>>,
    keychain_failed: AtomicBool,
}

impl Asked {
    /// The same for another thread, where no command may use the terminal: the line editor reads and paints there.
    pub(in crate::app) fn without_terminal(&self) -> Self {
        Self { quiet: true, ..self.clone() }
    }

    /// Has commands run anew: the person chooses a model, perhaps because its key has expired.
    pub(in crate::app) fn forget_commands(&self) {
        self.commands().clear();
    }

    fn commands(&self) -> MutexGuard<'_, BTreeMap<String, Result<Secret, CommandFailed>>> {
        self.answers.commands.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the key that a person's command prints, such as `pass show openai`. It may ask them on the terminal, and
    /// take its time.
    pub(in crate::app) fn command(&self, command: &str) -> Result<Secret, CommandFailed> {
        match self.commands().get(command) {
            Some(Ok(key)) => return Ok(key.clone()),
            Some(Err(failed)) if self.quiet => return Err(failed.clone()),
            Some(Err(_)) | None => {}
        }
        let printed = run(command, self.quiet);
        self.commands().insert(command.to_owned(), printed.clone());
        printed
    }

    /// Finds a key in the keychain.
    pub(in crate::app) fn keychain(&self, account: &str) -> Option<String> {
        if self.answers.keychain_failed.load(Ordering::Relaxed) {
            return None;
        }
        keychain::find(account).unwrap_or_else(|error| {
            tracing::info!(account, %error, "the keychain has no answer");
            self.answers.keychain_failed.store(true, Ordering::Relaxed);
            None
        })
    }

    /// Tells for which of these the keychain has a key.
    pub(in crate::app) fn kept(&self, accounts: Vec<String>) -> Vec<bool> {
        if self.answers.keychain_failed.load(Ordering::Relaxed) {
            return vec![false; accounts.len()];
        }
        keychain::kept(accounts)
    }
}

fn run(command: &str, quiet: bool) -> Result<Secret, CommandFailed> {
    let failed = |cause: String| CommandFailed { command: command.to_owned(), cause };
    let mut shell = Command::new(crate::platform::sh().map_err(|error| failed(error.to_string()))?);
    shell.arg("-c").arg(command).stdout(Stdio::piped());
    if quiet {
        // gpg asks on the terminal that this names.
        shell.stdin(Stdio::null()).stderr(Stdio::piped()).env_remove("GPG_TTY");
    } else {
        shell.stdin(Stdio::inherit()).stderr(Stdio::inherit());
    }
    let output = shell.output().map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(output.status.to_string()));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    // Password stores print notes below the first line.
    match text.lines().next().map(str::trim).filter(|line| !line.is_empty()) {
        Some(key) => Ok(Secret::new(key)),
        None => Err(failed("-".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_gives_the_first_line_it_prints() {
        let asked = Asked::default();
        assert_eq!(asked.command("printf 'sk-1\\nnote\\n'").unwrap().expose(), "sk-1");
        assert!(asked.command("exit 3").unwrap_err().cause.contains('3'));
        assert!(asked.command("true").is_err());
    }

    #[test]
    fn a_command_runs_once_until_the_person_chooses_a_model() {
        let home = tempfile::tempdir().unwrap();
        let runs = home.path().join("runs");
        let command = format!("echo x >> {0}; wc -l < {0}", runs.display());
        let asked = Asked::default();
        let key = |asked: &Asked| asked.command(&command).unwrap().expose().to_owned();
        assert_eq!((key(&asked), key(&asked)), ("1".to_owned(), "1".to_owned()));
        assert_eq!(key(&asked.without_terminal()), "1");
        asked.forget_commands();
        assert_eq!(key(&asked.clone()), "2");
    }

    #[test]
    fn on_another_thread_a_command_has_no_terminal_and_one_that_fails_for_that_is_run_again_with_it() {
        let asked = Asked::default();
        let quiet = asked.without_terminal();
        assert_eq!(quiet.command("test -t 2 && exit 1; read -r line; echo \"got$line\"").unwrap().expose(), "got");
        let home = tempfile::tempdir().unwrap();
        let command = format!("cat {}/key", home.path().display());
        assert!(quiet.command(&command).is_err());
        std::fs::write(home.path().join("key"), "k").unwrap();
        assert!(quiet.command(&command).is_err(), "not with each list");
        assert_eq!(asked.command(&command).unwrap().expose(), "k");
        assert_eq!(quiet.command(&command).unwrap().expose(), "k");
    }
}
