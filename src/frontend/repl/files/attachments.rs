//! What the `@paths` of a message name, as blocks for the model.
//!
//! A file becomes `<file path="…">…</file>`, a folder a listing of it, a picture an image. What cannot be read
//! becomes a block with an `error`, so that the model knows that it lacks something; the person is told through
//! [`AttachFact`].

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::conversation::tokens::estimate;
use crate::conversation::{ATTACHED, Image};
use crate::frontend::repl::line::{Mention, mentions};
use crate::secret::CUT;
use crate::secret::found::is_hidden_secret;
use crate::tool::kind::{Kind, SAMPLE, kind};
use crate::tool::picture::{self, Scaled, Thumbnail, Unfit};
use crate::tool::text_file::decode;

/// Pictures of a message at most.
const IMAGES: usize = 5;
/// A picture's size at most, in bytes.
const IMAGE_BYTES: u64 = 20 * 1024 * 1024;
/// What is read of a file at most, in bytes.
const FILE_BYTES: u64 = 8 * 1024 * 1024;
/// Files and folders of a message at most; further ones stay words.
const FILES: usize = 100;
/// Names listed of a folder.
const NAMES: usize = 500;
/// Lines left of a file that is cut, however little room there is.
const LEAST_LINES: usize = 10;

/// Where paths are looked for and how much room there is.
#[derive(Debug, Clone)]
pub struct AttachOptions {
    /// What relative paths are relative to.
    pub directory: PathBuf,
    /// What `~` stands for.
    pub home: Option<PathBuf>,
    /// Tokens all blocks together may take, as [`estimate`] counts them.
    pub budget: u64,
    /// Whether the model sees pictures.
    pub vision: bool,
    /// The room for showing a picture, in pixels; `None` where none is shown.
    pub thumbnails: Option<(u32, u32)>,
    /// The mentions, as written, that were taken from the picker: they are meant, though nothing else tells.
    pub picked: HashSet<String>,
}

/// What the model gets, and what the person is told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attachments {
    /// The blocks, one after the other; empty if there are none.
    pub text: String,
    /// The pictures.
    pub images: Vec<Image>,
    /// The same as they are shown; `None` for those that cannot be.
    pub thumbnails: Vec<Option<Thumbnail>>,
    /// What became of each path, in the order of the message.
    pub facts: Vec<AttachFact>,
}

/// What became of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttachFact {
    /// A file is attached whole.
    File {
        /// As written.
        path: String,
        /// Its lines.
        lines: usize,
    },
    /// A file is attached in part.
    Truncated {
        /// As written.
        path: String,
        /// The lines that are attached.
        kept: usize,
        /// The lines it has; of a very large file, those that were read.
        lines: usize,
        /// Whether it has more than these.
        more: bool,
    },
    /// A folder's listing is attached.
    Folder {
        /// As written.
        path: String,
        /// The names in it.
        entries: usize,
    },
    /// A picture is attached.
    Picture {
        /// As written.
        path: String,
        /// Its size, as it is sent.
        bytes: u64,
        /// How it was made smaller.
        scaled: Option<Scaled>,
    },
    /// Nothing is attached.
    Refused {
        /// As written.
        path: String,
        /// Why.
        reason: Refusal,
    },
}

/// Why a path is not attached.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is nothing of that name.
    #[error("not found")]
    NotFound,
    /// The person may not read it.
    #[error("permission denied")]
    Denied,
    /// It is neither text nor picture; what it is.
    #[error("binary file: {0}")]
    Binary(&'static str),
    /// It is a device, a pipe or a socket.
    #[error("not a regular file")]
    Special,
    /// It is a picture of more than 20 MB.
    #[error("picture of more than 20 MB")]
    PictureTooLarge,
    /// There are five pictures already.
    #[error("more than 5 pictures")]
    TooManyPictures,
    /// It has more pixels than can be scaled down.
    #[error("picture of too many pixels")]
    TooManyPixels,
    /// It is larger than models take, of a kind that cannot be scaled down.
    #[error("picture larger than models take")]
    NotScaled,
    /// It is a secret file by another name: nobody sees from what was written that it is one.
    #[error("a secret file by another name")]
    Secret,
    /// The model sees no pictures.
    #[error("this model cannot see pictures")]
    NoVision,
    /// Reading failed; what the system says.
    #[error("{0}")]
    Failed(String),
}

