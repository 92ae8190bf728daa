//! What a child process can reach: files, network, other processes.
//!
//! Linux: Landlock (files, signals) and seccomp (sockets, attributes, other processes), put on by the child itself
//! before it becomes the program; attributes of files an approved child asks a judge for, outside of the sandbox. macOS: the child is started by `sandbox-exec` with a profile. Elsewhere nothing,
//! and [`Sandbox::standing`] says so. Knows no tool, no rule and no words for people.
//!
//! Secret files (`secret::files`) are kept from what runs unasked wherever they lie: on Linux a judge outside looks at
//! each file that is opened for reading. A second hard link under a harmless name is known by its inode, where the first
//! name is one of home's secrets or lies below the directory the command starts in. What is not covered: a system that lets nobody judge (a kernel before 5.19, Yama's `ptrace_scope` of 2, an axi inside another's command), where
//! they are looked for before the start, so many levels deep; names, sizes and times of hidden files can still be listed (Landlock cannot keep a
//! directory's own list apart from those below it), and the command lines of other processes, which everybody may
//! read.

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
mod listener;
#[cfg(target_os = "linux")]
mod machine;
#[cfg(target_os = "linux")]
mod openings;
#[cfg(any(target_os = "macos", test))]
mod profile;
mod support;
#[cfg(target_os = "linux")]
mod system_calls;
mod variables;
mod writable;

pub use child::{Confined, confine};
pub use confinement::{Confinement, SandboxError};
#[cfg(target_os = "linux")]
pub use judge::Judge;
pub use support::{Missing, Support};
pub use variables::Variables;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::secret::files::SecretFiles;
use crate::secret::found;

/// Names the descriptor of the socket to a command's judge, to the helper that becomes the command.
pub const JUDGE: &str = "AXI_JUDGE";

/// How far a child may reach.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Reach {
    /// What runs without being asked: reads anything but secrets, writes only a directory of its own, and reaches
    /// no network and no process outside.
    #[default]
    ReadOnly,
    /// What was approved: reads anything, writes the workspace, temporary files, caches and what was shown.
    Workspace {
        /// Whether it reaches the network.
        network: bool,
        /// Where else it may write: targets outside the workspace that the person was shown. Absolute.
        also: Vec<PathBuf>,
    },
    /// Everything; only by an explicit choice.
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

/// What the sandbox of this run comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It holds.
    On(Support),
    /// The settings turn it off.
    Off,
    /// This system cannot.
    Unsupported(Missing),
}

/// Where a child works, for what it may write.
#[derive(Debug, Clone, Copy)]
pub struct WorkDirectories<'a> {
    /// The workspace.
    pub workspace: &'a Path,
    /// Where the child starts.
    pub directory: &'a Path,
    /// A directory for this child alone.
    pub temporary: &'a Path,
    /// What it runs: caches that its programs cannot do without are made.
    pub line: &'a str,
}

/// Makes confinements for the children of one run.
#[derive(Debug, Clone, Default)]
pub struct Sandbox {
    wanted: Wanted,
    home: Option<PathBuf>,
    hidden: Vec<PathBuf>,
    readable: Vec<PathBuf>,
    temporary: PathBuf,
    support: OnceLock<Result<Support, Missing>>,
    judges: OnceLock<bool>,
    variables: Variables,
}

