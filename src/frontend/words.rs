//! Facts in, the user's words out. The only place that knows how an event reads. Pure.

use serde_json::Value;

pub use super::diagnostic::Diagnostic;
pub use super::failure_words::{Speaking, failure, retrying};
pub use super::notice_words::{notice, notice_label, shortened};
use super::tool_words;
use crate::agent::{Activity, Doing, TurnEnd, Widened};
use crate::approval::{Class, Decision, NeverAuto, Reason, Source};
pub use crate::command::{bill, describe, rule_error};
use crate::conversation::{About, Asker, Outcome, Question, Subject, ToolCall, ToolVerb};
use crate::locale::{Locale, Word, word};
use crate::sandbox::{Missing, Sandbox, SandboxState, Support};
use crate::tool::{ReadCall, Roots, ToolFacts, Toolbox};

/// The first line of a text, with a mark where there are more.
#[must_use]
pub fn first_line(text: &str) -> String {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    if lines.next().is_some() { format!("{first} …") } else { first.to_owned() }
}

/// Words a question with who asks it, and what can be chosen where it leaves that to us.
#[must_use]
pub fn asked(locale: &Locale, question: &Question) -> Question {
    let Asker::Server { name, secret, url } = &question.asker else { return question.clone() };
    let mut said = vec![locale.with(word::ask::Server { name }), question.text.clone()];
    if *secret {
        said.push(locale.with(word::ask::ServerSecret { name }));
    }
    let mut choices = question.choices.clone();
    if *url {
        said.push(locale.with(word::ask::ServerUrl { name }));
        choices = [word::ask::URL_YES, word::ask::URL_NO].map(|key| locale.text(key).to_owned()).to_vec();
    }
    Question { text: said.join("\n"), choices, ..question.clone() }
}

/// Words what this system lacks for a sandbox.
#[must_use]
pub fn missing_sandbox(locale: &Locale, missing: Missing) -> &str {
    locale.text(match missing {
        Missing::Landlock => word::sandbox::missing::LANDLOCK,
        Missing::Seccomp => word::sandbox::missing::SECCOMP,
        Missing::SandboxExec => word::sandbox::missing::SANDBOX_EXEC,
        Missing::System => word::sandbox::missing::SYSTEM,
    })
}

/// Words how commands are confined, in one line; `attributes` says whether modes, owners and times outside are kept
/// from what was approved, too.
#[must_use]
pub fn sandbox(locale: &Locale, sandbox: &Sandbox) -> String {
    match sandbox.state() {
        SandboxState::On(support @ Support::Landlock { abi }) => {
            let number = &abi.to_string();
            let told = match (support.holds_workspace(), abi) {
                (false, _) => locale.with(word::sandbox::LandlockReaders { abi: number }),
                (true, 0..6) => locale.with(word::sandbox::LandlockNoSignals { abi: number }),
                (true, _) => locale.with(word::sandbox::Landlock { abi: number }),
            };
            // Where what is approved is not held at all the line says so already.
            let lacks = support.holds_workspace() && !sandbox.keeps_attributes();
            let openings =
                if sandbox.judges_openings() { word::sandbox::JUDGED } else { word::sandbox::NOT_JUDGED };
            let told = told + locale.text(openings);
            if lacks { told + locale.text(word::sandbox::NO_ATTRIBUTES) } else { told }
        }
        SandboxState::On(Support::SandboxExec) => locale.text(word::sandbox::SANDBOX_EXEC).to_owned(),
        SandboxState::Off => locale.text(word::sandbox::OFF).to_owned(),
        SandboxState::Unsupported(Missing::System) => locale.text(word::sandbox::UNKNOWN_SYSTEM).to_owned(),
        SandboxState::Unsupported(missing) => {
            locale.with(word::sandbox::Unsupported { cause: missing_sandbox(locale, missing) })
        }
    }
}

/// Words why a call would reach further than its kind does.
#[must_use]
pub fn widened(locale: &Locale, widened: Widened) -> &str {
    locale.text(match widened {
        Widened::ChangesUser => word::reason::CHANGES_USER,
        Widened::ChangesMachine => word::reason::CHANGES_MACHINE,
        Widened::Full => word::reason::FULL_ACCESS,
        Widened::Workspace => word::reason::WORKSPACE_ACCESS,
    })
}

