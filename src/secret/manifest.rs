//! Secrets of Kubernetes as manifests and listings have them: each value below `data` and `stringData` is one, whatever
//! its name. The kind stands behind the data where the fields are in order of their names.

use std::ops::Range;

use super::behind;

/// How many lines around the data the kind may stand.
const FARTHEST: usize = 400;

/// Finds them in a text.
pub(super) fn find(text: &str, found: &mut Vec<Range<usize>>) {
    if text.contains("kind: Secret") {
        in_yaml(text, found);
    }
    if text.contains("\"Secret\"") || text.contains("\\\"Secret\\\"") {
        in_json(text, found);
    }
}

/// A line: where it begins in the text, how far it is indented, and what it says.
struct Line<'a> {
    at: usize,
    column: usize,
    says: &'a str,
}

fn in_yaml(text: &str, found: &mut Vec<Range<usize>>) {
    let mut at = 0;
    let mut lines = Vec::new();
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end();
        let from = behind::place(bare).unwrap_or(0);
        let inside = &bare[from..];
        let item = inside.trim_start().strip_prefix("- ").map_or(inside.trim_start(), str::trim_start);
        let column = inside.len() - item.len();
        lines.push(Line { at: at + bare.len() - item.len(), column, says: item });
        at += line.len();
    }
    for (index, line) in lines.iter().enumerate() {
        if !matches!(line.says, "data:" | "stringData:") || !is_of_secret(&lines, index) {
            continue;
        }
        let inside =
            lines[index + 1..].iter().take_while(|inner| inner.column > line.column && !inner.says.is_empty());
        for inner in inside {
            // A block of several lines has its values without a name.
            let value =
                inner.says.split_once(": ").map_or(inner.says, |(_, value)| value).trim_matches(['"', '\'']);
            if value.len() >= 3 && !value.ends_with(':') {
                let start = inner.at + inner.says.rfind(value).unwrap_or(0);
                found.push(start..start + value.len());
            }
        }
    }
}

/// Tells whether the fields beside a line say that they are those of a secret.
fn is_of_secret(lines: &[Line<'_>], index: usize) -> bool {
    let column = lines[index].column;
    let is_inside =
        |line: &&Line<'_>| line.column >= column && !line.says.starts_with("---") || line.says.is_empty();
    let kind = |line: &Line<'_>| {
        (line.column == column).then(|| line.says.strip_prefix("kind: ")).flatten().map(|kind| kind == "Secret")
    };
    let after = lines[index + 1..].iter().take(FARTHEST).take_while(is_inside).find_map(kind);
    let before = lines[..index].iter().rev().take(FARTHEST).take_while(is_inside).find_map(kind);
    before == Some(true) || after == Some(true)
}

fn in_json(text: &str, found: &mut Vec<Range<usize>>) {
    for name in ["\"data\"", "\"stringData\"", "\\\"data\\\"", "\\\"stringData\\\""] {
        for (at, _) in text.match_indices(name) {
            let from = at + name.len();
            let rest = &text[from..text.floor_char_boundary((from + 64 * 1024).min(text.len()))];
            let Some(open) = rest.find('{').filter(|open| rest[..*open].trim_matches([':', ' ']).is_empty()) else {
                continue;
            };
            let Some(close) = rest[open..].find('}') else { continue };
            let mut start = from + open;
            // Names and values in turns, in quotes.
            for (turn, part) in text[start..from + open + close].split('"').enumerate() {
                let value = part.trim_end_matches('\\');
                if turn % 4 == 3 && value.len() >= 3 {
                    found.push(start..start + value.len());
                }
                start += part.len() + 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let mut found = Vec::new();
        find(text, &mut found);
        found.into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn all_that_a_secret_holds_is_found_and_nothing_of_a_config_map() {
        for text in [
            "apiVersion: v1\ndata:\n  pg: aHVudGVyMjI=\nkind: Secret\nmetadata:\n  name: db",
            "kind: Secret\nstringData:\n  a: |\n    aHVudGVyMjI=",
            "items:\n- apiVersion: v1\n  data:\n    pg: aHVudGVyMjI=\n  kind: Secret\n- apiVersion: v1\n  data:\n    plain: value\n  kind: ConfigMap",
            "+apiVersion: v1\n+data:\n+  pg: \"aHVudGVyMjI=\"\n+kind: Secret",
            "a.yaml:1:data:\na.yaml:2:  pg: aHVudGVyMjI=\na.yaml:3:kind: Secret",
            r#"{"apiVersion":"v1","data":{"pg":"aHVudGVyMjI="},"kind":"Secret"}"#,
            "{\n  \"data\": {\n    \"pg\": \"aHVudGVyMjI=\"\n  },\n  \"kind\": \"Secret\"\n}",
        ] {
            assert_eq!(found(text), ["aHVudGVyMjI="], "{text}");
        }
        for text in [
            "data:\n  pg: value\nkind: ConfigMap\n---\nkind: Secret\nmetadata:\n  name: x",
            "data:\n  pg: value",
            "a kind: Secret is meant",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }
}
