//! The person's shell, as far as commands are concerned: what they find of it, and what they change that the person
//! may want in it. A command runs in a bash of its own; before and after it, that bash says its directory, variables,
//! aliases, functions and options (`state.bash`). Nothing here changes the person's shell.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The functions of bash that tell a state.
const STATE: &str = include_str!("state.bash");

/// The most that is read of what a command's shell tells, in bytes.
const MOST: usize = 8 * 1024 * 1024;

/// A value of a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A variable that programs get.
    Exported(String),
    /// One that only the shell has.
    Plain(String),
    /// An array.
    List(Vec<String>),
    /// An array with keys.
    Map(Vec<(String, String)>),
}

/// What a shell is like.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShellState {
    /// Where it is.
    pub directory: PathBuf,
    /// Its variables.
    pub variables: BTreeMap<String, Value>,
    /// Its aliases.
    pub aliases: BTreeMap<String, String>,
    /// The names of its functions, and the text of those that the command defines.
    pub functions: BTreeMap<String, Option<String>>,
    /// The options that are on: those of `set -o`, and those of `shopt`.
    pub options: Vec<String>,
}

/// A command that went well, and its shell before and after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellRun {
    /// The line.
    pub line: String,
    /// Its shell before.
    pub before: ShellState,
    /// Its shell after.
    pub after: ShellState,
}

/// What commands find of the person's shell, and what those that went well left in theirs.
#[derive(Debug, Default)]
pub struct PersonShell {
    /// What is read before a command: definitions and options, for bash.
    found: String,
    ran: Mutex<Vec<ShellRun>>,
}

/// The files between a command's shell and axi.
#[derive(Debug)]
pub(super) struct Report {
    /// What bash reads before the command.
    pub(super) environment: tempfile::TempPath,
    told: tempfile::NamedTempFile,
}

impl PersonShell {
    /// Has commands find this: definitions and options, for bash.
    #[must_use]
    pub fn new(found: String) -> Self {
        Self { found, ran: Mutex::default() }
    }

