//! What was approved does not change the machine it runs on, also as root. All of it is tried in name spaces of its own,
//! where there is a machine to change and nobody else uses it.
#![cfg(target_os = "linux")]

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use axi::conversation::Outcome;
use axi::sandbox::Reach;
use axi::tool::{ShellTool, ToolOutput};
use serde_json::json;

use crate::sandbox_escapes::Cage;
use crate::support::home::Home;
use crate::support::server::{Server, answer};
use crate::support::skip::{has, skip};
use crate::support::talk::{axi, run};

/// What makes a machine of one's own, whose root one is.
const SPACES: &[&str] = &["--user", "--map-root-user", "--uts", "--net", "--mount", "--ipc", "--pid", "--fork"];

/// An approved command's cage on a machine of its own; `None` where none can be made.
struct Machine {
    cage: Cage,
    helper: PathBuf,
}

impl Machine {
    fn new() -> Option<Self> {
        let made = Command::new("unshare").args(SPACES).arg("true").output();
        if !made.is_ok_and(|made| made.status.success()) {
            skip("no name spaces can be made here");
            return None;
        }
        let cage = Cage::new(Reach::Workspace { network: true, also: Vec::new() })?;
        let helper = cage.home.join("helper");
        let program = env!("CARGO_BIN_EXE_axi");
        let text = format!("#!/bin/sh\nexec unshare {} --kill-child '{program}' \"$@\"\n", SPACES.join(" "));
        std::fs::write(&helper, text).unwrap();
        std::fs::set_permissions(&helper, std::fs::Permissions::from_mode(0o755)).unwrap();
        Some(Self { cage, helper })
    }

    fn run(&self, line: &str) -> ToolOutput {
        let shell = ShellTool::new(Some(self.helper.clone()));
        self.cage.bench.run(&shell, json!({"command": line, "timeout": 60}))
    }

    /// Runs it on such a machine without any sandbox: what is refused there shows nothing.
    fn succeeds_unheld(line: &str) -> bool {
        let ran = Command::new("unshare").args(SPACES).args(["sh", "-c", line]).output();
        ran.is_ok_and(|ran| ran.status.success())
    }
}

#[test]
fn no_program_changes_the_machine_and_the_error_says_what_to_do() {
    let Some(machine) = Machine::new() else { return };
    let mut tried = 0;
    for line in [
        "ip link set lo up",
        "ip addr add 10.9.8.7/8 dev lo",
        "ip link add dummy9 type dummy",
        "ifconfig lo up",
        "hostname other",
        "hostname other || exit 1; hostname",
        "domainname other",
        "sysctl -w kernel.hostname=other",
        "echo other > /proc/sys/kernel/hostname",
        "echo 1 > /proc/sys/net/ipv4/ip_forward",
        "mount -t tmpfs none /mnt",
        "mount --bind /etc /mnt",
        "umount -l /proc",
        "iptables -P INPUT DROP",
        "nft add table inet x",
        "tc qdisc add dev lo root netem delay 1ms",
        "kill -9 -1; exit 9",
        "kill -9 1 || exit 9",
        "python3 -c 'import socket; socket.sethostname(\"other\")'",
        "python3 -c 'import os; os.kill(-1, 9)'",
        "unshare --mount sh -c 'mount -t tmpfs none /mnt'",
        "unshare --uts hostname other",
    ] {
        let signals = line.starts_with("kill") || line.contains("os.kill");
        if !signals && !Machine::succeeds_unheld(line) {
            continue;
        }
        tried += 1;
        let output = machine.run(line);
        assert_eq!(output.outcome, Outcome::Failed, "{line}\n{}", output.content);
        let says = ["access \"full\"", "exit code 9"].iter().any(|text| output.content.contains(text));
        assert!(says || signals, "{line}\n{}", output.content);
        assert!(!output.content.contains("signal"), "ended by itself: {line}\n{}", output.content);
    }
    assert!(tried >= 8, "only {tried} could be tried");
    // What was not refused would have been seen: the name is the one of the machine outside.
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    assert!(machine.run("cat /proc/sys/kernel/hostname").content.contains(name.trim()));
}

/// Each call that changes the machine, with many arguments.
const CALLS: &str = r"
import ctypes, random, os
libc = ctypes.CDLL(None, use_errno=True)
random.seed(16)
numbers = {n: int(v) for n, v in (pair.split('=') for pair in NUMBERS.split())}
count = 0
for name, number in numbers.items():
    for _ in range(40):
        arguments = [random.choice([0, 1, 2, 0xffffffff, random.getrandbits(31)]) for _ in range(6)]
        ctypes.set_errno(0)
        returned = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) for a in arguments])
        assert (returned, ctypes.get_errno()) == (-1, 1), (name, arguments, returned, ctypes.get_errno())
        count += 1
