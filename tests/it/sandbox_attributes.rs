//! What was approved changes modes, owners, times and attributes where it may write, and tries every way to do so
//! elsewhere.
#![cfg(target_os = "linux")]

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use axi::conversation::Outcome;
use axi::sandbox::Reach;
use axi::tool::{ShellJobTool, ShellTool, ToolOutput};
use serde_json::json;

use crate::sandbox_escapes::Cage;
use crate::support::changes::{Changes, all_end};
use crate::support::home::Home;
use crate::support::server::{Server, answer};
use crate::support::skip::{has, skip};
use crate::support::talk::{Person, axi, run};

/// An approved command's cage, with a file outside; `None` where its calls cannot be judged.
fn cage() -> Option<Cage> {
    let cage = Cage::new(Reach::Workspace { network: true, also: Vec::new() })?;
    if !cage.bench.sandbox.keeps_attributes() {
        skip("nobody can judge calls here (seccomp user_notif, ptrace_scope, or a judge around this test)");
        return None;
    }
    std::fs::write(cage.home.join("notes/b"), "as it was").unwrap();
    set_mode(&cage.home.join("notes/b"), 0o640);
    Some(cage)
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().mode() & 0o7777
}

/// Runs a line that makes many calls, each of which takes its turns on a busy machine.
fn patiently(cage: &Cage, line: &str) -> ToolOutput {
    let shell = ShellTool::new(Some(env!("CARGO_BIN_EXE_axi").into()));
    cage.bench.run(&shell, json!({"command": line, "timeout": 120}))
}

/// A line that runs a program with `os`, `o` a path outside and `n` one inside.
fn python(cage: &Cage, program: &str) -> String {
    let outside = cage.home.join("notes/b");
    cage.bench.put("program.py", format!("import os\no = '{}'\n{program}\n", outside.display()));
    "python3 program.py".to_owned()
}

#[test]
fn nothing_outside_is_changed_by_any_name() {
    let Some(cage) = cage() else { return };
    let (home, file) = (cage.home.display(), cage.home.join("notes/b"));
    let before = file.metadata().unwrap();
    let folder = cage.home.join("notes").metadata().unwrap();
    let mut lines = vec![
        format!("chmod 777 {home}/notes/b"),
        format!("chmod 700 {home}/notes"),
        format!("chmod -R 777 {home}"),
        format!("cd {home}/notes && chmod 777 b"),
        format!("chmod 777 $PWD/../home/notes/b"),
        format!("ln -s {home}/notes/b soft && chmod 777 soft"),
        format!("ln -s {home}/notes folder && chmod 777 folder/b"),
        format!("chmod 777 /proc/self/root{home}/notes/b"),
        format!("exec 3< {home}/notes/b && chmod 777 /proc/self/fd/3"),
        format!("exec 3< {home}/notes/b && chmod 777 /dev/fd/3"),
        format!("chown $(id -u):$(id -g) {home}/notes/b"),
        format!("chown -h $(id -u) {home}/notes/b"),
        format!("touch -d 2001-01-01 {home}/notes/b"),
        format!("touch -h -d 2001-01-01 {home}/notes/b"),
        format!("cp -p --attributes-only {home}/notes/a . && touch -r a {home}/notes/b"),
        format!("setfattr -n user.a -v b {home}/notes/b || exit 1"),
    ];
    lines.retain(|line| !line.starts_with("setfattr") || Path::new("/usr/bin/setfattr").exists());
    for line in &lines {
        cage.denied(line);
    }
    if has("python3") {
        for program in [
            "os.chmod(o, 0o777)",
            "os.fchmod(os.open(o, os.O_RDONLY), 0o777)",
            "os.fchmod(os.open(os.path.dirname(o), os.O_RDONLY), 0o777)",
            "os.chmod('b', 0o777, dir_fd=os.open(os.path.dirname(o), os.O_RDONLY))",
            "os.fchown(os.open(o, os.O_RDONLY), os.getuid(), os.getgid())",
            "os.lchown(o, os.getuid(), os.getgid())",
            "os.utime(o, (1, 1))",
            "os.utime(os.open(o, os.O_RDONLY), (1, 1))",
            "os.utime('b', (1, 1), dir_fd=os.open(os.path.dirname(o), os.O_RDONLY))",
            "os.setxattr(o, 'user.a', b'b')",
            "os.setxattr(os.open(o, os.O_RDONLY), 'user.a', b'b')",
            "os.removexattr(o, 'user.a')",
        ] {
            let output = cage.run(&python(&cage, program));
            assert!(output.content.contains("PermissionError"), "{program}\n{}", output.content);
        }
    }
    let after = file.metadata().unwrap();
    let of =
        |found: &std::fs::Metadata| (found.mode(), found.uid(), found.gid(), found.mtime(), found.ctime_nsec());
    assert_eq!(of(&after), of(&before), "not even its time of change");
    assert_eq!(of(&cage.home.join("notes").metadata().unwrap()), of(&folder));
}