/// What a path turned out to be.
enum Content {
    Text { text: String, cut: bool },
    Listing { names: Vec<String>, more: usize },
    Picture { image: Image, bytes: u64, scaled: Option<Scaled>, thumbnail: Option<Thumbnail> },
    Refused(Refusal),
}

/// Reads what the message mentions. Blocks while it reads.
///
/// Each path is attached once. A word after `@` that names nothing, was not picked and does not look like a path (no
/// slash, no dot) is left alone: it is a person or a decorator.
pub fn attach(message: &str, options: &AttachOptions) -> Attachments {
    let mut seen = HashSet::new();
    let mut pictures = 0;
    let mut found = Vec::new();
    for Mention { path, range } in mentions(message) {
        let real = real_path(&path, options);
        let written = message.get(range).unwrap_or_default();
        let sure = written.starts_with("@\"") || options.picked.contains(written);
        let meant = sure || path.contains(['/', '.']) || real.symlink_metadata().is_ok();
        if found.len() < FILES && meant && seen.insert(real.clone()) {
            found.push((path, read(&real, &mut pictures, options)));
        }
    }
    compose(found, options.budget)
}

fn real_path(path: &str, options: &AttachOptions) -> PathBuf {
    match (path.strip_prefix('~'), &options.home) {
        (Some(""), Some(home)) => home.clone(),
        (Some(rest), Some(home)) if rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
        (Some(_) | None, _) => options.directory.join(path),
    }
}

fn read(path: &Path, pictures: &mut usize, options: &AttachOptions) -> Content {
    try_read(path, pictures, options).unwrap_or_else(|error| {
        Content::Refused(match error.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => Refusal::NotFound,
            std::io::ErrorKind::PermissionDenied => Refusal::Denied,
            _ => Refusal::Failed(error.to_string()),
        })
    })
}

fn try_read(path: &Path, pictures: &mut usize, options: &AttachOptions) -> std::io::Result<Content> {
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() {
        return list(path);
    }
    // A pipe or a device would be waited for.
    if !metadata.is_file() {
        return Ok(Content::Refused(Refusal::Special));
    }
    if is_hidden_secret(path, options.home.as_deref(), &options.directory) {
        return Ok(Content::Refused(Refusal::Secret));
    }
    let mut file = File::open(path)?;
    let mut bytes = Vec::new();
    file.by_ref().take(SAMPLE as u64).read_to_end(&mut bytes)?;
    match kind(&bytes) {
        Kind::Picture(_) if !options.vision => Ok(Content::Refused(Refusal::NoVision)),
        Kind::Picture(_) if metadata.len() > IMAGE_BYTES => Ok(Content::Refused(Refusal::PictureTooLarge)),
        Kind::Picture(_) if *pictures >= IMAGES => Ok(Content::Refused(Refusal::TooManyPictures)),
        Kind::Picture(media_type) => {
            file.take(IMAGE_BYTES).read_to_end(&mut bytes)?;
            let fitted = match picture::fit(media_type, &bytes) {
                Ok(fitted) => fitted,
                Err(Unfit::TooManyPixels) => return Ok(Content::Refused(Refusal::TooManyPixels)),
                Err(Unfit::TooLarge) => return Ok(Content::Refused(Refusal::NotScaled)),
            };
            *pictures += 1;
            let thumbnail = options.thumbnails.and_then(|room| picture::thumbnail(media_type, &bytes, room));
            Ok(Content::Picture { image: fitted.image, bytes: fitted.bytes, scaled: fitted.scaled, thumbnail })
        }
        Kind::Binary(name) => Ok(Content::Refused(Refusal::Binary(name))),
        Kind::Text => {
            file.take(FILE_BYTES).read_to_end(&mut bytes)?;
            let cut = (bytes.len() as u64) < metadata.len();
            if cut {
                bytes.truncate(letters_end(&bytes));
            }
            Ok(match decode(bytes) {
                Ok((text, _)) => Content::Text { text, cut },
                Err(what) => Content::Refused(Refusal::Binary(what)),
            })
        }
    }
}

/// Where the last whole letter ends of a text that was cut after some bytes.
fn letters_end(bytes: &[u8]) -> usize {
    match bytes {
        // The first half of a pair.
        [0xff, 0xfe, .., _, 0xd8..=0xdb] | [0xfe, 0xff, .., 0xd8..=0xdb, _] => bytes.len() - 2,
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => bytes.len(),
        _ => match std::str::from_utf8(bytes) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Ok(_) | Err(_) => bytes.len(),
        },
    }
}