print('refused', count)
";

#[test]
fn no_call_that_changes_the_machine_is_let_through_whatever_its_arguments() {
    let Some(machine) = Machine::new() else { return };
    if !cfg!(target_arch = "x86_64") {
        return skip("the numbers of the calls are those of x86_64");
    }
    if !has("python3") {
        return;
    }
    let numbers = "mount=165 umount2=166 pivot_root=155 move_mount=429 fsopen=430 fsconfig=431 fsmount=432 fspick=433 \
                   mount_setattr=442 swapon=167 swapoff=168 reboot=169 sethostname=170 setdomainname=171 \
                   settimeofday=164 clock_settime=227 init_module=175 finit_module=313 delete_module=176 \
                   kexec_load=246 kexec_file_load=320 bpf=321 quotactl=179 quotactl_fd=443 acct=163 iopl=172 \
                   ioperm=173 add_key=248 request_key=249 keyctl=250";
    let program = CALLS.replace("NUMBERS", &format!("\"{numbers}\""));
    machine.cage.bench.put("calls.py", program);
    let output = machine.run("python3 calls.py");
    assert!(output.content.contains("refused 1200"), "{}", output.content);
}

#[test]
fn no_capability_is_left_but_those_for_files_and_users() {
    // chown, dac_override, dac_read_search, fowner, fsetid, kill, setgid, setuid, setpcap, net_bind_service,
    // sys_chroot, audit_write, setfcap (linux/capability.h).
    const LEFT: u64 = 0b101_1111_1111 | 1 << 18 | 1 << 29 | 1 << 31;
    let Some(machine) = Machine::new() else { return };
    for line in [
        "grep Cap /proc/self/status",
        "sh -c 'exec grep Cap /proc/self/status'",
        "cp $(command -v grep) own; chmod 4755 own; ./own Cap /proc/self/status",
        "(setsid grep Cap /proc/self/status & wait)",
        "echo | xargs grep Cap /proc/self/status",
    ] {
        let output = machine.run(line);
        let sets: Vec<u64> = output
            .content
            .lines()
            .filter_map(|line| line.strip_prefix("Cap")?.split_once(':'))
            .map(|(_, set)| u64::from_str_radix(set.trim(), 16).unwrap())
            .collect();
        assert!(sets.len() >= 4, "{line}\n{}", output.content);
        assert!(sets.iter().all(|set| set & !LEFT == 0), "{line}\n{}", output.content);
        assert!(sets.iter().any(|set| set & 1 << 1 != 0), "nothing is left at all: {line}\n{}", output.content);
    }
}

#[test]
fn root_still_does_with_its_files_and_users_what_installing_needs() {
    let Some(cage) = Cage::new(Reach::Workspace { network: true, also: Vec::new() }) else { return };
    if !rustix::process::geteuid().is_root() {
        skip("only root has these rights");
        return;
    }
    for line in [
        "touch a && chown 1234:1234 a && test $(stat -c %u a) = 1234 && echo x >> a && chmod 4711 a",
        "install -o 1234 -g 1234 -m 600 /dev/null b && cat b && mv b c && rm c",
        "mkdir d && chown 1234 d && chmod 700 d && echo x > d/e && rm -r d",
    ] {
        cage.allowed(line);
    }
    if Path::new("/usr/bin/setpriv").exists() {
        cage.allowed("setpriv --reuid 1234 --regid 1234 --clear-groups id -u | grep -x 1234");
        cage.allowed("setpriv --reuid 1234 --regid 1234 --clear-groups sleep 30 & sleep 0.2; kill $!");
    }
}

#[test]
fn a_yes_to_all_in_advance_is_none_to_changing_the_machine() {
    for line in [
        "ip link set lo down",
        "hostname other",
        "date -s 2001-01-01",
        "sysctl -w kernel.hostname=other",
        "iptables -F",
        "systemctl restart ssh",
        "service ssh stop",
        "shutdown now",
        "umount /mnt",
        "modprobe dummy",
        "sh -c 'hostname other'",
        "true && nice ip route add default dev lo",
    ] {
        let home = Home::new();
        let arguments = json!({"command": line}).to_string();
        let server = Server::start([answer::chat_call("call_1", "shell", &arguments), answer::chat_text("Done.")]);
        let ran = run(axi(&home, &server).args(["-y", "--allow", "shell", "-p", "go"]));
        assert_eq!(ran.code, Some(5), "{line}: {ran:?}");
        assert_eq!(server.requests().len(), 1, "{line}");
    }
}
