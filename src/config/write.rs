//! Changing one setting in a file without touching anything else in it.

use std::io::Write;
use std::path::Path;

use toml_edit::{DocumentMut, Item, Table, value};

use super::ConfigError;

/// Sets a top-level or dotted key to a string, keeping comments and order; makes the file when it is missing.
/// The write is atomic: a full disk leaves the old file.
///
/// # Errors
/// [`ConfigError::Syntax`] when the file is not TOML (it is then left alone), [`ConfigError::Io`].
pub fn set(path: &Path, key: &str, text: &str) -> Result<(), ConfigError> {
    let failed = |cause| ConfigError::Io { path: path.to_owned(), cause };
    // The file a symlink leads to is the one to write: dotfile managers link it.
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let source = match std::fs::read_to_string(&target) {
        Ok(source) => source,
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(cause) => return Err(failed(cause)),
    };
    let mut document: DocumentMut = source.parse().map_err(|cause: toml_edit::TomlError| ConfigError::Syntax {
        path: path.to_owned(),
        cause: cause.to_string(),
    })?;
    let mut table: &mut Table = document.as_table_mut();
    let mut parts = key.split('.').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            let mut new = value(text);
            if let (Some(new), Some(old)) = (new.as_value_mut(), table.get(part).and_then(Item::as_value)) {
                *new.decor_mut() = old.decor().clone();
            }
            table[part] = new;
            break;
        }
        let item = table.entry(part).or_insert_with(toml_edit::table);
        let Some(inner) = item.as_table_mut() else {
            let cause = format!("{part} is no table");
            return Err(ConfigError::Syntax { path: path.to_owned(), cause });
        };
        table = inner;
    }
    let folder = target.parent().unwrap_or_else(|| Path::new("."));
    std::fs::create_dir_all(folder).map_err(failed)?;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    file.write_all(document.to_string().as_bytes()).map_err(failed)?;
    if let Ok(metadata) = std::fs::metadata(&target) {
        file.as_file().set_permissions(metadata.permissions()).map_err(failed)?;
    }
    file.as_file().sync_all().map_err(failed)?;
    file.persist(&target).map_err(|cause| failed(cause.error))?;
    Ok(())
}
