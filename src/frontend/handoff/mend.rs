//! Mends the last command when the handed line is empty: one short request to a model on this machine, whose answer
//! stands on the prompt line. Nothing of it is run.
//!
//! It is no turn: no tools, no conversation. A small model reads these few words in the time in which it would read
//! the tools' names.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::extract::{NONE, extract, only_command};
use super::facts::{Facts, LastCommand};
use super::near::Near;
use super::rewrite::{NoCommand, ask};
use crate::conversation::Message;
use crate::provider::Provider;
use crate::secret::{self, Known, Level};
use crate::tool::is_plain_line;

/// The most of an output that is read here, in characters: its end says what went wrong.
const SHOWN: usize = 700;

/// The longest reason, in characters.
const WHY: usize = 160;

/// What the model is. The same bytes each time, so that a server that has read them once need not again.
const SYSTEM: &str = "\
You mend shell commands that failed. You see the command, its exit code, what it printed if that is known, and names \
that exist here. Answer in exactly two lines:
COMMAND: the whole corrected command
WHY: the cause, in at most twelve words
Change only what is wrong. A name that exists here is better than one you guess. If no command can mend it, answer ";

/// Failures with their answers: a small model follows them better than rules.
const EXAMPLES: &[(&str, &str)] = &[
    (
        "$ git comit -m 'first try'\nexit code 1\nprinted:\ngit: 'comit' is not a git command. See 'git --help'.\n\n\
         The most similar command is\n\tcommit",
        "COMMAND: git commit -m 'first try'\nWHY: comit is a typing error for commit",
    ),
    (
        "$ cat setings.toml\nexit code 1\nprinted:\ncat: setings.toml: No such file or directory\nexists here: \
         settings.toml",
        "COMMAND: cat settings.toml\nWHY: the file is called settings.toml",
    ),
    (
        "$ mkdir out/a/b\nexit code 1\nprinted:\nmkdir: cannot create directory 'out/a/b': No such file or directory",
        "COMMAND: mkdir -p out/a/b\nWHY: out/a does not exist; -p makes it, too",
    ),
    (
        "$ cat /var/log/secure\nexit code 1\nprinted:\ncat: /var/log/secure: Permission denied",
        "COMMAND: sudo cat /var/log/secure\nWHY: only root may read this file",
    ),
    ("$ sl -l\nexit code 127: there is no such command\nprograms: ls, sl", "COMMAND: ls -l\nWHY: sl should be ls"),
];

/// A command in place of one that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mended {
    /// The command.
    pub command: String,
    /// Why, in one line; may be empty.
    pub why: String,
}

/// Who mends.
pub struct Mender {
    /// The model.
    pub provider: Arc<dyn Provider>,
    /// The language of the reason: a tag.
    pub language: String,
    /// Finds the names that a command may have meant.
    pub near: Near,
    /// How long it may take.
    pub limit: Duration,
}

impl Mender {
    /// Asks once; `None` if the model knows no other command.
    ///
    /// # Errors
    /// [`NoCommand`].
    ///
    /// # Cancel safety
    /// Dropping it closes the connection.
    pub(super) async fn mend(
        &self,
        facts: &Facts,
        printed: Option<&str>,
        known: &Known,
        cancel: &CancellationToken,
        show: impl FnMut(Duration),
    ) -> Result<Option<Mended>, NoCommand> {
        let Some(last) = &facts.last else { return Ok(None) };
        let mut system = format!("{SYSTEM}{NONE}.");
        if self.language != "en" {
            system.push_str("\nWrite WHY in this language: ");
            system.push_str(&self.language);
        }
        let messages = messages(&question(facts, last, printed, &self.near, known));
        // All but the question.
        let said = (system.as_str(), messages.as_slice(), messages.len() - 1);
        let answer = ask(self.provider.as_ref(), said, self.limit, cancel, show).await?;
        Ok(parse(&answer).filter(|mended| mended.command != last.command))
    }
}

/// The examples, and the question behind them.
fn messages(question: &str) -> Vec<Message> {
    let shown = EXAMPLES.iter().flat_map(|(failed, mended)| [Message::user(*failed), Message::assistant(*mended)]);
    shown.chain([Message::user(question)]).collect()
}

