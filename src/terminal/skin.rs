//! The person's own styles, such as `heading = "yellow bold"`, in the words of termimad's skins.

use nu_ansi_term::{Color, Style};
use termimad::crossterm::style::{Attribute, Attributes, Color as SkinColor};

use super::theme::Theme;

/// Why a style in the settings cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SkinError {
    /// There is no style with this name.
    #[error("there is no style named {0}")]
    UnknownRole(String),
    /// It is not a style; the parser says why.
    #[error("{0}")]
    NotAStyle(String),
}

impl Theme {
    /// Sets the style of `role` (`heading`, `code`, `dim`, …) to the one that `text` names: attributes and up to
    /// two colours, foreground first, such as `#ab00c1 strikeout` or `gray(2) ansi(202) bold`.
    ///
    /// # Errors
    /// [`SkinError`]; the theme is not changed then.
    pub fn restyle(&mut self, role: &str, text: &str) -> Result<(), SkinError> {
        let Some(style) = self.role(role) else { return Err(SkinError::UnknownRole(role.to_owned())) };
        *style = parse(text)?;
        Ok(())
    }

    fn role(&mut self, name: &str) -> Option<&mut Style> {
        Some(match name {
            "heading" => &mut self.heading,
            "subheading" => &mut self.subheading,
            "strong" => &mut self.strong,
            "emphasis" => &mut self.emphasis,
            "strikethrough" => &mut self.strikethrough,
            "code" => &mut self.code,
            "code_block" => &mut self.code_block,
            "link" => &mut self.link,
            "furniture" => &mut self.furniture,
            "quote" => &mut self.quote,
            "dim" => &mut self.dim,
            "added" => &mut self.added,
            "removed" => &mut self.removed,
            "success" => &mut self.success,
            "warning" => &mut self.warning,
            "error" => &mut self.error,
            "accent" => &mut self.accent,
            "person" => &mut self.person,
            _ => return None,
        })
    }
}

fn parse(text: &str) -> Result<Style, SkinError> {
    let parsed = termimad::parse_compound_style(text).map_err(|error| SkinError::NotAStyle(error.to_string()))?;
    let content = parsed.object_style;
    let mut style = attributes(content.attributes);
    style.foreground = content.foreground_color.map(color);
    style.background = content.background_color.map(color);
    Ok(style)
}

fn attributes(set: Attributes) -> Style {
    Style {
        is_bold: set.has(Attribute::Bold),
        is_dimmed: set.has(Attribute::Dim),
        is_italic: set.has(Attribute::Italic),
        is_underline: set.has(Attribute::Underlined),
        is_strikethrough: set.has(Attribute::CrossedOut),
        is_reverse: set.has(Attribute::Reverse),
        ..Style::default()
    }
}

fn color(color: SkinColor) -> Color {
    match color {
        SkinColor::Reset => Color::Default,
        SkinColor::Black => Color::Black,
        SkinColor::DarkGrey => Color::DarkGray,
        SkinColor::Red => Color::LightRed,
        SkinColor::DarkRed => Color::Red,
        SkinColor::Green => Color::LightGreen,
        SkinColor::DarkGreen => Color::Green,
        SkinColor::Yellow => Color::LightYellow,
        SkinColor::DarkYellow => Color::Yellow,
        SkinColor::Blue => Color::LightBlue,
        SkinColor::DarkBlue => Color::Blue,
        SkinColor::Magenta => Color::LightMagenta,
        SkinColor::DarkMagenta => Color::Magenta,
        SkinColor::Cyan => Color::LightCyan,
        SkinColor::DarkCyan => Color::Cyan,
        SkinColor::White => Color::White,
        SkinColor::Grey => Color::LightGray,
        SkinColor::Rgb { r, g, b } => Color::Rgb(r, g, b),
        SkinColor::AnsiValue(value) => Color::Fixed(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_style_is_read_in_the_words_of_skins() {
        let mut theme = Theme::plain();
        assert_eq!(theme.restyle("heading", "#ab00c1 bold"), Ok(()));
        assert_eq!(theme.heading, Style::new().bold().fg(Color::Rgb(0xab, 0, 0xc1)));
        assert_eq!(theme.restyle("dim", "gray(12) italic"), Ok(()));
        assert_eq!(theme.dim, Style::new().italic().fg(Color::Fixed(244)));
    }

    #[test]
    fn what_is_no_style_changes_nothing() {
        let mut theme = Theme::ansi();
        assert_eq!(theme.restyle("hat", "red"), Err(SkinError::UnknownRole("hat".into())));
        assert!(matches!(theme.restyle("code", "loud"), Err(SkinError::NotAStyle(_))));
        assert_eq!(theme, Theme::ansi());
    }
}
