//! Collects the findings of a line: judged commands, doubts, reasons that forbid, and targets.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use super::super::danger::in_danger;
use super::super::effect::{Field, Finding};
use super::super::judgement::{Extent, Judged, Part, Target};
use super::super::known::{Origin, PathPattern, State, Value, is_number_variable, variable_matters};
use super::super::read::{Word, WordPart, looks_destructive};
use super::flow::Around;
use crate::approval::program::Action;
use crate::approval::{Class, NeverAuto, Unparsed};

/// The words of a command as they are known when it runs, where they are not those that are written.
fn as_run(fields: &[Field]) -> Option<Vec<Option<String>>> {
    let known = |field: &Field| field.written.clone().or_else(|| field.value.known());
    let is_set = |field: &Field| field.written.is_none() && field.value.known().is_some();
    fields.iter().any(is_set).then(|| fields.iter().map(known).collect())
}

/// The whole line.
pub(crate) struct WholeLine {
    pub(super) text: String,
    /// Whether the line looks destructive, once that was asked: each of its commands may have a doubt and ask
    /// again.
    looks: OnceCell<Option<String>>,
}

impl From<&str> for WholeLine {
    fn from(text: &str) -> Self {
        Self { text: text.to_owned(), looks: OnceCell::new() }
    }
}

/// The findings so far.
pub(crate) struct Report {
    pub(crate) parts: Vec<Judged>,
    pub(crate) unparsed: Vec<(String, Unparsed)>,
    pub(crate) never: Option<NeverAuto>,
    pub(super) line: Rc<WholeLine>,
    pub(crate) targets: Vec<Target>,
    /// The indices of the targets of each word.
    of_word: HashMap<String, Vec<usize>>,
    /// The directories in which commands that do more than look are run.
    pub(crate) directories: Vec<PathBuf>,
    /// Links that the line itself creates: nobody can look up beforehand where they lead.
    pub(super) links: Vec<PathBuf>,
}

impl Report {
    pub(super) fn new(line: Rc<WholeLine>) -> Self {
        Self {
            parts: Vec::new(),
            unparsed: Vec::new(),
            never: None,
            line,
            targets: Vec::new(),
            of_word: HashMap::new(),
            directories: Vec::new(),
            links: Vec::new(),
        }
    }

    pub(crate) fn doubt(&mut self, text: &str, why: Unparsed) {
        let doubt = (text.to_owned(), why);
        if !self.unparsed.contains(&doubt) {
            self.unparsed.push(doubt);
        }
    }

    pub(crate) fn forbid(&mut self, why: NeverAuto) {
        self.never.get_or_insert(why);
    }

    /// Forbids the line if it looks destructive: it will run something about which too little is known.
    pub(crate) fn forbid_by_looks(&mut self) {
        if let Some(looks) = self.line.looks.get_or_init(|| looks_destructive(&self.line.text)).clone() {
            self.forbid(NeverAuto::HiddenDestructive { looks });
        }
    }

    /// Doubts a text that the shell would evaluate as an index: it may contain a command.
    pub(super) fn hidden_index(&mut self, word: &Word) {
        let text = |part: &WordPart| if let WordPart::Text { text, .. } = part { Some(text.clone()) } else { None };
        // What each pair of quotes hides is read as one.
        let text: String = word.parts.iter().filter_map(text).collect();
        if text.contains("$(") || text.contains('`') {
            self.doubt(&word.source, Unparsed::Syntax);
        }
    }

    /// Doubts arithmetic if a variable in reach contains an expansion: shells evaluate the text of variables in
    /// arithmetic, and run a command in an index.
    pub(super) fn evaluated(&mut self, word: &Word, state: &State<'_>) {
        let values = state.variables.values().flatten().chain(state.arguments.iter().flatten());
        let mut texts = values.map(Value::shown);
        if texts.any(|text| text.contains(['$', '`'])) {
            self.doubt(&word.source, Unparsed::Syntax);
        }
        // An expression can also set variables.
        let names = word.source.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        // What is assigned there to a number was evaluated already.
        let mut set = names.filter(|name| variable_matters(name, state.place) && !is_number_variable(name));
        if word.source.contains('=')
            && let Some(name) = set.next()
        {
            self.doubt(name, Unparsed::Environment);
        }
    }

