//! Confines the helper process before it becomes the program.

use std::ffi::OsString;

#[cfg(target_os = "linux")]
use super::machine;
use super::{Confinement, SandboxError};

/// How to start the program from here.
#[derive(Debug, PartialEq, Eq)]
pub enum Confined {
    /// Directly: this process is confined already.
    Here,
    /// Through another program that confines it: its path and first arguments.
    Through(OsString, Vec<OsString>),
}

/// Confines this process, and all it starts.
///
/// The caller must have one thread, and be about to become another program. `judge` is the descriptor of the socket
/// to its judge, if it has one.
///
/// # Errors
/// [`SandboxError`]: the process may be confined in part, and must end.
#[cfg(target_os = "linux")]
pub fn confine(confinement: &Confinement, judge: Option<i32>) -> Result<Confined, SandboxError> {
    let root = crate::platform::process::geteuid().is_root();
    super::kernel::restrict(confinement, root)?;
    // Root keeps no right except reading in a command that runs without approval: with the capability for
    // performance counters alone it could open the memory of every process, past Landlock (`mm_access` in the
    // kernel's kernel/fork.c).
    let reading = rustix::thread::CapabilitySet::DAC_READ_SEARCH;
    machine::leave(if confinement.read_only { reading } else { machine::LEFT })?;
    if confinement.judged || judge.is_some() && !confinement.read_only {
        super::judge::submit(judge, confinement.read_only)?;
    }
    if !confinement.read_only {
        machine::restrict()?;
    }
    // The system calls come last: the steps before may need those that are taken away.
    super::system_calls::restrict(confinement)?;
    Ok(Confined::Here)
}

/// Returns how to start the program: through `sandbox-exec`, with a profile made from the confinement.
///
/// # Errors
/// None on this system.
#[cfg(target_os = "macos")]
pub fn confine(confinement: &Confinement, _: Option<i32>) -> Result<Confined, SandboxError> {
    let arguments = vec![OsString::from("-p"), OsString::from(super::profile::text(confinement))];
    Ok(Confined::Through(OsString::from(super::profile::PROGRAM), arguments))
}

/// Always fails: nobody asks for a confinement on a system without one.
///
/// # Errors
/// Always [`SandboxError::Files`].
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub fn confine(_: &Confinement, _: Option<i32>) -> Result<Confined, SandboxError> {
    Err(SandboxError::Files("there is none on this system".to_owned()))
}
