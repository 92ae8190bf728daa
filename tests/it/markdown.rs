//! The laws of streaming markdown, seen on a model terminal with scrollback, with real answers and their real cuts.

use std::{fmt::Write as _, path::PathBuf};

use axi::terminal::{Layout, Line, MarkdownStream, Theme, Wrap};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use serde_json::Value;

use crate::support::skip::fixture;

/// Real answers, each as the pieces in which it came.
fn answers() -> Vec<(String, Vec<String>)> {
    let entries = std::fs::read_dir(fixture("real/markdown/answers")).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let answer: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let chunks = answer["chunks"].as_array().unwrap().iter().map(|chunk| chunk.as_str().unwrap().to_owned());
        (path.file_name().unwrap().to_string_lossy().into_owned(), chunks.collect())
    };
    paths.into_iter().map(read).collect()
}

fn whole(text: &str, layout: &Layout) -> Vec<Line> {
    let mut stream = MarkdownStream::new(*layout);
    let mut rows = stream.push(text);
    rows.extend(stream.finish());
    rows
}

fn shown(rows: &[Line]) -> Vec<Line> {
    rows.iter()
        .map(|row| {
            let mut line = Line::new();
            row.spans.iter().cloned().for_each(|span| line.push(span));
            line
        })
        .collect()
}

/// The bytes of a row, with its newline.
fn bytes(row: &Line) -> String {
    let mut text = String::new();
    for span in &row.spans {
        write!(text, "{}", span.style.paint(&span.text)).unwrap();
    }
    text.push_str("\r\n");
    text
}

/// All rows of a terminal, from the top of its scrollback.
fn history(terminal: &mut vt100::Parser) -> Vec<String> {
    let (height, width) = terminal.screen().size();
    terminal.screen_mut().set_scrollback(usize::MAX);
    let mut offset = terminal.screen().scrollback();
    let mut rows: Vec<String> = Vec::new();
    while offset > 0 {
        terminal.screen_mut().set_scrollback(offset);
        let take = offset.min(usize::from(height));
        rows.extend(terminal.screen().rows(0, width).take(take));
        offset -= take;
    }
    terminal.screen_mut().set_scrollback(0);
    rows.extend(terminal.screen().rows(0, width));
    while rows.last().is_some_and(|row| row.trim().is_empty()) {
        rows.pop();
    }
    rows
}

#[test]
fn real_answers_give_the_same_rows_streamed_and_whole() {
    for (name, chunks) in answers() {
        let text = chunks.concat();
        for width in [20, 33, 40, 79, 80, 120, 200, 300] {
            for wrap in [Wrap::Word, Wrap::Soft] {
                let layout = Layout { wrap, ..Layout::new(width, Theme::ansi()) };
                let mut stream = MarkdownStream::new(layout);
                let mut rows = Vec::new();
                for chunk in &chunks {
                    stream.push_into(chunk, &mut rows);
                }
                rows.extend(stream.finish());
                assert_eq!(shown(&rows), shown(&whole(&text, &layout)), "{name} at {width}");
            }
        }
    }
}

#[test]
fn rows_on_a_terminal_never_change() {
    for (name, chunks) in answers().into_iter().step_by(3) {
        for width in [40_u16, 80] {
            let layout = Layout::new(usize::from(width), Theme::ansi());
            let mut terminal = vt100::Parser::new(10, width, 10_000);
            let mut stream = MarkdownStream::new(layout);
            let mut committed: Vec<String> = Vec::new();
            let mut written = 0;
            for chunk in &chunks {
                // The live row: drawn, and erased before the next rows, as the screen does it.
                let rows = stream.push(chunk);
                terminal.process(b"\r\x1b[K");
                for row in &rows {
                    terminal.process(bytes(row).as_bytes());
                }
                written += rows.len();
                let tail = bytes(&stream.tail());
                terminal.process(tail.trim_end_matches("\r\n").as_bytes());
                if !rows.is_empty() {
                    let now = history(&mut terminal);
                    assert!(now.len() >= committed.len(), "{name}: rows were lost");
                    assert_eq!(now[..committed.len()], committed[..], "{name}: a row changed");
                    // Code may be wider than the terminal, so count the terminal's own rows but the live one.
                    committed = now;
                    committed.pop();
                }
            }
            assert!(written > 0 || chunks.concat().len() < 2000, "{name}: nothing was shown before the end");
        }
    }
}

#[test]
fn a_copy_from_a_terminal_that_wraps_gives_the_paragraph_back() {
    let paragraph =
        "A paragraph that is longer than a row, with 中文 in it and `code`, and goes on for some more words.";
    let text = format!("{paragraph}\n\n- {paragraph}\n");
    for width in [20_u16, 31, 60] {
        let layout = Layout { wrap: Wrap::Soft, ..Layout::new(usize::from(width), Theme::ansi()) };
        let mut terminal = vt100::Parser::new(40, width, 0);
        for row in whole(&text, &layout) {
            terminal.process(bytes(&row).as_bytes());
        }
        let plain = paragraph.replace('`', "");
        assert_eq!(terminal.screen().contents(), format!("{plain}\n\n• {plain}"), "at {width}");
    }
}

