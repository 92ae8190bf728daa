//! A server from its start to the end of its line. All of it runs on the thread of the servers.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use reqwest::header::{AUTHORIZATION, HeaderMap};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::connection::Connection;
use super::definition::{Definition, Way};
use super::failure::Failure;
use super::http::{self, Far};
use super::manifest::{self, Era, Manifest};
use super::opening::{self, Lists};
use super::process::{self, Launch};
use super::servers::Inner;
use super::sign_in::Pass;

impl Inner {
    /// Starts a server and looks after it until its line is dead.
    pub(super) async fn start(self: Arc<Self>, definition: Definition, stop: CancellationToken) {
        let (begun, limit) = (Instant::now(), definition.start);
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
            manifest::keep(folder, &self.setup.directory, &definition, manifest);
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
            if let Ok(lists) = opening::lists(line, offers, definition.start).await {
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
                manifest::keep(folder, &self.setup.directory, definition, &manifest);
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
        let manifest = opening::open(&line, first, definition.start).await?;
        hang_up.0 = None;
        Ok((line, manifest))
    }

    /// The token for an address; none if its headers have one.
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
