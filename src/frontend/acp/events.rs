//! What happens in a turn as the editor hears it, and what the editor's person is asked. Approves nothing by itself: who
//! cannot be asked has not agreed.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::calls;
use crate::agent::{Activity, AgentEvent, Approval, ApprovalRequest, Frontend, Review};
use crate::approval::Decision;
use crate::conversation::{About, Answer, Outcome, Preview, Question, Subject, ToolCall, ToolFacts, ToolVerb};
use crate::frontend::human::{self, Choice, KeepRule};
use crate::frontend::json_rpc::{Client, Reply, wait};
use crate::frontend::words::{self, Diagnostic};
use crate::locale::{Locale, Word, word};
use crate::terminal::{sanitize, sanitize_line};
use crate::tool::{Roots, Toolbox};
use crate::trial::ChangeSet;

/// Lines of a running tool that are shown.
const TAIL: usize = 20;
/// How often they are told at most: each time all of them are sent.
const TAIL_STEP: Duration = Duration::from_millis(250);

/// How many messages and calls a session has told: ids are never used twice.
#[derive(Debug, Default)]
pub(super) struct MessageIds {
    messages: u64,
    calls: u64,
}

impl MessageIds {
    /// The id of the message that is being told.
    pub(super) fn message(&self) -> String {
        format!("message-{}", self.messages)
    }

    pub(super) const fn next_message(&mut self) {
        self.messages += 1;
    }

    pub(super) fn next_call(&mut self) -> String {
        self.calls += 1;
        format!("call-{}", self.calls)
    }
}

/// What words a call.
#[derive(Clone)]
pub(super) struct Wording {
    pub(super) locale: Locale,
    pub(super) roots: Roots,
    pub(super) tools: Toolbox,
}

/// A session's front end.
pub(super) struct Events {
    pub(super) client: Client,
    pub(super) session: String,
    pub(super) wording: Wording,
    pub(super) keep: KeepRule,
    /// Whether the client puts forms to its person.
    pub(super) forms: bool,
    pub(super) ids: MessageIds,
    pub(super) cancel: CancellationToken,
    open: HashMap<String, Open>,
    /// The call that was asked for last.
    last: Option<String>,
    /// The retry that was told last.
    retry: Option<u32>,
}

/// A call that has no result yet.
struct Open {
    id: String,
    about: String,
    subject: Subject,
    /// The change a person was shown.
    shown: Option<Preview>,
    running: bool,
    tail: VecDeque<String>,
    tail_told: Option<Instant>,
}

/// A call that has its result.
pub(super) struct Finished<'a> {
    pub(super) name: &'a str,
    pub(super) outcome: Outcome,
    pub(super) content: &'a str,
    pub(super) facts: &'a ToolFacts,
    pub(super) duration_ms: u64,
    pub(super) change: Option<&'a Preview>,
}

impl Events {
    pub(super) fn new(client: Client, session: String, wording: Wording, keep: KeepRule, forms: bool) -> Self {
        let (ids, cancel) = (MessageIds::default(), CancellationToken::new());
        let (open, last, retry) = (HashMap::new(), None, None);
        Self { client, session, wording, keep, forms, ids, cancel, open, last, retry }
    }

    /// A turn begins, which this token stops.
    pub(super) fn begin(&mut self, cancel: CancellationToken) {
        self.cancel = cancel;
        self.open.clear();
        self.last = None;
        self.retry = None;
        self.ids.next_message();
    }

    pub(super) fn update(&self, update: &Value) {
        let parameters = json!({"sessionId": self.session, "update": update});
        self.client.notify("session/update", parameters);
    }

    /// More of the message of this kind.
    pub(super) fn chunk(&self, kind: &str, text: &str) {
        self.update(&json!({
            "sessionUpdate": kind, "messageId": self.ids.message(),
            "content": {"type": "text", "text": sanitize(text)},
        }));
    }

    /// Says something of axi's own, as a message of its own.
    pub(super) fn say(&mut self, text: &str) {
        if !text.is_empty() {
            self.ids.next_message();
            self.chunk("agent_message_chunk", text);
            self.ids.next_message();
        }
    }

    /// Says what went wrong, and what to do now.
    pub(super) fn tell(&mut self, label: Word, told: &Diagnostic) {
        let hint = if told.hint.is_empty() { String::new() } else { format!("\n\n{}", told.hint) };
        self.say(&format!("{} {}{hint}", self.wording.locale.text(label), told.what));
    }

