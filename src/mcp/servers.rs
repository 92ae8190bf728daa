//! All servers of a run: which are known, which run, and a call to one of them, which starts it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use tokio::sync::watch;

use super::answer::{self, Answer};
use super::connection::{Call, Connection};
use super::definition::Definition;
use super::failure::Failure;
use super::manifest::Manifest;
use super::sign_in::{Asked, SignInError};
use super::state::{Offered, Report, Server, Setup, Trouble, asked};
use super::task;
use super::thread::Thread;

/// How often one call may want more from the person before it is given up.
const MOST_ROUNDS: usize = 10;

/// All servers of a run; clones are the same ones. When the last clone goes, they are ended.
#[derive(Clone)]
pub struct Servers {
    thread: Arc<Thread>,
    pub(super) inner: Arc<Inner>,
}

pub(super) struct Inner {
    pub(super) setup: Setup,
    servers: Mutex<Vec<Server>>,
    /// Counts what changed.
    version: watch::Sender<u64>,
}

impl Servers {
    /// Makes the servers of a run; starts none and looks at no disk. Each comes with whether the person agreed to it.
    #[must_use]
    pub fn new(definitions: Vec<(Definition, bool)>, setup: Setup) -> Self {
        let server = |(definition, agreed)| Server::new(definition, agreed);
        let servers = Mutex::new(definitions.into_iter().map(server).collect());
        let inner = Inner { setup, servers, version: watch::Sender::new(0) };
        Self { thread: Arc::default(), inner: Arc::new(inner) }
    }

    /// Makes none.
    #[must_use]
    pub fn none() -> Self {
        Self::new(Vec::new(), Setup::none())
    }

