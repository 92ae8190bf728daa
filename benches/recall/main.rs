//! How much of a long session is still known after it was cut: facts planted in synthetic sessions, and a scripted reader.
//!
//! `cargo bench --bench recall [SEEDS]`; the same reader with the first seed is a test.

use std::io::Write as _;

mod story;

fn main() {
    let seeds = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(10_u64);
    let mut out = std::io::stdout().lock();
    let mut say = |line: String| writeln!(out, "{line}").is_ok();
    say("seed  facts  findable  answered  tokens read / said  cuts".to_owned());
    for seed in 1..=seeds {
        let score = story::read(seed);
        let story::Score { facts, findable, answered, whole, read, cuts } = score;
        let percent = |part: u64, of: u64| part * 100 / of.max(1);
        let of_facts = |part: usize| percent(part as u64, facts as u64);
        say(format!(
            "{seed:>4}  {facts:>5}  {:>7}%  {:>7}%  {read} / {whole} ({}%)  {cuts}",
            of_facts(findable),
            of_facts(answered),
            percent(read, whole)
        ));
    }
}
