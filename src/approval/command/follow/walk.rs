//! Follows a line in the order in which it would run, tracks directories and variables, and judges each command on
//! the way.

use std::rc::Rc;

use super::super::effect::Input;
use super::super::known::{MOST_VALUES, State, Value};
use super::super::known::{is_harmless_variable, variable_matters};
use super::super::read::{Node, Operator, Word, WordPart, looks_destructive, parse};
use super::flow::{Around, Flow, UNKNOWN};
use super::report::{Report, WholeLine};
use crate::approval::{NeverAuto, Unparsed};

/// No more commands than this are followed in one line.
pub(super) const MOST_STEPS: u32 = 256;
/// How many words of commands are looked at for each byte of a line: without this limit, wrappers in wrappers would
/// make the work quadratic.
const WORDS_A_BYTE: usize = 1;
/// A shorter line counts as having this many bytes.
const SHORTEST: usize = 2048;
/// How deep scripts within scripts and functions within functions are followed.
pub(super) const DEEPEST: u32 = 12;

/// Follows the tree of a line.
pub(crate) struct Walker {
    pub(crate) report: Report,
    pub(super) steps: u32,
    /// How many more words may be looked at; the words of a wrapper count once for each layer.
    pub(super) words_left: usize,
    /// How many words of unknown programs were judged as commands.
    pub(super) suspects: u32,
    pub(super) depth: u32,
    pub(super) calling: Vec<String>,
    pub(super) called: Vec<String>,
    /// The person's aliases that are being followed.
    pub(super) expanding: Vec<String>,
    /// Whether a function of theirs is followed: its aliases were put in, or not there, when it was defined.
    pub(super) in_theirs: bool,
    /// The commands that run when the shell ends, each with its surroundings.
    pub(super) traps: Vec<(String, Around)>,
}

impl Walker {
    pub(crate) fn new(line: Rc<WholeLine>) -> Self {
        let words_left = WORDS_A_BYTE * line.text.len().max(SHORTEST);
        Self {
            report: Report::new(line),
            steps: 0,
            words_left,
            suspects: 0,
            depth: 0,
            calling: Vec::new(),
            called: Vec::new(),
            expanding: Vec::new(),
            in_theirs: false,
            traps: Vec::new(),
        }
    }

    /// Judges the commands that run when the shell ends, with what is known then.
    pub(crate) fn run_traps(&mut self, state: &State<'_>) {
        for (text, around) in self.traps.clone() {
            self.script(&text, state.clone(), &around);
        }
    }

    /// Judges functions that were defined and not called: something else may call them.
    pub(crate) fn finish(&mut self, state: &State<'_>) {
        self.run_traps(state);
        for (name, bodies) in state.functions.iter() {
            if self.called.contains(name) {
                continue;
            }
            for body in bodies {
                self.node(body, state.clone(), &Around::default().perhaps());
            }
        }
    }

