//! Turns as a person sees them: text as it arrives, steps with what came of them, questions, the row that lives below.
//!
//! It puts the parts together and decides nothing. The first text for 16 ms is painted at once, what follows together.

use std::io::Write;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::attention::{Attention, Notifier};
use super::finished::{self, Finished};
use super::keyboard::Keyboard;
use super::lend::Lent;
use super::looks::Looks;
use super::painter::{Painter, Section};
use super::progress::Progress;
use super::prose::Prose;
use super::question::{Asker, Question};
use super::questions::{self, Questions};
use super::rules::Rules;
use super::steps::Steps;
use super::{again, asked, explorers, propose, review};
use crate::agent::{Activity, AgentEvent, Approval, ApprovalRequest, Frontend, Notice, Review, TurnEnd};
use crate::approval::{Surroundings, command::LineJudgement};
use crate::conversation::{Answer, Bill, Message, Question as Asked};
use crate::frontend::words;
use crate::locale::{Locale, word};
use crate::platform::os::fd::OwnedFd;
use crate::provider::{OWN, SILENCE_TOLD_AFTER};
use crate::terminal::{Background, KeyWatch, Line, Pressed, Screen, Tty, sanitize_line};
use crate::tool::Toolbox;
use crate::trial::ChangeSet;

/// The least time between two paintings of arriving text.
const PAINT_STEP: Duration = Duration::from_millis(16);

/// All it takes to show a turn.
pub struct HumanOptions<W: Write> {
    /// Tells the terminal's columns and rows now.
    pub size: fn() -> (u16, u16),
    /// The looks.
    pub looks: Looks,
    /// The user's words.
    pub locale: Locale,
    /// Where the agent works: paths are shown relative to it, and a proposed line is judged as the agent judges.
    pub place: Surroundings,
    /// Puts questions.
    pub asker: Box<dyn Asker<W>>,
    /// What a rule would have run before, and where one is kept.
    pub rules: Rules,
    /// The agent's tools: they tell what a change that nobody is asked about will look like.
    pub tools: Toolbox,
    /// Takes down the terminal's background when it has told, for the next start.
    pub keep_background: Box<dyn Fn(Background)>,
    /// Gets what a turn is about to who looks elsewhere.
    pub notifier: Notifier,
    /// Tells the time.
    pub clock: Box<dyn Fn() -> Instant>,
}

/// Shows a turn to a person.
pub struct Human<W: Write> {
    painter: Painter<W>,
    prose: Prose,
    progress: Progress,
    steps: Steps,
    keyboard: Keyboard,
    questions: Questions<W>,
    attention: Attention,
    lent: Lent,
    keep_background: Box<dyn Fn(Background)>,
    clock: Box<dyn Fn() -> Instant>,
    /// When arriving text was painted last.
    painted: Option<Instant>,
    /// Whether hints may name slash commands.
    pub speaking: words::Speaking,
    /// Whether the person knows that the answer broke off, and why: the end of the turn says no more.
    told_broken: bool,
}

impl<W: Write> Human<W> {
    /// Shows on `screen`.
    pub fn new(screen: Screen<W>, options: HumanOptions<W>) -> Self {
        Self {
            painter: Painter::new(screen, options.size, options.looks, options.locale, options.place),
            prose: Prose::default(),
            progress: Progress::default(),
            steps: Steps::new(options.tools),
            keyboard: Keyboard::default(),
            questions: Questions::new(options.asker, options.rules),
            attention: Attention::new(options.notifier),
            lent: Lent::default(),
            keep_background: options.keep_background,
            clock: options.clock,
            painted: None,
            speaking: words::Speaking::default(),
            told_broken: false,
        }
    }

    /// Returns what paints rows, for what is said between turns.
    pub const fn painter(&mut self) -> &mut Painter<W> {
        &mut self.painter
    }

    /// Returns the user's words.
    pub const fn locale(&self) -> &Locale {
        self.painter.locale()
    }

    /// Notes that a key was pressed for another reader: whoever pressed it looks at the terminal.
    pub fn somebody_is_there(&mut self) {
        self.keyboard.somebody_is_there();
    }

    /// Says what the next turn is about, for the window's title.
    pub fn set_topic(&mut self, message: &str) {
        self.attention.set_topic(message);
    }

