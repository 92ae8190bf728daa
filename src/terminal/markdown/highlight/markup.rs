//! HTML and similar languages: tags, attributes, comments.

use nu_ansi_term::Style;

use super::open::Open;
use super::painter::Painter;

/// The comment of all these languages.
const COMMENT: (&str, &str) = ("<!--", "-->");

/// Colours a line; `open` is what the line before left open.
pub(super) fn line(open: &mut Open, painter: &mut Painter<'_>) {
    let text = painter.text;
    let theme = painter.theme;
    let mut position = 0;
    while position < text.len() {
        let rest = &text[position..];
        position = match *open {
            Open::Comment(..) => {
                let end = rest.find(COMMENT.1).map(|end| position + end + COMMENT.1.len());
                if end.is_some() {
                    *open = Open::Nothing;
                }
                painter.paint(position, end.unwrap_or(text.len()), theme.code_comment)
            }
            Open::Tag => in_tag(open, painter, position),
            Open::Nothing | Open::Text(_) if rest.starts_with(COMMENT.0) => {
                *open = Open::Comment(0, 1);
                painter.paint(position, position + COMMENT.0.len(), theme.code_comment)
            }
            Open::Nothing | Open::Text(_) if rest.starts_with('<') => {
                let name = rest[1..]
                    .bytes()
                    .take_while(|byte| byte.is_ascii_alphanumeric() || b"/-:!?_.".contains(byte))
                    .count();
                if name > 0 {
                    *open = Open::Tag;
                }
                painter.paint(position, position + 1 + name, theme.code_keyword)
            }
            Open::Nothing | Open::Text(_) => {
                let end = rest.find('<').map_or(text.len(), |end| position + end);
                painter.paint(position, end, Style::new())
            }
        };
    }
}

fn in_tag(open: &mut Open, painter: &mut Painter<'_>, position: usize) -> usize {
    let text = painter.text;
    let theme = painter.theme;
    let rest = &text[position..];
    match rest.as_bytes()[0] {
        b'>' => {
            *open = Open::Nothing;
            painter.paint(position, position + 1, theme.code_keyword)
        }
        b'/' | b'?' => painter.paint(position, position + 1, theme.code_keyword),
        quote @ (b'"' | b'\'') => {
            let end = rest[1..].find(char::from(quote)).map_or(text.len(), |end| position + end + 2);
            painter.paint(position, end, theme.code_string)
        }
        b' ' | b'\t' | b'=' => position + 1,
        _ => {
            let length = rest.find([' ', '\t', '=', '>', '/', '"', '\'']).unwrap_or(rest.len()).max(1);
            painter.paint(position, position + length, theme.code_type)
        }
    }
}
