//! How a person likes things shown: what settings and slash commands both speak of.

/// What is shown of a model's reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReasoningView {
    /// All of it, dim, as it streams; then one line says how much it was.
    #[default]
    Show,
    /// Nothing: the status row says that the model thinks.
    Hide,
    /// Its last row in passing, then the one line.
    Summary,
}

/// When the end of a long turn is told to a person who looks elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Notify {
    /// Where the terminal told that it has lost the focus.
    #[default]
    Auto,
    /// Every time.
    Always,
    /// Never.
    Never,
}

/// Which styles are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ThemeChoice {
    /// Those for the terminal's background.
    #[default]
    Auto,
    /// Those for dark backgrounds.
    Dark,
    /// Those for light ones.
    Light,
    /// None.
    Plain,
}

impl ReasoningView {
    /// Every word there is for it.
    pub const WORDS: &[&str] = &["show", "hide", "summary"];

    /// Reads a word of [`Self::WORDS`].
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "show" => Some(Self::Show),
            "hide" => Some(Self::Hide),
            "summary" => Some(Self::Summary),
            _ => None,
        }
    }

    /// Returns its word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Show => "show",
            Self::Hide => "hide",
            Self::Summary => "summary",
        }
    }
}

impl Notify {
    /// Reads `auto`, `always` or `never`.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "auto" => Some(Self::Auto),
            "always" => Some(Self::Always),
            "never" => Some(Self::Never),
            _ => None,
        }
    }
}

impl ThemeChoice {
    /// Every word there is for it.
    pub const WORDS: &[&str] = &["auto", "dark", "light", "plain"];

    /// Reads a word of [`Self::WORDS`].
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "auto" => Some(Self::Auto),
            "dark" => Some(Self::Dark),
            "light" => Some(Self::Light),
            "plain" => Some(Self::Plain),
            _ => None,
        }
    }

    /// Returns its word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Dark => "dark",
            Self::Light => "light",
            Self::Plain => "plain",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_read_as_what_it_names() {
        for word in ReasoningView::WORDS {
            assert_eq!(ReasoningView::parse(word).map(ReasoningView::word), Some(*word));
        }
        for word in ThemeChoice::WORDS {
            assert_eq!(ThemeChoice::parse(word).map(ThemeChoice::word), Some(*word));
        }
        assert_eq!((Notify::parse("never"), Notify::parse("x")), (Some(Notify::Never), None));
    }
}
