//! Reads one file of settings over what holds so far.

use std::path::Path;

use toml_edit::{Document, TomlError};

use super::entry::{Gathered, Layer, Reader, Section as _};
use super::finding::{Fault, Finding, Spot};
use super::setting::Project;
use super::table::{Config, all};

/// Reads a file over what holds so far.
///
/// # Errors
/// The error, if the file is no TOML; then none of its settings hold.
pub(super) fn read(
    config: &mut Config,
    file: &Path,
    source: &str,
    layer: Layer,
    gathered: &mut Gathered,
) -> Result<(), Box<Finding>> {
    let document = Document::parse(source).map_err(|error| syntax_fault(file, source, &error))?;
    let elsewhere =
        |name: &str| all().into_iter().map(|(key, _)| key).find(|key| key.rsplit('.').next() == Some(name));
    Reader::new(file, source, layer, elsewhere, gathered).table(config, document.as_table());
    Ok(())
}

/// Says where a file stops being TOML.
pub(super) fn syntax_fault(file: &Path, source: &str, error: &TomlError) -> Box<Finding> {
    let cause = error.message().trim_end().replace('\n', "; ");
    let spot = Spot::new(file, source, error.span());
    Box::new(Finding { spot, key: String::new(), fault: Fault::Syntax { cause } })
}

/// Tells whether a project's text sets more than stricter values and looks. An unreadable text might.
pub(super) fn wants_trust(source: &str) -> bool {
    let Ok(document) = Document::parse(source) else { return true };
    document.iter().any(|(key, _)| {
        let setting = Config::SETTINGS.iter().find(|setting| setting.name == key);
        // A later version may know keys that this one does not.
        setting.is_none_or(|setting| setting.project == Project::Trusted)
    })
}
