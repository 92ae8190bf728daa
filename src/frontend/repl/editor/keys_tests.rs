//! Tests of what keys do.

use reedline::{Emacs, default_emacs_keybindings};

use super::*;

const NONE: KeyModifiers = KeyModifiers::NONE;
const CONTROL: KeyModifiers = KeyModifiers::CONTROL;

fn mode_after(burst: fn() -> Burst) -> LineMode {
    let mut keys = default_emacs_keybindings();
    bindings::bind(&mut keys, &[]);
    let label = Arc::new(|text: &str| format!("[pasted {} lines]", text.lines().count()));
    let mut mode =
        LineMode::new(Box::new(Emacs::new(keys)), SharedState::default(), PasteStore::default(), label, complete());
    mode.burst = burst;
    mode
}

/// Knows one command and one line of history.
fn complete() -> Complete {
    Box::new(|line| match line {
        "/mo" => Some((1, "model ".to_owned())),
        "expl" => Some((4, "ain".to_owned())),
        _ => None,
    })
}

fn mode() -> LineMode {
    let mut mode = mode_after(|| Burst::Nothing);
    mode.escape.read = |_| None;
    mode
}

/// Does what the highlighter does at a paint.
fn paint(mode: &LineMode, line: &str, cursor: usize, menu: Option<MenuView>) {
    mode.state.pending().set_line(line);
    let mut state = mode.state.lock();
    state.cursor = cursor;
    state.menu = menu;
    state.fresh = true;
}

fn press(mode: &mut LineMode, modifiers: KeyModifiers, code: KeyCode) -> ReedlineEvent {
    parse(mode, Event::Key(KeyEvent::new(code, modifiers)))
}

fn parse(mode: &mut LineMode, event: Event) -> ReedlineEvent {
    mode.parse_event(ReedlineRawEvent::try_from(event).unwrap())
}

fn view(subject: Subject) -> MenuView {
    MenuView { subject, navigated: false, exact: false, start: 1, more: false }
}

fn newline() -> ReedlineEvent {
    ReedlineEvent::Edit(vec![EditCommand::InsertNewline])
}

#[test]
fn enter_sends_and_takes_no_ghost_text() {
    let mut mode = mode();
    paint(&mode, "hello", 5, None);
    assert_eq!(press(&mut mode, NONE, KeyCode::Enter), send());
}

#[test]
fn newlines_have_three_keys_and_a_backslash() {
    let mut mode = mode();
    paint(&mode, "hello", 5, None);
    assert_eq!(press(&mut mode, KeyModifiers::ALT, KeyCode::Enter), newline());
    assert_eq!(press(&mut mode, CONTROL, KeyCode::Char('j')), newline());
    let continued = ReedlineEvent::Edit(vec![EditCommand::Backspace, EditCommand::InsertNewline]);
    paint(&mode, "hello\\", 6, None);
    assert_eq!(press(&mut mode, NONE, KeyCode::Enter), continued);
    paint(&mode, "hello\\\\", 7, None);
    assert_eq!(press(&mut mode, NONE, KeyCode::Enter), send());
    paint(&mode, "hello\\", 2, None);
    assert_eq!(press(&mut mode, NONE, KeyCode::Enter), send());
    // In one burst, before any paint.
    paint(&mode, "", 0, None);
    press(&mut mode, NONE, KeyCode::Char('a'));
    press(&mut mode, NONE, KeyCode::Char('\\'));
    assert_eq!(press(&mut mode, NONE, KeyCode::Enter), continued);
}

#[test]
fn enter_takes_what_the_menu_is_for() {
    let take = ReedlineEvent::MenuAccept;
    let take_and_send = ReedlineEvent::Multiple(vec![ReedlineEvent::MenuAccept, send()]);
    let exact = |subject| MenuView { exact: true, ..view(subject) };
    let nested = |subject| MenuView { more: true, ..view(subject) };
    let moved = |subject| MenuView { navigated: true, ..exact(subject) };
    for (menu, expected) in [
        (view(Subject::Command), take_and_send.clone()),
        (nested(Subject::Command), take.clone()),
        (exact(Subject::Command), send()),
        (view(Subject::Argument), send()),
        (moved(Subject::Argument), take_and_send.clone()),
        (view(Subject::File), take.clone()),
        (exact(Subject::File), send()),
        (moved(Subject::File), take.clone()),
        (exact(Subject::History), take.clone()),
    ] {
        let mut mode = mode();
        paint(&mode, "/he", 3, Some(menu.clone()));
        assert_eq!(press(&mut mode, NONE, KeyCode::Enter), expected, "{menu:?}");
        // What the screen does not show yet is not taken.
        paint(&mode, "/he", 3, Some(menu));
        press(&mut mode, NONE, KeyCode::Char('x'));
        assert_eq!(press(&mut mode, NONE, KeyCode::Enter), send());
    }
}

