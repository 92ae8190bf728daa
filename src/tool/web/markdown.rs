//! A web page as markdown for the model: one pass over its tags, no tree, so that no page is too deep. Pure.
//!
//! Own code after trying what there is on real pages (an encyclopaedia's of 1.4 MB, a forum's, rustdoc's and a book's)
//! and on hostile ones: htmd 0.5 (a tree, by html5ever) overflows the stack on 20,000 lists in each other, which ends
//! the process; html2text 0.16 refuses them with an error and writes no markdown tables or code fences; `fast_html2md`
//! 0.0.63 does not build with its streaming rewriter alone. Headings, tables and code come out alike; this leaves
//! menus out (a third less for the model) and takes a fifth of htmd's time.

use reqwest::Url;

use super::html_tokens::{Token, Tokens, attribute, decoded};

/// What lies in these is not for reading.
const SKIPPED: &[&str] = &[
    "head", "template", "noscript", "svg", "math", "button", "select", "option", "canvas", "audio", "video",
    "object", "dialog",
];
/// Elements that stand alone on their lines, with a free line around them.
const BLOCKS: &[&str] = &[
    "p",
    "div",
    "section",
    "article",
    "main",
    "header",
    "footer",
    "nav",
    "aside",
    "address",
    "figure",
    "figcaption",
    "form",
    "fieldset",
    "details",
    "summary",
    "dl",
    "hgroup",
    "body",
    "html",
    "center",
];
/// Main parts shorter than this do not stand for the page (bytes).
const SHORTEST_MAIN: usize = 200;
/// Lists and quotations are set in at most so deep.
const DEEPEST: usize = 12;

/// A page's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Page {
    /// Its title, in one line; may be empty.
    pub(crate) title: String,
    /// Its text as markdown.
    pub(crate) markdown: String,
}

/// What goes on around the text that is being written.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Around {
    Quote,
    /// A list; the number its next item gets, `None` for bullets.
    List(Option<u64>),
    Item,
}

/// Writes markdown.
struct Writer<'a> {
    base: Option<&'a Url>,
    out: String,
    title: String,
    /// Line ends to write before the next text.
    breaks: usize,
    /// Whether white space was seen since the last text.
    blank: bool,
    around: Vec<Around>,
    /// What the next item begins with.
    bullet: Option<String>,
    skip: usize,
    in_title: bool,
    preformatted: usize,
    /// Where the text of each open link began, and its address.
    links: Vec<(usize, Option<String>)>,
    row: Option<Vec<String>>,
    /// Line ends to write before the open row.
    row_breaks: usize,
    /// Where the open cell began.
    cell: Option<usize>,
    rows: usize,
    /// Where the main part began, and its longest text.
    main_from: Option<usize>,
    main_depth: usize,
    main: String,
}

