//! Asks once what this system's sandbox can do.

/// What this system has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    /// Linux: Landlock of this ABI version, and seccomp.
    Landlock {
        /// As the kernel names it, capped at what is used here: 1 files, 2 moves between directories,
        /// 3 truncation, 5 devices, 6 signals.
        abi: u8,
    },
    /// macOS: `sandbox-exec`.
    SandboxExec,
}

/// What this system lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// The kernel has no Landlock, or it is not turned on.
    Landlock,
    /// The kernel has no seccomp filters, or not for this processor.
    Seccomp,
    /// `/usr/bin/sandbox-exec` is not there.
    SandboxExec,
    /// No sandbox is known for this system.
    System,
}

impl Support {
    /// Tells whether approved commands can be confined: before ABI 2 no file can be moved or linked between two
    /// directories, which breaks most builds.
    #[must_use]
    pub const fn holds_workspace(self) -> bool {
        match self {
            Self::Landlock { abi } => abi >= 2,
            Self::SandboxExec => true,
        }
    }
}

/// Asks the system. Confines nothing.
#[cfg(target_os = "linux")]
pub(super) fn probe() -> Result<Support, Missing> {
    if !super::system_calls::are_filtered() {
        return Err(Missing::Seccomp);
    }
    super::kernel::abi().map(|abi| Support::Landlock { abi }).ok_or(Missing::Landlock)
}

/// Asks the system. Confines nothing.
#[cfg(target_os = "macos")]
pub(super) fn probe() -> Result<Support, Missing> {
    let there = std::path::Path::new(super::profile::PROGRAM).exists();
    if there { Ok(Support::SandboxExec) } else { Err(Missing::SandboxExec) }
}

/// Asks the system. Confines nothing.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(super) fn probe() -> Result<Support, Missing> {
    Err(Missing::System)
}
