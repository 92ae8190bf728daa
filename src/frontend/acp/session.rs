//! One session on a thread of its own: its agent, the prompts it is sent, and what is chosen for it.

use std::path::PathBuf;
use std::rc::Rc;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::commands::{self, Act};
use super::content::{self, Reader};
use super::events::{Events, Wording};
use super::modes;
use super::replay::replay;
use crate::agent::{Agent, TurnEnd, timestamp};
use crate::command::{self, Problem, World};
use crate::conversation::Message;
use crate::frontend::dropped::close_dropped_connections;
use crate::frontend::human::KeepRule;
use crate::frontend::input::{self, Input};
use crate::frontend::json_rpc::Client;
use crate::frontend::repl::UserCommands;
use crate::frontend::words;
use crate::json_rpc::{Fault, RpcError, text};
use crate::locale::{Locale, word};
use crate::mcp::Definition;
use crate::session::SessionStore;
use crate::tool::sweep_aside;

/// What a client wants to open.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// Where it works: absolute.
    pub cwd: PathBuf,
    /// The session that is gone on with; a new one where `None`.
    pub resume: Option<String>,
    /// MCP servers the client hands over.
    pub servers: Vec<Definition>,
}

/// A session that can be talked with. Stays on the thread it was opened on.
pub struct Opened {
    /// Its agent.
    pub agent: Agent,
    /// Drives it.
    pub runtime: Rc<Runtime>,
    /// Everything outside the agent.
    pub world: Box<dyn World>,
    /// The person's words.
    pub locale: Locale,
    /// The commands that are files.
    pub commands: UserCommands,
    /// Keeps a rule.
    pub keep: KeepRule,
}

/// Opens sessions and knows those that are kept. Implemented by the composition root; asked from many threads.
pub trait Opener: Send + Sync {
    /// Opens a session.
    ///
    /// # Errors
    /// Why there is none, in the person's words.
    fn open(&self, wanted: &Wanted) -> Result<Opened, RpcError>;

    /// Tells whether there is a model that can be asked.
    ///
    /// # Errors
    /// What is missing.
    fn authenticate(&self) -> Result<(), RpcError>;

    /// Lists the models that can be asked, each with what is known of it; waits a second or two for servers.
    fn models(&self, cwd: &std::path::Path) -> Vec<(String, String)>;

    /// Returns where sessions are kept, if they are.
    fn sessions(&self) -> Option<SessionStore>;

    /// Returns the person's words where no session is.
    fn locale(&self) -> &Locale;
}

/// What a session's thread is to do, one after the other.
pub(super) enum Job {
    /// Answers a prompt.
    Prompt { id: Value, prompt: Value, cancel: CancellationToken },
    /// Goes into a mode.
    Mode { id: Value, mode: String },
    /// Chooses something.
    Option { id: Value, parameters: Value },
    /// The models are known now.
    Models(Vec<(String, String)>),
    /// Ends.
    Close { id: Option<Value> },
}

/// The prompt that runs in a session: the request's id, and what stops it.
pub(super) type Running = Arc<Mutex<Option<(Value, CancellationToken)>>>;

/// How a session begins.
pub(super) struct Beginning {
    /// The request that is answered when it has begun.
    pub(super) request: Value,
    /// Whether the loaded conversation is sent again.
    pub(super) replays: bool,
    /// Whether the answer names the session.
    pub(super) names: bool,
    /// Whether the client puts forms to its person.
    pub(super) forms: bool,
}

/// A session at work.
pub(super) struct Session {
    opened: Opened,
    events: Events,
    models: Vec<(String, String)>,
    running: Running,
    on_end: Arc<dyn Fn() + Send + Sync>,
    swept: bool,
}

impl Session {
    /// Takes a session up, under the id the client knows it by. `on_end` is told that no prompt runs any more.
    pub(super) fn new(
        mut opened: Opened,
        client: Client,
        id: String,
        forms: bool,
        running: Running,
        on_end: Arc<dyn Fn() + Send + Sync>,
    ) -> Self {
        let wording = Wording {
            locale: opened.locale.clone(),
            roots: opened.agent.roots().clone(),
            tools: opened.agent.tools().clone(),
        };
        opened.commands.load();
        let keep = std::mem::replace(&mut opened.keep, Box::new(|_| Err(String::new())));
        let events = Events::new(client, id, wording, keep, forms);
        Self { opened, events, models: Vec::new(), running, on_end, swept: false }
    }

