//! A [`Request`] as the body of `streamGenerateContent`. Pure.

use serde_json::{Map, Value, json};

use crate::conversation::{ContentBlock, Image, Outcome, ToolCall, ToolResult};
use crate::provider::catalogue::Effort;
use crate::provider::request::Request;
use crate::provider::settings::ProviderSettings;
use crate::provider::wire::{
    Dialect, Feature, Order, Part, Turn, WireIds, invalid_input, output, tool_name, turns,
};

/// A call must stand behind a person's words or results, and its results behind it.
const ORDER: Order = Order { two_answers: false, words_behind_results: false };

/// Stands for the signature of a call that this model did not make; the next call brings a real one
/// (farion1231/cc-switch PR#6848).
const ANY_SIGNATURE: &str = "skip_thought_signature_validator";

/// Writes the body. What stays the same from request to request comes first, the conversation last.
pub(crate) fn encode(settings: &ProviderSettings, dialect: Dialect, request: &Request<'_>) -> Value {
    let dialect = dialect.without(Feature::Search, !request.search);
    let mut body = Map::new();
    if !request.system.is_empty() {
        body.insert("systemInstruction".into(), json!({"parts": [{"text": request.system}]}));
    }
    if settings.tools && !request.tools.is_empty() {
        let schema = if dialect.says(Feature::NewSchemas) { "parametersJsonSchema" } else { "parameters" };
        let tools: Vec<Value> = request
            .tools
            .iter()
            .map(|tool| json!({"name": tool.name, "description": tool.description, schema: tool.input_schema}))
            .collect();
        let mut tools = vec![json!({"functionDeclarations": tools})];
        tools.extend(dialect.says(Feature::Search).then(|| json!({"googleSearch": {}})));
        body.insert("tools".into(), Value::Array(tools));
        if dialect.says(Feature::Search) {
            // Google's tools and ours work together only with this field.
            body.insert("toolConfig".into(), json!({"includeServerSideToolInvocations": true}));
        }
    }
    let mut config = Map::new();
    if let Some(limit) = request.max_output_tokens {
        config.insert("maxOutputTokens".into(), json!(limit));
    }
    if let Some(temperature) = request.temperature.filter(|_| dialect.says(Feature::Temperature)) {
        config.insert("temperature".into(), json!(temperature));
    }
    if dialect.says(Feature::Thoughts) {
        let mut thinking = Map::new();
        if dialect.says(Feature::Effort)
            && let Some(effort) = settings.abilities.effort(request.effort)
        {
            let (field, said) = said_effort(effort, settings.abilities.thinking.budget);
            thinking.insert(field.into(), said);
        }
        thinking.insert("includeThoughts".into(), json!(true));
        config.insert("thinkingConfig".into(), Value::Object(thinking));
    }
    if !config.is_empty() {
        body.insert("generationConfig".into(), Value::Object(config));
    }
    let id = settings.id();
    let ids = WireIds::new(settings.quirks.call_ids, &id);
    let mut writer = Writer { settings, dialect, ids, id: id.clone(), echoed: Vec::new(), contents: Vec::new() };
    let speaks = |block: &ContentBlock| match block {
        ContentBlock::Text { text } => !text.is_empty(),
        ContentBlock::ToolCall(_) => true,
        ContentBlock::WireItem(made) => made.model == id && made.item.get("part").is_some(),
        ContentBlock::Reasoning(_) | ContentBlock::ToolResult(_) | ContentBlock::Image(_) => false,
    };
    for turn in turns(request.messages, ORDER, speaks) {
        match turn {
            Turn::Person(parts) => writer.person(&parts),
            Turn::Results(results) => writer.results(&results),
            Turn::Model(content) => writer.model(content),
            Turn::StandIn(words) => writer.add("model", &[json!({"text": words})]),
        }
    }
    body.insert("contents".into(), Value::Array(writer.contents));
    Value::Object(body)
}

/// Models before Gemini 3 take a number of tokens, later ones a word. None of the later ones can be kept from
/// thinking.
fn said_effort(effort: Effort, budget: Option<(Option<u64>, Option<u64>)>) -> (&'static str, Value) {
    if let Some((least, most)) = budget {
        let (least, most) = (least.unwrap_or(0), most.unwrap_or(24_576));
        let tokens = if effort == Effort::None { least } else { effort.budget(least, most) };
        return ("thinkingBudget", json!(tokens));
    }
    let word = match effort {
        Effort::None | Effort::Minimal => Effort::Minimal,
        Effort::Low | Effort::Medium | Effort::High => effort,
        Effort::Xhigh | Effort::Max => Effort::High,
    };
    ("thinkingLevel", json!(word.word()))
}

