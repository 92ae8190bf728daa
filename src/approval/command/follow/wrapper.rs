//! Programs that run other programs: they are opened, and the command inside is judged on its own.

use std::sync::Arc;

use super::super::effect::{Field, Finding, Input, may_have};
use super::super::known::State;
use super::super::known::{Chunk, Value};
use super::find;
use super::flags::Flags;
use super::flow::{Around, Flow, UNKNOWN};
use super::redirect;
use super::walk::Walker;
use super::xargs;
use crate::approval::program::{Program, Runs, Trait};
use crate::approval::{Class, NeverAuto, Unparsed};

/// Tells whether a program runs the text it is given.
pub(crate) fn runs_text(name: &str) -> bool {
    let base = name.rsplit('/').next().unwrap_or_default();
    let is_shell = |program: &Program| program.runs == Some(Runs::Shell);
    Program::named(base).is_some_and(is_shell) || matches!(base, "eval" | "source" | ".")
}

/// Wrappers nested deeper than this are not opened.
const DEEPEST_WRAPPER: usize = 64;

/// More words of a wrapper than this are not kept for rules.
const MOST_OUTER_WORDS: usize = 64;

/// Returns a wrapper's words for the rules that deny; the words left out may be anything.
fn outer_words(fields: &[Field]) -> Arc<Vec<Option<String>>> {
    let mut words: Vec<_> = fields.iter().take(MOST_OUTER_WORDS).map(|field| field.written.clone()).collect();
    if fields.len() > MOST_OUTER_WORDS {
        words.push(None);
    }
    Arc::new(words)
}

/// Opens a wrapper; `None` if the command is not a wrapper.
pub(crate) fn open<'s>(
    walker: &mut Walker,
    (name, program): (&str, &Program),
    fields: &[Field],
    state: &State<'s>,
    around: &Around,
) -> Option<Flow<'s>> {
    let runs = program.runs?;
    let arguments = fields.get(1..).unwrap_or_default();
    let only = if let [only] = arguments { only.value.known() } else { None };
    if runs != Runs::Shell && matches!(only.as_deref(), Some("--version" | "--help")) {
        return None;
    }
    if around.outer.len() >= DEEPEST_WRAPPER {
        // It may run anything: how the line looks decides.
        walker.report.doubt(&around.text, Unparsed::TooLong);
        walker.report.forbid_by_looks();
        walker.report.record(&Finding::new(Class::Execute), &[Field::unknown()], state, around, false);
        return Some(Flow::same(state.clone(), UNKNOWN));
    }
    let mut inner = around.clone();
    inner.outer.push(outer_words(fields));
    let mut opening = Opening { walker, program, fields, state, around: inner };
    match runs {
        Runs::Behind => opening.behind(arguments),
        Runs::Raised => Some(opening.raised(arguments)),
        Runs::Shell => Some(opening.shell(arguments)),
        Runs::Builtin => opening.builtin(name, arguments),
        Runs::Env => opening.env(arguments),
        Runs::Find => Some(find::open(&mut opening, arguments)),
        Runs::Fd => find::open_fd(&mut opening, arguments),
        Runs::Xargs => Some(opening.xargs(arguments)),
        Runs::Joined => Some(opening.watched(arguments)),
        Runs::Unseen => {
            opening.note(Class::Execute, Some(Unparsed::Wrapper));
            opening.walker_suspect(arguments);
            if program.is(Trait::RunsInput) {
                opening.walker.report.forbid_by_looks();
            }
            Some(opening.same())
        }
        Runs::Remote if only.as_deref() == Some("-V") => None,
        Runs::Remote => {
            opening.note(Class::Network, None);
            opening.walker_suspect(arguments);
            Some(opening.same())
        }
    }
}

