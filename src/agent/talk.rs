//! What the person and the model say to each other, and its record: the conversation, the session's file, the tokens.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::SystemTime;

use super::fallback::Fallbacks;
use super::hooks::Hooks;
use super::prompt::SystemPrompt;
use super::window::Window;
use super::wishes::Wishes;
use super::{AgentEvent, Frontend, Notice, TurnEnd};
use crate::context::{view, with_pins};
use crate::conversation::{
    Bill, ContentBlock, Conversation, Cut, Ledger, Message, Money, Outcome, Role, ToolResult, Usage, is_quoted,
};
use crate::fingerprint::fingerprint;
use crate::provider::{ModelInfo, Provider, RetryPlan};
use crate::secret::StandIns;
use crate::session::{Changed, EntryKind, LeftOver, Redactor, Session, SessionError, load_lines};

/// The talk of one session with one model.
pub(super) struct Talk {
    pub(super) provider: Arc<dyn Provider>,
    conversation: Conversation,
    session: Session,
    ledger: Ledger,
    /// What was spent in all, also by sub-agents at work. Unit: as of [`Money`].
    paid: Arc<AtomicU64>,
    pub(super) wishes: Wishes,
    pub(super) fallbacks: Fallbacks,
    /// Whether the person was told that the session cannot be written.
    told_unsaved: bool,
    /// Whether the person was told that secrets are stood in for.
    told_hidden: bool,
    /// How many were stood in for while nobody could be told.
    hidden_untold: u64,
    /// What the model is told with the next message.
    notes: Vec<String>,
    /// Whether the session's file has some of them.
    noted: bool,
    /// What the person said last, until it is answered, with the notes it carries.
    unanswered: Option<(String, Vec<String>)>,
    /// What the person said last, where the model could not be asked: it is not in the conversation.
    failed: Option<String>,
    /// Folders whose instructions were looked for since the conversation was cut.
    pub(super) told_folders: HashSet<PathBuf>,
    /// How much of the conversation is sent.
    pub(super) window: Window,
    pub(super) manner: Manner,
}

/// A text that is worded when it is needed first.
pub(super) type Later = LazyLock<SystemPrompt, Box<dyn FnOnce() -> SystemPrompt + Send>>;

/// How the model is asked; does not change during a session.
#[derive(Clone)]
pub(super) struct Manner {
    /// The system prompt.
    pub(super) system: Arc<Later>,
    /// The system prompt of a small model.
    pub(super) small_system: SystemPrompt,
    /// Whether the person trusts what the place brings.
    pub(super) trusted: bool,
    /// What the person has told of what happens, and who may hold it back.
    pub(super) hooks: Arc<Hooks>,
    /// The most tokens an answer may have; `None` leaves it to the provider.
    pub(super) max_output_tokens: Option<u64>,
    /// Stands in for secrets before the model sees them.
    pub(super) secrets: Arc<StandIns>,
    /// When a failed request is sent again.
    pub(super) retry: RetryPlan,
    /// Tells the time.
    pub(super) now: fn() -> SystemTime,
    /// Gives a number in 0..1 for back-off.
    pub(super) random: fn() -> f64,
}

impl Talk {
    pub(super) fn new(provider: Arc<dyn Provider>, session: Session, manner: Manner) -> Self {
        Self {
            provider,
            conversation: Conversation::new(),
            session,
            ledger: Ledger::default(),
            paid: Arc::default(),
            wishes: Wishes::new(),
            fallbacks: Fallbacks::default(),
            told_unsaved: false,
            told_hidden: false,
            hidden_untold: 0,
            notes: Vec::new(),
            noted: false,
            unanswered: None,
            failed: None,
            told_folders: HashSet::new(),
            window: Window::new(),
            manner,
        }
    }

    /// A talk with the same model that is kept nowhere.
    pub(super) fn apart(&self) -> Self {
        let directory = self.session.directory().to_owned();
        let session = Session::new(self.session.id().clone(), directory, None, Redactor::default());
        let mut apart = Self::new(Arc::clone(&self.provider), session, self.manner.clone());
        apart.paid = Arc::clone(&self.paid);
        apart.wishes = Wishes { tell_price: None, goes_on: false, ..self.wishes };
        apart.fallbacks = self.fallbacks.unused();
        apart
    }

    pub(super) fn model(&self) -> &ModelInfo {
        self.provider.model()
    }

    /// The system prompt of the model, as it stands.
    pub(super) fn system(&self) -> &SystemPrompt {
        if self.model().small { &self.manner.small_system } else { &self.manner.system }
    }

    pub(super) const fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    pub(super) const fn session(&self) -> &Session {
        &self.session
    }

