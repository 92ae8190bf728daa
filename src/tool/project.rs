//! Where a project's commands belong, and what was set up already. Pure: the disk is asked through a function.
//!
//! `cargo test` beside the directory that `cargo new` has just made means that directory, and `cargo new` a second time
//! can only fail. Only lines that are certainly understood are touched; everything else runs as it stands.

use std::path::{Path, PathBuf};

use super::project_table::{FILTERS, HARMLESS, KINDS, Kind, PLACED, SCAFFOLDS, Scaffold};

/// Something that was set up in this session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Made {
    words: Vec<String>,
    /// Where it was run.
    from: PathBuf,
    /// The project's directory.
    pub(super) directory: PathBuf,
    /// What shows that it is still there.
    pub(super) evidence: PathBuf,
}

impl Made {
    /// The command, as it is read.
    pub(super) fn line(&self) -> String {
        self.words.join(" ")
    }
}

/// Tells whether a file marks a project's directory.
pub(super) fn is_marker(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| KINDS.iter().any(|kind| kind.markers.contains(&name)))
}

/// What is known when a line is judged.
pub(super) struct Known<'a> {
    /// Where it would run.
    pub(super) directory: &'a Path,
    /// The highest directory that may be meant.
    pub(super) workspace: &'a Path,
    /// What was set up in this session, the oldest first.
    pub(super) made: &'a [Made],
    /// Directories with a project's file that the model has read or written.
    pub(super) seen: &'a [PathBuf],
    /// Tells whether there is something of this name.
    pub(super) exists: &'a dyn Fn(&Path) -> bool,
}

/// Where a line belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Belongs {
    /// Where the line would run, or that nobody knows.
    Here,
    /// There: the project's file of this name is there and not here.
    There { directory: PathBuf, marker: &'static str },
    /// In one of these, and it cannot run here.
    OneOf { directories: Vec<PathBuf>, marker: &'static str },
}

/// Finds a command of the lines that has set something up before which is still there. The second value tells whether
/// the line is nothing but that.
pub(super) fn already<'a>(lines: &[String], known: &Known<'a>) -> Option<(&'a Made, bool)> {
    let [line] = lines else { return None };
    let steps = steps(line, known.directory)?;
    let done = |(words, from): &(Vec<String>, PathBuf)| {
        known.made.iter().find(|made| made.words == *words && made.from == *from && (known.exists)(&made.evidence))
    };
    steps.iter().find_map(done).map(|made| (made, steps.len() == 1))
}

/// Says what lines that went well have set up.
pub(super) fn made(lines: &[String], directory: &Path, exists: &dyn Fn(&Path) -> bool) -> Vec<Made> {
    let steps = lines.iter().filter_map(|line| steps(line, directory)).flatten();
    steps.filter_map(|(words, from)| set_up(&words, &from, exists)).collect()
}

fn set_up(words: &[String], from: &Path, exists: &dyn Fn(&Path) -> bool) -> Option<Made> {
    let scaffold = scaffold(words)?;
    let named = words
        .iter()
        .skip(1)
        .rev()
        .filter(|word| !word.starts_with('-') && !scaffold.verbs.contains(&word.as_str()));
    // A repository's address ends in the name of what it becomes.
    let last = |word: &'_ String| {
        word.trim_end_matches('/').rsplit('/').next().unwrap_or_default().trim_end_matches(".git").to_owned()
    };
    let candidates = named.flat_map(|word| [from.join(word), from.join(last(word))]).chain([from.to_path_buf()]);
    let evidence = |directory: &Path| {
        let markers = scaffold.evidence.iter().copied().chain(KINDS.iter().flat_map(|kind| kind.markers).copied());
        markers.map(|marker| directory.join(marker)).find(|path| exists(path))
    };
    candidates.into_iter().find_map(|directory| {
        let evidence = evidence(&directory)?;
        Some(Made { words: words.to_vec(), from: from.to_path_buf(), directory, evidence })
    })
}

fn scaffold(words: &[String]) -> Option<&'static Scaffold> {
    let program = words.first()?;
    let rest = || words[1..].iter().map(String::as_str).filter(|word| !word.starts_with('-'));
    SCAFFOLDS.iter().find(|row| {
        row.programs.contains(&program.as_str())
            && match row.verbs {
                [] => true,
                // `npx create-vite@latest`: any package that is named so.
                ["create-*"] => rest()
                    .next()
                    .is_some_and(|name| name.rsplit('/').next().is_some_and(|name| name.starts_with("create"))),
                verbs => {
                    let said: Vec<&str> = rest().take(verbs[0].split(' ').count()).collect();
                    verbs.contains(&said.join(" ").as_str())
                }
            }
    })
}

/// Finds where lines belong: only where every command of each is one of the same project.
pub(super) fn belongs(lines: &[String], known: &Known<'_>) -> Belongs {
    let mut all: Option<Belongs> = None;
    for line in lines {
        let Some(commands) = commands(line) else { return Belongs::Here };
        for command in &commands {
            if is_aside(command, known) {
                continue;
            }
            let place = of_command(&command.words, known);
            if place == Belongs::Here || all.as_ref().is_some_and(|other| *other != place) {
                return Belongs::Here;
            }
            all = Some(place);
        }
    }
    all.unwrap_or(Belongs::Here)
}

/// Tells whether a command does the same wherever it runs.
fn is_aside(command: &Command, known: &Known<'_>) -> bool {
    let names = if command.piped { FILTERS } else { HARMLESS };
    let program = command.words.first().map(String::as_str).unwrap_or_default();
    names.contains(&program) && !names_something_here(&command.words[1..], known)
}

