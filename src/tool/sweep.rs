//! What earlier runs left: processes of an axi that was killed, whole outputs that nobody will read any more.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::platform::io::Errno;
use crate::platform::process::{Pid, test_kill_process};

use super::jobs::{end_orphans, is_in_use};
use super::shell::sweep_own_directories;

/// Whole outputs older than this go.
const OLDEST: Duration = Duration::from_hours(14 * 24);
/// All of them together (bytes); the oldest go first.
const LARGEST: u64 = 1024 * 1024 * 1024;
/// However large all are, one as young as this may still be written by another axi, or be read in its session.
const YOUNG: Duration = Duration::from_hours(1);
/// How the folder of a session begins that keeps nothing; its process's number follows.
pub const ONCE: &str = "once-";
/// The names that the tools give them; other files there are not ours.
const NAMES: &[&str] = &["shell-", "job-", "web-", "kept-"];

/// What was swept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Processes that were ended.
    pub processes: usize,
    /// Files and directories that were removed.
    pub files: usize,
}

/// Ends what the commands of a killed axi left running, and removes old outputs from `outputs` and its directories from
/// `temporary`.
///
/// Reads the process table and a directory: for a thread of its own, after the start. Cut off anywhere, it has done
/// the less.
#[must_use]
pub fn sweep(outputs: &Path, temporary: &Path, now: SystemTime) -> Swept {
    let processes = end_orphans();
    Swept { processes, files: clean(outputs, now) + sweep_own_directories(temporary, now) }
}

/// Sweeps on a thread, which ends by itself.
pub fn sweep_aside(outputs: &Path, temporary: &Path, now: SystemTime) {
    let (outputs, temporary) = (outputs.to_owned(), temporary.to_owned());
    let work = move || {
        let Swept { processes, files } = sweep(&outputs, &temporary, now);
        tracing::info!(processes, files, "swept");
    };
    if let Err(error) = std::thread::Builder::new().name("sweep".into()).spawn(work) {
        tracing::warn!(%error, "nothing was swept");
    }
}

/// A whole output.
#[derive(Debug, Clone, PartialEq, Eq)]
struct OutputFile {
    path: PathBuf,
    bytes: u64,
    age: Duration,
}

fn clean(outputs: &Path, now: SystemTime) -> usize {
    // A session that keeps nothing has a folder of its own beside those of the others.
    let outputs = match outputs.file_name().and_then(|name| name.to_str()) {
        Some(name) if name.starts_with(ONCE) => outputs.parent().unwrap_or(outputs),
        Some(_) | None => outputs,
    };
    let Ok(entries) = outputs.read_dir() else { return 0 };
    let folders = outputs.read_dir().into_iter().flatten().flatten().filter(|entry| is_left(&entry.path(), now));
    let folders = folders.filter(|folder| std::fs::remove_dir_all(folder.path()).is_ok()).count();
    let ours = |path: &Path| {
        path.file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| NAMES.iter().any(|ours| name.starts_with(ours)))
    };
    let kept =
        entries.flatten().filter(|entry| ours(&entry.path()) && !is_in_use(&entry.path())).filter_map(|entry| {
            // A link is not followed: somebody else made it.
            let metadata = entry.path().symlink_metadata().ok().filter(std::fs::Metadata::is_file)?;
            // One from the future is young.
            let age = now.duration_since(metadata.modified().ok()?).unwrap_or_default();
            Some(OutputFile { path: entry.path(), bytes: metadata.len(), age })
        });
    // What cannot be removed is tried again the next time.
    let files =
        chosen(kept.collect(), LARGEST).into_iter().filter(|path| std::fs::remove_file(path).is_ok()).count();
    folders + files
}

/// Tells whether this is the folder of a session that keeps nothing and was killed.
fn is_left(folder: &Path, now: SystemTime) -> bool {
    let number = folder.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_prefix(ONCE));
    let process = number.and_then(|number| Pid::from_raw(number.parse().ok()?));
    let Ok(metadata) = folder.symlink_metadata() else { return false };
    // The number may have been given to somebody else since.
    let old = metadata.modified().is_ok_and(|changed| now.duration_since(changed).is_ok_and(|age| age > OLDEST));
    metadata.is_dir() && process.is_some_and(|process| old || test_kill_process(process) == Err(Errno::SRCH))
}

/// Chooses what goes.
fn chosen(mut kept: Vec<OutputFile>, largest: u64) -> Vec<PathBuf> {
    kept.sort_by_key(|kept| kept.age);
    let mut total = 0_u64;
    kept.retain(|kept| {
        total = total.saturating_add(kept.bytes);
        kept.age > OLDEST || total > largest && kept.age > YOUNG
    });
    kept.into_iter().map(|kept| kept.path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(name: &str, bytes: u64, hours: u64) -> OutputFile {
        OutputFile { path: name.into(), bytes, age: Duration::from_hours(hours) }
    }

    #[test]
    fn the_oldest_go_first_by_age_and_by_size() {
        let all = vec![kept("old", 1, 15 * 24), kept("c", 40, 50), kept("a", 40, 2), kept("b", 40, 20)];
        let names = |largest| -> Vec<String> {
            chosen(all.clone(), largest).iter().map(|path| path.display().to_string()).collect()
        };
        assert_eq!(names(1000), ["old"]);
        assert_eq!(names(100), ["c", "old"]);
        assert_eq!(names(10), ["a", "b", "c", "old"]);
        assert_eq!(chosen(vec![kept("now", 100, 0)], 10), Vec::<PathBuf>::new());
    }

    #[test]
    fn only_outputs_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str| std::fs::write(folder.path().join(name), "x").unwrap();
        ["shell-1.txt", "job-1.txt", "web-1.md", "mine.txt"].into_iter().for_each(put);
        crate::platform::os::fs::symlink("mine.txt", folder.path().join("shell-link.txt")).unwrap();
        assert_eq!(clean(folder.path(), SystemTime::now()), 0);
        assert_eq!(clean(folder.path(), SystemTime::now() + OLDEST * 2), 3);
        let mut left: Vec<_> = folder.path().read_dir().unwrap().flatten().map(|entry| entry.file_name()).collect();
        left.sort();
        assert_eq!(left, ["mine.txt", "shell-link.txt"]);
        assert_eq!(clean(&folder.path().join("none"), SystemTime::now()), 0);
    }

    #[test]
    fn the_folder_of_a_killed_session_that_keeps_nothing_goes_and_that_of_a_living_one_stays() {
        let folder = tempfile::tempdir().unwrap();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let dead = child.id();
        child.wait().unwrap();
        let names = [format!("{ONCE}{dead}"), format!("{ONCE}{}", std::process::id()), format!("{ONCE}mine")];
        for name in &names {
            std::fs::create_dir(folder.path().join(name)).unwrap();
            std::fs::write(folder.path().join(name).join("shell-1.txt"), "x").unwrap();
        }
        assert_eq!(clean(&folder.path().join(&names[1]), SystemTime::now()), 1);
        assert_eq!(names.map(|name| folder.path().join(name).exists()), [false, true, true]);
    }
}
