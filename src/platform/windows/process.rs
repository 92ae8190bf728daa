//! Processes. A command and all it starts are one job, which ends with the helper that became the command.

use std::num::NonZeroI32;
use std::os::windows::io::{AsRawHandle as _, FromRawHandle as _, OwnedHandle};

use windows_sys::Win32::Foundation::{INVALID_HANDLE_VALUE, WAIT_OBJECT_0};
use windows_sys::Win32::System::Diagnostics::ToolHelp::{
    CreateToolhelp32Snapshot, PROCESSENTRY32W, Process32FirstW, Process32NextW, TH32CS_SNAPPROCESS,
};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectExtendedLimitInformation, SetInformationJobObject,
};
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, INFINITE, OpenProcess, PROCESS_SYNCHRONIZE, PROCESS_TERMINATE, TerminateProcess,
    WaitForSingleObject,
};

use super::io::{Errno, Result};
use super::os::fd::AsFd;

/// The number of the one owner that files and processes have here.
pub(crate) const OWNER: u32 = 1000;

/// The exit code of what was ended: that of a shell for SIGKILL.
const ENDED: u32 = 137;

/// The number of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Pid(NonZeroI32);

impl Pid {
    pub(crate) fn from_raw(number: i32) -> Option<Self> {
        NonZeroI32::new(number).filter(|number| number.get() > 0).map(Self)
    }

    pub(crate) const fn as_raw_nonzero(self) -> NonZeroI32 {
        self.0
    }
}

/// What a process can be told. Only the end reaches others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Signal(i32);

impl Signal {
    pub(crate) const HUP: Self = Self(1);
    pub(crate) const INT: Self = Self(2);
    pub(crate) const QUIT: Self = Self(3);
    pub(crate) const KILL: Self = Self(9);
    pub(crate) const TERM: Self = Self(15);
    pub(crate) const CHILD: Self = Self(17);
    pub(crate) const CONT: Self = Self(18);
    pub(crate) const TSTP: Self = Self(20);
    pub(crate) const TTIN: Self = Self(21);
    pub(crate) const TTOU: Self = Self(22);
    pub(crate) const WINCH: Self = Self(28);

    pub(crate) const fn as_raw(self) -> i32 {
        self.0
    }
}

/// A user or a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owner(u32);

impl Owner {
    pub(crate) const fn from_raw(number: u32) -> Self {
        Self(number)
    }

    pub(crate) const fn as_raw(self) -> u32 {
        self.0
    }

    /// Nobody is: there are rights, and no user who has them all.
    pub(crate) const fn is_root(self) -> bool {
        false
    }
}

pub(crate) const fn geteuid() -> Owner {
    Owner(OWNER)
}

pub(crate) const fn getegid() -> Owner {
    Owner(OWNER)
}

pub(crate) fn getgroups() -> Result<Vec<Owner>> {
    Ok(vec![Owner(OWNER)])
}

pub(crate) fn getpid() -> Pid {
    let number = i32::try_from(std::process::id()).ok().and_then(NonZeroI32::new);
    Pid(number.unwrap_or(NonZeroI32::MAX))
}

/// Each process is its own.
pub(crate) fn getpgrp() -> Pid {
    getpid()
}

pub(crate) fn setsid() -> Result<Pid> {
    Ok(getpid())
}

pub(crate) fn ioctl_tiocsctty(_: impl AsFd) -> Result<()> {
    Err(Errno::NOTTY)
}

