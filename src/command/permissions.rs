//! `/permissions`: the rules there are, whose they are, and how to take one back; and rules in words.

use super::{Context, Outcome, Problem};
use crate::approval::{Decision, Meaning, Policy, Rule, RuleError, Source};
use crate::locale::Locale;

/// What may follow `/permissions`.
pub(super) const WORDS: &[&str] = &["allow", "ask", "deny", "remove"];

pub(super) fn permissions(context: &mut Context<'_>, argument: &str) -> Outcome {
    let (word, rest) = argument.split_once(char::is_whitespace).unwrap_or((argument, ""));
    let rest = rest.trim();
    match (word, rest) {
        ("" | "list", _) => Outcome::Show(listed(context.locale, context.agent.policy())),
        ("remove", "") => pick(context),
        ("remove", rest) => remove(context, rest),
        (word, rule) => match decision_named(word) {
            Some(decision) if !rule.is_empty() => add(context, decision, rule),
            Some(_) | None => Outcome::Fail(Problem {
                what: context.locale.text("permissions.usage").to_owned(),
                hint: context.locale.text("error.rule_hint").to_owned(),
            }),
        },
    }
}

fn decision_named(word: &str) -> Option<Decision> {
    match word {
        "allow" => Some(Decision::Allow),
        "ask" => Some(Decision::Ask),
        "deny" => Some(Decision::Deny),
        _ => None,
    }
}

const fn decision_word(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "allow",
        Decision::Ask => "ask",
        Decision::Deny => "deny",
    }
}

fn source_words(locale: &Locale, source: Source) -> &str {
    locale.text(match source {
        Source::User => "permissions.user",
        Source::Project => "permissions.project",
        Source::Flag => "permissions.flag",
        Source::Session => "permissions.session",
    })
}

/// Text between back-quotes of markdown, whatever it holds.
fn code(text: &str) -> String {
    let flat = text.replace(['\n', '\r'], " ").replace('|', "\\|");
    if flat.contains('`') { format!("`` {flat} ``") } else { format!("`{flat}`") }
}

fn listed(locale: &Locale, policy: &Policy) -> String {
    let mut rows: Vec<String> = policy
        .rules()
        .map(|(decision, rule, source)| {
            let words = describe(locale, decision, rule).replace('|', "\\|");
            format!("| {words} | {} | {} |", code(&rule.to_string()), source_words(locale, source))
        })
        .collect();
    rows.extend(policy.lines().map(|line| {
        let words = locale.with("rule.allow", &[("about", locale.text("permissions.line"))]);
        format!("| {words} | {} | {} |", code(line), source_words(locale, Source::Session))
    }));
    if rows.is_empty() {
        return locale.text("permissions.none").to_owned();
    }
    let head = ["permissions.what", "permissions.rule", "permissions.from"].map(|key| locale.text(key));
    format!(
        "| {} |\n| --- | --- | --- |\n{}\n\n{}",
        head.join(" | "),
        rows.join("\n"),
        locale.text("permissions.strictest")
    )
}

fn pick(context: &Context<'_>) -> Outcome {
    let locale = context.locale;
    let policy = context.agent.policy();
    let rules = policy.rules().filter(|(_, _, source)| *source != Source::Project);
    let mut items: Vec<(String, String)> = rules
        .map(|(decision, rule, source)| {
            let shown = format!("{} {rule} · {}", decision_word(decision), source_words(locale, source));
            (shown, format!("remove {} {rule}", decision_word(decision)))
        })
        .collect();
    items.extend(policy.lines().map(|line| {
        (format!("allow {line} · {}", source_words(locale, Source::Session)), format!("remove line {line}"))
    }));
    if items.is_empty() {
        return Outcome::Say(locale.text("permissions.none").to_owned());
    }
    Outcome::Pick { command: "permissions", question: locale.text("permissions.pick").to_owned(), items }
}

fn add(context: &mut Context<'_>, decision: Decision, text: &str) -> Outcome {
    let locale = context.locale;
    let rule = match parsed(locale, text) {
        Ok(rule) => rule,
        Err(problem) => return Outcome::Fail(problem),
    };
    let kept = context.world.keep_rule(decision, &rule, locale);
    // Said by the person: it holds now, kept or not.
    drop(context.agent.policy_mut().add_rule(decision, rule.clone(), Source::User));
    let said = describe(locale, decision, &rule);
    match kept {
        Ok(path) => Outcome::Say(format!("{said} · {}", locale.with("approve.keep.kept", &[("path", &path)]))),
        Err(problem) => {
            let cause = locale.with("approve.keep.not_kept", &[("cause", &problem.what)]);
            Outcome::Say(format!("{said} · {cause}"))
        }
    }
}

