//! The turns of a hand-off, from the shell's line to what goes back to it.

use std::io::Write as _;
use std::rc::Rc;

use tokio_util::sync::CancellationToken;

use super::check::{Check, Fault};
use super::extract;
use super::facts::Facts;
use super::meant::meant;
use super::mend::Mender;
use super::mending::{Mending, Workbench};
use super::output::{Output, OutputSource, consented};
use super::reply::Put;
use super::rerun::Rerun;
use super::tldr::{Example, examples};
use crate::agent::{Agent, TurnEnd, judged, names_its_losses, needs, runs_unasked, with_said_secrets};
use crate::command::LeftInShells;
use crate::conversation::{ContentBlock, Message, Subject, ToolVerb};
use crate::frontend::exit::Exit;
use crate::frontend::explain::{Pages, unknown_flag};
use crate::frontend::human::Human;
use crate::frontend::stage::Stage;
use crate::locale::word;
use crate::secret::{self, Level};
use crate::terminal::{KeyWatch, Output as Out, Pending, Unsent, escape_wait, sanitize_line};
use crate::tool::{Proposal, is_plain_line, proposed};

/// Everything a hand-off works with.
pub struct Handoff {
    /// The agent, with the tool that proposes commands.
    pub agent: Agent,
    /// The screen.
    pub human: Human<Out>,
    /// The terminal, taken.
    pub stage: Stage,
    /// The output of the last command.
    pub output: OutputSource,
    /// Who mends the last command when the line is empty, where somebody on this machine can.
    pub mender: Option<Mender>,
    /// Runs the last command again, where nothing holds what it printed, and tries what a small model proposes.
    pub rerun: Option<Rerun>,
    /// Looks for what is wrong with a proposed command.
    pub check: Check,
    /// The pages of the programs that are installed.
    pub pages: Option<Box<dyn Pages>>,
    /// Words what commands left in their shells.
    pub left: Box<dyn Fn() -> LeftInShells>,
    /// Remembers what the agent ran, where the settings ask for that.
    pub remember: Option<Remember>,
    /// What is to be said of the model, where nobody chose it.
    pub found: Option<String>,
}

/// Takes the commands that the agent ran, and says what went wrong, if anything.
pub type Remember = Box<dyn Fn(&[RanCommand]) -> Option<String>>;

/// A command that the agent ran, and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RanCommand {
    /// The line.
    pub line: String,
    /// Its exit code.
    pub code: i32,
    /// How long it took, in ms.
    pub milliseconds: u64,
}

impl Handoff {
    /// Runs the turn, and one for each line that was sent while it ran. Returns what goes back to the shell.
    pub fn run(mut self, facts: &Facts) -> (Exit, Put) {
        let begun = self.agent.conversation().messages().len();
        let ended = self.turns(facts);
        if let Some(remember) = self.remember.take()
            && let Some(problem) = remember(&self.ran(begun))
        {
            self.human.painter().warn(&problem);
        }
        if self.stage.plain {
            // A terminal without escape sequences was changed in its mode only: no sequence must be sent to restore
            // it.
            std::mem::forget(self.stage.tty.lend());
        }
        ended
    }