fn of_command(words: &[String], known: &Known<'_>) -> Belongs {
    let Some((program, rest)) = words.split_first() else { return Belongs::Here };
    let is_place = |word: &String| PLACED.contains(&word.split('=').next().unwrap_or_default());
    let verb = rest.iter().find(|word| !word.starts_with(['-', '+'])).map(String::as_str);
    let is_kind = |kind: &&Kind| {
        kind.programs.contains(&program.as_str())
            && (kind.verbs.is_empty() || verb.is_some_and(|verb| kind.verbs.contains(&verb)))
    };
    let Some(kind) = KINDS.iter().find(is_kind).filter(|_| !rest.iter().any(is_place)) else {
        return Belongs::Here;
    };
    let marker_in =
        |directory: &Path| kind.markers.iter().copied().find(|marker| (known.exists)(&directory.join(marker)));
    let given = rest.iter().filter(|word| kind.verbs.is_empty() || Some(word.as_str()) != verb).cloned();
    if marker_in(known.directory).is_some() || names_something_here(&given.collect::<Vec<_>>(), known) {
        return Belongs::Here;
    }
    let above = known.directory.ancestors().skip(1);
    if kind.climbs {
        if above.into_iter().any(|directory| marker_in(directory).is_some()) {
            return Belongs::Here;
        }
    } else {
        let inside = above.take_while(|directory| directory.starts_with(known.workspace));
        let nearest = inside.into_iter().find_map(|directory| Some((directory, marker_in(directory)?)));
        if let Some((directory, marker)) = nearest {
            return Belongs::There { directory: directory.to_path_buf(), marker };
        }
    }
    among(kind, known, &marker_in)
}

/// Finds the one project below that the session knows.
fn among(kind: &Kind, known: &Known<'_>, marker_in: &dyn Fn(&Path) -> Option<&'static str>) -> Belongs {
    let mut directories: Vec<PathBuf> =
        known.made.iter().map(|made| &made.directory).chain(known.seen).cloned().collect();
    directories.retain(|directory| {
        directory.starts_with(known.workspace) && directory != known.directory && marker_in(directory).is_some()
    });
    directories.sort();
    directories.dedup();
    // Of a project within a project the outer one is the root.
    let outer = directories.clone();
    directories.retain(|inner| !outer.iter().any(|other| other != inner && inner.starts_with(other)));
    let Some(marker) = directories.first().and_then(|directory| marker_in(directory)) else { return Belongs::Here };
    match directories.len() {
        1 => Belongs::There { directory: directories.remove(0), marker },
        _ if kind.works_without => Belongs::Here,
        _ => Belongs::OneOf { directories, marker },
    }
}

/// Tells whether one of the words is the name of something here: then here is meant.
fn names_something_here(words: &[String], known: &Known<'_>) -> bool {
    let named = words.iter().filter(|word| !word.starts_with('-'));
    named.into_iter().any(|word| {
        // Make knows how to make `hello` of `hello.c`.
        let sources = ["c", "cc", "cpp", "o"].map(|ending| known.directory.join(format!("{word}.{ending}")));
        (known.exists)(&known.directory.join(word)) || sources.iter().any(|source| (known.exists)(source))
    })
}

/// One command of a line.
#[derive(Debug, PartialEq, Eq)]
struct Command {
    words: Vec<String>,
    /// Whether it reads what the one before it prints.
    piped: bool,
}

/// The commands of a line that is nothing but commands joined by `&&` and pipes.
fn commands(line: &str) -> Option<Vec<Command>> {
    let mut all = vec![Command { words: Vec::new(), piped: false }];
    for word in shlex::split(line.trim())? {
        match word.as_str() {
            "2>&1" => {}
            "&&" | "|" => all.push(Command { words: Vec::new(), piped: word == "|" }),
            _ if word.contains(['&', '|', ';', '<', '>', '`', '$', '(', ')', '{', '}', '*', '?', '#', '\n']) => {
                return None;
            }
            _ => all.last_mut()?.words.push(word),
        }
    }
    for command in &mut all {
        let plain = without_wrappers(&command.words).to_vec();
        command.words = plain;
    }
    all.iter().all(|command| !command.words.is_empty()).then_some(all)
}

/// Takes variables and what only watches a command away from its beginning.
fn without_wrappers(words: &[String]) -> &[String] {
    let is_variable = |word: &str| {
        let name = word.split_once('=').map(|(name, _)| name).unwrap_or_default();
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    match words {
        [first, rest @ ..] if is_variable(first) || matches!(first.as_str(), "time" | "env" | "nice") => {
            without_wrappers(rest)
        }
        [first, limit, rest @ ..]
            if first == "timeout" && limit.starts_with(|digit: char| digit.is_ascii_digit()) =>
        {
            without_wrappers(rest)
        }
        _ => words,
    }
}

/// The commands of a line with the directory each runs in; `cd` itself is left out.
fn steps(line: &str, directory: &Path) -> Option<Vec<(Vec<String>, PathBuf)>> {
    let mut here = directory.to_path_buf();
    let mut steps = Vec::new();
    for command in commands(line)? {
        match command.words.as_slice() {
            [program, to] if program == "cd" => here.push(to),
            [program, ..] if program == "cd" => return None,
            _ if command.piped => {}
            _ => steps.push((command.words, here.clone())),
        }
    }
    Some(steps)
}

#[cfg(test)]
#[path = "project_tests.rs"]
mod tests;
