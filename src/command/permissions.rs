//! `/permissions`: lists the rules and who made them, and removes one; says rules in words.

use super::{Context, Outcome, Problem};
use crate::approval::{Decision, Meaning, Policy, Rule, RuleError, Source};
use crate::conversation::{READERS, WRITERS};
use crate::locale::{Locale, word};
use crate::tool::table;

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
                what: context.locale.text(word::permissions::USAGE).to_owned(),
                hint: context.locale.text(word::error::RULE_HINT).to_owned(),
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
        Source::User => word::permissions::USER,
        Source::Project => word::permissions::PROJECT,
        Source::Flag => word::permissions::FLAG,
        Source::Session => word::permissions::SESSION,
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
        let words = locale.with(word::rule::Allow { about: locale.text(word::permissions::LINE) });
        format!("| {words} | {} | {} |", code(line), source_words(locale, Source::Session))
    }));
    if rows.is_empty() {
        return locale.text(word::permissions::NONE).to_owned();
    }
    let head =
        [word::permissions::WHAT, word::permissions::RULE, word::permissions::FROM].map(|key| locale.text(key));
    format!(
        "| {} |\n| --- | --- | --- |\n{}\n\n{}",
        head.join(" | "),
        rows.join("\n"),
        locale.text(word::permissions::STRICTEST)
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
        return Outcome::Say(locale.text(word::permissions::NONE).to_owned());
    }
    Outcome::Pick { command: "permissions", question: locale.text(word::permissions::PICK).to_owned(), items }
}

fn add(context: &mut Context<'_>, decision: Decision, text: &str) -> Outcome {
    let locale = context.locale;
    let rule = match parsed(locale, text) {
        Ok(rule) => rule,
        Err(problem) => return Outcome::Fail(problem),
    };
    let kept = context.world.keep_rule(decision, &rule, locale);
    // The person said it: the rule holds now, whether or not the file could be written.
    drop(context.agent.policy_mut().add_rule(decision, rule.clone(), Source::User));
    let said = describe(locale, decision, &rule);
    match kept {
        Ok(path) => Outcome::Say(format!("{said} · {}", locale.with(word::approve::keep::Kept { path: &path }))),
        Err(problem) => {
            let cause = locale.with(word::approve::keep::NotKept { cause: &problem.what });
            Outcome::Say(format!("{said} · {cause}"))
        }
    }
}

fn remove(context: &mut Context<'_>, argument: &str) -> Outcome {
    let locale = context.locale;
    if let Some(line) = argument.strip_prefix("line ")
        && context.agent.policy_mut().remove_line(line)
    {
        return Outcome::Say(locale.with(word::permissions::Removed { rule: line }));
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
        return Outcome::Say(locale.with(word::permissions::Removed { rule: text }));
    }
    let (what, hint) = if found.is_empty() {
        (locale.with(word::permissions::Unknown { rule: text }), word::permissions::UNKNOWN_HINT)
    } else {
        (locale.with(word::permissions::OfProject { rule: text }), word::permissions::OF_PROJECT_HINT)
    };
    Outcome::Fail(Problem { what, hint: locale.text(hint).to_owned() })
}

fn parsed(locale: &Locale, text: &str) -> Result<Rule, Problem> {
    Rule::parse_for(text, table::kind_of).map_err(|error| Problem {
        what: locale.with(word::error::Rule { rule: text, cause: &rule_error(locale, &error) }),
        hint: locale.text(word::error::RULE_HINT).to_owned(),
    })
}

/// Says in words what a rule allows, asks about or forbids.
#[must_use]
pub fn describe(locale: &Locale, decision: Decision, rule: &Rule) -> String {
    let about = match rule.meaning() {
        Meaning::Everything { tool } => locale.with(word::rule::Everything { tool: &tool }),
        Meaning::Command { words, more: true } => locale.with(word::rule::CommandMore { words: &words }),
        Meaning::Command { words, more: false } => locale.with(word::rule::Command { words: &words }),
        Meaning::Files { tool, glob } if tool == WRITERS => locale.with(word::rule::Write { glob: &glob }),
        Meaning::Files { tool, glob } if tool == READERS => locale.with(word::rule::Read { glob: &glob }),
        Meaning::Files { tool, glob } => locale.with(word::rule::Files { tool: &tool, glob: &glob }),
        Meaning::Host { tool, name } => locale.with(word::rule::Host { tool: &tool, name: &name }),
    };
    let about = &about;
    match decision {
        Decision::Allow => locale.with(word::rule::Allow { about }),
        Decision::Ask => locale.with(word::rule::Ask { about }),
        Decision::Deny => locale.with(word::rule::Deny { about }),
    }
}

/// Words what is wrong with a rule.
#[must_use]
pub fn rule_error(locale: &Locale, error: &RuleError) -> String {
    match error {
        RuleError::NoTool => locale.text(word::rule_error::NO_TOOL).to_owned(),
        RuleError::ToolName { character, at } => {
            let (character, at) = (&character.escape_debug().to_string(), &at.to_string());
            locale.with(word::rule_error::ToolName { character, at })
        }
        RuleError::Unclosed { at } => locale.with(word::rule_error::Unclosed { at: &at.to_string() }),
        RuleError::Empty { at } => locale.with(word::rule_error::Empty { at: &at.to_string() }),
        RuleError::NotNarrowed { tool } => locale.with(word::rule_error::NotNarrowed { tool }),
        RuleError::NotSimple { character, at } => {
            let (character, at) = (&character.escape_debug().to_string(), &at.to_string());
            locale.with(word::rule_error::NotSimple { character, at })
        }
        RuleError::Wildcard { at } => locale.with(word::rule_error::Wildcard { at: &at.to_string() }),
        RuleError::Quote { text } => locale.with(word::rule_error::Quote { text }),
        RuleError::Glob { cause } => locale.with(word::rule_error::Glob { cause }),
        RuleError::Host { text } => locale.with(word::rule_error::Host { text }),
        RuleError::ProjectMayNotAllow => locale.text(word::rule_error::PROJECT_MAY_NOT_ALLOW).to_owned(),
    }
}
