//! What a prompt holds as a message for the model: words, files the editor names, files it hands over, pictures.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::conversation::{ATTACHED, ContentBlock, Image, Message, tokens};
use crate::json_rpc::{Fault, RpcError, text};
use crate::locale::{Locale, word};
use crate::tool::Roots;
use crate::tool::base64;
use crate::tool::kind::{Kind, kind};
use crate::tool::picture;

/// Tokens that what is handed over may take when the model's context is not known.
const HANDED_OVER: u64 = 16_000;

/// Who gets the message.
pub(super) struct Reader<'a> {
    pub(super) roots: &'a Roots,
    pub(super) locale: &'a Locale,
    /// Whether the model sees pictures.
    pub(super) vision: bool,
    /// The model's context, in tokens.
    pub(super) window: Option<u64>,
}

/// Makes the message.
///
/// # Errors
/// What of it is not the protocol's, or nothing the model can have.
pub(super) fn message(prompt: &Value, reader: &Reader<'_>) -> Result<Message, RpcError> {
    let Some(blocks) = prompt.as_array() else { return Err(RpcError::parameter("prompt", "an array of content")) };
    let mut words = String::new();
    let mut files = String::new();
    let mut images = Vec::new();
    let mut room = reader.window.map_or(HANDED_OVER, |window| window / 2);
    for block in blocks {
        match text(block, "type")? {
            "text" => words.push_str(text(block, "text")?),
            "resource_link" => words.push_str(&named(text(block, "uri")?, text(block, "name")?, reader.roots)),
            "resource" => {
                let resource = &block["resource"];
                let uri = text(resource, "uri")?;
                let name = named(uri, uri, reader.roots);
                words.push_str(&name);
                match resource.get("text").and_then(Value::as_str) {
                    Some(content) => files.push_str(&handed_over(&name, content, &mut room)),
                    None => match picture_of(text(resource, "blob")?, reader) {
                        Ok(image) => images.push(image),
                        Err(error) => return Err(error),
                    },
                }
            }
            "image" => images.push(picture_of(text(block, "data")?, reader)?),
            other => {
                let what = format!("axi takes no content of the type `{other}`");
                return Err(RpcError::new(Fault::Parameters, what));
            }
        }
    }
    if words.trim().is_empty() && files.is_empty() && images.is_empty() {
        let what = reader.locale.text(word::error::NO_MESSAGE);
        return Err(RpcError::new(Fault::Parameters, what));
    }
    let mut message = Message::user(words);
    if !files.is_empty() {
        message.content.push(ContentBlock::Text { text: format!("\n\n{files}") });
    }
    message.content.extend(images.into_iter().map(ContentBlock::Image));
    Ok(message)
}

/// A file as the model names it; anything else with its address. What a link names is not read here: the model reads it
/// as it reads every file, by the same rules.
fn named(uri: &str, name: &str, roots: &Roots) -> String {
    match file_of(uri) {
        Some((path, lines)) => format!("{}{lines}", roots.shown(&path).display()),
        None if name == uri => uri.to_owned(),
        None => format!("{name} ({uri})"),
    }
}

/// The path of a `file:` address, and the lines that stand behind it.
fn file_of(uri: &str) -> Option<(PathBuf, String)> {
    let rest = uri.strip_prefix("file://")?;
    let (path, lines) =
        rest.split_once('#').map_or((rest, String::new()), |(path, lines)| (path, format!(" ({lines})")));
    let path = &path[path.find('/')?..];
    Some((Path::new(unescaped(path).as_ref()).to_owned(), lines))
}

/// Takes `%20` and the like out of a path; what then is no UTF-8 stays as it is written.
fn unescaped(path: &str) -> Cow<'_, str> {
    let bytes = path.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = (bytes[at] == b'%').then(|| path.get(at + 1..at + 3)).flatten();
        if let Some(byte) = code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            out.push(byte);
            at += 3;
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    String::from_utf8(out).map_or(Cow::Borrowed(path), Cow::Owned)
}

