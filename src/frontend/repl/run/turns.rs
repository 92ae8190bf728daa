//! One turn from the loop: the keys, the message with its files, what was typed meanwhile.

use std::rc::Rc;
use std::time::SystemTime;

use tokio_util::sync::CancellationToken;

use super::{servers, show};
use crate::agent::{Agent, TurnEnd};
use crate::conversation::{ContentBlock, Message};
use crate::frontend::dropped::close_dropped_connections;
use crate::frontend::human::Human;
use crate::frontend::input;
use crate::frontend::repl::editor::Editor;
use crate::frontend::repl::files::{AttachFact, AttachOptions, attach};
use crate::frontend::stage::Stage;
use crate::locale::word;
use crate::terminal::{KeyWatch, Output, Pending, PictureProtocol, Pressed, drain_crossterm, escape_wait};

/// Tokens that attached files may take when the model's context is not known.
const ATTACHED_TOKENS: u64 = 16_000;

/// What turns need beside those who take part in them.
#[derive(Debug)]
pub(super) struct Turns {
    /// How the terminal is shown attached pictures, if it is.
    pictures: Option<PictureProtocol>,
    /// Whether what an earlier axi left behind has been ended.
    swept: bool,
}

/// Everything that a turn needs.
pub(super) struct Scene<'a> {
    pub(super) agent: &'a mut Agent,
    pub(super) human: &'a mut Human<Output>,
    pub(super) editor: &'a mut Editor,
    pub(super) stage: &'a Stage,
    pub(super) pending: &'a Pending,
}

impl Turns {
    pub(super) const fn new(pictures: Option<PictureProtocol>) -> Self {
        Self { pictures, swept: false }
    }

    /// Runs one turn; returns how it ended and which keys asked for something. `settles` tells whether a question follows
    /// this end.
    ///
    /// # Errors
    /// When the keyboard cannot be watched.
    pub(super) fn run(
        &mut self,
        scene: &mut Scene<'_>,
        text: String,
        settles: impl Fn(&Agent, &TurnEnd) -> bool,
    ) -> std::io::Result<(TurnEnd, Pressed)> {
        let cancel = CancellationToken::new();
        let interrupted = drain_crossterm(scene.pending).unwrap_or_else(|error| {
            tracing::debug!(%error, "typed keys could not be taken over");
            false
        });
        if scene.editor.take_interrupt() || interrupted {
            // ESC arrived together with the line's Enter, as over a slow connection: it was meant for this turn.
            cancel.cancel();
        }
        let keys = KeyWatch::start(cancel.clone(), scene.pending.clone(), escape_wait(scene.stage.remote))?;
        scene.human.watch(keys, Rc::clone(&scene.stage.tty));
        self.sweep(scene.agent);
        scene.stage.signals.watch(Some(cancel.clone()));
        scene.human.set_topic(&text);
        let (resources, rest) = match scene.agent.tools().servers() {
            Some(tools) => servers::named(&text, |name| tools.servers().has(name)),
            None => (Vec::new(), text.clone()),
        };
        let mut message = self.message(scene, text, &rest);
        message.content.extend(take_resources(scene, &resources, &cancel));
        let end = scene.stage.runtime.block_on(async {
            let end = scene.agent.run_turn(message, scene.human, &cancel).await;
            close_dropped_connections().await;
            end
        });
        scene.stage.signals.watch(None);
        if settles(scene.agent, &end) {
            // A person who is in the middle of a word would answer the question with the next key.
            scene.human.settle();
        }
        let pressed = scene.human.unwatch();
        Ok((end, pressed))
    }

    /// Sweeps, once and on a thread, what earlier runs left. Not at the start: it reads the whole process table.
    fn sweep(&mut self, agent: &Agent) {
        if !std::mem::replace(&mut self.swept, true) {
            crate::tool::sweep_aside(agent.outputs(), agent.temporary(), SystemTime::now());
        }
    }

