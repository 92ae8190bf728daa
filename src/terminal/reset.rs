//! Restores a terminal that another program has left in a bad mode, for `axi doctor --reset-terminal`.

use std::fs::OpenOptions;
use std::io::{self, Write as _};

use crate::platform::termios::{
    ControlModes, InputModes, LocalModes, OptionalActions, OutputModes, SpecialCodeIndex, Termios, tcgetattr,
    tcsetattr,
};

/// Switches off what programs switch on: synchronised output, bracketed paste, focus and mouse events, application
/// cursor and keypad keys, kitty's keyboard flags, line drawing, a scroll region, a hidden cursor, styles, disabled
/// line wrap. DECSC and DECRC stand around the reset of the scroll region, because that moves the cursor. The
/// screen and its scrollback are not changed.
const ENDS: &[u8] = b"\x1b[?2026l\x1b[?2004l\x1b[?1004l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1015l\
    \x1b[?1l\x1b>\x1b[<8u\x1b[=0u\x1b[>4;0m\x1b(B\x0f\x1b7\x1b[r\x1b8\x1b[?25h\x1b[0m\x1b[?7h\r";

/// The control characters of a new terminal (termios(3); `stty sane`), in case a program has disabled them.
const CHARACTERS: [(SpecialCodeIndex, u8); 11] = [
    (SpecialCodeIndex::VINTR, 0x03),
    (SpecialCodeIndex::VQUIT, 0x1c),
    (SpecialCodeIndex::VERASE, 0x7f),
    (SpecialCodeIndex::VKILL, 0x15),
    (SpecialCodeIndex::VEOF, 0x04),
    (SpecialCodeIndex::VSTART, 0x11),
    (SpecialCodeIndex::VSTOP, 0x13),
    (SpecialCodeIndex::VSUSP, 0x1a),
    (SpecialCodeIndex::VREPRINT, 0x12),
    (SpecialCodeIndex::VWERASE, 0x17),
    (SpecialCodeIndex::VLNEXT, 0x16),
];

/// Resets the controlling terminal.
///
/// # Errors
/// If there is no controlling terminal, or it is gone.
pub fn reset_terminal() -> io::Result<()> {
    let mut terminal = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
    let mut mode = tcgetattr(&terminal)?;
    make_sane(&mut mode);
    tcsetattr(&terminal, OptionalActions::Drain, &mode)?;
    terminal.write_all(ENDS)?;
    terminal.flush()
}

/// Changes a mode as `stty sane` does. Speed and character size stay.
fn make_sane(mode: &mut Termios) {
    mode.input_modes |= InputModes::BRKINT | InputModes::ICRNL | InputModes::IXON | InputModes::IMAXBEL;
    mode.input_modes |= InputModes::IUTF8;
    mode.input_modes -= InputModes::IGNBRK | InputModes::INLCR | InputModes::IGNCR | InputModes::IXOFF;
    mode.output_modes |= OutputModes::OPOST | OutputModes::ONLCR;
    mode.control_modes |= ControlModes::CREAD;
    mode.local_modes |= LocalModes::ISIG
        | LocalModes::ICANON
        | LocalModes::IEXTEN
        | LocalModes::ECHO
        | LocalModes::ECHOE
        | LocalModes::ECHOK
        | LocalModes::ECHOCTL
        | LocalModes::ECHOKE;
    mode.local_modes -= LocalModes::ECHONL | LocalModes::NOFLSH | LocalModes::TOSTOP;
    for (index, character) in CHARACTERS {
        if mode.special_codes[index] == 0 {
            mode.special_codes[index] = character;
        }
    }
}
