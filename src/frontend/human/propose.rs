//! A proposed command as a person sees it: the command, why, what it would touch, and what is known against it.

use std::io::Write;

use super::painter::{Painter, Section};
use crate::approval::{BlastRadius, Mode, Policy};
use crate::conversation::{COMMANDS, Effect, Subject};
use crate::frontend::{reach, words};
use crate::locale::word;
use crate::terminal::{Line, Span, sanitize_line};
use crate::tool::Proposal;

/// Stands in front of each row of a proposed command. A shell prompt here would look as if the command had been
/// entered.
const SIGN: &str = "▌ ";

/// Shows a proposal that was taken.
pub(super) fn proposal<W: Write>(painter: &mut Painter<W>, proposal: &Proposal) {
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
    rows.extend(warned(painter, &proposal.command));
    for row in &rows {
        painter.commit_rows(row, 0);
    }
    painter.continue_as(Section::Tool);
}

/// Says why a command is to stand on the prompt line, and what is known against it.
pub fn mended<W: Write>(painter: &mut Painter<W>, why: &str, command: &str) {
    let mut rows = Vec::new();
    if !why.is_empty() {
        rows.push(Line::styled(sanitize_line(why), painter.theme().dim));
    }
    rows.extend(warned(painter, command));
    for row in &rows {
        painter.commit_rows(row, 0);
    }
    painter.screen().end_live();
}

fn warned<W: Write>(painter: &Painter<W>, command: &str) -> Vec<Line> {
    let style = painter.theme().warning;
    let warned = warnings(painter, command);
    warned.iter().map(|warning| Line::styled(format!("  ! {}", sanitize_line(warning)), style)).collect()
}

/// Shows what a proposed line would affect on the disk as it is now.
pub(super) fn proposal_reach<W: Write>(painter: &mut Painter<W>, line: &str, radius: &BlastRadius) {
    let style = painter.theme().warning;
    let rows = reach::rows(painter.locale(), painter.roots(), line, radius);
    for row in rows {
        painter.commit_rows(&Line::styled(format!("  {row}"), style), 2);
    }
    painter.screen().end_live();
}

/// What axi itself can see in the line, whatever the model says about it.
fn warnings<W: Write>(painter: &Painter<W>, command: &str) -> Vec<String> {
    let subject = Subject::Command { line: command.to_owned() };
    let policy = Policy::new(Mode::Build, false);
    let verdict = policy.decide(COMMANDS, Effect::Execute, &subject, &painter.place).verdict;
    words::reasons(painter.locale(), painter.roots(), &verdict.reasons)
}