    /// Never asks the terminal for its background.
    ///
    /// A process that may end within a second must not ask: the answer would arrive on the shell's prompt.
    pub const fn leave_background_unasked(&mut self) {
        self.keyboard.trust_background();
    }

    /// Listens to the keyboard until [`Human::unwatch`].
    pub fn watch(&mut self, keys: KeyWatch, tty: Rc<Tty>) {
        self.painter.screen().listen(true);
        self.keyboard.watch(keys, tty);
        self.progress.watch_anew();
    }

    /// Waits, not for long, until nobody types.
    pub fn settle(&mut self) {
        self.keyboard.settle();
    }

    /// Stops listening and returns what the keys asked for.
    pub fn unwatch(&mut self) -> Pressed {
        self.painter.screen().listen(false);
        self.painter.screen().end_live();
        // What the terminal answers is read before anybody else reads.
        self.keyboard.pause();
        self.take_background();
        self.keyboard.unwatch()
    }

    /// Lays out the messages of a turn in full.
    pub fn in_full(&self, messages: &[Message]) -> Vec<Line> {
        again::in_full(&self.painter, self.steps.tools(), messages)
    }

    /// Prints the end of a conversation again, as much as a screen holds, and marks it as that.
    pub fn recap(&mut self, messages: &[Message]) {
        again::recap(&mut self.painter, self.steps.tools(), messages);
    }

    /// Judges a line where the agent works.
    pub fn judged(&self, line: &str) -> Arc<LineJudgement> {
        propose::judged(&self.painter, line)
    }

    /// Takes the command that was proposed last in this turn, judged.
    pub const fn take_proposed(&mut self) -> Option<Arc<LineJudgement>> {
        self.steps.take_proposed()
    }

    fn now(&self) -> Instant {
        (self.clock)()
    }

    /// Takes the terminal's background, if it has told.
    fn take_background(&mut self) {
        if let Some(background) = self.keyboard.take_background() {
            self.painter.looks_mut().set_background(background);
            (self.keep_background)(background);
        }
    }

    fn resize(&mut self) {
        if let Some(width) = self.painter.resize() {
            self.prose.resize(width);
        }
    }

    fn started(&mut self, model: &str) {
        tracing::info!(model, "a turn begins");
        self.resize();
        self.attention.claim_title(&mut self.painter, &self.keyboard);
        if self.painter.looks().palette.depends_on_background()
            && !self.painter.is_linear()
            && let Some(question) = self.keyboard.ask_background()
        {
            self.painter.screen().mark(&question);
        }
        self.painter.continue_as(Section::Start);
        self.painted = None;
        self.steps.clear();
        let own = model.split_once('/').is_some_and(|(provider, _)| provider == OWN);
        self.progress.start(self.now(), own);
    }

    /// Tells once in a while that it is time to paint what has arrived.
    fn is_due(&self) -> bool {
        self.painted.is_none_or(|painted| self.now() >= painted + PAINT_STEP)
    }

    fn paint_when_due(&mut self) {
        if self.prose.is_waiting() && self.is_due() {
            self.paint();
        }
    }

    fn paint(&mut self) {
        self.resize();
        self.prose.advance(&mut self.painter);
        self.painted = Some(self.now());
        self.paint_live();
    }

    /// Paints the unfinished text row, or a running tool's last line, and the status row.
    fn paint_live(&mut self) {
        let now = self.now();
        let status = self.progress.status(&mut self.painter, &self.keyboard, now);
        let (open, tail) = match self.prose.live(&mut self.painter) {
            Some(live) => live,
            None => (Line::new(), self.progress.tail(&mut self.painter)),
        };
        let screen = self.painter.screen();
        screen.live(&open, &status);
        screen.tail(&tail);
        screen.flush();
    }

    /// Commits what is open of the text.
    fn end_text(&mut self) {
        self.resize();
        let now = self.now();
        self.prose.end(&mut self.painter, now);
    }