#[test]
fn a_question_mark_helps_on_an_empty_line_only() {
    let mut mode = mode();
    paint(&mode, "", 0, None);
    let event = press(&mut mode, NONE, KeyCode::Char('?'));
    assert_eq!(
        event,
        ReedlineEvent::Multiple(vec![ReedlineEvent::Edit(vec![EditCommand::InsertChar('?')]), send()])
    );
    assert_eq!(mode.state.lock().ended.take(), Some(Ended::Help));
    paint(&mode, "", 0, None);
    press(&mut mode, NONE, KeyCode::Char('w'));
    press(&mut mode, NONE, KeyCode::Char('?'));
    paint(&mode, "what", 4, None);
    press(&mut mode, NONE, KeyCode::Char('?'));
    assert_eq!(mode.state.lock().ended, None);
}

#[test]
fn ctrl_c_clears_then_interrupts_then_leaves() {
    let clear = ReedlineEvent::Multiple(vec![ReedlineEvent::Esc, ReedlineEvent::Edit(vec![EditCommand::Clear])]);
    let mut mode = mode();
    paint(&mode, "draft", 5, None);
    assert_eq!(press(&mut mode, CONTROL, KeyCode::Char('c')), clear);
    paint(&mode, "", 0, None);
    assert_eq!(press(&mut mode, CONTROL, KeyCode::Char('c')), send());
    assert_eq!(mode.state.lock().ended.take(), Some(Ended::End));
}

#[test]
fn a_key_between_two_ctrl_c_makes_the_second_the_first() {
    for key in [KeyCode::Char('x'), KeyCode::Enter, KeyCode::Left] {
        let mut mode = mode();
        paint(&mode, "", 0, None);
        press(&mut mode, CONTROL, KeyCode::Char('c'));
        mode.state.lock().ended = None;
        press(&mut mode, NONE, key);
        mode.state.lock().ended = None;
        paint(&mode, "", 0, None);
        press(&mut mode, CONTROL, KeyCode::Char('c'));
        assert_eq!(mode.state.lock().ended.take(), Some(Ended::Interrupted), "{key:?}");
    }
}

#[test]
fn ctrl_d_leaves_an_empty_line_only() {
    let mut mode = mode();
    paint(&mode, "x", 0, None);
    assert_eq!(press(&mut mode, CONTROL, KeyCode::Char('d')), ReedlineEvent::CtrlD);
    paint(&mode, "", 0, None);
    press(&mut mode, CONTROL, KeyCode::Char('d'));
    assert_eq!(mode.state.lock().ended, Some(Ended::End));
}

#[test]
fn editors_and_suspension_are_left_to_the_host() {
    let host = bindings::leave;
    let mut mode = mode();
    paint(&mode, "x", 1, None);
    assert_eq!(press(&mut mode, CONTROL, KeyCode::Char('o')), host(EDIT));
    assert_eq!(press(&mut mode, CONTROL, KeyCode::Char('x')), ReedlineEvent::None);
    assert_eq!(press(&mut mode, CONTROL, KeyCode::Char('e')), host(EDIT));
    assert_ne!(press(&mut mode, CONTROL, KeyCode::Char('e')), host(EDIT));
    assert_eq!(press(&mut mode, CONTROL, KeyCode::Char('z')), host(bindings::SUSPEND));
}

