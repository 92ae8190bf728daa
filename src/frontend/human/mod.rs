//! Events as a person sees them: styled lines on the screen, a status row, questions.
//!
//! Chooses the words (`words.rs`) and the looks; decides nothing. Text is painted at once when it is the first for
//! 16 ms, else together with what follows, so that a fast stream costs no more than the eye can see.

mod again;
mod asked;
mod attention;
mod consent;
mod diff;
mod explorers;
mod lend;
mod looks;
mod paint;
mod propose;
mod question;
mod said;
mod turn;
mod work;

use std::io::Write;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::words;
use crate::agent::{AgentEvent, Approval, ApprovalRequest, Frontend};
use crate::config::{ReasoningView, ThemeChoice};

use crate::conversation;
use crate::locale::{Locale, word};
use crate::provider::OWN;
use crate::terminal::{
    Background, FRAME, KeyWatch, Line, Loan, Mark, MarkdownStream, Screen, Theme, Tty, TypeAhead,
};

use crate::tool::{Place, Toolbox};
use paint::{PAINT_STEP, STATUS_STEP};
use turn::Turn;

pub use again::turn;
pub use asked::Offer;
pub use consent::{Kept, Matches, Rules};
pub use looks::{Looks, Palette};
pub use question::{Asker, Choice, Nobody, Question};

/// How long the keyboard must be quiet before a question is put, and how long that is waited for.
const QUIET: Duration = Duration::from_millis(250);
const QUIET_LIMIT: Duration = Duration::from_secs(3);

/// All it takes to show a turn.
pub struct HumanOptions<W: Write> {
    /// Tells the terminal's columns and rows now.
    pub size: fn() -> (u16, u16),
    /// The looks.
    pub looks: Looks,
    /// The user's words.
    pub locale: Locale,
    /// Where the agent works: paths are shown relative to it.
    pub place: Place,
    /// Puts questions.
    pub asker: Box<dyn Asker<W>>,
    /// What a rule would have run before, and where one is kept.
    pub rules: Rules,
    /// The agent's tools: they tell what a change that nobody is asked about will look like.
    pub tools: Toolbox,
    /// Takes down the terminal's background when it has told, for the next start.
    pub keep_background: Box<dyn Fn(Background)>,
    /// Tells the time.
    pub clock: Box<dyn Fn() -> Instant>,
}

/// What was printed last, so that sections stand apart by one empty row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    Start,
    Reasoning,
    Text,
    Tool,
    Question,
    Notice,
}

/// Whether the terminal was asked for its background.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Unasked,
    Waiting,
    Done,
}

/// Shows a turn to a person.
pub struct Human<W: Write> {
    screen: Screen<W>,
    size: fn() -> (u16, u16),
    clock: Box<dyn Fn() -> Instant>,
    looks: Looks,
    locale: Locale,
    place: Place,
    asker: Box<dyn Asker<W>>,
    rules: Rules,
    tools: Toolbox,
    keep_background: Box<dyn Fn(Background)>,
    background: Asked,
    keyboard: Option<Keyboard>,
    /// What is under way of the text, and which section it is.
    section: Section,
    stream: Option<(Section, MarkdownStream)>,
    pending: String,
    painted: Option<Instant>,
    status: Shown,
    turn: Option<Turn>,
    /// The terminal is a command's.
    lent: Option<Loan>,
    topic: String,
    /// Whether what is being answered has failed.
    failed: bool,
}

/// The keyboard while a turn runs, and the terminal it belongs to.
struct Keyboard {
    keys: KeyWatch,
    tty: Rc<Tty>,
}

/// The status row as it was composed last, and what would make it another.
#[derive(Default)]
struct Shown {
    line: Line,
    at: Option<Instant>,
    keys: u64,
    changed: bool,
}

impl<W: Write> Human<W> {
    /// Shows on `screen`.
    pub fn new(screen: Screen<W>, options: HumanOptions<W>) -> Self {
        let HumanOptions { size, looks, locale, place, asker, rules, tools, keep_background, clock } = options;
        Self {
            screen,
            size,
            clock,
            looks,
            locale,
            place,
            asker,
            rules,
            tools,
            keep_background,
            background: Asked::Unasked,
            keyboard: None,
            section: Section::Start,
            stream: None,
            pending: String::new(),
            painted: None,
            status: Shown::default(),
            turn: None,
            lent: None,
            topic: String::new(),
            failed: false,
        }
    }

    /// Returns the user's words.
    pub const fn locale(&self) -> &Locale {
        &self.locale
    }

    /// Speaks another language from now on.
    pub fn set_locale(&mut self, locale: Locale) {
        self.locale = locale;
    }

