//! One command with its words expanded: a wrapper is opened, any other command is judged and recorded.

use std::rc::Rc;

use super::super::danger::danger;
use super::super::effect::{After, after_call, classify_call, exported, links, makes_physical, printed_by};
use super::super::effect::{Call, Field, Finding, Input};
use super::super::known::State;
use super::super::known::{PathPattern, Value};
use super::super::known::{is_harmless_variable, variable_matters};
use super::super::read::Node;
use super::super::read::is_destructive_name;
use super::super::unsent::{unsent, without_unsent};
use super::flow::{Around, Flow, UNKNOWN};
use super::persons::persons_function;
use super::walk::{DEEPEST, MOST_STEPS, Walker};
use super::wrapper;
use crate::approval::path::is_credential;
use crate::approval::program::{Program, Trait};
use crate::approval::{Class, NeverAuto, Unparsed};

/// No more words of an unknown program than this are judged as commands.
const MOST_SUSPECTS: u32 = 4;

impl Walker {
    /// Judges one command whose words are expanded.
    pub(crate) fn invoke<'s>(&mut self, fields: &[Field], state: State<'s>, around: &Around) -> Flow<'s> {
        self.steps += 1;
        let Some((first, arguments)) = fields.split_first() else { return Flow::same(state, UNKNOWN) };
        let Some(name) = first.value.known().filter(|name| !name.is_empty()) else {
            return self.dynamic(fields, state, around);
        };
        let enough = self.words_left.checked_sub(fields.len());
        self.words_left = enough.unwrap_or_default();
        if self.steps > MOST_STEPS || enough.is_none() {
            self.report.doubt(&around.text, Unparsed::TooLong);
            self.report.forbid_by_looks();
            return Flow::same(state, UNKNOWN);
        }
        if state.redefined.contains(&name) {
            self.report.doubt(&around.text, Unparsed::Redefined);
            self.anything(fields, &state, around);
        }
        if let Some(flow) = self.own_function(&name, arguments, &state, around) {
            return flow;
        }
        let state = match persons_function(self, &name, fields, state, around) {
            Ok(flow) => return flow,
            Err(state) => state,
        };
        let base = name.rsplit('/').next().unwrap_or_default().to_owned();
        let program = Program::named(&base);
        if let Some(flow) =
            program.and_then(|program| wrapper::open(self, (&base, program), fields, &state, around))
        {
            return flow;
        }
        let call = Call { name: &base, program, arguments, state: &state, input: &around.input };
        self.judge_call(&call, &name, fields, around);
        let printed = printed_by(&call);
        self.report.links.extend(links(&call));
        let next = after_call(&call);
        let (exported, physical) = (exported(&call), makes_physical(&call));
        let mut state = state;
        state.exported.extend(exported);
        state.physical |= physical;
        self.left_by(next, &name, state, printed, around)
    }

    /// Follows the bodies of a function that the line itself defined. Returns `None` if a program of that name may
    /// run, too.
    fn own_function<'s>(
        &mut self,
        name: &str,
        arguments: &[Field],
        state: &State<'s>,
        around: &Around,
    ) -> Option<Flow<'s>> {
        let bodies = state.functions.get(name).cloned()?;
        let mut joined: Option<Flow<'s>> = None;
        for body in &bodies {
            // The line was read with the aliases.
            let theirs = std::mem::replace(&mut self.in_theirs, false);
            let flow = self.function(name, body, arguments, state.clone(), around);
            self.in_theirs = theirs;
            joined = Some(match joined {
                Some(before) => Flow::same(before.joined().merge(flow.joined()), UNKNOWN),
                None => flow,
            });
        }
        // Some shells look up POSIX's special built-ins before functions, others after; and the function may
        // not exist. So both are judged.
        let special = Program::named(name).is_some_and(|program| program.is(Trait::Special));
        if special || state.unsure.contains(name) {
            self.report.doubt(&around.text, Unparsed::Redefined);
            return None;
        }
        joined
    }

    /// Records what a command that is no wrapper does.
    fn judge_call(&mut self, call: &Call<'_, '_>, name: &str, fields: &[Field], around: &Around) {
        let (arguments, state) = (call.arguments, call.state);
        let mut finding = classify_call(call);
        let own_program = name.contains('/') && !is_system_program(name);
        if own_program && finding.class < Class::Execute {
            finding.class = Class::Execute;
        }
        if finding.class == Class::Network && finding.credential.is_none() {
            finding.credential = sent_secret(name, arguments, state);
        }
        self.report.record(&finding, fields, state, around, false);
        if matches!(finding.class, Class::Execute | Class::Network)
            || (finding.class == Class::Destructive && finding.touched.is_empty())
        {
            self.suspect(arguments, state, around);
        }
    }

    /// Returns what is known after a command that changes the shell itself.
    fn left_by<'s>(
        &mut self,
        next: After,
        name: &str,
        mut state: State<'s>,
        printed: Input,
        around: &Around,
    ) -> Flow<'s> {
        match next {
            After::Same => {}
            After::Never => {
                self.run_traps(&state);
                state.reached = false;
            }
            After::In(directories) => {
                let mut success = state.clone();
                success.directories = directories;
                if state.redefined.contains(name) {
                    success.directories.push(None);
                }
                success.limit_directories();
                success.variables.remove("PWD");
                success.variables.insert("OLDPWD".to_owned(), Vec::new());
                return Flow { success, failure: state, output: printed };
            }
            After::Set(names) => {
                for (name, value) in names {
                    if variable_matters(&name, state.place) && !is_harmless_variable(&name, &value) {
                        self.report.doubt(&name, Unparsed::Environment);
                        self.suspect_values(&value, &state, around);
                    }
                    state.variables.insert(name, value);
                }
            }
            After::Opaque => state.opaque = true,
            After::Unset(names) => {
                for name in names {
                    if state.functions.contains_key(&name) {
                        state.unsure.insert(name.clone());
                    }
                    if variable_matters(&name, state.place) && !is_harmless_variable(&name, &[Value::emptied()]) {
                        self.report.doubt(&name, Unparsed::Environment);
                    }
                    state.variables.insert(name, vec![Value::emptied()]);
                }
            }
            After::Redefined(names) => state.redefined.extend(names),
        }
        Flow::same(state, printed)
    }

    /// Judges a command whose name is only known when it runs.
    pub(super) fn dynamic<'s>(&mut self, fields: &[Field], state: State<'s>, around: &Around) -> Flow<'s> {
        self.report.doubt(&around.text, Unparsed::DynamicCommand);
        self.report.forbid_by_looks();
        self.anything(fields, &state, around);
        Flow::same(state, UNKNOWN)
    }

    /// Judges a command that may be any program: its arguments count as targets of the worst one.
    pub(super) fn anything(&mut self, fields: &[Field], state: &State<'_>, around: &Around) {
        let mut finding = Finding::unparsed(Unparsed::DynamicCommand);
        for field in fields.iter().skip(1) {
            for pattern in field.value.patterns(&state.directories) {
                if !pattern.is_unresolved() && !field.value.start().starts_with('-') {
                    finding.never = finding.never.or_else(|| danger(&pattern, state.place, field.value.had_empty));
                }
            }
        }
        let arguments = fields.get(1..).unwrap_or_default();
        let words: Vec<Field> = std::iter::once(Field::unknown()).chain(arguments.iter().cloned()).collect();
        self.report.record(&finding, &words, state, around, false);
        self.suspect(arguments, state, around);
    }

    /// Judges what a variable may contain that other programs, or the shell itself, run as a command.
    pub(crate) fn suspect_values(&mut self, values: &[Value], state: &State<'_>, around: &Around) {
        let fields: Vec<Field> = values.iter().map(|value| Field { value: value.clone(), written: None }).collect();
        self.suspect(&fields, state, around);
    }

    /// Judges the words of an unknown program as a command, because it may run them. Of the findings only those
    /// that forbid are kept.
    pub(crate) fn suspect(&mut self, arguments: &[Field], state: &State<'_>, around: &Around) {
        if self.depth >= DEEPEST {
            return;
        }
        for (index, field) in arguments.iter().enumerate() {
            let Some(text) = field.value.known() else { continue };
            let is_script = text.contains([' ', '\n', '\t', ';']);
            if !is_script && !is_destructive_name(&text) {
                continue;
            }
            self.suspects += 1;
            if self.suspects > MOST_SUSPECTS || self.steps > MOST_STEPS {
                // How the rest of the line looks decides.
                self.report.doubt(&around.text, Unparsed::TooLong);
                self.report.forbid_by_looks();
                return;
            }
            let (depth, steps) = (self.depth + 1, self.steps);
            let (words_left, suspects) = (self.words_left, self.suspects);
            let mut inner =
                Walker { depth, steps, words_left, suspects, ..Walker::new(Rc::clone(&self.report.line)) };
            if is_script {
                inner.script(&text, state.clone(), around);
                // This covers `alias x='…'`, and git's `-c alias.x='!…'`.
                if let Some((_, rest)) = text.split_once(['=', '!']) {
                    inner.script(rest.trim_start_matches('!'), state.clone(), around);
                }
            } else {
                inner.invoke(arguments.get(index..).unwrap_or_default(), state.clone(), around);
            }
            (self.steps, self.words_left, self.suspects) = (inner.steps, inner.words_left, inner.suspects);
            if let Some(why) = inner.report.never {
                self.report.forbid(why);
            }
        }
    }

    pub(super) fn function<'s>(
        &mut self,
        name: &str,
        body: &Node,
        arguments: &[Field],
        state: State<'s>,
        around: &Around,
    ) -> Flow<'s> {
        self.called.push(name.to_owned());
        if self.calling.iter().any(|calling| calling == name) || self.calling.len() >= 8 {
            // A function that calls itself never ends, as far as can be seen.
            self.report.doubt(&around.text, Unparsed::TooLong);
            self.report.forbid(NeverAuto::Machine);
            return Flow::same(state, UNKNOWN);
        }
        let mut inner = state.clone();
        inner.arguments = Some(arguments.iter().map(|field| field.value.clone()).collect());
        self.calling.push(name.to_owned());
        let flow = self.node(body, inner, around);
        self.calling.pop();
        let output = flow.output.clone();
        let mut after = state.merge(flow.joined());
        after.arguments = None;
        Flow::same(after, output)
    }
}

