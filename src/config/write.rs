//! Changing one setting in a file without touching anything else in it.

use std::io::Write;
use std::path::Path;

use toml_edit::{Array, Document, Item, TableLike, Value, value};

use super::ConfigError;
use super::read::syntax_fault;

/// Sets a top-level or dotted key to a string, keeping comments and order; makes the file when it is missing.
/// The write is atomic: a full disk leaves the old file.
///
/// # Errors
/// [`ConfigError::Wrong`] when the file is not TOML (it is then left alone), [`ConfigError::Occupied`],
/// [`ConfigError::Io`].
pub fn set(path: &Path, key: &str, text: &str) -> Result<(), ConfigError> {
    change(path, key, |item| {
        let mut new = value(text);
        if let (Some(new), Some(old)) = (new.as_value_mut(), item.as_value()) {
            *new.decor_mut() = old.decor().clone();
        }
        *item = new;
        Ok(true)
    })
}

/// Adds a string to the list of a dotted key, unless it is there; as [`set`] otherwise.
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
        // A list with an item on each row goes on so.
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

/// Reads the file, lets `edit` change the item of a dotted key, and writes it if that says so.
fn change(path: &Path, key: &str, edit: impl FnOnce(&mut Item) -> Result<bool, ()>) -> Result<(), ConfigError> {
    let failed = |cause| ConfigError::Io { path: path.to_owned(), cause };
    let occupied = |key: &str| ConfigError::Occupied { path: path.to_owned(), key: key.to_owned() };
    // The file a symlink leads to is the one to write: dotfile managers link it.
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let source = match std::fs::read_to_string(&target) {
        Ok(source) => source,
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(cause) => return Err(failed(cause)),
    };
    let mut document = Document::parse(source.as_str())
        .map_err(|error| ConfigError::Wrong(syntax_fault(path, &source, &error)))?
        .into_mut();
    // What stands in a file without settings is its heading, and stays in front of the first.
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
