//! The pieces of a conversation from settings, flags and environment: policy, model, session, agent, looks.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use tokio::runtime::Runtime;

use super::background::BackgroundCache;
use super::console::Console;
use super::shell_session::Occasion;
use super::world::discover;
use super::{Base, local, models};
use crate::agent::{Agent, Setup, prompt};
use crate::approval::{Decision, Mode, Policy, Rule, Source, Surroundings};
use crate::cli::{AgentKind, ColorChoice, RunOptions};
use crate::command::{self, Notify, Problem, ReasoningView, ThemeChoice};
use crate::conversation::{Conversation, Usage};
use crate::frontend::dialog::Terminal;
use crate::frontend::exit::Exit;
use crate::frontend::human::{Looks, Palette};
use crate::frontend::repl::{ACTIONS, KeyBinding, KeyError, parse_binding};
use crate::frontend::signals::Signals;
use crate::frontend::words;
use crate::locale::{Locale, word};
use crate::provider::{Client, Provider, ProviderSettings, RetryPlan, connect};
use crate::sandbox::{Sandbox, Wanted};
use crate::session::{Loaded, Redactor, Session, SessionError, SessionId, SessionStore, is_held, load};
use crate::terminal::{self, Depth, Theme, Wrap};
use crate::tool::{Place, ProposeCommandTool, Toolbox, table};

/// The most requests a turn may make when nothing is said.
const MAX_STEPS: u32 = 100;

/// Why a command ends before it began.
pub(super) struct Failed {
    pub(super) problem: Problem,
    pub(super) exit: Exit,
}

impl Failed {
    pub(super) const fn new(problem: Problem, exit: Exit) -> Self {
        Self { problem, exit }
    }
}

impl Base {
    /// Every key the environment holds, and those the keychain gave.
    pub(super) fn keys(&self) -> impl Iterator<Item = String> {
        let table = crate::provider::TABLE.iter().flat_map(|row| row.key_variables.iter().copied());
        let own = self.config.providers.values().filter_map(|section| section.api_key_env.as_deref());
        let found = self.found_keys.borrow().clone();
        table.chain(own).filter_map(self.variables).chain(found)
    }

    /// Remembers the key that was found for a provider, so that it is written nowhere.
    pub(super) fn keep_out(&self, settings: &ProviderSettings) {
        self.found_keys.borrow_mut().extend(settings.key.iter().map(|key| key.expose().to_owned()));
    }

    /// Knows every key there is, so that none is written anywhere.
    pub(super) fn redactor(&self) -> Redactor {
        Redactor::new(self.keys())
    }

    pub(super) fn place(&self) -> Place {
        Place { cwd: self.cwd.clone(), workspace: self.workspace.clone(), home: self.paths.home.clone() }
    }

    /// Where a shell line would run, for judging it.
    pub(super) fn shell_surroundings(&self) -> Surroundings {
        Surroundings {
            cwd: self.cwd.clone(),
            workspace: self.workspace.clone(),
            home: self.paths.home.clone(),
            environment: std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
                .collect(),
        }
    }

    pub(super) fn policy(&self, options: &RunOptions) -> Result<Policy, Failed> {
        let mode = match options.agent {
            AgentKind::Build => Mode::Build,
            AgentKind::Plan => Mode::Plan,
            AgentKind::Explore => Mode::Explore,
        };
        let mut policy = Policy::new(mode, options.yes);
        let settings = &self.config.permissions;
        let project = &self.config.project_permissions;
        let lists = [
            (&settings.allow, Decision::Allow, Source::User),
            (&settings.ask, Decision::Ask, Source::User),
            (&settings.deny, Decision::Deny, Source::User),
            (&project.ask, Decision::Ask, Source::Project),
            (&project.deny, Decision::Deny, Source::Project),
            (&options.allow, Decision::Allow, Source::Flag),
            (&options.deny, Decision::Deny, Source::Flag),
        ];
        for (rules, decision, source) in lists {
            for text in rules {
                let added = Rule::parse(text).and_then(|rule| policy.add_rule(decision, rule, source));
                if let Err(error) = added {
                    let problem = Problem {
                        what: self.locale.with(word::error::Rule {
                            rule: text,
                            cause: &words::rule_error(&self.locale, &error),
                        }),
                        hint: self.locale.text(word::error::RULE_HINT).to_owned(),
                    };
                    return Err(Failed::new(problem, Exit::Usage));
                }
            }
        }
        Ok(policy)
    }

