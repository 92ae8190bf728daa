//! What is known to be wrong with a proposed command before it stands on the prompt line: its shell cannot read it, a
//! program in it is not installed, a directory that it needs is not there. Nothing of the command is run for that: the
//! shell only parses it, and looks names up. What a small model proposes and only looks fails here before it does there.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use super::tldr::Example;
use crate::agent::Needs;
use crate::approval::needed_directory;
use crate::file::may_be_there;
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
    /// No installed page of the program names this option.
    NoFlag { page: String, flag: String },
    /// It puts several things into what is no directory.
    NoDirectory { path: String },
    /// It removes, moves or empties what is not there.
    NotThere { path: String },
    /// It only looks, was tried, and printed nothing but why it cannot.
    Fails { says: String },
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
            Self::NoFlag { page, flag } => {
                locale.with(word::handoff::NoFlag { page: &sanitize_line(page), flag: &sanitize_line(flag) })
            }
            Self::NoDirectory { path } => locale.with(word::handoff::NoDirectory { path: &sanitize_line(path) }),
            Self::NotThere { path } => locale.with(word::handoff::NotThere { path: &sanitize_line(path) }),
            Self::Fails { says } => locale.with(word::handoff::Fails { says: &sanitize_line(says) }),
        }
    }

    /// Words it for the model, with examples of what may do it.
    pub(super) fn told(&self, asked: &str, examples: &[Example]) -> String {
        let what = match self {
            Self::Unread { shell, says } => format!("{shell} cannot read that command: {says}"),
            Self::Missing { program } => {
                format!("`{program}` is not installed on this machine: another program may do it.")
            }
            Self::NoFlag { page, flag } => format!("{page} has no option `{flag}`."),
            Self::NoDirectory { path } => format!(
                "That fails: `{path}` is no directory. Several files go into a directory only; to give each of them another \
                 name takes a loop."
            ),
            Self::NotThere { path } => format!("There is no `{path}` here."),
            Self::Fails { says } => format!("That command fails here: {says}"),
        };
        let same =
            if matches!(self, Self::Fails { .. }) { "" } else { " If it is right as it is, propose the same." };
        let shown = examples.iter().map(|Example { command, says }| format!("\nInstalled: `{command}` ({says})"));
        let shown: String = shown.collect();
        let asked = if shown.is_empty() { String::new() } else { format!(" It is for: {asked}") };
        format!("{what}{shown}\nPropose the whole command again, corrected.{same}{asked}")
    }

    /// Tells whether a small model can do better once it knows: what is not there stays so.
    pub(super) fn can_be_mended(&self) -> bool {
        match self {
            Self::NotThere { .. } => false,
            Self::Fails { says } => !says.contains("No such file"),
            Self::Unread { .. } | Self::Missing { .. } | Self::NoFlag { .. } | Self::NoDirectory { .. } => true,
        }
    }

    /// Tells whether it is of a loss that may be a word of the line which the model took for a name.
    pub(super) fn is_of_no_name(&self) -> bool {
        matches!(self, Self::NotThere { path } if path.chars().all(char::is_alphabetic))
    }

    /// Tells whether a small model took a word of what was `asked` for the name of a program, which is not here: `make it better`.
    pub(super) fn is_a_word_of(&self, asked: &str) -> bool {
        let Self::Missing { program } = self else { return false };
        let mut words = asked.split_whitespace().map(|word| word.trim_matches([',', '.', '?', '!', ':']));
        let is_plain =
            words.clone().all(|word| word.chars().all(|letter| letter.is_alphabetic() || letter == '\''));
        is_plain && words.any(|word| word.eq_ignore_ascii_case(program))
    }

    /// The command that does what this one is meant to: it makes the directory first, or gives each file its new ending.
    pub(super) fn mended(&self, command: &str, shell: &str) -> Option<String> {
        let Self::NoDirectory { path } = self else { return None };
        if let Some(found) = found_endings(command) {
            return Some(found);
        }
        if !path.contains(['*', '?', '[', '{', '\n']) {
            return Some(format!("mkdir -p {} && {command}", shlex::try_quote(path).ok()?));
        }
        matches!(shell, "bash" | "zsh").then(|| endings(command)).flatten()
    }
}

