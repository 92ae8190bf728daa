//! The texts that a known value is looked for by.

/// The shortest value that is known to be a secret and looked for: shorter ones are in ordinary words too.
pub(super) const SHORTEST: usize = 8;

/// Adds values to those that are looked for: trimmed, and long enough.
pub(super) fn looked_for(
    known: impl IntoIterator<Item = String>,
    values: impl IntoIterator<Item = String>,
) -> Vec<String> {
    let values = values.into_iter().map(|value| value.trim().to_owned());
    let values = values.filter(|value| value.len() >= SHORTEST);
    let mut all: Vec<String> = known.into_iter().chain(values).collect();
    all.sort_unstable();
    all.dedup();
    all
}
