//! The address of a file, for terminals that open what is clicked.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

/// The address of a file (RFC 8089).
pub(super) fn file_address(path: &Path) -> Arc<str> {
    let mut address = String::from("file://");
    for byte in crate::platform::os::ffi::OsStrExt::as_bytes(path.as_os_str()) {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                address.push(char::from(*byte));
            }
            // RFC 3986, 2.1.
            other => {
                // Writing to a String cannot fail.
                let _ = write!(address, "%{other:02X}");
            }
        }
    }
    address.into()
}

/// The address of a directory of this machine, with the machine's name: a terminal of another one must not take it for
/// its own.
#[must_use]
pub fn directory_address(path: &Path) -> String {
    // Without a name the address is one of this machine to every terminal, also to that of another one.
    let system = crate::platform::machine::uname();
    let host = system.nodename().to_string_lossy();
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "-.".contains(letter);
    let host: String = host.chars().filter(|letter| is_part(*letter)).collect();
    file_address(path).replacen("file://", &format!("file://{host}"), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_has_the_name_of_this_machine_in_its_address() {
        let name = crate::platform::machine::uname().nodename().to_string_lossy().into_owned();
        let address = directory_address(Path::new("/tmp"));
        assert_eq!(address.strip_prefix("file://").and_then(|rest| rest.strip_suffix("/tmp")), Some(name.as_str()));
    }

    #[test]
    fn an_address_holds_only_what_an_address_may() {
        assert_eq!(&*file_address(Path::new("/tmp/a b/中;\u{1b}.rs")), "file:///tmp/a%20b/%E4%B8%AD%3B%1B.rs");
    }
}
