//! How each shell writes down settings, keys and texts. Pure.

use super::Key;

/// How a shell writes down keys and settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Zsh,
    Bash,
    Fish,
    Nu,
    PowerShell,
    Xonsh,
    Elvish,
}

impl Dialect {
    pub(super) fn assignment(self, name: &str, value: &str) -> String {
        match self {
            Self::Zsh => format!("_axi_{name}={value}\n"),
            Self::Bash => format!("__axi_{name}={value}\n"),
            Self::Fish => format!("set -g __axi_{name} {value}\n"),
            Self::Nu => format!("const __axi_{name} = {value}\n"),
            Self::PowerShell => format!("$global:__axi_{name} = {value}\n"),
            Self::Xonsh => format!("_axi_{name} = {value}\n"),
            Self::Elvish => format!("var __axi-{} = {value}\n", name.replace('_', "-")),
        }
    }

    /// Quotes a text so that the shell reads it as it is.
    pub(super) fn quoted(self, text: &str) -> String {
        match self {
            Self::Zsh | Self::Bash => format!("'{}'", text.replace('\'', r"'\''")),
            Self::Fish | Self::Xonsh => format!("'{}'", text.replace('\\', r"\\").replace('\'', r"\'")),
            Self::Nu if !text.contains('\'') => format!("'{text}'"),
            Self::Nu => {
                let mut fence = "#".to_owned();
                while text.contains(&format!("'{fence}")) {
                    fence.push('#');
                }
                format!("r{fence}'{text}'{fence}")
            }
            // It takes typographic quotes for quotes, too.
            Self::PowerShell => {
                let is_quote = |letter: char| matches!(letter, '\'' | '\u{2018}'..='\u{201b}');
                let double = |letter: char| std::iter::repeat_n(letter, 1 + usize::from(is_quote(letter)));
                format!("'{}'", text.chars().flat_map(double).collect::<String>())
            }
            Self::Elvish => format!("'{}'", text.replace('\'', "''")),
        }
    }

    /// A word of ours, which some shells need no quotes for.
    pub(super) fn word(self, text: &str) -> String {
        match self {
            Self::Zsh | Self::Bash | Self::Fish => text.to_owned(),
            Self::Nu | Self::PowerShell | Self::Xonsh | Self::Elvish => self.quoted(text),
        }
    }

    /// What stands for no key.
    pub(super) const fn nothing(self) -> &'static str {
        match self {
            Self::Fish => "",
            Self::Zsh | Self::Bash | Self::Nu | Self::PowerShell | Self::Xonsh | Self::Elvish => "''",
        }
    }

    /// A list of words as they are written in an assignment.
    pub(super) fn list(self, words: &[String]) -> String {
        let words = words.join(" ");
        match self {
            Self::Zsh | Self::Bash => format!("({words})"),
            Self::Fish => words,
            Self::Elvish => format!("[{words}]"),
            Self::Nu | Self::PowerShell | Self::Xonsh => self.quoted(&words),
        }
    }

    /// A key as this shell's binding command takes it, ready for an assignment; nothing where the shell knows no such
    /// key.
    pub(super) fn spelled(self, key: &Key) -> String {
        match self {
            // fish reads the escapes itself, outside quotes.
            Self::Fish => key.spell(r"\c", r"\e").concat(),
            Self::Zsh => self.quoted(&key.spell("^", "^[").concat()),
            Self::Bash => self.quoted(&key.spell(r"\C-", r"\e").concat()),
            Self::Nu => self.quoted(&alone(&key.spell("control char_", "alt char_"))),
            Self::PowerShell => self.quoted(&key.spell("Ctrl+", "Alt+").join(",")),
            Self::Xonsh => self.quoted(&key.spell("c-", "escape ").join(" ")),
            Self::Elvish => self.quoted(&alone(&key.spell("Ctrl-", "Alt-"))),
        }
    }

    /// A text without comments and empty lines, and without indentation where that means nothing: every shell that starts
    /// reads each character of it.
    pub(super) fn bare(self, text: &str) -> String {
        let lines = text.lines().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
        lines.flat_map(|line| [if self == Self::Xonsh { line } else { line.trim_start() }, "\n"]).collect()
    }
}

/// One stroke: these shells have no chords.
fn alone(strokes: &[String]) -> String {
    match strokes {
        [stroke] => stroke.clone(),
        _ => String::new(),
    }
}
