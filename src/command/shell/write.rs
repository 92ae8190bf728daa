//! A change in the grammar of a shell.

use std::path::Path;

use super::change::Change;
use crate::shell;
use crate::tool::Value;

/// The grammar of a shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grammar {
    Bash,
    Zsh,
    Fish,
}

/// Options of `set -o` that bash and zsh have by the same name and meaning.
const SHARED: &[&str] = &[
    "allexport",
    "errexit",
    "noclobber",
    "noexec",
    "noglob",
    "notify",
    "nounset",
    "pipefail",
    "verbose",
    "xtrace",
];

/// Those of bash alone.
const BASH_SET: &[&str] =
    &["braceexpand", "errtrace", "functrace", "hashall", "histexpand", "keyword", "physical", "posix"];

/// Options of bash's `shopt`, and those of zsh that do the same.
const IN_ZSH: &[(&str, &str)] = &[
    ("autocd", "auto_cd"),
    ("dotglob", "glob_dots"),
    ("extglob", "ksh_glob"),
    ("nullglob", "null_glob"),
    ("cdable_vars", "cdable_vars"),
];

impl Grammar {
    /// That of a shell; a shell nobody knows is taken for one that reads what bash reads. `None` of one that is known to
    /// read something else.
    pub(super) fn of(shell: &str) -> Option<Self> {
        match shell {
            "zsh" => Some(Self::Zsh),
            "fish" => Some(Self::Fish),
            _ if shell::find(shell).is_some_and(|shell| !shell.is_read) => None,
            _ => Some(Self::Bash),
        }
    }

    /// Tells whether a script of bash can be read into it.
    pub(super) const fn reads_bash(self) -> bool {
        matches!(self, Self::Bash | Self::Zsh)
    }

    /// Writes a change; `None` where this shell has no words for it. `from` is where the shell is, `to` where the line
    /// has led it by then.
    pub(super) fn write(self, change: &Change, from: &Path, to: &Path) -> Option<String> {
        Some(match change {
            Change::Directory(path) => format!("cd {}", self.path(path, from)?),
            Change::Source(path) => format!("source {}", self.path(path, to)?),
            Change::Environment(path) => {
                let script = if self == Self::Fish { "bin/activate.fish" } else { "bin/activate" };
                let script = path.join(script);
                script.is_file().then_some(())?;
                format!("source {}", self.path(&script, to)?)
            }
            Change::NoEnvironment => "deactivate".to_owned(),
            Change::Direnv => match self {
                Self::Bash => "eval \"$(direnv export bash)\"".to_owned(),
                Self::Zsh => "eval \"$(direnv export zsh)\"".to_owned(),
                Self::Fish => "direnv export fish | source".to_owned(),
            },
            Change::Set { name, value, around } => self.set(name, value, around.as_ref())?,
            Change::Unset(name) if self == Self::Fish => format!("set -e {name}"),
            Change::Unset(name) => format!("unset {name}"),
            Change::Alias(name, Some(value)) if self == Self::Fish => {
                format!("alias {} {}", self.quoted(name), self.quoted(value))
            }
            Change::Alias(name, Some(value)) => format!("alias {name}={}", self.quoted(value)),
            Change::Alias(name, None) if self == Self::Fish => format!("functions -e {}", self.quoted(name)),
            Change::Alias(name, None) => format!("unalias {name}"),
            Change::Function(name, Some(text)) if self == Self::Fish => {
                // It stays a function of bash: nobody translates one.
                let script = self.quoted(&format!("{}; {name} \"$@\"", on_one_row(text)));
                format!("function {name}; bash -c {script} {name} $argv; end")
            }
            Change::Function(_, Some(text)) => on_one_row(text),
            Change::Function(name, None) if self == Self::Fish => format!("functions -e {}", self.quoted(name)),
            Change::Function(name, None) => format!("unset -f {name}"),
            Change::Option(name, on) => self.option(name, *on)?,
        })
    }

