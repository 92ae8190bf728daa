//! How fast it starts and how fast it echoes: `--version`, exec to the first echoed key, any later key.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::process;
use crate::program::{PATIENCE, Program};
use crate::report::{Figure, Figures, least_and_middle};
use crate::terminal::Terminal;

/// `--version` into nowhere: wall and CPU.
pub(crate) fn version(program: &Program, runs: u32) -> Result<Figures, String> {
    let mut times = Vec::new();
    let before = process::cpu_of_ended_children();
    for _ in 0..runs {
        let begun = Instant::now();
        let status = program.command(&["--version"]).stdout(Stdio::null()).status().map_err(|e| e.to_string())?;
        times.push(begun.elapsed());
        if !status.success() {
            return Err(format!("--version ended with {status}"));
        }
    }
    let cpu = process::each_of(runs, process::cpu_of_ended_children(), before);
    let (least, middle) = least_and_middle(&times);
    Ok(vec![("min", Figure::Time(least)), ("median", Figure::Time(middle)), ("CPU", Figure::Time(cpu))])
}

/// Exec to a prompt that echoes a key, all programs in turn so that the machine's moods hit them alike.
pub(crate) fn echo(programs: &[&Program], runs: u32) -> Vec<Result<Figures, String>> {
    let mut results: Vec<Result<Vec<(Duration, Duration)>, String>> =
        programs.iter().map(|_| Ok(Vec::new())).collect();
    // The first run of each warms the disk and writes what is written once.
    for run in 0..=runs {
        for (program, result) in programs.iter().zip(&mut results) {
            let Ok(times) = result else { continue };
            match first_echo(program) {
                Ok(time) if run > 0 => times.push(time),
                Ok(_) => {}
                Err(reason) => *result = Err(reason),
            }
        }
    }
    results.into_iter().map(|result| result.map(|times| figures(&times))).collect()
}

fn figures(times: &[(Duration, Duration)]) -> Figures {
    let (least, middle) = least_and_middle(&times.iter().map(|(wall, _)| *wall).collect::<Vec<_>>());
    let (_, cpu) = least_and_middle(&times.iter().map(|(_, cpu)| *cpu).collect::<Vec<_>>());
    vec![("min", Figure::Time(least)), ("median", Figure::Time(middle)), ("CPU", Figure::Time(cpu))]
}

fn first_echo(program: &Program) -> Result<(Duration, Duration), String> {
    let mut command = program.interactive();
    let begun = Instant::now();
    let terminal = Terminal::start(&mut command);
    let (_, place) = terminal.wait(program.sign, 0, PATIENCE)?;
    terminal.send("q");
    let (echoed, _) = terminal.wait("q", place, PATIENCE)?;
    let cpu = process::cpu_fine(terminal.id());
    Ok((echoed - begun, cpu))
}

/// A key at a prompt that has been there for a while: a letter, which is deleted again before the next.
pub(crate) fn key(program: &Program, runs: u32) -> Result<Figures, String> {
    let (terminal, _) = program.at_prompt()?;
    let mut times = Vec::new();
    for _ in 0..runs {
        let place = terminal.end();
        let sent = terminal.send("q");
        times.push(terminal.wait("q", place, PATIENCE)?.0 - sent);
        terminal.settle(Duration::from_millis(3));
        terminal.send("\x7f");
        terminal.settle(Duration::from_millis(3));
    }
    let (least, middle) = least_and_middle(&times);
    Ok(vec![("min", Figure::Time(least)), ("median", Figure::Time(middle))])
}

/// Nothing is done at the prompt: memory, CPU and wake-ups over ten seconds.
pub(crate) fn idle(program: &Program) -> Result<Figures, String> {
    let (terminal, _) = program.at_prompt()?;
    std::thread::sleep(Duration::from_secs(2));
    let (cpu, wake_ups) = (process::cpu_fine(terminal.id()), process::wake_ups(terminal.id()));
    std::thread::sleep(Duration::from_secs(10));
    let cpu = process::cpu_fine(terminal.id()).saturating_sub(cpu);
    let wake_ups = process::wake_ups(terminal.id()).saturating_sub(wake_ups);
    let memory = process::pss(terminal.id());
    Ok(vec![("PSS", Figure::Memory(memory)), ("CPU", Figure::Time(cpu)), ("wake-ups", Figure::Count(wake_ups))])
}
