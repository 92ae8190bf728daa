//! Log files: one a day, of which the last seven are kept; never on the terminal, never with a secret.
//!
//! Nothing is opened until the first line is logged, so that the first prompt does not wait for it.

use std::io::{Read as _, Seek as _, SeekFrom, Write};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use tracing::Level;
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

/// How many days are kept.
const KEPT: usize = 7;

/// Takes secrets out of a line.
pub(super) type Clean = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// How many lines at the end of a log are shown.
const LINES_SHOWN: usize = 10;
const BYTES_SHOWN: u64 = 16 * 1024;

/// Finds the newest log of `directory` and its last lines. The day is in a log's name.
pub(super) fn newest(directory: &Path) -> Option<(PathBuf, String)> {
    let paths = std::fs::read_dir(directory).ok()?.flatten().map(|entry| entry.path());
    let newest = paths.filter(|path| path.extension().is_some_and(|extension| extension == "log")).max()?;
    let mut file = std::fs::File::open(&newest).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(BYTES_SHOWN))).ok()?;
    let mut bytes = Vec::new();
    file.take(BYTES_SHOWN).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    Some((newest, lines[lines.len().saturating_sub(LINES_SHOWN)..].join("\n")))
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
