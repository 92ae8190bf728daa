//! What the helper process does to itself before it becomes the program.

use std::ffi::OsString;

#[cfg(target_os = "linux")]
use super::machine;
use super::{Confinement, SandboxError};

/// How the program is to be started from here.
#[derive(Debug, PartialEq, Eq)]
pub enum Confined {
    /// As it is: this process is held already.
    Here,
    /// By another program that holds it: its path and first arguments.
    Through(OsString, Vec<OsString>),
}

/// Holds this process and all it starts to the confinement.
///
/// To be called by a process with one thread that is about to become another program. `judge` is the number of the
/// descriptor of a socket to its judge, should it have one.
///
/// # Errors
/// [`SandboxError`]: the process may be held in part, and must end.
#[cfg(target_os = "linux")]
pub fn confine(confinement: &Confinement, judge: Option<i32>) -> Result<Confined, SandboxError> {
    let root = rustix::process::geteuid().is_root();
    super::kernel::restrict(confinement, root)?;
    // But for reading nothing of what root can do is left to what runs unasked: a capability to look into performance
    // alone opens the memory of every process, past Landlock (`mm_access` in the kernel's kernel/fork.c).
    let reading = rustix::thread::CapabilitySet::DAC_READ_SEARCH;
    machine::leave(if confinement.read_only { reading } else { machine::LEFT })?;
    if confinement.judged || judge.is_some() && !confinement.read_only {
        super::judge::submit(judge, confinement.read_only)?;
    }
    if !confinement.read_only {
        machine::restrict()?;
    }
    // Last: what it takes away may be needed before.
    super::system_calls::restrict(confinement)?;
    Ok(Confined::Here)
}

/// Says how the program is to be started: by `sandbox-exec`, with a profile made from the confinement.
///
/// # Errors
/// None on this system.
#[cfg(target_os = "macos")]
pub fn confine(confinement: &Confinement, _: Option<i32>) -> Result<Confined, SandboxError> {
    let arguments = vec![OsString::from("-p"), OsString::from(super::profile::text(confinement))];
    Ok(Confined::Through(OsString::from(super::profile::PROGRAM), arguments))
}

/// Refuses: nobody asks for a confinement on a system without one.
///
/// # Errors
/// Always [`SandboxError::Files`].
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub fn confine(_: &Confinement, _: Option<i32>) -> Result<Confined, SandboxError> {
    Err(SandboxError::Files("there is none on this system".to_owned()))
}
