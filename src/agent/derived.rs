//! What an approved line makes of a secret file is a secret, too, as long as this axi runs: a copy under another name, an
//! archive, what was encoded. A line that names a secret is looked at: each file that it also names, and that is new or
//! changed afterwards, holds a secret.
//!
//! What a program writes without its name in the line, and what reads a secret that the line does not name, is not known.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

use crate::approval::command::{LineJudgement, Part};
use crate::platform::RealPath as _;
use crate::platform::os::fs::MetadataExt as _;
use crate::secret::files::SecretFiles;

/// So many words of a line are looked at.
const MOST_WORDS: usize = 512;
/// So many names are looked through for those that begin with one of the line (`split FILE PREFIX`).
const MOST_NAMES: usize = 2_000;

/// Which file it is, and whether it has changed.
#[derive(Debug, PartialEq, Eq)]
struct Look(u64, u64, (i64, i64));

impl Look {
    fn at(path: &Path) -> Option<Self> {
        path.symlink_metadata().ok().map(|found| Self::of(&found))
    }

    fn of(found: &Metadata) -> Self {
        Self(found.ino(), found.size(), (found.mtime(), found.mtime_nsec()))
    }
}

/// What lies where a line may write what it reads of a secret.
#[derive(Debug)]
pub(super) struct Made {
    secrets: SecretFiles,
    before: Vec<(PathBuf, Option<Look>)>,
    /// What lay there whose names begin as one that the line names.
    beside: BTreeSet<PathBuf>,
}

impl Made {
    /// Looks before the line runs; `None` for a line that names no secret.
    pub(super) fn before(line: &LineJudgement, begun_in: &Path, secrets: &SecretFiles) -> Option<Self> {
        let named: BTreeSet<PathBuf> = names(line, begun_in).into_iter().take(MOST_WORDS).collect();
        let is_secret = |path: &PathBuf| path.real_path().is_ok_and(|real| secrets.holds(&real));
        if !named.iter().any(is_secret) {
            return None;
        }
        let beside = named.iter().filter(|path| !path.is_dir()).flat_map(|path| beginning_with(path)).collect();
        let before =
            named.into_iter().map(|path| (Look::at(&path), path)).map(|(look, path)| (path, look)).collect();
        Some(Self { secrets: secrets.clone(), before, beside })
    }

    /// Learns what has come or changed since.
    pub(super) fn learn(self) {
        for (path, before) in &self.before {
            let now = Look::at(path);
            let is_new_name = |path: &PathBuf| !self.beside.contains(path);
            if !path.is_dir() {
                beginning_with(path).into_iter().filter(is_new_name).for_each(|path| self.add(&path));
            }
            // What was put into a directory that was there has its own name.
            if now != *before && now.is_some() && !(path.is_dir() && before.is_some()) {
                self.add(path);
            }
        }
    }

    fn add(&self, path: &Path) {
        if let Ok(real) = path.real_path()
            && !self.secrets.holds(&real)
        {
            self.secrets.derived.learn(real);
        }
    }
}

/// Everything in a line that may be the name of a file.
fn names(line: &LineJudgement, begun_in: &Path) -> Vec<PathBuf> {
    let mut names = Vec::new();
    // Where the line goes to, words are names from there.
    let written = line.parts.iter().flat_map(|part| &part.paths).filter_map(|(path, _)| path.parent());
    let bases: BTreeSet<&Path> = written.chain([begun_in]).collect();
    let is_part = |letter: char| letter.is_alphanumeric() || "_./~@%+-".contains(letter);
    for part in &line.parts {
        names.extend(part.paths.iter().map(|(path, _)| path.clone()));
        let words: Vec<&str> = match &part.part {
            Part::Command { words, .. } => words.iter().flatten().map(String::as_str).collect(),
            Part::Redirection { path } => {
                names.extend(path.clone());
                Vec::new()
            }
        };
        // Whole, behind `of=`, and in what is a program itself: `python3 -c "open('.env')"`.
        let pieces = words.iter().flat_map(|word| word.split(|letter| !is_part(letter)));
        for word in words.iter().copied().chain(pieces).filter(|word| !word.is_empty() && word.len() < 4096) {
            names.extend(bases.iter().map(|base| base.join(word)));
        }
    }
    names
}

/// The files beside one whose names begin with its own.
fn beginning_with(path: &Path) -> Vec<PathBuf> {
    let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else { return Vec::new() };
    // A short name begins many.
    if name.len() < 2 {
        return Vec::new();
    }
    let entries = directory.read_dir().into_iter().flatten().flatten().take(MOST_NAMES);
    let begins = |path: &PathBuf| {
        let own = path.file_name().unwrap_or_default().as_encoded_bytes();
        own.len() > name.len() && own.starts_with(name.as_encoded_bytes())
    };
    entries.map(|entry| entry.path()).filter(begins).collect()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::approval::Surroundings;
    use crate::approval::command::judge;

    /// Lines, and the file that holds a secret afterwards.
    const LINES: &[(&str, &str)] = &[
        ("cp .env copy", "copy"),
        ("gzip < .env > packed", "packed"),
        ("base64 .env > encoded", "encoded"),
        ("base64 < .env | tee encoded", "encoded"),
        ("cat .env | sed s/a/b/ > changed", "changed"),
        ("cat plain .env >> log", "log"),
        ("mv .env moved", "moved"),
        ("ln .env linked", "linked"),
        ("install -m 600 .env put", "put"),
        ("dd if=.env of=raw", "raw"),
        ("tar cf some.data .env", "some.data"),
        ("split .env part", "partaa"),
        ("cp .env sub/other", "sub/other"),
        ("cd sub && cp ../.env other", "sub/other"),
        ("cp -r .ssh keys", "keys/config"),
        ("sh -c 'cat .env > quoted'", "quoted"),
        ("sort -o sorted .env", "sorted"),
        ("cp .env one && cp one two", "two"),
        ("awk '{ print > \"lines\" }' .env", "lines"),
    ];

    #[test]
    fn what_a_line_makes_of_a_secret_is_one_and_what_it_leaves_alone_is_none() {
        for (line, made) in LINES {
            let place = tempfile::tempdir().unwrap();
            let work = place.path().canonicalize().unwrap();
            for (name, text) in
                [(".env", "A=b\n"), ("plain", "x"), ("sub/x", ""), (".ssh/config", "y"), ("log", "")]
            {
                std::fs::create_dir_all(work.join(name).parent().unwrap()).unwrap();
                std::fs::write(work.join(name), text).unwrap();
            }
            let secrets = SecretFiles { home: Some(work.clone()), ..SecretFiles::default() };
            let place = Surroundings {
                cwd: work.clone(),
                workspace: work.clone(),
                home: Some(work.clone()),
                secrets: secrets.clone(),
                ..Surroundings::default()
            };
            let before = Made::before(&judge(line, &place), &work, &secrets).expect(line);
            let ran = Command::new("sh").args(["-c", line]).current_dir(&work).env("HOME", &work).status();
            assert!(ran.unwrap().success(), "{line}");
            before.learn();
            assert!(secrets.holds(&work.join(made)), "{line}: {:?}", secrets.derived);
            assert!(!secrets.holds(&work.join("plain")) && !secrets.holds(&work.join("sub/x")), "{line}");
            // Who asks for it asks for a secret.
            let read = judge(&format!("cat {made}"), &place);
            assert!(read.parts.iter().any(|part| part.credential.is_some()), "{line}");
            assert!(Made::before(&judge("cp plain other", &place), &work, &secrets).is_none());
        }
    }
}
