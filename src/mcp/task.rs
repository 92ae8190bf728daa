//! A call that its server makes a task of: it is asked how it stands until there is a result (revision 2025-11-25, Tasks).

use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::connection::Connection;
use super::failure::Failure;
use super::opening::fields;

/// How often a task is asked after where its server does not say, and at least and at most.
const POLL: Duration = Duration::from_secs(1);
const SHORTEST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(10);

/// Tells the server that nobody waits for its task any more, unless it is done.
struct Abandoned<'a> {
    line: &'a Connection,
    id: Option<String>,
}

impl Drop for Abandoned<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            self.line.tell("tasks/cancel", fields(json!({"taskId": id})));
        }
    }
}

/// Waits for the result of a task; returns any other answer unchanged.
///
/// # Cancel safety
/// Dropped, the server is told to cancel it.
///
/// # Errors
/// [`Failure`].
pub(super) async fn finished(
    line: &Connection,
    answer: Value,
    limit: Duration,
    progress: &mpsc::Sender<String>,
) -> Result<Value, Failure> {
    let Some(mut task) = answer.get("task").filter(|task| task.is_object()).cloned() else { return Ok(answer) };
    let id = task.get("taskId").and_then(Value::as_str).ok_or(Failure::NotMcp)?.to_owned();
    let of_task = || fields(json!({"taskId": id}));
    let mut abandoned = Abandoned { line, id: Some(id.clone()) };
    loop {
        if let Some(said) = task.get("statusMessage").and_then(Value::as_str) {
            // A full channel drops it: the next one says more.
            let _ = progress.try_send(said.to_owned());
        }
        match task.get("status").and_then(Value::as_str) {
            Some("working") => {
                let wanted = task.get("pollInterval").and_then(Value::as_u64).map(Duration::from_millis);
                tokio::time::sleep(wanted.unwrap_or(POLL).clamp(SHORTEST, LONGEST)).await;
                task = line.request("tasks/get", of_task(), limit, None).await?;
            }
            // This request makes the server ask what the task still needs.
            Some("completed" | "failed" | "input_required") => {
                let result = line.request("tasks/result", of_task(), limit, Some(progress.clone())).await?;
                abandoned.id = None;
                return Ok(result);
            }
            Some("cancelled") => {
                abandoned.id = None;
                return Err(Failure::Cancelled);
            }
            _ => return Err(Failure::NotMcp),
        }
    }
}
