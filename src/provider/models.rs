//! Which models a server has.

use std::time::Duration;

use serde_json::{Value, json};

use super::error::ProviderError;
use super::gateway::dress;
use super::http::{Answer, Call, Client, Origin};
use super::settings::{Protocol, ProviderSettings};
use super::{address, anthropic, bedrock, gemini, openai_chat};

/// How long a list of models is waited for; it is made for a person who looks at the screen.
const LIST_PATIENCE: Duration = Duration::from_secs(20);

/// One model of a server, with what the server says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelEntry {
    /// The name to ask for.
    pub name: String,
    /// Context window in tokens.
    pub context_window: Option<u64>,
    /// Whether it can call tools.
    pub tools: Option<bool>,
    /// Whether it can see pictures.
    pub vision: Option<bool>,
    /// Bytes of its weights.
    pub size: Option<u64>,
}

/// Asks a server for its models. The order is the server's; models that cannot chat are left out where the server
/// or the name says so.
///
/// # Errors
/// As of a request.
///
/// # Cancel safety
/// Dropping the future closes the connection.
pub async fn list_models(settings: &ProviderSettings, client: &Client) -> Result<Vec<ModelEntry>, ProviderError> {
    let base = address::base_url(settings.protocol, &settings.base_url);
    let bearer = || openai_chat::bearer(settings).into_iter().collect();
    let (url, headers) = match settings.protocol {
        Protocol::Bedrock => {
            let [models, profiles] = bedrock::lists(&base);
            let mut list = list_at(settings, client, models, bearer()).await?;
            // Newer models need a profile. A key that may not list profiles still gets the other models.
            list.extend(list_at(settings, client, profiles, bearer()).await.unwrap_or_default());
            return Ok(list);
        }
        Protocol::OpenAiChat | Protocol::OpenAiResponses => (format!("{base}/models"), bearer()),
        Protocol::Anthropic => (format!("{base}/v1/models?limit=1000"), anthropic::headers_of(settings)),
        Protocol::Gemini => {
            (format!("{base}/models?pageSize=1000"), gemini::key_header(settings).into_iter().collect())
        }
        Protocol::Ollama => (format!("{base}/api/tags"), bearer()),
    };
    list_at(settings, client, url, headers).await
}