/// Words how a turn ended; `None` when there is nothing to say.
#[must_use]
pub fn turn_end(locale: &Locale, end: &TurnEnd, speaking: Speaking) -> Option<Diagnostic> {
    let told = |what, hint: Option<Word>| {
        let hint = hint.map_or("", |hint| locale.text(hint)).to_owned();
        Some(Diagnostic { what, hint })
    };
    let plain = |what, hint| told(locale.text(what).to_owned(), hint);
    match end {
        TurnEnd::Done | TurnEnd::Length => None,
        TurnEnd::Interrupted => plain(word::turn::INTERRUPTED, None),
        TurnEnd::ApprovalNeeded { name, subject, never_auto, unkept } => {
            let rule = match subject {
                Subject::Command { line } => format!("{name}({line})"),
                Subject::Host { host } => format!("{name}({host})"),
                Subject::Paths { .. } | Subject::Whole => name.clone(),
            };
            let needed = locale.with(word::turn::ApprovalNeeded { name });
            // What cannot be undone is nobody's to allow beforehand; a host of this machine's own is, by its name.
            let (what, hint) = match (never_auto, unkept) {
                (true, _) if matches!(subject, Subject::Host { .. }) => {
                    (needed, locale.with(word::turn::ApprovalNamedHint { rule: &rule }))
                }
                (true, _) => (needed, locale.text(word::turn::APPROVAL_NEVER_HINT).to_owned()),
                (false, true) => (
                    locale.with(word::turn::ApprovalUnkept { name }),
                    locale.with(word::turn::ApprovalNamedHint { rule: &rule }),
                ),
                (false, false) => (needed, locale.with(word::turn::ApprovalNeededHint { rule: &rule })),
            };
            Some(Diagnostic { what, hint })
        }
        TurnEnd::StepLimit { limit } => {
            told(locale.count(word::turn::STEP_LIMIT, u64::from(*limit)), Some(word::turn::STEP_LIMIT_HINT))
        }
        TurnEnd::BudgetLimit { budget, spent, least } => {
            let (budget, spent, least) = (&budget.to_string(), &spent.to_string(), &least.rounded_down());
            told(
                locale.with(word::turn::BudgetLimit { budget, spent, least }),
                Some(match speaking {
                    Speaking::ByFlags => word::turn::BUDGET_LIMIT_HINT_FLAG,
                    Speaking::AtPrompt => word::turn::BUDGET_LIMIT_HINT,
                }),
            )
        }
        TurnEnd::Looping => {
            let hint = match speaking {
                Speaking::ByFlags => word::turn::LOOPING_HINT_FLAG,
                Speaking::AtPrompt => word::turn::LOOPING_HINT,
            };
            plain(word::turn::LOOPING, Some(hint))
        }
        TurnEnd::Refused => plain(word::turn::REFUSED, None),
        TurnEnd::Failed { error } => Some(failure(locale, error, speaking)),
    }
}

/// Words what the agent is busy with, for the status line.
#[must_use]
pub fn activity(locale: &Locale, roots: &Roots, tools: &Toolbox, activity: &Activity) -> String {
    match activity {
        Activity::SummingUp => locale.text(word::activity::SUMMING_UP).to_owned(),
        Activity::Connecting => locale.text(word::activity::CONNECTING).to_owned(),
        Activity::Loading => locale.text(word::activity::LOADING).to_owned(),
        Activity::Hook { command } => locale.with(word::activity::Hook { command: &first_line(command) }),
        Activity::Reading { read, all } => {
            locale.with(word::activity::Reading { read: &read.to_string(), all: &all.to_string() })
        }
        Activity::Silent { seconds } => locale.with(word::activity::Silent { seconds: &seconds.to_string() }),
        Activity::Thinking => locale.text(word::activity::THINKING).to_owned(),
        Activity::Exploring { explorers } => locale.count(word::activity::EXPLORING, explorers.len() as u64),
        Activity::Answering => locale.text(word::activity::ANSWERING).to_owned(),
        Activity::WritingCall { name, subject: Subject::Whole } => {
            locale.with(word::activity::WritingCall { name })
        }
        // What a call will do is what the model works on while it writes it.
        Activity::WritingCall { name, subject } | Activity::Running { name, subject } => {
            doing(locale, (name, tools.identity(name).verb), &subject_text(locale, roots, subject))
        }
    }
}

/// Words what a sub-agent does now, in few cells: `grep "door"`, `read src/a.rs`, `git log`.
#[must_use]
pub fn explorer(locale: &Locale, roots: &Roots, doing: Option<&Doing>) -> String {
    match doing {
        None => locale.text(word::activity::THINKING).to_owned(),
        Some(Doing { name, pattern: Some(pattern), .. }) => format!("{name} \"{}\"", first_line(pattern)),
        Some(Doing { subject: Subject::Command { line }, .. }) => first_line(line),
        Some(Doing { name, subject, pattern: None }) => {
            format!("{name} {}", subject_text(locale, roots, subject)).trim_end().to_owned()
        }
    }
}

