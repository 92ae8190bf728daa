//! One simple command on the way: its words, assignments and redirections, before it is judged.

use super::super::effect::{Field, Finding, Input, Touched};
use super::super::judgement::{Judged, Part};
use super::super::known::State;
use super::super::known::Value;
use super::super::known::{is_harmless_variable, secret_variable, variable_matters};
use super::super::read::{Assignment, Operator, Redirect, RedirectKind, Simple, Word, WordPart};
use super::walk::{Around, Flow, UNKNOWN, Walker};
use super::wrapper;
use crate::approval::path::is_credential;
use crate::approval::path::is_harmless_device;
use crate::approval::program::{Action, Looks, Program, Trait};
use crate::approval::{Class, NeverAuto, Unparsed};

/// A variable set in front of a command, and its values; none where they are not known.
type Given = (String, Vec<Value>);

/// The values of both; none where those of one are not known.
fn either(one: &[Value], other: &[Value]) -> Vec<Value> {
    if one.is_empty() || other.is_empty() {
        return Vec::new();
    }
    let mut both = one.to_vec();
    both.extend(other.iter().filter(|value| !one.contains(value)).cloned());
    both
}

/// Tells whether a program prints what is in the files it is given.
fn prints_files(name: &str) -> bool {
    let looks = Program::named(name).and_then(|program| program.looks);
    matches!(looks, Some(Looks::Contents | Looks::AfterPattern))
}

impl Walker {
    /// Judges the commands inside a word.
    ///
    /// Tells whether what one of them prints is decoded or fetched: then nobody has seen what the word becomes.
    pub(crate) fn inside(&mut self, word: &Word, state: &State<'_>) -> bool {
        let mut unseen = false;
        for part in &word.parts {
            unseen |= match part {
                WordPart::Text { .. } => false,
                WordPart::Variable { name, operator, .. } => match operator {
                    Operator::None => false,
                    Operator::Default(word) | Operator::Changed(word) => {
                        // `:=` sets the variable.
                        let sets = matches!(operator, Operator::Default(_));
                        if sets && name != "HOME" && variable_matters(name, state.place) {
                            self.doubt(name, Unparsed::Environment);
                        }
                        // An offset and an index are expressions.
                        if word.source.starts_with([':', '[']) {
                            self.evaluated(word, state);
                            if state.holds_input(word) {
                                self.doubt(&word.source, Unparsed::Syntax);
                            }
                        }
                        self.inside(word, state)
                    }
                },
                WordPart::Substitution { body, .. } => {
                    let flow = self.node(body, state.clone(), &Around::default());
                    flow.output.is_unseen()
                }
                WordPart::Process { body } => {
                    self.node(body, state.clone(), &Around::default());
                    false
                }
                WordPart::Number { inner } => {
                    self.evaluated(inner, state);
                    if state.holds_input(inner) {
                        self.doubt(&inner.source, Unparsed::Syntax);
                    }
                    self.hidden_index(inner);
                    self.inside(inner, state)
                }
            };
        }
        unseen
    }

    /// Doubts a text in which an index would be evaluated, and with it a command inside.
    pub(super) fn hidden_index(&mut self, word: &Word) {
        let hides = |part: &WordPart| matches!(part, WordPart::Text { text, .. } if text.contains("$(") || text.contains('`'));
        if word.parts.iter().any(hides) {
            self.doubt(&word.source, Unparsed::Syntax);
        }
    }

    /// Doubts arithmetic in reach of a value that holds an expansion: shells evaluate the text of variables there,
    /// and with an index in it the command inside.
    pub(super) fn evaluated(&mut self, word: &Word, state: &State<'_>) {
        let values = state.variables.values().flatten().chain(state.arguments.iter().flatten());
        let mut texts = values.map(Value::shown);
        if texts.any(|text| text.contains(['$', '`'])) {
            self.doubt(&word.source, Unparsed::Syntax);
        }
        // An expression can set variables, too.
        let names = word.source.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        let mut set = names.filter(|name| variable_matters(name, state.place));
        if word.source.contains('=')
            && let Some(name) = set.next()
        {
            self.doubt(name, Unparsed::Environment);
        }
    }

