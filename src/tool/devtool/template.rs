//! The command of an action, as one line of the table: `git log -n {count:number=20} [-- {path:file}]`.
//!
//! Words stand as they are. `{name:kind}` is a parameter; its default follows after `=`. Text between brackets is
//! left out if its parameter is not given. A boolean leaves only the words before it. The result is the list of a
//! program's arguments: no shell reads them.

use serde_json::{Map, Value};

/// What a parameter takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterKind {
    /// A text.
    Text,
    /// A number.
    Number,
    /// Yes or no.
    Boolean,
    /// A file's path.
    File,
    /// A directory's path.
    Directory,
}

impl ParameterKind {
    const ALL: [(&'static str, Self); 5] = [
        ("text", Self::Text),
        ("number", Self::Number),
        ("boolean", Self::Boolean),
        ("file", Self::File),
        ("directory", Self::Directory),
    ];

    /// Returns the word of the table.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::File => "file",
            Self::Directory => "directory",
        }
    }
}

/// A parameter of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub kind: ParameterKind,
    /// Whether there is no action without it.
    pub required: bool,
    /// What it is where nothing is said.
    pub default: Option<&'static str>,
}

/// Why there are no arguments.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// A parameter that is required is missing.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// A value is not of the parameter's kind.
    #[error("`{name}` must be a {}", kind.word())]
    Kind {
        /// The parameter.
        name: &'static str,
        /// What it takes.
        kind: ParameterKind,
    },
    /// A value would be read as an option.
    #[error("`{0}` must not begin with a dash")]
    Option(&'static str),
    /// There is no such parameter.
    #[error("there is no `{0}`")]
    Unknown(String),
}

/// A word of a template.
enum Piece {
    Word(&'static str),
    Parameter(Parameter),
}

/// Words that are there together, or not at all.
struct Group {
    optional: bool,
    pieces: Vec<Piece>,
}

fn groups(template: &'static str) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut inside = false;
    for word in template.split(' ') {
        let opens = word.starts_with('[');
        let closes = word.ends_with(']');
        let bare = word.trim_start_matches('[').trim_end_matches(']');
        let optional = inside || opens;
        let piece = match bare.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')) {
            Some(inner) => Piece::Parameter(parameter(inner, optional)),
            None => Piece::Word(bare),
        };
        match groups.last_mut().filter(|_| inside) {
            Some(group) => group.pieces.push(piece),
            None => groups.push(Group { optional, pieces: vec![piece] }),
        }
        inside = optional && !closes;
    }
    groups
}

fn parameter(inner: &'static str, optional: bool) -> Parameter {
    let (name, rest) = inner.split_once(':').unwrap_or((inner, "text"));
    let (kind, default) = rest.split_once('=').map_or((rest, None), |(kind, default)| (kind, Some(default)));
    let kind = ParameterKind::ALL.iter().find(|(word, _)| *word == kind).map_or(ParameterKind::Text, |row| row.1);
    Parameter { name, kind, required: !optional && default.is_none(), default }
}

/// The parameters of a template, in order.
pub(super) fn parameters(template: &'static str) -> Vec<Parameter> {
    let pieces = groups(template).into_iter().flat_map(|group| group.pieces);
    pieces
        .filter_map(|piece| match piece {
            Piece::Parameter(parameter) => Some(parameter),
            Piece::Word(_) => None,
        })
        .collect()
}

/// A template as a person reads it: parameters in capitals.
pub(super) fn shown(template: &'static str) -> String {
    let group = |group: Group| {
        let words = group.pieces.into_iter().filter_map(|piece| match piece {
            Piece::Word(word) => Some(word.to_owned()),
            // Its words are there, or not.
            Piece::Parameter(parameter) if parameter.kind == ParameterKind::Boolean => None,
            Piece::Parameter(parameter) => Some(parameter.name.to_uppercase()),
        });
        let words = words.collect::<Vec<_>>().join(" ");
        if group.optional { format!("[{words}]") } else { words }
    };
    groups(template).into_iter().map(group).collect::<Vec<_>>().join(" ")
}

