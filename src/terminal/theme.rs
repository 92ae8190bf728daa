//! Styles by name. ANSI colours by default, so that the terminal's own palette decides.

use nu_ansi_term::{Color, Style};

use super::environment::{Background, Depth};

/// The named styles in which everything on the screen is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Theme {
    /// Headings.
    pub heading: Style,
    /// Headings of the third level and below.
    pub subheading: Style,
    /// Strong emphasis.
    pub strong: Style,
    /// Emphasis.
    pub emphasis: Style,
    /// Struck-through text.
    pub strikethrough: Style,
    /// Code inside a line.
    pub code: Style,
    /// Fenced or indented code without a known language: told from prose by the colour of code inside a line.
    pub code_block: Style,
    /// Keywords in code.
    pub code_keyword: Style,
    /// Names of types, tags and keys in code.
    pub code_type: Style,
    /// Called and declared functions in code.
    pub code_function: Style,
    /// Strings in code.
    pub code_string: Style,
    /// Numbers and constants in code.
    pub code_number: Style,
    /// Comments in code.
    pub code_comment: Style,
    /// Links.
    pub link: Style,
    /// Addresses written after the links they belong to.
    pub address: Style,
    /// Quote bars, list bullets, table borders, rules.
    pub furniture: Style,
    /// Quoted text.
    pub quote: Style,
    /// Text of little importance: reasoning, hints, status.
    pub dim: Style,
    /// Added lines of a diff.
    pub added: Style,
    /// Removed lines of a diff.
    pub removed: Style,
    /// The new part of an added line.
    pub added_word: Style,
    /// The part that is gone from a removed line.
    pub removed_word: Style,
    /// Success.
    pub success: Style,
    /// Warnings.
    pub warning: Style,
    /// Errors.
    pub error: Style,
    /// axi's own marks: the prompt sign, the spinner.
    pub accent: Style,
    /// What the person says.
    pub person: Style,
}

impl Theme {
    /// The default: ANSI colours only.
    #[must_use]
    pub fn ansi() -> Self {
        Self {
            heading: Style::new().bold().fg(Color::Cyan),
            subheading: Style::new().bold(),
            strong: Style::new().bold(),
            emphasis: Style::new().italic(),
            strikethrough: Style::new().strikethrough(),
            code: Style::new().fg(Color::Yellow),
            code_block: Style::new().fg(Color::Yellow),
            code_keyword: Style::new().fg(Color::Magenta),
            code_type: Style::new().fg(Color::Cyan),
            code_function: Style::new().fg(Color::Blue),
            code_string: Style::new().fg(Color::Green),
            code_number: Style::new().fg(Color::Yellow),
            code_comment: Style::new().dimmed().italic(),
            link: Style::new().underline().fg(Color::Blue),
            address: Style::new().dimmed(),
            furniture: Style::new().dimmed(),
            quote: Style::new(),
            dim: Style::new().dimmed(),
            added: Style::new().fg(Color::Green),
            removed: Style::new().fg(Color::Red),
            added_word: Style::new().fg(Color::Green).bold().underline(),
            removed_word: Style::new().fg(Color::Red).bold().underline(),
            success: Style::new().fg(Color::Green),
            warning: Style::new().fg(Color::Yellow),
            error: Style::new().bold().fg(Color::Red),
            accent: Style::new().fg(Color::Magenta),
            person: Style::new().bold(),
        }
    }

    /// Returns the theme for a colour depth and a background.
    #[must_use]
    pub fn choose(depth: Depth, background: Background) -> Self {
        let on = |ground| Style::new().on(ground);
        match (depth, background) {
            (Depth::Plain, _) => Self::plain(),
            (Depth::Monochrome, _) => Self::monochrome(),
            (Depth::Ansi, Background::Dark) => Self::ansi(),
            (Depth::Ansi, Background::Light) => Self::light(),
            // From the grey ramp: one step away from black, and from white.
            (Depth::Fixed, Background::Dark) => Self { person: on(Color::Fixed(236)), ..Self::ansi() },
            (Depth::Fixed, Background::Light) => Self { person: on(Color::Fixed(254)), ..Self::light() },
            // The backgrounds are those of GitHub's own diffs, dark and light, which many people know.
            (Depth::Truecolor, Background::Dark) => {
                Self { person: on(Color::Rgb(0x2d, 0x31, 0x38)), ..Self::ansi() }.with_change_backgrounds(
                    [(0x12, 0x26, 0x1a), (0x1d, 0x57, 0x2d)],
                    [(0x30, 0x17, 0x1b), (0x79, 0x22, 0x2a)],
                )
            }
            (Depth::Truecolor, Background::Light) => {
                Self { person: on(Color::Rgb(0xea, 0xee, 0xf2)), ..Self::light() }.with_change_backgrounds(
                    [(0xe6, 0xff, 0xec), (0xab, 0xf2, 0xbc)],
                    [(0xff, 0xeb, 0xe9), (0xff, 0xc1, 0xc0)],
                )
            }
        }
    }