/// Returns a secret that is passed to a program with network access: `scp FILE`, `-d @FILE`, `--data=@FILE`.
fn sent_secret(name: &str, arguments: &[Field], state: &State<'_>) -> Option<String> {
    let texts = arguments.iter().map(|field| field.written.as_deref().unwrap_or_default());
    let named = unsent(&std::iter::once(name).chain(texts).collect::<Vec<_>>());
    arguments.iter().enumerate().filter(|(at, _)| !named.contains(&(at + 1))).find_map(|(_, field)| {
        let start = field.value.start();
        // A command that logs in; what else it names is found in the line.
        let text = field.written.as_deref().unwrap_or_default();
        if without_unsent(text) != text {
            return None;
        }
        if start.contains("://") && !start.contains("file://") {
            return None;
        }
        let at = start.find('@').filter(|at| *at == 0 || start[..*at].ends_with('=')).map_or(0, |at| at + 1);
        let patterns = field.value.without_start(at).patterns(&state.directories);
        let secret =
            |pattern: &PathPattern| pattern.rough_path().is_some_and(|path| is_credential(&path, state.place));
        patterns
            .iter()
            .find(|pattern| !start.starts_with('-') && secret(pattern))
            .map(|pattern| pattern.shown().to_owned())
    })
}

fn is_system_program(name: &str) -> bool {
    let directory = name.rsplit_once('/').map_or("", |(directory, _)| directory);
    matches!(
        directory,
        "/bin"
            | "/usr/bin"
            | "/usr/local/bin"
            | "/sbin"
            | "/usr/sbin"
            | "/opt/homebrew/bin"
            | "/run/current-system/sw/bin"
    )
}
