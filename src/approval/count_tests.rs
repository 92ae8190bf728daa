//! What is said to be deleted is what goes: random trees, and lines that a shell runs for real in them.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use proptest::prelude::*;

use crate::platform::os::ffi::OsStrExt;

use super::command::judge;
use super::{BlastRadius, Disk, Surroundings, blast_radius};

const DIRECTORIES: [&str; 7] = ["", "a/", "a/b/", "a/b/c/", "d/", "d.log/", "a/.hidden/"];
const NAMES: [&[u8]; 12] = [
    b"1.log",
    b"2.LOG",
    b"x y.log",
    b".h.log",
    b"n.txt",
    b"it's.log",
    b"z",
    b"log",
    b"-f.log",
    b"[1].log",
    b"\xff1.log",
    b"\xfe2",
];
/// Links, and what they lead to: a file, a directory, nothing.
const LINKS: [(&str, &str); 4] =
    [("to.log", "z"), ("a/up", "../d"), ("gone.log", "nowhere"), ("d/back.log", "../a")];
const TESTS: [&str; 36] = [
    "",
    "-name '*.log'",
    "-iname '*.log'",
    "-type f",
    "-type d",
    "-type l",
    "-maxdepth 1 -name '*.log'",
    "-maxdepth 0",
    "-mindepth 2",
    "-mindepth 1 -maxdepth 2 -type f",
    "! -name '*.log'",
    "-not -type d",
    "-type f -name '?.log'",
    "-type f -name '[0-9]*'",
    "-name '*.log' -o -name z",
    "\\( -name '*.log' -o -name z \\) -type f",
    "-type f \\( -name '1.log' -o -iname '2.LOG' -o -name z \\)",
    "\\( -name '*.log' -o -type d \\)",
    "! \\( -name '*.log' -o -type d \\)",
    "\\( ! -name '*.log' -o -name '1*' \\) -type f",
    "\\( -name z -o -name b \\) -o -name '*.txt'",
    "\\( -name z -a -type f -o -name b \\)",
    "-path './a/*'",
    "-path './a' -prune -o -name '*.log'",
    "-name b -prune -o -type f -print",
    "-newer n.txt",
    "-type f -name '*.log' -mtime -2",
    "\\( -name '*.log' -o -name z \\) ! -newer n.txt",
    "! -newer n.txt -type f",
    "-empty",
    "-size +0",
    "-size -1k -type f",
    "-name '*.log' -a ! -path '*/b/*'",
    "-regex '.*/[0-9].log'",
    "-perm -u+x -type f",
    "-name '.*' -type f",
];
const ENDS: [&str; 34] = [
    "true && find . TESTS | xargs rm",
    "if [ -d a ]; then find . TESTS -exec rm {} +; fi",
    "cd a && find . TESTS -exec rm {} \\;",
    "find . TESTS -delete",
    "find a TESTS -delete",
    "find -L a TESTS -delete",
    "find . -type f TESTS -exec rm {} +",
    "find . TESTS -exec rm {} \\;",
    "find . TESTS -exec rm -f -- {} +",
    "find a d TESTS -exec rm -r {} +",
    "find . TESTS -execdir rm {} \\;",
    "find . TESTS -ok rm {} \\;",
    "find . TESTS | xargs rm",
    "find . TESTS | xargs -r rm -f",
    "find . TESTS | xargs -n 1 rm",
    "find . TESTS | xargs -I{} rm {}",
    "find . TESTS -print0 | xargs -0 rm",
    "find . TESTS -print0 | xargs -0 -r rm -rf",
    "find . TESTS | head -1 | xargs rm",
    "find . TESTS | grep -v z | xargs rm",
    "find . TESTS | sort | tail -n +2 | xargs rm",
    "find . TESTS | while read f; do rm \"$f\"; done",
    "find . TESTS -print0 | while IFS= read -r -d '' f; do rm -- \"$f\"; done",
    "for f in $(find . TESTS); do rm $f; done",
    "rm $(find . TESTS)",
    "rm -f -- $(find a TESTS)",
    "cd a && find . TESTS -delete",
    "(cd d; find . TESTS -type f -exec rm {} +)",
    "find . TESTS | xargs rm; rm z",
    "find a/up/ TESTS -delete",
    "find a/up/. TESTS -exec rm {} +",
    "find a/ d/. TESTS -delete",
    "find a/. TESTS -exec rm -r {} +",
    "find */ TESTS -delete",
];
const LINES: [&str; 67] = [
    "rm $((0 + 1)).log",
    "i=0; rm a/$((i+1)).log z",
    "rm *.log",
    "rm -- *.log",
    "rm *",
    "rm -r *",
    "rm .*",
    "rm -r a/*",
    "rm -rf a d",
    "rm -rf a/ d/",
    "rm -r a/up",
    "rm -r a/up/",
    "rm to.log",
    "rm ?.log [0-9].LOG",
    "rm {1,2,3}.log",
    "rm a/{,b/}*.log",
    "rm \"x y.log\" it\\'s.log",
    "rm '*.log'",
    "rm $'1.log'",
    "rm ./[[]1].log",
    "for f in a/*.log; do rm \"$f\"; done",
    "for f in **/*.log; do rm \"$f\"; done",
    "for f in *.log; do rm $f; done",
    "for d in a d; do rm -r $d; done",
    "for d in a d nowhere; do rm $d/*.log; done",
    "shopt -s globstar; rm **/*.log",
    "shopt -s dotglob; rm *",
    "shopt -s nullglob; rm -f nothing* *.log",
    "ls *.log | xargs rm",
    "ls | grep log | xargs rm",
    "ls -A a | xargs -I{} rm a/{}",
    "echo *.log | xargs rm",
    "printf '%s\\n' *.log | xargs rm",
    "printf '%s\\0' *.log | xargs -0 rm",
    "while read f; do rm $f; done < z",
    "cat z | xargs rm",
    "cd a && rm *.log",
    "cd nowhere && rm z",
    "false && rm z",
    "if [ -f z ]; then rm z; fi",
    "mv z n.txt; rm n.txt",
    "x=z; [ -d a ] && x=n.txt; rm $x",
    "rm z; sh script",
    "f() { rm z; }",
    "f() { rm \"$@\"; }; f *.log",
    "rm a/1.log a/b/1.log; rm -f nothing",
    "rm *.log & wait",
    "mv *.log a/ && rm a/*.log",
    "echo '\"x y.log\" z' | xargs rm",
    "echo \"it's.log\" | xargs rm",
    "printf '1.log\\nx y.log\\n' | xargs rm",
    "printf '1.log\\n x y.log\\n' | xargs -I{} rm {}",
    "echo z 1.log | xargs -I{} rm {}",
    "echo z | xargs -I{} -L1 rm {}",
    "echo 1.log z n.txt | xargs -E z rm",
    "echo 1.log,z | xargs -d , rm",
    "echo z | xargs -0 rm",
    "echo z 1.log | xargs -rn1 rm",
    "ls | xargs -rn1 rm",
    "ls -d */ | xargs rm -r",
    "mv z a/",
    "mv a/1.log d/2.LOG .",
    "mv -t a z n.txt",
    "cp -r a/. d",
    "rsync -a --delete a/ d/",
    "rsync -a --delete d a/b/",
    "sed -i.bak s/x/y/ z",
];

