//! An empty line after a failure: what was printed is looked for, a model on this machine is asked, and its command
//! stands on the prompt line with one line why. What is not known is said.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::consent::Matter;
use super::facts::Facts;
use super::mend::{Mended, Mender};
use super::output::{Answer, Captured, Output, OutputSource, consented, decide, keep, shown};
use super::rerun::{AGAIN_LIMIT, Again, Rerun, SecondRun};
use super::rewrite::NoCommand;
use crate::approval::command::LineJudgement;
use crate::frontend::human::{Human, mended};
use crate::frontend::stage::Stage;
use crate::frontend::words;
use crate::locale::word;
use crate::terminal::{KeyWatch, Line, Output as Out, Pending, escape_wait, spinner};

/// What became of it.
pub(super) enum Mending {
    /// A command for the prompt line, judged.
    Mended(Arc<LineJudgement>),
    /// No command: a turn is to say what happened. What was printed, where it is known; whether the person has
    /// already been asked about it, and what of it is sent.
    Unknown(Option<Captured>, Option<String>),
    /// ESC.
    Stopped,
}

/// What it works with.
pub(super) struct Workbench<'a> {
    pub(super) human: &'a mut Human<Out>,
    pub(super) stage: &'a Stage,
    pub(super) output: &'a OutputSource,
    pub(super) rerun: Option<Rerun>,
    pub(super) pending: &'a Pending,
}

