//! Commands that change the conditions of another one: `env`, `trap` and `jobs -x`.

use super::super::effect::arrive;
use super::super::effect::{Field, Input};
use super::super::known::Value;
use super::super::known::is_harmless_variable;
use super::flow::Flow;
use super::wrapper::{Opening, is_assignment};
use crate::approval::{Class, Unparsed};

impl<'s> Opening<'_, '_, 's> {
    pub(super) fn env(&mut self, arguments: &[Field]) -> Option<Flow<'s>> {
        let mut at = 0;
        let mut state = self.state.clone();
        while let Some(field) = arguments.get(at) {
            let text = field.value.start().to_owned();
            at += 1;
            if is_assignment(field) {
                let (name, _) = text.split_once('=').unwrap_or_default();
                let values = vec![field.value.without_start(name.len() + 1)];
                if !is_harmless_variable(name, &values) {
                    self.walker.report.doubt(&field.value.shown(), Unparsed::Environment);
                    self.walker.suspect_values(&values, &state, &self.around);
                }
                state.variables.insert(name.to_owned(), values);
                state.exported.insert(name.to_owned());
                continue;
            }
            let next = arguments.get(at).map(|field| field.value.clone());
            match directory_flag(field, next) {
                Directory::None => {}
                Directory::Here(value) => {
                    state.directories = arrive(&value, &state, true);
                    continue;
                }
                Directory::Next(value) => {
                    state.directories = arrive(&value, &state, true);
                    at += 1;
                    continue;
                }
            }
            match text.as_str() {
                "-u" | "--unset" => {
                    let name = arguments.get(at).and_then(|field| field.value.known());
                    state.opaque |= name.is_none();
                    state.variables.insert(name.unwrap_or_default(), vec![Value::emptied()]);
                    at += 1;
                }
                "-i" | "-" | "--ignore-environment" => {
                    state.opaque = true;
                    state.exported.clear();
                }
                "-0" | "-v" | "--null" | "--debug" => {}
                _ if text.starts_with("-S")
                    || text.starts_with("--split-string")
                    || text.contains('S') && text.starts_with('-') && !text.starts_with("--") =>
                {
                    self.note(Class::Execute, Some(Unparsed::Wrapper));
                    self.walker_suspect(arguments.get(at - 1..).unwrap_or_default());
                    self.walker.report.forbid_by_looks();
                    return Some(self.same());
                }
                _ if ["--unset=", "-u"].iter().any(|known| text.starts_with(known)) => state.opaque = true,
                _ if ["--block-signal", "--default-signal", "--ignore-signal"]
                    .iter()
                    .any(|known| text.starts_with(known)) => {}
                _ if text.starts_with('-') => {
                    // An unknown flag may take the next word as its value: then another word is the command.
                    self.note(Class::Execute, Some(Unparsed::Wrapper));
                    state.opaque = true;
                    state.directories = vec![None];
                }
                _ => {
                    at -= 1;
                    break;
                }
            }
        }
        let rest = arguments.get(at..).unwrap_or_default();
        if rest.is_empty() {
            return None;
        }
        state.forget_functions();
        let flow = self.walker.invoke(rest, state, &self.around);
        Some(Flow::same(self.state.clone(), flow.output))
    }

    /// Follows a trap: judges its commands here, and again with what is known at the end. Since it may run between
    /// any two commands, it may change anything for the second.
    pub(super) fn trap(&mut self, arguments: &[Field]) -> Option<Flow<'s>> {
        let ended = arguments.first().is_some_and(|field| field.value.start() == "--");
        let arguments = if ended { arguments.get(1..).unwrap_or_default() } else { arguments };
        let [action, signals @ ..] = arguments else { return None };
        let known = action.value.known();
        // The call shows or resets traps, or ignores signals.
        let shows = !ended && action.value.start().starts_with('-');
        if shows || signals.is_empty() || known.as_deref() == Some("") {
            return None;
        }
        let at_the_end = |field: &Field| matches!(field.value.start(), "EXIT" | "exit" | "0");
        let flow = self.text(&action.value.clone(), action.written.is_some(), self.state.clone());
        if let Some(text) = known {
            let mut around = self.around.clone();
            around.hidden |= action.written.is_none();
            self.walker.traps.push((text, around));
        }
        let mut state = self.state.clone();
        if !signals.iter().all(at_the_end) {
            let later = flow.joined();
            state.opaque |= later.opaque || later.variables != state.variables;
            if later.directories != state.directories {
                state.directories.push(None);
            }
            for (name, bodies) in later.functions.iter() {
                state.unsure.insert(name.clone());
                state.functions.entry(name.clone()).or_default().extend(bodies.iter().cloned());
            }
        }
        Some(Flow::same(state, Input::Unknown { unseen: false }))
    }

    /// Follows `jobs -x`, which runs the words after it.
    pub(super) fn jobs(&mut self, arguments: &[Field]) -> Option<Flow<'s>> {
        let flags = arguments.iter().take_while(|field| {
            let start = field.value.start();
            start.is_empty() || start.starts_with('-')
        });
        let flags: Vec<&Field> = flags.collect();
        // An unknown word may be that flag.
        let runs = flags.iter().any(|field| field.value.start().is_empty() || field.value.start().contains('x'));
        let rest = arguments.get(flags.len()..).filter(|rest| runs && !rest.is_empty())?;
        Some(self.run(rest))
    }
}

/// Whether a flag of `env` names a directory, and where.
enum Directory {
    None,
    Here(Value),
    Next(Value),
}

fn directory_flag(field: &Field, next: Option<Value>) -> Directory {
    let text = field.value.start();
    let next = || Directory::Next(next.unwrap_or_else(Value::unknown));
    if let Some(long) = text.strip_prefix("--") {
        let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
        return match value {
            _ if name.is_empty() || !"chdir".starts_with(name) => Directory::None,
            Some(value) => Directory::Here(field.value.without_start(text.len() - value.len())),
            None => next(),
        };
    }
    // The flag may stand behind letters that take no value.
    let before = text.trim_start_matches(['-', 'i', 'v', '0']);
    match before.strip_prefix('C') {
        Some("") if text.starts_with('-') && field.value.chunks.len() == 1 => next(),
        Some(value) if text.starts_with('-') => {
            Directory::Here(field.value.without_start(text.len() - value.len()))
        }
        Some(_) | None => Directory::None,
    }
}
