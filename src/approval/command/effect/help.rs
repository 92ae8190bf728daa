//! Known programs that are asked for their help or version.

use super::call::Call;
use crate::approval::program::{Program, Trait};

/// Tells whether a call asks a known program for its help or version, and for nothing else. A program that passes
/// the flag on to what it runs (npx, sudo, make, an interpreter) has no sub-commands of its own that would answer.
pub(super) fn is_asked(call: &Call<'_, '_>, program: &Program) -> bool {
    let Some((last, words)) = call.arguments.split_last() else { return false };
    let Some(last) = last.value.known() else { return false };
    if words.is_empty() {
        let answers = program.is(Trait::Helps) || program.looks.is_some() || !program.below().is_empty();
        return answers && matches!(last.as_str(), "--version" | "--help")
            || program.is(Trait::SmallV) && last == "-v";
    }
    let words: Option<Vec<String>> = words.iter().map(|field| field.value.known()).collect();
    let Some(words) = words else { return false };
    let plain = |word: &String| {
        word.starts_with(|c: char| c.is_ascii_lowercase())
            && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    if !words.iter().all(plain) || !matches!(last.as_str(), "--help" | "-h" | "--version") {
        return false;
    }
    match words.as_slice() {
        _ if last == "-h" && program.is(Trait::HostH) => false,
        // Any other word may name something of the project's own.
        [word] if !program.help_at.is_empty() => program.help_at.contains(word),
        [_] => program.is(Trait::HelpsBelow),
        [group, _] => program.help_below.contains(group),
        _ => false,
    }
}
