//! The `tool_search` tool: where there are more tools than a request should carry, the model is told their names and loads
//! what it needs.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::conversation::{About, Effect, Preview, ToolFacts, ToolIdentity, ToolSpec};
use crate::tool::arguments::{Arguments, Field};
use crate::tool::{Before, Request, Roots, Tool, ToolContext, ToolOutput, Unread};

use super::shared::Shared;

/// What it is called.
pub(super) const NAME: &str = "tool_search";

/// How many tools one search loads.
const BEST: usize = 5;

const FIELDS: &[Field] = &[Field { name: "query", aliases: &["text", "search", "name", "keywords"] }];

/// Loads tools.
pub(super) struct ToolSearch {
    /// By what they begin with, the names of the tools that are not told in full.
    pub(super) names: BTreeMap<String, Vec<String>>,
    pub(super) shared: Shared,
}

/// The words that are searched for.
struct Sought {
    query: String,
    shared: Shared,
}

impl Tool for ToolSearch {
    fn spec(&self) -> ToolSpec {
        let mut description =
            "Loads more tools by words of what they do, or by an exact name: the best five can be called from the \
             next step on, and stay. Tools not loaded yet:"
                .to_owned();
        for (group, names) in &self.names {
            // What is behind the group only: they are many.
            let short: Vec<&str> = names.iter().map(|name| name.strip_prefix(group).unwrap_or(name)).collect();
            description.extend(["\n", group, ": ", &short.join(" ")]);
        }
        ToolSpec {
            name: NAME.to_owned(),
            description,
            input_schema: json!({
                "type": "object",
                "properties": {"query": {"type": "string"}},
                "required": ["query"]
            }),
            identity: ToolIdentity::default(),
        }
    }

    fn read(&self, input: &Value, _place: &Roots) -> Arc<dyn Request> {
        let sought = |query| Sought { query, shared: self.shared.clone() };
        Unread::or(Effect::Read, query(input).map(sought))
    }
}

impl Request for Sought {
    fn effect(&self) -> Effect {
        Effect::Read
    }

    fn about(&self) -> About {
        About::Text { text: self.query.clone() }
    }

    fn check(&self, _before: &Before<'_>) -> Result<Preview, String> {
        Ok(Preview::Text { text: self.query.clone() })
    }

    fn run(self: Arc<Self>, _context: ToolContext<'_>) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move {
            let loaded = self.shared.load(|specs| best(&self.query, specs).into_iter().cloned().collect());
            if loaded.is_empty() {
                return ToolOutput::failed(format!("No tool fits {:?}; try other words.", self.query));
            }
            let lines = loaded.iter().map(|spec| {
                let first = spec.description.lines().next().unwrap_or_default();
                format!("{}: {first}", spec.name)
            });
            let text = format!("Loaded; call them by these names:\n{}", lines.collect::<Vec<_>>().join("\n"));
            ToolOutput::ok(text, ToolFacts { lines: Some(loaded.len() as u64), ..ToolFacts::default() })
        })
    }
}

fn query(input: &Value) -> Result<String, String> {
    Arguments::parse(NAME, input, FIELDS)?.filled_text("query").map(|text| text.trim().to_owned())
}

