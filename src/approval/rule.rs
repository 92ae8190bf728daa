//! One rule: `shell(git diff:*)`, `write(src/**)`, `web_fetch(docs.rs)`, or a tool's bare name.
//!
//! # What a rule says
//! - `shell(git diff:*)`: a simple command whose first words are `git` and `diff`, with anything after them.
//!   `shell(git diff)`: exactly these words. Words compare whole, after the shell's quoting is taken off:
//!   `git difftool` is not matched. A line is admitted only when each of its simple commands is.
//! - `write(src/**)`: paths, relative to the workspace, or starting with `/` or `~/`. `*` stays within one
//!   directory, `**` does not. `write` covers every tool that changes files, and what a shell line changes;
//!   `read` every tool that reads them. Any other name is that tool alone.
//! - `web_fetch(docs.rs)`: this host; `web_fetch(*.rs)`: every host below it, not itself.
//! - `shell`, `github__*`, `*`: everything the tool, these tools, every tool can be asked.

use std::fmt;

use globset::{Glob, GlobBuilder, GlobMatcher};
use serde::Serialize;

use crate::conversation::{COMMANDS, READERS, ToolKind, WRITERS};

/// The pattern of every path inside the workspace.
const EVERYWHERE: &str = "**";

/// What a rule covers, as facts; the front ends choose the words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// Everything that the tool, or these tools, can be asked.
    Everything {
        /// The tool's name; it ends in `*` if it stands for several tools.
        tool: String,
    },
    /// A simple command.
    Command {
        /// Its words, quoted if necessary.
        words: String,
        /// Whether anything may follow them.
        more: bool,
    },
    /// Files.
    Files {
        /// The tool, or `read` or `write` for all tools of that kind.
        tool: String,
        /// The pattern.
        glob: String,
    },
    /// A host, or all below it.
    Host {
        /// The tool.
        tool: String,
        /// The name.
        name: String,
    },
}

/// One rule, without its decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(into = "String")]
pub struct Rule {
    tool: ToolPattern,
    pattern: Pattern,
}

/// The tools that a rule covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ToolPattern {
    /// The tool with this name, or the family that the name stands for.
    Named(String),
    /// Every tool whose name starts like this.
    StartsWith(String),
}

/// Which calls of those tools a rule covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Pattern {
    /// All of them.
    Any,
    /// A simple command.
    Command(CommandPattern),
    /// Files.
    Path(PathPattern),
    /// A host, in lower case.
    Host {
        /// The name, without a leading `*.`.
        name: String,
        /// Whether it covers the hosts below the name.
        below: bool,
    },
}

/// The words of a simple command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandPattern {
    /// Whole words without quoting; never empty.
    pub(crate) words: Vec<String>,
    /// Whether anything may follow them.
    pub(crate) prefix: bool,
}

/// A glob over paths.
#[derive(Debug, Clone)]
pub(crate) struct PathPattern {
    text: String,
    matcher: GlobMatcher,
}

impl PartialEq for PathPattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for PathPattern {}

/// What is wrong with a rule, and where. Positions are bytes from its start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// Nothing before the parenthesis.
    #[error("a rule starts with a tool's name, such as shell or write")]
    NoTool,
    /// A character that cannot be part of a tool's name.
    #[error("{character:?} at {at} cannot be part of a tool's name")]
    ToolName {
        /// The character.
        character: char,
        /// Where.
        at: usize,
    },
    /// `(` without a `)` at the end.
    #[error("the parenthesis opened at {at} is not closed at the rule's end")]
    Unclosed {
        /// Where.
        at: usize,
    },
    /// Nothing between the parentheses.
    #[error("nothing stands between the parentheses at {at}; leave them out to mean everything")]
    Empty {
        /// Where.
        at: usize,
    },
    /// A tool whose calls cannot be narrowed.
    #[error("calls of {tool} cannot be narrowed by a pattern; write only its name")]
    NotNarrowed {
        /// The tool.
        tool: String,
    },
    /// An operator, substitution or variable in a command.
    #[error("{character:?} at {at}: a rule is one simple command, without operators, variables or substitutions")]
    NotSimple {
        /// The character.
        character: char,
        /// Where.
        at: usize,
    },
    /// `*` in another place than `:*` at the end.
    #[error("the wildcard at {at} can only stand at the end, as in git diff:*")]
    Wildcard {
        /// Where.
        at: usize,
    },
    /// A quote that is not closed.
    #[error("a quote is not closed in {text:?}")]
    Quote {
        /// The pattern.
        text: String,
    },
    /// Not a glob.
    #[error("not a path pattern: {cause}")]
    Glob {
        /// Why, in English.
        cause: String,
    },
    /// Not a host.
    #[error("not a host name: {text:?}; write it without scheme, port and path")]
    Host {
        /// What was written.
        text: String,
    },
    /// A project's file tried to allow what is asked about otherwise.
    #[error("settings of a project can only ask or deny, not allow")]
    ProjectMayNotAllow,
}

