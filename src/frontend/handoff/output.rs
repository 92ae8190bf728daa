//! The output of the last command: found, cleaned, and sent only if the person says so.

use std::ffi::OsString;
use std::path::PathBuf;

use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::capture::{around, nearest};
use super::consent::OutputConsent;
use super::cut::{Wanted, last_output};
use super::facts::{Facts, LastCommand};
use super::scrub::scrub;
use crate::frontend::human::Human;
use crate::frontend::stage::Stage;
use crate::locale::word;
use crate::terminal::{KeyWatch, Output as Out, Pending, Size, escape_wait, sanitize_line};
use crate::tool::output;

/// How much of it is sent: the beginning and the end.
const LIMITS: output::Limits = output::Limits { lines: 160, bytes: 8 * 1024 };

/// The longest command in the question, in characters.
const SHOWN: usize = 40;

/// Words of a line that asks about what was printed, in lower case; of whole words where they have letters of ours.
const ASKING: &[&str] = &[
    "why", "error", "errors", "fail", "failed", "fails", "failure", "failing", "failures", "output", "wrong",
    "warning", "warnings", "happened", "printed", "says", "said", "message", "broken", "crash", "crashed",
    "explain", "this", "that", "it", "above",
];
const ASKING_WIDE: &[&str] = &[
    "为什么",
    "为何",
    "错误",
    "报错",
    "出错",
    "失败",
    "输出",
    "怎么回事",
    "怎么了",
    "警告",
    "什么意思",
    "解释",
    "上面",
];

/// What became of the output.
pub(super) enum Output {
    /// Nobody has it, it does not matter, or it is not to be sent.
    None,
    /// What the model reads.
    Sent(String),
    /// ESC: the person wants their prompt back.
    Stopped,
}

/// Tells whether the output of the last command can matter to this line.
fn matters(facts: &Facts, last: &LastCommand) -> bool {
    let line = facts.message().to_lowercase();
    let mut words = line.split(|character: char| !character.is_alphanumeric());
    last.failed()
        || line.is_empty()
        || words.any(|word| ASKING.contains(&word))
        || ASKING_WIDE.iter().any(|word| line.contains(word))
}

/// Looks a variable of the environment up, whatever its bytes are.
pub type Lookup = Box<dyn Fn(&str) -> Option<OsString>>;

/// What it takes to send the output of the last command.
pub struct OutputSource {
    /// The environment, which says who holds the screen.
    pub variable: Lookup,
    /// Takes out the secrets that are known.
    pub known: Box<dyn Fn(&str) -> String>,
    /// Where nobody needs to be asked; `None` asks every time.
    pub consent: Option<OutputConsent>,
    /// The root of the workspace.
    pub workspace: PathBuf,
    /// The same, as people read it.
    pub shown_workspace: String,
}

impl OutputSource {
    /// Finds the output. Nothing was printed before.
    pub(super) fn captured(&self, runtime: &Runtime, facts: &Facts) -> Option<Captured> {
        let last = facts.last.as_ref().filter(|last| matters(facts, last))?;
        let around = around(&self.variable);
        let (around, screen) = runtime.block_on(async {
            let around = nearest(around).await?;
            let screen = around.ask().await?;
            Some((around, screen))
        })?;
        let line = facts.message();
        let columns = usize::from(Size::of_terminal(None, None).columns);
        let found = last_output(&screen, Wanted { command: &last.command, line: &line, columns })?;
        let found = output::clean(found.as_bytes());
        let (clean, secrets) = scrub(found.trim_end(), &self.known);
        let lines = clean.lines().count() as u64;
        Some(Captured { text: output::trim(&clean, LIMITS), lines, secrets, holder: around.holder.name })
    }
}

/// Asks the person, and tells what is sent.
pub(super) fn consented(
    found: &Captured,
    source: &OutputSource,
    human: &mut Human<Out>,
    stage: &Stage,
    facts: &Facts,
    pending: &Pending,
) -> Output {
    let locale = human.locale().clone();
    let Some(last) = &facts.last else { return Output::None };
    let mut lines = locale.count(word::title::LINES, found.lines);
    if found.secrets > 0 {
        lines.push_str(locale.text(word::handoff::AND));
        lines.push_str(&locale.count(word::handoff::SECRETS, found.secrets as u64));
    }
    let is_known = source.consent.as_ref().is_some_and(|it| it.is_given(&source.workspace));
    if is_known {
        let said = locale.with(word::handoff::OutputSent { lines: &lines });
        human.painter().say(&said);
    } else {
        match choose(found, source, human, stage, &lines, last, pending) {
            Some(Answer::Once) => {}
            Some(Answer::Always) => {
                let given = source.consent.as_ref().map(|it| it.give(&source.workspace));
                if let Some(Err(error)) = given {
                    let said = locale.with(word::said::NotSaved { cause: &error.to_string() });
                    human.painter().warn(&said);
                }
            }
            Some(Answer::No) => return Output::None,
            None => return Output::Stopped,
        }
    }
    // Nothing in it can end it.
    let inside = found.text.replace("</output>", "<\\/output>");
    Output::Sent(format!("\n\nWhat the last command printed:\n<output>\n{inside}\n</output>"))
}

fn choose(
    found: &Captured,
    source: &OutputSource,
    human: &mut Human<Out>,
    stage: &Stage,
    lines: &str,
    last: &LastCommand,
    pending: &Pending,
) -> Option<Answer> {
    let locale = human.locale().clone();
    // Keys typed before the question appeared stay type-ahead: they never answer it.
    let cancel = CancellationToken::new();
    if let Ok(keys) = KeyWatch::start(cancel.clone(), pending.clone(), escape_wait(stage.remote)) {
        keys.settle();
    }
    if cancel.is_cancelled() {
        return None;
    }
    let command = sanitize_line(last.command.lines().next().unwrap_or_default()).into_owned();
    let command: String = command.chars().take(SHOWN).collect();
    let question = locale.with(word::handoff::OutputQuestion { command: &command, lines, holder: found.holder });
    let always = locale.with(word::handoff::OutputAlways { directory: &source.shown_workspace });
    let choices = [
        ('y', locale.text(word::handoff::OUTPUT_ONCE).to_owned()),
        ('a', always),
        ('n', locale.text(word::handoff::OUTPUT_NO).to_owned()),
    ];
    let picked = stage.terminal.decide(&question, "", &choices);
    human.painter().screen().forget();
    picked.ok().and_then(|index| [Answer::Once, Answer::Always, Answer::No].get(index).copied())
}

/// The output as it would be sent.
pub(super) struct Captured {
    text: String,
    lines: u64,
    secrets: usize,
    holder: &'static str,
}

#[derive(Debug, Clone, Copy)]
enum Answer {
    Once,
    Always,
    No,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_matters_after_a_failure_or_where_the_line_asks_about_it() {
        let matters = |line: &str, status: i32| {
            let last = LastCommand { command: "make".into(), status, milliseconds: 0 };
            let facts = Facts { line: line.into(), last: Some(last.clone()), ..Facts::default() };
            super::matters(&facts, &last)
        };
        assert!(matters("list the files", 2) && matters("", 0));
        assert!(matters("why is it slow", 0) && matters("What went WRONG?", 0) && matters("这个警告什么意思", 0));
        assert!(
            !matters("list the files", 0) && !matters("list the files", 130) && !matters("git checkout item", 0)
        );
    }
}
