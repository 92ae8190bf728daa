//! The examples of the CommonMark and GFM specifications: visible text, looks, items, code, rules and targets are as
//! their HTML says, or the example stands in the list of deviations.

use std::collections::BTreeMap;

use axi::terminal::{Layout, Line, MarkdownStream, Theme};
use nu_ansi_term::{Color, Style};
use serde_json::Value;

use crate::{
    markdown_deviations::{CHOICES, DEVIATIONS, Remedy},
    markdown_html::{self, Look, Seen, plain_address},
    support::skip::fixture,
};

/// A theme in which each meaning has a style of its own.
fn theme() -> Theme {
    Theme {
        heading: Style::new().fg(Color::Cyan),
        subheading: Style::new().fg(Color::Cyan),
        strong: Style::new().bold(),
        emphasis: Style::new().italic(),
        strikethrough: Style::new().strikethrough(),
        code: Style::new().on(Color::Yellow),
        code_block: Style::new().reverse(),
        link: Style::new().blink(),
        furniture: Style::new().fg(Color::Red),
        address: Style::new().hidden(),
        quote: Style::new(),
        dim: Style::new().dimmed(),
        ..Theme::plain()
    }
}

fn rows(markdown: &str, hyperlinks: bool) -> Vec<Line> {
    let mut stream = MarkdownStream::new(Layout { hyperlinks, highlight: false, ..Layout::new(400, theme()) });
    let mut rows = stream.push(markdown);
    rows.extend(stream.finish());
    rows
}

pub(crate) fn seen(markdown: &str) -> Seen {
    let theme = theme();
    let mut seen = Seen::default();
    for row in rows(markdown, true) {
        let is_code = row.spans.iter().any(|span| span.style.is_reverse) || row.spans.is_empty();
        let mut quotes = 0;
        for span in &row.spans {
            if span.style == theme.furniture && span.text.starts_with('─') {
                // A rule is as wide as rules get; one under a table's head is not.
                seen.rules += usize::from(span.text.chars().count() == 80);
            } else if span.style == theme.furniture && !span.text.starts_with('[') {
                // The border between a table's columns begins with a space.
                quotes += usize::from(!span.text.starts_with(' ')) * span.text.matches('│').count();
                seen.space();
                for mark in span.text.split_whitespace() {
                    seen.rules += usize::from(mark.starts_with('─'));
                    match mark {
                        "•" | "◦" | "▪" => seen.items.push(None),
                        "☐" | "☑" => {
                            seen.tasks.push(mark == "☑");
                            if !span.text.contains(['.', ')']) {
                                seen.items.push(None);
                            }
                        }
                        _ if mark.ends_with(['.', ')']) => seen.items.push(mark[..mark.len() - 1].parse().ok()),
                        _ => {}
                    }
                }
            } else if span.style.is_hidden {
                // An address; the other rendering counts it.
            } else if is_code {
                seen.code.push(span.text.clone());
            } else {
                let look = Look {
                    emphasis: span.style.is_italic,
                    strong: span.style.is_bold,
                    struck: span.style.is_strikethrough,
                    code: span.style.background.is_some(),
                    link: span.style.is_blink,
                    heading: span.style.foreground == Some(Color::Cyan),
                    code_block: false,
                    quotes,
                };
                span.text.chars().for_each(|character| seen.put(character, look));
            }
        }
        if row.spans.is_empty() {
            seen.code.push(String::new());
        }
        seen.space();
    }
    for row in rows(markdown, false) {
        for span in row.spans.iter().filter(|span| span.style.is_hidden) {
            let address = span.text.trim();
            seen.targets.push(plain_address(
                address.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(address),
            ));
        }
    }
    seen.finish()
}

/// Blank rows separate blocks, too; compare the lines of code that hold something.
pub(crate) fn comparable(mut seen: Seen) -> Seen {
    seen.code.retain(|line| !line.trim().is_empty());
    seen
}

