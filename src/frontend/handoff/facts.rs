//! What a shell's hook reports: the person's line, the command before it, the shell itself. Pure.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::frontend::words;
use crate::locale::{Locale, word};
use crate::terminal::sanitize_line;

/// The longest command that is shown in the context line, in characters.
const SHOWN: usize = 60;

/// Exit codes that nobody asks about: the command was ended by Ctrl+C, by a reader that had enough, or stopped by
/// Ctrl+Z (128 + the numbers of SIGINT, SIGPIPE, SIGTSTP on Linux and on macOS).
const ON_PURPOSE: &[i32] = &[130, 141, 146, 148];

/// What the hook told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// The person's line, byte for byte; may be empty.
    pub line: OsString,
    /// The command before it.
    pub last: Option<LastCommand>,
    /// The shell's name, such as `zsh`.
    pub shell: String,
    /// Its version.
    pub version: String,
    /// Its aliases, as it prints them.
    pub aliases: String,
    /// The functions that the line or the last command name, as it prints them.
    pub functions: String,
    /// The shell's `$?` at the prompt, which a hand-off leaves as it was; `None` if an older hook does not report
    /// it.
    pub status: Option<u8>,
    /// Where the reply goes.
    pub reply: Option<PathBuf>,
    /// Whether the hook shows what stands behind a rewritten line; an older one would put it on the line.
    pub shows_unsent: bool,
}

/// The command before the hand-off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastCommand {
    /// As it was entered; may have several lines.
    pub command: String,
    /// Its exit code.
    pub status: i32,
    /// How long it took, in ms; 0 when not known.
    pub milliseconds: u64,
}

impl LastCommand {
    /// Tells whether it failed, and not because somebody stopped it.
    #[must_use]
    pub fn failed(&self) -> bool {
        self.status != 0 && !ON_PURPOSE.contains(&self.status)
    }

    /// Tells whether the shell found no such command: it printed that and nothing else.
    pub(super) const fn is_missing(&self) -> bool {
        self.status == 127
    }
}

impl Facts {
    /// Reads the variables of a hand-off.
    #[must_use]
    pub fn read(variable: &dyn Fn(&str) -> Option<OsString>) -> Self {
        let text = |name: &str| variable(name).map(|text| text.to_string_lossy().into_owned()).unwrap_or_default();
        let command = text("AXI_LAST_COMMAND");
        let last = (!command.trim().is_empty()).then(|| LastCommand {
            command: command.trim().to_owned(),
            status: text("AXI_LAST_STATUS").trim().parse().unwrap_or(0),
            milliseconds: milliseconds(&text("AXI_LAST_SECONDS")),
        });
        Self {
            line: variable("AXI_LINE").unwrap_or_default(),
            last,
            shell: text("AXI_SHELL"),
            version: text("AXI_SHELL_VERSION"),
            aliases: text("AXI_ALIASES"),
            functions: text("AXI_FUNCTIONS"),
            status: text("AXI_STATUS").parse().ok(),
            reply: variable("AXI_REPLY").map(PathBuf::from).filter(|path| path.is_absolute()),
            shows_unsent: variable("AXI_UNSENT").is_some(),
        }
    }

    /// The line as text, trimmed, without the comma that hands it over.
    #[must_use]
    pub fn message(&self) -> String {
        let line = self.line.to_string_lossy();
        line.strip_prefix(", ").unwrap_or(&line).trim().to_owned()
    }

    /// The command before, if it failed.
    #[must_use]
    pub fn failed(&self) -> Option<&LastCommand> {
        self.last.as_ref().filter(|last| last.failed())
    }

    /// Describes for the person what is sent along: `with: make → exit 2, 14 s + 1 definition`. `None` if nothing
    /// is.
    #[must_use]
    pub fn context_line(&self, locale: &Locale) -> Option<String> {
        let definitions = match self.aliases_used().len() + self.function_count() {
            0 => None,
            count => Some(locale.count(word::handoff::DEFINITIONS, count as u64)),
        };
        let Some(last) = &self.last else {
            return definitions.map(|what| locale.with(word::handoff::WithOnly { what: &what }));
        };
        let command = sanitize_line(last.command.lines().next().unwrap_or_default()).into_owned();
        let mut shown: String = command.chars().take(SHOWN).collect();
        if shown.len() < command.len() || last.command.lines().nth(1).is_some() {
            shown.push('…');
        }
        let mut facts = vec![locale.with(word::title::Exit { code: &last.status.to_string() })];
        if last.milliseconds >= 1000 {
            facts.push(words::whole_seconds(last.milliseconds / 1000));
        }
        let mut facts = facts.join(locale.text(word::handoff::AND));
        if let Some(what) = definitions {
            facts.push_str(&locale.with(word::handoff::Also { what: &what }));
        }
        Some(locale.with(word::handoff::With { command: &shown, facts: &facts }))
    }

