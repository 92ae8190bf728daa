//! Opens an address in the person's browser, once they agreed.

use std::process::{Command, Stdio};

use super::process::Variables;
use crate::platform::OPENERS;

/// Starts a browser; false where none could be started. `kept` are variables that it does not get.
pub(super) fn open(address: &str, variables: Variables, kept: impl Iterator<Item = String>) -> bool {
    let own = variables("BROWSER").unwrap_or_default();
    let kept: Vec<String> = kept.collect();
    let own = own.split(':').filter(|line| !line.trim().is_empty());
    own.chain(OPENERS.iter().copied()).any(|line| {
        let Some((program, arguments)) = words(line, address) else { return false };
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        for name in &kept {
            command.env_remove(name);
        }
        // It stays open when axi has ended: nobody waits for it.
        command.spawn().is_ok()
    })
}

/// A line of `BROWSER`: a program with arguments, `%s` for the address, which else stands at the end.
fn words(line: &str, address: &str) -> Option<(String, Vec<String>)> {
    let mut words = shlex::split(line)?.into_iter();
    let program = words.next()?;
    let mut arguments: Vec<String> = words.map(|word| word.replace("%s", address)).collect();
    if !line.contains("%s") {
        arguments.push(address.to_owned());
    }
    Some((program, arguments))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_one_argument_wherever_it_stands() {
        let words = |line: &str| words(line, "https://a/?b=c&d='e'");
        let browser = |arguments: &[&str]| {
            Some(("b".to_owned(), arguments.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()))
        };
        assert_eq!(words("b"), browser(&["https://a/?b=c&d='e'"]));
        assert_eq!(words("b --new '%s' x"), browser(&["--new", "https://a/?b=c&d='e'", "x"]));
        assert_eq!(words("'"), None);
    }
}