/// Returns what the rules of a tool are about: for a family name it is fixed, for any other tool `known` tells it.
fn kind_of(tool: &str, known: fn(&str) -> ToolKind) -> ToolKind {
    match tool {
        COMMANDS => ToolKind::Command,
        READERS => ToolKind::Reader,
        WRITERS => ToolKind::Writer,
        other => known(other),
    }
}

impl Rule {
    /// Makes the rule for every change of a file inside the workspace.
    pub(super) fn edits() -> Option<Self> {
        Self::parse(&format!("{WRITERS}({EVERYWHERE})")).ok()
    }

    /// Tells whether it equals [`Rule::edits`], without building that rule: each prompt asks.
    pub(super) fn is_edits(&self) -> bool {
        matches!(&self.tool, ToolPattern::Named(name) if name == WRITERS)
            && matches!(&self.pattern, Pattern::Path(path) if path.text == EVERYWHERE)
    }

    /// Parses a rule for a family of tools; for a single tool only its bare name is accepted.
    ///
    /// # Errors
    /// Each variant of [`RuleError`] but `ProjectMayNotAllow`.
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        Self::parse_for(text, |_| ToolKind::Other)
    }

    /// Parses a rule; `known` tells what each tool's rules are about.
    ///
    /// # Errors
    /// Each variant of [`RuleError`] but `ProjectMayNotAllow`.
    pub fn parse_for(text: &str, known: fn(&str) -> ToolKind) -> Result<Self, RuleError> {
        let start = text.len() - text.trim_start().len();
        let trimmed = text.trim();
        let (name, pattern) = match trimmed.find('(') {
            None => (trimmed, None),
            Some(open) => {
                let inner =
                    trimmed[open + 1..].strip_suffix(')').ok_or(RuleError::Unclosed { at: start + open })?;
                (trimmed[..open].trim_end(), Some((start + open + 1, inner)))
            }
        };
        let tool = parse_tool(name, start)?;
        let pattern = match pattern {
            None => Pattern::Any,
            Some((at, inner)) if inner.trim().is_empty() => return Err(RuleError::Empty { at }),
            Some((_, inner)) if inner.trim() == "*" => Pattern::Any,
            Some((at, inner)) => match kind_of(name, known) {
                ToolKind::Command => Pattern::Command(parse_command(inner, at)?),
                ToolKind::Reader | ToolKind::Writer => Pattern::Path(PathPattern::new(inner.trim())?),
                ToolKind::Network => parse_host(inner.trim())?,
                ToolKind::Other => return Err(RuleError::NotNarrowed { tool: name.to_owned() }),
            },
        };
        Ok(Self { tool, pattern })
    }

    /// Makes the rule for these words of a simple command.
    #[must_use]
    pub(crate) fn command(words: Vec<String>, prefix: bool) -> Self {
        Self {
            tool: ToolPattern::Named(COMMANDS.to_owned()),
            pattern: Pattern::Command(CommandPattern { words, prefix }),
        }
    }

    /// Makes the rule for one path of a family of tools; the path is taken literally.
    ///
    /// # Errors
    /// `Glob` if the path is longer than a pattern may be.
    pub(crate) fn literal_path(tool: &str, path: &str) -> Result<Self, RuleError> {
        let pattern = PathPattern::new(&globset::escape(path))?;
        Ok(Self { tool: ToolPattern::Named(tool.to_owned()), pattern: Pattern::Path(pattern) })
    }

    /// Makes the rule for one host.
    #[must_use]
    pub(crate) fn host(tool: &str, host: &str) -> Self {
        let pattern = Pattern::Host { name: host.to_ascii_lowercase(), below: false };
        Self { tool: ToolPattern::Named(tool.to_owned()), pattern }
    }

    /// Makes the rule for every call of a tool.
    #[must_use]
    pub(crate) fn whole_tool(tool: &str) -> Self {
        Self { tool: ToolPattern::Named(tool.to_owned()), pattern: Pattern::Any }
    }

    /// Returns what the rule covers.
    #[must_use]
    pub fn meaning(&self) -> Meaning {
        let tool = match &self.tool {
            ToolPattern::Named(name) => name.clone(),
            ToolPattern::StartsWith(start) => format!("{start}*"),
        };
        match &self.pattern {
            Pattern::Any => Meaning::Everything { tool },
            Pattern::Command(command) => {
                let words: Vec<String> = command.words.iter().map(|word| quoted(word)).collect();
                Meaning::Command { words: words.join(" "), more: command.prefix }
            }
            Pattern::Path(path) => Meaning::Files { tool, glob: path.text.clone() },
            Pattern::Host { name, below } => {
                Meaning::Host { tool, name: format!("{}{name}", if *below { "*." } else { "" }) }
            }
        }
    }

    /// Tells whether it covers everything that its tools can be asked.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.pattern, Pattern::Any)
    }

    pub(crate) fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Tells whether the rule covers this tool; `family` is the family name for tools of its kind.
    pub(crate) fn is_about(&self, tool: &str, family: Option<&str>) -> bool {
        match &self.tool {
            ToolPattern::Named(name) => name == tool || family == Some(name.as_str()),
            ToolPattern::StartsWith(start) => tool.starts_with(start.as_str()),
        }
    }
}

