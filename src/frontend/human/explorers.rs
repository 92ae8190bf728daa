//! Sub-agents side by side: the one row above the status row tells what each does now.
//!
//! One row for each would need more than two live rows, and rows further up are never touched again.

use std::io::Write;

use super::painter::Painter;
use crate::agent::Explorer;
use crate::frontend::words;
use crate::locale::word;
use crate::terminal::width::column_after;
use crate::terminal::{Line, cut, sanitize_line};

/// What stands between two.
const APART: &str = " · ";
const INDENT: &str = "  ";
/// A question is named from so many cells on; fewer say nothing.
const SHORTEST_TOPIC: usize = 8;

/// One of them, in words.
struct ExplorerText {
    /// Which it is, with a space behind: "2 ".
    number: String,
    /// What it is to find out.
    topic: String,
    /// What it does now.
    doing: String,
}

/// Says of a sub-agent that it begins, where no row can be repainted.
pub(super) fn begins<W: Write>(painter: &Painter<W>, explorer: &Explorer) -> String {
    let what = &topic(&explorer.question);
    format!("{} …", painter.locale().with(word::activity::Explores { what }))
}

/// Composes the row that tells of each; `width` is in cells.
pub(super) fn row<W: Write>(painter: &Painter<W>, explorers: &[Explorer], width: usize) -> Line {
    let told = explorers.iter().map(|explorer| ExplorerText {
        number: format!("{} ", explorer.number),
        topic: topic(&explorer.question),
        doing: clean(&words::explorer(painter.locale(), painter.roots(), explorer.doing.as_ref())),
    });
    let line = Line::styled(side_by_side(&told.collect::<Vec<_>>(), width), painter.theme().dim);
    cut(&line, width)
}

fn clean(text: &str) -> String {
    sanitize_line(&text.split_whitespace().collect::<Vec<_>>().join(" ")).into_owned()
}

/// A question as a topic: a colon follows it.
fn topic(question: &str) -> String {
    clean(question).trim_end_matches(['?', '.', '!', ':', '？', '。', '！', '：']).to_owned()
}

/// Lays them out side by side in `width` cells. Each gets the same share; cells that one does not need go to the
/// others.
fn side_by_side(told: &[ExplorerText], width: usize) -> String {
    let whole: Vec<usize> =
        told.iter().map(|it| cells(&it.number) + cells(&it.topic) + 2 + cells(&it.doing)).collect();
    let apart = cells(APART) * told.len().saturating_sub(1);
    let mut left = width.saturating_sub(cells(INDENT) + apart);
    let mut order: Vec<usize> = (0..told.len()).collect();
    order.sort_by_key(|index| whole[*index]);
    let mut shares = vec![0; told.len()];
    for (taken, index) in order.iter().enumerate() {
        shares[*index] = whole[*index].min(left / (told.len() - taken));
        left -= shares[*index];
    }
    let parts: Vec<String> = told.iter().zip(shares).map(|(it, share)| part(it, share)).collect();
    format!("{INDENT}{}", parts.join(APART))
}

/// One of them in `share` cells: what it does comes first, what it is about gets what is left.
fn part(told: &ExplorerText, share: usize) -> String {
    let left = share.saturating_sub(cells(&told.number));
    let doing = fit(&told.doing, left);
    let left = left.saturating_sub(cells(&doing) + 2);
    if left < SHORTEST_TOPIC.min(cells(&told.topic)) || told.topic.is_empty() {
        return format!("{}{doing}", told.number);
    }
    format!("{}{}: {doing}", told.number, fit(&told.topic, left))
}

fn fit(text: &str, width: usize) -> String {
    cut(&Line::styled(text, nu_ansi_term::Style::default()), width).text()
}

fn cells(text: &str) -> usize {
    column_after(text, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(parts: &[(&str, &str)]) -> Vec<ExplorerText> {
        let told = |(index, (question, doing)): (usize, &(&str, &str))| ExplorerText {
            number: format!("{} ", index + 1),
            topic: topic(question),
            doing: (*doing).to_owned(),
        };
        parts.iter().enumerate().map(told).collect()
    }

    #[test]
    fn each_says_what_it_does_at_every_width() {
        let three = told(&[
            ("Where is the door painted?", "grep \"paint\""),
            ("Why is it blue?", "read src/colour.rs"),
            ("门在哪里？", "thinking"),
        ]);
        assert_eq!(
            side_by_side(&three, 199),
            "  1 Where is the door painted: grep \"paint\" · 2 Why is it blue: read src/colour.rs · 3 门在哪里: thinking"
        );
        assert_eq!(
            side_by_side(&three, 79),
            "  1 Where is …: grep \"paint\" · 2 read src/colour.rs · 3 门在哪里: thinking"
        );
        assert_eq!(side_by_side(&three, 39), "  1 grep \"pa… · 2 read sr… · 3 thinking");
        for width in 0..200 {
            let line = Line::styled(side_by_side(&three, width), nu_ansi_term::Style::default());
            assert!(width < 20 || cells(&line.text()) <= width, "{width}: {}", line.text());
        }
    }

    #[test]
    fn what_one_does_not_need_the_others_get() {
        let four = told(&[("a?", "ls"), ("b?", "ls"), ("c?", "ls"), ("d?", "grep \"a long pattern\"")]);
        assert_eq!(side_by_side(&four, 59), "  1 a: ls · 2 b: ls · 3 c: ls · 4 d: grep \"a long pattern\"");
    }

    #[test]
    fn a_question_is_one_line_and_cannot_paint() {
        assert_eq!(topic("Where\n is \u{1b}[31mthe door?"), "Where is ␛[31mthe door");
    }
}
