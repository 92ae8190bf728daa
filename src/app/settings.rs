//! The settings file: what is reported if it cannot be used, and what a new one begins with.

use std::io::{ErrorKind, Write as _};
use std::path::Path;

use super::findings::{Diagnostic, known};
use crate::command::Problem;
use crate::config::{self, ConfigError, Paths};
use crate::locale::{Locale, word};

/// The name of the schema file beside the settings.
const SCHEMA: &str = "config.schema.json";

/// Says why the settings cannot be used, and what to do about it.
pub(super) fn settings_problem(locale: &Locale, paths: &Paths, error: &ConfigError) -> Problem {
    let hint = || locale.text(word::error::CONFIG_HINT).to_owned();
    let (path, cause, hint) = match error {
        ConfigError::Io { path, cause } => {
            let shown = path.display().to_string();
            let hint = match cause.kind() {
                ErrorKind::IsADirectory => locale.with(word::error::ConfigDirectoryHint { path: &shown }),
                ErrorKind::InvalidData => locale.text(word::error::CONFIG_ENCODING_HINT).to_owned(),
                ErrorKind::PermissionDenied => locale.with(word::error::ConfigPermissionHint { path: &shown }),
                _ => hint(),
            };
            (shown, cause.to_string(), hint)
        }
        ConfigError::Wrong(finding) => {
            let head = locale.with(word::error::ConfigWrong { path: &finding.spot.file.display().to_string() });
            let what = format!("{head}\n{}", Diagnostic::new(locale, paths, finding).whole(paths));
            return Problem { what, hint: hint() };
        }
        ConfigError::Occupied { path, key } => {
            (path.display().to_string(), locale.with(word::error::ConfigOccupied { key }), hint())
        }
    };
    Problem { what: locale.with(word::error::Config { path: &path, cause: &cause }), hint }
}

/// The JSON schema of the settings as text.
pub(super) fn schema(locale: &Locale) -> String {
    format!("{:#}\n", config::schema(locale, &known))
}

/// Creates the settings file before axi or the person writes it, with the schema beside it by which editors check
/// it.
pub(super) fn begin(locale: &Locale, path: &Path) {
    let beside = path.with_file_name(SCHEMA);
    let first = format!("#:schema {SCHEMA}\n");
    let refers = |text: &str| text.starts_with(first.trim_end());
    let written = match std::fs::read_to_string(path) {
        Ok(text) if !refers(&text) => return,
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => path
            .parent()
            .map_or(Ok(()), std::fs::create_dir_all)
            .and_then(|()| std::fs::File::create_new(path)?.write_all(first.as_bytes())),
        Err(_) => return,
    };
    let schema = schema(locale);
    let written = written.and_then(|()| match std::fs::read_to_string(&beside) {
        Ok(text) if text == schema => Ok(()),
        Ok(_) | Err(_) => std::fs::write(&beside, schema),
    });
    if let Err(error) = written {
        // The next step reports that nothing can be written; a missing schema loses nothing.
        tracing::warn!(%error, path = %beside.display(), "no schema beside the settings");
    }
}
