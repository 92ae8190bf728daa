//! The modes of a console, by the names that a terminal of a Unix has for them.

use std::io::IsTerminal as _;
use std::ops::{Index, IndexMut};
use std::os::windows::io::AsRawHandle as _;

use windows_sys::Win32::System::Console::{
    CONSOLE_SCREEN_BUFFER_INFO, ENABLE_ECHO_INPUT, ENABLE_LINE_INPUT, ENABLE_PROCESSED_INPUT,
    ENABLE_VIRTUAL_TERMINAL_INPUT, ENABLE_VIRTUAL_TERMINAL_PROCESSING, GetConsoleMode, GetConsoleScreenBufferInfo,
    GetStdHandle, STD_OUTPUT_HANDLE, SetConsoleMode,
};

use super::io::{Errno, Result};
use super::os::fd::{AsFd, BorrowedFd};
use super::process::{Pid, getpgrp};

super::flags::flags! {
    /// What becomes of keys.
    LocalModes: u32 {
        ICANON = 1, ECHO = 2, ISIG = 4, ECHONL = 8, IEXTEN = 16, TOSTOP = 32, NOFLSH = 64, ECHOE = 128, ECHOK = 256,
        ECHOCTL = 512, ECHOKE = 1024,
    }
}

super::flags::flags! {
    /// What becomes of bytes that come; a console changes none.
    InputModes: u32 {
        ICRNL = 1, INLCR = 2, IGNCR = 4, IXON = 8, ISTRIP = 16, BRKINT = 32, IMAXBEL = 64, IUTF8 = 128, IGNBRK = 256,
        IXOFF = 512,
    }
}

super::flags::flags! {
    /// What becomes of bytes that go.
    OutputModes: u32 { OPOST = 1, ONLCR = 2 }
}

super::flags::flags! {
    /// Of the line; there is none.
    ControlModes: u32 { CREAD = 1 }
}

/// Keys with a meaning, which a console has none of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SpecialCodeIndex {
    VINTR,
    VQUIT,
    VERASE,
    VKILL,
    VEOF,
    VSTART,
    VSTOP,
    VSUSP,
    VREPRINT,
    VWERASE,
    VLNEXT,
    VMIN,
    VTIME,
}

/// The codes of those keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct SpecialCodes([u8; 13]);

impl Index<SpecialCodeIndex> for SpecialCodes {
    type Output = u8;

    fn index(&self, index: SpecialCodeIndex) -> &u8 {
        &self.0[index as usize]
    }
}

impl IndexMut<SpecialCodeIndex> for SpecialCodes {
    fn index_mut(&mut self, index: SpecialCodeIndex) -> &mut u8 {
        &mut self.0[index as usize]
    }
}

/// The mode of a console: that of its input, with that of its output.
#[derive(Debug, Clone)]
pub(crate) struct Termios {
    pub(crate) local_modes: LocalModes,
    pub(crate) input_modes: InputModes,
    pub(crate) output_modes: OutputModes,
    pub(crate) control_modes: ControlModes,
    pub(crate) special_codes: SpecialCodes,
    input: u32,
    output: Option<u32>,
}

impl Termios {
    /// Takes keys one by one, and none for itself.
    pub(crate) fn make_raw(&mut self) {
        for (mode, _) in INPUT {
            self.local_modes.remove(mode);
        }
    }
}

/// When a mode is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OptionalActions {
    Now,
    Drain,
}

/// The size of a console, in cells; it does not tell its pixels.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_field_names, reason = "the names of tcgetwinsize(3)")]
pub(crate) struct Winsize {
    pub(crate) ws_row: u16,
    pub(crate) ws_col: u16,
    pub(crate) ws_xpixel: u16,
    pub(crate) ws_ypixel: u16,
}

/// What of a console's input is a mode of keys.
const INPUT: [(LocalModes, u32); 3] = [
    (LocalModes::ICANON, ENABLE_LINE_INPUT),
    (LocalModes::ECHO, ENABLE_ECHO_INPUT),
    (LocalModes::ISIG, ENABLE_PROCESSED_INPUT),
];

