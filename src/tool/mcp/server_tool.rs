//! One tool of a server.

use std::path::Path;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::sync::mpsc;

use crate::conversation::{About, Effect, Outcome, Preview, ToolFacts, ToolIdentity, ToolSpec};
use crate::mcp::{Answer, Call, Failure, Offered, Part, Servers};
use crate::tool::output::{self, LIMITS};
use crate::tool::{Before, Request, Roots, Tool, ToolContext, ToolOutput, base64, output_file, picture, work};

use super::form;
use super::name::full_name;

/// What a server may ask the person at once.
const ASKS: usize = 4;
/// The most pictures of one answer that the model is shown.
const MOST_PICTURES: usize = 8;

/// A tool of a server. Whatever the server says about it, it may do anything: it is asked about unless a rule names
/// it.
pub(super) struct ServerTool(Arc<Of>);

/// What the tool's calls share.
struct Of {
    name: String,
    offered: Offered,
    servers: Servers,
}

/// A call: the server alone knows what its arguments mean.
struct Asked {
    of: Arc<Of>,
    input: Value,
}

impl ServerTool {
    pub(super) fn new(offered: Offered, servers: Servers) -> Self {
        Self(Arc::new(Of { name: full_name(&offered.server, &offered.tool.name), offered, servers }))
    }
}

impl Tool for ServerTool {
    fn spec(&self) -> ToolSpec {
        let tool = &self.0.offered.tool;
        ToolSpec {
            name: self.0.name.clone(),
            description: tool.description.clone(),
            input_schema: tool.input_schema.clone(),
            identity: ToolIdentity::default(),
        }
    }

    fn read(&self, input: &Value, _place: &Roots) -> Arc<dyn Request> {
        Arc::new(Asked { of: Arc::clone(&self.0), input: input.clone() })
    }

    fn is_said_to_harm(&self) -> bool {
        self.0.offered.tool.harms
    }
}

impl Request for Asked {
    fn effect(&self) -> Effect {
        Effect::Execute
    }

    fn about(&self) -> About {
        match self.input.as_object() {
            Some(fields) if !fields.is_empty() => About::Text { text: self.input.to_string() },
            Some(_) | None => About::Subject,
        }
    }

    fn check(&self, _before: &Before<'_>) -> Result<Preview, String> {
        let Offered { server, tool, .. } = &self.of.offered;
        let input = serde_json::to_string_pretty(&self.input).unwrap_or_default();
        Ok(Preview::Text { text: format!("{server}: {}\n{input}", tool.name) })
    }

    fn run(self: Arc<Self>, context: ToolContext<'_>) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move {
            let Offered { server, tool, .. } = &self.of.offered;
            let (asks, mut asked) = mpsc::channel(ASKS);
            let arguments =
                if self.input.is_null() { Value::Object(serde_json::Map::new()) } else { self.input.clone() };
            let call = Call { tool: tool.name.clone(), arguments, progress: context.progress.clone(), asks };
            let mut calling = std::pin::pin!(self.of.servers.call(server, call));
            let answer = loop {
                tokio::select! {
                    biased;
                    () = context.cancel.cancelled() => {
                        return work::interrupted("Interrupted by the user.", ToolFacts::default());
                    }
                    answer = &mut calling => break answer,
                    Some(asking) = asked.recv() => {
                        let said = form::answer(server, &asking.params, &context.person).await;
                        // Fails if the server is gone: it wants no answer then.
                        let _ = asking.reply.send(said);
                    }
                }
            };
            match answer {
                Ok(answer) => {
                    let (directory, name) = (context.output_dir.to_path_buf(), self.of.name.clone());
                    // Pictures are scaled; a large text is cleaned.
                    let told = work::blocking(context.cancel, move |_| told(answer, &name, &directory)).await;
                    told.unwrap_or_else(|output| output)
                }
                Err(failure) => ToolOutput::failed(why_not(server, &failure)),
            }
        })
    }
}

