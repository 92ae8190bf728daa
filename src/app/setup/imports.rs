//! What the settings of other agents say of provider, model and key. Pure: texts of files come in.
//!
//! A key that stands in such a file is not taken here: only that it is there, and where.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::provider::{self, Protocol};

/// What another agent asks, and with which key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Import {
    /// The agent.
    pub(super) agent: &'static str,
    /// Its file.
    pub(super) file: PathBuf,
    /// The provider, by its name in axi.
    pub(super) provider: String,
    /// The model; `None` where it names none.
    pub(super) model: Option<String>,
    /// Where the provider is, if it is none that axi knows.
    pub(super) address: Option<(String, Protocol)>,
    /// Where its key is.
    pub(super) key: ImportedKey,
}

/// Where another agent has its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ImportedKey {
    /// Nowhere that can be told.
    Unknown,
    /// In this variable of the environment.
    Variable(String),
    /// This command prints it.
    Command(String),
    /// In this file, behind these fields.
    File(PathBuf, Vec<String>),
}

/// Reads a file below the home.
pub(super) type ReadFile<'a> = &'a dyn Fn(&Path) -> Option<String>;

/// Reads the settings of the agents that are known, each where there are some.
pub(super) fn all(home: &Path, read: ReadFile<'_>) -> Vec<Import> {
    let readers = [axiomate, codex, claude, gemini, opencode, aichat];
    readers.iter().filter_map(|import| import(home, read)).collect()
}

