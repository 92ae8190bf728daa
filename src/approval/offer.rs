//! What to offer a person who answers "always": a permanent rule, and the earlier lines it would have allowed.

use std::path::Path;

use super::command::{LineJudgement, judge, suggest_rule};
use super::rule::Pattern;
use super::{Assessment, Class, Decision, Mode, Policy, Rule, Source, Surroundings, path};
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
    let offered = |rule: &Rule| allows_newly(rule, line, place) && !covers_losses(rule, line, place);
    let rule = suggest_rule(line)?;
    // Where other words behind it would lose something, the line as it is.
    let exact = || Rule::parse(&rule.to_string().replace(":*)", ")")).ok();
    Some(rule.clone()).filter(offered).or_else(|| exact().filter(offered))
}

/// What is put behind the words of a rule to find out whether it covers a line that loses something.
const LOSING: &[&str] = &[
    "clear",
    "drop",
    "delete x",
    "rm x",
    "remove x",
    "prune",
    "purge",
    "destroy",
    "gc",
    ".",
    "-- x",
    "-f x",
    "-D x",
    "-d x",
    "--force x",
    "--delete x",
    "--hard",
    "-fdx",
];

/// Tells whether a rule would also cover a line that destroys something, while the line it is offered for does not.
fn covers_losses(rule: &Rule, line: &LineJudgement, place: &Surroundings) -> bool {
    let loses = |line: &LineJudgement| line.parts.iter().any(|part| part.class == Class::Destructive);
    let text = rule.to_string();
    let words = text.strip_prefix(COMMANDS).and_then(|text| text.strip_prefix('(')?.strip_suffix(":*)"));
    let more = |words: &str| LOSING.iter().any(|more| loses(&judge(&format!("{words} {more}"), place)));
    !loses(line) && words.is_some_and(more)
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
    fn a_rule_for_a_harmless_line_covers_none_that_loses_something() {
        let offered = |line: &str| {
            let subject = Subject::Command { line: line.to_owned() };
            let assessed = Policy::default().decide("shell", Effect::Execute, &subject, &place());
            always_rule("shell", Effect::Execute, &subject, &assessed, &place()).map(|rule| rule.to_string())
        };
        for (line, rule) in [
            ("git stash", Some("shell(git stash)")),
            ("git checkout feat", None),
            ("git branch newb", None),
            ("git commit -m x", Some("shell(git commit:*)")),
            ("git add a", Some("shell(git add a)")),
            ("cargo build --release", Some("shell(cargo build:*)")),
            ("npm install", Some("shell(npm install)")),
        ] {
            assert_eq!(offered(line).as_deref(), rule, "{line}");
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
