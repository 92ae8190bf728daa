//! A secret that a line takes along without naming it, while another program of the line may send it. The secret lies in a
//! directory that is named, fits a pattern, or is among the names that one program lists for another.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::filters::Filters;
use super::judgement::Judged;
use super::leaves::{OF_NETWORK, sent_words, stays, talks};
use crate::approval::glob::Glob;
use crate::approval::program::{Does, Program, Trait, lists};
use crate::approval::{Class, Surroundings, path};
use crate::platform::RealPath as _;
use crate::secret::files::{SecretFiles, names_matching};
use crate::secret::found::{Linked, one_below};

/// So many words are looked up on the disk.
const MOST_WORDS: usize = 500;

/// Programs that list what lies where they run if they are told no place.
const OF_HERE: &[&str] = &["find", "fd", "fdfind", "rg", "ag", "ack", "ls", "dir", "tree", "git"];

/// How a line says where it runs.
const HERE: &[&str] = &["${PWD}", "$PWD", "$(pwd)", "`pwd`"];

/// How a line has a shell read from a file that it names only then.
const READ_LATER: &[&str] = &["< \"$", "<\"$", "< $", "<$"];

/// Programs that are told what to send in words of their own.
const TOLD: &[&str] = &["sftp", "ftp", "lftp", "smbclient", "socat"];
/// How they are told.
const TELLING: &[&str] = &["put ", "mirror ", "exec:", "system:"];

/// What code in a line has in it that goes through a directory, and what reaches the network, in small letters.
const WALKING: &[&str] =
    &["walk", "glob", "readdir", "listdir", "scandir", "iterdir", "recurs", "find(", "make_archive"];

/// Modules of Python's that pack files (python3 -m NAME).
const PACKING: &[&str] = &["zipfile", "tarfile", "zipapp"];

/// So many directories in which a line may be.
const MOST_BASES: usize = 20;

/// Signs of a pattern of names.
const GLOB: [char; 3] = ['*', '?', '['];

/// The secret file that a line takes along, where one of its programs may send it.
pub(super) fn taken(line: &str, parts: &[Judged], handed: bool, place: &Surroundings) -> Option<PathBuf> {
    if !parts.iter().any(sends) {
        return None;
    }
    let line = &from_here(line);
    let mut look = Look::new(line.contains("dotglob"), place);
    // A word that is known only when it runs may be any that the line has.
    let is_open = |part: &Judged| sends(part) && part.words().iter().any(Option::is_none);
    let lists = handed || READ_LATER.iter().any(|sign| line.contains(sign)) || parts.iter().any(is_open);
    let picked = parts.iter().any(|part| name(part) == "find" && picks_others(part));
    parts.iter().find_map(|part| {
        look.follow(part, line);
        look.filters = Filters::of(part);
        if walks(part) {
            return look.words(["."].into_iter());
        }
        let name = name(part);
        let names_only = lists::NAME_PROGRAMS.contains(name) || name == "find" && !runs_for_each(part);
        let given = handed && !picked && sends(part);
        if !given && !takes(part) || names_only && !lists || name == "find" && picks_others(part) {
            return None;
        }
        let known = part.words().iter().all(Option::is_some);
        look.only_files = known && !given && lists::LOADING_PROGRAMS.contains(name);
        let before = look.left;
        let found = look.words(read_by(part, given, line).iter().map(String::as_str));
        // None of its words was a place.
        let here = before == look.left && (OF_HERE.contains(&name) || is_recursive(part))
            || part.words().iter().any(Option::is_none) && ["$(", "`"].iter().any(|sign| part.text.contains(sign));
        found.or_else(|| if here { look.words(["."].into_iter()) } else { None })
    })
}

/// The secret file that a line which could not be read may take along: one of its words is a program that reaches the network.
pub(super) fn taken_unread(line: &str, place: &Surroundings) -> Option<PathBuf> {
    let reaches = |row: &Program| row.does == Some(Does::Network) || row.is(Trait::Sends);
    let name = |word: &str| Program::named(word.rsplit('/').next().unwrap_or(word));
    let line = from_here(line);
    let sends = pieces(&line).take(MOST_WORDS).filter_map(name).any(reaches);
    sends.then(|| Look::new(line.contains("dotglob"), place).words(pieces(&line))).flatten()
}

