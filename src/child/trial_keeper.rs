//! The hidden helper `axi __tries ARGUMENTS…`: runs `axi ARGUMENTS…` in a mount namespace of its own, and lays and lifts
//! layers there when that axi asks for it, which has no right to.

use std::ffi::OsString;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitCode};
use std::sync::Arc;

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Pid, Signal, kill_process};

use crate::trial::{KEEPER, keep, leave_mounts};

/// The exit code when axi could not be started again.
const NOT_RUN: u8 = 126;

pub(super) fn main(arguments: &mut dyn Iterator<Item = OsString>) -> ExitCode {
    ExitCode::from(kept(arguments).unwrap_or(NOT_RUN))
}

fn kept(arguments: &mut dyn Iterator<Item = OsString>) -> Option<u8> {
    // Keys of the terminal reach both, and are axi's to answer.
    let heard = Arc::new(std::sync::atomic::AtomicBool::new(false));
    for signal in [Signal::INT, Signal::QUIT] {
        signal_hook::flag::register(signal.as_raw(), Arc::clone(&heard)).ok()?;
    }
    let mut axi = Command::new(std::env::current_exe().ok()?);
    axi.args(arguments);
    if let Err((what, cause)) = leave_mounts() {
        // That axi says so, and goes on without trials where it may.
        let mut child = axi.env(KEEPER, format!("{what}: {cause}")).spawn().ok()?;
        pass_on(&child)?;
        return ended(&mut child);
    }
    let (mut near, far) = UnixStream::pair().ok()?;
    let far = OwnedFd::from(far);
    fcntl_setfd(&far, FdFlags::empty()).ok()?;
    let mut child = axi.env(KEEPER, far.as_raw_fd().to_string()).spawn().ok()?;
    drop(far);
    pass_on(&child)?;
    // It ends with that axi, or with the last program that holds its socket.
    drop(keep(&mut near));
    ended(&mut child)
}

/// Hands on what tells a process to end: it is meant for axi.
fn pass_on(child: &Child) -> Option<()> {
    let process = Pid::from_raw(i32::try_from(child.id()).ok()?)?;
    for signal in [Signal::TERM, Signal::HUP] {
        let hand = move || {
            // It has ended already.
            let _ = kill_process(process, signal);
        };
        let (mut told, tells) = UnixStream::pair().ok()?;
        signal_hook::low_level::pipe::register(signal.as_raw(), tells).ok()?;
        let wait = move || {
            use std::io::Read as _;
            while told.read_exact(&mut [0]).is_ok() {
                hand();
            }
        };
        std::thread::Builder::new().name("signals".to_owned()).spawn(wait).ok()?;
    }
    Some(())
}

fn ended(child: &mut Child) -> Option<u8> {
    let status = child.wait().ok()?;
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal))?;
    u8::try_from(code).ok()
}