    fn setup(&self, options: &RunOptions, occasion: Occasion) -> Setup {
        let place = self.place();
        let variable = |name| (self.variables)(name).filter(|value| !value.is_empty());
        let shell = variable("AXI_SHELL").or_else(|| variable("SHELL"));
        let shell = shell.as_deref().and_then(|path| path.rsplit('/').next());
        let surroundings = prompt::Surroundings {
            place: &place,
            system: std::env::consts::OS,
            shell,
            handoff: occasion == Occasion::Handoff,
            language: self.locale.tag(),
        };
        let instructions = prompt::instructions(&place, self.paths.config.as_deref());
        let system = prompt::system_prompt(&surroundings, &instructions);
        Setup {
            system,
            small_system: prompt::small_prompt(&surroundings),
            surroundings: self.shell_surroundings(),
            place,
            max_steps: options.max_steps.or(self.config.max_steps).unwrap_or(MAX_STEPS),
            max_output_tokens: None,
            output_dir: self.once.clone().or_else(|| self.paths.outputs()).unwrap_or_else(std::env::temp_dir),
            journal: self.paths.journal(),
            sandbox: self.sandbox(),
            retry: RetryPlan::default(),
            now: SystemTime::now,
            random: random_unit,
        }
    }

    /// What confines commands: axi's own directories are hidden from what runs unasked, but for kept outputs.
    pub(super) fn sandbox(&self) -> Sandbox {
        let wanted = match self.config.sandbox.as_deref() {
            Some("off") => Wanted::Off,
            Some(_) | None => Wanted::On,
        };
        let own = [&self.paths.config, &self.paths.state, &self.paths.cache];
        let hidden = own.into_iter().flatten().cloned().collect();
        let readable = self.paths.outputs().into_iter().collect();
        Sandbox::new(wanted, self.paths.home.clone(), hidden, readable, std::env::temp_dir())
    }

    fn tools(&self, occasion: Occasion) -> Toolbox {
        let mut tools = table::standard(self.program.clone());
        if occasion == Occasion::Handoff {
            tools.push(Arc::new(ProposeCommandTool));
        }
        Toolbox::new(tools)
    }

    /// Looks for a model where none is named; the error is that of a fetch the person agreed to.
    fn found(&self, client: &Client, runtime: &Runtime) -> Result<Option<(String, String)>, Failed> {
        match discover(self, client, runtime) {
            Some(found) => Ok(Some(found)),
            None => local::find_or_offer(self, client, runtime),
        }
    }

    /// Chooses the model: flag, `AXI_MODEL`, settings, else what is found. The second value says what was found.
    pub(super) fn provider(
        &self,
        wanted: Option<&str>,
        client: &Client,
        runtime: &Runtime,
    ) -> Result<(Arc<dyn Provider>, Option<String>), Failed> {
        let variable = (self.variables)("AXI_MODEL").filter(|model| !model.is_empty());
        let named = wanted.map(str::to_owned).or(variable).or_else(|| self.config.model.clone());
        let (name, found) = if let Some(name) = named {
            (name, None)
        } else if let Some((name, why)) = self.found(client, runtime)? {
            let said = self.locale.with(word::repl::Found { model: &name, why: &why });
            (name, Some(said))
        } else {
            let problem = Problem {
                what: self.locale.text(word::error::NO_MODEL).to_owned(),
                hint: self.locale.text(word::error::NO_MODEL_HINT).to_owned(),
            };
            return Err(Failed::new(problem, Exit::NotConfigured));
        };
        if let Some(connected) = local::connect(self, &name, &self.locale) {
            let provider = connected.map_err(|problem| Failed::new(problem, Exit::NotConfigured))?;
            return Ok((provider, found));
        }
        let settings = models::resolve(&name, &self.config, &self.variables, &self.locale)
            .map_err(|problem| Failed::new(problem, Exit::NotConfigured))?;
        self.keep_out(&settings);
        Ok((connect(settings, client), found))
    }