    /// Answers the request that opened it, and tells what there is to be known at the beginning.
    pub(super) fn begin(&mut self, beginning: &Beginning) {
        if beginning.replays {
            let whole = self.opened.agent.said().whole().into_owned();
            replay(&mut self.events, whole.messages());
        }
        let mut result = json!({"modes": modes::modes(&self.opened.agent, &self.opened.locale)});
        result["configOptions"] = self.options();
        if beginning.names {
            result["sessionId"] = json!(self.events.session);
        }
        self.events.client.answer(&beginning.request, Ok(result));
        let commands = commands::list(&self.opened.commands, &self.opened.locale);
        self.events.update(&json!({"sessionUpdate": "available_commands_update", "availableCommands": commands}));
        self.usage();
        if let Some(tools) = self.opened.agent.tools().servers() {
            tools.servers().begin();
        }
    }

    /// Does one job after the other until it is closed; returns the request that closes it, if it was one.
    pub(super) fn work(&mut self, jobs: &Receiver<Job>) -> Option<Value> {
        while let Ok(job) = jobs.recv() {
            match job {
                Job::Prompt { id, prompt, cancel } => self.prompt(&id, &prompt, &cancel),
                Job::Mode { id, mode } => {
                    let done = if modes::set(&mut self.opened.agent, &mode) {
                        self.chosen();
                        Ok(json!({}))
                    } else {
                        Err(RpcError::new(Fault::Parameters, format!("there is no mode `{mode}`")))
                    };
                    self.events.client.answer(&id, done);
                }
                Job::Option { id, parameters } => {
                    let done = self.choose(&parameters).map(|()| json!({"configOptions": self.options()}));
                    self.events.client.answer(&id, done);
                }
                Job::Models(models) => {
                    self.models = models;
                    self.chosen();
                }
                Job::Close { id } => return id,
            }
        }
        None
    }

    fn options(&mut self) -> Value {
        modes::options(&mut self.opened.agent, &self.models, &self.opened.locale)
    }

    /// Tells what is chosen now, in both of the protocol's ways.
    fn chosen(&mut self) {
        let mode = modes::current(&self.opened.agent);
        self.events.update(&json!({"sessionUpdate": "current_mode_update", "currentModeId": mode}));
        let options = self.options();
        self.events.update(&json!({"sessionUpdate": "config_option_update", "configOptions": options}));
    }

    fn choose(&mut self, parameters: &Value) -> Result<(), RpcError> {
        let (option, value) = (text(parameters, "configId")?, text(parameters, "value")?);
        let Opened { agent, world, locale, .. } = &mut self.opened;
        let known = match option {
            "mode" => modes::set(agent, value),
            "effort" => modes::set_effort(agent, value),
            "model" => {
                let provider =
                    world.connect(value, locale).map_err(|problem| refused(Fault::Parameters, &problem))?;
                agent.set_provider(provider);
                true
            }
            other => return Err(RpcError::new(Fault::Parameters, format!("there is no option `{other}`"))),
        };
        if !known {
            return Err(RpcError::new(Fault::Parameters, format!("`{option}` cannot be `{value}`")));
        }
        if option == "mode" {
            let mode = modes::current(&self.opened.agent);
            self.events.update(&json!({"sessionUpdate": "current_mode_update", "currentModeId": mode}));
        }
        Ok(())
    }

    fn prompt(&mut self, id: &Value, prompt: &Value, cancel: &CancellationToken) {
        let mut owed = Owed { client: self.events.client.clone(), id: Some(id.clone()) };
        self.events.begin(cancel.clone());
        let end = self.answered(prompt, cancel);
        // A prompt that follows this answer must find nothing running.
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = None;
        (self.on_end)();
        owed.id = None;
        self.events.client.answer(id, end.map(|reason| json!({"stopReason": reason})));
    }

