//! Events as a person sees them: styled lines on the screen, a status row, questions.
//!
//! Chooses the words (`words.rs`) and the looks; decides nothing. Text is painted at once when it is the first for
//! 16 ms, else together with what follows, so that a fast stream costs no more than the eye can see.

mod diff;
mod question;
mod said;

use std::collections::HashMap;
use std::io::Write;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::words;
use crate::agent::{Activity, AgentEvent, Approval, ApprovalRequest, Frontend, TurnEnd};
use crate::conversation::{Outcome, Subject};
use crate::locale::Locale;
use crate::terminal::{
    FRAME, KeyWatch, Layout, Line, Mark, MarkdownStream, Screen, Span, Status, Theme, Tty, TypeAhead, Wrap, cut,
    sanitize_line, status_line,
};
use crate::tool::{Place, ToolFacts};

pub use question::{Asker, Choice, Nobody, Question};

/// The least time between two paintings of arriving text.
const PAINT_STEP: Duration = Duration::from_millis(16);

/// How many lines of a failed or noisy tool's output are shown.
const OUTPUT_LINES: usize = 5;

/// What decides the looks.
#[derive(Debug, Clone)]
pub struct Looks {
    /// Styles by name.
    pub theme: Theme,
    /// Whether the terminal wraps instead of axi.
    pub wrap: Wrap,
    /// Whether links are sent as OSC 8.
    pub hyperlinks: bool,
    /// Whether code is coloured.
    pub highlight: bool,
}

/// What was printed last, so that sections stand apart by one empty row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    Start,
    Reasoning,
    Text,
    Tool,
    Notice,
}

/// Shows a turn to a person.
pub struct Human<W: Write> {
    screen: Screen<W>,
    size: fn() -> (u16, u16),
    looks: Looks,
    locale: Locale,
    place: Place,
    asker: Box<dyn Asker<W>>,
    keyboard: Option<Keyboard>,
    keys_seen: u64,
    section: Section,
    stream: Option<(Section, MarkdownStream)>,
    pending: String,
    painted: Option<Instant>,
    turn: Option<Turn>,
}

/// The keyboard while a turn runs, and the terminal it belongs to.
struct Keyboard {
    keys: KeyWatch,
    tty: Rc<Tty>,
}

/// What is known of the turn that runs.
struct Turn {
    started: Instant,
    activity: String,
    tokens: u64,
    thinking_since: Option<Instant>,
    requested: HashMap<String, Subject>,
    output: String,
}

