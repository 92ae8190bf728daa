//! The `propose_command` tool: a command for the person's own prompt line. Runs nothing and ends the turn.

use std::sync::Arc;

use futures_util::future::{BoxFuture, ready};
use serde_json::{Value, json};

use crate::character::{is_invisible, joins};
use crate::conversation::{Brief, Effect, Message, Outcome, Preview, ToolFacts, ToolIdentity, ToolSpec, ToolVerb};

use super::arguments::{Arguments, Field, plain};
use super::{Before, Request, Roots, Tool, ToolContext, ToolOutput, Unread};

/// The tool's name.
const NAME: &str = "propose_command";

/// The longest command, in bytes: the longest line the hooks carry.
const LINE_LIMIT: usize = 16 * 1024;

const FIELDS: &[Field] = &[
    Field { name: "command", aliases: &["cmd", "line", "command_line"] },
    Field { name: "why", aliases: &["reason", "description", "explanation"] },
    Field { name: "touches", aliases: &["touch", "affects", "effects"] },
    plain("shell"),
];

/// Proposes a command; offered only where a shell waits for it.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProposeCommandTool;

/// A command for the prompt line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// One or several lines, without a newline at the end.
    pub command: String,
    /// What it does, as the model says: one line, may be empty.
    pub why: String,
    /// What it would change, as the model says: one line, may be empty.
    pub touches: String,
}

impl Proposal {
    /// Reads a call's input.
    ///
    /// # Errors
    /// The text for the model when there is no command, or one that would not be what it looks like.
    pub fn parse(input: &Value) -> Result<Self, String> {
        let arguments = Arguments::parse(NAME, input, FIELDS)?;
        let command = arguments.filled_text("command")?.replace("\r\n", "\n");
        let command = escaped(command.trim_matches('\n').trim_end());
        if command.len() > LINE_LIMIT {
            return Err(format!(
                "{NAME}: argument `command` is too long ({} bytes, at most {LINE_LIMIT})",
                command.len()
            ));
        }
        if let Some(found) = refused(&command) {
            return Err(format!(
                "{NAME}: argument `command` holds the character {}; write it without (a shell's $'\\x1b' or printf \
                 can make it)",
                found.escape_unicode()
            ));
        }
        let line = |name: &str| -> Result<String, String> {
            let text = arguments.optional_text(name)?.unwrap_or_default();
            Ok(text.split_whitespace().collect::<Vec<_>>().join(" "))
        };
        Ok(Self { command, why: line("why")?, touches: line("touches")? })
    }
}

/// Writes what JSON makes of `\r`, `\b` and `\f` as these two characters again, where they stand in quotes: whoever wrote
/// `grep '\bfoo\b'` has not escaped the backslashes.
fn escaped(command: &str) -> String {
    let (mut written, mut quote) = (String::with_capacity(command.len()), None);
    for character in command.chars() {
        match (quote, character) {
            (Some(_), '\r') => written.push_str("\\r"),
            (Some(_), '\u{8}') => written.push_str("\\b"),
            (Some(_), '\u{c}') => written.push_str("\\f"),
            (None, '\'' | '"') => {
                quote = Some(character);
                written.push(character);
            }
            (open, character) => {
                quote = open.filter(|open| *open != character);
                written.push(character);
            }
        }
    }
    written
}

/// Tells whether a text can stand on a prompt line and be what it looks like.
#[must_use]
pub fn is_plain_line(text: &str) -> bool {
    text.len() <= LINE_LIMIT && refused(text).is_none()
}

/// The first key that a line editor would obey, or character that makes the line look like another one: behind what no
/// script or emoji is made of, a joiner or a selector does.
fn refused(text: &str) -> Option<char> {
    let before = std::iter::once(' ').chain(text.chars());
    let found = text.chars().zip(before).find(|&(character, before)| {
        character.is_control() && !matches!(character, '\n' | '\t')
            || is_invisible(character)
            || joins(character) && (before.is_ascii() || joins(before))
    });
    found.map(|(character, _)| character)
}

/// Finds the proposal that ended a turn: the last message holds its result, the one before the call.
#[must_use]
pub fn proposed(messages: &[Message]) -> Option<Proposal> {
    let [.., said, results] = messages else { return None };
    let went_well = |id: &str| results.result_of(id).is_some_and(|result| result.outcome == Outcome::Ok);
    let call = said.calls().find(|call| call.name == NAME && went_well(&call.id))?;
    Proposal::parse(&call.input).ok()
}

