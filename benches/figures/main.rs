//! The figures axi is held to, each beside the reference peer (aichat) where that is installed.
//!
//! ```text
//! cargo bench --bench figures                    all of them, some minutes
//! cargo bench --bench figures -- echo idle       some of them
//! AXI_PEER=/path/to/aichat RUNS=10 cargo bench … another peer's place, other numbers of runs
//! AXI_BAT=/path/to/bat AXI_RICH=/path/to/python cargo bench --bench figures -- render
//! ```
//! Everything runs against a server in this process, on loopback, in an empty home. Figures of a machine that does
//! other work are worth less: the load is printed with them.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a figure that cannot be taken ends the run, and printing figures is what this program is for"
)]

mod answer;
mod line;
mod process;
mod program;
mod render;
mod report;
mod server;
mod start;
mod terminal;
mod text;

use program::Program;
use report::{Figures, print};
use server::Server;

/// The names of the figures, in the order they are taken.
const NAMES: &[&str] = &[
    "version",
    "echo",
    "key",
    "idle",
    "oneshot",
    "first",
    "stream",
    "interrupt",
    "render",
    "laden",
    "keys",
    "files",
    "paste",
];
/// Those of the line with a long life behind it, which takes some seconds to make.
const LADEN: &[&str] = &["laden", "keys", "files"];

fn main() {
    // `cargo bench` adds `--bench`.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    if let Some(unknown) = wanted.iter().find(|name| !NAMES.contains(&name.as_str())) {
        println!("no figure is called {unknown}; there are {}", NAMES.join(", "));
        std::process::exit(2);
    }
    let runs: u32 =
        std::env::var("RUNS").ok().and_then(|value| value.parse().ok()).filter(|&runs| runs > 0).unwrap_or(20);

    let server = Server::start();
    let own = Program::axi(&server.base_url());
    let peer = Program::aichat(&server.base_url());
    let programs: Vec<&Program> = std::iter::once(&own).chain(&peer).collect();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    println!("{cores} cores, load {}, {runs} runs", process::load());
    if peer.is_none() {
        println!("aichat is not here: axi alone (AXI_PEER, PATH and ~/.cache/axi-peers/bin were looked at)");
    }
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|one| one == name);
    let laden = Program::axi(&server.base_url());
    if LADEN.iter().any(|name| is_wanted(name)) {
        line::burden(&laden).expect("there is room for a history and files");
    }
    for name in NAMES.iter().filter(|name| is_wanted(name)) {
        take(name, &server, &programs, &laden, runs);
    }
    println!("\nload {}, {} answers served", process::load(), server.answers());
}

fn take(name: &str, server: &Server, programs: &[&Program], laden: &Program, runs: u32) {
    if name == "render" {
        let goal = "≥ 20 MB/s of CPU without highlighting, ≥ 5 × bat with it, ≤ 20 MiB, a coloured row in ≤ 20 ms";
        return print("10 MB of markdown to styled text", goal, &render::files(programs[0]));
    }
    let each = |figure: &dyn Fn(&Program) -> Result<Figures, String>| -> Vec<Result<Figures, String>> {
        programs.iter().map(|program| figure(program)).collect()
    };
    let (title, goal, results) = match name {
        "version" => ("--version", "CPU ≤ 5 ms", each(&|program| start::version(program, 2 * runs))),
        "echo" => ("exec to a prompt that echoes a key", "≤ aichat in the same run", start::echo(programs, runs)),
        "key" => ("a key at the prompt", "min ≤ 1 ms", each(&|program| start::key(program, 10 * runs))),
        "idle" => ("10 s at the prompt", "PSS ≤ 12 MiB, CPU 0, wake-ups 0", each(&start::idle)),
        "oneshot" => (
            "an answer of 1 KB into a pipe",
            "≤ 1.3× curl in wall, ≤ 1.4× in CPU, peak ≤ 15 MiB",
            answer::one_shot(server, programs, 2 * runs),
        ),
        "first" => (
            "first content event on the wire to the terminal",
            "median ≤ 2 ms",
            each(&|program| answer::first_token(server, program, runs)),
        ),
        "stream" => (
            "100 KB of markdown in 4-character deltas",
            "CPU ≤ 150 ms, 1 MB ≤ 10.3×, ≤ 1.3 bytes for a byte of styled text",
            each(&|program| answer::stream(server, program, 3)),
        ),
        "laden" => (
            "the same with 1,000,000 lines of history and 100,000 files",
            "not slower",
            vec![line::start(programs[0], laden, runs)],
        ),
        "keys" => (
            "keys with 1,000,000 lines of history and 100,000 files",
            "≤ 5 ms each",
            vec![line::keys(laden, runs.div_ceil(4))],
        ),
        "files" => (
            "the first @ among 100,000 files",
            "list ≤ 30 ms, keys ≤ 5 ms",
            vec![line::first_files(laden, runs.div_ceil(2))],
        ),
        "paste" => ("a paste of 10,000 lines", "at once", vec![line::paste(programs[0], runs.div_ceil(4))]),
        _ => (
            "the interrupting key (axi ESC, aichat Ctrl+C) while text comes",
            "connection closed ≤ 15 ms, prompt ≤ 30 ms",
            each(&|program| answer::interrupt(server, program, runs.div_ceil(2))),
        ),
    };
    let named: Vec<_> = programs.iter().map(|program| program.name).zip(results).collect();
    print(title, goal, &named);
}
