//! Pages of small texts, and of one without end.

use proptest::prelude::*;

use super::*;

fn take(text: &[u8], offset: u64, limit: u64) -> Page {
    page(text, Range { offset, limit, count_all: true }, &Stop::default()).unwrap()
}

#[test]
fn lines_are_numbered_like_cat_does() {
    let page = take(b"a\r\nb\n\nd", 2, 2);
    assert_eq!(page.text, "     2\tb\n     3\t\n");
    assert_eq!((page.lines, page.total, page.carriage_returns), (2, Some(4), false));
    assert!(take(b"a\r\n", 1, 9).carriage_returns);
    assert_eq!(take(b"", 1, 9), Page { total: Some(0), ..Page::default() });
    assert_eq!(take(b"a\n", 5, 9), Page { total: Some(1), ..Page::default() });
}

#[test]
fn long_lines_are_cut_between_graphemes() {
    let family = "👩‍👩‍👧".repeat(LINE_LENGTH / 2);
    let text = format!("{family}{family}x\nnext\n");
    let page = take(text.as_bytes(), 1, 9);
    let first = page.text.lines().next().unwrap();
    let shown = first.strip_prefix("     1\t").and_then(|line| line.strip_suffix(" [… line cut …]")).unwrap();
    assert_eq!(shown.replace("👩‍👩‍👧", ""), "");
    assert!(shown.len() > 16_000);
    assert_eq!((page.cut, page.lines, page.total), (1, 2, Some(2)));
}

#[test]
fn a_line_without_end_is_not_held() {
    let endless = std::io::BufReader::new(std::io::repeat(b'x').take(50_000_000));
    let page = page(endless, Range { offset: 1, limit: 5, count_all: false }, &Stop::default()).unwrap();
    assert!(page.text.len() < LINE_LENGTH + 100);
    assert_eq!((page.lines, page.total), (1, Some(1)));
}

#[test]
fn a_page_stops_at_its_bytes_and_the_rest_is_not_read() {
    let text = "x".repeat(999).into_bytes();
    let lines = [text, b"\n".to_vec()].concat().repeat(1000);
    let page = take(&lines, 1, 2000);
    assert_eq!(page.lines, PAGE_BYTES as u64 / 1007);
    assert_eq!(page.total, Some(1000));
    let range = Range { offset: 1, limit: 3, count_all: false };
    let early = super::page(lines.as_slice(), range, &Stop::default()).unwrap();
    assert_eq!((early.lines, early.total), (3, None));
}

proptest! {
    #[test]
    fn pages_together_are_the_text(text in "[a-z\n]{0,200}", limit in 1_u64..9) {
        let mut joined = String::new();
        let mut offset = 1;
        let total = text.lines().count() as u64;
        loop {
            let range = Range { offset, limit, count_all: offset % 2 == 0 };
            // A buffer of a few bytes, so that lines lie across its ends.
            let reader = std::io::BufReader::with_capacity(3, text.as_bytes());
            let page = page(reader, range, &Stop::default()).unwrap();
            prop_assert!(page.total == Some(total) || page.total.is_none() && !range.count_all);
            for line in page.text.lines() {
                joined.push_str(line.split_once('\t').unwrap().1);
                joined.push('\n');
            }
            offset += page.lines;
            if page.lines == 0 { break; }
        }
        let lines: Vec<&str> = text.lines().collect();
        prop_assert_eq!(joined.lines().collect::<Vec<_>>(), lines);
    }
}
