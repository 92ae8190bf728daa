//! Lays the rows of developer tools out at compile time: adding a tool is adding a row of `tools.json`, and a start of axi
//! parses none. Part of the build script, not of the crate.

use std::error::Error;
use std::fmt::Write as _;

use serde_json::{Map, Value};

/// The fields of a row.
const FIELDS: &[&str] = &["id", "category", "programs", "version", "package", "packages", "markers", "actions"];

/// Writes the table as an expression of Rust.
///
/// # Errors
/// What is wrong, with the row's name.
pub(crate) fn lay_out(source: &str) -> Result<String, Box<dyn Error>> {
    let rows: Vec<Map<String, Value>> = serde_json::from_str(source)?;
    let mut table = String::from("&[\n");
    for row in &rows {
        let id = text(row, "id")?;
        row_of(row, &mut table).map_err(|error| format!("tools.json: {id}: {error}"))?;
    }
    table.push_str("]\n");
    Ok(table)
}

fn row_of(row: &Map<String, Value>, table: &mut String) -> Result<(), Box<dyn Error>> {
    if let Some(strange) = row.keys().find(|field| !FIELDS.contains(&field.as_str())) {
        return Err(format!("nobody knows {strange}").into());
    }
    let version = if row.contains_key("version") { text(row, "version")? } else { "" };
    let mut packages = String::new();
    for (manager, package) in row.get("packages").and_then(Value::as_object).into_iter().flatten() {
        write!(packages, "({manager:?}, {:?}), ", package.as_str().ok_or("packages holds no text")?)?;
    }
    let mut actions = String::new();
    for action in row.get("actions").and_then(Value::as_array).into_iter().flatten() {
        let action = action.as_object().ok_or("an action is no object")?;
        let (name, effect, runs) = (text(action, "name")?, variant(action, "effect")?, text(action, "runs")?);
        write!(actions, "Action {{ name: {name:?}, effect: Effect::{effect}, runs: {runs:?} }}, ")?;
    }
    writeln!(
        table,
        "DevTool {{ id: {:?}, category: Category::{}, programs: &{:?}, version: {version:?}, package: {:?}, \
         packages: &[{packages}], markers: &{:?}, actions: &[{actions}] }},",
        text(row, "id")?,
        variant(row, "category")?,
        texts(row, "programs")?,
        text(row, "package")?,
        texts(row, "markers")?,
    )?;
    Ok(())
}

fn text<'a>(row: &'a Map<String, Value>, field: &str) -> Result<&'a str, String> {
    row.get(field).and_then(Value::as_str).ok_or_else(|| format!("{field} is no text"))
}

/// A list of texts; none where the field is not there.
fn texts<'a>(row: &'a Map<String, Value>, field: &str) -> Result<Vec<&'a str>, String> {
    let Some(list) = row.get(field) else { return Ok(Vec::new()) };
    let texts = list.as_array().and_then(|list| list.iter().map(Value::as_str).collect());
    texts.ok_or_else(|| format!("{field} is no list of texts"))
}

/// The name of a variant; the compiler knows which there are.
fn variant<'a>(row: &'a Map<String, Value>, field: &str) -> Result<&'a str, String> {
    let name = text(row, field)?;
    if name.chars().all(char::is_alphanumeric) { Ok(name) } else { Err(format!("{field} is no name: {name}")) }
}
