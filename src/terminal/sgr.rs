//! Converts styles to bytes: the shortest SGR sequence from one style to the next (ECMA-48, 8.3.117).

use nu_ansi_term::{Color, Style};

/// Appends the bytes that turn `from` into `to`; none if they are equal.
pub(crate) fn transition(from: Style, to: Style, out: &mut Vec<u8>) {
    if from == to {
        return;
    }
    let (before, after) = (attributes(from), attributes(to));
    out.extend_from_slice(b"\x1b[");
    let start = out.len();
    // Switching off single attributes is never shorter than a reset: most texts return to plain.
    let loses = before.iter().zip(after).any(|(&(_, was), (_, is))| was && !is)
        || (from.foreground.is_some() && to.foreground.is_none())
        || (from.background.is_some() && to.background.is_none());
    let kept = !loses;
    if !kept && to != Style::default() {
        out.push(b'0');
    }
    for (&(_, was), (code, is)) in before.iter().zip(after) {
        if is && !(kept && was) {
            parameter(&[code], start, out);
        }
    }
    if let Some(color) = to.foreground.filter(|_| !(kept && from.foreground == to.foreground)) {
        color_codes(color, 0, start, out);
    }
    if let Some(color) = to.background.filter(|_| !(kept && from.background == to.background)) {
        color_codes(color, 10, start, out);
    }
    out.push(b'm');
}

fn attributes(style: Style) -> [(u8, bool); 8] {
    [
        (1, style.is_bold),
        (2, style.is_dimmed),
        (3, style.is_italic),
        (4, style.is_underline),
        (5, style.is_blink),
        (7, style.is_reverse),
        (8, style.is_hidden),
        (9, style.is_strikethrough),
    ]
}

fn parameter(codes: &[u8], start: usize, out: &mut Vec<u8>) {
    for code in codes {
        if out.len() > start {
            out.push(b';');
        }
        out.extend_from_slice(code.to_string().as_bytes());
    }
}

/// Appends the codes of a colour; `shift` is 10 for the background.
fn color_codes(color: Color, shift: u8, start: usize, out: &mut Vec<u8>) {
    let code = match color {
        Color::Black => 30,
        Color::Red => 31,
        Color::Green => 32,
        Color::Yellow => 33,
        Color::Blue => 34,
        Color::Purple | Color::Magenta => 35,
        Color::Cyan => 36,
        Color::White => 37,
        Color::DarkGray => 90,
        Color::LightRed => 91,
        Color::LightGreen => 92,
        Color::LightYellow => 93,
        Color::LightBlue => 94,
        Color::LightPurple | Color::LightMagenta => 95,
        Color::LightCyan => 96,
        Color::LightGray => 97,
        Color::Default => 39,
        Color::Fixed(index) => return parameter(&[38 + shift, 5, index], start, out),
        Color::Rgb(red, green, blue) => return parameter(&[38 + shift, 2, red, green, blue], start, out),
    };
    parameter(&[code + shift], start, out);
}