impl Tool for ProposeCommandTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: NAME.to_owned(),
            description: "Puts a command on the user's own prompt line, to edit and run themselves; you never run \
                          it. Ends your turn. Also the only way to change their shell (cd, export, source)."
                .to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "command": {"type": "string", "description": "For the user's shell, ready to run"},
                    "why": {"type": "string", "description": "One line: what it does"},
                    "touches": {"type": "string", "description": "One line: what it changes; empty if nothing"}
                },
                "required": ["command", "why", "touches"]
            }),
            identity: ToolIdentity {
                verb: ToolVerb::Propose,
                brief: Some(Brief {
                    description: "Put a command on the user's prompt line, for the user to run",
                    arguments: &["command*", "why*"],
                    alone: true,
                    order: 0,
                }),
                ..ToolIdentity::default()
            },
        }
    }

    fn read(&self, input: &Value, _place: &Roots) -> Arc<dyn Request> {
        Unread::or(Effect::Read, Proposal::parse(input))
    }

    fn concludes(&self) -> bool {
        true
    }
}

impl Request for Proposal {
    fn effect(&self) -> Effect {
        Effect::Read
    }

    fn check(&self, _before: &Before<'_>) -> Result<Preview, String> {
        Ok(Preview::Command { line: self.command.clone() })
    }

    fn run(self: Arc<Self>, _context: ToolContext<'_>) -> BoxFuture<'_, ToolOutput> {
        let says = "It is on the user's prompt line. Whether they ran or changed it is not known.";
        Box::pin(ready(ToolOutput::ok(says, ToolFacts::default())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::ContentBlock;
    use crate::conversation::{Conversation, Role, ToolCall, ToolResult};

    fn command(command: &str) -> Result<String, String> {
        Proposal::parse(&json!({"command": command})).map(|proposal| proposal.command)
    }

    #[test]
    fn what_a_line_editor_would_obey_is_refused() {
        assert_eq!(
            command("for i in 1 2\ndo echo \"$i\"\ndone\n"),
            Ok("for i in 1 2\ndo echo \"$i\"\ndone".into())
        );
        assert_eq!(command("a\r\nb"), Ok("a\nb".into()));
        assert_eq!(command("sed 's/\r//g' a"), Ok("sed 's/\\r//g' a".into()));
        assert_eq!(command("grep \"\u{8}a\u{8}\" 'b' c"), Ok("grep \"\\ba\\b\" 'b' c".into()));
        assert!(command("sed 's/a//' \r").is_ok() && command("sed 's/a//' \rb").is_err());
        assert_eq!(command("echo 中文 👩‍🚀"), Ok("echo 中文 👩‍🚀".into()));
        for bad in [
            "",
            " \n",
            "ls\x1b[A",
            "ls\rrm x",
            "a\u{7}",
            "a\0b",
            "a\u{9b}x",
            "rm \u{202e}gpj.a",
            "a\u{200b}b",
            "r\u{e0041}m",
            "r\u{200d}m",
            "l\u{ad}s",
            "x \u{3164}",
        ] {
            assert!(command(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn reasons_are_one_line_and_may_be_missing() {
        let input = json!({"cmd": "ls", "why": "lists\n  files", "touches": null});
        let expected = Proposal { command: "ls".into(), why: "lists files".into(), touches: String::new() };
        assert_eq!(Proposal::parse(&input), Ok(expected));
    }

    #[test]
    fn the_proposal_is_that_of_the_last_answer_and_only_if_it_was_taken() {
        let call = |id: &str, name: &str| {
            ContentBlock::ToolCall(ToolCall {
                id: id.into(),
                name: name.into(),
                input: json!({"command": id}),
                invalid_input: None,
                extra: serde_json::Map::default(),
                model: String::new(),
                arguments: String::new(),
            })
        };
        let result = |id: &str, outcome| ToolResult {
            call_id: id.into(),
            name: NAME.into(),
            content: String::new(),
            outcome,
            images: Vec::new(),
            facts: ToolFacts::default(),
            duration_ms: 0,
        };
        let turn = |outcome| {
            let mut conversation = Conversation::new();
            conversation.push_user(Message::user("hi"));
            let content = vec![call("a", "shell"), call("b", NAME)];
            conversation.push_assistant(Message { role: Role::Assistant, content });
            conversation.push_results(vec![result("a", Outcome::Ok), result("b", outcome)]);
            conversation
        };
        let found = |conversation: &Conversation| proposed(conversation.messages()).map(|it| it.command);
        assert_eq!(found(&turn(Outcome::Ok)), Some("b".into()));
        assert_eq!(found(&turn(Outcome::Denied)), None);
        let mut later = turn(Outcome::Ok);
        later.push_user(Message::user("and?"));
        assert_eq!((found(&later), found(&Conversation::new())), (None, None));
    }
}