#[test]
fn inside_it_has_its_effect_and_fails_as_the_kernel_would_have_it() {
    let Some(mut cage) = cage() else { return };
    cage.bench.put("own", "x");
    let own = cage.bench.path("own");
    cage.allowed("chmod 4751 own");
    assert_eq!(mode(&own), 0o4751);
    cage.allowed("chown $(id -u):$(id -g) own && touch -d '2001-02-03 04:05:06.789 UTC' own");
    let found = own.metadata().unwrap();
    assert_eq!((found.mtime(), found.mtime_nsec()), (981_173_106, 789_000_000));
    cage.allowed("ln -s own soft && touch -h -d '2001-02-03 00:00:00 UTC' soft && touch own && chmod 600 soft");
    assert_eq!(mode(&own), 0o600, "through a link");
    assert_eq!(cage.bench.path("soft").symlink_metadata().unwrap().mtime(), 981_158_400, "the link's own");
    assert!(own.metadata().unwrap().mtime() > 1_000_000_000, "touched now");
    cage.allowed("mkdir -p a/b && cd a && chmod 700 b ../own && chmod 711 /proc/self/cwd/b");
    assert_eq!(mode(&cage.bench.path("a/b")), 0o711);
    let told =
        cage.run("chmod 600 nothing; chmod 600 own/x; ln -s loop loop; chmod 600 loop; chmod 600 ''").content;
    for said in ["No such file", "Not a directory", "Too many levels"] {
        assert!(told.contains(said), "{told}");
    }
    cage.allowed("chmod 700 /proc/self/fd/1; (exec 3<> gone; rm gone; chmod 600 /proc/self/fd/3)");
    if has("python3") {
        let program = "n = os.open('own', os.O_RDONLY)\n\
            os.fchmod(n, 0o640)\nos.utime(n, ns=(1, 2))\nassert os.stat('own').st_mtime_ns == 2\n\
            os.utime('own', (3, 4))\nos.utime('own', (5, 6), dir_fd=os.open('.', os.O_RDONLY))\n\
            assert os.stat('own').st_mtime == 6\n\
            try:\n    os.setxattr('own', 'user.a', b'b' * 200)\nexcept OSError as e:\n    assert e.errno == 95, e\n\
            else:\n    assert os.getxattr('own', 'user.a') == b'b' * 200\n    os.removexattr(n, 'user.a')\n    assert os.listxattr('own') == []\n\
            try:\n    os.fchmod(99, 0o600)\nexcept OSError as e:\n    assert e.errno == 9, e\n\
            import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n\
            assert libc.chmod(ctypes.c_void_p(8), 0o600) == -1 and ctypes.get_errno() == 14\n\
            r, w = os.pipe()\nos.fchmod(r, 0o600)";
        cage.allowed(&python(&cage, program));
        assert_eq!(mode(&own), 0o640);
    }
    // What the person was shown.
    cage.bench.reach = Reach::Workspace { network: false, also: vec![cage.home.join("notes/b")] };
    cage.allowed(&format!("chmod 600 {}/notes/b", cage.home.display()));
    assert_eq!(mode(&cage.home.join("notes/b")), 0o600);
    cage.denied(&format!("chmod 600 {}/notes/a", cage.home.display()));
}

/// One thread swaps where the path leads, the other changes modes by it all the time.
const SWAPPED: &str = "
import threading, time
os.mkdir('d')
open('d/b', 'w').close()
os.symlink('d', 'now')
done = False
def swap():
    ways = ['d', os.path.dirname(o)]
    while not done:
        ways.reverse()
        os.symlink(ways[0], 'next')
        os.rename('next', 'now')
thread = threading.Thread(target=swap)
thread.start()
worked = refused = 0
until = time.monotonic() + 30
while time.monotonic() < until and (worked < 20 or refused < 20 or worked + refused < 500):
    try:
        os.chmod('now/b', 0o777)
        worked += 1
    except PermissionError:
        refused += 1
done = True
thread.join()
print('tried', worked > 0, refused > 0)
";