fn open(process: Pid, rights: u32) -> Result<OwnedHandle> {
    #[expect(unsafe_code, reason = "the standard library opens its own children only")]
    // SAFETY: the number may be anybody's; nobody inherits the handle.
    let handle = unsafe { OpenProcess(rights, 0, process.0.get().cast_unsigned()) };
    if handle.is_null() {
        // A number that nobody has.
        return Err(if Errno::last() == Errno::INVAL { Errno::SRCH } else { Errno::last() });
    }
    #[expect(unsafe_code, reason = "as above")]
    // SAFETY: it was just opened, and is nobody else's.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}

/// Ends a process. One that became a command takes all that it started along. There is no polite way.
pub(crate) fn kill_process(process: Pid, signal: Signal) -> Result<()> {
    if ![Signal::TERM, Signal::KILL, Signal::HUP, Signal::INT, Signal::QUIT].contains(&signal) {
        return Err(Errno::NOTSUP);
    }
    let handle = open(process, PROCESS_TERMINATE)?;
    #[expect(unsafe_code, reason = "the standard library ends its own children only")]
    // SAFETY: the handle is open, with the right that this takes.
    let done = unsafe { TerminateProcess(handle.as_raw_handle(), ENDED) };
    if done == 0 { Err(Errno::last()) } else { Ok(()) }
}

/// The same: the job ends with its first process.
pub(crate) fn kill_process_group(first: Pid, signal: Signal) -> Result<()> {
    kill_process(first, signal)
}

/// Fails if there is no such process.
pub(crate) fn test_kill_process(process: Pid) -> Result<()> {
    let handle = open(process, PROCESS_SYNCHRONIZE)?;
    if wait_for(&handle, 0) { Err(Errno::SRCH) } else { Ok(()) }
}

pub(crate) fn test_kill_process_group(first: Pid) -> Result<()> {
    test_kill_process(first)
}

fn wait_for(process: &OwnedHandle, limit: u32) -> bool {
    #[expect(unsafe_code, reason = "the standard library waits for its own children only")]
    // SAFETY: the handle is open, with the right that this takes.
    let ended = unsafe { WaitForSingleObject(process.as_raw_handle(), limit) };
    ended == WAIT_OBJECT_0
}

/// Makes this process and all it starts a job that ends with it.
pub(super) fn be_a_job() -> Result<()> {
    #[expect(unsafe_code, reason = "the standard library knows no jobs")]
    // SAFETY: a job without a name and with the usual rights; the limits are a value of the type that is named, and of
    // its size.
    unsafe {
        let job = CreateJobObjectW(std::ptr::null(), std::ptr::null());
        if job.is_null() {
            return Err(Errno::last());
        }
        let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
        // PROOF: the size is a few hundred bytes.
        let size = u32::try_from(size_of_val(&limits)).unwrap_or_default();
        let set = SetInformationJobObject(job, JobObjectExtendedLimitInformation, (&raw const limits).cast(), size);
        // The handle stays open until this process ends, which is what ends the job.
        if set == 0 || AssignProcessToJobObject(job, GetCurrentProcess()) == 0 {
            return Err(Errno::last());
        }
    }
    Ok(())
}

/// The process that started this one.
pub(super) fn parent() -> Option<Pid> {
    let own = std::process::id();
    let size = u32::try_from(size_of::<PROCESSENTRY32W>()).ok()?;
    let mut entry = PROCESSENTRY32W { dwSize: size, ..PROCESSENTRY32W::default() };
    #[expect(unsafe_code, reason = "the standard library does not tell it")]
    // SAFETY: the list is asked for and is this function's own; each entry goes into a value that tells its size.
    unsafe {
        let list = CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0);
        if list == INVALID_HANDLE_VALUE {
            return None;
        }
        let list = OwnedHandle::from_raw_handle(list);
        let mut more = Process32FirstW(list.as_raw_handle(), &raw mut entry);
        while more != 0 {
            if entry.th32ProcessID == own {
                return i32::try_from(entry.th32ParentProcessID).ok().and_then(Pid::from_raw);
            }
            more = Process32NextW(list.as_raw_handle(), &raw mut entry);
        }
    }
    None
}

/// Ends this process when another one ends.
pub(super) fn end_with(process: Pid) -> Result<()> {
    let handle = open(process, PROCESS_SYNCHRONIZE)?;
    let watch = move || {
        if wait_for(&handle, INFINITE) {
            std::process::exit(ENDED.cast_signed());
        }
    };
    std::thread::Builder::new().name("parent".to_owned()).spawn(watch).map(drop).map_err(|error| Errno::of(&error))
}

super::flags::flags! {
    /// How to wait for a child.
    WaitOptions: u32 { NOHANG = 1, UNTRACED = 2 }
}

/// What became of a child.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WaitStatus(i32);

impl WaitStatus {
    pub(crate) const fn exit_status(self) -> Option<i32> {
        Some(self.0)
    }

    pub(crate) const fn terminating_signal(self) -> Option<i32> {
        None
    }

    pub(crate) const fn stopping_signal(self) -> Option<i32> {
        None
    }

    pub(crate) const fn stopped(self) -> bool {
        false
    }
}

/// No child is waited for by its number here.
pub(crate) fn wait(_: WaitOptions) -> Result<Option<(Pid, WaitStatus)>> {
    Err(Errno::CHILD)
}

pub(crate) fn waitpid(_: Option<Pid>, _: WaitOptions) -> Result<Option<(Pid, WaitStatus)>> {
    Err(Errno::CHILD)
}

/// What a process may have.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Resource {
    Nofile,
}

/// How much of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rlimit {
    pub(crate) current: Option<u64>,
    pub(crate) maximum: Option<u64>,
}

/// There is no limit but memory.
pub(crate) fn getrlimit(_: Resource) -> Rlimit {
    Rlimit { current: None, maximum: None }
}

pub(crate) fn setrlimit(_: Resource, _: Rlimit) -> Result<()> {
    Err(Errno::NOSYS)
}
