//! A hermetic place to run programs in: an own home, the XDG directories under it, a cleared environment.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// So long its removal is tried.
const PATIENCE: Duration = Duration::from_secs(5);

/// A temporary home directory with a working directory in it. Removed when dropped.
pub(crate) struct Home {
    directory: tempfile::TempDir,
}

impl Drop for Home {
    fn drop(&mut self) {
        // A shell that is ending writes its history into it once more.
        let is_filled = |ended: std::io::Result<()>| {
            ended.is_err_and(|error| error.kind() == std::io::ErrorKind::DirectoryNotEmpty)
        };
        let until = Instant::now() + PATIENCE;
        while is_filled(std::fs::remove_dir_all(self.path())) && Instant::now() < until {}
    }
}

impl Home {
    /// Makes the directories: `config`, `state`, `cache`, `data` (the XDG ones) and `work` (where commands start).
    pub(crate) fn new() -> Self {
        let directory = tempfile::Builder::new().prefix("axi-home-").tempdir().unwrap();
        // Where fish finds none it reads all manual pages, in a process that outlives it.
        for name in ["config", "state", "cache", "data/fish/generated_completions", "runtime", "tmp", "work"] {
            std::fs::create_dir_all(directory.path().join(name)).unwrap();
        }
        Self { directory }
    }

    /// `$HOME`.
    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The working directory of the commands made here.
    pub(crate) fn work(&self) -> PathBuf {
        self.path().join("work")
    }

    /// Writes a file under the home, with its directories. Returns its path.
    pub(crate) fn write(&self, path: &str, content: &str) -> PathBuf {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    /// A command that sees nothing of the machine's environment but a fixed `PATH`, locale and terminal type.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", self.path())
            .env("XDG_CONFIG_HOME", self.path().join("config"))
            .env("XDG_STATE_HOME", self.path().join("state"))
            .env("XDG_CACHE_HOME", self.path().join("cache"))
            .env("XDG_DATA_HOME", self.path().join("data"))
            .env("XDG_RUNTIME_DIR", self.path().join("runtime"))
            // What an axi leaves that is killed goes with the home.
            .env("TMPDIR", self.path().join("tmp"))
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("LANG", "C.UTF-8")
            .env("LC_ALL", "C.UTF-8")
            .env("TZ", "UTC")
            .env("TERM", "xterm-256color")
            // Questions are the same on systems that allow trials and on others.
            .env("AXI_TRIAL", "off")
            .current_dir(self.work());
        command
    }

    /// The axi under test.
    pub(crate) fn axi(&self) -> Command {
        self.command(env!("CARGO_BIN_EXE_axi"))
    }
}
