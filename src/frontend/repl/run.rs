//! The loop: read a line, do what it says, until the person leaves.

use std::collections::VecDeque;
use std::io::Write;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Instant;

use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::attach::{AttachOptions, attach};
use super::{Editor, ReadOutcome, pager, read_line, show};
use crate::agent::{Agent, TurnEnd};
use crate::command::{self, KeyAction, Outcome, Problem, ReasoningView, World};
use crate::conversation::{ContentBlock, Conversation, Message, Usage};
use crate::frontend::approve::Terminal;
use crate::frontend::exit::Exit;
use crate::frontend::human::{self, Human};
use crate::frontend::input::{self, Input};
use crate::frontend::signals::Signals;
use crate::locale::Locale;
use crate::session::{Loaded, Session, SessionError, load};
use crate::terminal::{
    KeyWatch, Line, Output, Span, TWICE, Tty, TypeAhead, drain_crossterm, escape_wait, sanitize_line,
};

/// Tokens that attached files may take when the model's context is not known.
const ATTACHED_TOKENS: u64 = 16_000;

/// Makes a session that begins now.
pub type NewSession = Box<dyn Fn() -> Session>;
/// Makes a session that goes on with a file.
pub type ResumeSession = Box<dyn Fn(&Loaded, PathBuf) -> Session>;

/// Everything the loop works with.
pub struct Repl {
    /// The agent.
    pub agent: Agent,
    /// The screen.
    pub human: Human<Output>,
    /// The line editor.
    pub editor: Editor,
    /// The terminal.
    pub tty: Rc<Tty>,
    /// Questions outside a turn.
    pub terminal: Terminal,
    /// Runs turns.
    pub runtime: Rc<Runtime>,
    /// Everything outside.
    pub world: Box<dyn World>,
    /// Signals.
    pub signals: Signals,
    /// Begins a session.
    pub new_session: NewSession,
    /// Goes on with one.
    pub resume_session: ResumeSession,
    /// The working directory as the prompt shows it.
    pub directory: String,
    /// Whether the terminal is at the other end of an ssh connection.
    pub remote: bool,
    /// The user's shell, for `!`.
    pub shell: String,
    /// This program, which starts children on a terminal of their own.
    pub program: Option<PathBuf>,
    /// What `!` lines printed since the last message, as the model reads it.
    pub ran: Vec<String>,
    /// Whether what an earlier axi left behind has been ended.
    pub swept: bool,
    /// Whether the terminal edits lines itself and gets no escape sequence.
    pub plain: bool,
    /// The user's pager: a command line.
    pub pager: String,
}

/// Whether the loop goes on.
enum Next {
    Line,
    Leave,
}

/// What is typed but not run yet.
#[derive(Default)]
pub(super) struct Ahead {
    queue: VecDeque<String>,
    prefill: String,
    interrupted: Option<Instant>,
}

impl Ahead {
    /// Takes over what was typed while something else had the terminal: whole lines are run, the rest is edited.
    pub(super) fn typed(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let mut lines: Vec<&str> = text.split('\n').collect();
        let rest = lines.pop().unwrap_or_default();
        self.queue.extend(lines.into_iter().filter(|line| !line.trim().is_empty()).map(str::to_owned));
        self.prefill.push_str(rest);
    }
}

impl Repl {
    /// Runs until the person leaves; `first` is sent first.
    pub fn run(mut self, first: Option<String>) -> Exit {
        let exit = self.lines(first);
        if self.plain {
            // Nothing was changed on a terminal without escape sequences but its mode: none must be sent to undo it.
            std::mem::forget(self.tty.lend());
        }
        exit
    }

