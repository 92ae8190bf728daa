//! Decides which variables of axi's environment an approved command does not get.

use std::process::Command;

use crate::secret::is_secret_name;

/// The variables that are kept from commands; none by default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Variables {
    keys: Vec<String>,
    is_strict: bool,
}

impl Variables {
    /// Keeps the keys of providers from every command, and other secrets from commands whose line does not name
    /// them.
    #[must_use]
    pub const fn keeping(keys: Vec<String>) -> Self {
        Self { keys, is_strict: true }
    }

    /// Lists which of these variables a command would get if its line named them.
    #[must_use]
    pub fn nameable(&self, line: &str, names: impl Iterator<Item = String>) -> Vec<String> {
        let mut kept = self.kept_from(line, names);
        kept.retain(|name| !self.keys.contains(name));
        kept
    }

    /// Lists which of these variables a command with this line does not get. The person saw the line when they
    /// approved it, and so every name in it.
    #[must_use]
    pub fn kept_from(&self, line: &str, names: impl Iterator<Item = String>) -> Vec<String> {
        let kept = |name: &String| self.keys.contains(name) || is_secret_name(name) && !has_word(line, name);
        if self.is_strict { names.filter(kept).collect() } else { Vec::new() }
    }

    /// Takes them out of what a command with this line would get of axi's own environment.
    pub fn keep(&self, line: &str, command: &mut Command) {
        let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        for name in self.kept_from(line, names) {
            command.env_remove(name);
        }
    }
}

fn has_word(line: &str, name: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    line.match_indices(name)
        .any(|(at, _)| !line[..at].ends_with(is_part) && !line[at + name.len()..].starts_with(is_part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_go_to_nobody_and_other_secrets_to_who_names_them() {
        let names = ["PATH", "OPENAI_API_KEY", "GH_TOKEN", "DB_PASSWORD", "SSH_AUTH_SOCK", "MY_LAB"];
        let kept = |variables: &Variables, line| variables.kept_from(line, names.map(str::to_owned).into_iter());
        let strict = Variables::keeping(vec!["OPENAI_API_KEY".to_owned(), "MY_LAB".to_owned()]);
        assert_eq!(kept(&strict, "make"), ["OPENAI_API_KEY", "GH_TOKEN", "DB_PASSWORD", "MY_LAB"]);
        assert_eq!(kept(&strict, "x \"$GH_TOKEN\""), ["OPENAI_API_KEY", "DB_PASSWORD", "MY_LAB"]);
        assert_eq!(
            kept(&strict, "echo $OPENAI_API_KEY $GH_TOKEN_2 ${DB_PASSWORD}"),
            ["OPENAI_API_KEY", "GH_TOKEN", "MY_LAB"]
        );
        assert_eq!(kept(&Variables::default(), "make"), Vec::<String>::new());
    }
}
