//! What a project can be asked by name: the scripts of its files, from the working directory up to the workspace. The
//! nearest file of a kind counts. Read as text; nothing of it is run.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::tool::Roots;

/// The most of a file that is read, in bytes.
const LARGEST: u64 = 1024 * 1024;
/// Scripts of a file at most.
const MOST: usize = 100;
/// The longest name, in bytes.
const LONGEST: usize = 80;

/// A script of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// Its name.
    pub name: String,
    /// The file it stands in.
    pub file: PathBuf,
    /// The program and its arguments.
    pub runs: Vec<String>,
}

/// Reads the scripts of one kind of file: its text, and which files stand beside it.
type Reader = fn(&str, &dyn Fn(&str) -> bool) -> Vec<(String, Vec<String>)>;

/// The files that hold scripts, and who reads them.
const FILES: &[(&[&str], Reader)] = &[
    (&["package.json"], package_json),
    (&["GNUmakefile", "makefile", "Makefile"], makefile),
    (&["justfile", "Justfile", ".justfile"], justfile),
    (&["pyproject.toml"], pyproject),
    (&[".cargo/config.toml"], cargo_aliases),
];

/// Finds the scripts of the project around a place.
#[must_use]
pub fn scripts(roots: &Roots) -> Vec<Script> {
    let folders = || roots.cwd.ancestors().take_while(|folder| folder.starts_with(&roots.workspace));
    let mut found = Vec::new();
    for (names, read) in FILES {
        let nearest = folders().find_map(|folder| {
            let file = names.iter().map(|name| folder.join(name)).find_map(|file| Some((text_of(&file)?, file)));
            file.map(|(text, file)| (folder, text, file))
        });
        let Some((folder, text, file)) = nearest else { continue };
        let beside = |name: &str| folder.join(name).exists();
        let listed = read(&text, &beside).into_iter().filter(|(name, _)| is_name(name)).take(MOST);
        found.extend(listed.map(|(name, runs)| Script { name, file: file.clone(), runs }));
    }
    found
}

fn text_of(file: &Path) -> Option<String> {
    let metadata = file.metadata().ok()?;
    (metadata.is_file() && metadata.len() <= LARGEST).then(|| std::fs::read_to_string(file).ok()).flatten()
}

/// Whether a name can be said and typed, and is no option.
fn is_name(name: &str) -> bool {
    let plain = |character: char| character.is_alphanumeric() || "-_.:/@+".contains(character);
    !name.is_empty() && name.len() <= LONGEST && !name.starts_with('-') && name.chars().all(plain)
}

fn run(program: &[&str], name: &str) -> (String, Vec<String>) {
    let words = program.iter().copied().chain([name]).map(str::to_owned);
    (name.to_owned(), words.collect())
}

fn package_json(text: &str, beside: &dyn Fn(&str) -> bool) -> Vec<(String, Vec<String>)> {
    let Ok(package) = serde_json::from_str::<Value>(text.trim_start_matches('\u{feff}')) else { return Vec::new() };
    let manager = match () {
        () if beside("pnpm-lock.yaml") => "pnpm",
        () if beside("yarn.lock") => "yarn",
        () if beside("bun.lock") || beside("bun.lockb") => "bun",
        () => "npm",
    };
    let names = package["scripts"].as_object().into_iter().flatten().map(|(name, _)| name);
    names.map(|name| run(&[manager, "run"], name)).collect()
}

/// Targets that are names, but for those of make itself and patterns.
fn makefile(text: &str, _: &dyn Fn(&str) -> bool) -> Vec<(String, Vec<String>)> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with(['\t', ' ', '#', '.'])) {
        let Some((names, after)) = line.split_once(':') else { continue };
        if after.starts_with('=') || after.starts_with(":=") || names.contains(['=', '$', '%', '(']) {
            continue;
        }
        for name in names.split_whitespace() {
            if found.iter().all(|(known, _)| known != name) {
                found.push(run(&["make"], name));
            }
        }
    }
    found
}

