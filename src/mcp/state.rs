//! What is known of each server, and what is said of it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::connection::Connection;
use super::definition::{self, Definition, Way};
use super::failure::Failure;
use super::http;
use super::manifest::{self, Manifest, ToolEntry};
use super::sign_in::{Asked, MakeClient, NoTokens, SignInError, TokenStore};

/// The most a server is left alone after failures.
const LONGEST_REST: Duration = Duration::from_mins(1);

/// Looks up a variable; whether a project wrote its name is the second argument.
type LookUp = Box<dyn Fn(&str, bool) -> Option<String> + Send + Sync>;
/// Lists names of variables for a command line.
type Withhold = Box<dyn Fn(&str) -> Vec<String> + Send + Sync>;

/// What the servers of a run are made with.
pub struct Setup {
    /// Where manifests are kept; nowhere without it.
    pub cache: Option<PathBuf>,
    /// The axi program itself, as a helper.
    pub helper: Option<PathBuf>,
    /// Where programs run.
    pub directory: PathBuf,
    /// Makes what reaches an address.
    pub client: MakeClient,
    /// Keeps tokens of those who are signed in to.
    pub tokens: Arc<dyn TokenStore>,
    /// Looks up a variable for a definition; the second argument says whether a project wrote it.
    pub variable: LookUp,
    /// Lists the variables of the environment that a program of this command line does not get.
    pub withheld: Withhold,
}

impl Setup {
    /// What needs nothing, for no servers.
    pub(super) fn none() -> Self {
        Self {
            cache: None,
            helper: None,
            directory: PathBuf::new(),
            client: Arc::new(|_| Err(String::new())),
            tokens: Arc::new(NoTokens),
            variable: Box::new(|_, _| None),
            withheld: Box::new(|_| Vec::new()),
        }
    }
}

/// A tool that a server offers.
#[derive(Debug, Clone, PartialEq)]
pub struct Offered {
    /// The server's name.
    pub server: String,
    /// Whether it is always told to the model in full.
    pub always_load: bool,
    /// The tool.
    pub tool: ToolEntry,
}

/// In which state a server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerState {
    /// The person has not agreed to it.
    NotAgreed,
    /// The person switched it off.
    Off,
    /// Nothing is known of it yet.
    Unknown,
    /// It is being started.
    Starting,
    /// Its tools are known from before; it starts with its first call.
    Known,
    /// It runs.
    Running,
    /// It wants the person to sign in.
    NeedsSignIn,
    /// It failed.
    Failed,
}

/// The state of a server, for a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Its definition.
    pub definition: Definition,
    /// How it stands.
    pub state: ServerState,
    /// What is known of it.
    pub manifest: Option<Arc<Manifest>>,
    /// How long its start took, in ms, where it was started by this axi.
    pub started_ms: Option<u64>,
    /// Why it failed the last time.
    pub failure: Option<Failure>,
}

/// A failure that was not told yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// The server's name.
    pub server: String,
    /// What is wrong.
    pub failure: Failure,
}

/// Says what it takes to sign in to a server.
pub(super) fn asked(definition: &Definition, setup: &Setup) -> Result<Asked, SignInError> {
    let unset = |failure: Failure| {
        if let Failure::Unset { variable } = failure {
            SignInError::Unset { variable }
        } else {
            SignInError::NoAddress
        }
    };
    let variable = |name: &str| (setup.variable)(name, definition.of_project);
    let Way::Address { url, headers } = definition.filled(&variable).map_err(unset)? else {
        return Err(SignInError::NoAddress);
    };
    let given = definition.client.as_ref().map(|given| definition::filled_client(given, &variable));
    Ok(Asked {
        server: url.parse().map_err(|_| SignInError::NoAddress)?,
        headers: http::headers(&headers).map_err(unset)?,
        given: given.transpose().map_err(unset)?,
        client: Arc::clone(&setup.client),
        store: Arc::clone(&setup.tokens),
    })
}

/// What is known of one server, and the line to it.
pub(super) struct Server {
    pub(super) definition: Definition,
    pub(super) agreed: bool,
    pub(super) off: bool,
    /// Whether the cache was looked at.
    pub(super) looked: bool,
    pub(super) manifest: Option<Arc<Manifest>>,
    pub(super) line: Option<Arc<Connection>>,
    pub(super) starting: bool,
    pub(super) started_ms: Option<u64>,
    pub(super) failures: u32,
    pub(super) rests_until: Option<Instant>,
    pub(super) failure: Option<Failure>,
    pub(super) told: Option<Failure>,
}

impl Server {
    /// Makes one of which nothing is known yet.
    pub(super) const fn new(definition: Definition, agreed: bool) -> Self {
        Self {
            definition,
            agreed,
            off: false,
            looked: false,
            manifest: None,
            line: None,
            starting: false,
            started_ms: None,
            failures: 0,
            rests_until: None,
            failure: None,
            told: None,
        }
    }

    /// Ends the line, if there is one.
    pub(super) fn hang_up(&mut self) {
        if let Some(line) = self.line.take() {
            line.hang_up.cancel();
        }
    }

    /// The line, if it is alive.
    pub(super) fn running(&self) -> Option<&Arc<Connection>> {
        self.line.as_ref().filter(|line| line.ended().is_none())
    }

    /// Tells whether it may be started.
    pub(super) fn usable(&self) -> bool {
        self.agreed && !self.off
    }

    pub(super) fn state(&self) -> ServerState {
        if !self.agreed {
            ServerState::NotAgreed
        } else if self.off {
            ServerState::Off
        } else if self.starting {
            ServerState::Starting
        } else if self.running().is_some() {
            ServerState::Running
        } else if self.failure == Some(Failure::SignIn) {
            ServerState::NeedsSignIn
        } else if self.failure.is_some() {
            ServerState::Failed
        } else if self.manifest.is_some() {
            ServerState::Known
        } else {
            ServerState::Unknown
        }
    }

    /// Keeps why it failed; from the second time on it is left alone for a while.
    pub(super) fn failed(&mut self, failure: Failure) {
        // A missing sign-in is no failure: the person may sign in before the next call.
        self.failures += u32::from(failure != Failure::SignIn);
        // The first time may be chance.
        let rest = Duration::from_secs(1 << self.failures.min(10)).min(LONGEST_REST);
        self.rests_until = (self.failures > 1).then(|| Instant::now() + rest);
        self.failure = Some(failure);
    }

    /// Looks the manifest up, once.
    pub(super) fn look(&mut self, setup: &Setup) {
        if !std::mem::replace(&mut self.looked, true)
            && let Some(folder) = &setup.cache
            && self.manifest.is_none()
        {
            self.manifest = manifest::load(folder, &setup.directory, &self.definition).map(Arc::new);
        }
    }
}
