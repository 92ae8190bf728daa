//! A few short talks that a small model is shown before the real one: what it sees done, it does.
//!
//! They show when words are enough and when a tool is needed, how a call looks, and that a result ends in an answer.
//! They are the same for everybody, so that they are read once and kept. axi's own model is given them in its template, one of
//! a local server as messages.

use serde_json::{Map, Value, json};

use crate::conversation::{ContentBlock, Message, Outcome, Role, ToolCall, ToolResult, ToolSpec, ToolVerb};

/// What is said between the talks and the real one.
pub(super) const END: &str = "These were examples. The real conversation begins here.";

/// The answer to that, where the talks are messages.
const READY: &str = "Ready.";

/// One step of a talk.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    User(&'static str),
    Says(&'static str),
    /// A tool, by what it does, and its arguments.
    Calls(ToolVerb, &'static [(&'static str, &'static str)]),
    Gives(&'static str),
}

use Step::{Calls, Gives, Says, User};

/// Talks in which the agent works.
const WORK: &[&[Step]] = &[
    &[User("hi"), Says("Hello! What shall I do?")],
    &[User("what are you?"), Says("I am axi, and a small language model that runs on this machine answers.")],
    &[User("are you Gemini?"), Says("No, I am axi. A small language model on this machine answers.")],
    &[User("how do I see hidden files?"), Says("`ls -a`")],
    &[User("which command shows free memory?"), Says("`free -h`")],
    &[User("how do I split big.csv into parts?"), Says("`split -l 1000 big.csv`")],
    &[
        User("when was main.c last changed?"),
        Calls(ToolVerb::Run, &[("command", "stat -c %y main.c")]),
        Gives("2024-03-02 10:15:00"),
        Says("main.c was last changed on 2024-03-02."),
    ],
    &[
        User("copy a.md to b.md"),
        Calls(ToolVerb::Run, &[("command", "cp a.md b.md")]),
        Gives(""),
        Says("Copied a.md to b.md."),
    ],
    &[
        User("fatal: not a git repository"),
        Says("This directory is not in a git repository: run `git init`, or go to another directory."),
    ],
    &[
        User("the title in app.js should be News"),
        Calls(ToolVerb::Run, &[("command", "grep -n title app.js")]),
        Gives("3:const title = \"Old\";"),
        Calls(ToolVerb::Edit, &[("path", "app.js"), ("old_string", "Old"), ("new_string", "News")]),
        Gives("1 replacement"),
        Says("The title in app.js is News now."),
    ],
    &[User("how do I rename a git branch?"), Says("`git branch -m NEW_NAME`")],
];

/// Talks in which a command for the prompt line is wanted.
const LINE: &[&[Step]] = &[
    &[User("hi"), Says("Hello! Type what you want done: the command comes to your prompt line.")],
    &[User("what is your name?"), Says("I am axi, and a small language model that runs on this machine answers.")],
    &[User("are you Gemini?"), Says("No, I am axi. A small language model on this machine answers.")],
    &[User("improve this"), Says("What shall be better? Name the file, or what shall be different.")],
    &[User("tidy up my things"), Says("Which files shall go? Name them, or what they have in common.")],
    &[User("it does not work"), Says("What does not work? Paste the error, or name the command.")],
    &[User("repair this"), Says("What is broken? Paste the error, or name the file.")],
    &[User("well done"), Says("Good. Type what you want done next.")],
    &[
        User("who built you?"),
        Says("I am axi, a program on this machine. The small language model that answers runs here, too."),
    ],
    &[
        User("show hidden files"),
        Calls(ToolVerb::Propose, &[("command", "ls -a"), ("why", "Lists all files, hidden ones too")]),
        Gives("ok"),
    ],
    &[
        User("count text files in this project"),
        Calls(
            ToolVerb::Propose,
            &[("command", "find . -type f -name '*.txt' | wc -l"), ("why", "Counts the text files")],
        ),
        Gives("ok"),
    ],
    &[
        User("largest directories in /var"),
        Calls(
            ToolVerb::Propose,
            &[("command", "du -h /var | sort -rh | head -n 5"), ("why", "Shows the 5 largest, largest first")],
        ),
        Gives("ok"),
    ],
    &[
        User("largest files in /var"),
        Calls(
            ToolVerb::Propose,
            &[
                ("command", "find /var -type f -exec du -h {} + | sort -rh | head -n 5"),
                ("why", "Shows the 5 largest files, largest first"),
            ],
        ),
        Gives("ok"),
    ],
    &[
        User("which files can everybody write?"),
        Calls(
            ToolVerb::Propose,
            &[("command", "find . -type f -perm -o=w"), ("why", "Finds files by their permissions")],
        ),
        Gives("ok"),
    ],
    &[
        User("which folders have css files in them?"),
        Calls(
            ToolVerb::Propose,
            &[
                ("command", "find . -type f -name '*.css' -exec dirname {} + | sort -u"),
                ("why", "Lists each folder once"),
            ],
        ),
        Gives("ok"),
    ],
    &[
        User("is nginx running, yes or no"),
        Calls(
            ToolVerb::Propose,
            &[("command", "pgrep -x nginx >/dev/null && echo yes || echo no"), ("why", "Looks for its process")],
        ),
        Gives("ok"),
    ],
    &[
        User("sort big.csv by its second column"),
        Calls(ToolVerb::Propose, &[("command", "sort -t, -k2 big.csv"), ("why", "Sorts its lines by column 2")]),
        Gives("ok"),
    ],
    &[
        User("line 42 of app.log"),
        Calls(ToolVerb::Propose, &[("command", "sed -n 42p app.log"), ("why", "Prints that line")]),
        Gives("ok"),
    ],
    &[
        User("app.env without blanks"),
        Calls(ToolVerb::Propose, &[("command", "tr -d ' ' < app.env"), ("why", "Prints it without blanks")]),
        Gives("ok"),
    ],
    &[
        User("what was the date 3 weeks ago?"),
        Calls(ToolVerb::Propose, &[("command", "date -d '-3 weeks' +%F"), ("why", "Prints the date 3 weeks ago")]),
        Gives("ok"),
    ],
    &[
        User("where in src is fetch used?"),
        Calls(
            ToolVerb::Propose,
            &[("command", "grep -rn 'fetch' src"), ("why", "Searches all files, also in folders below")],
        ),
        Gives("ok"),
    ],
    &[
        User("gti push"),
        Calls(ToolVerb::Propose, &[("command", "git push"), ("why", "Sends your commits to the remote")]),
        Gives("ok"),
    ],
    &[
        User("copy a.md to b.md"),
        Calls(ToolVerb::Propose, &[("command", "cp a.md b.md"), ("why", "Copies a.md to b.md")]),
        Gives("ok"),
    ],
    &[
        User("why does this fail? bash: cargo: command not found"),
        Says("The program `cargo` is not installed, or its directory is not in `PATH`."),
    ],
];

/// Tells whether a command for the prompt line is wanted: then there is a tool that puts it there.
pub(super) fn is_line(tools: &[ToolSpec]) -> bool {
    named(tools, ToolVerb::Propose).is_some()
}

/// The name of the tool that does this.
pub(super) fn named(tools: &[ToolSpec], verb: ToolVerb) -> Option<&str> {
    tools.iter().find(|tool| tool.identity.verb == verb).map(|tool| tool.name.as_str())
}

/// The talks for a model with these tools: none needs another one.
pub(super) fn talks(tools: &[ToolSpec]) -> impl Iterator<Item = &'static [Step]> {
    let talks = match (tools.is_empty(), is_line(tools)) {
        (true, _) => &[],
        (false, true) => LINE,
        (false, false) => WORK,
    };
    talks.iter().copied().filter(move |talk| {
        talk.iter().all(|step| match step {
            Calls(verb, _) => named(tools, *verb).is_some(),
            User(_) | Says(_) | Gives(_) => true,
        })
    })
}

/// The talks for a model with these tools as messages, and what ends them; none without tools.
pub(super) fn messages(tools: &[ToolSpec]) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::new();
    let mut push = |role: Role, block: ContentBlock| match messages.last_mut().filter(|last| last.role == role) {
        Some(last) => last.content.push(block),
        None => messages.push(Message { role, content: vec![block] }),
    };
    let mut called: Option<ToolCall> = None;
    for (number, step) in talks(tools).flatten().enumerate() {
        match step {
            User(text) => push(Role::User, ContentBlock::Text { text: (*text).to_owned() }),
            Says(text) => push(Role::Assistant, ContentBlock::Text { text: (*text).to_owned() }),
            Calls(verb, fields) => {
                let call = ToolCall {
                    id: format!("example-{number}"),
                    name: named(tools, *verb).unwrap_or_default().to_owned(),
                    input: arguments(fields),
                    invalid_input: None,
                    extra: Map::new(),
                    model: String::new(),
                    arguments: String::new(),
                };
                push(Role::Assistant, ContentBlock::ToolCall(call.clone()));
                called = Some(call);
            }
            Gives(text) => {
                let Some(call) = called.take() else { continue };
                let result = ToolResult { content: (*text).to_owned(), ..ToolResult::closed(&call, Outcome::Ok) };
                push(Role::User, ContentBlock::ToolResult(result));
            }
        }
    }
    if !tools.is_empty() {
        push(Role::User, ContentBlock::Text { text: END.to_owned() });
        push(Role::Assistant, ContentBlock::Text { text: READY.to_owned() });
    }
    messages
}

