//! The programs that are measured: axi itself and the reference peer, each in its own empty home.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::terminal::{Place, Terminal};

/// How long a program may take to show its prompt or end an answer before the figure is given up.
pub(crate) const PATIENCE: Duration = Duration::from_mins(2);

/// A program under measurement.
pub(crate) struct Program {
    /// What it is called in the report.
    pub(crate) name: &'static str,
    path: PathBuf,
    home: tempfile::TempDir,
    base_url: String,
    /// What its prompt ends with, on a terminal.
    pub(crate) sign: &'static str,
    /// The key that interrupts an answer.
    pub(crate) interrupt: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Axi,
    Aichat,
}

impl Program {
    /// axi as it was just built.
    pub(crate) fn axi(base_url: &str) -> Self {
        let path =
            std::env::var_os("AXI_BINARY").map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_axi")), PathBuf::from);
        Self::new("axi", path, base_url, "❯ ", "\x1b", Kind::Axi)
    }

    /// aichat from `AXI_PEER`, the search path or `~/.cache/axi-peers/bin`, where it is installed.
    pub(crate) fn aichat(base_url: &str) -> Option<Self> {
        let mut places: Vec<PathBuf> = std::env::var_os("AXI_PEER").map(PathBuf::from).into_iter().collect();
        let search = std::env::var_os("PATH").unwrap_or_default();
        places.extend(std::env::split_paths(&search).map(|folder| folder.join("aichat")));
        places.extend(std::env::home_dir().map(|home| home.join(".cache/axi-peers/bin/aichat")));
        let path = places.into_iter().find(|place| place.is_file())?;
        let peer = Self::new("aichat", path, base_url, "> ", "\x03", Kind::Aichat);
        let settings = format!(
            "model: local:any\nstream: true\nsave: false\nclients:\n- type: openai-compatible\n  name: local\n  api_base: \
             {base_url}\n  api_key: x\n  models:\n  - name: any\n    max_input_tokens: 100000\n"
        );
        let folder = peer.home.path().join(".config/aichat");
        std::fs::create_dir_all(&folder).ok()?;
        std::fs::write(folder.join("config.yaml"), settings).ok()?;
        Some(peer)
    }

    fn new(
        name: &'static str,
        path: PathBuf,
        base_url: &str,
        sign: &'static str,
        interrupt: &'static str,
        kind: Kind,
    ) -> Self {
        let home = tempfile::tempdir().expect("a home");
        Self { name, path, home, base_url: base_url.to_owned(), sign, interrupt, kind }
    }

    /// Tells axi from its peer.
    pub(crate) fn is_axi(&self) -> bool {
        self.kind == Kind::Axi
    }

    /// The home, which is also the working directory.
    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// The program with nothing in its environment but what it needs.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.path);
        command.args(arguments).env_clear().current_dir(self.home());
        command.env("HOME", self.home()).env("PATH", "/usr/local/bin:/usr/bin:/bin").env("LANG", "C.UTF-8");
        command.env("TERM", "xterm-256color").env("COLORTERM", "truecolor");
        if self.kind == Kind::Axi {
            command.env("OPENAI_BASE_URL", &self.base_url).env("OPENAI_API_KEY", "x");
        }
        command
    }

    /// The program as a person starts it in a terminal.
    pub(crate) fn interactive(&self) -> Command {
        match self.kind {
            Kind::Axi => self.command(&["-m", "openai/any"]),
            Kind::Aichat => self.command(&[]),
        }
    }

    /// One question, the answer on standard output.
    pub(crate) fn one_shot(&self, question: &str) -> Command {
        match self.kind {
            Kind::Axi => self.command(&["-m", "openai/any", "-p", question]),
            Kind::Aichat => self.command(&[question]),
        }
    }

    /// Starts it in a terminal and waits for its prompt: the terminal, and the place after the prompt.
    pub(crate) fn at_prompt(&self) -> Result<(Terminal, Place), String> {
        let terminal = Terminal::start(&mut self.interactive());
        let (_, place) = terminal.wait(self.sign, 0, PATIENCE)?;
        terminal.settle(Duration::from_millis(150));
        Ok((terminal, place))
    }
}
