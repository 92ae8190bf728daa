//! What the loop does after a slash command, and what it does for one that is a file.

use std::io::Write as _;

use crossterm::clipboard::CopyToClipboard;
use nu_ansi_term::Style;

use super::repl::{Next, Repl};
use super::settings::Reloaded;
use super::{pager, show};
use crate::agent::take_up;
use crate::command::{self, KeyAction, Outcome, Problem, Unusable, UnusableCommand, UserCommand, server_failure};
use crate::config::{ReasoningView, ThemeChoice};
use crate::conversation::{Conversation, Ledger};
use crate::frontend::human;
use crate::frontend::words::first_line;
use crate::locale::{Locale, word};
use crate::session::{Fork, LeftOver, Loaded, Session, SessionError, is_held, load_lines, open};
use crate::terminal::{Line, Output, sanitize, sanitize_line};

impl Repl {
    /// Does what a command asked for.
    pub(super) fn outcome(&mut self, outcome: Outcome) -> Next {
        match outcome {
            Outcome::Continue => {}
            Outcome::Show(markdown) => self.human.painter().markdown(&markdown),
            Outcome::List(entries) => self.lists_of(&[(String::new(), entries)]),
            Outcome::Say(text) => self.human.painter().say(&text),
            Outcome::Chart(charts) => self.human.painter().charts(&charts),
            Outcome::Fail(Problem { what, hint }) => self.human.painter().fail(&what, &hint),
            Outcome::Ask(text) => return self.turn(text),
            Outcome::Help => {
                let lists = show::help(self.human.locale(), self.own.list());
                self.lists_of(&lists);
            }
            Outcome::Exit => return Next::Leave,
            Outcome::ShowTurn(back) => self.show_turn(back),
            Outcome::Reasoning(view) => self.reasoning(view),
            Outcome::Theme(choice) => {
                if let Some(choice) = choice {
                    self.human.painter().looks_mut().set_theme(choice);
                }
                let theme = self.human.painter().looks().palette.choice.word();
                let said = self.human.locale().with(word::said::ThemeIs { theme });
                self.say_value(said, choice.is_none(), ThemeChoice::WORDS);
            }
            Outcome::Language(tag) => {
                self.human.painter().set_locale(Locale::new(tag));
                self.editor.set_words(show::editor_words(self.human.locale()));
                self.say(word::said::LANGUAGE);
            }
            Outcome::Raw(text) => self.print_raw(&text),
            // The clipboard is reached by a sequence (OSC 52), and there are to be none.
            Outcome::Copy(_) if !self.stage.copies => self.say(word::said::COPY_PLAIN),
            Outcome::Copy(text) => self.copy(&text),
            Outcome::Share { lines, said, log } => {
                self.print_raw(&lines);
                self.human.painter().say(&said);
                self.human.painter().file(&log.shown, &log.path);
                if self.stage.copies {
                    self.copy(&log.path.display().to_string());
                }
            }
            Outcome::NewSession { clear } => {
                self.agent.set_session((self.new_session)(), Conversation::new(), Ledger::default());
                self.tell_editor();
                if clear && !self.stage.plain {
                    // The visible screen only: scrollback is the person's.
                    drop(Output::new().write_all(b"\x1b[2J\x1b[H"));
                }
                self.say(word::said::NEW);
            }
            Outcome::Shorten(focus) => return self.shorten(&focus),
            Outcome::Resume(id) => self.resume(&id),
            Outcome::Fork { before } => self.fork(before),
            Outcome::Pick { command, question, items } => {
                let picked = match command {
                    "session" => self.pick_session(&question, &items),
                    _ => self.pick(&question, &items),
                };
                let picked = picked.and_then(|index| items.into_iter().nth(index));
                if let (Some((_, value)), Some(command)) = (picked, command::find(command)) {
                    let outcome = self.dispatch(command, &value);
                    return self.outcome(outcome);
                }
            }
            Outcome::PickLine { question, items } => {
                let picked = self.pick(&question, &items).and_then(|index| items.into_iter().nth(index));
                if let Some((_, line)) = picked {
                    self.pending.set_line(&line);
                }
            }
            Outcome::Both(first, second) => {
                if let Next::Leave = self.outcome(*first) {
                    return Next::Leave;
                }
                return self.outcome(*second);
            }
            Outcome::Edit(text) => self.pending.set_line(&text),
            Outcome::AskKey(provider) => self.ask_key(&provider),
            Outcome::SetUp => return self.set_up_again(),
        }
        Next::Line
    }

