//! How each type of value is read, shown, and made stricter.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};

use toml_edit::{Item, Value};

use super::entry::{Choice, Entry, Leaf, Reader, Section, Shaped, Tightens};
use super::finding::Fault;
use super::setting::{Project, Setting, Shape};

impl<T: Choice> Leaf for T {
    const SHAPE: Shape = Shape::Choice(T::WORDS);

    fn read(value: &Value, setting: &'static Setting) -> Result<Self, Fault> {
        Self::read_text(value.as_str().ok_or(Fault::WrongKind { setting })?, setting)
    }

    fn read_text(text: &str, _: &'static Setting) -> Result<Self, Fault> {
        T::parse(text).ok_or_else(|| Fault::NoChoice { found: text.to_owned(), words: T::WORDS })
    }

    fn shown(&self) -> String {
        format!("{:?}", self.word())
    }

    fn tightens(&self, current: &Self) -> Tightens {
        let place = |word| T::WORDS.iter().position(|known| *known == word);
        if place(self.word()) <= place(current.word()) { Tightens::Yes } else { Tightens::No }
    }
}

impl Leaf for String {
    const SHAPE: Shape = Shape::Text;

    fn read(value: &Value, setting: &'static Setting) -> Result<Self, Fault> {
        value.as_str().map(str::to_owned).ok_or(Fault::WrongKind { setting })
    }

    fn read_text(text: &str, _: &'static Setting) -> Result<Self, Fault> {
        Ok(text.to_owned())
    }

    fn shown(&self) -> String {
        format!("{self:?}")
    }

    fn tightens(&self, _: &Self) -> Tightens {
        Tightens::No
    }
}

impl Leaf for u64 {
    const SHAPE: Shape = Shape::Number;

    fn read(value: &Value, setting: &'static Setting) -> Result<Self, Fault> {
        let number = value.as_integer().ok_or(Fault::WrongKind { setting })?;
        let (least, most) = setting.range;
        let inside = Self::try_from(number).ok().filter(|number| (least..=most).contains(number));
        inside.ok_or(Fault::OutOfRange { least, most })
    }

    fn read_text(text: &str, setting: &'static Setting) -> Result<Self, Fault> {
        let number: i64 = text.trim().parse().map_err(|_| Fault::WrongKind { setting })?;
        Self::read(&Value::from(number), setting)
    }

    fn shown(&self) -> String {
        self.to_string()
    }

    fn tightens(&self, current: &Self) -> Tightens {
        if self <= current { Tightens::Yes } else { Tightens::Already }
    }
}

/// An amount of dollars, nothing below zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dollars(pub f64);

impl Leaf for Dollars {
    const SHAPE: Shape = Shape::Dollars;

    fn read(value: &Value, setting: &'static Setting) -> Result<Self, Fault> {
        // Amounts of money are far below 2^32.
        let whole = || value.as_integer().and_then(|whole| u32::try_from(whole).ok()).map(f64::from);
        let amount = value.as_float().or_else(whole).filter(|amount| amount.is_finite() && *amount >= 0.0);
        amount.map(Self).ok_or(Fault::WrongKind { setting })
    }

    fn read_text(text: &str, setting: &'static Setting) -> Result<Self, Fault> {
        let amount: f64 = text.trim().parse().map_err(|_| Fault::WrongKind { setting })?;
        Self::read(&Value::from(amount), setting)
    }

    fn shown(&self) -> String {
        self.0.to_string()
    }

    fn tightens(&self, current: &Self) -> Tightens {
        if self.0 <= current.0 { Tightens::Yes } else { Tightens::Already }
    }
}

impl Leaf for bool {
    const SHAPE: Shape = Shape::Switch;

    fn read(value: &Value, setting: &'static Setting) -> Result<Self, Fault> {
        value.as_bool().ok_or(Fault::WrongKind { setting })
    }

    fn read_text(text: &str, setting: &'static Setting) -> Result<Self, Fault> {
        text.trim().parse().map_err(|_| Fault::WrongKind { setting })
    }

    fn shown(&self) -> String {
        self.to_string()
    }

    fn tightens(&self, _: &Self) -> Tightens {
        Tightens::No
    }
}

impl<T: Leaf> Shaped for T {
    const SHAPE: Shape = <T as Leaf>::SHAPE;
}

impl<T: Leaf> Shaped for Option<T> {
    const SHAPE: Shape = <T as Leaf>::SHAPE;
}

impl<T: Leaf> Entry for T {
    fn take(&mut self, item: &Item, setting: &'static Setting, reader: &mut Reader<'_>) {
        let Some(new) = reader.leaf::<T>(item, setting) else { return };
        match (setting.project, reader.is_project()) {
            (Project::Tighten, true) => match new.tightens(self) {
                Tightens::Yes => *self = new,
                Tightens::Already => return,
                Tightens::No => return reader.fault(item.span(), Fault::Loosens),
            },
            (Project::Never | Project::Tighten | Project::Trusted | Project::Free, _) => *self = new,
        }
        reader.took(Leaf::shown(self), item.span(), setting);
    }

