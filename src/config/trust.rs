//! Whether a directory is trusted: settings that choose or run something hold only after the person has seen exactly these
//! bytes and agreed.
//!
//! Settings that only make axi stricter (rules that ask and deny, fewer steps) or only change looks need no trust.
//! Instructions (`AGENTS.md`) are text for the model and grant nothing.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};

use super::ConfigError;
use super::read::wants_trust;
use crate::file::{self, Outlives};

/// Folders of `.axi` whose files run, or are sent for the person.
const FOLDERS: &[&str] = &["commands", "hooks", "agents", "skills"];
/// The file of hooks beside them, and those of Claude Code that may have some.
const HOOKS: &str = "hooks.json";
const THEIR_SETTINGS: &[&str] = &[".claude/settings.json", ".claude/settings.local.json"];
/// The most files, and the most bytes of one file, that are read. Where there are more, the person is asked each time.
const MOST_FILES: usize = 500;
const LARGEST: u64 = 4 * 1024 * 1024;
/// Folders in folders deeper than this hold nothing that is loaded.
const DEEPEST: u32 = 3;

/// A file of a place, as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceFile {
    /// Where it is.
    pub path: PathBuf,
    /// What it says; bytes that are no UTF-8 are replaced.
    pub text: String,
}

/// The files of a place that are not the person's own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlaceFiles {
    root: PathBuf,
    /// `.axi/config.toml`, outermost folder first.
    settings: Vec<PlaceFile>,
    /// Everything that needs trust, settings among it.
    wanting: Vec<PlaceFile>,
    digest: String,
    /// What each of those says, by its path.
    each: BTreeMap<String, String>,
    /// Whether there are more files than were read: the person cannot agree to those.
    incomplete: bool,
}

/// What is known of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// There is nothing to trust.
    Nothing,
    /// The person said yes to these files.
    Trusted,
    /// The person said no to these files.
    Refused,
    /// Nobody was asked.
    Unknown,
    /// The files have changed since the person was asked.
    Changed,
}

impl PlaceFiles {
    /// Reads the files from `root` down to `directory`; `own` is the person's settings file, which is no place's.
    #[must_use]
    pub fn find(root: &Path, directory: &Path, own: Option<&Path>) -> Self {
        let mut folders: Vec<&Path> = directory.ancestors().take_while(|folder| folder.starts_with(root)).collect();
        folders.reverse();
        let mut files = Self { root: root.to_owned(), ..Self::default() };
        let mut context = Context::new(&SHA256);
        for folder in folders {
            let settings = folder.join(".axi/config.toml");
            if own != Some(settings.as_path())
                && let Some((bytes, whole)) = read(&settings)
            {
                files.incomplete |= !whole;
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let file = PlaceFile { path: settings.clone(), text };
                if wants_trust(&file.text) {
                    files.want(&mut context, file.clone(), &bytes);
                }
                files.settings.push(file);
            }
            let mut others = Vec::new();
            let axi = folder.join(".axi");
            // Most folders have no `.axi`: one system call tells.
            if axi.is_dir() && own.and_then(Path::parent) != Some(axi.as_path()) {
                for name in FOLDERS {
                    files.incomplete |= !collect(&axi.join(name), DEEPEST, &mut others);
                }
                others.push(axi.join(HOOKS));
            }
            for name in [".agents", ".claude"].map(|name| folder.join(name)) {
                if name.is_dir() {
                    if name.ends_with(".claude") {
                        others.extend(THEIR_SETTINGS.iter().map(|settings| folder.join(settings)));
                    }
                    files.incomplete |= !collect_skills(&name.join("skills"), &mut others);
                }
            }
            for path in others {
                if let Some((bytes, whole)) = read(&path) {
                    let text = String::from_utf8_lossy(&bytes).into_owned();
                    // axi takes only hooks from the settings of another agent.
                    let is_theirs = THEIR_SETTINGS.iter().any(|settings| path.ends_with(settings));
                    if is_theirs && !text.contains("\"hooks\"") {
                        continue;
                    }
                    files.incomplete |= !whole;
                    files.want(&mut context, PlaceFile { path, text }, &bytes);
                }
            }
        }
        files.digest = hexadecimal(context);
        files
    }

    fn want(&mut self, context: &mut Context, file: PlaceFile, bytes: &[u8]) {
        add(context, &file.path, bytes);
        let mut own = Context::new(&SHA256);
        own.update(bytes);
        self.each.insert(file.path.to_string_lossy().into_owned(), hexadecimal(own));
        self.wanting.push(file);
    }

