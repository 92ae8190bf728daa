//! What the loop shows around turns: the prompt's parts, the slash menu, help. Pure.

use std::io::Write;

use super::attach::{AttachFact, Refusal};
use super::command_arguments::arguments;
use super::{CommandEntry, CommandMenu, EditorWords, MenuLists, NoPicture, PromptParts};
use crate::agent::Agent;
use crate::approval::Mode;
use crate::command::{COMMANDS, CommandSource, UserCommand};
use crate::conversation::{Conversation, Message, tokens};
use crate::locale::Locale;
use crate::terminal::{InlinePicture, PictureProtocol, Screen, cell_pixels, sanitize_line};
use crate::tool::base64;
use crate::tool::picture::Thumbnail;

/// Makes the parts of the prompt.
#[must_use]
pub fn prompt(agent: &Agent, directory: &str) -> PromptParts {
    let model = agent.model();
    let mut short = model.model.rsplit('/').next().unwrap_or(&model.model).to_owned();
    if model.is_own() {
        // A person sees at every line that it is the small one, and that nothing leaves the machine.
        short = format!("{}/{short}", model.provider);
    }
    let used: u64 = agent.conversation().messages().iter().map(tokens::estimate_message).sum();
    let context = match model.context_window {
        Some(window) if window > 0 && used > 0 => format!("{}%", (used * 100 / window).min(100)),
        Some(_) | None => String::new(),
    };
    PromptParts {
        directory: sanitize_line(directory).into_owned(),
        model: sanitize_line(&short).into_owned(),
        context,
        // The usual one goes without saying.
        agent: if agent.mode() == Mode::Build { String::new() } else { agent.mode().word().to_owned() },
    }
}

/// Makes the slash menu in the user's language: axi's commands, then the person's own.
#[must_use]
pub fn menu(locale: &Locale, lists: &MenuLists, own: &[UserCommand]) -> CommandMenu {
    let entries = COMMANDS.iter().map(|command| CommandEntry {
        name: command.name.to_owned(),
        aliases: command.aliases.iter().map(|alias| (*alias).to_owned()).collect(),
        description: locale.text(&format!("command.{}", command.name)).to_owned(),
        usage: String::new(),
        arguments: arguments(command.argument, locale, lists),
    });
    let own = own.iter().map(|command| CommandEntry {
        name: command.name.clone(),
        description: user_description(locale, command),
        usage: command.usage.clone(),
        ..CommandEntry::default()
    });
    CommandMenu { entries: entries.chain(own).collect() }
}

/// What a command of the person's own says it does, and where it is from.
fn user_description(locale: &Locale, command: &UserCommand) -> String {
    let from = locale.text(match command.source {
        CommandSource::User => "menu.command.user",
        CommandSource::Project => "menu.command.project",
    });
    if command.description.is_empty() { from.to_owned() } else { format!("{} ({from})", command.description) }
}

/// The words of the line editor.
#[must_use]
pub fn editor_words(locale: &Locale) -> EditorWords {
    // The editor fills the numbers in itself, each time a paste is shown.
    EditorWords {
        pasted_lines: locale.with("editor.pasted_lines", &[("lines", "{lines}")]),
        pasted_bytes: locale.with("editor.pasted_bytes", &[("bytes", "{bytes}")]),
    }
}

/// The first words of a conversation, for a person to know it by.
#[must_use]
pub fn title(conversation: &Conversation) -> String {
    let first = conversation.messages().first().map(Message::text).unwrap_or_default();
    first.lines().next().unwrap_or_default().chars().take(60).collect()
}

/// Keys and commands, as markdown.
#[must_use]
pub fn help(locale: &Locale, own: &[UserCommand]) -> String {
    let mut rows = vec![format!("**{}**\n", locale.text("help.commands"))];
    for command in COMMANDS {
        let described = locale.text(&format!("command.{}", command.name)).to_owned();
        let aliases: Vec<String> = command.aliases.iter().map(|alias| format!(" `/{alias}`")).collect();
        rows.push(format!("- `/{}`{} {described}", command.name, aliases.concat()));
    }
    if !own.is_empty() {
        rows.push(format!("\n**{}**\n", locale.text("help.own_commands")));
        let own = own.iter().map(|command| {
            let said = sanitize_line(&user_description(locale, command)).replace(['`', '*', '[', '<'], " ");
            format!("- `/{}` {said}", command.name)
        });
        rows.extend(own);
    }
    rows.push(format!("\n**{}**\n", locale.text("help.keys")));
    let keys = [
        ("Enter", "enter"),
        ("Alt+Enter, Ctrl+J, \\", "newline"),
        ("Esc", "esc"),
        ("Ctrl+C", "interrupt"),
        ("Ctrl+D", "leave"),
        ("↑ ↓", "history"),
        ("Ctrl+R", "search"),
        ("Tab, →", "complete"),
        ("Ctrl+V", "picture"),
        ("Ctrl+O", "editor"),
        ("/", "slash"),
        ("@", "file"),
        ("!", "shell"),
    ];
    rows.extend(keys.map(|(key, word)| format!("- `{key}` {}", locale.text(&format!("help.key.{word}")))));
    rows.join("\n")
}

