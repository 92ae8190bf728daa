//! The conversation's invariant over anything that may happen to a session, one thing after the other.

use proptest::prelude::*;

use super::super::bench::{Answer, Bench, Recorder, Scripted, bench_within, calls, standby, text};
use super::*;
use crate::context::view;
use crate::conversation::{Conversation, Ledger, StopReason};
use crate::provider::ProviderError;
use crate::session::{Fork, Redactor, Session, SessionId, load};

/// What happens to a session.
#[derive(Debug, Clone)]
enum Step {
    Says(String),
    Calls(usize),
    /// Stopped by the person at this event.
    Stopped(usize),
    Fails,
    Compact,
    Undo,
    Pin,
    Rewind(usize),
    Switch,
    Reload,
    Fork,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => "[a-z中 \"\\\\\n]{1,40}".prop_map(Step::Says),
        4 => (1_usize..4).prop_map(Step::Calls),
        3 => (1_usize..20).prop_map(Step::Stopped),
        1 => Just(Step::Fails),
        2 => Just(Step::Compact),
        2 => Just(Step::Undo),
        1 => Just(Step::Pin),
        2 => (0_usize..9).prop_map(Step::Rewind),
        1 => Just(Step::Switch),
        2 => Just(Step::Reload),
        1 => Just(Step::Fork),
    ]
}

/// A session with two models that take turns.
struct Scene {
    bench: Bench,
    other: std::sync::Arc<Scripted>,
    switched: bool,
    forks: u16,
}

impl Scene {
    fn new(window: Option<u64>) -> Self {
        let bench = bench_within(Vec::new(), window);
        Self { bench, other: standby("other", None, Vec::new()), switched: false, forks: 1 }
    }

    /// Has the present model answer so, and what it may be asked beside: for summaries.
    fn answers(&self, first: Vec<Answer>) {
        let provider = if self.switched { &self.other } else { &self.bench.provider };
        let mut answers = provider.answers.lock().unwrap();
        answers.clear();
        answers.extend(first);
        answers.extend((0..12).map(|_| text("Goal: go on. Constraints: never push.")));
    }

    fn turn(&mut self, said: &str, answers: Vec<Answer>, cancel_at: Option<usize>) {
        self.answers(answers);
        let mut recorder = Recorder { cancel_at, ..Recorder::default() };
        self.bench.turn(said, &mut recorder);
    }

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
    }

    fn compact(&mut self) -> bool {
        self.answers(Vec::new());
        let (mut recorder, cancel) = (Recorder::default(), CancellationToken::new());
        Self::runtime().block_on(self.bench.agent.shorten("ports", &mut recorder, &cancel)).is_some()
    }

    fn sent(&self) -> Vec<Message> {
        let conversation = self.bench.agent.conversation();
        view(conversation.messages(), conversation.cut()).into_owned()
    }

    /// The session as its file has it; `None` before its first message.
    fn saved(&self) -> Option<crate::session::Loaded> {
        let path = self.bench.agent.session().path().filter(|path| path.exists())?;
        Some(load(path).unwrap())
    }

    fn take(&mut self, step: &Step) {
        match step {
            Step::Says(said) => self.turn(said, vec![text("answered")], None),
            Step::Calls(count) => {
                let ids: Vec<String> = (0..*count).map(|number| format!("c{number}")).collect();
                let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
                self.turn("run them", vec![calls(&ids, StopReason::ToolUse), text(&"done ".repeat(60))], None);
            }
            Step::Stopped(at) => {
                self.turn("stop it", vec![calls(&["a", "b"], StopReason::ToolUse), text("done")], Some(*at));
            }
            Step::Fails => {
                let refused = ProviderError::Unauthorized {
                    provider: "lab".into(),
                    status: 401,
                    message: "no".into(),
                    place: None,
                };
                self.turn("fail", vec![vec![Err(refused)]], None);
            }
            Step::Compact => {
                self.compact();
            }
            Step::Undo => {
                // What was cut and taken back is sent as before, byte for byte.
                let before = serde_json::to_vec(&self.sent()).unwrap();
                if self.compact() {
                    assert!(self.bench.agent.undo_shortening().unwrap());
                    assert_eq!(serde_json::to_vec(&self.sent()).unwrap(), before);
                }
            }
            Step::Pin => self.bench.agent.pin("never use tabs".to_owned()).unwrap(),
            Step::Rewind(back) => {
                let before: Vec<usize> = self.bench.agent.talk.said().map(|said| said.before).collect();
                if let Some(before) = before.get(*back % before.len().max(1)) {
                    self.bench.agent.rewind(*before).unwrap();
                }
            }
            Step::Switch => {
                self.switched = !self.switched;
                if self.switched {
                    self.bench.agent.set_provider(self.other.clone());
                } else {
                    self.bench.agent.set_provider(self.bench.provider.clone());
                }
            }
            Step::Reload => {
                let Some(loaded) = self.saved() else { return };
                let path = self.bench.agent.session().path().unwrap().to_owned();
                let session = Session::resume(loaded.id, loaded.directory, path, Redactor::default());
                self.bench.agent.set_session(session, loaded.conversation, loaded.ledger);
            }
            Step::Fork => {
                let Some(loaded) = self.saved() else { return };
                self.forks += 1;
                let id = SessionId::new(std::time::SystemTime::UNIX_EPOCH, std::path::Path::new("/"), self.forks);
                let session = Session::new(id, "/".into(), Some(self.bench.home.path()), Redactor::default());
                let session = session.begin_as(Fork::of(&loaded));
                self.bench.agent.set_session(session, loaded.conversation, Ledger::default());
            }
        }
    }
}

/// What makes a request: the messages, the cut and what is kept at hand.
fn parts(conversation: &Conversation) -> (&[Message], Vec<Message>, &[String]) {
    let sent = view(conversation.messages(), conversation.cut()).into_owned();
    (conversation.messages(), sent, conversation.pins())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// Each request is one a server takes (the scripted model checks it), each call has its result, and the file has the
    /// same conversation.
    #[test]
    fn whatever_happens_to_a_session_its_requests_are_whole_and_its_file_is_it(
        steps in prop::collection::vec(step(), 1..24),
        window in prop_oneof![Just(None), Just(Some(2_500)), Just(Some(900))],
    ) {
        let mut scene = Scene::new(window);
        for (number, step) in steps.iter().enumerate() {
            scene.take(step);
            let conversation = scene.bench.agent.conversation();
            prop_assert_eq!(conversation.check(), Ok(()), "{} {:?}", number, step);
            if let Some(saved) = scene.saved() {
                prop_assert_eq!(saved.skipped, 0);
                prop_assert_eq!(parts(&saved.conversation), parts(conversation), "{} {:?}", number, step);
            }
        }
    }
}