    /// Reads what a call of a record was about.
    pub(super) fn recorded(&self, call: &ToolCall) -> About {
        words::recorded(&self.wording.tools, &self.wording.roots, call).1
    }

    /// A call as it is asked for; returns its id.
    pub(super) fn call(&mut self, call: &ToolCall, (subject, about): (&Subject, &About)) -> String {
        let Wording { locale, roots, tools } = &self.wording;
        let verb = tools.identity(&call.name).verb;
        let about = words::about(locale, roots, about, subject);
        let id = self.ids.next_call();
        self.update(&json!({
            "sessionUpdate": "tool_call", "toolCallId": id, "status": "pending",
            "title": calls::title(locale, &call.name, verb, &about), "kind": calls::kind(verb),
            "locations": calls::locations(subject, None), "rawInput": call.input,
        }));
        let open = Open {
            id: id.clone(),
            about,
            subject: subject.clone(),
            shown: None,
            running: false,
            tail: VecDeque::new(),
            tail_told: None,
        };
        self.open.insert(call.id.clone(), open);
        self.last = Some(call.id.clone());
        id
    }

    /// A call has its result.
    pub(super) fn finish(&mut self, call_id: &str, finished: &Finished<'_>) {
        let verb = self.wording.tools.identity(finished.name).verb;
        let Some(open) = self.open.remove(call_id) else { return };
        let title = words::title_about(
            &self.wording.locale,
            &open.about,
            (finished.name, verb),
            finished.outcome,
            finished.facts,
            finished.duration_ms,
        );
        let ok = finished.outcome == Outcome::Ok;
        let change = finished.change.or(open.shown.as_ref()).filter(|_| ok);
        let mut content = change.map(calls::contents).unwrap_or_default();
        content.retain(|part| part["type"] == "diff");
        if content.is_empty() && !finished.content.is_empty() {
            content.push(calls::text(finished.content));
        }
        self.update(&json!({
            "sessionUpdate": "tool_call_update", "toolCallId": open.id,
            "status": if ok { "completed" } else { "failed" }, "title": sanitize_line(&title), "content": content,
            "locations": calls::locations(&open.subject, change),
        }));
        if ok && verb == ToolVerb::Plan {
            self.update(&json!({"sessionUpdate": "plan", "entries": calls::plan(finished.content)}));
        }
    }

    fn started(&mut self) {
        let Some(open) = self.last.as_ref().and_then(|last| self.open.get_mut(last)) else { return };
        if !std::mem::replace(&mut open.running, true) {
            let id = open.id.clone();
            self.update(&json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "in_progress"}));
        }
    }

    fn printed(&mut self, call_id: &str, line: &str) {
        let Some(open) = self.open.get_mut(call_id) else { return };
        if open.tail.len() == TAIL {
            open.tail.pop_front();
        }
        open.tail.push_back(sanitize_line(line).into_owned());
        if open.tail_told.is_some_and(|told| told.elapsed() < TAIL_STEP) {
            return;
        }
        open.tail_told = Some(Instant::now());
        let tail = open.tail.iter().map(String::as_str).collect::<Vec<_>>().join("\n");
        let id = open.id.clone();
        self.update(
            &json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "content": [calls::text(&tail)]}),
        );
    }

    /// What can be answered, and the question's options in the protocol's words.
    fn options(&self, request: &ApprovalRequest) -> Vec<(Choice, Value)> {
        let locale = &self.wording.locale;
        let verb = self.wording.tools.identity(&request.call.name).verb;
        let question = human::Question::new(locale, request, verb);
        let mut options: Vec<(Choice, Value)> = Vec::new();
        for (choice, text) in question.choices {
            let (id, kind, name) = match choice {
                Choice::Once => ("once", "allow_once", text),
                Choice::Session => ("session", "allow_always", text),
                // The whole rule is said at once: nothing is asked back.
                Choice::Always => match &question.rule {
                    Some(rule) => {
                        let rule = words::describe(locale, Decision::Allow, rule);
                        ("always", "allow_always", locale.with(word::acp::Always { rule: &rule }))
                    }
                    None => continue,
                },
                Choice::No => ("no", "reject_once", text),
                Choice::Feedback | Choice::Try | Choice::Explain => continue,
            };
            options.push((choice, json!({"optionId": id, "kind": kind, "name": sanitize_line(&name)})));
        }
        // If one Enter too many must mean no, the no comes first.
        options.sort_by_key(|(choice, _)| *choice != question.start);
        options
    }
}

