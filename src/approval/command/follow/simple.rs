//! One simple command on the way: its words, assignments and redirections, before it is judged.

use super::super::effect::{Field, Input};
use super::super::known::State;
use super::super::known::Value;
use super::super::known::{is_harmless_variable, secret_variable, variable_matters};
use super::super::read::{Assignment, RedirectKind, Simple, Word};
use super::flow::{Around, Flow, UNKNOWN};
use super::walk::Walker;
use super::wrapper;
use crate::approval::program::{Looks, Program, Trait};
use crate::approval::{NeverAuto, Unparsed};

/// A variable that is set in front of a command, and its values; an empty list means that they are not known.
type Given = (String, Vec<Value>);

/// Joins the values of two ways; empty (not known) if one of them is.
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

impl Simple {
    pub(super) fn follow<'s>(&self, walker: &mut Walker, state: State<'s>, around: &Around) -> Flow<'s> {
        let mut state = match self.follow_alias(walker, state, around) {
            Ok(flow) => return flow,
            Err(state) => state,
        };
        let mut around = around.clone();
        around.text.clone_from(&self.source);
        let reader = self.words.first().and_then(Word::bare).is_some_and(prints_files);
        let mut secret = None;
        for word in &self.words {
            if walker.inside(word, &state) {
                if reader {
                    secret = Some(word.source.clone());
                }
                if self.words.iter().filter_map(Word::bare).any(wrapper::runs_text) {
                    walker.report.forbid(NeverAuto::UnseenScript);
                }
            }
        }
        let mut has_file_output = false;
        for redirect in &self.redirects {
            if redirect.kind == RedirectKind::Text {
                if self.words.first().and_then(Word::bare) == Some("read") {
                    walker.report.hidden_index(&redirect.target);
                }
                secret = secret.or_else(|| secret_variable(&redirect.target, &state));
            }
            has_file_output |= matches!(redirect.kind, RedirectKind::Write | RedirectKind::Append);
            if let Some(input) = redirect.follow(walker, &state) {
                around.input = input;
            }
        }
        let reads = self.words.first().and_then(Word::bare) == Some("read");
        let mut given = Vec::new();
        for assignment in &self.assignments {
            if !(reads && assignment.name == "IFS") {
                given.extend(assignment.follow(walker, &mut state, self.words.is_empty(), &around));
            }
        }
        if self.words.is_empty() {
            return Flow::same(state, Input::Text(String::new()));
        }
        for word in &self.words {
            secret = secret.or_else(|| secret_variable(word, &state));
        }
        let before = walker.report.parts.len();
        let mut flow = if let Some((first, others)) = state.readings(&self.words) {
            self.readings(walker, &given, first, others, &around)
        } else {
            // There are too many readings: following all values at once still finds what forbids.
            walker.report.doubt(&self.source, Unparsed::DynamicCommand);
            self.readings(walker, &given, state, Vec::new(), &around)
        };
        if let Some(secret) = secret {
            for part in walker.report.parts.iter_mut().skip(before) {
                part.credential.get_or_insert_with(|| secret.clone());
            }
        }
        if has_file_output {
            flow.output = Input::Text(String::new());
        }
        flow
    }

    /// Judges a command in each of its readings; what is known afterwards is what any of them leaves.
    fn readings<'s>(
        &self,
        walker: &mut Walker,
        given: &[Given],
        first: State<'s>,
        others: Vec<State<'s>>,
        around: &Around,
    ) -> Flow<'s> {
        let mut joined = self.reading(walker, given, first, around);
        for state in others {
            let flow = self.reading(walker, given, state, around);
            let output = if joined.output == flow.output { flow.output } else { UNKNOWN };
            let success = joined.success.merge(flow.success);
            joined = Flow { success, failure: joined.failure.merge(flow.failure), output };
        }
        joined
    }

    fn reading<'s>(&self, walker: &mut Walker, given: &[Given], mut state: State<'s>, around: &Around) -> Flow<'s> {
        let mut fields = Vec::new();
        for word in &self.words {
            let written = word.constant();
            for value in state.expand(word) {
                fields.push(Field { value, written: written.clone() });
            }
        }
        let Some(first) = fields.first() else {
            walker.report.doubt(&self.source, Unparsed::DynamicCommand);
            return Flow::same(state, UNKNOWN);
        };
        let evaluates = |name: String| Program::named(&name).is_some_and(|program| program.is(Trait::Evaluates));
        if first.value.known().is_some_and(evaluates) {
            for word in &self.words {
                walker.report.hidden_index(word);
            }
            // The index may also come from a variable.
            let indexed = |text: &str| text.contains('[') && (text.contains("$(") || text.contains('`'));
            if fields.iter().any(|field| indexed(&field.value.shown())) {
                walker.report.doubt(&self.source, Unparsed::Syntax);
            }
        }
        let indexes = || self.words.iter().any(|word| word.bare() == Some("-v"));
        if match first.value.known().as_deref() {
            Some("let") => true,
            Some("test" | "[") => indexes(),
            _ => false,
        } {
            for word in &self.words {
                walker.report.evaluated(word, &state);
                if state.holds_input(word) {
                    walker.report.doubt(&word.source, Unparsed::Syntax);
                }
            }
        }
        if given.is_empty() {
            return walker.invoke(&fields, state, around);
        }
        // Functions, and scripts in a word, see the variables that are set in front of the command.
        let before = state.clone();
        for (name, values) in given {
            let known = state.variables.get(name).cloned();
            let values = known.map_or_else(|| values.clone(), |known| either(&known, values));
            state.variables.insert(name.clone(), values);
            state.exported.insert(name.clone());
        }
        let mut flow = walker.invoke(&fields, state, around);
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
}

impl Assignment {
    /// Follows an assignment; returns it if it holds only for the command behind it.
    fn follow(&self, walker: &mut Walker, state: &mut State<'_>, alone: bool, around: &Around) -> Option<Given> {
        let mut values = Vec::new();
        for word in &self.values {
            walker.inside(word, state);
            values.extend(state.expand(word));
        }
        let harmless = is_harmless_variable(&self.name, &values);
        let matters = if alone { variable_matters(&self.name, state.place) } else { true };
        if matters && !harmless {
            walker.report.doubt(&self.name, Unparsed::Environment);
            walker.suspect_values(&values, state, around);
        }
        if self.is_array {
            values.clear();
        } else if self.appends {
            let mut longer = Vec::new();
            for before in state.variable(&self.name) {
                for value in &values {
                    let mut whole = before.clone();
                    whole.append(value);
                    longer.push(whole);
                }
            }
            values = if longer.len() > 16 { Vec::new() } else { longer };
        }
        // An assignment in front of a command does not affect the words of that command.
        if alone {
            state.note_input(&self.name, &self.values, &values);
            state.variables.insert(self.name.clone(), values);
            return None;
        }
        if matches!(self.name.as_str(), "HOME" | "CDPATH") {
            state.variables.insert(self.name.clone(), Vec::new());
            return None;
        }
        Some((self.name.clone(), values))
    }
}
