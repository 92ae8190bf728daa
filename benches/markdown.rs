//! Figures of the markdown renderer, in CPU time: `cargo bench --bench markdown`.
//!
//! The corpus is the project's own collection of real answers when it lies beside the repository, else a made one; it is
//! fed in pieces, so that memory shows what the renderer keeps. Peers: termimad (renders markdown), syntect with
//! two-face (the engine of bat, colouring the source).
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot read its corpus has nothing to do")]
#![expect(clippy::cast_precision_loss, reason = "figures are rounded anyway")]

use std::{fmt::Write as _, hint::black_box, path::PathBuf};

use axi::terminal::{Layout, Line, MarkdownStream, Theme};
use rustix::time::{ClockId, clock_gettime};

/// Code to be coloured: a file of the project, and some Python.
const RUST: &str = concat!(
    include_str!("../src/terminal/markdown/inline/parse.rs"),
    include_str!("../src/terminal/markdown/rows/wrapper.rs"),
    include_str!("../src/terminal/markdown/highlight/mod.rs")
);
const PYTHON: &str = "@dataclass\nclass Point(Base):\n    \"\"\"A point.\n    Of two numbers.\"\"\"\n    x: float = 0.5  # left\n\n    def norm(self) -> float:\n        return math.sqrt(self.x ** 2 + self.y ** 2) if self.x is not None else 0\n\n";

const MEBIBYTE: usize = 1 << 20;

fn cpu_seconds() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = cpu_seconds();
    let result = black_box(work());
    (cpu_seconds() - start, result)
}

/// The least of some runs: other work on the machine only ever adds.
fn least(runs: usize, mut work: impl FnMut() -> usize) -> f64 {
    (0..runs).map(|_| timed(&mut work).0).fold(f64::INFINITY, f64::min)
}

fn corpus() -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/real/markdown/answers");
    let mut text = String::new();
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        let answer: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let chunks = answer["chunks"].as_array().unwrap();
        let answer: String = chunks.iter().filter_map(|chunk| chunk.as_str()).collect();
        if !answer.contains("<think") && answer.matches("```").count().is_multiple_of(2) {
            writeln!(text, "{answer}\n").unwrap();
        }
    }
    text
}

fn sized(text: &str, bytes: usize) -> String {
    let mut long = String::with_capacity(bytes + text.len());
    while long.len() < bytes {
        long.push_str(text);
    }
    let end = (0..=bytes).rev().find(|end| long.is_char_boundary(*end)).unwrap_or(0);
    long.truncate(end);
    long
}

/// Renders `bytes` of the text, in pieces of `piece` bytes, as often repeated as needed; returns cells' bytes.
fn render(text: &str, bytes: usize, piece: usize, layout: &Layout, tail_every: usize) -> usize {
    let mut stream = MarkdownStream::new(*layout);
    let mut rows: Vec<Line> = Vec::new();
    let mut shown = 0;
    let mut count = |rows: &mut Vec<Line>| {
        shown += rows.iter().flat_map(|row| &row.spans).map(|span| span.text.len()).sum::<usize>();
        rows.clear();
    };
    let (mut fed, mut offset, mut pieces) = (0, 0, 0_usize);
    while fed < bytes {
        let mut end = (offset + piece).min(text.len());
        while !text.is_char_boundary(end) {
            end += 1;
        }
        stream.push_into(&text[offset..end], &mut rows);
        pieces += 1;
        if tail_every > 0 && pieces.is_multiple_of(tail_every) {
            black_box(stream.tail());
        }
        count(&mut rows);
        fed += end - offset;
        offset = if end == text.len() { 0 } else { end };
    }
    rows.extend(stream.finish());
    count(&mut rows);
    shown
}