#[test]
fn examples_of_the_specifications_are_seen_as_they_should_be() {
    let folder = fixture("real/markdown");
    let mut failures = Vec::new();
    let mut run = 0;
    for (suite, file) in [("commonmark", "commonmark-tests.json"), ("gfm", "gfm-tests.json")] {
        let text = std::fs::read_to_string(folder.join(file)).unwrap();
        let examples: Vec<BTreeMap<String, Value>> = serde_json::from_str(&text).unwrap();
        for example in examples {
            let number = example["example"].as_u64().unwrap();
            let markdown = example["markdown"].as_str().unwrap();
            let expected = comparable(markdown_html::read(example["html"].as_str().unwrap(), markdown));
            let actual = comparable(seen(markdown));
            let deviates = DEVIATIONS.iter().find(|entry| entry.suite == suite && entry.examples.contains(&number));
            let deviates = deviates.inspect(|entry| {
                let hoisted = comparable(seen(&definitions_first(markdown)));
                if entry.remedy == Remedy::DefinitionsFirst && hoisted != expected {
                    let difference = first_difference(&hoisted, &expected);
                    failures.push(format!("{suite} {number} with definitions first: {markdown:?}\n{difference}"));
                }
            });
            run += 1;
            if (actual == expected) == deviates.is_some() {
                let what = deviates.map_or("deviates".to_owned(), |entry| {
                    format!("does not deviate, but is listed: {}", entry.reason)
                });
                failures.push(format!(
                    "{suite} {number} ({}) {what}: {markdown:?}\n  html  {:?}\n{}",
                    example["section"].as_str().unwrap(),
                    example["html"].as_str().unwrap(),
                    first_difference(&actual, &expected)
                ));
            }
        }
    }
    assert!(failures.is_empty(), "{} of {run} examples:\n{}", failures.len(), failures.join("\n"));
    assert!(run > 1300);
}

#[test]
fn choices_are_what_is_done() {
    for choice in CHOICES {
        let mut stream = MarkdownStream::new(Layout::new(40, Theme::plain()));
        let mut rows = stream.push(choice.markdown);
        rows.extend(stream.finish());
        let rows: Vec<String> = rows.iter().map(Line::text).collect();
        assert_eq!(rows, choice.rows, "{}", choice.reason);
    }
}

/// Moves the lines that are link definitions to the top.
fn definitions_first(markdown: &str) -> String {
    let is_definition = |line: &&str| {
        let line = line.trim_start_matches(['>', ' ']);
        line.starts_with('[') && !line.starts_with("[^") && line.contains("]:")
    };
    let (definitions, rest): (Vec<&str>, Vec<&str>) = markdown.lines().partition(is_definition);
    let definitions: Vec<&str> = definitions.iter().map(|line| line.trim_start_matches(['>', ' '])).collect();
    format!("{}\n\n{}\n", definitions.join("\n"), rest.join("\n"))
}

fn first_difference(actual: &Seen, expected: &Seen) -> String {
    let mut lines = Vec::new();
    if actual.text() != expected.text() {
        lines.push(format!("  text  {:?}\n  not   {:?}", actual.text(), expected.text()));
    } else if actual.characters != expected.characters {
        let at = actual.characters.iter().zip(&expected.characters).position(|(left, right)| left != right);
        let at = at.unwrap_or(0);
        lines.push(format!("  look  {:?}\n  not   {:?}", actual.characters[at], expected.characters[at]));
    }
    for (name, left, right) in [
        ("code", format!("{:?}", actual.code), format!("{:?}", expected.code)),
        (
            "items",
            format!("{:?} {:?}", actual.items, actual.tasks),
            format!("{:?} {:?}", expected.items, expected.tasks),
        ),
        ("rules", actual.rules.to_string(), expected.rules.to_string()),
        ("targets", format!("{:?}", actual.targets), format!("{:?}", expected.targets)),
    ] {
        if left != right {
            lines.push(format!("  {name} {left}\n  not  {right}"));
        }
    }
    lines.join("\n")
}
