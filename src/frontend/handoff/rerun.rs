//! The last command, run a second time to see what it prints, where nothing holds its output: only after a yes, and
//! only so that it changes nothing. What only looks runs in the sandbox for reading; anything else runs in a trial,
//! whose changes are dropped, and without a network. What would leave the machine, destroy or read a secret is not
//! run again at all.
//!
//! A command that a small model proposes is run the same way to see whether it fails, if all it does is look.

use std::ffi::OsString;
use std::io::Read as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::facts::Facts;
use crate::approval::command::{Judged, LineJudgement, Part, judge};
use crate::approval::{Class, Surroundings};
use crate::platform::os::process::ExitStatusExt as _;
use crate::platform::process::{Pid, Signal, kill_process};
use crate::shell;
use crate::tool::HANDOFF_VARIABLES;

/// How long the last command may take. What needs longer is not worth waiting for here.
pub(super) const AGAIN_LIMIT: Duration = Duration::from_secs(30);

/// The most that is read of what it prints, in bytes.
const MOST: u64 = 1024 * 1024;

/// How long a proposed command may take to fail, and the longest complaint of it, in characters.
const TRY_LIMIT: Duration = Duration::from_secs(1);
const SAID: usize = 160;

/// How often it is looked at whether it has ended.
const STEP: Duration = Duration::from_millis(20);

/// How long what is stopped has to end what it started.
const GRACE: Duration = Duration::from_millis(1500);

/// Who complains besides the programs of a line: git, shells, and programs that tell how they are used.
const COMPLAINING: &[&str] = &["fatal", "error", "usage", "Usage", "bash", "zsh", "fish", "sh"];

/// What may be the sandbox's doing, or comes of having no terminal there.
const HELD_BACK: &[&str] =
    &["ermission denied", "not permitted", "ead-only", "No such process", "tty", " terminal", "TERM"];

/// How a command may run again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// In the sandbox for reading: it only looks.
    Reading,
    /// In a trial: its changes are dropped.
    Trial,
}

/// What it takes to run a command again.
pub struct Rerun {
    /// Where it runs, for the judge.
    pub place: Surroundings,
    /// Tells whether there are trials here.
    pub can_try: Box<dyn Fn() -> bool>,
    /// Puts together what runs these words; `None` where nothing would hold it. In a trial, its standard error is
    /// what the command prints, and its standard output an object with its exit code.
    pub command: MakeRun,
}

/// Makes what runs words again; the line says the same.
pub type MakeRun = Box<dyn Fn(Again, &str, &[OsString]) -> Option<Command>>;

/// What a second run printed, and its exit code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SecondRun {
    pub(super) printed: Vec<u8>,
    pub(super) code: i32,
}

impl Rerun {
    /// Decides how the last command may run again; `None` if it must not, or if it would tell nothing.
    pub(super) fn how(&self, facts: &Facts) -> Option<Again> {
        let last = facts.failed().filter(|last| !last.is_missing())?;
        // In another shell's words a line may do something else.
        if shell::find(&facts.shell).is_some_and(|shell| !shell.is_read) {
            return None;
        }
        how(facts, &judge(&last.command, &self.place), &*self.can_try)
    }

    /// Runs a line that only looks, and returns why it fails, in its own words; `None` where it does not, where it
    /// does more than look, or where nothing would hold it.
    ///
    /// # Cancel safety
    /// Dropping it kills what it started.
    pub(super) async fn complaint(&self, judged: &LineJudgement, facts: &Facts) -> Option<String> {
        if how(facts, judged, &|| false)? != Again::Reading {
            return None;
        }
        let run =
            self.run(Again::Reading, (facts, &judged.line), TRY_LIMIT, &CancellationToken::new(), |_| ()).await?;
        let first = |part: &Judged| match &part.part {
            Part::Command { words, .. } => words.first().cloned().flatten(),
            Part::Redirection { .. } => None,
        };
        let programs: Vec<String> = judged.parts.iter().filter_map(first).collect();
        complains(&run, &programs)
    }

    /// Runs a line; `None` if it could not, took longer than the limit, or was stopped.
    ///
    /// # Cancel safety
    /// Dropping it kills what it started.
    pub(super) async fn run(
        &self,
        again: Again,
        (facts, line): (&Facts, &str),
        limit: Duration,
        cancel: &CancellationToken,
        mut show: impl FnMut(Duration),
    ) -> Option<SecondRun> {
        let words = words(facts, line)?;
        let mut command = (self.command)(again, line, &words)?;
        for name in HANDOFF_VARIABLES {
            command.env_remove(name);
        }
        let started = Started::new(command, again).inspect_err(|error| tracing::warn!(%error, "not run again"));
        let mut started = started.ok()?;
        let begun = std::time::Instant::now();
        let status = loop {
            if let Some(status) = started.child.try_wait().ok()? {
                break status;
            }
            if begun.elapsed() > limit {
                return None;
            }
            tokio::select! {
                biased;
                () = cancel.cancelled() => return None,
                () = tokio::time::sleep(STEP) => show(begun.elapsed()),
            }
        };
        let (printed, told) = started.read();
        let code = match again {
            Again::Reading => status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)),
            Again::Trial => {
                i32::try_from(serde_json::from_slice::<serde_json::Value>(&told).ok()?.get("exit")?.as_i64()?)
                    .ok()?
            }
        };
        Some(SecondRun { printed, code })
    }
}

