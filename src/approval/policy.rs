//! Judges one call by the rules, the mode and `-y`.

use std::sync::Arc;

use super::command::{self, Judged, LineJudgement, Part};
use super::rule::Pattern;
use super::{
    Assessment, Class, Decision, Mode, NeverAuto, Reason, Rule, RuleError, Source, Surroundings, Verdict, path,
};
use crate::conversation::{COMMANDS, Effect, READERS, Subject, WRITERS};

/// What is allowed: the rules from the settings, the command line and this session; the mode; and `-y`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Policy {
    rules: Vec<Entry>,
    pub(super) exact_lines: Vec<(String, String)>,
    mode: Mode,
    yes: bool,
}

#[derive(Debug, Clone, PartialEq)]
struct Entry {
    decision: Decision,
    rule: Rule,
    source: Source,
}

/// What the rules say about one thing.
struct Found<'a> {
    decision: Decision,
    entry: &'a Entry,
}

impl Policy {
    /// Makes a policy without rules.
    #[must_use]
    pub fn new(mode: Mode, yes: bool) -> Self {
        Self { rules: Vec::new(), exact_lines: Vec::new(), mode, yes }
    }

    /// Adds a rule.
    ///
    /// # Errors
    /// `ProjectMayNotAllow` if a project's settings would allow what is asked about otherwise.
    pub fn add_rule(&mut self, decision: Decision, rule: Rule, source: Source) -> Result<(), RuleError> {
        if source == Source::Project && decision == Decision::Allow {
            return Err(RuleError::ProjectMayNotAllow);
        }
        let entry = Entry { decision, rule, source };
        if !self.rules.contains(&entry) {
            self.rules.push(entry);
        }
        Ok(())
    }

    /// Removes a rule of one source; returns whether there was one.
    pub fn remove_rule(&mut self, decision: Decision, rule: &Rule, source: Source) -> bool {
        let before = self.rules.len();
        self.rules.retain(|entry| entry.decision != decision || &entry.rule != rule || entry.source != source);
        self.rules.len() != before
    }