    fn answered(&mut self, prompt: &Value, cancel: &CancellationToken) -> Result<&'static str, RpcError> {
        let Opened { agent, locale, .. } = &self.opened;
        let model = agent.model();
        let reader = Reader { roots: agent.roots(), locale, vision: model.vision, window: model.context_window };
        let message = content::message(prompt, &reader)?;
        let Some(message) = self.command(message, cancel) else {
            return Ok(if cancel.is_cancelled() { "cancelled" } else { "end_turn" });
        };
        if !std::mem::replace(&mut self.swept, true) {
            sweep_aside(self.opened.agent.outputs(), self.opened.agent.temporary(), SystemTime::now());
        }
        let Opened { agent, runtime, .. } = &mut self.opened;
        let events = &mut self.events;
        let servers = agent.tools().servers().map(|tools| tools.servers().clone());
        let end = Rc::clone(runtime).block_on(async {
            if let Some(servers) = servers {
                // What they offer is told with the first request already.
                cancel.run_until_cancelled(servers.settled()).await;
            }
            let end = agent.run_turn(message, events, cancel).await;
            close_dropped_connections().await;
            end
        });
        self.usage();
        let title = self.opened.agent.conversation().first_words();
        self.events.update(&json!({
            "sessionUpdate": "session_info_update", "title": title, "updatedAt": timestamp(SystemTime::now()),
        }));
        self.stop_reason(&end)
    }

    /// Does a slash command; returns the message where it is for the model.
    fn command(&mut self, message: Message, cancel: &CancellationToken) -> Option<Message> {
        let Input::Command { name, argument } = input::parse(&message.text()) else { return Some(message) };
        let file = self.opened.commands.list().iter().find(|command| command.name == name);
        if let Some(file) = file.filter(|command| !self.opened.commands.needs_asking(command)) {
            return Some(Message::user(file.message(&argument)));
        }
        let Some(row) = command::find(&name) else { return Some(message) };
        let locale = self.opened.locale.clone();
        if !commands::is_offered(row.name) {
            self.events.say(&locale.with(word::acp::NotHere { command: row.name }));
            return None;
        }
        let Opened { agent, world, .. } = &mut self.opened;
        let before = (modes::current(agent), agent.model().id(), agent.wishes().effort);
        let mut context = command::Context { agent, locale: &locale, world: &mut **world };
        let outcome = (row.run)(&mut context, &argument);
        let agent = &mut self.opened.agent;
        if before != (modes::current(agent), agent.model().id(), agent.wishes().effort) {
            self.chosen();
        }
        match commands::act(outcome, row.name, &locale) {
            Act::Say(text) => self.events.say(&text),
            Act::Ask(text) => return Some(Message::user(text)),
            Act::Shorten(focus) => {
                let Opened { agent, runtime, .. } = &mut self.opened;
                let events = &mut self.events;
                let shortened = Rc::clone(runtime).block_on(async {
                    let shortened = agent.shorten(&focus, events, cancel).await;
                    close_dropped_connections().await;
                    shortened
                });
                if shortened.is_none() && !cancel.is_cancelled() {
                    self.events.say(locale.text(word::said::COMPACT_NOTHING));
                }
            }
        }
        None
    }

    /// Tells how much of the context the last request took, and what the session cost; nothing where it is not known.
    fn usage(&mut self) {
        let agent = &self.opened.agent;
        let (used, size) = (agent.ledger().last_request(), agent.said().window());
        if let Some(size) = size.filter(|_| used > 0) {
            let mut update = json!({"sessionUpdate": "usage_update", "used": used, "size": size});
            if let Some(cost) = agent.ledger().total().cost() {
                update["cost"] = json!({"amount": cost.in_dollars(), "currency": "USD"});
            }
            self.events.update(&update);
        }
    }

    /// How a turn ended in the protocol's words; what it has no word for is said as a message.
    fn stop_reason(&mut self, end: &TurnEnd) -> Result<&'static str, RpcError> {
        let told = words::turn_end(&self.opened.locale, end, words::Speaking::ByFlags);
        if let TurnEnd::Failed { error } = end {
            let Some(told) = told else { return Err(RpcError::new(Fault::Internal, end.word())) };
            let fault = if error.blames_the_key() { Fault::Authentication } else { Fault::Internal };
            return Err(refused(fault, &Problem { what: told.what, hint: told.hint }));
        }
        if let Some(told) = told.filter(|_| *end != TurnEnd::Interrupted) {
            self.events.tell(word::error::LABEL, &told);
        }
        Ok(match end {
            TurnEnd::Done | TurnEnd::ApprovalNeeded { .. } | TurnEnd::Failed { .. } => "end_turn",
            TurnEnd::Interrupted => "cancelled",
            TurnEnd::StepLimit { .. } | TurnEnd::BudgetLimit { .. } | TurnEnd::Looping => "max_turn_requests",
            TurnEnd::Length => "max_tokens",
            TurnEnd::Refused => "refusal",
        })
    }
}

/// An answer that a client waits for; it gets one also where the thread does not come so far.
struct Owed {
    client: Client,
    id: Option<Value>,
}

impl Drop for Owed {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            self.client.answer(&id, Err(RpcError::new(Fault::Internal, "axi failed; its log says more")));
        }
    }
}

/// A problem as an error of the protocol.
pub(super) fn refused(fault: Fault, problem: &Problem) -> RpcError {
    RpcError::new(fault, format!("{}\n{}", problem.what, problem.hint).trim_end())
}