/// The program and its arguments.
pub(super) fn arguments(template: &'static str, given: &Map<String, Value>) -> Result<Vec<String>, TemplateError> {
    let known = parameters(template);
    if let Some(unknown) = given.keys().find(|name| known.iter().all(|parameter| parameter.name != name.as_str())) {
        return Err(TemplateError::Unknown(unknown.clone()));
    }
    let mut out: Vec<String> = Vec::new();
    for group in groups(template) {
        let mut words = Vec::new();
        let mut left_out = false;
        // After `--` no word is an option.
        let mut dashed = out.iter().any(|word| word == "--");
        for piece in group.pieces {
            match piece {
                Piece::Word(word) => {
                    dashed |= word == "--";
                    words.push(word.to_owned());
                }
                Piece::Parameter(parameter) => match text(&parameter, given.get(parameter.name))? {
                    Some(_) if parameter.kind == ParameterKind::Boolean => {}
                    Some(text) if text.starts_with('-') && !dashed && parameter.kind != ParameterKind::Number => {
                        return Err(TemplateError::Option(parameter.name));
                    }
                    Some(text) => words.push(text),
                    None if group.optional => left_out = true,
                    None => return Err(TemplateError::Missing(parameter.name)),
                },
            }
        }
        if !left_out {
            out.extend(words);
        }
    }
    Ok(out)
}

/// A value as an argument; `None` where there is none, or a boolean that is false.
fn text(parameter: &Parameter, value: Option<&Value>) -> Result<Option<String>, TemplateError> {
    let (name, kind) = (parameter.name, parameter.kind);
    let Some(value) = value.filter(|value| !value.is_null()) else {
        return Ok(parameter.default.map(str::to_owned));
    };
    match (kind, value) {
        (ParameterKind::Boolean, Value::Bool(yes)) => Ok(yes.then(String::new)),
        (ParameterKind::Number, Value::Number(number)) if number.is_i64() || number.is_u64() => {
            Ok(Some(number.to_string()))
        }
        (ParameterKind::Text | ParameterKind::File | ParameterKind::Directory, Value::String(text))
            if !text.is_empty() && !text.contains('\0') =>
        {
            Ok(Some(text.clone()))
        }
        _ => Err(TemplateError::Kind { name, kind }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const LOG: &str = "git log -n {count:number=20} [--stat {stat:boolean}] [-- {path:file}]";

    fn made(template: &'static str, given: &Value) -> Result<String, TemplateError> {
        arguments(template, given.as_object().unwrap()).map(|words| words.join("|"))
    }

    #[test]
    fn words_and_values_become_arguments() {
        assert_eq!(made(LOG, &json!({})).unwrap(), "git|log|-n|20");
        let all = json!({"count": 3, "stat": true, "path": "a b;rm"});
        assert_eq!(made(LOG, &all).unwrap(), "git|log|-n|3|--stat|--|a b;rm");
        assert_eq!(made(LOG, &json!({"stat": false, "path": "-x"})).unwrap(), "git|log|-n|20|--|-x");
    }

    #[test]
    fn parameters_are_read_off_the_line() {
        let names = |name, kind, required, default| Parameter { name, kind, required, default };
        let expected = [
            names("count", ParameterKind::Number, false, Some("20")),
            names("stat", ParameterKind::Boolean, false, None),
            names("path", ParameterKind::File, false, None),
        ];
        assert_eq!(parameters(LOG), expected);
        assert!(parameters("cat {path:file}")[0].required);
    }

    #[test]
    fn what_does_not_fit_is_refused_and_named() {
        let cat = "cat {path:file}";
        assert_eq!(made(cat, &json!({})), Err(TemplateError::Missing("path")));
        assert_eq!(made(cat, &json!({"path": "--help"})), Err(TemplateError::Option("path")));
        assert_eq!(made(cat, &json!({"file": "x"})), Err(TemplateError::Unknown("file".into())));
        let wrong = TemplateError::Kind { name: "path", kind: ParameterKind::File };
        for value in [json!(1), json!(""), json!("a\u{0}b"), json!(["x"])] {
            assert_eq!(made(cat, &json!({"path": value})), Err(wrong.clone()));
        }
        assert!(made(LOG, &json!({"count": 1.5})).is_err());
    }
}
