//! What runs without being asked tries to get out of its sandbox: each way is tried and fails.
#![cfg(target_os = "linux")]

use std::net::{TcpListener, UdpSocket};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use axi::conversation::Outcome;
use axi::sandbox::{Reach, Sandbox, SandboxState, Support, Wanted};
use axi::tool::{ShellTool, ToolOutput};
use serde_json::json;

use crate::support::skip::skip;
use crate::support::tool_bench::ToolBench;

/// A bench whose commands are confined, with a home beside its workspace; `None` where this kernel cannot.
pub(crate) struct Cage {
    pub(crate) bench: ToolBench,
    pub(crate) home: PathBuf,
    pub(crate) abi: u8,
}

impl Cage {
    pub(crate) fn new(reach: Reach) -> Option<Self> {
        let mut bench = ToolBench::in_no_temporary_place();
        let home = bench.roots.cwd.parent()?.join("home");
        for directory in [".ssh", ".config/axi", ".config/tool", ".cache", "notes"] {
            std::fs::create_dir_all(home.join(directory)).ok()?;
        }
        for (name, text) in [(".ssh/id_rsa", "PRIVATE"), (".config/axi/keys", "PRIVATE"), ("notes/a", "plain")] {
            std::fs::write(home.join(name), text).ok()?;
        }
        let hidden = vec![home.join(".config/axi")];
        // The benches' own places are temporary files: only here nothing else is.
        let temporary = bench.roots.cwd.parent()?.join("temporary");
        std::fs::create_dir_all(&temporary).ok()?;
        bench.roots.home = Some(home.clone());
        bench.sandbox = Sandbox::new(Wanted::On, Some(home.clone()), hidden, Vec::new(), temporary);
        bench.reach = reach;
        match bench.sandbox.state() {
            SandboxState::On(Support::Landlock { abi }) => Some(Self { bench, home, abi }),
            other => {
                skip(format_args!("no sandbox here: {other:?}"));
                None
            }
        }
    }

    pub(crate) fn run(&self, line: &str) -> ToolOutput {
        let shell = ShellTool::new(Some(PathBuf::from(env!("CARGO_BIN_EXE_axi"))));
        self.bench.run(&shell, json!({"command": line, "timeout": 20}))
    }

    #[track_caller]
    pub(crate) fn denied(&self, line: &str) {
        let output = self.run(line);
        assert_eq!(output.outcome, Outcome::Failed, "{line}\n{}", output.content);
        assert_ne!(output.facts.exit_code, Some(127), "not tried at all: {line}\n{}", output.content);
    }

    #[track_caller]
    pub(crate) fn allowed(&self, line: &str) {
        let output = self.run(line);
        assert_eq!(output.outcome, Outcome::Ok, "{line}\n{}", output.content);
    }
}

#[test]
fn nothing_is_written_outside_by_any_name() {
    let Some(cage) = Cage::new(Reach::ReadOnly) else { return };
    cage.bench.put("kept", "as it was");
    let home = cage.home.display();
    for line in [
        "echo x > kept",
        "echo x >> kept",
        "echo x > new",
        ": > kept",
        "truncate -s 0 kept",
        "rm kept",
        "mv kept other",
        "mkdir made",
        "mkfifo pipe",
        "ln -s /etc/passwd link",
        "ln kept hard",
        "ln kept $TMPDIR/hard && echo x > $TMPDIR/hard",
        "ln -s $PWD/kept $TMPDIR/soft && echo x > $TMPDIR/soft",
        "mv kept $TMPDIR/",
        "cd $TMPDIR && ln -s / root && echo x > root$OLDPWD/kept",
        "echo x > /proc/self/cwd/kept",
        "echo x > /proc/self/root$PWD/kept",
        "exec 3<kept; echo x > /proc/self/fd/3",
        "dd if=/dev/zero of=kept bs=1 count=1 conv=notrunc",
        "sed -i s/was/is/ kept",
        "cp /dev/null kept",
        &format!("echo x > {home}/.bashrc"),
        "echo x > /tmp/axi-escape-test",
        "echo x > /var/tmp/axi-escape-test",
        "echo x > /dev/shm/axi-escape-test",
    ] {
        cage.denied(line);
        assert_eq!(cage.bench.get("kept"), b"as it was", "{line}");
    }
    assert_eq!(cage.bench.roots.cwd.read_dir().unwrap().count(), 1);
    for line in ["echo x > $TMPDIR/a && cat $TMPDIR/a", "echo x > /dev/null", "cat <<< here", "echo x >&2"] {
        cage.allowed(line);
    }
    let left = cage.bench.sandbox.temporary().read_dir().unwrap().count();
    assert_eq!(left, 0, "a command's own directory goes with it");
}