    /// Tells whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.inner.locked().is_empty()
    }

    /// Reads the kept manifests, one file a server the first time, and starts the servers that have none: they list their
    /// tools meanwhile.
    pub fn begin(&self) {
        let unknown: Vec<String> = {
            let mut servers = self.inner.locked();
            for server in servers.iter_mut().filter(|server| server.usable()) {
                server.look(&self.inner.setup);
            }
            let wanted = servers.iter().filter(|server| {
                server.usable() && server.manifest.is_none() && !server.starting && server.failure.is_none()
            });
            wanted.map(|server| server.definition.name.clone()).collect()
        };
        for name in unknown {
            self.start(&name);
        }
    }

    /// Waits until no server is being started, or the time for that is over.
    ///
    /// # Cancel safety
    /// Dropped, they start all the same.
    pub async fn settled(&self) {
        let mut changes = self.inner.version.subscribe();
        let all = async {
            while self.inner.starting().is_some() {
                if changes.changed().await.is_err() {
                    return;
                }
            }
        };
        let longest = self.inner.starting().unwrap_or_default();
        // Each start has its own limit; this covers anything else.
        let _ = tokio::time::timeout(longest + Duration::from_secs(1), all).await;
    }

    /// Counts what changed of the tools.
    #[must_use]
    pub fn version(&self) -> u64 {
        *self.inner.version.borrow()
    }

    /// Lists the tools of all servers that can be used, as far as they are known.
    #[must_use]
    pub fn offered(&self) -> Vec<Offered> {
        let servers = self.inner.locked();
        let usable = servers.iter().filter(|server| server.usable());
        let all = usable.flat_map(|server| {
            let tools = server.manifest.iter().flat_map(|manifest| manifest.tools.iter());
            tools.map(|tool| Offered {
                server: server.definition.name.clone(),
                always_load: server.definition.always_load,
                tool: tool.clone(),
            })
        });
        all.collect()
    }

    /// The servers that can be used, with their manifests; empty while another thread holds the lock, because keys call this.
    #[must_use]
    pub fn at_hand(&self) -> Vec<(String, Arc<Manifest>)> {
        let Ok(servers) = self.inner.servers.try_lock() else { return Vec::new() };
        let usable = servers.iter().filter(|server| server.usable());
        usable.filter_map(|server| Some((server.definition.name.clone(), server.manifest.clone()?))).collect()
    }

    /// Returns what went wrong and was not returned before.
    #[must_use]
    pub fn troubles(&self) -> Vec<Trouble> {
        let mut servers = self.inner.locked();
        let news = servers.iter_mut().filter(|server| server.usable() && server.failure != server.told);
        let told = news.filter_map(|server| {
            server.told.clone_from(&server.failure);
            let failure = server.failure.clone()?;
            Some(Trouble { server: server.definition.name.clone(), failure })
        });
        told.collect()
    }

    /// Reports the state of each server.
    #[must_use]
    pub fn reports(&self) -> Vec<Report> {
        let mut servers = self.inner.locked();
        let report = |server: &mut Server| {
            server.look(&self.inner.setup);
            Report {
                definition: server.definition.clone(),
                state: server.state(),
                manifest: server.manifest.clone(),
                started_ms: server.started_ms,
                failure: server.failure.clone(),
            }
        };
        servers.iter_mut().map(report).collect()
    }

    /// Switches a server off, or on again; false where there is none of this name.
    pub fn switch(&self, name: &str, on: bool) -> bool {
        let mut servers = self.inner.locked();
        let Some(server) = servers.iter_mut().find(|server| server.definition.name == name) else { return false };
        server.off = !on;
        if !on {
            server.hang_up();
        }
        drop(servers);
        self.inner.changed();
        true
    }

    /// Starts a server anew and asks for its tools; false where there is none of this name.
    pub fn reconnect(&self, name: &str) -> bool {
        {
            let mut servers = self.inner.locked();
            let Some(server) = servers.iter_mut().find(|server| server.definition.name == name) else {
                return false;
            };
            server.hang_up();
            (server.off, server.failures, server.rests_until) = (false, 0, None);
            (server.failure, server.told) = (None, None);
        }
        self.start(name);
        true
    }

    /// Calls a tool; starts its server where it does not run.
    ///
    /// # Cancel safety
    /// Dropped, the server is told that nobody waits.
    ///
    /// # Errors
    /// [`Failure`].
    pub async fn call(&self, server: &str, call: Call) -> Result<Answer, Failure> {
        let Call { tool, arguments, progress, asks } = call;
        let (line, limit) = self.line(server).await?;
        let _asking = line.let_ask(asks);
        let mut params = Map::new();
        params.insert("name".to_owned(), tool.clone().into());
        params.insert("arguments".to_owned(), arguments);
        if self.inner.wants_task(server, &tool) {
            params.insert("task".to_owned(), Value::Object(Map::new()));
        }
        let mut asked = params.clone();
        for _ in 0..MOST_ROUNDS {
            let result = line.request("tools/call", asked, limit, Some(progress.clone())).await;
            if matches!(&result, Err(Failure::Ended { .. } | Failure::NotMcp | Failure::SignIn)) {
                self.inner.note(server, &line, result.as_ref().err());
            }
            let result = task::finished(&line, result?, limit, &progress).await?;
            self.inner.worked(server);
            let kind = result.get("resultType").and_then(Value::as_str).unwrap_or("complete");
            match kind {
                "input_required" => {}
                _ => return Ok(answer::read(&result)),
            }
            asked = params.clone();
            asked.insert("inputResponses".to_owned(), line.inputs(&result).await);
            if let Some(state) = result.get("requestState") {
                asked.insert("requestState".to_owned(), state.clone());
            }
        }
        Err(Failure::NotMcp)
    }

    /// Tells whether there is a server of this name that can be used.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.inner.locked().iter().any(|server| server.definition.name == name && server.usable())
    }

    /// Says what it takes to sign in to a server.
    pub(super) fn asked(&self, name: &str) -> Result<Asked, SignInError> {
        let servers = self.inner.locked();
        let found = servers.iter().find(|server| server.definition.name == name && server.agreed);
        let definition = found.ok_or(SignInError::NoAddress)?.definition.clone();
        drop(servers);
        asked(&definition, &self.inner.setup)
    }

    /// The line to a server that runs, started if need be; with how long a call may take.
    pub(super) async fn line(&self, name: &str) -> Result<(Arc<Connection>, Duration), Failure> {
        let mut changes = self.inner.version.subscribe();
        let mut started = false;
        loop {
            changes.mark_unchanged();
            {
                let servers = self.inner.locked();
                let server = servers.iter().find(|server| server.definition.name == name);
                let Some(server) = server else { return Err(Failure::NoSuchTool) };
                if !server.agreed {
                    return Err(Failure::NotAgreed);
                }
                if server.off {
                    return Err(Failure::Off);
                }
                if let Some(line) = server.running().filter(|_| !server.starting) {
                    return Ok((Arc::clone(line), Duration::from_secs(server.definition.call_seconds)));
                }
                if !server.starting {
                    if started {
                        return Err(server.failure.clone().unwrap_or(Failure::NotMcp));
                    }
                    let now = Instant::now();
                    if let Some(rest) = server.rests_until.and_then(|until| until.checked_duration_since(now)) {
                        return Err(Failure::Resting { times: server.failures, seconds: rest.as_secs() + 1 });
                    }
                }
            }
            if !started {
                self.start(name);
                started = true;
            }
            if changes.changed().await.is_err() {
                return Err(Failure::Off);
            }
        }
    }

    /// Starts a server on the thread of the servers, if it is not started already.
    fn start(&self, name: &str) {
        let definition = {
            let mut servers = self.inner.locked();
            let found = servers.iter_mut().find(|server| server.definition.name == name);
            let Some(server) = found.filter(|server| server.usable() && !server.starting) else { return };
            server.starting = true;
            server.definition.clone()
        };
        let inner = Arc::clone(&self.inner);
        let ran = self.thread.run(move |stop| Box::pin(async move { inner.start(definition, stop).await }));
        if !ran {
            self.inner.started(name, Err(Failure::NotStarted { cause: "no thread".to_owned() }), None);
        }
    }
}