    /// Lists the exact lines that were allowed for the rest of the session.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.exact_lines.iter().map(|(_, line)| line.as_str())
    }

    /// Forbids such a line again; returns whether it was allowed.
    pub fn remove_line(&mut self, line: &str) -> bool {
        let before = self.exact_lines.len();
        self.exact_lines.retain(|(_, known)| known != line);
        self.exact_lines.len() != before
    }

    /// Lists the rules in the order in which they were added.
    pub fn rules(&self) -> impl Iterator<Item = (Decision, &Rule, Source)> {
        self.rules.iter().map(|entry| (entry.decision, &entry.rule, entry.source))
    }

    /// Returns how far the agent may go.
    #[must_use]
    pub const fn mode(&self) -> Mode {
        self.mode
    }

    /// Sets how far the agent may go from now on.
    pub fn set_mode(&mut self, mode: Mode) {
        self.mode = mode;
    }

    pub(super) fn push_session(&mut self, rule: Rule) {
        let entry = Entry { decision: Decision::Allow, rule, source: Source::Session };
        if !self.rules.contains(&entry) {
            self.rules.push(entry);
        }
    }

    /// Judges a call; its line is judged once. Runs nothing and reads no disk.
    #[must_use]
    pub fn decide(&self, tool: &str, effect: Effect, subject: &Subject, surroundings: &Surroundings) -> Assessment {
        let verdict = match subject {
            Subject::Command { line } => {
                return self.decide_line(tool, Arc::new(command::judge(line, surroundings)), surroundings);
            }
            Subject::Paths { paths } => self.decide_paths(tool, effect, paths, surroundings),
            Subject::Host { host } => self.decide_host(tool, effect, host),
            Subject::Whole => self.decide_whole(tool, effect),
        };
        Assessment { verdict: self.with_yes(verdict), line: None }
    }

    /// Decides about a line that is judged already.
    #[must_use]
    pub fn decide_line(&self, tool: &str, line: Arc<LineJudgement>, surroundings: &Surroundings) -> Assessment {
        let exact = self.exact_lines.iter().any(|(name, known)| name == tool && *known == line.line);
        let verdict = self.with_yes(self.weigh_line(tool, &line, exact, surroundings));
        Assessment { verdict, line: Some(line) }
    }

    /// Lets `-y` answer, where it may.
    fn with_yes(&self, mut verdict: Verdict) -> Verdict {
        if verdict.decision == Decision::Ask && self.yes && !verdict.never_auto {
            verdict.decision = Decision::Allow;
            verdict.reasons.push(Reason::AssumedYes);
        }
        verdict
    }

    /// Tells whether `-y` was given.
    #[must_use]
    pub const fn assumes_yes(&self) -> bool {
        self.yes
    }

    fn only_reads(&self) -> bool {
        match self.mode {
            Mode::Build => false,
            Mode::Plan | Mode::Explore => true,
        }
    }

    /// Returns the strictest rule for which `matches` holds.
    fn strictest(
        &self,
        tool: &str,
        family: impl Fn(Decision) -> Option<&'static str>,
        matches: impl Fn(Decision, &Pattern) -> bool,
    ) -> Option<Found<'_>> {
        self.rules
            .iter()
            .filter(|entry| {
                let family = family(entry.decision);
                entry.rule.is_about(tool, family) && matches(entry.decision, entry.rule.pattern())
            })
            .max_by_key(|entry| entry.decision)
            .map(|entry| Found { decision: entry.decision, entry })
    }

    fn decide_whole(&self, tool: &str, effect: Effect) -> Verdict {
        let found = self.strictest(tool, |_| None, |_, pattern| matches!(pattern, Pattern::Any));
        self.settle(found, effect)
    }

    fn decide_host(&self, tool: &str, effect: Effect, host: &str) -> Verdict {
        let host = host.to_ascii_lowercase();
        // A tool that declares more than `Network` for a host reaches something that only this machine can reach:
        // its own services, or a cloud's metadata. Only a rule that names the host allows that.
        let private = effect > Effect::Network;
        let found = self.strictest(
            tool,
            |_| None,
            |decision, pattern| match pattern {
                Pattern::Any => decision != Decision::Allow || !private,
                Pattern::Host { name, below: false } => *name == host,
                Pattern::Host { name, below: true } => {
                    host.strip_suffix(name.as_str()).is_some_and(|rest| rest.ends_with('.'))
                }
                Pattern::Command(_) | Pattern::Path(_) => false,
            },
        );
        let named = found.is_some();
        // Reaching a host is network access, whatever else the tool declares.
        let mut verdict = self.settle(found, effect.max(Effect::Network));
        if private && verdict.decision == Decision::Ask {
            verdict.never_auto = true;
            if !named {
                verdict.reasons = vec![Reason::PrivateHost { host }];
            }
        }
        verdict
    }

    fn settle(&self, found: Option<Found<'_>>, effect: Effect) -> Verdict {
        if self.only_reads() && effect != Effect::Read {
            return Verdict::new(Decision::Deny, vec![Reason::ModeOnlyReads { mode: self.mode }]);
        }
        match found {
            Some(found) => Verdict::new(found.decision, vec![found.entry.reason()]),
            None => Verdict::new(default_for(effect), vec![Reason::DefaultForEffect { effect }]),
        }
    }

    fn decide_paths(
        &self,
        tool: &str,
        effect: Effect,
        paths: &[std::path::PathBuf],
        place: &Surroundings,
    ) -> Verdict {
        if self.only_reads() && effect != Effect::Read {
            return Verdict::new(Decision::Deny, vec![Reason::ModeOnlyReads { mode: self.mode }]);
        }
        let mut verdict = Verdict::new(Decision::Allow, Vec::new());
        for path in paths {
            self.judge_path(tool, effect, &path::clean(path), place, &mut verdict);
        }
        if paths.is_empty() {
            return self.decide_whole(tool, effect);
        }
        verdict
    }

    fn judge_path(
        &self,
        tool: &str,
        effect: Effect,
        path: &std::path::Path,
        place: &Surroundings,
        verdict: &mut Verdict,
    ) {
        let reads = effect == Effect::Read;
        let secret = path::is_credential(path, place);
        let guarded = secret || !reads && path::is_protected(path, place);
        let found = self.strictest(
            tool,
            |decision| family_of(effect, decision),
            |decision, pattern| match pattern {
                // A guarded file is allowed only by a rule that names it.
                Pattern::Any => decision != Decision::Allow || !guarded,
                Pattern::Path(pattern) => {
                    (decision != Decision::Allow || !guarded || pattern.is_literal())
                        && pattern.matches(path, &place.workspace, place.home.as_deref())
                }
                Pattern::Command(_) | Pattern::Host { .. } => false,
            },
        );
        let decision = if let Some(found) = &found {
            push_once(&mut verdict.reasons, found.entry.reason());
            found.decision
        } else {
            push_once(&mut verdict.reasons, Reason::DefaultForEffect { effect });
            if guarded { Decision::Ask } else { default_for(effect) }
        };
        if decision == Decision::Ask {
            // Who edits a file learns what is in it.
            if secret {
                push_once(&mut verdict.reasons, Reason::Credential { what: path.to_string_lossy().into_owned() });
            } else if guarded {
                push_once(&mut verdict.reasons, Reason::Protected { path: path.to_owned() });
            }
            if !reads && !path.starts_with(&place.workspace) {
                push_once(&mut verdict.reasons, Reason::OutsideWorkspace { path: path.to_owned() });
            }
        }
        verdict.decision = verdict.decision.max(decision);
        // No rule and no `-y` may agree to this in advance, whatever they name.
        if !reads
            && verdict.decision != Decision::Deny
            && let Some(why) = command::later(path, &path.to_string_lossy(), effect == Effect::Delete, place)
        {
            verdict.decision = Decision::Ask;
            verdict.never_auto = true;
            push_once(&mut verdict.reasons, Reason::NeverAuto { why });
        }
    }

    /// Judges an assessed line by the rules, without the yes that this exact line may have got.
    pub(super) fn weigh(&self, tool: &str, judgement: &LineJudgement, place: &Surroundings) -> Verdict {
        self.weigh_line(tool, judgement, false, place)
    }

    fn weigh_line(&self, tool: &str, judgement: &LineJudgement, exact: bool, place: &Surroundings) -> Verdict {
        let never = judgement.never_auto.clone();
        let mut verdict = Verdict::new(Decision::Allow, Vec::new());
        for (text, why) in &judgement.unparsed {
            verdict.decision = Decision::Ask;
            push_once(&mut verdict.reasons, Reason::Unparsed { text: text.clone(), why: *why });
        }
        let mut class = if judgement.unparsed.is_empty() { Class::ReadOnly } else { Class::Execute };
        let mut may_be_denied = false;
        for part in &judgement.parts {
            class = class.max(part.class);
            may_be_denied |= self.judge_part(tool, part, place, &mut verdict);
        }
        if verdict.decision == Decision::Ask
            && !verdict.reasons.iter().any(|reason| matches!(reason, Reason::Credential { .. }))
            && let Some(what) = command::shown_secret(&judgement.parts, place)
        {
            verdict.reasons.push(Reason::Credential { what });
        }
        if exact
            && verdict.decision == Decision::Ask
            && !verdict
                .reasons
                .iter()
                .any(|reason| matches!(reason, Reason::MatchedRule { decision: Decision::Ask, .. }))
        {
            verdict.decision = Decision::Allow;
        }
        if self.only_reads() && class != Class::ReadOnly {
            return Verdict::new(Decision::Deny, vec![Reason::ModeOnlyReads { mode: self.mode }]);
        }
        let never = never.or(may_be_denied.then_some(NeverAuto::MayBeDenied));
        if let Some(why) = never {
            verdict.never_auto = true;
            verdict.decision = verdict.decision.max(Decision::Ask);
            verdict.reasons.push(Reason::NeverAuto { why });
        }
        self.judge_whole_line(tool, judgement, &mut verdict);
        verdict
    }

    /// Applies a bare `shell` rule that asks or denies: it covers lines without any command, too.
    fn judge_whole_line(&self, tool: &str, judgement: &LineJudgement, verdict: &mut Verdict) {
        let found = self.strictest(
            tool,
            |_| Some(COMMANDS),
            |decision, pattern| {
                matches!(pattern, Pattern::Any) && (decision != Decision::Allow || judgement.parts.is_empty())
            },
        );
        if let Some(found) = found
            && found.decision > verdict.decision
        {
            verdict.decision = found.decision;
            push_once(&mut verdict.reasons, found.entry.reason());
        }
    }

    /// Judges one part of a line; returns whether a denying rule may cover it, if that cannot be known.
    fn judge_part(&self, tool: &str, part: &Judged, place: &Surroundings, verdict: &mut Verdict) -> bool {
        let found = match &part.part {
            Part::Command { words, outer } => self.strictest(
                tool,
                |_| Some(COMMANDS),
                |decision, pattern| match pattern {
                    Pattern::Any => decision != Decision::Allow || part.credential.is_none(),
                    Pattern::Command(wanted) if decision == Decision::Allow => {
                        part.shown
                            && (part.credential.is_none() || !wanted.prefix)
                            && command::admits(wanted, words)
                            && !part.strays
                            && (!wanted.prefix || writes_inside(part, &wanted.words, place))
                    }
                    Pattern::Command(wanted) => {
                        command::touches(wanted, words) || outer.iter().any(|words| command::touches(wanted, words))
                    }
                    Pattern::Path(_) | Pattern::Host { .. } => false,
                },
            ),
            Part::Redirection { path } => self.strictest(
                WRITERS,
                |_| None,
                |decision, pattern| match pattern {
                    Pattern::Any => true,
                    Pattern::Path(pattern) => path.as_deref().is_some_and(|path| {
                        let guarded = path::is_protected(path, place) || path::is_credential(path, place);
                        (decision != Decision::Allow || !guarded || pattern.is_literal())
                            && pattern.matches(path, &place.workspace, place.home.as_deref())
                    }),
                    Pattern::Command(_) | Pattern::Host { .. } => false,
                },
            ),
        };
        let may_be = |decision: Decision| match &part.part {
            Part::Command { words, outer } => self.rules.iter().any(|entry| {
                entry.decision == decision
                    && entry.rule.is_about(tool, Some(COMMANDS))
                    && matches!(entry.rule.pattern(), Pattern::Command(wanted)
                        if command::may_touch(wanted, words)
                            || outer.iter().any(|words| command::may_touch(wanted, words))
                            || part.class == Class::Execute && command::may_hide(wanted, words))
            }),
            Part::Redirection { .. } => false,
        };
        let (may_be_denied, may_be_asked) = (may_be(Decision::Deny), may_be(Decision::Ask));
        let mut decision = match &found {
            Some(found) => {
                push_once(&mut verdict.reasons, found.entry.reason());
                found.decision
            }
            None if part.class == Class::ReadOnly && part.credential.is_none() => Decision::Allow,
            None => {
                push_once(&mut verdict.reasons, Reason::Segment { text: part.text.clone(), class: part.class });
                if let Some(what) = &part.credential {
                    push_once(&mut verdict.reasons, Reason::Credential { what: what.clone() });
                }
                Decision::Ask
            }
        };
        if may_be_asked {
            decision = decision.max(Decision::Ask);
        }
        for (path, reads) in &part.paths {
            decision = decision.max(self.path_rule(path, *reads, place, verdict));
        }
        verdict.decision = verdict.decision.max(decision);
        may_be_denied
    }

    /// Returns what asking and denying rules for files say about a path that a command uses: these rules also apply
    /// to shell lines.
    fn path_rule(
        &self,
        path: &std::path::Path,
        reads: bool,
        place: &Surroundings,
        verdict: &mut Verdict,
    ) -> Decision {
        let family = if reads { READERS } else { WRITERS };
        let found = self.strictest(family, |_| None, |decision, pattern| {
            decision != Decision::Allow
                && matches!(pattern, Pattern::Path(pattern) if pattern.matches(path, &place.workspace, place.home.as_deref()))
        });
        found.map_or(Decision::Allow, |found| {
            push_once(&mut verdict.reasons, found.entry.reason());
            found.decision
        })
    }
}