fn doing(locale: &Locale, (name, verb): (&str, ToolVerb), what: &str) -> String {
    if what.is_empty() {
        return locale.with(word::activity::Running { what: name });
    }
    tool_words::doing(verb, what).map_or_else(
        || locale.with(word::activity::Running { what: &format!("{name} {what}") }),
        |doing| locale.with(doing),
    )
}

/// Reads what a call of a record was about.
#[must_use]
pub fn recorded(tools: &Toolbox, roots: &Roots, call: &ToolCall) -> (Subject, About) {
    match tools.read(call, roots) {
        ReadCall::Read { request, .. } => (request.subject(), request.about()),
        ReadCall::NoJson => (Subject::Whole, About::Subject),
        ReadCall::NoTool => {
            // A sub-agent's question says it all.
            let question = call.input.get("question").and_then(Value::as_str).map(str::to_owned);
            (Subject::Whole, question.map_or(About::Subject, |text| About::Text { text }))
        }
    }
}

/// Words what a call is about: its subject, or what says more than that.
#[must_use]
pub fn about(locale: &Locale, roots: &Roots, about: &About, subject: &Subject) -> String {
    let plain = || subject_text(locale, roots, subject);
    match (about, subject) {
        (About::Pattern { pattern, quoted }, _) => {
            let pattern = if *quoted { format!("\"{pattern}\"") } else { pattern.clone() };
            match plain() {
                folder if folder.is_empty() || folder == "." => pattern,
                folder => locale.with(word::title::Within { what: &pattern, folder: &folder }),
            }
        }
        (About::FromTo, Subject::Paths { paths }) => match paths.as_slice() {
            [from, to] => format!("{} → {}", roots.shown(from).display(), roots.shown(to).display()),
            _ => plain(),
        },
        (About::Text { text }, _) => first_line(text),
        (About::Screen, _) => locale.text(word::title::TERMINAL_READ).to_owned(),
        (About::End, _) => locale.text(word::title::TERMINAL_STOP).to_owned(),
        (About::Subject | About::FromTo, _) => plain(),
    }
}

/// Words the title of a finished call, with what it is [`about`]: `Ran cargo test · 4.1 s · exit 1`.
#[must_use]
pub fn title_about(
    locale: &Locale,
    what: &str,
    (name, verb): (&str, ToolVerb),
    outcome: Outcome,
    facts: &ToolFacts,
    duration_ms: u64,
) -> String {
    // Of what did not happen nobody says that it did: a command that failed was run, a change was not made.
    let done = outcome == Outcome::Ok || facts.exit_code.is_some() || facts.timed_out_after.is_some();
    let title = if done { tool_words::done(verb, what) } else { tool_words::wanted(verb, what) };
    let title = title.map_or_else(|| locale.with(word::title::Other { name, what }), |title| locale.with(title));
    let mut parts = vec![title.trim_end().to_owned()];
    if let (Some(added), Some(removed)) = (facts.added, facts.removed) {
        parts.push(format!("+{added} −{removed}"));
    } else if let Some(lines) = facts.lines.filter(|lines| *lines > 0 || verb != ToolVerb::Run) {
        let counted = if verb == ToolVerb::FindFiles { word::title::FILES } else { word::title::LINES };
        parts.push(locale.count(counted, lines));
    }
    // Below a tenth of a second nobody waited.
    if duration_ms >= 100 {
        parts.push(seconds(duration_ms));
    }
    if let Some(limit) = facts.timed_out_after {
        parts.push(locale.with(word::title::TimedOut { seconds: &limit.to_string() }));
    } else if let Some(code) = facts.exit_code.filter(|code| *code != 0) {
        parts.push(locale.with(word::title::Exit { code: &code.to_string() }));
    }
    match outcome {
        Outcome::Ok => {}
        Outcome::Failed if facts.exit_code.is_some() || facts.timed_out_after.is_some() => {}
        Outcome::Failed => parts.push(locale.text(word::title::FAILED).to_owned()),
        Outcome::Denied => parts.push(locale.text(word::title::DENIED).to_owned()),
        Outcome::Interrupted => parts.push(locale.text(word::title::INTERRUPTED).to_owned()),
    }
    parts.join(" · ")
}

/// Writes a duration as `4.1 s` or `2 min 5 s`.
#[must_use]
pub fn seconds(milliseconds: u64) -> String {
    let whole = milliseconds / 1000;
    if whole >= 60 {
        return whole_seconds(whole);
    }
    format!("{whole}.{} s", milliseconds % 1000 / 100)
}

/// Writes whole seconds as `8 s` or `2 min 5 s`.
#[must_use]
pub fn whole_seconds(seconds: u64) -> String {
    if seconds >= 60 { format!("{} min {} s", seconds / 60, seconds % 60) } else { format!("{seconds} s") }
}

