//! One simple command with its words expanded, and what the judgement found out about it.

use std::path::PathBuf;

use super::super::known::State;
use super::super::known::{Origin, Value};
use crate::approval::program::{Action, Flags, Grammar, Program, Trait};
use crate::approval::{Class, NeverAuto, Unparsed};

/// One expanded word.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Field {
    pub(crate) value: Value,
    /// The word as a person saw it; `None` if the program gets something else.
    pub(crate) written: Option<String>,
}

impl Field {
    pub(crate) fn text(text: &str) -> Self {
        Self { value: Value::text(text), written: Some(text.to_owned()) }
    }

    pub(crate) fn unknown() -> Self {
        Self { value: Value::unknown(), written: None }
    }
}

/// What a command reads on its standard input.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) enum Input {
    /// The terminal, or nothing.
    #[default]
    Inherited,
    /// This text.
    Text(String),
    /// Names of files that match these.
    Names(Vec<Value>),
    /// A file, or the output of a program.
    Unknown {
        /// Whether it comes from the network or was decoded on the way: nobody has seen it.
        unseen: bool,
    },
}

impl Input {
    /// Returns the input when only a part of it is passed on: which names remain is not known.
    pub(super) fn some(&self) -> Self {
        match self {
            Self::Names(names) => {
                Self::Names(names.iter().map(|name| Value { origin: Origin::Some, ..name.clone() }).collect())
            }
            Self::Inherited | Self::Text(_) | Self::Unknown { .. } => self.clone(),
        }
    }

    /// Tells whether nobody has seen the input.
    pub(crate) const fn is_unseen(&self) -> bool {
        matches!(self, Self::Unknown { unseen: true })
    }
}

/// A command about to be judged.
pub(crate) struct Call<'c, 's> {
    /// The program's name without directories.
    pub(crate) name: &'c str,
    /// Its row in the table, if there is one.
    pub(crate) program: Option<&'static Program>,
    pub(crate) arguments: &'c [Field],
    pub(crate) state: &'c State<'s>,
    pub(crate) input: &'c Input,
}

/// A target before its path is known.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Touched {
    pub(crate) value: Value,
    pub(crate) action: Action,
    /// Whether everything below it changes with it.
    pub(crate) recursive: bool,
    /// Whether the command picks only some of what lies below, by name: the directory as a whole is then not in
    /// danger.
    pub(crate) filtered: bool,
}

/// The findings about one command.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Finding {
    pub(crate) class: Class,
    pub(crate) touched: Vec<Touched>,
    pub(crate) unparsed: Option<Unparsed>,
    pub(crate) never: Option<NeverAuto>,
    pub(crate) credential: Option<String>,
    pub(crate) reads: Vec<PathBuf>,
    /// Whether it is a program in the line itself, however short, that seems to only look.
    pub(crate) runs_program: bool,
}

impl Finding {
    pub(crate) fn new(class: Class) -> Self {
        Self {
            class,
            touched: Vec::new(),
            unparsed: None,
            never: None,
            credential: None,
            reads: Vec::new(),
            runs_program: false,
        }
    }

    pub(crate) fn unparsed(why: Unparsed) -> Self {
        Self { unparsed: Some(why), ..Self::new(Class::Execute) }
    }

    pub(crate) fn never(class: Class, why: NeverAuto) -> Self {
        Self { never: Some(why), ..Self::new(class) }
    }
}

impl Call<'_, '_> {
    /// Tells whether its words have this grammar.
    pub(crate) fn is(&self, grammar: Grammar) -> bool {
        self.program.is_some_and(|program| program.grammar == grammar)
    }

    /// Returns the arguments that are no flags; after `--` no argument is a flag.
    pub(crate) fn positionals(&self) -> Vec<&Field> {
        let mut ended = false;
        let mut positionals = Vec::new();
        for field in self.arguments {
            let start = field.value.start();
            if !ended && start == "--" && field.value.known().is_some() {
                ended = true;
            } else if ended || !start.starts_with('-') || start == "-" {
                positionals.push(field);
            }
        }
        positionals
    }

    /// Returns the known texts of all arguments; an unknown one becomes an empty text.
    pub(crate) fn texts(&self) -> Vec<String> {
        self.arguments.iter().map(|field| field.value.known().unwrap_or_default()).collect()
    }

