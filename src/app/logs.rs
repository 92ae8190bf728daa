//! Log files: one a day, of which the last seven are kept; never on the terminal, never with a secret.
//!
//! Nothing is opened until the first line is logged, so that the first prompt does not wait for it.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{Read as _, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use tracing::Level;
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::platform::os::fs::DirBuilderExt as _;

/// How many days are kept.
const KEPT: usize = 7;

/// Takes secrets out of a line.
pub(super) type Clean = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// How much of the end of a log is shared, in bytes.
const BYTES_SHARED: u64 = 64 * 1024;
/// How the name of a shared log begins and ends. It is no `.log`: the newest of those is the one that is written.
const SHARED: (&str, &str) = ("shared-", ".txt");

/// A copy of the newest log that a person may hand on.
pub(super) struct Shared {
    pub(super) path: PathBuf,
    /// Ten hexadecimal digits made of what it says.
    pub(super) id: String,
    /// What it says of the log.
    pub(super) lines: String,
}

/// Writes the end of the newest log of `directory` into a file of its own, with `about` as its head; `clean` takes out
/// what nobody else may read. The file takes the place of the one that was shared before.
pub(super) fn share(directory: &Path, about: &str, clean: &dyn Fn(&str) -> String) -> std::io::Result<Shared> {
    let lines = newest(directory).map(|log| end_of(&log)).transpose()?.unwrap_or_default();
    let lines = clean(&lines);
    let text = format!("{about}\n\n{lines}\n");
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let id = format!("{:010x}", hasher.finish() >> 24);
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(text.as_bytes())?;
    for old in files(directory).filter(|path| is_shared(path)) {
        // One that stays is a file too many, and no more.
        drop(std::fs::remove_file(old));
    }
    let path = directory.join(format!("{}{id}{}", SHARED.0, SHARED.1));
    file.persist(&path).map_err(|error| error.error)?;
    Ok(Shared { path, id, lines })
}

/// The newest log and its last lines, from which secrets were taken when they were written.
pub(super) fn last_lines(directory: &Path) -> Option<(PathBuf, String)> {
    let path = newest(directory)?;
    let lines = end_of(&path).ok()?;
    Some((path, lines))
}

/// The newest log. The day is in a log's name.
fn newest(directory: &Path) -> Option<PathBuf> {
    files(directory).filter(|path| path.extension().is_some_and(|extension| extension == "log")).max()
}

fn files(directory: &Path) -> impl Iterator<Item = PathBuf> {
    std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path())
}

fn is_shared(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.starts_with(SHARED.0) && name.ends_with(SHARED.1))
}

/// The whole lines at the end of a file.
fn end_of(path: &Path) -> std::io::Result<String> {
    let mut file = std::fs::File::open(path)?;
    let skipped = file.metadata()?.len().saturating_sub(BYTES_SHARED);
    file.seek(SeekFrom::Start(skipped))?;
    let mut bytes = Vec::new();
    file.take(BYTES_SHARED).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let whole = if skipped == 0 { text.as_ref() } else { text.split_once('\n').map_or("", |(_, whole)| whole) };
    Ok(whole.trim_end().to_owned())
}

/// Starts logging into `directory`: a short account, or more with each `-v`, or what `AXI_LOG` selects in the
/// syntax of tracing's filters (`debug`, `axi::provider=trace`).
pub(super) fn start(directory: PathBuf, verbose: u8, filter: Option<&str>, clean: Clean) {
    let level = match verbose {
        0 => Level::INFO,
        1 => Level::DEBUG,
        _ => Level::TRACE,
    };
    let writer = Lazy { state: Arc::new(Mutex::new(State { directory, appender: Appender::NotOpened })), clean };
    let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(writer);
    // A second start (in tests) keeps the first subscriber, so the error is dropped.
    match filter.and_then(|text| EnvFilter::try_new(text).ok()) {
        Some(filter) => drop(tracing::subscriber::set_global_default(subscriber.with_env_filter(filter).finish())),
        // Building a filter takes milliseconds, setting a plain level takes none.
        None => drop(tracing::subscriber::set_global_default(subscriber.with_max_level(level).finish())),
    }
}

#[derive(Clone)]
struct Lazy {
    state: Arc<Mutex<State>>,
    clean: Clean,
}

struct State {
    directory: PathBuf,
    appender: Appender,
}

enum Appender {
    /// Nothing was logged yet.
    NotOpened,
    Open(RollingFileAppender),
    /// There is no place for logs.
    None,
}

impl Appender {
    fn open(directory: &Path) -> Self {
        // The appender prints an error on the terminal if the directory in which it looks for old files is missing.
        let usable = std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(directory)
            .and_then(|()| std::fs::read_dir(directory))
            .is_ok();
        let builder = RollingFileAppender::builder().rotation(Rotation::DAILY).max_log_files(KEPT);
        let built = usable.then(|| builder.filename_prefix("axi").filename_suffix("log").build(directory).ok());
        built.flatten().map_or(Self::None, Self::Open)
    }
}

/// One line on its way to the file.
struct LineWriter {
    lazy: Lazy,
    line: Vec<u8>,
}

impl<'a> MakeWriter<'a> for Lazy {
    type Writer = LineWriter;

    fn make_writer(&'a self) -> LineWriter {
        LineWriter { lazy: self.clone(), line: Vec::new() }
    }
}

impl Write for LineWriter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.line.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Drop for LineWriter {
    fn drop(&mut self) {
        let Ok(mut state) = self.lazy.state.lock() else { return };
        if matches!(state.appender, Appender::NotOpened) {
            state.appender = Appender::open(&state.directory);
        }
        if let Appender::Open(appender) = &mut state.appender {
            let line = (self.lazy.clean)(&String::from_utf8_lossy(&self.line));
            // A log that cannot be written must not stop the work.
            drop(appender.write_all(line.as_bytes()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shared_log_has_an_id_and_nothing_that_was_cleaned_away() {
        let home = tempfile::tempdir().unwrap();
        let directory = home.path().join("logs");
        let clean = |text: &str| text.replace("hunter2", "[secret]");
        let share = || share(&directory, "axi 1", &clean).unwrap();
        assert_eq!(share().lines, "");
        std::fs::write(directory.join("axi.2026-01-01.log"), "old\n").unwrap();
        let long = "a line of the log\n".repeat(10_000);
        std::fs::write(directory.join("axi.2026-01-02.log"), format!("{long}key hunter2\n")).unwrap();
        let (first, again) = (share(), share());
        assert_eq!(first.id, again.id);
        assert!(first.id.len() == 10 && first.id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{}", first.id);
        assert!(first.lines.starts_with("a line of") && first.lines.ends_with("key [secret]"));
        let written = std::fs::read_to_string(&again.path).unwrap();
        assert!(written.starts_with("axi 1\n\na line") && !written.contains("hunter2"));
        assert_eq!(files(&directory).filter(|path| is_shared(path)).collect::<Vec<_>>(), [again.path]);
    }
}
