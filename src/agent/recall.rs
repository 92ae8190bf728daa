//! The `recall` tool: searches everything that was said in this conversation, including what is not sent any more.
//!
//! `recall` is no [`crate::tool::Tool`]: it reads the conversation, which the room `tool` does not hold.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::reach::at_length;

use crate::context::{Found, PASSAGES, recall, wanted};
use crate::conversation::{Message, ToolCall, ToolIdentity, ToolSpec, ToolVerb};
use crate::session::{Session, SessionId, SessionStore, mentions};
use crate::tool::{ToolFacts, ToolOutput};

/// The name by which models call it.
const NAME: &str = "recall";

/// How many messages of earlier conversations are examined closely.
const MENTIONS: usize = 64;

/// Describes it to the model.
pub(super) fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME.to_owned(),
        description:
            "Searches all that was said and printed earlier in this conversation, word for word, also what \
                      is not sent any more."
                .to_owned(),
        input_schema: json!({
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "Words that stand in what is sought"},
                "earlier": {"type": "boolean", "description": "Search earlier conversations in this directory instead"}
            },
            "required": ["query"]
        }),
        identity: ToolIdentity { verb: ToolVerb::Search, ..ToolIdentity::default() },
    }
}

/// Tells whether a call is for this tool.
pub(super) fn is_one(call: &ToolCall) -> bool {
    call.name == NAME
}

/// Answers a call of this tool; `None` if the turn was stopped.
///
/// # Cancel safety
/// If it is dropped, its thread ends by itself and changes nothing.
pub(super) async fn answer(
    call: &ToolCall,
    said: &(dyn Fn(&str) -> Vec<Found> + Sync),
    session: &Session,
    cancel: &CancellationToken,
) -> Option<ToolOutput> {
    let folder = session.path().and_then(|path| path.parent()).map(Path::to_owned);
    let (directory, own) = (session.directory().to_owned(), session.id().clone());
    let earlier = move |query: &str| earlier(query, folder, &directory, &own);
    answered(call, said, earlier, cancel).await
}

async fn answered(
    call: &ToolCall,
    said: &(dyn Fn(&str) -> Vec<Found> + Sync),
    earlier: impl FnOnce(&str) -> ToolOutput + Send + 'static,
    cancel: &CancellationToken,
) -> Option<ToolOutput> {
    let query = ["query", "q", "text"].iter().find_map(|name| call.input.get(name).and_then(Value::as_str));
    let Some(query) = query.map(str::trim).filter(|query| !query.is_empty()) else {
        return Some(ToolOutput::failed("recall: missing argument `query`, which must be a non-empty string"));
    };
    if call.input.get("earlier").and_then(Value::as_bool) == Some(true) {
        let query = query.to_owned();
        // All files of the directory are read, and a file system may not answer.
        let found = at_length(cancel, move || earlier(&query)).await;
        let no_thread = || ToolOutput::failed("recall: the earlier conversations cannot be searched now");
        return found.or_else(|| (!cancel.is_cancelled()).then(no_thread));
    }
    let found = said(query);
    if found.is_empty() {
        return Some(ToolOutput::ok("Nothing that was said has these words.", ToolFacts::default()));
    }
    let passages: Vec<String> = found
        .iter()
        .map(|found| format!("[turn {}, {}, line {}]\n{}", found.turn, found.who, found.line, found.text))
        .collect();
    let lines = Some(found.len() as u64);
    Some(ToolOutput::ok(passages.join("\n\n"), ToolFacts { lines, ..ToolFacts::default() }))
}

/// Searches the other conversations that began in this conversation's directory.
fn earlier(query: &str, folder: Option<PathBuf>, directory: &Path, own: &SessionId) -> ToolOutput {
    let store = folder.map(SessionStore::new);
    let found = store.map(|store| mentions(&store, &wanted(query), Some(directory), Some(own), MENTIONS));
    let mentioned = found.unwrap_or_default();
    let messages: Vec<Message> = mentioned.iter().map(|mention| mention.message.clone()).collect();
    let found = recall(&messages, query, PASSAGES);
    if found.is_empty() {
        return ToolOutput::ok("No earlier conversation in this directory has these words.", ToolFacts::default());
    }
    let passages: Vec<String> = found
        .iter()
        .map(|found| {
            let mention = &mentioned[found.message];
            format!("[conversation {}, {}, line {}]\n{}", mention.id, found.who, found.line, found.text)
        })
        .collect();
    let lines = Some(found.len() as u64);
    ToolOutput::ok(passages.join("\n\n"), ToolFacts { lines, ..ToolFacts::default() })
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::SystemTime;

    use super::*;
    use crate::session::{Redactor, SessionId};

    fn session(home: &Path, directory: &str, number: u16, text: &str) -> Session {
        let id = SessionId::new(SystemTime::UNIX_EPOCH, Path::new(directory), number);
        let mut session = Session::new(id, directory.into(), Some(home), Redactor::default());
        session.append_message("lab/m", &Message::user(text), SystemTime::UNIX_EPOCH).unwrap();
        session
    }

    fn of_earlier(query: &str) -> ToolCall {
        ToolCall {
            id: "1".into(),
            name: NAME.into(),
            input: json!({"query": query, "earlier": true}),
            invalid_input: None,
            extra: serde_json::Map::new(),
            model: String::new(),
            arguments: String::new(),
        }
    }

    #[tokio::test]
    async fn a_search_that_waits_for_the_disk_does_not_hold_up_an_interrupt() {
        let (call, cancel) = (of_earlier("heron"), CancellationToken::new());
        let (_answers, disk) = std::sync::mpsc::channel::<()>();
        // On the runtime's thread it would be waited for, and found.
        let slow = move |_: &str| {
            let _ = disk.recv_timeout(std::time::Duration::from_secs(5));
            ToolOutput::ok("found", ToolFacts::default())
        };
        let escape = async { cancel.cancel() };
        let (output, ()) = tokio::join!(answered(&call, &|_| Vec::new(), slow, &cancel), escape);
        assert_eq!(output, None);
    }

    #[tokio::test]
    async fn earlier_conversations_of_the_directory_are_searched_when_it_is_asked_for() {
        let home = tempfile::tempdir().unwrap();
        let own = session(home.path(), "/src", 1, "the heron is here");
        let other = session(home.path(), "/src", 2, "the heron port is 8017");
        drop(session(home.path(), "/else", 3, "the heron port is 9999"));
        let call = of_earlier("port of heron");
        let said = answer(&call, &|_| Vec::new(), &own, &CancellationToken::new()).await.unwrap().content;
        assert_eq!(said, format!("[conversation {}, user, line 1]\nthe heron port is 8017", other.id()));
        let nowhere = Session::new(own.id().clone(), "/src".into(), None, Redactor::default());
        let said = answer(&call, &|_| Vec::new(), &nowhere, &CancellationToken::new()).await.unwrap().content;
        assert!(said.starts_with("No earlier"));
    }
}
