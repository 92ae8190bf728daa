//! The developer tools that are looked for: what a row says. The rows stand in `tools.json`, which the build lays out.

use serde_json::{Map, Value};

use super::template::{self, Parameter, TemplateError};
use crate::conversation::Effect;

/// What a tool is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Category {
    /// Version control, and the services around it.
    Versions,
    /// JavaScript and TypeScript.
    JavaScript,
    /// Python.
    Python,
    /// Java and its relatives.
    Java,
    /// .NET.
    DotNet,
    /// Rust.
    Rust,
    /// Go.
    Go,
    /// Builds of any language.
    Build,
    /// Containers and clusters.
    Containers,
    /// Databases.
    Databases,
    /// Text and data.
    Text,
    /// Editors and shells.
    Editors,
}

impl Category {
    /// Every category with its word in JSON, in the order they are shown.
    pub const ALL: [(Self, &'static str); 12] = [
        (Self::Versions, "versions"),
        (Self::JavaScript, "javascript"),
        (Self::Python, "python"),
        (Self::Java, "java"),
        (Self::DotNet, "dotnet"),
        (Self::Rust, "rust"),
        (Self::Go, "go"),
        (Self::Build, "build"),
        (Self::Containers, "containers"),
        (Self::Databases, "databases"),
        (Self::Text, "text"),
        (Self::Editors, "editors"),
    ];

    /// Returns the word of JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(category, _)| *category == self).map_or("", |(_, word)| word)
    }
}

/// A developer tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DevTool {
    /// Its name here, unique.
    pub id: &'static str,
    /// What it is for.
    pub category: Category,
    /// The programs it may be, the first that is found; `~/…` is a file below the home.
    pub programs: &'static [&'static str],
    /// What makes it say its version; nothing where asking would open a window.
    pub version: &'static str,
    /// What installs it: the name of its package where most package managers agree, or an address.
    pub package: &'static str,
    /// Where managers have another name for it: manager and package.
    pub packages: &'static [(&'static str, &'static str)],
    /// Files of a project that speak for it.
    pub markers: &'static [&'static str],
    /// What it can be asked.
    pub actions: &'static [Action],
}

/// Something a tool can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Action {
    /// Its name, unique among the tool's.
    pub name: &'static str,
    /// What it would touch.
    pub effect: Effect,
    /// What runs; see the room's `template`.
    pub runs: &'static str,
}

impl Action {
    /// Returns its parameters, in order.
    #[must_use]
    pub fn parameters(&self) -> Vec<Parameter> {
        template::parameters(self.runs)
    }

    /// Shows what runs, its parameters in capitals.
    #[must_use]
    pub fn shown(&self) -> String {
        template::shown(self.runs)
    }

    /// Makes the program and its arguments.
    ///
    /// # Errors
    /// What of the values does not fit.
    pub fn arguments(&self, given: &Map<String, Value>) -> Result<Vec<String>, TemplateError> {
        template::arguments(self.runs, given)
    }
}

impl DevTool {
    /// Returns the programs it may be.
    pub fn candidates(&self) -> impl Iterator<Item = &'static str> {
        let own = self.programs.is_empty().then_some(self.id);
        own.into_iter().chain(self.programs.iter().copied())
    }

    /// Says how this system would install it: a command, or an address.
    #[must_use]
    pub fn install(&self, manager: Option<&str>) -> String {
        if self.package.contains('.') {
            return format!("https://{}", self.package);
        }
        let Some(manager) = manager else { return format!("https://repology.org/project/{}", self.package) };
        let own = self.packages.iter().find(|(name, _)| *name == manager);
        let package = own.map_or(self.package, |(_, package)| package);
        match manager {
            "pacman" => format!("pacman -S {package}"),
            "apk" => format!("apk add {package}"),
            other => format!("{other} install {package}"),
        }
    }
}

/// Every tool that is looked for.
pub const TABLE: &[DevTool] = include!(concat!(env!("OUT_DIR"), "/dev_tools.rs"));

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