/// Finds the tools that fit best, best first. An exact name, with or without its server, is that tool alone.
pub(super) fn best<'a>(query: &str, specs: &[&'a ToolSpec]) -> Vec<&'a ToolSpec> {
    let short = |spec: &ToolSpec| spec.name.split_once("__").map(|(_, name)| name.to_owned()).unwrap_or_default();
    let named: Vec<&ToolSpec> =
        specs.iter().copied().filter(|spec| spec.name == query || short(spec) == query).collect();
    if !named.is_empty() {
        return named.into_iter().take(BEST).collect();
    }
    let words = words_of(query);
    // A word that is everywhere tells little: each counts by how few tools have it.
    let all: Vec<(Vec<String>, Vec<String>)> = specs
        .iter()
        .map(|spec| {
            let parameters = spec.input_schema.get("properties").and_then(Value::as_object);
            let parameters: Vec<String> = parameters.into_iter().flatten().map(|(name, _)| name.clone()).collect();
            let rest = format!("{} {}", spec.description, parameters.join(" "));
            (words_of(&spec.name), words_of(&rest))
        })
        .collect();
    let has = |list: &[String], word: &String| list.iter().any(|other| same(other, word));
    let rare = |word: &String| {
        let with = all.iter().filter(|(name, rest)| has(name, word) || has(rest, word)).count();
        // At most some thousand tools.
        f64::from(u32::try_from(all.len()).unwrap_or(u32::MAX) + 1).ln()
            - f64::from(u32::try_from(with).unwrap_or(u32::MAX) + 1).ln()
            + 0.1
    };
    let weights: Vec<(&String, f64)> = words.iter().map(|word| (word, rare(word))).collect();
    let score = |(name, rest): &(Vec<String>, Vec<String>)| -> f64 {
        let of = |(word, weight): &(&String, f64)| {
            if has(name, word) {
                3.0 * weight
            } else if has(rest, word) {
                *weight
            } else {
                0.0
            }
        };
        weights.iter().map(of).sum()
    };
    let mut scored: Vec<(f64, &ToolSpec)> =
        all.iter().map(score).zip(specs.iter().copied()).filter(|(score, _)| *score > 0.0).collect();
    scored.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    scored.into_iter().take(BEST).map(|(_, spec)| spec).collect()
}

/// Words in lower case, cut at everything that is no letter and where a capital begins.
fn words_of(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut last_small = false;
    let mut open = false;
    for letter in text.chars() {
        if letter.is_alphanumeric() {
            if !open || letter.is_uppercase() && last_small {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(letter.to_lowercase());
            }
        }
        open = letter.is_alphanumeric();
        last_small = letter.is_lowercase();
    }
    words
}

/// Tells whether two words are the same but for an ending.
fn same(one: &str, other: &str) -> bool {
    let stem = |word: &str| {
        let cut =
            ["ing", "es", "ed", "s"].iter().find_map(|end| word.strip_suffix(end).filter(|stem| stem.len() > 2));
        cut.unwrap_or(word).trim_end_matches('e').to_owned()
    };
    one == other || one.len() > 3 && other.len() > 3 && stem(one) == stem(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(name: &str, description: &str) -> ToolSpec {
        let input_schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
        ToolSpec { name: name.into(), description: description.into(), input_schema, ..ToolSpec::default() }
    }

    fn found(query: &str, specs: &[ToolSpec]) -> Vec<String> {
        let all: Vec<&ToolSpec> = specs.iter().collect();
        best(query, &all).into_iter().map(|spec| spec.name.clone()).collect()
    }

    #[test]
    fn the_best_five_are_found_and_an_exact_name_wins() {
        let mut specs: Vec<ToolSpec> = (0..50)
            .map(|number| spec(&format!("s__list_things_{number}"), "Lists things of the account."))
            .collect();
        specs.push(spec("gh__createPullRequest", "Opens a request to merge a branch."));
        specs.push(spec("gh__merge", "Merges a pull request."));
        specs.push(spec("db__query", "Runs a statement on the database."));
        assert_eq!(found("create a pull request", &specs)[0], "gh__createPullRequest");
        assert_eq!(found("merging", &specs)[0], "gh__merge");
        assert_eq!(found("databases", &specs), ["db__query"]);
        assert_eq!(found("list things", &specs).len(), BEST);
        assert_eq!(found("s__list_things_7", &specs), ["s__list_things_7"]);
        assert_eq!(found("query", &specs), ["db__query"]);
        assert_eq!(found("xylophone", &specs), Vec::<String>::new());
        // Parameters count, too.
        assert_eq!(found("path", &specs).len(), BEST);
    }
}
