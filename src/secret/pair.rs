//! A name in one field and its value in the next: `{"name": "DB_PASSWORD", "value": "…"}`, `<add key="…" value="…"/>`,
//! `- name: TOKEN` with `value: …` in the line below, `variable "token" { default = "…" }`; or a name in one line of
//! YAML and its value in those below: `password: |`.

use std::ops::Range;

use super::name::{Naming, naming};
use super::together::Together;
use super::value::value;

/// Fields that say a name, in lower case.
const NAMES: &[&str] = &["name", "key", "variable", "keyname", "type"];
/// Fields that say its value.
const VALUES: &[&str] = &["value", "default", "string", "result", "encrypted_data", "secretstring"];
static NAMED: Together = Together::of_any_case(NAMES);
static VALUED: Together = Together::of_any_case(VALUES);
static OF_AZURE: Together = Together::new(&[".vault.azure.net/secrets/"]);
/// So many lines below the name its value may stand.
const FARTHEST: usize = 4;
/// The longest line that may open the fields of a name, in bytes.
const LONGEST_OPENING: usize = 160;

/// What is looked for, from line to line.
#[derive(Default)]
pub(super) struct Pairs {
    /// In how many lines more a value belongs to the name that was read; 0 where there is none.
    left: usize,
    /// Whether the name opened fields of its own, in which a value stands in quotes.
    opened: bool,
    /// Whether the line before ended in an option whose value is an argument of its own: `"--requirepass",`.
    awaited: bool,
    /// How far a secret name with a block of YAML behind it was indented, as long as lines belong to the block.
    block: Option<usize>,
}

impl Pairs {
    /// Finds the values in the next line.
    pub(super) fn find(&mut self, line: &str, found: &mut Vec<Range<usize>>) {
        self.in_block(line, found);
        self.listed(line, found);
        self.left = self.left.saturating_sub(1);
        if opens_secret(line) {
            (self.left, self.opened) = (FARTHEST, true);
        }
        // Azure names the secret by its address, and says its value below.
        if OF_AZURE.any(line) {
            (self.left, self.opened) = (FARTHEST + 1, false);
        }
        // What stood before the name of the same object.
        let mut before: Option<Range<usize>> = None;
        if !NAMED.any(line) && !VALUED.any(line) {
            return;
        }
        let lower = line.to_ascii_lowercase();
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/');
        let bytes = line.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let length = bytes[at..].iter().take_while(|byte| is_name(byte)).count();
            if length == 0 {
                at += 1;
                continue;
            }
            let field = &lower[at..at + length];
            let opens = line[..at].ends_with('<');
            if line[..at].trim_end_matches(['"', '\\', ' ']).ends_with('{') {
                before = None;
            }
            at += length;
            let tagged = line[at..].strip_prefix('>').filter(|_| opens).map(|_| at + 1);
            let Some(start) = said(line, at).or(tagged) else { continue };
            if NAMES.contains(&field) {
                let name = bytes[start..].iter().take_while(|byte| is_name(byte)).count();
                let called = &line[start..start + name];
                // What says that the value is one: AWS's parameters, Azure's keys of a store.
                let is_kind = called == "SecureString"
                    || field == "type" && called.ends_with("_password")
                    || field == "keyname" && called.starts_with("key");
                let is_secret = is_kind || field != "type" && naming(called) == Some(Naming::Secret);
                if field != "type" || is_secret {
                    let left = if field == "type" { FARTHEST * 2 } else { FARTHEST };
                    (self.left, self.opened) = (if is_secret { left } else { 0 }, false);
                    if let Some(value) = before.take().filter(|_| is_secret) {
                        found.push(value);
                        self.left = 0;
                    }
                }
                at = start + name;
                // `<string name="api_key">X</string>`
                if is_secret && let Some(text) = line[at..].strip_prefix("\">") {
                    let end = text.find('<').unwrap_or(0);
                    if end >= 3 {
                        found.push(at + 2..at + 2 + end);
                    }
                }
            } else if self.left > 0
                && VALUES.contains(&field)
                && let Some(value) = value(line, quote(line, start))
                && value.range.len() >= 3
                && (value.quote.is_some() || !self.opened)
                && !value.is_placeholder(&line[value.range.clone()])
            {
                at = value.range.end;
                found.push(value.range);
                (self.left, self.opened) = (0, false);
            } else if field == "value"
                && let Some(value) = value(line, quote(line, start))
                && value.quote.is_some()
                && value.range.len() >= 3
                && !value.is_placeholder(&line[value.range.clone()])
            {
                at = value.range.end;
                before = Some(value.range);
            }
        }
    }
}

