//! Old outputs of tools, thinned: their beginning, their end, and the anchors between; pictures by their name.

use super::anchors;
use super::text::middle_out;
use crate::conversation::{ContentBlock, Image, Message, ToolResult};

/// An output up to so many bytes stays whole.
const WHOLE: usize = 1_200;
/// What stays of a longer one, in bytes.
const HEAD: usize = 480;
const TAIL: usize = 320;
/// How many bytes of anchors stand for what is between.
const ANCHORS: usize = 320;

/// Thins what tools gave back in a message, and its pictures.
pub(super) fn message(message: &Message) -> Message {
    let content = message.content.iter().map(|block| match block {
        ContentBlock::ToolResult(result) => ContentBlock::ToolResult(thin(result)),
        ContentBlock::Image(image) => ContentBlock::Text { text: name(image) },
        ContentBlock::Text { .. }
        | ContentBlock::Reasoning(_)
        | ContentBlock::ToolCall(_)
        | ContentBlock::WireItem(_) => block.clone(),
    });
    Message { role: message.role, content: content.collect() }
}

fn thin(result: &ToolResult) -> ToolResult {
    let mut content = output(&result.content);
    for image in &result.images {
        content.extend(["\n", &name(image)]);
    }
    ToolResult { content, images: Vec::new(), ..result.clone() }
}

fn name(image: &Image) -> String {
    format!("[a picture, {}; it is not sent again]", image.media_type)
}

fn output(content: &str) -> String {
    if content.len() <= WHOLE {
        return content.to_owned();
    }
    middle_out(content, HEAD, TAIL, |middle| {
        let between = anchors::listed(middle, ANCHORS);
        let between = if between.is_empty() { between } else { format!(" In them: {between}.") };
        format!("\n[{} lines not sent again.{between}]\n", middle.lines().count())
    })
}
