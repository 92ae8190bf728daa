//! What a word may become: text, globs, and parts that are only known at run time.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::super::search::Search;
use crate::approval::Glob;

/// One possible value of a word.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Value {
    pub(crate) chunks: Vec<Chunk>,
    /// Whether it contains a variable that is known to be empty.
    pub(crate) had_empty: bool,
    /// Whether names matched by a glob in it are split at blanks.
    pub(crate) falls_apart: bool,
    pub(crate) origin: Origin,
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) enum Origin {
    /// From the line.
    #[default]
    Line,
    /// From the line, but the program may ask once more before it acts, or need more than is known.
    Perhaps,
    /// From a search: some of the names below its directory.
    Some,
    /// From this search: what it finds.
    Search(Arc<Search>),
}

/// A piece of a value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Chunk {
    Text(String),
    /// An active `*`, `?` or bracket expression, and text between.
    Glob(char),
    /// A part that is only known at run time.
    Unknown,
}

/// Values longer than this are not followed, in bytes: a variable that doubles in a loop must not fill the memory.
const LONGEST: usize = 8 * 1024;

/// Values with more pieces than this are not followed.
const MOST_PIECES: usize = 256;

impl Chunk {
    fn length(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Glob(_) | Self::Unknown => 1,
        }
    }
}

impl Value {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self { chunks: vec![Chunk::Text(text.into())], ..Self::default() }
    }

    pub(crate) fn unknown() -> Self {
        Self { chunks: vec![Chunk::Unknown], ..Self::default() }
    }

    /// Makes a value for some number: which one decides only which files are named, not what the command does.
    pub(crate) fn some_number() -> Self {
        Self { origin: Origin::Some, ..Self::text("0") }
    }

    /// Makes a value that is known to be empty.
    pub(crate) fn emptied() -> Self {
        Self { had_empty: true, ..Self::default() }
    }

    pub(crate) fn is_unknown(&self) -> bool {
        self.chunks.contains(&Chunk::Unknown)
    }

    /// Returns the text if it is completely known.
    pub(crate) fn known(&self) -> Option<String> {
        let mut whole = String::new();
        for chunk in &self.chunks {
            match chunk {
                Chunk::Text(text) => whole.push_str(text),
                Chunk::Glob(_) | Chunk::Unknown => return None,
            }
        }
        Some(whole)
    }

    /// Returns the text with globs as written, and a mark for unknown parts.
    pub(crate) fn shown(&self) -> String {
        let mut whole = String::new();
        for chunk in &self.chunks {
            match chunk {
                Chunk::Text(text) => whole.push_str(text),
                Chunk::Glob(character) => whole.push(*character),
                Chunk::Unknown => whole.push('…'),
            }
        }
        whole
    }

    /// Returns the known text at its start.
    pub(crate) fn start(&self) -> &str {
        match self.chunks.first() {
            Some(Chunk::Text(text)) => text,
            Some(Chunk::Glob(_) | Chunk::Unknown) | None => "",
        }
    }

    pub(crate) fn push_text(&mut self, text: &str) {
        if let Some(Chunk::Text(last)) = self.chunks.last_mut() {
            last.push_str(text);
        } else if !text.is_empty() {
            self.chunks.push(Chunk::Text(text.to_owned()));
        }
    }

    pub(crate) fn append(&mut self, other: &Self) {
        let length = |value: &Self| value.chunks.len() + value.chunks.iter().map(Chunk::length).sum::<usize>();
        let pieces = self.chunks.len() + other.chunks.len();
        if pieces > MOST_PIECES || length(self) + length(other) > LONGEST {
            *self = Self::unknown();
            return;
        }
        self.had_empty |= other.had_empty;
        self.falls_apart |= other.falls_apart;
        if self.chunks.is_empty() {
            self.origin = other.origin.clone();
        } else if !other.chunks.is_empty() && (&self.origin, &other.origin) != (&Origin::Line, &Origin::Line) {
            self.origin = Origin::Some;
        }
        for chunk in &other.chunks {
            match chunk {
                Chunk::Text(text) => self.push_text(text),
                Chunk::Glob(_) | Chunk::Unknown => self.chunks.push(chunk.clone()),
            }
        }
    }

    /// Removes the first `bytes` bytes of known text.
    pub(crate) fn without_start(&self, bytes: usize) -> Self {
        let mut rest = self.clone();
        if let Some(Chunk::Text(text)) = rest.chunks.first_mut() {
            *text = text.get(bytes..).unwrap_or_default().to_owned();
        }
        rest
    }

    /// Returns the paths it means, absolute and without `..`, in each possible working directory.
    pub(crate) fn patterns(&self, directories: &[Option<PathBuf>]) -> Vec<PathPattern> {
        let absolute = self.start().starts_with('/');
        let mut patterns = Vec::new();
        let bases: Vec<Option<PathBuf>> =
            if absolute { vec![Some(PathBuf::from("/"))] } else { directories.to_vec() };
        for base in bases {
            let pattern = match base {
                Some(base) if !self.is_unknown() => PathPattern::below(&base, self),
                Some(_) | None => PathPattern { components: None, climbing: None, shown: self.shown() },
            };
            if !patterns.contains(&pattern) {
                patterns.push(pattern);
            }
        }
        patterns
    }
}

