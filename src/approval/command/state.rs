//! What is known while a line is followed: variables, directories, functions; and what words become with it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::super::Surroundings;
use super::git;
use super::syntax::{Node, Operator, Word, WordPart};
use super::value::{Chunk, PathPattern, Value};

/// More values than this are not followed.
const MOST_VALUES: usize = 32;
/// More directories a command may run in than this are not followed.
const MOST_DIRECTORIES: usize = 16;
/// More ways to read a command than this are not followed one by one.
const MOST_READINGS: usize = 16;

/// What is known at one point of a line.
#[derive(Debug, Clone)]
pub(crate) struct State<'a> {
    pub(crate) place: &'a Surroundings,
    /// Set by the line itself; an empty list is unknown.
    pub(crate) variables: BTreeMap<String, Vec<Value>>,
    /// Where it may be run; `None` is unknown.
    pub(crate) directories: Vec<Option<PathBuf>>,
    pub(crate) functions: BTreeMap<String, Node>,
    /// The arguments of the function that is followed.
    pub(crate) arguments: Option<Vec<Value>>,
    /// Names that do not mean what they say any more.
    pub(crate) redefined: Vec<String>,
    /// Whether this point is reached at all.
    pub(crate) reached: bool,
}

impl<'a> State<'a> {
    pub(crate) fn new(place: &'a Surroundings) -> Self {
        Self {
            place,
            variables: BTreeMap::new(),
            directories: vec![Some(place.cwd.clone())],
            functions: BTreeMap::new(),
            arguments: None,
            redefined: Vec::new(),
            reached: true,
        }
    }

    /// Joins what is known on two ways to the same point.
    pub(crate) fn merge(mut self, other: Self) -> Self {
        if !self.reached {
            return other;
        }
        if !other.reached {
            return self;
        }
        for directory in other.directories {
            if !self.directories.contains(&directory) {
                self.directories.push(directory);
            }
        }
        self.limit_directories();
        let names: Vec<String> = self.variables.keys().chain(other.variables.keys()).cloned().collect();
        for name in names {
            let mine = self.variables.get(&name).cloned().unwrap_or_else(|| self.outside(&name));
            let theirs = other.variables.get(&name).cloned().unwrap_or_else(|| self.outside(&name));
            let (mine, theirs) = (or_unknown(mine), or_unknown(theirs));
            let mut joined = mine;
            for value in theirs {
                if !joined.contains(&value) {
                    joined.push(value);
                }
            }
            if joined.len() > MOST_VALUES {
                joined.clear();
            }
            self.variables.insert(name, joined);
        }
        self.functions.extend(other.functions);
        self.redefined.extend(other.redefined);
        self
    }

    /// Forgets where a command may run when there are too many such places.
    pub(crate) fn limit_directories(&mut self) {
        if self.directories.len() > MOST_DIRECTORIES {
            self.directories = vec![None];
        }
    }

    fn outside(&self, name: &str) -> Vec<Value> {
        match name {
            "HOME" => self.place.home.iter().map(|home| Value::text(home.to_string_lossy())).collect(),
            "PWD" => self.directory_values(),
            // Numbers: what they are does not matter.
            "$" | "?" | "#" | "!" | "RANDOM" | "SECONDS" | "LINENO" | "PPID" | "EPOCHSECONDS" => {
                vec![Value::text("0")]
            }
            "UID" | "EUID" => vec![Value::text("1000")],
            _ => {
                self.place.environment.get(name).map(|value| vec![Value::text(value.as_str())]).unwrap_or_default()
            }
        }
    }

    pub(crate) fn directory_values(&self) -> Vec<Value> {
        let known: Option<Vec<PathBuf>> = self.directories.iter().cloned().collect();
        known.unwrap_or_default().iter().map(|path| Value::text(path.to_string_lossy())).collect()
    }

    /// The values of a variable; none where it is not known.
    pub(crate) fn variable(&self, name: &str) -> Vec<Value> {
        if let Some(values) = self.variables.get(name) {
            return values.clone();
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

    /// The ways in which these words may be read, where variables in them may have more than one value; `None` where
    /// these are too many to follow one by one.
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
            // `$@` is many words, not one of many.
            if values.len() < 2 || name == "@" || name == "*" {
                continue;
            }
            let mut next = Vec::new();
            for reading in &readings {
                for value in &values {
                    let mut reading = reading.clone();
                    reading.variables.insert(name.clone(), vec![value.clone()]);
                    next.push(reading);
                }
            }
            if next.len() > MOST_READINGS {
                return None;
            }
            readings = next;
        }
        let first = readings.pop()?;
        Some((first, readings))
    }

    /// What a word becomes: one value for each field or possibility.
    pub(crate) fn expand(&self, word: &Word) -> Vec<Value> {
        let mut atoms = Vec::new();
        for part in &word.parts {
            match part {
                WordPart::Text { text, quoted } => {
                    if *quoted && text.is_empty() {
                        atoms.push(Atom::Nothing);
                    }
                    atoms.extend(text.chars().map(|character| Atom::Character(character, *quoted)));
                }
                other => atoms.push(Atom::Part(other)),
            }
        }
        if word.bare() == Some("[") {
            return vec![Value::text("[")];
        }
        let mut values = Vec::new();
        let Some(choices) = braces(&atoms, 0) else { return vec![Value::unknown()] };
        for atoms in choices {
            values.extend(self.expand_atoms(&atoms));
            if values.len() > MOST_VALUES {
                return vec![Value::unknown()];
            }
        }
        values
    }

