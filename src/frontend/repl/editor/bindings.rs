//! Keys by name: axi's own on top of reedline's, and those of the settings.

use crossterm::event::{KeyCode, KeyModifiers};
use reedline::{EditCommand, Keybindings, ReedlineEvent};

/// The menu of what is being typed.
pub(super) const WORDS: &str = "words";
/// The menu of the history.
pub(super) const HISTORY: &str = "history";
/// The host command that opens the line in an editor.
pub(super) const EDIT: &str = "edit";
/// The host command that attaches the clipboard's picture.
pub(super) const PICTURE: &str = "picture";
/// The host command that goes on to the next mode.
pub(super) const MODE: &str = "mode";
/// The host command that suspends axi.
pub(super) const SUSPEND: &str = "suspend";

/// What a key can be bound to in the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyAction {
    /// Sends the line.
    Send,
    /// Begins a new row.
    Newline,
    /// Takes the ghost text or the selected row of the menu.
    Accept,
    /// Takes a word of the ghost text.
    AcceptWord,
    /// Goes back in the history.
    HistoryBack,
    /// Goes forward in the history.
    HistoryForward,
    /// Searches the history.
    HistorySearch,
    /// Opens the line in an editor.
    Edit,
    /// Attaches the picture of the clipboard.
    Picture,
    /// Takes back the last change.
    Undo,
    /// Makes it again.
    Redo,
    /// Clears the screen.
    ClearScreen,
    /// Goes on to the next mode: ask, accept edits, plan.
    Mode,
    /// Suspends axi.
    Suspend,
    /// Nothing: takes a key's meaning away.
    Nothing,
}

/// One key of the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyBinding {
    /// Its modifiers.
    pub modifiers: KeyModifiers,
    /// The key.
    pub code: KeyCode,
    /// What it does.
    pub action: KeyAction,
}

/// Why a key binding of the settings is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The key's name is not known.
    #[error("there is no key named {0:?}")]
    Key(String),
    /// The action's name is not known.
    #[error("there is no action named {0:?}")]
    Action(String),
}

/// The actions by the names they have in the settings.
pub const ACTIONS: &[(&str, KeyAction)] = &[
    ("send", KeyAction::Send),
    ("newline", KeyAction::Newline),
    ("accept", KeyAction::Accept),
    ("accept-word", KeyAction::AcceptWord),
    ("history-back", KeyAction::HistoryBack),
    ("history-forward", KeyAction::HistoryForward),
    ("history-search", KeyAction::HistorySearch),
    ("edit", KeyAction::Edit),
    ("picture", KeyAction::Picture),
    ("undo", KeyAction::Undo),
    ("redo", KeyAction::Redo),
    ("clear-screen", KeyAction::ClearScreen),
    ("mode", KeyAction::Mode),
    ("suspend", KeyAction::Suspend),
    ("nothing", KeyAction::Nothing),
];

/// Reads a binding such as `ctrl+x` = `newline`.
///
/// # Errors
/// [`KeyError::Key`], [`KeyError::Action`].
pub fn parse_binding(key: &str, action: &str) -> Result<KeyBinding, KeyError> {
    let (modifiers, code) = parse_key(key).ok_or_else(|| KeyError::Key(key.to_owned()))?;
    let found = ACTIONS.iter().find(|(name, _)| *name == action.trim().to_lowercase().replace('_', "-"));
    let (_, action) = found.ok_or_else(|| KeyError::Action(action.to_owned()))?;
    Ok(KeyBinding { modifiers, code, action: *action })
}

fn parse_key(key: &str) -> Option<(KeyModifiers, KeyCode)> {
    let lower = key.trim().to_lowercase();
    let mut modifiers = KeyModifiers::NONE;
    let mut rest = lower.as_str();
    while let Some((name, after)) = rest.split_once(['+', '-']).filter(|(_, after)| !after.is_empty()) {
        modifiers |= match name.trim() {
            "ctrl" | "control" | "c" => KeyModifiers::CONTROL,
            "alt" | "meta" | "option" | "m" => KeyModifiers::ALT,
            "shift" | "s" => KeyModifiers::SHIFT,
            _ => return None,
        };
        rest = after;
    }
    let code = match rest.trim() {
        "enter" | "return" => KeyCode::Enter,
        "tab" => KeyCode::Tab,
        "backtab" => KeyCode::BackTab,
        "esc" | "escape" => KeyCode::Esc,
        "space" => KeyCode::Char(' '),
        "backspace" => KeyCode::Backspace,
        "delete" | "del" => KeyCode::Delete,
        "insert" => KeyCode::Insert,
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "left" => KeyCode::Left,
        "right" => KeyCode::Right,
        "home" => KeyCode::Home,
        "end" => KeyCode::End,
        "pageup" => KeyCode::PageUp,
        "pagedown" => KeyCode::PageDown,
        name => {
            let mut characters = name.chars();
            match (characters.next()?, characters.as_str()) {
                (character, "") => KeyCode::Char(character),
                ('f', digits) => KeyCode::F(digits.parse().ok().filter(|number| (1..=24).contains(number))?),
                (_, _) => return None,
            }
        }
    };
    Some((modifiers, code))
}

