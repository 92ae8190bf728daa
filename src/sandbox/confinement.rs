//! The confinement of one child process, and its form as arguments for the helper process that applies it.

use std::ffi::OsString;
use std::path::PathBuf;

/// The confinement of one child. [`super::Sandbox::confinement`] makes it, the helper process gets it as arguments,
/// and [`super::confine`] applies it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Confinement {
    /// Whether it is that of a command without approval: secrets are hidden, attributes kept and other processes
    /// left alone.
    pub(crate) read_only: bool,
    /// Whether a judge looks at each file that is opened for reading.
    pub(crate) judged: bool,
    /// Whether the child can make no sockets at all that lead to others.
    pub(crate) alone: bool,
    /// Whether the child can make sockets to other machines.
    pub(crate) network: bool,
    /// Whether its signals reach its own processes only; Linux 6.12 can do that.
    pub(crate) apart: bool,
    /// The user's home.
    pub(crate) home: Option<PathBuf>,
    /// Files that are never readable, besides the known places of secrets.
    pub(crate) hidden: Vec<PathBuf>,
    /// Files that are readable although they lie in hidden places.
    pub(crate) readable: Vec<PathBuf>,
    /// Files and directories that are writable, with everything below.
    pub(crate) writable: Vec<PathBuf>,
}

impl Confinement {
    /// Tells whether it is the confinement of a command without approval.
    #[must_use]
    pub const fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Tells whether the child can make sockets to other machines.
    #[must_use]
    pub const fn has_network(&self) -> bool {
        self.network
    }

    /// Converts it into arguments for the helper process, ended by `--`.
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
        if self.alone {
            arguments.push("--alone".into());
        }
        if self.network {
            arguments.push("--network".into());
        }
        if self.apart {
            arguments.push("--apart".into());
        }
        arguments.push("--".into());
        arguments
    }

    /// Parses what [`Confinement::to_arguments`] wrote, up to and including `--`; `None` for anything else.
    #[must_use]
    pub fn from_arguments(arguments: &mut dyn Iterator<Item = OsString>) -> Option<Self> {
        let mut read = Self::default();
        loop {
            let name = arguments.next()?;
            match name.to_str()? {
                "--" => return Some(read),
                "--read-only" => read.read_only = true,
                "--judged" => read.judged = true,
                "--alone" => read.alone = true,
                "--network" => read.network = true,
                "--apart" => read.apart = true,
                "--home" => read.home = Some(arguments.next()?.into()),
                "--hide" => read.hidden.push(arguments.next()?.into()),
                "--read" => read.readable.push(arguments.next()?.into()),
                "--write" => read.writable.push(arguments.next()?.into()),
                _ => return None,
            }
        }
    }
}

/// Why a child could not be confined: it must not run then.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The kernel refused a rule set that it claims to know.
    #[error("Landlock: {0}")]
    Files(String),
    /// The kernel did not remove root's capabilities.
    #[error("capabilities: {0}")]
    Privileges(String),
    /// The kernel refused the filter.
    #[error("seccomp: {0}")]
    SystemCalls(String),
}
