//! The `terminal` tool: programs that need a terminal, driven by keys and read as a screen.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use grep_matcher::Matcher as _;
use grep_regex::RegexMatcher;
use serde_json::{Value, json};

use crate::conversation::{About, Effect, Preview, Subject, ToolFacts, ToolIdentity, ToolKind, ToolSpec, ToolVerb};
use crate::platform::ADOPTS;
use crate::platform::os::net::UnixStream;
use crate::tool::arguments::{Arguments, Field};
use crate::tool::jobs::{Group, Mark};
use crate::tool::shell::{Launch, PersonShell, Resources, SET};
use crate::tool::{Before, Request, Roots, Tool, ToolContext, ToolOutput, Unread, work};

use super::keys;
use crate::tool::programs::Doing;
use crate::tool::programs::{self, Program, Programs};

/// Seconds that can be waited at most.
const WAIT_LIMIT: u64 = 600;
/// Seconds a call waits when the model does not say.
const DEFAULT_WAIT: u64 = 10;
/// A screen that did not change for so long is looked at.
const QUIET: Duration = Duration::from_millis(500);
/// The first look at a program that is busy waits so many seconds, each further one twice as long, up to the second.
const BACK_OFF: (u64, u64) = (2, 8);
/// After this many looks at a busy program the model is advised to do something else.
const LOOKS: u32 = 5;
/// Linux takes no longer argument (bytes).
const LINE_LIMIT: usize = 128 * 1024 - 1;

const FIELDS: &[Field] = &[
    Field { name: "action", aliases: &["operation"] },
    Field { name: "command", aliases: &["cmd"] },
    Field { name: "terminal", aliases: &["id", "number", "session"] },
    Field { name: "keys", aliases: &["text", "input"] },
    Field { name: "until", aliases: &["pattern", "wait_for"] },
    Field { name: "wait", aliases: &["timeout"] },
];

/// Drives interactive programs.
#[derive(Debug, Default)]
pub struct TerminalTool {
    starts: Starts,
}

/// What programs are started with.
#[derive(Debug, Clone, Default)]
struct Starts {
    helper: Option<PathBuf>,
    person: Option<Arc<PersonShell>>,
}

impl TerminalTool {
    /// Makes the tool. `helper` is the axi program; without it nothing can get a terminal of its own.
    #[must_use]
    pub fn new(helper: Option<PathBuf>) -> Self {
        Self { starts: Starts { helper, person: None } }
    }

    /// Has programs find what the person's shell has.
    #[must_use]
    pub fn beside(self, person: Arc<PersonShell>) -> Self {
        Self { starts: Starts { person: Some(person), ..self.starts } }
    }
}

impl Starts {
    fn who(&self) -> (Option<&Path>, Option<&PersonShell>) {
        (self.helper.as_deref(), self.person.as_deref())
    }
}

enum Action {
    Start { line: String },
    Send { terminal: u64, keys: String },
    Read { terminal: u64 },
    Stop { terminal: u64 },
}

struct Input {
    starts: Starts,
    action: Action,
    until: Option<RegexMatcher>,
    wait: Option<Duration>,
}

fn parse(input: &Value, starts: Starts) -> Result<Input, String> {
    let arguments = Arguments::parse("terminal", input, FIELDS)?;
    let terminal =
        || arguments.number("terminal")?.ok_or_else(|| arguments.missing("terminal", "the number that start gave"));
    let action = match arguments.filled_text("action")? {
        "start" => {
            let line = arguments.filled_text("command")?.to_owned();
            if line.contains('\0') || line.len() > LINE_LIMIT {
                return Err("terminal: argument `command` is too long or holds a NUL".to_owned());
            }
            Action::Start { line }
        }
        "send" => Action::Send { terminal: terminal()?, keys: arguments.text("keys")?.to_owned() },
        "read" => Action::Read { terminal: terminal()? },
        "stop" | "kill" => Action::Stop { terminal: terminal()? },
        other => {
            return Err(format!("terminal: argument `action` must be start, send, read or stop, got {other:?}"));
        }
    };
    let until = arguments.optional_text("until")?.filter(|until| !until.is_empty());
    let until = until
        .map(|until| RegexMatcher::new_line_matcher(until).or_else(|_| RegexMatcher::new(until)))
        .transpose()
        .map_err(|error| format!("terminal: argument `until` is no regular expression: {error}"))?;
    let wait = arguments.number("wait")?.map(|wait| Duration::from_secs(wait.min(WAIT_LIMIT)));
    Ok(Input { starts, action, until, wait })
}