struct Writer<'a> {
    settings: &'a ProviderSettings,
    dialect: Dialect,
    id: String,
    ids: WireIds,
    /// Calls of the last answer that carry an id: their results do, too.
    echoed: Vec<String>,
    contents: Vec<Value>,
}

impl Writer<'_> {
    fn add(&mut self, role: &str, parts: &[Value]) {
        self.contents.push(json!({"role": role, "parts": parts}));
    }

    fn person(&mut self, parts: &[Part<'_>]) {
        let parts = parts.iter().map(|part| match part {
            Part::Text(text) => json!({"text": text}),
            Part::Image(image) => self.image(image),
        });
        let parts: Vec<Value> = parts.collect();
        self.add("user", &parts);
    }

    fn image(&self, image: &Image) -> Value {
        if !self.settings.vision {
            return json!({"text": "[a picture is left out: this model cannot see]"});
        }
        json!({"inlineData": {"mimeType": image.media_type, "data": image.data}})
    }

    fn results(&mut self, results: &[&ToolResult]) {
        let mut parts: Vec<Value> = Vec::new();
        for result in results {
            let field = match result.outcome {
                Outcome::Ok => "output",
                Outcome::Failed | Outcome::Denied | Outcome::Interrupted => "error",
            };
            let mut response = Map::new();
            if self.echoed.contains(&result.call_id) {
                response.insert("id".into(), json!(self.ids.of_result(&result.call_id)));
            }
            response.insert("name".into(), json!(tool_name(&result.name)));
            response.insert("response".into(), json!({field: output(result)}));
            parts.push(json!({"functionResponse": response}));
        }
        let images = results.iter().flat_map(|result| &result.images);
        let images: Vec<Value> = images.map(|image| self.image(image)).collect();
        parts.extend(images);
        self.add("user", &parts);
    }

    fn model(&mut self, content: &[ContentBlock]) {
        self.ids.next_message();
        self.echoed.clear();
        let mut parts: Vec<Value> = Vec::new();
        let mut called = false;
        for block in content {
            match block {
                ContentBlock::Text { text } if !text.is_empty() => parts.push(json!({"text": text})),
                ContentBlock::ToolCall(call) => {
                    parts.push(self.call(call, !called));
                    called = true;
                }
                ContentBlock::WireItem(made) if made.model == self.id => wire_item(&made.item, &mut parts),
                // Thoughts are for the person; the signatures carry what the model needs.
                ContentBlock::Text { .. }
                | ContentBlock::Reasoning(_)
                | ContentBlock::WireItem(_)
                | ContentBlock::ToolResult(_)
                | ContentBlock::Image(_) => {}
            }
        }
        self.add("model", &parts);
    }

    /// Each signature goes back on the part it came with. Of parallel calls only the first has a signature, and the
    /// server demands only that one (google/adk-go PR#764).
    fn call(&mut self, call: &ToolCall, first: bool) -> Value {
        let own = self.ids.is_own(call);
        let id = self.ids.assign(call);
        let mut function = Map::new();
        if own && self.dialect.says(Feature::CallIds) && call.extra.contains_key("id") {
            self.echoed.push(call.id.clone());
            function.insert("id".into(), json!(id));
        }
        let input = call.invalid_input.as_deref().map_or_else(|| call.input.clone(), invalid_input);
        function.insert("name".into(), json!(tool_name(&call.name)));
        function.insert("args".into(), input);
        let mut part = json!({"functionCall": function});
        match call.extra.get("thoughtSignature").filter(|_| own) {
            Some(signature) => part["thoughtSignature"] = signature.clone(),
            None if first && self.dialect.says(Feature::StandInSignature) => {
                part["thoughtSignature"] = json!(ANY_SIGNATURE);
            }
            None => {}
        }
        part
    }
}

/// A signature belongs to the text before it; what else was kept goes back as it came.
fn wire_item(item: &Value, parts: &mut Vec<Value>) {
    if let Some(part) = item.get("part") {
        parts.push(part.clone());
        return;
    }
    let Some(signature) = item.get("thoughtSignature") else { return };
    match parts.last_mut() {
        Some(last) if last.get("text").is_some() && last.get("thoughtSignature").is_none() => {
            last["thoughtSignature"] = signature.clone();
        }
        _ => parts.push(json!({"text": "", "thoughtSignature": signature})),
    }
}
