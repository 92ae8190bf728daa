//! What to offer a person who answers "always": a permanent rule, and the earlier lines it would have allowed.

use std::path::Path;

use super::command::{LineJudgement, judge, suggest_rule};
use super::rule::Pattern;
use super::{Assessment, Decision, Mode, Policy, Rule, Source, Surroundings, path};
use crate::conversation::{COMMANDS, Effect, Subject, WRITERS};

/// Returns the rule that "always" would save for a call that had to be asked about; `None` if none is narrow
/// enough.
///
/// Files are named from home or from the root, so that the rule does not apply to other projects.
#[must_use]
pub fn always_rule(
    tool: &str,
    effect: Effect,
    subject: &Subject,
    assessment: &Assessment,
    place: &Surroundings,
) -> Option<Rule> {
    match subject {
        Subject::Command { .. } => line_rule(assessment, place),
        Subject::Host { host } => Some(Rule::host(tool, host)),
        Subject::Whole => Some(Rule::whole_tool(tool)),
        // A deletion is final: each one is asked about.
        Subject::Paths { paths } if effect == Effect::Write => {
            let first = paths.first()?;
            let rule = below(first, place)?;
            // One rule must cover all of them, or none is offered.
            let Pattern::Path(pattern) = rule.pattern() else { return None };
            let home = place.home.as_deref();
            let plain = |path: &Path| !path::is_protected(path, place) && !path::is_credential(path, place);
            let fits = |path: &std::path::PathBuf| plain(path) && pattern.matches(path, &place.workspace, home);
            paths.iter().all(fits).then_some(rule)
        }
        Subject::Paths { .. } => None,
    }
}

/// Returns the narrow rule that would have allowed a line here; `None` if there is none, or no line.
#[must_use]
pub fn line_rule(assessment: &Assessment, place: &Surroundings) -> Option<Rule> {
    let line = assessment.line.as_deref()?;
    suggest_rule(line).filter(|rule| allows_newly(rule, line, place))
}

/// Returns a rule for changes below the top-level directory of the workspace that contains the file, or for the
/// file alone if it lies at the top.
fn below(file: &Path, place: &Surroundings) -> Option<Rule> {
    let rest = file.strip_prefix(&place.workspace).ok()?;
    let mut parts = rest.components();
    let top = place.workspace.join(parts.next()?);
    let is_folder = parts.next().is_some();
    let named = match place.home.as_deref().and_then(|home| top.strip_prefix(home).ok()) {
        Some(rest) => format!("~/{}", globset::escape(&rest.to_string_lossy())),
        None => globset::escape(&top.to_string_lossy()),
    };
    let plain = |c: char| !c.is_control() && !matches!(c, '(' | ')');
    if !named.chars().all(plain) {
        return None;
    }
    Rule::parse(&format!("{WRITERS}({named}{})", if is_folder { "/**" } else { "" })).ok()
}

/// Returns those of the lines that are asked about without the rule, and that the rule alone would allow, in order.
#[must_use]
pub fn newly_allowed<'l>(rule: &Rule, lines: &'l [String], place: &Surroundings) -> Vec<&'l str> {
    lines.iter().filter(|line| allows_newly(rule, &judge(line, place), place)).map(String::as_str).collect()
}

/// Tells whether a line is asked about without the rule, and the rule alone would allow it.
fn allows_newly(rule: &Rule, line: &LineJudgement, place: &Surroundings) -> bool {
    let without = Policy::new(Mode::Build, false);
    let mut with = without.clone();
    let allowed = |policy: &Policy| policy.weigh(COMMANDS, line, place).decision == Decision::Allow;
    with.add_rule(Decision::Allow, rule.clone(), Source::User).is_ok() && allowed(&with) && !allowed(&without)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn place() -> Surroundings {
        Surroundings {
            cwd: PathBuf::from("/home/u/app/src"),
            workspace: PathBuf::from("/home/u/app"),
            home: Some(PathBuf::from("/home/u")),
            ..Surroundings::default()
        }
    }

    fn offered(paths: &[&str]) -> Option<String> {
        let subject = Subject::Paths { paths: paths.iter().map(PathBuf::from).collect() };
        let assessed = Policy::default().decide("edit", Effect::Write, &subject, &place());
        always_rule("edit", Effect::Write, &subject, &assessed, &place()).map(|rule| rule.to_string())
    }

    #[test]
    fn files_get_a_rule_for_their_own_directory_of_this_project() {
        assert_eq!(offered(&["/home/u/app/src/a/b.rs"]).as_deref(), Some("write(~/app/src/**)"));
        assert_eq!(offered(&["/home/u/app/README.md"]).as_deref(), Some("write(~/app/README.md)"));
        assert_eq!(offered(&["/home/u/app/src/a", "/home/u/app/src/b"]).as_deref(), Some("write(~/app/src/**)"));
        for none in [
            &["/home/u/app/src/a", "/home/u/app/docs/b"][..],
            &["/home/u/other/a"],
            &["/home/u/app/.git/config"],
            &["/home/u/app/src/.env"],
            &["/home/u/app"],
            &[],
        ] {
            assert_eq!(offered(none), None, "{none:?}");
        }
    }

    #[test]
    fn what_it_would_have_run_is_told_without_what_ran_anyway() {
        let lines: Vec<String> =
            ["git commit -m a", "git status", "git commit -m b && rm -rf x", "git push", "git commit --amend"]
                .map(ToOwned::to_owned)
                .to_vec();
        let rule = Rule::parse("shell(git commit:*)").unwrap();
        assert_eq!(newly_allowed(&rule, &lines, &place()), ["git commit -m a", "git commit --amend"]);
    }
}
