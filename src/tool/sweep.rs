//! What earlier runs left: processes of an axi that was killed, whole outputs that nobody will read any more.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::kept;
use super::shell_group::end_orphans;

/// Whole outputs older than this go.
const OLDEST: Duration = Duration::from_hours(14 * 24);
/// All of them together (bytes); the oldest go first.
const LARGEST: u64 = 1024 * 1024 * 1024;
/// However large all are, one as young as this may still be written by another axi, or be read in its session.
const YOUNG: Duration = Duration::from_hours(1);
/// How the tools name them; whatever else lies there is not ours.
const NAMES: &[&str] = &["shell-", "job-", "web-", "kept-"];

/// What was swept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Processes that were ended.
    pub processes: usize,
    /// Files that were removed.
    pub files: usize,
}

/// Ends what the commands of a killed axi left running, and removes old outputs from `outputs`.
///
/// Reads the process table and a directory: for a thread of its own, after the start. Cut off anywhere, it has done
/// the less.
#[must_use]
pub fn sweep(outputs: &Path, now: SystemTime) -> Swept {
    Swept { processes: end_orphans(), files: clean(outputs, now) }
}

/// Sweeps on a thread, which ends by itself.
pub fn sweep_aside(outputs: &Path, now: SystemTime) {
    let outputs = outputs.to_owned();
    let work = move || {
        let Swept { processes, files } = sweep(&outputs, now);
        tracing::info!(processes, files, "swept");
    };
    if let Err(error) = std::thread::Builder::new().name("sweep".into()).spawn(work) {
        tracing::warn!(%error, "nothing was swept");
    }
}

/// One kept output.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Kept {
    path: PathBuf,
    bytes: u64,
    age: Duration,
}

fn clean(outputs: &Path, now: SystemTime) -> usize {
    let Ok(entries) = outputs.read_dir() else { return 0 };
    let ours = |path: &Path| {
        path.file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| NAMES.iter().any(|ours| name.starts_with(ours)))
    };
    let kept = entries.flatten().filter(|entry| ours(&entry.path()) && !kept::is_in_use(&entry.path())).filter_map(
        |entry| {
            // Not through a link: somebody else made that.
            let metadata = entry.path().symlink_metadata().ok().filter(std::fs::Metadata::is_file)?;
            // One from the future is young.
            let age = now.duration_since(metadata.modified().ok()?).unwrap_or_default();
            Some(Kept { path: entry.path(), bytes: metadata.len(), age })
        },
    );
    // What cannot be removed is tried again the next time.
    chosen(kept.collect(), LARGEST).into_iter().filter(|path| std::fs::remove_file(path).is_ok()).count()
}

/// Chooses what goes.
fn chosen(mut kept: Vec<Kept>, largest: u64) -> Vec<PathBuf> {
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

    fn kept(name: &str, bytes: u64, hours: u64) -> Kept {
        Kept { path: name.into(), bytes, age: Duration::from_hours(hours) }
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
        std::os::unix::fs::symlink("mine.txt", folder.path().join("shell-link.txt")).unwrap();
        assert_eq!(clean(folder.path(), SystemTime::now()), 0);
        assert_eq!(clean(folder.path(), SystemTime::now() + OLDEST * 2), 3);
        let mut left: Vec<_> = folder.path().read_dir().unwrap().flatten().map(|entry| entry.file_name()).collect();
        left.sort();
        assert_eq!(left, ["mine.txt", "shell-link.txt"]);
        assert_eq!(clean(&folder.path().join("none"), SystemTime::now()), 0);
    }
}
