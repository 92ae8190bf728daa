//! What the operating system says of a failure, in the words of a language. Knows the standard library's errors only.

use std::borrow::Cow;
use std::io::{Error, ErrorKind};

use super::word::{cause, system};
use super::{Locale, Word};

/// Each kind of failure that has words.
static KINDS: &[(ErrorKind, Word)] = &[
    (ErrorKind::NotFound, system::NOT_FOUND),
    (ErrorKind::PermissionDenied, system::PERMISSION_DENIED),
    (ErrorKind::ConnectionRefused, cause::REFUSED),
    (ErrorKind::ConnectionReset, system::CONNECTION_RESET),
    (ErrorKind::ConnectionAborted, system::CONNECTION_ABORTED),
    (ErrorKind::HostUnreachable, cause::NO_ROUTE),
    (ErrorKind::NetworkUnreachable, system::NETWORK_UNREACHABLE),
    (ErrorKind::NetworkDown, system::NETWORK_DOWN),
    (ErrorKind::NotConnected, system::NOT_CONNECTED),
    (ErrorKind::AddrInUse, system::ADDRESS_IN_USE),
    (ErrorKind::AddrNotAvailable, system::ADDRESS_NOT_AVAILABLE),
    (ErrorKind::BrokenPipe, system::BROKEN_PIPE),
    (ErrorKind::AlreadyExists, system::ALREADY_EXISTS),
    (ErrorKind::NotADirectory, system::NOT_A_DIRECTORY),
    (ErrorKind::IsADirectory, system::IS_A_DIRECTORY),
    (ErrorKind::DirectoryNotEmpty, system::DIRECTORY_NOT_EMPTY),
    (ErrorKind::ReadOnlyFilesystem, system::READ_ONLY),
    (ErrorKind::StorageFull, system::STORAGE_FULL),
    (ErrorKind::QuotaExceeded, system::QUOTA_EXCEEDED),
    (ErrorKind::FileTooLarge, system::FILE_TOO_LARGE),
    (ErrorKind::ResourceBusy, system::BUSY),
    (ErrorKind::ExecutableFileBusy, system::PROGRAM_RUNNING),
    (ErrorKind::StaleNetworkFileHandle, system::STALE),
    (ErrorKind::NotSeekable, system::NOT_SEEKABLE),
    (ErrorKind::Deadlock, system::DEADLOCK),
    (ErrorKind::CrossesDevices, system::OTHER_FILESYSTEM),
    (ErrorKind::TooManyLinks, system::TOO_MANY_LINKS),
    (ErrorKind::InvalidFilename, system::INVALID_NAME),
    (ErrorKind::ArgumentListTooLong, system::TOO_LONG),
    (ErrorKind::InvalidInput, system::INVALID),
    (ErrorKind::InvalidData, system::INVALID_DATA),
    (ErrorKind::TimedOut, system::TIMED_OUT),
    (ErrorKind::WouldBlock, system::WOULD_BLOCK),
    (ErrorKind::Interrupted, system::INTERRUPTED),
    (ErrorKind::Unsupported, system::UNSUPPORTED),
    (ErrorKind::UnexpectedEof, system::ENDED_EARLY),
    (ErrorKind::OutOfMemory, system::OUT_OF_MEMORY),
];

/// Failures that the standard library has no kind for, or one kind for two.
static NUMBERS: &[(crate::platform::io::Errno, Word)] = &[
    (crate::platform::io::Errno::IO, system::INPUT_OUTPUT),
    (crate::platform::io::Errno::LOOP, system::LINK_LOOP),
    (crate::platform::io::Errno::MFILE, system::TOO_MANY_FILES),
    (crate::platform::io::Errno::NFILE, system::TOO_MANY_FILES),
    (crate::platform::io::Errno::NOEXEC, system::NO_PROGRAM),
    // As the owner of something: no change of its mode would help, as it does where access is denied.
    (crate::platform::io::Errno::PERM, system::NOT_PERMITTED),
    (crate::platform::io::Errno::NXIO, system::NO_DEVICE),
    (crate::platform::io::Errno::NODEV, system::NO_DEVICE),
    (crate::platform::io::Errno::NOTTY, system::NO_TERMINAL),
    (crate::platform::io::Errno::SRCH, system::NO_PROCESS),
    (crate::platform::io::Errno::CHILD, system::NO_CHILD),
    (crate::platform::io::Errno::BADF, system::CLOSED),
    (crate::platform::io::Errno::NAMETOOLONG, system::NAME_TOO_LONG),
];

/// Where the standard library puts a failure's number.
const NUMBER: &str = " (os error ";

