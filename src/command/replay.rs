//! The page of a replay: what ran again, what differs, and what was not captured.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::agent::replay::{Comparison, Likeness, Step, Unrun};
use crate::conversation::{Outcome, Subject};
use crate::journal::{Kind, Left};
use crate::locale::{Locale, word};
use crate::terminal::sanitize_line;
use crate::tool::Toolbox;

/// The longest line of an output or of a command that is shown, in characters.
const LONGEST: usize = 160;
/// More files are told by their number.
const MOST_FILES: usize = 20;

/// A file that the session changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayedFile {
    /// Where it stands.
    pub path: PathBuf,
    /// As the session left it.
    pub then: Left,
    /// As this run left it.
    pub now: Left,
    /// Whether both are the same.
    pub same: bool,
    /// Whether a call that did not run again may be why they differ.
    pub in_doubt: bool,
}

/// A session that ran again.
pub struct Replayed<'a> {
    /// Its id.
    pub id: &'a str,
    /// Where it was held.
    pub then: &'a Path,
    /// Where it ran now.
    pub now: &'a Path,
    /// Its calls; those that ran, with how they compare.
    pub steps: &'a [(Step, Option<Comparison>)],
    /// The files that it changed.
    pub files: &'a [ReplayedFile],
    /// What only this run changed.
    pub beside: &'a [PathBuf],
    /// Whether all that the session changed is recorded, and all of it ran again.
    pub is_whole: bool,
    /// Whether it recorded what became of files.
    pub has_files: bool,
    /// The tools.
    pub tools: &'a Toolbox,
}

impl Replayed<'_> {
    fn ran(&self) -> usize {
        self.steps.iter().filter(|(_, compared)| compared.is_some()).count()
    }

    fn differences(&self) -> usize {
        let calls = self.steps.iter().filter_map(|(_, compared)| compared.as_ref());
        let calls = calls.filter(|compared| !compared.is_same()).count();
        let files = self.files.iter().filter(|file| !file.same && !file.in_doubt).count();
        // Where not all was recorded, nobody knows whether it was so then.
        calls + files + if self.is_whole { self.beside.len() } else { 0 }
    }

    /// Tells whether something ran again, and nothing that is compared differs.
    #[must_use]
    pub fn is_same(&self) -> bool {
        self.ran() > 0 && self.differences() == 0
    }

    fn shown(&self, path: &Path) -> String {
        sanitize_line(&path.strip_prefix(self.now).unwrap_or(path).to_string_lossy()).into_owned()
    }
}

/// Writes the page.
#[must_use]
pub fn replay_page(locale: &Locale, replayed: &Replayed<'_>) -> String {
    let mut page = locale.with(word::replay::Head { id: replayed.id });
    page.push('\n');
    if replayed.then != replayed.now {
        let (then, now) = (&clean(&replayed.then.to_string_lossy()), &clean(&replayed.now.to_string_lossy()));
        let _ = writeln!(page, "{}", locale.with(word::replay::Moved { then, now }));
    }
    for (step, compared) in replayed.steps {
        call(locale, replayed, step, compared.as_ref(), &mut page);
    }
    files(locale, replayed, &mut page);
    let _ = writeln!(page, "{}", locale.text(word::replay::NOT_CAPTURED));
    for line in not_captured(locale, replayed) {
        let _ = writeln!(page, "  · {line}");
    }
    let verdict = match (replayed.ran(), replayed.differences()) {
        (0, _) => locale.text(word::replay::NOTHING).to_owned(),
        (_, 0) => locale.text(word::replay::SAME).to_owned(),
        (_, differences) => locale.count(word::replay::DIFFERENT, differences as u64),
    };
    page + &verdict
}

fn call(locale: &Locale, replayed: &Replayed<'_>, step: &Step, compared: Option<&Comparison>, page: &mut String) {
    let about = match &step.subject {
        Subject::Command { line } => line.lines().collect::<Vec<_>>().join(" ⏎ "),
        Subject::Paths { paths } => paths.iter().map(|path| replayed.shown(path)).collect::<Vec<_>>().join(", "),
        Subject::Host { host } => host.clone(),
        Subject::Whole => String::new(),
    };
    let what = clean(format!("{} {about}", step.call.name).trim_end());
    let Some(compared) = compared else {
        let why = step.unrun.map(|unrun| locale.text(why(unrun))).unwrap_or_default();
        let _ = writeln!(page, "  · {what} — {why}");
        return;
    };
    let mark = if compared.is_same() { '✓' } else { '≠' };
    let _ = writeln!(page, "  {mark} {what}");
    if let Some((then, now)) = compared.exit {
        let code = |code: Option<i32>| code.map_or_else(|| "–".to_owned(), |code| code.to_string());
        let (then, now) = (&code(then), &code(now));
        let _ = writeln!(page, "      {}", locale.with(word::replay::Exit { then, now }));
    } else if let Some((then, now)) = compared.outcome {
        let (then, now) = (locale.text(outcome(then)), locale.text(outcome(now)));
        let _ = writeln!(page, "      {}", locale.with(word::replay::Outcome { then, now }));
    }
    if let Likeness::Differs { then, now } = &compared.output {
        let _ = writeln!(page, "      {}", locale.text(word::replay::OUTPUT));
        for (sign, line) in [('-', then), ('+', now)] {
            if let Some(line) = line {
                let _ = writeln!(page, "      {sign} {}", clean(line));
            }
        }
    }
}

