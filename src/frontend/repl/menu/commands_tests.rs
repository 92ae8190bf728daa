//! Tests of the slash menu's matching.

use super::*;

fn candidate(value: &str, more: bool) -> Candidate {
    Candidate { value: value.to_owned(), description: format!("about {value}"), more, ..Candidate::default() }
}

fn menu() -> CommandMenu {
    let models: Arguments = Arc::new(|levels, _| match levels {
        [] => vec![candidate("local", true), candidate("cloud", true)].into(),
        ["local"] => vec![candidate("ollama/qwen3", false), candidate("ollama/llama3", false)].into(),
        [..] => Candidates::default(),
    });
    let entry = |name: &str, aliases: &[&str], arguments: Option<Arguments>| CommandEntry {
        name: name.to_owned(),
        aliases: aliases.iter().map(|&alias| alias.to_owned()).collect(),
        description: format!("does {name}"),
        usage: String::new(),
        arguments,
    };
    CommandMenu {
        entries: vec![
            entry("model", &["m"], Some(models)),
            entry("compact", &[], None),
            entry("exit", &["quit"], None),
            entry("help", &[], None),
        ],
        ..CommandMenu::default()
    }
}

fn labels(line: &str) -> Option<Vec<String>> {
    let offer = menu().offer(&SkimMatcherV2::default(), line)?;
    Some(offer.rows.into_iter().map(|row| row.label.unwrap()).collect())
}

#[test]
fn slash_lists_all_in_order_of_the_table() {
    assert_eq!(labels("/").unwrap(), ["/model", "/compact", "/exit", "/help"]);
}

#[test]
fn names_match_exactly_then_by_prefix_then_fuzzily() {
    assert_eq!(labels("/m").unwrap(), ["/model", "/compact"]);
    assert_eq!(labels("/qu").unwrap(), ["/exit"]);
    assert_eq!(labels("/HP").unwrap(), ["/help"]);
    assert_eq!(labels("/hp").unwrap(), ["/help"]);
    assert_eq!(labels("/zzz").unwrap(), Vec::<String>::new());
}

#[test]
fn arguments_nest() {
    assert_eq!(labels("/model ").unwrap(), ["local", "cloud"]);
    assert_eq!(labels("/model local ").unwrap(), ["ollama/qwen3", "ollama/llama3"]);
    assert_eq!(labels("/model local llama").unwrap(), ["ollama/llama3", "ollama/qwen3"]);
    assert_eq!(labels("/m  local qw").unwrap(), ["ollama/qwen3"]);
    // The blank of a Chinese or Japanese keyboard has three bytes.
    assert_eq!(labels("/m　local　qw").unwrap(), ["ollama/qwen3"]);
    assert_eq!(labels("/help "), None);
    assert_eq!(labels("/nothing "), None);
    assert_eq!(labels("/usr/bin/env x"), None);
}

#[test]
fn the_span_is_what_is_being_typed() {
    let matcher = SkimMatcherV2::default();
    assert_eq!(menu().offer(&matcher, "/mo").unwrap().span, 1..3);
    let offer = menu().offer(&matcher, "/model local 模").unwrap();
    assert_eq!((offer.span, offer.rows), (13..16, Vec::new()));
    let rows = menu().offer(&matcher, "/mod").unwrap().rows;
    assert_eq!((rows[0].value.as_str(), rows[0].more), ("model ", true));
}

#[test]
fn only_a_first_row_with_a_slash_is_a_command() {
    assert_eq!(labels("what is /model"), None);
    assert_eq!(labels("/model \nmore"), None);
    assert_eq!(labels(""), None);
}
