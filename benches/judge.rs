//! What judging a line costs: every line of the corpora, all of them joined to 4 KB, and lines of 4 KB of one piece.
//!
//! Each line is judged five times; the least CPU time of the thread counts, so that what else the machine does is left
//! out. `cargo bench --bench judge`; in a profile without optimisation (`--profile dev`) it is an upper bound.
#![expect(clippy::print_stdout, reason = "printing figures is what this program is for")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use axi::approval::Surroundings;
use axi::approval::command::judge;
use rustix::time::{ClockId, clock_gettime};

/// Milliseconds a line of at most [`LONGEST`] bytes may take.
const GOAL: f64 = 5.0;
const LONGEST: usize = 4096;
const RUNS: u32 = 5;

/// Pieces that lines are made of: what stands before, what is repeated, what stands behind.
const PIECES: &[(&str, &str, &str)] = &[
    ("", "sudo ", "ls"),
    ("", "env ", "ls"),
    ("", "env A=1 ", "ls"),
    ("", "nice ", "ls"),
    ("", "timeout 5 ", "rm -rf x"),
    ("", "xargs ", "rm"),
    ("", "find . -exec ", "rm {} +"),
    ("", "eval ", "ls"),
    ("", "x=$x$x; ", "rm $x"),
    ("", "rm x; ", ""),
    ("", "cat f | ", "sh"),
    ("", "if true; then ", ""),
    ("", "$(", "ls"),
    ("", "{a,b}", ""),
    ("rm ", "*", ""),
    ("rm ", "~/", ""),
    ("echo ", "\\\"", ""),
    ("", "cd a && ", "rm -rf ."),
    ("for f in ", "a ", "; do rm $f; done"),
    ("find ", "a ", "-delete"),
    ("", "find . | xargs ", "rm"),
    ("cat ", "*a ", ""),
    ("rm {", "a,b,{", ""),
    ("", "set -- a b c; ", "rm $@"),
];

fn main() {
    let home = PathBuf::from("/home/u");
    let cwd = home.join("work/app");
    let place = Surroundings { cwd: cwd.clone(), workspace: cwd, home: Some(home), ..Surroundings::default() };
    let lines = lines();
    let mut taken: Vec<(f64, &str)> = lines.iter().map(|line| (cost(line, &place), line.as_str())).collect();
    taken.sort_by(|one, other| one.0.total_cmp(&other.0));
    let at = |share: usize| taken.get(taken.len() * share / 100).map_or(0.0, |(time, _)| *time);
    let profile = if cfg!(debug_assertions) { "without optimisation" } else { "optimised" };
    println!("{} lines of at most {LONGEST} bytes, least of {RUNS} runs, CPU, {profile}", taken.len());
    println!("median {:.3} ms, 99 % {:.3} ms, goal {GOAL} ms", at(50), at(99));
    for (time, line) in taken.iter().rev().take(5) {
        let begun: String = line.chars().take(60).collect();
        println!("{time:.3} ms  {} bytes  {begun:?}", line.len());
    }
    let over = taken.iter().filter(|(time, _)| *time > GOAL).count();
    println!("{over} over the goal");
}

fn lines() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/corpus");
    let mut files: Vec<PathBuf> =
        folder.read_dir().into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.sort();
    let mut lines = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let judged = text.lines().filter_map(|line| line.split_once('\t')).map(|(_, line)| line.replace('⏎', "\n"));
        lines.extend(judged.filter(|line| line.len() <= LONGEST));
    }
    let mut joined = String::new();
    for line in lines.clone() {
        if joined.len() + line.len() + 1 > LONGEST {
            lines.push(std::mem::take(&mut joined));
        }
        joined.push_str(&line);
        joined.push('\n');
    }
    for (before, piece, behind) in PIECES {
        let count = (LONGEST - before.len() - behind.len()) / piece.len();
        lines.push(format!("{before}{}{behind}", piece.repeat(count)));
    }
    lines
}

/// Milliseconds of CPU.
fn cost(line: &str, place: &Surroundings) -> f64 {
    let now = || {
        let now = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or(0))
    };
    let each = (0..RUNS).map(|_| {
        let begun = now();
        drop(judge(line, place));
        now().saturating_sub(begun).as_secs_f64() * 1000.0
    });
    each.fold(f64::MAX, f64::min)
}