    fn turns(&mut self, facts: &Facts) -> (Exit, Put) {
        self.tidy(facts);
        // A signal that comes before the turn stops the turn that is about to begin.
        let stopped = CancellationToken::new();
        self.stage.signals.watch(Some(stopped.clone()));
        // Before anything is printed: the screen still shows what the shell printed.
        let captured = self.output.captured(&self.stage.runtime, facts);
        if let Some(found) = self.found.take() {
            self.human.painter().say(&found);
        }
        if let Some(line) = facts.context_line(self.human.locale()) {
            self.human.painter().say(&line);
        }
        let pending = Pending::default();
        let (captured, sent) = match self.mender.take().filter(|_| facts.message().is_empty()) {
            None => (captured, None),
            Some(mender) => match self.workbench(&pending).mend(&mender, facts, captured) {
                Mending::Mended(command) => {
                    return (Exit::Done, self.mended(command, facts, mender.provider.model().small));
                }
                Mending::Unknown(captured, sent) => (captured, sent),
                Mending::Stopped => return (Exit::Interrupted, self.give_back(facts, Put::Line, &pending)),
            },
        };
        let asked = |found| consented(&found, &self.output, &mut self.human, &self.stage, facts, &pending);
        let printed = match sent.map(Output::Sent).or_else(|| captured.map(asked)) {
            None | Some(Output::None) => String::new(),
            Some(Output::Sent(block)) => block,
            Some(Output::Stopped) => {
                return (Exit::Interrupted, self.give_back(facts, Put::Line, &pending));
            }
        };
        if stopped.is_cancelled() {
            return (Exit::Interrupted, self.give_back(facts, Put::Line, &pending));
        }
        let mut text = facts.message();
        if text.is_empty() {
            self.human.locale().text(word::handoff::WHAT_HAPPENED).clone_into(&mut text);
        }
        let mut message = Message::user(text.clone());
        let clean = |text: &str| secret::redact(text, &self.output.known, Level::Sent).0;
        // A small model is told its shell anyway, and each word beside the line leads it astray.
        let block = facts.block(!self.agent.model().small, &clean) + &printed;
        if !block.is_empty() {
            message.content.push(ContentBlock::Text { text: block });
        }
        let mut about = Put::Line;
        let mut doubtful: Option<(String, Fault)> = None;
        loop {
            self.human.set_topic(&text);
            let end = match self.turn(message, &pending) {
                Ok(end) => end,
                Err(error) => {
                    tracing::warn!(%error, "the terminal cannot be read");
                    let what = self.human.locale().with(word::error::Terminal { cause: &error.to_string() });
                    self.human.painter().fail(&what, "");
                    return (Exit::Failed, self.give_back(facts, about, &pending));
                }
            };
            if end != TurnEnd::Done {
                return (Exit::from(&end), self.give_back(facts, about, &pending));
            }
            if let Some(Proposal { command, .. }) = proposed(self.agent.conversation().messages()) {
                let proposed = command;
                let command = with_said_secrets(&self.agent, &proposed, &text);
                // What is wrong with a command that has a secret is told to nobody but the person.
                let asked = (text.as_str(), &about, doubtful.is_none() && command == proposed);
                match self.weighed(&command, asked, facts, &pending) {
                    Ok(Some(put)) => return (Exit::Done, put),
                    // What came first is in doubt, and no loss.
                    Ok(None) if doubtful.is_none() => return (Exit::Done, about),
                    Ok(None) => {}
                    Err(fault) => {
                        message = Message::user(fault.told(&text, &self.examples(&fault, &command, &text)));
                        doubtful = Some((command, fault));
                        continue;
                    }
                }
            }
            if let Some((command, fault)) = doubtful.take() {
                return (Exit::Done, self.put(command, Some(&fault), (&text, about), &pending));
            }
            let Some(next) = pending.take_queued() else {
                let left = pending.look(|unsent| unsent.line.trim().to_owned());
                if !left.is_empty() {
                    return (Exit::Done, Put::Text(left));
                }
                return (Exit::Done, self.left_behind().or_else(|| self.written(&text)).unwrap_or(Put::Nothing));
            };
            text = next;
            about = Put::Text(text.clone());
            self.human.painter().echo(&text);
            message = Message::user(text.clone());
        }
    }