#[test]
fn rows_fit_the_width() {
    for (name, chunks) in answers() {
        let text = chunks.concat();
        let fenced = text.contains("```") || text.contains("\n    ") || text.contains("$$");
        for width in [20, 40, 80, 300] {
            for row in whole(&text, &Layout::new(width, Theme::plain())) {
                let cells = axi::terminal::width::width(&row.text());
                assert!(cells <= width || fenced, "{name} at {width}: {:?}", row.text());
                assert_eq!(row.text().trim_end(), row.text(), "{name}: white space at a row's end");
            }
        }
    }
}

#[test]
fn words_stay_close_behind_what_arrives() {
    for (name, chunks) in answers() {
        let mut stream = MarkdownStream::new(Layout { hyperlinks: true, ..Layout::new(80, Theme::ansi()) });
        let mut rows = Vec::new();
        let mut text = String::new();
        for chunk in &chunks {
            text.push_str(chunk);
            stream.push_into(chunk, &mut rows);
            // In a paragraph of words only, what is complete is on a row or in the tail.
            let line = text.rsplit('\n').next().unwrap();
            let plain =
                line.len() > 60 && line.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" ,.".contains(&byte));
            if plain && text.contains("\n\n") && !text.contains("```") && !text.contains("<think>") {
                let last = line.trim_end().rsplit(' ').next().unwrap();
                assert!(
                    stream.tail().text().ends_with(last),
                    "{name}: {last:?} is not in {:?}",
                    stream.tail().text()
                );
            }
        }
    }
}

/// The words of a text as another parser reads it, in order.
fn words_of_pulldown(text: &str) -> Vec<String> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut shown = String::new();
    let mut depth = 0;
    for event in Parser::new_ext(text, options) {
        match event {
            Event::Text(text) | Event::Code(text) | Event::Html(text) | Event::InlineHtml(text) => {
                shown.push_str(&text);
            }
            Event::SoftBreak | Event::HardBreak | Event::End(TagEnd::TableCell) => shown.push(' '),
            Event::Start(Tag::Image { .. }) => depth += 1,
            Event::End(TagEnd::Image) => depth -= 1,
            Event::Start(tag) if !is_inline(&tag) => shown.push(' '),
            Event::End(_) | Event::Start(_) if depth == 0 => {}
            _ => {}
        }
    }
    shown.split_whitespace().map(str::to_owned).collect()
}

fn is_inline(tag: &Tag<'_>) -> bool {
    matches!(tag, Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Link { .. } | Tag::Image { .. })
}

#[test]
fn another_parser_reads_the_same_words_in_real_answers() {
    let mut compared = 0;
    for (name, chunks) in answers() {
        let text = chunks.concat();
        // Tables, maths and reasoning are laid out otherwise on purpose.
        if text.contains("|--")
            || text.contains("| --")
            || text.contains('$')
            || text.contains("\\(")
            || text.contains("<think")
        {
            continue;
        }
        let hidden = nu_ansi_term::Style::new().hidden();
        let theme = Theme { furniture: hidden, address: hidden, ..Theme::ansi() };
        let mut seen = String::new();
        for row in whole(&text, &Layout::new(100_000, theme)) {
            row.spans.iter().filter(|span| !span.style.is_hidden).for_each(|span| seen.push_str(&span.text));
            seen.push(' ');
        }
        let seen: Vec<String> = seen.split_whitespace().map(str::to_owned).collect();
        assert_eq!(seen, words_of_pulldown(&text), "{name}");
        compared += 1;
    }
    assert!(compared == 0 || compared > 30, "too few answers compared: {compared}");
}

/// The screens that are kept: everything markdown has, and two real answers (Qwen2.5-Coder on llama-server, as recorded),
/// on three widths, dark and light. After a wanted change: `INSTA_UPDATE=always cargo test --test it markdown::`, and
/// look at what `git diff` shows.
#[test]
fn a_sample_of_everything_and_real_answers_look_as_they_should() {
    let texts = [
        ("sample", include_str!("markdown_sample.md")),
        ("qwen_half", include_str!("fixtures/answers/qwen-0.5b.md")),
        ("qwen", include_str!("fixtures/answers/qwen-1.5b.md")),
    ];
    for (name, text) in texts {
        for width in [40, 80, 200] {
            for (background, theme) in [("dark", Theme::ansi()), ("light", Theme::light())] {
                let rows: String = whole(text, &Layout::new(width, theme)).iter().map(bytes).collect();
                let rows = rows.replace('\u{1b}', "␛").replace("\r\n", "\n");
                insta::assert_snapshot!(format!("{name}_{width}_{background}"), rows);
            }
        }
    }
}
