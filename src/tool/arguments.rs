//! A call's arguments: aliases that models use are accepted, everything else that is wrong is named.
//!
//! Knows no tool: each hands in its own field list.

use serde_json::Value;

/// One argument a tool takes.
pub(crate) struct Field {
    /// The name in the schema.
    pub(crate) name: &'static str,
    /// Other names models use for it, accepted quietly.
    pub(crate) aliases: &'static [&'static str],
}

/// The argument every file tool takes.
pub(crate) const PATH: Field =
    Field { name: "path", aliases: &["file_path", "filepath", "filename", "file", "absolute_path"] };

/// Makes a field without aliases.
pub(crate) const fn plain(name: &'static str) -> Field {
    Field { name, aliases: &[] }
}

/// The arguments of one call, by their schema names.
pub(crate) struct Arguments<'a> {
    tool: &'static str,
    values: Vec<(&'static str, &'a Value)>,
}

impl<'a> Arguments<'a> {
    /// Sorts the input into the fields; `null` counts as absent.
    ///
    /// # Errors
    /// The text for the model when the input is no object or has an argument the tool does not take.
    pub(crate) fn parse(tool: &'static str, input: &'a Value, fields: &[Field]) -> Result<Self, String> {
        let Value::Object(object) = input else {
            return Err(format!("{tool}: the arguments must be one JSON object, got {}", type_name(input)));
        };
        let mut values: Vec<(&'static str, &'a Value)> = Vec::new();
        // Schema names first: an alias next to the real name is then a repetition, and is ignored.
        for by_alias in [false, true] {
            for (key, value) in object {
                let found = fields
                    .iter()
                    .find(|field| if by_alias { field.aliases.contains(&key.as_str()) } else { field.name == key });
                if let Some(field) = found
                    && !value.is_null()
                    && !values.iter().any(|(name, _)| *name == field.name)
                {
                    values.push((field.name, value));
                }
            }
        }
        for key in object.keys() {
            let known = fields.iter().any(|field| field.name == key || field.aliases.contains(&key.as_str()));
            if !known {
                let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
                return Err(format!("{tool}: unknown argument `{key}`; it takes {}", names.join(", ")));
            }
        }
        Ok(Self { tool, values })
    }

    /// Returns an argument as it came.
    pub(crate) fn value(&self, name: &str) -> Option<&'a Value> {
        self.values.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
    }

    /// Returns a text that must be there.
    pub(crate) fn text(&self, name: &str) -> Result<&'a str, String> {
        self.optional_text(name)?.ok_or_else(|| self.missing(name, "a string"))
    }

    /// Returns a text that must be there and say something.
    pub(crate) fn filled_text(&self, name: &str) -> Result<&'a str, String> {
        let text = self.text(name)?;
        if text.trim().is_empty() {
            return Err(format!("{}: argument `{name}` is empty; it must be a non-empty string", self.tool));
        }
        Ok(text)
    }

    /// Returns a text that may be absent.
    pub(crate) fn optional_text(&self, name: &str) -> Result<Option<&'a str>, String> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong(name, "a string", other)),
        }
    }

    /// Returns a whole number that may be absent; `"10"` and `10.0` are taken as 10.
    pub(crate) fn number(&self, name: &str) -> Result<Option<u64>, String> {
        let Some(value) = self.value(name) else { return Ok(None) };
        let number = match value {
            Value::Number(number) => number.as_u64().or_else(|| whole(number.as_f64()?)),
            Value::String(text) => text.trim().parse().ok(),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        number.map(Some).ok_or_else(|| self.wrong(name, "a whole number, 0 or more", value))
    }

    /// Returns a truth value, false when absent; `"true"` and `"false"` are taken as such.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, String> {
        match self.value(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("true") => Ok(true),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("false") => Ok(false),
            Some(other) => Err(self.wrong(name, "true or false", other)),
        }
    }

    /// Words a missing argument.
    pub(crate) fn missing(&self, name: &str, expected: &str) -> String {
        format!("{}: missing argument `{name}`, which must be {expected}", self.tool)
    }

    /// Words an argument of the wrong type.
    pub(crate) fn wrong(&self, name: &str, expected: &str, got: &Value) -> String {
        // For a number the value itself is more useful than its type.
        let got = if let Value::Number(number) = got { number.to_string() } else { type_name(got).to_owned() };
        format!("{}: argument `{name}` must be {expected}, got {got}", self.tool)
    }
}

/// The largest whole number a double holds exactly.
const LARGEST_WHOLE: f64 = 9_007_199_254_740_992.0;

fn whole(number: f64) -> Option<u64> {
    if number.fract() != 0.0 || !(0.0..=LARGEST_WHOLE).contains(&number) {
        return None;
    }
    // The value is written out and read back, because a cast would lose precision.
    format!("{number:.0}").parse().ok()
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
#[path = "arguments_tests.rs"]
mod tests;
