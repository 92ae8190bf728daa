//! The output of the last command: found, cleaned, and sent only if the person says so.

use std::ffi::OsString;
use std::path::PathBuf;

use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::capture::{around, nearest};
use super::consent::{Matter, OutputConsent};
use super::cut::{Wanted, last_output};
use super::facts::{Facts, LastCommand};
use crate::frontend::human::Human;
use crate::frontend::stage::Stage;
use crate::locale::{Locale, word};
use crate::secret::{self, Known, Level};
use crate::terminal::{KeyWatch, Output as Out, Pending, Size, escape_wait, sanitize_line};
use crate::tool::output;

/// How much of it is sent: the beginning and the end.
const LIMITS: output::Limits = output::Limits { lines: 160, bytes: 8 * 1024 };

/// The longest command in the question, in characters.
const SHOWN: usize = 40;

/// The longest row of the output that is shown before the question, in characters.
const EDGE: usize = 70;

/// Words of a line that asks about what was printed, in lower case; of whole words where they have letters of ours.
const ASKING: &[&str] = &[
    "why", "error", "errors", "fail", "failed", "fails", "failure", "failing", "failures", "output", "wrong",
    "warning", "warnings", "happened", "printed", "says", "said", "message", "broken", "crash", "crashed",
    "explain", "mean", "means", "meant", "above",
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

/// The decision about the output.
pub(super) enum Output {
    /// Nobody holds it, it does not matter, or it must not be sent.
    None,
    /// What the model reads.
    Sent(String),
    /// ESC: the person wants their prompt back.
    Stopped,
}

/// Tells whether the line asks about the output, or is empty: an empty line cannot mean anything else.
fn asks(facts: &Facts) -> bool {
    let line = facts.message().to_lowercase();
    let mut words = line.split(|character: char| !character.is_alphanumeric());
    line.is_empty()
        || words.any(|word| ASKING.contains(&word))
        || ASKING_WIDE.iter().any(|word| line.contains(word))
}

/// Looks a variable of the environment up, whatever its bytes are.
pub type Lookup = Box<dyn Fn(&str) -> Option<OsString>>;

/// What it takes to send the output of the last command.
pub struct OutputSource {
    /// The environment, which says who holds the screen.
    pub variable: Lookup,
    /// The secrets that are known.
    pub known: Known,
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
        let last = facts.last.as_ref().filter(|_| asks(facts))?;
        if self.consent.as_ref().is_some_and(|it| it.is_refused(Matter::Output, &self.workspace)) {
            return None;
        }
        let around = around(&self.variable);
        let (around, screen) = runtime.block_on(async {
            let around = nearest(around).await?;
            let screen = around.ask().await?;
            Some((around, screen))
        })?;
        let line = facts.message();
        let columns = usize::from(Size::of_terminal(None, None).columns);
        let found = last_output(&screen, Wanted { command: &last.command, line: &line, columns })?;
        Some(self.cleaned(found.as_bytes(), around.holder.name))
    }

    /// Makes what may be sent of what was printed; `holder` is where it comes from.
    pub(super) fn cleaned(&self, printed: &[u8], holder: &str) -> Captured {
        let found = output::clean(printed);
        let (clean, secrets) = secret::redact(found.trim_end(), &self.known, Level::Sent);
        let lines = clean.lines().count() as u64;
        Captured { text: output::trim(&clean, LIMITS), lines, secrets, holder: holder.to_owned() }
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
    let lines = found.measure(&locale);
    let is_known = source.consent.as_ref().is_some_and(|it| it.is_given(Matter::Output, &source.workspace));
    if is_known {
        let said = locale.with(word::handoff::OutputSent { lines: &lines });
        human.painter().say(&said);
    } else {
        match choose(found, source, human, stage, &lines, last, pending) {
            Some(Answer::Once) => {}
            Some(Answer::Always) => {
                keep(human, source.consent.as_ref().map(|it| it.give(Matter::Output, &source.workspace)));
            }
            Some(Answer::No) => return Output::None,
            Some(Answer::Never) => {
                keep(human, source.consent.as_ref().map(|it| it.refuse(Matter::Output, &source.workspace)));
                return Output::None;
            }
            None => return Output::Stopped,
        }
    }
    // Nothing in it can end it.
    let inside = found.text.replace("</output>", "<\\/output>");
    Output::Sent(format!("\n\nWhat the last command printed:\n<output>\n{inside}\n</output>"))
}

/// Says that an answer could not be kept.
pub(super) fn keep(human: &mut Human<Out>, kept: Option<std::io::Result<()>>) {
    if let Some(Err(error)) = kept {
        let said = human.locale().with(word::said::NotSaved { cause: &error.to_string() });
        human.painter().warn(&said);
    }
}

/// The first and the last row of what would be sent, and how much is between them.
fn edges(text: &str, locale: &Locale) -> Vec<String> {
    let rows: Vec<&str> = text.lines().filter(|row| !row.trim().is_empty()).collect();
    let shown = |row: &&str| {
        let row = sanitize_line(row.trim_end()).into_owned();
        let cut: String = row.chars().take(EDGE).collect();
        if cut.len() < row.len() { format!("  {cut}…") } else { format!("  {cut}") }
    };
    match rows.as_slice() {
        [] => Vec::new(),
        [only] => vec![shown(only)],
        [first, last] => vec![shown(first), shown(last)],
        [first, between @ .., last] => {
            let lines = locale.count(word::title::LINES, between.len() as u64);
            vec![shown(first), locale.with(word::handoff::OutputBetween { lines: &lines }), shown(last)]
        }
    }
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
    let command = &shown(last);
    let question = locale.with(word::handoff::OutputQuestion { command, lines, holder: &found.holder });
    let directory = &source.shown_workspace;
    let texts = [
        locale.text(word::handoff::OUTPUT_ONCE).to_owned(),
        locale.with(word::handoff::OutputAlways { directory }),
        locale.text(word::handoff::OUTPUT_NO).to_owned(),
        locale.with(word::handoff::OutputNever { directory }),
    ];
    decide(&question, &edges(&found.text, &locale), texts, human, stage, pending)
}

/// The beginning of a command, for a question.
pub(super) fn shown(last: &LastCommand) -> String {
    let command = sanitize_line(last.command.lines().next().unwrap_or_default()).into_owned();
    command.chars().take(SHOWN).collect()
}

/// Asks; `texts` say once, always, no and never. Enter says no: what is sent may contain secrets that no table knows.
pub(super) fn decide(
    question: &str,
    rows: &[String],
    texts: [String; 4],
    human: &mut Human<Out>,
    stage: &Stage,
    pending: &Pending,
) -> Option<Answer> {
    // Keys typed before the question appeared remain type-ahead: they never answer it.
    let cancel = CancellationToken::new();
    if let Ok(keys) = KeyWatch::start(cancel.clone(), pending.clone(), escape_wait(stage.remote)) {
        keys.settle();
    }
    if cancel.is_cancelled() {
        return None;
    }
    for row in rows {
        human.painter().say(row);
    }
    let answers = [('y', Answer::Once), ('a', Answer::Always), ('n', Answer::No), ('d', Answer::Never)];
    let items: Vec<(char, String)> = answers.iter().map(|(key, _)| *key).zip(texts).collect();
    let start = answers.iter().position(|(_, answer)| matches!(answer, Answer::No)).unwrap_or_default();
    let picked = stage.terminal.decide_from(question, "", &items, start);
    human.painter().screen().forget();
    picked.ok().and_then(|index| answers.get(index)).map(|(_, answer)| *answer)
}

/// The output as it would be sent.
pub(super) struct Captured {
    pub(super) text: String,
    lines: u64,
    secrets: usize,
    pub(super) holder: String,
}

impl Captured {
    /// Says how much it is.
    pub(super) fn measure(&self, locale: &Locale) -> String {
        let mut lines = locale.count(word::title::LINES, self.lines);
        if self.secrets > 0 {
            lines.push_str(locale.text(word::handoff::AND));
            lines.push_str(&locale.count(word::handoff::SECRETS, self.secrets as u64));
        }
        lines
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Answer {
    Once,
    Always,
    No,
    Never,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_is_asked_for_only_where_the_line_is_empty_or_asks_about_it() {
        let asks = |line: &str| super::asks(&Facts { line: line.into(), ..Facts::default() });
        let about = ["", "why is it slow", "What went WRONG?", "what does this mean", "这个警告什么意思"];
        assert_eq!(about.map(asks), [true; 5]);
        let others = ["list the files", "make this directory", "git checkout item", "rename it to old"];
        assert_eq!(others.map(asks), [false; 4]);
    }

    #[test]
    fn the_person_sees_the_edges_of_what_would_be_sent() {
        let locale = Locale::new("en");
        let edges = |text: &str| super::edges(text, &locale);
        assert_eq!(edges("one\n"), ["  one"]);
        assert_eq!(edges("\none\n\ntwo\n"), ["  one", "  two"]);
        assert_eq!(edges("one\n2\n3\nfour"), ["  one", "  … 2 lines …", "  four"]);
        let long = edges(&"wide 想 ".repeat(40));
        assert_eq!((long.len(), long[0].chars().count()), (1, 2 + EDGE + 1));
    }
}