    fn waiting(&mut self, activity: &Activity) {
        let explorers = if let Activity::Exploring { explorers } = activity { explorers.as_slice() } else { &[] };
        if matches!(
            activity,
            Activity::Connecting
                | Activity::SummingUp
                | Activity::Hook { .. }
                | Activity::WritingCall { .. }
                | Activity::Running { .. }
                | Activity::Exploring { .. }
        ) {
            self.end_text();
        }
        for explorer in self.progress.explore(explorers) {
            if self.painter.is_linear() {
                let begins = explorers::begins(&self.painter, &explorer);
                self.step_begins(&begins);
            }
        }
        let words = words::activity(self.locale(), self.painter.roots(), self.steps.tools(), activity);
        // The person sees thoughts and text as they arrive.
        let is_seen = match activity {
            // Reading is told every few seconds, which is too much for a line each; sub-agents are told as they begin.
            Activity::Thinking
            | Activity::Answering
            | Activity::WritingCall { .. }
            | Activity::Reading { .. }
            | Activity::Exploring { .. } => true,
            Activity::Connecting
            | Activity::SummingUp
            | Activity::Loading
            | Activity::Hook { .. }
            | Activity::Running { .. } => false,
            // Told once, not again as the seconds grow.
            Activity::Silent { seconds } => *seconds > SILENCE_TOLD_AFTER.as_secs(),
        };
        self.busy_with(&words, !is_seen);
    }

    /// Shows what the agent is busy with: in the status row, or as a line where there is none and `line` is set.
    fn busy_with(&mut self, words: &str, line: bool) {
        let words = &sanitize_line(words);
        if self.painter.is_linear() && line {
            self.step_begins(&format!("{words} …"));
        }
        self.progress.busy_with(words);
        self.paint_live();
    }

    /// Says that a step begins, where no row can be repainted.
    fn step_begins(&mut self, words: &str) {
        self.painter.begin(Section::Tool);
        let line = Line::styled(words, self.painter.theme().dim);
        self.painter.screen().commit(&line);
    }

    /// Shows a line a running tool printed.
    fn printed(&mut self, line: &str) {
        self.progress.printed(line);
        if self.is_due() {
            self.painted = Some(self.now());
            self.paint_live();
        }
    }

    fn ended(&mut self, end: &TurnEnd) {
        tracing::info!(?end, "a turn is over");
        self.end_text();
        let is_told = std::mem::take(&mut self.told_broken);
        let told = words::turn_end(self.locale(), end, self.speaking).filter(|_| !is_told);
        if told.is_some() {
            self.painter.begin(Section::Notice);
        }
        match (end, told) {
            (TurnEnd::Failed { .. }, Some(told)) => self.painter.error(&told),
            (TurnEnd::Interrupted, Some(told)) => {
                let line = Line::styled(told.what, self.painter.theme().dim);
                self.painter.commit_rows(&line, 0);
            }
            (_, Some(told)) => self.painter.notice(word::error::WARNING, &told),
            (_, None) => {}
        }
        if *end != TurnEnd::Done {
            self.painter.has_failed();
        }
        let bill = self.progress.bill();
        let spent = self.progress.end(self.now());
        if let Some(bill) = bill {
            questions::bill(&mut self.painter, &bill);
        }
        self.attention.ended(&mut self.painter, &self.keyboard, end, spent);
        self.painted = None;
        self.painter.end_section();
    }

    /// Takes the keyboard back from a question.
    fn goes_on(&mut self) {
        self.keyboard.resume_answered();
        Attention::answered(&mut self.painter);
    }

    /// Gives screen and keyboard to a question, once nobody types: keys typed before it appeared never answer it.
    fn hush(&mut self) {
        self.attention.call_for_answer(&mut self.painter, &self.keyboard);
        self.painter.screen().end_live();
        self.keyboard.settle();
        self.keyboard.pause();
    }
}