    /// Returns the theme with every style changed alike.
    #[must_use]
    pub fn map(self, change: impl Fn(Style) -> Style) -> Self {
        Self {
            heading: change(self.heading),
            subheading: change(self.subheading),
            strong: change(self.strong),
            emphasis: change(self.emphasis),
            strikethrough: change(self.strikethrough),
            code: change(self.code),
            code_block: change(self.code_block),
            code_keyword: change(self.code_keyword),
            code_type: change(self.code_type),
            code_function: change(self.code_function),
            code_string: change(self.code_string),
            code_number: change(self.code_number),
            code_comment: change(self.code_comment),
            link: change(self.link),
            address: change(self.address),
            furniture: change(self.furniture),
            quote: change(self.quote),
            dim: change(self.dim),
            added: change(self.added),
            removed: change(self.removed),
            added_word: change(self.added_word),
            removed_word: change(self.removed_word),
            success: change(self.success),
            warning: change(self.warning),
            error: change(self.error),
            accent: change(self.accent),
            person: change(self.person),
        }
    }

    /// Marks changed lines and words by backgrounds, so that code keeps its colours; needs 24-bit colours. Each
    /// pair is the background of the line, then that of the word.
    #[must_use]
    pub(crate) fn with_change_backgrounds(self, added: [(u8, u8, u8); 2], removed: [(u8, u8, u8); 2]) -> Self {
        let on = |style: Style, (red, green, blue): (u8, u8, u8)| style.on(Color::Rgb(red, green, blue));
        Self {
            added: on(self.added, added[0]),
            added_word: on(self.added, added[1]).bold(),
            removed: on(self.removed, removed[0]),
            removed_word: on(self.removed, removed[1]).bold(),
            ..self
        }
    }

    /// Returns the theme for light backgrounds, on which yellow and dim text are hard to read.
    #[must_use]
    pub fn light() -> Self {
        Self {
            heading: Style::new().bold().fg(Color::Blue),
            code: Style::new().fg(Color::Magenta),
            code_block: Style::new().fg(Color::Magenta),
            code_number: Style::new().fg(Color::Red),
            warning: Style::new().bold().fg(Color::Magenta),
            dim: Style::new().fg(Color::DarkGray),
            furniture: Style::new().fg(Color::DarkGray),
            ..Self::ansi()
        }
    }

    /// Returns the theme for `NO_COLOR`: attributes without colour.
    #[must_use]
    pub fn monochrome() -> Self {
        let none = Style::new();
        Self {
            heading: none.bold(),
            code: none,
            code_block: none,
            link: none.underline(),
            added: none.bold(),
            removed: none.dimmed(),
            added_word: none.bold().underline(),
            removed_word: none.dimmed().underline(),
            success: none,
            warning: none.bold(),
            error: none.bold(),
            accent: none.bold(),
            person: none,
            ..Self::ansi()
        }
    }

    /// Returns the theme without colours or attributes.
    #[must_use]
    pub fn plain() -> Self {
        let none = Style::new();
        Self {
            heading: none,
            subheading: none,
            strong: none,
            emphasis: none,
            strikethrough: none,
            code: none,
            code_block: none,
            code_keyword: none,
            code_type: none,
            code_function: none,
            code_string: none,
            code_number: none,
            code_comment: none,
            link: none,
            address: none,
            furniture: none,
            quote: none,
            dim: none,
            added: none,
            removed: none,
            added_word: none,
            removed_word: none,
            success: none,
            warning: none,
            error: none,
            accent: none,
            person: none,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_colour_nothing_has_a_colour() {
        let theme = Theme::choose(Depth::Monochrome, Background::Dark);
        for style in [theme.heading, theme.added, theme.removed, theme.error, theme.link, theme.accent] {
            assert_eq!((style.foreground, style.background), (None, None));
        }
        assert_ne!(theme.error, theme.code_block, "it is still another style");
    }
}