/// One step of a walk from the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// Into the entry with this name.
    Down(String),
    /// Into each entry that this matches.
    Glob(Glob),
    /// `..`: to the real parent of the directory reached so far.
    Up,
}

/// A path in which some components may be globs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PathPattern {
    /// Its components from the root, with `..` resolved by name; `None` if they are not known.
    components: Option<Vec<Component>>,
    /// The components with each `..` in place, if there are any: behind a link, `..` leads elsewhere than the name
    /// says.
    climbing: Option<Vec<Component>>,
    shown: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Component {
    text: String,
    /// Which of its characters are active in a glob; empty if none is.
    active: Vec<bool>,
}

impl Component {
    fn literal(text: &str) -> Self {
        Self { text: text.to_owned(), active: Vec::new() }
    }

    fn is_parent(&self) -> bool {
        self.text == ".." && !self.is_glob()
    }

    fn is_glob(&self) -> bool {
        self.active.contains(&true)
    }

    fn is_any_depth(&self) -> bool {
        self.is_glob() && self.text.contains("**")
    }

    fn as_glob(&self) -> Glob {
        let active = self.active.iter().copied().chain(std::iter::repeat(false));
        Glob::new(&self.text.chars().zip(active).collect::<Vec<_>>())
    }

    fn matches(&self, name: &str) -> bool {
        if self.is_glob() { self.as_glob().folding_case().fits(name) } else { self.text.eq_ignore_ascii_case(name) }
    }

    /// Tells whether it matches practically everything in a directory: it consists of wildcards and dots only.
    fn is_wide(&self) -> bool {
        let mut inside = false;
        self.is_glob()
            && self.text.chars().zip(&self.active).all(|(character, active)| {
                match character {
                    '[' if *active => inside = true,
                    ']' if inside => inside = false,
                    '*' | '?' | '.' => {}
                    _ => return inside,
                }
                true
            })
    }
}

impl PathPattern {
    /// Makes the pattern of one known path.
    #[must_use]
    pub fn exact(path: &Path) -> Self {
        let names = path.components().filter(|part| matches!(part, std::path::Component::Normal(_)));
        let components = names.map(|name| Component::literal(&name.as_os_str().to_string_lossy())).collect();
        Self { components: Some(components), climbing: None, shown: path.to_string_lossy().into_owned() }
    }

    fn below(base: &Path, value: &Value) -> Self {
        let mut written: Vec<Component> = Vec::new();
        let mut push = |text: String, active: Vec<bool>| {
            let active = if active.contains(&true) { active } else { Vec::new() };
            if !matches!(text.as_str(), "" | ".") || !active.is_empty() {
                written.push(Component { text, active });
            }
        };
        for part in base.components() {
            if let std::path::Component::Normal(_) | std::path::Component::ParentDir = part {
                push(part.as_os_str().to_string_lossy().into_owned(), Vec::new());
            }
        }
        let (mut text, mut active) = (String::new(), Vec::new());
        for chunk in &value.chunks {
            let (characters, is_active): (Vec<char>, bool) = match chunk {
                Chunk::Text(text) => (text.chars().collect(), false),
                Chunk::Glob(character) => (vec![*character], true),
                Chunk::Unknown => (Vec::new(), false),
            };
            for character in characters {
                if character == '/' {
                    push(std::mem::take(&mut text), std::mem::take(&mut active));
                } else {
                    text.push(character);
                    active.push(is_active);
                }
            }
        }
        push(text, active);
        let mut components: Vec<Component> = Vec::new();
        for component in &written {
            if component.is_parent() {
                components.pop();
            } else {
                components.push(component.clone());
            }
        }
        let climbing = written.iter().any(Component::is_parent).then_some(written);
        Self { components: Some(components), climbing, shown: value.shown() }
    }

    /// Returns the path as written, with each `..` in place; `None` if it has a glob.
    pub(crate) fn written(&self) -> Option<PathBuf> {
        let Some(climbing) = &self.climbing else { return self.path() };
        if climbing.iter().any(Component::is_glob) {
            return None;
        }
        let mut path = PathBuf::from("/");
        path.extend(climbing.iter().map(|component| component.text.as_str()));
        Some(path)
    }

    /// Tells whether the other pattern is equal by name, and says at least as much about `..`.
    pub(crate) fn is_said_by(&self, other: &Self) -> bool {
        self.components == other.components && (self.climbing.is_none() || self.climbing == other.climbing)
    }

