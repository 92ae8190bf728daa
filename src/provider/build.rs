//! Turns the rows of `providers.json` into a table at compile time: a new provider is a new row, and axi parses
//! nothing when it starts. Part of the build script, not of the crate.

use std::error::Error;
use std::fmt::Write as _;

use serde_json::Value;

/// Words of the file, and the variants they become.
type Words = &'static [(&'static str, &'static str)];

/// Fields of `quirks`, and the types and variants they become.
const QUIRKS: &[(&str, &str, Words)] = &[
    ("call_ids", "CallIds", &[("nine-alphanumerics", "NineAlphanumerics")]),
    ("reasoning_echo", "ReasoningEcho", &[("never", "Never")]),
    ("output_limit", "OutputLimit", &[("max_completion_tokens", "MaxCompletionTokens")]),
    ("result_pictures", "ResultPictures", &[("inside", "Inside")]),
];

const PROTOCOLS: Words = &[
    ("openai-chat", "OpenAiChat"),
    ("openai-responses", "OpenAiResponses"),
    ("anthropic", "Anthropic"),
    ("gemini", "Gemini"),
    ("bedrock", "Bedrock"),
    ("ollama", "Ollama"),
];

/// Writes the table as an expression of Rust.
///
/// # Errors
/// What is wrong, with the row's name.
pub(crate) fn lay_out(source: &str) -> Result<String, Box<dyn Error>> {
    let rows: Vec<Value> = serde_json::from_str(source)?;
    let mut table = String::from("&[\n");
    for row in &rows {
        let name = row["name"].as_str().ok_or("a provider has no name")?;
        row_of(row, &mut table).map_err(|error| format!("providers.json: {name}: {error}"))?;
    }
    table.push_str("]\n");
    Ok(table)
}

fn row_of(row: &Value, table: &mut String) -> Result<(), Box<dyn Error>> {
    let fields = row.as_object().ok_or("no object")?;
    let known = [
        "name",
        "protocol",
        "at_home",
        "base_url",
        "base_url_variables",
        "key_variables",
        "default_model",
        "quirks",
        "query",
        "key_check",
        "search_price",
        "start",
        "models_dev",
    ];
    if let Some(strange) = fields.keys().find(|field| !known.contains(&field.as_str())) {
        return Err(format!("nobody knows {strange}").into());
    }
    let text = |field: &str| row[field].as_str().ok_or_else(|| format!("{field} is no text"));
    let texts = |field: &str| {
        let list =
            row[field].as_array().and_then(|list| list.iter().map(Value::as_str).collect::<Option<Vec<_>>>());
        list.ok_or_else(|| format!("{field} is no list of texts"))
    };
    let at_home = match row.get("at_home").and_then(Value::as_str) {
        Some(protocol) => format!("Some(Protocol::{})", word(PROTOCOLS, protocol)?),
        None => "None".to_owned(),
    };
    let mut quirks = String::new();
    for (field, said) in row.get("quirks").and_then(Value::as_object).into_iter().flatten() {
        let quirk =
            QUIRKS.iter().find(|(name, ..)| name == field).ok_or_else(|| format!("nobody knows {field}"))?;
        let variant = word(quirk.2, said.as_str().unwrap_or_default())?;
        write!(quirks, "{field}: {}::{variant}, ", quirk.1)?;
    }
    let mut query = Vec::new();
    for (name, value) in row.get("query").and_then(Value::as_object).into_iter().flatten() {
        query.push((name.as_str(), value.as_str().ok_or_else(|| format!("{name} is no text"))?));
    }
    let key_check = row.get("key_check").and_then(Value::as_str).unwrap_or_default();
    let search_price = row.get("search_price").and_then(Value::as_str).unwrap_or_default();
    let start = if row.get("start").is_some() { texts("start")? } else { Vec::new() };
    writeln!(
        table,
        "Row {{ name: {:?}, protocol: Protocol::{}, at_home: {at_home}, base_url: {:?}, base_url_variables: &{:?}, \
         key_variables: &{:?}, default_model: {:?}, query: &{query:?}, key_check: {key_check:?}, \
         search_price: {search_price:?}, start: &{start:?}, quirks: Quirks {{ {quirks}..PLAIN }} }},",
        text("name")?,
        word(PROTOCOLS, text("protocol")?)?,
        text("base_url")?,
        texts("base_url_variables")?,
        texts("key_variables")?,
        text("default_model")?,
    )?;
    Ok(())
}

fn word(words: Words, said: &str) -> Result<&'static str, Box<dyn Error>> {
    let found = words.iter().find(|(name, _)| *name == said).ok_or_else(|| format!("nobody knows {said}"))?;
    Ok(found.1)
}
