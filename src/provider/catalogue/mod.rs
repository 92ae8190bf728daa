//! What axi knows of models before it asks a server: windows, limits, abilities, prices. Each row has its day.
//!
//! The rows are a copy of models.dev's, reduced and dated (`models.tsv`, made by `.ci/catalogue.py`), and what it did
//! not have then (`additions.tsv`). They lie in the binary as text, sorted by name: a look-up reads the rows it
//! compares and no more, so that nothing is parsed at start-up.
//!
//! A row, its columns parted by tabs: `PROVIDER/MODEL`, day of release, day as of which it holds where that is
//! another, tokens of the window, of what may be read, of what may be written, marks, efforts, ways to think, price.
//! Marks: `t` calls tools, `v` sees, `s` can be told how freely to write, `r` reasons, `m` caches what is marked, `a` caches by
//! itself, `R` calls tools on the responses wire only, `F` refuses to be made to call one. An effort is its digit in
//! [`Effort::ALL`]. Ways to think: `t` can be turned off, `bLEAST-MOST` takes a budget of tokens, `a` thinks as much as it
//! sees fit. Prices: see [`crate::conversation::Price::parse`].

mod abilities;
mod family;
mod rows;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub use abilities::{Abilities, Cache, Effort, Known, Thinking};

/// Finds what is known of a provider's model. A model that is not in the catalogue inherits the abilities of the
/// newest model of its family, but no price: a newer model rarely loses an ability and often costs something else.
#[must_use]
pub fn find(provider: &str, model: &str) -> Option<Known> {
    let model = model.strip_prefix("models/").unwrap_or(model);
    let undated = family::undated(model).unwrap_or(model);
    let exact = rows::exact(provider, model).or_else(|| rows::exact(provider, undated));
    let exact = exact.or_else(|| family::newest_dated(provider, undated));
    let Some(mut known) = exact.and_then(rows::read) else {
        let mut known = family::newest(provider, model)?;
        known.abilities.price = None;
        known.inherited = true;
        return Some(known);
    };
    if known.context_window.is_none()
        && let Some(newest) = family::newest(provider, model)
    {
        known.context_window = newest.context_window;
        known.abilities.most_read = newest.abilities.most_read;
        known.abilities.most_written = newest.abilities.most_written;
    }
    Some(known)
}

/// Finds what a Claude can do at a server other than Anthropic's: `anthropic/claude-opus-4.8`,
/// `us.anthropic.claude-sonnet-5-v1:0`, `claude-opus-4-5@20251101`. Its price is not known there.
#[must_use]
pub fn claude(model: &str) -> Option<Abilities> {
    let lower = model.to_ascii_lowercase();
    let name = &lower[lower.rfind("claude-")?..];
    let name = name.split(['@', ':']).next().unwrap_or(name).replace('.', "-");
    let name = name.strip_suffix("-v1").or_else(|| name.strip_suffix("-v2")).unwrap_or(&name);
    let known = find("anthropic", name)?;
    Some(Abilities { price: None, ..known.abilities })
}

/// Returns a time that is in the past for certain: the day of axi's copy of the catalogue.
#[must_use]
pub fn made() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(rows::made())
}

/// Lists what is known of a provider's models.
pub fn of(provider: &str) -> impl Iterator<Item = Known> {
    rows::of(provider).filter_map(rows::read)
}

#[cfg(test)]
#[path = "catalogue_tests.rs"]
mod tests;
