//! A proposed command as a person sees it: the command, why, what it would touch, and what is known against it.

use std::io::Write;
use std::sync::Arc;

use super::painter::{Painter, Section};
use crate::approval::command::{LineJudgement, judge};
use crate::approval::{BlastRadius, Mode, Policy};
use crate::conversation::COMMANDS;
use crate::frontend::{reach, words};
use crate::locale::word;
use crate::terminal::{Line, Span, sanitize_line};
use crate::tool::Proposal;

/// Stands in front of each row of a proposed command. A shell prompt here would look as if the command had been
/// entered.
const SIGN: &str = "▌ ";

/// Judges a line that is to stand on the prompt line, where the agent works.
pub(super) fn judged<W: Write>(painter: &Painter<W>, line: &str) -> Arc<LineJudgement> {
    Arc::new(judge(line, &painter.place))
}

/// Shows a proposal that was taken. Returns its judgement, for all that happens to it from there.
pub(super) fn proposal<W: Write>(painter: &mut Painter<W>, proposal: &Proposal) -> Arc<LineJudgement> {
    let line = judged(painter, &proposal.command);
    painter.begin(Section::Question);
    let theme = *painter.theme();
    // Never cut: nobody should enter what was not shown.
    for text in proposal.command.lines() {
        let mut row = Line::new();
        row.push(Span::new(SIGN, theme.accent));
        row.push(Span::new(sanitize_line(&text.replace('\t', "    ")), theme.strong));
        painter.screen().commit(&row);
    }
    let mut rows = Vec::new();
    if !proposal.why.is_empty() {
        rows.push(Line::styled(format!("  {}", sanitize_line(&proposal.why)), theme.dim));
    }
    if !proposal.touches.is_empty() {
        let touches = painter.locale().with(word::handoff::Touches { what: &sanitize_line(&proposal.touches) });
        rows.push(Line::styled(format!("  {touches}"), theme.dim));
    }
    rows.extend(warned(painter, &line));
    for row in &rows {
        painter.commit_rows(row, 0);
    }
    painter.continue_as(Section::Tool);
    line
}

/// Says why a command is to stand on the prompt line, and what is known against it.
pub fn mended<W: Write>(painter: &mut Painter<W>, why: &str, line: &Arc<LineJudgement>) {
    let mut rows = Vec::new();
    if !why.is_empty() {
        rows.push(Line::styled(sanitize_line(why), painter.theme().dim));
    }
    rows.extend(warned(painter, line));
    for row in &rows {
        painter.commit_rows(row, 0);
    }
    painter.screen().end_live();
}

fn warned<W: Write>(painter: &Painter<W>, line: &Arc<LineJudgement>) -> Vec<Line> {
    let style = painter.theme().warning;
    let warned = warnings(painter, line);
    warned.iter().map(|warning| Line::styled(format!("  ! {}", sanitize_line(warning)), style)).collect()
}

/// Shows what a proposed line would affect on the disk as it is now.
pub fn proposal_reach<W: Write>(painter: &mut Painter<W>, line: &str, radius: &BlastRadius) {
    let style = painter.theme().warning;
    let rows = reach::rows(painter.locale(), painter.roots(), line, radius);
    for row in rows {
        painter.commit_rows(&Line::styled(format!("  {row}"), style), 2);
    }
    painter.screen().end_live();
}

/// What axi itself can see in the line, whatever the model says about it.
fn warnings<W: Write>(painter: &Painter<W>, line: &Arc<LineJudgement>) -> Vec<String> {
    let policy = Policy::new(Mode::Build, false);
    let verdict = policy.decide_line(COMMANDS, Arc::clone(line), &painter.place).verdict;
    words::reasons(painter.locale(), painter.roots(), &verdict.reasons)
}
