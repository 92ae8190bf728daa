//! Putting together what talks to a model: the REPL, print mode; and `axi render`.

use std::io::{IsTerminal, Read};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::SystemTime;

use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::console::Console;
use super::world::{Outside, discover};
use super::{Base, models};
use crate::agent::{Agent, Setup, prompt};
use crate::approval::{Decision, Mode, Policy, Rule, Source, Surroundings};
use crate::cli::{AgentKind, ColorChoice, CommonOptions, Output as Form, RenderOptions, RunOptions};
use crate::command::Problem;
use crate::conversation::{Conversation, Message, Usage};
use crate::frontend::approve::Terminal;
use crate::frontend::exit::Exit;
use crate::frontend::human::{Human, Looks, Nobody};
use crate::frontend::print;
use crate::frontend::repl::run::Repl;
use crate::frontend::repl::{EditStyle, Editor, EditorOptions, HistoryOptions, show};
use crate::frontend::signals::Signals;
use crate::provider::{Client, Provider, RetryPlan, connect};
use crate::session::{Loaded, Redactor, Session, SessionError, SessionId, SessionStore, load};
use crate::terminal::{Dress, Layout, Output, Screen, Size, Theme, Tty, Wrap};
use crate::tool::{Place, Toolbox, table};

/// The most of standard input that is attached to a message, in bytes.
const STDIN_LIMIT: u64 = 4 * 1024 * 1024;

/// The most requests a turn may make when nothing is said.
const MAX_STEPS: u32 = 100;

/// Runs the REPL, or one turn in print mode.
pub(super) fn run(base: Base, options: RunOptions) -> Exit {
    let stdin_terminal = std::io::stdin().is_terminal();
    let printing = options.print || !stdin_terminal || !std::io::stdout().is_terminal();
    let result = if printing { print_mode(base, options, stdin_terminal) } else { repl(base, options) };
    result.unwrap_or_else(|(locale, problem, exit)| {
        Console::new(&locale).fail(&problem);
        exit
    })
}

type Failed = (crate::locale::Locale, Problem, Exit);

impl Base {
    fn failed(&self, problem: Problem, exit: Exit) -> Failed {
        (self.locale.clone(), problem, exit)
    }

    /// Knows every key the environment holds, so that none is written anywhere.
    pub(super) fn redactor(&self) -> Redactor {
        let table = crate::provider::TABLE.iter().flat_map(|row| row.key_variables.iter().copied());
        let own = self.config.providers.values().filter_map(|section| section.api_key_env.as_deref());
        Redactor::new(table.chain(own).filter_map(self.variables))
    }

    pub(super) fn place(&self) -> Place {
        Place { cwd: self.cwd.clone(), workspace: self.workspace.clone(), home: self.paths.home.clone() }
    }

    fn policy(&self, options: &RunOptions) -> Result<Policy, Failed> {
        let mode = match options.agent {
            AgentKind::Build => Mode::Build,
            AgentKind::Plan => Mode::Plan,
            AgentKind::Explore => Mode::Explore,
        };
        let mut policy = Policy::new(mode, options.yes);
        let settings = &self.config.permissions;
        let lists = [
            (&settings.allow, Decision::Allow, Source::User),
            (&settings.ask, Decision::Ask, Source::User),
            (&settings.deny, Decision::Deny, Source::User),
            (&options.allow, Decision::Allow, Source::Flag),
            (&options.deny, Decision::Deny, Source::Flag),
        ];
        for (rules, decision, source) in lists {
            for text in rules {
                let added = Rule::parse(text).and_then(|rule| policy.add_rule(decision, rule, source));
                if let Err(error) = added {
                    let values = [("rule", text.as_str()), ("cause", &error.to_string())];
                    let problem = Problem {
                        what: self.locale.with("error.rule", &values),
                        hint: self.locale.text("error.rule_hint").to_owned(),
                    };
                    return Err(self.failed(problem, Exit::Usage));
                }
            }
        }
        Ok(policy)
    }

