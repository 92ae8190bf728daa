//! Gives tokens their styles and passes them to the wrapper.

use std::sync::Arc;

use nu_ansi_term::Style;

use super::delimiter::Marks;
use super::maths;
use super::tokens::{Kind, Parsed};
use crate::terminal::markdown::html;
use crate::terminal::markdown::layout::Layout;
use crate::terminal::markdown::rows::{Output, Spaces, Wrapper};

/// Combines two styles: `over` decides about colours where it has some, and the attributes of both are added.
pub(crate) fn overlay(base: Style, over: Style) -> Style {
    Style {
        foreground: over.foreground.or(base.foreground),
        background: over.background.or(base.background),
        is_bold: base.is_bold || over.is_bold,
        is_dimmed: base.is_dimmed || over.is_dimmed,
        // Emphasis inside emphasised text stays italic.
        is_italic: base.is_italic || over.is_italic,
        is_underline: base.is_underline || over.is_underline,
        is_blink: base.is_blink || over.is_blink,
        is_reverse: base.is_reverse || over.is_reverse,
        is_hidden: base.is_hidden || over.is_hidden,
        is_strikethrough: base.is_strikethrough || over.is_strikethrough,
        prefix_with_reset: base.prefix_with_reset || over.prefix_with_reset,
    }
}

/// The emphases open at a place.
#[derive(Debug, Clone, Copy, Default)]
struct Open(Marks);

impl Open {
    fn change(&mut self, closes: Marks, opens: Marks) {
        let Self(marks) = self;
        marks.emphasis = (marks.emphasis + opens.emphasis).saturating_sub(closes.emphasis);
        marks.strong = (marks.strong + opens.strong).saturating_sub(closes.strong);
        marks.strikethrough = (marks.strikethrough + opens.strikethrough).saturating_sub(closes.strikethrough);
    }
}

/// Lays out the part of a parsed text that is final.
pub(crate) struct Emitter<'a> {
    pub(crate) layout: &'a Layout,
    pub(crate) base: Style,
    pub(crate) wrapper: &'a mut Wrapper,
    pub(crate) out: &'a mut Output,
}

