//! Trials of an ordinary user among files of others: what cannot be written for real is not written in a trial, and what could
//! not be applied as it is says so before.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, lchown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::home::Home;
use crate::support::skip::skip;
use crate::support::talk::{Ran, run};
use crate::trial::{can_try, changes, filled};
use crate::trial_copy::can_copy;
use crate::undo_random::picture;

const NOBODY: u32 = 65534;

/// A home of an ordinary user with files of root in its workspace; `None` where nobody can make one.
fn with_others() -> Option<Home> {
    if !rustix::process::geteuid().is_root() {
        skip("only root makes files of two users");
        return None;
    }
    let axi = Command::new(env!("CARGO_BIN_EXE_axi")).arg("--version").uid(NOBODY).gid(NOBODY).output();
    if !axi.is_ok_and(|ran| ran.status.success()) {
        skip("no other user can run this axi");
        return None;
    }
    let home = filled();
    let below = walkdir(home.path());
    for path in &below {
        lchown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    for (name, mode) in
        [("fixed", 0o644), ("open", 0o666), ("closed", 0o600), ("theirs/file", 0o644), ("shut/file", 0o644)]
    {
        let path = home.write(&format!("work/{name}"), "root\n");
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    std::fs::set_permissions(home.work().join("shut"), std::fs::Permissions::from_mode(0o700)).unwrap();
    Some(home)
}

fn walkdir(top: &Path) -> Vec<std::path::PathBuf> {
    let mut found = vec![top.to_owned()];
    let mut next = 0;
    while next < found.len() {
        let path = found[next].clone();
        next += 1;
        if path.symlink_metadata().unwrap().is_dir() {
            found.extend(path.read_dir().unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    found
}

fn tries(home: &Home, options: &[&str], line: &str) -> Ran {
    let mut command = home.axi();
    command.arg("try").args(options).args(["--", line]).uid(NOBODY).gid(NOBODY);
    run(&mut command)
}

#[test]
fn a_command_that_fails_on_a_file_of_others_in_a_layer_is_told_that_no_trial_can_write_it() {
    let Some(home) = with_others().filter(|_| can_try()) else { return };
    let before = picture(&home.work());
    let ran = tries(&home, &[], "echo more >> open");
    assert!(ran.out.contains("belongs to another user or group, such as"), "{}{}", ran.out, ran.err);
    let ran = tries(&home, &[], "echo more >> top");
    assert!(ran.out.contains("~ top") && !ran.out.contains("another user"), "{}{}", ran.out, ran.err);
    assert_eq!(picture(&home.work()), before);
}

#[test]
fn in_a_copy_what_is_not_ours_is_as_writable_as_it_is_and_stays_its_owners() {
    let Some(home) = with_others().filter(|_| can_copy()) else { return };
    let before = picture(&home.work());
    let line =
        "echo 1 >> fixed; echo 2 >> open; echo 3 >> closed; touch theirs/new; ls shut; echo mine >> top; true";
    let ran = tries(&home, &["--copy", "--json"], line);
    let told = ["changed open", "changed top"].map(str::to_owned);
    let kinds: Vec<String> = changes(&ran).into_iter().map(|(kind, path)| format!("{kind} {path}")).collect();
    assert_eq!(kinds, told, "{}", ran.err);
    assert_eq!(ran.err.matches("ermission denied").count(), 4, "{}", ran.err);
    let set: Value = serde_json::from_str(&ran.out).unwrap();
    let also = set["also"].to_string();
    assert!(also.contains("belongs to another user or group, not applied: open"), "{also}");
    assert_eq!(picture(&home.work()), before);

    let ran = tries(&home, &["--copy", "--apply"], line);
    assert!(ran.out.contains("open (7 B) +1 −0 · belongs to another user or group: not applied"), "{}", ran.out);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.err.contains("not applied: open: belongs to another user or group"), "{}", ran.err);
    let read = |name: &str| std::fs::read_to_string(home.work().join(name)).unwrap();
    assert_eq!((read("open").as_str(), read("top").ends_with("mine\n")), ("root\n", true));
    assert_eq!(home.work().join("open").metadata().unwrap().uid(), 0);
}

#[test]
fn what_is_moved_in_a_copy_and_belongs_to_others_is_neither_lost_nor_taken_over() {
    let Some(home) = with_others().filter(|_| can_copy()) else { return };
    let before = picture(&home.work());
    let ran = tries(&home, &["--copy", "--apply", "--json"], "mv fixed moved");
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert_eq!(ran.err.matches("another user or group").count(), 2, "{}", ran.err);
    assert_eq!(picture(&home.work()), before);
    // Who may remove it may do that in a trial, too; what another program puts in its place is one's own.
    let line = "rm fixed; cp open x; mv x open";
    let ran = tries(&home, &["--copy", "--apply", "--json"], line);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(changes(&ran)[0], ("deleted".to_owned(), "fixed".to_owned()));
    assert!(!home.work().join("fixed").exists());
    chown(home.work(), None, None).unwrap();
    let set: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(set["exit"], json!(0));
    let direct = home.work().join("open").metadata().unwrap();
    assert_eq!(direct.uid(), NOBODY);
}
