//! What one child is held to, and how it is handed over to the helper that puts it on.

use std::ffi::OsString;
use std::path::PathBuf;

/// What one child is held to; made by [`super::Sandbox::confinement`], handed over as arguments, put on by [`super::confine`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Confinement {
    /// Whether secrets are hidden, attributes kept and processes left alone.
    pub(crate) read_only: bool,
    /// Whether each file that is opened for reading is looked at first.
    pub(crate) judged: bool,
    /// Whether sockets to other machines can be made.
    pub(crate) network: bool,
    /// The user's home.
    pub(crate) home: Option<PathBuf>,
    /// Never readable, beside the known places of secrets.
    pub(crate) hidden: Vec<PathBuf>,
    /// Readable all the same.
    pub(crate) readable: Vec<PathBuf>,
    /// Writable, with all below.
    pub(crate) writable: Vec<PathBuf>,
}

impl Confinement {
    /// Tells whether it is that of what runs without being asked.
    #[must_use]
    pub const fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Tells whether sockets to other machines can be made.
    #[must_use]
    pub const fn has_network(&self) -> bool {
        self.network
    }

    /// Writes it as arguments for the helper process, ended by `--`.
    #[must_use]
    pub fn to_arguments(&self) -> Vec<OsString> {
        let mut arguments = Vec::new();
        let mut push = |name: &str, paths: &[PathBuf]| {
            for path in paths {
                arguments.extend([OsString::from(name), path.clone().into_os_string()]);
            }
        };
        push("--home", self.home.as_slice());
        push("--hide", &self.hidden);
        push("--read", &self.readable);
        push("--write", &self.writable);
        if self.read_only {
            arguments.push("--read-only".into());
        }
        if self.judged {
            arguments.push("--judged".into());
        }
        if self.network {
            arguments.push("--network".into());
        }
        arguments.push("--".into());
        arguments
    }

    /// Reads what [`Confinement::to_arguments`] wrote, up to and with `--`; `None` for anything else.
    #[must_use]
    pub fn from_arguments(arguments: &mut dyn Iterator<Item = OsString>) -> Option<Self> {
        let mut read = Self::default();
        loop {
            let name = arguments.next()?;
            match name.to_str()? {
                "--" => return Some(read),
                "--read-only" => read.read_only = true,
                "--judged" => read.judged = true,
                "--network" => read.network = true,
                "--home" => read.home = Some(arguments.next()?.into()),
                "--hide" => read.hidden.push(arguments.next()?.into()),
                "--read" => read.readable.push(arguments.next()?.into()),
                "--write" => read.writable.push(arguments.next()?.into()),
                _ => return None,
            }
        }
    }
}

/// Why a child could not be held: it must then not run.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The kernel refused a rule set it had said it knows.
    #[error("Landlock: {0}")]
    Files(String),
    /// The kernel kept what root can do.
    #[error("capabilities: {0}")]
    Privileges(String),
    /// The kernel refused the filter.
    #[error("seccomp: {0}")]
    SystemCalls(String),
}
