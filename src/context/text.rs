//! Cutting a text so that its beginning and its end stay.

/// Keeps the first and the last characters of a text that is longer than both, with `mark` between them.
pub(super) fn middle_out(text: &str, head: usize, tail: usize, mark: impl FnOnce(&str) -> String) -> String {
    let (from, to) = (floor(text, head), ceiling(text, text.len().saturating_sub(tail)));
    if from >= to {
        return text.to_owned();
    }
    format!("{}{}{}", &text[..from], mark(&text[from..to]), &text[to..])
}

/// The first characters of a text, at most so many bytes, with a mark where there is more.
pub(super) fn beginning(text: &str, most: usize) -> String {
    let to = floor(text, most);
    if to == text.len() { text.to_owned() } else { format!("{}…", &text[..to]) }
}

/// The end of the last line that fits, else of the last character.
fn floor(text: &str, most: usize) -> usize {
    if most >= text.len() {
        return text.len();
    }
    let to = text.floor_char_boundary(most);
    match text[..to].rfind('\n') {
        Some(line) if line >= to / 2 => line + 1,
        Some(_) | None => to,
    }
}

/// The start of the first line behind a place, else of the first character.
fn ceiling(text: &str, from: usize) -> usize {
    let from = text.ceil_char_boundary(from);
    match text[from..].find('\n') {
        Some(line) if line < (text.len() - from) / 2 => from + line + 1,
        Some(_) | None => from,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn whole_lines_stay_where_there_are_any() {
        let cut =
            middle_out("one\ntwo\nthree\nfour\nfive\n", 9, 9, |middle| format!("[{}]\n", middle.lines().count()));
        assert_eq!(cut, "one\ntwo\n[2]\nfive\n");
        assert_eq!(middle_out("short", 9, 9, |_| "x".into()), "short");
        assert_eq!(beginning("中文字", 4), "中…");
    }

    proptest! {
        #[test]
        fn any_text_is_cut_at_characters_and_nothing_is_lost_or_doubled(text in "\\PC{0,40}", head in 0..60_usize, tail in 0..60_usize) {
            let mut between = String::new();
            let cut = middle_out(&text, head, tail, |middle| { between.push_str(middle); "\u{1}".into() });
            prop_assert_eq!(cut.replacen('\u{1}', &between, 1), text);
        }
    }
}