    /// Decides what becomes of a proposed command: what goes back to the shell; `None` if nothing of it does; or its fault,
    /// if the model is asked `again`. It is asked once: a model that proposes the same command twice may know better.
    fn weighed(
        &mut self,
        command: &str,
        (text, about, again): (&str, &Put, bool),
        facts: &Facts,
        pending: &Pending,
    ) -> Result<Option<Put>, Fault> {
        let locale = self.human.locale().clone();
        let is_small = self.agent.model().small;
        if is_small && let Some(words) = only_words(command, text) {
            self.human.painter().say(&words);
            return Ok(Some(Put::Nothing));
        }
        let meant = if is_small { meant(text, command) } else { None };
        for change in meant.iter().flat_map(|(_, changes)| changes) {
            self.human.painter().say(&change.worded(&locale));
        }
        let command = meant.as_ref().map_or(command, |(command, _)| command);
        if is_small && self.withholds(command, text) || is_small && !again && installs_unasked(command, text) {
            return Ok(None);
        }
        let fault = self.fault(command, facts);
        if is_small
            && let Some((mended, fault)) =
                fault.as_ref().and_then(|fault| Some((fault.mended(command, &facts.shell)?, fault)))
        {
            self.human.painter().say(&locale.with(word::handoff::Changed { what: &fault.worded(&locale) }));
            return Ok(Some(self.put(mended, None, (text, about.clone()), pending)));
        }
        if again && let Some(fault) = fault.clone().filter(|fault| !is_small || fault.can_be_mended()) {
            self.human.painter().say(&locale.with(word::handoff::AskedAgain { what: &fault.worded(&locale) }));
            return Err(fault);
        }
        Ok(Some(self.put(command.to_owned(), fault.as_ref(), (text, about.clone()), pending)))
    }

    /// Puts a mended command on the prompt line; of a small model only if it loses nothing that the one before did not name.
    fn mended(&mut self, command: String, facts: &Facts, is_small: bool) -> Put {
        let named = facts.failed().map(|last| last.command.clone()).unwrap_or_default();
        if is_small && self.withholds(&command, &named) {
            return Put::Nothing;
        }
        self.count(&command);
        Put::Text(command)
    }

    /// Says that a small model's command is not put on the prompt line, where it would lose what was not `said`.
    fn withholds(&mut self, command: &str, said: &str) -> bool {
        let is_kept = !names_its_losses(&self.agent, command, said);
        if is_kept {
            self.count(command);
            let said = self.human.locale().with(word::handoff::Unnamed { command: &sanitize_line(command) });
            self.human.painter().say(&said);
        }
        is_kept
    }

    /// Puts a command on the prompt line, and says what it would affect and what is in doubt. A small model's command does
    /// not go there if it would lose something that is not there, or if its program is only a word of what was `asked`:
    /// then the line that the turn was `about` goes back.
    fn put(
        &mut self,
        command: String,
        fault: Option<&Fault>,
        (asked, about): (&str, Put),
        pending: &Pending,
    ) -> Put {
        self.count(&command);
        if let Some(fault) = fault {
            let what = &fault.worded(self.human.locale());
            let said = self.human.locale().with(word::handoff::InDoubt { what });
            self.human.painter().say(&said);
            if self.agent.model().small && (fault.is_of_no_name() || fault.is_a_word_of(asked)) {
                return about;
            }
        }
        if let Some(stand_in) = secret::placeholders(&command).first() {
            let stand_in = &sanitize_line(&command[stand_in.clone()]);
            let said = self.human.locale().with(word::handoff::HasStandIn { stand_in });
            self.human.painter().say(&said);
        }
        // Something else stands on the prompt line.
        for text in unsent(&pending.snapshot()) {
            let text = &sanitize_line(&text);
            let said = self.human.locale().with(word::handoff::Unsent { text });
            self.human.painter().say(&said);
        }
        Put::Text(command)
    }

