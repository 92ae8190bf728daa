//! Commands of the person's own and of the project: a markdown file each, whose text becomes a message.

use std::path::{Path, PathBuf};

use crate::secret::found::is_hidden_secret;

/// The most of a file that is read, in bytes.
const LARGEST: u64 = 64 * 1024;
/// Commands of a folder at most.
const MOST: usize = 200;

/// Where a command comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandSource {
    /// The person's own folder.
    User,
    /// The project's folder: somebody else may have written it.
    Project,
}

/// A command that is a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserCommand {
    /// Its name, without the slash: the file's, a folder's before it with a colon.
    pub name: String,
    /// What it does, as its file says; may be empty.
    pub description: String,
    /// What its arguments look like, as its file says; may be empty.
    pub usage: String,
    /// The text, without its front matter.
    pub body: String,
    /// Where it comes from.
    pub source: CommandSource,
    /// Its file.
    pub path: PathBuf,
}

/// A file that is no command though it is named as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusableCommand {
    /// What would be its name, without the slash.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
    /// Why.
    pub why: Unusable,
}

/// Why a file is no command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unusable {
    /// It is no UTF-8.
    NoText,
    /// It says nothing.
    Empty,
    /// It is larger than a command may be.
    TooLarge {
        /// That, in bytes.
        most: u64,
    },
    /// The system does not let it be read.
    Unreadable {
        /// Why.
        cause: String,
    },
    /// A command of axi has its name.
    BuiltIn,
}

/// Reads the commands of a folder and of the folders in it, and what is none though it is named as one; a missing folder
/// has neither. What has a name that could not be typed is passed over, and so is what leads to a secret file: the text
/// of a command is shown and sent. `home` is where secret files of the person lie.
#[must_use]
pub fn load_user_commands(
    folder: &Path,
    source: CommandSource,
    home: Option<&Path>,
) -> (Vec<UserCommand>, Vec<UnusableCommand>) {
    let mut read = Vec::new();
    read_folder(folder, "", source, &mut read);
    let (mut commands, mut unusable) = (Vec::new(), Vec::new());
    for read in read {
        match read {
            Ok(command) if !is_hidden_secret(&command.path, home, folder) => commands.push(command),
            Err(none) if !is_hidden_secret(&none.path, home, folder) => unusable.push(none),
            Ok(_) | Err(_) => {}
        }
    }
    commands.sort_by(|one, other| one.name.cmp(&other.name));
    (commands, unusable)
}

type Read = Result<UserCommand, UnusableCommand>;

fn read_folder(folder: &Path, before: &str, source: CommandSource, commands: &mut Vec<Read>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let Some(name) = path.file_stem().and_then(|name| name.to_str()).filter(|name| is_name(name)) else {
            continue;
        };
        if path.is_dir() && before.is_empty() {
            read_folder(&path, &format!("{name}:"), source, commands);
        } else if path.extension().is_some_and(|extension| extension == "md") && commands.len() < MOST {
            let name = format!("{before}{name}");
            commands.push(read(&path, &name, source).map_err(|why| UnusableCommand { name, path, why }));
        }
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|character| character.is_ascii_alphanumeric() || "-_".contains(character))
}

fn read(path: &Path, name: &str, source: CommandSource) -> Result<UserCommand, Unusable> {
    let unreadable = |error: std::io::Error| Unusable::Unreadable { cause: error.to_string() };
    let metadata = std::fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(Unusable::NoText);
    }
    if metadata.len() > LARGEST {
        return Err(Unusable::TooLarge { most: LARGEST });
    }
    let text = String::from_utf8(std::fs::read(path).map_err(unreadable)?).map_err(|_| Unusable::NoText)?;
    let text = text.replace("\r\n", "\n");
    let (front, body) = split_front_matter(&text);
    let said = |key: &str| {
        let mut lines = front.lines().filter_map(|line| line.split_once(':'));
        let value = lines.find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim());
        value.map(|value| value.trim_matches(['"', '\'']).to_owned()).unwrap_or_default()
    };
    let (description, usage) = (said("description"), said("argument-hint"));
    let body = body.trim().to_owned();
    if body.is_empty() {
        return Err(Unusable::Empty);
    }
    Ok(UserCommand { name: name.to_owned(), description, usage, body, source, path: path.to_owned() })
}