    /// Returns the steps up to the last `..`, for a walk that follows links; empty without `..`.
    pub(crate) fn climb(&self) -> Vec<Step> {
        let Some((climbing, last)) = self.last_parent() else { return Vec::new() };
        climbing[..=last]
            .iter()
            .map(|component| {
                if component.is_parent() {
                    Step::Up
                } else if component.is_glob() {
                    Step::Glob(component.as_glob())
                } else {
                    Step::Down(component.text.clone())
                }
            })
            .collect()
    }

    /// Returns what stands behind the last `..`, below the directory reached by that.
    pub(crate) fn climbed(&self, root: &Path) -> Self {
        let mut moved = Self { shown: self.shown.clone(), ..Self::exact(root) };
        let rest = self.last_parent().map_or(&[][..], |(climbing, last)| &climbing[last + 1..]);
        moved.components.get_or_insert_default().extend(rest.iter().cloned());
        moved
    }

    fn last_parent(&self) -> Option<(&[Component], usize)> {
        let climbing = self.climbing.as_deref()?;
        climbing.iter().rposition(Component::is_parent).map(|last| (climbing, last))
    }

    /// Returns the path if it has no glob.
    #[must_use]
    pub fn path(&self) -> Option<PathBuf> {
        let components = self.components.as_ref()?;
        if components.iter().any(Component::is_glob) {
            return None;
        }
        let mut path = PathBuf::from("/");
        path.extend(components.iter().map(|component| component.text.as_str()));
        Some(path)
    }

    /// Returns the path with its globs as written: for display, and for comparing names.
    #[must_use]
    pub fn rough_path(&self) -> Option<PathBuf> {
        let components = self.components.as_ref()?;
        let mut path = PathBuf::from("/");
        path.extend(components.iter().map(|component| component.text.as_str()));
        Some(path)
    }

    /// Returns the directory that contains what it matches, at any depth: the one in front of its first `**`, and
    /// at least one above the last component.
    pub(crate) fn holder(&self) -> Self {
        let mut holder = Self { shown: self.shown.clone(), climbing: None, components: self.components.clone() };
        if let Some(components) = &mut holder.components {
            components.pop();
            let any_depth = components.iter().position(Component::is_any_depth);
            components.truncate(any_depth.unwrap_or(components.len()));
        }
        holder
    }

    /// Tells whether it contains `**`, which shells read differently.
    pub(crate) fn has_any_depth(&self) -> bool {
        self.components.iter().flatten().any(Component::is_any_depth)
    }

    /// Tells whether it is unknown which path it means.
    #[must_use]
    pub fn is_unresolved(&self) -> bool {
        self.components.is_none()
    }

    /// Returns the word it comes from.
    #[must_use]
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Tells whether it may match this directory, one above it, or everything in it.
    #[must_use]
    pub fn covers(&self, directory: &Path) -> bool {
        let Some(components) = &self.components else { return false };
        let names: Vec<Cow<'_, str>> = directory
            .components()
            .filter_map(|part| match part {
                std::path::Component::Normal(name) => Some(name.to_string_lossy()),
                _ => None,
            })
            .collect();
        if components.iter().any(|component| component.text == "**" && component.is_glob()) {
            // `**` stands for any number of directories.
            let before: Vec<&Component> =
                components.iter().take_while(|component| component.text != "**").collect();
            return before.len() <= names.len() && before.iter().zip(&names).all(|(part, name)| part.matches(name));
        }
        let common = components.iter().zip(&names).all(|(component, name)| component.matches(name));
        if !common {
            return false;
        }
        match components.len().checked_sub(names.len()) {
            // At it, or above.
            None | Some(0) => true,
            // Everything in it.
            Some(1) => components.last().is_some_and(Component::is_wide),
            Some(_) => false,
        }
    }

    /// Returns the same pattern below another directory, which replaces the part in front of the first glob.
    pub(crate) fn rebased(&self, root: &Path) -> Self {
        let mut moved = Self { shown: self.shown.clone(), ..Self::exact(root) };
        let globs = self.components.iter().flatten().skip_while(|component| !component.is_glob());
        moved.components.get_or_insert_default().extend(globs.cloned());
        moved
    }

    /// Returns the directory in front of the first glob, and one glob for each remaining component: for a walk.
    pub(crate) fn walk(&self) -> Option<(PathBuf, Vec<Glob>)> {
        let components = self.components.as_ref()?;
        let fixed = components.iter().take_while(|component| !component.is_glob()).count();
        let mut root = PathBuf::from("/");
        root.extend(components.iter().take(fixed).map(|component| component.text.as_str()));
        Some((root, components.iter().skip(fixed).map(Component::as_glob).collect()))
    }
}
