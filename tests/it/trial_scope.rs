//! What a trial covers: file systems that are mounted inside of the workspace, and git's own directories outside of it.

use std::path::Path;
use std::process::Command;

use crate::support::home::Home;
use crate::support::skip::skip;
use crate::support::talk::{Ran, run};
use crate::trial::{can_try, changes, filled};

/// Runs a script in which something can be mounted; root has no need of a user namespace for that.
fn with_mounts(home: &Home, script: &str) -> Ran {
    let mut command = home.command("unshare");
    command.arg(if rustix::process::geteuid().is_root() { "-m" } else { "-Urm" });
    run(command.args(["sh", "-ec", script, env!("CARGO_BIN_EXE_axi")]))
}

#[test]
fn what_is_mounted_in_the_workspace_is_tried_and_applied_with_it() {
    if !can_try() {
        return;
    }
    let home = filled();
    std::fs::create_dir(home.work().join("disk")).unwrap();
    if with_mounts(&home, "mount -t tmpfs mine disk").code != Some(0) {
        return skip("nothing can be mounted here");
    }
    let line =
        "echo more >> disk/kept; rm disk/gone; mkdir disk/new; echo 1 > disk/new/a; echo x > top; mv d0 disk/d0";
    let begin = "mount -t tmpfs mine disk; echo kept > disk/kept; echo gone > disk/gone";
    let told =
        with_mounts(&home, &format!("{begin}; \"$0\" try --json -- '{line}'; cat disk/kept >&2; ls disk >&2"));
    let kinds: Vec<String> = changes(&told).into_iter().map(|(kind, path)| format!("{kind} {path}")).collect();
    for change in ["deleted disk/gone", "changed disk/kept", "added disk/new/a", "changed top", "deleted d0/a"] {
        assert!(kinds.contains(&change.to_owned()), "{change}: {kinds:?} {}", told.err);
    }
    assert!(told.err.ends_with("kept\ngone\nkept\n"), "nothing has happened yet: {}", told.err);
    let applied = with_mounts(
        &home,
        &format!("{begin}; \"$0\" try --apply -- '{line}' >&2; cat disk/kept disk/new/a disk/d0/a; ls disk"),
    );
    assert_eq!(applied.out, "kept\nmore\n1\n1 of d0/a\nd0\nkept\nnew\n", "{}", applied.err);
    // A file that is mounted over another has no layer: it is named, and a copy does.
    let file = with_mounts(
        &home,
        "echo theirs > ../theirs; mount --bind ../theirs top; \"$0\" try --json -- 'cat top; echo x > d1/a'",
    );
    assert!(file.out.contains("in a copy") || file.err.contains("/top"), "{} {}", file.out, file.err);
}

fn git(home: &Home, directory: &Path, line: &str) -> String {
    let ran = home.command("sh").args(["-ec", line]).current_dir(directory).output().unwrap();
    assert!(ran.status.success(), "{line}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap()
}

fn commits_in(home: &Home, directory: &Path) {
    let mut command: Command = home.axi();
    command.current_dir(directory);
    let line = "echo new > new && git add new && git commit -qm tried && git branch made";
    let before = git(home, directory, "git log --format=%s; git branch");
    let told = run(command.args(["try", "--json", "--", line]));
    assert_eq!(told.code, Some(0), "{}", told.err);
    assert_eq!(git(home, directory, "git log --format=%s; git branch"), before, "nothing has happened yet");
    let mut command = home.axi();
    let applied = run(command.current_dir(directory).args(["try", "--apply", "--", line]));
    assert_eq!(applied.code, Some(0), "{}", applied.err);
    assert!(git(home, directory, "git log --format=%s").starts_with("tried\n"), "{}", applied.err);
    assert_eq!(git(home, directory, "git branch --list made; git status --porcelain; git fsck 2>&1"), "  made\n");
}

#[test]
fn a_worktree_and_a_submodule_are_tried_with_gits_directories_outside_of_them() {
    if !can_try() {
        return;
    }
    let home = filled();
    git(&home, &home.work(), "git worktree add -q ../side");
    commits_in(&home, &home.path().join("side"));
    let own = filled();
    git(
        &own,
        &own.work(),
        "git clone -q --bare . ../part.git && git -c protocol.file.allow=always submodule --quiet add ../part.git part",
    );
    commits_in(&own, &own.work().join("part"));
}
