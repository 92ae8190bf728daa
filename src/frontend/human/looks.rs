//! The settings that decide the looks, and how they change while axi runs.

use nu_ansi_term::{Color, Style};

use crate::config::{Notifications, Notify, ReasoningView, ThemeChoice};
use crate::terminal::{Background, Depth, NotifyBy, Theme, Wrap};

/// What decides the looks.
#[derive(Debug, Clone)]
pub struct Looks {
    /// Styles by name: those of `palette`.
    pub theme: Theme,
    /// What the styles were chosen by.
    pub palette: Palette,
    /// The person's own styles over the palette's: what they are for, and the style in the words of skins.
    pub styles: Vec<(String, String)>,
    /// Whether the terminal wraps instead of axi.
    pub wrap: Wrap,
    /// Whether links are sent as OSC 8.
    pub hyperlinks: bool,
    /// Whether files are links too: the terminal is on this machine.
    pub file_links: bool,
    /// Whether code is coloured.
    pub highlight: bool,
    /// What is shown of reasoning.
    pub reasoning: ReasoningView,
    /// When a person is notified.
    pub notify: Notify,
    /// Of what, and how.
    pub notifications: Notifications,
    /// The terminal's protocol for it.
    pub notifies_by: NotifyBy,
    /// Whether the terminal shows progress in its tab.
    pub progress: bool,
    /// The window's title after a turn, for terminals that cannot restore one; empty means the terminal's own.
    pub resting_title: String,
}

impl Looks {
    /// Uses these styles from now on.
    pub fn set_theme(&mut self, choice: ThemeChoice) {
        self.palette.choice = choice;
        self.choose_theme();
    }

    /// Knows the terminal's background from now on.
    pub fn set_background(&mut self, background: Background) {
        if self.palette.background != Some(background) {
            self.palette.background = Some(background);
            self.choose_theme();
        }
    }

    /// Chooses the theme anew, the person's own styles over it where there is colour.
    pub fn choose_theme(&mut self) {
        self.theme = self.palette.theme();
        if self.palette.depth < Depth::Ansi || self.palette.choice == ThemeChoice::Plain {
            return;
        }
        for (role, text) in &self.styles {
            if let Err(error) = self.theme.restyle(role, text) {
                tracing::debug!(role, %error, "a style is left out");
            }
        }
    }
}

/// What styles are chosen by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Palette {
    /// What the person wants.
    pub choice: ThemeChoice,
    /// What the terminal can show.
    pub depth: Depth,
    /// What text stands on, as far as it is known.
    pub background: Option<Background>,
}

impl Palette {
    /// Chooses the styles; on an unknown background those that can be seen on light and on dark.
    #[must_use]
    pub fn theme(self) -> Theme {
        match self.choice {
            ThemeChoice::Plain => Theme::plain(),
            ThemeChoice::Light => Theme::choose(self.depth, Background::Light),
            ThemeChoice::Dark => Theme::choose(self.depth, Background::Dark),
            ThemeChoice::Auto => match self.background {
                Some(background) => Theme::choose(self.depth, background),
                None if self.depth >= Depth::Ansi => neutral(),
                None => Theme::choose(self.depth, Background::Dark),
            },
        }
    }

    /// Tells whether the terminal's background matters.
    #[must_use]
    pub fn depends_on_background(self) -> bool {
        self.choice == ThemeChoice::Auto && self.depth >= Depth::Ansi
    }
}

/// Changes a theme for an unknown background: nothing is yellow, which cannot be seen on white, and nothing blue,
/// which cannot be seen on black.
fn neutral() -> Theme {
    Theme {
        code: Style::new().fg(Color::Magenta),
        code_block: Style::new().fg(Color::Magenta),
        code_function: Style::new().fg(Color::Cyan),
        code_number: Style::new().fg(Color::Red),
        link: Style::new().underline().fg(Color::Cyan),
        warning: Style::new().bold().fg(Color::Magenta),
        ..Theme::ansi()
    }
}