    pub(super) const fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// What was spent so far, by sub-agents too; what nobody knows the price of is not in it.
    pub(super) fn paid(&self) -> Money {
        Money::of_units(self.paid.load(Ordering::Relaxed))
    }

    pub(super) fn now(&self) -> SystemTime {
        (self.manner.now)()
    }

    /// Talks with another model from now on, because the person chose it.
    pub(super) fn set_provider(&mut self, provider: Arc<dyn Provider>) {
        self.fallbacks = self.fallbacks.unused();
        self.ask_from_now_on(provider);
    }

    pub(super) fn ask_from_now_on(&mut self, provider: Arc<dyn Provider>) {
        self.provider = provider;
        self.window.changed_model();
        let model = self.provider.model().id();
        // A session that cannot be written was told about in its turn.
        drop(self.session.append(EntryKind::Model { model }, self.now()));
    }

    /// Starts over in another session, or goes on with one that was loaded.
    pub(super) fn set_session(&mut self, session: Session, conversation: Conversation, ledger: Ledger) {
        self.session = session;
        self.conversation = conversation;
        self.paid = Arc::new(AtomicU64::new(ledger.total().at_least().units()));
        self.ledger = ledger;
        self.told_unsaved = false;
        self.told_folders.clear();
        self.notes.clear();
        self.noted = false;
        self.unanswered = None;
        self.failed = None;
    }

    /// Takes up what the session was left with.
    pub(super) fn take_up(&mut self, left: LeftOver) {
        self.noted = !left.notes.is_empty();
        (self.notes, self.failed) = (left.notes, left.unanswered);
    }

    /// Tells the model something with the next message, also where that is said after a resume.
    pub(super) fn note(&mut self, note: String) {
        let (text, now) = (self.session.redacted(&note), self.now());
        self.notes.push(note);
        self.noted = true;
        // A session that cannot be written is told about in its turn.
        drop(self.session.append(EntryKind::Noted { text }, now));
    }

    /// Takes in what the person says; `beside` is told with it.
    pub(super) fn person_says(&mut self, mut message: Message, beside: Vec<String>, frontend: &mut dyn Frontend) {
        self.close_open_calls(Outcome::Interrupted, frontend);
        self.notes.extend(beside);
        // On lines of its own: the first line is what the conversation is known by.
        let notes = self.notes.iter().map(|text| ContentBlock::Text { text: format!("\n\n{text}") });
        message.content.extend(notes);
        let texts = message.content.iter_mut().filter_map(|block| match block {
            ContentBlock::Text { text } => Some(text),
            ContentBlock::ToolResult(_)
            | ContentBlock::Reasoning(_)
            | ContentBlock::ToolCall(_)
            | ContentBlock::Image(_)
            | ContentBlock::WireItem(_) => None,
        });
        self.hide(texts, frontend);
        self.failed = None;
        self.unanswered = Some((first_text(&message), std::mem::take(&mut self.notes)));
        let message = self.conversation.push_user(message).clone();
        self.save(&message, frontend);
        if std::mem::take(&mut self.noted) {
            self.append(EntryKind::NotesTold, frontend);
        }
    }

    /// Takes in what the model says.
    pub(super) fn model_says(&mut self, message: Message, frontend: &mut dyn Frontend) {
        self.unanswered = None;
        let message = self.conversation.push_assistant(message).clone();
        self.save(&message, frontend);
    }

    /// Takes in the results of the calls that are open.
    pub(super) fn tools_say(&mut self, mut results: Vec<ToolResult>, frontend: &mut dyn Frontend) {
        self.hide(results.iter_mut().map(|result| &mut result.content), frontend);
        let message = self.conversation.push_results(results).cloned();
        if let Some(message) = message {
            self.save(&message, frontend);
        }
    }

    /// Answers every open call with `reason`.
    pub(super) fn close_open_calls(&mut self, reason: Outcome, frontend: &mut dyn Frontend) {
        let closed = self.conversation.close_open_calls(reason).cloned();
        if let Some(closed) = closed {
            self.save(&closed, frontend);
        }
    }

