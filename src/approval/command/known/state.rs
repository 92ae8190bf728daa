//! What is known while a line is followed: variables, directories and functions, and what words become with them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::rc::Rc;

use super::super::read::{Node, Operator, Word, WordPart};
use super::value::{Chunk, Origin, PathPattern, Value};
use crate::approval::Surroundings;
use crate::approval::program::lists;

/// No more values of a variable than this are followed.
pub(crate) const MOST_VALUES: usize = 32;
/// No more possible working directories than this are followed.
const MOST_DIRECTORIES: usize = 8;
/// No more readings of a command than this are followed one by one.
const MOST_READINGS: usize = 16;

/// Data that many points of a line share; it is copied when one of them changes it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Shared<T>(Rc<T>);

/// Returns the key under which the state notes that a variable contains somebody else's text; no variable has this
/// name.
pub(crate) fn was_read(name: &str) -> String {
    format!("{name} read")
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut T {
        Rc::make_mut(&mut self.0)
    }
}

impl<T> Shared<T> {
    fn is(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

/// What is known at one point of a line.
#[derive(Debug, Clone)]
pub(crate) struct State<'a> {
    pub(crate) place: &'a Surroundings,
    /// Variables that the line itself has set; an empty list means that the value is not known.
    pub(crate) variables: Shared<BTreeMap<String, Vec<Value>>>,
    /// The possible working directories; `None` for an unknown one.
    pub(crate) directories: Vec<Option<PathBuf>>,
    /// The bodies that a function may have.
    pub(crate) functions: Shared<BTreeMap<String, Vec<Rc<Node>>>>,
    /// Functions that may not exist: their names may mean programs as well.
    pub(crate) unsure: Shared<BTreeSet<String>>,
    /// Variables that the line exports to the programs it starts.
    pub(crate) exported: Shared<BTreeSet<String>>,
    /// Whether any variable may have got another value in a way that axi does not see.
    pub(crate) opaque: bool,
    /// Whether `cd` follows links before it reads `..`.
    pub(crate) physical: bool,
    /// The arguments of the function that is followed now.
    pub(crate) arguments: Option<Vec<Value>>,
    /// Names that no longer have their usual meaning.
    pub(crate) redefined: Shared<BTreeSet<String>>,
    /// Whether what runs here finds the person's own aliases and functions.
    pub(crate) is_theirs: bool,
    /// Whether two ways lead here, on which different things are known.
    pub(crate) forked: bool,
    /// Whether this point is reached at all.
    pub(crate) reached: bool,
}

impl<'a> State<'a> {
    pub(crate) fn new(place: &'a Surroundings) -> Self {
        Self {
            place,
            variables: Shared::default(),
            directories: vec![Some(place.cwd.clone())],
            functions: Shared::default(),
            unsure: Shared::default(),
            exported: Shared::default(),
            opaque: false,
            physical: false,
            arguments: None,
            redefined: Shared::default(),
            is_theirs: true,
            forked: false,
            reached: true,
        }
    }