#[test]
fn modes_owners_times_and_attributes_outside_stay() {
    let Some(cage) = Cage::new(Reach::ReadOnly) else { return };
    cage.bench.put("kept", "x");
    let path = cage.bench.path("kept");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    let before = path.metadata().unwrap();
    for line in
        ["chmod 777 kept", "chmod u+s kept", "chown $(id -u) kept", "touch kept", "touch -d 2001-01-01 kept"]
    {
        cage.denied(line);
    }
    for line in
        ["setfattr -n user.a -v b kept", "chattr +i kept", "python3 -c 'import os; os.chmod(\"kept\", 0o777)'"]
    {
        assert_ne!(cage.run(line).outcome, Outcome::Ok, "{line}");
    }
    let after = path.metadata().unwrap();
    assert_eq!(after.permissions().mode(), before.permissions().mode());
    assert_eq!(after.modified().unwrap(), before.modified().unwrap());
}

#[test]
fn secrets_cannot_be_read_by_any_name_and_the_rest_can() {
    let Some(cage) = Cage::new(Reach::ReadOnly) else { return };
    cage.bench.put(".env", "PRIVATE");
    cage.bench.put(".env.example", "plain");
    let home = cage.home.display();
    std::os::unix::fs::symlink(cage.home.join(".ssh"), cage.home.join("alias")).unwrap();
    for line in [
        format!("cat {home}/.ssh/id_rsa"),
        format!("cat {home}/alias/id_rsa"),
        format!("cat /proc/self/root{home}/.ssh/id_rsa"),
        format!("cd {home}/notes && cat ../.ssh/id_rsa"),
        format!("cp {home}/.ssh/id_rsa $TMPDIR/a && cat $TMPDIR/a"),
        format!("cat {home}/.config/axi/keys"),
        format!("grep -r PRIVATE {home}"),
        "cat .env".to_owned(),
    ] {
        let output = cage.run(&line);
        assert_eq!(output.outcome, Outcome::Failed, "{line}");
        assert!(
            !output.content.contains(":PRIVATE") && !output.content.starts_with("PRIVATE"),
            "{}",
            output.content
        );
        assert!(output.content.contains("access \"workspace\""), "the model is told why: {}", output.content);
    }
    for line in [
        format!("cat {home}/notes/a"),
        format!("ls -la {home} {home}/notes"),
        "cat .env.example /etc/passwd > /dev/null".to_owned(),
        "ls / /usr /dev /proc".to_owned(),
    ] {
        cage.allowed(&line);
    }
}

#[test]
fn secrets_of_the_environment_are_not_there() {
    let Some(cage) = Cage::new(Reach::ReadOnly) else { return };
    let secret = |name: &str| std::env::var_os(name).is_some() && axi::secret::is_kept_from_readers(name);
    let names: Vec<String> = std::env::vars().map(|(name, _)| name).filter(|name| secret(name)).collect();
    let shown = cage.run("env").content;
    for name in names {
        assert!(!shown.contains(&format!("\n{name}=")), "{name}");
    }
    assert!(shown.contains("PATH="));
}