    pub(super) fn sessions(&self) -> Option<SessionStore> {
        let store = self.paths.sessions().map(SessionStore::new)?;
        Some(store.with_journals(self.paths.journal()))
    }

    pub(super) fn new_session(&self, keep: bool) -> Session {
        let id = SessionId::new(SystemTime::now(), &self.cwd, random_number());
        let directory = self.paths.sessions().filter(|_| keep);
        Session::new(id, self.cwd.clone(), directory.as_deref(), self.redactor())
    }

    /// Finds the session the command line asks to go on with; where it asks nothing, the shell's own.
    fn resumed(&self, options: &RunOptions, occasion: Occasion) -> Result<Option<(Loaded, PathBuf)>, Failed> {
        let open = |path: PathBuf| load(&path).map(|loaded| (loaded, path));
        let store = self.sessions();
        // Held also where another session is asked for: it becomes the shell's.
        let is_shells = !options.no_session && (occasion != Occasion::Print || options.resume_last);
        let (shells, busy) = if is_shells { self.shells_session() } else { (None, false) };
        if busy {
            Console::new(&self.locale).note(self.locale.text(word::handoff::BUSY));
        }
        if options.resume.is_none() && shells.is_some() {
            return Ok(shells);
        }
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
                let asker = Terminal {
                    color: self.depth() >= Depth::Ansi,
                    plain: self.linear(),
                    tty: None,
                    signals: Signals::default(),
                };
                let picked = asker.pick(self.locale.text(word::repl::PICK_SESSION), &rows);
                let Some(row) = picked.and_then(|index| list.into_iter().nth(index)) else {
                    let problem = Problem {
                        what: self.locale.text(word::error::INTERRUPTED).to_owned(),
                        hint: String::new(),
                    };
                    return Err(Failed::new(problem, Exit::Interrupted));
                };
                open(row.path)
            }
            (None, true, Some(store)) => match store.last_of(&self.cwd) {
                Some(summary) => open(summary.path),
                None => return Err(self.no_session()),
            },
        };
        found.map(Some).map_err(|error: SessionError| {
            Failed::new(command::session_problem(&self.locale, &error), Exit::Failed)
        })
    }

    fn no_session(&self) -> Failed {
        let problem = Problem {
            what: self.locale.text(word::error::SESSION_NONE).to_owned(),
            hint: self.locale.text(word::error::SESSION_KEPT).to_owned(),
        };
        Failed::new(problem, Exit::Failed)
    }

    pub(super) fn agent(
        &self,
        options: &RunOptions,
        provider: Arc<dyn Provider>,
        occasion: Occasion,
    ) -> Result<(Agent, Option<Conversation>), Failed> {
        let policy = self.policy(options)?;
        let resumed = self.resumed(options, occasion)?;
        let keep = !options.no_session;
        let (session, conversation, usage) = match resumed {
            Some((_, path)) if keep && is_held(&path) => {
                Console::new(&self.locale).note(self.locale.text(word::repl::SESSION_BUSY));
                (self.new_session(true), None, Usage::default())
            }
            Some((loaded, path)) if keep => {
                let session = Session::resume(loaded.id, loaded.directory, path, self.redactor());
                (session, Some(loaded.conversation), loaded.usage)
            }
            Some((loaded, _)) => (self.new_session(false), Some(loaded.conversation), loaded.usage),
            None => (self.new_session(keep), None, Usage::default()),
        };
        self.tie(session.id());
        let first = self.new_session(false);
        let mut agent = Agent::new(provider, self.tools(occasion), policy, first, self.setup(options, occasion));
        agent.allow_exploring();
        agent.set_session(session, conversation.clone().unwrap_or_default(), usage);
        Ok((agent, conversation))
    }

    /// What the terminal behind standard output is like.
    pub(super) fn surroundings(&self) -> terminal::Surroundings {
        terminal::Surroundings::read(std::io::stdout().is_terminal(), self.variables)
    }

    /// How much colour standard output gets.
    pub(super) fn depth(&self) -> Depth {
        self.surroundings().depth(match self.common.color {
            // Colours are sequences too, which linear output is to be free of.
            ColorChoice::Auto if self.common.linear => terminal::ColorChoice::Never,
            ColorChoice::Auto => terminal::ColorChoice::Auto,
            ColorChoice::Always => terminal::ColorChoice::Always,
            ColorChoice::Never => terminal::ColorChoice::Never,
        })
    }

    /// Whether the terminal is at the other end of an ssh connection.
    pub(super) fn is_remote(&self) -> bool {
        ["SSH_CONNECTION", "SSH_TTY"].iter().any(|name| (self.variables)(name).is_some())
    }

    /// Whether the cursor is never moved.
    pub(super) fn linear(&self) -> bool {
        self.common.linear || self.surroundings().is_dumb()
    }

    /// How everything looks.
    pub(super) fn looks(&self) -> Looks {
        let depth = self.depth();
        let choice = self.config.theme.as_deref().and_then(ThemeChoice::parse).unwrap_or_default();
        let background = self.surroundings().background().or_else(|| self.background_cache().read());
        let palette = Palette { choice, depth, background };
        let wrap = if self.config.wrap.as_deref() == Some("soft") { Wrap::Soft } else { Wrap::Word };
        let hyperlinks = depth != Depth::Plain && !self.linear() && self.surroundings().links();
        let reasoning = self.config.reasoning.as_deref().and_then(ReasoningView::parse).unwrap_or_default();
        let notify = self.config.notify.as_deref().and_then(Notify::parse).unwrap_or_default();
        let file_links = hyperlinks && !self.surroundings().remote;
        // Zellij shows an empty title as one, and gives back none where the shell has set none.
        let zellij = (self.variables)("ZELLIJ").is_some_and(|value| !value.is_empty());
        let mut looks = Looks {
            theme: palette.theme(),
            palette,
            styles: self.own_styles(),
            wrap,
            hyperlinks,
            file_links,
            highlight: depth >= Depth::Ansi,
            reasoning,
            notify,
            resting_title: if zellij { self.paths.shown(&self.cwd) } else { String::new() },
        };
        looks.choose_theme();
        looks
    }

    /// What the terminal said of its background before.
    pub(super) fn background_cache(&self) -> BackgroundCache {
        let surroundings = self.surroundings();
        BackgroundCache::new(self.paths.cache.as_deref(), &surroundings.term_program, &surroundings.term)
    }

    /// The person's own styles; what the settings say wrong is told and left out.
    fn own_styles(&self) -> Vec<(String, String)> {
        let usable = |(role, text): &(&String, &String)| match Theme::plain().restyle(role, text) {
            Ok(()) => true,
            Err(error) => {
                Console::new(&self.locale).warn(&self.locale.with(word::error::Style {
                    role,
                    style: text,
                    cause: &error.to_string(),
                }));
                false
            }
        };
        let styles = self.config.styles.iter().filter(usable);
        styles.map(|(role, text)| (role.clone(), text.clone())).collect()
    }

    /// The person's own keys; what the settings say wrong is told and left out.
    pub(super) fn own_keys(&self) -> Vec<KeyBinding> {
        let read = |(key, action): (&String, &String)| match parse_binding(key, action) {
            Ok(binding) => Some(binding),
            Err(error) => {
                let known: Vec<&str> = ACTIONS.iter().map(|(name, _)| *name).collect();
                let cause = match error {
                    KeyError::Key(name) => self.locale.with(word::error::KeyName { name: &name }),
                    KeyError::Action(name) => {
                        self.locale.with(word::error::KeyAction { name: &name, known: &known.join(", ") })
                    }
                };
                Console::new(&self.locale).warn(&self.locale.with(word::error::Key { key, action, cause: &cause }));
                None
            }
        };
        self.config.keys.iter().filter_map(read).collect()
    }

    pub(super) fn runtime(&self) -> Result<Runtime, Failed> {
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
            let what = self.locale.with(word::error::Io { path: "tokio", cause: &error.to_string() });
            Failed::new(Problem { what, hint: String::new() }, Exit::Failed)
        })
    }
}

/// Says that the model inside of axi was left out when axi was built.
#[cfg_attr(feature = "local", expect(dead_code, reason = "said only where it was left out"))]
pub(super) fn left_out(locale: &Locale) -> Problem {
    Problem {
        what: locale.text(word::local::LEFT_OUT).to_owned(),
        hint: locale.text(word::local::LEFT_OUT_HINT).to_owned(),
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
