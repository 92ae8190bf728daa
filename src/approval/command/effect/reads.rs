//! The files a command reads, and the secrets among them.

use super::super::known::{Chunk, PathPattern, Value};
use super::call::{Call, Field, Finding};
use crate::approval::path::is_credential;
use crate::approval::program::Grammar;

/// Notes the files a command reads, and the secrets among them.
pub(super) fn reads(call: &Call<'_, '_>, files: Vec<&Field>, finding: &mut Finding) {
    let joined: Vec<Field> = call
        .arguments
        .iter()
        .filter_map(|field| {
            let text = field.value.start();
            let (_, value) = text.split_once('=').filter(|_| text.starts_with('-'))?;
            let rest = field.value.without_start(text.len() - value.len());
            Some(Field { value: rest, written: None })
        })
        .collect();
    let is_git = call.is(Grammar::Git);
    let home = call.state.place.home.as_deref();
    let no_index = call.texts().iter().any(|text| text.starts_with("--no-i"));
    for field in files.into_iter().chain(&joined) {
        let revision = field.value.known().and_then(|text| text.split_once(':').map(|(_, path)| path.to_owned()));
        let value = match revision {
            Some(path) if is_git => Value::text(path),
            Some(_) | None => field.value.clone(),
        };
        for pattern in value.patterns(&call.state.directories) {
            let Some(path) = pattern.rough_path() else { continue };
            // The word before may be the same.
            if finding.reads.last() == Some(&path) {
                continue;
            }
            // A directory is read as a whole only by a program that searches it, or by one that gets its files from
            // a search.
            let over_home = home.is_some_and(|home| pattern.covers(home)) && (!is_git || no_index);
            if is_credential(&path, call.state.place) || glob_reaches_secret(&value, &pattern) || over_home {
                finding.credential.get_or_insert_with(|| pattern.shown().to_owned());
            }
            finding.reads.push(path);
        }
    }
}

/// Tells whether a glob may match a hidden file that contains secrets.
fn glob_reaches_secret(value: &Value, pattern: &PathPattern) -> bool {
    if !value.chunks.iter().any(|chunk| matches!(chunk, Chunk::Glob(_))) {
        return false;
    }
    let Some((root, rest)) = pattern.walk() else { return false };
    let names = [
        ".env",
        ".netrc",
        ".npmrc",
        ".git-credentials",
        ".ssh",
        ".aws",
        ".pgpass",
        "id_rsa",
        "id_ed25519",
        "shadow",
    ];
    // `*` alone names no file in particular.
    rest.iter().any(|glob| glob.says_something() && names.iter().any(|name| glob.names(name)))
        || (root.ends_with("etc") && rest.len() == 1)
}