    /// Follows a text as a script of its own, and doubts it if it cannot be read.
    pub(crate) fn script<'s>(&mut self, text: &str, state: State<'s>, around: &Around) -> Flow<'s> {
        if self.depth >= DEEPEST {
            self.report.doubt(text, Unparsed::TooLong);
            return Flow::same(state, UNKNOWN);
        }
        self.depth += 1;
        // What is read now finds them.
        let theirs = std::mem::replace(&mut self.in_theirs, false);
        let flow = if let Ok(node) = parse(text, self.depth) {
            self.node(&node, state, around)
        } else {
            self.report.doubt(text, Unparsed::Syntax);
            if let Some(looks) = looks_destructive(text) {
                self.report.forbid(NeverAuto::HiddenDestructive { looks });
            }
            Flow::same(state, UNKNOWN)
        };
        self.in_theirs = theirs;
        self.depth -= 1;
        flow
    }

    pub(crate) fn node<'s>(&mut self, node: &Node, state: State<'s>, around: &Around) -> Flow<'s> {
        self.steps += 1;
        if self.steps > MOST_STEPS {
            self.report.doubt("…", Unparsed::TooLong);
            return Flow::same(state, UNKNOWN);
        }
        match node {
            Node::Simple(command) => command.follow(self, state, around),
            Node::Sequence(nodes) => self.sequence(nodes, state, around),
            Node::And(left, right) => {
                let left = self.node(left, state, around);
                let right = self.node(right, left.success, &around.perhaps());
                let failure = left.failure.merge(right.failure);
                Flow { success: right.success, failure, output: both(left.output, right.output) }
            }
            Node::Or(left, right) => {
                let left = self.node(left, state, around);
                let right = self.node(right, left.failure, &around.perhaps());
                let success = left.success.merge(right.success);
                Flow { success, failure: right.failure, output: both(left.output, right.output) }
            }
            Node::Pipeline(stages) => {
                let mut around = around.clone();
                for stage in stages {
                    let flow = self.node(stage, state.clone(), &around);
                    around.input = flow.output;
                }
                Flow::same(state, around.input)
            }
            Node::Subshell(body) => {
                let flow = self.node(body, state.clone(), around);
                Flow::same(state, flow.output)
            }
            Node::For { variable, words, body } => self.each(variable, words, body, state, around),
            Node::While { condition, body } => {
                let flow = self.node(condition, state.clone(), around);
                let inner = flow.joined();
                self.looped(body, state, &inner, &around.perhaps())
            }
            Node::If(branches) => self.branches(branches, state, around),
            Node::Case { word, patterns, arms } => {
                self.inside(word, &state);
                for pattern in patterns {
                    self.inside(pattern, &state);
                }
                let mut after = state.clone();
                for arm in arms {
                    let flow = self.node(arm, state.clone(), &around.perhaps());
                    after = after.merge(flow.joined());
                }
                Flow::same(after, UNKNOWN)
            }
            Node::Function { name, body } => {
                let mut state = state;
                state.functions.insert(name.clone(), vec![Rc::new((**body).clone())]);
                state.unsure.remove(name);
                Flow::same(state, Input::Inherited)
            }
            Node::Redirected { body, redirects } => {
                let mut around = around.clone();
                for redirect in redirects {
                    if let Some(input) = redirect.follow(self, &state) {
                        around.input = input;
                    }
                }
                self.node(body, state, &around)
            }
            Node::Test { words } => {
                self.test(words, &state);
                Flow::same(state, Input::Inherited)
            }
        }
    }

    /// Follows `for VARIABLE in WORDS`.
    fn each<'s>(
        &mut self,
        variable: &str,
        words: &[Word],
        body: &Node,
        state: State<'s>,
        around: &Around,
    ) -> Flow<'s> {
        let mut values = Vec::new();
        for word in words {
            self.inside(word, &state);
            values.extend(state.expand(word));
        }
        if values.len() > 2 * MOST_VALUES {
            // With that many values no command in the loop could be read in each of its forms.
            self.report.doubt(variable, Unparsed::TooLong);
            values = vec![Value::unknown()];
        }
        if variable_matters(variable, state.place) && !is_harmless_variable(variable, &values) {
            self.report.doubt(variable, Unparsed::Environment);
        }
        let mut inner = state.clone();
        inner.note_input(variable, words, &values);
        inner.variables.insert(variable.to_owned(), values);
        self.looped(body, state, &inner, around)
    }

    /// Follows `if`, its `elif`s and `else`: each may run.
    fn branches<'s>(&mut self, branches: &[(Node, Node)], mut state: State<'s>, around: &Around) -> Flow<'s> {
        let mut after: Option<State<'s>> = None;
        let mut output = Input::Inherited;
        let around = &around.perhaps();
        for (condition, body) in branches {
            let tested = self.node(condition, state, around);
            let flow = self.node(body, tested.success.clone(), around);
            output = both(output, flow.output.clone());
            let joined = flow.joined();
            after = Some(after.map_or_else(|| joined.clone(), |after| after.merge(joined.clone())));
            state = tested.failure;
        }
        let after = after.map_or_else(|| state.clone(), |after| after.merge(state.clone()));
        Flow::same(after, both(output, UNKNOWN))
    }

    /// Judges the words of `[[ … ]]`.
    fn test(&mut self, words: &[Word], state: &State<'_>) {
        let numbers = words.iter().any(compares_numbers);
        for word in words {
            self.inside(word, state);
            self.report.hidden_index(word);
            self.report.evaluated(word, state);
            if numbers && state.holds_input(word) {
                self.report.doubt(&word.source, Unparsed::Syntax);
            }
        }
    }

    /// Judges the commands inside a word.
    ///
    /// Returns whether the output of one of them is decoded or fetched: then nobody has seen what the word becomes.
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
                            self.report.doubt(name, Unparsed::Environment);
                        }
                        // Offsets and indices are expressions.
                        if word.source.starts_with([':', '[']) {
                            self.report.evaluated(word, state);
                            if state.holds_input(word) || hides_expansion(word) {
                                self.report.doubt(&word.source, Unparsed::Syntax);
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
                    self.report.evaluated(inner, state);
                    if state.holds_input(inner) {
                        self.report.doubt(&inner.source, Unparsed::Syntax);
                    }
                    self.report.hidden_index(inner);
                    self.inside(inner, state)
                }
            };
        }
        unseen
    }

    pub(super) fn sequence<'s>(&mut self, nodes: &[Node], state: State<'s>, around: &Around) -> Flow<'s> {
        let mut state = state;
        let mut output = Input::Text(String::new());
        let Some((last, before)) = nodes.split_last() else { return Flow::same(state, output) };
        for node in before {
            let flow = self.node(node, state, around);
            output = both(output, flow.output.clone());
            state = flow.joined();
        }
        let flow = self.node(last, state, around);
        Flow { output: both(output, flow.output), ..flow }
    }

    /// Follows the body of a loop twice: the second round sees what the first one set.
    pub(super) fn looped<'s>(
        &mut self,
        body: &Node,
        before: State<'s>,
        inner: &State<'s>,
        around: &Around,
    ) -> Flow<'s> {
        let first = self.node(body, inner.clone(), around);
        let output = both(first.output.clone(), UNKNOWN);
        let after = first.joined();
        let again = inner.clone().merge(after.clone());
        if !after.reached || (again.variables == inner.variables && again.directories == inner.directories) {
            return Flow::same(before.merge(after), output);
        }
        let second = self.node(body, again.clone(), around).joined();
        let mut settled = again.clone().merge(second);
        // A value that still grows in the second round cannot be named.
        for (name, values) in settled.variables.iter_mut() {
            if again.variables.get(name) != Some(values) {
                values.clear();
            }
        }
        if settled.directories != again.directories {
            settled.directories.push(None);
        }
        let after = self.node(body, settled, around).joined();
        Flow::same(before.merge(after), output)
    }
}

/// Tells whether an operator of `[[ … ]]` evaluates its operands as numbers, or as an index.
fn compares_numbers(word: &Word) -> bool {
    matches!(word.bare(), Some("-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" | "-v"))
}

/// Joins the output of two commands that run one after the other.
fn both(first: Input, second: Input) -> Input {
    match (first, second) {
        (Input::Text(first), Input::Text(second)) => Input::Text(first + &second),
        (Input::Unknown { unseen: true }, _) | (_, Input::Unknown { unseen: true }) => {
            Input::Unknown { unseen: true }
        }
        (Input::Names(mut first), Input::Names(second)) => {
            first.extend(second);
            Input::Names(first)
        }
        (Input::Text(text), other) | (other, Input::Text(text)) if text.is_empty() => other,
        (Input::Inherited, other) | (other, Input::Inherited) => other,
        (_, _) => UNKNOWN,
    }
}

/// Tells whether an offset or an index contains a quoted expansion, which the shell reads again.
fn hides_expansion(word: &Word) -> bool {
    let hides = |part: &WordPart| matches!(part, WordPart::Text { text, .. } if text.contains(['$', '`']));
    !word.source.starts_with(":+") && !word.source.starts_with(":?") && word.parts.iter().any(hides)
}
