//! The shells that hand their line to axi: one row a shell, and what `axi init` prints for it. A hook is files of
//! `shell-hooks/` without their comments: what a shell reads at its start, with settings in front, and what its keys
//! run, which it asks for when the first is pressed; behind the first, where the settings ask for it, the comma. A shell
//! that starts slowly in any case, or reads no text while it runs, has all of it in one file. Knows no words: they come in.

mod atuin;
mod dialect;
mod history;
mod hook_facts;
mod hook_place;
mod kept;
mod key;
mod snapshot;
mod typed;

use dialect::Dialect;
pub use history::Histories;
pub use hook_facts::{HookFacts, KeyState};
pub use hook_place::{HookPlace, hook_place};
pub use key::{Key, KeyError};
pub use snapshot::{Found, MOST as MOST_OF_SNAPSHOT, found};
pub use typed::Typed;

/// What the two halves of a hook know of each other: a shell that is running asks with the number of the half it has.
/// It changes with every change that the other half would not survive.
pub const HOOK_VERSION: &str = "4";

/// A shell with a hook.
#[derive(Debug)]
pub struct Shell {
    /// Its name, as people call it.
    pub name: &'static str,
    /// What its program is called where that is another name.
    pub program: Option<&'static str>,
    /// The line that loads the hook, for a start-up file: a file that axi keeps, so that a shell starts no process for
    /// it; the first time axi makes it. Where there is no axi, it does nothing.
    pub install: &'static str,
    /// The start-up file of an interactive shell, below the home.
    pub start_up: &'static str,
    /// What is read at the shell's start, without settings.
    hook: &'static str,
    /// What its keys run: to read it takes a shell longer than all the rest of the hook. Empty where the hook has it.
    keys: &'static str,
    /// Whether axi knows its grammar: what a line of it would do, and how to write one.
    pub is_read: bool,
    /// The arguments with which it only reads a text that follows, and with which it tells whether it knows the command
    /// of the name that follows: without the person's start-up files, and running nothing of them. Empty where it
    /// cannot.
    pub reads: &'static [&'static str],
    /// As `reads`.
    pub knows: &'static [&'static str],
    /// What hands over a line that begins with a comma, where the settings ask for that; empty where nothing can.
    comma: &'static str,
    dialect: Dialect,
    /// The keys that rewrite the line in place. fish waits for the second half of a chord for ever, so Ctrl+X alone
    /// (copy) would be lost there; its hook adds the chord where the person has set a limit.
    rewrite: &'static [&'static str],
}

/// Every shell with a hook.
pub static SHELLS: &[Shell] = &[
    Shell {
        name: "zsh",
        program: None,
        start_up: ".zshrc",
        install: r#"[ -r ~/.local/state/axi/hook.zsh ] && . ~/.local/state/axi/hook.zsh || eval "$(axi init zsh --keep 2>/dev/null)""#,
        hook: include_str!("../shell-hooks/axi.zsh"),
        keys: include_str!("../shell-hooks/keys.zsh"),
        is_read: true,
        reads: &["-f", "-n", "-c"],
        knows: &["-f", "-c", "whence -- \"$0\""],
        comma: include_str!("../shell-hooks/comma.zsh"),
        dialect: Dialect::Zsh,
        rewrite: &["alt-g", "ctrl-x ctrl-g"],
    },
    Shell {
        name: "bash",
        program: None,
        start_up: ".bashrc",
        install: r#"[ -r ~/.local/state/axi/hook.bash ] && . ~/.local/state/axi/hook.bash || eval "$(axi init bash --keep 2>/dev/null)""#,
        hook: include_str!("../shell-hooks/axi.bash"),
        keys: include_str!("../shell-hooks/keys.bash"),
        is_read: true,
        reads: &["--norc", "-n", "-O", "extglob", "-c"],
        knows: &["--norc", "-c", "type -t -- \"$0\""],
        comma: include_str!("../shell-hooks/comma.bash"),
        dialect: Dialect::Bash,
        rewrite: &["alt-g", "ctrl-x ctrl-g"],
    },
    Shell {
        name: "fish",
        program: None,
        start_up: ".config/fish/config.fish",
        install: "if test -r ~/.local/state/axi/hook.fish; source ~/.local/state/axi/hook.fish; else if type -q axi; axi init fish --keep | source; end",
        hook: include_str!("../shell-hooks/axi.fish"),
        keys: include_str!("../shell-hooks/keys.fish"),
        is_read: true,
        reads: &["--no-config", "--no-execute", "-c"],
        knows: &["--no-config", "-c", "type -q -- $argv[1]"],
        comma: include_str!("../shell-hooks/comma.fish"),
        dialect: Dialect::Fish,
        rewrite: &["alt-g"],
    },
    Shell {
        name: "nu",
        program: None,
        start_up: ".config/nushell/autoload/axi.nu",
        install: "mkdir $nu.user-autoload-dirs.0; axi init nu | save --force ($nu.user-autoload-dirs.0 | path join axi.nu)",
        hook: include_str!("../shell-hooks/axi.nu"),
        keys: "",
        is_read: false,
        reads: &[],
        knows: &[],
        comma: "",
        dialect: Dialect::Nu,
        rewrite: &[],
    },
    Shell {
        name: "powershell",
        program: Some("pwsh"),
        start_up: ".config/powershell/Microsoft.PowerShell_profile.ps1",
        install: "if (Get-Command axi -ErrorAction Ignore) { axi init powershell | Out-String | Invoke-Expression }",
        hook: include_str!("../shell-hooks/axi.powershell"),
        keys: "",
        is_read: false,
        reads: &[],
        knows: &[],
        comma: "",
        dialect: Dialect::PowerShell,
        rewrite: &[],
    },
    Shell {
        name: "xonsh",
        program: None,
        start_up: ".xonshrc",
        install: "__import__('shutil').which('axi') and exec($(axi init xonsh))",
        hook: include_str!("../shell-hooks/axi.xonsh"),
        keys: "",
        is_read: false,
        reads: &[],
        knows: &[],
        comma: "",
        dialect: Dialect::Xonsh,
        rewrite: &[],
    },
    Shell {
        name: "elvish",
        program: None,
        start_up: ".config/elvish/rc.elv",
        install: "if (has-external axi) { eval (axi init elvish | slurp) }",
        hook: include_str!("../shell-hooks/axi.elvish"),
        keys: "",
        is_read: false,
        reads: &[],
        knows: &[],
        comma: "",
        dialect: Dialect::Elvish,
        rewrite: &[],
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
    /// The words that the hook says to people, by its names for them; in the hook itself only where its keys are, too.
    pub words: &'a [(&'a str, String)],
}

