//! Arguments of a call that come field by field, each under its path (`$.files[0].name`). Pure.

use serde_json::{Map, Value, json};

/// Arguments under way.
#[derive(Debug, Default)]
pub(super) struct PartialArguments {
    whole: Map<String, Value>,
}

/// The most items of a list that a path may name: a server must not decide how much memory axi uses.
const MOST_ITEMS: usize = 10_000;

impl PartialArguments {
    /// Starts with what came whole.
    pub(super) fn new(whole: Option<&Value>) -> Self {
        Self { whole: whole.and_then(Value::as_object).cloned().unwrap_or_default() }
    }

    /// Takes a field, or more of one: texts are added to what is there.
    pub(super) fn push(&mut self, piece: &Value) {
        let path = piece.get("jsonPath").and_then(Value::as_str).unwrap_or_default();
        let Some((first, rest)) = steps(path).and_then(|mut steps| {
            let rest = steps.split_off(1.min(steps.len()));
            steps.pop().map(|first| (first, rest))
        }) else {
            return;
        };
        let Step::Field(first) = first else { return };
        let mut place = self.whole.entry(first).or_insert(Value::Null);
        for step in rest {
            place = match step {
                Step::Field(name) => {
                    if !place.is_object() {
                        *place = json!({});
                    }
                    let Some(object) = place.as_object_mut() else { return };
                    object.entry(name).or_insert(Value::Null)
                }
                Step::Item(number) => {
                    if !place.is_array() {
                        *place = json!([]);
                    }
                    let Some(list) = place.as_array_mut().filter(|_| number < MOST_ITEMS) else { return };
                    if list.len() <= number {
                        list.resize(number + 1, Value::Null);
                    }
                    &mut list[number]
                }
            };
        }
        match (piece.get("stringValue").and_then(Value::as_str), place) {
            (Some(more), Value::String(text)) => text.push_str(more),
            (Some(text), place) => *place = json!(text),
            (None, place) => {
                let value = ["numberValue", "boolValue", "nullValue"].iter().find_map(|field| piece.get(field));
                // A null is written as the name of its only value.
                let is_null = piece.get("nullValue").is_some();
                *place = value.filter(|_| !is_null).cloned().unwrap_or(Value::Null);
            }
        }
    }

    /// Returns all of it as JSON text.
    pub(super) fn finish(self) -> String {
        Value::Object(self.whole).to_string()
    }
}

enum Step {
    Field(String),
    Item(usize),
}

/// Reads a path; `None` when it is none.
fn steps(path: &str) -> Option<Vec<Step>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('[') {
            let (inside, after) = after.split_once(']')?;
            let quoted = inside.trim_matches(['\'', '"']);
            steps.push(inside.parse().map_or_else(|_| Step::Field(quoted.to_owned()), Step::Item));
            rest = after;
        } else {
            let after = rest.strip_prefix('.')?;
            let end = after.find(['.', '[']).unwrap_or(after.len());
            steps.push(Step::Field(after[..end].to_owned()));
            rest = &after[end..];
        }
    }
    Some(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_put_where_their_paths_say() {
        let mut arguments = PartialArguments::new(None);
        for piece in [
            json!({"jsonPath": "$.a", "stringValue": "x", "willContinue": true}),
            json!({"jsonPath": "$.a", "stringValue": "y"}),
            json!({"jsonPath": "$.list[1].b", "numberValue": 2}),
            json!({"jsonPath": "$.list[0]", "boolValue": true}),
            json!({"jsonPath": "$['odd name']", "nullValue": "NULL_VALUE"}),
            json!({"jsonPath": "nonsense", "stringValue": "z"}),
            json!({"jsonPath": "$.list[99999999999]", "stringValue": "z"}),
        ] {
            arguments.push(&piece);
        }
        let expected = json!({"a": "xy", "list": [true, {"b": 2}], "odd name": null});
        assert_eq!(serde_json::from_str::<Value>(&arguments.finish()).unwrap(), expected);
    }
}