    fn setup(&self, options: &RunOptions) -> Setup {
        let place = self.place();
        let shell = (self.variables)("SHELL");
        let shell = shell.as_deref().and_then(|path| path.rsplit('/').next());
        let surroundings = prompt::Surroundings {
            place: &place,
            system: std::env::consts::OS,
            shell,
            language: self.locale.tag(),
        };
        let instructions = prompt::instructions(&place, self.paths.config.as_deref());
        let system = prompt::system_prompt(&surroundings, &instructions);
        Setup {
            system,
            surroundings: Surroundings {
                cwd: self.cwd.clone(),
                workspace: self.workspace.clone(),
                home: self.paths.home.clone(),
                environment: std::env::vars_os()
                    .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
                    .collect(),
            },
            place,
            max_steps: options.max_steps.or(self.config.max_steps).unwrap_or(MAX_STEPS),
            max_output_tokens: None,
            output_dir: self.paths.outputs().unwrap_or_else(std::env::temp_dir),
            retry: RetryPlan::default(),
            now: SystemTime::now,
            random: random_unit,
        }
    }

    fn tools(&self) -> Toolbox {
        Toolbox::new(table::standard(self.program.clone()))
    }

    /// Chooses the model: flag, `AXI_MODEL`, settings, else what is found. The second value says what was found.
    fn provider(
        &self,
        wanted: Option<&str>,
        client: &Client,
        runtime: &Runtime,
    ) -> Result<(Arc<dyn Provider>, Option<String>), Failed> {
        let variable = (self.variables)("AXI_MODEL").filter(|model| !model.is_empty());
        let named = wanted.map(str::to_owned).or(variable).or_else(|| self.config.model.clone());
        let (name, found) = match named {
            Some(name) => (name, None),
            None => match discover(self, client, runtime) {
                Some((name, why)) => {
                    let said = self.locale.with("repl.found", &[("model", &name), ("why", &why)]);
                    (name, Some(said))
                }
                None => {
                    let problem = Problem {
                        what: self.locale.text("error.no_model").to_owned(),
                        hint: self.locale.text("error.no_model_hint").to_owned(),
                    };
                    return Err(self.failed(problem, Exit::NotConfigured));
                }
            },
        };
        let settings = models::resolve(&name, &self.config, &self.variables, &self.locale)
            .map_err(|problem| self.failed(problem, Exit::NotConfigured))?;
        Ok((connect(settings, client), found))
    }

    pub(super) fn sessions(&self) -> Option<SessionStore> {
        self.paths.sessions().map(SessionStore::new)
    }

    fn new_session(&self, keep: bool) -> Session {
        let id = SessionId::new(SystemTime::now(), &self.cwd, random_number());
        let directory = self.paths.sessions().filter(|_| keep);
        Session::new(id, self.cwd.clone(), directory.as_deref(), self.redactor())
    }

    /// Finds the session the command line asks to go on with.
    fn resumed(&self, options: &RunOptions) -> Result<Option<(Loaded, PathBuf)>, Failed> {
        let open = |path: PathBuf| load(&path).map(|loaded| (loaded, path));
        let store = self.sessions();
        let found = match (&options.resume, options.resume_last, store) {
            (None, false, _) => return Ok(None),
            (_, _, None) => return Err(self.no_session()),
            (Some(Some(id)), _, Some(store)) => store.find(id).and_then(|(_, path)| open(path)),
            (Some(None), _, Some(store)) => {
                let list = store.list();
                if list.is_empty() {
                    return Err(self.no_session());
                }
                let rows: Vec<String> = list.iter().map(|row| format!("{}  {}", row.id, row.title)).collect();
                let picked = Terminal { color: self.color() }.pick(self.locale.text("repl.pick_session"), &rows);
                let Some(row) = picked.and_then(|index| list.into_iter().nth(index)) else {
                    let problem =
                        Problem { what: self.locale.text("error.interrupted").to_owned(), hint: String::new() };
                    return Err(self.failed(problem, Exit::Interrupted));
                };
                open(row.path)
            }
            (None, true, Some(store)) => match store.last_of(&self.cwd) {
                Some(summary) => open(summary.path),
                None => return Err(self.no_session()),
            },
        };
        found
            .map(Some)
            .map_err(|error: SessionError| self.failed(show::session_problem(&self.locale, &error), Exit::Failed))
    }

