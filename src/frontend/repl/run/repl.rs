//! The loop: read a line, do what it says, until the person leaves.

use std::path::{Path, PathBuf};
use std::time::Instant;

use tokio_util::sync::CancellationToken;

use super::exchange::last_exchange;
use super::plain::read_line;
use super::plan::{self, Choice};
use super::settings::{ReloadSettings, SetUpAgain};
use super::shell_line::ShellLines;
use super::show;
use super::turns::{self, Scene, Turns, give_back};
use super::user_commands::UserCommands;
use crate::agent::{Agent, AgentEvent, Frontend as _, TurnEnd, tell_later};
use crate::approval::Mode;
use crate::command::{self, Outcome, World};
use crate::frontend::exit::Exit;
use crate::frontend::human::Human;
use crate::frontend::input::{self, Input};
use crate::frontend::repl::drafts::Drafts;
use crate::frontend::repl::editor::{Editor, ReadOutcome};
use crate::frontend::repl::menu::MenuLists;
use crate::frontend::stage::Stage;
use crate::locale::{Word, word};
use crate::session::{Loaded, Session};
use crate::terminal::{Mark, Output, Pending, PictureProtocol, TWICE};

/// Makes a session that begins now.
pub type NewSession = Box<dyn Fn() -> Session>;
/// Makes a session that goes on with a file.
pub type ResumeSession = Box<dyn Fn(&Loaded, PathBuf) -> Session>;

/// Everything the loop works with.
pub struct ReplParts {
    /// The agent.
    pub agent: Agent,
    /// The screen.
    pub human: Human<Output>,
    /// The line editor.
    pub editor: Editor,
    /// What is typed and not sent; the editor's line is the one under way there.
    pub pending: Pending,
    /// Keeps it where axi does not come to its end.
    pub drafts: Drafts,
    /// The terminal, taken.
    pub stage: Stage,
    /// Sets up again.
    pub set_up: SetUpAgain,
    /// Reads the settings again.
    pub reload: ReloadSettings,
    /// Everything outside.
    pub world: Box<dyn World>,
    /// Begins a session.
    pub new_session: NewSession,
    /// Goes on with one.
    pub resume_session: ResumeSession,
    /// The working directory as the prompt shows it.
    pub directory: String,
    /// The addresses of the directory that axi works in and of the one it was started in, for a terminal that takes them.
    pub told: Option<(String, String)>,
    /// Runs `!` lines.
    pub shell: ShellLines,
    /// How the terminal is shown attached pictures, if it is.
    pub pictures: Option<PictureProtocol>,
    /// The user's pager: a command line.
    pub pager: String,
    /// What the slash menu lists of the outside.
    pub lists: MenuLists,
    /// Commands that are files.
    pub own: UserCommands,
}

/// The loop.
pub struct Repl {
    pub(super) agent: Agent,
    pub(super) human: Human<Output>,
    pub(super) editor: Editor,
    pub(super) pending: Pending,
    drafts: Drafts,
    pub(super) stage: Stage,
    pub(super) set_up: SetUpAgain,
    pub(super) reload: ReloadSettings,
    pub(super) world: Box<dyn World>,
    pub(super) new_session: NewSession,
    pub(super) resume_session: ResumeSession,
    directory: String,
    told: Option<(String, String)>,
    pub(super) shell: ShellLines,
    turns: Turns,
    pub(super) pager: String,
    pub(super) lists: MenuLists,
    pub(super) own: UserCommands,
    /// Whether old sessions were looked for.
    cleaned: bool,
    /// When Ctrl+C stopped the last turn.
    interrupted: Option<Instant>,
    /// Whether the terminal has gone: then nobody has left.
    gone: bool,
}

/// Whether the loop goes on.
pub(super) enum Next {
    Line,
    Leave,
}

