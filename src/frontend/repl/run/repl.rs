//! The loop: read a line, do what it says, until the person leaves.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::Instant;

use super::plain::read_line;
use super::show;
use super::user_commands::UserCommands;
use crate::agent::Agent;
use crate::command::{self, Outcome, World};
use crate::frontend::exit::Exit;
use crate::frontend::human::Human;
use crate::frontend::input::{self, Input};
use crate::frontend::repl::drafts::Drafts;
use crate::frontend::repl::editor::{Editor, ReadOutcome};
use crate::frontend::repl::menu::MenuLists;
use crate::frontend::stage::Stage;
use crate::locale::word;
use crate::session::{Loaded, Session};
use crate::terminal::{Output, PictureProtocol, TWICE};

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
    /// The terminal, taken.
    pub stage: Stage,
    /// Everything outside.
    pub world: Box<dyn World>,
    /// Begins a session.
    pub new_session: NewSession,
    /// Goes on with one.
    pub resume_session: ResumeSession,
    /// The working directory as the prompt shows it.
    pub directory: String,
    /// The user's shell, for `!`.
    pub shell: String,
    /// This program, which starts children on a terminal of their own.
    pub program: Option<PathBuf>,
    /// How the terminal is shown attached pictures, if it is.
    pub pictures: Option<PictureProtocol>,
    /// What `!` lines printed since the last message, as the model reads it.
    pub ran: Vec<String>,
    /// Whether what an earlier axi left behind has been ended.
    pub swept: bool,
    /// The user's pager: a command line.
    pub pager: String,
    /// Keeps what is typed but not sent.
    pub drafts: Drafts,
    /// PATH.
    pub path: String,
    /// Programs that were hinted at already.
    pub hinted: Vec<String>,
    /// What the slash menu lists of the outside.
    pub lists: MenuLists,
    /// Commands that are files.
    pub own: UserCommands,
    /// Whether the terminal has gone: then nobody has left.
    pub gone: bool,
}

/// Whether the loop goes on.
pub(super) enum Next {
    Line,
    Leave,
}

/// What is typed but not run yet.
#[derive(Default)]
pub(super) struct Ahead {
    pub(super) queue: VecDeque<String>,
    pub(super) prefill: String,
    /// What comes onto the line when it is empty again.
    pub(super) back: VecDeque<String>,
    pub(super) interrupted: Option<Instant>,
}

impl Ahead {
    /// Puts lines onto the line, those that do not go with the first one later.
    pub(super) fn give_back(&mut self, lines: Vec<String>) {
        for piece in input::pieces(lines).into_iter().rev() {
            self.back.push_front(piece);
        }
        self.prefill = self.back.pop_front().unwrap_or_default();
    }