    fn set(self, name: &str, value: &Value, around: Option<&(String, String)>) -> Option<String> {
        let list = |values: &[String]| values.iter().map(|value| self.quoted(value)).collect::<Vec<_>>().join(" ");
        Some(match (self, value) {
            (Self::Fish, Value::Exported(_)) if name == "PATH" && around.is_some() => {
                let (head, tail) = around?;
                let words = |text: &str| {
                    let words = text.split(':').filter(|word| !word.is_empty());
                    words.map(|word| self.quoted(word)).collect::<Vec<_>>()
                };
                let all = words(head).into_iter().chain(["$PATH".to_owned()]).chain(words(tail));
                format!("set -gx PATH {}", all.collect::<Vec<_>>().join(" "))
            }
            (Self::Fish, Value::Exported(value)) => format!("set -gx {name} {}", self.quoted(value)),
            (Self::Fish, Value::Plain(value)) => format!("set -g {name} {}", self.quoted(value)),
            (Self::Fish, Value::List(values)) => format!("set -g {name} {}", list(values)).trim_end().to_owned(),
            (Self::Fish, Value::Map(_)) => return None,
            (Self::Bash | Self::Zsh, Value::Exported(value)) => {
                let value = match around {
                    Some((head, tail)) if !(head.is_empty() && tail.is_empty()) => {
                        let part = |text: &str| if text.is_empty() { String::new() } else { self.quoted(text) };
                        format!("{}\"${name}\"{}", part(head), part(tail))
                    }
                    _ => self.quoted(value),
                };
                format!("export {name}={value}")
            }
            (Self::Bash | Self::Zsh, Value::Plain(value)) => format!("{name}={}", self.quoted(value)),
            (Self::Bash | Self::Zsh, Value::List(values)) => format!("{name}=({})", list(values)),
            (Self::Bash, Value::Map(pairs)) => {
                let pairs =
                    pairs.iter().map(|(key, value)| format!("[{}]={}", self.quoted(key), self.quoted(value)));
                format!("declare -A {name}=({})", pairs.collect::<Vec<_>>().join(" "))
            }
            (Self::Zsh, Value::Map(pairs)) => {
                let pairs = pairs.iter().map(|(key, value)| format!("{} {}", self.quoted(key), self.quoted(value)));
                format!("typeset -gA {name}=({})", pairs.collect::<Vec<_>>().join(" "))
            }
        })
    }

    fn option(self, name: &str, on: bool) -> Option<String> {
        let set = if on { "set -o" } else { "set +o" };
        match self {
            Self::Bash if SHARED.contains(&name) || BASH_SET.contains(&name) => Some(format!("{set} {name}")),
            Self::Bash => Some(format!("shopt {} {name}", if on { "-s" } else { "-u" })),
            Self::Zsh if SHARED.contains(&name) => Some(format!("{set} {name}")),
            Self::Zsh => {
                let (_, own) = IN_ZSH.iter().find(|(other, _)| *other == name)?;
                Some(format!("{} {own}", if on { "setopt" } else { "unsetopt" }))
            }
            Self::Fish => None,
        }
    }

    /// A path, from a directory where it is below that.
    fn path(self, path: &Path, from: &Path) -> Option<String> {
        let below = path.strip_prefix(from).ok().filter(|below| !below.as_os_str().is_empty());
        let shown = below.unwrap_or(path).to_str()?;
        // A dash would begin an option, and CDPATH knows other places.
        let is_odd = below.is_some() && (shown.starts_with('-') || std::env::var_os("CDPATH").is_some());
        Some(self.quoted(if is_odd { path.to_str()? } else { shown }))
    }

    /// A word that the shell reads as it is.
    fn quoted(self, text: &str) -> String {
        let is_bare = |letter: char| letter.is_ascii_alphanumeric() || "_./:@%+,-".contains(letter);
        if !text.is_empty() && text.chars().all(is_bare) {
            return text.to_owned();
        }
        let has_control = text.chars().any(char::is_control);
        match self {
            Self::Fish => {
                let mut quoted = String::from("'");
                for letter in text.chars() {
                    match letter {
                        '\'' | '\\' => quoted.extend(['\\', letter]),
                        // fish reads escapes outside quotes only.
                        letter if letter.is_control() => quoted.extend(["'", &escape(letter), "'"]),
                        letter => quoted.push(letter),
                    }
                }
                quoted.push('\'');
                quoted
            }
            Self::Bash | Self::Zsh if has_control => {
                let mut quoted = String::from("$'");
                for letter in text.chars() {
                    match letter {
                        '\'' | '\\' => quoted.extend(['\\', letter]),
                        letter if letter.is_control() => quoted.push_str(&escape(letter)),
                        letter => quoted.push(letter),
                    }
                }
                quoted.push('\'');
                quoted
            }
            Self::Bash | Self::Zsh => format!("'{}'", text.replace('\'', r"'\''")),
        }
    }
}

/// A control character as shells write it.
fn escape(letter: char) -> String {
    match u32::from(letter) {
        0x0a => "\\n".to_owned(),
        0x09 => "\\t".to_owned(),
        code @ 0..=0x7f => format!("\\x{code:02x}"),
        code => format!("\\u{code:04x}"),
    }
}

/// A function as bash prints it, on one row where no row ends inside quotes or a here-document.
fn on_one_row(text: &str) -> String {
    let is_whole = |row: &str| shlex::split(row).is_some() && !row.contains("<<");
    if !text.lines().all(is_whole) {
        return text.trim_end().to_owned();
    }
    let mut row = String::new();
    for part in text.lines().map(str::trim) {
        // bash ends what stands before a bracket by the row alone.
        if part.starts_with('}') && !row.ends_with([';', '{', '&']) {
            row.push(';');
        }
        if !row.is_empty() {
            row.push(' ');
        }
        row.push_str(part);
    }
    row
}
