//! Reads what can be told of a call while the model still writes it.

use serde_json::{Deserializer, Value};

/// Looks at no more bytes than this of a call: each piece that arrives is read from the start again.
const LOOKED_AT: usize = 4096;

/// Returns the path that a call's arguments name, as soon as it is complete: the value of `path` in the open
/// object.
pub(super) fn path(arguments: &str) -> Option<String> {
    if arguments.len() > LOOKED_AT {
        return None;
    }
    let mut rest = arguments.trim_start().strip_prefix('{')?;
    loop {
        let (key, after) = value(rest)?;
        rest = after.trim_start().strip_prefix(':')?;
        let (found, after) = value(rest)?;
        if let (Some("path"), Value::String(path)) = (key.as_str(), found) {
            return Some(path);
        }
        rest = after.trim_start().strip_prefix(',')?;
    }
}

/// Reads one complete value, and returns it with the text that follows it.
fn value(text: &str) -> Option<(Value, &str)> {
    let mut values = Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some((value, text.get(values.byte_offset()..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_known_when_it_is_whole() {
        let call = r#"{ "old": {"path": 1}, "path" : "src/\u4e2d \"a\".rs", "content": "fn main"#;
        let known = call.find(", \"content").unwrap();
        for end in (0..=call.len()).filter(|end| call.is_char_boundary(*end)) {
            let expected = (end >= known).then(|| "src/中 \"a\".rs".to_owned());
            assert_eq!(path(&call[..end]), expected, "{}", &call[..end]);
        }
    }

    #[test]
    fn what_is_no_object_or_too_long_has_no_path() {
        let long = format!(r#"{{"content":"{}","path":"a"}}"#, "x".repeat(LOOKED_AT));
        for arguments in ["", "[", "null", r#"{"path":1}"#, r#"{path:"a"}"#, &long] {
            assert_eq!(path(arguments), None, "{arguments:.20}");
        }
    }
}