    /// Merges what is known on two ways to the same point.
    pub(crate) fn merge(mut self, other: Self) -> Self {
        if !self.reached {
            return other;
        }
        if !other.reached {
            return self;
        }
        self.forked |= other.forked
            || self.directories != other.directories
            || !self.variables.is(&other.variables) && self.variables != other.variables;
        for directory in other.directories {
            if !self.directories.contains(&directory) {
                self.directories.push(directory);
            }
        }
        self.limit_directories();
        let same = self.variables.is(&other.variables);
        let names = self.variables.keys().chain(other.variables.keys()).filter(|_| !same);
        for name in names.cloned().collect::<BTreeSet<String>>() {
            let mine = self.variables.get(&name).cloned().unwrap_or_else(|| self.outside(&name));
            let theirs = other.variables.get(&name).cloned().unwrap_or_else(|| self.outside(&name));
            let (mine, theirs) = (or_unknown(mine), or_unknown(theirs));
            let mut joined = mine;
            for value in theirs {
                if joined.len() <= MOST_VALUES && !joined.contains(&value) {
                    joined.push(value);
                }
            }
            if joined.len() > MOST_VALUES {
                joined.clear();
            }
            self.variables.insert(name, joined);
        }
        if !self.functions.is(&other.functions) {
            let both = |name: &&String| self.functions.contains_key(*name) != other.functions.contains_key(*name);
            let unsure: Vec<String> =
                self.functions.keys().chain(other.functions.keys()).filter(both).cloned().collect();
            self.unsure.extend(unsure);
            for (name, bodies) in other.functions.iter() {
                let known = self.functions.entry(name.clone()).or_default();
                let new: Vec<Rc<Node>> = bodies.iter().filter(|body| !known.contains(body)).cloned().collect();
                known.extend(new);
            }
        }
        if !self.unsure.is(&other.unsure) {
            self.unsure.extend(other.unsure.iter().cloned());
        }
        if !self.exported.is(&other.exported) {
            self.exported.retain(|name| other.exported.contains(name));
        }
        self.opaque |= other.opaque;
        self.physical |= other.physical;
        if !self.redefined.is(&other.redefined) {
            self.redefined.extend(other.redefined.iter().cloned());
        }
        self
    }

    /// What runs from here on is a program, and finds none of the shell's functions and aliases.
    pub(crate) fn forget_functions(&mut self) {
        self.functions.clear();
        self.is_theirs = false;
    }

    /// Forgets the working directories if there are too many of them.
    pub(crate) fn limit_directories(&mut self) {
        if self.directories.len() > MOST_DIRECTORIES {
            self.directories = vec![None];
        }
    }

    fn outside(&self, name: &str) -> Vec<Value> {
        match name {
            "HOME" => self.place.home.iter().map(|home| Value::text(home.to_string_lossy())).collect(),
            "PWD" => self.directory_values(),
            "$" | "?" | "#" | "!" | "SECONDS" | "LINENO" | "PPID" | "EPOCHSECONDS" => {
                vec![Value::some_number()]
            }
            _ if lists::VARIABLES_OF_NUMBERS.contains(name) => vec![Value::some_number()],
            "UID" | "EUID" => vec![Value::text("1000")],
            // Shells set these variables themselves, whatever value they were given.
            "_" | "OLDPWD" | "REPLY" | "OPTARG" | "DIRSTACK" | "MAPFILE" => Vec::new(),
            _ if name.starts_with("BASH") => Vec::new(),
            _ => {
                self.place.environment.get(name).map(|value| vec![Value::text(value.as_str())]).unwrap_or_default()
            }
        }
    }

    pub(crate) fn directory_values(&self) -> Vec<Value> {
        let known: Option<Vec<PathBuf>> = self.directories.iter().cloned().collect();
        known.unwrap_or_default().iter().map(|path| Value::text(path.to_string_lossy())).collect()
    }

    /// Tells whether an expression contains text that nobody has seen: the shell evaluates it, and runs a command
    /// in an index.
    pub(crate) fn holds_input(&self, word: &Word) -> bool {
        let mut names = word.source.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        let read = |name: &str| !name.is_empty() && self.variables.contains_key(&was_read(name));
        let unseen = |part: &WordPart| match part {
            WordPart::Substitution { body, .. } => !prints_number(body),
            // The value is inserted before the expression is read.
            WordPart::Variable { name, .. } => {
                let positional =
                    name.starts_with(|c: char| c.is_ascii_digit()) || matches!(name.as_str(), "@" | "*");
                positional && self.arguments.is_some() && self.variable(name).iter().any(Value::is_unknown)
            }
            WordPart::Number { inner } => self.holds_input(inner),
            WordPart::Text { .. } | WordPart::Process { .. } => false,
        };
        self.opaque && names.clone().any(|name| name.starts_with(char::is_alphabetic))
            || names.any(read)
            || word.parts.iter().any(unseen)
    }

