//! What a console tells its programs, by the numbers of the signals that say the same.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use windows_sys::Win32::Foundation::TRUE;
use windows_sys::Win32::System::Console::{
    CTRL_BREAK_EVENT, CTRL_C_EVENT, CTRL_CLOSE_EVENT, SetConsoleCtrlHandler,
};
use windows_sys::core::BOOL;

/// Numbers of signals.
pub(crate) mod consts {
    pub(crate) const SIGHUP: i32 = 1;
    pub(crate) const SIGINT: i32 = 2;
    pub(crate) const SIGQUIT: i32 = 3;
    pub(crate) const SIGTERM: i32 = 15;
}

use consts::{SIGHUP, SIGINT, SIGQUIT};

/// The system ends a program this long after it told that its window closes, or as soon as it has been heard.
const CLOSING: Duration = Duration::from_secs(5);

/// What becomes of a signal.
enum Heard {
    Flag(Arc<AtomicBool>),
    Wake(super::net::UnixStream),
}

/// Whom the system calls has no other way to what it was asked for: the call has no argument of ours.
static HEARD: Mutex<Vec<(i32, Heard)>> = Mutex::new(Vec::new());

extern "system" fn hear(event: u32) -> BOOL {
    let number = match event {
        CTRL_C_EVENT => SIGINT,
        CTRL_BREAK_EVENT => SIGQUIT,
        _ => SIGHUP,
    };
    let heard = HEARD.lock().unwrap_or_else(PoisonError::into_inner);
    let asked = || heard.iter().filter(|(asked, _)| *asked == number).map(|(_, heard)| heard);
    if asked().next().is_none() {
        return 0;
    }
    for heard in asked() {
        match heard {
            Heard::Flag(flag) => flag.store(true, Ordering::SeqCst),
            Heard::Wake(_) => {}
        }
    }
    for heard in asked() {
        match heard {
            Heard::Flag(_) => {}
            // Full means that it is awake.
            Heard::Wake(stream) => drop(io::Write::write(&mut &*stream, &[1])),
        }
    }
    drop(heard);
    if event >= CTRL_CLOSE_EVENT {
        // To return would be the end; `main` ends before.
        std::thread::sleep(CLOSING);
    }
    TRUE
}

fn add(number: i32, wanted: Heard) -> io::Result<()> {
    let mut heard = HEARD.lock().unwrap_or_else(PoisonError::into_inner);
    if heard.is_empty() {
        #[expect(unsafe_code, reason = "the standard library hears no console")]
        // SAFETY: the function lives as long as the program, takes any event, and does not unwind.
        let done = unsafe { SetConsoleCtrlHandler(Some(hear), TRUE) };
        if done == 0 {
            return Err(io::Error::last_os_error());
        }
    }
    heard.push((number, wanted));
    Ok(())
}

/// Setting a flag.
pub(crate) mod flag {
    use super::{Arc, AtomicBool, Heard, add, io};

    /// Has a signal set a flag, and not end the program.
    pub(crate) fn register(number: i32, flag: Arc<AtomicBool>) -> io::Result<()> {
        add(number, Heard::Flag(flag))
    }
}

/// Waking a thread.
pub(crate) mod low_level {
    pub(crate) mod pipe {
        use super::super::{Heard, add, io};
        use crate::platform::os::net::UnixStream;

        /// Has a signal write a byte.
        pub(crate) fn register(number: i32, wake: UnixStream) -> io::Result<()> {
            wake.set_nonblocking(true)?;
            add(number, Heard::Wake(wake))
        }
    }
}
