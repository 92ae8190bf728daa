//! What is wrong with the settings, in the person's language: warnings at the start, a list in `axi config check`.

use std::path::Path;

use super::console::Console;
use crate::approval::Rule;
use crate::config::{Fault, Finding, Form, Given, Paths, Setting, Shape, Spot};
use crate::frontend::repl::{ACTIONS, KeyError, parse_binding};
use crate::frontend::words;
use crate::locale::{self, Locale, word};
use crate::provider::Protocol;
use crate::terminal::{Theme, sanitize_line, width::width as cells};
use crate::tool::table;

/// How many characters of a line are shown at most, and how many of them stand before the position.
const SHOWN: usize = 72;
const BEFORE: usize = 40;

/// Something wrong, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Diagnostic {
    /// Where.
    pub(super) spot: Spot,
    /// The dotted key; empty where it is the whole file.
    pub(super) key: String,
    /// What is wrong.
    pub(super) problem: String,
    /// What to do; may be empty.
    pub(super) hint: String,
}

impl Diagnostic {
    /// Words a finding.
    pub(super) fn new(locale: &Locale, paths: &Paths, finding: &Finding) -> Self {
        let Finding { spot, key, fault } = finding;
        let own = paths.settings();
        let (problem, hint) = fault_words(locale, key, fault, own.as_deref() == Some(&spot.file));
        let hint = if *fault == Fault::ProjectMayNot {
            let path = own.map(|path| paths.shown(&path)).unwrap_or_default();
            locale.with(word::finding::ProjectMayNotHint { path: &path })
        } else {
            hint
        };
        Self { spot: spot.clone(), key: key.clone(), problem, hint }
    }

    /// Checks a text whose format only its user knows.
    pub(super) fn of_text(locale: &Locale, given: &Given) -> Option<Self> {
        let Given { setting, key, text, spot } = given;
        let name = key.rsplit('.').next().unwrap_or_default();
        let (problem, hint) = match setting.form {
            Form::Rule => {
                let cause = words::rule_error(locale, &Rule::parse_for(text, table::kind_of).err()?);
                let problem = locale.with(word::error::Rule { rule: text, cause: &cause });
                (problem, locale.text(word::error::RULE_HINT).to_owned())
            }
            Form::Style => {
                let cause = Theme::plain().restyle(name, text).err()?.to_string();
                (locale.with(word::error::Style { role: name, style: text, cause: &cause }), String::new())
            }
            Form::Action => {
                let cause = key_cause(locale, &parse_binding(name, text).err()?);
                (locale.with(word::error::Key { key: name, action: text, cause: &cause }), String::new())
            }
            Form::Protocol if Protocol::parse(text).is_none() => {
                let known = known(Form::Protocol).join(", ");
                (locale.with(word::finding::Form { key }), locale.with(word::finding::FormKnown { known: &known }))
            }
            Form::Protocol
            | Form::Any
            | Form::Secret
            | Form::Model
            | Form::Models
            | Form::Search
            | Form::GhostModel
            | Form::Language
            | Form::Url
            | Form::Price
            | Form::Variable => return None,
        };
        Some(Self { spot: spot.clone(), key: key.clone(), problem, hint })
    }

    /// Formats it as `FILE:LINE:COLUMN: PROBLEM`.
    pub(super) fn place(&self, paths: &Paths) -> String {
        let Spot { file, line, column, .. } = &self.spot;
        format!("{}:{line}:{column}: {}", shown(paths, file), self.problem)
    }

    /// Formats it as `FILE:LINE:COLUMN: PROBLEM`, followed by the line and a caret under the position.
    pub(super) fn whole(&self, paths: &Paths) -> String {
        let Spot { column, width, text, .. } = &self.spot;
        let skipped = if *column > BEFORE && text.chars().count() > SHOWN { column - BEFORE } else { 0 };
        let part: String = text.chars().skip(skipped).take(SHOWN).collect();
        let before: String = part.chars().take(column - 1 - skipped).collect();
        let marked: String = part.chars().skip(column - 1 - skipped).take(*width).collect();
        let plain = |text: &str| sanitize_line(&text.replace('\t', " ")).into_owned();
        let (gap, marks) = (" ".repeat(cells(&plain(&before))), "^".repeat(cells(&plain(&marked)).max(1)));
        let head = self.place(paths);
        if text.trim().is_empty() { head } else { format!("{head}\n  {}\n  {gap}{marks}", plain(&part)) }
    }
}

/// Words what is wrong with the settings. Of rules that is said where they are taken up, for it may end there.
pub(super) fn diagnostics(
    locale: &Locale,
    paths: &Paths,
    findings: &[Finding],
    given: &[Given],
) -> Vec<Diagnostic> {
    let given = given.iter().filter(|given| given.setting.form != Form::Rule);
    let texts = given.filter_map(|given| Diagnostic::of_text(locale, given));
    findings.iter().map(|finding| Diagnostic::new(locale, paths, finding)).chain(texts).collect()
}