fn parse_tool(name: &str, start: usize) -> Result<ToolPattern, RuleError> {
    if name.is_empty() {
        return Err(RuleError::NoTool);
    }
    let (body, open_end) = name.strip_suffix('*').map_or((name, false), |body| (body, true));
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/');
    if let Some((at, character)) = body.char_indices().find(|(_, c)| !fits(*c)) {
        return Err(RuleError::ToolName { character, at: start + at });
    }
    let body = body.to_owned();
    Ok(if open_end { ToolPattern::StartsWith(body) } else { ToolPattern::Named(body) })
}

/// Characters with a special meaning if they are not quoted.
const NOT_SIMPLE: &str = ";|&<>$`(){}\n\r#";

fn parse_command(text: &str, at: usize) -> Result<CommandPattern, RuleError> {
    let prefix_body = text.trim_end().strip_suffix(":*").or_else(|| text.trim_end().strip_suffix(" *"));
    let (body, prefix) = prefix_body.map_or((text, false), |body| (body, true));
    let mut quote = None;
    let mut characters = body.char_indices();
    while let Some((index, character)) = characters.next() {
        match (quote, character) {
            (None, '\'' | '"') => quote = Some(character),
            (Some(open), close) if open == close => quote = None,
            (None | Some('"'), '\\') => drop(characters.next()),
            (Some('"'), '$' | '`') => return Err(RuleError::NotSimple { character, at: at + index }),
            (None, '*' | '?' | '[') => return Err(RuleError::Wildcard { at: at + index }),
            (None, _) if NOT_SIMPLE.contains(character) => {
                return Err(RuleError::NotSimple { character, at: at + index });
            }
            (Some(_) | None, _) => {}
        }
    }
    let words = shlex::split(body).ok_or_else(|| RuleError::Quote { text: body.to_owned() })?;
    if words.is_empty() || words[0].is_empty() {
        return Err(RuleError::Empty { at });
    }
    Ok(CommandPattern { words, prefix })
}

fn parse_host(text: &str) -> Result<Pattern, RuleError> {
    let lower = text.to_ascii_lowercase();
    let (name, below) = lower.strip_prefix("*.").map_or((lower.as_str(), false), |name| (name, true));
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']');
    // A colon is accepted only in an IPv6 address; elsewhere it would start a port.
    let is_port = name.contains(':') && !name.starts_with('[');
    if name.is_empty() || is_port || !name.chars().all(fits) {
        return Err(RuleError::Host { text: text.to_owned() });
    }
    Ok(Pattern::Host { name: name.to_owned(), below })
}

impl PathPattern {
    fn new(text: &str) -> Result<Self, RuleError> {
        let text = text.strip_prefix("./").unwrap_or(text);
        let build = |text: &str| -> Result<Glob, globset::Error> {
            GlobBuilder::new(text).literal_separator(true).backslash_escape(true).build()
        };
        let matcher = build(text).map_err(|error| RuleError::Glob { cause: error.to_string() })?.compile_matcher();
        Ok(Self { text: text.to_owned(), matcher })
    }

    /// Tells whether the pattern has no wildcard.
    pub(crate) fn is_literal(&self) -> bool {
        !self.text.contains(['*', '?', '{'])
    }

    /// Tells whether it matches an absolute path without `..`.
    pub(crate) fn matches(
        &self,
        path: &std::path::Path,
        workspace: &std::path::Path,
        home: Option<&std::path::Path>,
    ) -> bool {
        if self.text.starts_with('/') {
            return self.matcher.is_match(path);
        }
        if self.text.starts_with("~/") {
            let below = home.and_then(|home| path.strip_prefix(home).ok());
            return below.is_some_and(|rest| self.matcher.is_match(std::path::Path::new("~").join(rest)));
        }
        path.strip_prefix(workspace).is_ok_and(|rest| self.matcher.is_match(rest))
    }
}

impl CommandPattern {
    /// Tells whether it matches these words, which have no quoting.
    pub(crate) fn matches(&self, words: &[String]) -> bool {
        let starts =
            words.len() >= self.words.len() && words.iter().zip(&self.words).all(|(is, wanted)| is == wanted);
        starts && (self.prefix || words.len() == self.words.len())
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.tool {
            ToolPattern::Named(name) => out.write_str(name)?,
            ToolPattern::StartsWith(start) => write!(out, "{start}*")?,
        }
        match &self.pattern {
            Pattern::Any => Ok(()),
            Pattern::Command(command) => {
                let words: Vec<String> = command.words.iter().map(|word| quoted(word)).collect();
                write!(out, "({}{})", words.join(" "), if command.prefix { ":*" } else { "" })
            }
            Pattern::Path(path) => write!(out, "({})", path.text),
            Pattern::Host { name, below } => write!(out, "({}{name})", if *below { "*." } else { "" }),
        }
    }
}

/// Quotes a word, unless it is plain.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

impl From<Rule> for String {
    fn from(rule: Rule) -> Self {
        rule.to_string()
    }
}

#[cfg(test)]
#[path = "rule_tests.rs"]
mod tests;