    fn expand_atoms(&self, atoms: &[Atom<'_>]) -> Vec<Value> {
        let mut values = vec![Value::default()];
        let mut rest = atoms;
        // Only a word of nothing but unquoted variables can vanish.
        let mut stays = false;
        if let Some((home, used)) = self.tilde(atoms) {
            values = vec![home];
            rest = atoms.get(used..).unwrap_or_default();
            stays = true;
        }
        let mut previous = ' ';
        for (index, atom) in rest.iter().enumerate() {
            match atom {
                Atom::Nothing => stays = true,
                Atom::Character(character, quoted) => {
                    stays = true;
                    let is_glob = !quoted && matches!(character, '*' | '?' | '[' | ']');
                    // `of=~/x` and `a:~/x` are expanded by some shells.
                    let tail = rest.get(index..).unwrap_or_default();
                    let home = if *character == '~' && !quoted && matches!(previous, '=' | ':') {
                        self.tilde(tail)
                    } else {
                        None
                    };
                    let chunk = match home {
                        Some((home, 1)) => home,
                        Some(_) => Value::unknown(),
                        None if is_glob => Value { chunks: vec![Chunk::Glob(*character)], had_empty: false },
                        None => Value::text(character.to_string()),
                    };
                    for value in &mut values {
                        value.append(&chunk);
                    }
                    previous = *character;
                }
                Atom::Part(part) => {
                    let (options, quoted) = self.part_values(part);
                    stays |= quoted;
                    values = multiply(&values, &options);
                    previous = ' ';
                }
            }
        }
        if !stays {
            // An unquoted empty variable leaves no word; keep it where its emptiness is dangerous to forget.
            values.retain(|value| !value.chunks.is_empty() || value.had_empty);
        }
        values
    }

    fn part_values(&self, part: &WordPart) -> (Vec<Value>, bool) {
        match part {
            WordPart::Text { text, quoted } => (vec![Value::text(text.as_str())], *quoted),
            WordPart::Variable { name, quoted, operator } => {
                let mut options = match operator {
                    Operator::None => self.variable(name),
                    Operator::Default(word) => {
                        let known = self.variable(name);
                        if known.iter().any(|value| value.chunks.is_empty()) { self.expand(word) } else { known }
                    }
                    Operator::Changed(_) => Vec::new(),
                };
                if options.is_empty() {
                    options.push(Value::unknown());
                }
                if !quoted {
                    options = options.iter().flat_map(split).collect();
                }
                for value in &mut options {
                    value.had_empty |= value.chunks.is_empty() || value.known().is_some_and(|text| text.is_empty());
                }
                (options, *quoted)
            }
            WordPart::Substitution { body, quoted } => (self.substitution(body), *quoted),
            WordPart::Process { .. } => (vec![Value::text("/dev/fd/63")], true),
            WordPart::Number { .. } => (vec![Value::text("0")], true),
        }
    }

    /// What a few commands are known to print.
    fn substitution(&self, body: &Node) -> Vec<Value> {
        let Node::Sequence(nodes) = body else { return vec![Value::unknown()] };
        let [Node::Simple(command)] = nodes.as_slice() else { return vec![Value::unknown()] };
        let words: Option<Vec<String>> = command.words.iter().map(Word::constant).collect();
        let words = words.unwrap_or_default();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let values = match words.as_slice() {
            ["pwd"] => self.directory_values(),
            ["git", "rev-parse", "--show-toplevel"] => vec![Value::text(self.place.workspace.to_string_lossy())],
            ["which", name] | ["command", "-v", name] if name.chars().all(|c| c.is_ascii_alphanumeric()) => {
                vec![Value::text(format!("/usr/bin/{name}"))]
            }
            ["mktemp", ..] => vec![Value::text("/tmp/tmp.made-by-mktemp")],
            ["nproc" | "date", ..] => vec![Value::text("0")],
            ["echo", text] if !text.starts_with('-') => vec![Value::text(*text)],
            ["git", rest @ ..] => git::names_revisions(rest).into_iter().collect(),
            _ => Vec::new(),
        };
        if values.is_empty() { vec![Value::unknown()] } else { values }
    }

    /// What stands for names of files below these roots, of which nothing but perhaps a pattern is known. Where
    /// a root is home or above it, the root itself: nothing there is a small matter.
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
            let over = root.patterns(&self.directories).iter().any(at_home);
            let last =
                name.and_then(|name| name.rsplit('/').next()).filter(|name| name.contains(char::is_alphanumeric));
            match last {
                // At home a name is added only where it makes the matter worse: for what reads.
                Some(name) if !over || !name.contains(['*', '?', '[']) => {
                    value.push_text("/");
                    for character in name.chars() {
                        match character {
                            '*' | '?' | '[' | ']' => value.chunks.push(Chunk::Glob(character)),
                            _ => value.push_text(&character.to_string()),
                        }
                    }
                    if over {
                        below.push(root.clone());
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

    /// Reads `~`, `~name` and `~+` at the start; tells how many atoms they take.
    fn tilde(&self, atoms: &[Atom<'_>]) -> Option<(Value, usize)> {
        let Some(Atom::Character('~', false)) = atoms.first() else { return None };
        let mut name = String::new();
        for atom in atoms.get(1..).unwrap_or_default() {
            match atom {
                Atom::Character('/' | ':', false) => break,
                Atom::Character(character, false) => name.push(*character),
                // A quote in the name makes it no name; the shell then leaves the tilde alone.
                Atom::Character(_, true) | Atom::Nothing => return None,
                Atom::Part(_) => return Some((Value::unknown(), 1)),
            }
        }
        let used = 1 + name.chars().count();
        let home = self.place.home.as_ref();
        let is_own = home.and_then(|home| home.file_name()).is_some_and(|own| own.to_string_lossy() == name);
        let value = match name.as_str() {
            "" => self.variable("HOME").into_iter().next().unwrap_or_else(Value::unknown),
            "+" => self.directory_values().into_iter().next().unwrap_or_else(Value::unknown),
            "root" => Value::text("/root"),
            _ if is_own => home.map_or_else(Value::unknown, |home| Value::text(home.to_string_lossy())),
            _ => Value::unknown(),
        };
        Some((value, used))
    }
}

/// A character or an expansion, in order.
#[derive(Debug, Clone)]
enum Atom<'w> {
    Character(char, bool),
    /// An empty pair of quotes.
    Nothing,
    Part(&'w WordPart),
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

fn multiply(values: &[Value], options: &[Value]) -> Vec<Value> {
    let mut product = Vec::new();
    for value in values {
        for option in options {
            let mut joined = value.clone();
            joined.append(option);
            product.push(joined);
        }
        if product.len() > MOST_VALUES {
            return vec![Value::unknown()];
        }
    }
    product
}

/// Splits an unquoted value at blanks and wakes its globs.
fn split(value: &Value) -> Vec<Value> {
    let mut fields = Vec::new();
    let mut field = Value { chunks: Vec::new(), had_empty: value.had_empty };
    for chunk in &value.chunks {
        match chunk {
            Chunk::Text(text) => {
                for character in text.chars() {
                    match character {
                        ' ' | '\t' | '\n' => {
                            if !field.chunks.is_empty() {
                                fields.push(std::mem::take(&mut field));
                            }
                        }
                        '*' | '?' | '[' | ']' => field.chunks.push(Chunk::Glob(character)),
                        _ => field.push_text(&character.to_string()),
                    }
                }
            }
            Chunk::Glob(_) | Chunk::Unknown => field.chunks.push(chunk.clone()),
        }
    }
    if !field.chunks.is_empty() || fields.is_empty() {
        fields.push(field);
    }
    fields
}

/// Expands `{a,b}` and `{1..3}`. A sequence becomes its two ends and a glob: which numbers does not matter.
/// `None` where there are too many.
fn braces<'w>(atoms: &[Atom<'w>], depth: u32) -> Option<Vec<Vec<Atom<'w>>>> {
    let active = |atom: &Atom<'_>, wanted: char| matches!(atom, Atom::Character(c, false) if *c == wanted);
    for (open, atom) in atoms.iter().enumerate() {
        if !active(atom, '{') {
            continue;
        }
        let (mut level, mut commas, mut close) = (0_u32, Vec::new(), None);
        for (index, atom) in atoms.iter().enumerate().skip(open + 1) {
            if active(atom, '{') {
                level += 1;
            } else if active(atom, '}') {
                if level == 0 {
                    close = Some(index);
                    break;
                }
                level -= 1;
            } else if active(atom, ',') && level == 0 {
                commas.push(index);
            }
        }
        let Some(close) = close else { continue };
        let inner = &atoms[open + 1..close];
        let mut choices: Vec<Vec<Atom<'w>>> = Vec::new();
        if commas.is_empty() {
            let dots = inner.windows(2).position(|pair| active(&pair[0], '.') && active(&pair[1], '.'));
            let Some(dots) = dots else { continue };
            choices.push(inner[..dots].to_vec());
            choices.push(inner[dots + 2..].to_vec());
            choices.push(vec![Atom::Character('?', false)]);
        } else {
            let mut from = open + 1;
            for comma in commas.into_iter().chain([close]) {
                choices.push(atoms[from..comma].to_vec());
                from = comma + 1;
            }
        }
        let mut whole = Vec::new();
        for choice in choices {
            let mut joined = atoms[..open].to_vec();
            joined.extend(choice);
            joined.extend_from_slice(&atoms[close + 1..]);
            if depth >= 6 || whole.len() > MOST_VALUES {
                return None;
            }
            whole.extend(braces(&joined, depth + 1)?);
        }
        return Some(whole);
    }
    Some(vec![atoms.to_vec()])
}
