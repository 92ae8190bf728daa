//! What it costs to make styled text of markdown files, beside others that do: termimad in this process, `bat -l md` and
//! rich where they are installed.

use std::hint::black_box;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use axi::terminal::{Layout, MarkdownStream, Theme};
use rustix::time::{ClockId, clock_gettime};

use crate::process;
use crate::program::Program;
use crate::report::{Figure, Figures, to_float};
use crate::terminal::COLUMNS;
use crate::text::markdown;

/// What axi renders; as much of it as the others do in some seconds.
const SIZE: usize = 10_000_000;
const FOR_TERMIMAD: usize = 2_000_000;
const FOR_BAT: usize = 1_000_000;
const FOR_RICH: usize = 300_000;

/// One line a program, axi first.
pub(crate) fn files(axi: &Program) -> Vec<(&'static str, Result<Figures, String>)> {
    let mut all = vec![("axi", own(axi)), ("termimad", Ok(termimad()))];
    // Taken where they are: nothing of them is in this repository.
    let bat = std::env::var("AXI_BAT").unwrap_or_else(|_| "bat".to_owned());
    let file = |size| written(axi, &markdown(size));
    let mut command = Command::new(bat);
    command.args(["-l", "md", "--color=always", "--style=plain", "--paging=never", "--wrap=character"]);
    command.arg(format!("--terminal-width={COLUMNS}"));
    all.push(("bat -l md", file(FOR_BAT).and_then(|file| peer(command.arg(file), FOR_BAT))));
    let python = std::env::var("AXI_RICH").unwrap_or_else(|_| "python3".to_owned());
    let mut command = Command::new(python);
    command.args(["-m", "rich.markdown", "-c", "-w", &COLUMNS.to_string()]);
    all.push(("rich", file(FOR_RICH).and_then(|file| peer(command.arg(file), FOR_RICH))));
    all
}

fn written(axi: &Program, text: &str) -> Result<PathBuf, String> {
    let file = axi.home().join("long.md");
    std::fs::write(&file, text).map_err(|error| error.to_string())?;
    Ok(file)
}

fn speed(bytes: usize, cpu: Duration) -> Figure {
    Figure::Speed(to_float(bytes as u64) / 1e6 / cpu.as_secs_f64().max(0.01))
}

fn own(axi: &Program) -> Result<Figures, String> {
    let text = markdown(SIZE);
    let mut figures = Vec::new();
    for (what, peak_name, text) in
        [("highlighted", "peak", &text), ("plain code", "peak of it", &text.replace("```rust", "```"))]
    {
        let file = written(axi, text)?;
        let mut command = axi.command(&["render", "--color", "always", "--width", &COLUMNS.to_string()]);
        let (cpu, peak) = run(command.arg(&file))?;
        figures.push((what, speed(SIZE, cpu)));
        figures.push((peak_name, Figure::Memory(peak)));
    }
    figures.push(("first coloured row", Figure::Time(first_coloured_row())));
    Ok(figures)
}

fn peer(command: &mut Command, size: usize) -> Result<Figures, String> {
    let (cpu, peak) = run(command)?;
    Ok(vec![("highlighted", speed(size, cpu)), ("peak", Figure::Memory(peak))])
}

/// Runs a command to its end: its CPU, and the most memory it had, in KiB.
fn run(command: &mut Command) -> Result<(Duration, u64), String> {
    let before = process::cpu_of_ended_children();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("it does not start: {error}"))?;
    let mut peak = 0;
    let status = loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            break status;
        }
        peak = peak.max(process::peak(child.id()));
        std::thread::sleep(Duration::from_millis(5));
    };
    if !status.success() {
        return Err(format!("it ended with {status}"));
    }
    Ok((process::each_of(1, process::cpu_of_ended_children(), before), peak))
}

fn own_cpu() -> Duration {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or_default())
}

/// termimad colours no code.
fn termimad() -> Figures {
    let text = markdown(FOR_TERMIMAD);
    let skin = termimad::MadSkin::default();
    let before = own_cpu();
    black_box(skin.text(&text, Some(usize::from(COLUMNS))).to_string());
    vec![("plain code", speed(FOR_TERMIMAD, own_cpu().saturating_sub(before)))]
}

/// CPU from the newline of the first line of code in this process to its coloured row.
fn first_coloured_row() -> Duration {
    let mut stream = MarkdownStream::new(Layout::new(80, Theme::ansi()));
    stream.push("```rust\nfn main() { println!(\"{}\", 1); }");
    let before = own_cpu();
    black_box(stream.push("\n"));
    own_cpu().saturating_sub(before)
}
