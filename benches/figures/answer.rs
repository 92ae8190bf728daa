//! What an answer costs: one into a pipe, the first token in the terminal, long ones, one that is interrupted.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::process;
use crate::program::{PATIENCE, Program};
use crate::report::{Figure, Figures, least_and_middle, to_float};
use crate::server::{Plan, Server};
use crate::terminal::Terminal;
use crate::text::{LAST, markdown};

/// The body curl sends, which asks for what a program with the same question asks for.
const BODY: &str = r#"{"model":"any","stream":true,"messages":[{"role":"user","content":"say it"}]}"#;

fn curl(server: &Server) -> Command {
    let mut command = Command::new("curl");
    command.args(["-sN", "-H", "content-type: application/json", "-d", BODY]);
    command.arg(format!("{}/chat/completions", server.base_url()));
    command
}

/// Runs commands that print an answer into a pipe: the least, the middle and the CPU of each, taken in turns.
///
/// CPU is counted in steps of 10 ms, so it is taken over a block of all runs of one command.
fn blocks(commands: &[&dyn Fn() -> Command], runs: u32) -> Vec<Result<(Duration, Duration, Duration), String>> {
    commands
        .iter()
        .map(|command| {
            run_to_end(&mut command())?;
            let mut times = Vec::new();
            let before = process::cpu_of_ended_children();
            for _ in 0..runs {
                times.push(run_to_end(&mut command())?);
            }
            let cpu = process::each_of(runs, process::cpu_of_ended_children(), before);
            let (least, middle) = least_and_middle(&times);
            Ok((least, middle, cpu))
        })
        .collect()
}

fn run_to_end(command: &mut Command) -> Result<Duration, String> {
    let begun = Instant::now();
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("it does not start: {error}"))?;
    let time = begun.elapsed();
    if !output.status.success()
        || !String::from_utf8_lossy(&output.stdout).contains(LAST) && !is_stream(&output.stdout)
    {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{}: {}", output.status, said.lines().last().unwrap_or("no answer")));
    }
    Ok(time)
}

/// curl prints the events themselves, in which the last word is cut.
fn is_stream(output: &[u8]) -> bool {
    output.ends_with(b"data: [DONE]\n\n")
}

/// An answer of 1 KB into a pipe, beside curl of the same stream.
pub(crate) fn one_shot(server: &Server, programs: &[&Program], runs: u32) -> Vec<Result<Figures, String>> {
    let text = markdown(1000);
    server.plan(Plan::fast(&text));
    let from_curl = || curl(server);
    let base = blocks(&[&from_curl], runs).remove(0);
    programs
        .iter()
        .map(|program| {
            server.plan(Plan::fast(&text));
            let ask = || program.one_shot("say it");
            let (least, middle, cpu) = blocks(&[&ask], runs).remove(0)?;
            let peak = peak_of_one_shot(server, program, &text)?;
            let (_, curl_middle, curl_cpu) = base.clone()?;
            let times = |ours: Duration, theirs: Duration| {
                Figure::Ratio(ours.as_secs_f64() / theirs.as_secs_f64().max(f64::MIN_POSITIVE))
            };
            Ok(vec![
                ("min", Figure::Time(least)),
                ("median", Figure::Time(middle)),
                ("CPU", Figure::Time(cpu)),
                ("peak", Figure::Memory(peak)),
                ("wall against curl", times(middle, curl_middle)),
                ("CPU against curl", times(cpu, curl_cpu)),
            ])
        })
        .collect()
}

