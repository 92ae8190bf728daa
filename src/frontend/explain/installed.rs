//! The pages that are installed here: manual pages as `man` prints them, the shell's own help for what the shell does
//! itself, and `--help` of what has no page: asked only where it can do nothing but read, without a network.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::Read as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use super::Pages;
use super::page::Page;
use crate::approval::is_builtin;
use crate::child;
use crate::sandbox::{Reach, Sandbox, SandboxState, WorkDirectories};

/// How long a page may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a program may take that is asked for its help.
const HELP_PATIENCE: Duration = Duration::from_secs(2);
/// No page is longer (bytes).
const MOST: u64 = 4 * 1024 * 1024;
/// Sections with commands.
const SECTIONS: &str = "1:8:6";
/// Wide enough for a paragraph a line.
const WIDTH: &str = "1000";

/// What is known of a page that was asked for: a program, a sub-command.
type Asked = (String, Option<String>);

/// Looks pages up, each once.
pub struct Installed {
    sandbox: Sandbox,
    /// The axi program, which holds others to reading.
    helper: Option<PathBuf>,
    known: RefCell<HashMap<Asked, Option<Page>>>,
}

impl Installed {
    /// Makes one. Without `helper` nothing is asked for its `--help`.
    #[must_use]
    pub fn new(sandbox: Sandbox, helper: Option<PathBuf>) -> Self {
        Self { sandbox, helper, known: RefCell::default() }
    }

    fn look_up(&self, program: &str, subcommand: Option<&str>) -> Option<Page> {
        if subcommand.is_none() && is_builtin(program) {
            return of_shell(program);
        }
        let name = subcommand.map_or_else(|| program.to_owned(), |word| format!("{program}-{word}"));
        manual(&name).or_else(|| self.help(program, subcommand))
    }

    /// Asks a program for its help, where it can only read and reaches no network.
    fn help(&self, program: &str, subcommand: Option<&str>) -> Option<Page> {
        let helper = self.helper.as_ref()?;
        if !matches!(self.sandbox.state(), SandboxState::On(_)) {
            return None;
        }
        // Where a program has a page its sub-commands have theirs, or there is nothing to ask.
        if subcommand.is_some() && manual(program).is_some() {
            return None;
        }
        let words: Vec<&str> = [program].into_iter().chain(subcommand).chain(["--help"]).collect();
        let line = words.join(" ");
        let own = tempfile::tempdir().ok()?;
        let ground =
            WorkDirectories { workspace: own.path(), directory: own.path(), temporary: own.path(), line: &line };
        let confinement = self.sandbox.confinement(&Reach::ReadOnly, ground)?;
        let mut command = Command::new(helper);
        command.arg(child::CONFINED).args(confinement.to_arguments()).args(&words).current_dir(own.path());
        self.sandbox.variables().keep(&line, &mut command);
        command.env("TMPDIR", own.path()).env("TERM", "dumb").env("NO_COLOR", "1");
        let (text, worked) = printed(plain(&mut command), HELP_PATIENCE)?;
        // What is no sub-command is refused, or taken for a name.
        let says = worked && text.lines().any(|line| line.trim_start().starts_with('-'));
        says.then_some(Page { name: line, text })
    }
}

impl Pages for Installed {
    fn page(&self, program: &str, subcommand: Option<&str>) -> Option<Page> {
        let is_name = |name: &str| {
            let mut letters = name.chars();
            letters.next().is_some_and(|first| first.is_ascii_alphanumeric() || "[.:_".contains(first))
                && letters.all(|letter| letter.is_ascii_alphanumeric() || "._+-".contains(letter))
        };
        if !is_name(program) || !subcommand.is_none_or(is_name) {
            return None;
        }
        let asked = (program.to_owned(), subcommand.map(str::to_owned));
        if let Some(known) = self.known.borrow().get(&asked) {
            return known.clone();
        }
        let page = self.look_up(program, subcommand);
        self.known.borrow_mut().insert(asked, page.clone());
        page
    }
}

/// Has `man` print a page, wide and without formatting.
fn manual(name: &str) -> Option<Page> {
    let man = || {
        let mut command = Command::new("man");
        command.env("MANWIDTH", WIDTH).env("MANOPT", "--nh --nj").env("MANPAGER", "cat").env("PAGER", "cat");
        command.env_remove("MANROFFOPT").env_remove("MAN_KEEP_FORMATTING");
        command
    };
    let mut found = man();
    let (place, worked) = printed(plain(found.args(["-S", SECTIONS, "-w", name])), PATIENCE)?;
    let place = place.lines().next().filter(|_| worked)?;
    let section = place.trim_end_matches(".gz").rsplit('.').next().unwrap_or_default().to_owned();
    let mut page = man();
    let (text, worked) = printed(plain(page.args(["-S", SECTIONS, name])), PATIENCE)?;
    (worked && !text.trim().is_empty()).then(|| Page { name: format!("{name}({section})"), text })
}

/// Has bash tell of what it does itself.
fn of_shell(name: &str) -> Option<Page> {
    let mut command = Command::new("bash");
    command.args(["--norc", "--noprofile", "-c", "help -m -- \"$1\"", "bash", name]);
    let (text, worked) = printed(plain(&mut command), PATIENCE)?;
    worked.then(|| Page { name: format!("help {name}"), text })
}

fn plain(command: &mut Command) -> &mut Command {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null())
}

/// What a command prints, and whether it ended well; `None` if it takes too long or cannot be started.
fn printed(command: &mut Command, patience: Duration) -> Option<(String, bool)> {
    use crate::platform::os::process::CommandExt as _;
    let mut child = command.process_group(0).spawn().ok()?;
    let mut output = child.stdout.take()?;
    let (tell, told) = mpsc::channel();
    // It ends with the output, which the end of the group closes.
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        drop(output.by_ref().take(MOST).read_to_end(&mut bytes));
        drop(tell.send(bytes));
    });
    let bytes = told.recv_timeout(patience).ok();
    if bytes.is_none()
        && let Some(group) = i32::try_from(child.id()).ok().and_then(crate::platform::process::Pid::from_raw)
    {
        // It may have ended meanwhile.
        let _ = crate::platform::process::kill_process_group(group, crate::platform::process::Signal::KILL);
    }
    let ended = child.wait().ok();
    drop(reader);
    let text = crate::tool::output::clean(&bytes?);
    Some((text, ended.is_some_and(|status| status.success())))
}
