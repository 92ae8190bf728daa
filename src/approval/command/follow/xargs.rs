//! `xargs`: which names from its input the command gets, and where they stand among its words.

use super::super::effect::{Field, Input};
use super::super::known::{Chunk, Origin, Value};
use super::super::search::Handed;
use super::flags::Flags;
use crate::approval::Unparsed;

/// Flags by which the same names are passed on, in more or fewer calls.
const PLAIN: &[&str] =
    &["-r", "--no-run-if-empty", "-n", "--max-args", "-P", "--max-procs", "-t", "--verbose", "-L"];
/// Flags that name what in the command is replaced by a name.
const REPLACING: &[&str] = &["-I", "-i", "--replace", "-J"];
/// Flags that split the input at NUL.
const BY_ZERO: &[&str] = &["-0", "--null"];

/// Flags that name the file with the names.
pub(super) const LIST: &[&str] = &["-a", "--arg-file"];

/// Returns the commands that a call may run.
pub(super) fn readings(flags: &Flags<'_>, input: &Input) -> Vec<Vec<Field>> {
    let mark = mark(flags);
    let items = items(input, flags, mark.is_some());
    let command: Vec<Field> = if flags.rest.is_empty() { vec![Field::text("echo")] } else { flags.rest.to_vec() };
    let mut readings = Vec::new();
    if let Some(mark) = &mark {
        readings.push(replace(&command, mark, &items));
    }
    if mark.is_none() || ends_replacing(flags) {
        readings.push(command.into_iter().chain(items).collect());
    }
    readings
}

/// Tells why it cannot be said what a call does with its command, if so.
pub(super) fn doubt(flags: &Flags<'_>) -> Option<Unparsed> {
    let hidden = |value: &Value| value.known().is_none_or(|mark| mark.is_empty());
    let replacing = flags.last(REPLACING).and_then(|at| flags.given.get(at)?.value.as_ref());
    // The flag sets a variable with any name.
    let sets = flags.last(&["--process-slot-var"]).map(|_| Unparsed::Environment);
    sets.or_else(|| replacing.is_some_and(hidden).then_some(Unparsed::Wrapper))
}

/// Returns what is replaced in the command, if anything is.
fn mark(flags: &Flags<'_>) -> Option<String> {
    let given = flags.given.get(flags.last(REPLACING)?)?;
    let known = given.value.as_ref().and_then(Value::known).filter(|mark| !mark.is_empty());
    known.or_else(|| Some("{}".to_owned()))
}

/// Returns the names that are passed on.
fn items(input: &Input, flags: &Flags<'_>, by_line: bool) -> Vec<Field> {
    let unknown = || vec![Field::unknown()];
    let hidden = |value: Value| Field { value, written: None };
    if flags.last(LIST).is_some() {
        return unknown();
    }
    let plain = |more: &[&str]| flags.only(&[PLAIN, more].concat());
    match input {
        Input::Text(text) if plain(&["-I", "-i", "--replace"]) => {
            let words = if by_line { lines(text) } else { words(text) };
            words.map_or_else(unknown, |words| words.into_iter().map(|word| hidden(Value::text(word))).collect())
        }
        Input::Names(names) => {
            let by_zero = flags.last(BY_ZERO).is_some();
            let plain = plain(&[BY_ZERO, &["-I", "-i", "--replace"]].concat());
            let handed = |value: &Value| match &value.origin {
                Origin::Search(search) if plain && by_zero == (search.handed == Handed::Whole) => value.clone(),
                Origin::Line | Origin::Perhaps | Origin::Some | Origin::Search(_) => {
                    Value { origin: Origin::Some, ..value.clone() }
                }
            };
            names.iter().map(|value| hidden(handed(value))).collect()
        }
        Input::Inherited | Input::Text(_) | Input::Unknown { .. } => unknown(),
    }
}

/// Splits a text at blanks; `None` if quotes in it say where it is split.
fn words(text: &str) -> Option<Vec<&str>> {
    (!is_quoted(text)).then(|| text.split([' ', '\t', '\n']).filter(|word| !word.is_empty()).collect())
}

/// Splits a text into lines, each of which is one name.
fn lines(text: &str) -> Option<Vec<&str>> {
    let lines =
        || text.split('\n').map(|line| line.trim_start_matches([' ', '\t'])).filter(|line| !line.is_empty());
    (!is_quoted(text) && lines().all(|line| line.trim_end() == line)).then(|| lines().collect())
}

fn is_quoted(text: &str) -> bool {
    text.contains(['\'', '"', '\\', '\0'])
}

/// Tells whether a flag behind the one that replaces takes its place in some versions: names are then appended.
fn ends_replacing(flags: &Flags<'_>) -> bool {
    let behind = flags.last(REPLACING).map_or(0, |at| at + 1);
    flags.given.iter().skip(behind).any(|given| match given.name.as_str() {
        "-n" | "--max-args" => given.value.as_ref().and_then(Value::known).as_deref() != Some("1"),
        name => matches!(name, "-L" | "-l" | "--max-lines"),
    })
}

/// Replaces a placeholder by items.
pub(crate) fn replace(fields: &[Field], mark: &str, items: &[Field]) -> Vec<Field> {
    let mut replaced = Vec::new();
    for field in fields {
        let shown = field.value.shown();
        if shown == mark {
            replaced.extend(items.iter().cloned());
        } else if !mark.is_empty() && shown.contains(mark) {
            let mut value = Value::default();
            for (index, piece) in shown.split(mark).enumerate() {
                if index > 0 {
                    value.chunks.push(Chunk::Unknown);
                }
                value.push_text(piece);
            }
            replaced.push(Field { value, written: None });
        } else {
            replaced.push(field.clone());
        }
    }
    replaced
}