    /// Tells whether a flag may be given: as a letter in a cluster, or as a long name or the beginning of one,
    /// which GNU programs and git accept. If it is wrong, the judgement is too strict, never too mild.
    pub(crate) fn has_flag(&self, letters: &str, longs: &[&str]) -> bool {
        has_flag(self.arguments, letters, &longs.iter().copied())
    }

    /// Does the same for flags of the table. A file of flags may have any.
    pub(crate) fn has(&self, flags: Flags) -> bool {
        let is = |what| self.program.is_some_and(|program| program.is(what));
        if is(Trait::ResponseFiles) && self.arguments.iter().any(|field| field.value.start().starts_with('@')) {
            return true;
        }
        if is(Trait::AnyDashes) { self.has_undashed(flags) } else { may_have(self.arguments, flags) }
    }

    /// Tells whether a flag may be given, behind any number of dashes.
    fn has_undashed(&self, flags: Flags) -> bool {
        let may_be = |field: &Field| {
            let start = field.value.start();
            let name = start.trim_start_matches('-').split('=').next().unwrap_or_default();
            let is_begun = |known: &str| start.starts_with("--") && !name.is_empty() && known.starts_with(name);
            let is_long =
                |known: &str| known.trim_start_matches('-') == name || is_begun(known.trim_start_matches('-'));
            let mut letters = flags.letters.as_str().chars();
            start.is_empty() && !field.value.shown().is_empty()
                || start.starts_with('-')
                    && (flags.longs.iter().any(is_long)
                        || letters.any(|letter| name.strip_prefix(letter).is_some_and(str::is_empty)))
        };
        !flags.is_empty() && self.arguments.iter().any(may_be)
    }

    /// Returns the argument that follows one of these flags, or that is joined to a long one by `=`.
    pub(crate) fn value_of<'f>(&self, flags: impl IntoIterator<Item = &'f str>) -> Option<Value> {
        let flags: Vec<&str> = flags.into_iter().collect();
        let mut fields = self.arguments.iter();
        while let Some(field) = fields.next() {
            let text = field.value.start();
            for flag in &flags {
                if text == *flag && field.value.chunks.len() <= 1 {
                    return fields.next().map(|field| field.value.clone());
                }
                let joined = text.strip_prefix(flag).is_some_and(|rest| rest.starts_with('='));
                if flag.starts_with("--") && joined {
                    return Some(field.value.without_start(flag.len() + 1));
                }
                if !flag.starts_with("--") && flag.len() == 2 && text.len() > 2 && text.starts_with(flag) {
                    return Some(field.value.without_start(2));
                }
            }
        }
        None
    }
}

/// Tells whether one of these words may be such a flag: see [`Call::has_flag`].
pub(crate) fn may_have(arguments: &[Field], flags: Flags) -> bool {
    !flags.is_empty() && has_flag(arguments, flags.letters.as_str(), &flags.longs.iter())
}

fn has_flag<'f>(arguments: &[Field], letters: &str, longs: &(impl Iterator<Item = &'f str> + Clone)) -> bool {
    let mut ended = false;
    for field in arguments {
        let start = field.value.start();
        if start == "--" && field.value.known().is_some() {
            ended = true;
        }
        if ended {
            continue;
        }
        // An unknown word may be a flag; so may a glob that matches a file whose name was chosen to look like one.
        let may_be_any = !field.value.shown().is_empty() && start.is_empty();
        if may_be_any && !(letters.is_empty() && longs.clone().next().is_none()) {
            return true;
        }
        if let Some(long) = start.strip_prefix("--") {
            let name = long.split('=').next().unwrap_or_default();
            if !name.is_empty() && longs.clone().any(|known| known.starts_with(name)) {
                return true;
            }
        } else if let Some(cluster) = start.strip_prefix('-')
            && cluster.chars().any(|letter| letters.contains(letter))
        {
            return true;
        }
        // `find` and other old programs have long names after one dash.
        let name = start.split('=').next().unwrap_or_default();
        if longs.clone().any(|known| known == name) {
            return true;
        }
    }
    false
}