/// The words of a part that may be what it reads; `given`: it gets some from another program.
fn read_by(part: &Judged, given: bool, line: &str) -> Vec<String> {
    let (name, text) = (name(part), from_here(&part.text));
    let is_told = TOLD.contains(&name) && TELLING.iter().any(|sign| line.to_ascii_lowercase().contains(sign));
    let known = part.words().iter().all(Option::is_some);
    let written = |text: &str| pieces(text).map(str::to_owned).collect::<Vec<String>>();
    let mut words = if given || is_told || !known && text.contains(['$', '`']) {
        written(&line.replace("\\n", " "))
    } else if known {
        let inputs = text.split('<').skip(1).filter_map(|behind| pieces(behind).find(|piece| !piece.is_empty()));
        sent_words(part).skip(1).cloned().chain(inputs.map(str::to_owned)).collect()
    } else {
        written(&text).into_iter().skip(1).collect()
    };
    // What they fetch they write.
    if words.iter().any(|word| word == "download") {
        return Vec::new();
    }
    if lists::COPYING_PROGRAMS.contains(name) {
        // The last one is where it goes.
        let plain: Vec<&str> = pieces(&text).skip(1).filter(|word| !word.starts_with('-')).collect();
        if let [_, .., last] = plain.as_slice() {
            words.retain(|word| word.trim_matches(['"', '\'']) != last.trim_matches(['"', '\'']));
        }
    }
    words
}

/// Tells whether a part is code that goes through a directory and reaches the network, in any language.
fn walks(part: &Judged) -> bool {
    let has = |code: &str, signs: &[&str]| signs.iter().any(|sign| code.contains(sign));
    let codes = part.words().iter().flatten().skip(1).map(|code| code.to_ascii_lowercase());
    part.class == Class::Execute && codes.into_iter().any(|code| has(&code, WALKING) && has(&code, OF_NETWORK))
}

fn from_here(text: &str) -> String {
    HERE.iter().fold(text.to_owned(), |text, sign| text.replace(sign, "."))
}

fn name(part: &Judged) -> &str {
    let program = part.words().first().and_then(Option::as_deref).unwrap_or_default();
    program.rsplit('/').next().unwrap_or(program)
}

/// Tells whether a part may read the files that it is given: which ones an unknown program uses nobody knows.
fn takes(part: &Judged) -> bool {
    match part.class {
        Class::Network => sends(part),
        Class::ReadOnly | Class::Write | Class::Destructive => true,
        Class::Execute => stays(part) || talks(part) || packs(part) || lists::SENDING_PROGRAMS.contains(name(part)),
    }
}

/// Tells whether a part runs a module of Python's that packs files.
fn packs(part: &Judged) -> bool {
    let words: Vec<&str> = part.words().iter().flatten().map(String::as_str).collect();
    name(part).starts_with("python") && words.windows(2).any(|pair| pair[0] == "-m" && PACKING.contains(&pair[1]))
}

fn runs_for_each(part: &Judged) -> bool {
    part.words().iter().flatten().any(|word| word.starts_with("-exec") || word.starts_with("-ok"))
}

/// Tells whether a search by names picks none that a secret file may have.
fn picks_others(part: &Judged) -> bool {
    let words: Vec<&str> = part.words().iter().map(|word| word.as_deref().unwrap_or("*")).collect();
    let names: Vec<&str> =
        words.windows(2).filter(|pair| matches!(pair[0], "-name" | "-iname")).map(|pair| pair[1]).collect();
    let plain = !words.iter().any(|word| matches!(*word, "!" | "-not" | "-o" | "-or" | ","));
    let fits = |pattern: &&str| {
        let glob = Glob::parse(pattern);
        names_matching(|name| glob.fits(name))
    };
    plain && !names.is_empty() && !names.iter().all(fits)
}

fn is_recursive(part: &Judged) -> bool {
    let is_flag = |word: &String| {
        let short = word.starts_with('-') && !word.starts_with("--") && word.contains(['r', 'R']);
        short || word == "--recursive"
    };
    name(part).ends_with("grep") && part.words().iter().flatten().skip(1).any(is_flag)
}

fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| letter.is_whitespace() || ";()`<>|&".contains(letter))
}

/// Tells whether a part may send what it is given.
fn sends(part: &Judged) -> bool {
    (part.class == Class::Network || !stays(part)) && !part.only_fetches()
}

fn resolved(word: &str, base: &Path, place: &Surroundings) -> PathBuf {
    let below_home = ["~", "$HOME", "${HOME}"].iter().find_map(|home| word.strip_prefix(home));
    match (below_home, &place.home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            path::clean(&home.join(rest.trim_start_matches('/')))
        }
        _ => path::clean(&base.join(word)),
    }
}

