//! Recognises a message that was meant for the shell, so that axi can give a hint. It never changes where a line
//! goes.
//!
//! Many English words are names of programs: make, test, find, time, who, more. So a first word that is one proves
//! nothing; the rest must look like a command, and like nothing else. Detection that guesses is what people
//! complain of most (warpdotdev/warp#7355, #5057, #7825).

use std::path::Path;

use crate::platform::os::fs::PermissionsExt as _;

/// Programs whose names are no English words: with one of them a plain word may follow.
const NO_WORDS: &[&str] = &[
    "awk",
    "bash",
    "brew",
    "bun",
    "cargo",
    "cd",
    "chmod",
    "chown",
    "cmake",
    "cp",
    "curl",
    "deno",
    "df",
    "docker",
    "du",
    "egrep",
    "fish",
    "gcc",
    "gh",
    "git",
    "grep",
    "helm",
    "htop",
    "jq",
    "kubectl",
    "ll",
    "ls",
    "mkdir",
    "mv",
    "mvn",
    "nano",
    "npm",
    "npx",
    "nvim",
    "pip",
    "pip3",
    "pnpm",
    "ps",
    "pwd",
    "python3",
    "rg",
    "rm",
    "rmdir",
    "rsync",
    "rustc",
    "rustup",
    "scp",
    "sed",
    "ssh",
    "sudo",
    "systemctl",
    "tar",
    "tmux",
    "vim",
    "wget",
    "xargs",
    "yarn",
    "zsh",
];

/// Words that only sentences have.
const SENTENCE: &[&str] = &[
    "a", "about", "all", "an", "and", "are", "can", "does", "for", "from", "how", "i", "in", "is", "it", "me",
    "my", "of", "on", "or", "please", "should", "that", "the", "then", "this", "to", "was", "what", "when", "why",
    "with", "you",
];

/// A longer line is prose.
const WORDS: usize = 12;

/// Returns the program that a message would run, if it looks like a command and like nothing else.
///
/// `path` is PATH. Looks at the file system only when the words leave no doubt.
pub(super) fn command_of<'line>(line: &'line str, path: &str) -> Option<&'line str> {
    let program = looks_like_command(line)?;
    let built_in = matches!(program, "cd" | "ll");
    (built_in || is_executable(program, path)).then_some(program)
}

/// The part that needs no file system; pure.
fn looks_like_command(line: &str) -> Option<&str> {
    let line = line.trim();
    let last = line.rsplit(' ').next().unwrap_or_default();
    let ends_a_sentence = last.ends_with(['?', '!', '.', ':', ',']) && last.chars().any(char::is_alphanumeric);
    if line.contains('\n') || !line.is_ascii() || ends_a_sentence {
        return None;
    }
    let mut words = line.split_whitespace();
    let program = words.next()?;
    let rest: Vec<&str> = words.collect();
    let named =
        |word: &str| word.chars().all(|character| character.is_ascii_alphanumeric() || "-_.+".contains(character));
    if rest.len() >= WORDS || !named(program) || program.chars().any(|character| character.is_ascii_uppercase()) {
        return None;
    }
    if rest.iter().any(|word| SENTENCE.contains(&word.to_ascii_lowercase().as_str()) || word.contains('@')) {
        return None;
    }
    if NO_WORDS.contains(&program) {
        return Some(program);
    }
    // An option leaves no doubt; a path alone may stand in a sentence ("open src/main.rs").
    let option = |word: &&str| word.len() > 1 && word.starts_with('-') && word.chars().any(char::is_alphanumeric);
    rest.iter().any(option).then_some(program)
}

fn is_executable(program: &str, path: &str) -> bool {
    path.split(':').filter(|folder| Path::new(folder).is_absolute()).any(|folder| {
        std::fs::metadata(Path::new(folder).join(program))
            .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told() {
        for (line, program) in [
            ("ls", "ls"),
            ("ls -la src", "ls"),
            ("git status", "git"),
            ("git log --oneline -5", "git"),
            ("cargo test", "cargo"),
            ("cd ..", "cd"),
            ("make -j8", "make"),
            ("find . -name x", "find"),
            ("test -f Cargo.toml", "test"),
            ("docker compose up", "docker"),
        ] {
            assert_eq!(looks_like_command(line), Some(program), "{line}");
        }
    }

    #[test]
    fn english_is_not() {
        for line in [
            "make",
            "make it faster",
            "make tests",
            "test it",
            "find unused functions",
            "find src/main.rs",
            "time",
            "who wrote src/main.rs",
            "more",
            "git is slow here, why",
            "grep for the word in my files",
            "rm the old tests",
            "git status?",
            "Git status",
            "sort the list -- then print it",
            "run tests - quickly",
            "解释 git",
            "git 是什么",
            "look at @src/main.rs -v",
            "ls\nand more",
            "",
            "open src/main.rs",
            "yes",
        ] {
            assert_eq!(looks_like_command(line), None, "{line}");
        }
    }

    #[test]
    fn only_what_is_installed_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("git");
        std::fs::write(&program, "").unwrap();
        let path = format!("relative:{}", folder.path().display());
        assert_eq!(command_of("git status", &path), None);
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(command_of("git status", &path), Some("git"));
        assert_eq!(command_of("cd src", ""), Some("cd"));
    }
}