impl Pairs {
    /// `"--requirepass",` and its value in the next line: arguments in a list of JSON or YAML.
    fn listed(&mut self, line: &str, found: &mut Vec<Range<usize>>) {
        let item = line.trim().trim_start_matches("- ").trim_end_matches(',');
        let text = item.trim_matches(['"', '\'']);
        let quoted = text.len() + 2 == item.len();
        let is_one = !text.is_empty() && !text.contains([' ', '"', '\'', ':', '=']);
        if std::mem::replace(&mut self.awaited, false) && is_one && text.len() >= 3 && !text.starts_with('-') {
            let start = line.find(text).unwrap_or(0);
            found.push(start..start + text.len());
        }
        self.awaited = (quoted || line.trim().starts_with("- "))
            && is_one
            && text.starts_with("--")
            && naming(text) == Some(Naming::Secret);
    }

    /// Finds a line of a block, or begins one.
    fn in_block(&mut self, line: &str, found: &mut Vec<Range<usize>>) {
        let text = line.trim();
        let indented = line.len() - line.trim_start().len();
        if self.block.is_some_and(|outer| indented > outer) && text.len() >= 3 {
            found.push(indented..indented + text.len());
            return;
        }
        let name = text.trim_end_matches(['+', '-']).strip_suffix(['|', '>']);
        // Ansible's way to keep one.
        let name = name.map(|name| name.trim_end().trim_end_matches("!vault"));
        let name =
            name.and_then(|name| name.trim_end().strip_suffix(':')).map(|name| name.trim_start_matches("- "));
        let is_secret = |name: &str| naming(name.trim_matches(['"', '\''])) == Some(Naming::Secret);
        // In a list the name stands behind the dash.
        let column = |name: &str| line.find(name).unwrap_or(indented);
        self.block = name.filter(|name| is_secret(name)).map(column);
    }
}

/// Tells whether a line opens the fields of what is called like a secret: `"db_password": {`,
/// `resource "random_password" "db" {`.
fn opens_secret(line: &str) -> bool {
    let is_secret = |name: &str| naming(name.trim_matches('"')) == Some(Naming::Secret);
    // In quotes: `fn password() {` opens a program.
    let is_quoted = |name: &&str| name.len() > 2 && name.starts_with('"') && name.ends_with('"');
    if !line.contains('{') {
        return false;
    }
    let inside = line.match_indices("\": {").any(|(end, _)| {
        let name = line[..end].rfind('"').map_or("", |start| &line[start + 1..end]);
        name.len() <= LONGEST_OPENING && is_secret(name)
    });
    let head = line.trim_end().strip_suffix('{').filter(|head| head.len() <= LONGEST_OPENING);
    inside || head.is_some_and(|head| head.split(' ').filter(is_quoted).any(is_secret))
}

/// Where what a field says begins, its quote left out; `None` where it says nothing.
fn said(line: &str, at: usize) -> Option<usize> {
    let rest = &line[at..];
    let sign = rest.trim_start_matches(['\\', '"', '\'']).trim_start();
    let text = sign.strip_prefix([':', '=']).or_else(|| rest.trim_start().strip_prefix('"'))?;
    Some(line.len() - text.trim_start().trim_start_matches(['\\', '"', '\'']).len())
}

/// Back to the quote before a place, for whoever reads a value with it.
fn quote(line: &str, start: usize) -> usize {
    start - usize::from(line[..start].ends_with(['"', '\'']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let mut pairs = Pairs::default();
        let mut values = Vec::new();
        for line in text.lines() {
            let mut found = Vec::new();
            pairs.find(line, &mut found);
            values.extend(found.into_iter().map(|range| line[range].to_owned()));
        }
        values
    }

    #[test]
    fn the_value_beside_or_below_a_secret_name_is_found() {
        for text in [
            r#"{"name": "DB_PASSWORD", "value": "hunter22"}"#,
            r#"{\"Name\":\"db_password\",\"Value\":\"hunter22\"}"#,
            r#"<add key="Password" value="hunter22" />"#,
            r#"<string name="api_key">hunter22</string>"#,
            r#"{"value":"hunter22","name":"DB_PASSWORD"},{"value":"plain","name":"HOST"}"#,
            r#"<entry value="hunter22" key="dbPassword"/>"#,
            "\"id\": \"https://shop.vault.azure.net/secrets/db/1f\",\n\"kid\": null,\n\"value\": \"hunter22\"",
            "- name: API_TOKEN\n  value: hunter22",
            "- name: API_TOKEN\n  value: \"hunter22\"",
            "variable \"db_password\" {\n  type = string\n  default = \"hunter22\"\n}",
            "a:\n  - password: |-\n      hunter22\n    name: x",
            "token: >\n  hunter22",
        ] {
            assert_eq!(found(text), ["hunter22"], "{text}");
        }
        for text in [
            r#"{"name": "PORT", "value": "8080"}"#,
            "- name: LEVEL\n  value: debug",
            "- name: API_TOKEN\n  valueFrom:\n    secretKeyRef:\n      name: x\n      key: token",
            "key: value",
            "notes: |\n  plain words",
            "token: |\nplain",
            "the name and the value",
            "名=值 name=ü value=ü",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }
}