    /// Prints lists in columns, one empty row between them.
    fn lists_of(&mut self, lists: &[(String, Vec<(String, String)>)]) {
        let mut rows = Vec::new();
        for (heading, entries) in lists {
            if !rows.is_empty() {
                rows.push(Line::new());
            }
            rows.extend(self.human.painter().columns(heading, entries));
        }
        self.human.painter().print(&rows);
    }

    /// Prints a text as it is, but for what would command the terminal.
    fn print_raw(&mut self, text: &str) {
        let rows: Vec<Line> = sanitize(text).lines().map(|row| Line::styled(row, Style::new())).collect();
        self.print(&rows);
    }

    /// Lets the person pick; where they are asked yes or no, by these letters.
    fn pick(&self, question: &str, items: &[(String, String)]) -> Option<usize> {
        let letter =
            |value: &String| value.chars().next().filter(|_| matches!(value.as_str(), "yes" | "all" | "no"));
        let lettered = |(shown, value): &(String, String)| Some((letter(value)?, shown.clone()));
        if let Some(items) = items.iter().map(lettered).collect::<Option<Vec<_>>>() {
            return self.stage.terminal.decide(question, "", &items).ok();
        }
        let shown: Vec<String> = items.iter().map(|(shown, _)| shown.clone()).collect();
        self.stage.terminal.pick(question, &shown)
    }

    /// Lets the person pick a session: each value ends with the id of one.
    fn pick_session(&self, question: &str, items: &[(String, String)]) -> Option<usize> {
        let (store, previews) = (self.world.sessions(), command::SessionPreviews::default());
        let preview = |index: usize| {
            let id = items.get(index).and_then(|(_, value)| value.split_whitespace().next_back());
            let found = id.zip(store.as_ref()).and_then(|(id, store)| store.find(id).ok());
            found.map(|(_, path)| previews.of(&path)).unwrap_or_default()
        };
        let shown: Vec<String> = items.iter().map(|(shown, _)| shown.clone()).collect();
        self.stage.terminal.pick_previewed(question, &shown, &preview)
    }

    /// Prints a turn again in full; what is longer than the screen goes through the pager.
    fn show_turn(&mut self, back: usize) {
        let conversation = self.agent.conversation();
        let rows = if let Some(messages) = human::turn(conversation.messages(), back) {
            self.human.in_full(messages)
        } else {
            let whole = self.agent.said().whole();
            let Some(messages) = human::turn(whole.messages(), back) else {
                return self.say(word::said::SHOW_NONE);
            };
            self.human.in_full(messages)
        };
        self.print(&rows);
    }

    fn print(&mut self, rows: &[Line]) {
        if self.human.painter().is_long(rows) && !self.human.painter().screen().is_linear() {
            let bytes = self.human.painter().bytes(rows);
            let paged = pager::page(&self.stage.tty, &self.pager, &bytes);
            self.human.painter().screen().forget();
            let Err(error) = paged else { return };
            let said =
                self.human.locale().with(word::said::PagerFailed { pager: &self.pager, cause: &error.to_string() });
            self.human.painter().say(&said);
        }
        self.human.painter().print(rows);
    }

    fn reasoning(&mut self, view: Option<ReasoningView>) {
        if let Some(view) = view {
            self.human.painter().looks_mut().reasoning = view;
        }
        let now = self.human.painter().looks().reasoning.word();
        let said = self.human.locale().with(word::said::ReasoningIs { view: now });
        self.say_value(said, view.is_none(), ReasoningView::WORDS);
    }

    /// Says a value; who only asked for it is told the others.
    fn say_value(&mut self, mut said: String, is_asked: bool, choices: &[&str]) {
        if is_asked {
            said.push_str(&self.human.locale().with(word::said::Choices { known: &choices.join(", ") }));
        }
        self.human.painter().say(&said);
    }

    /// Asks the person's terminal to copy a text (OSC 52). It answers nothing: whether it did is not known.
    fn copy(&mut self, text: &str) {
        match crossterm::execute!(Output::new(), CopyToClipboard::to_clipboard_from(text)) {
            Ok(()) => self.say(word::said::COPIED),
            Err(error) => self.lost(&error),
        }
    }