fn files(locale: &Locale, replayed: &Replayed<'_>, page: &mut String) {
    let same = replayed.files.iter().filter(|file| file.same).count();
    if same > 0 {
        let _ = writeln!(page, "{}", locale.count(word::replay::FILES_SAME, same as u64));
    }
    for file in replayed.files.iter().filter(|file| !file.same && !file.in_doubt) {
        let path = &replayed.shown(&file.path);
        let how = match (&file.then.kind, &file.now.kind) {
            (_, Kind::Missing) => locale.with(word::replay::Missing { path }),
            (Kind::Missing, _) => locale.with(word::replay::Stays { path }),
            (Kind::File { .. }, Kind::File { .. })
                if file.then.executable != file.now.executable
                    && Left { executable: file.then.executable, ..file.now.clone() }.is_same(&file.then) =>
            {
                locale.with(word::replay::Executable { path })
            }
            (Kind::File { .. }, Kind::File { .. }) => locale.with(word::replay::Content { path }),
            (Kind::Link { .. }, Kind::Link { .. }) => locale.with(word::replay::Leads { path }),
            (_, _) => locale.with(word::replay::OtherKind { path }),
        };
        let _ = writeln!(page, "  ≠ {how}");
    }
    if replayed.is_whole {
        for path in replayed.beside.iter().take(MOST_FILES) {
            let path = &replayed.shown(path);
            let _ = writeln!(page, "  ≠ {}", locale.with(word::replay::Beside { path }));
        }
        let more = replayed.beside.len().saturating_sub(MOST_FILES);
        if more > 0 {
            let _ = writeln!(page, "  ≠ {}", locale.count(word::replay::MORE, more as u64));
        }
    }
}

/// What the comparison does not cover.
fn not_captured(locale: &Locale, replayed: &Replayed<'_>) -> Vec<String> {
    let mut lines = vec![locale.text(word::replay::START).to_owned(), locale.text(word::replay::AROUND).to_owned()];
    let mut counts: BTreeMap<Unrun, u64> = BTreeMap::new();
    for unrun in replayed.steps.iter().filter_map(|(step, _)| step.unrun) {
        *counts.entry(unrun).or_default() += 1;
    }
    lines.extend(counts.into_iter().map(|(unrun, count)| {
        let why = locale.text(why(unrun));
        format!("{}: {why}", locale.count(word::replay::CALLS, count))
    }));
    let times = |compared: &&Comparison| compared.output == Likeness::ButTimes;
    let times = replayed.steps.iter().filter_map(|(_, compared)| compared.as_ref()).filter(times).count();
    if times > 0 {
        lines.push(locale.count(word::replay::TIMES, times as u64));
    }
    if !replayed.has_files {
        lines.push(locale.text(word::replay::NO_FILES).to_owned());
    } else if !replayed.is_whole {
        lines.push(locale.text(word::replay::UNSEEN).to_owned());
        if !replayed.beside.is_empty() {
            lines.push(locale.count(word::replay::BESIDE_ONLY, replayed.beside.len() as u64));
        }
    }
    let in_doubt = replayed.files.iter().filter(|file| file.in_doubt).count();
    if in_doubt > 0 {
        lines.push(locale.count(word::replay::IN_DOUBT, in_doubt as u64));
    }
    lines
}

const fn why(unrun: Unrun) -> crate::locale::Word {
    match unrun {
        Unrun::NotThen => word::replay::why::NOT_THEN,
        Unrun::TakenBack => word::replay::why::TAKEN_BACK,
        Unrun::Unended => word::replay::why::UNENDED,
        Unrun::NoTool => word::replay::why::NO_TOOL,
        Unrun::Network => word::replay::why::NETWORK,
        Unrun::Outside => word::replay::why::OUTSIDE,
        Unrun::Secret => word::replay::why::SECRET,
        Unrun::Person => word::replay::why::PERSON,
    }
}

const fn outcome(outcome: Outcome) -> crate::locale::Word {
    match outcome {
        Outcome::Ok => word::replay::outcomes::OK,
        Outcome::Failed => word::replay::outcomes::FAILED,
        Outcome::Denied => word::replay::outcomes::DENIED,
        Outcome::Interrupted => word::replay::outcomes::INTERRUPTED,
    }
}

fn clean(text: &str) -> String {
    let text: String = text.chars().take(LONGEST).collect();
    sanitize_line(&text).into_owned()
}