    /// The project's settings, outermost first.
    pub(super) fn settings(&self) -> &[PlaceFile] {
        &self.settings
    }

    /// The files that choose or run something.
    #[must_use]
    pub fn wanting(&self) -> &[PlaceFile] {
        &self.wanting
    }

    /// Those with hooks, outermost first.
    pub fn hooks(&self) -> impl Iterator<Item = &PlaceFile> {
        self.wanting.iter().filter(|file| {
            let is_theirs = THEIR_SETTINGS.iter().any(|settings| file.path.ends_with(settings));
            is_theirs || file.path.ends_with(Path::new(".axi").join(HOOKS))
        })
    }

    /// The place's own directory.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }
}

fn hexadecimal(context: Context) -> String {
    context.finish().as_ref().iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Finds the files below; tells whether these are all.
fn collect(folder: &Path, depth: u32, files: &mut Vec<PathBuf>) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return true };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            if depth > 1 && !collect(&path, depth - 1, files) {
                return false;
            }
        } else if files.len() >= MOST_FILES {
            return false;
        } else {
            files.push(path);
        }
    }
    true
}

/// Finds what each skill of a folder says of itself; tells whether these are all.
fn collect_skills(folder: &Path, files: &mut Vec<PathBuf>) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path().join("SKILL.md")).collect();
    paths.retain(|path| path.is_file());
    paths.sort();
    let all = files.len() + paths.len() <= MOST_FILES;
    files.extend(paths.into_iter().take(MOST_FILES.saturating_sub(files.len())));
    all
}

/// Reads a regular file, and tells whether that is all of it; `None` where there is none.
fn read(path: &Path) -> Option<(Vec<u8>, bool)> {
    // A pipe or a device would be waited for.
    std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let mut bytes = Vec::new();
    let mut file = std::fs::File::open(path).ok()?.take(LARGEST);
    file.read_to_end(&mut bytes).ok()?;
    let whole = file.into_inner().read(&mut [0]).ok()? == 0;
    Some((bytes, whole))
}

/// Adds a file so that neither names nor contents can be shifted into each other.
fn add(context: &mut Context, path: &Path, bytes: &[u8]) {
    let name = path.as_os_str().as_encoded_bytes();
    for part in [name, bytes] {
        context.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        context.update(part);
    }
}

/// What the person said of places before; a file of the user's state directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustStore {
    path: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Said {
    digest: String,
    trusted: bool,
    /// What each file said; an older axi kept only the digest of all.
    #[serde(default)]
    each: BTreeMap<String, String>,
}

impl Said {
    /// Tells whether each of the files was there when this was said, and is as it was: one that is gone since takes
    /// nothing back.
    fn covers(&self, files: &PlaceFiles) -> bool {
        self.digest == files.digest || files.each.iter().all(|file| self.each.get(file.0) == Some(file.1))
    }
}

impl TrustStore {
    /// Looks at `path`, which need not exist.
    #[must_use]
    pub const fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Tells what is known of a place with these files.
    #[must_use]
    pub fn standing(&self, files: &PlaceFiles) -> Trust {
        if files.wanting.is_empty() {
            return Trust::Nothing;
        }
        match self.read().get(&files.root.to_string_lossy().into_owned()) {
            Some(said) if said.covers(files) && said.trusted && files.incomplete => Trust::Unknown,
            Some(said) if said.covers(files) && said.trusted => Trust::Trusted,
            Some(said) if said.covers(files) => Trust::Refused,
            Some(_) => Trust::Changed,
            None => Trust::Unknown,
        }
    }

    /// Remembers what the person said of these files.
    ///
    /// # Errors
    /// [`ConfigError::Io`] when the file cannot be written: then it is asked again.
    pub fn remember(&self, files: &PlaceFiles, trusted: bool) -> Result<(), ConfigError> {
        let mut places = self.read();
        let said = Said { digest: files.digest.clone(), trusted, each: files.each.clone() };
        places.insert(files.root.to_string_lossy().into_owned(), said);
        self.write(&places).map_err(|cause| ConfigError::Io { path: self.path.clone(), cause })
    }

    /// A file that cannot be read or understood trusts nothing.
    fn read(&self) -> BTreeMap<String, Said> {
        file::read_json(&self.path)
    }

