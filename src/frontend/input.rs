//! Classifies a line as a person wrote it: a command, a shell line, or a message. Its first character decides,
//! never a guess. Pure.

/// What a line is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// Nothing to do.
    Empty,
    /// A slash command: its name and what followed, trimmed.
    Command {
        /// Without the slash.
        name: String,
        /// May be empty.
        argument: String,
    },
    /// A line for the user's shell.
    Shell(String),
    /// A message for the model.
    Message(String),
}

/// Reads a line. `/` starts a command only where a command's name follows: `/usr/bin/x is broken` is a message.
#[must_use]
pub fn parse(line: &str) -> Input {
    let trimmed = line.trim();
    if trimmed.is_empty() {
        return Input::Empty;
    }
    if let Some(command) = trimmed.strip_prefix('!') {
        let command = command.trim();
        return if command.is_empty() { Input::Empty } else { Input::Shell(command.to_owned()) };
    }
    if let Some(rest) = trimmed.strip_prefix('/') {
        let (name, argument) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let named = |character: char| character.is_ascii_alphanumeric() || "-_?:".contains(character);
        if !name.is_empty() && name.chars().all(named) && !trimmed.contains('\n') {
            return Input::Command { name: name.to_owned(), argument: argument.trim().to_owned() };
        }
    }
    Input::Message(trimmed.to_owned())
}

/// Joins lines that come back to the editor. Successive messages become one text; a command and a shell line stay
/// separate, so that the lines after them keep their meaning.
#[must_use]
pub fn pieces(lines: Vec<String>) -> Vec<String> {
    let is_message = |line: &str| matches!(parse(line), Input::Message(_));
    let mut pieces: Vec<String> = Vec::new();
    for line in lines.into_iter().filter(|line| !line.trim().is_empty()) {
        match pieces.last_mut().filter(|last| is_message(last) && is_message(&line)) {
            Some(last) => {
                last.push('\n');
                last.push_str(&line);
            }
            None => pieces.push(line),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_character_decides() {
        let command = |name: &str, argument: &str| Input::Command { name: name.into(), argument: argument.into() };
        assert_eq!(parse("  "), Input::Empty);
        assert_eq!(parse("!"), Input::Empty);
        assert_eq!(parse("! ls -l "), Input::Shell("ls -l".into()));
        assert_eq!(parse("/model  openai/x "), command("model", "openai/x"));
        assert_eq!(parse("/exit"), command("exit", ""));
        assert_eq!(parse("/usr/bin/env is gone"), Input::Message("/usr/bin/env is gone".into()));
        assert_eq!(parse("/ is full"), Input::Message("/ is full".into()));
        assert_eq!(parse("ls -l"), Input::Message("ls -l".into()));
    }

    #[test]
    fn a_message_never_becomes_a_part_of_a_shell_line_or_a_command() {
        let together = |lines: &[&str]| pieces(lines.iter().map(|line| (*line).to_owned()).collect());
        assert_eq!(together(&["one", "two\nthree", "four"]), ["one\ntwo\nthree\nfour"]);
        assert_eq!(together(&["!ls", "touch it please"]), ["!ls", "touch it please"]);
        assert_eq!(together(&["a", "/usage", " ", "b", "c", "!x", "!y"]), ["a", "/usage", "b\nc", "!x", "!y"]);
        assert_eq!(together(&["/usr/bin is full", "why"]), ["/usr/bin is full\nwhy"]);
        assert_eq!(together(&["", " "]), Vec::<String>::new());
    }
}
