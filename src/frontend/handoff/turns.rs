//! The turns of a hand-off, from the shell's line to what goes back to it.

use std::io::Write as _;
use std::rc::Rc;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::check::{Check, Fault};
use super::extract;
use super::facts::Facts;
use super::mend::Mender;
use super::mending::{Mending, Workbench};
use super::output::{Output, OutputSource, consented};
use super::reply::Put;
use super::rerun::Rerun;
use super::unsent::unsent;
use super::weigh::Weighing;
use crate::agent::{Agent, TurnEnd, with_said_secrets};
use crate::approval::command::LineJudgement;
use crate::command::LeftInShells;
use crate::conversation::{ContentBlock, Message, Subject, ToolVerb};
use crate::frontend::exit::Exit;
use crate::frontend::explain::Pages;
use crate::frontend::human::Human;
use crate::frontend::stage::Stage;
use crate::locale::word;
use crate::secret::{self, Level};
use crate::terminal::{KeyWatch, Output as Out, Pending, escape_wait, sanitize_line};
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
                    let is_small = mender.provider.model().small;
                    return (Exit::Done, self.weighing(&pending).mended(&command, facts, is_small));
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
        let mut doubtful: Option<(Arc<LineJudgement>, Fault)> = None;
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
            if let Some((line, is_plain)) = self.proposal(&text) {
                // What is wrong with a command that has a secret is told to nobody but the person.
                let asked = (text.as_str(), &about, doubtful.is_none() && is_plain);
                let mut weighing = self.weighing(&pending);
                match weighing.weighed(&line, asked, facts) {
                    Ok(Some(put)) => return (Exit::Done, put),
                    // What came first is in doubt, and no loss.
                    Ok(None) if doubtful.is_none() => return (Exit::Done, about),
                    Ok(None) => {}
                    Err(fault) => {
                        message = Message::user(fault.told(&text, &weighing.examples(&fault, &line.line, &text)));
                        doubtful = Some((line, fault));
                        continue;
                    }
                }
            }
            if let Some((line, fault)) = doubtful.take() {
                return (Exit::Done, self.weighing(&pending).put(&line, Some(&fault), (&text, about)));
            }
            let Some(next) = pending.take_queued() else {
                let left = pending.look(|unsent| unsent.line.trim().to_owned());
                if !left.is_empty() {
                    return (Exit::Done, Put::Text(left));
                }
                return (
                    Exit::Done,
                    self.left_behind().or_else(|| self.written(&text, &pending)).unwrap_or(Put::Nothing),
                );
            };
            text = next;
            about = Put::Text(text.clone());
            self.human.painter().echo(&text);
            message = Message::user(text.clone());
        }
    }

    /// Finds the command that the turn proposed, with the secrets that are in what was `asked`; and whether it has none.
    fn proposal(&mut self, asked: &str) -> Option<(Arc<LineJudgement>, bool)> {
        let Proposal { command, .. } = proposed(self.agent.conversation().messages())?;
        let given = with_said_secrets(&self.agent, &command, asked);
        let shown = self.human.take_proposed().filter(|shown| shown.line == given);
        let is_plain = given == command;
        Some((shown.unwrap_or_else(|| self.human.judged(&given)), is_plain))
    }

    fn weighing<'a>(&'a mut self, pending: &'a Pending) -> Weighing<'a, Out> {
        let Self { agent, human, stage, output, rerun, check, pages, .. } = self;
        let (rerun, pages) = (rerun.as_ref(), pages.as_deref());
        Weighing { agent, human, runtime: &stage.runtime, rerun, check, pages, known: &output.known, pending }
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
    fn written(&mut self, asked: &str, pending: &Pending) -> Option<Put> {
        if !self.agent.model().small {
            return None;
        }
        let answer = self.agent.conversation().messages().last()?.text();
        let line = extract::only_command(&answer)?;
        let line = with_said_secrets(&self.agent, &line, asked);
        let line = self.human.judged(&line);
        let mut weighing = self.weighing(pending);
        if weighing.withholds(&line, asked) {
            return None;
        }
        let said = weighing.human.locale().text(word::handoff::WRITTEN).to_owned();
        weighing.human.painter().say(&said);
        weighing.count(&line);
        Some(Put::Text(line.line.clone()))
    }
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
    use crate::terminal::Unsent;

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
