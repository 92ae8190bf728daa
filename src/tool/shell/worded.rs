//! Running a command to its end, and what the model is told of it.

use std::path::Path;
use std::time::Duration;

use super::run::{self, Ended, Reason, What};
use super::start::{self, Program};
use crate::conversation::{Outcome, ToolFacts};
use crate::sandbox::Confinement;
use crate::secret::files::is_secret;
use crate::tool::{ToolContext, ToolOutput};

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
    "error connecting",
    "dial tcp",
    "dial unix",
    "no such host",
    "couldn't connect",
    "eacces",
    "eperm",
    "enetunreach",
    "no new privileges",
    "must be root",
    "must be superuser",
    "must be run as root",
];

/// What the model is told then of a command that ran unasked.
const READ_ONLY_NOTE: &str = "[it ran where it can only read: no writing but in $TMPDIR, no network or sockets, no \
                            credential files. If it needs more, call again with access \"workspace\": the user is \
                            asked]";

/// As above, of one that was approved.
const WORKSPACE_NOTE: &str = "[it ran where it can write only the workspace, temporary files and caches, and \
                              cannot change the machine (clock, host name, network, mounts, kernel, services). \
                              If it needs more, call again with access \"full\": the user is asked]";

/// As above, without network.
const OFFLINE_NOTE: &str = "[it ran where it can write only the workspace, temporary files and caches, \
                            without network, and cannot change the machine (clock, host name, network, mounts, \
                            kernel, services). If it needs more, call again with access \"workspace\" for the \
                            network or \"full\" for everything: the user is asked]";

/// What the model is told when a command wants a terminal and there is none.
pub(super) const NO_TERMINAL: &str = "there is no terminal in this mode and nobody who could type: no password, login, editor \
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

/// Runs a program with its arguments, and no shell; `line` is what says the same.
///
/// # Cancel safety
/// As [`crate::tool::Request::run`].
pub(crate) async fn run_program(
    helper: Option<&Path>,
    program: Program<'_>,
    line: &str,
    directory: &Path,
    limit: u64,
    context: &ToolContext<'_>,
) -> ToolOutput {
    let what = What { line, interactive: false, program: Some(program), person: None };
    run_to_the_end(helper, &what, directory, limit, context).await
}

/// Runs a command to its end or its time limit, in seconds.
pub(super) async fn run_to_the_end(
    helper: Option<&Path>,
    what: &What<'_>,
    directory: &Path,
    limit: u64,
    context: &ToolContext<'_>,
) -> ToolOutput {
    match run::run(helper, what, directory, Duration::from_secs(limit), context).await {
        Ok(ended) => {
            let mut output = worded(ended, limit, what.interactive, context.person.can_lend());
            let kept = start::nameable(context.sandbox.variables(), what.line);
            if output.outcome == Outcome::Failed && !kept.is_empty() {
                let kept = kept.join(", ");
                let note = "a line that says $NAME is given it";
                let said = std::mem::take(&mut output.content);
                output.content = format!("{said}\n[not in its environment: {kept}; {note}]");
            }
            output
        }
        Err(error) => ToolOutput::failed(format!("shell: could not be started: {error}")),
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

/// What to tell the model of what held a command, should it have failed for that.
const fn note(confinement: &Confinement) -> &'static str {
    match (confinement.is_read_only(), confinement.has_network()) {
        (true, _) => READ_ONLY_NOTE,
        (false, true) => WORKSPACE_NOTE,
        (false, false) => OFFLINE_NOTE,
    }
}

/// Finds the secret files of which git only says that they differ (`secret::files::git_attributes`).
fn unshown_by_git(output: &str) -> Vec<&str> {
    fn named(line: &str) -> Option<&str> {
        let Some(both) = line.strip_prefix("Binary files ") else {
            return Some(line.split_once(" | Bin ")?.0.trim());
        };
        let (old, new) = both.strip_suffix(" differ")?.split_once(" and ")?;
        let name = if old == "/dev/null" { new } else { old };
        // A letter for the side comes before the path: `a/`, or another one that the settings ask for.
        Some(name.split_once('/').filter(|(side, _)| side.len() == 1).map_or(name, |(_, name)| name))
    }
    let mut unshown: Vec<&str> = Vec::new();
    for name in output.lines().filter_map(named) {
        if is_secret(&Path::new("/").join(name), None) && !unshown.contains(&name) {
            unshown.push(name);
        }
    }
    unshown
}

fn worded(ended: Ended, limit: u64, interactive: bool, can_lend: bool) -> ToolOutput {
    let exit_code = ended.status.and_then(|status| {
        use crate::platform::os::process::ExitStatusExt as _;
        status.code().or_else(|| status.signal().map(|signal| 128 + signal))
    });
    let mut content = ended.told.text;
    let refused = looks_refused(&content);
    let reads = ended.confinement.as_ref().is_some_and(Confinement::is_read_only);
    let unshown = if reads { unshown_by_git(&content).join(", ") } else { String::new() };
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
    if !unshown.is_empty() {
        remark(format!(
            "[secret files, not shown: {unshown}; git was given none of their content now, and may say that they \
             differ where they do not]"
        ));
    }
    if let Some(confinement) = ended.confinement.filter(|_| outcome == Outcome::Failed && refused) {
        remark(note(&confinement).to_owned());
    }
    if interactive && outcome != Outcome::Interrupted {
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
    ToolOutput { content, outcome, facts, images: Vec::new(), change: None }
}
