//! Lays out the files of this directory at compile time: adding a language is adding one file, and a start of axi parses
//! none.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=locales");
    let mut tags: Vec<String> = std::fs::read_dir("locales")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".json").map(str::to_owned))
        .collect();
    tags.sort();
    let mut tables = String::from("&[\n");
    for tag in tags {
        let source = std::fs::read_to_string(Path::new("locales").join(format!("{tag}.json")))?;
        let mut words = BTreeMap::new();
        flatten(String::new(), serde_json::from_str(&source)?, &mut words);
        // One text and places in it: a table of references would have to be relocated at each start.
        let (mut text, mut places) = (String::new(), String::new());
        for (key, word) in &words {
            write!(places, "({}, {}, {}), ", text.len(), key.len(), word.len())?;
            text.extend([key.as_str(), word]);
        }
        writeln!(tables, "    Words {{ tag: {tag:?}, text: {text:?}, places: &[{places}] }},")?;
    }
    tables.push_str("]\n");
    std::fs::write(Path::new(&std::env::var("OUT_DIR")?).join("locales.rs"), tables)?;
    Ok(())
}

fn flatten(prefix: String, value: Value, words: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let key = if prefix.is_empty() { name } else { format!("{prefix}.{name}") };
                flatten(key, field, words);
            }
        }
        Value::String(text) => {
            words.insert(prefix, text);
        }
        // tests/it/locales.rs refuses these.
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {}
    }
}
