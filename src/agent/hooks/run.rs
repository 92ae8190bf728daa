//! Runs a hook: a child process as for the shell tool, without keys of providers. It is ended, with all it started,
//! when its time is over or the turn is stopped.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;
use tokio_util::sync::CancellationToken;

use super::form::Hook;
use crate::platform::process::{Pid, Signal, kill_process_group};
use crate::sandbox::Variables;
use crate::tool::HANDOFF_VARIABLES;

/// How many bytes of a hook's output are read at most.
const MOST: u64 = 64 * 1024;

/// So long a hook's output may stay open once it has ended itself: what it started may still say something.
const CLOSING: Duration = Duration::from_secs(1);

/// How a hook ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct End {
    /// Its exit code; `None` if a signal ended it.
    pub(super) code: Option<i32>,
    pub(super) out: String,
    pub(super) err: String,
    /// Whether something it started kept its output open for longer.
    pub(super) left_open: bool,
}

/// Why a hook did not end by itself.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Failed {
    /// The turn was stopped.
    Stopped,
    /// It could not be started, or took too long.
    NotRun(String),
}

/// Ends a process group when it is dropped.
struct Group(Option<Pid>);

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(leader) = self.0 {
            // A group that has already ended is no error.
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

/// Runs a hook in the workspace, with JSON on its standard input.
///
/// # Cancel safety
/// If it is dropped, the hook and all it started are ended.
pub(super) async fn run(
    hook: &Hook,
    input: &Value,
    (workspace, variables): (&Path, &Variables),
    cancel: &CancellationToken,
) -> Result<End, Failed> {
    use crate::platform::os::process::CommandExt as _;
    let failed = |error: std::io::Error| Failed::NotRun(error.to_string());
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let mut command = std::process::Command::new(crate::platform::sh().map_err(failed)?);
    command.arg("-c").arg(&hook.command).current_dir(workspace).process_group(0);
    for name in variables.kept_from(&hook.command, names) {
        command.env_remove(name);
    }
    for name in HANDOFF_VARIABLES {
        command.env_remove(name);
    }
    command.env("CLAUDE_PROJECT_DIR", workspace);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = Command::from(command).spawn().map_err(failed)?;
    let leader = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    let group = Group(leader);
    let (Some(mut stdin), Some(out), Some(err)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(Failed::NotRun("no pipes".to_owned()));
    };
    let written = input.to_string();
    let (mut printed, mut complained) = (Vec::new(), Vec::new());
    let talk = async {
        let write = async {
            // A hook may ignore its standard input.
            drop(stdin.write_all(written.as_bytes()).await);
            drop(stdin);
            Ok(())
        };
        let talked =
            async { tokio::try_join!(write, beginning(out, &mut printed), beginning(err, &mut complained)) };
        tokio::pin!(talked);
        tokio::select! {
            biased;
            talked = &mut talked => {
                talked?;
                Ok((child.wait().await?, false))
            }
            status = child.wait() => match tokio::time::timeout(CLOSING, talked).await {
                Ok(talked) => talked.and(Ok((status?, false))),
                Err(_) => Ok((status?, true)),
            },
        }
    };
    let (status, left_open) = tokio::select! {
        biased;
        () = cancel.cancelled() => return Err(Failed::Stopped),
        ended = tokio::time::timeout(hook.limit, talk) => match ended {
            Ok(ended) => ended.map_err(failed)?,
            Err(_) => return Err(Failed::NotRun(format!("more than {} s", hook.limit.as_secs()))),
        },
    };
    drop(group);
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ok(End { code: status.code(), out: text(printed), err: text(complained), left_open })
}

/// Reads a pipe to its end, so that its writer never waits, and keeps its beginning.
async fn beginning(mut pipe: impl AsyncRead + Unpin, kept: &mut Vec<u8>) -> std::io::Result<()> {
    (&mut pipe).take(MOST).read_to_end(kept).await?;
    tokio::io::copy(&mut pipe, &mut tokio::io::sink()).await?;
    Ok(())
}
