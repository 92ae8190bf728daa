//! One turn from the loop: the keys, the message with its files, what was typed meanwhile.

use std::rc::Rc;
use std::time::SystemTime;

use tokio_util::sync::CancellationToken;

use super::repl::{Ahead, Next, Repl};
use super::show;
use crate::agent::TurnEnd;
use crate::approval::Mode;
use crate::conversation::{ContentBlock, Message};
use crate::frontend::repl::files::{AttachFact, AttachOptions, attach};
use crate::locale::word;
use crate::terminal::{KeyWatch, TypeAhead, drain_crossterm, escape_wait};

/// Tokens that attached files may take when the model's context is not known.
const ATTACHED_TOKENS: u64 = 16_000;

impl Repl {
    /// Runs one turn.
    pub(super) fn turn(&mut self, text: String, ahead: &mut Ahead) -> Next {
        let cancel = CancellationToken::new();
        // What was under way when a queued line began stays under way.
        let text_ahead = std::mem::take(&mut ahead.prefill);
        let mut typed =
            TypeAhead { queue: ahead.queue.drain(..).collect(), text: text_ahead, ..TypeAhead::default() };
        let interrupted = drain_crossterm(&mut typed).unwrap_or_else(|error| {
            tracing::debug!(%error, "typed keys could not be taken over");
            false
        });
        if self.editor.take_interrupt() || interrupted {
            // ESC came in one piece with the line's Enter, as over a slow connection: it was meant for this turn.
            cancel.cancel();
        }
        match KeyWatch::start(cancel.clone(), typed, escape_wait(self.stage.remote)) {
            Ok(keys) => {
                self.drafts.watch_typed(Some(keys.view()));
                self.human.watch(keys, Rc::clone(&self.stage.tty));
            }
            Err(error) => {
                self.lost(&error);
                return Next::Leave;
            }
        }
        self.sweep();
        self.stage.signals.watch(Some(cancel.clone()));
        self.human.set_topic(&text);
        let message = self.message(text);
        let end = self.stage.runtime.block_on(async {
            let end = self.agent.run_turn(message, &mut self.human, &cancel).await;
            close_dropped_connections().await;
            end
        });
        self.stage.signals.watch(None);
        let planned = end == TurnEnd::Done && self.agent.mode() == Mode::Plan;
        if planned {
            // Somebody in the middle of a word would answer with the next key what is asked of the plan.
            self.human.settle();
        }
        let typed = self.human.unwatch();
        self.tell_editor();
        if typed.leave {
            self.gone |= typed.gone;
            self.drafts.set_ahead(typed.queue.iter(), &typed.text);
            self.drafts.watch_typed(None);
            return Next::Leave;
        }
        let TypeAhead { text, mut queue, queued_when_stopped, interrupted, escaped, .. } = typed;
        self.editor.escaped(escaped);
        ahead.interrupted = interrupted;
        if end == TurnEnd::Interrupted {
            // What was queued for the turn that was stopped goes back to the editor; what was sent after ESC is for
            // what comes next.
            let later = queue.split_off(queued_when_stopped.unwrap_or(queue.len()).min(queue.len()));
            ahead.queue.extend(later);
            let count = queue.len() as u64;
            queue.push(text);
            ahead.give_back(queue);
            if count > 0 {
                let key = if ahead.back.is_empty() { word::repl::QUEUE_BACK } else { word::repl::QUEUE_BACK_APART };
                let said = self.human.locale().count(key, count);
                self.human.painter().say(&said);
            }
        } else {
            ahead.queue.extend(queue);
            ahead.prefill = text;
        }
        self.drafts.set_ahead(ahead.waiting(), &ahead.prefill);
        self.drafts.watch_typed(None);
        // What was sent meanwhile is about the plan.
        if planned && ahead.queue.is_empty() { self.planned(ahead) } else { Next::Line }
    }

    /// Sweeps, once and on a thread, what earlier runs left. Not at the start: it reads the whole process table.
    fn sweep(&mut self) {
        if std::mem::replace(&mut self.swept, true) {
            return;
        }
        crate::tool::sweep_aside(self.agent.outputs(), SystemTime::now());
    }

    /// Makes the message with the files it mentions, and tells what became of each.
    fn message(&mut self, text: String) -> Message {
        let model = self.agent.model();
        let budget = model.context_window.map_or(ATTACHED_TOKENS, |window| window / 2);
        let place = self.agent.place();
        let options = AttachOptions {
            directory: place.cwd.clone(),
            home: place.home.clone(),
            budget,
            vision: model.vision,
            thumbnails: self.pictures.map(|_| show::picture_room(self.human.painter().screen().columns())),
            picked: self.editor.picked(),
        };
        let mut attached = attach(&text, &options);
        let mut thumbnails = attached.thumbnails.drain(..);
        for fact in &attached.facts {
            let said = show::attached(self.human.locale(), fact);
            self.human.painter().say(&said);
            if matches!(fact, AttachFact::Picture { .. })
                && let (Some(protocol), Some(Some(thumbnail))) = (self.pictures, thumbnails.next())
            {
                show::picture(self.human.painter().screen(), protocol, &thumbnail);
            }
        }
        drop(thumbnails);
        let mut message = Message::user(text);
        message.content.extend(self.ran.drain(..).map(|text| ContentBlock::Text { text }));
        if !attached.text.is_empty() {
            message.content.push(ContentBlock::Text { text: format!("\n\n{}", attached.text) });
        }
        message.content.extend(attached.images.into_iter().map(ContentBlock::Image));
        message
    }
}

/// Lets the runtime's other tasks see that an answer was dropped, and close its connection.
///
/// The connection is driven by a task of this runtime, which stands still while a line is edited: without this, an
/// interrupted provider would go on writing, and charging, until the next message. Nothing is waited for; a few
/// rounds are enough for the task to be woken, to stop reading and to end.
async fn close_dropped_connections() {
    for _ in 0..8 {
        tokio::task::yield_now().await;
    }
}