    fn fault(&self, command: &str, facts: &Facts) -> Option<Fault> {
        let known = format!("{}\n{}", facts.aliases, facts.functions);
        let needs = needs(&self.agent, command);
        let found = self.stage.runtime.block_on(self.check.fault(command, &needs, &facts.shell, &known));
        let tries = || {
            let rerun = self.rerun.as_ref().filter(|_| self.agent.model().small)?;
            let says = runs_unasked(&self.agent, command).then(|| rerun.complaint(command, facts))?;
            let says = self.stage.runtime.block_on(says)?;
            Some(Fault::Fails { says: secret::redact(&says, &self.output.known, Level::Sent).0 })
        };
        // A large model may mean that it goes if it is there.
        let is_small = self.agent.model().small;
        let no_flag = || {
            let has_flag = command.split_whitespace().any(|word| word.starts_with('-') && word.len() > 1);
            let pages = self.pages.as_deref().filter(|_| is_small && has_flag)?;
            let (flag, page) = unknown_flag(&judged(&self.agent, command), pages)?;
            Some(Fault::NoFlag { page, flag })
        };
        found.filter(|fault| is_small || !matches!(fault, Fault::NotThere { .. })).or_else(no_flag).or_else(tries)
    }

    /// Finds examples of what may do what was asked, where a small model's command cannot work: with other programs that are
    /// installed, or others of the same. One that would lose something is none.
    fn examples(&self, fault: &Fault, command: &str, asked: &str) -> Vec<Example> {
        let own = command.split_whitespace().next().unwrap_or_default();
        let fits = |example: &Example| {
            let is_right = match fault {
                Fault::Missing { .. } => self.check.is_installed(example.program()),
                Fault::NoFlag { .. } | Fault::Fails { .. } => example.program() == own,
                Fault::Unread { .. } | Fault::NoDirectory { .. } | Fault::NotThere { .. } => false,
            };
            is_right && names_its_losses(&self.agent, example.command, "")
        };
        if self.agent.model().small { examples(asked, fits) } else { Vec::new() }
    }

    fn workbench<'a>(&'a mut self, pending: &'a Pending) -> Workbench<'a> {
        let Self { human, stage, output, rerun, .. } = self;
        Workbench { human, stage, output, rerun: rerun.take(), pending }
    }

    /// Removes what the terminal has echoed of keys and answers that arrived before axi had it: the shell has begun
    /// a row, and nothing else stands on it.
    fn tidy(&self, facts: &Facts) {
        if facts.reply.is_some() && !self.stage.plain {
            // A terminal that has gone is noticed by the next read.
            drop(Out::new().write_all(b"\r\x1b[K"));
        }
    }

    /// Shows what the proposed line would affect, counted on the disk, and not as the model describes it.
    pub(super) fn count(&mut self, line: &str) {
        let cancel = CancellationToken::new();
        if let Some(radius) = self.stage.runtime.block_on(self.agent.survey(line, &cancel)) {
            self.human.proposal_reach(line, &radius);
        }
    }

    /// Returns what goes back to the shell after a turn that did not end by itself; reports the typed text that
    /// does not go back.
    fn give_back(&mut self, facts: &Facts, about: Put, pending: &Pending) -> Put {
        let (put, told) = given_back(about, facts.message().is_empty(), unsent(&pending.snapshot()));
        for text in &told {
            let text = &sanitize_line(text);
            let said = self.human.locale().with(word::handoff::UnsentStopped { text });
            self.human.painter().say(&said);
        }
        put
    }

    fn turn(&mut self, message: Message, pending: &Pending) -> std::io::Result<TurnEnd> {
        let cancel = CancellationToken::new();
        let keys = KeyWatch::start(cancel.clone(), pending.clone(), escape_wait(self.stage.remote))?;
        self.human.watch(keys, Rc::clone(&self.stage.tty));
        self.stage.signals.watch(Some(cancel.clone()));
        let end = self.stage.runtime.block_on(self.agent.run_turn(message, &mut self.human, &cancel));
        self.stage.signals.watch(None);
        // Nobody has to leave here: the shell waits.
        let _pressed = self.human.unwatch();
        Ok(end)
    }