    /// Puts stand-ins for the secrets of what is said to the model, and says so the first time.
    pub(super) fn hide<'a>(
        &mut self,
        texts: impl IntoIterator<Item = &'a mut String>,
        frontend: &mut dyn Frontend,
    ) {
        let mut hidden = std::mem::take(&mut self.hidden_untold);
        for text in texts {
            if let Some((without, count)) = self.manner.secrets.hide(text) {
                *text = without;
                hidden += count as u64;
            }
        }
        if hidden > 0 && !std::mem::replace(&mut self.told_hidden, true) {
            frontend.show(&AgentEvent::Notice { notice: Notice::SecretsHidden { count: hidden } });
        }
    }

    /// The messages of the next request.
    pub(super) fn sent(&self) -> Cow<'_, [Message]> {
        let sent = view(self.conversation.messages(), self.conversation.cut());
        with_pins(sent, self.conversation.pins())
    }

    /// Sees to it that what is sent is whole: a server refuses what is not, and would each time it is sent again.
    pub(super) fn heal(&mut self) {
        if let Some(broken) = self.conversation.heal() {
            tracing::error!(%broken, session = %self.session.id(), "the conversation was healed before a request");
        }
    }

    /// Counts what a request cost.
    pub(super) fn spend(&mut self, usage: Usage, frontend: &mut dyn Frontend) {
        if usage == Usage::default() {
            return;
        }
        let bill = Bill::of(usage, self.model().abilities.price.as_ref());
        self.paid.fetch_add(bill.at_least().units(), Ordering::Relaxed);
        self.ledger.add(&self.model().id(), bill);
        self.tell_bill(bill, frontend);
    }

    /// Takes over what sub-agents spent.
    pub(super) fn take_over(&mut self, bill: Bill, frontend: &mut dyn Frontend) {
        if bill.usage == Usage::default() {
            return;
        }
        self.ledger.add_of_others(&self.model().id(), bill);
        self.tell_bill(bill, frontend);
    }

    fn tell_bill(&mut self, bill: Bill, frontend: &mut dyn Frontend) {
        let (model, usage, usd) = (self.model().id(), bill.usage, bill.cost());
        self.append(EntryKind::Usage { model, usage, usd }, frontend);
        frontend.show(&AgentEvent::Usage { usage, usd, local: self.model().local });
    }

    /// Ends a turn: everything said is on the disk. What a failure left without any answer is taken out of the
    /// conversation: the next message would carry it along, also what made it fail.
    pub(super) fn end_turn(&mut self, end: &TurnEnd, changed: Option<Changed>, frontend: &mut dyn Frontend) {
        if let (TurnEnd::Failed { .. } | TurnEnd::BudgetLimit { .. }, Some((text, notes))) =
            (end, self.unanswered.take())
        {
            let before = self.conversation.messages().len().saturating_sub(1);
            self.conversation.rewind(before);
            let messages = (self.conversation.earlier() + before) as u64;
            self.append(EntryKind::Rewound { messages }, frontend);
            self.append(EntryKind::Unanswered { text: self.session.redacted(&text) }, frontend);
            // What was quoted for a message is found anew for the next.
            notes.into_iter().filter(|note| !is_quoted(note)).for_each(|note| self.note(note));
            self.failed = Some(text);
        }
        let reason = if *end == TurnEnd::Interrupted { Outcome::Interrupted } else { Outcome::Failed };
        self.close_open_calls(reason, frontend);
        self.ledger.end_turn();
        if let Some(changed) = changed {
            self.append(EntryKind::Changed { changed }, frontend);
        }
        self.append(EntryKind::TurnEnded { end: end.word().to_owned() }, frontend);
        let synced = self.session.sync();
        self.tell_unsaved(synced, frontend);
    }

    /// Goes back to before a message the person sent; returns what was said.
    ///
    /// # Errors
    /// [`SessionError`]: the conversation has gone back all the same; the file has it as soon as it can be written.
    pub(super) fn rewind(&mut self, messages: usize) -> Result<String, SessionError> {
        if self.conversation.earlier() > 0 && messages <= self.conversation.earlier() {
            self.conversation = whole(self).into_owned();
        }
        let before = messages.saturating_sub(self.conversation.earlier());
        let said = self.conversation.messages().get(before).map(first_text).unwrap_or_default();
        self.conversation.rewind(before);
        let now = self.now();
        self.session.append(EntryKind::Rewound { messages: messages as u64 }, now)?;
        self.session.sync()?;
        Ok(said)
    }

    /// What the person said last, where the model could not be asked: it is not in the conversation.
    pub(super) fn unanswered(&self) -> Option<&str> {
        self.failed.as_deref()
    }

    /// What the person said last, also where it failed.
    pub(super) fn last_said(&self) -> Option<String> {
        self.failed.clone().or_else(|| self.said().next_back().map(|said| said.text))
    }

    /// What the person said of what is held, with how many messages stood before each and a number made of it; oldest
    /// first.
    pub(super) fn said(&self) -> impl DoubleEndedIterator<Item = Said> {
        said_in(&self.conversation)
    }

    /// Keeps a text at hand, whatever is cut.
    ///
    /// # Errors
    /// [`SessionError`]: it is kept all the same; the file has it as soon as it can be written.
    pub(super) fn pin(&mut self, mut text: String) -> Result<(), SessionError> {
        if let Some((without, count)) = self.manner.secrets.hide(&text) {
            text = without;
            self.hidden_untold += count as u64;
        }
        // The file has it as what is pinned.
        self.notes.push(format!("[The user wants this kept at hand for the whole conversation: {text}]"));
        self.conversation.pin(text.clone());
        let now = self.now();
        self.session.append(EntryKind::Pinned { text }, now)
    }

    /// Cuts the conversation for its requests.
    pub(super) fn keep_cut(&mut self, cut: Cut, frontend: &mut dyn Frontend) {
        // What was told of them may be cut off.
        self.told_folders.clear();
        let whole = cut.clone().further(self.conversation.earlier());
        self.conversation.push_cut(cut);
        self.append(EntryKind::Cut { cut: whole }, frontend);
    }

    /// Takes the newest cut back: the next request holds what it held before.
    ///
    /// # Errors
    /// [`SessionError`]: it is taken back all the same; the file has it as soon as it can be written.
    pub(super) fn undo_cut(&mut self) -> Result<bool, SessionError> {
        // The cut before may need what stands before.
        if self.conversation.cut().is_some() && self.conversation.earlier() > 0 {
            self.conversation = whole(self).into_owned();
        }
        if self.conversation.undo_cut().is_none() {
            return Ok(false);
        }
        let now = self.now();
        self.session.append(EntryKind::CutUndone, now)?;
        Ok(true)
    }

    /// Writes a message to the session; tells once when it cannot.
    fn save(&mut self, message: &Message, frontend: &mut dyn Frontend) {
        let (model, now) = (self.model().id(), self.now());
        let saved = self.session.append_message(&model, message, now);
        self.tell_unsaved(saved, frontend);
    }

    fn append(&mut self, kind: EntryKind, frontend: &mut dyn Frontend) {
        let now = self.now();
        let saved = self.session.append(kind, now);
        self.tell_unsaved(saved, frontend);
    }

    fn tell_unsaved(&mut self, saved: Result<(), SessionError>, frontend: &mut dyn Frontend) {
        let path = self.session.path().map(PathBuf::from).unwrap_or_default();
        let Err(error) = saved else {
            if std::mem::take(&mut self.told_unsaved) {
                let notice = Notice::SavedAgain { path: path.clone() };
                frontend.show(&AgentEvent::Notice { notice });
            }
            if self.session.take_remade() {
                let notice = Notice::SavedAnew { path };
                frontend.show(&AgentEvent::Notice { notice });
            }
            return;
        };
        tracing::warn!(%error, "the session could not be written");
        if self.told_unsaved {
            return;
        }
        self.told_unsaved = true;
        let (path, cause) = match error {
            SessionError::Io { path, cause } => (path, cause.to_string()),
            other => (path, other.to_string()),
        };
        frontend.show(&AgentEvent::Notice { notice: Notice::NotSaved { path, cause } });
    }
}

