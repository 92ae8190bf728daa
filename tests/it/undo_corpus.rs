//! A corpus of shell lines that destroy, each agreed to by a person; then `/undo`: contents, modes and times are as
//! they were, in files git knows and files it does not, also when axi is killed in the middle.

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use rustix::process::Signal;
use serde_json::json;

use crate::support::changes::Changes;
use crate::support::home::Home;
use crate::support::pty::Pty;
use crate::support::server::{Server, answer};
use crate::support::skip::skip;
use crate::support::talk::{Person, axi, is_choice};

/// Each runs in a directory of its own with the files of [`fill`].
const LINES: &[&str] = &[
    "rm -rf sub",
    "mv b a",
    ": > a",
    "echo more >> a; cat b > c",
    "sed -i s/one/two/ a sub/d",
    "perl -pi -e s/one/two/ a sub/d",
    "chmod -R 700 sub",
    "find . -name d -delete",
    "tar xf ../../box.tar",
    "cp b a",
    "ln -sf b a",
    "truncate -s 0 a",
    "dd if=/dev/zero of=a bs=1 count=3 2>/dev/null",
    "rm $(cat list)",
    "sh ./clean.sh",
    "tr '\\n' '\\0' < list | xargs -0 rm -f --",
    "rm -r -- * .hidden",
    "shred -u a",
    "rsync -a --delete ../box/ sub/",
    "find . -type f -exec rm {} +",
    "make -s wipe",
];

/// These are about the whole repository.
const OF_GIT: &[&str] = &["git clean -fdxq", "git checkout -q .", "git reset -q --hard", "git stash -qu"];

/// What stands somewhere: content or where a link leads, mode, and time in nanoseconds.
type Picture = BTreeMap<PathBuf, (Vec<u8>, u32, i64)>;

fn picture(directory: &Path) -> Picture {
    let mut found = Picture::new();
    for entry in directory.read_dir().unwrap().flatten().filter(|entry| entry.file_name() != ".git") {
        let path = entry.path();
        let metadata = path.symlink_metadata().unwrap();
        let content = if metadata.is_symlink() {
            path.read_link().unwrap().into_os_string().into_encoded_bytes()
        } else {
            std::fs::read(&path).unwrap_or_default()
        };
        if metadata.is_dir() {
            found.extend(picture(&path));
        }
        found.insert(path, (content, metadata.mode(), metadata.mtime() * 1_000_000_000 + metadata.mtime_nsec()));
    }
    found
}

/// Fails with what differs, and with nothing else.
fn assert_same(now: &Picture, before: &Picture, what: &str) {
    let differs = |path: &&PathBuf| now.get(*path) != before.get(*path);
    let paths: Vec<&PathBuf> = now.keys().chain(before.keys()).filter(differs).collect();
    let told: Vec<String> = paths
        .iter()
        .map(|path| format!("{}: {:?}, was {:?}", path.display(), now.get(*path), before.get(*path)))
        .collect();
    assert!(told.is_empty(), "{what}\n{}", told.join("\n"));
}

fn git(home: &Home, arguments: &[&str]) {
    let names = ["-c", "user.name=n", "-c", "user.email=n@localhost"];
    let ran = home.command("git").args(names).args(arguments).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
}

fn dated(path: &Path, seconds: u64) {
    let time = UNIX_EPOCH + Duration::new(seconds, 123_456_789);
    std::fs::File::open(path).unwrap().set_modified(time).unwrap();
}

/// A repository where half of the directories are committed, and the other half are not known to git.
fn fill(home: &Home, rows: usize) {
    for half in ["known", "other"] {
        for row in 0..rows {
            let place = format!("work/{half}/r{row}");
            let texts =
                [("a", "one\n"), ("b", "b\n"), ("sub/d", "one d\n"), ("sub/e f", "e\n"), (".hidden", "h\n")];
            let others = [
                ("list", "a\nsub/d\n"),
                ("clean.sh", "rm -rf sub\nfor name in a b; do rm \"$name\"; done\n"),
                ("Makefile", "wipe:\n\trm -f a sub/*\n"),
            ];
            for (index, (name, text)) in texts.into_iter().chain(others).enumerate() {
                let path = home.write(&format!("{place}/{name}"), text);
                std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
                dated(&path, 1_500_000_000 + index as u64);
            }
            symlink("a", home.path().join(&place).join("link")).unwrap();
        }
    }
    home.write("work/known/box/a", "from the box\n");
    home.write("work/other/box/a", "from the box\n");
    let packed = home.command("tar").args(["cf", "box.tar", "-C", "known/box", "a"]).output().unwrap();
    assert!(packed.status.success());
    home.write("work/.gitignore", "*.secret\n");
    home.write("work/kept.secret", "not in git, and ignored\n");
    git(home, &["init", "-q"]);
    git(home, &["add", ".gitignore", "known"]);
    git(home, &["commit", "-qm", "all"]);
    home.write("work/known/r0/b", "changed and not committed\n");
    home.write("work/known/r1/new", "added and not committed\n");
    git(home, &["add", "known/r1/new"]);
    for (path, (_, mode, _)) in picture(&home.work()).iter().rev() {
        if path.is_dir() {
            assert_eq!(mode & 0o700, 0o700);
            dated(path, 1_400_000_000);
        }
    }
}

fn has(home: &Home, program: &str) -> bool {
    home.command(program).arg("--version").output().is_ok()
}

