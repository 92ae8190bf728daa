//! A look at a text that cannot be read for certain. It only ever forbids: what looks harmless is asked all the same.

/// Words that lose content, in a shell or in other languages.
const NAMES: &[&str] = &[
    "rm",
    "mv",
    "chmod",
    "chown",
    "rmdir",
    "unlink",
    "shred",
    "srm",
    "dd",
    "truncate",
    "wipefs",
    "fdisk",
    "sfdisk",
    "parted",
    "rmtree",
    "rmSync",
    "unlinkSync",
    "rmdirSync",
    "removeSync",
    "rimraf",
    "remove_dir_all",
    "remove_file",
    "rm_rf",
    "rm_r",
    "remove_entry",
    "removedirs",
    "deltree",
    "del",
    "-delete",
    "--delete",
    "--hard",
    "shutdown",
    "reboot",
    "poweroff",
    "halt",
    "killall",
    "killall5",
    "Remove-Item",
    "emptyDir",
    "emptyDirSync",
    "RemoveAll",
    "delete_recursively",
];

/// Programs that destroy, or that run what they are given.
const COMMANDS: &[&str] = &[
    "rimraf", "del-cli", "trash", "rm", "rmdir", "unlink", "shred", "srm", "dd", "truncate", "wipefs", "mv",
    "chmod", "chown", "chgrp", "find", "git", "sh", "bash", "zsh", "dash", "ksh", "ash", "eval", "exec", "xargs",
    "sudo", "doas", "env", "busybox", "rsync", "shutdown", "reboot", "poweroff", "halt", "killall", "killall5",
    "kill", "fdisk", "parted",
];

/// What a text looks like, where it looks destructive.
pub(crate) fn looks_destructive(text: &str) -> Option<String> {
    // Characters written as numbers are there to be overlooked.
    if text.contains("$'\\") {
        return Some("$'\\".to_owned());
    }
    // What is between quotes, behind a backslash or an empty expansion vanishes before a program sees it.
    let mut plain = String::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\'' | '"' | '\\' => {}
            '$' if matches!(characters.peek(), Some('@' | '*')) => drop(characters.next()),
            _ => plain.push(character),
        }
    }
    let ends = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-'));
    let found = |text: &str| {
        text.split(ends).find(|token| NAMES.contains(token) || token.starts_with("mkfs")).map(ToOwned::to_owned)
    };
    // One word each of many programs, and together a loss.
    let cleans = |text: &str| {
        let has = |wanted: &str| text.split(ends).any(|token| token == wanted);
        (has("git") && has("clean")).then(|| "git clean".to_owned())
    };
    found(&plain).or_else(|| found(text)).or_else(|| cleans(&plain))
}

/// Tells whether a word is the name of a program that destroys, or that runs what it is given.
pub(crate) fn is_destructive_name(word: &str) -> bool {
    let base = word.rsplit('/').next().unwrap_or_default();
    COMMANDS.contains(&base) || base.starts_with("mkfs")
}
