//! A server that is a program: started, spoken to on its standard input and output, ended with axi.

use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::connection::Connection;
use super::definition::Way;
use super::failure::Failure;
use super::message::{self, MOST, MOST_MEGABYTES};
use crate::child::processes::{MARK, Mark};
use crate::child::{ADOPT_APART, PLAIN};
use crate::platform::ADOPTS;
use crate::platform::process::{Pid, Signal, kill_process, kill_process_group};
use crate::secret::{Known, Level, redact};
use crate::sse::{Ends, Line, Lines};

/// More bytes than this between two messages that are none, and it is no server.
const MOST_NOISE: usize = 8 * 1024 * 1024;
/// Lines of its standard error that the log takes.
const MOST_LOGGED: usize = 500;
/// The most characters of one.
const MOST_LINE: u64 = 2_000;
/// How long a server may take to end after its input is closed, and after it is told to end.
const END_GRACE: Duration = Duration::from_millis(300);
const KILL_GRACE: Duration = Duration::from_millis(1_500);

/// What a server is started with.
pub(super) struct Launch {
    /// The axi program itself, started between: it ends all that the server started.
    pub(super) helper: Option<PathBuf>,
    /// Where it runs.
    pub(super) directory: PathBuf,
    /// The variables of the environment that it does not get.
    pub(super) withheld: Vec<String>,
}

/// A started server.
pub(super) struct Process {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    errors: ChildStderr,
    /// Whether a helper that ends all below it stands between.
    adopted: bool,
}

/// Starts a program. Called on the thread of the servers: what is started dies with that thread.
pub(super) fn start(way: &Way, launch: &Launch) -> Result<Process, Failure> {
    use crate::platform::os::process::CommandExt as _;
    let Way::Process { command: program, args, env } = way else {
        return Err(Failure::NotStarted { cause: "it is no program".to_owned() });
    };
    let helper = launch.helper.as_ref().filter(|_| ADOPTS);
    let mut command = match helper {
        Some(helper) => {
            // The helper could only say by its exit code that there is no such program.
            find(program, &launch.directory)?;
            let mut command = std::process::Command::new(helper);
            command.args([ADOPT_APART, PLAIN]).arg(program);
            command
        }
        None => std::process::Command::new(program),
    };
    command.args(args).current_dir(&launch.directory);
    for name in &launch.withheld {
        command.env_remove(name);
    }
    command.envs(env).env(MARK, Mark::new().value());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if helper.is_none() {
        command.process_group(0);
    }
    let not_started = |cause: String| Failure::NotStarted { cause };
    let mut command = tokio::process::Command::from(command);
    let mut child = command.spawn().map_err(|error| not_started(format!("{program}: {error}")))?;
    let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    match (input, output, errors) {
        (Some(input), Some(output), Some(errors)) => {
            Ok(Process { child, input, output, errors, adopted: helper.is_some() })
        }
        _ => Err(not_started("no pipes".to_owned())),
    }
}

/// Finds a program as the system would.
fn find(program: &str, directory: &std::path::Path) -> Result<(), Failure> {
    use crate::platform::os::fs::PermissionsExt as _;
    let runs = |path: PathBuf| {
        path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    let found = if program.contains('/') {
        runs(directory.join(program))
    } else {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| runs(directory.join(folder).join(program)))
    };
    if found { Ok(()) } else { Err(Failure::NotStarted { cause: format!("{program}: no such program") }) }
}

/// Carries messages both ways until the server ends, the line is hung up, or axi ends; then ends the server.
pub(super) async fn drive(
    name: String,
    process: Process,
    connection: Arc<Connection>,
    sent: mpsc::Receiver<Value>,
    stop: CancellationToken,
) {
    let Process { mut child, input, output, errors, adopted } = process;
    let said = Arc::new(Mutex::new(String::new()));
    let logging = tokio::spawn(log(name, errors, Arc::clone(&said)));
    let failure = tokio::select! {
        biased;
        () = stop.cancelled() => Failure::Off,
        () = connection.hang_up.cancelled() => Failure::Off,
        failure = read(output, &connection) => failure,
        () = write(input, sent) => Failure::Ended { code: None, said: String::new() },
    };
    // Its input is closed by now, which tells it to end.
    let code = end(&mut child, adopted).await.and_then(|status| status.code());
    // Its last words may still be on their way.
    let _ = tokio::time::timeout(END_GRACE, logging).await;
    let failure = match failure {
        Failure::Ended { .. } => {
            let said = said.lock().unwrap_or_else(PoisonError::into_inner).clone();
            Failure::Ended { code, said }
        }
        other => other,
    };
    connection.end(&failure);
}

async fn write(mut input: ChildStdin, mut sent: mpsc::Receiver<Value>) {
    while let Some(message) = sent.recv().await {
        let mut line = message.to_string().into_bytes();
        line.push(b'\n');
        if input.write_all(&line).await.is_err() || input.flush().await.is_err() {
            // It ended, or closed its input: its output says which.
            std::future::pending::<()>().await;
        }
    }
}

/// Reads until there is nothing more to read.
async fn read(mut output: ChildStdout, connection: &Arc<Connection>) -> Failure {
    let (mut lines, mut noise) = (Lines::new(Ends::Newline, MOST), 0_usize);
    let mut bytes = vec![0; 64 * 1024];
    loop {
        let count = match output.read(&mut bytes).await {
            Ok(0) | Err(_) => return Failure::Ended { code: None, said: String::new() },
            Ok(count) => count,
        };
        noise += count;
        let mut unread = &bytes[..count];
        while let Some(line) = lines.next(&mut unread) {
            match line {
                Line::Whole(line) => {
                    for incoming in message::read(&line) {
                        noise = 0;
                        connection.receive(incoming);
                    }
                }
                Line::TooLong => {
                    // Whose answer it was cannot be known; only one call runs at a time.
                    noise = 0;
                    connection.fail(&Failure::TooLarge { megabytes: MOST_MEGABYTES });
                }
            }
        }
        // A message may be this long, too.
        if noise > MOST_NOISE + MOST && !lines.is_skipping() {
            return Failure::NotMcp;
        }
    }
}

/// Writes what a server says on its standard error into the log.
async fn log(name: String, errors: ChildStderr, last: Arc<Mutex<String>>) {
    let mut reader = BufReader::new(errors);
    let mut line = Vec::new();
    for number in 0_usize.. {
        line.clear();
        match (&mut reader).take(MOST_LINE).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&line);
        let plain: String = text.chars().filter(|letter| !letter.is_control()).collect();
        if plain.trim().is_empty() {
            continue;
        }
        let (plain, _) = redact(plain.trim(), &Known::default(), Level::Kept);
        if number < MOST_LOGGED {
            tracing::info!(server = name, "{plain}");
        }
        *last.lock().unwrap_or_else(PoisonError::into_inner) = plain.chars().take(200).collect();
    }
}

/// Ends a server: its input is closed, which asks it to; then it is told, then killed.
async fn end(child: &mut Child, adopted: bool) -> Option<ExitStatus> {
    if let Ok(status) = tokio::time::timeout(END_GRACE, child.wait()).await {
        return status.ok();
    }
    let process = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    // An adopter that is told to end kills all below it first.
    let signal = |signal| match process {
        Some(process) if adopted => drop(kill_process(process, signal)),
        Some(process) => drop(kill_process_group(process, signal)),
        None => {}
    };
    signal(Signal::TERM);
    if let Ok(status) = tokio::time::timeout(KILL_GRACE, child.wait()).await {
        return status.ok();
    }
    signal(Signal::KILL);
    child.wait().await.ok()
}