/// The most memory of a one-shot: looked at while the server holds the stream open behind the last word.
fn peak_of_one_shot(server: &Server, program: &Program, text: &str) -> Result<u64, String> {
    server.plan(Plan { before_end: Duration::from_millis(300), ..Plan::fast(text) });
    let mut command = program.one_shot("say it");
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let child = child.as_mut().map_err(|error| error.to_string())?;
    let mut peak = 0;
    while child.try_wait().map_err(|error| error.to_string())?.is_none() {
        peak = peak.max(process::peak(child.id()));
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(peak)
}

/// Types a question and sends it.
fn ask(terminal: &Terminal) {
    terminal.send("say it");
    terminal.settle(Duration::from_millis(30));
    terminal.send("\r");
}

/// From the first content event on the wire to its first byte in the terminal, over many questions of one session.
pub(crate) fn first_token(server: &Server, program: &Program, runs: u32) -> Result<Figures, String> {
    let (terminal, mut place) = program.at_prompt()?;
    let text = markdown(300);
    let mut times = Vec::new();
    for run in 0..=runs {
        let pause = Duration::from_millis(150);
        server.plan(Plan { before_first: pause, after_first: pause, ..Plan::fast(&text) });
        ask(&terminal);
        let (shown, after) = terminal.wait(crate::text::FIRST, place, PATIENCE)?;
        let sent = server.wait(|moments| moments.first).ok_or("the server sent nothing")?;
        let (_, after) = terminal.wait(LAST, after, PATIENCE)?;
        (_, place) = terminal.wait(program.sign, after, PATIENCE)?;
        terminal.settle(Duration::from_millis(50));
        // The first answer makes the connection and warms what is made late.
        if run > 0 {
            times.push(shown.saturating_duration_since(sent));
        }
    }
    let (least, middle) = least_and_middle(&times);
    Ok(vec![("min", Figure::Time(least)), ("median", Figure::Time(middle))])
}

/// What one long answer cost.
struct Long {
    cpu: Duration,
    wall: Duration,
    bytes: u64,
}

fn long(server: &Server, program: &Program, size: usize) -> Result<Long, String> {
    let (terminal, place) = program.at_prompt()?;
    // A short answer first: connection, highlighter and the like are not the stream's cost.
    server.plan(Plan::fast(&markdown(300)));
    ask(&terminal);
    let (_, place) = terminal.wait(LAST, place, PATIENCE)?;
    let (_, place) = terminal.wait(program.sign, place, PATIENCE)?;
    terminal.settle(Duration::from_millis(150));

    server.plan(Plan::fast(&markdown(size)));
    let (cpu, bytes, begun) = (process::cpu_coarse(terminal.id()), terminal.bytes(), Instant::now());
    ask(&terminal);
    let (_, place) = terminal.wait(LAST, place, PATIENCE)?;
    let (prompt, _) = terminal.wait(program.sign, place, PATIENCE)?;
    let cpu = process::cpu_coarse(terminal.id()).saturating_sub(cpu);
    Ok(Long { cpu, wall: prompt - begun, bytes: terminal.bytes() - bytes })
}

/// 100 KB of markdown in 4-character deltas: CPU, bytes written; and how ten times as much compares.
pub(crate) fn stream(server: &Server, program: &Program, runs: u32) -> Result<Figures, String> {
    const SIZE: usize = 100_000;
    let short: Vec<Long> = (0..runs).map(|_| long(server, program, SIZE)).collect::<Result<_, _>>()?;
    let tenfold = long(server, program, 10 * SIZE)?;
    let cpu = short.iter().map(|one| one.cpu).sum::<Duration>() / runs;
    let walls: Vec<Duration> = short.iter().map(|one| one.wall).collect();
    let bytes = short.iter().map(|one| one.bytes).min().unwrap_or(0);
    let per = |bytes: u64, of: usize| Figure::Ratio(to_float(bytes) / to_float(of as u64));
    let mut figures = vec![
        ("CPU", Figure::Time(cpu)),
        ("wall", Figure::Time(least_and_middle(&walls).1)),
        ("bytes for a byte of source", per(bytes, SIZE)),
        ("1 MB", Figure::Time(tenfold.cpu)),
        ("1 MB / 100 KB", Figure::Ratio(tenfold.cpu.as_secs_f64() / cpu.as_secs_f64().max(0.001))),
    ];
    if let Some(styled) = styled(program, &markdown(SIZE)) {
        figures.push(("bytes for a byte of styled text", per(bytes, styled)));
    }
    Ok(figures)
}

/// How many bytes the text has once styled and laid out for the terminal's width; axi only.
fn styled(program: &Program, text: &str) -> Option<usize> {
    let file = program.home().join("answer.md");
    std::fs::write(&file, text).ok()?;
    let mut command = render(program, "always");
    let output = command.arg(&file).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    (program.is_axi() && output.status.success()).then_some(output.stdout.len())
}

fn render(program: &Program, colour: &str) -> Command {
    program.command(&["render", "--color", colour, "--width", &crate::terminal::COLUMNS.to_string()])
}

/// The interrupting key while text is coming: to the connection's end, and to the prompt.
pub(crate) fn interrupt(server: &Server, program: &Program, runs: u32) -> Result<Figures, String> {
    let (terminal, mut place) = program.at_prompt()?;
    // No sign of a prompt may be in the text, or it would be taken for one.
    let text = markdown(60_000).replace("> ", "");
    let (mut closed, mut back) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        server.plan(Plan { between: Duration::from_millis(5), ..Plan::fast(&text) });
        ask(&terminal);
        terminal.wait(crate::text::FIRST, place, PATIENCE)?;
        std::thread::sleep(Duration::from_millis(400));
        let before = terminal.end();
        let sent = terminal.send(program.interrupt);
        let end = server.wait(|moments| moments.closed).ok_or("the connection was never closed")?;
        let (prompt, after) = terminal.wait(program.sign, before, PATIENCE)?;
        closed.push(end.saturating_duration_since(sent));
        back.push(prompt.saturating_duration_since(sent));
        terminal.settle(Duration::from_millis(100));
        place = after;
    }
    let ((least, middle), (prompt_least, prompt_middle)) = (least_and_middle(&closed), least_and_middle(&back));
    Ok(vec![
        ("closed min", Figure::Time(least)),
        ("closed median", Figure::Time(middle)),
        ("prompt min", Figure::Time(prompt_least)),
        ("prompt median", Figure::Time(prompt_middle)),
    ])
}
