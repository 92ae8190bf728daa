//! The `shell` tool: one command line, without a terminal, with a time limit.

use std::path::PathBuf;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::conversation::{Effect, Outcome, Preview, Subject, ToolSpec};

use super::arguments::{Arguments, Field, plain};
use super::shell_loan;
use super::shell_run::{self, Ended, Reason};
use super::{Access, Place, Tool, ToolContext, ToolFacts, ToolOutput, paths, text_file, work};

/// Seconds a command has when the model does not say.
const DEFAULT_TIMEOUT: u64 = 30;
/// Seconds it can have at most.
const TIMEOUT_LIMIT: u64 = 600;
/// Linux takes no longer argument: `MAX_ARG_STRLEN` is 32 pages (bytes).
const LINE_LIMIT: usize = 128 * 1024 - 1;

/// What programs print when they may not do something, in lower case.
const REFUSALS: &[&str] = &[
    "permission denied",
    "operation not permitted",
    "not permitted",
    "read-only file system",
    "could not resolve",
    "name resolution",
    "network is unreachable",
    "address family not supported",
    "unable to connect",
    "cannot connect",
    "failed to connect",
    "couldn't connect",
    "eacces",
    "eperm",
    "enetunreach",
    "no new privileges",
];

/// What the model is told then of a command that ran unasked.
pub(super) const READ_ONLY_NOTE: &str = "[it ran where it can only read: no writing but in $TMPDIR, no network or sockets, no \
                            credential files. If it needs more, call again with access \"workspace\": the user is \
                            asked]";

/// As above, of one that was approved.
pub(super) const WORKSPACE_NOTE: &str = "[it ran where it can write only the workspace, temporary files and caches\
                            . If it needs more, call again with access \"full\": the user is asked]";

/// As above, without network.
pub(super) const OFFLINE_NOTE: &str = "[it ran where it can write only the workspace, temporary files and caches, \
                            without network. If it needs more, call again with access \"workspace\" for the \
                            network or \"full\" for everything: the user is asked]";

/// What the model is told when a command wants a terminal and there is none.
const NO_TERMINAL: &str = "there is no terminal in this mode and nobody who could type: no password, login, editor \
                           or pager. Find a way that needs none, or say what the user has to run";

/// As above, when there was one.
const TAKEN_BACK: &str =
    "[the user took the terminal back with Ctrl+Z, and the command went on asking: it was ended]";

/// What programs print that find no terminal to ask on, in lower case: sudo, ssh, git, and the C library.
const ASKERS: &[&str] = &[
    "a terminal is required",
    "no tty present",
    "terminal prompts disabled",
    "could not read username",
    "could not read password",
    "/dev/tty",
    "not a tty",
    "not a terminal",
    "not from a terminal",
    "host key verification failed",
    "permission denied (publickey",
    "inappropriate ioctl for device",
];

const FIELDS: &[Field] = &[
    Field { name: "command", aliases: &["cmd", "script", "command_line"] },
    Field { name: "timeout", aliases: &["timeout_seconds", "timeout_secs"] },
    Field { name: "cwd", aliases: &["workdir", "working_directory", "directory"] },
    plain("description"),
    plain("access"),
    Field { name: "interactive", aliases: &["tty", "terminal"] },
];

/// Runs command lines.
#[derive(Debug, Default)]
pub struct ShellTool {
    helper: Option<PathBuf>,
}

struct Request {
    line: String,
    limit: u64,
    directory: PathBuf,
    interactive: bool,
}

impl ShellTool {
    /// Makes the tool. `helper` is the axi program, which starts each command in a session of its own
    /// ([`super::shell_child`]); without it a command has its own group only and can reach the terminal.
    #[must_use]
    pub fn new(helper: Option<PathBuf>) -> Self {
        Self { helper }
    }
}

impl Request {
    fn parse(input: &Value, place: &Place) -> Result<Self, String> {
        let arguments = Arguments::parse("shell", input, FIELDS)?;
        let line = arguments.filled_text("command")?.to_owned();
        if line.contains('\0') {
            return Err("shell: argument `command` holds a NUL".to_owned());
        }
        if line.len() > LINE_LIMIT {
            return Err(format!(
                "shell: argument `command` is too long ({} bytes, at most {LINE_LIMIT}): write a script file and run it",
                line.len()
            ));
        }
        let directory = match arguments.optional_text("cwd")? {
            Some(directory) if !directory.is_empty() => place.resolve(directory),
            _ => place.cwd.clone(),
        };
        let limit = arguments.number("timeout")?.filter(|limit| *limit > 0).unwrap_or(DEFAULT_TIMEOUT);
        let interactive = arguments.flag("interactive")?;
        Ok(Self { line, limit: limit.min(TIMEOUT_LIMIT), directory, interactive })
    }

    /// The line a rule or a person judges: with the directory, for relative paths mean something else there.
    fn whole_line(&self, place: &Place) -> String {
        if self.directory == place.cwd {
            return self.line.clone();
        }
        let directory = self.directory.to_string_lossy();
        // Only a NUL cannot be quoted, and no path has one.
        let quoted = shlex::try_quote(&directory).unwrap_or_default();
        format!("cd {quoted} && {}", self.line)
    }
}

