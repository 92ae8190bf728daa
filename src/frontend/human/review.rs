//! The review of a turn's trial: the page of what it would change, and what of it is applied.

use std::collections::BTreeSet;
use std::io::Write;

use super::asked;
use super::painter::{Painter, Section};
use super::question::Answers;
use super::questions::Questions;
use super::trial_diff;
use crate::agent::Review;
use crate::command::trial_changes;
use crate::conversation::{Answer, Question};
use crate::locale::word;
use crate::terminal::{Line, sanitize_line};
use crate::trial::{Change, ChangeSet, Kind};

/// What may be chosen, in this order.
const ALL: usize = 0;
const SOME: usize = 1;
const NOTHING: usize = 2;
/// So many files are chosen among at once: each has a digit.
const PAGE: usize = 9;

/// Shows the page and asks until it is said what is applied.
pub(super) fn review<W: Write>(painter: &mut Painter<W>, questions: &mut Questions<W>, set: &ChangeSet) -> Review {
    painter.begin(Section::Question);
    rows(painter, &trial_changes(painter.locale(), set));
    let text = |painter: &Painter<W>, key| painter.locale().text(key).to_owned();
    loop {
        let keys =
            [word::trial::review::ALL, word::trial::review::SOME, word::trial::ask::DROP, word::trial::ask::DIFF];
        let question = Question {
            text: text(painter, word::trial::review::QUESTION),
            choices: keys.map(|key| text(painter, key)).to_vec(),
            ..Question::default()
        };
        let count = question.choices.len().to_string();
        let hint = painter.locale().with(word::trial::review::Hint { count: &count });
        match one(painter, questions, &question, hint) {
            Ok(chosen) if chosen == [ALL] => return Review::All,
            Ok(chosen) if chosen == [SOME] => {
                if let Some(chosen) = chosen_files(painter, questions, set) {
                    return Review::Some(chosen);
                }
            }
            Ok(chosen) if chosen == [NOTHING] => return Review::Nothing,
            Ok(_) => {
                let diff = trial_diff::rows(painter.locale(), painter.ink(), set);
                painter.screen().commit_all(&diff);
            }
            Err(Answer::Unavailable) => return Review::Unavailable,
            // Who leaves it says yes to nothing.
            Err(_) => return Review::Nothing,
        }
    }
}

/// Has the person choose among the files; `None` where they went back.
fn chosen_files<W: Write>(
    painter: &mut Painter<W>,
    questions: &mut Questions<W>,
    set: &ChangeSet,
) -> Option<BTreeSet<std::path::PathBuf>> {
    // Directories go with what lies in them.
    let holds_none = |change: &Change| {
        !set.changes.iter().any(|other| other.path != change.path && other.path.starts_with(&change.path))
    };
    let offered: Vec<&Change> =
        set.changes.iter().filter(|change| !change.is_directory() || holds_none(change)).collect();
    let row = |change: &&Change| {
        let mark = match change.kind {
            Kind::Deleted => '-',
            Kind::Added => '+',
            Kind::Changed => '~',
            Kind::Mode => '*',
            Kind::Link => '>',
        };
        format!("{mark} {}", sanitize_line(&set.shown(&change.path).display().to_string()))
    };
    let mut wanted = BTreeSet::new();
    for page in offered.chunks(PAGE) {
        let question = Question {
            text: painter.locale().text(word::trial::review::WHICH).to_owned(),
            choices: page.iter().map(row).collect(),
            several: true,
            ..Question::default()
        };
        let count = page.len().to_string();
        let hint = painter.locale().with(word::trial::review::HintSeveral { count: &count });
        let chosen = one(painter, questions, &question, hint).ok()?;
        wanted.extend(chosen.into_iter().filter_map(|index| page.get(index)).map(|change| change.path.clone()));
    }
    Some(wanted)
}

/// Asks; an answer that chooses nothing is an error.
fn one<W: Write>(
    painter: &mut Painter<W>,
    questions: &mut Questions<W>,
    question: &Question,
    hint: String,
) -> Result<Vec<usize>, Answer> {
    let (answers, choices) = asked::show(painter, question);
    let answers = Answers { hint, ..answers };
    // Lines are read from the terminal itself, which must show the question by then.
    painter.screen().end_live();
    let answer = questions.answer(painter, &answers);
    asked::tell(painter, question, &choices, &answer);
    match answer {
        Answer::Given { chosen, .. } => Ok(chosen),
        other => Err(other),
    }
}

fn rows<W: Write>(painter: &mut Painter<W>, text: &str) {
    for row in text.trim_end().lines() {
        painter.commit_rows(&Line::styled(sanitize_line(row), nu_ansi_term::Style::default()), 2);
    }
}
