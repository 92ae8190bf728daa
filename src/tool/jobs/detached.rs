//! Commands that go on after axi ends, because the person agreed to that. Each has a small file beside its output,
//! so that the next axi can list, read and end it.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant, SystemTime};

use serde::{Deserialize, Serialize};

use crate::child::processes::{self, DETACHED_MARK};
use crate::platform::ADOPTS;
use crate::platform::RealPath as _;
use crate::platform::process::{Pid, Signal};
use crate::tool::{atomic, output, output_file};

use super::group::Mark;

/// Bytes of the output's end that are read at once.
const TAIL: u64 = 64 * 1024;
/// From TERM to KILL.
const GRACE: Duration = Duration::from_secs(2);
/// How long KILL may take.
const KILL_GRACE: Duration = Duration::from_secs(1);
/// Looks for survivors are this far apart.
const LOOK: Duration = Duration::from_millis(20);

/// The record of a detached command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    line: String,
    directory: PathBuf,
    mark: String,
    process: i32,
    /// Clock ticks from the system's start to its own; 0 where that is not known.
    start: u64,
    /// The PID namespace, and the system's start, to which the process number belongs.
    space: u64,
    boot: String,
    /// Seconds after 1970.
    begun: u64,
    /// Its end, if an axi saw it: the exit code and when.
    ended: Option<(i32, u64)>,
}

/// A job that goes on when axi ends, as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DetachedJob {
    /// Its number.
    pub(crate) number: u64,
    /// Its command line.
    pub(crate) line: String,
    /// Whether any process of it lives.
    pub(crate) running: bool,
    /// Its exit code, if an axi saw its end.
    pub(crate) code: Option<i32>,
    /// How long it has been running, or ran.
    pub(crate) lasted: Duration,
    /// Where its output is.
    pub(crate) output: PathBuf,
    /// Bytes printed.
    pub(crate) total: u64,
}

/// A number among the detached, reserved for a command that is about to start.
pub(crate) struct Reserved {
    outputs: PathBuf,
    number: u64,
    /// Where both kinds of its output go.
    pub(crate) output: File,
}

/// The jobs that go on when axi ends, as the directory of whole outputs tells of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DetachedJobs<'a> {
    outputs: &'a Path,
}

impl<'a> DetachedJobs<'a> {
    /// The first number: no session comes to so many jobs of its own.
    pub(crate) const FIRST: u64 = 1001;
    /// The last one.
    const LAST: u64 = 1999;

    /// Those of this directory.
    pub(crate) const fn in_directory(outputs: &'a Path) -> Self {
        Self { outputs }
    }

