//! Where a call of git works: by the flags in front of its command, and by the variables that git obeys.

use super::super::super::known::Value;
use super::super::call::Call;
use crate::approval::Unparsed;
use crate::approval::program::lists;

/// Where a call of git works.
pub(super) struct GitPlace {
    /// How many words stand in front of the command.
    pub(super) command: usize,
    /// Why it is uncertain what runs.
    pub(super) doubt: Option<Unparsed>,
    /// The directory in which git runs (`-C`); `None` for the current one.
    directory: Option<Value>,
    tree: Tree,
}

/// Which work tree a call of git changes.
enum Tree {
    /// That of the repository in which it runs.
    Own,
    /// That at this directory.
    At(Value),
    /// The line does not tell.
    Unknown,
}

impl GitPlace {
    pub(super) fn of(call: &Call<'_, '_>) -> Self {
        let mut ground = Self { command: 0, doubt: None, directory: None, tree: Tree::Own };
        let named = |name: &String| lists::GIT_VARIABLES.iter().any(|mover| name.starts_with(mover));
        if call.state.variables.keys().chain(call.state.place.environment.keys()).any(named) {
            ground.tree = Tree::Unknown;
        }
        while let Some(field) = call.arguments.get(ground.command) {
            if field.value.chunks.is_empty() && field.value.had_empty {
                // An empty variable disappears from the words.
                ground.command += 1;
                continue;
            }
            let text = field.value.start();
            let next = || call.arguments.get(ground.command + 1).map(|field| field.value.clone());
            if text == "-C" {
                let value = next().unwrap_or_else(Value::unknown);
                ground.directory = Some(below(ground.directory.as_ref(), &value));
                ground.command += 2;
            } else if text == "-c" {
                let setting = next().and_then(|value| value.known()).unwrap_or_default();
                if !lists::GIT_SETTINGS.iter().any(|plain| setting.starts_with(plain)) {
                    ground.doubt = Some(Unparsed::Environment);
                    let key = setting.to_ascii_lowercase();
                    if key.is_empty() || key.starts_with("core.worktree") || key.starts_with("include") {
                        ground.tree = Tree::Unknown;
                    }
                }
                ground.command += 2;
            } else if lists::GIT_PLAIN.contains(text) {
                ground.command += 1;
            } else if let "--git-dir" | "--work-tree" | "--namespace" | "--config-env" | "--super-prefix" = text {
                let value = next().unwrap_or_else(Value::unknown);
                ground.doubt = Some(Unparsed::Environment);
                ground.moved(text, value);
                ground.command += 2;
            } else if text.starts_with('-') && !matches!(text, "--version" | "--help" | "-h" | "-v" | "--exec-path")
            {
                ground.doubt = Some(Unparsed::Environment);
                if let Some((flag, _)) = text.split_once('=') {
                    ground.moved(flag, field.value.without_start(flag.len() + 1));
                }
                ground.command += 1;
            } else {
                break;
            }
        }
        ground
    }

    fn moved(&mut self, flag: &str, value: Value) {
        match (flag, &self.tree) {
            ("--work-tree", Tree::Own | Tree::At(_)) => self.tree = Tree::At(value),
            ("--git-dir" | "--config-env", Tree::Own) | (_, Tree::Unknown) => self.tree = Tree::Unknown,
            (_, Tree::Own | Tree::At(_)) => {}
        }
    }

    /// Returns the whole work tree: the directory behind a link, not the link itself.
    pub(super) fn whole(&self) -> Value {
        let mut value = match &self.tree {
            Tree::Unknown => return Value::unknown(),
            Tree::At(tree) => below(self.directory.as_ref(), tree),
            Tree::Own => match &self.directory {
                None => return Value::text("."),
                Some(directory) => directory.clone(),
            },
        };
        value.push_text("/.");
        value
    }

    /// Returns the files that this word names.
    pub(super) fn path(&self, word: &Value) -> Value {
        let start = word.start();
        // A word that starts with a colon (pathspec magic) may name any of the files.
        match &self.tree {
            Tree::Own if !start.starts_with(':') => below(self.directory.as_ref(), word),
            Tree::Own | Tree::At(_) | Tree::Unknown => self.whole(),
        }
    }
}

/// Reads a path relative to a directory.
fn below(directory: Option<&Value>, value: &Value) -> Value {
    let Some(directory) = directory.filter(|_| !value.start().starts_with('/')) else { return value.clone() };
    let mut joined = directory.clone();
    joined.push_text("/");
    joined.append(value);
    joined
}