    pub(super) fn simple<'s>(&mut self, command: &Simple, state: State<'s>, around: &Around) -> Flow<'s> {
        let mut state = state;
        let mut around = around.clone();
        around.text.clone_from(&command.source);
        let reader = command.words.first().and_then(Word::bare).is_some_and(prints_files);
        let mut secret = None;
        for word in &command.words {
            if self.inside(word, &state) {
                if reader {
                    secret = Some(word.source.clone());
                }
                if command.words.iter().filter_map(Word::bare).any(wrapper::runs_text) {
                    self.forbid(NeverAuto::UnseenScript);
                }
            }
        }
        let mut has_file_output = false;
        for redirect in &command.redirects {
            if redirect.kind == RedirectKind::Text {
                if command.words.first().and_then(Word::bare) == Some("read") {
                    self.hidden_index(&redirect.target);
                }
                secret = secret.or_else(|| secret_variable(&redirect.target, &state));
            }
            has_file_output |= matches!(redirect.kind, RedirectKind::Write | RedirectKind::Append);
            if let Some(input) = self.redirect(redirect, &state) {
                around.input = input;
            }
        }
        let reads = command.words.first().and_then(Word::bare) == Some("read");
        let mut given = Vec::new();
        for assignment in &command.assignments {
            if !(reads && assignment.name == "IFS") {
                given.extend(self.assignment(assignment, &mut state, command.words.is_empty(), &around));
            }
        }
        if command.words.is_empty() {
            return Flow::same(state, Input::Text(String::new()));
        }
        for word in &command.words {
            secret = secret.or_else(|| secret_variable(word, &state));
        }
        let before = self.parts.len();
        let mut flow = if let Some((first, others)) = state.readings(&command.words) {
            self.readings((command, &given), first, others, &around)
        } else {
            // Too many ways to read it: all values at once are good enough to see what forbids.
            self.doubt(&command.source, Unparsed::DynamicCommand);
            self.readings((command, &given), state, Vec::new(), &around)
        };
        if let Some(secret) = secret {
            for part in self.parts.iter_mut().skip(before) {
                part.credential.get_or_insert_with(|| secret.clone());
            }
        }
        if has_file_output {
            flow.output = Input::Text(String::new());
        }
        flow
    }

    /// Judges a command in each way it may be read; what is known afterwards is what any of them leaves.
    fn readings<'s>(
        &mut self,
        command: (&Simple, &[Given]),
        first: State<'s>,
        others: Vec<State<'s>>,
        around: &Around,
    ) -> Flow<'s> {
        let mut joined = self.reading(command, first, around);
        for state in others {
            let flow = self.reading(command, state, around);
            let output = if joined.output == flow.output { flow.output } else { UNKNOWN };
            let success = joined.success.merge(flow.success);
            joined = Flow { success, failure: joined.failure.merge(flow.failure), output };
        }
        joined
    }

    fn reading<'s>(
        &mut self,
        (command, given): (&Simple, &[Given]),
        mut state: State<'s>,
        around: &Around,
    ) -> Flow<'s> {
        let mut fields = Vec::new();
        for word in &command.words {
            let written = word.constant();
            for value in state.expand(word) {
                fields.push(Field { value, written: written.clone() });
            }
        }
        let Some(first) = fields.first() else {
            self.doubt(&command.source, Unparsed::DynamicCommand);
            return Flow::same(state, UNKNOWN);
        };
        let evaluates = |name: String| Program::named(&name).is_some_and(|program| program.is(Trait::Evaluates));
        if first.value.known().is_some_and(evaluates) {
            for word in &command.words {
                self.hidden_index(word);
            }
            // The same by way of a variable.
            let indexed = |text: &str| text.contains('[') && (text.contains("$(") || text.contains('`'));
            if fields.iter().any(|field| indexed(&field.value.shown())) {
                self.doubt(&command.source, Unparsed::Syntax);
            }
        }
        let indexes = || command.words.iter().any(|word| word.bare() == Some("-v"));
        if match first.value.known().as_deref() {
            Some("let") => true,
            Some("test" | "[") => indexes(),
            _ => false,
        } {
            for word in &command.words {
                self.evaluated(word, &state);
                if state.holds_input(word) {
                    self.doubt(&word.source, Unparsed::Syntax);
                }
            }
        }
        if given.is_empty() {
            return self.invoke(&fields, state, around);
        }
        // What is set in front of a command is there for functions, and for scripts in a word.
        let before = state.clone();
        for (name, values) in given {
            let known = state.variables.get(name).cloned();
            let values = known.map_or_else(|| values.clone(), |known| either(&known, values));
            state.variables.insert(name.clone(), values);
            state.exported.insert(name.clone());
        }
        let mut flow = self.invoke(&fields, state, around);
        for after in [&mut flow.success, &mut flow.failure] {
            for (name, _) in given {
                match (before.variables.get(name), after.variables.get(name).cloned()) {
                    (Some(known), Some(left)) => {
                        after.variables.insert(name.clone(), either(known, &left));
                    }
                    (None, _) | (_, None) => drop(after.variables.remove(name)),
                }
                if !before.exported.contains(name) {
                    after.exported.remove(name);
                }
            }
        }
        flow
    }

    /// Follows an assignment; gives back what is only set for the command behind it.
    fn assignment(
        &mut self,
        assignment: &Assignment,
        state: &mut State<'_>,
        alone: bool,
        around: &Around,
    ) -> Option<Given> {
        let mut values = Vec::new();
        for word in &assignment.values {
            self.inside(word, state);
            values.extend(state.expand(word));
        }
        let harmless = is_harmless_variable(&assignment.name, &values);
        let matters = if alone { variable_matters(&assignment.name, state.place) } else { true };
        if matters && !harmless {
            self.doubt(&assignment.name, Unparsed::Environment);
            self.suspect_values(&values, state, around);
        }
        if assignment.is_array {
            values.clear();
        } else if assignment.appends {
            let mut longer = Vec::new();
            for before in state.variable(&assignment.name) {
                for value in &values {
                    let mut whole = before.clone();
                    whole.append(value);
                    longer.push(whole);
                }
            }
            values = if longer.len() > 16 { Vec::new() } else { longer };
        }
        // What is set in front of a command does not count for the words of that command.
        if alone {
            state.note_input(&assignment.name, &assignment.values, &values);
            state.variables.insert(assignment.name.clone(), values);
            return None;
        }
        if matches!(assignment.name.as_str(), "HOME" | "CDPATH") {
            state.variables.insert(assignment.name.clone(), Vec::new());
            return None;
        }
        Some((assignment.name.clone(), values))
    }

    /// Judges a redirection; what it gives to the command's input, if anything.
    pub(super) fn redirect(&mut self, redirect: &Redirect, state: &State<'_>) -> Option<Input> {
        self.inside(&redirect.target, state);
        let values = state.expand(&redirect.target);
        let (class, action) = match redirect.kind {
            RedirectKind::Duplicate => return None,
            RedirectKind::Text => {
                return Some(match values.as_slice() {
                    [value] => value.known().map_or(UNKNOWN, Input::Text),
                    _ => UNKNOWN,
                });
            }
            RedirectKind::Read => {
                for value in &values {
                    self.read_redirect(&redirect.source, value, state);
                }
                let process = redirect.target.parts.iter().any(|part| matches!(part, WordPart::Process { .. }));
                return Some(Input::Unknown { unseen: process });
            }
            RedirectKind::Write | RedirectKind::ReadWrite => (Class::Write, Action::Overwrite),
            RedirectKind::Append => (Class::Write, Action::Change),
        };
        for value in values {
            let text = value.known().unwrap_or_default();
            let descriptor = text.strip_prefix("/dev/fd/");
            if is_harmless_device(&text) || descriptor.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()))
            {
                continue;
            }
            let class =
                if text.starts_with("/dev/tcp/") || text.starts_with("/dev/udp/") { Class::Network } else { class };
            let mut finding = Finding::new(class);
            finding.touched.push(Touched { value, action, recursive: false, filtered: false });
            self.record(
                &finding,
                Vec::new(),
                state,
                &Around { text: redirect.source.clone(), ..Around::default() },
                true,
            );
        }
        None
    }

    pub(super) fn read_redirect(&mut self, source: &str, value: &Value, state: &State<'_>) {
        let text = value.start();
        let network = text.starts_with("/dev/tcp/") || text.starts_with("/dev/udp/");
        for pattern in value.patterns(&state.directories) {
            let path = pattern.rough_path();
            let secret = path.as_deref().is_some_and(|path| is_credential(path, state.place));
            if network || secret {
                self.parts.push(Judged {
                    text: source.to_owned(),
                    part: Part::Command { words: vec![None], outer: Vec::new() },
                    class: if network { Class::Network } else { Class::ReadOnly },
                    shown: false,
                    credential: secret.then(|| pattern.shown().to_owned()),
                    runs_program: false,
                    paths: path.into_iter().map(|path| (path, true)).collect(),
                    strays: state.strays(),
                });
            }
        }
    }
}
