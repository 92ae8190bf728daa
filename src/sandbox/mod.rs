//! Limits what a child process can reach: files, network, other processes.
//!
//! On Linux the child applies Landlock (files, signals) and seccomp (sockets, attributes, other processes) to
//! itself before it becomes the program. An approved child asks a judge outside the sandbox to change attributes of
//! files. On macOS `sandbox-exec` starts the child with a profile. Elsewhere there is no sandbox, and
//! [`Sandbox::state`] says so. This room knows no tool, no rule and no words for people.
//!
//! A command without approval cannot read secret files (`secret::files`), wherever they lie: on Linux a judge
//! outside looks at each file that is opened for reading. It recognises a hard link with a harmless name by the
//! inode, if the file is one of the secrets in home or lies below the directory where the command starts.
//!
//! Not covered: some systems do not allow a judge (a kernel before 5.19, Yama's `ptrace_scope` of 2, an axi inside
//! another's command). There axi looks for secret files before the start, down to a limited depth. The names, sizes
//! and times of hidden files can still be listed, because Landlock cannot hide a directory's own list without those
//! below it. The command lines of other processes can still be read, as by everybody.

#[cfg(target_os = "linux")]
mod address;
#[cfg(target_os = "linux")]
mod attributes;
#[cfg(target_os = "linux")]
mod caller;
mod child;
mod confinement;
#[cfg(target_os = "linux")]
mod filter;
mod hidden;
#[cfg(target_os = "linux")]
mod judge;
#[cfg(target_os = "linux")]
mod kernel;
#[cfg(target_os = "linux")]
mod links;
#[cfg(target_os = "linux")]
mod listener;
#[cfg(target_os = "linux")]
mod machine;
#[cfg(target_os = "linux")]
mod openings;
#[cfg(target_os = "linux")]
mod own_peers;
#[cfg(any(target_os = "macos", test))]
mod profile;
#[cfg(target_os = "linux")]
mod renames;
mod support;
#[cfg(target_os = "linux")]
mod system_calls;
mod variables;
#[cfg(target_os = "linux")]
mod witness;
mod writable;

pub use child::{Confined, confine};
pub use confinement::{Confinement, SandboxError};
#[cfg(target_os = "linux")]
pub use judge::Judge;
#[cfg(target_os = "linux")]
pub use listener::inherited;
#[cfg(target_os = "linux")]
pub use machine::leave_the_machine;
pub use support::{Missing, Support};
pub use variables::Variables;
#[cfg(target_os = "linux")]
pub use witness::{Reached, Witness};

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::secret::derived::Derived;
use crate::secret::files::SecretFiles;
use crate::secret::found;

/// The variable with the descriptor of the socket to a command's judge, for the helper process that becomes the
/// command.
pub const JUDGE: &str = "AXI_JUDGE";

/// How far a child may reach.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Reach {
    /// For a command without approval: reads anything but secrets, writes only a directory of its own, and reaches
    /// no network and no process outside.
    #[default]
    ReadOnly,
    /// For an approved command: reads anything, writes the workspace, temporary files, caches and the targets it
    /// was shown with.
    Workspace {
        /// Whether it reaches the network.
        network: bool,
        /// Targets outside the workspace that it may write, too, because the person was shown them. Absolute paths.
        also: Vec<PathBuf>,
    },
    /// For a command in a turn's trial that nobody was asked about: as an approved one, in the workspace, but it talks to
    /// nobody, not even to services of this machine: what those do no trial holds.
    Alone,
    /// Everything; only for an explicit choice.
    Full,
}

/// Whether the person wants a sandbox at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wanted {
    /// Yes.
    #[default]
    On,
    /// No: the settings say so.
    Off,
}

/// The state of the sandbox in this run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SandboxState {
    /// It works.
    On(Support),
    /// The settings turn it off.
    Off,
    /// This system has none.
    Unsupported(Missing),
}

/// The directories of a child: they decide what it may write.
#[derive(Debug, Clone, Copy)]
pub struct WorkDirectories<'a> {
    /// The workspace.
    pub workspace: &'a Path,
    /// Where the child starts.
    pub directory: &'a Path,
    /// A directory for this child alone.
    pub temporary: &'a Path,
    /// The line it runs: caches that its programs need are created.
    pub line: &'a str,
}

