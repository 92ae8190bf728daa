//! Long lines.

use super::around;

#[test]
fn long_lines_are_cut_around_the_match() {
    let line = format!("{}needle{}", "a".repeat(5000), "é".repeat(5000));
    let cut = around(line.as_bytes(), 5000);
    assert!(cut.contains("aneedleé") && cut.starts_with("[…]") && cut.ends_with("[…]"), "{cut}");
    assert!(cut.len() < 320 && !cut.contains('\u{fffd}'));
    assert_eq!(around("é".as_bytes(), 0), "é");
    let at_end = around("é".repeat(500).as_bytes(), 999);
    assert!(!at_end.contains('\u{fffd}') && at_end.ends_with('é'));
}
