//! Undo is exact: random lines with hard links, copies over what is there and what git moves, taken back to the start of
//! any turn: contents, modes, times, links and extended attributes are as they were.
//!
//! `AXI_UNDO_CASES` says how many are tried, `AXI_UNDO_SEED` from which seed on; a failure tells its own.

use std::collections::BTreeMap;
use std::fs::Permissions;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

use crate::platform::os::fs::{MetadataExt as _, PermissionsExt as _};
use crate::platform::os::process::CommandExt as _;

use super::*;

/// Steps of one case.
const STEPS: usize = 20;
const FILES: &[&str] = &["top", "d0/a", "d0/b", "d0/s0/a", "d1/a", "d1/s1/a", "d1/s1/c", "new", "d1/new"];
const FOLDERS: &[&str] = &["d0", "d1", "d0/s0", "d1/s1", "made", "d0/made"];
/// `F` and `G` stand for files, `D` and `E` for directories, `N` for a number.
const LINES: &str = include_str!("exact_lines.txt");

/// Numbers that look random, the same for one seed (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % end as u64).unwrap()
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        let words = LINES.lines().nth(self.below(LINES.lines().count())).unwrap();
        for (index, letter) in words.char_indices() {
            let alone = |at: Option<char>| at.is_none_or(|at| !at.is_ascii_alphabetic());
            let whole = alone(words[..index].chars().next_back()) && alone(words[index + 1..].chars().next());
            match letter {
                'F' | 'G' if whole => line.push_str(FILES[self.below(FILES.len())]),
                'D' | 'E' if whole => line.push_str(FOLDERS[self.below(FOLDERS.len())]),
                'N' => line.push_str(&self.below(8).to_string()),
                other => line.push(other),
            }
        }
        line
    }
}

/// Everything about a path that is to come back; the first name of a file stands for which file it is.
type Picture = BTreeMap<PathBuf, (Vec<u8>, u32, (i64, i64), PathBuf, State)>;

fn picture(work: &Path) -> Picture {
    let (mut found, mut waiting, mut closed) = (Picture::new(), vec![work.to_owned()], Vec::new());
    while let Some(path) = waiting.pop() {
        let metadata = path.symlink_metadata().unwrap();
        // What an ordinary user has closed is open while it is looked at.
        let is_closed = metadata.is_file() && std::fs::File::open(&path).is_err()
            || metadata.is_dir() && path.join(".").read_dir().is_err();
        if is_closed {
            let open = Permissions::from_mode(metadata.mode() | 0o700);
            std::fs::set_permissions(&path, open).unwrap();
        }
        let content = if metadata.is_symlink() {
            path.read_link().unwrap().into_os_string().into_encoded_bytes()
        } else if metadata.is_file() {
            std::fs::read(&path).unwrap()
        } else {
            Vec::new()
        };
        if metadata.is_dir() {
            let entries = path.read_dir().unwrap().flatten().filter(|entry| entry.file_name() != ".git");
            waiting.extend(entries.map(|entry| entry.path()));
        }
        let state = State { node: None, mode: metadata.mode() & 0o7777, ..State::look(&path).unwrap() };
        let times = (metadata.mtime(), metadata.mtime_nsec());
        found.insert(path.clone(), (content, metadata.mode(), times, path.clone(), state));
        if is_closed && metadata.is_file() {
            std::fs::set_permissions(&path, metadata.permissions()).unwrap();
        } else if is_closed {
            closed.push((path, metadata.permissions()));
        }
    }
    let mut first: BTreeMap<(u64, u64), PathBuf> = BTreeMap::new();
    for (path, (.., name, _)) in &mut found {
        let metadata = path.symlink_metadata().unwrap();
        if metadata.is_file() {
            name.clone_from(first.entry((metadata.dev(), metadata.ino())).or_insert_with(|| path.clone()));
        }
    }
    for (path, mode) in closed.into_iter().rev() {
        std::fs::set_permissions(path, mode).unwrap();
    }
    found
}

fn run(work: &Path, line: &str) {
    let home = work.parent().unwrap();
    let ran = Command::new("bash")
        .args(["-c", line])
        .current_dir(work)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", home)
        .envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_AUTHOR_NAME", "n"), ("GIT_AUTHOR_EMAIL", "n@localhost")])
        .envs([("GIT_COMMITTER_NAME", "n"), ("GIT_COMMITTER_EMAIL", "n@localhost")])
        .output();
    // Many lines of these fail, for what they name is gone.
    drop(ran.unwrap());
}

