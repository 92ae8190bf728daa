//! The texts that a known value is looked for by.

/// The shortest value that is known to be a secret and looked for: shorter ones are in ordinary words too.
pub(super) const SHORTEST: usize = 8;

/// Adds values to those that are looked for: trimmed, long enough, and also as they stand in a string of JSON.
pub(super) fn looked_for(
    known: impl IntoIterator<Item = String>,
    values: impl IntoIterator<Item = String>,
) -> Vec<String> {
    let values = values.into_iter().map(|value| value.trim().to_owned());
    let values = values.filter(|value| value.len() >= SHORTEST).flat_map(|value| [in_json(&value), value]);
    let mut all: Vec<String> = known.into_iter().chain(values).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn in_json(value: &str) -> String {
    let quoted = serde_json::Value::from(value).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}
