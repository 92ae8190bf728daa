//! The review of what a call changed in its trial, as the editor's person is asked about it.

use serde_json::{Value, json};

use tokio_util::sync::CancellationToken;

use super::calls;
use crate::agent::Review;
use crate::command::trial_changes;
use crate::frontend::json_rpc::{Client, Reply, wait};
use crate::locale::{Locale, word};
use crate::trial::{Change, ChangeSet, Kind};

/// Longer texts are not shown line by line (bytes).
const MOST: u64 = 256 * 1024;

/// Asks whether all of it is applied, or nothing; `id` is the call's.
pub(super) fn review(
    (client, session, id): (&Client, &str, &str),
    locale: &Locale,
    set: &ChangeSet,
    cancel: &CancellationToken,
) -> Review {
    let mut content = vec![calls::text(&trial_changes(locale, set))];
    content.extend(set.changes.iter().filter_map(diff));
    let yes = json!({"optionId": "all", "kind": "allow_once", "name": locale.text(word::trial::review::ALL)});
    let no = json!({"optionId": "nothing", "kind": "reject_once", "name": locale.text(word::trial::ask::DROP)});
    // If one Enter too many would delete something, the no comes first.
    let deletes = set.changes.iter().any(|change| change.kind == Kind::Deleted);
    let options = if deletes { [no, yes] } else { [yes, no] };
    let call = json!({
        "toolCallId": id, "status": "in_progress", "title": locale.text(word::trial::ask::QUESTION), "content": content,
    });
    let parameters = json!({"sessionId": session, "toolCall": call, "options": options});
    let waiting = client.request(session, "session/request_permission", &parameters);
    let reply = if cancel.is_cancelled() { Reply::Stopped } else { wait(&waiting) };
    let outcome = match reply {
        Reply::Result(result) => result["outcome"].clone(),
        Reply::Refused => return Review::Unavailable,
        Reply::Stopped => return Review::Nothing,
    };
    match (outcome["outcome"].as_str(), outcome["optionId"].as_str()) {
        (Some("selected"), Some("all")) => Review::All,
        (Some("selected"), Some("nothing")) | (Some("cancelled"), _) => Review::Nothing,
        // What was not offered is no answer.
        (_, _) => Review::Unavailable,
    }
}

fn diff(change: &Change) -> Option<Value> {
    let (old, new) = change.texts(MOST).ok().filter(|_| !change.is_directory())?;
    let old = (change.kind != Kind::Added).then_some(old);
    Some(json!({"type": "diff", "path": change.path, "oldText": old, "newText": new}))
}
