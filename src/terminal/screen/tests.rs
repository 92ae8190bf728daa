//! What stands on a real terminal model after updates.

use nu_ansi_term::{Color, Style};
use proptest::prelude::*;

use super::*;
use crate::terminal::layout::{grapheme_floor, length, slice};

fn plain(text: &str) -> Line {
    Line::styled(text, Style::default())
}

fn screen() -> Screen<Vec<u8>> {
    Screen::new(Vec::new(), 20, 6, Capabilities::FULL)
}

/// Text of scrollback and screen; trailing empty rows cut.
fn shown(bytes: &[u8], columns: u16, rows: u16) -> String {
    let mut parser = vt100::Parser::new(rows, columns, 10_000);
    parser.process(bytes);
    text_of(parser.screen_mut())
}

fn text_of(screen: &mut vt100::Screen) -> String {
    let columns = screen.size().1;
    screen.set_scrollback(usize::MAX);
    let mut lines = Vec::new();
    for offset in (1..=screen.scrollback()).rev() {
        screen.set_scrollback(offset);
        lines.push((screen.rows(0, columns).next().unwrap(), screen.row_wrapped(0)));
    }
    screen.set_scrollback(0);
    let visible: Vec<_> = screen.rows(0, columns).collect();
    for (index, row) in (0..).zip(visible) {
        lines.push((row, screen.row_wrapped(index)));
    }
    let mut text = String::new();
    for (row, wrapped) in lines {
        text.push_str(&row);
        if !wrapped {
            text.push('\n');
        }
    }
    text.trim_end_matches('\n').to_owned()
}

fn seen(screen: &Screen<Vec<u8>>) -> String {
    shown(screen.writer(), 20, 6)
}

#[test]
fn text_grows_in_place_and_only_what_is_new_is_written() {
    let mut screen = screen();
    screen.live(&plain("hello"), &plain("* 1 s"));
    screen.flush();
    assert_eq!(seen(&screen), "hello\n* 1 s");
    let before = screen.written();
    screen.live(&plain("hello wor"), &plain("* 1 s"));
    screen.flush();
    assert_eq!(screen.written() - before, 4);
    screen.live(&plain("hello wor"), &plain("* 1 s"));
    screen.flush();
    assert_eq!(screen.written() - before, 4, "nothing changed, nothing is written");
    assert_eq!(seen(&screen), "hello wor\n* 1 s");
}

#[test]
fn a_commit_pushes_the_status_row_down() {
    let mut screen = screen();
    for index in 0..12 {
        screen.live(&plain(&format!("line {index}")), &plain("* status"));
        screen.flush();
        screen.commit(&plain(&format!("line {index} whole")));
        screen.live(&Line::new(), &plain("* status"));
        screen.flush();
        assert!(seen(&screen).ends_with(&format!("line {index} whole\n* status")), "{}", seen(&screen));
    }
    screen.end_live();
    let whole: Vec<_> = (0..12).map(|index| format!("line {index} whole")).collect();
    assert_eq!(seen(&screen), whole.join("\n"));
}

#[test]
fn exact_rows_and_long_lines_are_neither_doubled_nor_cut() {
    for width in 18..=42 {
        let mut screen = screen();
        let text = "0123456789".repeat(5)[..width].to_owned();
        for end in 1..=width {
            screen.live(&plain(&text[..end]), &plain("status"));
            screen.flush();
        }
        screen.commit(&plain(&text));
        screen.commit(&plain("next"));
        screen.live(&Line::new(), &plain("status"));
        screen.flush();
        assert_eq!(seen(&screen), format!("{text}\nnext\nstatus"), "width {width}");
    }
}

#[test]
fn a_changed_open_row_is_rewritten_from_where_it_differs() {
    let mut screen = screen();
    screen.live(&plain("some **bo"), &plain("status"));
    screen.flush();
    let mut bold = plain("some ");
    bold.push(Span::new("bold", Style::new().bold()));
    screen.live(&bold, &plain("status"));
    screen.flush();
    assert_eq!(seen(&screen), "some bold\nstatus");
    screen.live(&plain("a text that is longer than the row"), &plain("status"));
    screen.flush();
    assert_eq!(seen(&screen), "a text that is longer than the row\nstatus");
    screen.live(&plain("a tex!"), &plain("status"));
    screen.flush();
    assert_eq!(seen(&screen), "a tex!\nstatus");
}

