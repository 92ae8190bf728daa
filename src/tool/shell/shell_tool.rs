//! The `shell` tool: one command line, without a terminal, with a time limit.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::conversation::{
    About, Brief, Effect, Outcome, Preview, Subject, ToolFacts, ToolIdentity, ToolKind, ToolSpec, ToolVerb,
};
use crate::tool::arguments::{Arguments, Field, plain};
use crate::tool::{
    Access, Before, Request, Roots, Settled, Tool, ToolContext, ToolMemory, ToolOutput, Unread, paths, text_file,
    work,
};

use super::person_shell::PersonShell;
use super::run::What;
use super::worded::{NO_TERMINAL, run_to_the_end};
use super::{detached_words, job_tool, loan, settle, start};
use crate::tool::jobs;

/// The tool's name.
const NAME: &str = "shell";

/// Seconds a command has when the model does not say.
const DEFAULT_TIMEOUT: u64 = 30;
/// Seconds it can have at most.
const TIMEOUT_LIMIT: u64 = 600;
/// Linux takes no longer argument: `MAX_ARG_STRLEN` is 32 pages (bytes).
const LINE_LIMIT: usize = 128 * 1024 - 1;
/// Commands of a list at most.
const LIST_LIMIT: usize = 20;
/// How long a background command is watched before the call is answered: one that cannot even start says so.
const FIRST_LOOK: Duration = Duration::from_secs(1);

const FIELDS: &[Field] = &[
    Field { name: "command", aliases: &["cmd", "script", "command_line"] },
    Field { name: "timeout", aliases: &["timeout_seconds", "timeout_secs"] },
    Field { name: "cwd", aliases: &["workdir", "working_directory", "directory"] },
    Field { name: "keep", aliases: &["keep_running", "detach"] },
    plain("description"),
    plain("access"),
    Field { name: "interactive", aliases: &["tty", "terminal"] },
    Field { name: "commands", aliases: &["steps"] },
    Field { name: "background", aliases: &["run_in_background", "is_background"] },
];

/// The arguments that a trial keeps to; with any other a call means something that a trial is not.
const TRIED: &[&str] = &["command", "timeout"];

/// Runs command lines.
#[derive(Debug, Clone, Default)]
pub struct ShellTool {
    starts: Starts,
}

/// What commands are started with.
#[derive(Debug, Clone, Default)]
struct Starts {
    helper: Option<PathBuf>,
    person: Option<Arc<PersonShell>>,
}

#[derive(Debug, Clone)]
struct Input {
    starts: Starts,
    /// The arguments, as they came.
    given: Value,
    /// What the model gave: at least one.
    lines: Vec<String>,
    /// The line that is judged, shown and run.
    line: String,
    /// What a rule or a person judges: the line with its directory.
    whole: String,
    access: Access,
    background: bool,
    keep: bool,
    limit: u64,
    directory: PathBuf,
    /// Whether the model named the directory.
    said: bool,
    interactive: bool,
}

impl ShellTool {
    /// Makes the tool. `helper` is the axi program, which starts each command in a session of its own
    /// (`child::launch`); without it a command has its own group only and can reach the terminal.
    #[must_use]
    pub fn new(helper: Option<PathBuf>) -> Self {
        Self { starts: Starts { helper, person: None } }
    }

    /// Has commands find what the person's shell has, and keeps what they change in theirs.
    #[must_use]
    pub fn beside(self, person: Arc<PersonShell>) -> Self {
        Self { starts: Starts { person: Some(person), ..self.starts } }
    }
}

impl Input {
    fn parse(arguments: &Arguments<'_>, given: &Value, starts: &Starts, roots: &Roots) -> Result<Self, String> {
        let lines = lines(arguments)?;
        let line = one_line(&lines);
        check(&line)?;
        let background = arguments.flag("background")?;
        let keep = arguments.flag("keep")?;
        let background = background || keep;
        if background && lines.len() > 1 {
            return Err("shell: only one command can go to the background; join them with &&".to_owned());
        }
        let said = arguments.optional_text("cwd")?.filter(|directory| !directory.is_empty());
        let directory = said.map_or_else(|| roots.cwd.clone(), |directory| roots.resolve(directory));
        let said = said.is_some();
        let limit = arguments.number("timeout")?.filter(|limit| *limit > 0).unwrap_or(DEFAULT_TIMEOUT);
        let interactive = arguments.flag("interactive")?;
        if interactive && (background || lines.len() > 1) {
            return Err("shell: an interactive command runs alone, and not in the background".to_owned());
        }
        let access = match arguments.value("access").and_then(Value::as_str) {
            Some("workspace") => Access::Workspace,
            Some("full") => Access::Full,
            Some(_) | None => Access::Usual,
        };
        let (whole, limit) = (line_in(&directory, &line, roots), limit.min(TIMEOUT_LIMIT));
        let (starts, given) = (starts.clone(), given.clone());
        Ok(Self {
            starts,
            given,
            lines,
            line,
            whole,
            access,
            background,
            keep,
            limit,
            directory,
            said,
            interactive,
        })
    }

