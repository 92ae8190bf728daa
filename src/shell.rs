//! The shells that hand their line to axi: one row a shell, and what `axi init` prints for it. A hook is two files of
//! `shell-hooks/` without their comments, the second as a text, with settings in front. Knows no words: they come in.

mod hook_facts;
mod key;

pub use hook_facts::{HookFacts, KeyState};
pub use key::{Key, KeyError};

/// A shell with a hook.
#[derive(Debug)]
pub struct Shell {
    /// Its name, as people call it.
    pub name: &'static str,
    /// The line that loads the hook, for a start-up file.
    pub install: &'static str,
    /// What is read at the shell's start, without settings.
    hook: &'static str,
    /// What its keys run. The shell keeps it as a text until one of them is pressed: reading it takes longer than
    /// all the rest of the hook.
    keys: &'static str,
    dialect: Dialect,
    /// The keys that rewrite the line in place. fish waits for the second half of a chord for ever, so Ctrl+X alone
    /// (copy) would be lost there.
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
        install: r#"eval "$(axi init zsh)""#,
        hook: include_str!("../shell-hooks/axi.zsh"),
        keys: include_str!("../shell-hooks/keys.zsh"),
        dialect: Dialect::Zsh,
        rewrite: &["alt-g", "ctrl-x ctrl-g"],
    },
    Shell {
        name: "bash",
        install: r#"eval "$(axi init bash)""#,
        hook: include_str!("../shell-hooks/axi.bash"),
        keys: include_str!("../shell-hooks/keys.bash"),
        dialect: Dialect::Bash,
        rewrite: &["alt-g", "ctrl-x ctrl-g"],
    },
    Shell {
        name: "fish",
        install: "axi init fish | source",
        hook: include_str!("../shell-hooks/axi.fish"),
        keys: include_str!("../shell-hooks/keys.fish"),
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
    /// What the hook says to people: name and text, with `{owner}` and `{keys}` for the hook to fill.
    pub words: Vec<(&'static str, String)>,
}

/// Finds a shell by its name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Shell> {
    SHELLS.iter().find(|shell| shell.name == name)
}

impl Shell {
    /// Makes the text that the shell reads: settings, what the keys run as a text, then the hook.
    #[must_use]
    pub fn hook(&self, settings: &Settings<'_>) -> String {
        let mut text = String::new();
        let mut set = |name: &str, value: &str| text.push_str(&self.dialect.assignment(name, value));
        set("program", &self.dialect.quoted(settings.program));
        if settings.no_bind {
            set("key", "''");
            set("key_name", "''");
            set("rewrite_keys", "''");
        } else {
            let key = settings.key.clone().unwrap_or_else(Key::stock);
            set("key", &self.dialect.spelled(&key));
            set("key_name", &self.dialect.quoted(&key.name()));
            let rewrite = self.rewrite.iter().filter_map(|name| Key::parse(name).ok());
            let keys: Vec<String> =
                rewrite.filter(|other| *other != key).map(|key| self.dialect.raw(&key)).collect();
            let keys = keys.join(" ");
            // A list of fish is words without quotes.
            set("rewrite_keys", &if self.dialect == Dialect::Fish { keys } else { self.dialect.quoted(&keys) });
            // A key that the person names is the person's to give, whoever has it now.
            set("chosen", if settings.key.is_some() { "1" } else { "''" });
        }
        for (name, words) in &settings.words {
            set(&format!("words_{name}"), &self.dialect.quoted(words));
        }
        text.push_str(&self.dialect.long_assignment("keys", &bare(self.keys)));
        for line in self.hook.lines().take_while(|line| line.starts_with("# ")) {
            text.push_str(line);
            text.push('\n');
        }
        text.push_str(&bare(self.hook));
        text
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

    /// An assignment of a text of many lines. bash reads a quoted one letter by letter, a here-document by the line.
    fn long_assignment(self, name: &str, text: &str) -> String {
        match self {
            Self::Zsh | Self::Fish => self.assignment(name, &self.quoted(text)),
            Self::Bash => {
                format!("__axi_read_{name}() {{ IFS= read -rd '' __axi_{name} || :; }} <<'AXI'\n{text}AXI\n")
            }
        }
    }

    /// Quotes a text so that the shell reads it as it is.
    fn quoted(self, text: &str) -> String {
        match self {
            Self::Zsh | Self::Bash => format!("'{}'", text.replace('\'', r"'\''")),
            Self::Fish => format!("'{}'", text.replace('\\', r"\\").replace('\'', r"\'")),
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