    fn no_session(&self) -> Failed {
        let problem = Problem {
            what: self.locale.text("error.session_none").to_owned(),
            hint: self.locale.text("error.session_kept").to_owned(),
        };
        self.failed(problem, Exit::Failed)
    }

    fn agent(
        &self,
        options: &RunOptions,
        provider: Arc<dyn Provider>,
    ) -> Result<(Agent, Option<Conversation>), Failed> {
        let policy = self.policy(options)?;
        let resumed = self.resumed(options)?;
        let keep = !options.no_session;
        let (session, conversation, usage) = match resumed {
            Some((loaded, path)) if keep => {
                let session = Session::resume(loaded.id, loaded.directory, path, self.redactor());
                (session, Some(loaded.conversation), loaded.usage)
            }
            Some((loaded, _)) => (self.new_session(false), Some(loaded.conversation), loaded.usage),
            None => (self.new_session(keep), None, Usage::default()),
        };
        let first = self.new_session(false);
        let mut agent = Agent::new(provider, self.tools(), policy, first, self.setup(options));
        agent.set_session(session, conversation.clone().unwrap_or_default(), usage);
        Ok((agent, conversation))
    }

    fn color(&self) -> bool {
        color(&self.common, self.variables, std::io::stdout().is_terminal())
    }

    fn linear(&self) -> bool {
        self.common.linear || (self.variables)("TERM").is_none_or(|term| term == "dumb")
    }

    fn looks(&self, color: bool) -> Looks {
        let wrap = if self.config.wrap.as_deref() == Some("soft") { Wrap::Soft } else { Wrap::Word };
        Looks { theme: theme(color), wrap, hyperlinks: color && !self.linear(), highlight: color }
    }

    fn runtime(&self) -> Result<Runtime, Failed> {
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
            let what = self.locale.with("error.io", &[("path", "tokio"), ("cause", &error.to_string())]);
            self.failed(Problem { what, hint: String::new() }, Exit::Failed)
        })
    }
}

fn theme(color: bool) -> Theme {
    if color { Theme::ansi() } else { Theme::plain() }
}

/// `--color`, then `NO_COLOR` (no-color.org), then `CLICOLOR_FORCE` (bixense.com/clicolors), then the terminal.
fn color(common: &CommonOptions, variables: super::Variables, terminal: bool) -> bool {
    let set = |name: &str| variables(name).is_some_and(|value| !value.is_empty());
    match common.color {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto if set("NO_COLOR") => false,
        ColorChoice::Auto if set("CLICOLOR_FORCE") && variables("CLICOLOR_FORCE").as_deref() != Some("0") => true,
        ColorChoice::Auto => terminal,
    }
}

fn terminal_size() -> Option<(u16, u16)> {
    let size = Size::of_terminal(None, None);
    Some((size.columns, size.rows))
}

fn screen(linear: bool, color: bool) -> Screen<Output> {
    let size = Size::of_terminal(None, None);
    let dress = Dress { styles: color, links: color && !linear, marks: !linear };
    if linear {
        Screen::linear(Output::new(), dress)
    } else {
        Screen::new(Output::new(), size.columns, size.rows, dress)
    }
}

/// A number nobody can guess is not needed here: it spreads retries and tells sessions of one second apart.
fn random_number() -> u16 {
    use std::hash::{BuildHasher, RandomState};
    let hash = RandomState::new().hash_one(std::process::id());
    u16::try_from(hash & 0xffff).unwrap_or(0)
}

