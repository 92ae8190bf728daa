//! `/script` and `axi script`: the commands of a session that worked, as a script.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::{Context, Outcome, Problem};
use crate::conversation::{Conversation, Effect, Outcome as Ended, Role, Subject, ToolVerb};
use crate::locale::{Locale, word};
use crate::secret::placeholders;
use crate::tool::{Place, Toolbox};

/// What a script is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptForm {
    /// Bash.
    Shell,
    /// make.
    Makefile,
    /// just.
    Justfile,
}

impl ScriptForm {
    /// Their names.
    pub const WORDS: &[&str] = &[Self::Shell.word(), Self::Makefile.word(), Self::Justfile.word()];

    const fn word(self) -> &'static str {
        match self {
            Self::Shell => "sh",
            Self::Makefile => "makefile",
            Self::Justfile => "justfile",
        }
    }

    /// Reads a name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Shell, Self::Makefile, Self::Justfile].into_iter().find(|form| form.word() == name)
    }
}

/// A session, and what its calls mean.
pub struct Recorded<'a> {
    /// Its id.
    pub id: &'a str,
    /// All of it.
    pub conversation: &'a Conversation,
    /// The tools it was held with.
    pub tools: &'a Toolbox,
    /// Where it was held.
    pub place: &'a Place,
    /// The turns whose changes were taken back: how many messages stood before each.
    pub taken_back: &'a [u64],
    /// Removes from a text what must not be written to a file.
    pub redact: &'a dyn Fn(&str) -> String,
}

/// A turn of the person's.
#[derive(Default)]
struct Turn {
    said: String,
    commands: Vec<String>,
    /// Files that were changed without a command.
    edited: Vec<PathBuf>,
}

/// The longest message that is quoted above its commands, in characters.
const LONGEST_WORDS: usize = 100;

/// Writes the script of a session; `None` if none of its commands succeeded.
#[must_use]
pub fn script(recorded: &Recorded<'_>, form: ScriptForm, locale: &Locale) -> Option<String> {
    let (turns, left_out) = turns(recorded);
    let edited = turns.iter().flat_map(|turn| &turn.edited);
    let mut files: Vec<String> = edited.map(|path| recorded.place.shown(path).display().to_string()).collect();
    files.sort();
    files.dedup();
    let turns: Vec<Turn> = turns.into_iter().filter(|turn| !turn.commands.is_empty()).collect();
    if turns.is_empty() {
        return None;
    }
    let mut secrets = Secrets::default();
    let hidden = locale.text(word::script::HIDDEN);
    let bodies: Vec<(String, String)> = turns
        .iter()
        .enumerate()
        .map(|(number, turn)| {
            let commands = turn.commands.iter().map(|line| command(line, &mut secrets, hidden));
            (format!("{}. {}", number + 1, turn.said), commands.collect::<Vec<_>>().join("\n"))
        })
        .collect();
    let mut head = vec![locale.with(word::script::Head { id: recorded.id })];
    if left_out > 0 {
        head.push(locale.count(word::script::LEFT_OUT, left_out));
    }
    if !files.is_empty() {
        head.push(locale.with(word::script::Edited { files: &files.join(", ") }));
    }
    if secrets.count > 0 {
        head.push(locale.text(word::script::SECRETS).to_owned());
    }
    let head: String = head.iter().map(|line| comment(line)).collect();
    let mut begin: String = (1..=secrets.count).fold(String::new(), |mut begin, number| {
        let _ = writeln!(begin, ": \"${{SECRET_{number}:?}}\"");
        begin
    });
    let _ = writeln!(begin, "cd {}", quoted(&recorded.place.cwd));
    Some(match form {
        ScriptForm::Shell => shell(&head, &begin, &bodies),
        ScriptForm::Makefile => {
            makefile(&(head + &need_of_make(locale.text(word::script::OLD_MAKE))), &begin, &bodies)
        }
        ScriptForm::Justfile => justfile(&head, &begin, &bodies),
    })
}

fn shell(head: &str, begin: &str, bodies: &[(String, String)]) -> String {
    let mut script = format!("#!/usr/bin/env bash\n{head}set -euo pipefail\n\n{begin}");
    for (said, body) in bodies {
        let _ = write!(script, "\n{}{body}\n", comment(said));
    }
    script
}

/// Stops a make older than 3.82: it would run each line in a shell of its own, in the wrong directory.
fn need_of_make(words: &str) -> String {
    format!("ifeq (,$(filter oneshell,$(.FEATURES)))\n$(error {words})\nendif\n")
}

