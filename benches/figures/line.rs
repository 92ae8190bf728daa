//! The line with a long life behind it: a million lines of history, a hundred thousand files, a paste of ten thousand
//! lines.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use crate::program::{PATIENCE, Program};
use crate::report::{Figure, Figures, least_and_middle};
use crate::start;
use crate::terminal::Terminal;

/// Lines of history: short ones, so that the file stays below the size at which it is shortened.
const LINES: usize = 1_000_000;
const FOLDERS: usize = 1_000;
const FILES: usize = 100_000;
const PASTED: usize = 10_000;

/// Gives a program's home that history and these files; some seconds.
pub(crate) fn burden(program: &Program) -> std::io::Result<()> {
    let state = program.home().join(".local/state/axi");
    std::fs::create_dir_all(&state)?;
    let mut history = String::with_capacity(LINES * 50);
    for line in 0..LINES {
        // Writing to a string does not fail.
        let _ = writeln!(history, "{{\"t\":{line},\"d\":\"/w\",\"l\":\"make part {} of {line}\"}}", line % 977);
    }
    std::fs::write(state.join("history.jsonl"), history)?;
    for folder in 0..FOLDERS {
        let path = program.home().join(format!("work/part{:02}/module{folder:04}", folder % 50));
        std::fs::create_dir_all(&path)?;
        (0..FILES / FOLDERS).try_for_each(|file| write_file(&path, file))?;
    }
    Ok(())
}

fn write_file(folder: &Path, number: usize) -> std::io::Result<()> {
    std::fs::write(folder.join(format!("source{number:03}.rs")), "fn main() {}\n")
}

/// Exec to an echoed key without and with the burden.
pub(crate) fn start(light: &Program, laden: &Program, runs: u32) -> Result<Figures, String> {
    let mut results = start::echo(&[light, laden], runs).into_iter();
    let names = [["min", "median", "CPU"], ["laden min", "laden median", "laden CPU"]];
    let mut figures = Figures::new();
    for names in names {
        let taken = results.next().ok_or("a program is missing")??;
        figures.extend(names.into_iter().zip(taken).map(|(name, (_, figure))| (name, figure)));
    }
    Ok(figures)
}

/// Keys of each kind, until something is seen of them: the middle and the slowest.
pub(crate) fn keys(program: &Program, runs: u32) -> Result<Figures, String> {
    let (terminal, _) = program.at_prompt()?;
    // The history has been read when its ghost text is there.
    terminal.send("make part");
    terminal.settle(Duration::from_secs(1));
    clear(&terminal);
    let mut figures = Figures::new();
    // Letters with ghost text, letters that no line has, backwards by prefix, a search, and files once they are known.
    let kinds: [(&str, &str, &str, &str); 5] = [
        ("hit", "hit slowest", "", "make part 12 of 99"),
        ("miss", "miss slowest", "", "zebra quagga okapi"),
        ("up", "up slowest", "make part 3", "\x1b[A\x1b[A\x1b[B\x1b[B"),
        ("search", "search slowest", "\x12", "zqxk"),
        ("files", "files slowest", "@", "part07/source09"),
    ];
    for (middle_name, slowest_name, before, text) in kinds {
        let mut times = Vec::new();
        for _ in 0..runs {
            for key in split(before) {
                terminal.send(key);
                terminal.settle(Duration::from_millis(if before == "@" { 1_500 } else { 30 }));
            }
            for key in split(text) {
                times.push(until_seen(&terminal, key)?);
                terminal.settle(Duration::from_millis(4));
            }
            terminal.send("\x1b");
            terminal.settle(Duration::from_millis(60));
            terminal.send("\x15");
            terminal.settle(Duration::from_millis(30));
        }
        let (_, middle) = least_and_middle(&times);
        let slowest = times.iter().max().copied().unwrap_or_default();
        figures.push((middle_name, Figure::Time(middle)));
        figures.push((slowest_name, Figure::Time(slowest)));
    }
    clear(&terminal);
    Ok(figures)
}

/// `@` for the first time: until the list is there, and how long a key takes while the walk is under way.
pub(crate) fn first_files(program: &Program, runs: u32) -> Result<Figures, String> {
    let (mut lists, mut keys) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        let (terminal, place) = program.at_prompt()?;
        let sent = terminal.send("@");
        lists.push(terminal.wait("› ", place, PATIENCE)?.0 - sent);
        for key in ["s", "o", "u"] {
            keys.push(until_seen(&terminal, key)?);
        }
        clear(&terminal);
    }
    let (least, middle) = least_and_middle(&lists);
    let (_, key) = least_and_middle(&keys);
    let slowest = keys.iter().max().copied().unwrap_or_default();
    let list = [("min", Figure::Time(least)), ("median", Figure::Time(middle))];
    Ok(list.into_iter().chain([("next key", Figure::Time(key)), ("slowest", Figure::Time(slowest))]).collect())
}

/// A paste: until its block is there, the next key, and Enter until the line is sent.
pub(crate) fn paste(program: &Program, runs: u32) -> Result<Figures, String> {
    let mut text = String::new();
    for row in 0..PASTED {
        // Writing to a string does not fail.
        let _ = writeln!(text, "row {row} of what was copied from some log");
    }
    let (mut shown, mut keys) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        let (terminal, place) = program.at_prompt()?;
        let sent = terminal.send(&format!("\x1b[200~{text}\x1b[201~"));
        shown.push(terminal.wait("lines]", place, PATIENCE)?.0 - sent);
        terminal.settle(Duration::from_millis(30));
        keys.push(until_seen(&terminal, "x")?);
        clear(&terminal);
    }
    let ((least, middle), (_, key)) = (least_and_middle(&shown), least_and_middle(&keys));
    Ok(vec![("min", Figure::Time(least)), ("median", Figure::Time(middle)), ("next key", Figure::Time(key))])
}

/// Leaves no draft behind, which the next start would offer.
fn clear(terminal: &Terminal) {
    terminal.send("\x1b");
    terminal.settle(Duration::from_millis(200));
    terminal.send("\x15");
    terminal.settle(Duration::from_secs(1));
}

fn until_seen(terminal: &Terminal, key: &str) -> Result<Duration, String> {
    let reads = terminal.reads();
    let sent = terminal.send(key);
    Ok(terminal.wait_read(reads, PATIENCE)?.saturating_duration_since(sent))
}

/// Keys one by one: sequences stay whole.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let length = if rest.starts_with('\x1b') { 3 } else { rest.chars().next()?.len_utf8() };
        let (key, after) = rest.split_at(length.min(rest.len()));
        rest = after;
        Some(key)
    })
}