impl Emitter<'_> {
    /// Lays out words without any markup.
    pub(crate) fn plain(&mut self, text: &str) {
        self.wrapper.push(text, self.base, None, Spaces::Collapse, self.out);
    }

    /// Lays out the tokens of `text` that begin before `end`.
    pub(crate) fn tokens(&mut self, parsed: &Parsed, text: &str, end: usize) {
        let theme = self.layout.theme;
        let mut open = Open::default();
        let mut style = self.base;
        let mut link: Option<(usize, Option<Arc<str>>)> = None;
        let mut link_text = String::new();
        for (index, token) in parsed.tokens.iter().enumerate().take_while(|(_, token)| token.start < end) {
            let start = token.start;
            let target = link.as_ref().and_then(|(_, target)| target.clone());
            let mut put = |piece: &str, style: Style, spaces: Spaces, out: &mut Output, wrapper: &mut Wrapper| {
                if link.is_some() {
                    link_text.push_str(piece);
                }
                wrapper.push(piece, style, target.as_ref(), spaces, out);
            };
            match &token.kind {
                Kind::Text(to) | Kind::Bracket(to) => {
                    put(&text[start..(*to).min(end)], style, Spaces::Collapse, self.out, self.wrapper);
                }
                Kind::Decoded(decoded) => put(decoded, style, Spaces::Keep, self.out, self.wrapper),
                // The text itself shows a key or a fold; the tag tells a person nothing.
                Kind::Html(from, to) if html::is_unseen(&text[*from..*to]) => {}
                Kind::Html(from, to) => {
                    put(&text[*from..*to], overlay(style, theme.dim), Spaces::Collapse, self.out, self.wrapper);
                }
                Kind::Maths(from, to) => {
                    let source = text[*from..*to].replace('\n', " ");
                    let shown = maths::inside(&source).and_then(maths::in_one_row).unwrap_or(source);
                    put(&shown, overlay(style, theme.code), Spaces::Keep, self.out, self.wrapper);
                }
                Kind::Code(from, to) => {
                    let code = code_text(&text[*from..*to]);
                    let marked = if theme.code.is_plain() { format!("`{code}`") } else { code };
                    put(&marked, overlay(style, theme.code), Spaces::Keep, self.out, self.wrapper);
                }
                Kind::SoftBreak => {
                    let next = parsed.tokens.get(index + 1).map_or(text.len(), |next| next.start);
                    let next = text[next..].trim_start_matches(['*', '_', '~', '`', '[']).chars().next();
                    if link.is_some() {
                        link_text.push(' ');
                    }
                    self.wrapper.soft_break(next, style, target.as_ref());
                }
                Kind::HardBreak => self.wrapper.hard_break(self.out),
                Kind::Run(index) => {
                    let run = &parsed.delimiters[*index];
                    self.marks(run.closes, style, target.as_ref());
                    open.change(run.closes, Marks::default());
                    style = self.style(open, link.is_some());
                    let left = run.byte().to_string().repeat(run.left);
                    self.wrapper.push(&left, style, target.as_ref(), Spaces::Keep, self.out);
                    open.change(Marks::default(), run.opens);
                    style = self.style(open, link.is_some());
                    self.marks(run.opens, style, target.as_ref());
                }
                Kind::LinkStart(index) => {
                    if link.is_none() {
                        link = Some((*index, self.hyperlink(&parsed.links[*index].target)));
                        link_text.clear();
                    }
                    style = self.style(open, true);
                }
                Kind::LinkEnd(index) => {
                    if link.as_ref().is_some_and(|(outer, _)| outer == index) {
                        let shown = link.take().is_some_and(|(_, target)| target.is_some());
                        style = self.style(open, false);
                        let target = &parsed.links[*index].target;
                        if link_text.trim().is_empty() && parsed.links[*index].image {
                            let name = target.rsplit('/').next().unwrap_or(target);
                            let hyperlink = self.hyperlink(target);
                            let style = overlay(style, theme.link);
                            self.wrapper.push(name, style, hyperlink.as_ref(), Spaces::Collapse, self.out);
                        }
                        self.address(&link_text, target, shown, style);
                    }
                }
                Kind::Autolink(from, to, target) => {
                    let shown = &text[*from..*to];
                    let hyperlink =
                        link.as_ref().map_or_else(|| self.hyperlink(target), |(_, target)| target.clone());
                    let style = overlay(style, theme.link);
                    self.wrapper.push(shown, style, hyperlink.as_ref(), Spaces::Collapse, self.out);
                    link_text.push_str(if link.is_some() { shown } else { "" });
                }
                Kind::Footnote(from, to) => {
                    let label = format!("[{}]", &text[*from..*to]);
                    put(&label, overlay(style, theme.furniture), Spaces::Keep, self.out, self.wrapper);
                }
            }
        }
    }

    fn style(&self, open: Open, link: bool) -> Style {
        let theme = &self.layout.theme;
        let Open(marks) = open;
        let mut style = self.base;
        for (on, over) in [
            (marks.emphasis > 0, theme.emphasis),
            (marks.strong > 0, theme.strong),
            (marks.strikethrough > 0, theme.strikethrough),
            (link, theme.link),
        ] {
            if on {
                style = overlay(style, over);
            }
        }
        style
    }

    /// Writes the marks of the source if the theme has no style for them, so that nothing is lost without styles.
    fn marks(&mut self, marks: Marks, style: Style, link: Option<&Arc<str>>) {
        let theme = &self.layout.theme;
        for (count, over, mark) in [
            (marks.strong, theme.strong, "**"),
            (marks.emphasis, theme.emphasis, "*"),
            (marks.strikethrough, theme.strikethrough, "~~"),
        ] {
            if count > 0 && over.is_plain() {
                self.wrapper.push(&mark.repeat(count), style, link, Spaces::Keep, self.out);
            }
        }
    }

    /// Returns the address that a terminal may open: complete addresses only, and only if links are shown as links.
    fn hyperlink(&self, target: &str) -> Option<Arc<str>> {
        let scheme = target.split(':').next().unwrap_or_default();
        let known =
            ["http", "https", "mailto", "ftp", "file"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
        let whole = known && scheme.len() < target.len();
        (self.layout.hyperlinks && whole).then(|| address_text(target))
    }

    /// Writes the address after a link's text if the text alone would hide it.
    fn address(&mut self, text: &str, target: &str, shown: bool, style: Style) {
        let text = text.trim();
        let bare = |address: &str| {
            let address = address.trim_end_matches('/');
            let address = address.strip_prefix("mailto:").unwrap_or(address);
            address.split_once("://").map_or(address, |(_, rest)| rest).to_owned()
        };
        // A text that looks like another address than the real one must not stand alone.
        let deceives = text.contains("://") || text.starts_with("www.");
        let same = bare(text) == bare(target);
        if target.is_empty() || target.starts_with('#') || same || shown && !deceives {
            return;
        }
        let style = overlay(style, self.layout.theme.address);
        self.wrapper.push(" ", style, None, Spaces::Collapse, self.out);
        self.wrapper.push(&format!("({})", address_text(target)), style, None, Spaces::Collapse, self.out);
    }
}

/// Makes an address safe inside a terminal's link sequence: no control characters, no spaces.
fn address_text(target: &str) -> Arc<str> {
    let visible = crate::terminal::markdown::source::visible(target);
    Arc::from(visible.replace([' ', '\n', '\t'], "%20"))
}

/// Returns code as CommonMark reads it: line ends become spaces, and one space on each side is removed.
fn code_text(source: &str) -> String {
    let text = source.replace('\n', " ");
    match text.strip_prefix(' ').and_then(|inner| inner.strip_suffix(' ')) {
        Some(inner) if !text.trim().is_empty() => inner.to_owned(),
        Some(_) | None => text,
    }
}
