//! What is said of a settings file that cannot be used.

use std::io::ErrorKind;

use crate::command::Problem;
use crate::config::ConfigError;
use crate::locale::{Locale, word};

/// Says why the settings cannot be used and what to do about it.
pub(super) fn settings_problem(locale: &Locale, error: &ConfigError) -> Problem {
    let (path, cause) = match error {
        ConfigError::Io { path, cause } => (path, cause.to_string()),
        ConfigError::Syntax { path, cause } => (path, cause.trim_end().to_owned()),
    };
    let path = path.display().to_string();
    let hint = match error {
        ConfigError::Syntax { .. } => locale.text(word::error::CONFIG_HINT).to_owned(),
        ConfigError::Io { cause, .. } => match cause.kind() {
            ErrorKind::IsADirectory => locale.with(word::error::ConfigDirectoryHint { path: &path }),
            ErrorKind::InvalidData => locale.text(word::error::CONFIG_ENCODING_HINT).to_owned(),
            ErrorKind::PermissionDenied => locale.with(word::error::ConfigPermissionHint { path: &path }),
            _ => locale.text(word::error::CONFIG_HINT).to_owned(),
        },
    };
    Problem { what: locale.with(word::error::Config { path: &path, cause: &cause }), hint }
}