fn random_unit() -> f64 {
    f64::from(random_number()) / f64::from(u16::MAX)
}

fn print_mode(base: Base, options: RunOptions, stdin_terminal: bool) -> Result<Exit, Failed> {
    let message = print_message(&base, options.message.as_deref(), stdin_terminal)?;
    let runtime = base.runtime()?;
    let client = Client::default();
    let (provider, found) = base.provider(options.model.as_deref(), &client, &runtime)?;
    if let Some(found) = found {
        Console::new(&base.locale).note(&found);
    }
    let (mut agent, _) = base.agent(&options, provider)?;
    let cancel = CancellationToken::new();
    let signals = Signals::start(None);
    signals.watch(Some(cancel.clone()));
    let place = base.place();
    let form = match options.output {
        Form::Text if std::io::stdout().is_terminal() => {
            let color = base.color();
            let screen = screen(base.linear(), color);
            let looks = base.looks(color);
            let mut human = Human::new(screen, terminal_size, looks, base.locale.clone(), place, Box::new(Nobody));
            let end = runtime.block_on(agent.run_turn(Message::user(message), &mut human, &cancel));
            return Ok(Exit::from(&end));
        }
        Form::Text => print::Form::Text,
        Form::Json => print::Form::Json,
        Form::StreamJson => print::Form::StreamJson,
    };
    let streams = (std::io::stdout().lock(), std::io::stderr().lock());
    let turn = print::run(&mut agent, Message::user(message), form, streams, &base.locale, &place, &cancel);
    Ok(runtime.block_on(turn))
}

/// Joins the message and what is piped in, under the message.
fn print_message(base: &Base, message: Option<&str>, stdin_terminal: bool) -> Result<String, Failed> {
    let mut text = message.unwrap_or_default().to_owned();
    if !stdin_terminal {
        let mut bytes = Vec::new();
        std::io::stdin().lock().take(STDIN_LIMIT).read_to_end(&mut bytes).map_err(|error| {
            let what = base.locale.with("error.stdin", &[("cause", &error.to_string())]);
            base.failed(Problem { what, hint: String::new() }, Exit::Failed)
        })?;
        let piped = String::from_utf8_lossy(&bytes);
        if !piped.trim().is_empty() {
            if text.is_empty() {
                text = piped.trim_end().to_owned();
            } else {
                text = format!("{text}\n\n<stdin>\n{}\n</stdin>", piped.trim_end());
            }
        }
    }
    if text.trim().is_empty() {
        let problem = Problem {
            what: base.locale.text("error.no_message").to_owned(),
            hint: base.locale.text("error.no_message_hint").to_owned(),
        };
        return Err(base.failed(problem, Exit::Usage));
    }
    Ok(text)
}

