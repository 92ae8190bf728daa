//! Looks for the tools of the table on this machine: reads each directory of the search path, and starts one
//! process for each version that is not known yet. All of them run at once, for a second at most.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::cache::{Known, KnownVersions, Stamp};
use super::table::{DevTool, TABLE};
use crate::platform::event::{PollFd, PollFlags, Timespec, poll};
use crate::platform::io::Errno;
use crate::platform::os::fd::OwnedFd;
use crate::platform::os::fs::{MetadataExt as _, PermissionsExt as _};
use crate::platform::os::process::CommandExt as _;
use crate::platform::process::{Pid, Signal, kill_process_group};
use crate::secret::is_secret_name;
use crate::tool::output;

/// How long all versions together may take.
const LIMIT: Duration = Duration::from_secs(1);
/// How much of what it says is read, in bytes.
const MOST_SAID: usize = 4 * 1024;
/// The longest version, in characters.
const MOST_VERSION: usize = 40;
/// Programs that install others, the first that is here.
const MANAGERS: &[&str] = &["apt-get", "dnf", "pacman", "zypper", "apk", "brew"];

/// What is known of the machine before anything is looked for.
#[derive(Debug, Clone)]
pub struct Machine {
    /// Directories where programs are, in order.
    pub path: OsString,
    /// The person's home.
    pub home: Option<PathBuf>,
    /// The workspace: programs in it are found, but not run for their versions.
    pub workspace: PathBuf,
}

/// A tool of the table, and what was found of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its row.
    pub tool: &'static DevTool,
    /// Where it is; `None` where it is not here.
    pub path: Option<PathBuf>,
    /// Its version, where it said one in time.
    pub version: Option<String>,
}

/// What a search came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    /// Every row of the table, in its order.
    pub tools: Vec<Found>,
    /// The program that installs others here.
    pub manager: Option<&'static str>,
    /// Processes that were started.
    pub processes: usize,
    /// Versions that were known before.
    pub known: usize,
    /// How long it took.
    pub took: Duration,
}

/// A program that was asked for its version.
struct Asked {
    row: usize,
    stamp: Option<Stamp>,
    child: Child,
    /// Its output and its errors, until it closes them.
    pipes: [Option<OwnedFd>; 2],
    said: [Vec<u8>; 2],
}

/// Looks where they are, and starts nothing.
#[must_use]
pub fn here(machine: &Machine) -> Vec<Found> {
    located(machine, &machine.directories()).into_iter().map(|(found, _)| found).collect()
}

/// Every row of the table, with the state of the file where there is one.
fn located(machine: &Machine, directories: &[PathBuf]) -> Vec<(Found, Option<Metadata>)> {
    let row = |tool: &'static DevTool| {
        let here = tool.candidates().find_map(|name| locate(name, directories, machine.home.as_deref()));
        let (path, metadata) = here.unzip();
        (Found { tool, path, version: None }, metadata)
    };
    TABLE.iter().map(row).collect()
}

/// Looks for all of them, and adds new versions to `kept`.
#[must_use]
pub fn find(machine: &Machine, kept: &mut KnownVersions) -> Search {
    let begun = Instant::now();
    let directories = machine.directories();
    let mut tools = Vec::with_capacity(TABLE.len());
    let (mut asked, mut known, mut processes) = (Vec::new(), 0, 0);
    for (row, (mut found, metadata)) in located(machine, &directories).into_iter().enumerate() {
        if let (Some(path), Some(metadata)) = (&found.path, metadata) {
            let stamp = Stamp::of(&metadata);
            match stamp.map_or(Known::Nothing, |stamp| kept.version(path, stamp)) {
                Known::Said(version) => {
                    known += 1;
                    found.version = version;
                }
                // The workspace's own programs are untrusted: they are not run without approval.
                Known::Nothing if found.tool.version.is_empty() || path.starts_with(&machine.workspace) => {}
                Known::Nothing => {
                    let child = ask(path, found.tool.version, machine.home.as_deref());
                    processes += usize::from(child.is_some());
                    asked.extend(child.map(|child| Asked::new(row, stamp, child)));
                }
            }
        }
        tools.push(found);
    }
    listen(asked, begun + LIMIT, &mut tools, kept);
    let manager = MANAGERS.iter().copied().find(|name| locate(name, &directories, None).is_some());
    Search { tools, manager, processes, known, took: begun.elapsed() }
}

