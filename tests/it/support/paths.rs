//! Finds the paths of our own crate that a source file names, and how deep a module is that says `super`.

use super::rust_source::{Placed, Token, tokens};

/// A path from the crate's root, such as `config::Config`, and the line that names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    /// The segments after `crate`; the last may be `*`.
    pub(crate) segments: Vec<String>,
    /// Counted from 1.
    pub(crate) line: usize,
}

/// Finds every `crate::…` path, the ones in `use` groups spelled out, and every `super::…` that climbs to the root.
///
/// `depth` is how many modules lie between the crate's root and this file's module: 0 for lib.rs, 1 for
/// `agent/mod.rs` and `locale.rs`, 2 for `agent/guard.rs`.
pub(crate) fn own_paths(source: &str, depth: usize) -> Vec<Named> {
    let tokens = tokens(source);
    let mut found = Vec::new();
    let mut braces = 0;
    let mut inline: Vec<usize> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at].token {
            Token::Mark('{') => {
                braces += 1;
                if at >= 2 && tokens[at - 2].token.is_word("mod") {
                    inline.push(braces);
                }
            }
            Token::Mark('}') => {
                if inline.last() == Some(&braces) {
                    inline.pop();
                }
                braces -= 1;
            }
            Token::Word(word) if word == "crate" && joined(&tokens, at + 1) => {
                at = tree(&tokens, at + 3, &[], &mut found);
                continue;
            }
            Token::Word(word) if word == "super" && !after_join(&tokens, at) => {
                let mut climbed = 0;
                while tokens.get(at).is_some_and(|placed| placed.token.is_word("super")) && joined(&tokens, at + 1)
                {
                    climbed += 1;
                    at += 3;
                }
                if climbed > 0 && climbed == depth + inline.len() {
                    at = tree(&tokens, at, &[], &mut found);
                    continue;
                }
                if climbed > 0 {
                    continue;
                }
            }
            Token::Word(_) | Token::Text(_) | Token::Mark(_) => {}
        }
        at += 1;
    }
    found
}

/// Tells whether `::` stands at this place.
fn joined(tokens: &[Placed], at: usize) -> bool {
    let is_colon = |index: usize| tokens.get(index).is_some_and(|placed| placed.token.is_mark(':'));
    is_colon(at) && is_colon(at + 1)
}

fn after_join(tokens: &[Placed], at: usize) -> bool {
    at >= 2 && joined(tokens, at - 2)
}

/// Reads what follows `crate::` and returns the place after it.
fn tree(tokens: &[Placed], mut at: usize, prefix: &[String], found: &mut Vec<Named>) -> usize {
    let mut segments = prefix.to_vec();
    let line = tokens.get(at).map_or(0, |placed| placed.line);
    loop {
        match tokens.get(at).map(|placed| &placed.token) {
            Some(Token::Word(word)) => segments.push(word.clone()),
            Some(Token::Mark('*')) => segments.push("*".to_owned()),
            Some(Token::Mark('{')) => {
                at += 1;
                while tokens.get(at).is_some_and(|placed| !placed.token.is_mark('}')) {
                    at = if tokens[at].token.is_mark(',') { at + 1 } else { branch(tokens, at, &segments, found) };
                }
                return at + 1;
            }
            Some(Token::Text(_) | Token::Mark(_)) | None => break,
        }
        at += 1;
        if !joined(tokens, at) {
            break;
        }
        at += 2;
    }
    if segments.len() > prefix.len() {
        found.push(Named { segments, line });
    }
    at
}

/// One member of a group, with its `as NAME`; always moves on.
fn branch(tokens: &[Placed], at: usize, segments: &[String], found: &mut Vec<Named>) -> usize {
    let mut next = tree(tokens, at, segments, found).max(at + 1);
    while tokens.get(next).is_some_and(|placed| !placed.token.is_mark(',') && !placed.token.is_mark('}')) {
        next += 1;
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(source: &str, depth: usize) -> Vec<String> {
        own_paths(source, depth).into_iter().map(|named| named.segments.join("::")).collect()
    }

    #[test]
    fn groups_are_spelled_out() {
        let source =
            "use crate::{agent::{self, Agent as A}, tool::*, conversation};\nlet x = crate::config::load();";
        assert_eq!(spelled(source, 1), ["agent::self", "agent::Agent", "tool::*", "conversation", "config::load"]);
    }

    #[test]
    fn comments_strings_and_visibility_are_no_paths() {
        assert_eq!(spelled("// crate::agent\nlet s = \"crate::agent\"; pub(crate) fn f() {}", 1), [""; 0]);
    }

    #[test]
    fn super_counts_only_where_it_reaches_the_root() {
        assert_eq!(spelled("use super::agent::Agent;", 1), ["agent::Agent"]);
        assert_eq!(spelled("use super::agent::Agent;", 2), [""; 0]);
        assert_eq!(spelled("use super::super::agent;", 2), ["agent"]);
        assert_eq!(spelled("mod tests { use super::*; } use super::tool;", 1), ["tool"]);
    }
}