fn makefile(head: &str, begin: &str, bodies: &[(String, String)]) -> String {
    let names: Vec<String> = (1..=bodies.len()).map(|number| format!("step-{number}")).collect();
    let mut script = format!(
        "{head}SHELL := bash\n.SHELLFLAGS := -euo pipefail -c\n.ONESHELL:\n.PHONY: all {}\n\nall: {}\n",
        names.join(" "),
        names.join(" ")
    );
    for (number, (said, body)) in bodies.iter().enumerate() {
        let before = number.checked_sub(1).map(|before| format!(" {}", names[before])).unwrap_or_default();
        let _ = write!(script, "\n{}{}:{before}\n", comment(said), names[number]);
        for line in begin.lines().chain(body.lines()) {
            let _ = writeln!(script, "\t{}", line.replace('$', "$$"));
        }
    }
    script
}

fn justfile(head: &str, begin: &str, bodies: &[(String, String)]) -> String {
    let names: Vec<String> = (1..=bodies.len()).map(|number| format!("step-{number}")).collect();
    let mut script = format!("{head}\nall: {}\n", names.join(" "));
    for (number, (said, body)) in bodies.iter().enumerate() {
        let _ = write!(
            script,
            "\n{}{}:\n    #!/usr/bin/env bash\n    set -euo pipefail\n",
            comment(said),
            names[number]
        );
        for line in begin.lines().chain(body.lines()) {
            let _ = writeln!(script, "    {}", line.replace("{{", "{{{{"));
        }
    }
    script
}

/// The turns of a session, and how many of its commands are left out.
fn turns(recorded: &Recorded<'_>) -> (Vec<Turn>, u64) {
    let messages = recorded.conversation.messages();
    let (mut turns, mut left_out, mut gone) = (vec![Turn::default()], 0, false);
    for (index, message) in messages.iter().enumerate() {
        if message.role == Role::User && !message.has_results() {
            gone = recorded.taken_back.contains(&(index as u64));
            turns.push(Turn { said: first_words(&(recorded.redact)(&message.text())), ..Turn::default() });
        }
        for call in message.calls() {
            let result = messages.get(index + 1).and_then(|next| next.result_of(&call.id));
            let worked = result.is_some_and(|result| result.outcome == Ended::Ok);
            let Some(tool) = recorded.tools.find(&call.name) else {
                // The tool is not here any more: nobody knows what it did.
                left_out += u64::from(worked);
                continue;
            };
            let Some(turn) = turns.last_mut() else { continue };
            match tool.subject(&call.input, recorded.place) {
                Subject::Command { line } if recorded.tools.identity(&call.name).verb == ToolVerb::Run => {
                    let ended_well = result.is_some_and(|result| result.facts.exit_code == Some(0));
                    if worked && ended_well && !gone {
                        turn.commands.push((recorded.redact)(&line));
                    } else {
                        left_out += 1;
                    }
                }
                Subject::Paths { paths } if worked && !gone => {
                    let effect = tool.effect(&call.input, recorded.place);
                    if matches!(effect, Effect::Write | Effect::Delete) {
                        turn.edited.extend(paths);
                    }
                }
                Subject::Command { .. } | Subject::Paths { .. } | Subject::Host { .. } | Subject::Whole => {}
            }
        }
    }
    (turns, left_out)
}

fn first_words(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.chars().filter(|character| !character.is_control()).take(LONGEST_WORDS).collect()
}

/// A line that no shell runs and that make does not join with another line.
fn comment(text: &str) -> String {
    let text: String = text.chars().filter(|character| !character.is_control()).collect();
    format!("# {}\n", text.trim_end_matches('\\'))
}

fn quoted(path: &Path) -> String {
    // Only a NUL cannot be quoted, and no path has one.
    shlex::try_quote(&path.to_string_lossy()).unwrap_or_default().into_owned()
}

/// The variables that replace the secrets.
#[derive(Default)]
struct Secrets {
    /// The number of each stand-in. Every plain mark gets its own number: it does not say which secret it was.
    known: Vec<(String, usize)>,
    count: usize,
}

impl Secrets {
    fn number(&mut self, placeholder: &str) -> usize {
        if placeholder != crate::secret::MARK
            && let Some((_, number)) = self.known.iter().find(|(known, _)| known == placeholder)
        {
            return *number;
        }
        self.count += 1;
        self.known.push((placeholder.to_owned(), self.count));
        self.count
    }
}