impl Frontend for Events {
    fn show(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::TextDelta { text } => self.chunk("agent_message_chunk", text),
            AgentEvent::ReasoningDelta { text } => self.chunk("agent_thought_chunk", text),
            AgentEvent::MessageEnded => {
                self.retry = None;
                self.ids.next_message();
            }
            AgentEvent::ToolRequested { call, subject, about, .. } => drop(self.call(call, (subject, about))),
            AgentEvent::Waiting { activity: Activity::Running { .. } } => self.started(),
            AgentEvent::ToolOutput { call_id, line } => self.printed(call_id, line),
            AgentEvent::ToolFinished { call_id, name, outcome, content, facts, duration_ms, change } => {
                if !self.open.contains_key(call_id) {
                    // It never came so far that anybody could say what it is about.
                    let call = ToolCall {
                        id: call_id.clone(),
                        name: name.clone(),
                        input: Value::Object(Map::new()),
                        invalid_input: None,
                        extra: Map::new(),
                        model: String::new(),
                        arguments: String::new(),
                    };
                    self.call(&call, (&Subject::Whole, &About::Subject));
                }
                let (outcome, duration_ms, change) = (*outcome, *duration_ms, change.as_ref());
                self.finish(call_id, &Finished { name, outcome, content, facts, duration_ms, change });
            }
            AgentEvent::Retrying { attempt, of, wait_ms, error } => {
                if self.retry.replace(*attempt) != Some(*attempt) {
                    let (locale, speaking) = (&self.wording.locale, words::Speaking::ByFlags);
                    let text = words::retrying(locale, error, speaking, (*attempt, *of), *wait_ms);
                    self.chunk("agent_thought_chunk", &format!("{text}\n"));
                }
            }
            AgentEvent::Notice { notice } => {
                let told = words::notice(&self.wording.locale, notice, words::Speaking::ByFlags);
                self.tell(words::notice_label(notice), &told);
            }
            // What it cost and how it ended is told when it is over, as the session has counted it.
            AgentEvent::TurnStarted { .. }
            | AgentEvent::Waiting { .. }
            | AgentEvent::Usage { .. }
            | AgentEvent::TurnEnded { .. } => {}
        }
    }

    fn approve(&mut self, request: &ApprovalRequest) -> Approval {
        let Wording { locale, roots, tools } = &self.wording;
        let verb = tools.identity(&request.call.name).verb;
        let about = self.open.get(&request.call.id).map_or("", |open| open.about.as_str());
        let mut content = calls::contents(&request.preview);
        content.extend(calls::doubts(locale, roots, request));
        let id = self.open.get(&request.call.id).map(|open| open.id.clone()).unwrap_or_default();
        let options = self.options(request);
        let call = json!({
            "toolCallId": id, "status": "pending", "kind": calls::kind(verb),
            "title": calls::title(locale, &request.call.name, verb, about), "content": content,
            "locations": calls::locations(&request.subject, Some(&request.preview)), "rawInput": request.call.input,
        });
        let offered: Vec<&Value> = options.iter().map(|(_, option)| option).collect();
        let parameters = json!({"sessionId": self.session, "toolCall": call, "options": offered});
        if let Some(open) = self.open.get_mut(&request.call.id) {
            open.shown = Some(request.preview.clone());
        }
        let waiting = self.client.request(&self.session, "session/request_permission", &parameters);
        // A stop between these two lines would stop nothing.
        let reply = if self.cancel.is_cancelled() { Reply::Stopped } else { wait(&waiting) };
        let outcome = match reply {
            Reply::Result(result) => result["outcome"].clone(),
            Reply::Refused => return Approval::Unavailable,
            Reply::Stopped => return Approval::Abort,
        };
        if outcome["outcome"] == "cancelled" {
            return Approval::Abort;
        }
        let chosen = options
            .iter()
            .find(|(_, option)| outcome["outcome"] == "selected" && option["optionId"] == outcome["optionId"]);
        match chosen.map(|(choice, _)| choice) {
            Some(Choice::Once) => Approval::Once,
            Some(Choice::Session) => Approval::ForSession,
            Some(Choice::Always) => match request.always_rule.clone() {
                Some(rule) => {
                    let kept = (self.keep)(&rule);
                    let locale = &self.wording.locale;
                    let said = match &kept {
                        Ok(path) => locale.with(word::approve::keep::Kept { path }),
                        Err(cause) => locale.with(word::approve::keep::NotKept { cause }),
                    };
                    self.say(&said);
                    Approval::Always(rule)
                }
                None => Approval::Unavailable,
            },
            Some(Choice::No) => Approval::Deny(String::new()),
            // What was not offered is no answer.
            Some(Choice::Feedback | Choice::Try | Choice::Explain) | None => Approval::Unavailable,
        }
    }

    fn review(&mut self, set: &ChangeSet) -> Review {
        // The call that was asked for last, if it has no result yet.
        let asked = self.last.as_ref().and_then(|last| self.open.get(last));
        let Some(open) = asked else { return Review::Unavailable };
        super::review::review((&self.client, &self.session, &open.id), &self.wording.locale, set, &self.cancel)
    }

    fn ask(&mut self, question: &Question) -> Answer {
        if !self.forms {
            return Answer::Unavailable;
        }
        let question = &words::asked(&self.wording.locale, question);
        let parameters = json!({
            "sessionId": self.session, "mode": "form", "message": sanitize(&question.text),
            "requestedSchema": form(question, &self.wording.locale),
        });
        let waiting = self.client.request(&self.session, "elicitation/create", &parameters);
        let reply = if self.cancel.is_cancelled() { Reply::Stopped } else { wait(&waiting) };
        match reply {
            Reply::Result(result) => answer(question, &result),
            Reply::Refused => Answer::Unavailable,
            Reply::Stopped => Answer::Aborted,
        }
    }
}

