//! Which servers of projects the person agreed to; a file of the state directory, 0600.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::definition::Definition;
use crate::file::{self, Outlives};

/// What the person said of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agreed {
    /// Yes.
    Yes,
    /// No.
    No,
    /// Nobody asked yet, or it was another command then.
    Unknown,
}

/// What was said, by the project's directory and the definition's digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgreedStore {
    path: PathBuf,
    root: PathBuf,
}

type Said = BTreeMap<String, BTreeMap<String, bool>>;

impl AgreedStore {
    /// Keeps it at `path`, of the project in `root`.
    #[must_use]
    pub const fn new(path: PathBuf, root: PathBuf) -> Self {
        Self { path, root }
    }

    /// Tells what was said of a server. A file that cannot be read or understood agrees to nothing.
    #[must_use]
    pub fn of(&self, definition: &Definition) -> Agreed {
        if !definition.of_project {
            return Agreed::Yes;
        }
        match self.read().get(&self.project()).and_then(|said| said.get(&definition.digest())) {
            Some(true) => Agreed::Yes,
            Some(false) => Agreed::No,
            None => Agreed::Unknown,
        }
    }

    /// Remembers what was said.
    ///
    /// # Errors
    /// What the file system said: then it is asked again.
    pub fn remember(&self, definition: &Definition, yes: bool) -> std::io::Result<()> {
        let mut said = self.read();
        said.entry(self.project()).or_default().insert(definition.digest(), yes);
        file::replace(&self.path, &serde_json::to_vec_pretty(&said)?, Outlives::PowerCut)
    }

    fn project(&self) -> String {
        self.root.to_string_lossy().into_owned()
    }

    fn read(&self) -> Said {
        file::read_json(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::read_project;

    #[test]
    fn a_yes_is_to_this_command_in_this_project() {
        let folder = tempfile::tempdir().unwrap();
        let store = |root: &str| AgreedStore::new(folder.path().join("deep/mcp.json"), PathBuf::from(root));
        let server = |command: &str| {
            let text = format!(r#"{{"mcpServers": {{"a": {{"command": "{command}"}}}}}}"#);
            read_project(&text).found.remove(0)
        };
        assert_eq!(store("/a").of(&server("x")), Agreed::Unknown);
        store("/a").remember(&server("x"), true).unwrap();
        store("/a").remember(&server("y"), false).unwrap();
        assert_eq!(store("/a").of(&server("x")), Agreed::Yes);
        assert_eq!(store("/a").of(&server("y")), Agreed::No);
        assert_eq!(store("/a").of(&server("x z")), Agreed::Unknown);
        assert_eq!(store("/b").of(&server("x")), Agreed::Unknown);
        std::fs::write(folder.path().join("deep/mcp.json"), "{").unwrap();
        assert_eq!(store("/a").of(&server("x")), Agreed::Unknown);
        let own = Definition { of_project: false, ..server("x") };
        assert_eq!(store("/a").of(&own), Agreed::Yes);
    }
}