#[test]
fn long_pastes_become_blocks() {
    let mut mode = mode();
    paint(&mode, "", 0, None);
    let short = parse(&mut mode, Event::Paste("a\r\nb\rc".to_owned()));
    assert_eq!(short, ReedlineEvent::Edit(vec![EditCommand::InsertString("a\nb\nc".to_owned())]));
    let text = "line\n".repeat(51);
    let ReedlineEvent::Edit(commands) = parse(&mut mode, Event::Paste(text.clone())) else { panic!() };
    let [EditCommand::InsertString(block)] = &commands[..] else { panic!() };
    assert_eq!(mode.pastes.label(block), "[pasted 51 lines]");
    assert_eq!(mode.pastes.expand(block), text);
}

#[test]
fn a_paste_without_marks_is_one_block_too() {
    let mut mode = mode_after(|| Burst::Paste("line\n".repeat(60)));
    paint(&mode, "see ", 4, None);
    press(&mut mode, NONE, KeyCode::Char('a'));
    press(&mut mode, NONE, KeyCode::Char('b'));
    let ReedlineEvent::Edit(commands) = press(&mut mode, NONE, KeyCode::Enter) else { panic!() };
    let [EditCommand::Erase(MotionTarget::Position(4)), EditCommand::InsertString(block)] = &commands[..] else {
        panic!("{commands:?}")
    };
    assert_eq!(mode.pastes.expand(block), format!("ab\n{}", "line\n".repeat(60)));
    let mut short = mode_after(|| Burst::Paste("two\nthree".to_owned()));
    paint(&short, "", 0, None);
    press(&mut short, NONE, KeyCode::Char('1'));
    let expected = ReedlineEvent::Edit(vec![EditCommand::InsertString("\ntwo\nthree".to_owned())]);
    assert_eq!(press(&mut short, NONE, KeyCode::Enter), expected);
}

#[test]
fn keys_typed_ahead_wait_for_the_next_line() {
    let mut mode = mode_after(|| Burst::Keys(vec![Event::Key(KeyEvent::new(KeyCode::Char('x'), NONE))]));
    paint(&mode, "first", 5, None);
    assert_eq!(press(&mut mode, NONE, KeyCode::Enter), send());
    assert_eq!(mode.state.lock().leftover.len(), 1);
}

#[test]
fn attached_paths_are_deleted_whole() {
    let mut mode = mode();
    mode.state.lock().attached.insert("@src/main.rs".to_owned());
    let erase = |position| ReedlineEvent::Edit(vec![EditCommand::Erase(MotionTarget::Position(position))]);
    paint(&mode, "see @src/main.rs now", 16, None);
    assert_eq!(press(&mut mode, NONE, KeyCode::Backspace), erase(4));
    paint(&mode, "see @src/main.rs now", 4, None);
    assert_eq!(press(&mut mode, NONE, KeyCode::Delete), erase(16));
    for (line, cursor) in [("see @src/main.rs now", 10), ("see @src/lib.rs", 15), ("plain", 5)] {
        paint(&mode, line, cursor, None);
        assert_ne!(press(&mut mode, NONE, KeyCode::Backspace), erase(4), "{line}");
    }
}

#[test]
fn of_backspaces_that_are_read_together_the_second_deletes_the_attached_path_whole() {
    let mut mode = mode();
    mode.state.lock().attached.insert("@src/main.rs".to_owned());
    let erase = |position| ReedlineEvent::Edit(vec![EditCommand::Erase(MotionTarget::Position(position))]);
    paint(&mode, "see @src/main.rs ", 17, None);
    assert_ne!(press(&mut mode, NONE, KeyCode::Backspace), erase(4));
    assert_eq!(press(&mut mode, NONE, KeyCode::Backspace), erase(4));
    assert_eq!(mode.state.line(), "see ");
    press(&mut mode, NONE, KeyCode::Backspace);
    press(&mut mode, NONE, KeyCode::Char('n'));
    assert_eq!(mode.state.line(), "seen");
    // What stands before the cursor is not known any more.
    paint(&mode, "see @src/main.rs ", 17, None);
    press(&mut mode, NONE, KeyCode::Left);
    assert_ne!(press(&mut mode, NONE, KeyCode::Backspace), erase(4));
    paint(&mode, "n\u{e9}", 3, None);
    press(&mut mode, NONE, KeyCode::Backspace);
    assert!(!mode.known);
}