/// Makes the confinements for the children of one run.
#[derive(Debug, Clone, Default)]
pub struct Sandbox {
    wanted: Wanted,
    home: Option<PathBuf>,
    hidden: Vec<PathBuf>,
    readable: Vec<PathBuf>,
    temporary: PathBuf,
    /// Whether that is of this run alone, and the only one that commands write.
    own_temporary: bool,
    support: OnceLock<Result<Support, Missing>>,
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "only Linux has calls that the kernel asks axi about")
    )]
    judges: OnceLock<bool>,
    variables: Variables,
    derived: Derived,
}

impl Sandbox {
    /// Makes the sandbox of a run. `hidden` are axi's own directories, `readable` the files in them that may be
    /// read all the same, `temporary` the system's directory for temporary files.
    #[must_use]
    pub fn new(
        wanted: Wanted,
        home: Option<PathBuf>,
        hidden: Vec<PathBuf>,
        readable: Vec<PathBuf>,
        temporary: PathBuf,
    ) -> Self {
        Self {
            wanted,
            home,
            hidden,
            readable,
            temporary,
            own_temporary: false,
            support: OnceLock::new(),
            judges: OnceLock::new(),
            variables: Variables::default(),
            derived: Derived::default(),
        }
    }

    /// Sets the variables of the environment that commands do not get.
    #[must_use]
    pub fn with_variables(mut self, variables: Variables) -> Self {
        self.variables = variables;
        self
    }

    /// Has approved commands write this directory for their temporary files, and none that others write, too.
    #[must_use]
    pub fn with_own_temporary(mut self, temporary: PathBuf) -> Self {
        (self.temporary, self.own_temporary) = (temporary, true);
        self
    }

    /// Returns the variables that commands do not get.
    #[must_use]
    pub const fn variables(&self) -> &Variables {
        &self.variables
    }

    /// Returns the directory for temporary files: the one that the environment names, otherwise the system's.
    #[must_use]
    pub fn temporary(&self) -> &Path {
        self.temporary_instead().unwrap_or(&self.temporary)
    }

    /// Returns the directory for temporary files if it is not the one that the environment names: that does not exist, or
    /// is not this run's.
    #[must_use]
    pub fn temporary_instead(&self) -> Option<&Path> {
        if self.own_temporary {
            return Some(&self.temporary);
        }
        let systems = ["/tmp", "/var/tmp"].map(Path::new);
        systems.into_iter().find(|place| place.is_dir()).filter(|_| !self.temporary.is_dir())
    }

    /// Tells whether the sandbox works on this system. Asks the kernel once (some microseconds).
    #[must_use]
    pub fn state(&self) -> SandboxState {
        match self.wanted {
            Wanted::Off => SandboxState::Off,
            Wanted::On => match *self.support.get_or_init(support::probe) {
                Ok(support) => SandboxState::On(support),
                Err(missing) => SandboxState::Unsupported(missing),
            },
        }
    }

    /// Returns the files that a command without approval must not read.
    #[must_use]
    pub fn secret_files(&self) -> SecretFiles {
        let (own, readable) = (self.hidden.clone(), self.readable.clone());
        SecretFiles { home: self.home.clone(), own, readable, derived: self.derived.clone() }.real()
    }

    /// Tells whether secret files are protected wherever they lie, and not only where they were found before the
    /// command started. Asks the kernel once, on a thread (some tenths of a millisecond).
    #[must_use]
    pub fn judges_openings(&self) -> bool {
        match self.state() {
            #[cfg(target_os = "linux")]
            SandboxState::On(_) => *self.judges.get_or_init(judge::probe),
            // Here the profile protects the files by their names, wherever they lie: no judge is needed.
            #[cfg(not(target_os = "linux"))]
            SandboxState::On(_) => false,
            SandboxState::Off | SandboxState::Unsupported(_) => false,
        }
    }