impl Repl {
    /// Puts the loop together.
    #[must_use]
    pub fn new(parts: ReplParts) -> Self {
        let ReplParts {
            agent,
            human,
            editor,
            pending,
            drafts,
            stage,
            set_up,
            reload,
            world,
            new_session,
            resume_session,
            directory,
            told,
            shell,
            pictures,
            pager,
            lists,
            own,
        } = parts;
        Self {
            agent,
            human,
            editor,
            pending,
            drafts,
            stage,
            set_up,
            reload,
            world,
            new_session,
            resume_session,
            directory,
            told,
            shell,
            turns: Turns::new(pictures),
            pager,
            lists,
            own,
            cleaned: false,
            interrupted: None,
            gone: false,
        }
    }

    /// Runs until the person leaves; `first` is sent first.
    pub fn run(mut self, first: Option<String>) -> Exit {
        self.tell_editor();
        if let Some((here, started_in)) = self.told.take() {
            let [here, before] = [here, started_in].map(|address| Mark::Directory(address).bytes());
            self.stage.tty.directory(here, before);
        }
        if first.is_none() && !self.stage.plain {
            self.say(word::repl::FOR_HELP);
        }
        self.pending.change(|unsent| unsent.queue.extend(first));
        if let Some(left) = self.drafts.take_left() {
            self.say(word::repl::DRAFT_BACK);
            self.pending.give_back(input::pieces(left));
        }
        let exit = self.lines();
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

    fn lines(&mut self) -> Exit {
        loop {
            // What waits changes with each line: who keeps it hears of it before the next one is run.
            self.reload();
            let queued = self.pending.take_queued();
            self.pending.tell();
            let line = if let Some(line) = queued {
                self.human.painter().echo(&line);
                self.editor.remember(&line);
                line
            } else {
                let read = self.read();
                self.human.somebody_is_there();
                match read {
                    Ok(ReadOutcome::Line(line)) => line,
                    Ok(ReadOutcome::Help) => "/help".to_owned(),
                    // The first Ctrl+C stopped the turn; the prompt was only quicker than the second.
                    Ok(ReadOutcome::Interrupted) if self.interrupted.is_some_and(|at| at.elapsed() <= TWICE) => {
                        return Exit::Done;
                    }
                    Ok(ReadOutcome::Interrupted | ReadOutcome::Broken(_)) => continue,
                    Ok(ReadOutcome::End) => return Exit::Done,
                    Ok(ReadOutcome::Suspended) => {
                        if let Err(error) = self.stage.tty.suspend() {
                            tracing::warn!(%error, "the terminal did not come back");
                        }
                        continue;
                    }
                    Ok(ReadOutcome::NextMode) => {
                        self.next_mode();
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
            // It may have changed while the line was typed.
            self.reload();
            let next = self.line(&line);
            self.human.painter().end_answer();
            match next {
                Next::Line => {}
                Next::Leave => return Exit::Done,
            }
        }
    }

    /// Goes on from asking about every change to accepting those of files here, to only planning, and back.
    fn next_mode(&mut self) {
        let (mode, accepts) = match (self.agent.policy().mode(), self.agent.policy().accepts_edits()) {
            (Mode::Build, false) => (Mode::Build, true),
            (Mode::Build, true) => (Mode::Plan, false),
            (Mode::Plan | Mode::Explore, _) => (Mode::Build, false),
        };
        self.agent.set_mode(mode);
        self.agent.policy_mut().set_accepts_edits(accepts);
    }

    fn read(&mut self) -> std::io::Result<ReadOutcome> {
        let parts = show::prompt(&self.agent, &self.directory, self.human.locale());
        if self.stage.plain {
            let typed = self.pending.line_for_editor();
            let prompt = format!("{} · {} ❯ {typed}", parts.directory, parts.model);
            let _lent = self.stage.tty.lend();
            let read = read_line(&mut std::io::stdin().lock(), &mut Output::new(), &prompt)?;
            self.pending.set_line("");
            return Ok(match read {
                // The text that was typed before stays in front of the cursor; the terminal's line editing cannot delete it.
                ReadOutcome::Line(line) => ReadOutcome::Line(format!("{typed}{line}")),
                other => other,
            });
        }
        self.own.load();
        let servers = self.agent.tools().servers().map(|tools| tools.servers().clone());
        self.editor.set_commands(show::menu(self.human.locale(), &self.lists, self.own.list(), servers));
        self.editor.set_prompt(parts);
        self.editor.set_theme(*self.human.painter().theme());
        self.editor.read()
    }

    /// The terminal has gone, or cannot be read.
    pub(super) fn lost(&mut self, error: &std::io::Error) {
        tracing::warn!(%error, "the terminal cannot be read");
        self.gone = true;
        let what = self.human.locale().with(word::error::Terminal { cause: &error.to_string() });
        self.human.painter().fail(&what, "");
    }

    fn line(&mut self, line: &str) -> Next {
        match input::parse(line) {
            Input::Empty => Next::Line,
            Input::Message(text) => {
                self.shell.hint(&text, self.human.painter());
                self.turn(text)
            }
            Input::Shell(command) => {
                let session = self.agent.session().path().map(|_| self.agent.session().id().to_string());
                let shell = &mut self.shell;
                let ran = shell.run(&command, session.as_deref(), &self.stage, self.human.painter(), &self.pending);
                if let Some(printed) = ran {
                    tell_later(&mut self.agent, printed);
                }
                Next::Line
            }
            Input::Command { name, argument } => {
                let Some(command) = command::find(&name) else {
                    if let Some(next) = self.user_command(&name, &argument) {
                        return next;
                    }
                    if let Some(next) = self.server_prompt(&name, &argument) {
                        return next;
                    }
                    self.unknown(&name);
                    return Next::Line;
                };
                self.tell_unusable(&name);
                let outcome = self.dispatch(command, &argument);
                self.outcome(outcome)
            }
        }
    }

    /// Runs one turn.
    pub(super) fn turn(&mut self, text: String) -> Next {
        let mut scene = Scene {
            agent: &mut self.agent,
            human: &mut self.human,
            editor: &mut self.editor,
            stage: &self.stage,
            pending: &self.pending,
        };
        let plans = |agent: &Agent, end: &TurnEnd| *end == TurnEnd::Done && agent.policy().mode() == Mode::Plan;
        let ran = self.turns.run(&mut scene, text, plans);
        let (end, pressed) = match ran {
            Ok(ran) => ran,
            Err(error) => {
                self.lost(&error);
                return Next::Leave;
            }
        };
        if self.agent.said().unanswered().is_some() {
            self.say(word::repl::UNANSWERED);
        }
        self.tell_editor();
        self.clean_up();
        if pressed.leave {
            self.gone |= pressed.gone;
            return Next::Leave;
        }
        self.editor.escaped(pressed.escaped);
        self.interrupted = pressed.interrupted.or(self.stage.tty.interrupted());
        if end == TurnEnd::Interrupted {
            give_back(&mut self.human, &self.pending, &pressed);
        }
        self.pending.tell();
        // What was sent meanwhile is about the plan.
        let is_queued = self.pending.look(|unsent| !unsent.queue.is_empty());
        if plans(&self.agent, &end) && !is_queued { self.planned() } else { Next::Line }
    }

    /// Deletes old sessions, once, and says so. Not at the start: it looks at every session.
    fn clean_up(&mut self) {
        if std::mem::replace(&mut self.cleaned, true) {
            return;
        }
        let (count, days) = self.world.clean_up(self.agent.session().id());
        if count > 0 {
            let (count, days) = (&count.to_string(), &days.to_string());
            let said = self.human.locale().with(word::said::SessionsCleaned { count, days });
            self.human.painter().say(&said);
        }
    }

    /// Does work that ESC stops; nothing comes of it where the keyboard cannot be watched.
    pub(super) fn stoppable<T>(
        &mut self,
        work: impl AsyncFnOnce(&mut Agent, &mut Human<Output>, &CancellationToken) -> T,
    ) -> (Option<T>, Next) {
        let mut scene = Scene {
            agent: &mut self.agent,
            human: &mut self.human,
            editor: &mut self.editor,
            stage: &self.stage,
            pending: &self.pending,
        };
        match turns::stoppable(&mut scene, work) {
            Ok((done, pressed)) => {
                self.gone |= pressed.leave && pressed.gone;
                self.editor.escaped(pressed.escaped);
                self.interrupted = pressed.interrupted.or(self.stage.tty.interrupted());
                (Some(done), if pressed.leave { Next::Leave } else { Next::Line })
            }
            Err(error) => {
                self.lost(&error);
                (None, Next::Leave)
            }
        }
    }

    /// Shortens what is sent of the conversation.
    pub(super) fn shorten(&mut self, focus: &str) -> Next {
        let (said, next) = self.stoppable(async |agent, human, cancel| {
            let (session, model) = (agent.session().id().to_string(), agent.model().id());
            // Shown as a turn is: with a row that tells how to stop it, what is typed meanwhile, and what it cost.
            human.show(&AgentEvent::TurnStarted { session, model });
            let shortened = agent.shorten(focus, human, cancel).await;
            human.show(&AgentEvent::TurnEnded { end: TurnEnd::Done });
            match shortened {
                Some(_) => None,
                None if cancel.is_cancelled() => Some(word::said::COMPACT_STOPPED),
                None => Some(word::said::COMPACT_NOTHING),
            }
        });
        if let Some(said) = said.flatten() {
            self.say(said);
        }
        next
    }

    /// Asks what becomes of the plan the turn ended with, and does it.
    fn planned(&mut self) -> Next {
        let locale = self.human.locale().clone();
        let choice = plan::ask(&self.stage.terminal, &locale);
        self.human.painter().screen().forget();
        match choice {
            Choice::Accept => self.build(locale.text(word::plan::ACCEPTED).to_owned()),
            Choice::Edit => self.edit_plan(),
            Choice::Talk => {
                self.say(word::plan::GOES_ON);
                Next::Line
            }
            Choice::Drop => {
                self.agent.set_mode(Mode::Build);
                self.say(word::plan::DROPPED);
                Next::Line
            }
        }
    }

    /// Has the plan edited: in the person's editor where they have one, else on the line.
    fn edit_plan(&mut self) -> Next {
        let plan = plan::last_plan(self.agent.conversation());
        let lead = self.human.locale().text(word::plan::ACCEPTED_EDITED).to_owned();
        let edited = match self.editor.edit_text(&plan) {
            Some(Ok(edited)) => edited,
            Some(Err((editor, cause))) => {
                let what = self.human.locale().with(word::error::EditorFailed { editor: &editor, cause: &cause });
                self.human.painter().fail(&what, "");
                return Next::Line;
            }
            None => {
                self.agent.set_mode(Mode::Build);
                self.pending.set_line(&format!("{lead}\n\n{plan}"));
                return Next::Line;
            }
        };
        if edited.trim().is_empty() {
            self.agent.set_mode(Mode::Build);
            self.say(word::plan::DROPPED);
            return Next::Line;
        }
        self.build(format!("{lead}\n\n{edited}"))
    }

    fn build(&mut self, message: String) -> Next {
        self.agent.set_mode(Mode::Build);
        self.human.painter().echo(&message);
        self.turn(message)
    }

    /// Tells the editor what the last turn was about.
    pub(super) fn tell_editor(&mut self) {
        let exchange = last_exchange(self.agent.conversation());
        self.editor.is_in_session(self.agent.session().path().map(Path::to_owned));
        self.editor.hear(exchange);
    }

    pub(super) fn say(&mut self, text: Word) {
        let said = self.human.locale().text(text).to_owned();
        self.human.painter().say(&said);
    }

    pub(super) fn dispatch(&mut self, command: &command::SlashCommand, argument: &str) -> Outcome {
        let locale = self.human.locale().clone();
        let mut context = command::Context { agent: &mut self.agent, locale: &locale, world: self.world.as_mut() };
        (command.run)(&mut context, argument)
    }
}