/// `mv *.a *.b` as a loop, since `mv` would need a directory there.
fn endings(command: &str) -> Option<String> {
    let words: Vec<&str> = command.split(' ').collect();
    let ["mv", from, to] = words.as_slice() else { return None };
    let is_plain =
        |text: &str| text.chars().all(|letter| letter.is_ascii_alphanumeric() || "/._-".contains(letter));
    let ((before, old), (same, new)) = (from.split_once('*')?, to.split_once('*')?);
    let is_ending = before == same && !old.is_empty() && [before, old, new].into_iter().all(is_plain);
    is_ending.then(|| format!("for f in {from}; do mv -- \"$f\" \"${{f%{old}}}{new}\"; done"))
}

/// `find … -name '*.a' … -exec mv {} .b \;` with a shell that gives each file its ending: all of them would be moved to one name.
fn found_endings(command: &str) -> Option<String> {
    let (find, to) = command.split_once(" -exec mv {} ").filter(|(find, _)| find.starts_with("find "))?;
    let to = ["\\;", "';'", "+"].iter().find_map(|end| to.strip_suffix(end))?.trim().trim_matches(['"', '\'']);
    let new = to.strip_prefix("{}").or_else(|| to.strip_prefix('*')).unwrap_or(to);
    let (_, name) = find.split_once(" -name ").or_else(|| find.split_once(" -iname "))?;
    let old = name.split(' ').next()?.trim_matches(['"', '\'']).strip_prefix('*')?;
    let is_ending = |text: &str| {
        text.len() > 1
            && text.starts_with('.')
            && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "._-".contains(letter))
    };
    let is_one = find.matches("name ").count() == 1 && !find.contains(" -iname ");
    let each = format!("mv -- \"$1\" \"${{1%{old}}}{new}\"");
    (is_one && is_ending(old) && is_ending(new)).then(|| format!("{find} -exec sh -c '{each}' sh {{}} \\;"))
}

/// Looks for faults.
#[derive(Debug, Clone, Default)]
pub struct Check {
    /// `PATH`.
    pub path: OsString,
    /// The person's directory.
    pub directory: PathBuf,
}

impl Check {
    /// Looks for a fault of a line that needs this, in the shell that will read it. `None` too where that shell
    /// is not known, or does not answer.
    ///
    /// # Cancel safety
    /// Dropping it ends the shell.
    pub(super) async fn fault(&self, line: &str, needs: &Needs, shell: &str, known: &str) -> Option<Fault> {
        let row = shell::find(shell).filter(|row| !row.reads.is_empty())?;
        let (read, says) = self.run(row.name, row.reads, line).await?;
        if !read {
            let says = says.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
            return Some(Fault::Unread { shell: shell.to_owned(), says: says.chars().take(SAID).collect() });
        }
        // What the line itself installs or makes is not there yet.
        let is_made = |word: &str| line.matches(word).count() > 1;
        let programs: BTreeSet<&str> =
            needs.commands.iter().filter_map(|words| words.first().map(String::as_str)).collect();
        for program in programs {
            // What the person defines is not in `PATH`.
            let is_named =
                known.split(|letter: char| letter.is_whitespace() || letter == '=').any(|word| word == program);
            if is_named || is_made(program) || program.contains(['/', '=', '$', '`']) {
                continue;
            }
            if !self.run(row.name, row.knows, program).await?.0 {
                return Some(Fault::Missing { program: program.to_owned() });
            }
        }
        let needed = needs.commands.iter().filter_map(|words| needed_directory(words));
        let mut missing = needed.filter(|path| {
            let is_sure = !path.starts_with('~') && !path.contains(['$', '`']);
            is_sure && !is_made(path.trim_end_matches('/')) && !self.directory.join(path).is_dir()
        });
        if let Some(path) = missing.next() {
            return Some(Fault::NoDirectory { path: path.to_owned() });
        }
        let is_gone = |path: &&PathBuf| {
            let name = path.file_name().map(|name| name.to_string_lossy());
            !name.is_some_and(|name| is_made(&name)) && !may_be_there(path)
        };
        let gone = needs.there.iter().find(is_gone)?;
        let path = gone.strip_prefix(&self.directory).unwrap_or(gone).display().to_string();
        Some(Fault::NotThere { path })
    }