    /// Says why it could not begin where it is to run. Looks at the disk.
    fn no_directory(&self, roots: &Roots) -> Option<String> {
        match self.directory.metadata() {
            Ok(metadata) if metadata.is_dir() => None,
            Ok(_) => Some(format!("shell: {} is not a directory", paths::shown(roots, &self.directory))),
            Err(error) => Some(text_file::problem(roots, &self.directory, &error)),
        }
    }

    /// Says why it would not be run.
    fn refused(&self, can_lend: bool, memory: &ToolMemory) -> Option<String> {
        if self.interactive && !loan::is_possible(self.starts.helper.as_deref(), can_lend) {
            return Some(NO_TERMINAL.to_owned());
        }
        if self.background && !self.keep && !memory.jobs.has_room() {
            let most = jobs::MOST;
            return Some(format!("shell: {most} commands run in the background already; kill one with shell_job"));
        }
        None
    }
}

/// A line with the directory that it runs in: relative paths mean something else there.
pub(crate) fn line_in(directory: &Path, line: &str, roots: &Roots) -> String {
    if directory == roots.cwd {
        return line.to_owned();
    }
    let directory = directory.to_string_lossy();
    // Only a NUL cannot be quoted, and no path has one.
    let quoted = shlex::try_quote(&directory).unwrap_or_default();
    format!("cd {quoted} && {line}")
}

/// What a person reads of several commands: the first line of each. The list stops at a failure, as this would.
fn about(lines: &[String]) -> About {
    if lines.len() < 2 {
        return About::Subject;
    }
    let first = lines.iter().filter_map(|line| line.lines().next());
    About::Text { text: first.collect::<Vec<_>>().join(" && ") }
}

/// Makes one text of a list. It is what is judged, shown and run, letter by letter: lines judged together and run apart
/// would let the first one quote the others away.
fn one_line(lines: &[String]) -> String {
    match lines {
        [line] => line.clone(),
        several => format!("set -e\n{}", several.join("\n")),
    }
}

/// Reads the command, or the list of them; a list may stand in `command`, too.
fn lines(arguments: &Arguments<'_>) -> Result<Vec<String>, String> {
    let list = match (arguments.value("commands"), arguments.value("command")) {
        (Some(Value::Array(list)), None) | (None | Some(_), Some(Value::Array(list))) => list.as_slice(),
        (Some(other), None) => return Err(arguments.wrong("commands", "an array of strings", other)),
        (_, _) => {
            let line = arguments.filled_text("command")?;
            check(line)?;
            return Ok(vec![line.to_owned()]);
        }
    };
    if list.is_empty() || list.len() > LIST_LIMIT {
        return Err(format!("shell: argument `commands` must hold 1 to {LIST_LIMIT} commands, got {}", list.len()));
    }
    let mut lines = Vec::new();
    for item in list {
        let line = item.as_str().filter(|line| !line.trim().is_empty());
        let line = line.ok_or_else(|| arguments.wrong("commands", "an array of non-empty strings", item))?;
        check(line)?;
        lines.push(line.to_owned());
    }
    Ok(lines)
}

fn check(line: &str) -> Result<(), String> {
    if line.contains('\0') {
        return Err("shell: argument `command` holds a NUL".to_owned());
    }
    if line.len() > LINE_LIMIT {
        return Err(format!(
            "shell: argument `command` is too long ({} bytes, at most {LINE_LIMIT}): write a script file and run it",
            line.len()
        ));
    }
    Ok(())
}

impl Tool for ShellTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: NAME.to_owned(),
            description: "Runs a bash command line in a new shell: cd and exports do not persist. Input is empty; \
                          one that asks on the terminal (a password) has the user asked. Long output is cut, the \
                          whole kept in a file."
                .to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "command": {"type": "string"},
                    "commands": {"type": "array", "items": {"type": "string"}, "description": "Or several \
                                 in one shell, until one fails"},
                    "background": {"type": "boolean", "description": "For servers and watchers, see shell_job; ends with the session"},
                    "keep": {"type": "boolean", "description": "The same, but outlives axi; only if the user wants that"},
                    "timeout": {"type": "integer", "description": "Seconds, default 30"},
                    "cwd": {"type": "string"},
                    "access": {"type": "string", "enum": ["workspace", "full"], "description": "Asks the \
                               user for more, after the sandbox refused something"},
                    "interactive": {"type": "boolean", "description": "Has the user's terminal at once (editor, login, rebase -i); you see nothing"},
                    "description": {"type": "string", "description": "What it does, in few words"}
                }
            }),
            identity: ToolIdentity {
                kind: ToolKind::Command,
                verb: ToolVerb::Run,
                for_sub_agents: true,
                brief: Some(Brief {
                    description: "Run a shell command (ls, find, grep, git, mv, …) and get its output",
                    arguments: &["command*"],
                    alone: false,
                    order: 0,
                }),
            },
        }
    }

    fn read(&self, input: &Value, roots: &Roots) -> Arc<dyn Request> {
        let arguments = Arguments::parse(NAME, input, FIELDS);
        let about = |arguments: &Arguments<'_>| lines(arguments).map_or(About::Subject, |lines| about(&lines));
        let read = |arguments: &Arguments<'_>| Input::parse(arguments, input, &self.starts, roots);
        Unread::or_about(Effect::Execute, arguments, about, read)
    }
}