    /// Takes the first number that is free on this machine.
    ///
    /// # Errors
    /// What the file system said.
    pub(crate) fn reserve(self) -> io::Result<Reserved> {
        for number in Self::FIRST..=Self::LAST {
            match output_file::make(&output_of(self.outputs, number)) {
                Ok(output) => return Ok(Reserved { outputs: self.outputs.to_owned(), number, output }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("too many commands were kept running; end some with shell_job"))
    }

    /// Lists all that are of this system's run, by number.
    pub(crate) fn list(self, now: SystemTime) -> Vec<DetachedJob> {
        let files = self.outputs.read_dir().into_iter().flatten().flatten();
        let numbers = files.filter_map(|entry| number_of(&entry.path(), "json"));
        let mut all: Vec<DetachedJob> = numbers.filter_map(|number| self.report(number, now)).collect();
        all.sort_by_key(|job| job.number);
        all
    }

    /// Reports one.
    pub(crate) fn report(self, number: u64, now: SystemTime) -> Option<DetachedJob> {
        let entry =
            read(&entry_of(self.outputs, number)).filter(|entry| is_here(entry) || entry.ended.is_some())?;
        let running = is_running(&entry);
        let until = entry.ended.filter(|_| !running).map_or(seconds(now), |(_, at)| at);
        let output = output_of(self.outputs, number);
        Some(DetachedJob {
            number,
            running,
            code: entry.ended.filter(|_| !running).map(|(code, _)| code),
            lasted: Duration::from_secs(until.saturating_sub(entry.begun)),
            total: output.metadata().map_or(0, |metadata| metadata.len()),
            output,
            line: entry.line,
        })
    }

    /// Ends one and forgets it; false when something of it lives on. Takes up to three seconds.
    pub(crate) fn end(self, number: u64) -> bool {
        let path = entry_of(self.outputs, number);
        let Some(entry) = read(&path).filter(is_here) else { return true };
        for (kind, grace) in [(Signal::TERM, GRACE), (Signal::KILL, KILL_GRACE)] {
            signal(&entry, kind);
            let until = Instant::now() + grace;
            while is_running(&entry) && Instant::now() < until {
                std::thread::sleep(LOOK);
                if kind == Signal::KILL {
                    // Repeatedly: a process that forks while it is searched for escapes once, but not every time.
                    signal(&entry, kind);
                }
            }
        }
        let ended = !is_running(&entry);
        if ended {
            // The output stays for anyone who wants to read it; it is deleted with the other old ones.
            drop(std::fs::remove_file(path));
        }
        ended
    }
}

impl DetachedJob {
    /// Reads what one printed from a place on; of much only the end, with the number of bytes left out.
    ///
    /// # Errors
    /// What the file system said.
    pub(crate) fn output(&self, from: u64) -> io::Result<(Vec<u8>, u64)> {
        let mut file = File::open(&self.output)?;
        let length = file.metadata()?.len();
        let begin = from.min(length).max(length.saturating_sub(TAIL));
        file.seek(SeekFrom::Start(begin))?;
        let mut bytes = Vec::new();
        file.take(TAIL).read_to_end(&mut bytes)?;
        Ok((bytes, begin.saturating_sub(from)))
    }

    /// Words it in one line.
    pub(crate) fn worded(&self) -> String {
        let seconds = self.lasted.as_secs();
        let state = match (self.running, self.code) {
            (true, _) => format!("kept running, for {seconds} s so far"),
            (false, Some(0)) => format!("done after {seconds} s"),
            (false, Some(code)) => format!("ended after {seconds} s with exit code {code}"),
            (false, None) => "ended".to_owned(),
        };
        let printed = output::size(self.total);
        format!("job {}: {state}, {printed} printed: {}", self.number, output::first_line(&self.line))
    }
}

impl Reserved {
    /// Gives the place back.
    pub(crate) fn give_back(self) {
        drop(std::fs::remove_file(output_of(&self.outputs, self.number)));
    }

    /// Writes down what was started; a thread waits for its end as long as this axi lives.
    ///
    /// # Errors
    /// What the file system said; the process is killed then.
    pub(crate) fn keep(
        self,
        mut child: Child,
        (line, directory, mark): (&str, &Path, &Mark),
        now: SystemTime,
    ) -> io::Result<u64> {
        let process = i32::try_from(child.id()).map_err(io::Error::other)?;
        let entry = Entry {
            line: line.to_owned(),
            directory: directory.to_owned(),
            mark: mark.value().to_owned(),
            process,
            start: processes::started(child.id()).unwrap_or(0),
            space: processes::namespace().unwrap_or(0),
            boot: boot(),
            begun: seconds(now),
            ended: None,
        };
        let path = entry_of(&self.outputs, self.number);
        if let Err(error) = write(&path, &entry) {
            signal(&entry, Signal::KILL);
            drop(child.wait());
            self.give_back();
            return Err(error);
        }
        let begun = Instant::now();
        let wait = move || {
            use crate::platform::os::process::ExitStatusExt as _;
            let Ok(status) = child.wait() else { return };
            let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(-1);
            let ended = Some((code, entry.begun + begun.elapsed().as_secs()));
            drop(amend(&path, &Entry { ended, ..entry }));
        };
        // Without the thread, only the exit code stays unknown.
        drop(std::thread::Builder::new().name("kept".into()).spawn(wait));
        Ok(self.number)
    }
}

/// The number in the name of a file of this kind.
fn number_of(path: &Path, ending: &str) -> Option<u64> {
    let name = path.file_name()?.to_str()?;
    name.strip_prefix("kept-")?.strip_suffix(ending)?.strip_suffix('.')?.parse().ok()
}

/// Tells whether a file belongs to one that still runs, or may run where it cannot be looked at.
pub(crate) fn is_in_use(path: &Path) -> bool {
    let number = number_of(path, "json").or_else(|| number_of(path, "txt"));
    let entry = number.zip(path.parent()).and_then(|(number, outputs)| read(&entry_of(outputs, number)));
    entry.is_some_and(|entry| !is_here(&entry) && entry.boot == boot() || is_running(&entry))
}

/// Tells whether the process numbers of an entry still mean what they meant when it was written.
fn is_here(entry: &Entry) -> bool {
    entry.space == processes::namespace().unwrap_or(0) && entry.boot == boot()
}

fn is_running(entry: &Entry) -> bool {
    is_here(entry) && !members(entry).is_empty()
}

fn members(entry: &Entry) -> Vec<Pid> {
    let mut all = processes::marked(DETACHED_MARK, &entry.mark);
    let leader = u32::try_from(entry.process)
        .ok()
        .filter(|leader| entry.start != 0 && processes::started(*leader) == Some(entry.start));
    if leader.is_some() {
        // Processes that cleared their environment are found below the first one.
        all.extend(Pid::from_raw(entry.process));
        all.extend(processes::descendants(entry.process));
    }
    all
}

fn signal(entry: &Entry, signal: Signal) {
    if !is_here(entry) {
        return;
    }
    let (leader, others): (Vec<Pid>, Vec<Pid>) =
        members(entry).into_iter().partition(|member| member.as_raw_nonzero().get() == entry.process);
    processes::signal_each(&others, signal);
    // An adopter ends by itself after the others, and first kills them when it is told to end.
    match (ADOPTS, signal) {
        (true, Signal::TERM) => {}
        (true, _) => processes::signal_each(&leader, Signal::TERM),
        (false, _) => processes::signal_each(&leader, signal),
    }
}

fn entry_of(outputs: &Path, number: u64) -> PathBuf {
    outputs.join(format!("kept-{number}.json"))
}

fn output_of(outputs: &Path, number: u64) -> PathBuf {
    outputs.join(format!("kept-{number}.txt"))
}

fn read(path: &Path) -> Option<Entry> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

fn write(path: &Path, entry: &Entry) -> io::Result<()> {
    if !path.exists() {
        drop(output_file::make(path)?);
    }
    // Keeps the permissions of what is there.
    atomic::write(&path.real_path()?, &serde_json::to_vec(entry).map_err(io::Error::other)?)
}

/// Writes an existing entry, and never makes one: whoever ended the command may be deleting it at this moment. The
/// new text is longer than the old one, so that nobody reads half of either.
fn amend(path: &Path, entry: &Entry) -> io::Result<()> {
    use crate::platform::os::fs::FileExt as _;
    let text = serde_json::to_vec(entry).map_err(io::Error::other)?;
    let file = std::fs::OpenOptions::new().write(true).open(path)?;
    file.write_all_at(&text, 0)?;
    file.set_len(text.len() as u64)
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Names this run of the system; empty where nothing does.
fn boot() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}