impl Inner {
    pub(super) fn locked(&self) -> MutexGuard<'_, Vec<Server>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The longest time that one of the servers that are being started may take; nothing where there is none.
    fn starting(&self) -> Option<Duration> {
        let servers = self.locked();
        servers.iter().filter(|server| server.starting).map(|server| server.definition.start).max()
    }

    /// How long a server may take for what is no call.
    pub(super) fn patience(&self, name: &str) -> Duration {
        let servers = self.locked();
        let found = servers.iter().find(|server| server.definition.name == name);
        found.map_or(Duration::ZERO, |server| server.definition.start)
    }

    pub(super) fn changed(&self) {
        self.version.send_modify(|version| *version += 1);
    }

    /// Tells whether a tool is called as a task only.
    fn wants_task(&self, server: &str, tool: &str) -> bool {
        let servers = self.locked();
        let manifest =
            servers.iter().find(|known| known.definition.name == server).and_then(|known| known.manifest.as_ref());
        manifest.is_some_and(|known| known.tools.iter().any(|entry| entry.name == tool && entry.as_task))
    }

    /// Keeps why a line died, once: several calls may have waited on it, and another line may be there by now.
    fn note(&self, name: &str, line: &Arc<Connection>, failure: Option<&Failure>) {
        let mut servers = self.locked();
        let mine = |server: &&mut Server| {
            server.definition.name == name && server.line.as_ref().is_some_and(|known| Arc::ptr_eq(known, line))
        };
        if let (Some(server), Some(failure)) = (servers.iter_mut().find(mine), failure) {
            server.hang_up();
            server.failed(failure.clone());
        }
    }

    /// A server that answers a call has no failures behind it.
    fn worked(&self, name: &str) {
        if let Some(server) = self.locked().iter_mut().find(|server| server.definition.name == name) {
            server.failures = 0;
        }
    }

    /// Keeps what a start came to.
    pub(super) fn started(
        &self,
        name: &str,
        result: Result<(Arc<Connection>, Manifest), Failure>,
        took: Option<Duration>,
    ) {
        {
            let mut servers = self.locked();
            if let Some(server) = servers.iter_mut().find(|server| server.definition.name == name) {
                server.starting = false;
                match result {
                    Ok((line, manifest)) => {
                        server.line = Some(line);
                        if server.off {
                            // The person switched it off meanwhile.
                            server.hang_up();
                        }
                        server.manifest = Some(Arc::new(manifest));
                        server.started_ms = took.and_then(|took| u64::try_from(took.as_millis()).ok());
                        (server.failure, server.rests_until) = (None, None);
                    }
                    Err(failure) => {
                        tracing::warn!(server = name, %failure, "a server could not be started");
                        server.failed(failure);
                    }
                }
            }
        }
        self.changed();
    }

    /// The names of a prompt's arguments, in the server's order.
    pub(super) fn arguments_of(&self, name: &str, prompt: &str) -> Option<Vec<String>> {
        let servers = self.locked();
        let server = servers.iter().find(|server| server.definition.name == name)?;
        let known = server.manifest.as_ref()?.prompts.iter().find(|known| known.name == prompt)?;
        Some(known.arguments.clone())
    }
}

#[cfg(test)]
#[path = "servers_tests.rs"]
mod tests;
