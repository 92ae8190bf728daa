//! A session for others to read: as markdown, as JSON, as one HTML page that needs nothing else.

use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, html};
use serde_json::json;

use crate::conversation::{ContentBlock, Image, Role, Totals, is_quoted};
use crate::session::{Loaded, SessionId};
use crate::terminal::escape_json;

/// The forms of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportForm {
    /// Who said what, tools by their names.
    Markdown,
    /// All that is kept of the conversation.
    Json,
    /// One page, to be read and printed.
    Html,
}

impl ExportForm {
    /// Their words.
    pub const WORDS: &'static [&'static str] = &["md", "json", "html"];

    /// Reads a word of [`ExportForm::WORDS`].
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "md" | "markdown" => Some(Self::Markdown),
            "json" => Some(Self::Json),
            "html" => Some(Self::Html),
            _ => None,
        }
    }
}

/// Reads what follows `/export`: a form, a file, or both; tells the form and the file's name.
pub(super) fn export_target(argument: &str, id: &SessionId) -> (ExportForm, String) {
    let (first, rest) = argument.split_once(char::is_whitespace).unwrap_or((argument, ""));
    let name = |form: &str| format!("axi-{id}.{form}");
    match (ExportForm::parse(first), rest.trim()) {
        (Some(form), "") => (form, name(first)),
        (Some(form), file) => (form, file.to_owned()),
        (None, _) if argument.is_empty() => (ExportForm::Markdown, name("md")),
        (None, _) => {
            let ending = argument.rsplit('.').next().unwrap_or_default();
            (ExportForm::parse(ending).unwrap_or(ExportForm::Markdown), argument.to_owned())
        }
    }
}

/// Writes a session in a form.
#[must_use]
pub fn export(loaded: &Loaded, form: ExportForm) -> String {
    match form {
        ExportForm::Markdown => markdown(loaded),
        ExportForm::Json => whole(loaded),
        ExportForm::Html => page(loaded),
    }
}

fn whole(loaded: &Loaded) -> String {
    let value = json!({
        "id": loaded.id,
        "title": loaded.title,
        "directory": loaded.directory.to_string_lossy(),
        "model": loaded.model,
        "usage": Totals::from(loaded.ledger.total().usage),
        "messages": loaded.conversation.messages(),
    });
    escape_json(format!("{value:#}"))
}

