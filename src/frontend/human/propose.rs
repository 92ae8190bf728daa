//! A proposed command as a person sees it: the command, why, what it would touch, and what is known against it.

use std::io::Write;

use super::{Human, Section, words};
use crate::approval::{BlastRadius, Mode, Policy, Surroundings};
use crate::conversation::{COMMANDS, Effect, Subject};
use crate::frontend::reach;
use crate::locale::word;
use crate::terminal::{Line, Span, sanitize_line};
use crate::tool::Proposal;

impl<W: Write> Human<W> {
    /// Shows a proposal that was taken.
    pub(super) fn proposal(&mut self, proposal: &Proposal) {
        self.begin(Section::Question);
        let theme = self.looks.theme;
        // Never cut: nobody enters what was not shown.
        for (index, text) in proposal.command.lines().enumerate() {
            let mut row = Line::new();
            row.push(Span::new(if index == 0 { "❯ " } else { "  " }, theme.accent));
            row.push(Span::new(sanitize_line(&text.replace('\t', "    ")), theme.strong));
            self.screen.commit(&row);
        }
        let mut rows = Vec::new();
        if !proposal.why.is_empty() {
            rows.push(Line::styled(format!("  {}", sanitize_line(&proposal.why)), theme.dim));
        }
        if !proposal.touches.is_empty() {
            let touches = self.locale.with(word::handoff::Touches { what: &sanitize_line(&proposal.touches) });
            rows.push(Line::styled(format!("  {touches}"), theme.dim));
        }
        for warning in self.warnings(&proposal.command) {
            rows.push(Line::styled(format!("  ! {}", sanitize_line(&warning)), theme.warning));
        }
        for row in &rows {
            self.commit_rows(row, 0);
        }
        self.section = Section::Tool;
    }

    /// Says what lies on the disk now where a proposed line would reach.
    pub fn proposal_reach(&mut self, line: &str, radius: &BlastRadius) {
        let style = self.looks.theme.warning;
        let rows = reach::rows(&self.locale, &self.place, line, radius);
        for row in rows {
            self.commit_rows(&Line::styled(format!("  {row}"), style), 2);
        }
        self.screen.end_live();
    }

    /// What axi itself can see in the line, whatever the model says about it.
    fn warnings(&self, command: &str) -> Vec<String> {
        let surroundings = Surroundings {
            cwd: self.place.cwd.clone(),
            workspace: self.place.workspace.clone(),
            home: self.place.home.clone(),
            ..Surroundings::default()
        };
        let subject = Subject::Command { line: command.to_owned() };
        let verdict = Policy::new(Mode::Build, false).decide(COMMANDS, Effect::Execute, &subject, &surroundings);
        words::reasons(&self.locale, &self.place, &verdict.reasons)
    }
}