/// Words what became of a file that a message mentions.
#[must_use]
pub fn attached(locale: &Locale, fact: &AttachFact) -> String {
    let with = |key: &str, path: &str, values: &[(&str, String)]| {
        let mut all: Vec<(&str, &str)> = vec![("path", path)];
        all.extend(values.iter().map(|(name, value)| (*name, value.as_str())));
        locale.with(&format!("attach.{key}"), &all)
    };
    let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    match fact {
        AttachFact::File { path, lines } => {
            with("file", path, &[("lines", locale.count("title.lines", count(*lines)))])
        }
        AttachFact::Truncated { path, kept, lines, more } => {
            let key = if *more { "truncated_more" } else { "truncated" };
            with(key, path, &[("kept", kept.to_string()), ("lines", lines.to_string())])
        }
        AttachFact::Folder { path, entries } => {
            with("folder", path, &[("entries", locale.count("attach.entries", count(*entries)))])
        }
        AttachFact::Picture { path, bytes, scaled: None } => {
            with("picture", path, &[("kilobytes", bytes.div_ceil(1024).to_string())])
        }
        AttachFact::Picture { path, bytes, scaled: Some(scaled) } => {
            let size = |(width, height): (u32, u32)| format!("{width} × {height}");
            let kilobytes = ("kilobytes", bytes.div_ceil(1024).to_string());
            with("picture_scaled", path, &[kilobytes, ("from", size(scaled.from)), ("to", size(scaled.to))])
        }
        AttachFact::Refused { path, reason } => with("refused", path, &[("cause", refusal(locale, reason))]),
    }
}

/// Rows that a picture takes at most: what is said about it is to stay in sight.
const PICTURE_ROWS: u32 = 12;
/// Columns that it takes at most.
const PICTURE_COLUMNS: u32 = 60;

/// The room for a picture on a terminal of so many columns, in pixels.
pub(super) fn picture_room(columns: usize) -> (u32, u32) {
    let (width, height) = cell_pixels();
    let columns = u32::try_from(columns.saturating_sub(1)).unwrap_or(PICTURE_COLUMNS).min(PICTURE_COLUMNS);
    (columns * width, PICTURE_ROWS * height)
}

/// Shows a picture below what was said.
pub(super) fn picture<W: Write>(screen: &mut Screen<W>, protocol: PictureProtocol, thumbnail: &Thumbnail) {
    let (width, height) = cell_pixels();
    let cells = (thumbnail.width.div_ceil(width).max(1), thumbnail.height.div_ceil(height).max(1));
    let png = base64::encode(&thumbnail.png);
    let (width, height) = (thumbnail.width, thumbnail.height);
    let shown = InlinePicture { width, height, png: &png, pixels: &thumbnail.pixels };
    screen.picture(&protocol.sequence(shown, cells));
}

/// Finds the words for why there is no picture to attach.
pub(super) const fn no_picture(why: NoPicture) -> &'static str {
    match why {
        NoPicture::NoProgram => "attach.clipboard.no_program",
        NoPicture::Empty => "attach.clipboard.empty",
        NoPicture::TooLarge => "attach.clipboard.too_large",
        NoPicture::NotKept => "attach.clipboard.not_kept",
    }
}

fn refusal(locale: &Locale, reason: &Refusal) -> String {
    let text = |key: &str| locale.text(&format!("attach.refusal.{key}")).to_owned();
    match reason {
        Refusal::NotFound => text("not_found"),
        Refusal::Denied => text("denied"),
        Refusal::Binary(what) => locale.with("attach.refusal.binary", &[("what", what)]),
        Refusal::Special => text("special"),
        Refusal::PictureTooLarge => text("picture_too_large"),
        Refusal::TooManyPictures => text("too_many_pictures"),
        Refusal::TooManyPixels => text("too_many_pixels"),
        Refusal::NotScaled => text("not_scaled"),
        Refusal::NoVision => text("no_vision"),
        Refusal::Failed(cause) => cause.clone(),
    }
}
