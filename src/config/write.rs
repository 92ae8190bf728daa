//! Changing one setting in a file without touching anything else in it.

use std::io::Write;
use std::path::Path;

use toml_edit::{Array, Document, Item, TableLike, Value, value};

use super::ConfigError;
use super::entry::{Gathered, Layer};
use super::finding::Fault;
use super::read::{read, syntax_fault};
use super::setting::Shape;
use super::table::{Config, all};

/// Sets a top-level or dotted key to a string, keeping comments and order; makes the file when it is missing.
/// The write is atomic: a full disk leaves the old file.
///
/// # Errors
/// [`ConfigError::Wrong`] when the file is not TOML (it is then left alone), [`ConfigError::Occupied`],
/// [`ConfigError::Io`].
pub fn set(path: &Path, key: &str, text: &str) -> Result<(), ConfigError> {
    set_value(path, key, Value::from(text))
}

/// Sets a setting without names of the person's choice to what a person typed, as [`set`] otherwise; a text the setting
/// cannot hold is not written.
///
/// # Errors
/// As [`set`]; the inner one says what is wrong with the text.
pub fn choose(path: &Path, key: &str, text: &str) -> Result<Result<(), Fault>, ConfigError> {
    let known = all().into_iter().find(|(known, _)| known == key && !known.contains('*'));
    let Some((_, setting)) = known else { return Ok(Err(Fault::Unknown { nearest: None })) };
    let value = match setting.shape {
        Shape::Number | Shape::Dollars | Shape::Switch => text.parse::<Value>().ok(),
        Shape::Choice(_) | Shape::Text => Some(Value::from(text)),
        Shape::List | Shape::Words | Shape::Texts | Shape::Section(_) | Shape::Named(_) => None,
    };
    let Some(value) = value else { return Ok(Err(Fault::WrongKind { setting })) };
    let mut gathered = Gathered::default();
    let written = format!("{key} = {value}");
    let read = read(&mut Config::default(), path, &written, Layer::Person, &mut gathered);
    if let Some(finding) = read.err().map(|finding| *finding).into_iter().chain(gathered.findings).next() {
        return Ok(Err(finding.fault));
    }
    set_value(path, key, value).map(Ok)
}

/// Makes a comment of the lines that set a dotted key, so that nothing the person wrote is lost; tells whether there
/// were any.
///
/// # Errors
/// As [`set`]; [`ConfigError::Occupied`] also where it does not stand on lines of its own.
pub fn unset(path: &Path, key: &str) -> Result<bool, ConfigError> {
    let failed = |cause| ConfigError::Io { path: path.to_owned(), cause };
    let target = crate::platform::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let source = match std::fs::read_to_string(&target) {
        Ok(source) => source,
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(cause) => return Err(failed(cause)),
    };
    let document = Document::parse(source.as_str())
        .map_err(|error| ConfigError::Wrong(syntax_fault(path, &source, &error)))?;
    let occupied = || ConfigError::Occupied { path: path.to_owned(), key: key.to_owned() };
    let (folders, last) = key.rsplit_once('.').unwrap_or(("", key));
    let mut table: &dyn TableLike = document.as_table();
    for part in folders.split('.').filter(|part| !part.is_empty()) {
        let Some(item) = table.get(part) else { return Ok(false) };
        table = item.as_table_like().ok_or_else(occupied)?;
    }
    let Some((name, item)) = table.get_key_value(last) else { return Ok(false) };
    let (Some(name), Some(span)) = (name.span(), item.span()) else { return Err(occupied()) };
    let begin = source[..name.start].rfind('\n').map_or(0, |newline| newline + 1);
    let end = source[span.end..].find('\n').map_or(source.len(), |newline| span.end + newline);
    // `handoff.rewrite_timeout = 15` begins with the table's name; a table in one line has other keys beside it.
    let before = source[begin..name.start].trim();
    if before.contains(['{', ',', '=', '[']) || source[span.end..end].trim_start().starts_with([',', '}']) {
        return Err(occupied());
    }
    let lines = source[begin..end].split('\n').map(|line| format!("# {line}"));
    let new = [&source[..begin], &lines.collect::<Vec<_>>().join("\n"), &source[end..]].concat();
    save(&target, &new).map_err(failed)?;
    Ok(true)
}