fn event(action: KeyAction) -> ReedlineEvent {
    match action {
        KeyAction::Send => ReedlineEvent::Multiple(vec![ReedlineEvent::Esc, ReedlineEvent::Submit]),
        KeyAction::Newline => ReedlineEvent::Edit(vec![EditCommand::InsertNewline]),
        KeyAction::Accept => {
            ReedlineEvent::UntilFound(vec![ReedlineEvent::MenuAccept, ReedlineEvent::HistoryHintComplete])
        }
        KeyAction::AcceptWord => ReedlineEvent::HistoryHintWordComplete,
        KeyAction::HistoryBack => ReedlineEvent::UntilFound(vec![ReedlineEvent::MenuUp, ReedlineEvent::Up]),
        KeyAction::HistoryForward => ReedlineEvent::UntilFound(vec![ReedlineEvent::MenuDown, ReedlineEvent::Down]),
        KeyAction::HistorySearch => ReedlineEvent::UntilFound(vec![
            // If this menu is open, the key moves in it; another menu is closed first.
            ReedlineEvent::Menu(HISTORY.to_owned()),
            ReedlineEvent::MenuDown,
        ]),
        KeyAction::Edit => leave(EDIT),
        KeyAction::Picture => leave(PICTURE),
        KeyAction::Undo => ReedlineEvent::Edit(vec![EditCommand::Undo]),
        KeyAction::Redo => ReedlineEvent::Edit(vec![EditCommand::Redo]),
        KeyAction::ClearScreen => ReedlineEvent::ClearScreen,
        KeyAction::Mode => ReedlineEvent::UntilFound(vec![
            ReedlineEvent::MenuPrevious,
            ReedlineEvent::ExecuteHostCommand(MODE.to_owned()),
        ]),
        KeyAction::Suspend => leave(SUSPEND),
        KeyAction::Nothing => ReedlineEvent::None,
    }
}

/// Leaves the line as it is, with a menu closed: reedline would put the menu's row into it.
pub(super) fn leave(command: &str) -> ReedlineEvent {
    ReedlineEvent::Multiple(vec![ReedlineEvent::Esc, ReedlineEvent::ExecuteHostCommand(command.to_owned())])
}

/// Puts axi's keys, then the person's, over reedline's.
pub(super) fn bind(keys: &mut Keybindings, own: &[KeyBinding]) {
    use KeyCode::{Char, Enter, Left, Right, Tab};
    const NONE: KeyModifiers = KeyModifiers::NONE;
    const CONTROL: KeyModifiers = KeyModifiers::CONTROL;
    const ALT: KeyModifiers = KeyModifiers::ALT;
    for (modifiers, code, action) in [
        (ALT, Enter, KeyAction::Newline),
        (CONTROL, Char('j'), KeyAction::Newline),
        (CONTROL, Char('r'), KeyAction::HistorySearch),
        (CONTROL, Char('o'), KeyAction::Edit),
        (CONTROL, Char('v'), KeyAction::Picture),
        (CONTROL, Char('z'), KeyAction::Suspend),
        // Ctrl+_ and Ctrl+/ are the byte 0x1F, which crossterm calls Ctrl+7.
        (CONTROL, Char('7'), KeyAction::Undo),
        (CONTROL, Char('_'), KeyAction::Undo),
        (CONTROL, Char('/'), KeyAction::Undo),
        (ALT, Char('_'), KeyAction::Redo),
        (NONE, Tab, KeyAction::Accept),
    ] {
        keys.add_binding(modifiers, code, event(action));
    }
    let right = vec![ReedlineEvent::MenuAccept, ReedlineEvent::HistoryHintComplete, ReedlineEvent::Right];
    keys.add_binding(NONE, Right, ReedlineEvent::UntilFound(right.clone()));
    keys.add_binding(CONTROL, Char('f'), ReedlineEvent::UntilFound(right));
    keys.add_binding(NONE, Left, ReedlineEvent::Left);
    keys.add_binding(CONTROL, Char('b'), ReedlineEvent::Left);
    keys.add_binding(NONE, KeyCode::PageDown, ReedlineEvent::MenuPageNext);
    keys.add_binding(NONE, KeyCode::PageUp, ReedlineEvent::MenuPagePrevious);
    keys.add_binding(KeyModifiers::SHIFT, KeyCode::BackTab, event(KeyAction::Mode));
    for binding in own {
        keys.add_binding(binding.modifiers, binding.code, event(binding.action));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_by_name() {
        for (key, modifiers, code) in [
            ("ctrl+x", KeyModifiers::CONTROL, KeyCode::Char('x')),
            ("Ctrl-Alt-Enter", KeyModifiers::CONTROL | KeyModifiers::ALT, KeyCode::Enter),
            ("f5", KeyModifiers::NONE, KeyCode::F(5)),
            ("f", KeyModifiers::NONE, KeyCode::Char('f')),
            ("alt+-", KeyModifiers::ALT, KeyCode::Char('-')),
            ("ctrl++", KeyModifiers::CONTROL, KeyCode::Char('+')),
            ("shift+tab", KeyModifiers::SHIFT, KeyCode::Tab),
            ("ctrl+space", KeyModifiers::CONTROL, KeyCode::Char(' ')),
        ] {
            let binding = parse_binding(key, "newline").unwrap();
            assert_eq!((binding.modifiers, binding.code), (modifiers, code), "{key}");
        }
        for key in ["", "ctrl+", "hyper+x", "f25", "fn", "ctrl+xy"] {
            assert_eq!(parse_binding(key, "send"), Err(KeyError::Key(key.to_owned())), "{key}");
        }
    }

    #[test]
    fn actions_are_read_by_name() {
        for (name, action) in ACTIONS {
            assert_eq!(parse_binding("f1", name).unwrap().action, *action);
        }
        assert_eq!(parse_binding("f1", "History_Search").unwrap().action, KeyAction::HistorySearch);
        assert_eq!(parse_binding("f1", "explode"), Err(KeyError::Action("explode".to_owned())));
    }
}