    fn ask_key(&mut self, provider: &str) {
        let locale = self.human.locale().clone();
        let question = locale.with(word::said::LoginPrompt { provider });
        let Some(key) = self.stage.terminal.secret(&question) else {
            self.human.painter().fail(locale.text(word::error::EMPTY_KEY), "");
            return;
        };
        match self.world.keychain(KeyAction::Store(key), provider, &locale) {
            Ok(said) => {
                self.human.painter().say(&said);
                let id = self.agent.model().id();
                // The model in use still has the key of before.
                if id.split('/').next() == Some(provider)
                    && let Ok(connected) = self.world.connect(&id, &locale)
                {
                    self.agent.set_provider(connected);
                }
            }
            Err(Problem { what, hint }) => self.human.painter().fail(&what, &hint),
        }
    }

    fn resume(&mut self, id: &str) {
        let found = match self.world.sessions() {
            Some(store) => store.find(id).and_then(|(_, path)| open(&path).map(|loaded| (loaded, path))),
            None => Err(SessionError::NotFound(id.to_owned())),
        };
        match found {
            // Its own it may read anew.
            Ok((loaded, path)) if loaded.id != *self.agent.session().id() && is_held(&path) => {
                let loaded = load_lines(&path).unwrap_or(loaded);
                let session = (self.new_session)().begin_as(Fork::of(&loaded));
                self.say(word::repl::SESSION_BUSY);
                self.go_on(session, loaded, false);
            }
            Ok((loaded, path)) => {
                let cut_off = loaded.broken_off;
                let session = (self.resume_session)(&loaded, path);
                self.go_on(session, loaded, cut_off);
            }
            Err(error) => {
                let problem = command::session_problem(self.human.locale(), &error);
                self.human.painter().fail(&problem.what, &problem.hint);
            }
        }
    }

    /// Goes on with a session that was loaded.
    fn go_on(&mut self, session: Session, loaded: Loaded, cut_off: bool) {
        let title = loaded.heading();
        let damage = command::session_damage(self.human.locale(), &loaded);
        let (usage, left) = if *session.id() == loaded.id {
            (loaded.ledger, loaded.left)
        } else {
            (Ledger::default(), LeftOver::default())
        };
        self.agent.set_session(session, loaded.conversation, usage);
        take_up(&mut self.agent, left);
        self.tell_editor();
        let said = self.human.locale().with(word::repl::Resumed { title: &title });
        self.human.painter().say(&said);
        if let Some(damage) = damage {
            self.human.painter().warn(&damage);
        }
        self.last_screenful(cut_off);
    }

    /// Prints the end of a conversation that is gone on with again, and tells that its last turn was cut off or failed.
    pub fn last_screenful(&mut self, broken_off: bool) {
        self.human.recap(self.agent.conversation().messages());
        if broken_off {
            self.say(word::repl::BROKEN_OFF);
        }
        if let Some(text) = self.agent.said().unanswered() {
            let text = &first_line(&sanitize_line(text));
            let said = self.human.locale().with(word::repl::UnansweredEarlier { text });
            self.human.painter().say(&said);
        }
    }

    /// Goes on with another session that begins as this one, up to before a turn where one is named.
    fn fork(&mut self, before: Option<usize>) {
        let path = self.agent.session().path().map(std::path::Path::to_owned);
        let loaded = match path.map(|path| load_lines(&path)) {
            Some(Ok(loaded)) => loaded,
            Some(Err(error)) => {
                let problem = command::session_problem(self.human.locale(), &error);
                return self.human.painter().fail(&problem.what, &problem.hint);
            }
            None => return self.say(word::said::SESSION_FORK_NONE),
        };
        let mut fork = Fork::of(&loaded);
        let mut conversation = loaded.conversation;
        let mut said = None;
        if let Some(before) = before {
            fork = fork.before(before);
            said = conversation.messages().get(before).map(crate::conversation::Message::text);
            conversation.rewind(before);
        }
        let session = (self.new_session)().begin_as(fork);
        let told = self.human.locale().with(word::said::SessionForked { from: loaded.id.as_str() });
        self.agent.set_session(session, conversation, Ledger::default());
        self.tell_editor();
        self.human.painter().say(&told);
        if let Some(said) = said {
            self.pending.set_line(&said);
        }
    }

    /// Runs a command that is a file; `None` when there is none of that name.
    pub(super) fn user_command(&mut self, name: &str, argument: &str) -> Option<Next> {
        // As it is now, not as it was when the prompt was painted.
        self.own.load();
        let Some(command) = self.own.list().iter().find(|command| command.name == name).cloned() else {
            return self.tell_unusable(name).then_some(Next::Line);
        };
        if self.own.needs_asking(&command) && !self.agrees(&command) {
            self.say(word::said::COMMAND_NOT_RUN);
            return Some(Next::Line);
        }
        Some(self.turn(command.message(argument)))
    }