/// The conversation of a talk with what stands in its session's file alone.
pub(super) fn whole(talk: &Talk) -> Cow<'_, Conversation> {
    let conversation = talk.conversation();
    let file = || load_lines(talk.session().path()?).map_err(|error| tracing::warn!(%error, "not read")).ok();
    let read = (conversation.earlier() > 0).then(file).flatten();
    read.and_then(|read| conversation.whole(read.conversation)).map_or(Cow::Borrowed(conversation), Cow::Owned)
}

/// What the person said of what a conversation holds.
pub(super) fn said_in(conversation: &Conversation) -> impl DoubleEndedIterator<Item = Said> {
    let messages = conversation.messages().iter().enumerate();
    let said = messages.filter(|(_, message)| message.role == Role::User && !message.has_results());
    said.map(|(index, message)| {
        let text = first_text(message);
        Said { before: conversation.earlier() + index, mark: fingerprint(text.bytes()), text }
    })
}

/// Something the person said.
pub(super) struct Said {
    /// How many messages the conversation had before it.
    pub(super) before: usize,
    /// A number made of the text: the journal knows the turn by it.
    pub(super) mark: u64,
    /// The text, without what was attached.
    pub(super) text: String,
}

/// What a person typed of a message; what was attached follows in further texts.
pub(super) fn first_text(message: &Message) -> String {
    let first = message.content.iter().find_map(|block| match block {
        ContentBlock::Text { text } => Some(text.clone()),
        ContentBlock::Reasoning(_)
        | ContentBlock::ToolCall(_)
        | ContentBlock::ToolResult(_)
        | ContentBlock::Image(_)
        | ContentBlock::WireItem(_) => None,
    });
    first.unwrap_or_default()
}

#[cfg(test)]
#[path = "secrets_tests.rs"]
mod secrets_tests;
