//! The declaration of a setting: one row, from which the parser, the errors, the schema and docs/settings.md are made.

use crate::locale::Word;

/// One setting, or a section of them.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// The last part of its key.
    pub name: &'static str,
    /// What it takes.
    pub shape: Shape,
    /// The default, as a file would have it; empty if there is none.
    pub default: fn() -> String,
    /// One sentence on what it does.
    pub says: Word,
    /// The first version that had it.
    pub since: &'static str,
    /// What a project's file may do with it.
    pub project: Project,
    /// The form of its text, where it is one.
    pub form: Form,
    /// The smallest and the largest value of a number.
    pub range: (u64, u64),
    /// The variable of the environment that overrides it.
    pub variable: Option<&'static str>,
    /// The flag that overrides both.
    pub flag: Option<&'static str>,
    /// When a change of the file takes effect in an axi that runs.
    pub applies: Applies,
    /// Whether it decides how requests are made: after a change the model is connected to anew.
    pub decides_requests: bool,
}

/// When a change of the file takes effect in an axi that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Applies {
    /// Before the next line is read.
    Soon,
    /// At the next start: what depends on it is built only then.
    AtStart,
}

/// What a setting takes.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A whole number.
    Number,
    /// An amount of dollars.
    Dollars,
    /// `true` or `false`.
    Switch,
    /// A text of some form.
    Text,
    /// A list of such texts.
    List,
    /// A list of any texts.
    Words,
    /// Such texts by name.
    Texts,
    /// A table of these.
    Section(&'static [Setting]),
    /// Tables of these by name.
    Named(&'static [Setting]),
}

/// What a text stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Anything.
    Any,
    /// `PROVIDER/MODEL`.
    Model,
    /// The same, several with commas between.
    Models,
    /// The same as the first, or `off`.
    GhostModel,
    /// A language tag, or `auto`.
    Language,
    /// An address with http or https.
    Url,
    /// `off`, `provider`, or the address of a SearXNG.
    Search,
    /// The name of a variable of the environment.
    Variable,
    /// How a provider is spoken to.
    Protocol,
    /// Dollars for a million tokens: read, written; if they differ, also read from the cache and written to it.
    Price,
    /// A rule that allows, asks or denies.
    Rule,
    /// Colours and attributes, under the name of what they are for.
    Style,
    /// What a key does, under the key's name.
    Action,
    /// Any text. It may be a secret and is never shown.
    Secret,
}

/// What a project's file can do with a setting. Anybody may have written that file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Project {
    /// Nothing: it is the person's alone.
    Never,
    /// Make it stricter.
    Tighten,
    /// It can set it after the person has seen the file and agreed.
    Trusted,
    /// It can set it: the setting changes only looks.
    Free,
}

impl Setting {
    /// Begins a row: what the setting does, and the version that brought it. Only the person can set it.
    pub(super) const fn new(says: Word, since: &'static str) -> Self {
        Self {
            name: "",
            shape: Shape::Text,
            default: String::new,
            says,
            since,
            project: Project::Never,
            form: Form::Any,
            range: (0, u64::MAX),
            variable: None,
            flag: None,
            applies: Applies::Soon,
            decides_requests: false,
        }
    }

    /// Says what a project's file can do with it.
    pub(super) const fn project(mut self, project: Project) -> Self {
        self.project = project;
        self
    }

    /// Says what its text stands for.
    pub(super) const fn form(mut self, form: Form) -> Self {
        self.form = form;
        self
    }

    /// Bounds it, both ends included.
    pub(super) const fn between(mut self, least: u64, most: u64) -> Self {
        self.range = (least, most);
        self
    }

    /// Names the variable that overrides it.
    pub(super) const fn variable(mut self, name: &'static str) -> Self {
        self.variable = Some(name);
        self
    }

    /// Names the flag that overrides it.
    pub(super) const fn flag(mut self, name: &'static str) -> Self {
        self.flag = Some(name);
        self
    }

    /// Says that a change takes effect at the next start only.
    pub(super) const fn at_start(mut self) -> Self {
        self.applies = Applies::AtStart;
        self
    }

    /// Says that it decides how requests are made.
    pub(super) const fn decides_requests(mut self) -> Self {
        self.decides_requests = true;
        self
    }
}

impl Form {
    /// Tells whether a text has this form, as far as this room can check it; the room that uses it checks the rest.
    #[must_use]
    pub fn fits(self, text: &str) -> bool {
        match self {
            Self::Model => text.split_once('/').is_some_and(|(provider, model)| {
                !provider.is_empty() && !model.is_empty() && !text.contains(char::is_whitespace)
            }),
            Self::Models => text.split(',').all(|one| Self::Model.fits(one.trim())),
            Self::GhostModel => text == "off" || Self::Model.fits(text),
            Self::Language => text == "auto" || crate::locale::matching(text).is_some(),
            Self::Url => {
                let after = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
                after.is_some_and(|after| !after.is_empty() && !after.starts_with('/'))
                    && !text.contains(char::is_whitespace)
            }
            Self::Search => matches!(text, "off" | "provider") || Self::Url.fits(text),
            Self::Variable => {
                text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
                    && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
            }
            Self::Price => {
                let is_number = |part: &str| part.parse::<f64>().is_ok_and(|number| number >= 0.0);
                (2..=4).contains(&text.split('/').count()) && text.split('/').all(is_number)
            }
            Self::Any | Self::Secret | Self::Protocol | Self::Rule | Self::Style | Self::Action => true,
        }
    }
}