/// Tells whether every written file lies in the workspace or a temporary directory, or is named by the rule itself.
fn writes_inside(part: &Judged, named: &[String], place: &Surroundings) -> bool {
    part.paths.iter().filter(|(_, reads)| !reads).all(|(path, _)| {
        path.starts_with(&place.workspace)
            || path::is_scratch(path)
            || path::is_harmless_device(&path.to_string_lossy())
            || named.iter().any(|word| std::path::Path::new(word) == path)
    })
}

impl Entry {
    fn reason(&self) -> Reason {
        Reason::MatchedRule { decision: self.decision, rule: self.rule.clone(), source: self.source }
    }
}

fn push_once(reasons: &mut Vec<Reason>, reason: Reason) {
    if !reasons.contains(&reason) {
        reasons.push(reason);
    }
}

/// Returns the family whose rules with this decision also cover a call with this effect.
fn family_of(effect: Effect, decision: Decision) -> Option<&'static str> {
    match effect {
        Effect::Read => Some(READERS),
        Effect::Write => Some(WRITERS),
        // Permission to write is none to delete: the rule must name that.
        Effect::Delete => Some(WRITERS).filter(|_| decision != Decision::Allow),
        Effect::Network | Effect::Execute => None,
    }
}

fn default_for(effect: Effect) -> Decision {
    match effect {
        Effect::Read => Decision::Allow,
        Effect::Write | Effect::Delete | Effect::Network | Effect::Execute => Decision::Ask,
    }
}