/// Finds a shell by its name, or by that of its program.
#[must_use]
pub fn find(name: &str) -> Option<&'static Shell> {
    SHELLS.iter().find(|shell| shell.name == name || shell.program == Some(name))
}

/// Shells without a hook.
const WITHOUT: &[&str] = &["sh", "dash", "ash", "ksh", "mksh", "tcsh", "csh", "osh"];

/// The shell that a process is, as systems name it: `-zsh`, `/bin/bash`.
#[must_use]
pub fn called(process: &str) -> Option<&str> {
    let name = process.rsplit('/').next().unwrap_or_default().trim_start_matches('-');
    (find(name).is_some() || WITHOUT.contains(&name)).then_some(name)
}

impl Shell {
    /// Makes the text that the shell reads at its start: settings, then the hook.
    #[must_use]
    pub fn hook(&self, settings: &Settings<'_>) -> String {
        let mut text = String::new();
        let mut set = |name: &str, value: &str| text.push_str(&self.dialect.assignment(name, value));
        set("program", &self.dialect.quoted(settings.program));
        let mut rewrite = Vec::new();
        if settings.no_bind {
            set("key", self.dialect.nothing());
            set("key_name", &self.dialect.word("-"));
        } else {
            let key = settings.key.clone().unwrap_or_else(Key::stock);
            set("key", &self.dialect.spelled(&key));
            set("key_name", &self.dialect.quoted(&key.name()));
            let others = self.rewrite.iter().filter_map(|name| Key::parse(name).ok());
            rewrite.extend(others.filter(|other| *other != key).map(|key| self.dialect.spelled(&key)));
        }
        if !self.rewrite.is_empty() {
            set("rewrite_keys", &self.dialect.list(&rewrite));
        }
        // A key that the person names is the person's to give, whoever has it now.
        set("chosen", &if settings.key.is_some() { self.dialect.word("1") } else { "''".to_owned() });
        if self.keys.is_empty() {
            text.push_str(&self.said(settings.words));
        }
        for line in self.hook.lines().take_while(|line| line.starts_with("# ")) {
            text.push_str(line);
            text.push('\n');
        }
        text.push_str(&self.dialect.bare(self.hook));
        if settings.comma {
            text.push_str(&self.dialect.bare(self.comma));
        }
        text
    }

    /// Makes the text of what the keys run. The words are what it says to people: name and text, with `{key}`,
    /// `{owner}` and `{keys}` for the hook to fill.
    #[must_use]
    pub fn keys(&self, words: &[(&str, String)]) -> String {
        let mut text = self.said(words);
        text.push_str(&self.dialect.bare(self.keys));
        text
    }

    fn said(&self, words: &[(&str, String)]) -> String {
        let said = |(name, text): &(&str, String)| {
            self.dialect.assignment(&format!("words_{name}"), &self.dialect.quoted(text))
        };
        words.iter().map(said).collect()
    }
}

#[cfg(test)]
#[path = "shell_tests.rs"]
mod tests;