/// Finds a program in the directories, or a file below the home.
fn locate(name: &str, directories: &[PathBuf], home: Option<&Path>) -> Option<(PathBuf, Metadata)> {
    let fits = |path: PathBuf, runs: bool| {
        let metadata = path.metadata().ok()?;
        let executable = !runs || metadata.permissions().mode() & 0o111 != 0;
        (metadata.is_file() && executable).then_some((path, metadata))
    };
    match name.strip_prefix("~/") {
        Some(rest) => fits(home?.join(rest), false),
        None => directories.iter().find_map(|directory| fits(directory.join(name), true)),
    }
}

/// Starts a program so that it prints its version. It gets no input and none of the person's secrets, and runs in a
/// directory where no project can change what it does.
fn ask(path: &Path, arguments: &str, home: Option<&Path>) -> Option<Child> {
    let mut command = Command::new(path);
    command.args(arguments.split(' ')).current_dir(home.filter(|home| home.is_dir()).unwrap_or(Path::new("/")));
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_none_or(is_secret_name) {
            command.env_remove(&name);
        }
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    command.spawn().inspect_err(|error| tracing::debug!(%error, program = %path.display(), "not asked")).ok()
}

/// Waits until `end` for all programs that were asked. A program that is not done by then is ended, and asked again
/// another time.
fn listen(mut asked: Vec<Asked>, end: Instant, tools: &mut [Found], kept: &mut KnownVersions) {
    while !asked.is_empty() {
        let left = end.saturating_duration_since(Instant::now());
        await_output(&asked, left);
        asked.retain_mut(|one| {
            // Output that a child of it still holds open is waited for, but not longer than the others.
            let ended = !one.hear() || left.is_zero() && matches!(one.child.try_wait(), Ok(Some(_)));
            if !ended && !left.is_zero() {
                return true;
            }
            let found = &mut tools[one.row];
            if ended {
                found.version = version(&one.said.concat());
            }
            if let (Some(path), Some(stamp)) = (&found.path, one.stamp) {
                if ended {
                    kept.keep(path, stamp, found.version.clone());
                } else {
                    kept.late(path, stamp);
                }
            }
            one.end(!ended);
            false
        });
    }
}

/// Waits until one of them prints something or closes its output.
fn await_output(asked: &[Asked], limit: Duration) {
    let pipes = asked.iter().flat_map(|one| one.pipes.iter().flatten());
    let mut pipes: Vec<PollFd<'_>> = pipes.map(|pipe| PollFd::new(pipe, PollFlags::IN)).collect();
    // After an interrupted wait, too, comes a look, and then the next wait. At most a second is always a valid time.
    let _ = poll(&mut pipes, Timespec::try_from(limit).ok().as_ref());
}

impl Asked {
    fn new(row: usize, stamp: Option<Stamp>, mut child: Child) -> Self {
        let pipes = [child.stdout.take().map(OwnedFd::from), child.stderr.take().map(OwnedFd::from)];
        // One that cannot be read without waiting is not read.
        let pipes = pipes.map(|pipe| pipe.filter(|pipe| crate::platform::io::ioctl_fionbio(pipe, true).is_ok()));
        Self { row, stamp, child, pipes, said: [Vec::new(), Vec::new()] }
    }

    /// Takes what it has printed; tells whether more can come. What is too much is read all the same, since a program
    /// that is not read never ends.
    fn hear(&mut self) -> bool {
        let mut buffer = [0; 16 * 1024];
        for (pipe, said) in self.pipes.iter_mut().zip(&mut self.said) {
            match pipe.as_ref().map(|pipe| crate::platform::io::read(pipe, &mut buffer)) {
                Some(Ok(length @ 1..)) => {
                    said.extend_from_slice(&buffer[..length.min(MOST_SAID.saturating_sub(said.len()))]);
                }
                Some(Err(Errno::AGAIN | Errno::INTR)) | None => {}
                Some(Ok(0) | Err(_)) => *pipe = None,
            }
        }
        self.pipes.iter().any(Option::is_some)
    }

