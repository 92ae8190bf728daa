//! The files a command reads, and the secrets among them.

use std::path::Path;

use super::super::known::{Chunk, PathPattern, Value};
use super::call::{Call, Field, Finding};
use crate::approval::Glob;
use crate::approval::path::is_credential;
use crate::approval::program::Grammar;
use crate::secret::files::{is_secret, names_matching};

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
    // `*` alone names no file in particular.
    rest.iter().any(aims_at_secret) || (root.ends_with("etc") && rest.len() == 1)
}

/// Tells whether a glob fits the name of a secret file, and says more than how many ordinary files are called.
fn aims_at_secret(glob: &Glob) -> bool {
    // Of these one letter is enough.
    let begins = ["shadow", "id_rsa", "id_ed25519"].iter().any(|name| glob.names(name));
    let is_aimed = |name: &str| {
        // `*.json` fits `token.json`, and is about none.
        let ordinary = format!("ordinary{}", name.rfind('.').map_or("", |dot| &name[dot..]));
        let is_general = || glob.names(&ordinary) && !is_secret(Path::new(&ordinary), None);
        name.starts_with('.') || glob.letters() > 1 && !is_general()
    };
    glob.says_something() && (begins || names_matching(|name| glob.names(name) && is_aimed(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_aims_at_secrets_where_it_says_more_than_an_ordinary_ending() {
        for glob in
            [".e*", ".*rc", "s*", "i*", "*.pem", "*.key", "cred*", "*secrets.json", "kube*", ".gnu*", "*_rsa"]
        {
            assert!(aims_at_secret(&Glob::parse(glob)), "{glob}");
        }
        for glob in ["*", "*.json", "*.toml", "*.txt", "*.sh", "*.rs", "c*", "k*", "src*", "package*.json"] {
            assert!(!aims_at_secret(&Glob::parse(glob)), "{glob}");
        }
    }
}