impl<W: Write> Human<W> {
    /// Shows on `screen`; `size` tells the terminal's size now, `asker` puts questions.
    pub fn new(
        screen: Screen<W>,
        size: fn() -> (u16, u16),
        looks: Looks,
        locale: Locale,
        place: Place,
        asker: Box<dyn Asker<W>>,
    ) -> Self {
        Self {
            screen,
            size,
            looks,
            locale,
            place,
            asker,
            keyboard: None,
            keys_seen: 0,
            section: Section::Start,
            stream: None,
            pending: String::new(),
            painted: None,
            turn: None,
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

    /// Listens to the keyboard until [`Human::unwatch`].
    pub fn watch(&mut self, keys: KeyWatch, tty: Rc<Tty>) {
        self.screen.listen(true);
        self.keyboard = Some(Keyboard { keys, tty });
        self.keys_seen = 0;
    }

    /// Stops listening and returns what was typed.
    pub fn unwatch(&mut self) -> TypeAhead {
        self.screen.listen(false);
        self.screen.end_live();
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

    fn layout(&self, theme: Theme) -> Layout {
        Layout {
            // A row that is filled to the last cell makes terminals differ about where the cursor is.
            width: self.screen.columns() - 1,
            wrap: self.looks.wrap,
            theme,
            hyperlinks: self.looks.hyperlinks,
            highlight: self.looks.highlight,
        }
    }

    fn resized(&mut self) {
        let (columns, rows) = (self.size)();
        let narrower = usize::from(columns) != self.screen.columns();
        self.screen.resize(columns, rows);
        if let Some((_, stream)) = self.stream.as_mut().filter(|_| narrower) {
            let rows = stream.resize(self.screen.columns() - 1);
            self.screen.commit_all(&rows);
        }
    }

    fn text(&mut self, section: Section, text: &str) {
        if self.stream.as_ref().is_some_and(|(open, _)| *open != section) {
            self.end_stream();
        }
        if self.stream.is_none() {
            // Models often begin with empty lines; a section begins with its first word.
            if self.pending.is_empty() && text.trim().is_empty() {
                return;
            }
            self.begin(section);
            let theme = if section == Section::Reasoning { dimmed(self.looks.theme) } else { self.looks.theme };
            self.stream = Some((section, MarkdownStream::new(self.layout(theme))));
        }
        self.pending.push_str(text);
        if self.painted.is_none_or(|painted| painted.elapsed() >= PAINT_STEP) {
            self.paint();
        }
    }

    fn paint(&mut self) {
        self.resized();
        if let Some((_, stream)) = self.stream.as_mut().filter(|_| !self.pending.is_empty()) {
            let rows = stream.push(&self.pending);
            self.pending.clear();
            self.screen.commit_all(&rows);
        }
        self.painted = Some(Instant::now());
        self.paint_live();
    }

    /// Paints the unfinished text row, or a running tool's last line, and the status row.
    fn paint_live(&mut self) {
        let status = self.status();
        let gap = self.stream.as_mut().and_then(|(_, stream)| stream.take_gap());
        self.screen.commit_all(&gap);
        let (open, tail) = match (&self.stream, &self.turn) {
            (Some((_, stream)), _) => stream.live(),
            (None, Some(turn)) if !turn.output.is_empty() => {
                let line = Line::styled(format!("  {}", turn.output), self.looks.theme.dim);
                (Line::new(), cut(&line, self.screen.columns() - 1))
            }
            (None, _) => (Line::new(), Line::new()),
        };
        self.screen.live(&open, &status);
        self.screen.tail(&tail);
        self.screen.flush();
    }

    fn status(&mut self) -> Line {
        let Some(turn) = &self.turn else { return Line::new() };
        let typed = self.keyboard.as_ref().map(|keyboard| keyboard.keys.typed()).unwrap_or_default();
        self.keys_seen = self.keyboard.as_ref().map_or(0, |keyboard| keyboard.keys.version());
        let elapsed = turn.started.elapsed();
        let counted = |key: &str, name: &str, count: u64| match count {
            0 => String::new(),
            count => self.locale.with(key, &[(name, &count.to_string())]),
        };
        let seconds = if elapsed.as_secs() == 0 { String::new() } else { format!("{} s", elapsed.as_secs()) };
        let tokens = counted("status.tokens", "count", turn.tokens);
        let queued = counted("status.queued", "count", typed.queue.len() as u64);
        let status = Status {
            elapsed,
            activity: &turn.activity,
            details: &[&seconds, &tokens, self.locale.text("status.stop")],
            typed: &typed.text,
            queued: &queued,
        };
        status_line(&status, &self.looks.theme, self.screen.columns())
    }

    /// Commits what is open of the text.
    fn end_stream(&mut self) {
        self.resized();
        if let Some((section, mut stream)) = self.stream.take() {
            let mut rows = stream.push(&self.pending);
            rows.extend(stream.finish());
            self.screen.commit_all(&rows);
            if section == Section::Reasoning {
                self.end_reasoning();
            }
        }
        self.pending.clear();
    }

    fn end_reasoning(&mut self) {
        let since = self.turn.as_mut().and_then(|turn| turn.thinking_since.take());
        if let Some(since) = since {
            let spent = words::seconds(u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX));
            let text = self.locale.with("repl.thought", &[("seconds", &spent)]);
            self.screen.commit(&Line::styled(text, self.looks.theme.dim));
        }
    }

    fn waiting(&mut self, activity: &Activity) {
        if matches!(activity, Activity::Connecting | Activity::WritingCall { .. } | Activity::Running { .. }) {
            self.end_stream();
        }
        let words = words::activity(&self.locale, &self.place, activity);
        let words = sanitize_line(&words).into_owned();
        if self.screen.is_linear() && matches!(activity, Activity::Running { .. }) {
            self.screen.commit(&Line::styled(format!("{words} …"), self.looks.theme.dim));
        }
        if let Some(turn) = &mut self.turn {
            turn.activity = words;
            turn.output.clear();
        }
        self.paint_live();
    }

    fn finished(
        &mut self,
        name: &str,
        subject: &Subject,
        outcome: Outcome,
        content: &str,
        rest: (&ToolFacts, u64),
    ) {
        self.end_stream();
        let (facts, duration) = rest;
        let theme = self.looks.theme;
        let title = words::tool_title(&self.locale, &self.place, name, subject, outcome, facts, duration);
        let good = outcome == Outcome::Ok && facts.exit_code.unwrap_or(0) == 0;
        let (mark, style) = if good { ("✓", theme.success) } else { ("✗", theme.error) };
        self.begin(Section::Tool);
        let mut line = Line::new();
        line.push(Span::new(mark, style));
        line.push(Span::plain(format!(" {}", sanitize_line(&title))));
        self.screen.commit(&line);
        if name == "shell" || outcome == Outcome::Failed {
            self.output(content);
        }
        if let Some(turn) = &mut self.turn {
            turn.output.clear();
        }
        self.paint_live();
    }

    /// Prints the last lines of a tool's output, each cut to one row.
    fn output(&mut self, content: &str) {
        let lines: Vec<&str> = content.lines().filter(|line| !line.trim().is_empty()).collect();
        let hidden = lines.len().saturating_sub(OUTPUT_LINES);
        if hidden > 0 {
            let more = self.locale.with("approve.too_long", &[("count", &hidden.to_string())]);
            self.screen.commit(&Line::styled(format!("  {more}"), self.looks.theme.dim));
        }
        for text in &lines[hidden..] {
            let line = Line::styled(format!("  {}", sanitize_line(text)), self.looks.theme.dim);
            let line = cut(&line, self.screen.columns() - 1);
            self.screen.commit(&line);
        }
    }

    fn ended(&mut self, end: &TurnEnd) {
        self.end_stream();
        let told = words::turn_end(&self.locale, end);
        match (end, told) {
            (TurnEnd::Failed { .. }, Some(told)) => {
                self.begin(Section::Notice);
                self.tell("error.label", self.looks.theme.error, &told);
            }
            (TurnEnd::Interrupted, Some(told)) => {
                self.begin(Section::Notice);
                self.screen.commit(&Line::styled(told.what, self.looks.theme.dim));
            }
            (_, Some(told)) => {
                self.begin(Section::Notice);
                self.tell("error.warning", self.looks.theme.warning, &told);
            }
            (_, None) => {}
        }
        self.screen.mark(&Mark::OutputEnd(u8::from(*end != TurnEnd::Done)));
        self.turn = None;
        self.painted = None;
        self.end_section();
    }
}

impl<W: Write> Frontend for Human<W> {
    fn show(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::TurnStarted { .. } => {
                self.resized();
                self.screen.mark(&Mark::OutputStart);
                self.section = Section::Start;
                self.painted = None;
                self.turn = Some(Turn {
                    started: Instant::now(),
                    activity: String::new(),
                    tokens: 0,
                    thinking_since: None,
                    requested: HashMap::new(),
                    output: String::new(),
                });
            }
            AgentEvent::Waiting { activity } => self.waiting(activity),
            AgentEvent::TextDelta { text } => self.text(Section::Text, text),
            AgentEvent::ReasoningDelta { text } => {
                if let Some(turn) = &mut self.turn {
                    turn.thinking_since.get_or_insert_with(Instant::now);
                }
                self.text(Section::Reasoning, text);
            }
            AgentEvent::MessageEnded => {
                self.end_stream();
                self.paint_live();
            }
            AgentEvent::ToolRequested { call, subject, .. } => {
                if let Some(turn) = &mut self.turn {
                    turn.requested.insert(call.id.clone(), subject.clone());
                }
            }
            AgentEvent::ToolOutput { line, .. } => {
                if let Some(turn) = &mut self.turn {
                    sanitize_line(line).trim().clone_into(&mut turn.output);
                }
                if self.painted.is_none_or(|painted| painted.elapsed() >= PAINT_STEP) {
                    self.painted = Some(Instant::now());
                    self.paint_live();
                }
            }
            AgentEvent::ToolFinished { call_id, name, outcome, content, facts, duration_ms } => {
                let subject = self.turn.as_mut().and_then(|turn| turn.requested.remove(call_id));
                let subject = subject.unwrap_or(Subject::Whole);
                self.finished(name, &subject, *outcome, content, (facts, *duration_ms));
            }
            AgentEvent::Retrying { attempt, of, wait_ms, error } => {
                let values = [
                    ("what", words::failure(&self.locale, error).what),
                    ("attempt", attempt.to_string()),
                    ("of", of.to_string()),
                    ("seconds", wait_ms.div_ceil(1000).to_string()),
                ];
                let values = values.each_ref().map(|(name, value)| (*name, value.as_str()));
                let text = sanitize_line(&self.locale.with("activity.retrying", &values)).into_owned();
                if self.screen.is_linear() {
                    self.screen.commit(&Line::styled(text.clone(), self.looks.theme.dim));
                }
                if let Some(turn) = &mut self.turn {
                    turn.activity = text;
                }
                self.paint_live();
            }
            AgentEvent::Compacted { .. } => {}
            AgentEvent::Usage { usage } => {
                if let Some(turn) = &mut self.turn {
                    turn.tokens += usage.output_tokens;
                }
            }
            AgentEvent::Notice { notice } => {
                self.end_stream();
                self.begin(Section::Notice);
                let told = words::notice(&self.locale, notice);
                self.tell("error.warning", self.looks.theme.warning, &told);
                self.paint_live();
            }
            AgentEvent::TurnEnded { end } => self.ended(end),
        }
    }

    fn approve(&mut self, request: &ApprovalRequest) -> Approval {
        self.end_stream();
        self.resized();
        self.begin(Section::Tool);
        let lines = diff::preview(&self.locale, &self.place, &self.looks.theme, request);
        self.screen.commit_all(&lines);
        self.screen.end_live();
        let question = Question::new(&self.locale, request);
        // Keys typed before the question appeared stay type-ahead: they never answer it.
        if let Some(keyboard) = &mut self.keyboard {
            keyboard.keys.pause();
        }
        let approval = self.asker.ask(&question, &mut self.screen);
        self.screen.forget();
        let resumed = self.keyboard.as_mut().map(|keyboard| keyboard.keys.resume());
        if let Some(Err(error)) = resumed {
            tracing::warn!(%error, "the keyboard cannot be watched");
        }
        approval
    }

    fn next_tick(&self) -> Option<Instant> {
        if self.turn.is_none() || self.screen.is_linear() {
            // Nothing moves there but text, and text that waits to be painted with more must not wait for ever.
            return (!self.pending.is_empty())
                .then(|| self.painted.map_or_else(Instant::now, |last| last + PAINT_STEP));
        }
        let last = self.painted.unwrap_or_else(Instant::now);
        let typed = self.keyboard.as_ref().is_some_and(|keyboard| keyboard.keys.version() != self.keys_seen);
        Some(last + if self.pending.is_empty() && !typed { FRAME } else { PAINT_STEP })
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
        self.paint();
    }
}

/// The same theme with every style dim: for reasoning.
fn dimmed(theme: Theme) -> Theme {
    theme.map(|style| style.dimmed())
}