    /// Says what the next turn is about, for the window's title.
    pub fn set_topic(&mut self, message: &str) {
        message.lines().next().unwrap_or_default().trim().clone_into(&mut self.topic);
    }

    /// Shows this much of reasoning from now on.
    pub const fn set_reasoning(&mut self, view: ReasoningView) {
        self.looks.reasoning = view;
    }

    /// Returns what is shown of reasoning.
    pub const fn reasoning(&self) -> ReasoningView {
        self.looks.reasoning
    }

    /// Uses these styles from now on.
    pub fn set_theme(&mut self, choice: ThemeChoice) {
        self.looks.palette.choice = choice;
        self.looks.choose_theme();
    }

    /// Returns which styles are used.
    pub const fn theme_choice(&self) -> ThemeChoice {
        self.looks.palette.choice
    }

    /// Takes the terminal's background for what it was told to be before, if it was: it is not asked again. Who may be
    /// gone in a second leaves no question open, whose answer would end in somebody else's line.
    pub fn trust_known_background(&mut self) {
        if self.looks.palette.background.is_some() {
            self.background = Asked::Done;
        }
    }

    /// Asks the terminal for its background, once, while the keyboard is watched: the watcher takes the answer.
    fn ask_background(&mut self) {
        if self.background == Asked::Unasked
            && self.looks.palette.depends_on_background()
            && !self.screen.is_linear()
            && let Some(keyboard) = &self.keyboard
        {
            keyboard.keys.expect_answer();
            self.screen.mark(&Mark::AskBackground);
            self.background = Asked::Waiting;
        }
    }

    /// Takes the terminal's answer, if it has come.
    fn take_background(&mut self) {
        if self.background != Asked::Waiting {
            return;
        }
        let told = self.keyboard.as_ref().and_then(|keyboard| keyboard.keys.background());
        if let Some(background) = told {
            self.background = Asked::Done;
            if self.looks.palette.background != Some(background) {
                self.looks.palette.background = Some(background);
                self.looks.choose_theme();
            }
            (self.keep_background)(background);
        }
    }

    /// Listens to the keyboard until [`Human::unwatch`].
    pub fn watch(&mut self, keys: KeyWatch, tty: Rc<Tty>) {
        self.screen.listen(true);
        self.keyboard = Some(Keyboard { keys, tty });
        self.status.keys = 0;
    }

    /// Waits, not for long, until nobody types.
    pub fn settle(&mut self) {
        if let Some(keyboard) = &self.keyboard {
            keyboard.keys.settle(QUIET, QUIET_LIMIT);
        }
    }

    /// Stops listening and returns what was typed.
    pub fn unwatch(&mut self) -> TypeAhead {
        self.screen.listen(false);
        self.screen.end_live();
        if let Some(keyboard) = &mut self.keyboard {
            // What the terminal answers is read before anybody else reads.
            keyboard.keys.pause();
        }
        self.take_background();
        self.keyboard.take().map(|keyboard| keyboard.keys.stop()).unwrap_or_default()
    }

    /// Returns the screen, for what is printed between turns.
    pub const fn screen(&mut self) -> &mut Screen<W> {
        &mut self.screen
    }

    /// Returns the styles.
    pub const fn theme(&self) -> &Theme {
        &self.looks.theme
    }

    const fn ink(&self) -> diff::Ink<'_> {
        diff::Ink { theme: &self.looks.theme, highlight: self.looks.highlight }
    }

    fn now(&self) -> Instant {
        (self.clock)()
    }

    /// Lets a question have the screen and the keyboard.
    fn interrupted_by<T>(&mut self, put: impl FnOnce(&mut dyn Asker<W>, &mut Screen<W>) -> T) -> T {
        self.hush();
        let answer = put(self.asker.as_mut(), &mut self.screen);
        self.screen.forget();
        self.read_on();
        answer
    }

    /// Gives screen and keyboard away, once nobody types.
    fn hush(&mut self) {
        self.call_for_answer();
        self.screen.end_live();
        // Keys typed before the question appeared stay type-ahead: they never answer it.
        if let Some(keyboard) = &mut self.keyboard {
            keyboard.keys.settle(QUIET, QUIET_LIMIT);
            keyboard.keys.pause();
        }
    }

    /// Reads the keyboard again; what the terminal was told about keys has not changed.
    fn read_on(&mut self) {
        let resumed = self.keyboard.as_mut().map(|keyboard| keyboard.keys.resume());
        if let Some(Err(error)) = resumed {
            tracing::warn!(%error, "the keyboard cannot be watched");
        }
    }

    fn started(&mut self, model: &str) {
        self.resized();
        self.claim_title();
        self.ask_background();
        self.section = Section::Start;
        self.painted = None;
        self.status = Shown::default();
        let own = model.split_once('/').is_some_and(|(provider, _)| provider == OWN);
        self.turn = Some(Turn { own, ..Turn::new(self.now()) });
    }
}