/// Writes what a call is about in a few words, on one line.
#[must_use]
pub fn subject_text(locale: &Locale, roots: &Roots, subject: &Subject) -> String {
    match subject {
        Subject::Command { line } => first_line(line),
        Subject::Paths { paths } => match paths.as_slice() {
            [] => String::new(),
            [path] => {
                let shown = roots.shown(path).display().to_string();
                if shown.is_empty() { ".".to_owned() } else { shown }
            }
            [path, rest @ ..] => {
                let path = roots.shown(path).display().to_string();
                locale.with(word::title::AndMore { what: &path, count: &rest.len().to_string() })
            }
        },
        Subject::Host { host } => host.clone(),
        Subject::Whole => String::new(),
    }
}

/// Words why a person is asked; empty when the question says it all.
#[must_use]
pub fn reasons(locale: &Locale, roots: &Roots, reasons: &[Reason]) -> Vec<String> {
    let word = |reason: &Reason| match reason {
        Reason::MatchedRule { decision: Decision::Ask, rule, source } => {
            let rule = &rule.to_string();
            Some(if *source == Source::Project {
                locale.with(word::reason::ProjectRule { rule })
            } else {
                locale.with(word::reason::Rule { rule })
            })
        }
        Reason::OutsideWorkspace { path } => {
            Some(locale.with(word::reason::Outside { path: &roots.shown(path).display().to_string() }))
        }
        Reason::Credential { what } => Some(locale.with(word::reason::Credential { what })),
        Reason::Protected { path } => {
            Some(locale.with(word::reason::Protected { path: &roots.shown(path).display().to_string() }))
        }
        Reason::Segment { text, class: Class::Destructive } => {
            Some(locale.with(word::reason::Destructive { text }))
        }
        Reason::Unparsed { text, .. } => Some(locale.with(word::reason::Unparsed { text })),
        Reason::PrivateHost { host } => Some(locale.with(word::reason::PrivateHost { host })),
        Reason::NeverAuto { why } => Some(never_auto(locale, why)),
        Reason::Hook { words } => Some(locale.with(word::reason::Hook { words })),
        Reason::HookMistake { words } => Some(locale.with(word::reason::HookMistake { words })),
        Reason::Untried => Some(locale.text(word::reason::UNTRIED).to_owned()),
        Reason::Unanswered => Some(locale.text(word::reason::UNANSWERED).to_owned()),
        Reason::CannotUndo { files: 0 } => Some(locale.text(word::reason::NO_UNDO).to_owned()),
        Reason::CannotUndo { files } => Some(locale.count(word::reason::NOT_UNDONE, *files)),
        Reason::MatchedRule { .. }
        | Reason::DefaultForEffect { .. }
        | Reason::ModeOnlyReads { .. }
        | Reason::Segment { .. }
        | Reason::AssumedYes => None,
    };
    let mut words: Vec<String> = Vec::new();
    for text in reasons.iter().filter_map(word) {
        if !words.contains(&text) {
            words.push(text);
        }
    }
    words
}

/// Tells whether neither a rule nor a grant could ever run this unasked.
#[must_use]
pub fn never_auto_reason(reasons: &[Reason]) -> bool {
    reasons.iter().any(|reason| matches!(reason, Reason::NeverAuto { .. }))
}

fn never_auto(locale: &Locale, why: &NeverAuto) -> String {
    use word::reason::never::{self, Device, Hidden, Home, System, Unresolved, Workspace};
    match why {
        NeverAuto::HomeOrAbove { target } => locale.with(Home { target }),
        NeverAuto::WorkspaceOrAbove { target } => locale.with(Workspace { target }),
        NeverAuto::System { target } => locale.with(System { target }),
        NeverAuto::Unresolved { word } => locale.with(Unresolved { word }),
        NeverAuto::UnseenScript => locale.text(never::UNSEEN_SCRIPT).to_owned(),
        NeverAuto::HiddenDestructive { looks } => locale.with(Hidden { looks }),
        NeverAuto::Device { target } => locale.with(Device { target }),
        NeverAuto::Machine => locale.text(never::MACHINE).to_owned(),
        NeverAuto::ChangesMachine { command } => locale.with(never::ChangesMachine { command }),
        NeverAuto::MayBeDenied => locale.text(never::MAY_BE_DENIED).to_owned(),
        NeverAuto::Shared { command } => locale.with(never::Shared { command }),
        NeverAuto::Push { branch, remote } => locale.with(never::Push { branch, remote }),
        NeverAuto::SecretLeaves { what } => locale.with(never::SecretLeaves { what }),
        NeverAuto::SecretTaken { what } => locale.with(never::SecretTaken { what }),
        NeverAuto::Settings { target } => locale.with(never::Settings { target }),
        NeverAuto::RunsLater { target } => locale.with(never::RunsLater { target }),
    }
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