/// What a person and rules judge. Keys are no command line, whatever they spell: a word that would be harmless as a
/// command may be an answer to a question.
fn judged(action: &Action) -> Option<String> {
    match action {
        Action::Start { line } => Some(line.clone()),
        Action::Send { terminal, keys } => {
            let keys = keys.replace(['\n', '\r'], "<enter>").replace('\0', "");
            // Without a NUL everything can be quoted.
            Some(format!("terminal_keys {terminal} {}", shlex::try_quote(&keys).unwrap_or_default()))
        }
        Action::Read { .. } | Action::Stop { .. } => None,
    }
}

fn worded(program: &Program, found: Option<bool>) -> ToolOutput {
    let look = program.look();
    let mut state = match &look.doing {
        Doing::Idle => "idle: a shell waits at its prompt".to_owned(),
        Doing::Waiting => "waiting for input".to_owned(),
        Doing::Listening(ports) => {
            let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
            format!("server listening on port {}", ports.join(", "))
        }
        // Each of these looks tells something new, so that waiting is not taken for going round in circles.
        Doing::Busy if (2..=LOOKS).contains(&look.busy_looks) => format!("busy at {} looks", look.busy_looks),
        Doing::Busy => "busy".to_owned(),
        Doing::Ended(code) => format!("ended with exit code {code}"),
    };
    if found == Some(false) {
        state.push_str("; the pattern did not come");
    }
    let (row, column) = look.cursor;
    let mut content = format!("[terminal {}: {state}; cursor at row {row}, column {column}]", program.number);
    if look.busy_looks >= LOOKS {
        content.push_str(
            "\n[busy again and again: change the approach. Wait for a pattern with until, send <ctrl+c>, or do \
             something else meanwhile]",
        );
    }
    let screen = if look.screen.is_empty() { "(the screen is empty)" } else { look.screen.as_str() };
    let content = format!("{screen}\n{content}");
    let exit_code = match look.doing {
        Doing::Ended(code) => Some(code),
        Doing::Idle | Doing::Waiting | Doing::Listening(_) | Doing::Busy => None,
    };
    let facts = ToolFacts { exit_code, lines: Some(look.screen.lines().count() as u64), ..ToolFacts::default() };
    ToolOutput::ok(content, facts)
}

/// Waits as asked, or until the screen does not change any more; then looks.
async fn settled(program: &Program, request: &Input, looking: bool, context: &ToolContext<'_>) -> ToolOutput {
    let matches =
        request.until.as_ref().map(|until| move |text: &str| until.is_match(text.as_bytes()).unwrap_or(false));
    let found = matches.as_ref().map(|matches| matches as &(dyn Fn(&str) -> bool + Sync));
    let limit = request.wait.unwrap_or(Duration::from_secs(DEFAULT_WAIT));
    let waited = async {
        let mut came = program.wait(found, QUIET, limit).await;
        if looking && found.is_none() && request.wait.is_none() {
            // Nobody learns anything from a busy program at once again.
            let most = Duration::from_secs((BACK_OFF.0 << program.busy_looks()).min(BACK_OFF.1));
            let until = tokio::time::Instant::now() + most;
            while program.is_busy() && tokio::time::Instant::now() < until {
                let left = until.saturating_duration_since(tokio::time::Instant::now());
                program.changed_within(left.min(QUIET)).await;
            }
            came = true;
        }
        came
    };
    tokio::select! {
        biased;
        () = context.cancel.cancelled() => {
            work::interrupted("Interrupted by the user; the program goes on.", ToolFacts::default())
        }
        came = waited => worded(program, found.map(|_| came)),
    }
}

/// Gives the helper that starts a program, if one may start.
fn may_start<'a>(helper: Option<&'a Path>, programs: &Programs) -> Result<&'a Path, String> {
    if !programs.has_room() {
        return Err(format!("terminal: {} programs run already; stop one", programs::MOST));
    }
    helper
        .filter(|_| ADOPTS)
        .ok_or_else(|| "terminal: there are no terminals for programs here; use shell".to_owned())
}

fn found(programs: &Programs, number: u64) -> Result<Arc<Program>, String> {
    programs
        .find(number)
        .ok_or_else(|| format!("terminal: there is no terminal {number}; there are {:?}", programs.numbers()))
}

fn start(
    (helper, person): (Option<&Path>, Option<&PersonShell>),
    line: &str,
    context: &ToolContext<'_>,
) -> Result<Arc<Program>, String> {
    let helper = may_start(helper, &context.memory.programs)?;
    spawned((helper, person), line, context).map_err(|error| format!("terminal: could not be started: {error}"))
}