/// The lines of one half, as calls.
fn lines(home: &Home, half: &str) -> Vec<String> {
    let there = |line: &str| {
        let program = line.split(' ').next().unwrap_or_default();
        let wanted = ["rsync", "make", "shred", "tar"].iter().find(|name| **name == program);
        wanted.is_none_or(|name| {
            let there = has(home, name);
            if !there {
                skip(format_args!("{name} is not here: its line is left out"));
            }
            there
        })
    };
    let rows = LINES.iter().enumerate().filter(|(_, line)| there(line));
    rows.map(|(row, line)| format!("cd {half}/r{row} && {{ {line}; }}")).collect()
}

fn call(index: usize, line: &str) -> crate::support::server::Answer {
    answer::chat_call(&format!("call_{index}"), "shell", &json!({ "command": line }).to_string())
}

/// Waits for a question, whichever of its answers is the first.
fn sees_question(person: &Person) {
    person.waits(|view| view.text().lines().any(|row| is_choice(row, "Yes, once")), "a question");
}

/// Says yes to each of the next questions; the server hears of each result.
fn agrees(person: &mut Person, server: &Server, questions: usize) {
    for index in 0..questions {
        sees_question(person);
        person.types("y");
        let heard = index + 2;
        person.waits(|_| server.requests().len() >= heard, "the next request");
    }
}

fn undoes(person: &mut Person) {
    person.sees_prompt();
    person.sends("/undo yes");
    let told = |text: &str| text.contains(" as they were.") || text.contains(" as it was.");
    person.waits(|view| told(&view.text()), "the end of the undo");
}

/// Runs lines as calls of one turn, each agreed to, takes the turn back, and compares.
fn all_come_back(rows: usize, lines_of: impl FnOnce(&Home) -> Vec<String>) {
    let home = Home::new();
    fill(&home, rows);
    let before = picture(&home.work());
    let lines = lines_of(&home);
    let mut script: Vec<_> = lines.iter().enumerate().map(|(index, line)| call(index, line)).collect();
    script.push(answer::chat_text("all is broken"));
    let server = Server::start(script);
    let mut person = Person::meets(&axi(&home, &server));
    person.sends("break it");
    agrees(&mut person, &server, lines.len());
    person.sees("all is broken");
    let broken = picture(&home.work());
    for line in lines.iter().filter(|line| line.starts_with("cd ")) {
        let place = home.work().join(line.split([' ', '&']).nth(1).unwrap());
        let changed = before.iter().any(|(path, was)| path.starts_with(&place) && broken.get(path) != Some(was));
        assert!(changed, "{line} changed nothing");
    }
    undoes(&mut person);
    assert_same(&picture(&home.work()), &before, "after the undo");
    assert_eq!(server.violations(), Vec::<String>::new());
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn what_git_does_not_know_comes_back() {
    all_come_back(LINES.len(), |home| lines(home, "other"));
}

#[test]
fn what_git_knows_comes_back() {
    all_come_back(LINES.len(), |home| lines(home, "known"));
}

#[test]
fn what_git_throws_away_comes_back() {
    for line in OF_GIT {
        all_come_back(2, |_| vec![(*line).to_owned()]);
    }
}

/// Goes on with the last session; what was on the line when it was killed is cleared.
fn meets_again(home: &Home, server: &Server) -> Person {
    let mut person = Person { pty: Pty::options().spawn(axi(home, server).arg("-c")) };
    person.sees("❯");
    if person.count("back on the line") > 0 {
        person.sees_line("break it");
        person.types("\x03");
    }
    person.sees_prompt();
    person
}

/// Kills axi with its children once `moment` is there, which a change in `directory` brings, meets a new one, takes back, and compares.
fn killed(script: &[String], asked: usize, directory: &str, moment: impl Fn(&Path) -> bool) {
    let home = Home::new();
    fill(&home, LINES.len());
    let before = picture(&home.work());
    let calls: Vec<_> = script.iter().enumerate().map(|(index, line)| call(index, line)).collect();
    let server = Server::start(calls);
    let mut person = Person::meets(&axi(&home, &server));
    person.sends("break it");
    agrees(&mut person, &server, asked - 1);
    sees_question(&person);
    person.types("y");
    let directory = home.work().join(directory);
    Changes::of(&directory).until("the moment to kill axi", || moment(&directory));
    person.pty.signal(Signal::KILL);
    person.pty.wait_exit();
    drop(person);
    let mut person = meets_again(&home, &server);
    undoes(&mut person);
    let mut now = picture(&home.work());
    now.remove(&home.work().join("mark"));
    assert_same(&now, &before, "after the kill and the undo");
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn killed_behind_a_line_the_next_axi_takes_all_back() {
    let home = Home::new();
    let all = lines(&home, "other");
    for last in [0, 12] {
        let mut script: Vec<String> = all.iter().take(last + 1).cloned().collect();
        let line = script.pop().unwrap();
        script.push(format!("( {line} ); touch mark; sleep 60"));
        let asked = script.len();
        killed(&script, asked, "", |work| work.join("mark").exists());
    }
}

#[test]
fn killed_in_the_middle_of_removing_the_next_axi_takes_all_back() {
    let script = || vec!["cd other && for row in r*; do sh -c 'rm -r \"$0\"' $row; sleep 0.01; done".to_owned()];
    for left in [LINES.len() - 1, LINES.len() / 3] {
        let count = move |other: &Path| {
            let rows = other.read_dir().unwrap().flatten();
            rows.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(b"r")).count()
        };
        killed(&script(), 1, "other", move |other| count(other) <= left);
    }
}
