//! What the loop shows around turns: the prompt's parts, the slash menu, help. Pure.

use std::io::Write;

use crate::agent::Agent;
use crate::approval::Mode;
use crate::command::{COMMANDS, CommandSource, UserCommand};
use crate::frontend::prompt::PromptParts;
use crate::frontend::repl::editor::EditorWords;
use crate::frontend::repl::files::{AttachFact, NoPicture, Refusal};
use crate::frontend::repl::menu::{CommandEntry, CommandMenu, MenuLists, ServerMenu, arguments_of};
use crate::locale::{Locale, Word, word};
use crate::mcp::Servers;
use crate::terminal::{InlinePicture, PictureProtocol, Screen, cell_pixels, sanitize_line};
use crate::tool::base64;
use crate::tool::picture::Thumbnail;

/// Makes the parts of the prompt.
pub(super) fn prompt(agent: &Agent, directory: &str, locale: &Locale) -> PromptParts {
    let model = agent.model();
    let mut short = model.model.rsplit('/').next().unwrap_or(&model.model).to_owned();
    if model.is_own() {
        // A person sees at every line that it is the small one, and that nothing leaves the machine.
        short = format!("{}/{short}", model.provider);
    }
    let percent = (!agent.conversation().messages().is_empty()).then(|| agent.shares().percent()).flatten();
    let context = percent.map_or_else(String::new, |percent| format!("{percent}%"));
    PromptParts {
        directory: sanitize_line(directory).into_owned(),
        model: sanitize_line(&short).into_owned(),
        context,
        // The usual one goes without saying.
        agent: match (agent.policy().mode(), agent.policy().accepts_edits()) {
            (Mode::Build, false) => String::new(),
            (Mode::Build, true) => locale.text(word::agent::ACCEPTS_EDITS).to_owned(),
            (mode @ (Mode::Plan | Mode::Explore), _) => {
                format!("{}, {}", mode.word(), locale.text(word::agent::ONLY_READS))
            }
        },
    }
}

/// Makes the slash menu in the user's language: axi's commands, then the person's own.
pub(super) fn menu(
    locale: &Locale,
    lists: &MenuLists,
    own: &[UserCommand],
    servers: Option<Servers>,
) -> CommandMenu {
    let entries = COMMANDS.iter().map(|command| CommandEntry {
        name: command.name.to_owned(),
        aliases: command.aliases.iter().map(|alias| (*alias).to_owned()).collect(),
        description: locale.text(command.says).to_owned(),
        usage: String::new(),
        arguments: arguments_of(command.argument, locale, lists),
    });
    let own = own.iter().map(|command| CommandEntry {
        name: command.name.clone(),
        description: user_description(locale, command),
        usage: command.usage.clone(),
        ..CommandEntry::default()
    });
    CommandMenu { entries: entries.chain(own).collect(), servers: ServerMenu::new(servers) }
}

/// What a command of the person's own says it does, and where it is from.
fn user_description(locale: &Locale, command: &UserCommand) -> String {
    let from = locale.text(match command.source {
        CommandSource::User => word::menu::command::USER,
        CommandSource::Project => word::menu::command::PROJECT,
    });
    if command.description.is_empty() { from.to_owned() } else { format!("{} ({from})", command.description) }
}

/// The words of the line editor.
#[must_use]
pub fn editor_words(locale: &Locale) -> EditorWords {
    // The editor fills the numbers in itself, each time a paste is shown.
    EditorWords {
        pasted_lines: locale.with(word::editor::PastedLines { lines: "{lines}" }),
        pasted_bytes: locale.with(word::editor::PastedBytes { bytes: "{bytes}" }),
    }
}