#[test]
fn escape_closes_the_menu_for_its_word_or_the_ghost_text() {
    let mut mode = mode();
    paint(&mode, "see @sr", 7, Some(MenuView { start: 4, ..view(Subject::File) }));
    assert_eq!(press(&mut mode, NONE, KeyCode::Esc), ReedlineEvent::Esc);
    assert_eq!(mode.state.lock().dismissed, Some(4));
    paint(&mode, "see", 3, None);
    press(&mut mode, NONE, KeyCode::Esc);
    assert_eq!(mode.state.lock().unhinted.as_deref(), Some("see"));
}

#[test]
fn edits_open_the_menu_and_movements_do_not() {
    let mut mode = mode();
    paint(&mode, "", 0, None);
    let opened = |command| {
        ReedlineEvent::Multiple(vec![ReedlineEvent::Edit(vec![command]), ReedlineEvent::Menu(WORDS.to_owned())])
    };
    assert_eq!(press(&mut mode, NONE, KeyCode::Char('/')), opened(EditCommand::InsertChar('/')));
    assert_eq!(press(&mut mode, NONE, KeyCode::Backspace), opened(EditCommand::Backspace));
    let home = EditCommand::MoveToLineStart { select: false };
    assert_eq!(press(&mut mode, NONE, KeyCode::Home), ReedlineEvent::Edit(vec![home]));
}

#[test]
fn a_resize_does_not_make_the_line_unknown() {
    let mut mode = mode();
    paint(&mode, "", 0, None);
    parse(&mut mode, Event::Resize(40, 10));
    press(&mut mode, NONE, KeyCode::Char('?'));
    assert_eq!(mode.state.lock().ended, Some(Ended::Help));
}

#[test]
fn tab_completes_what_is_typed_not_what_is_painted() {
    let completed = |start, text: &str| {
        let erase = EditCommand::Erase(MotionTarget::Position(start));
        let edit = ReedlineEvent::Edit(vec![erase, EditCommand::InsertString(text.to_owned())]);
        ReedlineEvent::Multiple(vec![edit, ReedlineEvent::Menu(WORDS.to_owned())])
    };
    let mut mode = mode();
    paint(&mode, "/", 1, Some(view(Subject::Command)));
    press(&mut mode, NONE, KeyCode::Char('m'));
    press(&mut mode, NONE, KeyCode::Char('o'));
    assert_eq!(press(&mut mode, NONE, KeyCode::Tab), completed(1, "model "));
    assert_eq!(press(&mut mode, NONE, KeyCode::Tab), ReedlineEvent::None);
    paint(&mode, "ex", 2, None);
    press(&mut mode, NONE, KeyCode::Char('p'));
    press(&mut mode, NONE, KeyCode::Char('l'));
    assert_eq!(press(&mut mode, NONE, KeyCode::Right), completed(4, "ain"));
    // With the line on the screen it is left to reedline, which knows what is shown.
    paint(&mode, "expl", 4, None);
    assert!(matches!(press(&mut mode, NONE, KeyCode::Tab), ReedlineEvent::UntilFound(_)));
}

#[test]
fn arrows_move_in_the_menu_that_is_seen_and_else_in_the_history() {
    let mut mode = mode();
    paint(&mode, "/m", 2, Some(view(Subject::Command)));
    assert_eq!(press(&mut mode, NONE, KeyCode::Down), ReedlineEvent::MenuDown);
    assert_eq!(press(&mut mode, NONE, KeyCode::Down), ReedlineEvent::MenuDown);
    assert_eq!(press(&mut mode, NONE, KeyCode::Enter), ReedlineEvent::MenuAccept);
    paint(&mode, "git", 3, None);
    assert_eq!(press(&mut mode, NONE, KeyCode::Up), ReedlineEvent::Up);
    paint(&mode, "/m", 2, Some(view(Subject::Command)));
    press(&mut mode, NONE, KeyCode::Char('x'));
    let up = ReedlineEvent::Multiple(vec![ReedlineEvent::Esc, ReedlineEvent::Up]);
    assert_eq!(press(&mut mode, NONE, KeyCode::Up), up);
}