    fn lines(&mut self, first: Option<String>) -> Exit {
        let mut ahead = Ahead { queue: first.into_iter().collect(), ..Ahead::default() };
        loop {
            let line = if let Some(line) = ahead.queue.pop_front() {
                self.echo(&line);
                line
            } else {
                match self.read(&std::mem::take(&mut ahead.prefill)) {
                    Ok(ReadOutcome::Line(line)) => line,
                    Ok(ReadOutcome::Help) => "/help".to_owned(),
                    // The first Ctrl+C stopped the turn; the prompt was only quicker than the second.
                    Ok(ReadOutcome::Interrupted) if ahead.interrupted.is_some_and(|at| at.elapsed() <= TWICE) => {
                        return Exit::Done;
                    }
                    Ok(ReadOutcome::Interrupted) => continue,
                    Ok(ReadOutcome::End) => return Exit::Done,
                    Ok(ReadOutcome::Suspended) => {
                        if let Err(error) = self.tty.suspend() {
                            tracing::warn!(%error, "the terminal did not come back");
                        }
                        continue;
                    }
                    Ok(ReadOutcome::Broken(draft)) => {
                        ahead.prefill = draft;
                        continue;
                    }
                    Ok(ReadOutcome::EditorFailed { command, reason }) => {
                        let values = [("editor", command.as_str()), ("cause", reason.as_str())];
                        let what = self.human.locale().with("error.editor_failed", &values);
                        self.human.fail(&what, "");
                        continue;
                    }
                    Err(error) => {
                        self.lost(&error);
                        return Exit::Failed;
                    }
                }
            };
            self.human.screen().forget();
            self.human.begin_answer();
            let next = self.line(&line, &mut ahead);
            self.human.end_answer();
            match next {
                Next::Line => {}
                Next::Leave => return Exit::Done,
            }
        }
    }

    fn read(&mut self, prefill: &str) -> std::io::Result<ReadOutcome> {
        let parts = show::prompt(&self.agent, &self.directory);
        if self.plain {
            let prompt = format!("{} · {} ❯ {prefill}", parts.directory, parts.model);
            let _lent = self.tty.lend();
            let read = read_line(&mut std::io::stdin().lock(), &mut Output::new(), &prompt)?;
            return Ok(match read {
                // What was typed ahead stands before the cursor; the terminal's own editing does not reach it.
                ReadOutcome::Line(line) => ReadOutcome::Line(format!("{prefill}{line}")),
                other => other,
            });
        }
        self.editor.set_commands(show::menu(self.human.locale()));
        self.editor.set_prompt(parts);
        self.editor.set_theme(*self.human.theme());
        self.editor.read(prefill)
    }

    /// The terminal has gone, or cannot be read.
    fn lost(&mut self, error: &std::io::Error) {
        tracing::warn!(%error, "the terminal cannot be read");
        let what = self.human.locale().with("error.terminal", &[("cause", &error.to_string())]);
        self.human.fail(&what, "");
    }

    fn line(&mut self, line: &str, ahead: &mut Ahead) -> Next {
        match input::parse(line) {
            Input::Empty => Next::Line,
            Input::Message(text) => self.turn(text, ahead),
            Input::Shell(command) => {
                self.shell(&command, ahead);
                Next::Line
            }
            Input::Command { name, argument } => {
                let Some(command) = command::find(&name) else {
                    self.unknown(&name);
                    return Next::Line;
                };
                let outcome = self.dispatch(command, &argument);
                self.outcome(outcome, ahead)
            }
        }
    }

    fn dispatch(&mut self, command: &command::SlashCommand, argument: &str) -> Outcome {
        let locale = self.human.locale().clone();
        let mut context = command::Context { agent: &mut self.agent, locale: &locale, world: self.world.as_mut() };
        (command.run)(&mut context, argument)
    }

    fn unknown(&mut self, name: &str) {
        let locale = self.human.locale();
        let shown = format!("/{name}");
        let what = match command::nearest(name) {
            Some(near) => {
                let near = format!("/{near}");
                locale.with("repl.unknown_command_near", &[("name", &shown), ("near", &near)])
            }
            None => locale.with("repl.unknown_command", &[("name", &shown)]),
        };
        self.human.fail(&what, "");
    }

