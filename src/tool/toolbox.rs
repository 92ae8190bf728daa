//! The tools of one run, found by name.

use std::sync::Arc;

use crate::conversation::{ToolCall, ToolIdentity, ToolSpec};

use super::contract::{Request, Tool};
use super::devtool::DevTools;
use super::mcp::ServerTools;
use super::roots::Roots;
use crate::mcp::{Servers, Trouble};

/// The tools of a run, in the order the model is told about them.
#[derive(Clone, Default)]
pub struct Toolbox {
    tools: Vec<(ToolSpec, Option<Arc<dyn Tool>>)>,
    /// Those of servers, which may change from turn to turn, and developer tools, of which each conversation has its own.
    servers: Option<ServerTools>,
    /// What looks for developer tools.
    dev_tools: Option<DevTools>,
}

/// A call, found and read; made once, where the call enters.
pub enum ReadCall {
    /// Its arguments are no JSON.
    NoJson,
    /// There is no such tool, or somebody else runs it.
    NoTool,
    /// It was read.
    Read {
        /// Its tool.
        tool: Arc<dyn Tool>,
        /// What knows all else about it.
        request: Arc<dyn Request>,
    },
}

impl ReadCall {
    /// Returns what was read.
    #[must_use]
    pub const fn request(&self) -> Option<&Arc<dyn Request>> {
        match self {
            Self::NoJson | Self::NoTool => None,
            Self::Read { request, .. } => Some(request),
        }
    }
}

impl Toolbox {
    /// Makes a toolbox; the specifications are asked for once, so that their bytes never change.
    #[must_use]
    pub fn new(tools: Vec<Arc<dyn Tool>>) -> Self {
        let tools = tools.into_iter().map(|tool| (tool.spec(), Some(tool))).collect();
        Self { tools, servers: None, dev_tools: None }
    }

    /// Adds a tool that somebody else runs: the model is told of it, and nothing is found by its name.
    pub fn declare(&mut self, spec: ToolSpec) {
        self.tools.push((spec, None));
    }

    /// Adds the tools of servers.
    pub fn add_servers(&mut self, servers: ServerTools) {
        self.servers = Some(servers);
    }

    /// Adds the developer tools that fit the work.
    pub fn add_dev_tools(&mut self, dev_tools: DevTools) {
        self.dev_tools = Some(dev_tools);
        self.servers.get_or_insert_with(|| ServerTools::new(Servers::none()));
    }

    /// Returns the tools of servers, if there can be any.
    #[must_use]
    pub fn servers(&self) -> Option<&ServerTools> {
        self.servers.as_ref().filter(|tools| !tools.servers().is_empty())
    }

    /// Takes over what servers offer by now, and at the first message of a conversation the developer tools that fit;
    /// returns what is wrong with some. `window` is the model's, in tokens.
    pub fn begin_turn(&self, window: Option<u64>, roots: &Roots, message: &str) -> Vec<Trouble> {
        let Some(servers) = &self.servers else { return Vec::new() };
        if let Some(dev_tools) = &self.dev_tools {
            servers.take_own(|| dev_tools.offered(roots, message));
        }
        servers.begin_turn(window)
    }

    /// Another conversation begins.
    pub fn forget(&self) {
        if let Some(servers) = &self.servers {
            servers.forget_own();
        }
    }

    /// Returns the specifications, in order.
    #[must_use]
    pub fn specs(&self) -> Vec<ToolSpec> {
        let own = self.tools.iter().map(|(spec, _)| spec.clone());
        own.chain(self.servers.iter().flat_map(ServerTools::specs)).collect()
    }

    /// Makes a toolbox of those that a sub-agent may call.
    #[must_use]
    pub fn for_sub_agents(&self) -> Self {
        let kept = self.tools.iter().filter(|(spec, _)| spec.identity.for_sub_agents);
        Self { tools: kept.cloned().collect(), servers: None, dev_tools: None }
    }

    /// Finds a tool by its exact name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<Arc<dyn Tool>> {
        match self.tools.iter().find(|(spec, _)| spec.name == name) {
            Some((_, tool)) => tool.clone(),
            None => self.servers.as_ref()?.find(name),
        }
    }

    /// Finds the tool of a call and has it read the arguments.
    #[must_use]
    pub fn read(&self, call: &ToolCall, roots: &Roots) -> ReadCall {
        if call.invalid_input.is_some() {
            return ReadCall::NoJson;
        }
        let Some(tool) = self.find(&call.name) else { return ReadCall::NoTool };
        let request = tool.read(&call.input, roots);
        ReadCall::Read { tool, request }
    }

    /// Tells whether a tool of this name is a server's.
    #[must_use]
    pub fn is_of_server(&self, name: &str) -> bool {
        let own = self.tools.iter().any(|(spec, _)| spec.name == name);
        !own && self.servers.as_ref().is_some_and(|servers| servers.has(name))
    }

    /// Tells what is known of the tool of this name; of one that is not here, nothing.
    #[must_use]
    pub fn identity(&self, name: &str) -> ToolIdentity {
        let own = self.tools.iter().find(|(spec, _)| spec.name == name).map(|(spec, _)| spec.identity);
        let found = || self.servers.as_ref()?.find(name).map(|tool| tool.spec().identity);
        own.or_else(found).unwrap_or_default()
    }
}