#[test]
fn the_persons_own_keys_come_first() {
    let own = [("enter", "newline"), ("ctrl+c", "nothing"), ("?", "undo")];
    let own: Vec<KeyBinding> = own.map(|(key, action)| bindings::parse_binding(key, action).unwrap()).to_vec();
    let mut keys = default_emacs_keybindings();
    bindings::bind(&mut keys, &own);
    let mut mode = mode().with_own_keys(own);
    mode.inner = Box::new(Emacs::new(keys));
    paint(&mode, "", 0, None);
    assert_eq!(press(&mut mode, NONE, KeyCode::Enter), newline());
    assert_eq!(press(&mut mode, CONTROL, KeyCode::Char('c')), ReedlineEvent::None);
    assert!(matches!(press(&mut mode, NONE, KeyCode::Char('?')), ReedlineEvent::Multiple(_)));
    assert_eq!(mode.state.lock().ended, None);
}

#[test]
fn an_arrow_key_in_pieces_is_one_key() {
    let mut mode = mode();
    paint(&mode, "ab", 2, None);
    mode.escape.read = |wait| {
        let character = if wait == Duration::ZERO { '[' } else { 'D' };
        Some(Event::Key(KeyEvent::new(KeyCode::Char(character), NONE)))
    };
    let whole = press(&mut mode, NONE, KeyCode::Left);
    paint(&mode, "ab", 2, None);
    assert_eq!(press(&mut mode, NONE, KeyCode::Esc), whole);
    assert_eq!(mode.state.lock().unhinted, None, "ESC was not pressed");
    mode.escape.read = |_| Some(Event::Key(KeyEvent::new(KeyCode::Enter, NONE)));
    assert_eq!(press(&mut mode, NONE, KeyCode::Esc), newline());
}

#[test]
fn the_late_rest_of_an_arrow_key_is_taken_back() {
    let mut mode = mode();
    paint(&mode, "ab", 2, None);
    let left = press(&mut mode, NONE, KeyCode::Left);
    for by_the_turn in [false, true] {
        paint(&mode, "ab", 2, None);
        if by_the_turn {
            mode.state.lock().escaped = Some(Instant::now());
        } else {
            press(&mut mode, NONE, KeyCode::Esc);
        }
        let inserted = press(&mut mode, NONE, KeyCode::Char('['));
        assert!(
            matches!(&inserted, ReedlineEvent::Multiple(events) if matches!(events[0], ReedlineEvent::Edit(_)))
        );
        paint(&mode, "ab[", 3, None);
        let taken_back = ReedlineEvent::Edit(vec![EditCommand::Backspace]);
        let expected = ReedlineEvent::Multiple(vec![taken_back, left.clone()]);
        assert_eq!(press(&mut mode, NONE, KeyCode::Char('D')), expected);
    }
}

#[test]
fn in_vi_it_is_no_command_and_inserting_goes_on() {
    let mut mode = mode();
    mode.inner = Box::new(reedline::Vi::default());
    let is_inserting = |mode: &LineMode| matches!(mode.inner.edit_mode(), PromptEditMode::Vi(PromptViMode::Insert));
    paint(&mode, "ab", 2, None);
    press(&mut mode, NONE, KeyCode::Esc);
    assert!(!is_inserting(&mode));
    assert_eq!(press(&mut mode, NONE, KeyCode::Char('[')), ReedlineEvent::None);
    press(&mut mode, NONE, KeyCode::Char('D'));
    assert!(is_inserting(&mode));
    // What was no sequence is a command after all.
    press(&mut mode, NONE, KeyCode::Esc);
    press(&mut mode, NONE, KeyCode::Char('['));
    press(&mut mode, NONE, KeyCode::Char('i'));
    assert!(is_inserting(&mode));
}

#[test]
fn an_up_that_was_too_early_is_done_when_the_answer_wakes_the_line() {
    let mut mode = mode();
    paint(&mode, "old", 3, None);
    press(&mut mode, NONE, KeyCode::Up);
    let (size, resized) = (Event::Resize(80, 24), ReedlineEvent::Resize(80, 24));
    mode.state.lock().late_up.has_no_answer();
    assert_eq!(parse(&mut mode, size.clone()), resized, "the size has changed, no more");
    assert!(mode.state.lock().late_up.answer_has_come());
    let again = ReedlineEvent::Multiple(vec![ReedlineEvent::PreviousHistory, resized.clone()]);
    assert_eq!(parse(&mut mode, size.clone()), again);
    assert_eq!(parse(&mut mode, size), resized);
}
