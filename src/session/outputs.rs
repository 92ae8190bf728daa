//! The whole outputs of calls that a session names: files of its own, which go with it.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The field with the path of one, see `ToolFacts`.
const FIELD: &str = "full_output";

/// Finds what a session's own lines name in the directory of outputs, and nowhere else: a file that somebody brought
/// could name any.
pub(super) fn of_session(session: &Path, outputs: &Path) -> BTreeSet<PathBuf> {
    let Ok(file) = File::open(session) else { return BTreeSet::new() };
    let mut found = BTreeSet::new();
    for line in BufReader::new(file).split(b'\n').map_while(Result::ok) {
        if !line.windows(FIELD.len()).any(|window| window == FIELD.as_bytes()) {
            continue;
        }
        if let Ok(value) = serde_json::from_slice::<Value>(&line) {
            collect(&value, &mut found);
        }
    }
    found.retain(|path| path.parent() == Some(outputs));
    found
}

fn collect(value: &Value, found: &mut BTreeSet<PathBuf>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get(FIELD).and_then(Value::as_str).map(PathBuf::from));
            fields.values().for_each(|value| collect(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