async fn list_at(
    settings: &ProviderSettings,
    client: &Client,
    url: String,
    headers: Vec<(&'static str, String)>,
) -> Result<Vec<ModelEntry>, ProviderError> {
    let origin = Origin::of(settings);
    let call = dress(&settings.gateway, Call { url, headers, ..Call::default() });
    let mut answer = client.send(&call, LIST_PATIENCE).await?;
    answer.check_portal()?;
    if !answer.is_success() {
        let status = answer.status();
        let (complaint, wait) = answer.complaint().await;
        return Err(complaint.into_error(&origin, status, wait));
    }
    let body = answer.json(&origin, LIST_PATIENCE).await?;
    read(&body).ok_or_else(|| origin.protocol("the answer is no list of models"))
}

/// Asks a server whether it accepts the key: at its list of models, or at the address that describes the key.
///
/// # Errors
/// As of a request.
///
/// # Cancel safety
/// Dropping the future closes the connection.
pub async fn check_key(settings: &ProviderSettings, client: &Client) -> Result<(), ProviderError> {
    let place = super::table::find(&settings.name).map(|row| row.key_check).filter(|place| !place.is_empty());
    let Some(place) = place else { return list_models(settings, client).await.map(drop) };
    let url = format!("{}{place}", address::base_url(settings.protocol, &settings.base_url));
    let headers = openai_chat::bearer(settings).into_iter().collect();
    let mut answer =
        client.send(&dress(&settings.gateway, Call { url, headers, ..Call::default() }), LIST_PATIENCE).await?;
    answer.check_portal()?;
    if answer.is_success() {
        // How it begins tells a page from a yes.
        return answer.chunk(LIST_PATIENCE).await.map(drop);
    }
    let status = answer.status();
    let (complaint, wait) = answer.complaint().await;
    Err(complaint.into_error(&Origin::of(settings), status, wait))
}

/// Asks Ollama what one of its models can do; `None` when it does not say.
pub(crate) async fn show_ollama(base_url: &str, client: &Client, entry: &mut ModelEntry) -> Option<()> {
    let body = json!({"model": entry.name}).to_string().into_bytes();
    let call = Call { url: format!("{base_url}/api/show"), body: Some(body), ..Call::default() };
    let mut answer = client.send(&call, LIST_PATIENCE).await.ok().filter(Answer::is_success)?;
    let mut settings = ProviderSettings::custom("ollama", Protocol::Ollama, base_url, &entry.name);
    settings.key = None;
    let shown = answer.json(&Origin::of(&settings), LIST_PATIENCE).await.ok()?;
    let can = |what: &str| {
        let list = shown.get("capabilities")?.as_array()?;
        Some(list.iter().any(|capability| capability == what))
    };
    entry.tools = can("tools");
    entry.vision = can("vision");
    if can("completion") == Some(false) {
        // An embedding model comes last, whatever its name.
        entry.tools = Some(false);
    }
    Some(())
}

/// Reads the lists of all servers: `data` or `models`, or a bare array (Together).
pub(crate) fn read(body: &Value) -> Option<Vec<ModelEntry>> {
    let holders = ["data", "models", "modelSummaries", "inferenceProfileSummaries"];
    let list = holders.iter().find_map(|holder| body.get(holder)).unwrap_or(body).as_array()?;
    Some(list.iter().filter_map(entry).collect())
}

fn entry(value: &Value) -> Option<ModelEntry> {
    let name = ["id", "model", "modelId", "inferenceProfileId", "name"]
        .iter()
        .find_map(|field| value.get(field)?.as_str())?;
    // Google lists them as `models/NAME` and takes both.
    let name = name.strip_prefix("models/").unwrap_or(name);
    // Google lists what each model can do.
    let methods = value.get("supportedGenerationMethods").and_then(Value::as_array);
    let answers = methods.is_none_or(|methods| methods.iter().any(|method| method == "generateContent"));
    // Amazon says which models need a profile; the profiles are listed beside the models.
    let kinds = value.get("inferenceTypesSupported").and_then(Value::as_array);
    let answers = answers && kinds.is_none_or(|kinds| kinds.iter().any(|kind| kind == "ON_DEMAND"));
    if name.is_empty() || !answers || !chats(name, value) {
        return None;
    }
    let number = |field: &&str| value.get(*field).and_then(Value::as_u64);
    let contexts = [
        "context_length",
        "context_window",
        "max_context_length",
        "max_model_len",
        "max_input_tokens",
        "inputTokenLimit",
    ];
    let listed =
        |pointer: &str, what: &str| Some(value.pointer(pointer)?.as_array()?.iter().any(|given| given == what));
    let flag = |pointer: &str| value.pointer(pointer).and_then(Value::as_bool);
    Some(ModelEntry {
        name: name.to_owned(),
        context_window: contexts
            .iter()
            .find_map(number)
            // llama.cpp's server lists the window that it was started with.
            .or_else(|| value.pointer("/meta/n_ctx")?.as_u64())
            .filter(|tokens| *tokens > 0),
        tools: flag("/capabilities/function_calling")
            .or_else(|| listed("/supported_parameters", "tools"))
            .or_else(|| listed("/capabilities", "tools")),
        vision: flag("/capabilities/vision")
            .or_else(|| listed("/architecture/input_modalities", "image"))
            .or_else(|| listed("/inputModalities", "IMAGE"))
            .or_else(|| listed("/capabilities", "vision")),
        // Ollama says it, and LM Studio.
        size: ["size", "size_bytes"].iter().find_map(number),
    })
}

/// Parts of the names of models that embed, rank, hear or paint; servers list them among the others.
const NO_CHAT: &[&str] = &[
    "embed",
    "bge-",
    "minilm",
    "rerank",
    "whisper",
    "tts",
    "dall-e",
    "moderation",
    "transcribe",
    "stable-diffusion",
    "gpt-image",
    "imagen",
    "realtime",
];

fn chats(name: &str, value: &Value) -> bool {
    if value.pointer("/capabilities/completion_chat") == Some(&Value::Bool(false)) {
        return false;
    }
    let name = name.to_ascii_lowercase();
    !NO_CHAT.iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> ModelEntry {
        ModelEntry { name: name.into(), context_window: None, tools: None, vision: None, size: None }
    }

    #[test]
    fn lists_of_all_servers_are_read() {
        let openai = json!({"object": "list", "data": [{"id": "gpt-5"}, {"id": "text-embedding-3-small"}, {"id": "whisper-1"}]});
        assert_eq!(read(&openai), Some(vec![named("gpt-5")]));
        let ollama =
            json!({"models": [{"name": "qwen3:8b", "model": "qwen3:8b"}, {"name": "nomic-embed-text:latest"}]});
        assert_eq!(read(&ollama), Some(vec![named("qwen3:8b")]));
        assert_eq!(read(&json!([{"id": "a/b"}])), Some(vec![named("a/b")]));
        assert_eq!(read(&json!({"data": [{"id": "models/gemini-2.5-pro"}]})), Some(vec![named("gemini-2.5-pro")]));
        let router = json!({"data": [{"id": "x/y", "context_length": 1000, "supported_parameters": ["tools"],
                            "architecture": {"input_modalities": ["text"]}}]});
        let expected =
            ModelEntry { context_window: Some(1000), tools: Some(true), vision: Some(false), ..named("x/y") };
        assert_eq!(read(&router), Some(vec![expected]));
        let mistral = json!({"data": [
            {"id": "codestral", "max_context_length": 256_000, "capabilities": {"function_calling": true, "vision": false}},
            {"id": "ocr", "capabilities": {"completion_chat": false}},
        ]});
        assert_eq!(read(&mistral).map(|list| list.len()), Some(1));
        let amazon = json!({"modelSummaries": [
            {"modelId": "amazon.nova-lite-v1:0", "inferenceTypesSupported": ["ON_DEMAND"], "inputModalities": ["TEXT", "IMAGE"]},
            {"modelId": "anthropic.claude-opus-4-8", "inferenceTypesSupported": ["INFERENCE_PROFILE"]},
        ]});
        assert_eq!(read(&amazon), Some(vec![ModelEntry { vision: Some(true), ..named("amazon.nova-lite-v1:0") }]));
        let profiles =
            json!({"inferenceProfileSummaries": [{"inferenceProfileId": "us.x", "inferenceProfileName": "X"}]});
        assert_eq!(read(&profiles), Some(vec![named("us.x")]));
        let llama = json!({"data": [{"id": "x", "meta": {"n_ctx": 4096, "n_ctx_train": 32768}}]});
        assert_eq!(read(&llama), Some(vec![ModelEntry { context_window: Some(4096), ..named("x") }]));
        for odd in [json!(null), json!("<html>"), json!({"data": 3})] {
            assert_eq!(read(&odd), None);
        }
        assert_eq!(read(&json!({"data": [null, 3, {"id": 4}, {"id": ""}]})), Some(vec![]));
    }
}
