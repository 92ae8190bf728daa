//! The prompt: one row, cut to the width.

use std::borrow::Cow;

use nu_ansi_term::{Color, Style};
use reedline::{Prompt, PromptEditMode, PromptHistorySearch, PromptViMode};

use crate::terminal::Theme;
use crate::terminal::width::{fitting_end, width};

/// What ends the prompt.
pub(super) const SIGN: &str = "❯ ";
/// The same in vi's normal mode.
const NORMAL_SIGN: &str = "❮ ";
/// What stands before the further rows of a line.
const FURTHER: &str = "  ";
/// The model's place among what is left out, the highest first.
const MODEL: u8 = 1;
/// The mode's.
const MODE: u8 = 2;
/// What separates the parts.
const SEPARATOR: &str = " · ";

/// What the prompt says, in words ready to print. Empty parts are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PromptParts {
    /// The working directory, the home directory as `~`.
    pub directory: String,
    /// The model, as short as it is still told from others; before a slash, what is shown of it where that is too
    /// long.
    pub model: String,
    /// How much of the context is used, for example `12%`.
    pub context: String,
    /// How far the agent may go, unless it is the usual mode. The text behind a comma explains it, and is left out
    /// if there is no room.
    pub agent: String,
}

/// The prompt that reedline draws, laid out for the terminal's width when a line begins. It stays like that until
/// the line ends, because after a resize reedline counts the rows on the screen by the text that it is about to
/// draw.
pub(super) struct LinePrompt {
    pub(super) parts: PromptParts,
    /// In columns.
    pub(super) width: usize,
    pub(super) theme: Theme,
    pub(super) color: bool,
}

/// Columns of the terminal.
pub(super) fn columns() -> usize {
    crossterm::terminal::size().map_or(80, |(columns, _)| usize::from(columns))
}

impl LinePrompt {
    fn left(&self) -> String {
        let mut left = String::new();
        for (index, (text, style)) in lay_out(&self.parts, &self.theme, self.width).into_iter().enumerate() {
            if index > 0 {
                push(&mut left, SEPARATOR, self.theme.dim, self.color);
            }
            push(&mut left, &text, style, self.color);
        }
        if !left.is_empty() {
            left.push(' ');
        }
        left
    }
}

fn push(out: &mut String, text: &str, style: Style, color: bool) {
    if color {
        out.push_str(&style.paint(text).to_string());
    } else {
        out.push_str(text);
    }
}

/// Chooses what fits: at most half of the row, so that there is room to type. First the context is left out, then
/// the mode, then the provider, then the model; the directory loses its beginning.
fn lay_out(parts: &PromptParts, theme: &Theme, columns: usize) -> Vec<(String, Style)> {
    let room = (columns / 2).max(8);
    let mut shown = vec![
        (shorten_path(&one_row(&parts.directory), room), theme.heading, 0),
        (one_row(&parts.agent), theme.warning, MODE),
        (one_row(&parts.model), theme.dim, MODEL),
        (one_row(&parts.context), context_style(&parts.context, theme), 3),
    ];
    shown.retain(|(text, _, _)| !text.is_empty());
    while shown.len() > 1 {
        let used: usize = shown.iter().map(|(text, _, _)| width(text) + width(SEPARATOR)).sum();
        if used <= room + width(SEPARATOR) {
            break;
        }
        let Some(least) = (0..shown.len()).max_by_key(|&index| shown[index].2) else { break };
        let (text, _, rank) = &mut shown[least];
        // The model's name behind its provider, and what a mode means behind its name.
        let less = match *rank {
            MODEL => text.find('/'),
            MODE => text.find(", "),
            _ => None,
        };
        match less {
            Some(end) => text.truncate(end),
            None => drop(shown.remove(least)),
        }
    }
    shown.into_iter().map(|(text, style, _)| (text, style)).collect()
}

/// How much of the context is used, in the colour of what that means: past the first bound it is compacted soon, past
/// the second a long answer may no longer fit.
fn context_style(share: &str, theme: &Theme) -> Style {
    match share.trim_end_matches('%').parse::<u8>() {
        Ok(90..) => theme.error,
        Ok(70..) => theme.warning,
        Ok(_) | Err(_) => theme.dim,
    }
}

/// Takes out what would break the row: control characters, newlines among them.
fn one_row(text: &str) -> String {
    text.chars().filter(|character| !character.is_control()).collect()
}

/// Cuts a path from its beginning, at a slash where one is near, so that it fits into `room` columns.
pub(super) fn shorten_path(path: &str, room: usize) -> String {
    if width(path) <= room {
        return path.to_owned();
    }
    let kept = fitting_end(path, room.saturating_sub(1));
    match kept.find('/') {
        Some(slash) if slash + 1 < kept.len() && slash < kept.len() / 2 => format!("…{}", &kept[slash..]),
        Some(_) | None => format!("…{kept}"),
    }
}

impl Prompt for LinePrompt {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        Cow::Owned(self.left())
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        // Right prompts are what goes wrong on resize (nushell/reedline#675, #841, #857).
        Cow::Borrowed("")
    }

    fn render_prompt_indicator(&self, mode: PromptEditMode) -> Cow<'_, str> {
        Cow::Borrowed(match mode {
            PromptEditMode::Vi(PromptViMode::Normal | PromptViMode::Visual) => NORMAL_SIGN,
            PromptEditMode::Vi(PromptViMode::Insert)
            | PromptEditMode::Default
            | PromptEditMode::Emacs
            | PromptEditMode::Helix(_)
            | PromptEditMode::Custom(_) => SIGN,
        })
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        Cow::Borrowed(FURTHER)
    }

    fn render_prompt_history_search_indicator(&self, _search: PromptHistorySearch) -> Cow<'_, str> {
        // The history is searched in a menu of our own.
        Cow::Borrowed(SIGN)
    }

    fn get_prompt_color(&self) -> Color {
        Color::Default
    }

    fn get_prompt_multiline_color(&self) -> Color {
        Color::Default
    }

    fn get_indicator_color(&self) -> Color {
        if self.color { Color::Magenta } else { Color::Default }
    }
}

#[cfg(test)]
#[path = "prompt_tests.rs"]
mod tests;
