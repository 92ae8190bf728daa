//! What a shell was like when it handed its line over: aliases, functions and options, as its hook wrote them down; and
//! how a bash that runs one command comes by them. A function of another shell stays one: it runs there, and what it
//! does to the directory and to exported variables is done here, too.

use std::collections::{BTreeMap, BTreeSet};

/// The most of a snapshot that is read, in bytes.
pub const MOST: u64 = 4 * 1024 * 1024;

/// The most of the functions that each command reads, in bytes.
const FUNCTIONS: usize = 512 * 1024;

/// How bash runs a function of another shell.
const BRIDGE: &str = include_str!("snapshot/bridge.bash");

/// What that shell is given in front, behind its own settings.
const IN_ZSH: &str = include_str!("snapshot/inside.zsh");
const IN_FISH: &str = include_str!("snapshot/inside.fish");

/// Options of bash that say what a line means. Those that are about a person at a keyboard stay behind.
const SET: &[&str] = &[
    "allexport",
    "braceexpand",
    "errexit",
    "errtrace",
    "functrace",
    "keyword",
    "noclobber",
    "noglob",
    "nounset",
    "physical",
    "pipefail",
];
const SHOPT: &[&str] = &[
    "cdable_vars",
    "dotglob",
    "extglob",
    "failglob",
    "globstar",
    "inherit_errexit",
    "lastpipe",
    "nocaseglob",
    "nocasematch",
    "nullglob",
    "xpg_echo",
];

/// Options of zsh, and those of bash that do the same.
const OF_ZSH: &[(&str, &str)] = &[
    ("allexport", "set -o allexport"),
    ("errexit", "set -o errexit"),
    ("globdots", "shopt -s dotglob"),
    ("kshglob", "shopt -s extglob"),
    ("noclobber", "set -o noclobber"),
    ("noglob", "set -o noglob"),
    ("nounset", "set -o nounset"),
    ("nullglob", "shopt -s nullglob"),
    ("pipefail", "set -o pipefail"),
];

/// Names that what tells a state needs with their own meaning.
const KEPT: &str = "[ alias builtin case command compgen coproc declare do done else esac eval exit export fi for \
    function if in local printf read return select set shopt then time trap true unalias unset until while";

/// Programs that ask where an alias makes them ask: nobody could answer, and axi has asked.
const ASKING: &[&str] = &["rm", "cp", "mv", "ln"];

/// What a command finds of the person's shell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// What bash reads before the command.
    pub script: String,
    /// The aliases.
    pub aliases: BTreeMap<String, String>,
    /// The functions of bash, each as bash prints it.
    pub functions: BTreeMap<String, String>,
    /// The names of functions that another shell runs.
    pub foreign: BTreeSet<String>,
}

/// What the hook wrote: of each record its kind, its name and its text, each with a NUL behind it.
#[derive(Debug, Default)]
struct Written {
    options: Vec<String>,
    path: Vec<String>,
    aliases: BTreeMap<String, String>,
    functions: BTreeMap<String, String>,
}

/// Reads a snapshot; what is not whole or not named as the shells name things is left out.
#[must_use]
pub fn found(shell: &str, bytes: &[u8]) -> Found {
    let written = Written::read(bytes);
    match shell {
        "bash" => written.of_bash(),
        "zsh" => written.of_zsh(),
        "fish" => written.of_fish(),
        _ => Found::default(),
    }
}

impl Written {
    fn read(bytes: &[u8]) -> Self {
        let mut written = Self::default();
        let mut fields = bytes.split(|byte| *byte == 0).map(|field| String::from_utf8_lossy(field).into_owned());
        while let (Some(kind), Some(name), Some(text)) = (fields.next(), fields.next(), fields.next()) {
            match kind.as_str() {
                "o" => written.options.extend(name.split([':', ' ']).map(str::to_owned)),
                "p" => written.path.push(name),
                "a" if is_name(&name) && !text.is_empty() => drop(written.aliases.insert(name, text)),
                "f" if is_name(&name) => drop(written.functions.insert(name, text)),
                _ => {}
            }
        }
        written
    }

    fn of_bash(self) -> Found {
        let functions = needed(self.functions);
        let is_on = |name: &&&str| self.options.iter().any(|on| on == **name);
        let mut script = String::new();
        // They say how the functions are read.
        script.extend(SHOPT.iter().filter(is_on).map(|name| format!("shopt -s {name} 2>/dev/null\n")));
        script.extend(functions.values().map(|text| evaluated(text)));
        script.extend(SET.iter().filter(is_on).map(|name| format!("set -o {name}\n")));
        let aliases = usable(self.aliases);
        script.push_str(&defined(&aliases));
        Found { script, aliases, functions, foreign: BTreeSet::new() }
    }

    fn of_zsh(self) -> Found {
        let functions = needed(self.functions);
        let options = OF_ZSH.iter().filter(|(name, _)| self.options.iter().any(|on| on == name));
        let options: String = options.flat_map(|(_, line)| [*line, "\n"]).collect();
        let quote = |text: &String| quoted(text);
        let mut words = format!("__axi_on=({})\n", self.options.iter().map(quote).collect::<Vec<_>>().join(" "));
        let folders = self.path.iter().map(quote).collect::<Vec<_>>().join(" ");
        words.extend([format!("fpath=({folders})\n")]);
        words.extend(functions.values().map(|text| evaluated(text)));
        words.push_str(IN_ZSH);
        // zsh has put its aliases into the functions; bash gets those that it reads as zsh does.
        let mut aliases = self.aliases;
        for value in aliases.values_mut() {
            // Words of zsh about its own patterns and spelling.
            while let Some(rest) = ["nocorrect ", "noglob "].iter().find_map(|word| value.strip_prefix(word)) {
                *value = rest.trim_start().to_owned();
            }
        }
        let mut aliases = usable(aliases);
        aliases.retain(|name, value| {
            name != value && !value.contains(['(', '^', '#']) && !value.starts_with(['=', '-'])
        });
        bridged("zsh -f", &words, &functions, &options, aliases)
    }