impl Locale {
    /// Returns what failed, as far as the system said it, in this language; the rest as it is. A failure that has no
    /// words keeps those of the system and its number.
    #[must_use]
    pub fn said_by_system<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if let Some((_, word)) = KINDS.iter().find(|(kind, _)| *text == Error::from(*kind).to_string()) {
            return self.text(*word).into();
        }
        let Some((said, behind)) = text.split_once(NUMBER) else { return text.into() };
        let Some((number, rest)) = behind.split_once(')') else { return text.into() };
        let Ok(number) = number.parse() else { return text.into() };
        let error = Error::from_raw_os_error(number);
        let whole = error.to_string();
        let before = whole.split_once(NUMBER).and_then(|(words, _)| said.strip_suffix(words));
        match (before, word_of(&error)) {
            (Some(before), Some(word)) => format!("{before}{}{rest}", self.text(word)).into(),
            (None, _) | (_, None) => text.into(),
        }
    }
}

fn word_of(error: &Error) -> Option<Word> {
    let number = error.raw_os_error();
    let by_number = NUMBERS.iter().find(|(known, _)| Some(known.raw_os_error()) == number).map(|(_, word)| *word);
    by_number.or_else(|| KINDS.iter().find(|(kind, _)| *kind == error.kind()).map(|(_, word)| *word))
}

#[cfg(test)]
mod tests {
    use super::super::word;
    use super::*;

    #[test]
    fn what_the_system_says_is_said_in_the_language() {
        let gone = Error::from_raw_os_error(2).to_string();
        for (tag, says) in [("en", "no such file or directory"), ("zh-CN", "没有那个文件或目录")] {
            let locale = Locale::new(tag);
            assert_eq!(locale.said_by_system(&gone), says);
            assert_eq!(locale.said_by_system(&format!("open: {gone}, twice")), format!("open: {says}, twice"));
            assert_eq!(locale.said_by_system(&Error::from(ErrorKind::NotFound).to_string()), says);
            let io = locale.with(word::error::Io { path: &gone, cause: &gone });
            assert!(io.contains(says) && io.contains(&gone), "only a cause is what the system says: {io}");
        }
    }

    #[test]
    fn what_has_no_words_stays_as_it_is() {
        let locale = Locale::new("ja");
        let odd = Error::from_raw_os_error(9_999).to_string();
        for text in ["", "it broke", " (os error ", "x (os error 2)", "(os error 2", "y (os error z)", &odd] {
            assert_eq!(locale.said_by_system(text), text);
        }
    }

    #[test]
    fn what_files_programs_terminals_and_the_network_fail_with_has_words() {
        use crate::platform::io::Errno;
        let locale = Locale::new("ja");
        let said = |number: Errno| locale.said_by_system(&Error::from(number).to_string()).into_owned();
        let (mut silent, all) = (
            Vec::new(),
            [
                Errno::PERM,
                Errno::NOENT,
                Errno::SRCH,
                Errno::INTR,
                Errno::IO,
                Errno::NXIO,
                Errno::TOOBIG,
                Errno::NOEXEC,
                Errno::BADF,
                Errno::CHILD,
                Errno::AGAIN,
                Errno::NOMEM,
                Errno::ACCESS,
                Errno::BUSY,
                Errno::EXIST,
                Errno::XDEV,
                Errno::NODEV,
                Errno::NOTDIR,
                Errno::ISDIR,
                Errno::INVAL,
                Errno::NFILE,
                Errno::MFILE,
                Errno::NOTTY,
                Errno::TXTBSY,
                Errno::FBIG,
                Errno::NOSPC,
                Errno::SPIPE,
                Errno::ROFS,
                Errno::MLINK,
                Errno::PIPE,
                Errno::DEADLK,
                Errno::NAMETOOLONG,
                Errno::NOSYS,
                Errno::NOTEMPTY,
                Errno::LOOP,
                Errno::DQUOT,
                Errno::STALE,
                Errno::ADDRINUSE,
                Errno::ADDRNOTAVAIL,
                Errno::NETDOWN,
                Errno::NETUNREACH,
                Errno::CONNABORTED,
                Errno::CONNRESET,
                Errno::NOTCONN,
                Errno::TIMEDOUT,
                Errno::CONNREFUSED,
                Errno::HOSTUNREACH,
                Errno::OPNOTSUPP,
            ],
        );
        for number in all {
            if said(number).is_ascii() {
                silent.push(number);
            }
        }
        assert_eq!(silent, []);
        for (one, other) in [(Errno::PERM, Errno::ACCESS), (Errno::TXTBSY, Errno::BUSY)] {
            assert_ne!(said(one), said(other), "what to do differs: {one:?} {other:?}");
        }
    }

    #[test]
    fn each_kind_is_told_by_its_own_words() {
        let locale = Locale::new("ja");
        for (kind, word) in KINDS {
            assert_eq!(locale.said_by_system(&Error::from(*kind).to_string()), locale.text(*word), "{kind:?}");
        }
    }
}