/// The arguments of a call as JSON.
pub(super) fn arguments(fields: &[(&str, &str)]) -> Value {
    Value::Object(fields.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::conversation::ToolIdentity;

    pub(in super::super) fn tool(verb: ToolVerb, arguments: &[&str]) -> ToolSpec {
        let properties: serde_json::Map<String, Value> =
            arguments.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
        let input_schema = json!({"type": "object", "properties": properties, "required": arguments});
        let identity = ToolIdentity { verb, ..ToolIdentity::default() };
        ToolSpec { name: format!("{verb:?}"), description: String::new(), input_schema, identity }
    }

    #[test]
    fn as_messages_they_are_a_conversation_in_which_every_call_is_answered() {
        let shell = tool(ToolVerb::Run, &["command"]);
        let edit = tool(ToolVerb::Edit, &["path", "old_string", "new_string"]);
        let propose = tool(ToolVerb::Propose, &["command", "why"]);
        for tools in [vec![shell, edit], vec![propose]] {
            let messages = messages(&tools);
            assert!(messages.windows(2).all(|pair| pair[0].role != pair[1].role));
            let ends = [messages.first(), messages.last()].map(|message| message.map(|message| message.role));
            assert_eq!(ends, [Some(Role::User), Some(Role::Assistant)]);
            assert_eq!(crate::conversation::Conversation::restore(messages.clone()).check(), Ok(()));
            let said = format!("{messages:?}");
            let count = |talk: &[Step], fits: fn(&Step) -> bool| talk.iter().filter(|step| fits(step)).count();
            let calls: usize = talks(&tools).map(|talk| count(talk, |step| matches!(step, Calls(..)))).sum();
            assert_eq!(messages.iter().flat_map(Message::calls).count(), calls, "{said}");
            assert_eq!(messages.iter().flat_map(Message::results).count(), calls, "{said}");
        }
        assert_eq!(messages(&[]), []);
    }

    #[test]
    fn a_talk_that_needs_another_tool_is_left_out() {
        assert_eq!(talks(&[]).count(), 0);
        let words: Vec<&Step> = talks(&[tool(ToolVerb::Read, &["path"])]).flatten().collect();
        assert!(!words.is_empty());
        assert!(words.iter().all(|step| matches!(step, User(_) | Says(_))));
    }
}