    /// Makes the message with the files it mentions, and tells what became of each.
    /// `rest` is the text without the resources; only there are file names looked for.
    fn message(&self, scene: &mut Scene<'_>, text: String, rest: &str) -> Message {
        let model = scene.agent.model();
        let budget = model.context_window.map_or(ATTACHED_TOKENS, |window| window / 2);
        let place = scene.agent.roots();
        let painter = scene.human.painter();
        let options = AttachOptions {
            directory: place.cwd.clone(),
            home: place.home.clone(),
            budget,
            vision: model.vision,
            thumbnails: self.pictures.map(|_| show::picture_room(painter.screen().columns())),
            picked: scene.editor.picked(),
        };
        let mut attached = attach(rest, &options);
        let mut thumbnails = attached.thumbnails.drain(..);
        for fact in &attached.facts {
            let said = show::attached(painter.locale(), fact);
            painter.say(&said);
            if matches!(fact, AttachFact::Picture { .. })
                && let (Some(protocol), Some(Some(thumbnail))) = (self.pictures, thumbnails.next())
            {
                show::picture(painter.screen(), protocol, &thumbnail);
            }
        }
        drop(thumbnails);
        let mut message = Message::user(text);
        if !attached.text.is_empty() {
            message.content.push(ContentBlock::Text { text: format!("\n\n{}", attached.text) });
        }
        message.content.extend(attached.images.into_iter().map(ContentBlock::Image));
        message
    }
}

/// Reads the resources that a message names, and tells what became of each.
fn take_resources(
    scene: &mut Scene<'_>,
    resources: &[servers::Named],
    cancel: &CancellationToken,
) -> Vec<ContentBlock> {
    let Some(tools) = scene.agent.tools().servers().filter(|_| !resources.is_empty()).cloned() else {
        return Vec::new();
    };
    let locale = scene.human.locale().clone();
    let reading = servers::read(resources, &tools, scene.agent.outputs(), &locale);
    let read = scene.stage.runtime.block_on(cancel.run_until_cancelled(reading));
    let attached = read.unwrap_or_default();
    for said in &attached.said {
        scene.human.painter().say(said);
    }
    attached.into_blocks(scene.agent.model().vision).collect()
}

/// Puts messages that were queued for a stopped turn back on the line. A line sent after ESC is meant for what
/// comes next.
pub(super) fn give_back(human: &mut Human<Output>, pending: &Pending, pressed: &Pressed) {
    let (queued, line) = pending.change(|unsent| {
        let count = pressed.queued_when_stopped.unwrap_or(unsent.queue.len()).min(unsent.queue.len());
        let queued: Vec<String> = unsent.queue.drain(..count).collect();
        (queued, std::mem::take(&mut unsent.line))
    });
    let count = queued.len() as u64;
    pending.give_back(input::pieces(queued.into_iter().chain([line]).collect()));
    if count > 0 {
        let apart = pending.look(|unsent| !unsent.later.is_empty());
        let plural = if apart { word::repl::QUEUE_BACK_APART } else { word::repl::QUEUE_BACK };
        let said = human.locale().count(plural, count);
        human.painter().say(&said);
    }
}

/// Does work that ESC stops: what was queued for it is back on the line then.
///
/// # Errors
/// When the keyboard cannot be watched.
pub(super) fn stoppable<T>(
    scene: &mut Scene<'_>,
    work: impl AsyncFnOnce(&mut Agent, &mut Human<Output>, &CancellationToken) -> T,
) -> std::io::Result<(T, Pressed)> {
    let cancel = CancellationToken::new();
    let keys = KeyWatch::start(cancel.clone(), scene.pending.clone(), escape_wait(scene.stage.remote))?;
    scene.human.watch(keys, Rc::clone(&scene.stage.tty));
    scene.stage.signals.watch(Some(cancel.clone()));
    let done = scene.stage.runtime.block_on(async {
        let done = work(scene.agent, scene.human, &cancel).await;
        close_dropped_connections().await;
        done
    });
    scene.stage.signals.watch(None);
    let pressed = scene.human.unwatch();
    if cancel.is_cancelled() && !pressed.leave {
        give_back(scene.human, scene.pending, &pressed);
    }
    scene.pending.tell();
    Ok((done, pressed))
}