fn peak_kibibytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn main() {
    let text = corpus();
    let layout = |highlight| Layout { highlight, ..Layout::new(80, Theme::ansi()) };
    let prose: String = text.split("```").step_by(2).collect();
    let code = format!("{text}\n\n```rust\n{}```\n\n```python\n{}```\n", RUST, PYTHON.repeat(20));
    println!(
        "corpus {} KB, of it {} KB outside of fences; with code {} KB",
        text.len() / 1000,
        prose.len() / 1000,
        code.len() / 1000
    );

    let ten = 10 * MEBIBYTE;
    for (name, source, highlight) in [
        ("10 MiB, no colours in code", &text, false),
        ("10 MiB, half of it code, no colours", &code, false),
        ("10 MiB, half of it code, colours", &code, true),
        ("10 MiB of prose", &prose, false),
    ] {
        let seconds = least(3, || render(source, ten, 64 * 1024, &layout(highlight), 0));
        println!("{name:<40} {:>8.1} MB/s of CPU", ten as f64 / 1e6 / seconds);
    }
    println!("{:<40} {:>8.1} MiB", "peak memory after that", peak_kibibytes() as f64 / 1024.0);

    for tail_every in [0, 1, 8] {
        let seconds: Vec<f64> = [100_000, 1_000_000]
            .iter()
            .map(|bytes| least(3, || render(&text, *bytes, 4, &layout(true), tail_every)))
            .collect();
        println!(
            "100 KB in 4-byte deltas, a tail every {tail_every:<2} {:>8.3} s of CPU; 1 MB is {:.2} x that",
            seconds[0],
            seconds[1] / seconds[0]
        );
    }
    // Texts made to be held back.
    let cruel = [
        ("one paragraph", "word ".repeat(20_000)),
        ("one line without spaces", "x".repeat(100_000)),
        ("open emphasis", "*a ".repeat(33_000)),
        ("open brackets", "[a ".repeat(33_000)),
        ("open backticks", "`a ``b ```c ".repeat(8_300)),
        ("open tags", "<a b ".repeat(20_000)),
        ("prices", "$5 and ".repeat(14_000)),
        ("one table", format!("| a | b |\n|---|---|\n{}", "| cell one | cell two |\n".repeat(4_300))),
        ("deep list", (0..300).map(|depth| "  ".repeat(depth) + "- item\n").collect::<Vec<_>>().concat()),
        ("deep quotes", format!("{} text\n", "> ".repeat(300)).repeat(150)),
        ("a Chinese paragraph", "中文段落没有空格，也应该能够正确换行。".repeat(1_850)),
    ];
    for (name, source) in cruel {
        let small = least(2, || render(&source, source.len(), 4, &layout(true), 0));
        let large = least(1, || render(&source.repeat(5), source.len() * 5, 4, &layout(true), 0));
        let whole = least(2, || render(&source, source.len(), source.len(), &layout(true), 0));
        println!(
            "{name:<26} {:>4} KB: streamed {small:>6.3} s, 5 times of it {:>5.2} x; whole {whole:>6.3} s",
            source.len() / 1000,
            large / small
        );
    }

    others(&text, &code);

    // The first row of code.
    for (language, line) in
        [("rust", "fn main() { println!(\"{}\", 1); }\n"), ("python", "def f(x): return x  # c\n")]
    {
        let (seconds, _) = timed(|| {
            let mut stream = MarkdownStream::new(layout(true));
            stream.push(&format!("```{language}\n{line}")).len()
        });
        println!("first row of {language:<27} {:>8.3} ms of CPU", seconds * 1000.0);
    }
}

/// What other programs need for the same.
fn others(text: &str, code: &str) {
    let one = sized(text, MEBIBYTE);
    let skin = termimad::MadSkin::default();
    let seconds = least(2, || skin.text(&one, Some(80)).to_string().len());
    println!("{:<40} {:>8.1} MB/s of CPU", "termimad, 1 MiB", one.len() as f64 / 1e6 / seconds);
    let part = sized(code, 100_000);
    let syntaxes = two_face::syntax::extra_newlines();
    let theme = two_face::theme::extra().get(two_face::theme::EmbeddedThemeName::Base16).clone();
    let markdown = syntaxes.find_syntax_by_extension("md").unwrap();
    let run = || {
        use syntect::{
            highlighting::{HighlightIterator, HighlightState, Highlighter},
            parsing::{ParseState, ScopeStack},
        };
        let highlighter = Highlighter::new(&theme);
        let mut state = HighlightState::new(&highlighter, ScopeStack::new());
        let mut parse = ParseState::new(markdown);
        part.split_inclusive('\n')
            .map(|line| {
                let ops = parse.parse_line(line, &syntaxes).unwrap();
                HighlightIterator::new(&mut state, &ops, line, &highlighter)
                    .map(|(_, piece)| piece.len())
                    .sum::<usize>()
            })
            .sum()
    };
    let (first, _) = timed(run);
    let second = least(1, run);
    println!(
        "{:<40} {:>8.2} MB/s of CPU; the first time {first:.2} s",
        "syntect on the source (bat), 100 KB",
        part.len() as f64 / 1e6 / second
    );
}