/// Says what is wrong with the settings.
pub(super) fn tell(locale: &Locale, paths: &Paths, wrong: &[Diagnostic]) {
    for told in wrong {
        let text = told.whole(paths);
        Console::new(locale).warn(format!("{text}\n{}", told.hint).trim_end());
    }
}

/// Lists the words that a text may be, where they are known.
pub(super) fn known(form: Form) -> Vec<&'static str> {
    match form {
        Form::Language => std::iter::once("auto").chain(locale::tags()).collect(),
        Form::Protocol => {
            let aliases = Protocol::ALIASES.into_iter().map(|(name, _)| name);
            Protocol::ALL.map(Protocol::name).into_iter().chain(aliases).collect()
        }
        Form::Action => ACTIONS.iter().map(|(name, _)| *name).collect(),
        Form::Any
        | Form::Secret
        | Form::Model
        | Form::Models
        | Form::Search
        | Form::GhostModel
        | Form::Url
        | Form::Price
        | Form::Variable
        | Form::Rule
        | Form::Style => Vec::new(),
    }
}

fn key_cause(locale: &Locale, error: &KeyError) -> String {
    match error {
        KeyError::Key(name) => locale.with(word::error::KeyName { name }),
        KeyError::Action(name) => {
            locale.with(word::error::KeyAction { name, known: &known(Form::Action).join(", ") })
        }
    }
}

/// Returns what is wrong and what to do now; `own` says whether the file is the person's own.
fn fault_words(locale: &Locale, key: &str, fault: &Fault, own: bool) -> (String, String) {
    use word::finding::{
        Choice, ChoiceHint, Kind, LeastHint, Loosens, ProjectMayNot, ProjectSyntax, Range, RangeHint, Syntax,
        Unknown, UnknownHint,
    };
    match fault {
        Fault::Syntax { cause } if own => {
            (locale.with(Syntax { cause }), locale.text(word::error::CONFIG_HINT).to_owned())
        }
        Fault::Syntax { cause } => (locale.with(ProjectSyntax { cause }), String::new()),
        Fault::Unknown { nearest } => {
            let hint = nearest.as_ref().map(|nearest| locale.with(UnknownHint { nearest }));
            (locale.with(Unknown { key }), hint.unwrap_or_default())
        }
        Fault::NoChoice { found, words } => {
            let found = format!("{found:?}");
            (locale.with(Choice { key, found: &found }), locale.with(ChoiceHint { words: &words.join(", ") }))
        }
        Fault::OutOfRange { least, most } => {
            let least = &least.to_string();
            let hint = match most {
                &u64::MAX => locale.with(LeastHint { least }),
                most => locale.with(RangeHint { least, most: &most.to_string() }),
            };
            (locale.with(Range { key }), hint)
        }
        Fault::WrongKind { setting } => (locale.with(Kind { key }), kind_hint(locale, key, setting)),
        Fault::WrongForm { setting } => (locale.with(word::finding::Form { key }), form_hint(locale, setting)),
        Fault::ProjectMayNot => (locale.with(ProjectMayNot { key }), String::new()),
        Fault::Loosens => (locale.with(Loosens { key }), String::new()),
    }
}

fn kind_hint(locale: &Locale, key: &str, setting: &Setting) -> String {
    let text = |word| locale.text(word).to_owned();
    match setting.shape {
        Shape::Choice(words) => locale.with(word::finding::KindChoice { words: &words.join(", ") }),
        Shape::Number => text(word::finding::KIND_NUMBER),
        Shape::Dollars => text(word::finding::KIND_DOLLARS),
        Shape::Switch => text(word::finding::KIND_SWITCH),
        Shape::Text | Shape::Texts if key.ends_with(setting.name) && matches!(setting.shape, Shape::Texts) => {
            locale.with(word::finding::KindTable { key })
        }
        Shape::Text | Shape::Texts => text(word::finding::KIND_TEXT),
        Shape::List | Shape::Words => text(word::finding::KIND_LIST),
        Shape::Section(_) | Shape::Named(_) => locale.with(word::finding::KindTable { key }),
    }
}

fn form_hint(locale: &Locale, setting: &Setting) -> String {
    match setting.form {
        Form::Model | Form::Models | Form::GhostModel => locale.text(word::finding::FORM_MODEL).to_owned(),
        Form::Search => locale.text(word::finding::FORM_SEARCH).to_owned(),
        Form::Url => locale.text(word::finding::FORM_URL).to_owned(),
        Form::Price => locale.text(word::finding::FORM_PRICE).to_owned(),
        Form::Variable => locale.text(word::finding::FORM_VARIABLE).to_owned(),
        form @ (Form::Language | Form::Protocol) => {
            locale.with(word::finding::FormKnown { known: &known(form).join(", ") })
        }
        Form::Any | Form::Secret | Form::Rule | Form::Style | Form::Action => String::new(),
    }
}

/// Shortens a file's path for display; the name of a variable stays as it is.
fn shown(paths: &Paths, file: &Path) -> String {
    if file.is_absolute() { paths.shown(file) } else { file.display().to_string() }
}