#[test]
fn other_processes_are_out_of_reach() {
    let Some(cage) = Cage::new(Reach::ReadOnly) else { return };
    let outside = std::process::id();
    for line in [
        format!("cat /proc/{outside}/environ"),
        format!("cat /proc/{outside}/maps"),
        format!("head -c 1 /proc/{outside}/mem"),
        format!("readlink /proc/{outside}/fd/1"),
        format!(": < /proc/{outside}/fd/0"),
        format!("cat /proc/{outside}/root/etc/passwd"),
        format!("cat /proc/{outside}/cwd/Cargo.toml"),
        format!("echo x > /proc/{outside}/comm"),
        "cat /proc/$PPID/environ".to_owned(),
        "head -c 1 /proc/kcore".to_owned(),
    ] {
        cage.denied(&line);
    }
    if cage.abi >= 6 {
        cage.denied(&format!("kill -0 {outside}"));
        cage.denied("kill -TERM $PPID");
    } else {
        skip(format_args!("signals, which Landlock {} does not know", cage.abi));
    }
    cage.allowed("sleep 5 & kill $!; wait; ps > /dev/null; cat /proc/self/status > /dev/null");
    // Nor are they hurried, slowed or given limits: one that uses up its time is ended.
    for of_others in [
        "prlimit --pid OTHER --cpu=1:1",
        "renice -n 5 -p OTHER",
        "renice -n 5 -u $(id -u)",
        "taskset -p 1 OTHER",
        "chrt -b -p 0 OTHER",
        "ionice -c 3 -p OTHER",
    ] {
        cage.denied(&of_others.replace("OTHER", &outside.to_string()));
    }
    cage.allowed("nice -n 5 true && ionice -c 3 true && taskset 1 true && prlimit --cpu=9:9 true");
}

#[test]
fn no_socket_reaches_anything() {
    let Some(cage) = Cage::new(Reach::ReadOnly) else { return };
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let unix = UnixListener::bind(cage.bench.path("socket")).unwrap();
    for listener in [tcp.set_nonblocking(true), udp.set_nonblocking(true), unix.set_nonblocking(true)] {
        listener.unwrap();
    }
    let tcp_port = tcp.local_addr().unwrap().port();
    let udp_port = udp.local_addr().unwrap().port();
    cage.denied(&format!("echo x > /dev/tcp/127.0.0.1/{tcp_port}"));
    cage.denied(&format!("echo x > /dev/udp/127.0.0.1/{udp_port}"));
    cage.denied(&format!("curl -sS --noproxy '*' http://127.0.0.1:{tcp_port}/"));
    cage.denied(&format!("curl -sS --noproxy '*' --unix-socket {} http://x/", cage.bench.path("socket").display()));
    assert!(tcp.accept().is_err(), "somebody came by TCP");
    assert!(udp.recv(&mut [0; 8]).is_err(), "somebody wrote by UDP");
    assert!(unix.accept().is_err(), "somebody came by the socket's name");
    // A pair of sockets is a pipe, and is used as one.
    let pair = "command -v python3 >/dev/null || exit 0; python3 -c 'import socket; socket.socketpair()'";
    cage.allowed(pair);
}

#[test]
fn inherited_descriptors_are_closed() {
    let Some(cage) = Cage::new(Reach::ReadOnly) else { return };
    cage.bench.put("kept", "as it was");
    let open = std::fs::OpenOptions::new().append(true).open(cage.bench.path("kept")).unwrap();
    rustix::io::fcntl_setfd(&open, rustix::io::FdFlags::empty()).unwrap();
    cage.denied(&format!("echo x >&{}", open.as_raw_fd()));
    assert_eq!(cage.bench.get("kept"), b"as it was");
    assert_eq!(cage.run("ls /proc/self/fd | wc -l").content.trim(), "4", "three, and the one ls reads");
}

#[test]
fn what_is_approved_writes_the_workspace_and_not_beside_it() {
    let reach = Reach::Workspace { network: false, also: Vec::new() };
    let Some(mut cage) = Cage::new(reach) else { return };
    if cage.abi < 2 {
        return skip(format_args!("Landlock {} cannot hold what is approved", cage.abi));
    }
    let home = cage.home.clone();
    cage.allowed(
        "mkdir -p a/b && echo x > a/f && mv a/f a/b/g && ln a/b/g a/h && chmod 700 a/h && rm -r a && touch z",
    );
    cage.allowed(&format!("echo x > {}/.cache/b; cat {}/.ssh/id_rsa", home.display(), home.display()));
    cage.denied(&format!("echo x > {}/.bashrc", home.display()));
    cage.denied(&format!("rm -rf {}/notes", home.display()));
    assert!(home.join("notes/a").exists());
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = tcp.local_addr().unwrap().port();
    cage.denied(&format!("echo x > /dev/tcp/127.0.0.1/{port}"));
    cage.bench.reach = Reach::Workspace { network: true, also: vec![home.join("notes")] };
    cage.allowed(&format!("echo x > /dev/tcp/127.0.0.1/{port} && rm {}/notes/a", home.display()));
    cage.denied(&format!("echo x > {}/.bashrc", home.display()));
}