/// Keys and commands, each list under its heading.
pub(super) fn help(locale: &Locale, own: &[UserCommand]) -> Vec<(String, Vec<(String, String)>)> {
    let commands = COMMANDS.iter().map(|command| {
        let names = std::iter::once(&command.name).chain(command.aliases);
        let names = names.map(|name| format!("/{name}")).collect::<Vec<_>>().join(" ");
        (names, locale.text(command.says).to_owned())
    });
    let own = own.iter().map(|command| (format!("/{}", command.name), user_description(locale, command)));
    let keys = [
        ("Enter", word::help::key::ENTER),
        ("Alt+Enter, Ctrl+J, \\", word::help::key::NEWLINE),
        ("Esc", word::help::key::ESC),
        ("Ctrl+C", word::help::key::INTERRUPT),
        ("Ctrl+D", word::help::key::LEAVE),
        ("↑ ↓", word::help::key::HISTORY),
        ("Ctrl+R", word::help::key::SEARCH),
        ("Tab, →", word::help::key::COMPLETE),
        ("Shift+Tab", word::help::key::MODE),
        ("Ctrl+V", word::help::key::PICTURE),
        ("Ctrl+O", word::help::key::EDITOR),
        ("/", word::help::key::SLASH),
        ("@", word::help::key::FILE),
        ("!", word::help::key::SHELL),
    ];
    let keys = keys.map(|(key, word)| (key.to_owned(), locale.text(word).to_owned())).to_vec();
    let lists = [
        (word::help::COMMANDS, commands.collect()),
        (word::help::OWN_COMMANDS, own.collect()),
        (word::help::KEYS, keys),
    ];
    let filled = lists.into_iter().filter(|(_, entries): &(Word, Vec<_>)| !entries.is_empty());
    filled.map(|(heading, entries)| (locale.text(heading).to_owned(), entries)).collect()
}

/// Words what became of a file that a message mentions.
pub(super) fn attached(locale: &Locale, fact: &AttachFact) -> String {
    let counted = |plural, number: &usize| locale.count(plural, u64::try_from(*number).unwrap_or(u64::MAX));
    match fact {
        AttachFact::File { path, lines } => {
            locale.with(word::attach::File { path, lines: &counted(word::title::LINES, lines) })
        }
        AttachFact::Truncated { path, kept, lines, more } => {
            let (kept, lines) = (&kept.to_string(), &lines.to_string());
            if *more {
                locale.with(word::attach::TruncatedMore { path, kept, lines })
            } else {
                locale.with(word::attach::Truncated { path, kept, lines })
            }
        }
        AttachFact::Folder { path, entries } => {
            locale.with(word::attach::Folder { path, entries: &counted(word::attach::ENTRIES, entries) })
        }
        AttachFact::Picture { path, bytes, scaled } => {
            let kilobytes = &bytes.div_ceil(1024).to_string();
            let size = |(width, height): (u32, u32)| format!("{width} × {height}");
            match scaled {
                None => locale.with(word::attach::Picture { path, kilobytes }),
                Some(scaled) => {
                    let (from, to) = (&size(scaled.from), &size(scaled.to));
                    locale.with(word::attach::PictureScaled { path, kilobytes, from, to })
                }
            }
        }
        AttachFact::Refused { path, reason } => {
            locale.with(word::attach::Refused { path, cause: &refusal(locale, reason) })
        }
    }
}

/// The most rows of a picture: the text about it must stay on the screen.
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
pub(super) const fn no_picture(why: NoPicture) -> Word {
    match why {
        NoPicture::NoProgram => word::attach::clipboard::NO_PROGRAM,
        NoPicture::Empty => word::attach::clipboard::EMPTY,
        NoPicture::TooLarge => word::attach::clipboard::TOO_LARGE,
        NoPicture::NotKept => word::attach::clipboard::NOT_KEPT,
    }
}

fn refusal(locale: &Locale, reason: &Refusal) -> String {
    let text = |word| locale.text(word).to_owned();
    match reason {
        Refusal::NotFound => text(word::attach::refusal::NOT_FOUND),
        Refusal::Denied => text(word::attach::refusal::DENIED),
        Refusal::Binary(what) => locale.with(word::attach::refusal::Binary { what }),
        Refusal::Special => text(word::attach::refusal::SPECIAL),
        Refusal::PictureTooLarge => text(word::attach::refusal::PICTURE_TOO_LARGE),
        Refusal::TooManyPictures => text(word::attach::refusal::TOO_MANY_PICTURES),
        Refusal::TooManyPixels => text(word::attach::refusal::TOO_MANY_PIXELS),
        Refusal::Secret => text(word::attach::refusal::SECRET),
        Refusal::NotScaled => text(word::attach::refusal::NOT_SCALED),
        Refusal::NoVision => text(word::attach::refusal::NO_VISION),
        Refusal::Failed(cause) => cause.clone(),
    }
}