fn list(path: &Path) -> std::io::Result<Content> {
    let mut names = Vec::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let folder = entry.path().is_dir();
        let name = entry.file_name().to_string_lossy().replace(char::is_control, "?");
        if name != ".git" {
            names.push(if folder { format!("{name}/") } else { name });
        }
    }
    names.sort();
    let more = names.len().saturating_sub(NAMES);
    names.truncate(NAMES);
    Ok(Content::Listing { names, more })
}

/// Writes the blocks; cuts the files, all by the same part of their lines, to what fits.
fn compose(found: Vec<(String, Content)>, budget: u64) -> Attachments {
    let sizes = found.iter().map(|(_, content)| match content {
        Content::Text { text, .. } => (estimate(text), 0),
        Content::Listing { names, .. } => (0, names.iter().map(|name| estimate(name) + 1).sum()),
        Content::Picture { .. } | Content::Refused(_) => (0, 0),
    });
    let (text_size, list_size) = sizes.fold((0, 0), |sum: (u64, u64), size| (sum.0 + size.0, sum.1 + size.1));
    let room = budget.saturating_sub(list_size);
    let mut attachments = Attachments::default();
    for (path, content) in found {
        let name = escape_attribute(&path);
        let (block, fact) = match content {
            Content::Text { text, cut } => file_block(path, &name, &text, cut, room, text_size),
            Content::Listing { names, more } => {
                let entries = names.len() + more;
                let rest = if more > 0 { format!("\n[{more} more names left out]") } else { String::new() };
                let listing = format!("{}{rest}", names.join("\n"));
                let block = format!("{ATTACHED}{name}\" kind=\"folder\">\n{}\n</file>\n", escape(&listing));
                (block, AttachFact::Folder { path, entries })
            }
            Content::Picture { image, bytes, scaled, thumbnail } => {
                attachments.images.push(image);
                attachments.thumbnails.push(thumbnail);
                let block = format!("{ATTACHED}{name}\" kind=\"picture\"/>\n");
                (block, AttachFact::Picture { path, bytes, scaled })
            }
            Content::Refused(reason) => {
                let error = escape_attribute(&reason.to_string());
                (format!("{ATTACHED}{name}\" error=\"{error}\"/>\n"), AttachFact::Refused { path, reason })
            }
        };
        attachments.text.push_str(&block);
        attachments.facts.push(fact);
    }
    attachments
}

fn file_block(path: String, name: &str, text: &str, cut: bool, room: u64, size: u64) -> (String, AttachFact) {
    let lines = text.lines().count();
    let (mut kept, mut kept_lines) = (text, lines);
    if size > room {
        kept_lines = part(lines, room, size).max(LEAST_LINES).min(lines);
        let end = text.split_inclusive('\n').take(kept_lines).map(str::len).sum();
        kept = text.get(..end).unwrap_or(text);
        // Few lines may still be long ones.
        let fair = part(text.len(), room, size).max(1024);
        if kept.len() > fair.saturating_mul(2) {
            kept = &kept[..kept.floor_char_boundary(fair)];
            kept_lines = kept.lines().count();
        }
    }
    if kept.len() == text.len() && !cut {
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        let block = format!("{ATTACHED}{name}\">\n{}{end}</file>\n", escape(text));
        return (block, AttachFact::File { path, lines });
    }
    let of = if cut { format!("more than {lines}") } else { lines.to_string() };
    let body = escape(kept.trim_end_matches('\n'));
    let (begin, end) = CUT;
    let block = format!(
        "{ATTACHED}{name}\" truncated=\"true\">\n{body}\n{begin} cut here: {kept_lines} of {of} lines are shown {end}\n</file>\n"
    );
    (block, AttachFact::Truncated { path, kept: kept_lines, lines, more: cut })
}

/// Returns `whole` × `room` / `size`.
fn part(whole: usize, room: u64, size: u64) -> usize {
    let part = u128::from(room) * whole as u128 / u128::from(size.max(1));
    usize::try_from(part).unwrap_or(usize::MAX)
}

/// Keeps a file's own `</file>` from ending its block. Nothing else is changed: the model is to see what is there.
fn escape(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for (start, _) in lower.match_indices("</file") {
        out.push_str(&text[from..start]);
        out.push_str("&lt;");
        from = start + 1;
    }
    out.push_str(&text[from..]);
    out
}

fn escape_attribute(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            control if control.is_control() => out.push(' '),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
#[path = "attachments_tests.rs"]
mod tests;
