//! Undo is exact by way of axi itself: random lines and calls of tools that a model has run over several turns, each a
//! run of its own, hooks that change files behind them, and `/rewind` to the start of any of them. What cannot be undone
//! does not run unasked: it is said before, not after.
//!
//! `AXI_REWIND_CASES` says how many are tried, `AXI_UNDO_SEED` from which seed on; a failure tells its own.

use std::collections::BTreeMap;
use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

use serde_json::json;

use crate::support::home::Home;
use crate::support::server::{Server, answer};
use crate::support::skip::skip;
use crate::support::talk::{Person, axi, run};

/// The lines of the journal's own test: `F` and `G` stand for files, `D` and `E` for directories, `N` for a number.
const LINES: &str = include_str!("../../src/journal/exact_lines.txt");
pub(crate) const FILES: &[&str] =
    &["top", "d0/a", "d0/b", "d0/s0/a", "d1/a", "d1/s1/a", "d1/s1/c", "new", "d1/new"];
const FOLDERS: &[&str] = &["d0", "d1", "d0/s0", "d1/s1", "made", "d0/made"];
const TURNS: usize = 4;
const LINES_A_TURN: usize = 5;

/// Numbers that look random, the same for one seed (splitmix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % end as u64).unwrap()
    }

    pub(crate) fn line(&mut self) -> String {
        let words = LINES.lines().nth(self.below(LINES.lines().count())).unwrap();
        let mut line = String::new();
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

impl Random {
    /// A call of a tool: most are shell lines.
    fn call(&mut self) -> (&'static str, String) {
        let (file, other) = (FILES[self.below(FILES.len())], FILES[self.below(FILES.len())]);
        match self.below(8) {
            0 => ("write", json!({ "path": file, "content": format!("{}\n", self.below(8)) }).to_string()),
            1 => ("move", json!({ "from": file, "to": other }).to_string()),
            2 => ("delete", json!({ "path": file }).to_string()),
            _ => ("shell", json!({ "command": self.line() }).to_string()),
        }
    }
}

/// Everything about a path that is to come back: content or where it leads, mode, time, an attribute; the first name
/// of a file stands for which file it is.
pub(crate) type Picture = BTreeMap<PathBuf, (Vec<u8>, u32, (i64, i64), Vec<u8>, PathBuf)>;

pub(crate) fn picture(work: &Path) -> Picture {
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
        let mut note = [0; 16];
        let length = rustix::fs::lgetxattr(&path, "user.note", &mut note).unwrap_or(0);
        let times = (metadata.mtime(), metadata.mtime_nsec());
        found.insert(path.clone(), (content, metadata.mode(), times, note[..length].to_vec(), path.clone()));
        if is_closed && metadata.is_file() {
            std::fs::set_permissions(&path, metadata.permissions()).unwrap();
        } else if is_closed {
            closed.push((path, metadata.permissions()));
        }
    }
    let mut first: BTreeMap<(u64, u64), PathBuf> = BTreeMap::new();
    for (path, (.., name)) in &mut found {
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

fn fill(home: &Home, random: &mut Random) {
    let work = home.work();
    for name in &FILES[..7] {
        // Some have one length, so that only their contents tell.
        home.write(&format!("work/{name}"), &format!("{} of {name:.4}\n", random.below(3)));
    }
    std::fs::hard_link(work.join("top"), work.join("d0/hard")).unwrap();
    std::fs::hard_link(work.join("d1/a"), work.join("d1/s1/hard")).unwrap();
    std::os::unix::fs::symlink("../top", work.join("d1/link")).unwrap();
    // Not every file system has these.
    let _ = rustix::fs::setxattr(work.join("d0/a"), "user.note", b"mine", rustix::fs::XattrFlags::empty());
    home.write(".gitconfig", "[user]\nname = n\nemail = n@localhost\n");
    let ran = home.command("sh").args(["-c", "git init -q && git add -A && git commit -qm 0"]).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    for (index, path) in picture(&work).into_keys().rev().filter(|path| !path.is_symlink()).enumerate() {
        let time = UNIX_EPOCH + Duration::from_secs(1_500_000_000 + (index % 2) as u64);
        std::fs::File::open(&path).unwrap().set_modified(time).unwrap();
    }
}

/// Tells the steps of a case, if it does not come back exactly; `lines` counts those that ran.
fn differs(seed: u64, lines: &mut usize) -> Option<String> {
    let mut random = Random(seed);
    let home = Home::new();
    fill(&home, &mut random);
    if seed.is_multiple_of(2) {
        let hook = json!({ "type": "command", "command": format!("cat > /dev/null; {}; true", random.line()) });
        let hooks = json!({ "hooks": { "PostToolUse": [{ "hooks": [hook] }] } });
        home.write("config/axi/hooks.json", &hooks.to_string());
    }
    let (mut starts, mut told) = (Vec::new(), Vec::new());
    for turn in 0..TURNS {
        starts.push(picture(&home.work()));
        let calls: Vec<(String, (&str, String))> =
            (0..LINES_A_TURN).map(|call| (format!("call_{turn}_{call}"), random.call())).collect();
        let named: Vec<(&str, &str, &str)> =
            calls.iter().map(|(id, (tool, input))| (id.as_str(), *tool, input.as_str())).collect();
        let server = Server::start([answer::chat_calls(&named), answer::chat_text("done")]);
        let mut command = axi(&home, &server);
        command.args(if turn == 0 { &["-y"][..] } else { &["-y", "-c"] }).args(["-p", "go on"]);
        let ran = run(&mut command);
        told.push(format!("-- turn {turn} ends with {:?} {}", ran.code, ran.err));
        told.extend(calls.into_iter().map(|(_, (tool, input))| format!("{tool} {input}")));
        // What is asked does not run here; what ran was not said to stay.
        assert!(matches!(ran.code, Some(0 | 5)), "seed {seed}\n{}", told.join("\n"));
        *lines += if ran.code == Some(0) { LINES_A_TURN } else { 0 };
    }
    let back = random.below(TURNS);
    let server = Server::start([]);
    let mut person = Person::meets(axi(&home, &server).arg("-c"));
    person.sends(&format!("/rewind {} both", back + 1));
    person.sees("Back before that message");
    let now = picture(&home.work());
    let before = &starts[back];
    let paths = now.keys().chain(before.keys()).filter(|path| now.get(*path) != before.get(*path));
    let wrong: Vec<String> = paths
        .map(|path| format!("{}: {:?}\n  was {:?}", path.display(), now.get(path), before.get(path)))
        .collect();
    let screen = person.pty.describe();
    // So that the directory can be removed.
    let opened = home.command("chmod").args(["-R", "u+rwX", "."]).output().unwrap();
    assert!(opened.status.success(), "{opened:?}");
    // What was said is on the line again.
    person.types("\x15");
    assert_eq!(person.leaves(), Some(0));
    (!wrong.is_empty()).then(|| {
        let told = told.join("\n");
        format!("AXI_UNDO_SEED={seed} back to turn {back}\n{told}\n{}\n{screen}", wrong.join("\n"))
    })
}

pub(crate) fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

#[test]
fn what_random_turns_did_is_taken_back_exactly_by_a_rewind_to_any_of_them() {
    let (first, cases) = (number("AXI_UNDO_SEED", 1), number("AXI_REWIND_CASES", 2));
    let mut lines = 0;
    let wrong: Vec<String> = (first..first + cases).filter_map(|seed| differs(seed, &mut lines)).collect();
    assert!(wrong.is_empty(), "{} of {cases} differ\n{}", wrong.len(), wrong.join("\n\n"));
    // Most lines are agreed to by `-y`; else the test would be about nothing.
    assert!(lines as u64 >= cases * 5, "only {lines} lines ran");
}

/// Root may look everywhere: what an ordinary user cannot take back shows only to one.
#[test]
fn what_root_takes_back_an_ordinary_user_does_too() {
    const NOBODY: u32 = 65534;
    if !rustix::process::geteuid().is_root() {
        return skip("only root can become another user");
    }
    let axi = Command::new(env!("CARGO_BIN_EXE_axi")).arg("--version").uid(NOBODY).gid(NOBODY).output();
    if !axi.is_ok_and(|ran| ran.status.success()) {
        return skip("no other user can run this axi");
    }
    let directory = tempfile::tempdir().unwrap();
    std::os::unix::fs::chown(directory.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    let mut again = Command::new("/proc/self/exe");
    again.args(["undo_random::what_random_turns_did"]).current_dir(directory.path());
    again.env("TMPDIR", directory.path()).env("HOME", directory.path()).uid(NOBODY).gid(NOBODY);
    let ran = again.output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
}
