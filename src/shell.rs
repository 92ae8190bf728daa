//! The shells that hand their line to axi: one row a shell, and what `axi init` prints for it. A hook is files of
//! `shell-hooks/` without their comments: what a shell reads at its start, with settings in front, and what its keys
//! run, which it asks for when the first is pressed; behind the first, where the settings ask for it, the comma. Knows no words: they come in.

mod history;
mod hook_facts;
mod hook_place;
mod kept;
mod key;

pub use history::{Typed, typed};
pub use hook_facts::{HookFacts, KeyState};
pub use hook_place::{HookPlace, hook_place};
pub use key::{Key, KeyError};

/// What the two halves of a hook know of each other: a shell that is running asks with the number of the half it has.
/// It changes with every change that the other half would not survive.
pub const HOOK_VERSION: &str = "4";

/// A shell with a hook.
#[derive(Debug)]
pub struct Shell {
    /// Its name, as people call it.
    pub name: &'static str,
    /// The line that loads the hook, for a start-up file: a file that axi keeps, so that a shell starts no process for
    /// it; the first time axi makes it. Where there is no axi, it does nothing.
    pub install: &'static str,
    /// The start-up file of an interactive shell, below the home.
    pub start_up: &'static str,
    /// What is read at the shell's start, without settings.
    hook: &'static str,
    /// What its keys run: to read it takes a shell longer than all the rest of the hook.
    keys: &'static str,
    /// The arguments with which it only reads a text that follows, and with which it tells whether it knows the command
    /// of the name that follows: without the person's start-up files, and running nothing of them.
    pub reads: &'static [&'static str],
    /// As `reads`.
    pub knows: &'static [&'static str],
    /// What hands over a line that begins with a comma, where the settings ask for that.
    comma: &'static str,
    dialect: Dialect,
    /// The keys that rewrite the line in place. fish waits for the second half of a chord for ever, so Ctrl+X alone
    /// (copy) would be lost there; its hook adds the chord where the person has set a limit.
    rewrite: &'static [&'static str],
}

/// How a shell writes down keys and settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Zsh,
    Bash,
    Fish,
}

/// Every shell with a hook.
pub static SHELLS: &[Shell] = &[
    Shell {
        name: "zsh",
        start_up: ".zshrc",
        install: r#"[ -r ~/.local/state/axi/hook.zsh ] && . ~/.local/state/axi/hook.zsh || eval "$(axi init zsh --keep 2>/dev/null)""#,
        hook: include_str!("../shell-hooks/axi.zsh"),
        keys: include_str!("../shell-hooks/keys.zsh"),
        reads: &["-f", "-n", "-c"],
        knows: &["-f", "-c", "whence -- \"$0\""],
        comma: include_str!("../shell-hooks/comma.zsh"),
        dialect: Dialect::Zsh,
        rewrite: &["alt-g", "ctrl-x ctrl-g"],
    },
    Shell {
        name: "bash",
        start_up: ".bashrc",
        install: r#"[ -r ~/.local/state/axi/hook.bash ] && . ~/.local/state/axi/hook.bash || eval "$(axi init bash --keep 2>/dev/null)""#,
        hook: include_str!("../shell-hooks/axi.bash"),
        keys: include_str!("../shell-hooks/keys.bash"),
        reads: &["--norc", "-n", "-O", "extglob", "-c"],
        knows: &["--norc", "-c", "type -t -- \"$0\""],
        comma: include_str!("../shell-hooks/comma.bash"),
        dialect: Dialect::Bash,
        rewrite: &["alt-g", "ctrl-x ctrl-g"],
    },
    Shell {
        name: "fish",
        start_up: ".config/fish/config.fish",
        install: "if test -r ~/.local/state/axi/hook.fish; source ~/.local/state/axi/hook.fish; else if type -q axi; axi init fish --keep | source; end",
        hook: include_str!("../shell-hooks/axi.fish"),
        keys: include_str!("../shell-hooks/keys.fish"),
        reads: &["--no-config", "--no-execute", "-c"],
        knows: &["--no-config", "-c", "type -q -- $argv[1]"],
        comma: include_str!("../shell-hooks/comma.fish"),
        dialect: Dialect::Fish,
        rewrite: &["alt-g"],
    },
];

