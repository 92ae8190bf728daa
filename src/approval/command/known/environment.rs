//! Which variables change what programs do, and which contain secrets.

use super::super::read::{Word, WordPart};
use super::state::State;
use super::value::Value;
use crate::approval::Surroundings;
use crate::approval::program::lists;
pub(crate) use crate::secret::is_secret_name;

/// Tells whether setting a variable to these values in front of a command changes nothing important.
pub(crate) fn is_harmless_variable(name: &str, values: &[Value]) -> bool {
    if is_number_variable(name) {
        // The name of another variable would be read as an expression in turn.
        let number = |value: &Value| value.known().is_some_and(|text| text.chars().all(|c| c.is_ascii_digit()));
        return !values.is_empty() && values.iter().all(number);
    }
    if lists::VARIABLES_OF_LOOKS.contains(name) || name.starts_with("LC_") || is_own(name, values) {
        return true;
    }
    let pager = name == "PAGER" || name.ends_with("_PAGER") || name == "MANPAGER";
    pager && values.iter().all(|value| value.known().is_some_and(|text| matches!(text.as_str(), "" | "cat")))
}

/// Tells whether it is a variable of the person's own program, with a plain word or number: `FOO=1`,
/// `LOG_LEVEL=debug`.
fn is_own(name: &str, values: &[Value]) -> bool {
    let upper = name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ',');
    let word = |value: &Value| value.known().is_some_and(|text| !text.is_empty() && text.chars().all(plain));
    let powerful = lists::VARIABLES_OF_POWER.contains(name)
        || lists::STARTS_OF_POWER
            .iter()
            .chain(lists::STARTS_OF_PROGRAMS.iter())
            .any(|start| name.starts_with(start))
        || name.split('_').any(|part| lists::PARTS_OF_POWER.contains(part));
    upper && name.len() > 2 && values.len() == 1 && values.iter().all(word) && !powerful
}

/// Tells whether setting a variable of the shell itself matters to what runs after it.
pub(crate) fn variable_matters(name: &str, _place: &Surroundings) -> bool {
    lists::VARIABLES_OF_POWER.contains(name)
        || is_number_variable(name)
        || name.ends_with("_PAGER")
        || name.ends_with("_EDITOR")
        || lists::STARTS_OF_POWER.iter().any(|start| name.starts_with(start))
}

/// Tells whether the shell evaluates what this variable is set to.
pub(crate) fn is_number_variable(name: &str) -> bool {
    lists::VARIABLES_OF_NUMBERS.contains(name)
}

/// Returns the name of a secret variable in a word, unless the line itself set it.
pub(crate) fn secret_variable(word: &Word, state: &State<'_>) -> Option<String> {
    word.parts.iter().find_map(|part| match part {
        WordPart::Variable { name, .. } if is_secret_name(name) && !state.variables.contains_key(name) => {
            Some(format!("${name}"))
        }
        WordPart::Variable { .. }
        | WordPart::Text { .. }
        | WordPart::Substitution { .. }
        | WordPart::Process { .. }
        | WordPart::Number { .. } => None,
    })
}
