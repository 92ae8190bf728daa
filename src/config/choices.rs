//! Values that are one of a few words, each word once: settings, slash commands and help read them here.

/// Makes an enum of each list of words; the first one is the default.
macro_rules! choices {
    ($($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)* })*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name { $($(#[$variant_doc])* $variant,)* }

        impl $name {
            /// Every word there is for it.
            pub const WORDS: &'static [&'static str] = &[$($word),*];

            /// Reads a word of [`Self::WORDS`].
            #[must_use]
            pub fn parse(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// Returns its word.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }

        impl $crate::config::entry::Choice for $name {
            const WORDS: &'static [&'static str] = Self::WORDS;

            fn parse(word: &str) -> Option<Self> {
                Self::parse(word)
            }

            fn word(self) -> &'static str {
                self.word()
            }
        }
    )* };
}

choices! {
    /// What becomes of calls that write.
    Approvals {
        /// They are asked about.
        Ask = "ask",
        /// They run in a trial of the turn.
        Try = "try",
    }

    /// What is applied by itself of a program that runs in a trial first.
    TryApply {
        /// No program does.
        Off = "off",
        /// What deletes nothing.
        NoDeletions = "no deletions",
        /// All of it.
        All = "all",
    }

    /// How long a provider that is told to keeps what it has read.
    PromptCache {
        /// Five minutes.
        Minutes = "5m",
        /// An hour; what is written to it costs more.
        Hour = "1h",
    }

    /// Which styles are used.
    ThemeChoice {
        /// Those for the terminal's background.
        Auto = "auto",
        /// Those for dark backgrounds.
        Dark = "dark",
        /// Those for light ones.
        Light = "light",
        /// None.
        Plain = "plain",
    }

    /// What is shown of a model's reasoning.
    ReasoningView {
        /// Shows all of it, dim, as it streams; then one line says how much it was.
        Show = "show",
        /// Shows nothing: the status row says that the model thinks.
        Hide = "hide",
        /// Shows its last row while it streams, then the one line.
        Summary = "summary",
    }

    /// When axi notifies a person: never while the terminal says that it has the focus.
    Notify {
        /// If the terminal said that it has lost the focus.
        Auto = "auto",
        /// Also where the terminal says nothing about it.
        Always = "always",
        /// Never.
        Never = "never",
    }

    /// Who breaks long lines.
    WrapChoice {
        /// axi, between words.
        Word = "word",
        /// The terminal.
        Soft = "soft",
    }

    /// Whether attached pictures are shown, and how.
    InlineImages {
        /// They are not.
        Off = "off",
        /// In the way the terminal is known to have.
        Auto = "auto",
        /// By kitty's graphics protocol.
        Kitty = "kitty",
        /// As iTerm2 does.
        Iterm2 = "iterm2",
        /// As sixels.
        Sixel = "sixel",
    }

    /// How keys edit the line.
    EditMode {
        /// As in emacs and most shells.
        Emacs = "emacs",
        /// As in vi.
        Vi = "vi",
    }

    /// Which variables with secrets a command gets that was agreed to.
    CommandSecrets {
        /// Those that its line names, but never the keys of providers.
        Named = "named",
        /// All.
        All = "all",
    }

    /// Where the agent's commands of a hand-off are remembered.
    AgentCommands {
        /// Nowhere.
        Off = "off",
        /// In the shell's history.
        Shell = "shell",
        /// In atuin's.
        Atuin = "atuin",
    }

    /// How much a model is to think.
    EffortChoice {
        /// Not at all.
        None = "none",
        /// The least it can.
        Minimal = "minimal",
        /// Little.
        Low = "low",
        /// Some.
        Medium = "medium",
        /// Much.
        High = "high",
        /// More than much.
        Xhigh = "xhigh",
        /// All it can.
        Max = "max",
    }

    /// A thing that is on unless somebody turns it off.
    OnOff {
        /// It is.
        On = "on",
        /// It is not.
        Off = "off",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_read_as_what_it_names() {
        for word in InlineImages::WORDS {
            assert_eq!(InlineImages::parse(word).map(InlineImages::word), Some(*word));
        }
        assert_eq!((Notify::parse("never"), Notify::parse("x")), (Some(Notify::Never), None));
    }
}