struct Look<'p> {
    bases: Vec<PathBuf>,
    /// Whether a pattern may mean names that begin with a dot.
    dotted: bool,
    /// What was looked up from there.
    looked_up: HashSet<String>,
    /// How many words may still be looked up.
    left: usize,
    /// Whether that part sends files only, no directory: those with a secret's name are found by it elsewhere.
    only_files: bool,
    /// Secrets with several names: they are searched once a line.
    linked: Linked,
    /// What it leaves out.
    filters: Filters,
    place: &'p Surroundings,
}

impl<'p> Look<'p> {
    fn new(dotted: bool, place: &'p Surroundings) -> Self {
        let files = SecretFiles { home: place.home.clone(), ..place.secrets.clone() };
        Self {
            bases: vec![place.cwd.clone()],
            dotted,
            looked_up: HashSet::new(),
            left: MOST_WORDS,
            only_files: false,
            linked: Linked::new(files.real(), vec![place.workspace.clone()]),
            filters: Filters::default(),
            place,
        }
    }

    /// Goes where the line goes with a part; out of parentheses, and where the step may fail, it may be in both.
    fn follow(&mut self, part: &Judged, line: &str) {
        let [Some(program), Some(directory), ..] = part.words() else { return };
        if matches!(program.as_str(), "cd" | "pushd") && self.bases.len() < MOST_BASES {
            let last = self.bases.last().map_or(Path::new("/"), |base| base.as_path());
            let next = resolved(directory, last, self.place);
            if !line.contains(['(', ';', '\n']) && !line.contains("||") {
                self.bases.clear();
            }
            self.looked_up.clear();
            self.bases.push(next);
        }
    }

    /// Finds a secret below what one of the words means; each that means something is counted.
    fn words<'w>(&mut self, words: impl Iterator<Item = &'w str>) -> Option<PathBuf> {
        // A module's arguments stand in one word.
        for word in words.flat_map(|word| word.split_whitespace()) {
            let word = word.trim_matches(['"', '\'']);
            // A flag's value, and a form's file.
            let value = word.rsplit(['=', '@']).next().unwrap_or(word);
            // What a container sees of it stands behind.
            let mount = value.split(':').next().filter(|path| path.starts_with(['.', '/', '~'])).unwrap_or("");
            for word in [word, value, mount] {
                if word.is_empty() || word.starts_with('-') || word.contains("://") || self.left == 0 {
                    continue;
                }
                // A long line has the same words many times, and what was left out before may not be now.
                if self.filters.is_empty() && !self.only_files && !self.looked_up.insert(word.to_owned()) {
                    continue;
                }
                for base in self.bases.clone() {
                    if let Some(found) = self.at(&resolved(word, &base, self.place)) {
                        return Some(found);
                    }
                }
            }
        }
        None
    }

    fn at(&mut self, path: &Path) -> Option<PathBuf> {
        let shown = path.to_string_lossy();
        if let Some(first) = shown.find(GLOB).filter(|_| !self.only_files) {
            self.left = self.left.saturating_sub(1);
            let (parent, pattern) = shown.split_at(shown[..first].rfind('/')? + 1);
            return self.matching(Path::new(parent), pattern);
        }
        let about = path.metadata().ok()?;
        self.left = self.left.saturating_sub(1);
        if about.is_dir() {
            return if self.only_files { None } else { self.one_below(path) };
        }
        // A link shows no name of a secret.
        let leads = !path::is_credential(path, self.place)
            && (self.linked.holds(&about)
                || path.real_path().is_ok_and(|real| real != path && self.linked.names(&real)));
        leads.then(|| path.to_owned())
    }

    fn one_below(&self, directory: &Path) -> Option<PathBuf> {
        let left_out = |file: &Path| self.filters.leave_out(directory, file);
        one_below(directory, self.place.home.as_deref(), &left_out)
    }

    fn matching(&self, parent: &Path, pattern: &str) -> Option<PathBuf> {
        // Whatever a pattern of several steps picks lies below its first one.
        let (first, rest) = pattern.split_once('/').unwrap_or((pattern, ""));
        let glob = Glob::parse(first);
        let entries = parent.read_dir().ok()?.flatten();
        let mut entries = entries.filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let hidden = name.starts_with('.') && !first.starts_with('.') && !self.dotted;
            !hidden && (first.contains("**") || glob.names(&name))
        });
        entries.find_map(|entry| {
            let path = entry.path();
            if path.is_dir() {
                self.one_below(&path)
            } else {
                (rest.is_empty() && path::is_credential(&path, self.place)).then_some(path)
            }
        })
    }
}

#[cfg(test)]
#[path = "taken_tests.rs"]
mod tests;