fn fill(work: &Path, random: &mut Random) {
    for folder in &FOLDERS[..4] {
        std::fs::create_dir_all(work.join(folder)).unwrap();
    }
    for name in &FILES[..7] {
        // Some have one length, so that only their contents tell.
        std::fs::write(work.join(name), format!("{} of {name:.4}\n", random.below(3))).unwrap();
        std::fs::set_permissions(work.join(name), Permissions::from_mode(0o644)).unwrap();
    }
    std::fs::hard_link(work.join("top"), work.join("d0/hard")).unwrap();
    std::fs::hard_link(work.join("d1/a"), work.join("d1/s1/hard")).unwrap();
    crate::platform::os::fs::symlink("../top", work.join("d1/link")).unwrap();
    let noted = crate::platform::fs::XattrFlags::empty();
    // Not every file system has these.
    let _ = crate::platform::fs::setxattr(work.join("d0/a"), "user.note", b"mine", noted);
    let _ = crate::platform::fs::setxattr(work.join("d1"), "user.note", b"here", noted);
    run(work, "git init -q && git add -A && git commit -qm 0");
    for (index, path) in picture(work).into_keys().rev().enumerate() {
        if !path.is_symlink() {
            // Few times, so that they do not tell what is what.
            let time = UNIX_EPOCH + Duration::from_secs(1_500_000_000 + (index % 2) as u64);
            std::fs::File::open(&path).unwrap().set_modified(time).unwrap();
        }
    }
}

/// Tells the steps of a case, if it does not come back exactly.
fn differs(seed: u64) -> Option<String> {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    let work = root.join("work");
    std::fs::create_dir(&work).unwrap();
    let mut random = Random(seed);
    fill(&work, &mut random);
    let mut journal = Journal::new(root.join("journals"), "s");
    let (mut starts, mut told) = (Vec::new(), Vec::new());
    for step in 0..STEPS {
        if step == 0 || random.below(5) == 0 {
            journal.begin_turn(starts.len(), 7, UNIX_EPOCH);
            starts.push((step, picture(&work)));
            told.push("-- a turn begins".to_owned());
        }
        let line = random.line();
        journal.before(&[around(&work).unwrap()]).unwrap();
        run(&work, &line);
        journal.after().unwrap();
        told.push(line);
    }
    // What a pipe was cannot come back, and is said before.
    let (_, before) = &starts[random.below(starts.len())];
    let turns = journal.turns().unwrap();
    let place = starts.iter().position(|(_, picture)| picture == before).unwrap();
    let first = turns.get(place)?.number;
    let plan = journal.plan(first).unwrap();
    let lost: Vec<PathBuf> = plan.changes.iter().filter(|change| change.lost).map(|c| c.path.clone()).collect();
    let taken = journal.take_back(&plan, Foreign::Leave).unwrap();
    let after = picture(&work);
    // So that the directory can be removed.
    run(&root, "chmod -R u+rwX .");
    let is_lost = |path: &PathBuf| lost.iter().any(|lost| path.starts_with(lost) || lost.starts_with(path));
    let paths = before.keys().chain(after.keys()).filter(|path| before.get(*path) != after.get(*path));
    let wrong: BTreeSet<&PathBuf> = paths.filter(|path| !is_lost(path)).collect();
    if wrong.is_empty() {
        return None;
    }
    let wrong: Vec<String> = wrong
        .iter()
        .map(|path| format!("{}: {:?}\n  was {:?}", path.display(), after.get(*path), before.get(*path)))
        .collect();
    Some(format!(
        "AXI_UNDO_SEED={seed} AXI_UNDO_CASES=1, back to turn {first}\n{}\n{}\nleft: {:?}, failed: {:?}",
        told.join("\n"),
        wrong.join("\n"),
        taken.left,
        taken.failed
    ))
}

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

#[test]
fn random_lines_are_taken_back_exactly() {
    let (first, cases) = (number("AXI_UNDO_SEED", 1), number("AXI_UNDO_CASES", 12));
    let wrong: Vec<String> = (first..first + cases).filter_map(differs).collect();
    assert!(wrong.is_empty(), "{} of {cases} differ\n{}", wrong.len(), wrong.join("\n\n"));
}

