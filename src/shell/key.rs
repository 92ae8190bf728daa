//! A key that starts a hand-off, as people write it: `ctrl-g`, `alt-m`, `ctrl-x ctrl-a`.

/// One or two strokes; the first has Ctrl or Alt, because a key that prints is the person's to type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key(Vec<Stroke>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stroke {
    Control(char),
    Alt(char),
    Plain(char),
}

/// Why a text is no key to bind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// It is not written as keys are.
    #[error("no key is written like this")]
    Unreadable,
    /// The terminal or every shell needs it: Ctrl+C, Ctrl+Z, Enter, Tab, Backspace, letters.
    #[error("this key is needed for itself")]
    Needed,
}

impl Key {
    /// Ctrl+G.
    #[must_use]
    pub fn stock() -> Self {
        Self(vec![Stroke::Control('g')])
    }

    /// Reads a key: strokes with `ctrl-`/`c-`/`^` or `alt-`/`m-` (`+` is `-`), a space or a comma between two.
    ///
    /// # Errors
    /// [`KeyError`].
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let strokes: Vec<Stroke> = text
            .split([' ', ','])
            .filter(|stroke| !stroke.is_empty())
            .map(Stroke::parse)
            .collect::<Result<_, _>>()?;
        match strokes.as_slice() {
            // Ctrl+C, Ctrl+Z, Backspace, Tab, Enter and its twin are these bytes; Ctrl+S and Ctrl+Q stop terminals.
            [Stroke::Plain(_) | Stroke::Control('c' | 'z' | 'h' | 'i' | 'm' | 'j' | 's' | 'q'), ..] => {
                Err(KeyError::Needed)
            }
            [_] | [Stroke::Control(_), _] => Ok(Self(strokes)),
            _ => Err(KeyError::Unreadable),
        }
    }

    /// The key in the spelling that [`Key::parse`] reads.
    #[must_use]
    pub fn name(&self) -> String {
        let name = |stroke: &Stroke| match stroke {
            Stroke::Control(key) => format!("ctrl-{key}"),
            Stroke::Alt(key) => format!("alt-{key}"),
            Stroke::Plain(key) => key.to_string(),
        };
        self.0.iter().map(name).collect::<Vec<_>>().join(",")
    }

    /// The strokes of the key, with these words for Ctrl and Alt in front of the letters.
    pub(super) fn spell(&self, control: &str, alt: &str) -> Vec<String> {
        let spell = |stroke: &Stroke| match stroke {
            Stroke::Control(key) => format!("{control}{key}"),
            Stroke::Alt(key) => format!("{alt}{key}"),
            Stroke::Plain(key) => key.to_string(),
        };
        self.0.iter().map(spell).collect()
    }
}

impl Stroke {
    fn parse(text: &str) -> Result<Self, KeyError> {
        let lower = text.to_ascii_lowercase().replace('+', "-");
        let after = |names: &[&str]| {
            let rest = names.iter().find_map(|name| lower.strip_prefix(name))?;
            let mut letters = rest.chars();
            letters.next().filter(|letter| letter.is_ascii_alphanumeric() && letters.next().is_none())
        };
        if let Some(letter) = after(&["ctrl-", "control-", "c-", "^"]) {
            return if letter.is_ascii_lowercase() { Ok(Self::Control(letter)) } else { Err(KeyError::Unreadable) };
        }
        if let Some(letter) = after(&["alt-", "meta-", "m-"]) {
            return Ok(Self::Alt(letter));
        }
        after(&[""]).map(Self::Plain).ok_or(KeyError::Unreadable)
    }
}