pub(crate) fn isatty(open: BorrowedFd<'_>) -> bool {
    open.is_terminal()
}

fn mode_of(handle: std::os::windows::io::RawHandle) -> Result<u32> {
    let mut mode = 0;
    #[expect(unsafe_code, reason = "the standard library knows no modes")]
    // SAFETY: a handle that is none makes the call fail; the mode goes into a value of its type.
    let done = unsafe { GetConsoleMode(handle, &raw mut mode) };
    if done == 0 { Err(Errno::NOTTY) } else { Ok(mode) }
}

fn set_mode_of(handle: std::os::windows::io::RawHandle, mode: u32) -> Result<()> {
    #[expect(unsafe_code, reason = "the standard library knows no modes")]
    // SAFETY: a handle that is none makes the call fail.
    let done = unsafe { SetConsoleMode(handle, mode) };
    if done == 0 { Err(Errno::last()) } else { Ok(()) }
}

fn output() -> std::os::windows::io::RawHandle {
    #[expect(unsafe_code, reason = "the standard library replaces a handle that is none")]
    // SAFETY: it takes a number and gives a handle, or none.
    unsafe {
        GetStdHandle(STD_OUTPUT_HANDLE)
    }
}

pub(crate) fn tcgetattr(open: impl AsFd) -> Result<Termios> {
    let input = mode_of(open.as_fd().as_raw_handle())?;
    let mut local_modes = LocalModes::empty();
    for (mode, bit) in INPUT {
        local_modes.set(mode, input & bit != 0);
    }
    Ok(Termios {
        local_modes,
        input_modes: InputModes::empty(),
        output_modes: OutputModes::OPOST | OutputModes::ONLCR,
        control_modes: ControlModes::empty(),
        special_codes: SpecialCodes::default(),
        input,
        output: mode_of(output()).ok(),
    })
}

/// Sets the modes. One that takes keys one by one gets those without a character as the sequences of a terminal, and
/// its output understands such sequences.
pub(crate) fn tcsetattr(open: impl AsFd, _: OptionalActions, wanted: &Termios) -> Result<()> {
    let mut input = wanted.input;
    for (mode, bit) in INPUT {
        if wanted.local_modes.contains(mode) { input |= bit } else { input &= !bit }
    }
    let is_by_key = !wanted.local_modes.contains(LocalModes::ICANON);
    if is_by_key {
        input |= ENABLE_VIRTUAL_TERMINAL_INPUT;
    }
    set_mode_of(open.as_fd().as_raw_handle(), input)?;
    if let Some(before) = wanted.output {
        let shown = if is_by_key { before | ENABLE_VIRTUAL_TERMINAL_PROCESSING } else { before };
        set_mode_of(output(), shown)?;
    }
    Ok(())
}

/// A console has no jobs: whoever has it is in front.
pub(crate) fn tcgetpgrp(_: impl AsFd) -> Result<Pid> {
    Ok(getpgrp())
}

pub(crate) fn tcsetpgrp(_: impl AsFd, _: Pid) -> Result<()> {
    Err(Errno::NOTSUP)
}

pub(crate) fn tcgetwinsize(open: impl AsFd) -> Result<Winsize> {
    let mut told = CONSOLE_SCREEN_BUFFER_INFO::default();
    #[expect(unsafe_code, reason = "the standard library knows no sizes")]
    // SAFETY: the handle is open as long as it is borrowed; what is told goes into a value of its type.
    let done = unsafe { GetConsoleScreenBufferInfo(open.as_fd().as_raw_handle(), &raw mut told) };
    if done == 0 {
        return Err(Errno::NOTTY);
    }
    let cells = |from: i16, to: i16| u16::try_from(i32::from(to) - i32::from(from) + 1).unwrap_or_default();
    let window = told.srWindow;
    let (ws_row, ws_col) = (cells(window.Top, window.Bottom), cells(window.Left, window.Right));
    Ok(Winsize { ws_row, ws_col, ws_xpixel: 0, ws_ypixel: 0 })
}

pub(crate) fn tcsetwinsize(_: impl AsFd, _: Winsize) -> Result<()> {
    Err(Errno::NOTSUP)
}
