//! The question under a preview, as data: what is asked and what can be answered.

use std::io::Write;

use crate::agent::{Approval, ApprovalRequest, Tryable};
use crate::approval::{Reason, Rule};
use crate::conversation::{Answer, Effect, Subject, ToolVerb};
use crate::frontend::{tool_words, words};
use crate::locale::{Locale, word};
use crate::terminal::{Screen, sanitize_line};

/// Puts a question to the person and waits for the answer. The screen is quiet meanwhile: nothing live is on it,
/// and its cursor stands at the start of an empty row, before and after.
pub trait Asker<W: Write> {
    /// Asks.
    fn ask(&mut self, question: &Question, screen: &mut Screen<W>) -> Approval;

    /// Takes the answer to a question whose text and choices are on the screen.
    fn answer(&mut self, _: &Answers, _: &mut Screen<W>) -> Answer {
        Answer::Unavailable
    }
}

/// What may be answered to a question whose text and choices are on the screen, in the person's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answers {
    /// How many choices there are, the person's own words not counted.
    pub choices: usize,
    /// Whether more than one may be chosen.
    pub several: bool,
    /// Whether Enter alone is an answer.
    pub has_default: bool,
    /// Whether their own words are the choice after the last one.
    pub own_words: bool,
    /// What is printed before the person's own words.
    pub words_prompt: String,
    /// Which keys do what.
    pub hint: String,
}

/// Nobody is there: print mode.
pub struct Nobody;

impl<W: Write> Asker<W> for Nobody {
    fn ask(&mut self, _: &Question, _: &mut Screen<W>) -> Approval {
        Approval::Unavailable
    }
}

/// A question in the user's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The question.
    pub prompt: String,
    /// What can be answered, in order.
    pub choices: Vec<(Choice, String)>,
    /// What Enter answers when nothing else was gone to.
    pub start: Choice,
    /// The rule that [`Choice::Always`] is about.
    pub rule: Option<Rule>,
    /// What [`Choice::Try`] tries.
    pub trial: Option<Tryable>,
    /// The line that [`Choice::Explain`] explains.
    pub line: Option<String>,
    /// Asks what to do instead.
    pub feedback_prompt: String,
    /// What ESC does.
    pub hint: String,
}

/// One answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Yes, this once.
    Once,
    /// Not yet: run it in a trial first.
    Try,
    /// Yes, and the same for the rest of the session.
    Session,
    /// Yes, and by a rule that is kept.
    Always,
    /// No.
    No,
    /// No, with words.
    Feedback,
    /// Not yet: explain the line first.
    Explain,
}

impl Choice {
    /// Returns the key that stands for it, the same in every language.
    #[must_use]
    pub const fn letter(self) -> char {
        match self {
            Self::Once => 'y',
            Self::Try => 't',
            Self::Session => 's',
            Self::Always => 'a',
            Self::No => 'n',
            Self::Feedback => 'f',
            Self::Explain => 'e',
        }
    }
}

impl Question {
    /// Words the question of a request.
    #[must_use]
    pub fn new(locale: &Locale, request: &ApprovalRequest, verb: ToolVerb) -> Self {
        let name = sanitize_line(&request.call.name).into_owned();
        let prompt = tool_words::may(verb).map_or_else(
            || locale.with(word::approve::question::Other { name: &name }),
            |prompt| locale.text(prompt).to_owned(),
        );
        let never = words::never_auto_reason(&request.reasons);
        let rule = request.always_rule.clone().filter(|_| !never);
        let mut choices = vec![(Choice::Once, locale.text(word::approve::ONCE).to_owned())];
        if let Some(text) = session_choice(locale, request, &name).filter(|_| !never) {
            choices.push((Choice::Session, text));
        }
        if rule.is_some() {
            choices.push((Choice::Always, locale.text(word::approve::ALWAYS).to_owned()));
        }
        choices.push((Choice::No, locale.text(word::approve::NO).to_owned()));
        choices.push((Choice::Feedback, locale.text(word::approve::FEEDBACK).to_owned()));
        let line = match &request.subject {
            Subject::Command { line } => Some(line.clone()),
            Subject::Paths { .. } | Subject::Host { .. } | Subject::Whole => None,
        };
        if line.is_some() {
            choices.push((Choice::Explain, locale.text(word::approve::EXPLAIN).to_owned()));
        }
        Self {
            prompt,
            choices,
            // One Enter too many must not run what no rule may run, what destroys, or what sends something.
            start: if never || request.careful { Choice::No } else { Choice::Once },
            rule,
            trial: None,
            line,
            feedback_prompt: locale.text(word::approve::FEEDBACK_PROMPT).to_owned(),
            hint: match request.number {
                (_, 1) => locale.text(word::approve::STOP).to_owned(),
                (number, of) => {
                    locale.with(word::approve::StopOf { number: &number.to_string(), of: &of.to_string() })
                }
            },
        }
    }

    /// Offers a trial before the noes, if there is one to offer.
    pub fn offer_trial(&mut self, locale: &Locale, request: &ApprovalRequest, can_try: &dyn Fn() -> bool) {
        self.trial = request.trial.clone().filter(|_| can_try());
        if self.trial.is_some() {
            let before_no = self.choices.iter().position(|(choice, _)| *choice == Choice::No);
            let at = before_no.unwrap_or(self.choices.len());
            self.choices.insert(at, (Choice::Try, locale.text(word::approve::TRY).to_owned()));
        }
    }

    /// Asks whether the rule that was shown is kept.
    #[must_use]
    pub fn keep(locale: &Locale) -> Self {
        Self {
            prompt: locale.text(word::approve::keep::QUESTION).to_owned(),
            choices: vec![
                (Choice::Once, locale.text(word::approve::keep::YES).to_owned()),
                (Choice::No, locale.text(word::approve::keep::NO).to_owned()),
            ],
            start: Choice::Once,
            rule: None,
            trial: None,
            line: None,
            feedback_prompt: String::new(),
            hint: locale.text(word::approve::keep::HINT).to_owned(),
        }
    }
}

/// What "for this session" would mean, in words; `None` where it would change nothing.
fn session_choice(locale: &Locale, request: &ApprovalRequest, name: &str) -> Option<String> {
    // A call that reaches further than usual is agreed to once only.
    if request.widened.is_some() || request.outlives {
        return None;
    }
    match &request.subject {
        Subject::Command { .. } => Some(match request.session_rule.as_deref() {
            Some(rule) => locale.with(word::approve::session::Command { rule: &sanitize_line(rule) }),
            None => locale.text(word::approve::session::EXACT).to_owned(),
        }),
        // It is gone afterwards: there is no second time.
        Subject::Paths { .. } if request.effect == Effect::Delete => None,
        Subject::Paths { .. } if request.effect == Effect::Read => {
            Some(locale.text(word::approve::session::READS).to_owned())
        }
        // The session's yes is for the workspace.
        Subject::Paths { .. }
            if request.reasons.iter().any(|reason| matches!(reason, Reason::OutsideWorkspace { .. })) =>
        {
            None
        }
        Subject::Paths { .. } => Some(locale.text(word::approve::session::PATHS).to_owned()),
        Subject::Host { host } => {
            let rule = format!("{name}({})", sanitize_line(host));
            Some(locale.with(word::approve::session::Command { rule: &rule }))
        }
        Subject::Whole => Some(locale.with(word::approve::session::Whole { name })),
    }
}