fn json_of(path: &Path, read: ReadFile<'_>) -> Option<Value> {
    serde_json::from_str(&read(path)?).ok()
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Tells the provider at an address: one of the table, else one of this name with the address.
fn at(url: Option<String>, named: &str, protocol: Protocol) -> (String, Option<(String, Protocol)>) {
    let Some(url) = url else { return (named.to_owned(), None) };
    let host = |url: &str| url.split("//").nth(1).and_then(|rest| rest.split('/').next()).map(str::to_owned);
    let known = provider::TABLE.iter().find(|row| !row.is_local() && host(row.base_url) == host(&url));
    if let Some(row) = known {
        return (row.name.to_owned(), None);
    }
    // A name in the table means another address.
    let plain = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_');
    let name: String = named.chars().filter(|character| plain(*character)).collect();
    let name = if name.is_empty() || provider::find(&name).is_some() { format!("{name}-own") } else { name };
    (name, Some((url, protocol)))
}

/// A key as a settings file writes it: a variable in one of the usual spellings, else the key itself.
fn written_key(written: Option<String>, file: &Path, fields: &[&str]) -> ImportedKey {
    let Some(written) = written else { return ImportedKey::Unknown };
    let inside = |before: &str, after: &str| {
        written.strip_prefix(before).and_then(|rest| rest.strip_suffix(after)).map(str::to_owned)
    };
    match inside("{env:", "}").or_else(|| inside("${", "}")).or_else(|| inside("$", "")) {
        Some(variable) => ImportedKey::Variable(variable),
        None => ImportedKey::File(file.to_owned(), fields.iter().map(|field| (*field).to_owned()).collect()),
    }
}

fn wire(name: Option<&str>) -> Protocol {
    match name {
        Some("responses" | "openai-responses") => Protocol::OpenAiResponses,
        Some("anthropic") => Protocol::Anthropic,
        Some("gemini") => Protocol::Gemini,
        Some(_) | None => Protocol::OpenAiChat,
    }
}

/// `~/.axiomate.json`: models by name, of which a route names the first.
fn axiomate(home: &Path, read: ReadFile<'_>) -> Option<Import> {
    let file = home.join(".axiomate.json");
    let settings = json_of(&file, read)?;
    let models = settings["models"].as_object()?;
    let route = text(&settings["model"]["defaultRoute"]).unwrap_or_else(|| "default".to_owned());
    let primary = text(&settings["model"]["routes"][&route]["primary"]);
    let named = primary.or_else(|| text(&settings["currentModel"])).filter(|name| models.contains_key(name));
    let name = named.or_else(|| models.keys().next().cloned())?;
    let model = &models[&name];
    let protocol = wire(model["protocol"].as_str());
    let (provider, address) = at(text(&model["baseUrl"]), "axiomate", protocol);
    let key = written_key(text(&model["apiKey"]), &file, &["models", &name, "apiKey"]);
    let model = text(&model["model"]).or(Some(name));
    Some(Import { agent: "axiomate", file, provider, model, address, key })
}

/// `~/.codex/config.toml`: a model and a provider, OpenAI where none is named.
fn codex(home: &Path, read: ReadFile<'_>) -> Option<Import> {
    let file = home.join(".codex/config.toml");
    let auth = home.join(".codex/auth.json");
    let of_auth = json_of(&auth, read).and_then(|auth| text(&auth["OPENAI_API_KEY"]));
    let source = read(&file);
    if source.is_none() && of_auth.is_none() {
        return None;
    }
    let settings = toml_edit::Document::parse(source.unwrap_or_default()).ok()?;
    let get = |keys: &[&str]| {
        let mut item = settings.as_item();
        for key in keys {
            item = item.get(key)?;
        }
        item.as_str().map(str::to_owned)
    };
    let named = get(&["model_provider"]).unwrap_or_else(|| "openai".to_owned());
    let of_provider = |key: &str| get(&["model_providers", &named, key]);
    let (provider, address) =
        at(of_provider("base_url"), &named, wire(Some(of_provider("wire_api").as_deref().unwrap_or("responses"))));
    let key = match of_provider("env_key") {
        Some(variable) => ImportedKey::Variable(variable),
        None => written_key(of_auth, &auth, &["OPENAI_API_KEY"]),
    };
    Some(Import { agent: "codex", file, provider, model: get(&["model"]), address, key })
}

/// `~/.claude/settings.json`: a model, or an alias of one, and an environment.
fn claude(home: &Path, read: ReadFile<'_>) -> Option<Import> {
    let file = home.join(".claude/settings.json");
    let settings = json_of(&file, read)?;
    let variable = |name: &str| text(&settings["env"][name]);
    let (provider, address) = at(variable("ANTHROPIC_BASE_URL"), "anthropic", Protocol::Anthropic);
    let named = variable("ANTHROPIC_MODEL").or_else(|| text(&settings["model"]));
    // `sonnet` is an alias that only Claude Code knows.
    let model = named.filter(|name| name.starts_with("claude-") || address.is_some());
    let in_file = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"].into_iter().find(|name| variable(name).is_some());
    let key = match (text(&settings["apiKeyHelper"]), in_file) {
        (Some(command), _) => ImportedKey::Command(command),
        (None, Some(name)) => written_key(variable(name), &file, &["env", name]),
        (None, None) => ImportedKey::Unknown,
    };
    Some(Import { agent: "claude", file, provider, model, address, key })
}

/// `~/.gemini/settings.json`: a model; the key is in the environment, or in `~/.gemini/.env`.
fn gemini(home: &Path, read: ReadFile<'_>) -> Option<Import> {
    let file = home.join(".gemini/settings.json");
    let settings = json_of(&file, read)?;
    let model = text(&settings["model"]["name"]).or_else(|| text(&settings["model"]));
    let dotenv = home.join(".gemini/.env");
    let name = "GEMINI_API_KEY";
    let has_key = read(&dotenv).is_some_and(|text| assigned(&text, name).is_some());
    let key = if has_key {
        ImportedKey::File(dotenv, vec![name.to_owned()])
    } else {
        ImportedKey::Variable(name.to_owned())
    };
    Some(Import { agent: "gemini-cli", file, provider: "gemini".to_owned(), model, address: None, key })
}

/// `~/.config/opencode/opencode.json`: `PROVIDER/MODEL`, and what the provider is reached by.
fn opencode(home: &Path, read: ReadFile<'_>) -> Option<Import> {
    let file = home.join(".config/opencode/opencode.json");
    let settings = json_of(&file, read)?;
    let chosen = text(&settings["model"])?;
    let (named, model) = chosen.split_once('/')?;
    let options = &settings["provider"][named]["options"];
    let ours = if named == "google" { "gemini" } else { named };
    let protocol = match settings["provider"][named]["npm"].as_str() {
        Some("@ai-sdk/anthropic") => Protocol::Anthropic,
        Some(_) | None => Protocol::OpenAiChat,
    };
    let (provider, address) = at(text(&options["baseURL"]), ours, protocol);
    if address.is_none() && provider::find(&provider).is_none() {
        return None;
    }
    let auth = home.join(".local/share/opencode/auth.json");
    let of_auth = json_of(&auth, read).and_then(|auth| text(&auth[named]["key"]));
    let key = match text(&options["apiKey"]) {
        Some(written) => written_key(Some(written), &file, &["provider", named, "options", "apiKey"]),
        None => written_key(of_auth, &auth, &[named, "key"]),
    };
    Some(Import { agent: "opencode", file, provider, model: Some(model.to_owned()), address, key })
}

/// `~/.config/aichat/config.yaml`: `CLIENT:MODEL`, and the clients. Of YAML only what aichat itself writes is read, a
/// `name: value` a line.
fn aichat(home: &Path, read: ReadFile<'_>) -> Option<Import> {
    let file = home.join(".config/aichat/config.yaml");
    let source = read(&file)?;
    let pair = |line: &str| {
        let (name, value) = line.trim_start_matches([' ', '-']).split_once(':')?;
        let value = value.split(" #").next().unwrap_or_default().trim().trim_matches(['"', '\'']);
        (!value.is_empty()).then(|| (name.trim().to_owned(), value.to_owned()))
    };
    let top = source.lines().filter(|line| !line.starts_with([' ', '-', '#']));
    let chosen = top.filter_map(pair).find(|(name, _)| name == "model")?.1;
    let (client, model) =
        chosen.split_once(':').map_or((chosen.as_str(), None), |(client, model)| (client, Some(model)));
    let mut clients: Vec<Vec<(String, String)>> = Vec::new();
    for line in source.lines().skip_while(|line| !line.starts_with("clients:")).skip(1) {
        if line.trim_start().starts_with("- type:") {
            clients.push(Vec::new());
        }
        if let (Some(last), Some(pair)) = (clients.last_mut(), pair(line)) {
            last.push(pair);
        }
    }
    let field = |fields: &[(String, String)], name: &str| {
        fields.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    };
    let is_it = |fields: &&Vec<(String, String)>| {
        field(fields, "name").or_else(|| field(fields, "type")).as_deref() == Some(client)
    };
    let fields = clients.iter().find(is_it).cloned().unwrap_or_default();
    let ours = match client {
        "claude" => "anthropic",
        client => client,
    };
    let (provider, address) = at(field(&fields, "api_base"), ours, Protocol::OpenAiChat);
    if address.is_none() && provider::find(&provider).is_none() {
        return None;
    }
    let key = written_key(field(&fields, "api_key"), &file, &["api_key", client]);
    Some(Import { agent: "aichat", file, provider, model: model.map(str::to_owned), address, key })
}

/// Takes the key out of a file, once the person has said that it is to be taken.
pub(super) fn key_in(text_of_file: &str, fields: &[String]) -> Option<String> {
    if let Ok(mut value) = serde_json::from_str::<Value>(text_of_file) {
        for field in fields {
            value = value.get_mut(field)?.take();
        }
        return text(&value);
    }
    match fields {
        [name] => assigned(text_of_file, name),
        // aichat's: the key of this client.
        [_, client] => {
            let mut lines = text_of_file.lines().skip_while(|line| {
                let value = line.split_once(':').map_or("", |(_, value)| value.trim());
                !(line.trim_start_matches([' ', '-']).starts_with(['n', 't']) && value == client)
            });
            let line = lines.find_map(|line| line.trim().strip_prefix("api_key:"))?;
            Some(line.trim().trim_matches(['"', '\'']).to_owned()).filter(|key| !key.is_empty())
        }
        _ => None,
    }
}

/// What a file of assignments (`.env`) says of a name.
fn assigned(text: &str, name: &str) -> Option<String> {
    let value = text.lines().find_map(|line| {
        line.trim().trim_start_matches("export ").strip_prefix(name)?.trim_start().strip_prefix('=').map(str::trim)
    });
    value.map(|value| value.trim_matches(['"', '\'']).to_owned()).filter(|value| !value.is_empty())
}

#[cfg(test)]
#[path = "imports_tests.rs"]
mod tests;