    /// What waits beside the line, in its order.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &String> {
        self.queue.iter().chain(&self.back)
    }

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
        self.tell_editor();
        let mut ahead = Ahead { queue: first.into_iter().collect(), ..Ahead::default() };
        if let Some(left) = self.drafts.take_left() {
            self.say(word::repl::DRAFT_BACK);
            ahead.give_back(left);
            self.drafts.set_ahead(ahead.waiting(), &ahead.prefill);
        }
        let exit = self.lines(ahead);
        if self.gone {
            self.drafts.flush();
        } else {
            self.drafts.discard();
        }
        if self.stage.plain {
            // Nothing was changed on a terminal without escape sequences but its mode: none must be sent to undo it.
            std::mem::forget(self.stage.tty.lend());
        }
        exit
    }

    fn lines(&mut self, mut ahead: Ahead) -> Exit {
        loop {
            let line = if let Some(line) = ahead.queue.pop_front() {
                self.human.painter().echo(&line);
                self.drafts.set_ahead(ahead.waiting(), &ahead.prefill);
                line
            } else {
                if ahead.prefill.is_empty()
                    && let Some(piece) = ahead.back.pop_front()
                {
                    ahead.prefill = piece;
                    self.drafts.set_ahead(ahead.waiting(), &ahead.prefill);
                }
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
                        if let Err(error) = self.stage.tty.suspend() {
                            tracing::warn!(%error, "the terminal did not come back");
                        }
                        continue;
                    }
                    Ok(ReadOutcome::Broken(draft)) => {
                        ahead.prefill = draft;
                        continue;
                    }
                    Ok(ReadOutcome::NoPicture(why)) => {
                        self.say(show::no_picture(why));
                        continue;
                    }
                    Ok(ReadOutcome::EditorFailed { command, reason }) => {
                        let what = self
                            .human
                            .locale()
                            .with(word::error::EditorFailed { editor: &command, cause: &reason });
                        self.human.painter().fail(&what, "");
                        continue;
                    }
                    Err(error) => {
                        self.lost(&error);
                        return Exit::Failed;
                    }
                }
            };
            self.human.painter().screen().forget();
            self.human.painter().begin_answer();
            let next = self.line(&line, &mut ahead);
            self.human.painter().end_answer();
            match next {
                Next::Line => {}
                Next::Leave => return Exit::Done,
            }
        }
    }

    fn read(&mut self, prefill: &str) -> std::io::Result<ReadOutcome> {
        let parts = show::prompt(&self.agent, &self.directory);
        if self.stage.plain {
            let prompt = format!("{} · {} ❯ {prefill}", parts.directory, parts.model);
            let _lent = self.stage.tty.lend();
            let read = read_line(&mut std::io::stdin().lock(), &mut Output::new(), &prompt)?;
            return Ok(match read {
                // What was typed ahead stands before the cursor; the terminal's own editing does not reach it.
                ReadOutcome::Line(line) => ReadOutcome::Line(format!("{prefill}{line}")),
                other => other,
            });
        }
        self.own.load();
        self.editor.set_commands(show::menu(self.human.locale(), &self.lists, self.own.list()));
        self.editor.set_prompt(parts);
        self.editor.set_theme(*self.human.painter().theme());
        self.editor.read(prefill)
    }

    /// The terminal has gone, or cannot be read.
    pub(super) fn lost(&mut self, error: &std::io::Error) {
        tracing::warn!(%error, "the terminal cannot be read");
        self.gone = true;
        let what = self.human.locale().with(word::error::Terminal { cause: &error.to_string() });
        self.human.painter().fail(&what, "");
    }

    fn line(&mut self, line: &str, ahead: &mut Ahead) -> Next {
        match input::parse(line) {
            Input::Empty => Next::Line,
            Input::Message(text) => {
                self.hint_at_shell(&text);
                self.turn(text, ahead)
            }
            Input::Shell(command) => {
                self.shell(&command, ahead);
                Next::Line
            }
            Input::Command { name, argument } => {
                let Some(command) = command::find(&name) else {
                    if let Some(next) = self.user_command(&name, &argument, ahead) {
                        return next;
                    }
                    self.unknown(&name);
                    return Next::Line;
                };
                let outcome = self.dispatch(command, &argument);
                self.outcome(outcome, ahead)
            }
        }
    }

    pub(super) fn dispatch(&mut self, command: &command::SlashCommand, argument: &str) -> Outcome {
        let locale = self.human.locale().clone();
        let mut context = command::Context { agent: &mut self.agent, locale: &locale, world: self.world.as_mut() };
        (command.run)(&mut context, argument)
    }

    fn unknown(&mut self, name: &str) {
        let locale = self.human.locale();
        let shown = format!("/{name}");
        let own = self.own.list().iter().map(|command| command.name.as_str());
        let what = match command::nearest(name, own) {
            Some(near) => {
                let near = format!("/{near}");
                locale.with(word::repl::UnknownCommandNear { name: &shown, near: &near })
            }
            None => locale.with(word::repl::UnknownCommand { name: &shown }),
        };
        self.human.painter().fail(&what, "");
    }
}