/// A question as a form: one field for what is chosen, one for words.
fn form(question: &Question, locale: &Locale) -> Value {
    let mut fields = Map::new();
    let choices: Vec<String> = question.choices.iter().map(|choice| sanitize_line(choice).into_owned()).collect();
    if !choices.is_empty() {
        let one = json!({"type": "string", "enum": choices});
        let field = if question.several { json!({"type": "array", "items": one}) } else { one };
        fields.insert("choice".to_owned(), field);
    }
    if question.free_text || choices.is_empty() {
        let title = locale.text(word::ask::WORDS_PROMPT);
        fields.insert("words".to_owned(), json!({"type": "string", "title": title}));
    }
    json!({"type": "object", "properties": fields})
}

/// What was put into the form; what the question does not offer is left out.
fn answer(question: &Question, result: &Value) -> Answer {
    if result["action"] != "accept" {
        return Answer::Given { chosen: Vec::new(), text: String::new() };
    }
    let choice = &result["content"]["choice"];
    let picked: Vec<&str> = match choice {
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        one => one.as_str().into_iter().collect(),
    };
    let is_picked = |choice: &String| picked.contains(&sanitize_line(choice).as_ref());
    let chosen = question.choices.iter().enumerate().filter(|(_, choice)| is_picked(choice));
    let most = if question.several { usize::MAX } else { 1 };
    let chosen = chosen.map(|(index, _)| index).take(most).collect();
    let words = result["content"]["words"].as_str().unwrap_or_default().trim();
    let text = if question.free_text || question.choices.is_empty() { words.to_owned() } else { String::new() };
    Answer::Given { chosen, text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_answered_with_what_the_question_offers_and_nothing_else() {
        let question = Question {
            text: "Which?".into(),
            choices: vec!["a".into(), "b".into()],
            several: true,
            free_text: false,
            ..Question::default()
        };
        let given = |chosen: &[usize], text: &str| Answer::Given { chosen: chosen.to_vec(), text: text.to_owned() };
        let filled = |content: Value| json!({"action": "accept", "content": content});
        let both = filled(json!({"choice": ["b", "c", "a"], "words": "x"}));
        assert_eq!(answer(&question, &both), given(&[0, 1], ""));
        let one = Question { several: false, free_text: true, ..question.clone() };
        assert_eq!(answer(&one, &filled(json!({"choice": "b", "words": " but c "}))), given(&[1], "but c"));
        assert_eq!(answer(&question, &json!({"action": "decline"})), given(&[], ""));
        assert_eq!(answer(&question, &json!(null)), given(&[], ""));
        let schema = form(&question, &Locale::new("en"));
        assert_eq!(schema["properties"]["choice"]["items"]["enum"], json!(["a", "b"]));
        assert_eq!(schema["properties"]["words"], Value::Null);
    }
}