/// What a hook is printed with.
#[derive(Debug, Clone, Default)]
pub struct Settings<'a> {
    /// The word that starts axi: `axi`, or the path of the program.
    pub program: &'a str,
    /// The key, when the person chose one.
    pub key: Option<Key>,
    /// Whether the hook leaves the keys alone.
    pub no_bind: bool,
    /// Whether a line that begins with a comma is handed over.
    pub comma: bool,
}

/// Finds a shell by its name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Shell> {
    SHELLS.iter().find(|shell| shell.name == name)
}

impl Shell {
    /// Makes the text that the shell reads at its start: settings, then the hook.
    #[must_use]
    pub fn hook(&self, settings: &Settings<'_>) -> String {
        let mut text = String::new();
        let mut set = |name: &str, value: &str| text.push_str(&self.dialect.assignment(name, value));
        set("program", &self.dialect.quoted(settings.program));
        if settings.no_bind {
            set("key", if self.dialect == Dialect::Fish { "" } else { "''" });
            set("key_name", "-");
            set("rewrite_keys", &self.dialect.list(&[]));
        } else {
            let key = settings.key.clone().unwrap_or_else(Key::stock);
            set("key", &self.dialect.spelled(&key));
            set("key_name", &self.dialect.quoted(&key.name()));
            let rewrite = self.rewrite.iter().filter_map(|name| Key::parse(name).ok());
            let keys: Vec<String> =
                rewrite.filter(|other| *other != key).map(|key| self.dialect.spelled(&key)).collect();
            set("rewrite_keys", &self.dialect.list(&keys));
        }
        // A key that the person names is the person's to give, whoever has it now.
        set("chosen", if settings.key.is_some() { "1" } else { "''" });
        for line in self.hook.lines().take_while(|line| line.starts_with("# ")) {
            text.push_str(line);
            text.push('\n');
        }
        text.push_str(&bare(self.hook));
        if settings.comma {
            text.push_str(&bare(self.comma));
        }
        text
    }

    /// Makes the text of what the keys run. The words are what it says to people: name and text, with `{key}`,
    /// `{owner}` and `{keys}` for the hook to fill.
    #[must_use]
    pub fn keys(&self, words: &[(&str, String)]) -> String {
        let words = words
            .iter()
            .map(|(name, text)| self.dialect.assignment(&format!("words_{name}"), &self.dialect.quoted(text)));
        words.chain([bare(self.keys)]).collect()
    }
}

/// A text without comments, empty lines and indentation: every shell that starts reads each character of it.
fn bare(text: &str) -> String {
    let lines = text.lines().map(str::trim_start).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.flat_map(|line| [line, "\n"]).collect()
}

impl Dialect {
    fn assignment(self, name: &str, value: &str) -> String {
        match self {
            Self::Zsh => format!("_axi_{name}={value}\n"),
            Self::Bash => format!("__axi_{name}={value}\n"),
            Self::Fish => format!("set -g __axi_{name} {value}\n"),
        }
    }

    /// Quotes a text so that the shell reads it as it is.
    fn quoted(self, text: &str) -> String {
        match self {
            Self::Zsh | Self::Bash => format!("'{}'", text.replace('\'', r"'\''")),
            Self::Fish => format!("'{}'", text.replace('\\', r"\\").replace('\'', r"\'")),
        }
    }

    /// A list of words as they are written in an assignment.
    fn list(self, words: &[String]) -> String {
        let words = words.join(" ");
        match self {
            Self::Zsh | Self::Bash => format!("({words})"),
            Self::Fish => words,
        }
    }

    /// A key as this shell's binding command takes it, ready for an assignment.
    fn spelled(self, key: &Key) -> String {
        match self {
            // fish reads the escapes itself, outside quotes.
            Self::Fish => self.raw(key),
            Self::Zsh | Self::Bash => self.quoted(&self.raw(key)),
        }
    }

    fn raw(self, key: &Key) -> String {
        let (control, alt) = match self {
            Self::Zsh => ("^", "^["),
            Self::Bash => (r"\C-", r"\e"),
            Self::Fish => (r"\c", r"\e"),
        };
        key.spell(control, alt)
    }
}

#[cfg(test)]
#[path = "shell_tests.rs"]
mod tests;