/// Writes a command as it ran, with variables for what was taken out: in a shell of its own without the script's strict
/// options, unless these make no difference. Where no variable can stand for a secret nothing is run.
fn command(line: &str, secrets: &mut Secrets, hidden: &str) -> String {
    let line = line.trim_end();
    let Some(line) = with_variables(line, secrets) else {
        let lines = std::iter::once(hidden).chain(line.lines());
        return lines.map(comment).collect::<String>().trim_end().to_owned();
    };
    if is_plain(&line) { line } else { format!("(\nset +eu +o pipefail\n{line}\n)") }
}

/// Builtins of bash that leave nothing behind in the shell.
const PASSING: &[&str] = &["echo", "printf", "test", "[", "true", "false", "pwd", "type", "kill"];

/// Tells whether a line is one program with plain words: it changes nothing of the shell, and no option of the shell
/// changes it.
fn is_plain(line: &str) -> bool {
    let program = line.split(' ').next().unwrap_or_default();
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || "_./+-".contains(letter);
    let plain = |letter: char| is_word(letter) || " =,:@%*?~'\"".contains(letter) || !letter.is_ascii();
    !program.is_empty()
        && program.chars().all(is_word)
        && (PASSING.contains(&program) || !is_builtin(program))
        && line.chars().all(plain)
}

/// Tells whether bash itself does this (bash 5.2, `compgen -b` and `compgen -k`).
fn is_builtin(word: &str) -> bool {
    const BUILTINS: &str = " . : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare \
        dirs disown echo enable eval exec exit export false fc fg getopts hash help history jobs kill let local logout \
        mapfile popd printf pushd pwd read readarray readonly return set shift shopt source suspend test times trap true \
        type typeset ulimit umask unalias unset wait if then else elif fi case esac for select while until do done in \
        function time { } ! [[ ]] coproc ";
    BUILTINS.split_whitespace().any(|known| known == word)
}

/// Puts variables for what was taken out of a line; `None` where the quoting around it cannot be told for sure.
fn with_variables(line: &str, secrets: &mut Secrets) -> Option<String> {
    let found = placeholders(line);
    if found.is_empty() {
        return Some(line.to_owned());
    }
    // In each of these places quotes have another meaning.
    if ["<<", "$(", "`", "$'", "$\"", "#"].iter().any(|odd| line.contains(odd)) {
        return None;
    }
    let mut written = String::new();
    let (mut quote, mut escaped, mut at) = (None, false, 0);
    for range in found {
        for character in line[at..range.start].chars() {
            match (quote, character) {
                _ if escaped => escaped = false,
                (None | Some('"'), '\\') => escaped = true,
                (None, '\'' | '"') => quote = Some(character),
                (Some(open), close) if open == close => quote = None,
                _ => {}
            }
        }
        written.push_str(&line[at..range.start]);
        if escaped {
            return None;
        }
        let number = secrets.number(&line[range.clone()]);
        match quote {
            None => write!(written, "\"${{SECRET_{number}}}\"").ok()?,
            Some('"') => write!(written, "${{SECRET_{number}}}").ok()?,
            Some(_) => write!(written, "'\"${{SECRET_{number}}}\"'").ok()?,
        }
        at = range.end;
    }
    written.push_str(&line[at..]);
    Some(written)
}

pub(super) fn run(context: &mut Context<'_>, argument: &str) -> Outcome {
    let locale = context.locale;
    let form = if argument.is_empty() { Some(ScriptForm::Shell) } else { ScriptForm::parse(argument) };
    let Some(form) = form else {
        let known = &ScriptForm::WORDS.join(", ");
        let what = locale.with(word::said::WordUnknown { word: argument, known });
        return Outcome::Fail(Problem { what, hint: String::new() });
    };
    let agent = &*context.agent;
    let taken_back = match agent.said().taken_back() {
        Ok(turns) => turns.iter().map(|turn| turn.messages).collect::<Vec<_>>(),
        Err(error) => {
            let (path, cause) = (&error.path.display().to_string(), &error.cause.to_string());
            let what = locale.with(word::error::Io { path, cause });
            return Outcome::Fail(Problem { what, hint: String::new() });
        }
    };
    let recorded = Recorded {
        id: agent.session().id().as_str(),
        conversation: &agent.said().whole(),
        tools: agent.tools(),
        place: agent.place(),
        taken_back: &taken_back,
        redact: &|text| agent.session().redacted(text),
    };
    script(&recorded, form, locale)
        .map_or_else(|| Outcome::Say(locale.text(word::script::NONE).to_owned()), Outcome::Raw)
}

#[cfg(test)]
#[path = "script_tests.rs"]
mod tests;