    /// Records the findings about one command.
    pub(crate) fn record(
        &mut self,
        finding: &Finding,
        fields: &[Field],
        state: &State<'_>,
        around: &Around,
        is_redirection: bool,
    ) {
        if let Some(why) = finding.unparsed {
            self.doubt(&around.text, why);
        }
        if let Some(why) = &finding.never {
            self.forbid(why.clone());
        }
        let mut paths: Vec<(PathBuf, bool)> = finding.reads.iter().map(|path| (path.clone(), true)).collect();
        let mut redirected = None;
        let mut seen = HashSet::new();
        for touched in finding.touched.iter().filter(|touched| seen.insert(*touched)) {
            for pattern in touched.value.patterns(&state.directories) {
                if let Some(why) = in_danger(finding.class, touched, &pattern, state.place) {
                    self.forbid(why);
                }
                if matches!(touched.action, Action::Remove | Action::Move | Action::Attributes)
                    && self.is_behind_made_link(&pattern, touched.action)
                {
                    self.forbid(NeverAuto::Unresolved { word: pattern.shown().to_owned() });
                }
                redirected = pattern.path();
                paths.extend(pattern.rough_path().map(|path| (path, false)));
                let (action, recursive, filtered) = (touched.action, touched.recursive, touched.filtered);
                let extent = match &touched.value.origin {
                    Origin::Some => Extent::Some,
                    Origin::Perhaps => Extent::Perhaps,
                    // The names only say where the search begins.
                    Origin::Search(search) if (around.perhaps || state.forked) && !search.deletes => Extent::Some,
                    _ if around.perhaps || state.forked => Extent::Perhaps,
                    Origin::Line => Extent::Exact,
                    Origin::Search(search) => Extent::Found(Arc::clone(search)),
                };
                let falls_apart = touched.value.falls_apart;
                let target = Target { pattern, action, recursive, filtered, falls_apart, extent };
                self.target(target);
            }
        }
        let part = if is_redirection {
            Part::Redirection { path: redirected }
        } else {
            let words = fields.iter().map(|field| field.written.clone()).collect();
            Part::Command { words, outer: around.outer.clone() }
        };
        let part = Judged {
            text: around.text.clone(),
            part,
            run: as_run(fields),
            class: finding.class,
            shown: !around.hidden,
            credential: finding.credential.clone(),
            runs_program: finding.runs_program,
            paths,
            strays: state.strays(),
        };
        if part.class != Class::ReadOnly {
            for directory in state.directories.iter().flatten() {
                if !self.directories.contains(directory) {
                    self.directories.push(directory.clone());
                }
            }
        }
        if !self.parts.contains(&part) {
            self.parts.push(part);
        }
    }

    /// Records a target. If one that is equal by name is recorded already, keeps the one with a `..` in it.
    fn target(&mut self, target: Target) {
        let said_by = |one: &Target, other: &Target| {
            let alike = (one.action, one.recursive, one.filtered, &one.extent)
                == (other.action, other.recursive, other.filtered, &other.extent);
            alike && one.pattern.is_said_by(&other.pattern)
        };
        let Self { targets, of_word, .. } = self;
        let alike = of_word.entry(target.pattern.shown().to_owned()).or_default();
        if alike.iter().any(|known| said_by(&target, &targets[*known])) {
            return;
        }
        if let Some(less) = alike.iter().find(|known| said_by(&targets[**known], &target)) {
            targets[*less] = target;
            return;
        }
        alike.push(targets.len());
        targets.push(target);
    }

    /// Tells whether a target may lie behind a link that the line itself creates.
    fn is_behind_made_link(&self, pattern: &PathPattern, action: Action) -> bool {
        let shown = pattern.shown();
        let through = shown.ends_with(['/', '.']) || action == Action::Attributes;
        let Some((root, globs)) = pattern.walk() else { return false };
        // The glob may match the link if more components follow.
        let goes_on = !globs.is_empty() && shown.rfind('/') > shown.rfind(['*', '?', ']']);
        self.links.iter().any(|link| {
            root.starts_with(link) && (through || !globs.is_empty() || root != *link)
                || goes_on && link.starts_with(&root)
        })
    }
}