    /// Tells whether approved commands change modes, owners, times and extended attributes only where they may write.
    /// Asks the kernel on a thread (some tenths of a millisecond).
    #[must_use]
    pub fn keeps_attributes(&self) -> bool {
        let SandboxState::On(support) = self.state() else { return false };
        #[cfg(target_os = "linux")]
        return support.holds_workspace() && judge::probe();
        #[cfg(not(target_os = "linux"))]
        return support.holds_workspace();
    }

    /// Makes the confinement of a child. `None` if the child is not confined: with [`Reach::Full`], with a sandbox
    /// that is off or missing, and for an approved command on a kernel whose confinement would only break it
    /// ([`Support::holds_workspace`]).
    #[must_use]
    pub fn confinement(&self, reach: &Reach, ground: WorkDirectories<'_>) -> Option<Confinement> {
        let SandboxState::On(support) = self.state() else { return None };
        match reach {
            Reach::Full => None,
            Reach::ReadOnly => Some(Confinement {
                read_only: true,
                judged: self.judges_openings(),
                alone: true,
                network: false,
                apart: false,
                home: self.home.clone(),
                hidden: self.hidden_from(ground),
                readable: self.readable.clone(),
                writable: vec![ground.temporary.to_owned()],
            }),
            Reach::Workspace { .. } | Reach::Alone if !support.holds_workspace() => None,
            Reach::Workspace { .. } | Reach::Alone => {
                let (network, also) = match reach {
                    Reach::Workspace { network, also } => (*network, also.as_slice()),
                    Reach::ReadOnly | Reach::Alone | Reach::Full => (false, [].as_slice()),
                };
                // Not the directory where the command runs: the model chooses it, and may choose `/`.
                let mut writable =
                    vec![ground.workspace.to_owned(), ground.temporary.to_owned(), self.temporary().to_owned()];
                writable.extend(also.iter().cloned());
                if let Some(home) = &self.home {
                    writable::make_needed(ground.line, home);
                }
                writable.extend(if self.own_temporary {
                    writable::caches(self.home.as_deref())
                } else {
                    writable::beside(ground.workspace, self.home.as_deref())
                });
                Some(Confinement {
                    read_only: false,
                    judged: false,
                    alone: *reach == Reach::Alone,
                    network,
                    apart: false,
                    home: self.home.clone(),
                    hidden: Vec::new(),
                    readable: Vec::new(),
                    writable,
                })
            }
        }
    }

    /// Makes the confinement of a command that may write these directories, devices and shared memory, and nothing else,
    /// attributes included; `None` where nothing would hold it to that. Its signals reach nobody else where the system can
    /// hold them.
    #[must_use]
    pub fn only(&self, writable: Vec<PathBuf>, network: bool) -> Option<Confinement> {
        let home = self.home.clone();
        let confinement = Confinement { network, apart: true, home, writable, ..Confinement::default() };
        self.keeps_attributes().then_some(confinement)
    }

    /// Lists what a command in a trial may write and nobody misses: caches, and directories for temporary files.
    #[must_use]
    pub fn lent(&self) -> Vec<PathBuf> {
        let mut lent = writable::passing(self.home.as_deref());
        lent.push(self.temporary().to_owned());
        lent
    }

    /// Lists the caches that commands may write wherever they work.
    #[must_use]
    pub fn caches(&self) -> Vec<PathBuf> {
        writable::caches(self.home.as_deref())
    }

    /// Lists git's own directories of a workspace that lie outside of it (worktrees and submodules).
    #[must_use]
    pub fn git_outside(&self, workspace: &Path) -> Vec<PathBuf> {
        writable::git_directories(workspace)
    }

    /// Hides axi's own directories and secret files. A directory in which the person started axi is not hidden, but
    /// secret files in it are.
    fn hidden_from(&self, ground: WorkDirectories<'_>) -> Vec<PathBuf> {
        let mut hidden = self.hidden.clone();
        hidden.extend(self.derived.all());
        for directory in [ground.workspace, ground.directory] {
            // Without a judge, Landlock is told the secret files that exist now.
            let depth = if self.judges_openings() { 1 } else { found::DEPTH };
            hidden.extend(found::secret_files(directory, self.home.as_deref(), depth));
        }
        hidden.retain(|path| !ground.workspace.starts_with(path));
        hidden
    }
}

#[cfg(test)]
#[path = "sandbox_tests.rs"]
mod tests;