/// A file as the editor has it, saved or not: as much of it as there is room for, in whole lines.
fn handed_over(name: &str, content: &str, room: &mut u64) -> String {
    let mut kept = String::new();
    let mut lines = content.split_inclusive('\n');
    for line in lines.by_ref() {
        let cost = tokens::estimate(line).max(1);
        if cost > *room {
            let left = 1 + lines.count();
            return format!(
                "{ATTACHED}{name}\">\n{kept}\n[… {left} more lines are left out here; read the file for them]\n</file>\n"
            );
        }
        *room -= cost;
        kept.push_str(line);
    }
    format!("{ATTACHED}{name}\">\n{}\n</file>\n", kept.trim_end_matches('\n'))
}

fn picture_of(data: &str, reader: &Reader<'_>) -> Result<Image, RpcError> {
    let wrong = |what: String| RpcError::new(Fault::Parameters, what);
    let bytes = base64::decode(data).ok_or_else(|| RpcError::parameter("data", "base64"))?;
    let Kind::Picture(media_type) = kind(&bytes) else {
        return Err(wrong("axi takes pictures (PNG, JPEG, GIF, WebP) and text, no other bytes".to_owned()));
    };
    if !reader.vision {
        return Err(wrong(reader.locale.text(word::acp::NO_VISION).to_owned()));
    }
    match picture::fit(media_type, &bytes) {
        Ok(fitted) => Ok(fitted.image),
        Err(error) => Err(wrong(format!("a picture {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn made(prompt: &Value) -> Result<Message, RpcError> {
        let roots = Roots { cwd: "/w".into(), workspace: "/w".into(), home: None };
        let reader = Reader { roots: &roots, locale: &Locale::new("en"), vision: false, window: Some(60) };
        message(prompt, &reader)
    }

    #[test]
    fn words_links_and_files_become_one_message() {
        let message = made(&json!([
            {"type": "text", "text": "Compare "},
            {"type": "resource_link", "uri": "file:///w/a%20b.rs#L3:9", "name": "a b.rs"},
            {"type": "text", "text": " with "},
            {"type": "resource", "resource": {"uri": "file:///w/c.rs", "text": "fn c() {}\n"}},
            {"type": "resource_link", "uri": "https://docs.rs/x", "name": "x"},
        ]));
        let message = message.unwrap();
        let expected =
            "Compare a b.rs (L3:9) with c.rsx (https://docs.rs/x)\n\n<file path=\"c.rs\">\nfn c() {}\n</file>\n";
        assert_eq!(message.text(), expected);
    }

    #[test]
    fn a_file_that_has_no_room_is_cut_between_lines_and_says_so() {
        let long = "a line of several words that cost something\n".repeat(40);
        let message =
            made(&json!([{"type": "resource", "resource": {"uri": "file:///w/c.rs", "text": long}}])).unwrap();
        assert!(message.text().contains("more lines are left out here"), "{}", message.text());
        assert!(message.text().len() < 400);
    }

    #[test]
    fn what_the_model_cannot_have_is_refused_and_named() {
        let png = base64::encode(b"\x89PNG\r\n\x1a\n....");
        for (prompt, says) in [
            (json!("x"), "`prompt` must be an array"),
            (json!([]), "nothing to ask"),
            (json!([{"type": "text"}]), "`text` must be a text"),
            (json!([{"type": "audio", "data": "", "mimeType": "audio/wav"}]), "`audio`"),
            (json!([{"type": "image", "data": "%", "mimeType": "image/png"}]), "base64"),
            (json!([{"type": "image", "data": png, "mimeType": "image/png"}]), "pictures"),
            (json!([{"type": "resource", "resource": {"uri": "file:///x"}}]), "`blob`"),
        ] {
            let error = format!("{:?}", made(&prompt).unwrap_err());
            assert!(error.contains(says), "{error} does not say {says}");
        }
    }
}