impl<W: Write> Frontend for Human<W> {
    fn show(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::TurnStarted { model, .. } => self.started(model),
            AgentEvent::Waiting { activity } => self.waiting(activity),
            AgentEvent::TextDelta { text } => {
                self.count(text);
                self.text(Section::Text, text);
            }
            AgentEvent::ReasoningDelta { text } => {
                self.count(text);
                self.reason(text);
            }
            AgentEvent::MessageEnded => {
                self.end_stream();
                self.paint_live();
            }
            AgentEvent::ToolRequested { call, effect, subject } => self.requested(call, *effect, subject),
            // Whoever has the terminal shows it there.
            AgentEvent::ToolOutput { .. } if self.lent.is_some() => {}
            AgentEvent::ToolOutput { line, .. } => self.running(line),
            AgentEvent::ToolFinished { call_id, name, outcome, content, facts, duration_ms } => {
                let known = self.turn.as_mut().and_then(|turn| turn.ends(call_id));
                self.finished(
                    known.unwrap_or_default(),
                    &work::Result { name, outcome: *outcome, content, facts, duration_ms: *duration_ms },
                );
            }
            AgentEvent::Retrying { attempt, of, wait_ms, error } => {
                let text = self.locale.with(word::activity::Retrying {
                    what: &words::failure(&self.locale, error).what,
                    attempt: &attempt.to_string(),
                    of: &of.to_string(),
                    seconds: &wait_ms.div_ceil(1000).to_string(),
                });
                self.busy_with(&text, true);
            }
            AgentEvent::Usage { usage } => {
                if let Some(turn) = &mut self.turn {
                    turn.tokens.told(usage.written());
                    self.status.changed = true;
                }
            }
            AgentEvent::Notice { notice } => {
                self.end_stream();
                self.begin(Section::Notice);
                let told = words::notice(&self.locale, notice);
                self.tell(word::error::WARNING, self.looks.theme.warning, &told);
                self.paint_live();
            }
            AgentEvent::TurnEnded { end } => self.ended(end),
        }
    }

    fn approve(&mut self, request: &ApprovalRequest) -> Approval {
        self.end_stream();
        self.resized();
        // A question stands apart also from the tool before it; what comes of it stands right below.
        self.begin(Section::Question);
        let lines = diff::preview(&self.locale, &self.place, self.ink(), request);
        self.screen.commit_all(&lines);
        let doubts = diff::doubts(&self.locale, &self.place, &self.looks.theme, request);
        for row in &doubts {
            self.commit_rows(row, said::HANG);
        }
        self.section = Section::Tool;
        let question = Question::new(&self.locale, request, self.tools.identity(&request.call.name).verb);
        self.hush();
        let approval = self.answer(&question);
        self.read_on();
        if let Some(turn) = &mut self.turn {
            turn.asked(&request.call.id);
        }
        approval
    }

    fn ask(&mut self, question: &conversation::Question) -> conversation::Answer {
        self.put(question)
    }

    fn can_lend(&self) -> bool {
        self.keyboard.is_some()
    }

    fn lend(&mut self, near: OwnedFd, pressed: OwnedFd) -> bool {
        self.begin_loan(near, pressed)
    }

    fn take_back(&mut self) {
        self.end_loan();
    }

    fn next_tick(&self) -> Option<Instant> {
        if self.lent.is_some() {
            return None;
        }
        let text =
            (!self.pending.is_empty()).then(|| self.painted.map_or_else(Instant::now, |last| last + PAINT_STEP));
        if self.turn.is_none() || self.screen.is_linear() {
            // Nothing moves there but text, and text that waits to be painted with more must not wait for ever.
            return text;
        }
        let last = self.status.at.unwrap_or_else(|| self.now());
        let status = last + if self.is_status_old() { STATUS_STEP } else { FRAME };
        Some(text.map_or(status, |text| text.min(status)))
    }

    fn tick(&mut self) {
        let suspend = self.keyboard.as_ref().filter(|keyboard| keyboard.keys.take_suspend());
        if let Some(tty) = suspend.map(|keyboard| Rc::clone(&keyboard.tty)) {
            self.screen.end_live();
            if let Err(error) = tty.suspend() {
                tracing::warn!(%error, "the terminal did not come back");
            }
            self.screen.forget();
        }
        self.take_background();
        self.paint();
    }
}

#[cfg(test)]
#[path = "human_tests.rs"]
mod tests;