    fn write(&self, places: &BTreeMap<String, Said>) -> std::io::Result<()> {
        file::replace(&self.path, &serde_json::to_vec_pretty(places)?, Outlives::PowerCut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn wanting(root: &Path) -> Vec<PathBuf> {
        PlaceFiles::find(root, root, None).wanting.into_iter().map(|file| file.path).collect()
    }

    #[test]
    fn what_chooses_or_runs_wants_trust_and_what_tightens_does_not() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path();
        assert_eq!(wanting(root), Vec::<PathBuf>::new());
        let settings = root.join(".axi/config.toml");
        write(&settings, "language = \"en\"\nmax_steps = 3\n[permissions]\ndeny = [\"shell(rm:*)\"]\n");
        assert_eq!(wanting(root), Vec::<PathBuf>::new());
        for line in ["model = \"a/b\"", "[providers.x]\nbase_url = \"http://x\"", "[hooks]\na = \"b\"", "not toml"]
        {
            write(&settings, line);
            assert_eq!(wanting(root), std::slice::from_ref(&settings), "{line}");
        }
        std::fs::remove_file(&settings).unwrap();
        for name in [
            ".axi/agents/a.md",
            ".agents/skills/x/SKILL.md",
            ".claude/skills/x/SKILL.md",
            ".axi/commands/a.md",
            ".axi/commands/deep/b.md",
            ".axi/hooks/c",
            ".axi/hooks.json",
        ] {
            write(&root.join(name), "x");
            assert_eq!(wanting(root), [root.join(name)], "{name}");
            std::fs::remove_file(root.join(name)).unwrap();
        }
        for (text, wants) in [("{\"model\": \"x\"}", None), ("{\"hooks\": {}}", Some("{\"hooks\": {}}"))] {
            write(&root.join(".claude/settings.json"), text);
            let files = PlaceFiles::find(root, root, None);
            assert_eq!(files.hooks().map(|file| file.text.as_str()).collect::<Vec<_>>(), Vec::from_iter(wants));
            assert_eq!(files.wanting.len(), usize::from(wants.is_some()));
        }
    }

    #[test]
    fn a_yes_is_for_these_bytes_under_these_names_in_this_place() {
        let (place, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let root = place.path();
        let store = TrustStore::new(state.path().join("deep/trust.json"));
        let standing = || store.standing(&PlaceFiles::find(root, root, None));
        assert_eq!(standing(), Trust::Nothing);
        write(&root.join(".axi/hooks/a"), "{}");
        assert_eq!(standing(), Trust::Unknown);
        store.remember(&PlaceFiles::find(root, root, None), true).unwrap();
        assert_eq!(standing(), Trust::Trusted);
        // What is gone leaves the rest as it was agreed to.
        write(&root.join(".axi/hooks/b"), "b");
        assert_eq!(standing(), Trust::Changed);
        store.remember(&PlaceFiles::find(root, root, None), true).unwrap();
        std::fs::remove_file(root.join(".axi/hooks/b")).unwrap();
        assert_eq!(standing(), Trust::Trusted);
        write(&root.join(".axi/hooks/b"), "other");
        assert_eq!(standing(), Trust::Changed);
        std::fs::remove_file(root.join(".axi/hooks/b")).unwrap();
        write(&root.join(".axi/hooks/a"), "{ }");
        assert_eq!(standing(), Trust::Changed);
        store.remember(&PlaceFiles::find(root, root, None), false).unwrap();
        assert_eq!(standing(), Trust::Refused);
        write(&root.join(".axi/commands/new.md"), "x");
        assert_eq!(standing(), Trust::Changed);
        let other = PlaceFiles { root: "/elsewhere".into(), ..PlaceFiles::find(root, root, None) };
        assert_eq!(store.standing(&other), Trust::Unknown);
        write(&state.path().join("deep/trust.json"), "damaged");
        assert_eq!(standing(), Trust::Unknown);
    }

    #[test]
    fn a_place_with_more_than_is_looked_at_is_asked_about_each_time() {
        let (place, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let root = place.path();
        let store = TrustStore::new(state.path().join("trust.json"));
        let agreed = || {
            store.remember(&PlaceFiles::find(root, root, None), true).unwrap();
            store.standing(&PlaceFiles::find(root, root, None))
        };
        let large = root.join(".axi/hooks/large");
        write(&large, "x");
        let file = std::fs::File::options().write(true).open(&large).unwrap();
        file.set_len(LARGEST).unwrap();
        assert_eq!(agreed(), Trust::Trusted);
        file.set_len(LARGEST + 1).unwrap();
        assert_eq!(agreed(), Trust::Unknown);
        std::fs::remove_file(large).unwrap();
        for number in 0..MOST_FILES {
            write(&root.join(format!(".axi/commands/{number}.md")), "x");
        }
        assert_eq!(agreed(), Trust::Trusted);
        write(&root.join(".axi/skills/last"), "x");
        assert_eq!(agreed(), Trust::Unknown);
    }
}
