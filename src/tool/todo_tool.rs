//! The `todo` tool: the model's plan, for itself and for the person who watches. Keeps nothing.

use std::fmt::Write as _;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::conversation::{Effect, Preview, ToolFacts, ToolIdentity, ToolSpec, ToolVerb};

use super::arguments::{Arguments, Field};
use super::{Before, Request, Roots, Tool, ToolContext, ToolOutput, Unread};

const FIELDS: &[Field] = &[Field { name: "todos", aliases: &["items", "list", "plan"] }];
const ITEM_FIELDS: &[Field] = &[
    Field { name: "text", aliases: &["content", "task", "step", "title", "description"] },
    Field { name: "status", aliases: &["state"] },
    // Some models add these; they are not needed.
    Field { name: "id", aliases: &["activeForm", "priority"] },
];

/// Takes down a plan.
#[derive(Debug, Default)]
pub struct TodoTool;

/// A plan: one line a step.
#[derive(Debug, PartialEq)]
struct Plan {
    text: String,
    steps: u64,
}

/// Renders the list.
fn render(input: &Value) -> Result<Plan, String> {
    let arguments = Arguments::parse("todo", input, FIELDS)?;
    let expected = "an array of {text, status}";
    let items = match arguments.value("todos") {
        None => return Err(arguments.missing("todos", expected)),
        Some(Value::Array(items)) => items,
        Some(other) => return Err(arguments.wrong("todos", expected, other)),
    };
    let mut text = String::new();
    let mut under_way = 0;
    for item in items {
        let item = Arguments::parse("todo", item, ITEM_FIELDS)?;
        let mark = match item.optional_text("status")? {
            None | Some("pending" | "todo" | "open") => "[ ]",
            Some("in_progress" | "doing") => {
                under_way += 1;
                "[>]"
            }
            Some("completed" | "done") => "[x]",
            Some("cancelled" | "canceled") => "[-]",
            Some(other) => {
                return Err(format!(
                    "todo: argument `status` must be pending, in_progress or completed, got {other:?}"
                ));
            }
        };
        // One line each, whatever the model wrote.
        let step = item.filled_text("text")?.split_whitespace().collect::<Vec<_>>().join(" ");
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{mark} {step}");
    }
    if under_way > 1 {
        return Err(format!("todo: {under_way} steps are in_progress; one at a time, the others are pending"));
    }
    if items.is_empty() {
        text.push_str("(The list is empty.)\n");
    }
    Ok(Plan { text, steps: items.len() as u64 })
}

impl Tool for TodoTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "todo".to_owned(),
            description: "Writes down your plan for work of several steps: the whole list each time, one step \
                          in_progress."
                .to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "todos": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {
                                "text": {"type": "string"},
                                "status": {"type": "string", "enum": ["pending", "in_progress", "completed"]}
                            },
                            "required": ["text", "status"]
                        }
                    }
                },
                "required": ["todos"]
            }),
            identity: ToolIdentity { verb: ToolVerb::Plan, ..ToolIdentity::default() },
        }
    }

    fn read(&self, input: &Value, _place: &Roots) -> Arc<dyn Request> {
        Unread::or(Effect::Read, render(input))
    }
}

impl Request for Plan {
    fn effect(&self) -> Effect {
        Effect::Read
    }

    fn check(&self, _before: &Before<'_>) -> Result<Preview, String> {
        Ok(Preview::Text { text: self.text.clone() })
    }

    fn run(self: Arc<Self>, context: ToolContext<'_>) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move {
            let open = self.text.lines().any(|line| line.starts_with("[ ]") || line.starts_with("[>]"));
            context.memory.remember_plan(self.text.clone(), open);
            ToolOutput::ok(self.text.clone(), ToolFacts { lines: Some(self.steps), ..ToolFacts::default() })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_one_line_a_step() {
        let input = json!({"todos": [
            {"text": "look", "status": "completed"},
            {"content": "build\nit", "status": "in_progress", "activeForm": "Building"},
            {"text": "test", "status": "pending"}
        ]});
        assert_eq!(render(&input), Ok(Plan { text: "[x] look\n[>] build it\n[ ] test\n".to_owned(), steps: 3 }));
        assert_eq!(render(&json!({"todos": []})), Ok(Plan { text: "(The list is empty.)\n".to_owned(), steps: 0 }));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (input, says) in [
            (json!({}), "todo: missing argument `todos`, which must be an array of {text, status}"),
            (json!({"todos": "x"}), "todo: argument `todos` must be an array of {text, status}, got a string"),
            (json!({"todos": [{"status": "done"}]}), "todo: missing argument `text`, which must be a string"),
            (
                json!({"todos": [{"text": "x", "status": "maybe"}]}),
                "todo: argument `status` must be pending, in_progress or completed, got \"maybe\"",
            ),
            (
                json!({"todos": [{"text": "x", "status": "in_progress"}, {"text": "y", "status": "doing"}]}),
                "todo: 2 steps are in_progress; one at a time, the others are pending",
            ),
        ] {
            assert_eq!(render(&input), Err(says.to_owned()));
        }
    }
}