    /// Lists the commands that ran since then, in their order; not those with a secret in their line.
    fn ran(&self, begun: usize) -> Vec<RanCommand> {
        let messages = self.agent.conversation().messages().get(begun..).unwrap_or_default();
        let tools = self.agent.tools();
        let results = messages.windows(2).flat_map(|pair| {
            let ran = pair[0].calls().filter(|call| tools.identity(&call.name).verb == ToolVerb::Run);
            ran.filter_map(|call| Some((call, pair[1].result_of(&call.id)?)))
        });
        let commands = results.filter_map(|(call, result)| {
            let subject = tools.read(call, self.agent.roots()).request()?.subject();
            let Subject::Command { line } = subject else { return None };
            Some(RanCommand { line, code: result.facts.exit_code?, milliseconds: result.duration_ms })
        });
        // A stand-in says that the command had a secret there: what stands here is not what ran.
        let is_plain = |ran: &RanCommand| {
            is_plain_line(&ran.line)
                && secret::placeholders(&ran.line).is_empty()
                && secret::redact(&ran.line, &self.output.known, Level::Sent).1 == 0
        };
        commands.filter(is_plain).collect()
    }

    /// Returns what the commands changed in their own shells and could not in the person's, as one line to review.
    fn left_behind(&mut self) -> Option<Put> {
        let left = (self.left)();
        let locale = self.human.locale().clone();
        for said in left.left_out(&locale) {
            self.human.painter().say(&said);
        }
        let line = left.line?;
        self.human.painter().say(locale.text(word::handoff::LEFT));
        Some(Put::Text(line))
    }

    /// The one command that a small model wrote into its answer instead of proposing it.
    fn written(&mut self, asked: &str) -> Option<Put> {
        if !self.agent.model().small {
            return None;
        }
        let answer = self.agent.conversation().messages().last()?.text();
        let line = extract::only_command(&answer)?;
        let line = with_said_secrets(&self.agent, &line, asked);
        if self.withholds(&line, asked) {
            return None;
        }
        let said = self.human.locale().text(word::handoff::WRITTEN).to_owned();
        self.human.painter().say(&said);
        self.count(&line);
        Some(Put::Text(line))
    }
}

/// Lists what was typed while axi worked and was not sent, in its order.
pub fn unsent(typed: &Unsent) -> Vec<String> {
    let lines = typed.queue.iter().chain([&typed.line]);
    lines.filter(|line| !line.trim().is_empty()).cloned().collect()
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

/// Tells whether a command installs something, and nobody has asked for that: it was to do something else, and misses a program.
fn installs_unasked(command: &str, asked: &str) -> bool {
    let has = |text: &str, words: &[&str]| {
        text.split(|letter: char| !letter.is_alphanumeric())
            .any(|word| words.contains(&word.to_lowercase().as_str()))
    };
    has(command, &["install"])
        && !has(asked, &["install", "installed", "setup", "get", "need", "add", "missing", "found"])
}

/// Decides what goes back to the shell after a turn that did not end by itself. `about` is the line the turn was
/// about: the shell's, or one sent later. The parts of `waiting` that cannot go back can only be printed; if the
/// shell's line was blank, there is room for them.
fn given_back(about: Put, blank: bool, waiting: Vec<String>) -> (Put, Vec<String>) {
    if blank && about == Put::Line && !waiting.is_empty() {
        return (Put::Text(waiting.join("\n")), Vec::new());
    }
    (about, waiting)
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn a_turn_that_was_stopped_gives_its_own_line_back_and_tells_what_waited() {
        let typed = Unsent {
            queue: ["third".to_owned(), " ".to_owned()].into(),
            line: "half a fou".to_owned(),
            ..Unsent::default()
        };
        let waiting = || unsent(&typed);
        assert_eq!(waiting(), ["third", "half a fou"]);
        assert_eq!(given_back(Put::Line, false, waiting()), (Put::Line, waiting()));
        let second = || Put::Text("second".to_owned());
        assert_eq!(given_back(second(), true, waiting()), (second(), waiting()));
        assert_eq!(given_back(Put::Line, true, Vec::new()), (Put::Line, Vec::new()));
        assert_eq!(given_back(Put::Line, true, waiting()), (Put::Text("third\nhalf a fou".to_owned()), Vec::new()));
    }
}
