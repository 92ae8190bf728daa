//! All servers of a run: which are known, which run, and a call to one of them, which starts it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use reqwest::header::{AUTHORIZATION, HeaderMap};
use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::answer::{self, Answer};
use super::connection::{Call, Connection};
use super::definition::{Definition, Way};
use super::failure::Failure;
use super::http::{self, Far};
use super::manifest::{self, Era, Manifest};
use super::opening::{self, Lists};
use super::process::{self, Launch};
use super::sign_in::{Asked, NoTokens, Pass, SignInError};
use super::state::{Offered, Report, Server, Setup, Trouble, asked};
use super::task;
use super::thread::Thread;

/// How often one call may want more from the person before it is given up.
const MOST_ROUNDS: usize = 10;

/// All servers of a run; clones are the same ones. When the last clone goes, they are ended.
#[derive(Clone)]
pub struct Servers {
    thread: Arc<Thread>,
    inner: Arc<Inner>,
}

struct Inner {
    setup: Setup,
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
        let setup = Setup {
            cache: None,
            helper: None,
            directory: PathBuf::new(),
            client: Arc::new(|_| Err(String::new())),
            tokens: Arc::new(NoTokens),
            start: Duration::ZERO,
            variable: Box::new(|_, _| None),
            withheld: Box::new(|_| Vec::new()),
        };
        Self::new(Vec::new(), setup)
    }

    /// Tells whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.inner.locked().is_empty()
    }

    /// Looks up what is known of the servers, and starts those of which nothing is: they tell their tools meanwhile.
    /// Reads one file a server the first time.
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
            while self.inner.locked().iter().any(|server| server.starting) {
                if changes.changed().await.is_err() {
                    return;
                }
            }
        };
        // Each has its own limit; this one is for what hangs beside it.
        let _ = tokio::time::timeout(self.inner.setup.start + Duration::from_secs(1), all).await;
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

    /// What is known of those that can be used, for who must not wait: nothing while others work on it.
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

    /// Says how it stands with each server.
    #[must_use]
    pub fn reports(&self) -> Vec<Report> {
        let mut servers = self.inner.locked();
        let report = |server: &mut Server| {
            server.look(&self.inner.setup);
            Report {
                definition: server.definition.clone(),
                standing: server.standing(),
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
        if let Some(line) = server.line.take().filter(|_| !on) {
            line.hang_up.cancel();
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
            if let Some(line) = server.line.take() {
                line.hang_up.cancel();
            }
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
                self.inner.note(server, result.as_ref().err());
            }
            let result = task::finished(&line, result?, limit, &progress).await?;
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

    /// How long a server may take for what is no call.
    pub(super) fn patience(&self) -> Duration {
        self.inner.setup.start
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
    fn locked(&self) -> MutexGuard<'_, Vec<Server>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changed(&self) {
        self.version.send_modify(|version| *version += 1);
    }

    /// Tells whether a tool is called as a task only.
    fn wants_task(&self, server: &str, tool: &str) -> bool {
        let servers = self.locked();
        let manifest =
            servers.iter().find(|known| known.definition.name == server).and_then(|known| known.manifest.as_ref());
        manifest.is_some_and(|known| known.tools.iter().any(|entry| entry.name == tool && entry.as_task))
    }

    /// Keeps why a line died.
    fn note(&self, name: &str, failure: Option<&Failure>) {
        let mut servers = self.locked();
        if let (Some(server), Some(failure)) =
            (servers.iter_mut().find(|server| server.definition.name == name), failure)
        {
            server.line = None;
            server.failed(failure.clone());
        }
    }

    /// Keeps what a start came to.
    fn started(&self, name: &str, result: Result<(Arc<Connection>, Manifest), Failure>, took: Option<Duration>) {
        {
            let mut servers = self.locked();
            if let Some(server) = servers.iter_mut().find(|server| server.definition.name == name) {
                server.starting = false;
                match result {
                    Ok((line, manifest)) => {
                        server.line = Some(line);
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

    /// Starts a server and looks after it until its line is dead. Runs on the thread of the servers.
    async fn start(self: Arc<Self>, definition: Definition, stop: CancellationToken) {
        let (begun, limit) = (Instant::now(), self.setup.start);
        let driving = Mutex::default();
        let opening = self.open(&definition, &stop, &driving);
        let opened = tokio::select! {
            biased;
            () = stop.cancelled() => Err(Failure::Off),
            opened = tokio::time::timeout(limit, opening) => {
                opened.unwrap_or(Err(Failure::Slow { seconds: limit.as_secs() }))
            }
        };
        let line = opened.as_ref().ok().map(|(line, _)| Arc::clone(line));
        if let (Ok((_, manifest)), Some(folder)) = (&opened, &self.setup.cache) {
            manifest::keep(folder, &definition, manifest);
        }
        self.started(&definition.name, opened, Some(begun.elapsed()));
        if let Some(line) = line {
            self.look_after(&definition, &line, &stop).await;
        }
        let driving = driving.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(driving) = driving {
            // One that panicked has ended, too.
            let _ = driving.await;
        }
    }

    /// Follows the lists until the line is dead.
    async fn look_after(&self, definition: &Definition, line: &Arc<Connection>, stop: &CancellationToken) {
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                () = line.hang_up.cancelled() => return,
                () = line.changed.notified() => {}
            }
            let offers = line.offers.get().copied().unwrap_or_default();
            if let Ok(lists) = opening::lists(line, offers, self.setup.start).await {
                self.lists_changed(definition, lists);
            }
        }
    }

    /// Takes over new lists; a turn that runs goes on with the old tools.
    fn lists_changed(&self, definition: &Definition, lists: Lists) {
        {
            let mut servers = self.locked();
            let found = servers.iter_mut().find(|server| server.definition.name == definition.name);
            let Some(server) = found else { return };
            let Some(known) = &server.manifest else { return };
            let Lists { tools, prompts, resources } = lists;
            let manifest = Manifest { tools, prompts, resources, ..(**known).clone() };
            if let Some(folder) = &self.setup.cache {
                manifest::keep(folder, definition, &manifest);
            }
            server.manifest = Some(Arc::new(manifest));
        }
        self.changed();
    }

    async fn open(
        &self,
        definition: &Definition,
        stop: &CancellationToken,
        driving: &Mutex<Option<JoinHandle<()>>>,
    ) -> Result<(Arc<Connection>, Manifest), Failure> {
        /// Ends the line of a server that could not be greeted in time.
        struct HangUp(Option<Arc<Connection>>);
        impl Drop for HangUp {
            fn drop(&mut self) {
                if let Some(line) = self.0.take() {
                    line.hang_up.cancel();
                }
            }
        }
        let variable = |name: &str| (self.setup.variable)(name, definition.of_project);
        let way = definition.filled(&variable)?;
        let (line, sent) = Connection::new();
        let mut hang_up = HangUp(Some(Arc::clone(&line)));
        match &way {
            Way::Process { .. } => {
                let launch = Launch {
                    helper: self.setup.helper.clone(),
                    directory: self.setup.directory.clone(),
                    withheld: (self.setup.withheld)(&definition.line()),
                };
                let process = process::start(&way, &launch)?;
                let name = definition.name.clone();
                // Ends when the line is hung up, the server ends, or axi does.
                let drive = tokio::spawn(process::drive(name, process, Arc::clone(&line), sent, stop.clone()));
                *driving.lock().unwrap_or_else(PoisonError::into_inner) = Some(drive);
            }
            Way::Address { url, headers } => {
                let client = (self.setup.client)(url).map_err(|cause| Failure::Unreached { cause })?;
                let headers = http::headers(headers)?;
                let pass = self.pass(url, &headers);
                let far = Far { url: url.clone(), headers, client, pass };
                // As above.
                let drive = tokio::spawn(http::drive(far, Arc::clone(&line), sent, stop.clone()));
                *driving.lock().unwrap_or_else(PoisonError::into_inner) = Some(drive);
            }
        }
        let known = self.known_era(&definition.name);
        let first = known.unwrap_or(match way {
            Way::Process { .. } => Era::Session,
            Way::Address { .. } => Era::Stateless,
        });
        let manifest = opening::open(&line, first, self.setup.start).await?;
        hang_up.0 = None;
        Ok((line, manifest))
    }

    /// What proves to an address who asks; nothing where its headers do.
    fn pass(&self, url: &str, headers: &HeaderMap) -> Option<Pass> {
        let server = url.parse().ok().filter(|_| !headers.contains_key(AUTHORIZATION))?;
        Some(Pass::new(server, Arc::clone(&self.setup.tokens), Arc::clone(&self.setup.client)))
    }

    fn known_era(&self, name: &str) -> Option<Era> {
        let servers = self.locked();
        let server = servers.iter().find(|server| server.definition.name == name)?;
        server.manifest.as_ref().map(|manifest| manifest.era)
    }
}

#[cfg(test)]
#[path = "servers_tests.rs"]
mod tests;