/// Sets several dotted keys to strings in one write: all of them, or none.
///
/// # Errors
/// As [`set`].
pub fn set_all(path: &Path, all: &[(String, &str)]) -> Result<(), ConfigError> {
    let failed = |cause| ConfigError::Io { path: path.to_owned(), cause };
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    std::fs::create_dir_all(folder).map_err(failed)?;
    let draft = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    let target = crate::platform::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    match std::fs::read(&target) {
        Ok(bytes) => std::fs::write(draft.path(), bytes).map_err(failed)?,
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => {}
        Err(cause) => return Err(failed(cause)),
    }
    for (key, text) in all {
        set(draft.path(), key, text)?;
    }
    let text = std::fs::read_to_string(draft.path()).map_err(failed)?;
    save(&target, &text).map_err(failed)
}

fn set_value(path: &Path, key: &str, new: Value) -> Result<(), ConfigError> {
    change(path, key, |item| {
        let mut new = value(new);
        if let (Some(new), Some(old)) = (new.as_value_mut(), item.as_value()) {
            *new.decor_mut() = old.decor().clone();
        }
        *item = new;
        Ok(true)
    })
}

/// Adds a string to the list of a dotted key unless the list has it; otherwise like [`set`].
///
/// # Errors
/// As [`set`]; also [`ConfigError::Occupied`] when the key holds something else than a list.
pub fn add_to_list(path: &Path, key: &str, text: &str) -> Result<(), ConfigError> {
    change(path, key, |item| {
        if item.is_none() {
            *item = Item::Value(Value::Array(Array::new()));
        }
        let list = item.as_array_mut().ok_or(())?;
        if list.iter().any(|known| known.as_str() == Some(text)) {
            return Ok(false);
        }
        let mut new = Value::from(text);
        // If each item stands on its own row, the new one does, too.
        if let Some(last) =
            list.iter().last().and_then(|last| last.decor().prefix()).and_then(|prefix| prefix.as_str())
            && last.contains('\n')
        {
            let indent = last.rsplit('\n').next().unwrap_or_default();
            new.decor_mut().set_prefix(format!("\n{indent}"));
            list.push_formatted(new);
            return Ok(true);
        }
        list.push(new);
        Ok(true)
    })
}

/// Takes the strings for which `wanted` holds out of the list of a dotted key; tells whether there were any.
///
/// # Errors
/// As [`add_to_list`].
pub fn remove_from_list(path: &Path, key: &str, wanted: &dyn Fn(&str) -> bool) -> Result<bool, ConfigError> {
    let mut taken = false;
    change(path, key, |item| {
        if item.is_none() {
            return Ok(false);
        }
        let list = item.as_array_mut().ok_or(())?;
        let before = list.len();
        list.retain(|known| !known.as_str().is_some_and(wanted));
        taken = list.len() != before;
        Ok(taken)
    })?;
    Ok(taken)
}

/// Reads the file, lets `edit` change the item of a dotted key, and writes the file if `edit` returns true.
fn change(path: &Path, key: &str, edit: impl FnOnce(&mut Item) -> Result<bool, ()>) -> Result<(), ConfigError> {
    let failed = |cause| ConfigError::Io { path: path.to_owned(), cause };
    let occupied = |key: &str| ConfigError::Occupied { path: path.to_owned(), key: key.to_owned() };
    // The file a symlink leads to is the one to write: dotfile managers link it.
    let target = crate::platform::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let source = match std::fs::read_to_string(&target) {
        Ok(source) => source,
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(cause) => return Err(failed(cause)),
    };
    let mut document = Document::parse(source.as_str())
        .map_err(|error| ConfigError::Wrong(syntax_fault(path, &source, &error)))?
        .into_mut();
    // The comments of a file without settings are its heading: the first setting goes behind them.
    let heading = if document.is_empty() { source.as_str() } else { "" };
    if document.is_empty() {
        document.set_trailing("");
    }
    let mut table: &mut dyn TableLike = document.as_table_mut();
    let (folders, last) = key.rsplit_once('.').unwrap_or(("", key));
    for part in folders.split('.').filter(|part| !part.is_empty()) {
        let item = table.entry(part).or_insert_with(toml_edit::table);
        table = item.as_table_like_mut().ok_or_else(|| occupied(part))?;
    }
    let item = table.entry(last).or_insert(Item::None);
    let changed = edit(item).map_err(|()| occupied(key))?;
    if changed { save(&target, &format!("{heading}{document}")).map_err(failed) } else { Ok(()) }
}

fn save(target: &Path, text: &str) -> std::io::Result<()> {
    let folder = target.parent().unwrap_or_else(|| Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    if let Ok(metadata) = std::fs::metadata(target) {
        file.as_file().set_permissions(metadata.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(target).map_err(|error| error.error)?;
    Ok(())
}
