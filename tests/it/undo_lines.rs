//! `/undo` after shell lines that change one file in several ways: all is as it was, with contents, modes and times.

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use serde_json::json;

use crate::support::home::Home;
use crate::support::server::{Server, answer};
use crate::support::skip::skip;
use crate::support::talk::{Person, axi, run};

/// What stands somewhere: content or where a link leads, mode, and time in nanoseconds.
type Picture = BTreeMap<PathBuf, (String, u32, i64)>;

fn picture(directory: &Path) -> Picture {
    let mut found = Picture::new();
    for entry in directory.read_dir().unwrap().flatten() {
        let path = entry.path();
        let metadata = path.symlink_metadata().unwrap();
        let content = if metadata.is_symlink() {
            path.read_link().unwrap().display().to_string()
        } else {
            std::fs::read_to_string(&path).unwrap_or_default()
        };
        if metadata.is_dir() {
            found.extend(picture(&path));
        }
        found.insert(path, (content, metadata.mode(), metadata.mtime() * 1_000_000_000 + metadata.mtime_nsec()));
    }
    found
}

fn fill(home: &Home) {
    for name in ["work/c.txt", "work/sub/f"] {
        let path = home.write(name, "xxx");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let time = UNIX_EPOCH + Duration::new(1_500_000_000, 123_456_789);
        std::fs::File::open(&path).unwrap().set_modified(time).unwrap();
    }
    for (leads_to, name) in [("c.txt", "link"), ("sub", "folder"), ("nowhere", "dangling")] {
        symlink(leads_to, home.work().join(name)).unwrap();
    }
}

/// Plays one turn of calls a row, takes it back, and compares.
fn all_come_back(rows: &[&[&str]]) {
    let home = Home::new();
    fill(&home);
    let before = picture(&home.work());
    let server = Server::start(Vec::new());
    let mut person = Person::meets(axi(&home, &server).arg("-y"));
    for (row, lines) in rows.iter().enumerate() {
        for (index, line) in lines.iter().enumerate() {
            let input = json!({ "command": line }).to_string();
            server.push(answer::chat_call(&format!("call_{row}_{index}"), "shell", &input));
        }
        server.push(answer::chat_text(&format!("done {row} of it")));
        person.sees_prompt();
        person.sends("go on");
        person.sees(&format!("done {row} of it"));
        assert_ne!(picture(&home.work()), before, "{lines:?}");
        person.sees_prompt();
        person.sends("/undo yes");
        person.waits(
            |view| {
                let text = view.transcript();
                text.matches(" as it was.").count() + text.matches(" as they were.").count() > row
            },
            &format!("the end of the undo of {lines:?}"),
        );
        assert_eq!(picture(&home.work()), before, "{lines:?}");
    }
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn what_is_changed_after_its_mode_comes_back() {
    all_come_back(&[
        &["chmod 600 c.txt; sed -i s/x/y/ c.txt"],
        &["chmod 600 c.txt; echo z > c.txt"],
        &["chmod 600 c.txt && echo z >> c.txt"],
        &["chmod 600 c.txt; cp sub/f c.txt; echo z >> c.txt"],
        &["chmod 600 c.txt; rm c.txt"],
        &["chmod 600 c.txt; mv c.txt d.txt"],
        &["chmod -R 700 sub; rm -r sub"],
        &["chmod +x c.txt", "echo z > c.txt"],
        &["chmod +x c.txt", "rm c.txt"],
    ]);
}

#[test]
fn what_is_changed_through_links_comes_back() {
    all_come_back(&[
        &["ln -s c.txt s; echo z > s"],
        &["ln -s c.txt s", "echo z > s"],
        &["ln c.txt h.txt; echo z > h.txt"],
        &["ln -s sub l; rm l/f; echo z > l/g"],
        &["echo z > link"],
        &["chmod 600 link; cp sub/f link; echo z >> link"],
        &["rm folder/f"],
        &["rm -r folder/*; rm folder"],
        &["echo z > dangling"],
    ]);
}

fn makes_clones(home: &Home) -> bool {
    let mut cloning = home.command("cp");
    let makes = cloning.args(["--reflink=always", "c.txt", "clone"]).output().is_ok_and(|ran| ran.status.success());
    if makes {
        skip("this file system makes clones, which are free");
    }
    makes
}

/// Bytes of a file that is too large to copy.
const TOO_LARGE: u64 = 257 * 1024 * 1024;

/// A home with such a file among others. A hole takes no room; the length alone says that it is not copied.
fn home_with_a_large_file() -> (Home, PathBuf) {
    let home = Home::new();
    fill(&home);
    let large = home.write("work/large", "");
    std::fs::File::options().write(true).open(&large).unwrap().set_len(TOO_LARGE).unwrap();
    (home, large)
}

#[test]
fn where_nobody_can_be_asked_what_cannot_be_undone_is_not_run_unless_a_rule_names_it() {
    let (home, large) = home_with_a_large_file();
    if makes_clones(&home) {
        return;
    }
    let write = json!({ "path": "large", "content": "z" }).to_string();
    let shell = json!({ "command": "truncate -s 1 large" }).to_string();
    for (tool, input) in [("shell", shell.as_str()), ("write", write.as_str())] {
        let server = Server::start(vec![answer::chat_call("call_1", tool, input), answer::chat_text("done it")]);
        let ran = run(axi(&home, &server).args(["-y", "-p", "go on"]));
        // Other tools refuse what they cannot read by themselves.
        if tool == "shell" {
            assert_eq!(ran.code, Some(5), "{}", ran.err);
            assert!(ran.err.contains("could not keep a copy"), "{}", ran.err);
            assert!(ran.err.contains("--allow 'shell(truncate -s 1 large)'"), "{}", ran.err);
        }
        assert_eq!(large.metadata().unwrap().len(), TOO_LARGE, "{tool}");
    }
    let server = Server::start(vec![answer::chat_call("call_1", "shell", &shell), answer::chat_text("done it")]);
    let ran = run(axi(&home, &server).args(["-y", "--allow", "shell(truncate -s 1 large)", "-p", "go on"]));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("too large to copy"), "{}", ran.err);
    assert_eq!(large.metadata().unwrap().len(), 1);
}

