//! Sequences that print nothing: marks around an answer, titles, progress, notifications, links.

/// A sequence that draws nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mark {
    /// OSC 133;C: the answer begins.
    OutputStart,
    /// OSC 133;D: the answer ended, 0 for success.
    OutputEnd(u8),
    /// OSC 2: the window's title; an empty text lets the terminal choose.
    Title(String),
    /// OSC 7: the directory that a new window or tab begins in, as an address with this machine's name
    /// (<https://iterm2.com/documentation-escape-codes.html>).
    Directory(String),
    /// XTWINOPS 22: the terminal saves its present title (xterm's ctlseqs; kitty, foot, VTE, WezTerm, tmux).
    KeepTitle,
    /// XTWINOPS 23: the terminal restores the title it saved last.
    RestoreTitle,
    /// OSC 11: asks for the background colour. DA1 follows, which every terminal answers: if that answer comes
    /// first, no other will come.
    AskBackground,
    /// A notification with a title and a text, by a protocol.
    Notify(NotifyBy, String, String),
    /// OSC 9;4: how far the work is, in the tab or the task bar
    /// (<https://conemu.github.io/en/AnsiEscapeCodes.html#ConEmu_specific_OSC>).
    Progress(Progress),
    /// BEL.
    Bell,
}

/// The protocol of a notification. Two of them in a row are two notifications in a terminal that knows both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotifyBy {
    /// OSC 9, of iTerm2: a text (<https://iterm2.com/documentation-escape-codes.html>).
    Osc9,
    /// OSC 777, of rxvt: a title and a text.
    Osc777,
    /// OSC 99, of kitty: both, and shown only while the window has no focus
    /// (<https://sw.kovidgoyal.net/kitty/desktop-notifications/>).
    Osc99,
    /// OSC 9 and OSC 777: a terminal that nobody knows shows the one that it knows.
    Both,
}

/// What a terminal shows of the work in its tab or in the task bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Nothing: nothing goes on, or it waits for the person.
    None,
    /// It goes on, nobody knows how long.
    Working,
    /// It failed.
    Failed,
}

impl Mark {
    /// Returns the bytes. Texts are cleaned: no control character or separator in them can end the sequence early.
    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Self::OutputStart => b"\x1b]133;C\x1b\\".to_vec(),
            Self::OutputEnd(code) => format!("\x1b]133;D;{code}\x1b\\").into_bytes(),
            Self::Title(title) => format!("\x1b]2;{}\x1b\\", clean(title)).into_bytes(),
            Self::Directory(address) => {
                format!("\x1b]7;{}\x1b\\", super::sanitize::sanitize_line(address)).into_bytes()
            }
            Self::KeepTitle => b"\x1b[22;2t".to_vec(),
            Self::RestoreTitle => b"\x1b[23;2t".to_vec(),
            Self::AskBackground => b"\x1b]11;?\x1b\\\x1b[c".to_vec(),
            Self::Notify(by, title, text) => notification(*by, title, text).into_bytes(),
            Self::Progress(Progress::None) => b"\x1b]9;4;0\x1b\\".to_vec(),
            Self::Progress(Progress::Working) => b"\x1b]9;4;3\x1b\\".to_vec(),
            Self::Progress(Progress::Failed) => b"\x1b]9;4;2;100\x1b\\".to_vec(),
            Self::Bell => b"\x07".to_vec(),
        }
    }
}

fn notification(by: NotifyBy, title: &str, text: &str) -> String {
    let (title, text) = (clean(title).replace(';', ","), clean(text));
    // OSC 9;4 is a progress bar in some terminals: a notification must not look like one.
    let text = if text.starts_with(|it: char| it.is_ascii_digit()) { format!(" {text}") } else { text };
    let nine = || format!("\x1b]9;{title}: {text}\x1b\\");
    let triple_seven = || format!("\x1b]777;notify;{title};{text}\x1b\\");
    match by {
        NotifyBy::Osc9 => nine(),
        NotifyBy::Osc777 => triple_seven(),
        NotifyBy::Both => nine() + &triple_seven(),
        // The second one of the same name replaces the first: two questions in a row are one notification.
        NotifyBy::Osc99 => {
            format!("\x1b]99;i=axi:d=0:o=unfocused;{title}\x1b\\\x1b]99;i=axi:d=1:o=unfocused:p=body;{text}\x1b\\")
        }
    }
}

/// Reduces a text to one row of at most 200 characters, without anything that controls a terminal.
fn clean(text: &str) -> String {
    super::sanitize::sanitize_line(text).replace('\t', " ").chars().take(200).collect()
}

/// Returns the start of an OSC 8 link; `None` if the address may not be sent. The end of a link is the same
/// sequence with empty fields. The id joins the parts of a wrapped link. The limits are those of terminals:
/// <https://gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda>.
pub(crate) fn open_link(address: &str) -> Option<String> {
    const LONGEST: usize = 2083;
    let printable = address.bytes().all(|byte| (0x21..=0x7e).contains(&byte));
    if address.is_empty() || address.len() > LONGEST || !printable {
        return None;
    }
    // FNV-1a is stable, and two links on one screen have the same id only by accident.
    let id = address.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    Some(format!("\x1b]8;id={id:x};{address}\x1b\\"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_cannot_end_their_sequence() {
        let title = Mark::Title("a\x07b\x1b\\c\u{9c}".to_owned()).bytes();
        assert_eq!(String::from_utf8(title).unwrap(), "\x1b]2;a␇b␛\\c<U+009C>\x1b\\");
        let notify = |by| {
            let bytes = Mark::Notify(by, "axi;x".to_owned(), "4;1;50\x1b\\".to_owned()).bytes();
            String::from_utf8(bytes).unwrap()
        };
        let (nine, triple) = ("\x1b]9;axi,x:  4;1;50␛\\\x1b\\", "\x1b]777;notify;axi,x; 4;1;50␛\\\x1b\\");
        assert_eq!(notify(NotifyBy::Osc9), nine);
        assert_eq!(notify(NotifyBy::Osc777), triple);
        assert_eq!(notify(NotifyBy::Both), format!("{nine}{triple}"));
        let (title, body) = ("i=axi:d=0:o=unfocused;axi,x", "i=axi:d=1:o=unfocused:p=body; 4;1;50␛\\");
        assert_eq!(notify(NotifyBy::Osc99), format!("\x1b]99;{title}\x1b\\\x1b]99;{body}\x1b\\"));
    }

    #[test]
    fn only_printable_addresses_become_links() {
        assert_eq!(open_link("https://a.b/c").as_deref(), Some("\x1b]8;id=dffa848b;https://a.b/c\x1b\\"));
        assert_eq!(open_link("https://a.b/\x1b\\evil"), None);
        assert_eq!(open_link(""), None);
    }
}