fn how(facts: &Facts, judged: &LineJudgement, can_try: &dyn Fn() -> bool) -> Option<Again> {
    // Who becomes another user may ask for a password, on a terminal that it does not get.
    let leaves = judged.parts.iter().any(|part| {
        matches!(part.class, Class::Network | Class::Destructive)
            || part.credential.is_some()
            || part.becomes_user()
    });
    if leaves || judged.never_auto.is_some() || judged.line.len() > 16 * 1024 {
        return None;
    }
    // An alias or a function of theirs was judged by its text: a trial holds whatever it does.
    let is_plain = facts.shell != "fish" && facts.definitions().is_empty();
    let only_looks = judged.unparsed.is_empty()
        && !judged.changes_more
        && !judged.parts.is_empty()
        && judged.parts.iter().all(|part| part.class == Class::ReadOnly && !part.runs_program);
    if is_plain && only_looks {
        return Some(Again::Reading);
    }
    can_try().then_some(Again::Trial)
}

/// Why a run failed, where it printed nothing else: what its programs say of themselves, and not that the sandbox holds
/// them back.
fn complains(run: &SecondRun, programs: &[String]) -> Option<String> {
    let printed = String::from_utf8_lossy(&run.printed);
    let rows: Vec<&str> = printed.lines().filter(|row| !row.trim().is_empty()).collect();
    let begins = |row: &str| {
        let name = row.split_once(": ").map(|(name, _)| name.rsplit('/').next().unwrap_or(name));
        name.is_some_and(|name| COMPLAINING.contains(&name) || programs.iter().any(|program| program == name))
    };
    let is_kept = |row: &str| HELD_BACK.iter().any(|words| row.contains(words));
    let more = |row: &str| begins(row) || row.starts_with([' ', '\t']) || row.starts_with("Try ");
    let first = rows.first().filter(|row| run.code != 0 && begins(row))?;
    (rows.iter().all(|row| more(row)) && !rows.iter().any(|row| is_kept(row)))
        .then(|| first.chars().take(SAID).collect())
}

/// What runs a line as the person's shell would, with the aliases and functions it names, and none of its start-up
/// files.
fn words(facts: &Facts, line: &str) -> Option<Vec<OsString>> {
    let quoted = shlex::try_quote(line).ok()?.into_owned();
    let definitions = facts.definitions();
    let words: Vec<String> = match facts.shell.as_str() {
        "fish" => vec!["fish".into(), "--no-config".into(), "-c".into(), format!("{definitions}\n{line}")],
        "zsh" => {
            // zsh prints its aliases without the word.
            let define = |row: &str| if is_alias(row) { format!("alias -- {row}") } else { row.to_owned() };
            let definitions: Vec<String> = definitions.lines().map(define).collect();
            vec!["zsh".into(), "-f".into(), "-c".into(), format!("{}\neval {quoted}", definitions.join("\n"))]
        }
        _ => {
            let before = format!("shopt -s expand_aliases\n{definitions}\n");
            vec!["bash".into(), "--norc".into(), "-c".into(), format!("{before}eval {quoted}")]
        }
    };
    Some(words.into_iter().map(OsString::from).collect())
}

/// Tells whether a row is an alias as zsh prints it: a name, `=` and a value.
fn is_alias(row: &str) -> bool {
    let name = row.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| {
        !name.is_empty() && !name.contains(|letter: char| letter.is_whitespace() || letter == '(')
    })
}

/// A run under way. Dropped, it kills the run.
struct Started {
    child: std::process::Child,
    printed: Option<std::thread::JoinHandle<Vec<u8>>>,
    told: Option<std::thread::JoinHandle<Vec<u8>>>,
}

impl Started {
    fn new(mut command: Command, again: Again) -> std::io::Result<Self> {
        let (reader, writer) = std::io::pipe()?;
        command.stdin(Stdio::null()).stderr(writer.try_clone()?);
        match again {
            Again::Reading => drop(command.stdout(writer)),
            Again::Trial => {
                drop(writer);
                command.stdout(Stdio::piped());
            }
        }
        let mut child = command.spawn()?;
        // The writing end goes with it.
        drop(command);
        let told = child.stdout.take().map(|out| std::thread::spawn(move || read(out)));
        Ok(Self { child, printed: Some(std::thread::spawn(move || read(reader))), told })
    }