/// Words a failure for the model.
fn why_not(server: &str, failure: &Failure) -> String {
    match failure {
        Failure::Refused { code: -32602, .. } => {
            format!("The server {server}: {failure}. Look at the tool's schema and call again.")
        }
        Failure::Refused { .. } => format!("The server {server}: {failure}."),
        _ => format!("The server {server}: {failure}. Go on without it where that is possible, and say so."),
    }
}

/// Makes the model's text of an answer; a long one is kept whole in a file.
pub(super) fn told(answer: Answer, name: &str, directory: &Path) -> ToolOutput {
    let (mut texts, mut images) = (Vec::new(), Vec::new());
    for part in answer.parts {
        match part {
            Part::Text(text) => texts.push(output::clean(text.as_bytes())),
            Part::Picture { .. } if images.len() >= MOST_PICTURES => {
                texts.push("[one more picture, not shown]".to_owned());
            }
            Part::Picture { media_type, data } => match base64::decode(&data) {
                Some(bytes) if media_type.starts_with("image/") => match picture::fit(&media_type, &bytes) {
                    Ok(fitted) => {
                        texts.push(format!("[picture {}: {media_type}]", images.len() + 1));
                        images.push(fitted.image);
                    }
                    Err(unfit) => texts.push(format!("[a picture that cannot be shown: it is {unfit}]")),
                },
                Some(_) | None => texts.push(format!("[a picture that is none: {media_type}]")),
            },
        }
    }
    let text = texts.join("\n");
    let text = if text.is_empty() { "(no output)".to_owned() } else { text };
    let mut facts = ToolFacts { lines: Some(output::count_lines(&text) as u64), ..ToolFacts::default() };
    let content = if output::fits(&text, LIMITS) {
        text
    } else {
        let path = directory.join(format!("{name}-{}.txt", std::process::id()));
        let path = unused(path);
        let kept = output_file::keep(&path, text.as_bytes()).ok().map(|()| path);
        let note = kept.as_ref().map(|path| format!("the whole is in {}", path.display()));
        let (head, tail) = output::ends(&text, &text, LIMITS);
        let cut = text.len() - head.len() - tail.len();
        let lines =
            output::count_lines(&text).saturating_sub(output::count_lines(head) + output::count_lines(tail));
        facts.full_output = kept;
        output::joined(head, tail, &output::cut_mark(lines as u64, cut as u64, note.as_deref()))
    };
    let outcome = if answer.failed { Outcome::Failed } else { Outcome::Ok };
    ToolOutput { outcome, images, ..ToolOutput::ok(content, facts) }
}

/// A path where nothing is yet.
fn unused(path: std::path::PathBuf) -> std::path::PathBuf {
    let stem = path.with_extension("");
    let numbered =
        (2..1_000_u32).map(|number| std::path::PathBuf::from(format!("{}-{number}.txt", stem.display())));
    std::iter::once(path.clone()).chain(numbered).find(|path| !path.exists()).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_plain_text_of_a_size_for_the_model() {
        let folder = tempfile::tempdir().unwrap();
        let long = "line\u{1b}[31m\n".repeat(5_000);
        let parts = vec![Part::Text(long), Part::Picture { media_type: "image/png".into(), data: "!".into() }];
        let output = told(Answer { parts, failed: false }, "a__b", folder.path());
        assert!(output.content.len() <= LIMITS.bytes + 500, "{}", output.content.len());
        assert!(!output.content.contains('\u{1b}'));
        assert!(output.content.contains("[a picture that is none: image/png]"));
        let whole = std::fs::read_to_string(output.facts.full_output.unwrap()).unwrap();
        assert_eq!(whole.lines().count(), 5_001 + 1);
        let empty = told(Answer { parts: Vec::new(), failed: true }, "a__b", folder.path());
        assert_eq!((empty.content.as_str(), empty.outcome), ("(no output)", Outcome::Failed));
    }
}