fn repl(base: Base, options: RunOptions) -> Result<Exit, Failed> {
    let runtime = Rc::new(base.runtime()?);
    let client = Client::default();
    let (provider, found) = base.provider(options.model.as_deref(), &client, &runtime)?;
    let local = provider.model().local;
    let (agent, conversation) = base.agent(&options, provider)?;
    let tty = Tty::take().map_err(|error| {
        let what = base.locale.with("error.terminal", &[("cause", &error.to_string())]);
        base.failed(Problem { what, hint: String::new() }, Exit::Failed)
    })?;
    let tty = Rc::new(tty);
    tty.restorer().install_panic_hook();
    let signals = Signals::start(Some(tty.restorer()));
    let color = base.color();
    let terminal = Terminal { color };
    let looks = base.looks(color);
    let editor = editor(&base, &looks.theme, color, options.no_session);
    let screen = screen(base.linear(), color);
    let mut human = Human::new(screen, terminal_size, looks, base.locale.clone(), base.place(), Box::new(terminal));
    if let Some(found) = found {
        human.say(&found);
    }
    if let Some(conversation) = conversation {
        let said = base.locale.with("repl.resumed", &[("title", &show::title(&conversation))]);
        human.say(&said);
    }
    if !local {
        // Root certificates take 5 to 12 ms to load: ready before the first Enter, without holding the prompt up.
        let client = client.clone();
        drop(std::thread::Builder::new().name("prewarm".into()).spawn(move || client.prewarm()));
    }
    let directory = base.paths.shown(&base.cwd);
    let remote = ["SSH_CONNECTION", "SSH_TTY"].iter().any(|name| (base.variables)(name).is_some());
    let shell = (base.variables)("SHELL").filter(|shell| !shell.is_empty()).unwrap_or_else(|| "/bin/sh".to_owned());
    let base = Rc::new(base);
    let (for_new, for_resume, keep) = (Rc::clone(&base), Rc::clone(&base), !options.no_session);
    let repl = Repl {
        agent,
        human,
        editor,
        tty,
        terminal,
        runtime: Rc::clone(&runtime),
        world: Box::new(Outside::new(base, client, runtime)),
        signals,
        new_session: Box::new(move || for_new.new_session(keep)),
        resume_session: Box::new(move |loaded, path| {
            Session::resume(loaded.id.clone(), loaded.directory.clone(), path, for_resume.redactor())
        }),
        directory,
        remote,
        shell,
    };
    Ok(repl.run(options.message))
}

fn editor(base: &Base, theme: &Theme, color: bool, private: bool) -> Editor {
    let external =
        ["VISUAL", "EDITOR"].iter().find_map(|name| (base.variables)(name).filter(|value| !value.is_empty()));
    Editor::new(EditorOptions {
        history: HistoryOptions {
            path: base.paths.history(),
            directory: base.cwd.display().to_string(),
            enabled: !private,
        },
        commands: show::menu(&base.locale),
        directory: base.cwd.clone(),
        home: base.paths.home.clone(),
        style: if base.config.edit_mode.as_deref() == Some("vi") { EditStyle::Vi } else { EditStyle::Emacs },
        keys: Vec::new(),
        theme: *theme,
        color,
        words: show::editor_words(&base.locale),
        external_editor: external,
        foreground: None,
        interrupt: None,
    })
}

/// Prints markdown from a file or standard input.
pub(super) fn render(base: &Base, options: &RenderOptions) -> Exit {
    let terminal = std::io::stdout().is_terminal();
    let color = base.color();
    let live = terminal && !base.linear();
    let mut screen = screen(!live, color);
    let width = options.width.or_else(|| terminal_size().map(|(columns, _)| columns)).unwrap_or(80);
    let looks = base.looks(color);
    let wrap = if options.soft_wrap { Wrap::Soft } else { looks.wrap };
    let layout = Layout {
        width: usize::from(width),
        wrap,
        theme: looks.theme,
        hyperlinks: looks.hyperlinks && terminal,
        highlight: color,
    };
    let source: Result<Box<dyn Read>, (String, std::io::Error)> = match options.file.as_deref() {
        Some(path) if path.as_os_str() != "-" => std::fs::File::open(path)
            .map(|file| Box::new(file) as Box<dyn Read>)
            .map_err(|error| (path.display().to_string(), error)),
        Some(_) | None => Ok(Box::new(std::io::stdin())),
    };
    let rendered = source.and_then(|mut source| {
        crate::frontend::render::run(&mut source, &mut screen, layout).map_err(|error| {
            let path = options.file.as_ref().map_or_else(|| "stdin".to_owned(), |path| path.display().to_string());
            (path, error)
        })
    });
    match rendered {
        Ok(()) => Exit::Done,
        Err((path, error)) => {
            let what = base.locale.with("error.io", &[("path", &path), ("cause", &error.to_string())]);
            Console::new(&base.locale).fail(&Problem { what, hint: String::new() });
            Exit::Failed
        }
    }
}