    /// Notes whether the value of a variable is known, for use in expressions.
    pub(crate) fn note_input(&mut self, name: &str, given: &[Word], values: &[Value]) {
        let number = |part: &WordPart| match part {
            WordPart::Text { .. } | WordPart::Number { .. } => true,
            WordPart::Substitution { body, .. } => prints_number(body),
            WordPart::Variable { name, .. } => {
                matches!(name.as_str(), "#" | "?" | "$" | "RANDOM") || !self.is_input(name)
            }
            WordPart::Process { .. } => false,
        };
        let vague = values.is_empty() || values.iter().any(Value::is_unknown);
        if !vague {
            self.variables.remove(&was_read(name));
        } else if !given.iter().flat_map(|word| &word.parts).all(number) {
            self.variables.insert(was_read(name), Vec::new());
        }
    }

    /// Tells whether a variable may contain text that nobody has seen.
    fn is_input(&self, name: &str) -> bool {
        self.opaque
            || self.variables.contains_key(&was_read(name))
            || self.variable(name).iter().any(Value::is_unknown)
    }

    /// Returns the values of a variable; empty if they are not known.
    pub(crate) fn variable(&self, name: &str) -> Vec<Value> {
        let mut values = self.followed(name);
        if self.opaque && !values.is_empty() && name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            values.push(Value::unknown());
        }
        values
    }

    fn followed(&self, name: &str) -> Vec<Value> {
        if let Some(values) = self.variables.get(name) {
            return values.clone();
        }
        if let (Some(ninth), Ok(10..)) = (self.variables.get("9"), name.parse::<usize>()) {
            return ninth.clone();
        }
        if let (Some(arguments), Ok(number)) = (&self.arguments, name.parse::<usize>())
            && number > 0
        {
            return arguments.get(number - 1).map_or_else(|| vec![Value::default()], |value| vec![value.clone()]);
        }
        if let (Some(arguments), "@" | "*") = (&self.arguments, name) {
            return arguments.clone();
        }
        self.outside(name)
    }

    /// Tells whether the command may run outside the workspace, judging by names.
    pub(crate) fn strays(&self) -> bool {
        let inside = |directory: &PathBuf| {
            let climbs = directory.components().any(|part| part == std::path::Component::ParentDir);
            directory.starts_with(&self.place.workspace) && !climbs
        };
        !self.directories.iter().all(|directory| directory.as_ref().is_some_and(inside))
    }

    /// Returns what a shell started here knows: variables that are not exported may be empty in it.
    pub(crate) fn for_child(&self) -> Self {
        let mut child = self.clone();
        child.forget_functions();
        for (name, values) in child.variables.iter_mut() {
            let handed_on = self.exported.contains(name) || self.place.environment.contains_key(name);
            if !handed_on && name != "HOME" && name != "PWD" && !values.is_empty() {
                values.push(Value::emptied());
            }
        }
        child
    }

    /// Returns the characters at which unquoted values are split; `None` if they are not known.
    pub(super) fn separators(&self) -> Option<String> {
        match self.variables.get("IFS").map(Vec::as_slice) {
            None => Some(" \t\n".to_owned()),
            Some([value]) if value.had_empty => Some(" \t\n".to_owned()),
            Some([value]) if !self.opaque => value.known(),
            Some(_) => None,
        }
    }

    /// Returns the readings of these words, if variables in them have more than one possible value; `None` if there
    /// are too many to follow one by one.
    pub(crate) fn readings(&self, words: &[Word]) -> Option<(Self, Vec<Self>)> {
        let mut names = Vec::new();
        for word in words {
            variables_in(word, &mut names);
        }
        names.sort();
        names.dedup();
        let mut readings = vec![self.clone()];
        for name in names {
            let values = self.variable(&name);
            // `$@` means many words, and not one of several.
            if values.len() < 2 || name == "@" || name == "*" {
                continue;
            }
            if readings.len() * values.len() > MOST_READINGS {
                return None;
            }
            let mut next = Vec::new();
            for reading in &readings {
                for value in &values {
                    let mut reading = reading.clone();
                    reading.variables.insert(name.clone(), vec![value.clone()]);
                    next.push(reading);
                }
            }
            readings = next;
        }
        let first = readings.pop()?;
        Some((first, readings))
    }