fn files_below(root: &Path, found: &mut BTreeSet<PathBuf>) {
    for entry in std::fs::read_dir(root).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            files_below(&entry.path(), found);
        } else {
            found.insert(entry.path());
        }
    }
}

fn said(line: &str, root: &Path) -> BlastRadius {
    let root = root.to_path_buf();
    let place = Surroundings { cwd: root.clone(), workspace: root, ..Surroundings::default() };
    blast_radius(&judge(line, &place), &place, &Disk, &|_| false, &|| false)
}

/// `AXI_COUNT_CASES` says how many are tried.
fn cases() -> u32 {
    std::env::var("AXI_COUNT_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(160)
}

fn quoted(line: &str) -> String {
    format!("'{}'", line.replace('\'', r"'\''"))
}

fn line() -> impl Strategy<Value = String> {
    let searched =
        (0..ENDS.len(), 0..TESTS.len()).prop_map(|(end, tests)| ENDS[end].replace("TESTS", TESTS[tests]));
    prop_oneof![2 => searched, 1 => proptest::sample::select(&LINES[..]).prop_map(str::to_owned)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn what_is_said_to_be_deleted_goes_or_the_number_is_said_to_be_inexact(
        files in proptest::collection::btree_set((0..DIRECTORIES.len(), 0..NAMES.len()), 0..16),
        links in proptest::sample::subsequence(&LINKS[..], 0..=LINKS.len()),
        line in line(),
        shell in 0..4_usize,
    ) {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        for (folder, name) in &files {
            let folder = root.join(DIRECTORIES[*folder]);
            std::fs::create_dir_all(&folder).unwrap();
            let path = folder.join(OsStr::from_bytes(NAMES[*name]));
            if !path.exists() {
                std::fs::write(path, "x").unwrap();
            }
        }
        for (link, to) in links {
            let path = root.join(link);
            if path.parent().is_some_and(Path::is_dir) && path.symlink_metadata().is_err() {
                crate::platform::os::fs::symlink(to, path).unwrap();
            }
        }
        let mut before = BTreeSet::new();
        files_below(&root, &mut before);
        let zsh = ["/bin/zsh", "/usr/bin/zsh", "/usr/local/bin/zsh"].into_iter().any(|path| Path::new(path).exists());
        // Where there is none, tests/it says so: this quarter is run by bash then.
        let line = if shell == 0 && zsh { format!("zsh -c {}", quoted(&line)) } else { line };
        let radius = said(&line, &root);
        // The shell that the tool runs; the other one where it is not there.
        let bash = ["/bin/bash", "/usr/bin/bash", "/bin/sh"].into_iter().find(|path| Path::new(path).exists());
        let mut command = Command::new(bash.unwrap());
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
        ("find . -type f \\( -name '1.log' -o -name '[34].*' \\) -exec rm {} +", 3),
        ("find . \\( -name '1.log' -o -name 2.log \\) -delete", 2),
        ("find . -maxdepth 1 -name '*.log' -delete", 2),
        ("rm *.log", 2),
        ("for f in *.log; do rm $f; done", 2),
    ] {
        let radius = said(line, &root);
        assert_eq!((radius.removed, radius.filtered, radius.more), (files, false, false), "{line}");
    }
    let radius = said("for f in **/*.log; do rm $f; done", &root);
    assert!(radius.filtered && radius.removed == 4, "{radius:?}");
    // What zsh makes of it is not what is read off: a bound, and no number.
    let radius = said("zsh -c 'for f in **/*.log; do rm $f; done'", &root);
    assert!(radius.filtered || radius.more, "{radius:?}");
    let empty = tempfile::tempdir().unwrap();
    let radius = said("find . -delete", &empty.path().canonicalize().unwrap());
    assert_eq!((radius.files, radius.directories), (0, 0));
}

/// The number, and whether it is said to be one at most and one at least.
#[test]
fn what_is_said_of_other_ways_to_change_is_so() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    for folder in ["d", "real", "src/sub", "dst/sub"] {
        std::fs::create_dir_all(root.join(folder)).unwrap();
    }
    let names = ["a", "b", "a b", "f.txt", "f.txt.bak", "d/ok", "real/1", "real/2", "src/f", "src/g", "src/sub/x"];
    for name in names.into_iter().chain(["dst/f", "dst/h", "dst/sub/x", "dst/sub/y"]) {
        std::fs::write(root.join(name), "x").unwrap();
    }
    for name in [&b"d/\xff1"[..], b"d/\xfe2"] {
        std::fs::write(root.join(OsStr::from_bytes(name)), "x").unwrap();
    }
    crate::platform::os::fs::symlink("real", root.join("link")).unwrap();
    let files = |line: &str| {
        let radius = said(line, &root);
        (radius.files, radius.filtered, radius.more)
    };
    for (line, number) in [
        ("rm -rf d", 3),
        ("find d -type f -delete", 3),
        ("find link/ -type f -delete", 2),
        ("find link/. -type f -delete", 2),
        ("find link -type f -delete", 0),
        ("echo a b | xargs rm", 2),
        ("echo 'a b' | xargs -I{} rm {}", 1),
        ("mv src/f dst", 2),
        ("mv src/f dst/", 2),
        ("mv -t dst src/f", 2),
        ("mv src/g dst", 1),
        ("cp src/f dst", 1),
    ] {
        assert_eq!(files(line), (number, false, false), "{line}");
    }
    for line in ["echo '\"a b\"' | xargs rm", "echo a b | xargs -E b rm", "echo a,b | xargs -d , rm"] {
        assert_eq!(files(line), (0, false, true), "{line}");
    }
    for (line, number) in [("cp -r src/. dst", 4), ("cp -r src/sub dst", 2), ("sed -i.bak s/x/y/ f.txt", 2)] {
        assert_eq!(files(line), (number, true, false), "{line}");
    }
    for line in ["rsync -a --delete src/ dst/", "rm d/*1"] {
        let (_, at_most, at_least) = files(line);
        assert!(at_most && at_least, "{line}");
    }
    // Two that go, and those there that have such names.
    assert_eq!(files("mv src/? dst"), (4, true, false));
}

/// A search by names leaves the rest alone; each of the others may take everything, whatever it says of names.
#[test]
fn only_names_with_letters_take_the_directory_itself_out_of_a_search() {
    let directory = tempfile::tempdir().unwrap();
    let top = directory.path().canonicalize().unwrap();
    let root = top.join("p");
    std::fs::create_dir_all(root.join("sub")).unwrap();
    for name in ["a.out", "b.o", "sub/a.out", "k", "../outside"] {
        std::fs::write(root.join(name), "x").unwrap();
    }
    for tests in [
        "\\( -name a.out -o -name '*.o' \\)",
        "\\( -name a.out -o -iname b.O \\) ! -path './x/*'",
        "-name '*.o' ! -name z",
    ] {
        for end in ["-delete", "-exec rm {} +", "| xargs rm"] {
            let radius = said(&format!("find . -type f {tests} {end}"), &root);
            assert_eq!((radius.never_auto, radius.outside), (None, 0), "{tests} {end}");
        }
    }
    for tests in [
        "! -name .",
        "-name '?*'",
        "-name '[!.]*'",
        "-name '*.*'",
        "\\( -name a.out -o -name '*' \\)",
        "\\( -name a.out -o -type f \\)",
        "\\( -name a.out -o ! -name b \\)",
        "! \\( -name a.out -o -name b \\)",
        "\\( -name a.out -o -name b \\) -o -name '*'",
        "\\( -name a.out -o -name b -o \\)",
        "-name a.out -o -name b",
    ] {
        let radius = said(&format!("find . {tests} -delete"), &root);
        assert!(radius.never_auto.is_some(), "{tests}: {radius:?}");
    }
}
