//! What becomes of a proposed command. Each line is judged once; all that is decided and said of it reads that judgement.

use std::io::Write;
use std::sync::Arc;

use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::check::{Check, Fault};
use super::facts::Facts;
use super::meant::meant;
use super::reply::Put;
use super::rerun::Rerun;
use super::tldr::{Example, examples};
use super::unsent::unsent;
use crate::agent::{Agent, Needs, names_its_losses, runs_unasked};
use crate::approval::command::LineJudgement;
use crate::frontend::explain::{Pages, unknown_flag};
use crate::frontend::human::{Human, proposal_reach};
use crate::locale::word;
use crate::secret::{self, Known, Level};
use crate::terminal::{Pending, sanitize_line};

/// Decides about a proposed command, and says what is in doubt.
pub(super) struct Weighing<'a, W: Write> {
    pub(super) agent: &'a Agent,
    pub(super) human: &'a mut Human<W>,
    pub(super) runtime: &'a Runtime,
    /// Tries what a small model proposes.
    pub(super) rerun: Option<&'a Rerun>,
    pub(super) check: &'a Check,
    pub(super) pages: Option<&'a dyn Pages>,
    /// The secrets that are known.
    pub(super) known: &'a Known,
    /// What was typed meanwhile.
    pub(super) pending: &'a Pending,
}

