//! The types that settings have, and how a file is read by their declarations alone.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use toml_edit::{Item, TableLike, Value};

use super::finding::{Fault, Finding, Spot, nearest};
use super::held::{Held, Origin};
use super::setting::{Form, Project, Setting, Shape};

/// A type that settings have, with what the schema says of it.
pub(super) trait Shaped {
    /// What it takes.
    const SHAPE: Shape;
}

/// A value that a file, or a variable of the environment, can set.
pub(super) trait Entry {
    /// Takes over a value of a file if it is valid and this file may set it.
    fn take(&mut self, item: &Item, setting: &'static Setting, reader: &mut Reader<'_>);

    /// Takes over what a variable says.
    ///
    /// # Errors
    /// What is wrong with it.
    fn take_text(&mut self, _: &str, setting: &'static Setting) -> Result<(), Fault> {
        Err(Fault::WrongKind { setting })
    }

    /// Returns the value as a file would have it; empty if there is none.
    fn shown(&self) -> String;
}

/// A table of settings.
pub(super) trait Section {
    /// Its rows.
    const SETTINGS: &'static [Setting];

    /// Finds the value of a row.
    fn entry(&mut self, name: &str) -> Option<&mut dyn Entry>;
}

/// An enum whose variants are words. Where a project may tighten it, the strictest word is the first.
pub(super) trait Choice: Copy {
    /// Its words.
    const WORDS: &'static [&'static str];

    /// Reads a word.
    fn parse(word: &str) -> Option<Self>;

    /// Returns its word.
    fn word(self) -> &'static str;
}

/// One value, not a table or a list of them.
pub(super) trait Leaf: Sized {
    const SHAPE: Shape;

    fn read(value: &Value, setting: &'static Setting) -> Result<Self, Fault>;

    fn read_text(text: &str, setting: &'static Setting) -> Result<Self, Fault>;

    fn shown(&self) -> String;

    /// Tells whether a project may set this value: it may only make the setting stricter.
    fn tightens(&self, current: &Self) -> Tightens;
}

/// What a value does to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tightens {
    /// It is stricter, or the same.
    Yes,
    /// The value before it is stricter and stays.
    Already,
    /// It is looser.
    No,
}

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layer {
    /// The person's.
    Person,
    /// A project's.
    Project {
        /// Whether the person has seen it and said yes.
        trusted: bool,
    },
}

/// A text whose form is known only to who uses it.
#[derive(Debug, Clone)]
pub struct Given {
    /// What it is.
    pub setting: &'static Setting,
    /// The dotted key.
    pub key: String,
    /// The text.
    pub text: String,
    /// Where it is.
    pub spot: Spot,
}

/// What is gathered while settings are read.
#[derive(Debug, Clone, Default)]
pub(super) struct Gathered {
    pub(super) findings: Vec<Finding>,
    pub(super) given: Vec<Given>,
    /// What was taken over, by its dotted key.
    pub(super) held: BTreeMap<String, Held>,
}

/// The file that is being read, and how far.
pub(super) struct Reader<'a> {
    file: &'a Path,
    source: &'a str,
    layer: Layer,
    /// Finds the whole key of a setting by the last part of it.
    elsewhere: fn(&str) -> Option<String>,
    key: Vec<String>,
    /// Where the key is that is being read.
    key_span: Option<Range<usize>>,
    gathered: &'a mut Gathered,
}

impl<'a> Reader<'a> {
    /// Begins a file.
    pub(super) const fn new(
        file: &'a Path,
        source: &'a str,
        layer: Layer,
        elsewhere: fn(&str) -> Option<String>,
        gathered: &'a mut Gathered,
    ) -> Self {
        Self { file, source, layer, elsewhere, key: Vec::new(), key_span: None, gathered }
    }

    /// Tells whether the file is a project's.
    pub(super) const fn is_project(&self) -> bool {
        matches!(self.layer, Layer::Project { .. })
    }

    /// Reports what is wrong at the key, where there is no range in the file.
    pub(super) fn fault(&mut self, span: Option<Range<usize>>, fault: Fault) {
        let spot = Spot::new(self.file, self.source, span.or_else(|| self.key_span.clone()));
        self.gathered.findings.push(Finding { spot, key: self.key.join("."), fault });
    }

    /// Says that a project may not say this.
    pub(super) fn refuse(&mut self) {
        self.fault(self.key_span.clone(), Fault::ProjectMayNot);
    }