fn remove(context: &mut Context<'_>, argument: &str) -> Outcome {
    let locale = context.locale;
    if let Some(line) = argument.strip_prefix("line ")
        && context.agent.policy_mut().remove_line(line)
    {
        return Outcome::Say(locale.with("permissions.removed", &[("rule", line)]));
    }
    let (word, rest) = argument.split_once(char::is_whitespace).unwrap_or((argument, ""));
    let (only, text) = match decision_named(word) {
        Some(decision) if !rest.trim().is_empty() => (Some(decision), rest.trim()),
        Some(_) | None => (None, argument),
    };
    let rule = match parsed(locale, text) {
        Ok(rule) => rule,
        Err(problem) => return Outcome::Fail(problem),
    };
    let found: Vec<(Decision, Source)> = context
        .agent
        .policy()
        .rules()
        .filter(|(decision, known, _)| **known == rule && only.is_none_or(|only| only == *decision))
        .map(|(decision, _, source)| (decision, source))
        .collect();
    let named = [("rule", text)];
    let mut taken = false;
    for (decision, source) in &found {
        match source {
            // Only its file can take it back.
            Source::Project => continue,
            Source::User => {
                if let Err(problem) = context.world.forget_rule(*decision, &rule, locale) {
                    return Outcome::Fail(problem);
                }
            }
            Source::Flag | Source::Session => {}
        }
        taken |= context.agent.policy_mut().remove_rule(*decision, &rule, *source);
    }
    if taken {
        return Outcome::Say(locale.with("permissions.removed", &named));
    }
    let key = if found.is_empty() { "permissions.unknown" } else { "permissions.of_project" };
    let hint = if found.is_empty() { "permissions.unknown_hint" } else { "permissions.of_project_hint" };
    Outcome::Fail(Problem { what: locale.with(key, &named), hint: locale.text(hint).to_owned() })
}

fn parsed(locale: &Locale, text: &str) -> Result<Rule, Problem> {
    Rule::parse(text).map_err(|error| Problem {
        what: locale.with("error.rule", &[("rule", text), ("cause", &rule_error(locale, &error))]),
        hint: locale.text("error.rule_hint").to_owned(),
    })
}

/// Words a rule: what it lets happen, asks or forbids.
#[must_use]
pub fn describe(locale: &Locale, decision: Decision, rule: &Rule) -> String {
    let about = match rule.meaning() {
        Meaning::Everything { tool } => locale.with("rule.everything", &[("tool", &tool)]),
        Meaning::Command { words, more: true } => locale.with("rule.command_more", &[("words", &words)]),
        Meaning::Command { words, more: false } => locale.with("rule.command", &[("words", &words)]),
        Meaning::Files { tool, glob } if tool == "write" => locale.with("rule.write", &[("glob", &glob)]),
        Meaning::Files { tool, glob } if tool == "read" => locale.with("rule.read", &[("glob", &glob)]),
        Meaning::Files { tool, glob } => locale.with("rule.files", &[("tool", &tool), ("glob", &glob)]),
        Meaning::Host { tool, name } => locale.with("rule.host", &[("tool", &tool), ("name", &name)]),
    };
    let key = match decision {
        Decision::Allow => "rule.allow",
        Decision::Ask => "rule.ask",
        Decision::Deny => "rule.deny",
    };
    locale.with(key, &[("about", &about)])
}

/// Words what is wrong with a rule.
#[must_use]
pub fn rule_error(locale: &Locale, error: &RuleError) -> String {
    let at = |key: &str, at: usize| locale.with(&format!("rule_error.{key}"), &[("at", &at.to_string())]);
    match error {
        RuleError::NoTool => locale.text("rule_error.no_tool").to_owned(),
        RuleError::ToolName { character, at } => {
            let values = [("character", character.escape_debug().to_string()), ("at", at.to_string())];
            locale.with("rule_error.tool_name", &values.each_ref().map(|(name, value)| (*name, value.as_str())))
        }
        RuleError::Unclosed { at: place } => at("unclosed", *place),
        RuleError::Empty { at: place } => at("empty", *place),
        RuleError::NotNarrowed { tool } => locale.with("rule_error.not_narrowed", &[("tool", tool)]),
        RuleError::NotSimple { character, at } => {
            let values = [("character", character.escape_debug().to_string()), ("at", at.to_string())];
            locale.with("rule_error.not_simple", &values.each_ref().map(|(name, value)| (*name, value.as_str())))
        }
        RuleError::Wildcard { at: place } => at("wildcard", *place),
        RuleError::Quote { text } => locale.with("rule_error.quote", &[("text", text)]),
        RuleError::Glob { cause } => locale.with("rule_error.glob", &[("cause", cause)]),
        RuleError::Host { text } => locale.with("rule_error.host", &[("text", text)]),
        RuleError::ProjectMayNotAllow => locale.text("rule_error.project_may_not_allow").to_owned(),
    }
}