/// Recipes, but for private ones.
fn justfile(text: &str, _: &dyn Fn(&str) -> bool) -> Vec<(String, Vec<String>)> {
    let recipe = |line: &str| {
        let (head, after) = line.trim_start_matches('@').split_once(':')?;
        let name = head.split_whitespace().next()?;
        let named = |character: char| character.is_ascii_alphanumeric() || "-_".contains(character);
        let is_recipe = !after.starts_with('=') && !name.starts_with('_') && name.chars().all(named);
        (is_recipe && !matches!(name, "set" | "alias" | "export" | "import" | "mod")).then(|| run(&["just"], name))
    };
    text.lines().filter(|line| !line.starts_with(['\t', ' ', '#', '['])).filter_map(recipe).collect()
}

fn pyproject(text: &str, beside: &dyn Fn(&str) -> bool) -> Vec<(String, Vec<String>)> {
    let Ok(document) = text.parse::<toml_edit::DocumentMut>() else { return Vec::new() };
    let runner: &[&str] = match () {
        () if beside("uv.lock") => &["uv", "run"],
        () if beside("poetry.lock") => &["poetry", "run"],
        () => &[],
    };
    let tables: [(&[&str], &[&str]); 5] = [
        (&["project", "scripts"], runner),
        (&["tool", "poetry", "scripts"], &["poetry", "run"]),
        (&["tool", "poe", "tasks"], &["poe"]),
        (&["tool", "pdm", "scripts"], &["pdm", "run"]),
        (&["tool", "hatch", "envs", "default", "scripts"], &["hatch", "run"]),
    ];
    let mut found = Vec::new();
    for (path, runner) in tables {
        let table = path.iter().try_fold(document.as_item(), |item, key| item.get(key));
        let keys = table.and_then(toml_edit::Item::as_table_like).into_iter().flat_map(|table| table.iter());
        found.extend(keys.map(|(name, _)| run(runner, name)));
    }
    found
}

fn cargo_aliases(text: &str, _: &dyn Fn(&str) -> bool) -> Vec<(String, Vec<String>)> {
    let Ok(document) = text.parse::<toml_edit::DocumentMut>() else { return Vec::new() };
    let table = document.get("alias").and_then(toml_edit::Item::as_table_like);
    table.into_iter().flat_map(|table| table.iter()).map(|(name, _)| run(&["cargo"], name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join("work").join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let workspace = folder.path().join("work");
        let roots = Roots { cwd: workspace.join("deep/er"), workspace, home: None };
        scripts(&roots).into_iter().map(|script| format!("{}: {}", script.name, script.runs.join(" "))).collect()
    }

    #[test]
    fn scripts_are_read_from_the_nearest_file_of_each_kind() {
        let files = [
            ("package.json", r#"{"scripts": {"build": "tsc", "far": "x"}}"#),
            ("deep/package.json", r#"{"scripts": {"test": "vitest", "-x": "no", "a b": "no"}}"#),
            ("deep/pnpm-lock.yaml", ""),
            ("Makefile", "CC := gcc\nall: a.o b.o\n\tcc\n.PHONY: all\n%.o: %.c\nclean test:\n\trm\nX=a:b\n"),
            ("justfile", "set shell := ['bash']\nx := 'y'\n@lint file='a': build\n  echo\n_private:\nbuild:\n"),
            ("pyproject.toml", "[project.scripts]\nserve = 'a:b'\n[tool.poe.tasks]\nfmt = 'ruff'\n"),
            ("uv.lock", ""),
            (".cargo/config.toml", "[alias]\nxt = 'nextest run'\n"),
        ];
        let expected = [
            "test: pnpm run test",
            "all: make all",
            "clean: make clean",
            "test: make test",
            "lint: just lint",
            "build: just build",
            "serve: uv run serve",
            "fmt: poe fmt",
            "xt: cargo xt",
        ];
        assert_eq!(found(&files), expected);
    }

    #[test]
    fn files_that_nobody_can_read_have_no_scripts() {
        let files =
            [("package.json", "{"), ("pyproject.toml", "[["), (".cargo/config.toml", "= 1"), ("Makefile", "\u{0}")];
        assert_eq!(found(&files), Vec::<String>::new());
    }
}