impl Request for Input {
    fn effect(&self) -> Effect {
        Effect::Execute
    }

    fn subject(&self) -> Subject {
        Subject::Command { line: self.whole.clone() }
    }

    fn about(&self) -> About {
        about(&self.lines)
    }

    fn access(&self) -> Access {
        self.access
    }

    fn settle(&self, roots: &Roots, memory: &ToolMemory) -> Settled {
        match settle::settle(&self.lines, (&self.directory, self.said), roots, memory) {
            settle::Place::AsIs => Settled::AsIs,
            settle::Place::Answer(output) => Settled::Answer(output),
            settle::Place::There { directory, note } => {
                let (Some(given), Some(to)) = (self.given.as_object(), directory.to_str()) else {
                    return Settled::AsIs;
                };
                let mut given = given.clone();
                given.insert("cwd".to_owned(), Value::String(to.to_owned()));
                let input = Value::Object(given);
                let whole = line_in(&directory, &self.line, roots);
                let request = Self { given: input.clone(), whole, directory, said: true, ..self.clone() };
                Settled::Instead { request: Arc::new(request), input, note }
            }
        }
    }

    fn is_its_line(&self) -> bool {
        let given = self.given.as_object();
        given.is_some_and(|given| given.keys().all(|name| TRIED.contains(&name.as_str())))
    }

    fn outlives(&self) -> bool {
        self.keep
    }

    fn is_beside(&self) -> bool {
        self.background || self.interactive
    }

    fn check(&self, before: &Before<'_>) -> Result<Preview, String> {
        self.no_directory(before.roots).map_or(Ok(()), Err)?;
        self.refused(before.can_lend, before.memory).map_or(Ok(()), Err)?;
        Ok(Preview::Command { line: self.whole.clone() })
    }

    fn run(self: Arc<Self>, context: ToolContext<'_>) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move {
            if context.cancel.is_cancelled() {
                return work::interrupted("Interrupted by the user before it started.", ToolFacts::default());
            }
            if let Some(problem) = self.refused(context.person.can_lend(), context.memory) {
                return ToolOutput::failed(problem);
            }
            let (looked, roots) = (Arc::clone(&self), context.roots.clone());
            match work::blocking(context.cancel, move |_| looked.no_directory(&roots)).await {
                Ok(None) => {}
                Ok(Some(problem)) => return ToolOutput::failed(problem),
                Err(stopped) => return stopped,
            }
            let (helper, person) = (self.starts.helper.as_deref(), self.starts.person.as_deref());
            if self.keep {
                return detached_words::start((helper, person), &self.line, &self.directory, FIRST_LOOK, &context)
                    .await;
            }
            if self.background {
                return in_background((helper, person), &self, &context).await;
            }
            let what = What { line: &self.line, interactive: self.interactive, program: None, person };
            let output = run_to_the_end(helper, &what, &self.directory, self.limit, &context).await;
            if output.outcome == Outcome::Ok {
                settle::remember(&self.lines, &self.directory, context.memory);
            }
            output
        })
    }
}

/// Starts the command and watches it for a moment.
async fn in_background(
    who: (Option<&Path>, Option<&PersonShell>),
    request: &Input,
    context: &ToolContext<'_>,
) -> ToolOutput {
    let jobs = &context.memory.jobs;
    let line = request.line.as_str();
    let job = match start::start_job(who, line, &request.directory, context) {
        Ok(job) => job,
        Err(error) => return ToolOutput::failed(format!("shell: could not be started: {error}")),
    };
    tokio::select! {
        biased;
        () = context.cancel.cancelled() => {
            // ESC leaves nothing behind that this turn began a moment ago.
            jobs.signal(job, crate::platform::process::Signal::KILL);
            return work::interrupted("[interrupted by the user; the job was killed]", ToolFacts::default());
        }
        () = jobs.wait(job, false, FIRST_LOOK) => {}
    }
    let Some(mut output) = job_tool::news(jobs, job) else {
        return ToolOutput::failed("shell: the job is gone");
    };
    match output.facts.exit_code {
        None => output.content.push_str("\n[it goes on in the background: shell_job reads and kills it]"),
        Some(0) => {}
        Some(_) => output.outcome = Outcome::Failed,
    }
    output
}
