//! Names and ids of tool calls in the letters a server accepts; the same at every replay.

use std::collections::{HashMap, HashSet};

use crate::conversation::ToolCall;
use crate::fingerprint::fingerprint;
use crate::provider::settings::CallIds;

/// Maps the conversation's call ids to the wire's while one request is written, message after message.
///
/// Ids are unique within a message of ours but within the whole request on the wire, and a conversation may hold
/// ids of other providers. The mapping depends on the conversation alone, so that prompt caches stay warm.
#[derive(Debug)]
pub(crate) struct WireIds {
    rule: CallIds,
    /// The model that is asked: ids it made itself go back as they were.
    model: String,
    used: HashSet<String>,
    current: HashMap<String, String>,
}

impl WireIds {
    /// Starts a request.
    #[must_use]
    pub(crate) fn new(rule: CallIds, model: &str) -> Self {
        Self { rule, model: model.to_owned(), used: HashSet::new(), current: HashMap::new() }
    }

    /// Starts the calls of another assistant message.
    pub(crate) fn next_message(&mut self) {
        self.current.clear();
    }

    /// Tells whether the model that is asked made a call.
    pub(crate) fn is_own(&self, call: &ToolCall) -> bool {
        call.model == self.model
    }

    /// Gives a call of the current message its id.
    pub(crate) fn assign(&mut self, call: &ToolCall) -> String {
        let id = &call.id;
        let own = self.is_own(call) && !id.is_empty();
        let mut wire = if own { id.clone() } else { self.shape(id, 0) };
        let mut round = 1;
        while !self.used.insert(wire.clone()) {
            wire = self.shape(id, round);
            round += 1;
        }
        self.current.insert(id.clone(), wire.clone());
        wire
    }

    /// Returns the id of the call that a result answers.
    #[must_use]
    pub(crate) fn of_result(&self, id: &str) -> String {
        self.current.get(id).cloned().unwrap_or_else(|| self.shape(id, 0))
    }

    fn shape(&self, id: &str, round: u64) -> String {
        match self.rule {
            CallIds::Usual => {
                let clean: String = id.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect();
                match round {
                    0 if !clean.is_empty() && clean.len() <= 40 => clean,
                    _ => format!("call_{}", letters(id, round, 12)),
                }
            }
            CallIds::NineAlphanumerics => {
                let fits = id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
                if fits && round == 0 { id.to_owned() } else { letters(id, round, 9) }
            }
        }
    }
}

/// Returns a tool's name in the letters every wire accepts (`^[a-zA-Z0-9_-]{1,64}$`): a model may have called a
/// tool that does not exist, by a name the server would refuse to read back.
#[must_use]
pub(crate) fn tool_name(name: &str) -> String {
    let clean: String = name.chars().take(64).map(|letter| if is_plain(letter) { letter } else { '_' }).collect();
    if clean.is_empty() { "unknown".to_owned() } else { clean }
}

const fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-')
}

/// Letters and digits that depend on `id` and `round` only: FNV-1a (64 bit), written in base 62.
fn letters(id: &str, round: u64, count: usize) -> String {
    const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut hash = fingerprint(id.bytes().chain(round.to_le_bytes()));
    (0..count)
        .map(|_| {
            let letter = ALPHABET[usize::try_from(hash % 62).unwrap_or(0)];
            // Steps on even after the hash is used up: twelve letters hold more than 64 bits.
            hash = (hash / 62) ^ hash.wrapping_mul(0x0100_0000_01b3).rotate_left(17);
            char::from(letter)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: &str, model: &str) -> ToolCall {
        ToolCall {
            id: id.into(),
            name: "read".into(),
            input: serde_json::json!({}),
            invalid_input: None,
            extra: serde_json::Map::new(),
            model: model.into(),
            arguments: String::new(),
        }
    }

    fn other(id: &str) -> ToolCall {
        call(id, "other/m")
    }

    #[test]
    fn own_ids_stay_whatever_they_are_and_foreign_ones_are_spelt_anew() {
        let mut ids = WireIds::new(CallIds::Usual, "lab/m");
        assert_eq!(ids.assign(&call("functions.read:0", "lab/m")), "functions.read:0");
        assert_eq!(ids.of_result("functions.read:0"), "functions.read:0");
        ids.next_message();
        assert_eq!(ids.assign(&other("call_abc")), "call_abc");
        assert_eq!(ids.assign(&other("functions.read:1")), "functions_read_1");
        let long = ids.assign(&other(&"x".repeat(64)));
        assert!(long.starts_with("call_") && long.len() <= 40, "{long}");
        assert_eq!(ids.of_result("functions.read:1"), "functions_read_1");
        // A model may use an id again in a later message; on the wire an id may stand only once.
        ids.next_message();
        let again = ids.assign(&call("functions.read:0", "lab/m"));
        assert_ne!(again, "functions.read:0");
        assert_eq!(ids.of_result("functions.read:0"), again);
    }

    #[test]
    fn mistral_gets_nine_letters_or_digits_the_same_each_time() {
        let make = || {
            let mut ids = WireIds::new(CallIds::NineAlphanumerics, "mistral/m");
            [ids.assign(&other("toolu_01")), ids.assign(&other("aB3dE6gH9")), ids.assign(&other("toolu_02"))]
        };
        let [first, kept, second] = make();
        assert_eq!(make(), [first.clone(), kept.clone(), second.clone()]);
        assert_eq!(kept, "aB3dE6gH9");
        assert_ne!(first, second);
        for id in [first, second] {
            assert!(id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{id}");
        }
    }

    #[test]
    fn an_id_used_again_in_a_later_message_gets_another_and_results_follow() {
        let mut ids = WireIds::new(CallIds::Usual, "lab/m");
        let first = ids.assign(&other("call_0"));
        assert_eq!(ids.of_result("call_0"), first);
        ids.next_message();
        let second = ids.assign(&other("call_0"));
        assert_ne!(first, second);
        assert_eq!(ids.of_result("call_0"), second);
    }

    #[test]
    fn tool_names_are_made_legal() {
        assert_eq!(tool_name("read_file"), "read_file");
        assert_eq!(tool_name("functions.read file\u{e9}"), "functions_read_file_");
        assert_eq!(tool_name(""), "unknown");
        assert_eq!(tool_name(&"n".repeat(80)).len(), 64);
    }
}