impl Workbench<'_> {
    /// Tries to mend the command that failed.
    pub(super) fn mend(mut self, mender: &Mender, facts: &Facts, captured: Option<Captured>) -> Mending {
        let captured = match captured {
            Some(found) => Some(found),
            None => match self.printed_again(facts) {
                Ok(found) => found,
                Err(Stopped) => return Mending::Stopped,
            },
        };
        let locale = self.human.locale().clone();
        let is_here = mender.provider.model().local;
        // What stays on this machine needs no question.
        let (seen, sent) = match &captured {
            Some(found) if is_here => {
                let (lines, holder) = (&found.measure(&locale), found.holder.as_str());
                self.human.painter().say(&locale.with(word::handoff::mend::Seen { lines, holder }));
                (Some(found.text.clone()), None)
            }
            Some(found) => match consented(found, self.output, self.human, self.stage, facts, self.pending) {
                Output::None => (None, Some(String::new())),
                Output::Sent(block) => (Some(found.text.clone()), Some(block)),
                Output::Stopped => return Mending::Stopped,
            },
            None => (None, None),
        };
        let missing = facts.last.as_ref().is_some_and(super::facts::LastCommand::is_missing);
        if seen.is_none() && !missing {
            self.human.painter().say(locale.text(word::handoff::mend::BLIND));
        }
        let known = self.output.known.clone();
        let asking = locale.with(word::handoff::rewrite::Asking { model: &mender.provider.model().id() });
        let asked = self
            .wait(&asking, async |cancel, show| mender.mend(facts, seen.as_deref(), &known, cancel, show).await);
        match asked {
            Ok(Some(Mended { command, why })) => {
                let line = self.human.judged(&command);
                mended(self.human.painter(), &why, &line);
                Mending::Mended(line)
            }
            Ok(None) | Err(NoCommand::NotGiven) => {
                self.human.painter().say(locale.text(word::handoff::mend::NONE));
                Mending::Unknown(captured, sent)
            }
            Err(NoCommand::Interrupted) => Mending::Stopped,
            Err(NoCommand::TimedOut) => {
                let seconds = mender.limit.as_secs().to_string();
                let said = locale.with(word::handoff::rewrite::Timeout { seconds: &seconds });
                self.human.painter().say(&said);
                Mending::Unknown(captured, sent)
            }
            Err(NoCommand::Failed(failure)) => {
                let told = words::failure(&locale, &failure, words::Speaking::ByFlags);
                self.human.painter().warn(&told.what);
                Mending::Unknown(captured, sent)
            }
        }
    }

    /// Runs the command again where it may be and the person says so.
    fn printed_again(&mut self, facts: &Facts) -> Result<Option<Captured>, Stopped> {
        let Some(rerun) = self.rerun.take() else { return Ok(None) };
        let Some((again, last)) = rerun.how(facts).zip(facts.last.as_ref()) else { return Ok(None) };
        let consent = self.output.consent.clone();
        let workspace = self.output.workspace.clone();
        let refused = |matter| consent.as_ref().is_some_and(|it| it.is_refused(matter, &workspace));
        if refused(Matter::Again) || refused(Matter::Output) {
            return Ok(None);
        }
        let locale = self.human.locale().clone();
        if !consent.as_ref().is_some_and(|it| it.is_given(Matter::Again, &workspace)) {
            let command = &shown(last);
            let question = match again {
                Again::Reading => locale.with(word::handoff::mend::AgainReading { command }),
                Again::Trial => locale.with(word::handoff::mend::AgainTrial { command }),
            };
            let directory = &self.output.shown_workspace;
            let texts = [
                locale.text(word::handoff::OUTPUT_ONCE).to_owned(),
                locale.with(word::handoff::OutputAlways { directory }),
                locale.text(word::handoff::OUTPUT_NO).to_owned(),
                locale.with(word::handoff::OutputNever { directory }),
            ];
            let kept = match decide(&question, &[], texts, self.human, self.stage, self.pending).ok_or(Stopped)? {
                Answer::Once => None,
                Answer::Always => consent.as_ref().map(|it| it.give(Matter::Again, &workspace)),
                Answer::No => return Ok(None),
                Answer::Never => {
                    keep(self.human, consent.as_ref().map(|it| it.refuse(Matter::Again, &workspace)));
                    return Ok(None);
                }
            };
            keep(self.human, kept);
        }
        Ok(self.run_again(&rerun, again, facts)?.map(|run| {
            let holder = locale.text(word::handoff::mend::HOLDER);
            self.output.cleaned(&run.printed, holder)
        }))
    }

    fn run_again(&mut self, rerun: &Rerun, again: Again, facts: &Facts) -> Result<Option<SecondRun>, Stopped> {
        let locale = self.human.locale().clone();
        let running = locale.text(word::handoff::mend::RUNNING);
        let (run, stopped) = self.wait(running, async |cancel, show| {
            let run = match &facts.last {
                Some(last) => rerun.run(again, (facts, &last.command), AGAIN_LIMIT, cancel, show).await,
                None => None,
            };
            (run, cancel.is_cancelled())
        });
        if stopped {
            return Err(Stopped);
        }
        let status = facts.last.as_ref().map(|last| last.status);
        match run {
            Some(run) if Some(run.code) == status => Ok(Some(run)),
            Some(run) => {
                let code = &run.code.to_string();
                self.human.painter().say(&locale.with(word::handoff::mend::Otherwise { code }));
                Ok(None)
            }
            None => {
                self.human.painter().say(locale.text(word::handoff::mend::NOT_RUN));
                Ok(None)
            }
        }
    }

    /// Waits for something until ESC, with a row that says what for.
    fn wait<T>(
        &mut self,
        words: &str,
        begin: impl AsyncFnOnce(&CancellationToken, &mut dyn FnMut(Duration)) -> T,
    ) -> T {
        let cancel = CancellationToken::new();
        let keys = KeyWatch::start(cancel.clone(), self.pending.clone(), escape_wait(self.stage.remote))
            .inspect_err(|error| tracing::warn!(%error, "no key can stop this"));
        self.stage.signals.watch(Some(cancel.clone()));
        let stop = self.human.locale().text(word::status::STOP).to_owned();
        let style = self.human.painter().theme().dim;
        let screen = self.human.painter().screen();
        let mut show = |elapsed: Duration| {
            let seconds = words::whole_seconds(elapsed.as_secs());
            screen.status(&Line::styled(format!("{} {words} · {seconds} · {stop}", spinner(elapsed)), style));
            screen.flush();
        };
        let result = self.stage.runtime.block_on(begin(&cancel, &mut show));
        self.human.painter().screen().end_live();
        self.stage.signals.watch(None);
        drop(keys);
        result
    }
}

/// ESC.
struct Stopped;