impl Tool for ShellTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "shell".to_owned(),
            description: "Runs a bash command line. Every call is a new shell: cd and exports do not persist. \
                          Input is empty; a command that asks on the terminal (a password) has the user asked. \
                          interactive gives it the user's terminal at once (editor, login, git rebase -i); you \
                          see nothing of it. Nothing keeps running in the background. Long output is cut, the whole kept in a file."
                .to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "command": {"type": "string"},
                    "timeout": {"type": "integer", "minimum": 1, "maximum": 600, "description": "Seconds, default 30"},
                    "cwd": {"type": "string", "description": "Directory to run in"},
                    "access": {"type": "string", "enum": ["workspace", "full"], "description": "Only after the \
                               sandbox refused something: asks the user for more"},
                    "interactive": {"type": "boolean"},
                    "description": {"type": "string", "description": "What it does, in a few words"}
                },
                "required": ["command"],
                "additionalProperties": false
            }),
        }
    }

    fn effect(&self, _input: &Value, _place: &Place) -> Effect {
        Effect::Execute
    }

    fn subject(&self, input: &Value, place: &Place) -> Subject {
        match Request::parse(input, place) {
            Ok(request) => Subject::Command { line: request.whole_line(place) },
            Err(_) => Subject::Whole,
        }
    }

    fn access(&self, input: &Value) -> Access {
        match input.get("access").and_then(Value::as_str) {
            Some("workspace") => Access::Workspace,
            Some("full") => Access::Full,
            Some(_) | None => Access::Usual,
        }
    }

    fn preview(&self, input: &Value, place: &Place) -> Result<Preview, String> {
        Ok(Preview::Command { line: Request::parse(input, place)?.whole_line(place) })
    }

    fn run<'a>(&'a self, input: Value, context: ToolContext<'a>) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move {
            let request = match Request::parse(&input, context.place) {
                Ok(request) => request,
                Err(problem) => return ToolOutput::failed(problem),
            };
            if context.cancel.is_cancelled() {
                return work::interrupted("Interrupted by the user before it started.", ToolFacts::default());
            }
            let shown = paths::shown(context.place, &request.directory);
            match request.directory.metadata() {
                Ok(metadata) if metadata.is_dir() => {}
                Ok(_) => return ToolOutput::failed(format!("shell: {shown} is not a directory")),
                Err(error) => {
                    return ToolOutput::failed(text_file::problem(context.place, &request.directory, &error));
                }
            }
            let limit = Duration::from_secs(request.limit);
            let helper = self.helper.as_deref();
            if request.interactive && !shell_loan::is_possible(helper, &context.person) {
                return ToolOutput::failed(NO_TERMINAL);
            }
            match shell_run::run(helper, (&request.line, request.interactive), &request.directory, limit, &context)
                .await
            {
                Ok(ended) => worded(ended, &request, context.person.can_lend()),
                Err(error) => ToolOutput::failed(format!("shell: could not be started: {error}")),
            }
        })
    }
}

/// Tells whether a command that failed may have been stopped by the sandbox.
fn looks_refused(output: &str) -> bool {
    let output = output.to_lowercase();
    REFUSALS.iter().any(|words| output.contains(words))
}

/// Tells whether a command that failed says that it would have asked somebody.
fn looks_for_terminal(output: &str) -> bool {
    let output = output.to_lowercase();
    ASKERS.iter().any(|words| output.contains(words))
}

fn worded(ended: Ended, request: &Request, can_lend: bool) -> ToolOutput {
    let limit = request.limit;
    let exit_code = ended.status.and_then(|status| {
        use std::os::unix::process::ExitStatusExt as _;
        status.code().or_else(|| status.signal().map(|signal| 128 + signal))
    });
    let mut content = ended.told.text;
    let refused = looks_refused(&content);
    let wanted_terminal = !can_lend && looks_for_terminal(&content);
    let mut remark = |text: String| {
        if !content.is_empty() && !content.ends_with('\n') {
            content.push('\n');
        }
        content.push_str(&text);
    };
    let outcome = match (ended.reason, exit_code) {
        (Reason::Finished, Some(0)) => Outcome::Ok,
        (Reason::Finished, code) => {
            remark(match code {
                Some(code) => format!("[exit code {code}]"),
                None => "[it could not be ended]".to_owned(),
            });
            Outcome::Failed
        }
        (Reason::TimedOut, _) => {
            remark(format!("[timed out after {limit} s and was ended; give a longer timeout if it needs one]"));
            Outcome::Failed
        }
        (Reason::NoTerminal, _) => {
            remark(if ended.lent { TAKEN_BACK.to_owned() } else { format!("[{NO_TERMINAL}]") });
            Outcome::Failed
        }
        (Reason::Cancelled, _) => {
            remark("[interrupted by the user]".to_owned());
            Outcome::Interrupted
        }
    };
    if ended.background && ended.reason == Reason::Finished {
        remark("[processes left in the background were ended]".to_owned());
    }
    if let Some(note) = ended.held.filter(|_| outcome == Outcome::Failed && refused) {
        remark(note.to_owned());
    }
    if request.interactive && outcome != Outcome::Interrupted {
        remark("[it had the user's terminal; what was shown and typed there is not recorded]".to_owned());
    } else if ended.lent {
        remark("[it asked for the user's terminal and had it; what was typed there is not recorded]".to_owned());
    } else if wanted_terminal && outcome == Outcome::Failed {
        remark(format!("[{NO_TERMINAL}]"));
    }
    if content.is_empty() {
        content.push_str("(no output)");
    }
    let facts = ToolFacts {
        exit_code,
        lines: Some(ended.told.lines),
        timed_out_after: (ended.reason == Reason::TimedOut).then_some(limit),
        full_output: ended.told.file,
        ..ToolFacts::default()
    };
    ToolOutput { content, outcome, facts, images: Vec::new() }
}