    /// Ends the process; with `all`, also what it started.
    fn end(&mut self, all: bool) {
        let id = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(id) = id.filter(|_| all) {
            // If the whole group has already ended, that is no error.
            let _ = kill_process_group(id, Signal::KILL);
        }
        // It has closed its output, or its time is over: this does not wait.
        drop(self.child.kill().and_then(|()| self.child.wait()));
    }
}

/// Finds the version in what a program says of itself: the first word with digits on both sides of a dot.
fn version(said: &[u8]) -> Option<String> {
    // The number of a colour is none of a version.
    let said = output::clean(said);
    let dotted = |word: &&str| {
        word.split('.').nth(1).is_some_and(|after| {
            let before = word.split('.').next().unwrap_or_default();
            before.ends_with(|last: char| last.is_ascii_digit())
                && after.starts_with(|first: char| first.is_ascii_digit())
        })
    };
    let words = said
        .lines()
        .take(8)
        .flat_map(|line| line.split(|character: char| character.is_whitespace() || "\",()".contains(character)));
    let word = words.clone().find(dotted)?;
    let number = word.trim_start_matches(|character: char| !character.is_ascii_digit());
    let plain = |character: &char| character.is_ascii_alphanumeric() || ".-+_".contains(*character);
    let version: String = number.chars().take_while(plain).take(MOST_VERSION).collect();
    (!version.is_empty()).then_some(version)
}

impl Machine {
    /// Knows what the environment says.
    #[must_use]
    pub fn new(path: Option<&OsStr>, home: Option<PathBuf>, workspace: PathBuf) -> Self {
        Self { path: path.unwrap_or_default().to_owned(), home, workspace }
    }

    /// The directories where programs are, each once: some systems call one by several names. A relative one means another
    /// place everywhere.
    fn directories(&self) -> Vec<PathBuf> {
        let mut seen = HashSet::new();
        let is_new = |path: &PathBuf| {
            let found = path.metadata().ok().filter(Metadata::is_dir);
            found.is_some_and(|found| seen.insert((found.dev(), found.ino())))
        };
        std::env::split_paths(&self.path).filter(|path| path.is_absolute()).filter(is_new).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_of_several_names_is_looked_into_once() {
        let place = tempfile::tempdir().unwrap();
        let (bin, link) = (place.path().join("bin"), place.path().join("link"));
        std::fs::create_dir(&bin).unwrap();
        crate::platform::os::fs::symlink(&bin, &link).unwrap();
        let parts = [&link, &bin, &place.path().join("none"), &link, &PathBuf::from("bin")];
        let path = std::env::join_paths(parts).unwrap();
        let machine = Machine::new(Some(&path), None, place.path().to_owned());
        assert_eq!(machine.directories(), [link]);
    }

    #[test]
    fn versions_are_found_in_what_programs_say() {
        for (said, expected) in [
            ("git version 2.39.5\n", "2.39.5"),
            ("v20.19.1\n", "20.19.1"),
            ("cargo 1.95.0 (abc 2026-01-01)\n", "1.95.0"),
            ("openjdk version \"21.0.2\" 2024-01-16\n", "21.0.2"),
            ("go version go1.22.1 linux/amd64", "1.22.1"),
            ("jq-1.7.1", "1.7.1"),
            ("Docker version 24.0.7, build afdd53b", "24.0.7"),
            ("\u{1b}[31m3.1\u{1b}[0m", "3.1"),
        ] {
            assert_eq!(version(said.as_bytes()).as_deref(), Some(expected), "{said:?}");
        }
        assert_eq!(version(b"no version here"), None);
        assert_eq!(version(b""), None);
    }
}
