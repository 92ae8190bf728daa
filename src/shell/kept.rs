//! The file that a shell's start-up file reads: the hook with the settings it was made with, so that it can be made anew.

use super::{Key, Settings, Shell};

/// What stands before the settings, in the first row.
const MARK: &str = "# Made by axi, which keeps it up to date; settings:";

impl Shell {
    /// Makes the text of the file.
    #[must_use]
    pub fn kept(&self, settings: &Settings<'_>) -> String {
        let chosen = match &settings.key {
            Some(key) => format!(" key {}", key.name()),
            None if settings.no_bind => " no-bind".to_owned(),
            None => String::new(),
        };
        // The line that reads it goes on where the last command fails.
        format!("{MARK}{chosen}\n{}true\n", self.hook(settings))
    }

    /// Makes the text anew from what the file holds, and from whether the settings ask for the comma; `None` when that is not axi's.
    #[must_use]
    pub fn renewed(&self, text: &str, program: &str, comma: bool, words: &[(&str, String)]) -> Option<String> {
        let chosen = text.lines().next()?.strip_prefix(MARK)?.trim();
        let key = chosen.strip_prefix("key ").map(Key::parse).transpose().ok()?;
        Some(self.kept(&Settings { program, key, no_bind: chosen == "no-bind", comma, words }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::SHELLS;
    use super::*;

    #[test]
    fn a_kept_hook_is_made_anew_with_the_settings_it_has() {
        let keys = ["alt-m", "ctrl-x,ctrl-a"].map(|key| Some(Key::parse(key).unwrap()));
        for shell in SHELLS {
            for (key, no_bind) in
                keys.clone().into_iter().map(|key| (key, false)).chain([(None, false), (None, true)])
            {
                let text = shell.kept(&Settings { program: "axi", key, no_bind, comma: no_bind, words: &[] });
                assert_eq!(shell.renewed(&text, "axi", no_bind, &[]).as_ref(), Some(&text), "{}", shell.name);
                let old = format!("{}\nold\n", text.lines().next().unwrap());
                assert_eq!(shell.renewed(&old, "axi", no_bind, &[]).as_ref(), Some(&text));
            }
            assert_eq!(shell.renewed("# a file of the person's\n", "axi", false, &[]), None);
            assert_eq!(shell.renewed("", "axi", false, &[]), None);
        }
    }
}