/// Root may look everywhere: what an ordinary user cannot take back shows only to one.
#[test]
fn what_root_takes_back_an_ordinary_user_does_too() {
    const NOBODY: u32 = 65534;
    if !crate::platform::process::geteuid().is_root() {
        return crate::skip::skip("only root can become another user");
    }
    let directory = tempfile::tempdir().unwrap();
    crate::platform::os::fs::chown(directory.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    let mut again = Command::new("/proc/self/exe");
    again.args(["journal::", "--skip", "what_root_takes_back"]).current_dir(directory.path());
    again.env("TMPDIR", directory.path()).env("HOME", directory.path()).uid(NOBODY).gid(NOBODY);
    let Ok(ran) = again.output() else { return crate::skip::skip("this container knows no other user") };
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
}

#[test]
fn what_cannot_be_kept_is_told_before_each_change_though_it_lay_around_earlier_ones() {
    let directory = tempfile::tempdir().unwrap();
    let work = directory.path().canonicalize().unwrap().join("work");
    std::fs::create_dir(&work).unwrap();
    run(&work, "mkfifo pipe; git init -q");
    let mut journal = Journal::new(directory.path().join("journals"), "s");
    journal.begin_turn(0, 7, UNIX_EPOCH);
    assert_eq!(journal.before(&[around(&work).unwrap()]).unwrap().files, 0);
    journal.after().unwrap();
    for _ in 0..2 {
        let touch = Touch { path: work.join("pipe"), tree: false, how: How::Any };
        assert_eq!(journal.before(&[touch, around(&work).unwrap()]).unwrap().files, 1);
        journal.after().unwrap();
    }
}

#[test]
fn a_closed_file_that_gets_a_name_back_stays_closed() {
    let directory = tempfile::tempdir().unwrap();
    let work = directory.path().canonicalize().unwrap().join("work");
    std::fs::create_dir(&work).unwrap();
    run(&work, "mkdir d; echo 1 > a; ln a d/hard; echo 2 > top; chmod 000 a");
    let before = picture(&work);
    let mut journal = Journal::new(directory.path().join("journals"), "s");
    journal.begin_turn(0, 7, UNIX_EPOCH);
    journal.before(&[around(&work).unwrap()]).unwrap();
    run(&work, "mv -f a top");
    journal.after().unwrap();
    let first = journal.turns().unwrap()[0].number;
    let plan = journal.plan(first).unwrap();
    let taken = journal.take_back(&plan, Foreign::Leave).unwrap();
    assert_eq!((taken.left, taken.failed, picture(&work)), (Vec::new(), Vec::new(), before));
}

#[test]
fn a_directory_that_was_put_in_the_place_of_a_removed_one_is_taken_back() {
    let directory = tempfile::tempdir().unwrap();
    let work = directory.path().canonicalize().unwrap().join("work");
    std::fs::create_dir(&work).unwrap();
    run(&work, "mkdir d e; echo 1 > d/one");
    let before = picture(&work);
    let mut journal = Journal::new(directory.path().join("journals"), "s");
    // What was made since a turn began goes to no trash.
    journal.begin_turn(0, 7, std::time::SystemTime::now() + Duration::from_secs(1));
    let tree = |name: &str, how| Touch { path: work.join(name), tree: true, how };
    let removed = tree("e", How::Removed);
    journal.before(&[removed.clone(), tree("d", How::Any), around(&work).unwrap()]).unwrap();
    let mut trash = journal.trash(false).unwrap().unwrap();
    assert!(trash.keep(&[removed]));
    run(&work, "rm -r e; mv d e");
    trash.look_after().unwrap();
    journal.after().unwrap();
    let plan = journal.plan(1).unwrap();
    assert!(plan.changes.iter().all(|change| change.standing == super::Author::Ours), "{plan:?}");
    let taken = journal.take_back(&plan, Foreign::Leave).unwrap();
    assert!(taken.left.is_empty() && taken.failed.is_empty(), "{taken:?}");
    assert_eq!(picture(&work), before);
}

#[test]
fn a_name_that_was_recorded_later_brings_no_later_content_back() {
    for (between, comes_back) in [("true", true), ("rm d/b", false)] {
        let directory = tempfile::tempdir().unwrap();
        let work = directory.path().canonicalize().unwrap().join("work");
        std::fs::create_dir(&work).unwrap();
        // What lies in `build` belongs to no surroundings.
        run(&work, "mkdir d build; echo first > d/b; ln d/b build/o");
        let before = picture(&work);
        let mut journal = Journal::new(directory.path().join("journals"), "s");
        let other = Touch { path: work.join("build/o"), tree: false, how: How::Any };
        for (turn, line) in [(0, "echo later > d/b"), (1, between), (2, "rm -f d/b; echo last > build/o")] {
            journal.begin_turn(turn, 7, UNIX_EPOCH);
            let named = if turn == 2 { vec![other.clone()] } else { Vec::new() };
            journal.before(&[named, vec![around(&work).unwrap()]].concat()).unwrap();
            run(&work, line);
            journal.after().unwrap();
        }
        let plan = journal.plan(1).unwrap();
        let taken = journal.take_back(&plan, Foreign::Leave).unwrap();
        assert!(taken.failed.is_empty(), "{taken:?}");
        assert_eq!(std::fs::read_to_string(work.join("d/b")).unwrap(), "first\n", "{between}");
        assert_eq!(picture(&work) == before, comes_back, "{between}");
    }
}

#[test]
fn what_lies_in_a_directory_that_was_closed_is_taken_back() {
    let directory = tempfile::tempdir().unwrap();
    let work = directory.path().canonicalize().unwrap().join("work");
    std::fs::create_dir(&work).unwrap();
    run(&work, "mkdir d; echo 1 > d/a; chmod 000 d/a; echo 1 > d/b; ln d/b d/c; echo 1 > d/x");
    let before = picture(&work);
    let mut journal = Journal::new(directory.path().join("journals"), "s");
    journal.begin_turn(0, 7, UNIX_EPOCH);
    for line in
        ["echo 2 > d/b; chmod 000 d/b; rm d/x; mkdir d/e; touch d/e/f; chmod 500 d/e", "chmod 000 d", "true"]
    {
        journal.before(&[around(&work).unwrap()]).unwrap();
        run(&work, line);
        journal.after().unwrap();
    }
    let plan = journal.plan(1).unwrap();
    assert_eq!(work.join("d").metadata().unwrap().permissions().mode() & 0o777, 0);
    let taken = journal.take_back(&plan, Foreign::Leave).unwrap();
    assert!(taken.left.is_empty() && taken.failed.is_empty(), "{taken:?}");
    assert_eq!(picture(&work), before);
    run(&work, "chmod -R u+rwX .");
}

#[test]
fn what_a_line_opens_first_and_then_changes_is_taken_back() {
    let directory = tempfile::tempdir().unwrap();
    let work = directory.path().canonicalize().unwrap().join("work");
    std::fs::create_dir(&work).unwrap();
    run(&work, "mkdir -p d/e; echo 1 > d/e/a; echo 1 > f");
    for path in ["d/e/a", "d/e", "d", "f"] {
        // Not every file system has these.
        let _ = crate::platform::fs::setxattr(
            work.join(path),
            "user.note",
            b"mine",
            crate::platform::fs::XattrFlags::empty(),
        );
        std::fs::set_permissions(work.join(path), Permissions::from_mode(0o000)).unwrap();
    }
    let before = picture(&work);
    let mut journal = Journal::new(directory.path().join("journals"), "s");
    journal.begin_turn(0, 7, UNIX_EPOCH);
    let named = Touch { path: work.join("d/e/a"), tree: false, how: How::Any };
    for touches in [vec![around(&work).unwrap()], vec![named, around(&work).unwrap()]] {
        assert_eq!(journal.before(&touches).unwrap().files, 0);
        run(&work, "chmod 700 f d d/e; chmod 600 d/e/a; echo 2 >> f; echo 2 >> d/e/a; rm -f d/e/a");
        journal.after().unwrap();
    }
    let plan = journal.plan(1).unwrap();
    let taken = journal.take_back(&plan, Foreign::Leave).unwrap();
    assert!(taken.left.is_empty() && taken.failed.is_empty(), "{taken:?}");
    assert_eq!(picture(&work), before);
    run(&work, "chmod -R u+rwX .");
}
