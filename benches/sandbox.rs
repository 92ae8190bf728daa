//! What the sandbox costs: milliseconds from spawn to exit of `true`, by how the child is held.
//!
//! ```text
//! cargo bench --bench sandbox
//! RUNS=1000 cargo bench --bench sandbox
//! ```
//! The helper is the axi of this build; every kind is taken in turn, so that other work on the machine hits all.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a figure that cannot be taken ends the run, and printing figures is what this program is for"
)]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use axi::child::{ADOPT_APART, CONFINED, PLAIN};
use axi::sandbox::{Reach, Sandbox, Wanted, WorkDirectories};

fn main() {
    let runs: usize = std::env::var("RUNS").ok().and_then(|value| value.parse().ok()).unwrap_or(200);
    let temporary = std::env::temp_dir();
    let workspace = std::env::current_dir().expect("a directory to run in");
    let sandbox = Sandbox::new(Wanted::On, std::env::home_dir(), Vec::new(), Vec::new(), temporary.clone());
    let ground = WorkDirectories { workspace: &workspace, directory: &workspace, temporary: &temporary, line: "" };
    let workspace_reach = |network| Reach::Workspace { network, also: Vec::new() };
    let kinds = [
        ("not held", Reach::Full),
        ("read-only", Reach::ReadOnly),
        ("workspace", workspace_reach(true)),
        ("workspace, offline", workspace_reach(false)),
    ];
    println!("{:?}, {runs} runs each", sandbox.state());
    let mut taken: Vec<Vec<Duration>> = vec![Vec::with_capacity(runs); kinds.len()];
    for _ in 0..runs {
        for ((_, reach), taken) in kinds.iter().zip(&mut taken) {
            let mut command = Command::new(env!("CARGO_BIN_EXE_axi"));
            match sandbox.confinement(reach, ground) {
                Some(held) => {
                    let arguments = held.to_arguments();
                    // What is judged is judged by its adopter.
                    let is_judged = arguments.iter().any(|argument| argument == "--judged");
                    command.args(is_judged.then_some(ADOPT_APART)).arg(CONFINED).args(arguments)
                }
                None => command.arg(PLAIN),
            };
            let started = Instant::now();
            let ended = command.arg("true").stdout(Stdio::null()).status().expect("the helper starts");
            taken.push(started.elapsed());
            assert!(ended.success(), "{reach:?}: {ended}");
        }
    }
    for ((name, _), taken) in kinds.iter().zip(&mut taken) {
        taken.sort();
        let at = |part: usize| taken[(runs.saturating_sub(1)) * part / 100].as_secs_f64() * 1000.0;
        println!("{name:20} median {:.2} ms, 10 % below {:.2} ms, 90 % below {:.2} ms", at(50), at(10), at(90));
    }
}
