//! Tests of what is taken for ESC and what for a part of another key.

use super::*;

fn typed(character: char) -> KeyEvent {
    let shift = if character.is_uppercase() { KeyModifiers::SHIFT } else { KeyModifiers::NONE };
    KeyEvent::new(KeyCode::Char(character), shift)
}

/// Judges what comes after a believed ESC, the characters so far apart.
fn late(text: &str, first: Duration, apart: Duration) -> Vec<Late> {
    let mut escape = Escape::new(Duration::ZERO);
    let mut now = Instant::now();
    escape.believe(now);
    now += first;
    text.chars()
        .map(|character| {
            let judged = escape.late(typed(character), now);
            now += apart;
            judged
        })
        .collect()
}

const SOON: Duration = Duration::from_millis(20);

#[test]
fn a_late_rest_is_the_key_it_belongs_to() {
    let key = |code| KeyEvent::new(code, KeyModifiers::NONE);
    assert_eq!(late("[A", SOON, SOON), [Late::Part, Late::Ends(key(KeyCode::Up), 1)]);
    assert_eq!(
        late("[3~x", SOON, SOON),
        [Late::Part, Late::Part, Late::Ends(key(KeyCode::Delete), 2), Late::Own(String::new())]
    );
    let control_left = KeyEvent::new(KeyCode::Left, KeyModifiers::CONTROL);
    assert_eq!(late("[1;5D", SOON, SOON).pop(), Some(Late::Ends(control_left, 4)));
}

#[test]
fn what_is_typed_is_typed() {
    let own = |text: &str| Late::Own(text.to_owned());
    assert_eq!(late("a", SOON, SOON), [own("")]);
    assert_eq!(late("Ok", SOON, SOON), [own(""), own("")]);
    assert_eq!(late("[x]", SOON, SOON), [Late::Part, own("["), own("")]);
    assert_eq!(late("[1]", SOON, SOON), [Late::Part, Late::Part, own("[1")]);
    assert_eq!(late("[A", LATE + SOON, SOON), [own(""), own("")], "too late");
    assert_eq!(late("[A", SOON, APART + SOON), [Late::Part, own("[")], "too slow");
    assert_eq!(late("[中", SOON, SOON), [Late::Part, own("[")]);
}

#[test]
fn keys_of_a_keyboard_are_read() {
    for (rest, code, modifiers) in [
        ("[A", KeyCode::Up, KeyModifiers::NONE),
        ("OB", KeyCode::Down, KeyModifiers::NONE),
        ("[1;2C", KeyCode::Right, KeyModifiers::SHIFT),
        ("[1;3D", KeyCode::Left, KeyModifiers::ALT),
        ("[H", KeyCode::Home, KeyModifiers::NONE),
        ("[3;5~", KeyCode::Delete, KeyModifiers::CONTROL),
        ("[15~", KeyCode::F(5), KeyModifiers::NONE),
        ("[24~", KeyCode::F(12), KeyModifiers::NONE),
        ("[Z", KeyCode::BackTab, KeyModifiers::NONE),
    ] {
        assert_eq!(sequence(rest), Sequence::Whole(KeyEvent::new(code, modifiers)), "{rest}");
        for end in 1..rest.len() {
            assert_eq!(sequence(&rest[..end]), Sequence::Begun, "{rest}");
        }
    }
    for none in ["", "x", "[x", "[99~", "[~", "Ox", "[1234567890", "[é", "é"] {
        assert_eq!(sequence(none), Sequence::None, "{none}");
    }
}

#[test]
fn what_follows_at_once_is_waited_for() {
    let follow = |read: fn(Duration) -> Option<Event>| {
        let mut escape = Escape::new(SOON);
        escape.read = read;
        escape.follow()
    };
    assert_eq!(follow(|_| None), Followed::Apart(Vec::new()));
    let enter = |_| Some(Event::Key(KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE)));
    assert_eq!(follow(enter), Followed::Key(KeyEvent::new(KeyCode::Enter, KeyModifiers::ALT)));
    let letter = |_| Some(Event::Key(KeyEvent::new(KeyCode::Char('x'), KeyModifiers::NONE)));
    let event = Event::Key(typed('x'));
    assert_eq!(follow(letter), Followed::Apart(vec![event]));
    // The first wait is the one for ESC; what goes on is waited for as long as bytes may be apart.
    let arrow = |wait| Some(Event::Key(typed(if wait == SOON { '[' } else { 'A' })));
    assert_eq!(follow(arrow), Followed::Key(KeyEvent::new(KeyCode::Up, KeyModifiers::NONE)));
    let begun = |wait| (wait == SOON).then(|| Event::Key(typed('[')));
    assert_eq!(follow(begun), Followed::Apart(vec![Event::Key(typed('['))]));
    assert_eq!(
        follow(|_| Some(Event::FocusGained)),
        Followed::Apart(vec![Event::FocusGained]),
        "what is no key is handed on"
    );
}
