//! What is said to be deleted is what goes: random trees, and lines that a shell runs for real in them.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::prelude::*;

use super::command::judge;
use super::{BlastRadius, Disk, Surroundings, blast_radius};

const DIRECTORIES: [&str; 6] = ["", "a/", "a/b/", "a/b/c/", "d/", "d.log/"];
const NAMES: [&str; 8] = ["1.log", "2.LOG", "x y.log", ".h.log", "n.txt", "it's.log", "z", "log"];
const TESTS: [&str; 12] = [
    "",
    "-name '*.log'",
    "-iname '*.log'",
    "-type f",
    "-type d",
    "-maxdepth 1 -name '*.log'",
    "-mindepth 2",
    "! -name '*.log'",
    "-type f -name '?.log'",
    "-name '*.log' -o -name z",
    "-path './a/*'",
    "-newer n.txt",
];
const ENDS: [&str; 12] = [
    "find . TESTS -delete",
    "find a TESTS -delete",
    "find . -type f TESTS -exec rm {} +",
    "find . TESTS -exec rm {} \\;",
    "find a d TESTS -exec rm -r {} +",
    "find . TESTS | xargs rm",
    "find . TESTS -print0 | xargs -0 rm",
    "find . TESTS | head -1 | xargs rm",
    "find . TESTS | while read f; do rm \"$f\"; done",
    "for f in a/*.log; do rm \"$f\"; done",
    "for f in **/*.log; do rm \"$f\"; done",
    "find . TESTS | xargs rm; rm z",
];
const LINES: [&str; 12] = [
    "rm *.log",
    "rm -r a/*",
    "rm -rf a d",
    "cd a && rm *.log",
    "cd nowhere && rm z",
    "false && rm z",
    "if [ -f z ]; then rm z; fi",
    "mv z n.txt; rm n.txt",
    "x=z; [ -d a ] && x=n.txt; rm $x",
    "rm z; sh script",
    "f() { rm z; }",
    "rm a/1.log a/b/1.log; rm -f nothing",
];

fn files_below(root: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path, found);
        } else {
            found.insert(path.display().to_string());
        }
    }
}

fn said(line: &str, root: &Path) -> BlastRadius {
    let root = root.to_path_buf();
    let place = Surroundings { cwd: root.clone(), workspace: root, ..Surroundings::default() };
    blast_radius(&judge(line, &place), &place, &Disk, &|_| false, &|| false)
}

fn line() -> impl Strategy<Value = String> {
    let searched =
        (0..ENDS.len(), 0..TESTS.len()).prop_map(|(end, tests)| ENDS[end].replace("TESTS", TESTS[tests]));
    prop_oneof![3 => searched, 1 => proptest::sample::select(&LINES[..]).prop_map(str::to_owned)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn what_is_said_to_be_deleted_goes_or_the_number_is_said_to_be_inexact(
        files in proptest::collection::btree_set((0..DIRECTORIES.len(), 0..NAMES.len()), 0..16),
        line in line(),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        for (folder, name) in &files {
            let folder = root.join(DIRECTORIES[*folder]);
            std::fs::create_dir_all(&folder).unwrap();
            let path = folder.join(NAMES[*name]);
            if !path.exists() {
                std::fs::write(path, "x").unwrap();
            }
        }
        let mut before = BTreeSet::new();
        files_below(&root, &mut before);
        let radius = said(&line, &root);
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &line]).current_dir(&root).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.env_clear().env("PATH", "/usr/bin:/bin");
        command.status().unwrap();
        let mut after = BTreeSet::new();
        files_below(&root, &mut after);
        let gone = before.difference(&after).count() as u64;
        let number = radius.removed;
        let moved = radius.moved;
        prop_assert!(
            match (radius.filtered, radius.more || radius.truncated) {
                (false, false) => gone == number + moved,
                (true, false) => gone <= number + moved,
                (false, true) => gone >= number,
                (true, true) => true,
            },
            "{}: said {} (at most {}, at least {}), gone {}: {:?}", line, number, radius.filtered, radius.more, gone, before
        );
    }
}

#[test]
fn the_usual_ways_to_delete_by_name_are_counted_exactly() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    std::fs::create_dir_all(root.join("a/b")).unwrap();
    for name in ["1.log", "2.log", "a/3.log", "a/b/4.log"] {
        std::fs::write(root.join(name), "x").unwrap();
    }
    for (line, files) in [
        ("find . -name \"*.log\" -exec rm {} +", 4),
        ("find . -name '*.log' -exec rm {} \\;", 4),
        ("find . -name '*.log' | xargs rm", 4),
        ("find . -name '*.log' -print0 | xargs -0 rm -f", 4),
        ("find a -name '*.log' -exec rm {} \\;", 2),
        ("find . -type f -delete", 4),
        ("find . -maxdepth 1 -name '*.log' -delete", 2),
        ("rm *.log", 2),
        ("for f in *.log; do rm $f; done", 2),
    ] {
        let radius = said(line, &root);
        assert_eq!((radius.removed, radius.filtered, radius.more), (files, false, false), "{line}");
    }
    let radius = said("for f in **/*.log; do rm $f; done", &root);
    assert!(radius.filtered && radius.removed == 4, "{radius:?}");
    let empty = tempfile::tempdir().unwrap();
    let radius = said("find . -delete", &empty.path().canonicalize().unwrap());
    assert_eq!((radius.files, radius.directories), (0, 0));
}
