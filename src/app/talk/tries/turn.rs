//! The trials of turns where axi talks: what git says of the workspace stands beside what a turn would change.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use super::super::super::context::App;
use crate::agent::Trials;
use crate::child;
use crate::platform::ADOPTS;
use crate::sandbox::{Reach, WorkDirectories};
use crate::trial::{ChangeSet, GitState, Refused};

/// Asks git what a repository is like.
type AsksGit = Box<dyn Fn() -> Option<GitState> + Send>;

/// The trials of turns, with what git says of the workspace before each and in it.
pub(super) struct TurnTrials {
    turns: Box<dyn Trials>,
    /// What asks git, where there is a repository, and somebody reads what it says.
    git: Option<AsksGit>,
    before: Option<GitState>,
}

impl TurnTrials {
    /// Has git asked where a person reads what it says.
    pub(super) fn new(turns: Box<dyn Trials>, app: &App, is_person: bool) -> Self {
        let git = if is_person { asks_git(app) } else { None };
        Self { turns, git, before: None }
    }
}

impl Trials for TurnTrials {
    fn begin_turn(&mut self) -> Result<(), Refused> {
        self.turns.begin_turn()
    }

    fn begin(&mut self) -> Result<(), Refused> {
        if !self.turns.is_running() {
            self.before = self.git.as_ref().and_then(|git| git());
        }
        self.turns.begin()
    }

    fn is_running(&self) -> bool {
        self.turns.is_running()
    }

    fn holds(&self, path: &Path) -> bool {
        self.turns.holds(path)
    }

    fn end(&mut self) -> io::Result<Option<ChangeSet>> {
        let after = self.git.as_ref().filter(|_| self.turns.is_running()).and_then(|git| git());
        let repository = self.before.take().zip(after);
        let mut set = self.turns.end()?;
        if let Some(set) = &mut set {
            set.repository = repository;
        }
        Ok(set)
    }

    fn done(&mut self) {
        self.turns.done();
    }
}

/// Makes what asks git of the workspace's repository; `None` where there is none. What that runs may only read.
fn asks_git(app: &App) -> Option<AsksGit> {
    let root = app.project.roots().workspace;
    let (program, sandbox) = (app.process.program.clone()?, app.sandbox());
    if !root.join(".git").exists() {
        return None;
    }
    Some(Box::new(move || {
        let work = WorkDirectories { workspace: &root, directory: &root, temporary: sandbox.temporary(), line: "" };
        // A repository's settings can name programs that git runs; what is confined is judged by its adopter.
        let confinement = sandbox.confinement(&Reach::ReadOnly, work)?;
        let mut command = Command::new(&program);
        command.args(ADOPTS.then_some(child::ADOPT_APART));
        command.arg(child::CONFINED).args(confinement.to_arguments()).args(GitState::COMMAND);
        sandbox.variables().keep("", &mut command);
        let ran = command.current_dir(&root).stdin(Stdio::null()).output().ok()?;
        ran.status.success().then(|| GitState::parse(&String::from_utf8_lossy(&ran.stdout)))
    }))
}
