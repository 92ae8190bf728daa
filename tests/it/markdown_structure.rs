//! Structure of random documents, compared with what another parser reads.

use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::{
    markdown_html::{Look, Seen},
    markdown_spec::{comparable, seen},
};

/// No hard breaks: an underline makes a heading of what fits one row only, which is a choice of ours.
const LINES: &[&str] = &[
    "word",
    "two words",
    "- item",
    "- other",
    "  - sub",
    "    - deep",
    "      text",
    "1. one",
    "2. two",
    "   1. sub one",
    "  text",
    "   text",
    "    text",
    "> quote",
    "> - item",
    ">   more",
    "> > deep",
    ">",
    "",
    "",
    "",
    "```",
    "```rust",
    "  ```",
    "    ```",
    "# head",
    "## head ##",
    "***",
    "| a | b |",
    "|---|---|",
    "| c | d |",
    "**bold** and `code`",
    "- [ ] task",
    "- [x] done",
    "  > nested",
    "* star",
    "+ plus",
    "3) three",
    "\ttab",
    "-",
    "1.",
    "- - two",
    "> ```",
    "- ```",
    "- # head",
    "-     code",
    " - odd",
    "~~~",
    "<div>",
    "</div>",
    "*open",
    "close*",
    "[link](http://x.y) z",
];

fn documents() -> impl Strategy<Value = String> {
    // Indented code ends a table, by the letter of the specification; the other parser takes it for a row.
    let spaced = |text: String| {
        if text.contains("|---|") { text.replace("\n    ", "\n\n    ").replace("\n\t", "\n\n\t") } else { text }
    };
    prop::collection::vec(prop::sample::select(LINES), 1..14).prop_map(move |lines| spaced(lines.join("\n") + "\n"))
}

fn read_by_pulldown(text: &str) -> Seen {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut shown = Seen::default();
    let mut lists: Vec<Option<u64>> = Vec::new();
    let mut code = None::<String>;
    for event in Parser::new_ext(text, options) {
        match event {
            Event::Text(text) if code.is_some() => code.as_mut().unwrap().push_str(&text),
            Event::Text(text) | Event::Code(text) | Event::Html(text) | Event::InlineHtml(text) => {
                text.chars().for_each(|character| shown.put(character, Look::default()));
            }
            Event::Start(Tag::CodeBlock(_)) => {
                shown.space();
                code = Some(String::new());
            }
            Event::End(TagEnd::CodeBlock) => shown.code.extend(code.take().unwrap().lines().map(str::to_owned)),
            Event::Start(Tag::List(start)) => lists.push(start),
            Event::End(TagEnd::List(_)) => {
                lists.pop();
                shown.space();
            }
            Event::Start(Tag::Item) => {
                shown.space();
                if let Some(list) = lists.last_mut() {
                    shown.items.push(*list);
                    *list = list.map(|number| number + 1);
                }
            }
            Event::TaskListMarker(done) => shown.tasks.push(done),
            Event::Rule => {
                shown.rules += 1;
                shown.space();
            }
            Event::Start(
                Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Link { .. } | Tag::Image { .. },
            )
            | Event::End(
                TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link | TagEnd::Image,
            ) => {}
            _ => shown.space(),
        }
    }
    shown.finish()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn random_documents_have_the_structure_another_parser_reads(markdown in documents()) {
        let ours = comparable(seen(&markdown));
        let theirs = comparable(read_by_pulldown(&markdown));
        prop_assert_eq!(ours.text(), theirs.text(), "{}", markdown);
        prop_assert_eq!(ours.code, theirs.code, "{}", markdown);
        prop_assert_eq!(ours.items, theirs.items, "{}", markdown);
        prop_assert_eq!(ours.tasks, theirs.tasks, "{}", markdown);
        prop_assert_eq!(ours.rules, theirs.rules, "{}", markdown);
    }
}
