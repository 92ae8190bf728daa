//! What the menus know of MCP servers: the prompts behind `/SERVER:`, the resources behind `@SERVER:`. Only what is known by
//! now: no key starts a server, reads a file or waits for one that does.

use std::ops::Range;

use fuzzy_matcher::FuzzyMatcher as _;
use fuzzy_matcher::skim::SkimMatcherV2;

use crate::frontend::repl::line::{Offer, Row, Subject, has_letters};
use crate::mcp::Servers;

/// Rows of resources at most.
const ROWS: usize = 50;

/// A prompt as a command.
pub(super) struct Prompt {
    /// `SERVER:PROMPT`.
    pub(super) name: String,
    pub(super) description: String,
    pub(super) usage: String,
}

/// The servers; clones are the same ones.
#[derive(Clone, Default)]
pub struct ServerMenu(Option<Servers>);

impl ServerMenu {
    /// Shows what is known of these.
    #[must_use]
    pub const fn new(servers: Option<Servers>) -> Self {
        Self(servers)
    }

    /// The prompts.
    pub(super) fn prompts(&self) -> Vec<Prompt> {
        let known = self.0.as_ref().map(Servers::at_hand).unwrap_or_default();
        let entries = known.iter().flat_map(|(server, manifest)| {
            manifest.prompts.iter().map(move |prompt| Prompt {
                name: format!("{server}:{}", prompt.name),
                description: prompt.description.clone(),
                usage: prompt.arguments.iter().map(|name| format!("[{name}]")).collect::<Vec<_>>().join(" "),
            })
        });
        entries.collect()
    }

    /// The resources of the server that is named in what is typed; nothing where none is, or it has none.
    pub(super) fn resources(&self, matcher: &SkimMatcherV2, span: Range<usize>, typed: &str) -> Option<Offer> {
        let (name, typed) = typed.split_once(':')?;
        let known = self.0.as_ref()?.at_hand();
        let (_, manifest) = known.iter().find(|(server, _)| server == name)?;
        if manifest.resources.is_empty() {
            return None;
        }
        let wanted = typed.to_lowercase();
        let mut found: Vec<(i64, Row)> = Vec::new();
        for resource in &manifest.resources {
            let text = format!("{} {}", resource.uri, resource.name).to_lowercase();
            if !has_letters(&text, &wanted) {
                continue;
            }
            let score =
                if text.starts_with(&wanted) { Some(i64::MAX) } else { matcher.fuzzy_match(&text, &wanted) };
            let row = |score| {
                let value = format!("@{name}:{} ", resource.uri);
                let label = Some(format!("{name}:{}", resource.uri));
                (score, Row { value, label, description: resource.name.clone(), more: false })
            };
            found.extend(score.map(row));
        }
        // Stable: among equals the server's own order.
        found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        let rows = found.into_iter().map(|(_, row)| row).take(ROWS).collect();
        let exact = manifest.resources.iter().any(|resource| resource.uri == typed);
        Some(Offer { subject: Subject::File, span, rows, pending: false, exact })
    }

    /// The servers whose name begins with what is typed, as far as they have resources.
    pub(super) fn names(&self, typed: &str) -> Vec<Row> {
        if typed.is_empty() {
            return Vec::new();
        }
        let known = self.0.as_ref().map(Servers::at_hand).unwrap_or_default();
        let fitting =
            known.into_iter().filter(|(name, manifest)| name.starts_with(typed) && !manifest.resources.is_empty());
        let row = |name: String, title: String| Row {
            value: format!("@{name}:"),
            label: Some(format!("{name}:")),
            description: title,
            more: true,
        };
        fitting.map(|(name, manifest)| row(name, manifest.title.clone())).collect()
    }
}