    /// Describes for the model what is sent along, its shell too if that is to be `named`; `clean` removes secrets.
    #[must_use]
    pub fn block(&self, named: bool, clean: &dyn Fn(&str) -> String) -> String {
        let mut lines = Vec::new();
        if named && !self.shell.is_empty() {
            lines.push(format!("shell: {} {}", self.shell, self.version).trim_end().to_owned());
        }
        if let Some(last) = &self.last {
            lines.push(format!("last command: {}", clean(&last.command)));
            let spent = match last.milliseconds {
                0..1000 => String::new(),
                spent => format!(" after {} s", spent / 1000),
            };
            lines.push(format!("its exit code: {}{spent}", last.status));
        }
        let aliases = self.aliases_used();
        if !aliases.is_empty() {
            lines.push(format!("aliases in it:\n{}", clean(&aliases.join("\n"))));
        }
        if !self.functions.trim().is_empty() {
            lines.push(format!("functions in it:\n{}", clean(self.functions.trim())));
        }
        if lines.is_empty() {
            return String::new();
        }
        // Nothing in it can end it.
        let inside = lines.join("\n").replace("</shell>", "<\\/shell>");
        format!("\n\n<shell>\n{inside}\n</shell>")
    }

    /// The definitions of the aliases and functions that the line or the last command use.
    pub(super) fn definitions(&self) -> String {
        let functions = self.functions.trim();
        let used = self.aliases_used().into_iter().chain([functions].into_iter().filter(|text| !text.is_empty()));
        used.collect::<Vec<_>>().join("\n")
    }

    /// How many functions there are: each shell begins one at the margin, `name () {` or `function name`.
    fn function_count(&self) -> usize {
        let begins = |line: &&str| {
            let name = line.split_once(" ()").map(|(name, _)| name);
            line.starts_with("function ")
                || name.is_some_and(|name| !name.is_empty() && !name.contains(char::is_whitespace))
        };
        self.functions.lines().filter(begins).count()
    }

    /// The definitions of the aliases that the line or the last command use.
    fn aliases_used(&self) -> Vec<&str> {
        let line = self.line.to_string_lossy();
        let last = self.last.as_ref().map(|last| last.command.as_str()).unwrap_or_default();
        let mut words: Vec<&str> = line.split_whitespace().chain(last.split_whitespace()).collect();
        words.sort_unstable();
        let is_used = |definition: &&str| {
            alias_name(definition).is_some_and(|name| name != "," && words.binary_search(&name).is_ok())
        };
        self.aliases.lines().filter(is_used).collect()
    }
}

/// The name in a definition as the shells print it: `alias ll='ls -l'` (bash, fish 3), `ll='ls -l'` (zsh),
/// `alias ll ls` (fish).
fn alias_name(definition: &str) -> Option<&str> {
    let definition = definition.trim_start();
    let rest = definition.strip_prefix("alias ").unwrap_or(definition);
    let rest = rest.strip_prefix("-- ").unwrap_or(rest);
    let end = rest.find(['=', ' '])?;
    rest.get(..end).map(|name| name.trim_matches('\'')).filter(|name| !name.is_empty())
}

/// Reads decimal seconds, `14` or `14.25`, as ms.
fn milliseconds(seconds: &str) -> u64 {
    let (whole, part) = seconds.trim().split_once(['.', ',']).unwrap_or((seconds.trim(), ""));
    let digits: String = part.chars().chain("000".chars()).take(3).collect();
    let whole: u64 = whole.parse().unwrap_or(0);
    whole.saturating_mul(1000).saturating_add(digits.parse().unwrap_or(0))
}

#[cfg(test)]
#[path = "facts_tests.rs"]
mod tests;