/// The text of a command, as its file says it: without front matter.
#[must_use]
pub fn command_body(text: &str) -> String {
    split_front_matter(&text.replace("\r\n", "\n")).1.trim().to_owned()
}

/// Cuts off what stands between two rows of `---` at the beginning.
fn split_front_matter(text: &str) -> (&str, &str) {
    let Some(rest) = text.strip_prefix("---\n") else { return ("", text) };
    if let Some(body) = rest.strip_prefix("---\n") {
        return ("", body);
    }
    rest.split_once("\n---\n").or_else(|| Some((rest.strip_suffix("\n---")?, ""))).unwrap_or(("", text))
}

impl UserCommand {
    /// Makes the message: `$ARGUMENTS` is all that follows the name, `$1` to `$9` its words. Arguments that the text
    /// has no place for follow it.
    #[must_use]
    pub fn message(&self, arguments: &str) -> String {
        let words =
            shlex::split(arguments).unwrap_or_else(|| arguments.split_whitespace().map(str::to_owned).collect());
        let mut message = String::with_capacity(self.body.len() + arguments.len());
        let mut used = false;
        let mut rest = self.body.as_str();
        while let Some((before, after)) = rest.split_once('$') {
            message.push_str(before);
            let digit = after.chars().next().and_then(|first| first.to_digit(10)).filter(|digit| *digit > 0);
            let alone = after.chars().nth(1).is_none_or(|second| !second.is_ascii_digit());
            if let Some(after) = after.strip_prefix("ARGUMENTS") {
                message.push_str(arguments);
                (used, rest) = (true, after);
            } else if let Some(digit) = digit.filter(|_| alone) {
                message.push_str(words.get(digit as usize - 1).map_or("", String::as_str));
                (used, rest) = (true, &after[1..]);
            } else {
                message.push('$');
                rest = after;
            }
        }
        message.push_str(rest);
        if !used && !arguments.is_empty() {
            message.push_str("\n\n");
            message.push_str(arguments);
        }
        message
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(body: &str) -> UserCommand {
        UserCommand {
            name: "x".to_owned(),
            description: String::new(),
            usage: String::new(),
            body: body.to_owned(),
            source: CommandSource::User,
            path: PathBuf::new(),
        }
    }

    #[test]
    fn arguments_go_where_the_text_has_a_place_for_them() {
        assert_eq!(command("Fix $ARGUMENTS now.").message("the parser"), "Fix the parser now.");
        assert_eq!(command("From $1 to $2, $3.").message("a 'b c'"), "From a to b c, .");
        assert_eq!(command("Costs $10 or $x$").message(""), "Costs $10 or $x$");
        assert_eq!(command("Review.").message("main.rs"), "Review.\n\nmain.rs");
        assert_eq!(command("$ARGUMENTS").message("$1 $ARGUMENTS"), "$1 $ARGUMENTS", "arguments are no template");
        assert_eq!(command("$1").message("it's"), "it's");
    }

    #[test]
    fn files_become_commands_and_say_what_they_do() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("review.md", "---\ndescription: \"Reviews: all\"\nargument-hint: [FILE]\n---\nReview $ARGUMENTS.\n");
        write("git/log.md", "Say what happened.");
        write("bad name.md", "x");
        write("empty.md", "---\ndescription: nothing\n---\n");
        write("notes.txt", "x");
        write(".env", "KEY=value");
        crate::platform::os::fs::symlink("../.env", folder.path().join("git/leak.md")).unwrap();
        std::fs::write(folder.path().join("bad.md"), b"caf\xe9").unwrap();
        let load = |folder: &Path| load_user_commands(folder, CommandSource::Project, None);
        let (found, mut none) = load(folder.path());
        none.sort_by(|one, other| one.name.cmp(&other.name));
        let none: Vec<_> = none.into_iter().map(|none| (none.name, none.why)).collect();
        assert_eq!(none, [("bad".to_owned(), Unusable::NoText), ("empty".to_owned(), Unusable::Empty)]);
        let told: Vec<_> = found
            .iter()
            .map(|command| {
                (command.name.as_str(), command.description.as_str(), command.usage.as_str(), command.body.as_str())
            })
            .collect();
        let expected =
            [("git:log", "", "", "Say what happened."), ("review", "Reviews: all", "[FILE]", "Review $ARGUMENTS.")];
        assert_eq!(told, expected);
        assert_eq!(load(&folder.path().join("missing")), (Vec::new(), Vec::new()));
    }
}
