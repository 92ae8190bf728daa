//! The `recall` tool: searches everything that was said in this conversation, including what is not sent any more.
//!
//! `recall` is no [`crate::tool::Tool`]: it reads the conversation, which the room `tool` does not hold.

use serde_json::{Value, json};

use crate::context::{Found, PASSAGES, recall, wanted};
use crate::conversation::{Message, ToolCall, ToolIdentity, ToolSpec, ToolVerb};
use crate::session::{Session, SessionStore, mentions};
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

/// Answers a call of this tool; `None` if the call is for another one.
pub(super) fn answer(call: &ToolCall, said: &dyn Fn(&str) -> Vec<Found>, session: &Session) -> Option<ToolOutput> {
    if !is_one(call) || call.invalid_input.is_some() {
        return None;
    }
    let query = ["query", "q", "text"].iter().find_map(|name| call.input.get(name).and_then(Value::as_str));
    let Some(query) = query.map(str::trim).filter(|query| !query.is_empty()) else {
        return Some(ToolOutput::failed("recall: missing argument `query`, which must be a non-empty string"));
    };
    if call.input.get("earlier").and_then(Value::as_bool) == Some(true) {
        return Some(earlier(query, session));
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
fn earlier(query: &str, session: &Session) -> ToolOutput {
    let folder = session.path().and_then(|path| path.parent());
    let store = folder.map(|folder| SessionStore::new(folder.to_owned()));
    let (directory, own) = (Some(session.directory()), Some(session.id()));
    let mentioned =
        store.map(|store| mentions(&store, &wanted(query), directory, own, MENTIONS)).unwrap_or_default();
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

    #[test]
    fn earlier_conversations_of_the_directory_are_searched_when_it_is_asked_for() {
        let home = tempfile::tempdir().unwrap();
        let own = session(home.path(), "/src", 1, "the heron is here");
        let other = session(home.path(), "/src", 2, "the heron port is 8017");
        drop(session(home.path(), "/else", 3, "the heron port is 9999"));
        let call = ToolCall {
            id: "1".into(),
            name: NAME.into(),
            input: json!({"query": "port of heron", "earlier": true}),
            invalid_input: None,
            extra: serde_json::Map::new(),
            model: String::new(),
            arguments: String::new(),
        };
        let said = answer(&call, &|_| Vec::new(), &own).unwrap().content;
        assert_eq!(said, format!("[conversation {}, user, line 1]\nthe heron port is 8017", other.id()));
        let nowhere = Session::new(own.id().clone(), "/src".into(), None, Redactor::default());
        assert!(answer(&call, &|_| Vec::new(), &nowhere).unwrap().content.starts_with("No earlier"));
    }
}
