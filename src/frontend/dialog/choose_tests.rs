//! What keys do to a menu, and how its rows are broken.

use super::*;

fn items() -> Vec<(char, String)> {
    [('y', "Yes"), ('s', "Session"), ('n', "No")].map(|(letter, text)| (letter, text.to_owned())).to_vec()
}

#[test]
fn arrows_go_round_and_enter_takes() {
    let items = items();
    assert_eq!(step(Press::Down, 0, &items), Step::Move(1));
    assert_eq!(step(Press::Down, 2, &items), Step::Move(0));
    assert_eq!(step(Press::Up, 0, &items), Step::Move(2));
    assert_eq!(step(Press::Enter, 1, &items), Step::Take(1));
    assert_eq!(step(Press::Escape, 1, &items), Step::Leave(NoChoice::Escaped));
    assert_eq!(step(Press::Interrupt, 1, &items), Step::Leave(NoChoice::Interrupted));
    assert_eq!(step(Press::Gone, 1, &items), Step::Leave(NoChoice::Interrupted));
}

#[test]
fn letters_and_digits_take_at_once_and_nothing_else_does() {
    let items = items();
    for (character, index) in [('y', 0), ('Y', 0), ('ｙ', 0), ('s', 1), ('n', 2), ('1', 0), ('3', 2), ('３', 2)] {
        assert_eq!(step(Press::Character(character), 1, &items), Step::Take(index), "{character}");
    }
    for character in [' ', 'j', 'k', 'q', '0', '4', '9', 'x', '是', '\t'] {
        assert_eq!(step(Press::Character(character), 1, &items), Step::Stay, "{character}");
    }
}

#[test]
fn rows_are_broken_at_words_and_lose_nothing() {
    assert_eq!(in_rows("Yes, once", 20, 2), "Yes, once");
    assert_eq!(in_rows("n  No, and say what to do instead", 23, 5), "n  No, and say what to\n     do instead");
    assert_eq!(in_rows("shell(a-very-long-name:*)", 16, 2), "shell(a-very-lon\n  g-name:*)");
    for text in ["是，本次会话内都允许：shell(touch:*)", "a 👩‍👩‍👧‍👦 b", "", "one  two", "word"]
    {
        for room in 10..40 {
            let rows = in_rows(text, room, 5);
            assert!(rows.lines().all(|row| width_of(row) <= room), "{rows:?}");
            let bare = |text: &str| text.split_whitespace().collect::<String>();
            assert_eq!(bare(&rows), bare(text));
        }
    }
}
