//! Commands that are files: read, listed, and which of them the person has to be asked about first.

use std::path::PathBuf;

use crate::command::{
    self, CommandSource, Unusable, UnusableCommand, UserCommand, command_body, load_user_commands,
};
use crate::config::PlaceFile;

/// The commands of the person's own and of the project.
#[derive(Debug, Default)]
pub struct UserCommands {
    user: Vec<PathBuf>,
    /// The project's folders, the nearest first.
    project: Vec<PathBuf>,
    /// Where secret files of the person lie.
    home: Option<PathBuf>,
    loaded: Vec<UserCommand>,
    /// Files that are no commands though they are named as ones.
    unusable: Vec<UnusableCommand>,
    /// The texts of the project that the person has seen and said yes to.
    agreed: Vec<(PathBuf, String)>,
}

impl UserCommands {
    /// Names the folders; reads nothing yet.
    #[must_use]
    pub const fn new(user: Vec<PathBuf>, project: Vec<PathBuf>, home: Option<PathBuf>) -> Self {
        Self { user, project, home, loaded: Vec::new(), unusable: Vec::new(), agreed: Vec::new() }
    }

    /// Treats the project's commands as seen and agreed to in the form in which they were shown, because the person
    /// trusts the directory. A command that differs, now or later, is shown and asked about.
    pub fn agree_to(&mut self, shown: &[PlaceFile]) {
        self.load();
        self.agreed = shown.iter().map(|file| (file.path.clone(), command_body(&file.text))).collect();
    }

    /// Reads the folders again. A command of axi cannot be replaced, one of the person's own not by the project's.
    pub fn load(&mut self) {
        let user = self.user.iter().map(|folder| (folder, CommandSource::User));
        let project = self.project.iter().map(|folder| (folder, CommandSource::Project));
        let mut loaded: Vec<UserCommand> = Vec::new();
        let mut unusable = Vec::new();
        for (folder, source) in user.chain(project) {
            let (commands, none) = load_user_commands(folder, source, self.home.as_deref());
            unusable.extend(none);
            for found in commands {
                if command::find(&found.name).is_some() {
                    unusable.push(UnusableCommand { name: found.name, path: found.path, why: Unusable::BuiltIn });
                } else if !loaded.iter().any(|other| other.name == found.name) {
                    loaded.push(found);
                }
            }
        }
        (self.loaded, self.unusable) = (loaded, unusable);
    }

    /// The commands as they were last read.
    #[must_use]
    pub fn list(&self) -> &[UserCommand] {
        &self.loaded
    }

    /// The file of this name that is no command, as it was last read.
    #[must_use]
    pub fn unusable(&self, name: &str) -> Option<&UnusableCommand> {
        self.unusable.iter().find(|none| none.name == name)
    }

    /// Tells whether the person has not yet agreed to what it says.
    #[must_use]
    pub fn needs_asking(&self, command: &UserCommand) -> bool {
        let agreed = || self.agreed.iter().any(|(path, body)| *path == command.path && *body == command.body);
        command.source == CommandSource::Project && !agreed()
    }

    /// Notes that the person has seen what it says and agrees to it.
    pub(super) fn agree(&mut self, command: &UserCommand) {
        self.agreed.push((command.path.clone(), command.body.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_no_command_is_known_with_its_reason() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("help.md"), "Help me.").unwrap();
        std::fs::write(place.path().join("empty.md"), "").unwrap();
        std::fs::write(place.path().join("fine.md"), "Fine.").unwrap();
        let mut commands = UserCommands::new(vec![place.path().to_owned()], Vec::new(), None);
        commands.load();
        let why = |name: &str| commands.unusable(name).map(|none| none.why.clone());
        assert_eq!(
            (why("help"), why("empty"), why("fine")),
            (Some(Unusable::BuiltIn), Some(Unusable::Empty), None)
        );
        assert_eq!(commands.list().len(), 1);
    }

    #[test]
    fn what_was_shown_is_agreed_to_and_not_what_is_there_by_now() {
        let place = tempfile::tempdir().unwrap();
        let shown = ["a", "b"].map(|name| {
            let path = place.path().join(format!("{name}.md"));
            std::fs::write(&path, "---\r\ndescription: d\r\n---\r\nReview.\r\n").unwrap();
            PlaceFile { text: std::fs::read_to_string(&path).unwrap(), path }
        });
        std::fs::write(place.path().join("b.md"), "Delete all.").unwrap();
        std::fs::write(place.path().join("c.md"), "New.").unwrap();
        let mut commands = UserCommands::new(Vec::new(), vec![place.path().to_owned()], None);
        commands.agree_to(&shown);
        let asked = commands.list().iter().map(|command| (command.name.as_str(), commands.needs_asking(command)));
        assert_eq!(asked.collect::<Vec<_>>(), [("a", false), ("b", true), ("c", true)]);
    }
}
