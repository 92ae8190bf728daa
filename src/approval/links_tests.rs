//! What is said of lines that reach elsewhere through links is so: each is run for real, in a tree of its own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::command::judge;
use super::path::is_scratch;
use super::{BlastRadius, Disk, Surroundings, blast_radius, leads_outside};

/// Lines that change what lies outside the workspace.
const OUTSIDE: &[&str] = &[
    "echo pwned > flink",
    "echo more >> flink",
    "echo x | tee flink",
    "truncate -s 1 flink",
    "dd if=a of=flink",
    "cp a flink",
    "cp a outl/o",
    "cp a outl",
    "cp src/* outl",
    "rm outl/o",
    "rm -r outl/*",
    "rm -rf outl/",
    "rm -rf dlink/",
    "for f in outl/*; do rm -r $f; done",
    "find outl/ -type f -delete",
    "touch outl/new",
    "mkdir outl/new",
    "echo x > outl/new",
    "echo x > outl/d/../new",
    "mv a outl/",
    "sed -i s/o/O/ flink outl/d/1",
    "chmod 600 flink",
    "d=outl/; rm -r $d",
    "d=outl; rm -r $d/d",
    "for d in */; do rm -r $d; done",
];

/// Lines that change the workspace alone, whatever their links.
const INSIDE: &[&str] = &[
    "rm flink",
    "f=flink; rm $f",
    "for f in fl*; do rm \"$f\"; done",
    "for f in *link; do rm $f; done",
    "f=flink; mv $f other",
    "rm outl",
    "mv flink other",
    "ln -sfn a flink",
    "echo x > alink",
    "cp b alink",
    "truncate -s 0 alink",
    "echo x > inner/f",
    "rm inner/f",
    "cp src/* .",
    "mv src/* .",
    "cp -r src/. .",
    "cp -rT src .",
    "cp -aT src/ ./",
];

/// What lies at a path: its mode, and its content, or where its link leads.
type Look = (u32, Vec<u8>);

/// A tree where this test lies: what lies in a directory for temporary files is judged less strictly.
fn tree() -> (tempfile::TempDir, PathBuf) {
    let program = std::env::current_exe().unwrap();
    let directory = tempfile::tempdir_in(program.parent().unwrap()).unwrap();
    let root = directory.path().canonicalize().unwrap();
    for folder in ["ws/src", "ws/real", "out/d"] {
        std::fs::create_dir_all(root.join(folder)).unwrap();
    }
    for (name, text) in [
        ("ws/a", "four"),
        ("ws/b", "not in git"),
        ("ws/u", "ten bytes\n"),
        ("ws/src/a", "five\n"),
        ("ws/src/u", "five\n"),
        ("ws/real/f", "f"),
        ("out/o", "outside"),
        ("out/d/1", "one"),
        ("out/d/2", "two"),
    ] {
        std::fs::write(root.join(name), text).unwrap();
    }
    for (link, to) in
        [("flink", "../out/o"), ("outl", "../out"), ("dlink", "../out/d"), ("alink", "a"), ("inner", "real")]
    {
        crate::platform::os::fs::symlink(to, root.join("ws").join(link)).unwrap();
    }
    (directory, root)
}

fn look(root: &Path) -> BTreeMap<PathBuf, Look> {
    use crate::platform::os::ffi::OsStrExt as _;
    use crate::platform::os::fs::MetadataExt as _;
    let mut found = BTreeMap::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(path) = waiting.pop() {
        let metadata = path.symlink_metadata().unwrap();
        let content = if metadata.is_symlink() {
            path.read_link().unwrap().as_os_str().as_bytes().to_vec()
        } else if metadata.is_dir() {
            waiting.extend(path.read_dir().unwrap().map(|entry| entry.unwrap().path()));
            Vec::new()
        } else {
            std::fs::read(&path).unwrap()
        };
        found.insert(path.strip_prefix(root).unwrap().to_owned(), (metadata.mode(), content));
    }
    found
}

/// What is said of a line, and the paths at which the disk is another once it has run, with what was there.
fn said_and_done(line: &str) -> (BlastRadius, bool, BTreeMap<PathBuf, Option<Look>>) {
    let (_directory, root) = tree();
    let workspace = root.join("ws");
    let place = Surroundings { cwd: workspace.clone(), workspace: workspace.clone(), ..Surroundings::default() };
    let judged = judge(line, &place);
    let radius = blast_radius(&judged, &place, &Disk, &|path| path == workspace.join("a"), &|| false);
    let strays = leads_outside(&judged, &place, &Disk).is_some();
    let before = look(&root);
    let ran = Command::new("bash")
        .args(["-c", line])
        .current_dir(&workspace)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    ran.unwrap();
    let after = look(&root);
    let names = before.keys().chain(after.keys());
    let changed = names.filter(|path| before.get(*path) != after.get(*path));
    (radius, strays, changed.map(|path| (path.clone(), before.get(path).cloned())).collect())
}

#[test]
fn what_lies_outside_behind_a_link_is_counted_there() {
    for line in OUTSIDE {
        let (radius, strays, done) = said_and_done(line);
        assert!(done.keys().any(|path| path.starts_with("out")), "{line} does nothing outside: {done:?}");
        if !is_scratch(&std::env::current_exe().unwrap()) {
            let named = radius.outside > 0 || !radius.made_outside.is_empty() || radius.more;
            assert!(named && (strays || line.starts_with("sed")), "{line}: {strays} {radius:?}");
        }
        fits(line, &radius, &done);
    }
}

#[test]
fn what_stays_inside_is_not_said_to_lie_outside() {
    for line in INSIDE {
        let (radius, strays, done) = said_and_done(line);
        assert!(!done.is_empty() && done.keys().all(|path| path.starts_with("ws")), "{line}: {done:?}");
        assert!(radius.outside == 0 && radius.made_outside.is_empty() && !strays, "{line}: {radius:?}");
        fits(line, &radius, &done);
    }
}

/// Makes sure that the numbers of files, bytes and files without a copy in git are so, or said to be no exact ones.
fn fits(line: &str, radius: &BlastRadius, done: &BTreeMap<PathBuf, Option<Look>>) {
    let is_directory = |mode: u32| mode & 0o170_000 == 0o040_000;
    let there = || done.iter().filter_map(|(path, look)| Some((path, look.as_ref()?)));
    let files: Vec<_> = there().filter(|(_, (mode, _))| !is_directory(*mode)).collect();
    let count = files.len() as u64;
    let bytes: u64 = files.iter().map(|(_, (_, content))| content.len() as u64).sum();
    let untracked = files.iter().filter(|(path, _)| path.as_os_str() != "ws/a").count() as u64;
    let least = radius.more || radius.truncated;
    for (name, said, is) in
        [("files", radius.files, count), ("bytes", radius.bytes, bytes), ("untracked", radius.untracked, untracked)]
    {
        assert!(
            said <= is || radius.filtered,
            "{line}: {name} {said}, really {is}, and no upper bound: {radius:?}"
        );
        assert!(said >= is || least, "{line}: {name} {said}, really {is}, and no lower bound: {radius:?} {done:?}");
    }
}