    /// Returns what it printed, and what axi says of it.
    fn read(mut self) -> (Vec<u8>, Vec<u8>) {
        let end = |thread: Option<std::thread::JoinHandle<Vec<u8>>>| {
            thread.and_then(|thread| thread.join().ok()).unwrap_or_default()
        };
        (end(self.printed.take()), end(self.told.take()))
    }

    /// Has it end all it started: first in words, for it knows them.
    fn end(&mut self) {
        let Some(first) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) else { return };
        if matches!(self.child.try_wait(), Ok(Some(_))) {
            return;
        }
        // A process that is gone already is fine.
        let _gone = kill_process(first, Signal::TERM);
        let begun = std::time::Instant::now();
        while begun.elapsed() < GRACE && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(STEP);
        }
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        self.end();
    }
}

fn read(from: impl std::io::Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    // What was read until an error counts.
    drop(from.take(MOST).read_to_end(&mut bytes));
    bytes
}

#[cfg(test)]
mod tests {
    use super::super::facts::LastCommand;
    use super::*;

    fn decided(command: &str, shell: &str, aliases: &str) -> Option<Again> {
        let last = LastCommand { command: command.into(), status: 1, milliseconds: 0 };
        let facts = Facts { shell: shell.into(), aliases: aliases.into(), last: Some(last), ..Facts::default() };
        let place = Surroundings {
            cwd: "/w".into(),
            workspace: "/w".into(),
            home: Some("/h".into()),
            ..Surroundings::default()
        };
        let rerun = Rerun { place, can_try: Box::new(|| true), command: Box::new(|_, _, _| None) };
        rerun.how(&facts)
    }

    #[test]
    fn what_only_looks_is_held_to_reading_and_the_rest_is_tried() {
        assert_eq!(decided("ls nowhere", "zsh", ""), Some(Again::Reading));
        assert_eq!(decided("git psuh", "bash", ""), Some(Again::Trial));
        assert_eq!(decided("make", "bash", ""), Some(Again::Trial));
        assert_eq!(decided("mkdir a/b", "zsh", ""), Some(Again::Trial));
        // The judge does not know what an alias hides, nor fish's quotes.
        assert_eq!(decided("ls nowhere", "bash", "alias ls='rm -rf'"), Some(Again::Trial));
        assert_eq!(decided("ls nowhere", "fish", ""), Some(Again::Trial));
    }

    #[test]
    fn what_would_leave_the_machine_destroy_or_ask_is_not_run_again() {
        for command in
            ["git push", "curl https://example.org/x", "rm -r build", "sudo ls /root", "cat ~/.ssh/id_rsa"]
        {
            assert_eq!(decided(command, "bash", ""), None, "{command}");
        }
    }

    #[test]
    fn only_a_run_that_fails_and_prints_nothing_else_complains() {
        let said = |code: i32, printed: &str| {
            complains(&SecondRun { printed: printed.into(), code }, &["date".into(), "ls".into()])
        };
        assert_eq!(said(1, "date: invalid date 'x'\n").as_deref(), Some("date: invalid date 'x'"));
        assert_eq!(said(0, "date: invalid date 'x'\n"), None);
        assert_eq!(said(1, ""), None);
        assert_eq!(said(1, "a.txt\n"), None);
        assert_eq!(said(2, "ls: cannot access 'x': No such file\na.txt\n"), None);
        assert_eq!(said(2, "ls: cannot open 'x': Permission denied\n"), None);
        let top = complains(&SecondRun { printed: "top: failed tty get\n".into(), code: 1 }, &["top".into()]);
        assert_eq!(top, None);
        let usage = "ls: unrecognized option '--x'\nTry 'ls --help' for more.\n";
        assert_eq!(said(2, usage).as_deref(), Some("ls: unrecognized option '--x'"));
        assert!(said(128, "fatal: not a git repository\n").is_some());
    }

    #[test]
    fn each_shell_gets_its_line_with_what_the_line_names() {
        let facts = |shell: &str, aliases: &str| Facts {
            shell: shell.into(),
            aliases: aliases.into(),
            line: "ll 'a b'".into(),
            ..Facts::default()
        };
        let said = |facts: Facts| words(&facts, "ll 'a b'").unwrap().pop().unwrap().into_string().unwrap();
        assert_eq!(said(facts("zsh", "ll='ls -l'")), "alias -- ll='ls -l'\neval \"ll 'a b'\"");
        assert_eq!(
            said(facts("bash", "alias ll='ls -l'")),
            "shopt -s expand_aliases\nalias ll='ls -l'\neval \"ll 'a b'\""
        );
        assert_eq!(said(facts("fish", "alias ll 'ls -l'")), "alias ll 'ls -l'\nll 'a b'");
    }
}