#[test]
fn an_unsure_tail_is_shown_and_taken_back() {
    let mut screen = screen();
    screen.tail(&plain("**bo"));
    screen.live(&Line::new(), &plain("status"));
    screen.flush();
    assert_eq!(seen(&screen), "**bo\nstatus");
    screen.live(&Line::styled("bold", Style::new().bold()), &plain("status"));
    screen.tail(&plain(" and [a link that is long"));
    screen.flush();
    assert_eq!(seen(&screen), "bold and [a link t…\nstatus");
    screen.tail(&Line::new());
    screen.flush();
    assert_eq!(seen(&screen), "bold\nstatus");
    screen.tail(&plain(" x"));
    screen.flush();
    screen.commit(&Line::styled("bold", Style::new().bold()));
    screen.end_live();
    assert_eq!(seen(&screen), "bold");
}

#[test]
fn the_last_letter_of_a_full_row_is_seen_before_more_comes() {
    for text in ["1234567890123456789", "12345678901234567中"] {
        let mut screen = screen();
        screen.live(&plain(text), &plain("status"));
        screen.tail(&plain(" more"));
        screen.flush();
        assert_eq!(seen(&screen), format!("{text}\nstatus"));
        screen.commit(&plain(text));
        screen.live(&plain("more"), &plain("status"));
        screen.flush();
        assert_eq!(seen(&screen), format!("{text}\nmore\nstatus"));
    }
}

#[test]
fn the_status_row_is_cut_and_repainted_where_it_differs() {
    let mut screen = screen();
    screen.live(&plain("text"), &plain("⠋ thinking 1 s and more words"));
    screen.flush();
    assert_eq!(seen(&screen), "text\n⠋ thinking 1 s and…");
    let before = screen.written();
    screen.status(&plain("⠙ thinking 1 s and more words"));
    screen.flush();
    assert!(screen.written() - before <= 24, "{}", screen.written() - before);
    assert_eq!(seen(&screen), "text\n⠙ thinking 1 s and…");
    screen.status(&plain("short"));
    screen.flush();
    assert_eq!(seen(&screen), "text\nshort");
}

#[test]
fn linear_mode_writes_lines_and_nothing_else() {
    let mut screen = Screen::linear(Vec::new(), Capabilities::PLAIN);
    screen.live(&plain("open"), &plain("status"));
    screen.mark(&Mark::Bell);
    let mut line = Line::styled("red", Style::new().fg(Color::Red));
    line.push(Span { text: " link\x1b[2J".to_owned(), style: Style::default(), link: Some("https://a.b".into()) });
    screen.commit(&line);
    screen.flush();
    screen.end_live();
    assert_eq!(String::from_utf8(screen.writer().clone()).unwrap(), "red link␛[2J\n");
}

#[test]
fn a_closed_pipe_is_remembered() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut screen = Screen::linear(Closed, Capabilities::PLAIN);
    assert_eq!(screen.broken(), None);
    screen.commit(&plain("x"));
    screen.flush();
    assert_eq!((screen.broken(), screen.written()), (Some(io::ErrorKind::BrokenPipe), 0));
}

#[test]
fn a_row_that_gets_other_looks_after_a_resize_is_not_written_again() {
    let mut screen = screen();
    screen.live(&plain("a heading of two rows"), &Line::new());
    screen.flush();
    let before = screen.writer().len();
    screen.resize(12, 6);
    screen.commit(&Line::styled("a heading of two rows", Style::new().bold()));
    screen.end_live();
    assert_eq!(String::from_utf8_lossy(&screen.writer()[before..]), "\r\n\x1b[?25h");
}

/// Bytes written for a byte of styled text: 20 KB in deltas of 4 characters, a spinner that turns every
/// `frame` deltas, an update every `batch` deltas.
fn amplification(batch: usize, frame: usize) -> f64 {
    let mut screen = Screen::new(Vec::new(), 80, 24, Capabilities::FULL);
    let mut whole = Screen::linear(Vec::new(), Capabilities::FULL);
    let (mut row, mut deltas) = (Line::new(), 0);
    for word in 0..3_000 {
        let style = if word % 9 == 0 { Style::new().bold() } else { Style::default() };
        let text = format!("{}{}", "lorem ipsum".split_at(word % 7 + 2).0, if word % 12 == 11 { "." } else { "" });
        if row.text().len() + 1 + text.len() > 79 {
            screen.commit(&row);
            whole.commit(&row);
            row = Line::new();
        }
        row.push(Span::plain(if row.is_empty() { "" } else { " " }));
        for part in text.as_bytes().chunks(4) {
            row.push(Span::new(String::from_utf8_lossy(part), style));
            deltas += 1;
            if deltas % batch == 0 {
                let status =
                    format!("{} writing · {} s · esc to stop", ["⠋", "⠙"][deltas / frame % 2], deltas / 600);
                screen.live(&row, &Line::styled(status, Style::new().dimmed()));
                screen.flush();
            }
        }
    }
    screen.commit(&row);
    whole.commit(&row);
    screen.end_live();
    whole.flush();
    #[expect(clippy::cast_precision_loss, reason = "some ten thousand")]
    let ratio = screen.written() as f64 / whole.written() as f64;
    ratio
}