pub(super) fn is_assignment(field: &Field) -> bool {
    let text = field.value.start();
    text.split_once('=')
        .is_some_and(|(name, _)| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
}

/// A wrapper while it is opened.
pub(crate) struct Opening<'w, 'f, 's> {
    pub(crate) walker: &'w mut Walker,
    program: &'w Program,
    pub(crate) fields: &'f [Field],
    pub(crate) state: &'w State<'s>,
    /// The surroundings, with the wrapper's own words among the outer ones.
    pub(crate) around: Around,
}

impl<'s> Opening<'_, '_, 's> {
    /// Reads the flags of the wrapper; behind one that is not known, the command may be any of the words.
    pub(super) fn flags<'a>(&mut self, arguments: &'a [Field]) -> Flags<'a> {
        let flags = Flags::read(self.program, arguments);
        if !flags.certain {
            self.note(Class::Execute, Some(Unparsed::Wrapper));
            self.walker_suspect(arguments);
        }
        flags
    }

    /// Opens a wrapper that runs the command behind its flags.
    fn behind(&mut self, arguments: &[Field]) -> Option<Flow<'s>> {
        let rest = self.flags(arguments).rest;
        // This flag of the wrapper writes a file.
        if may_have(&arguments[..arguments.len() - rest.len()], self.program.unless) {
            self.note(Class::Execute, None);
        }
        let (skipped, rest) = rest.split_at_checked(usize::from(self.program.skips))?;
        if rest.is_empty() {
            return None;
        }
        // Some versions do without that number: then the command begins here.
        let is_amount = |text: &str| text.chars().all(|c| c.is_ascii_hexdigit() || ".,:-smhx".contains(c));
        if skipped.iter().any(|field| field.value.known().is_some_and(|text| !is_amount(&text))) {
            self.note(Class::Execute, Some(Unparsed::Wrapper));
            self.walker_suspect(arguments);
        }
        Some(self.run(rest))
    }

    /// Opens a wrapper that gives the command more power than it has by itself.
    fn raised(&mut self, arguments: &[Field]) -> Flow<'s> {
        self.note(Class::Execute, None);
        let rest = self.flags(arguments).rest;
        let elsewhere = arguments[..arguments.len() - rest.len()].iter().any(|flag| {
            let start = flag.value.start();
            start.starts_with("--ch")
                || start == "--login"
                || !start.starts_with("--") && start.contains(['D', 'R', 'i'])
        });
        let rest = rest.get(rest.iter().take_while(|field| is_assignment(field)).count()..).unwrap_or_default();
        if rest.is_empty() {
            self.same()
        } else if elsewhere {
            self.run_anywhere(rest)
        } else {
            self.run(rest)
        }
    }

    /// Opens a built-in command of the shell.
    fn builtin(&mut self, name: &str, arguments: &[Field]) -> Option<Flow<'s>> {
        match name {
            "eval" => Some(self.eval(arguments)),
            "command" => {
                let flags = self.flags(arguments);
                let looks_up = flags.last(&["-v", "-V"]).is_some();
                if looks_up || flags.rest.is_empty() { None } else { Some(self.run(flags.rest)) }
            }
            "exec" => {
                let rest = self.flags(arguments).rest;
                if rest.is_empty() {
                    return None;
                }
                let mut flow = self.run(rest);
                flow.success.reached = false;
                Some(flow)
            }
            "source" | "." => Some(self.source(arguments)),
            "trap" => self.trap(arguments),
            "jobs" => self.jobs(arguments),
            _ => None,
        }
    }

    pub(crate) fn run(&mut self, fields: &[Field]) -> Flow<'s> {
        let mut state = self.state.clone();
        // The wrapper is a program: it does not find the shell's functions.
        state.forget_functions();
        let mut flow = self.walker.invoke(fields, state, &self.around);
        flow.success.functions.clone_from(&self.state.functions);
        flow.failure.functions.clone_from(&self.state.functions);
        (flow.success.is_theirs, flow.failure.is_theirs) = (self.state.is_theirs, self.state.is_theirs);
        flow
    }

    /// Runs a command in a directory about which nothing is known.
    pub(crate) fn run_anywhere(&mut self, fields: &[Field]) -> Flow<'s> {
        let mut state = self.state.clone();
        state.forget_functions();
        state.directories = vec![None];
        let flow = self.walker.invoke(fields, state, &self.around);
        Flow::same(self.state.clone(), flow.output)
    }

    pub(crate) fn same(&self) -> Flow<'s> {
        Flow::same(self.state.clone(), Input::Unknown { unseen: false })
    }

    /// Goes on after a command that may have set any variable.
    fn opaque(&self) -> Flow<'s> {
        let mut state = self.state.clone();
        state.opaque = true;
        Flow::same(state, Input::Unknown { unseen: false })
    }

    /// Records the wrapper itself.
    pub(crate) fn note(&mut self, class: Class, doubt: Option<Unparsed>) {
        let finding = Finding { unparsed: doubt, ..Finding::new(class) };
        self.note_finding(&finding);
    }

    pub(crate) fn note_finding(&mut self, finding: &Finding) {
        let mut around = self.around.clone();
        around.outer.pop();
        self.walker.report.record(finding, self.fields, self.state, &around, false);
    }

    pub(crate) fn walker_suspect(&mut self, arguments: &[Field]) {
        self.walker.suspect(arguments, self.state, &self.around);
    }

    /// Follows a script in a word: with a state of its own, or with this one.
    pub(super) fn text(&mut self, value: &Value, shown: bool, state: State<'s>) -> Flow<'s> {
        let Some(script) = value.known() else {
            self.note(Class::Execute, Some(Unparsed::Wrapper));
            self.walker.report.forbid_by_looks();
            return self.opaque();
        };
        let mut around = self.around.clone();
        around.hidden |= !shown;
        self.walker.script(&script, state, &around)
    }

    fn shell(&mut self, arguments: &[Field]) -> Flow<'s> {
        let mut at = 0;
        let (mut is_text, mut only_checked) = (false, false);
        let name = self.fields.first().and_then(|field| field.value.known()).unwrap_or_default();
        // Other shells may read the script differently from bash, as which it is read here.
        let otherwise = !matches!(name.rsplit('/').next(), Some("bash" | "sh" | "dash"));
        self.around.perhaps |= otherwise;
        while let Some(field) = arguments.get(at) {
            let Some(flag) = field.value.known() else { break };
            if flag == "--" || flag == "-" {
                at += 1;
                break;
            }
            if flag.starts_with("--") {
                if matches!(flag.as_str(), "--version" | "--help") {
                    self.note(Class::ReadOnly, None);
                    return self.same();
                }
                if matches!(flag.as_str(), "--rcfile" | "--init-file") {
                    self.note(Class::Execute, Some(Unparsed::Script));
                    return self.same();
                }
                at += 1;
            } else if flag.starts_with('-') || flag.starts_with('+') {
                is_text |= flag.starts_with('-') && flag.contains('c');
                only_checked = at == 0 && flag == "-n";
                if flag.starts_with('-') && flag.contains('i') {
                    // An interactive shell reads its start-up files first.
                    self.note(Class::Execute, None);
                }
                at += if flag.contains(['o', 'O']) { 2 } else { 1 };
            } else {
                break;
            }
        }
        let rest = arguments.get(at..).unwrap_or_default();
        let mut state = self.state.for_child();
        if otherwise {
            // Values are not split, or split differently.
            state.variables.insert("IFS".to_owned(), Vec::new());
        }
        state.physical |= arguments[..arguments.len() - rest.len()].iter().any(|field| {
            let start = field.value.start();
            start == "physical" || start.starts_with('-') && start.contains('P')
        });
        if is_text {
            let Some((script, parameters)) = rest.split_first() else { return self.same() };
            state.arguments = Some(parameters.iter().skip(1).map(|field| field.value.clone()).collect());
            let value = script.value.clone();
            let flow = self.text(&value, script.written.is_some(), state);
            return Flow::same(self.state.clone(), flow.output);
        }
        match rest.first() {
            // The script is only checked for mistakes, not run.
            Some(_) if only_checked => {
                self.note(Class::ReadOnly, None);
                self.same()
            }
            Some(file) => self.file(file),
            None => self.input_script(state),
        }
    }

    /// Judges a script that is a file.
    fn file(&mut self, file: &Field) -> Flow<'s> {
        let text = file.value.known().unwrap_or_default();
        if text.starts_with("/dev/fd/") {
            self.walker.report.forbid(NeverAuto::UnseenScript);
        }
        if text == "/dev/stdin" {
            return self.input_script(self.state.clone());
        }
        self.note(Class::Execute, Some(Unparsed::Script));
        // The line may have written the file first.
        if self.walker.report.line.text.contains('>') || self.walker.report.line.text.contains("tee") {
            self.walker.report.forbid_by_looks();
        }
        self.same()
    }

    /// Follows a script from the standard input.
    fn input_script(&mut self, state: State<'s>) -> Flow<'s> {
        match self.around.input.clone() {
            Input::Text(text) => {
                let mut around = self.around.clone();
                around.hidden = true;
                around.input = Input::Inherited;
                let flow = self.walker.script(&text, state, &around);
                Flow::same(self.state.clone(), flow.output)
            }
            Input::Unknown { unseen: true } => {
                self.walker.report.forbid(NeverAuto::UnseenScript);
                self.note(Class::Execute, Some(Unparsed::Script));
                self.same()
            }
            Input::Inherited | Input::Names(_) | Input::Unknown { unseen: false } => {
                self.note(Class::Execute, Some(Unparsed::Script));
                self.same()
            }
        }
    }

    fn source(&mut self, arguments: &[Field]) -> Flow<'s> {
        match arguments.first() {
            Some(file) => {
                let file = file.clone();
                self.file(&file);
                self.opaque()
            }
            None => self.same(),
        }
    }

    fn eval(&mut self, arguments: &[Field]) -> Flow<'s> {
        let state = self.state.clone();
        self.joined_in(arguments, state)
    }

    /// Follows `watch`: it joins its words by blanks and passes them to a shell, or with `-x` runs them as they are.
    fn watched(&mut self, arguments: &[Field]) -> Flow<'s> {
        let flags = self.flags(arguments);
        if flags.last(&["-x", "--exec"]).is_some() && !flags.rest.is_empty() {
            return self.run(flags.rest);
        }
        let flow = self.joined_in(flags.rest, self.state.clone());
        Flow::same(self.state.clone(), flow.output)
    }

    fn joined_in(&mut self, arguments: &[Field], state: State<'s>) -> Flow<'s> {
        let mut whole = Value::default();
        for (index, field) in arguments.iter().enumerate() {
            if index > 0 {
                whole.push_text(" ");
            }
            // The glob is expanded first; the text does not tell what it becomes.
            if field.value.chunks.iter().any(|chunk| matches!(chunk, Chunk::Glob(_))) {
                whole.chunks.push(Chunk::Unknown);
            }
            whole.append(&field.value);
        }
        let shown = arguments.iter().all(|field| field.written.is_some());
        self.text(&whole, shown, state)
    }

    fn xargs(&mut self, arguments: &[Field]) -> Flow<'s> {
        let flags = self.flags(arguments);
        if let Some(why) = xargs::doubt(&flags) {
            self.note(Class::Execute, Some(why));
        }
        let list = flags.last(xargs::LIST).and_then(|at| flags.given.get(at)?.value.as_ref());
        if let Some(list) = list {
            redirect::read(self.walker, &self.around.text, list, self.state);
        }
        let readings = xargs::readings(&flags, &self.around.input);
        self.around.input = Input::Inherited;
        let mut output = Input::Unknown { unseen: false };
        for reading in readings {
            output = self.run(&reading).output;
        }
        Flow::same(self.state.clone(), output)
    }
}