#[test]
fn what_is_too_large_to_keep_is_said_before_and_after() {
    let (home, large) = home_with_a_large_file();
    if makes_clones(&home) {
        return;
    }
    let input = json!({ "command": "echo z > large; echo z > c.txt" }).to_string();
    let server = Server::start(vec![answer::chat_call("call_1", "shell", &input), answer::chat_text("done it")]);
    let mut person = Person::meets(axi(&home, &server).arg("-y"));
    person.sends("go on");
    // Nobody has agreed to that with `-y`.
    person.sees("cannot be taken back for 1 file");
    // It goes over what git has no copy of: Enter alone means no.
    person.sees_choice("No");
    assert_eq!(large.metadata().unwrap().len(), TOO_LARGE);
    person.types("y");
    person.sees("done it");
    assert!(person.count("too large to copy") == 1, "{}", person.pty.describe());
    person.sees_prompt();
    person.sends("/undo");
    person.sees("cannot come back: no copy was kept");
    person.sees_choice("Yes, take it back");
    person.types("\r");
    person.sees("left as it is: large");
    assert_eq!(std::fs::read_to_string(home.work().join("c.txt")).unwrap(), "xxx");
    assert_eq!(person.leaves(), Some(0));
}

/// The same axi as a person without root's rights; `None` where there is no such person to be.
fn as_nobody(home: &Home, server: &Server) -> Option<std::process::Command> {
    const NOBODY: &str = "65534";
    let owned = home.command("chown").args(["-R", NOBODY]).arg(home.path()).output().ok()?;
    let ours = axi(home, server);
    let mut command = home.command("setpriv");
    command.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--"]).arg(ours.get_program());
    for (name, value) in ours.get_envs() {
        command.env(name, value?);
    }
    let starts = |command: &mut std::process::Command| command.output().is_ok_and(|ran| ran.status.success());
    let mut tried = home.command("setpriv");
    tried.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--"]).arg(ours.get_program());
    (owned.status.success() && starts(tried.arg("--version"))).then_some(command)
}

#[test]
fn what_nobody_may_read_comes_back_to_somebody_who_is_not_root() {
    let home = Home::new();
    fill(&home);
    for (name, mode) in [("work/locked", 0o000), ("work/sub/shut", 0o200)] {
        let path = home.write(name, "locked");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let lines = ["rm -f locked", "chmod 000 sub/f c.txt; rm -f c.txt sub/shut; chmod 500 sub"];
    let mut script: Vec<_> = (0..)
        .zip(lines)
        .map(|(index, line)| {
            answer::chat_call(&format!("call_{index}"), "shell", &json!({ "command": line }).to_string())
        })
        .collect();
    script.push(answer::chat_text("done it"));
    let server = Server::start(script);
    let Some(mut command) = as_nobody(&home, &server) else {
        skip("nobody else to be here");
        return;
    };
    let before = picture(&home.work());
    let mut person = Person::meets(command.arg("-y"));
    person.sends("go on");
    person.sees("done it");
    assert!(!home.work().join("locked").exists() && !home.work().join("c.txt").exists());
    person.sees_prompt();
    person.sends("/undo yes");
    person.sees(" as they were.");
    assert_eq!(picture(&home.work()), before);
    assert_eq!(person.leaves(), Some(0));
}
