//! Git's own commands, which no alias can replace, and the position of the command among the words of a call.

use crate::approval::program::lists;

/// Tells whether a command is git's own; any other may be an alias, or a program on the path.
pub(crate) fn is_git_command(word: &str) -> bool {
    word.starts_with('-') || lists::GIT_COMMANDS.contains(word)
}

/// Returns the index of git's command among the words of a call.
pub(crate) fn git_command_at(words: &[Option<String>]) -> Option<usize> {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        match word.as_deref() {
            Some(flag) if lists::GIT_VALUED.contains(flag) => at += 2,
            Some(flag) if flag.starts_with('-') => at += 1,
            Some(_) | None => return Some(at),
        }
    }
    None
}