    fn take_text(&mut self, text: &str, setting: &'static Setting) -> Result<(), Fault> {
        *self = T::read_text(text, setting)?;
        Ok(())
    }

    fn shown(&self) -> String {
        Leaf::shown(self)
    }
}

/// What need not be set; a project can set it, never tighten it.
impl<T: Leaf> Entry for Option<T> {
    fn take(&mut self, item: &Item, setting: &'static Setting, reader: &mut Reader<'_>) {
        if let Some(new) = reader.leaf::<T>(item, setting) {
            reader.took(new.shown(), item.span(), setting);
            *self = Some(new);
        }
    }

    fn take_text(&mut self, text: &str, setting: &'static Setting) -> Result<(), Fault> {
        *self = Some(T::read_text(text, setting)?);
        Ok(())
    }

    fn shown(&self) -> String {
        self.as_ref().map(Leaf::shown).unwrap_or_default()
    }
}

impl Shaped for BTreeMap<String, String> {
    const SHAPE: Shape = Shape::Texts;
}

impl Entry for BTreeMap<String, String> {
    fn take(&mut self, item: &Item, setting: &'static Setting, reader: &mut Reader<'_>) {
        reader.each(item, setting, |name, item, reader| {
            if let Some(text) = reader.leaf::<String>(item, setting) {
                reader.took(Leaf::shown(&text), item.span(), setting);
                self.insert(name.to_owned(), text);
            }
        });
    }

    fn shown(&self) -> String {
        String::new()
    }
}

/// Any texts, in their order.
impl Shaped for Vec<String> {
    const SHAPE: Shape = Shape::Words;
}

impl Entry for Vec<String> {
    fn take(&mut self, item: &Item, setting: &'static Setting, reader: &mut Reader<'_>) {
        let Some(list) = item.as_array() else { return reader.fault(item.span(), Fault::WrongKind { setting }) };
        self.clear();
        for value in list {
            match value.as_str() {
                Some(text) => self.push(text.to_owned()),
                None => reader.fault(value.span(), Fault::WrongKind { setting }),
            }
        }
        reader.took(listed(self.iter()), item.span(), setting);
    }

    fn shown(&self) -> String {
        String::new()
    }
}

/// A list as it is written in a file.
fn listed<'a>(texts: impl IntoIterator<Item = &'a String>) -> String {
    format!("{:?}", texts.into_iter().collect::<Vec<_>>())
}

/// Rules as text, the person's apart from those of a project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    /// The person's own.
    pub own: Vec<String>,
    /// The project's.
    pub project: Vec<String>,
}

impl Shaped for Rules {
    const SHAPE: Shape = Shape::List;
}

impl Entry for Rules {
    fn take(&mut self, item: &Item, setting: &'static Setting, reader: &mut Reader<'_>) {
        let Some(list) = item.as_array() else { return reader.fault(item.span(), Fault::WrongKind { setting }) };
        let rules = if reader.is_project() { &mut self.project } else { &mut self.own };
        for value in list {
            match value.as_str() {
                Some(rule) => {
                    reader.given(rule, value.span(), setting);
                    rules.push(rule.to_owned());
                }
                None => reader.fault(value.span(), Fault::WrongKind { setting }),
            }
        }
        reader.took_also(listed(self.own.iter().chain(&self.project)), item.span(), setting);
    }

    fn shown(&self) -> String {
        String::new()
    }
}

/// Tables of one kind by their names.
#[derive(Debug, Clone, PartialEq)]
pub struct Named<S> {
    tables: BTreeMap<String, S>,
    from_project: Vec<String>,
}

impl<S> Default for Named<S> {
    fn default() -> Self {
        Self { tables: BTreeMap::new(), from_project: Vec::new() }
    }
}

impl<S> Named<S> {
    /// Tells whether a project's file brought the table of this name.
    #[must_use]
    pub fn is_from_project(&self, name: &str) -> bool {
        self.from_project.iter().any(|known| known == name)
    }
}

impl<S> Deref for Named<S> {
    type Target = BTreeMap<String, S>;

    fn deref(&self) -> &Self::Target {
        &self.tables
    }
}

impl<S> DerefMut for Named<S> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.tables
    }
}

impl<S: Section> Shaped for Named<S> {
    const SHAPE: Shape = Shape::Named(S::SETTINGS);
}

impl<S: Section + Default> Entry for Named<S> {
    fn take(&mut self, item: &Item, setting: &'static Setting, reader: &mut Reader<'_>) {
        reader.each(item, setting, |name, item, reader| {
            if reader.is_project() {
                // The person's values stay, and a table with a value that only the person may set is refused as a whole: a
                // server that wants somebody's key would go on without it.
                let is_persons =
                    |setting: &Setting| setting.project == Project::Never && item.get(setting.name).is_some();
                if self.tables.contains_key(name) || S::SETTINGS.iter().any(is_persons) {
                    return reader.refuse();
                }
                self.from_project.push(name.to_owned());
            }
            reader.section(self.tables.entry(name.to_owned()).or_default(), item, setting);
        });
    }

    fn shown(&self) -> String {
        String::new()
    }
}
