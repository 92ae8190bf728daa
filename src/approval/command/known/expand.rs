//! Expands words: braces, variables, substitutions and globs.

use super::super::read::{Node, Operator, Word, WordPart};
use super::revisions::names_revisions;
use super::state::{MOST_VALUES, State};
use super::value::{Chunk, Value};
use crate::approval::program::Program;

impl State<'_> {
    /// Expands a word: one value for each field or possibility.
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
        let mut finished = Vec::new();
        let mut open = vec![Open::default()];
        let mut rest = atoms;
        // Only a word that consists of unquoted variables can disappear.
        let mut stays = false;
        if let Some((home, used)) = self.tilde(atoms) {
            open = vec![Open { value: home, behind_split: false }];
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
                        None if is_glob => Value { chunks: vec![Chunk::Glob(*character)], ..Value::default() },
                        None => Value::text(character.to_string()),
                    };
                    for open in &mut open {
                        open.value.append(&chunk);
                    }
                    previous = *character;
                }
                Atom::Part(part) => {
                    let (options, quoted) = self.part_values(part);
                    stays |= quoted;
                    open = proceed(&open, &options, &mut finished);
                    if open.len() + finished.len() > 2 * MOST_VALUES {
                        return vec![Value::unknown()];
                    }
                    previous = ' ';
                }
            }
        }
        // If an unquoted value ends with a blank and nothing follows, no word begins there.
        open.retain(|open| !open.behind_split || !open.value.chunks.is_empty());
        finished.extend(open.into_iter().map(|open| open.value));
        if !stays {
            // An unquoted empty variable leaves no word. It is kept where forgetting its emptiness is dangerous.
            finished.retain(|value| !value.chunks.is_empty() || value.had_empty);
        }
        finished
    }

    /// Returns what a part may become: for each possibility the fields into which it is split; and whether it is
    /// quoted.
    fn part_values(&self, part: &WordPart) -> (Vec<Vec<Value>>, bool) {
        match part {
            WordPart::Text { text, quoted } => (vec![vec![Value::text(text.as_str())]], *quoted),
            WordPart::Variable { name, quoted, operator } => {
                let mut options = match operator {
                    Operator::None => self.variable(name),
                    Operator::Default(word) => {
                        let known = self.variable(name);
                        if known.iter().any(|value| value.chunks.is_empty()) { self.expand(word) } else { known }
                    }
                    Operator::Changed(_) => Vec::new(),
                };
                // The values become one word, joined by the first character of IFS.
                if options.is_empty() || name == "*" && *quoted && options.len() > 1 {
                    options = vec![Value::unknown()];
                }
                let mut options: Vec<Vec<Value>> =
                    options.into_iter().map(|value| self.fields(value, *quoted)).collect();
                // All of them, one after the other.
                if matches!(name.as_str(), "@" | "*") && self.arguments.is_some() {
                    options = vec![options.concat()];
                }
                for fields in &mut options {
                    if let [value] = fields.as_mut_slice() {
                        let is_empty = value.known().is_some_and(|text| text.is_empty());
                        value.had_empty |= value.chunks.is_empty() || is_empty;
                    }
                }
                (options, *quoted)
            }
            WordPart::Substitution { body, quoted } => {
                let values = self.substitution(body);
                (values.into_iter().map(|value| self.fields(value, *quoted)).collect(), *quoted)
            }
            WordPart::Process { .. } => (vec![vec![Value::text("/dev/fd/63")]], true),
            WordPart::Number { .. } => (vec![vec![Value::some_number()]], true),
        }
    }

    fn fields(&self, value: Value, quoted: bool) -> Vec<Value> {
        if quoted {
            return vec![value];
        }
        match self.separators() {
            Some(separators) => split(&value, &separators),
            None => vec![Value::unknown()],
        }
    }

    /// Returns what a substitution prints, for the few commands where that is known.
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
            ["echo", text] if !text.starts_with('-') && !text.contains('\\') => vec![Value::text(*text)],
            ["git", rest @ ..] => names_revisions(rest).into_iter().collect(),
            [name, ..] => {
                let says =
                    Program::named(name).map(|program| program.says.as_str()).filter(|says| !says.is_empty());
                says.map(Value::text).into_iter().collect()
            }
            [] => Vec::new(),
        };
        if values.is_empty() { vec![Value::unknown()] } else { values }
    }

    /// Expands `~`, `~name` and `~+` at the start; returns how many atoms they take.
    fn tilde(&self, atoms: &[Atom<'_>]) -> Option<(Value, usize)> {
        let Some(Atom::Character('~', false)) = atoms.first() else { return None };
        let mut name = String::new();
        for atom in atoms.get(1..).unwrap_or_default() {
            match atom {
                Atom::Character('/' | ':', false) => break,
                Atom::Character(character, false) => name.push(*character),
                // A quote in the name disables the tilde.
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

/// A field that is not complete yet.
#[derive(Debug, Clone, Default)]
struct Open {
    value: Value,
    /// Whether it began where an unquoted value was split.
    behind_split: bool,
}

/// Appends what follows: if that is more than one field, the first completes the open field, and the last becomes
/// the open one.
fn proceed(open: &[Open], options: &[Vec<Value>], finished: &mut Vec<Value>) -> Vec<Open> {
    let mut next = Vec::new();
    for begun in open {
        for fields in options {
            let Some((first, rest)) = fields.split_first() else { continue };
            let mut joined = begun.clone();
            joined.value.append(first);
            let Some((last, between)) = rest.split_last() else {
                next.push(joined);
                continue;
            };
            if !joined.value.chunks.is_empty() {
                finished.push(joined.value);
            }
            finished.extend(between.iter().cloned());
            next.push(Open { value: last.clone(), behind_split: true });
        }
    }
    next
}

/// Splits an unquoted value and activates its globs. A separator at either end makes an empty field there.
fn split(value: &Value, separators: &str) -> Vec<Value> {
    let mut fields = Vec::new();
    // A glob that comes from a variable has become file names by then.
    let falls_apart = !separators.is_empty() && value.chunks.iter().any(|chunk| matches!(chunk, Chunk::Glob(_)));
    let mut field = Value { chunks: Vec::new(), falls_apart, ..value.clone() };
    let mut apart = false;
    for chunk in &value.chunks {
        let Chunk::Text(text) = chunk else {
            field.chunks.push(chunk.clone());
            apart = false;
            continue;
        };
        for character in text.chars() {
            if separators.contains(character) {
                if !apart {
                    fields.push(std::mem::take(&mut field));
                }
                apart = true;
                continue;
            }
            apart = false;
            match character {
                '*' | '?' | '[' | ']' => field.chunks.push(Chunk::Glob(character)),
                _ => field.push_text(&character.to_string()),
            }
        }
    }
    fields.push(field);
    // Separators alone leave no field.
    if fields.iter().all(|field| field.chunks.is_empty()) {
        fields.truncate(1);
    }
    fields
}

/// A closed pair of braces: its position, and what stands in it outside of inner pairs.
struct Braces {
    open: usize,
    close: usize,
    commas: Vec<usize>,
    /// Where the first `..` is.
    dots: Option<usize>,
}

/// Finds the first pair that expands to something, in one pass, however many pairs there are.
fn first_braces(atoms: &[Atom<'_>]) -> Option<Braces> {
    let active = |at: usize, wanted: char| matches!(atoms.get(at), Some(Atom::Character(c, false)) if *c == wanted);
    let (mut begun, mut first): (Vec<Braces>, Option<Braces>) = (Vec::new(), None);
    for at in 0..atoms.len() {
        if active(at, '{') {
            begun.push(Braces { open: at, close: at, commas: Vec::new(), dots: None });
        } else if active(at, '}') {
            let closed = begun.pop().map(|braces| Braces { close: at, ..braces });
            let closed = closed.filter(|braces| !braces.commas.is_empty() || braces.dots.is_some());
            first = match (first, closed) {
                (Some(first), Some(closed)) => Some(if closed.open < first.open { closed } else { first }),
                (one, other) => one.or(other),
            };
        } else if let Some(last) = begun.last_mut() {
            if active(at, ',') {
                last.commas.push(at);
            } else if active(at, '.') && active(at + 1, '.') {
                last.dots.get_or_insert(at);
            }
        }
    }
    first
}

/// Expands `{a,b}` and `{1..3}`. A sequence becomes its two ends and a glob, because its single numbers do not
/// matter. `None` if there are too many possibilities.
fn braces<'w>(atoms: &[Atom<'w>], depth: u32) -> Option<Vec<Vec<Atom<'w>>>> {
    let Some(Braces { open, close, commas, dots }) = first_braces(atoms) else { return Some(vec![atoms.to_vec()]) };
    let mut choices: Vec<Vec<Atom<'w>>> = Vec::new();
    if let Some(dots) = dots.filter(|_| commas.is_empty()) {
        choices.push(atoms[open + 1..dots].to_vec());
        choices.push(atoms[dots + 2..close].to_vec());
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
    Some(whole)
}
