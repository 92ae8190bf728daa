//! One question of the doctor, and what was heard.

use std::time::Duration;

use futures_util::StreamExt as _;
use serde_json::json;

use crate::conversation::{
    ContentBlock, Finished, Image, Message, MessageBuilder, Reasoning, Role, StopReason, StreamEvent, ToolCall,
    ToolResult, ToolSpec,
};
use crate::provider::error::ProviderError;
use crate::provider::request::{Provider, Request};

/// How long one answer may take.
const PATIENCE: Duration = Duration::from_secs(90);

/// The most tokens of an answer.
const MOST: u64 = 400;

/// One red point, 1 by 1, as PNG.
const POINT: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

/// What was heard.
pub(super) struct Heard {
    pub(super) finished: Finished,
    /// How many pieces of text came.
    pub(super) pieces: usize,
    /// How many letters of reasoning came.
    pub(super) thought: usize,
    pub(super) error: Option<ProviderError>,
}

impl Heard {
    pub(super) fn text(&self) -> String {
        self.finished.message.as_ref().map(Message::text).unwrap_or_default()
    }

    pub(super) fn calls(&self) -> Vec<ToolCall> {
        self.finished.message.iter().flat_map(Message::calls).cloned().collect()
    }

    pub(super) fn stop(&self) -> &StopReason {
        &self.finished.stop
    }

    /// Whether nothing came that says anything about what was asked.
    pub(super) fn is_unclear(&self) -> bool {
        self.error.as_ref().is_some_and(|error| match error {
            ProviderError::Timeout { .. } | ProviderError::Unreachable { .. } | ProviderError::Broken { .. } => {
                true
            }
            ProviderError::Status { .. } => error.is_overload(),
            ProviderError::Unauthorized { .. }
            | ProviderError::NoSuchModel { .. }
            | ProviderError::ContextOverflow { .. }
            | ProviderError::Protocol { .. } => false,
        })
    }

    /// What went wrong, in the server's words where it has any.
    pub(super) fn complaint(&self) -> Option<String> {
        self.error.as_ref().map(ToString::to_string)
    }
}

/// A question, with what all have.
#[derive(Default)]
pub(super) struct Question {
    pub(super) system: &'static str,
    pub(super) messages: Vec<Message>,
    pub(super) tools: Vec<ToolSpec>,
    pub(super) most: Option<u64>,
    pub(super) temperature: Option<f64>,
    pub(super) effort: Option<crate::provider::Effort>,
}

impl Question {
    pub(super) fn say(words: &str) -> Self {
        Self { messages: vec![Message::user(words)], ..Self::default() }
    }

    pub(super) fn with_tools(words: &str) -> Self {
        Self { tools: tools(), ..Self::say(words) }
    }

    pub(super) fn request(&self) -> Request<'_> {
        Request {
            system: self.system,
            tools: &self.tools,
            max_output_tokens: Some(self.most.unwrap_or(MOST)),
            temperature: self.temperature,
            effort: self.effort,
            ..Request::of(&self.messages)
        }
    }
}

pub(super) async fn ask(provider: &dyn Provider, question: &Question) -> Heard {
    let mut builder = MessageBuilder::new(provider.model().id());
    let (mut pieces, mut thought, mut error) = (0, 0, None);
    let mut stream = provider.stream(question.request());
    let end = tokio::time::Instant::now() + PATIENCE;
    loop {
        match tokio::time::timeout_at(end, stream.next()).await {
            Err(_) => {
                let url = provider.model().id();
                error = Some(ProviderError::Timeout { url, after: PATIENCE });
                break;
            }
            Ok(None) => break,
            Ok(Some(Err(failed))) => {
                error = Some(failed);
                break;
            }
            Ok(Some(Ok(event))) => {
                match &event {
                    StreamEvent::TextDelta(_) => pieces += 1,
                    StreamEvent::ReasoningDelta(text) => thought += text.chars().count(),
                    _ => {}
                }
                builder.push(&event);
            }
        }
    }
    Heard { finished: builder.finish(), pieces, thought, error }
}

/// Two tools, one of which takes nothing.
fn tools() -> Vec<ToolSpec> {
    let tool = |name: &str, says: &str, schema| ToolSpec {
        name: name.into(),
        description: says.into(),
        input_schema: schema,
        ..ToolSpec::default()
    };
    let city = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    vec![
        tool("weather", "Tells the weather of a city.", city),
        tool("now", "Tells the time. Takes no arguments.", json!({"type": "object", "properties": {}})),
    ]
}

pub(super) fn picture() -> Image {
    Image { media_type: "image/png".into(), data: POINT.into() }
}

/// A call of this or another model, and its result.
pub(super) fn called(id: &str, model: &str, thought: bool) -> [Message; 2] {
    let call = ToolCall {
        id: id.into(),
        name: "weather".into(),
        input: json!({"city": "Oslo"}),
        invalid_input: None,
        extra: serde_json::Map::new(),
        model: model.into(),
        arguments: "{\"city\":\"Oslo\"}".into(),
    };
    let mut result = ToolResult::closed(&call, crate::conversation::Outcome::Ok);
    result.content = "7 degrees, rain".into();
    let mut content = Vec::new();
    if thought {
        let text = "The tool knows.".to_owned();
        content.push(ContentBlock::Reasoning(Reasoning {
            text,
            signature: None,
            redacted: None,
            model: model.into(),
        }));
    }
    content.push(ContentBlock::ToolCall(call));
    [
        Message { role: Role::Assistant, content },
        Message { role: Role::User, content: vec![ContentBlock::ToolResult(result)] },
    ]
}