#[test]
fn a_link_swapped_under_the_judge_leads_nowhere_outside() {
    let Some(cage) = cage() else { return };
    if !has("python3") {
        return;
    }
    let output = patiently(&cage, &python(&cage, SWAPPED));
    assert_eq!(output.outcome, Outcome::Ok, "{}", output.content);
    assert!(output.content.contains("tried True True"), "{}", output.content);
    assert_eq!(mode(&cage.home.join("notes/b")), 0o640);
}

#[test]
fn two_thousand_changes_end_and_so_does_what_is_stopped_in_their_middle() {
    let Some(cage) = cage() else { return };
    if !has("python3") {
        return;
    }
    cage.bench.put("own", "x");
    let output = patiently(&cage, &python(&cage, "for i in range(2000):\n    os.chmod('own', 0o600 + i % 8)"));
    assert_eq!(output.outcome, Outcome::Ok, "{}", output.content);
    assert_eq!(mode(&cage.bench.path("own")), 0o607);

    let endless = python(&cage, "while True:\n    os.chmod('own', 0o600)\n    open('begun', 'w').close()");
    let (cancel, begun) = (cage.bench.cancel.clone(), cage.bench.path("begun"));
    let presser = std::thread::spawn(move || {
        Changes::of(begun.parent().unwrap()).until("the first change", || begun.exists());
        cancel.cancel();
    });
    let output = patiently(&cage, &endless);
    presser.join().unwrap();
    assert_eq!(output.outcome, Outcome::Interrupted, "{}", output.content);
    let workspace = cage.bench.roots.cwd.clone();
    let is_in = |process: &Path| std::fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd == workspace);
    all_end("the workspace is left", is_in);
}

#[test]
fn a_job_is_judged_as_long_as_it_lives() {
    let Some(cage) = cage() else { return };
    cage.bench.put("own", "x");
    let line = format!(
        "(until [ -e go ]; do sleep 0.02; done; chmod 701 own; chmod 777 {}/notes/b; echo $? > ended) & wait",
        cage.home.display()
    );
    let shell = ShellTool::new(Some(env!("CARGO_BIN_EXE_axi").into()));
    let output = cage.bench.run(&shell, json!({"command": line, "background": true}));
    assert_eq!(output.outcome, Outcome::Ok, "{}", output.content);
    cage.allowed("chmod 600 own");
    cage.bench.put("go", "");
    let ended = || std::fs::read_to_string(cage.bench.path("ended")).is_ok_and(|text| text.trim() == "1");
    Changes::of(&cage.bench.roots.cwd).until("the job's last word", ended);
    assert_eq!((mode(&cage.bench.path("own")), mode(&cage.home.join("notes/b"))), (0o701, 0o640));
    let listed = cage.bench.run(&ShellJobTool, json!({"action": "list"}));
    assert_eq!(listed.outcome, Outcome::Ok, "{}", listed.content);
}

/// In the REPL a keeper stands between the adopter and the command.
#[test]
fn what_is_approved_in_the_repl_is_judged_too() {
    let Some(cage) = cage() else { return };
    let home = Home::new();
    let outside = cage.home.join("notes/b");
    home.write("work/own", "x");
    let script = format!("#!/bin/sh\nchmod 711 own\nchmod 777 {}\n", outside.display());
    home.write("work/make.sh", &script);
    set_mode(&home.work().join("make.sh"), 0o755);
    let call = answer::chat_call("call_1", "shell", r#"{"command":"./make.sh"}"#);
    let server = Server::start([call, answer::chat_text("all done")]);
    let mut person = Person::meets(&axi(&home, &server));
    person.sends("make it");
    person.sees_choice("Yes, once");
    person.types("\r");
    person.sees("all done");
    assert_eq!((mode(&home.work().join("own")), mode(&outside)), (0o711, 0o640));
    assert_eq!(person.leaves(), Some(0));
}

/// Only one listens to a process: an axi that a judged command starts leaves it to the one around it, and says so.
#[test]
fn doctor_says_where_nothing_can_judge() {
    let Some(_) = cage() else { return };
    let home = Home::new();
    let told = run(home.axi().arg("doctor")).out;
    assert!(told.contains("- sandbox: on (") && !told.contains("modes, owners and times"), "{told}");
    assert!(told.contains("axi checks each file that a command opens"), "{told}");
    let own = env!("CARGO_BIN_EXE_axi");
    let arguments = ["__adopt", "__confined", "--write", "/", "--network", "--", own, "doctor"];
    let told = run(home.axi().args(arguments)).out;
    assert!(told.contains("could change modes, owners and times"), "{told}");
    assert!(told.contains("only if axi found them in the workspace before the command started"), "{told}");
}
