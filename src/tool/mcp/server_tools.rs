//! The tools of all servers as one turn sees them, and which of them the model is told in full.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use crate::conversation::{ToolSpec, tokens};
use crate::mcp::{Failure, Servers, Trouble};
use crate::tool::devtool::Offered;
use crate::tool::{Tool, ToolOutput};

use super::search::ToolSearch;
use super::server_tool::{ServerTool, told};
use super::shared::{FullSpec, Known, Shared};

/// The share of the window above which tools are told by their names only, in percent. The specification's advice is 1
/// to 5 (client best practices, progressive discovery).
const SHARE: u64 = 3;
/// The window of a model of which none is known, in tokens.
const WINDOW: u64 = 128_000;

/// The tools of the servers; clones are the same.
#[derive(Clone)]
pub struct ServerTools {
    servers: Servers,
    shared: Shared,
}

impl ServerTools {
    /// Makes the tools of these servers; of none before a turn begins.
    #[must_use]
    pub fn new(servers: Servers) -> Self {
        Self { servers, shared: Shared::default() }
    }

    /// Returns the servers.
    #[must_use]
    pub const fn servers(&self) -> &Servers {
        &self.servers
    }

    /// Takes over what has become known since the last turn; within a turn nothing changes except what is loaded.
    /// Returns what went wrong meanwhile. `window` is the model's context window, in tokens.
    pub fn begin_turn(&self, window: Option<u64>) -> Vec<Trouble> {
        self.servers.begin();
        let version = self.servers.version();
        let mut state = self.shared.locked();
        if state.version != Some(version) || state.tools.is_empty() {
            state.version = Some(version);
            state.tools = self.known();
        }
        let told_in_full: u64 = state.tools.iter().map(|known| cost(&known.spec)).sum();
        state.fits = told_in_full <= window.unwrap_or(WINDOW) * SHARE / 100;
        let mut names: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for known in state.all().filter(|known| !state.is_told(known)) {
            names.entry(known.group.clone()).or_default().push(known.spec.name.clone());
        }
        state.search = (!names.is_empty()).then(|| {
            let search: Arc<dyn Tool> = Arc::new(ToolSearch { names, shared: self.shared.clone() });
            (search.spec(), search)
        });
        drop(state);
        self.servers.troubles()
    }

    /// Takes the developer tools of a conversation, once, from what looks for them.
    pub(in crate::tool) fn take_own(&self, look: impl FnOnce() -> Vec<Offered>) {
        if self.shared.locked().own.is_some() {
            return;
        }
        let known = |offered: Offered| {
            let full_spec = if offered.fits { FullSpec::Always } else { FullSpec::Never };
            Known { spec: offered.tool.spec(), tool: offered.tool, group: offered.group, full_spec }
        };
        let own = look().into_iter().map(known).collect();
        self.shared.locked().own = Some(own);
    }

    /// Looks for developer tools anew with the next turn: another conversation begins.
    pub(in crate::tool) fn forget_own(&self) {
        self.shared.locked().own = None;
    }

    fn known(&self) -> Vec<Known> {
        let mut names = BTreeSet::new();
        let known = self.servers.offered().into_iter().map(|offered| {
            let full_spec = if offered.always_load { FullSpec::Always } else { FullSpec::WhileFew };
            let group = format!("{}__", offered.server);
            let tool: Arc<dyn Tool> = Arc::new(ServerTool::new(offered, self.servers.clone()));
            Known { spec: tool.spec(), tool, group, full_spec }
        });
        known.filter(|known| names.insert(known.spec.name.clone())).collect()
    }

    /// Returns the specifications that the model is told, in order. Loaded tools come last, so that the others keep
    /// their places.
    #[must_use]
    pub fn specs(&self) -> Vec<ToolSpec> {
        let state = self.shared.locked();
        let (told, rest): (Vec<&Known>, Vec<&Known>) = state.all().partition(|known| state.is_told(known));
        let loaded = rest.into_iter().filter(|known| state.loaded.contains(&known.spec.name));
        let search = state.search.iter().map(|(spec, _)| spec.clone());
        let told = told.into_iter().map(|known| known.spec.clone());
        told.chain(search).chain(loaded.map(|known| known.spec.clone())).collect()
    }

    /// Finds a tool by its exact name, also one the model was told only the name of.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<Arc<dyn Tool>> {
        let state = self.shared.locked();
        let search = state.search.iter().find(|(spec, _)| spec.name == name).map(|(_, tool)| tool);
        let tool = state.all().find(|known| known.spec.name == name).map(|known| &known.tool);
        search.or(tool).cloned()
    }

    /// Tells whether a server has a tool of this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.shared.locked().tools.iter().any(|known| known.spec.name == name)
    }

    /// Reads a resource of a server, trimmed for the model; a long one is kept whole in a file of `outputs`.
    ///
    /// # Cancel safety
    /// As [`Servers::call`].
    ///
    /// # Errors
    /// [`Failure`].
    pub async fn resource(&self, server: &str, uri: &str, outputs: &Path) -> Result<ToolOutput, Failure> {
        let answer = self.servers.read(server, uri).await?;
        Ok(told(answer, server, outputs))
    }

    /// Estimates the tokens that a server's tools cost a request if they are told in full.
    #[must_use]
    pub fn cost(&self, server: &str) -> u64 {
        let offered = self.servers.offered().into_iter().filter(|offered| offered.server == server);
        offered.map(|offered| cost(&ServerTool::new(offered, self.servers.clone()).spec())).sum()
    }
}

fn cost(spec: &ToolSpec) -> u64 {
    tokens::estimate(&spec.name)
        + tokens::estimate(&spec.description)
        + tokens::estimate(&spec.input_schema.to_string())
}
