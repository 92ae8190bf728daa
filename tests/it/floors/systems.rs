//! Who asks the system itself: `platform`, and what is about Linux alone.

use super::{Fault, fault, report, sources};
use crate::support::rust_source::{Token, tokens};

/// Files that are compiled on Linux alone, because they are about its kernel. A file that asks the kernel for nothing
/// any more leaves the list.
const OF_LINUX: &[&str] = &[
    "src/child/trial.rs",
    "src/child/trial_keeper.rs",
    "src/sandbox/address.rs",
    "src/sandbox/attributes.rs",
    "src/sandbox/caller.rs",
    "src/sandbox/child.rs",
    "src/sandbox/filter.rs",
    "src/sandbox/judge.rs",
    "src/sandbox/kernel.rs",
    "src/sandbox/links.rs",
    "src/sandbox/listener.rs",
    "src/sandbox/machine.rs",
    "src/sandbox/openings.rs",
    "src/sandbox/own_peers.rs",
    "src/sandbox/renames.rs",
    "src/sandbox/system_calls.rs",
    "src/sandbox/witness.rs",
    "src/trial/enter.rs",
    "src/trial/kernel.rs",
    "src/trial/turns.rs",
];

/// Crates by which a program asks a system of one kind for something.
const CRATES: &[&str] =
    &["rustix", "libc", "nix", "close_fds", "signal_hook", "landlock", "seccompiler", "windows_sys"];

const ASKS: &str = "what is asked of the system goes through src/platform, which has the same names on each, because a \
                    file that asks by itself is a file that exists on one system only; add it to the faces there \
                    (OF_LINUX in tests/it/floors/systems.rs lists what is about Linux alone)";

fn check_systems(file: &str, source: &str) -> Vec<Fault> {
    let tokens = tokens(source);
    let is_word = |at: usize, word: &str| tokens.get(at).is_some_and(|placed| placed.token.is_word(word));
    let mut faults = Vec::new();
    for (at, placed) in tokens.iter().enumerate() {
        let Token::Word(word) = &placed.token else { continue };
        let is_path = tokens.get(at + 1).is_some_and(|next| next.token.is_mark(':'));
        let is_crate = is_path && CRATES.contains(&word.as_str());
        // `std::os::…`: two colons are two marks.
        let is_of_std = word == "os" && at >= 3 && is_word(at - 3, "std") && is_path;
        if is_crate || is_of_std {
            faults.push(fault(ASKS, file, placed.line, word));
        }
    }
    faults
}

fn may_ask(file: &str) -> bool {
    file.starts_with("src/platform/") || file.ends_with("_tests.rs") || OF_LINUX.contains(&file)
}

#[test]
fn the_system_is_asked_in_one_place() {
    let files = sources();
    let others = files.iter().filter(|(file, _)| !may_ask(file));
    report(others.flat_map(|(file, source)| check_systems(file, source)).collect());
}

#[test]
fn the_files_of_linux_are_there_and_ask_it() {
    let files = sources();
    for listed in OF_LINUX {
        let source = files.iter().find(|(file, _)| file == listed).map(|(_, source)| source);
        let asks = source.is_some_and(|source| !check_systems(listed, source).is_empty());
        assert!(asks, "{listed} asks Linux for nothing any more: take it off OF_LINUX");
    }
}

#[test]
fn the_check_finds_who_asks() {
    let found = |source: &str| check_systems("src/tool/mod.rs", source).len();
    assert_eq!(found("use std::os::unix::fs::MetadataExt as _;"), 1);
    assert_eq!(found("fn f() -> std::os::fd::OwnedFd { rustix::stdio::dup() }"), 2);
    assert_eq!(found("use signal_hook::consts::SIGINT;"), 1);
    assert_eq!(found("use crate::platform::os::fd::OwnedFd; // rustix::stdio"), 0);
    assert_eq!(found("let os = \"rustix::io\"; let rustix = 1;"), 0);
    assert!(
        may_ask("src/platform/unix.rs") && may_ask("src/tool/atomic_tests.rs") && !may_ask("src/tool/atomic.rs")
    );
}