impl Sandbox {
    /// Makes the sandbox of a run. `hidden` are axi's own directories, `readable` what lies in them but may be
    /// read, `temporary` the system's directory for temporary files.
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
            support: OnceLock::new(),
            judges: OnceLock::new(),
            variables: Variables::default(),
        }
    }

    /// Keeps variables of the environment from commands.
    #[must_use]
    pub fn with_variables(mut self, variables: Variables) -> Self {
        self.variables = variables;
        self
    }

    /// What commands do not get of the environment.
    #[must_use]
    pub const fn variables(&self) -> &Variables {
        &self.variables
    }

    /// The directory for temporary files: the one the environment names, or else the system's.
    #[must_use]
    pub fn temporary(&self) -> &Path {
        self.temporary_instead().unwrap_or(&self.temporary)
    }

    /// The system's directory for temporary files, where there is none of the name the environment gives.
    #[must_use]
    pub fn temporary_instead(&self) -> Option<&'static Path> {
        let systems = ["/tmp", "/var/tmp"].map(Path::new);
        systems.into_iter().find(|place| place.is_dir()).filter(|_| !self.temporary.is_dir())
    }

    /// Tells what it comes to on this system. Asks the kernel once (some microseconds).
    #[must_use]
    pub fn standing(&self) -> Standing {
        match self.wanted {
            Wanted::Off => Standing::Off,
            Wanted::On => match *self.support.get_or_init(support::probe) {
                Ok(support) => Standing::On(support),
                Err(missing) => Standing::Unsupported(missing),
            },
        }
    }

    /// The files that are not read unasked.
    #[must_use]
    pub fn secret_files(&self) -> SecretFiles {
        SecretFiles { home: self.home.clone(), own: self.hidden.clone(), readable: self.readable.clone() }.real()
    }

    /// Tells whether secret files are kept from what runs unasked wherever they lie, and not only where they were found
    /// before it started. Asks the kernel once, on a thread (some tenths of a millisecond).
    #[must_use]
    pub fn judges_openings(&self) -> bool {
        match self.standing() {
            #[cfg(target_os = "linux")]
            Standing::On(_) => *self.judges.get_or_init(judge::probe),
            // There the profile holds them wherever they lie, by their names: nobody needs to judge.
            #[cfg(not(target_os = "linux"))]
            Standing::On(_) => false,
            Standing::Off | Standing::Unsupported(_) => false,
        }
    }

    /// Tells whether approved commands change modes, owners, times and extended attributes only where they may write.
    /// Asks the kernel on a thread (some tenths of a millisecond).
    #[must_use]
    pub fn keeps_attributes(&self) -> bool {
        let Standing::On(support) = self.standing() else { return false };
        #[cfg(target_os = "linux")]
        return support.holds_workspace() && judge::probe();
        #[cfg(not(target_os = "linux"))]
        return support.holds_workspace();
    }

    /// Makes what a child is held to; `None` where it is not confined: [`Reach::Full`], a sandbox that is off or
    /// missing, or an approved command on a kernel that could only break it ([`Support::holds_workspace`]).
    #[must_use]
    pub fn confinement(&self, reach: &Reach, ground: WorkDirectories<'_>) -> Option<Confinement> {
        let Standing::On(support) = self.standing() else { return None };
        match reach {
            Reach::Full => None,
            Reach::ReadOnly => Some(Confinement {
                read_only: true,
                judged: self.judges_openings(),
                network: false,
                home: self.home.clone(),
                hidden: self.hidden_from(ground),
                readable: self.readable.clone(),
                writable: vec![ground.temporary.to_owned()],
            }),
            Reach::Workspace { .. } if !support.holds_workspace() => None,
            Reach::Workspace { network, also } => {
                // Not where it runs: that the model chooses, and may choose `/`.
                let mut writable =
                    vec![ground.workspace.to_owned(), ground.temporary.to_owned(), self.temporary().to_owned()];
                writable.extend(also.iter().cloned());
                if let Some(home) = &self.home {
                    writable::make_needed(ground.line, home);
                }
                writable.extend(writable::beside(ground.workspace, self.home.as_deref()));
                Some(Confinement {
                    read_only: false,
                    judged: false,
                    network: *network,
                    home: self.home.clone(),
                    hidden: Vec::new(),
                    readable: Vec::new(),
                    writable,
                })
            }
        }
    }

    /// A place the person started axi in is no secret to it; secret files in it are.
    fn hidden_from(&self, ground: WorkDirectories<'_>) -> Vec<PathBuf> {
        let mut hidden = self.hidden.clone();
        for directory in [ground.workspace, ground.directory] {
            // Where nobody judges what is opened, Landlock is told what there is now.
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