    /// Lists the commands that went well, in their order.
    #[must_use]
    pub fn ran(&self) -> Vec<ShellRun> {
        self.ran.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Writes the definitions alone, for a command whose changes nobody waits for; `None` if there are none. Bash has read
    /// the file whole when it removes it; what never ran leaves it to whoever holds this.
    ///
    /// # Errors
    /// What the system said: the command must not run, for it was judged by what it finds.
    pub(crate) fn definitions(&self, directory: &Path) -> std::io::Result<Option<tempfile::TempPath>> {
        self.written(directory, |path| format!("command rm -f -- {path}\n"))
    }

    /// The same for a trial, whose commands all read it, and where removing it would be a change: it lies there as long
    /// as somebody holds this.
    ///
    /// # Errors
    /// As above.
    pub fn definitions_for_trial(&self) -> std::io::Result<Option<tempfile::TempPath>> {
        self.written(&std::env::temp_dir(), |_| String::new())
    }

    fn written(
        &self,
        directory: &Path,
        first: impl Fn(&str) -> String,
    ) -> std::io::Result<Option<tempfile::TempPath>> {
        if self.found.is_empty() {
            return Ok(None);
        }
        let mut environment = named(directory, ".axi-env-")?;
        // Functions of another shell put their own files beside it.
        let report = quoted(&environment.path().display().to_string());
        let text = format!("{}{}\n__axi_report={report}\n{}", first(&report), own_environment(), self.found);
        environment.write_all(text.as_bytes())?;
        Ok(Some(environment.into_temp_path()))
    }

    /// Writes what a command's shell is to read, into a directory that it can write.
    ///
    /// # Errors
    /// What the system said: a command that was judged by what it finds must not run.
    pub(super) fn prepare(&self, line: &str, directory: &Path) -> std::io::Result<Report> {
        let (mut environment, told) = (named(directory, ".axi-env-")?, named(directory, ".axi-told-")?);
        let defined = defined(line).join(" ");
        let report = quoted(&told.path().display().to_string());
        let text = format!(
            "{}\n__axi_report={report}\n{STATE}{}\n__axi_state {defined}\ntrap '__axi_state {defined}' EXIT\n",
            own_environment(),
            self.found
        );
        environment.write_all(text.as_bytes())?;
        Ok(Report { environment: environment.into_temp_path(), told })
    }

    /// Takes what the shell of a command told that went well.
    pub(super) fn take(&self, line: &str, report: &Report) {
        let bytes = std::fs::read(report.told.path()).unwrap_or_default();
        let Some((before, after)) = states(bytes.get(..MOST).unwrap_or(&bytes)) else { return };
        let run = ShellRun { line: line.to_owned(), before, after };
        self.ran.lock().unwrap_or_else(PoisonError::into_inner).push(run);
    }
}

fn named(directory: &Path, prefix: &str) -> std::io::Result<tempfile::NamedTempFile> {
    tempfile::Builder::new().prefix(prefix).tempfile_in(directory)
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Gives what the command starts the `BASH_ENV` that axi has.
fn own_environment() -> String {
    let before = std::env::var("BASH_ENV").ok();
    before.map_or("unset BASH_ENV".to_owned(), |path| format!("BASH_ENV={}", quoted(&path)))
}

/// The functions that a line defines: `name()`, `function name`.
fn defined(line: &str) -> Vec<&str> {
    let is_name = |name: &&str| {
        !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-".contains(letter))
    };
    let mut names: Vec<&str> = Vec::new();
    for (at, _) in line.match_indices('(') {
        let rest = line[at + 1..].trim_start();
        let before = line[..at].trim_end();
        let ends = |letter: char| !letter.is_ascii_alphanumeric() && !"_-".contains(letter);
        if rest.starts_with(')') {
            names.extend(before.rsplit(ends).next());
        }
    }
    let words: Vec<&str> = line.split(|letter: char| letter.is_whitespace() || "({;&|".contains(letter)).collect();
    names.extend(words.windows(2).filter(|pair| pair[0] == "function").map(|pair| pair[1]));
    names.retain(is_name);
    names.sort_unstable();
    names.dedup();
    names
}

/// Reads two states, one after the other; `None` unless both are whole. It comes from a command, which may write what
/// it likes there.
fn states(bytes: &[u8]) -> Option<(ShellState, ShellState)> {
    let mut fields = bytes.split(|byte| *byte == 0).map(|field| String::from_utf8_lossy(field).into_owned());
    let before = state(&mut fields)?;
    let after = state(&mut fields)?;
    Some((before, after))
}

fn state(fields: &mut impl Iterator<Item = String>) -> Option<ShellState> {
    let mut state = ShellState::default();
    loop {
        match fields.next()?.as_str() {
            "C" => state.directory = fields.next()?.into(),
            "O" => state.options = fields.next()?.split(':').map(str::to_owned).collect(),
            "E" => drop(state.variables.insert(fields.next()?, Value::Exported(fields.next()?))),
            "V" => drop(state.variables.insert(fields.next()?, Value::Plain(fields.next()?))),
            "L" => {
                let (name, count): (String, usize) = (fields.next()?, fields.next()?.parse().ok()?);
                let values: Vec<String> = fields.take(count).collect();
                (values.len() == count).then_some(())?;
                state.variables.insert(name, Value::List(values));
            }
            "M" => {
                let (name, count): (String, usize) = (fields.next()?, fields.next()?.parse().ok()?);
                let mut pairs = Vec::new();
                for _ in 0..count {
                    pairs.push((fields.next()?, fields.next()?));
                }
                pairs.sort();
                state.variables.insert(name, Value::Map(pairs));
            }
            "A" => drop(state.aliases.insert(fields.next()?, fields.next()?)),
            "N" => drop(state.functions.entry(fields.next()?).or_default()),
            "F" => drop(state.functions.insert(fields.next()?, Some(fields.next()?))),
            "Z" => return Some(state),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_functions_of_a_line_are_found() {
        let line = "f() { g \"$(date)\"; }; function h { :; }\nk_2 () (true); a=(b)";
        assert_eq!(defined(line), ["f", "h", "k_2"]);
        assert_eq!(defined("echo () ; rm $(x)"), ["echo"]);
        assert_eq!(defined("echo \"日本(x)\"; 日本() { :; }; 日f() { :; }"), ["f"]);
    }

    #[test]
    fn a_real_bash_tells_what_a_line_changed_and_no_other_bytes_are_believed() {
        let folder = tempfile::tempdir().unwrap();
        let shell = PersonShell::new("shopt -s expand_aliases\nalias before=true\nset -o pipefail".to_owned());
        let line = "cd /; export A='x\ny'; b=(1 '2 3'); unset GONE; alias g='git st'; f() { echo hi; }; before";
        let report = shell.prepare(line, folder.path()).unwrap();
        let status = std::process::Command::new("bash")
            .args(["-c", line])
            .env("BASH_ENV", &*report.environment)
            .env("GONE", "1")
            .current_dir(folder.path())
            .status()
            .unwrap();
        assert!(status.success());
        shell.take(line, &report);
        drop(report);
        let ran = shell.ran();
        let [ShellRun { before, after, .. }] = ran.as_slice() else { panic!("{ran:?}") };
        assert_eq!(
            (before.variables.get("GONE"), after.variables.get("GONE")),
            (Some(&Value::Exported("1".into())), None)
        );
        assert_eq!(after.directory, Path::new("/"));
        assert_eq!(after.variables["A"], Value::Exported("x\ny".into()));
        assert_eq!(after.variables["b"], Value::List(vec!["1".into(), "2 3".into()]));
        assert_eq!(after.aliases["g"], "git st");
        assert!(before.aliases.contains_key("before") && before.options.contains(&"pipefail".to_owned()));
        assert!(after.functions["f"].as_ref().unwrap().contains("echo hi"));
        assert!(!after.variables.contains_key("BASH_ENV"));
        assert_eq!(folder.path().read_dir().unwrap().count(), 0, "nothing is left");
        assert_eq!(states(b"C\0/\0Z\0C\0/\0"), None, "the second is not whole");
        assert_eq!(states(b"X\0"), None);
        assert_eq!(states(b"C\0/\0L\0a\09999999\0Z\0"), None);
    }
}