    /// Tells whether a program of this name is in `PATH`.
    pub(super) fn is_installed(&self, program: &str) -> bool {
        let is_program = |folder: PathBuf| {
            let file = folder.join(program);
            crate::platform::fs::access(&file, crate::platform::fs::Access::EXEC_OK).is_ok() && file.is_file()
        };
        std::env::split_paths(&self.path).any(is_program)
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
        let check = Check { path: std::env::var_os("PATH").unwrap_or_default(), directory: "/usr".into() };
        let commands = programs.iter().map(|name| vec![(*name).to_owned()]).collect();
        check.fault(line, &Needs { commands, there: Vec::new() }, "bash", "alias mine='ls'").await
    }

    #[tokio::test]
    async fn several_files_need_a_directory_that_is_there_or_is_made() {
        let fault = async |line: &str| {
            let check = Check { path: std::env::var_os("PATH").unwrap_or_default(), directory: "/usr".into() };
            let commands = line.split(" && ").map(|part| shlex::split(part).unwrap()).collect();
            check.fault(line, &Needs { commands, there: Vec::new() }, "bash", "").await
        };
        assert_eq!(fault("cp *.txt bin").await, None);
        assert_eq!(fault("cp *.txt texts").await, Some(Fault::NoDirectory { path: "texts".into() }));
        assert_eq!(fault("cp *.txt ~/texts").await, None);
        assert_eq!(fault("mkdir texts && cp *.txt texts/").await, None);
        let mended = |path: &str, command: &str| Fault::NoDirectory { path: path.into() }.mended(command, "zsh");
        assert_eq!(mended("my texts", "cp *.txt x").as_deref(), Some("mkdir -p 'my texts' && cp *.txt x"));
        let loop_ = r#"for f in a/*.JPG; do mv -- "$f" "${f%.JPG}.jpg"; done"#;
        assert_eq!(mended("a/*.jpg", "mv a/*.JPG a/*.jpg").as_deref(), Some(loop_));
        let found = r#"find a -type f -name '*.JPG' -exec sh -c 'mv -- "$1" "${1%.JPG}.jpg"' sh {} \;"#;
        assert_eq!(mended("*.jpg", r"find a -type f -name '*.JPG' -exec mv {} *.jpg \;").as_deref(), Some(found));
        assert_eq!(found_endings(r"find a -type f -name '*.JPG' -exec mv {} .jpg \;").as_deref(), Some(found));
        assert_eq!(found_endings("find a -type f -name '*.JPG' -exec mv {} .jpg +").as_deref(), Some(found));
        for command in [
            r"find a -name '*.JPG' -exec mv {} b/.jpg \;",
            r"find a -name '*.JPG' -o -name '*.x' -exec mv {} .jpg \;",
            r"find a -name 'x*' -exec mv {} .jpg \;",
        ] {
            assert_eq!(found_endings(command), None, "{command}");
        }
        for command in ["mv a/*.JPG b/*.jpg", "cp *.a *.b", "mv -v *.a *.b", "mv $x*.a $x*.b", "mv * *"] {
            assert_eq!(mended("a/*.b", command), None, "{command}");
        }
    }

    #[test]
    fn a_word_is_told_from_a_program_that_was_asked_for() {
        let missing = Fault::Missing { program: "make".into() };
        assert!(missing.is_a_word_of("make it better") && missing.is_a_word_of("Make it better, please!"));
        for asked in ["run the tests", "make -j4 all", "make test.o", "remake it"] {
            assert!(!missing.is_a_word_of(asked), "{asked}");
        }
        assert!(!Fault::NotThere { path: "make".into() }.is_a_word_of("make it better"));
    }

    #[tokio::test]
    async fn what_goes_is_there() {
        let fault = async |line: &str, path: &str| {
            let check = Check { path: std::env::var_os("PATH").unwrap_or_default(), directory: "/usr".into() };
            check.fault(line, &Needs { commands: Vec::new(), there: vec![path.into()] }, "bash", "").await
        };
        assert_eq!(fault("rm -r bin", "/usr/bin").await, None);
        assert_eq!(fault("rm junk", "/usr/junk").await, Some(Fault::NotThere { path: "junk".into() }));
        assert_eq!(fault("touch junk && rm junk", "/usr/junk").await, None);
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
        assert_eq!(fault("$(touch x)", &["$(touch x)"]).await, None);
        assert!(!made.exists());
    }
}