/// Starts a command on a pseudo-terminal of its own.
///
/// # Errors
/// What the system said when it could not be started.
fn spawned(
    (helper, person): (&Path, Option<&PersonShell>),
    line: &str,
    context: &ToolContext<'_>,
) -> std::io::Result<Arc<Program>> {
    let mark = Mark::new();
    let (near, far) = programs::open()?;
    let (told, tells) = UnixStream::pair()?;
    let directory = context.roots.cwd.as_path();
    let resources = Resources::new(Some(helper), line, directory, context)?;
    let environment = resources.definitions(person, context)?;
    let (helper, program) = (Some(helper), None);
    let launch = Launch {
        helper,
        line,
        program,
        environment: environment.as_deref(),
        directory,
        mark: &mark,
        resources: &resources,
        detached: false,
    };
    let input = far.try_clone()?;
    let child = launch.start(far, tells.into(), None, |mut command| {
        // Whoever has a terminal may page, colour and edit.
        for (name, _) in SET {
            command.env_remove(name);
        }
        command.env("TERM", "xterm-256color").stdin(input.try_clone()?).spawn()
    })?;
    drop(input);
    let group = Group::of(child.id(), mark, true)?;
    let started = programs::Started { near, child, group, held: Box::new((resources, told, environment)) };
    context.memory.programs.add(started)
}

impl Tool for TerminalTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "terminal".to_owned(),
            description:
                "For programs that need a terminal (REPL, debugger, wizard, editor): start one, send keys, \
                          read its screen and whether it is idle, busy, waiting or serving. Else use shell."
                    .to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "action": {"type": "string", "enum": ["start", "send", "read", "stop"]},
                    "command": {"type": "string", "description": "For start"},
                    "terminal": {"type": "integer", "description": "The number start gave"},
                    "keys": {"type": "string", "description": "As ls<enter>, <ctrl+c>, <up>, <esc>"},
                    "until": {"type": "string", "description": "Wait for this regular expression"},
                    "wait": {"type": "integer", "description": "Seconds at most"}
                },
                "required": ["action"]
            }),
            identity: ToolIdentity {
                kind: ToolKind::Command,
                verb: ToolVerb::UseTerminal,
                ..ToolIdentity::default()
            },
        }
    }

    fn read(&self, input: &Value, _place: &Roots) -> Arc<dyn Request> {
        Unread::or(Effect::Execute, parse(input, self.starts.clone()))
    }
}

impl Request for Input {
    fn effect(&self) -> Effect {
        if judged(&self.action).is_none() { Effect::Read } else { Effect::Execute }
    }

    fn subject(&self) -> Subject {
        judged(&self.action).map_or(Subject::Whole, |line| Subject::Command { line })
    }

    fn about(&self) -> About {
        match &self.action {
            Action::Read { .. } => About::Screen,
            Action::Stop { .. } => About::End,
            Action::Send { keys, .. } => About::Text { text: keys.clone() },
            Action::Start { .. } => About::Subject,
        }
    }

    fn check(&self, before: &Before<'_>) -> Result<Preview, String> {
        let programs = &before.memory.programs;
        match &self.action {
            Action::Start { .. } => drop(may_start(self.starts.helper.as_deref(), programs)?),
            Action::Send { terminal, .. } | Action::Read { terminal } | Action::Stop { terminal } => {
                drop(found(programs, *terminal)?);
            }
        }
        Ok(match judged(&self.action) {
            Some(line) => Preview::Command { line },
            None => Preview::Text { text: "look".to_owned() },
        })
    }

    fn run(self: Arc<Self>, context: ToolContext<'_>) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move {
            if context.cancel.is_cancelled() {
                return work::interrupted("Interrupted by the user before it started.", ToolFacts::default());
            }
            let number = match &self.action {
                Action::Start { line } => {
                    return match start(self.starts.who(), line, &context) {
                        Ok(program) => settled(&program, &self, false, &context).await,
                        Err(problem) => ToolOutput::failed(problem),
                    };
                }
                Action::Send { terminal, .. } | Action::Read { terminal } | Action::Stop { terminal } => *terminal,
            };
            let program = match found(&context.memory.programs, number) {
                Ok(program) => program,
                Err(problem) => return ToolOutput::failed(problem),
            };
            match &self.action {
                Action::Send { keys, .. } => {
                    let (keys, typist) = (keys::bytes(keys), std::sync::Arc::clone(&program));
                    // A program that does not read its keys blocks whoever types more than fit.
                    match work::blocking(context.cancel, move |_| typist.send(&keys)).await {
                        Err(stopped) => stopped,
                        Ok(Err(error)) => ToolOutput::failed(format!("terminal: the keys were not taken: {error}")),
                        Ok(Ok(())) => settled(&program, &self, false, &context).await,
                    }
                }
                Action::Stop { .. } => {
                    let stopped = std::sync::Arc::clone(&program);
                    drop(work::to_the_end(move || stopped.kill()).await);
                    program.wait(Some(&|_| false), QUIET, Duration::from_secs(2)).await;
                    let output = worded(&program, None);
                    ToolOutput { facts: ToolFacts { exit_code: None, ..output.facts }, ..output }
                }
                Action::Read { .. } | Action::Start { .. } => settled(&program, &self, true, &context).await,
            }
        })
    }
}