/// Which session it is, with which model and where; an import may have neither.
fn about(loaded: &Loaded) -> String {
    let directory = loaded.directory.to_string_lossy();
    let parts = [loaded.id.as_str(), &loaded.model, &directory];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

fn markdown(loaded: &Loaded) -> String {
    let mut parts = vec![format!("# {}\n\n{}", loaded.heading(), about(loaded))];
    for message in loaded.conversation.messages() {
        parts.extend(message.content.iter().filter_map(|block| block_in_markdown(message.role, block)));
    }
    parts.join("\n\n")
}

fn block_in_markdown(role: Role, block: &ContentBlock) -> Option<String> {
    match block {
        // Nobody said it here.
        ContentBlock::Text { text } if is_quoted(text) => None,
        ContentBlock::Text { text } if role == Role::User => {
            let quoted: Vec<String> = text.lines().map(|line| format!("> {line}")).collect();
            Some(quoted.join("\n"))
        }
        ContentBlock::Text { text } => Some(text.trim_end().to_owned()),
        ContentBlock::ToolCall(call) => Some(format!("`{}` `{}`", call.name, call.input)),
        ContentBlock::ToolResult(result) => {
            let fence = fence(&result.content);
            Some(format!("{fence}\n{}\n{fence}", result.content.trim_end()))
        }
        ContentBlock::Reasoning(_) | ContentBlock::Image(_) | ContentBlock::WireItem(_) => None,
    }
}

/// A fence that the text does not end: longer than any run of backticks in it.
pub(super) fn fence(text: &str) -> String {
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    "`".repeat((longest + 1).max(4))
}

/// The looks of the page. What was printed scrolls on a screen and is whole on paper.
const STYLE: &str = "\
:root{color-scheme:light dark}\
body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem}\
header{border-bottom:1px solid #8886;margin-bottom:1.5rem}header p{color:#888}\
section{margin:1rem 0}.user{border-left:3px solid #48c;padding-left:1rem;white-space:pre-wrap;font-weight:600}\
pre{background:#8881;padding:.7rem;overflow:auto;font:13px/1.4 ui-monospace,monospace;border-radius:4px}\
pre.output{max-height:24rem;white-space:pre-wrap;overflow-wrap:anywhere}\
.call{font:13px ui-monospace,monospace;color:#888;overflow-wrap:anywhere;margin-bottom:.2rem}\
.failed{color:#c44}table{border-collapse:collapse}td,th{border:1px solid #8886;padding:.2rem .5rem}img{max-width:100%}\
@media print{body{max-width:none;margin:0;font-size:11pt}pre.output{max-height:none}\
pre{white-space:pre-wrap;border:1px solid #ccc}.user,.call{break-after:avoid}}";

fn page(loaded: &Loaded) -> String {
    let title = escaped(&loaded.heading());
    let mut page = format!(
        "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         img-src data:\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<header><h1>{title}</h1><p>{}</p></header>\n",
        escaped(&about(loaded))
    );
    for message in loaded.conversation.messages() {
        for block in &message.content {
            block_in_page(message.role, block, &mut page);
        }
    }
    page.push_str("</body>\n</html>\n");
    page
}

fn block_in_page(role: Role, block: &ContentBlock, page: &mut String) {
    match block {
        // Nobody said it here.
        ContentBlock::Text { text } if is_quoted(text) => {}
        ContentBlock::Text { text } if role == Role::User => {
            page.extend(["<section class=\"user\">", &escaped(text.trim_end()), "</section>\n"]);
        }
        ContentBlock::Text { text } => page.extend(["<section>", &rendered(text), "</section>\n"]),
        ContentBlock::ToolCall(call) => {
            let said = format!("{} {}", call.name, call.input);
            page.extend(["<div class=\"call\">", &escaped(&said), "</div>\n"]);
        }
        ContentBlock::ToolResult(result) => {
            let class = match result.outcome {
                crate::conversation::Outcome::Ok => "output",
                crate::conversation::Outcome::Failed
                | crate::conversation::Outcome::Denied
                | crate::conversation::Outcome::Interrupted => "output failed",
            };
            page.extend(["<pre class=\"", class, "\">", &escaped(result.content.trim_end()), "</pre>\n"]);
            result.images.iter().for_each(|image| picture(image, page));
        }
        ContentBlock::Image(image) => picture(image, page),
        ContentBlock::Reasoning(_) | ContentBlock::WireItem(_) => {}
    }
}

fn picture(image: &Image, page: &mut String) {
    let known = ["image/png", "image/jpeg", "image/gif", "image/webp"].contains(&image.media_type.as_str());
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    if known && image.data.bytes().all(is_base64) {
        page.extend(["<img alt=\"\" src=\"data:", &image.media_type, ";base64,", &image.data, "\">\n"]);
    }
}

/// A model's markdown as HTML. Its own HTML is shown as it is written, its pictures and odd links lead nowhere.
fn rendered(text: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let events = Parser::new_ext(text, options).map(|event| match event {
        Event::Html(html) | Event::InlineHtml(html) => Event::Text(html),
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            let dest_url = if is_web(&dest_url) { dest_url } else { CowStr::Borrowed("") };
            Event::Start(Tag::Link { link_type, dest_url, title, id })
        }
        Event::Start(Tag::Image { link_type, title, id, .. }) => {
            Event::Start(Tag::Image { link_type, dest_url: CowStr::Borrowed(""), title, id })
        }
        other => other,
    });
    let mut written = String::new();
    html::push_html(&mut written, events);
    written
}

fn is_web(address: &str) -> bool {
    let lower = address.to_ascii_lowercase();
    ["https://", "http://", "mailto:", "#"].iter().any(|start| lower.starts_with(start))
}

fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::conversation::{Conversation, Ledger, Message, QUOTED};
    use crate::session::LeftOver;

    fn loaded(texts: &[&str]) -> Loaded {
        let role = |index| if index % 2 == 0 { Role::User } else { Role::Assistant };
        let message = |(index, text): (usize, &&str)| Message {
            role: role(index),
            content: vec![ContentBlock::Text { text: (*text).to_owned() }],
        };
        Loaded {
            id: SessionId::parse("20260101-000000-00000000").unwrap(),
            directory: "/src".into(),
            model: "lab/m".into(),
            title: None,
            conversation: Conversation::restore(texts.iter().enumerate().map(message).collect()),
            ledger: Ledger::default(),
            changed: Vec::new(),
            skipped: 0,
            bytes: 0,
            broken_off: false,
            left: LeftOver::default(),
        }
    }

    #[test]
    fn a_form_a_file_or_both_may_follow_export() {
        let id = SessionId::parse("20260101-000000-00000000").unwrap();
        let cases = [
            ("", ExportForm::Markdown, "axi-20260101-000000-00000000.md"),
            ("html", ExportForm::Html, "axi-20260101-000000-00000000.html"),
            ("out.json", ExportForm::Json, "out.json"),
            ("html out.html", ExportForm::Html, "out.html"),
            ("md /tmp/x.md", ExportForm::Markdown, "/tmp/x.md"),
            ("html  notes of today", ExportForm::Html, "notes of today"),
            ("~/x.md", ExportForm::Markdown, "~/x.md"),
            ("notes of today.html", ExportForm::Html, "notes of today.html"),
        ];
        for (argument, form, name) in cases {
            assert_eq!(export_target(argument, &id), (form, name.to_owned()), "{argument}");
        }
    }

    #[test]
    fn what_is_not_known_of_a_session_leaves_no_gap() {
        let known = loaded(&["hi"]);
        assert_eq!(about(&known), "20260101-000000-00000000 · lab/m · /src");
        assert_eq!(about(&Loaded { model: String::new(), ..known }), "20260101-000000-00000000 · /src");
    }

    #[test]
    fn a_page_shows_markdown_and_runs_nothing() {
        let page = export(
            &loaded(&[
                "<b>hi</b>",
                "**bold** <script>alert(1)</script> [x](javascript:alert(1)) ![p](http://x/y.png)",
            ]),
            ExportForm::Html,
        );
        assert!(page.contains("<strong>bold</strong>") && page.contains("&lt;b&gt;hi&lt;/b&gt;"), "{page}");
        for bad in ["<script", "javascript:", "http://x/y.png", "<b>"] {
            assert!(!page.contains(bad), "{bad} in {page}");
        }
    }

    #[test]
    fn an_export_is_headed_by_its_title_and_has_nothing_that_code_quoted() {
        let mut loaded = loaded(&["mend it", "done"]);
        loaded.conversation.push_user(Message {
            role: Role::User,
            content: ["go on", &format!("\n\n{QUOTED}: x")]
                .map(|text| ContentBlock::Text { text: text.to_owned() })
                .to_vec(),
        });
        let headed = |loaded: &Loaded| export(loaded, ExportForm::Markdown).lines().next().unwrap().to_owned();
        assert_eq!(headed(&loaded), "# mend it");
        loaded.title = Some("the heron port".to_owned());
        assert_eq!(headed(&loaded), "# the heron port");
        for form in [ExportForm::Markdown, ExportForm::Html] {
            let page = export(&loaded, form);
            assert!(page.contains("go on") && !page.contains(QUOTED), "{page}");
        }
    }

    #[test]
    fn json_has_the_conversation_whole() {
        let loaded = loaded(&["hi", "hello"]);
        let value: serde_json::Value = serde_json::from_str(&export(&loaded, ExportForm::Json)).unwrap();
        let messages: Vec<Message> = serde_json::from_value(value["messages"].clone()).unwrap();
        assert_eq!(messages, loaded.conversation.messages());
        assert_eq!(value["model"], "lab/m");
    }

    proptest! {
        #[test]
        fn no_text_opens_an_element_of_its_own(text in "[<>a-z/!\"'&\\[\\]()`*#:\n -]{0,60}") {
            let page = export(&loaded(&["x", &text]), ExportForm::Html);
            let body = page.split("<section>").nth(1).unwrap_or_default();
            for bad in ["<script", "<img src=\"h", "<iframe", "<style"] {
                prop_assert!(!body.contains(bad), "{bad}: {body}");
            }
        }
    }
}