    /// Returns values for the names of files below these roots, of which at most a pattern is known. For a root
    /// that is home, or above it, the root itself is returned: a change there is never a small matter.
    pub(crate) fn some_below(&self, roots: &[Value], name: Option<&str>) -> Vec<Value> {
        let home = self.place.home.as_deref();
        let mut below = Vec::new();
        for root in roots {
            let at_home = |pattern: &PathPattern| {
                pattern.is_unresolved()
                    || home.is_some_and(|home| pattern.covers(home))
                    || pattern.covers(std::path::Path::new("/"))
            };
            let mut value = root.clone();
            value.origin = Origin::Some;
            let over = root.patterns(&self.directories).iter().any(at_home);
            let last =
                name.and_then(|name| name.rsplit('/').next()).filter(|name| name.contains(char::is_alphanumeric));
            match last {
                // In home the name is added only if it makes the judgement stricter, as for programs that read.
                Some(name) if !over || !name.contains(['*', '?', '[']) => {
                    value.push_text("/");
                    for character in name.chars() {
                        match character {
                            '*' | '?' | '[' | ']' => value.chunks.push(Chunk::Glob(character)),
                            _ => value.push_text(&character.to_string()),
                        }
                    }
                    if over {
                        below.push(Value { origin: Origin::Some, ..root.clone() });
                    }
                }
                _ if over => {}
                _ => {
                    value.push_text("/");
                    value.chunks.push(Chunk::Glob('*'));
                    value.push_text("…");
                }
            }
            below.push(value);
        }
        below
    }
}

/// Tells whether a substitution can only print a number.
fn prints_number(body: &Node) -> bool {
    match body {
        Node::Sequence(nodes) => matches!(nodes.as_slice(), [node] if prints_number(node)),
        Node::Pipeline(stages) => stages.last().is_some_and(prints_number),
        Node::Simple(command) => {
            let mut words = command.words.iter().map(|word| word.constant().unwrap_or_default());
            let name = words.next().unwrap_or_default();
            let rest: Vec<String> = words.collect();
            match (name.as_str(), rest.as_slice()) {
                ("nproc" | "seq", _) => true,
                ("tput", [what]) => matches!(what.as_str(), "cols" | "lines" | "colors"),
                ("wc", [flag]) => matches!(flag.as_str(), "-l" | "-c" | "-w" | "-m"),
                ("grep", rest) => rest.iter().any(|flag| flag.starts_with("-c")) && rest.len() < 4,
                ("date", [format]) => matches!(format.as_str(), "+%s" | "+%Y" | "+%s%N"),
                ("id", [flag]) => matches!(flag.as_str(), "-u" | "-g"),
                _ => false,
            }
        }
        Node::And(..)
        | Node::Or(..)
        | Node::Subshell(_)
        | Node::For { .. }
        | Node::While { .. }
        | Node::If(_)
        | Node::Case { .. }
        | Node::Function { .. }
        | Node::Redirected { .. }
        | Node::Test { .. } => false,
    }
}

fn variables_in(word: &Word, names: &mut Vec<String>) {
    for part in &word.parts {
        if let WordPart::Variable { name, operator, .. } = part {
            names.push(name.clone());
            if let Operator::Default(word) = operator {
                variables_in(word, names);
            }
        }
    }
}

fn or_unknown(values: Vec<Value>) -> Vec<Value> {
    if values.is_empty() { vec![Value::unknown()] } else { values }
}
