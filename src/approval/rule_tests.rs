//! Rules: what they say, what is wrong with them, and that they read back as they are written.

use proptest::prelude::*;

use super::{Rule, RuleError};
use crate::conversation::ToolKind;

fn parse(text: &str) -> Result<Rule, RuleError> {
    Rule::parse_for(text, |tool| match tool {
        "web_fetch" => ToolKind::Network,
        "edit" => ToolKind::Writer,
        _ => ToolKind::Other,
    })
}

#[test]
fn rules_are_written_as_they_are_read() {
    for text in [
        "shell",
        "*",
        "mcp__github__*",
        "shell(git diff:*)",
        "shell(git diff)",
        "shell(git commit -m 'a b')",
        "write(src/**)",
        "write(~/notes/*.md)",
        "web_fetch(docs.rs)",
        "web_fetch(*.rust-lang.org)",
        "edit(Cargo.toml)",
    ] {
        assert_eq!(parse(text).unwrap().to_string(), text);
    }
}

#[test]
fn other_spellings_mean_the_same() {
    assert_eq!(parse(" shell( git  diff:* ) ").unwrap().to_string(), "shell(git diff:*)");
    assert_eq!(parse("shell(git diff *)").unwrap().to_string(), "shell(git diff:*)");
    assert_eq!(parse("shell(*)").unwrap().to_string(), "shell");
    assert_eq!(parse("web_fetch(Docs.RS)").unwrap().to_string(), "web_fetch(docs.rs)");
    assert_eq!(parse("write(./src/a)").unwrap().to_string(), "write(src/a)");
}

#[test]
fn what_is_wrong_is_named() {
    let error = |text: &str| parse(text).unwrap_err();
    assert_eq!(error(""), RuleError::NoTool);
    assert_eq!(error("shell(git diff"), RuleError::Unclosed { at: 5 });
    assert_eq!(error("shell()"), RuleError::Empty { at: 6 });
    assert_eq!(error("shell(a; b)"), RuleError::NotSimple { character: ';', at: 7 });
    assert_eq!(error("shell(a $(b):*)"), RuleError::NotSimple { character: '$', at: 8 });
    assert_eq!(error("shell(a \"$b\")"), RuleError::NotSimple { character: '$', at: 9 });
    assert_eq!(error("shell(git * x)"), RuleError::Wildcard { at: 10 });
    assert_eq!(error("she ll"), RuleError::ToolName { character: ' ', at: 3 });
    assert_eq!(error("web_fetch(https://docs.rs)"), RuleError::Host { text: "https://docs.rs".to_owned() });
    assert_eq!(error("web_fetch(docs.rs:80)"), RuleError::Host { text: "docs.rs:80".to_owned() });
    assert!(matches!(error("write(src/[)"), RuleError::Glob { .. }));
    assert!(matches!(error("shell('a)"), RuleError::Quote { .. }));
    assert!(matches!(error("shell(:*)"), RuleError::Empty { .. }));
    assert_eq!(error("todo(x)"), RuleError::NotNarrowed { tool: "todo".to_owned() });
    let unknown = Rule::parse("edit(x)").unwrap_err();
    assert_eq!(unknown, RuleError::NotNarrowed { tool: "edit".to_owned() }, "nothing is known of it");
}

proptest! {
    #[test]
    fn whatever_parses_reads_back(text in r"(shell|write|web_fetch|\*|todo)?\(?[a-z '*:\\/~.\[\]$;é-]{0,20}\)?") {
        if let Ok(rule) = parse(&text) {
            prop_assert_eq!(parse(&rule.to_string()), Ok(rule.clone()), "{}", rule);
        }
    }

    #[test]
    fn any_words_read_back(words in proptest::collection::vec("[^\0\n\r]{1,6}", 1..4), prefix: bool) {
        let rule = Rule::command(words, prefix);
        prop_assert_eq!(parse(&rule.to_string()), Ok(rule.clone()), "{}", rule);
    }

    #[test]
    fn no_text_breaks_the_parser(text in ".{0,40}") {
        let _ = parse(&text);
    }
}