    fn outcome(&mut self, outcome: Outcome, ahead: &mut Ahead) -> Next {
        match outcome {
            Outcome::Continue => {}
            Outcome::Show(markdown) => self.human.markdown(&markdown),
            Outcome::Say(text) => self.human.say(&text),
            Outcome::Fail(Problem { what, hint }) => self.human.fail(&what, &hint),
            Outcome::Ask(text) => return self.turn(text, ahead),
            Outcome::Help => {
                let help = show::help(self.human.locale());
                self.human.markdown(&help);
            }
            Outcome::Exit => return Next::Leave,
            Outcome::ShowTurn(back) => self.show_turn(back),
            Outcome::Reasoning(view) => self.reasoning(view),
            Outcome::Theme(choice) => {
                if let Some(choice) = choice {
                    self.human.set_theme(choice);
                }
                let theme = self.human.theme_choice().word();
                let said = self.human.locale().with("said.theme_is", &[("theme", theme)]);
                self.human.say(&said);
            }
            Outcome::Language(tag) => {
                self.human.set_locale(Locale::new(tag));
                self.editor.set_words(show::editor_words(self.human.locale()));
                self.say("said.language");
            }
            Outcome::Copy(text) => {
                let copy = crossterm::clipboard::CopyToClipboard::to_clipboard_from(text);
                match crossterm::execute!(Output::new(), copy) {
                    Ok(()) => self.say("said.copied"),
                    Err(error) => self.lost(&error),
                }
            }
            Outcome::NewSession { clear } => {
                self.agent.set_session((self.new_session)(), Conversation::new(), Usage::default());
                self.ran.clear();
                if clear && !self.plain {
                    // The visible screen only: scrollback is the person's.
                    drop(Output::new().write_all(b"\x1b[2J\x1b[H"));
                }
                self.say("said.new");
            }
            Outcome::Resume(id) => self.resume(&id),
            Outcome::Pick { command, question, items } => {
                let shown: Vec<String> = items.iter().map(|(shown, _)| shown.clone()).collect();
                let picked = self.terminal.pick(&question, &shown);
                let picked = picked.and_then(|index| items.into_iter().nth(index));
                if let (Some((_, value)), Some(command)) = (picked, command::find(command)) {
                    let outcome = self.dispatch(command, &value);
                    return self.outcome(outcome, ahead);
                }
            }
            Outcome::AskKey(provider) => self.ask_key(&provider),
        }
        Next::Line
    }

    /// Prints a turn again in full; what is longer than the screen goes through the pager.
    fn show_turn(&mut self, back: usize) {
        let messages = self.agent.conversation().messages();
        let Some(messages) = human::turn(messages, back) else {
            return self.say("said.show_none");
        };
        let rows = self.human.in_full(messages);
        if self.human.is_long(&rows) && !self.human.screen().is_linear() {
            let bytes = self.human.bytes(&rows);
            let paged = pager::page(&self.tty, &self.pager, &bytes);
            self.human.screen().forget();
            let Err(error) = paged else { return };
            let values = [("pager", self.pager.as_str()), ("cause", &error.to_string())];
            let said = self.human.locale().with("said.pager_failed", &values);
            self.human.say(&said);
        }
        self.human.print(&rows);
    }

    fn reasoning(&mut self, view: Option<ReasoningView>) {
        if let Some(view) = view {
            self.human.set_reasoning(view);
        }
        let said = self.human.locale().with("said.reasoning_is", &[("view", self.human.reasoning().word())]);
        self.human.say(&said);
    }

    fn say(&mut self, key: &str) {
        let said = self.human.locale().text(key).to_owned();
        self.human.say(&said);
    }

    fn ask_key(&mut self, provider: &str) {
        let locale = self.human.locale().clone();
        let question = locale.with("said.login_prompt", &[("provider", provider)]);
        let Some(key) = self.terminal.secret(&question) else {
            self.human.fail(locale.text("error.empty_key"), "");
            return;
        };
        match self.world.keychain(KeyAction::Store(key), provider, &locale) {
            Ok(said) => self.human.say(&said),
            Err(Problem { what, hint }) => self.human.fail(&what, &hint),
        }
    }

    fn resume(&mut self, id: &str) {
        let found = match self.world.sessions() {
            Some(store) => store.find(id).and_then(|(_, path)| load(&path).map(|loaded| (loaded, path))),
            None => Err(SessionError::NotFound(id.to_owned())),
        };
        match found {
            Ok((loaded, path)) => {
                let session = (self.resume_session)(&loaded, path);
                let title = show::title(&loaded.conversation);
                self.agent.set_session(session, loaded.conversation, loaded.usage);
                let said = self.human.locale().with("repl.resumed", &[("title", &title)]);
                self.human.say(&said);
            }
            Err(error) => {
                let problem = command::session_problem(self.human.locale(), &error);
                self.human.fail(&problem.what, &problem.hint);
            }
        }
    }