/// Converts a page; `base` makes its links absolute.
pub(crate) fn markdown(page: &str, base: Option<&Url>) -> Page {
    let mut writer = Writer {
        base,
        out: String::new(),
        title: String::new(),
        breaks: 0,
        blank: false,
        around: Vec::new(),
        bullet: None,
        skip: 0,
        in_title: false,
        preformatted: 0,
        links: Vec::new(),
        row: None,
        row_breaks: 0,
        cell: None,
        rows: 0,
        main_from: None,
        main_depth: 0,
        main: String::new(),
    };
    for token in Tokens::new(page) {
        match token {
            Token::Text(text) => writer.text(text),
            Token::Open { name, attributes } => writer.open(&name, attributes),
            Token::Close { name } => writer.close(&name),
        }
    }
    writer.end_main();
    let whole = if writer.main.len() >= SHORTEST_MAIN { writer.main } else { writer.out };
    Page { title: one_line(&writer.title), markdown: whole.trim_matches('\n').to_owned() }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Writer<'_> {
    fn text(&mut self, text: &str) {
        let text = decoded(text);
        if self.in_title {
            self.title.push_str(&text);
        } else if self.skip > 0 {
        } else if self.preformatted > 0 {
            self.raw(&text);
        } else {
            for (index, word) in text.split(char::is_whitespace).enumerate() {
                self.blank |= index > 0;
                if !word.is_empty() {
                    self.word(word);
                }
            }
        }
    }

    /// Writes a word, with the blanks or line ends that are due before it.
    fn word(&mut self, word: &str) {
        self.flush();
        if self.blank && !self.out.is_empty() && !self.out.ends_with(['\n', ' ']) {
            self.out.push(' ');
        }
        self.blank = false;
        self.out.push_str(word);
    }

    /// Writes text as it stands.
    fn raw(&mut self, text: &str) {
        self.flush();
        let prefix = format!("\n{}", self.prefix());
        self.out.push_str(&text.replace("\r\n", "\n").replace('\n', &prefix));
    }

    /// Writes a mark that touches the word after it.
    fn mark(&mut self, mark: &str) {
        if self.skip == 0 && self.preformatted == 0 {
            self.word(mark);
        }
    }

    /// Writes a mark that touches the word before it; a mark pair with nothing in it goes.
    fn end_mark(&mut self, mark: &str) {
        if self.skip > 0 || self.preformatted > 0 {
            return;
        }
        if self.out.ends_with(mark) && !self.out.ends_with(&format!("\\{mark}")) {
            self.out.truncate(self.out.len() - mark.len());
        } else {
            self.out.push_str(mark);
        }
    }

    fn flush(&mut self) {
        if self.cell.is_some() {
            // A cell is one line.
            self.blank |= std::mem::take(&mut self.breaks) > 0;
            return;
        }
        let due = std::mem::take(&mut self.breaks);
        if due > 0 && !self.out.is_empty() {
            let prefix = self.prefix();
            for _ in 0..due.min(2) {
                self.out.truncate(self.out.trim_end_matches(' ').len());
                self.out.push('\n');
                self.out.push_str(&prefix);
            }
        } else if due > 0 || self.out.is_empty() {
            self.out.push_str(&self.prefix());
        }
        if let Some(bullet) = self.bullet.take() {
            // The item's own indentation makes room for its bullet.
            let kept = self.out.len() - self.out.len().min(2).min(trailing_blanks(&self.out));
            self.out.truncate(kept);
            self.out.push_str(&bullet);
        }
    }

    fn prefix(&self) -> String {
        let around = self.around.iter().take(DEEPEST);
        around
            .map(|around| match around {
                Around::Quote => "> ",
                Around::Item => "  ",
                Around::List(_) => "",
            })
            .collect()
    }

    fn break_lines(&mut self, count: usize) {
        // A paragraph at the start of an item stands behind its bullet.
        if self.bullet.is_some() {
            return;
        }
        self.breaks = self.breaks.max(count);
        self.blank = false;
    }

    fn open(&mut self, name: &str, attributes: &str) {
        if name == "title" && self.title.is_empty() {
            self.in_title = true;
        }
        if SKIPPED.contains(&name) {
            self.skip += usize::from(!attributes.ends_with('/'));
        }
        // A body ends a head nobody closed.
        if name == "body" {
            self.skip = 0;
        }
        if self.skip > 0 {
            return;
        }
        if matches!(name, "main" | "article") {
            if self.main_depth == 0 {
                self.break_lines(2);
                self.main_from = Some(self.out.len());
            }
            self.main_depth += 1;
        }
        match name {
            "br" if self.preformatted > 0 => self.raw("\n"),
            "hr" => {
                self.break_lines(2);
                self.word("---");
                self.break_lines(2);
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.break_lines(2);
                let level = name.as_bytes().get(1).map_or(1, |digit| usize::from(digit - b'0'));
                self.word(&"#".repeat(level));
                self.blank = true;
            }
            "ul" | "menu" | "ol" => {
                let nested = self.around.iter().any(|around| matches!(around, Around::List(_)));
                self.break_lines(if nested { 1 } else { 2 });
                let start = attribute(attributes, "start").and_then(|start| start.parse().ok()).unwrap_or(1);
                self.around.push(Around::List((name == "ol").then_some(start)));
            }
            "li" => self.open_item(),
            "br" | "dt" | "dd" => self.break_lines(1),
            "blockquote" => {
                self.break_lines(2);
                self.around.push(Around::Quote);
            }
            "pre" => self.open_code(attributes),
            "code" | "kbd" | "samp" | "tt" => self.mark("`"),
            "strong" | "b" => self.mark("**"),
            "em" | "i" => self.mark("*"),
            "img" => {
                let alt = one_line(&decoded(attribute(attributes, "alt").unwrap_or("")));
                if !alt.is_empty() && self.preformatted == 0 {
                    self.word(&format!("![{alt}]"));
                }
            }
            "a" => {
                let address = attribute(attributes, "href").map(|href| self.absolute(&decoded(href)));
                self.links.push((self.out.len(), address.flatten()));
            }
            "table" => {
                self.break_lines(2);
                self.rows = 0;
            }
            "tr" => {
                self.end_row();
                self.row = Some(Vec::new());
                self.row_breaks = std::mem::take(&mut self.breaks).max(1);
            }
            "td" | "th" if self.row.is_some() => {
                self.end_cell();
                self.cell = Some(self.out.len());
            }
            name if BLOCKS.contains(&name) => self.break_lines(2),
            _ => {}
        }
    }

    fn open_item(&mut self) {
        self.leave(&Around::Item, true);
        self.bullet = None;
        self.break_lines(1);
        let bullet = match self.around.iter_mut().rev().find(|around| matches!(around, Around::List(_))) {
            Some(Around::List(Some(number))) => {
                *number = number.saturating_add(1);
                format!("{}. ", number.saturating_sub(1))
            }
            Some(Around::List(None) | Around::Item | Around::Quote) | None => "- ".to_owned(),
        };
        self.around.push(Around::Item);
        self.bullet = Some(bullet);
    }

    fn open_code(&mut self, attributes: &str) {
        self.break_lines(2);
        if self.preformatted == 0 && self.cell.is_none() {
            let class = attribute(attributes, "class").unwrap_or("");
            let language = class.split_whitespace().find_map(|class| class.strip_prefix("language-"));
            let language: String = language.unwrap_or("").chars().filter(char::is_ascii_alphanumeric).collect();
            self.word(&format!("```{language}"));
            self.breaks = 1;
        }
        self.preformatted += 1;
    }

    fn close(&mut self, name: &str) {
        if name == "title" {
            self.in_title = false;
        }
        if SKIPPED.contains(&name) {
            self.skip = self.skip.saturating_sub(1);
            return;
        }
        if self.skip > 0 {
            return;
        }
        match name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.break_lines(2),
            "ul" | "menu" | "ol" => {
                let bullets = name != "ol";
                if let Some(at) = self
                    .around
                    .iter()
                    .rposition(|around| matches!(around, Around::List(number) if number.is_none() == bullets))
                {
                    self.around.truncate(at);
                }
                self.bullet = None;
                let nested = self.around.iter().any(|around| matches!(around, Around::List(_)));
                self.break_lines(if nested { 1 } else { 2 });
            }
            "li" => {
                self.leave(&Around::Item, false);
                self.bullet = None;
                self.break_lines(1);
            }
            "blockquote" => {
                self.leave(&Around::Quote, false);
                self.break_lines(2);
            }
            "pre" if self.preformatted > 0 => {
                self.preformatted -= 1;
                if self.preformatted == 0 && self.cell.is_none() {
                    while self.out.ends_with(['\n', ' ']) {
                        self.out.pop();
                    }
                    self.breaks = 1;
                    self.word("```");
                }
                self.break_lines(2);
            }
            "code" | "kbd" | "samp" | "tt" => self.end_mark("`"),
            "strong" | "b" => self.end_mark("**"),
            "em" | "i" => self.end_mark("*"),
            "a" => self.end_link(),
            "td" | "th" => self.end_cell(),
            "tr" => self.end_row(),
            "table" => {
                self.end_row();
                self.break_lines(2);
            }
            name if BLOCKS.contains(&name) => self.break_lines(2),
            _ => {}
        }
        if matches!(name, "main" | "article") && self.main_depth > 0 {
            self.main_depth -= 1;
            if self.main_depth == 0 {
                self.end_main();
            }
        }
    }

    /// Leaves the innermost item or quotation, unless a list begins after it and `within` one is meant.
    fn leave(&mut self, what: &Around, within: bool) {
        let found = self.around.iter().rposition(|around| around == what);
        let list = self.around.iter().rposition(|around| matches!(around, Around::List(_)));
        if let Some(at) = found
            && !(within && list.is_some_and(|list| list > at))
        {
            self.around.truncate(at);
        }
    }

    fn absolute(&self, href: &str) -> Option<String> {
        let href = href.trim();
        if href.is_empty() || href.starts_with('#') {
            return None;
        }
        let url = match self.base {
            Some(base) => base.join(href).ok()?,
            None => href.parse().ok()?,
        };
        matches!(url.scheme(), "http" | "https" | "mailto").then(|| url.to_string())
    }

    fn end_link(&mut self) {
        let Some((from, Some(address))) = self.links.pop() else { return };
        let Some(text) = self.out.get(from..) else { return };
        let words = text.trim();
        if words.is_empty() {
            return;
        }
        let blank = text.len() - text.trim_start().len();
        if words.contains('\n') {
            self.out.extend([" (", &address, ")"]);
        } else {
            self.out.insert(from + blank, '[');
            self.out.extend(["](", &address, ")"]);
        }
    }

    fn end_cell(&mut self) {
        let Some(from) = self.cell.take() else { return };
        self.blank = false;
        self.breaks = 0;
        self.links.retain(|(start, _)| *start < from);
        let text = self.out.get(from..).map(one_line).unwrap_or_default();
        self.out.truncate(from);
        if let Some(row) = &mut self.row {
            row.push(text.replace('|', "\\|"));
        }
    }

    fn end_row(&mut self) {
        self.end_cell();
        let Some(row) = self.row.take() else { return };
        self.breaks = self.row_breaks;
        if row.iter().all(String::is_empty) {
            return;
        }
        // Tables that only place things on the page.
        if row.len() == 1 {
            return self.word(&row[0]);
        }
        self.word(&format!("| {} |", row.join(" | ")));
        if self.rows == 0 {
            self.break_lines(1);
            self.word(&format!("|{}", " --- |".repeat(row.len())));
        }
        self.rows += 1;
        self.break_lines(1);
    }

    fn end_main(&mut self) {
        let Some(from) = self.main_from.take() else { return };
        let text = self.out.get(from..).unwrap_or_default().trim();
        // A page of several articles is all of them.
        if !text.is_empty() {
            if !self.main.is_empty() {
                self.main.push_str("\n\n");
            }
            self.main.push_str(text);
        }
    }
}

fn trailing_blanks(text: &str) -> usize {
    text.len() - text.trim_end_matches(' ').len()
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;