#[test]
fn little_more_is_written_than_the_text() {
    // As fast as a local server sends: an update every 16 ms holds many deltas. Then as a slow model does, with
    // every delta on its own; then with a spinner that turns at every eighth of them.
    let (fast, slow, spinning) = (amplification(16, 80), amplification(1, usize::MAX), amplification(1, 8));
    assert!(fast < 1.3 && slow < 1.3 && spinning < 2.2, "{fast} {slow} {spinning}");
}

/// The model does not re-wrap, and cuts rows off when it becomes narrower, as old terminals do: so it only grows
/// here, and the screen hears of it some updates later. For terminals that re-wrap see tests/it/screen.rs.
#[test]
fn a_terminal_that_grows_500_times_holds_every_word_once() {
    let mut parser = vt100::Parser::new(5, 20, 100_000);
    let mut screen = Screen::new(Vec::new(), 20, 5, Capabilities::FULL);
    let (mut columns, mut rows, mut seen) = (20, 5, 0);
    let mut row = Line::new();
    let words: Vec<String> = (0..3_000).map(|word| format!("word{word}")).collect();
    for (index, word) in words.iter().enumerate() {
        if row.text().len() > screen.columns() * 5 / 4 {
            screen.commit(&row);
            row = Line::new();
        }
        row.push(Span::plain(format!("{word} ")));
        screen.live(&row, &plain(&format!("status {index}, and more of it than fits")));
        screen.flush();
        parser.process(&screen.writer()[seen..]);
        seen = screen.writer().len();
        if index % 6 == 0 {
            (columns, rows) = (columns + u16::from(index % 4 == 0), rows + u16::from(index % 90 == 0));
            parser.screen_mut().set_size(rows, columns);
        }
        if index % 6 == index % 5 {
            screen.resize(columns, rows);
        }
    }
    screen.commit(&row);
    screen.end_live();
    parser.process(&screen.writer()[seen..]);
    // The model forgets at a new width which rows were wrapped: words may be cut by it.
    let text: String = text_of(parser.screen_mut()).split_whitespace().collect();
    let same = text.chars().zip(words.concat().chars()).take_while(|(one, two)| one == two).count();
    assert_eq!(text.get(same..).unwrap_or_default(), words.concat().get(same..).unwrap_or_default());
}

fn styled(pieces: &[(String, u8)]) -> Line {
    let styles = [
        Style::default(),
        Style::new().bold(),
        Style::new().fg(Color::Red),
        Style::new().on(Color::Blue).italic(),
        Style::new().fg(Color::Rgb(1, 2, 3)).reverse(),
    ];
    let mut line = Line::new();
    for (text, style) in pieces {
        line.push(Span::new(text.clone(), styles[usize::from(*style) % styles.len()]));
    }
    line
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// The law of the screen: however updates fall, the terminal holds the committed lines, then the live rows.
    #[test]
    fn the_terminal_holds_what_was_committed(
        steps in proptest::collection::vec((
            proptest::collection::vec(("[a-z \u{4e2d}\u{6587}e\u{301}👍]{0,14}", 0u8..5), 0..4),
            0u8..4, "[a-z]{0,30}", 1usize..5,
        ), 1..24),
        columns in 4u16..40,
        rows in 3u16..8,
    ) {
        let mut screen = Screen::new(Vec::new(), columns, rows, Capabilities::FULL);
        let mut expected = Screen::linear(Vec::new(), Capabilities::FULL);
        for (pieces, action, status, cuts) in steps {
            let line = styled(&pieces);
            let bytes = length(&line);
            // The line arrives in parts, then it is committed, or vanishes, or is replaced.
            for part in 1..=cuts {
                let end = grapheme_floor(&line, bytes * part / cuts);
                screen.live(&slice(&line, 0, end), &plain(&status));
                screen.tail(&plain(if part % 2 == 0 { "*un中sure" } else { "" }));
                screen.flush();
            }
            // A row that has scrolled away cannot vanish.
            let height = Extent::default().after(&line, bytes, usize::from(columns)).row + 2;
            if action > 0 || height >= usize::from(rows) {
                screen.commit(&line);
                expected.commit(&line);
            }
            if action > 1 {
                screen.live(&Line::new(), &plain(&status));
                screen.flush();
            }
            if action > 2 {
                screen.end_live();
            }
        }
        screen.end_live();
        expected.flush();
        let expected: Vec<u8> = String::from_utf8(expected.writer().clone()).unwrap().replace('\n', "\r\n").into_bytes();
        prop_assert_eq!(shown(screen.writer(), columns, rows), shown(&expected, columns, rows));
    }
}
