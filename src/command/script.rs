//! `/script` and `axi script`: the commands of a session that worked, as a script.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::script_forms::{comment, justfile, makefile, need_of_make, shell, taskfile};
use super::script_lines::{Secrets, command};
use super::{Context, Outcome, Problem};
use crate::conversation::{Conversation, Effect, Outcome as Ended, Role, Subject, ToolVerb};
use crate::locale::{Locale, word};
use crate::tool::{Roots, Toolbox};

/// What a script is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptForm {
    /// Bash.
    Shell,
    /// make.
    Makefile,
    /// just.
    Justfile,
    /// task (taskfile.dev).
    Taskfile,
}

impl ScriptForm {
    /// Their names.
    pub const WORDS: &[&str] =
        &[Self::Shell.word(), Self::Makefile.word(), Self::Justfile.word(), Self::Taskfile.word()];

    const fn word(self) -> &'static str {
        match self {
            Self::Shell => "sh",
            Self::Makefile => "makefile",
            Self::Justfile => "justfile",
            Self::Taskfile => "task",
        }
    }

    /// Reads a name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Shell, Self::Makefile, Self::Justfile, Self::Taskfile].into_iter().find(|form| form.word() == name)
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
    pub roots: &'a Roots,
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
    let mut files: Vec<String> = edited.map(|path| recorded.roots.shown(path).display().to_string()).collect();
    files.sort();
    files.dedup();
    let turns: Vec<Turn> = turns.into_iter().filter(|turn| !turn.commands.is_empty()).collect();
    if turns.is_empty() {
        return None;
    }
    let mut secrets = Secrets::default();
    let hidden = locale.text(word::script::HIDDEN);
    let is_checked = form == ScriptForm::Shell;
    let bodies: Vec<(String, String)> = turns
        .iter()
        .enumerate()
        .map(|(number, turn)| {
            let commands = turn.commands.iter().map(|line| command(line, &mut secrets, hidden, is_checked));
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
    let _ = writeln!(begin, "cd {}", quoted(&recorded.roots.cwd));
    Some(match form {
        ScriptForm::Shell => shell(&head, &begin, &bodies),
        ScriptForm::Makefile => {
            makefile(&(head + &need_of_make(locale.text(word::script::OLD_MAKE))), &begin, &bodies)
        }
        ScriptForm::Justfile => justfile(&head, &begin, &bodies),
        ScriptForm::Taskfile => taskfile(&head, &begin, &bodies),
    })
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
            let read = recorded.tools.find(&call.name).map(|tool| tool.read(&call.input, recorded.roots));
            let Some(request) = read else {
                // The tool is not here any more: nobody knows what it did.
                left_out += u64::from(worked);
                continue;
            };
            let Some(turn) = turns.last_mut() else { continue };
            match request.subject() {
                Subject::Command { line } if recorded.tools.identity(&call.name).verb == ToolVerb::Run => {
                    let ended_well = result.is_some_and(|result| result.facts.exit_code == Some(0));
                    if worked && ended_well && !gone {
                        turn.commands.push((recorded.redact)(&line));
                    } else {
                        left_out += 1;
                    }
                }
                Subject::Paths { paths } if worked && !gone => {
                    let effect = request.effect();
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

fn quoted(path: &Path) -> String {
    // Only a NUL cannot be quoted, and no path has one.
    shlex::try_quote(&path.to_string_lossy()).unwrap_or_default().into_owned()
}

pub(super) fn run(context: &mut Context<'_>, argument: &str) -> Outcome {
    let locale = context.locale;
    // As on the command line, too.
    let argument = argument.strip_prefix("--as").map_or(argument, |rest| rest.trim_start_matches(['=', ' ']));
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
        roots: agent.roots(),
        taken_back: &taken_back,
        redact: &|text| agent.session().redacted(text),
    };
    script(&recorded, form, locale)
        .map_or_else(|| Outcome::Say(locale.text(word::script::NONE).to_owned()), Outcome::Raw)
}

#[cfg(test)]
#[path = "script_tests.rs"]
mod tests;