    /// Tells why the person's file of this name is no command; false where there is none.
    pub(super) fn tell_unusable(&mut self, name: &str) -> bool {
        let Some(UnusableCommand { path, why, .. }) = self.own.unusable(name) else { return false };
        let (locale, path, shown) = (self.human.locale(), &path.display().to_string(), &format!("/{name}"));
        let said = match why {
            Unusable::NoText => locale.with(word::repl::OwnNoText { path }),
            Unusable::Empty => locale.with(word::repl::OwnEmpty { path }),
            Unusable::TooLarge { most } => {
                locale.with(word::repl::OwnTooLarge { path, most: &(most / 1024).to_string() })
            }
            Unusable::Unreadable { cause } => locale.with(word::error::Io { path, cause }),
            Unusable::BuiltIn => locale.with(word::repl::OwnBuiltIn { path, name: shown }),
        };
        self.human.painter().warn(&said);
        true
    }

    pub(super) fn unknown(&mut self, name: &str) {
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

    /// Puts a server's prompt on the line, where the person reads it before it is sent; `None` where it is no server's.
    pub(super) fn server_prompt(&mut self, name: &str, argument: &str) -> Option<Next> {
        let (server, prompt) = name.split_once(':')?;
        let servers = self.agent.tools().servers()?.servers().clone();
        if !servers.has(server) {
            return None;
        }
        let words =
            shlex::split(argument).unwrap_or_else(|| argument.split_whitespace().map(str::to_owned).collect());
        let (got, next) = self.stoppable(async |_, _, cancel| {
            cancel.run_until_cancelled(servers.prompt(server, prompt, &words)).await
        });
        match got.flatten() {
            Some(Ok(text)) => drop(self.outcome(Outcome::Edit(text))),
            Some(Err(failure)) => {
                let locale = self.human.locale().clone();
                let cause = &server_failure(&locale, &failure);
                self.human.painter().fail(&locale.with(word::server::NoPrompt { name: server, prompt, cause }), "");
            }
            None => {}
        }
        Some(next)
    }

    /// Shows what a project's command would send, and asks once.
    fn agrees(&mut self, command: &UserCommand) -> bool {
        let path = command.path.display().to_string();
        let locale = self.human.locale().clone();
        self.human.painter().say(&locale.with(word::said::CommandOfProject { path: &path }));
        self.human.painter().say(&sanitize(&command.body));
        let choices =
            [locale.text(word::repl::COMMAND_NO).to_owned(), locale.text(word::repl::COMMAND_YES).to_owned()];
        let yes = self.stage.terminal.pick(locale.text(word::repl::COMMAND_ASK), &choices) == Some(1);
        if yes {
            self.own.agree(command);
        }
        yes
    }

    /// Sets up again, and asks the chosen model from now on.
    pub(super) fn set_up_again(&mut self) -> Next {
        let locale = self.human.locale().clone();
        let chosen = (self.set_up)(&self.stage.terminal, &locale);
        self.human.painter().screen().forget();
        match chosen {
            Ok(Some(model)) => match command::find("model") {
                Some(command) => {
                    let outcome = self.dispatch(command, &model);
                    self.outcome(outcome)
                }
                None => Next::Line,
            },
            Ok(None) => Next::Line,
            Err(Problem { what, hint }) => {
                self.human.painter().fail(&what, &hint);
                Next::Line
            }
        }
    }

    /// Works by what the files of settings say now.
    pub(super) fn reload(&mut self) {
        let locale = self.human.locale().clone();
        let Some(reloaded) = (self.reload)(&mut self.agent, &locale) else { return };
        let Reloaded { problem, warnings, said, looks, language, lists } = reloaded;
        if let Some(mut looks) = looks {
            // What the terminal said of itself is not in any file.
            looks.palette.background = self.human.painter().looks().palette.background.or(looks.palette.background);
            looks.choose_theme();
            *self.human.painter().looks_mut() = looks;
        }
        if let Some(lists) = lists {
            self.editor.watch_lists(lists.clone());
            self.lists = lists;
        }
        if let Some(tag) = language {
            self.human.painter().set_locale(Locale::new(tag));
            self.editor.set_words(show::editor_words(self.human.locale()));
        }
        for text in said {
            self.human.painter().say(&text);
        }
        for text in warnings {
            self.human.painter().warn(text.trim_end());
        }
        if let Some(Problem { what, hint }) = problem {
            self.human.painter().fail(&what, &hint);
        }
    }
}