/// What was approved reads anything and talks to this machine's own programs over sockets with a name: it is held to
/// what it may write and to the network. What it can do beside that stands here, too, so that it is no surprise.
#[test]
fn what_is_approved_tries_each_way_out_and_gets_no_further() {
    let reach = Reach::Workspace { network: false, also: Vec::new() };
    let Some(cage) = Cage::new(reach) else { return };
    if cage.abi < 2 {
        return skip(format_args!("Landlock {} cannot hold what is approved", cage.abi));
    }
    let home = cage.home.display();
    let outside = std::process::id();
    std::fs::write(cage.home.join("notes/b"), "as it was").unwrap();
    std::fs::set_permissions(cage.home.join("notes/b"), std::fs::Permissions::from_mode(0o640)).unwrap();
    let open = std::fs::OpenOptions::new().append(true).open(cage.home.join("notes/b")).unwrap();
    rustix::io::fcntl_setfd(&open, rustix::io::FdFlags::empty()).unwrap();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    tcp.set_nonblocking(true).unwrap();
    udp.set_nonblocking(true).unwrap();
    let (tcp_port, udp_port) = (tcp.local_addr().unwrap().port(), udp.local_addr().unwrap().port());
    for line in [
        format!("echo x >> {home}/notes/b"),
        format!("truncate -s 0 {home}/notes/b"),
        format!("rm {home}/notes/b"),
        format!("mv {home}/notes/b ."),
        format!("mv {home}/notes ."),
        format!("mkdir {home}/notes/c"),
        format!("ln -s {home}/notes/b soft && echo x > soft"),
        format!("ln -s {home}/notes folder && echo x > folder/b"),
        format!("ln {home}/notes/b hard"),
        format!("cd {home}/notes && sed -i s/was/is/ b"),
        format!("echo x > /proc/self/root{home}/notes/b"),
        format!("exec 3<{home}/notes/b; echo x > /proc/self/fd/3"),
        format!("echo x >&{}", open.as_raw_fd()),
        format!("echo x > /proc/{outside}/fd/{}", open.as_raw_fd()),
        format!("printf x | dd of=/proc/{outside}/mem bs=1 conv=notrunc"),
        format!("echo x > /proc/{outside}/root{home}/notes/b"),
        format!("echo x > /dev/tcp/127.0.0.1/{tcp_port}"),
        format!("echo x > /dev/udp/127.0.0.1/{udp_port}"),
        format!("echo x > {home}/.config/tool/settings"),
        "echo x > /etc/axi-escape-test".to_owned(),
        "echo x > /usr/local/bin/axi-escape-test".to_owned(),
    ] {
        cage.denied(&line);
        assert_eq!(std::fs::read(cage.home.join("notes/b")).unwrap(), b"as it was", "{line}");
    }
    assert!(tcp.accept().is_err() && udp.recv(&mut [0; 8]).is_err(), "somebody came by the network");
    // A socket with a name is a program of this machine that listens to its user.
    let unix = UnixListener::bind(cage.bench.path("socket")).unwrap();
    unix.set_nonblocking(true).unwrap();
    let connects = "import socket; socket.socket(socket.AF_UNIX).connect(\"socket\")";
    cage.allowed(&format!("command -v python3 > /dev/null || exit 0; python3 -c '{connects}'"));
}

#[test]
fn what_cannot_be_confined_is_not_run() {
    let run = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_axi"));
        command.args(arguments).output().unwrap()
    };
    let output = run(&["__confined", "--nonsense", "--", "echo", "ran"]);
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(126), &b""[..]));
    let output = run(&["__confined", "--read-only", "echo", "ran"]);
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(126), &b""[..]));
}
