//! How much of a long session is still known after it was cut: facts planted in sessions that are made up or were
//! recorded, and a scripted reader.
//!
//! `cargo bench --bench recall [SEEDS]`; the same reader with the first seed is a test. `cargo bench --bench recall
//! FILE WORDS` times a session of one's own: opening it, and finding words in what is not held of it.

use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use axi::context::wanted;
use axi::session::{open, seek};

mod recorded;
mod story;

/// How often something is timed; the best counts.
const TIMES: usize = 7;

/// The best time of some, and what came of the last.
fn best<T>(mut run: impl FnMut() -> T) -> (Duration, T) {
    let mut once = || {
        let began = Instant::now();
        let made = run();
        (began.elapsed(), made)
    };
    let mut found = once();
    for _ in 1..TIMES {
        let (took, made) = once();
        found = (took.min(found.0), made);
    }
    found
}

/// Times a session's file.
fn timed(path: &Path, query: &str) -> String {
    let words = wanted(query);
    let (opening, opened) = best(|| open(path));
    let (seeking, told) = best(|| seek(path, &words));
    let held = opened.map_or(0, |loaded| loaded.conversation.messages().len());
    let found = told.map_or(0, |told| told.messages.len());
    format!("open {opening:.0?}, {held} messages held; {found} messages with {words:?} after {seeking:.0?}")
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    if let Some(path) = arguments.iter().find(|argument| Path::new(argument).is_file()) {
        let words: Vec<&str> = arguments.iter().filter(|argument| *argument != path).map(String::as_str).collect();
        drop(writeln!(std::io::stdout(), "{}", timed(Path::new(path), &words.join(" "))));
        return;
    }
    let seeds = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(10_u64);
    let mut out = std::io::stdout().lock();
    let mut say = |line: String| writeln!(out, "{line}").is_ok();
    say("session       facts  findable  answered  tokens read / said  cuts".to_owned());
    for seed in 1..=seeds {
        let recorded = recorded::turns(Path::new(env!("CARGO_MANIFEST_DIR")));
        say(row(&format!("made up {seed}"), &story::read(seed)));
        say(row(&format!("recorded {seed}"), &story::read_recorded(recorded, seed)));
    }
}

fn row(name: &str, score: &story::Score) -> String {
    let story::Score { facts, findable, answered, whole, read, cuts } = *score;
    let percent = |part: u64, of: u64| part * 100 / of.max(1);
    let of_facts = |part: usize| percent(part as u64, facts as u64);
    let (findable, answered, share) = (of_facts(findable), of_facts(answered), percent(read, whole));
    format!("{name:<12}  {facts:>5}  {findable:>7}%  {answered:>7}%  {read} / {whole} ({share}%)  {cuts}")
}