    fn of_fish(self) -> Found {
        let (mut aliases, mut functions) = (BTreeMap::new(), BTreeMap::new());
        for (name, text) in self.functions {
            match alias_of_fish(&text) {
                Some(value) => drop(aliases.insert(name, value)),
                None => drop(functions.insert(name, text)),
            }
        }
        let functions = needed(functions);
        let fish = |text: &str| format!("'{}'", text.replace('\\', r"\\").replace('\'', r"\'"));
        let mut words = String::from("set -g fish_function_path");
        words.extend(self.path.iter().map(|folder| format!(" {}", fish(folder))));
        words.push('\n');
        words.extend(functions.values().map(|text| format!("eval {} 2>/dev/null\n", fish(text))));
        words.push_str(IN_FISH);
        bridged("fish --no-config", &words, &functions, "", usable(aliases))
    }
}

/// Has bash run functions in their own shell.
fn bridged(
    program: &str,
    words: &str,
    functions: &BTreeMap<String, String>,
    options: &str,
    aliases: BTreeMap<String, String>,
) -> Found {
    // Those that begin with an underscore are called by others.
    let is_called = |name: &&String| !name.starts_with('_') && !is_kept(name);
    let foreign: BTreeSet<String> = functions.keys().filter(is_called).cloned().collect();
    let mut script = String::new();
    if !foreign.is_empty() {
        script = format!("__axi_words={}\n__axi_other=({program})\n{BRIDGE}", quoted(words));
    }
    script.extend(foreign.iter().map(|name| evaluated(&format!("{name}() {{ __axi_person {name} \"$@\"; }}"))));
    script.push_str(options);
    script.push_str(&defined(&aliases));
    Found { script, aliases, functions: BTreeMap::new(), foreign }
}

/// The functions that a person calls, and those that these name; not more than each command can read.
fn needed(mut all: BTreeMap<String, String>) -> BTreeMap<String, String> {
    all.retain(|name, _| !is_kept(name));
    let mut kept: BTreeMap<String, String> = BTreeMap::new();
    let mut next: Vec<String> = all.keys().filter(|name| !name.starts_with('_')).cloned().collect();
    while let Some(name) = next.pop() {
        let Some(text) = all.remove(&name) else { continue };
        let is_end = |letter: char| !letter.is_ascii_alphanumeric() && !"_.+:-".contains(letter);
        let named = text.split(is_end).filter(|word| word.starts_with('_') && all.contains_key(*word));
        next.extend(named.map(str::to_owned));
        kept.insert(name, text);
    }
    if kept.values().map(String::len).sum::<usize>() > FUNCTIONS {
        tracing::warn!("the shell has more functions than a command can read: it finds none");
        kept.clear();
    }
    kept
}

/// The aliases that a command can use.
fn usable(mut aliases: BTreeMap<String, String>) -> BTreeMap<String, String> {
    aliases.retain(|name, value| {
        let mut words = value.split_whitespace();
        let asks = ASKING.contains(&name.as_str())
            && words.next() == Some(name)
            && words.any(|word| word == "--interactive" || is_flag(word) && word.contains(['i', 'I']));
        !asks && !is_kept(name)
    });
    aliases
}

fn is_flag(word: &str) -> bool {
    word.starts_with('-') && !word.starts_with("--")
}

/// What an alias of fish stands for: `alias` makes a function of one line there.
fn alias_of_fish(text: &str) -> Option<String> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let (head, body, end) = (lines.next()?, lines.next()?, lines.next()?);
    let is_one = head.contains("--description 'alias ") || head.contains("--description \"alias ");
    let value = body.trim_end_matches(';').trim_end().strip_suffix("$argv")?.trim_end();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || " _./=+:,@%-".contains(letter);
    let is_plain = value.chars().all(is_plain) && !value.is_empty();
    let value = value.strip_prefix("command ").unwrap_or(value);
    (is_one && is_plain && end == "end" && lines.next().is_none()).then(|| value.to_owned())
}

fn defined(aliases: &BTreeMap<String, String>) -> String {
    if aliases.is_empty() {
        return String::new();
    }
    let mut script = "shopt -s expand_aliases\n".to_owned();
    script.extend(aliases.iter().map(|(name, value)| format!("builtin alias -- {name}={}\n", quoted(value))));
    script
}

/// A definition that, where it cannot be read, spoils no other.
fn evaluated(text: &str) -> String {
    format!("eval {} 2>/dev/null\n", quoted(text))
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn is_kept(name: &str) -> bool {
    KEPT.split_whitespace().any(|kept| kept == name)
}

fn is_name(name: &str) -> bool {
    let is_of = |letter: char| letter.is_ascii_alphanumeric() || "_.+:-".contains(letter);
    !name.is_empty()
        && !name.starts_with(['-', '+', ':', '.'])
        && name.chars().all(is_of)
        && !name.starts_with("__axi")
}

#[cfg(test)]
#[path = "snapshot_tests.rs"]
mod tests;
