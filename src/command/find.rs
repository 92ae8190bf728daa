//! Finding a command by what was typed.

use super::row::SlashCommand;
use super::table::COMMANDS;
use crate::config;

/// Finds a command by its name or one of its other names.
#[must_use]
pub fn find(name: &str) -> Option<&'static SlashCommand> {
    COMMANDS.iter().find(|command| command.name == name || command.aliases.contains(&name))
}

/// Finds the command whose name is nearest to a misspelt one. `own` are the names of further commands.
#[must_use]
pub fn nearest<'names>(name: &str, own: impl Iterator<Item = &'names str>) -> Option<&'names str> {
    let table =
        COMMANDS.iter().flat_map(|command| std::iter::once(command.name).chain(command.aliases.iter().copied()));
    config::nearest(name, table.chain(own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_command_finds_its_neighbour() {
        assert_eq!(nearest("modle", std::iter::empty()), Some("model"));
        assert_eq!(nearest("languge", std::iter::empty()), Some("language"));
        assert_eq!(nearest("xyzzy", std::iter::empty()), None);
    }

    #[test]
    fn names_are_unique() {
        let mut seen = std::collections::HashSet::new();
        for command in COMMANDS {
            for name in std::iter::once(&command.name).chain(command.aliases) {
                assert!(seen.insert(*name), "{name} twice");
            }
        }
    }
}
