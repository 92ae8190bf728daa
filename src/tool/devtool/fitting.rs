//! Which developer tools fit the work: by what the project is made of and by what the person says. Asks no model.

use std::collections::{BTreeSet, HashSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::find::Found;
use super::table::DevTool;
use crate::tool::Roots;

/// How deep members of a project are looked for below the working directory, and how many entries are looked at.
const DEPTH: usize = 2;
const MOST_ENTRIES: usize = 4_000;
/// Directories that hold other people's projects.
const FOREIGN: &[&str] = &["node_modules", "target", "vendor", "dist", "build", "__pycache__"];
/// Names of tools that are ordinary words: alone in a sentence they mean nothing.
const ORDINARY: &[&str] = &["make", "just", "go", "code", "node", "compose"];

/// Which tool a file is for, by the end of its name.
const ENDINGS: &[(&str, &str)] = &[
    ("rs", "cargo"),
    ("py", "python"),
    ("js", "node"),
    ("ts", "node"),
    ("go", "go"),
    ("cs", "dotnet"),
    ("csproj", "dotnet"),
    ("sln", "dotnet"),
    ("db", "sqlite"),
    ("sqlite", "sqlite"),
    ("json", "jq"),
];

/// Why a tool fits; the best reason first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reason {
    /// The person names it.
    Named,
    /// The nearest project is made with it, or a file of the message is.
    Project,
    /// A member of the project is.
    Member,
}

/// Finds the tools that fit, the best first. Looks at names of files only.
pub(super) fn fitting<'a>(found: &'a [Found], roots: &Roots, message: &str) -> Vec<&'a Found> {
    let words: BTreeSet<String> = words(message).map(str::to_lowercase).collect();
    let files: Vec<PathBuf> = message
        .split_whitespace()
        .filter_map(|word| word.strip_prefix('@'))
        .map(|path| {
            roots.resolve(path.trim_start_matches('"').trim_end_matches(['"', ',', '.', ':', ';', '?', '!']))
        })
        .collect();
    let near = |file: &Path| {
        let inside = file.ancestors().skip(1).take_while(|folder| folder.starts_with(&roots.workspace));
        inside.map(Path::to_owned).collect::<Vec<_>>()
    };
    let mut projects: BTreeSet<PathBuf> = files.iter().flat_map(|file| near(file)).collect();
    projects.extend(
        roots.cwd.ancestors().take_while(|folder| folder.starts_with(&roots.workspace)).map(Path::to_owned),
    );
    let members = in_members(&roots.cwd);
    let mut fits: Vec<(Reason, &Found)> = Vec::new();
    for found in found.iter().filter(|found| found.path.is_some() && !found.tool.actions.is_empty()) {
        let reason = if is_named(found.tool, &words) {
            Reason::Named
        } else if projects.iter().any(|folder| is_made_with(found.tool, folder))
            || files.iter().any(|file| ends_for(found.tool, file))
        {
            Reason::Project
        } else if found.tool.markers.iter().any(|marker| members.contains(OsStr::new(marker))) {
            Reason::Member
        } else {
            continue;
        };
        fits.push((reason, found));
    }
    // Of the same reason the table's order.
    fits.sort_by_key(|(reason, _)| *reason);
    fits.into_iter().map(|(_, found)| found).collect()
}

fn words(message: &str) -> impl Iterator<Item = &str> {
    let inside = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_');
    message.split(move |letter: char| !inside(letter)).filter(|word| !word.is_empty())
}

fn is_named(tool: &DevTool, words: &BTreeSet<String>) -> bool {
    std::iter::once(tool.id).chain(tool.candidates()).any(|name| !ORDINARY.contains(&name) && words.contains(name))
}

fn is_made_with(tool: &DevTool, folder: &Path) -> bool {
    tool.markers.iter().any(|marker| folder.join(marker).exists())
}

fn ends_for(tool: &DevTool, file: &Path) -> bool {
    let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    ENDINGS.iter().any(|(known, id)| *known == ending && *id == tool.id)
}

/// The names of what is in the directories below, some levels deep, without hidden directories and those of others.
fn in_members(root: &Path) -> HashSet<OsString> {
    let (mut names, mut looked, mut level) = (HashSet::new(), 0, vec![root.to_owned()]);
    for depth in 0..=DEPTH {
        let mut next = Vec::new();
        for folder in level {
            for entry in folder.read_dir().into_iter().flatten().flatten() {
                looked += 1;
                if looked > MOST_ENTRIES {
                    return names;
                }
                let name = entry.file_name();
                let foreign = name.to_str().is_none_or(|name| name.starts_with('.') || FOREIGN.contains(&name));
                if depth < DEPTH && !foreign && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    next.push(entry.path());
                }
                if depth > 0 {
                    names.insert(name);
                }
            }
        }
        next.sort();
        level = next;
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::devtool::TABLE;

    fn fit(files: &[&str], message: &str) -> Vec<&'static str> {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        std::fs::create_dir_all(folder.path().join("here")).unwrap();
        let here = |tool: &'static DevTool| Found { tool, path: Some("/usr/bin/x".into()), version: None };
        let found: Vec<Found> = TABLE.iter().filter(|tool| tool.id != "uv").map(here).collect();
        let workspace = folder.path().to_owned();
        let roots = Roots { cwd: workspace.join("here"), workspace, home: None };
        fitting(&found, &roots, message).into_iter().map(|found| found.tool.id).collect()
    }

    #[test]
    fn the_project_and_its_members_say_what_fits() {
        assert_eq!(fit(&[], "hello"), Vec::<&str>::new());
        assert_eq!(
            fit(&["Cargo.toml", "here/api/go.mod", "here/node_modules/x/package.json"], "hi"),
            ["cargo", "go"]
        );
        // Beside the project, and deeper than members are looked for.
        assert_eq!(fit(&["other/Makefile", "here/a/b/c/go.mod"], "hi"), Vec::<&str>::new());
        // It would fit, but is not here.
        assert_eq!(fit(&["uv.lock"], "use uv"), Vec::<&str>::new());
    }

    #[test]
    fn what_the_person_names_comes_first() {
        assert_eq!(fit(&["Cargo.toml"], "look at the Docker logs"), ["docker", "cargo"]);
        assert_eq!(fit(&[], "make it go, just so"), Vec::<&str>::new());
        assert_eq!(fit(&["other/web/package.json"], "see @../other/web/src/a.ts, please"), ["node", "npm"]);
        assert_eq!(fit(&[], "what is in @data.json?"), ["jq"]);
    }
}