/// Words what is known of the failure.
fn question(facts: &Facts, last: &LastCommand, printed: Option<&str>, near: &Near, known: &Known) -> String {
    let clean = |text: &str| secret::redact(text, known, Level::Sent).0;
    let missing = if near.lacks_program(last) { ": there is no such command" } else { "" };
    let mut rows = vec![format!("$ {}", clean(&last.command)), format!("exit code {}{missing}", last.status)];
    if let Some(printed) = printed {
        rows.push(format!("printed:\n{}", end_of(printed.trim_end(), SHOWN)));
    }
    let definitions = facts.definitions();
    if !definitions.is_empty() {
        rows.push(format!("definitions:\n{}", clean(&definitions)));
    }
    rows.extend(near.rows(last));
    if !matches!(facts.shell.as_str(), "" | "bash" | "zsh") {
        rows.push(format!("shell: {}", facts.shell));
    }
    rows.join("\n")
}

/// The end of a text, from the beginning of a line where there is one.
fn end_of(text: &str, most: usize) -> &str {
    let Some((at, _)) = text.char_indices().rev().nth(most) else { return text };
    let end = &text[at..];
    end.split_once('\n').map_or(end, |(_, rest)| rest)
}

/// Reads the two lines; an answer in another form counts if it holds exactly one command.
fn parse(answer: &str) -> Option<Mended> {
    let answer = answer.rsplit_once("</think>").map_or(answer, |(_, said)| said).replace("\r\n", "\n");
    let (mut command, mut why) = (None, String::new());
    for line in answer.lines() {
        let bare = line.trim_start_matches(['*', '#', '-', '`', ' ']);
        if let Some(said) = labelled(bare, "command") {
            command = command.or(Some(said));
        } else if let Some(said) = labelled(bare, "why") {
            why = said.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(WHY).collect();
        }
    }
    let command = match command {
        // Behind the label it may stand in a fence of its own.
        Some("") | None => only_command(&answer)?,
        Some(command) => extract(command)?,
    };
    (is_plain_line(&command) && !command.contains("[redacted]")).then_some(Mended { command, why })
}

/// What stands behind a label, which may be bold.
fn labelled<'a>(line: &'a str, label: &str) -> Option<&'a str> {
    let rest = line.get(label.len()..).filter(|_| line.is_char_boundary(label.len()))?;
    if !line[..label.len()].eq_ignore_ascii_case(label) {
        return None;
    }
    let rest = rest.trim_start_matches('*');
    Some(rest.strip_prefix([':', '：'])?.trim_start_matches('*').trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mended(command: &str, why: &str) -> Mended {
        Mended { command: command.into(), why: why.into() }
    }

    #[test]
    fn both_lines_are_read_in_the_forms_that_models_write() {
        for answer in [
            "COMMAND: git push\nWHY: psuh is wrong",
            "Command: `git push`\nWhy:  psuh   is wrong\n",
            "**COMMAND:** git push\n**WHY:** psuh is wrong",
            "<think>COMMAND: rm x</think>COMMAND: git push\r\nWHY: psuh is wrong",
        ] {
            assert_eq!(parse(answer), Some(mended("git push", "psuh is wrong")), "{answer}");
        }
        assert_eq!(parse("```sh\ngit push\n```"), Some(mended("git push", "")));
    }

    #[test]
    fn an_answer_that_is_no_command_is_none() {
        for answer in ["NONE", "COMMAND: NONE\nWHY: nothing", "", "The disk is full.", "COMMAND: a\u{7}b", "WHY: x"]
        {
            assert_eq!(parse(answer), None, "{answer}");
        }
        assert_eq!(parse("COMMAND: curl -H [redacted] x"), None);
    }

    #[test]
    fn of_a_long_output_the_end_is_read() {
        assert_eq!(end_of("short", 10), "short");
        assert_eq!(end_of("one two\nthree\nfour", 12), "three\nfour");
        assert_eq!(end_of("错误错误错误", 3).chars().count(), 4);
    }
}