impl<W: Write> Weighing<'_, W> {
    /// Decides what becomes of a proposed command: what goes back to the shell; `None` if nothing of it does; or its fault,
    /// if the model is asked `again`. It is asked once: a model that proposes the same command twice may know better.
    pub(super) fn weighed(
        &mut self,
        line: &Arc<LineJudgement>,
        (text, about, again): (&str, &Put, bool),
        facts: &Facts,
    ) -> Result<Option<Put>, Fault> {
        let locale = self.human.locale().clone();
        let is_small = self.agent.model().small;
        if is_small && let Some(words) = only_words(&line.line, text) {
            self.human.painter().say(&words);
            return Ok(Some(Put::Nothing));
        }
        let meant = if is_small { meant(text, &line.line) } else { None };
        for change in meant.iter().flat_map(|(_, changes)| changes) {
            self.human.painter().say(&change.worded(&locale));
        }
        // What was meant is another line.
        let line = &meant.map_or_else(|| Arc::clone(line), |(command, _)| self.human.judged(&command));
        if is_small && (self.withholds(line, text) || !again && installs_unasked(&line.line, text)) {
            return Ok(None);
        }
        let fault = self.fault(line, facts);
        if is_small
            && let Some((mended, fault)) =
                fault.as_ref().and_then(|fault| Some((fault.mended(&line.line, &facts.shell)?, fault)))
        {
            self.human.painter().say(&locale.with(word::handoff::Changed { what: &fault.worded(&locale) }));
            let mended = self.human.judged(&mended);
            return Ok(Some(self.put(&mended, None, (text, about.clone()))));
        }
        if again && let Some(fault) = fault.clone().filter(|fault| !is_small || fault.can_be_mended()) {
            self.human.painter().say(&locale.with(word::handoff::AskedAgain { what: &fault.worded(&locale) }));
            return Err(fault);
        }
        Ok(Some(self.put(line, fault.as_ref(), (text, about.clone()))))
    }

    /// Puts a mended command on the prompt line; of a small model only if it loses nothing that the one before did not name.
    pub(super) fn mended(&mut self, line: &Arc<LineJudgement>, facts: &Facts, is_small: bool) -> Put {
        let named = facts.failed().map(|last| last.command.clone()).unwrap_or_default();
        if is_small && self.withholds(line, &named) {
            return Put::Nothing;
        }
        self.count(line);
        Put::Text(line.line.clone())
    }

    /// Says that a small model's command is not put on the prompt line, where it would lose what was not `said`.
    pub(super) fn withholds(&mut self, line: &Arc<LineJudgement>, said: &str) -> bool {
        let is_kept = !names_its_losses(self.agent, line, said);
        if is_kept {
            self.count(line);
            let said = self.human.locale().with(word::handoff::Unnamed { command: &sanitize_line(&line.line) });
            self.human.painter().say(&said);
        }
        is_kept
    }

    /// Puts a command on the prompt line, and says what it would affect and what is in doubt. A small model's command does
    /// not go there if it would lose something that is not there, or if its program is only a word of what was `asked`:
    /// then the line that the turn was `about` goes back.
    pub(super) fn put(
        &mut self,
        line: &Arc<LineJudgement>,
        fault: Option<&Fault>,
        (asked, about): (&str, Put),
    ) -> Put {
        self.count(line);
        if let Some(fault) = fault {
            let what = &fault.worded(self.human.locale());
            let said = self.human.locale().with(word::handoff::InDoubt { what });
            self.human.painter().say(&said);
            if self.agent.model().small && (fault.is_of_no_name() || fault.is_a_word_of(asked)) {
                return about;
            }
        }
        if let Some(stand_in) = secret::placeholders(&line.line).first() {
            let stand_in = &sanitize_line(&line.line[stand_in.clone()]);
            let said = self.human.locale().with(word::handoff::HasStandIn { stand_in });
            self.human.painter().say(&said);
        }
        // Something else stands on the prompt line.
        for text in unsent(&self.pending.snapshot()) {
            let text = &sanitize_line(&text);
            let said = self.human.locale().with(word::handoff::Unsent { text });
            self.human.painter().say(&said);
        }
        Put::Text(line.line.clone())
    }

    pub(super) fn fault(&self, line: &Arc<LineJudgement>, facts: &Facts) -> Option<Fault> {
        let known = format!("{}\n{}", facts.aliases, facts.functions);
        let needs = Needs::of(line);
        let found = self.runtime.block_on(self.check.fault(&line.line, &needs, &facts.shell, &known));
        let tries = || {
            let rerun = self.rerun.filter(|_| self.agent.model().small)?;
            let says = runs_unasked(self.agent, line).then(|| rerun.complaint(line, facts))?;
            let says = self.runtime.block_on(says)?;
            Some(Fault::Fails { says: secret::redact(&says, self.known, Level::Sent).0 })
        };
        // A large model may mean that it goes if it is there.
        let is_small = self.agent.model().small;
        let no_flag = || {
            let has_flag = line.line.split_whitespace().any(|word| word.starts_with('-') && word.len() > 1);
            let pages = self.pages.filter(|_| is_small && has_flag)?;
            let (flag, page) = unknown_flag(line, pages)?;
            Some(Fault::NoFlag { page, flag })
        };
        found.filter(|fault| is_small || !matches!(fault, Fault::NotThere { .. })).or_else(no_flag).or_else(tries)
    }

    /// Finds examples of what may do what was asked, where a small model's command cannot work: with other programs that are
    /// installed, or others of the same. One that would lose something is none.
    pub(super) fn examples(&self, fault: &Fault, command: &str, asked: &str) -> Vec<Example> {
        let own = command.split_whitespace().next().unwrap_or_default();
        let fits = |example: &Example| {
            let is_right = match fault {
                Fault::Missing { .. } => self.check.is_installed(example.program()),
                Fault::NoFlag { .. } | Fault::Fails { .. } => example.program() == own,
                Fault::Unread { .. } | Fault::NoDirectory { .. } | Fault::NotThere { .. } => false,
            };
            is_right && names_its_losses(self.agent, &self.human.judged(example.command), "")
        };
        if self.agent.model().small { examples(asked, fits) } else { Vec::new() }
    }

    /// Shows what the proposed line would affect, counted on the disk, and not as the model describes it.
    pub(super) fn count(&mut self, line: &Arc<LineJudgement>) {
        let cancel = CancellationToken::new();
        if let Some(radius) = self.runtime.block_on(self.agent.survey(line, &cancel)) {
            proposal_reach(self.human.painter(), &line.line, &radius);
        }
    }
}