impl<W: Write> Frontend for Human<W> {
    fn show(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::TurnStarted { model, .. } => self.started(model),
            AgentEvent::Waiting { activity } => self.waiting(activity),
            AgentEvent::TextDelta { text } => {
                self.progress.arrived(text);
                let now = self.now();
                self.prose.answer(&mut self.painter, text, now);
                self.paint_when_due();
            }
            AgentEvent::ReasoningDelta { text } => {
                self.progress.arrived(text);
                let now = self.now();
                self.prose.reason(&mut self.painter, text, now);
                self.paint_when_due();
            }
            AgentEvent::MessageEnded => {
                self.end_text();
                self.paint_live();
            }
            AgentEvent::ToolRequested { call, subject, about, .. } => {
                self.steps.request(self.painter.locale(), self.painter.roots(), call, (subject, about));
            }
            // Whoever has the terminal shows it there.
            AgentEvent::ToolOutput { .. } if self.lent.is_out() => {}
            AgentEvent::ToolOutput { line, .. } => self.printed(line),
            AgentEvent::ToolFinished { call_id, name, outcome, content, facts, duration_ms, change } => {
                self.end_text();
                let known = self.steps.end(call_id);
                let verb = self.steps.tools().identity(name).verb;
                let result = Finished {
                    name,
                    verb,
                    outcome: *outcome,
                    content,
                    facts,
                    duration_ms: *duration_ms,
                    change: change.as_ref(),
                };
                let askable = self.keyboard.is_watched();
                self.steps.propose(finished::finish(&mut self.painter, &known, &result, askable));
                self.progress.call_ended(call_id);
                self.paint_live();
            }
            AgentEvent::Retrying { attempt, of, wait_ms, error } => {
                let text = words::retrying(self.locale(), error, self.speaking, (*attempt, *of), *wait_ms);
                self.busy_with(&text, true);
            }
            AgentEvent::Usage { usage, usd, local } => {
                self.progress.told(usage.written());
                self.progress.billed(Bill::stored(*usage, *usd), *local);
            }
            AgentEvent::Notice { notice } => {
                self.end_text();
                self.painter.begin(Section::Notice);
                let told = words::notice(self.locale(), notice, self.speaking);
                self.painter.notice(words::notice_label(notice), &told);
                self.told_broken = matches!(notice, Notice::BrokenMidway { .. });
                self.paint_live();
            }
            AgentEvent::TurnEnded { end } => self.ended(end),
        }
    }

    fn approve(&mut self, request: &ApprovalRequest) -> Approval {
        self.end_text();
        questions::show(&mut self.painter, request);
        let locale = self.painter.locale();
        let mut question = Question::new(locale, request, self.steps.verb(&request.call.name));
        question.offer_trial(locale, request, &|| self.questions.can_try());
        self.hush();
        let approval = self.questions.ask(&mut self.painter, &question);
        self.goes_on();
        self.steps.seen(&request.call.id, &approval);
        approval
    }

    fn ask(&mut self, question: &Asked) -> Answer {
        self.end_text();
        let (answers, choices) = asked::show(&mut self.painter, question);
        self.hush();
        let answer = self.questions.answer(&mut self.painter, &answers);
        self.goes_on();
        asked::tell(&mut self.painter, question, &choices, &answer);
        self.paint_live();
        answer
    }

    fn review(&mut self, set: &ChangeSet) -> Review {
        self.end_text();
        self.hush();
        let review = review::review(&mut self.painter, &mut self.questions, set);
        self.goes_on();
        review
    }

    fn can_lend(&self) -> bool {
        self.keyboard.is_watched()
    }

    fn lend(&mut self, near: OwnedFd, pressed: OwnedFd) -> bool {
        if !self.keyboard.is_watched() {
            return false;
        }
        self.end_text();
        let command = self.steps.unseen_command().unwrap_or_default();
        self.lent.begin(&mut self.painter, &mut self.keyboard, &self.attention, command, (near, pressed))
    }

    fn take_back(&mut self) {
        if self.lent.end(&mut self.painter, &mut self.keyboard) {
            self.resize();
            self.paint_live();
        }
    }

    fn next_tick(&self) -> Option<Instant> {
        if self.lent.is_out() {
            return None;
        }
        let waits = self.prose.is_waiting();
        let text = waits.then(|| self.painted.map_or_else(Instant::now, |last| last + PAINT_STEP));
        if self.painter.is_linear() {
            // Nothing moves there but text, and text that waits to be painted with more must not wait for ever.
            return text;
        }
        let status = self.progress.next(&self.keyboard, self.now());
        text.into_iter().chain(status).min()
    }

    fn tick(&mut self) {
        if let Some(tty) = self.keyboard.take_suspend() {
            self.painter.screen().end_live();
            if let Err(error) = tty.suspend() {
                tracing::warn!(%error, "the terminal did not come back");
            }
            self.painter.screen().forget();
        }
        self.take_background();
        self.paint();
    }
}

#[cfg(test)]
#[path = "turns_tests.rs"]
mod tests;