    /// Keeps a text whose form another room checks, and checks here what can be checked without it.
    pub(super) fn given(&mut self, text: &str, span: Option<Range<usize>>, setting: &'static Setting) {
        if !setting.form.fits(text) {
            return self.fault(span, Fault::WrongForm { setting });
        }
        if matches!(
            setting.form,
            Form::Protocol
                | Form::Rule
                | Form::Style
                | Form::Action
                | Form::Model
                | Form::Models
                | Form::GhostModel
        ) {
            let spot = Spot::new(self.file, self.source, span);
            let key = self.key.join(".");
            self.gathered.given.push(Given { setting, key, text: text.to_owned(), spot });
        }
    }

    /// Records that the value comes from here and replaces the one before.
    pub(super) fn took(&mut self, value: String, span: Option<Range<usize>>, setting: &'static Setting) {
        let origin = self.origin(span);
        let key = self.key.join(".");
        let held = Held { key: key.clone(), setting, value, origins: vec![origin] };
        self.gathered.held.insert(key, held);
    }

    /// Records that a list has items from here, too.
    pub(super) fn took_also(&mut self, value: String, span: Option<Range<usize>>, setting: &'static Setting) {
        let before = self.gathered.held.remove(&self.key.join("."));
        self.took(value, span, setting);
        if let Some((before, held)) = before.zip(self.gathered.held.get_mut(&self.key.join("."))) {
            held.origins.splice(0..0, before.origins);
        }
    }

    fn origin(&self, span: Option<Range<usize>>) -> Origin {
        let spot = Spot::new(self.file, self.source, span.or_else(|| self.key_span.clone()));
        if self.is_project() { Origin::Project(spot) } else { Origin::File(spot) }
    }

    /// Reads one value; what is wrong with it is said.
    pub(super) fn leaf<T: Leaf>(&mut self, item: &Item, setting: &'static Setting) -> Option<T> {
        let value = item.as_value().ok_or(Fault::WrongKind { setting });
        let read = value.and_then(|value| T::read(value, setting));
        if let (Ok(_), Some(text)) = (&read, item.as_str()) {
            self.given(text, item.span(), setting);
        }
        read.map_err(|fault| self.fault(item.span(), fault)).ok()
    }

    /// Goes through a table whose names are the person's.
    pub(super) fn each(
        &mut self,
        item: &Item,
        setting: &'static Setting,
        mut take: impl FnMut(&str, &Item, &mut Self),
    ) {
        let Some(table) = item.as_table_like() else {
            return self.fault(item.span(), Fault::WrongKind { setting });
        };
        for (name, item) in table.iter() {
            self.within(table, name, |reader| take(name, item, reader));
        }
    }

    /// Reads a table of settings.
    pub(super) fn section<S: Section>(&mut self, into: &mut S, item: &Item, setting: &'static Setting) {
        match item.as_table_like() {
            Some(table) => self.table(into, table),
            None => self.fault(item.span(), Fault::WrongKind { setting }),
        }
    }

    /// The same, of the whole file.
    pub(super) fn table<S: Section>(&mut self, into: &mut S, table: &dyn TableLike) {
        for (name, item) in table.iter() {
            self.within(table, name, |reader| {
                let setting = S::SETTINGS.iter().find(|setting| setting.name == name);
                let (Some(setting), Some(entry)) = (setting, into.entry(name)) else {
                    let nearest = reader.nearest(name, S::SETTINGS);
                    return reader.fault(None, Fault::Unknown { nearest });
                };
                match (setting.project, reader.layer) {
                    (Project::Never, Layer::Project { .. }) => reader.refuse(),
                    // One warning says of the whole file that the person has not agreed to it.
                    (Project::Trusted, Layer::Project { trusted: false }) => {}
                    _ => entry.take(item, setting, reader),
                }
            });
        }
    }

    fn within(&mut self, table: &dyn TableLike, name: &str, read: impl FnOnce(&mut Self)) {
        let above = self.key_span.take();
        self.key_span = table.key(name).and_then(toml_edit::Key::span);
        self.key.push(name.to_owned());
        read(self);
        self.key.pop();
        self.key_span = above;
    }

    /// Finds the key that was meant: in this table, otherwise one of the same name in another table.
    fn nearest(&self, name: &str, here: &'static [Setting]) -> Option<String> {
        let table = &self.key[..self.key.len() - 1];
        let whole = |found: &str| table.iter().map(String::as_str).chain([found]).collect::<Vec<_>>().join(".");
        let here = nearest(name, here.iter().map(|setting| setting.name)).map(whole);
        here.or_else(|| (self.elsewhere)(name))
    }
}