/// What a proposed command does no more than print, where the person has asked for no command that prints.
fn only_words(command: &str, asked: &str) -> Option<String> {
    let words = command.strip_prefix("echo ").filter(|words| !words.contains(['$', '`', '>', '|', ';', '&']))?;
    let words = shlex::split(words)?.join(" ");
    let (asked, said) = (asked.to_lowercase(), words.to_lowercase());
    // `ehco hi` is a command that is corrected.
    let is_command =
        ["echo", "print"].iter().any(|name| asked.contains(name)) || asked != said && asked.contains(&said);
    (!words.is_empty() && !is_command).then_some(words)
}

/// Tells whether a command installs something, and nobody has asked for that: it was to do something else, and misses a
/// program.
fn installs_unasked(command: &str, asked: &str) -> bool {
    let has = |text: &str, words: &[&str]| {
        text.split(|letter: char| !letter.is_alphanumeric())
            .any(|word| words.contains(&word.to_lowercase().as_str()))
    };
    has(command, &["install"])
        && !has(asked, &["install", "installed", "setup", "get", "need", "add", "missing", "found"])
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use serde_json::json;

    use super::*;
    use crate::agent::bench::{Bench, bench_small};
    use crate::agent::{AgentEvent, Frontend, surroundings};
    use crate::approval::command::watched;
    use crate::config::{Notifications, Notify, ReasoningView, ThemeChoice};
    use crate::conversation::{About, Effect, Outcome, Subject, ToolCall, ToolFacts};
    use crate::frontend::explain::Page;
    use crate::frontend::human::{HumanOptions, Looks, Nobody, Notifier, Palette, Rules};
    use crate::locale::Locale;
    use crate::terminal::{Capabilities, Depth, NotifyBy, Screen, Wrap};
    use crate::tool::{ProposeCommandTool, Toolbox};

    fn human(agent: &Agent) -> Human<Vec<u8>> {
        let palette = Palette { choice: ThemeChoice::Dark, depth: Depth::Ansi, background: None };
        let looks = Looks {
            theme: palette.theme(),
            palette,
            styles: Vec::new(),
            wrap: Wrap::Word,
            hyperlinks: false,
            file_links: false,
            highlight: false,
            reasoning: ReasoningView::Show,
            notify: Notify::Auto,
            notifications: Notifications::default(),
            notifies_by: NotifyBy::Both,
            progress: true,
            resting_title: String::new(),
        };
        let options = HumanOptions {
            size: || (80, 30),
            looks,
            locale: Locale::new("en"),
            place: surroundings(agent).clone(),
            asker: Box::new(Nobody),
            rules: Rules::default(),
            tools: Toolbox::new(vec![Arc::new(ProposeCommandTool)]),
            keep_background: Box::new(|_| {}),
            notifier: Notifier { desktop: Box::new(|_, _| {}), redact: Box::new(str::to_owned) },
            clock: Box::new(Instant::now),
        };
        Human::new(Screen::new(Vec::new(), 80, 30, Capabilities::FULL), options)
    }

    /// Shows the proposal of a line, as a turn does.
    fn propose(human: &mut Human<Vec<u8>>, line: &str) {
        let call = ToolCall {
            id: "c".into(),
            name: "propose_command".into(),
            input: json!({ "command": line, "why": "", "touches": "" }),
            invalid_input: None,
            extra: serde_json::Map::default(),
            model: String::new(),
            arguments: String::new(),
        };
        human.show(&AgentEvent::TurnStarted { session: "s".into(), model: "p/m".into() });
        human.show(&AgentEvent::ToolRequested {
            call,
            effect: Effect::Read,
            subject: Subject::Whole,
            about: About::Subject,
        });
        human.show(&AgentEvent::ToolFinished {
            call_id: "c".into(),
            name: "propose_command".into(),
            outcome: Outcome::Ok,
            content: String::new(),
            facts: ToolFacts::default(),
            duration_ms: 0,
            change: None,
        });
    }

    /// No page is installed.
    struct NoPages;

    impl Pages for NoPages {
        fn page(&self, _: &str, _: Option<&str>) -> Option<Page> {
            None
        }
    }

    /// Has a proposed line weighed, and put on the prompt line where it is in doubt. Returns what goes there, whether the
    /// model is asked again, and how often the line was judged from its proposal on.
    fn weighed(bench: &Bench, line: &str, asked: &str) -> (Option<Put>, bool, u32) {
        let Bench { home, agent, .. } = bench;
        let place = surroundings(agent).clone();
        let rerun = Rerun { place, can_try: Box::new(|| false), command: Box::new(|_, _, _| None) };
        let path = std::env::var_os("PATH").unwrap_or_default();
        let check = Check { path, directory: home.path().to_path_buf() };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (pending, known, mut human) = (Pending::default(), Known::default(), human(agent));
        let facts = Facts { shell: "bash".into(), ..Facts::default() };
        let count = watched::watch(line);
        propose(&mut human, line);
        let proposed = human.take_proposed().unwrap();
        let (rerun, pages, known, pending) = (Some(&rerun), Some(&NoPages as &dyn Pages), &known, &pending);
        let mut weighing =
            Weighing { agent, human: &mut human, runtime: &runtime, rerun, check: &check, pages, known, pending };
        let (put, is_asked_again) = match weighing.weighed(&proposed, (asked, &Put::Line, true), &facts) {
            Ok(put) => (put, false),
            Err(fault) => (Some(weighing.put(&proposed, Some(&fault), (asked, Put::Line))), true),
        };
        let count = *count.lock().unwrap();
        (put, is_asked_again, count)
    }

    #[test]
    fn a_proposal_is_judged_once_whatever_becomes_of_it() {
        let bench = bench_small();
        std::fs::write(bench.home.path().join("old.log"), "old").unwrap();
        // Tests beside this one judge lines of their own.
        let own = |line: &str| format!("{line} # {:?}", std::thread::current().id());
        let text = |line: &str| Some(Put::Text(own(line)));
        let found = |line: &str, asked: &str| weighed(&bench, &own(line), asked);
        assert_eq!(found("ls -l", "list the files"), (text("ls -l"), false, 1));
        assert_eq!(found("rm old.log", "remove old.log"), (text("rm old.log"), false, 1));
        // It would lose what nobody named.
        assert_eq!(found("rm old.log", "tidy up"), (None, false, 1));
        // A program and a file are not there.
        assert_eq!(found("nosuchprogram -x", "list the files"), (text("nosuchprogram -x"), true, 1));
        assert_eq!(found("mv gone.log b", "move gone.log to b"), (text("mv gone.log b"), false, 1));
    }

    #[test]
    fn words_in_the_dress_of_a_command_are_words() {
        assert_eq!(only_words("echo 'Hello there'", "hello there").as_deref(), Some("Hello there"));
        assert_eq!(only_words("echo Hello", "print hello"), None);
        assert_eq!(only_words("echo hi", "ehco hi"), None);
        for line in ["echo $PATH", "echo a > b", "ls", "echo", "echo 'a", "echo a; ls"] {
            assert_eq!(only_words(line, "hi"), None, "{line}");
        }
    }

    #[test]
    fn a_program_that_is_missing_is_installed_for_who_asks() {
        assert!(installs_unasked("sudo apt-get install make", "make it better"));
        assert!(!installs_unasked("sudo apt-get install make", "install make"));
        assert!(!installs_unasked("sudo apt-get install make", "bash: make: command not found"));
        assert!(!installs_unasked("make", "make it better"));
    }
}