    fn turn(&mut self, text: String, ahead: &mut Ahead) -> Next {
        let cancel = CancellationToken::new();
        let mut typed = TypeAhead { queue: ahead.queue.drain(..).collect(), ..TypeAhead::default() };
        let interrupted = drain_crossterm(&mut typed).unwrap_or_else(|error| {
            tracing::debug!(%error, "typed keys could not be taken over");
            false
        });
        if self.editor.take_interrupt() || interrupted {
            // ESC came in one piece with the line's Enter, as over a slow connection: it was meant for this turn.
            cancel.cancel();
        }
        match KeyWatch::start(cancel.clone(), typed, escape_wait(self.remote)) {
            Ok(keys) => self.human.watch(keys, Rc::clone(&self.tty)),
            Err(error) => {
                self.lost(&error);
                return Next::Leave;
            }
        }
        self.sweep();
        self.signals.watch(Some(cancel.clone()));
        self.human.set_topic(&text);
        let message = self.message(text);
        let end = self.runtime.block_on(async {
            let end = self.agent.run_turn(message, &mut self.human, &cancel).await;
            close_dropped_connections().await;
            end
        });
        self.signals.watch(None);
        let typed = self.human.unwatch();
        if typed.leave {
            return Next::Leave;
        }
        let TypeAhead { text, mut queue, queued_when_stopped, interrupted, .. } = typed;
        ahead.interrupted = interrupted;
        if end == TurnEnd::Interrupted {
            // What was queued for the turn that was stopped goes back to the editor; what was sent after ESC is for
            // what comes next.
            let later = queue.split_off(queued_when_stopped.unwrap_or(queue.len()).min(queue.len()));
            if !queue.is_empty() {
                let said = self.human.locale().count("repl.queue_back", queue.len() as u64);
                self.human.say(&said);
            }
            ahead.queue.extend(later);
            queue.extend(Some(text).filter(|text| !text.is_empty()));
            ahead.prefill = queue.join("\n");
        } else {
            ahead.queue.extend(queue);
            ahead.prefill = text;
        }
        Next::Line
    }

    /// Ends, once and on a thread, what the commands of a killed axi left running. Not at the start: it reads the
    /// whole process table.
    fn sweep(&mut self) {
        if std::mem::replace(&mut self.swept, true) {
            return;
        }
        let sweep = || tracing::info!(ended = crate::tool::end_orphans(), "swept");
        if let Err(error) = std::thread::Builder::new().name("sweep".into()).spawn(sweep) {
            tracing::warn!(%error, "nothing was swept");
        }
    }

    /// Makes the message with the files it mentions, and tells what became of each.
    fn message(&mut self, text: String) -> Message {
        let model = self.agent.model();
        let budget = model.context_window.map_or(ATTACHED_TOKENS, |window| window / 2);
        let place = self.agent.place();
        let options = AttachOptions { directory: place.cwd.clone(), home: place.home.clone(), budget };
        let vision = model.vision;
        let attached = attach(&text, &options);
        for fact in &attached.facts {
            let said = show::attached(self.human.locale(), fact);
            self.human.say(&said);
        }
        let mut message = Message::user(text);
        message.content.extend(self.ran.drain(..).map(|text| ContentBlock::Text { text }));
        if !attached.text.is_empty() {
            message.content.push(ContentBlock::Text { text: format!("\n\n{}", attached.text) });
        }
        if !attached.images.is_empty() && !vision {
            self.say("attach.no_vision");
        } else {
            message.content.extend(attached.images.into_iter().map(ContentBlock::Image));
        }
        message
    }

    /// Prints a line that did not come through the editor as the editor would have left it.
    fn echo(&mut self, text: &str) {
        let theme = *self.human.theme();
        for (index, row) in text.lines().enumerate() {
            let mut line = Line::new();
            line.push(Span::new(if index == 0 { "❯ " } else { "  " }, theme.accent));
            line.push(Span::plain(sanitize_line(row).into_owned()));
            self.human.screen().commit(&line);
        }
        self.human.screen().end_live();
    }
}

/// Lets the runtime's other tasks see that an answer was dropped, and close its connection.
///
/// The connection is driven by a task of this runtime, which stands still while a line is edited: without this, an
/// interrupted provider would go on writing, and charging, until the next message. Nothing is waited for; a few
/// rounds are enough for the task to be woken, to stop reading and to end.
async fn close_dropped_connections() {
    for _ in 0..8 {
        tokio::task::yield_now().await;
    }
}
