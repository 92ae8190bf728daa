//! Facts in, the user's words out. The only place that knows how an event reads. Pure.

use serde_json::Value;

use crate::agent::{Activity, Doing, Failure, Notice, TurnEnd, Widened};
use crate::approval::{Class, Decision, NeverAuto, Reason, Source};
pub use crate::command::{describe, rule_error};
use crate::conversation::{Outcome, Subject, ToolCall};
use crate::locale::Locale;
use crate::provider::{OWN, cause};
use crate::sandbox::{Missing, Standing, Support};
use crate::tool::{Place, ToolFacts};

/// A sentence, and what to do now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// What happened.
    pub what: String,
    /// What to do now; may be empty.
    pub hint: String,
}

/// Words a provider's failure.
#[must_use]
pub fn failure(locale: &Locale, failure: &Failure) -> Told {
    let with = |key: &str, values: &[(&str, &str)]| Told {
        what: locale.with(&format!("failure.{key}"), values),
        hint: locale.with(&format!("failure.{key}_hint"), values),
    };
    match failure {
        Failure::Unreachable { url, cause } => {
            with("unreachable", &[("url", url), ("cause", network_cause(locale, cause))])
        }
        Failure::Broken { url, cause } => with("broken", &[("url", url), ("cause", network_cause(locale, cause))]),
        Failure::Timeout { url, seconds } => with("timeout", &[("url", url), ("seconds", &seconds.to_string())]),
        Failure::Unauthorized { provider, status, message } => {
            let status = status.to_string();
            with("unauthorized", &[("provider", provider), ("status", &status), ("message", message)])
        }
        Failure::NoSuchModel { provider, model, message } if provider == OWN => {
            with("own_model", &[("model", model), ("message", message)])
        }
        Failure::NoSuchModel { provider, model, message } => {
            with("no_such_model", &[("provider", provider), ("model", model), ("message", message)])
        }
        Failure::ContextOverflow { message } => with("context_overflow", &[("message", message)]),
        Failure::Status { provider, status, message } => {
            let status = status.to_string();
            with("status", &[("provider", provider), ("status", &status), ("message", message)])
        }
        Failure::Protocol { provider, cause } => with("protocol", &[("provider", provider), ("cause", cause)]),
        Failure::Empty => with("empty", &[]),
    }
}

/// Words why the network failed; causes nobody has words for stay in the system's own.
fn network_cause<'a>(locale: &'a Locale, cause: &'a str) -> &'a str {
    let key = match cause {
        cause::REFUSED => "cause.refused",
        cause::NO_NAME => "cause.no_name",
        cause::UNTRUSTED => "cause.untrusted",
        cause::CERTIFICATE_DATE => "cause.certificate_date",
        cause::CERTIFICATE_NAME => "cause.certificate_name",
        cause::TLS => "cause.tls",
        cause::CONNECT_TIMEOUT => "cause.connect_timeout",
        cause::NO_ROUTE => "cause.no_route",
        cause::PROXY => "cause.proxy",
        cause::CLOSED => "cause.closed",
        cause::BAD_URL => "cause.bad_url",
        unknown => return unknown,
    };
    locale.text(key)
}

/// The first line of a text, with a mark where there are more.
#[must_use]
pub fn first_line(text: &str) -> String {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    if lines.next().is_some() { format!("{first} …") } else { first.to_owned() }
}

/// Words a notice.
#[must_use]
pub fn notice(locale: &Locale, notice: &Notice) -> Told {
    let plain = |what: String| Told { what, hint: String::new() };
    match notice {
        Notice::CutByLength => plain(locale.text("notice.cut_by_length").to_owned()),
        Notice::CallsCut => plain(locale.text("notice.calls_cut").to_owned()),
        Notice::FilteredByProvider => plain(locale.text("notice.filtered").to_owned()),
        Notice::BrokenMidway { error } => Told {
            what: locale.with("notice.broken_midway", &[("cause", &failure(locale, error).what)]),
            hint: locale.text("notice.broken_midway_hint").to_owned(),
        },
        Notice::NotSaved { path, cause } => {
            plain(locale.with("notice.not_saved", &[("path", &path.display().to_string()), ("cause", cause)]))
        }
        Notice::Repeating { name } => plain(locale.with("notice.repeating", &[("name", name)])),
        Notice::EmptyAnswer => plain(locale.text("notice.empty_answer").to_owned()),
        Notice::NotKept { files } => plain(locale.count("notice.not_kept", *files)),
        Notice::NoUndo { path, cause } => {
            plain(locale.with("notice.no_undo", &[("path", &path.display().to_string()), ("cause", cause)]))
        }
        Notice::NoSandbox { missing } => {
            plain(locale.with("notice.no_sandbox", &[("cause", missing_sandbox(locale, *missing))]))
        }
    }
}

/// Words what this system lacks for a sandbox.
#[must_use]
pub fn missing_sandbox(locale: &Locale, missing: Missing) -> &str {
    locale.text(match missing {
        Missing::Landlock => "sandbox.missing.landlock",
        Missing::Seccomp => "sandbox.missing.seccomp",
        Missing::SandboxExec => "sandbox.missing.sandbox_exec",
        Missing::System => "sandbox.missing.system",
    })
}

/// Words how commands are confined, in one line; `attributes` says whether modes, owners and times outside are kept
/// from what was approved, too.
#[must_use]
pub fn sandbox(locale: &Locale, standing: Standing, attributes: bool) -> String {
    match standing {
        Standing::On(support @ Support::Landlock { abi }) => {
            let key = match (support.holds_workspace(), abi) {
                (false, _) => "sandbox.landlock_readers",
                (true, 0..6) => "sandbox.landlock_no_signals",
                (true, _) => "sandbox.landlock",
            };
            let told = locale.with(key, &[("abi", &abi.to_string())]);
            // Where what is approved is not held at all the line says so already.
            let lacks = support.holds_workspace() && !attributes;
            if lacks { told + locale.text("sandbox.no_attributes") } else { told }
        }
        Standing::On(Support::SandboxExec) => locale.text("sandbox.sandbox_exec").to_owned(),
        Standing::Off => locale.text("sandbox.off").to_owned(),
        Standing::Unsupported(missing) => {
            locale.with("sandbox.unsupported", &[("cause", missing_sandbox(locale, missing))])
        }
    }
}

/// Words why a call would reach further than its kind does.
#[must_use]
pub fn widened(locale: &Locale, widened: Widened) -> &str {
    locale.text(match widened {
        Widened::ChangesUser => "reason.changes_user",
        Widened::Full => "reason.full_access",
        Widened::Workspace => "reason.workspace_access",
    })
}

/// Words how a turn ended; `None` when there is nothing to say.
#[must_use]
pub fn turn_end(locale: &Locale, end: &TurnEnd) -> Option<Told> {
    let with = |key: &str, values: &[(&str, &str)]| {
        Some(Told {
            what: locale.with(&format!("turn.{key}"), values),
            hint: locale.with(&format!("turn.{key}_hint"), values),
        })
    };
    match end {
        TurnEnd::Done | TurnEnd::Length => None,
        TurnEnd::Interrupted => with("interrupted", &[]),
        TurnEnd::ApprovalNeeded { name, subject, never_auto, unkept } => {
            let rule = match subject {
                Subject::Command { line } => format!("{name}({line})"),
                Subject::Host { host } => format!("{name}({host})"),
                Subject::Paths { .. } | Subject::Whole => name.clone(),
            };
            let mut told = with("approval_needed", &[("name", name), ("rule", &rule)])?;
            if *never_auto {
                // What cannot be undone is nobody's to allow beforehand; a host of this machine's own is, by its name.
                let named = matches!(subject, Subject::Host { .. });
                let key = if named { "turn.approval_named_hint" } else { "turn.approval_never_hint" };
                told.hint = locale.with(key, &[("rule", &rule)]);
            }
            if *unkept && !never_auto {
                told.what = locale.with("turn.approval_unkept", &[("name", name)]);
                told.hint = locale.with("turn.approval_named_hint", &[("rule", &rule)]);
            }
            Some(told)
        }
        TurnEnd::StepLimit { limit } => Some(Told {
            what: locale.count("turn.step_limit", u64::from(*limit)),
            hint: locale.text("turn.step_limit_hint").to_owned(),
        }),
        TurnEnd::Looping => with("looping", &[]),
        TurnEnd::Refused => with("refused", &[]),
        TurnEnd::Failed { error } => Some(failure(locale, error)),
    }
}

/// Words what the agent is busy with, for the status line.
#[must_use]
pub fn activity(locale: &Locale, place: &Place, activity: &Activity) -> String {
    match activity {
        Activity::Connecting => locale.text("activity.connecting").to_owned(),
        Activity::Loading => locale.text("activity.loading").to_owned(),
        Activity::Reading { read, all } => {
            locale.with("activity.reading", &[("read", &read.to_string()), ("all", &all.to_string())])
        }
        Activity::Thinking => locale.text("activity.thinking").to_owned(),
        Activity::Exploring { explorers } => locale.count("activity.exploring", explorers.len() as u64),
        Activity::Answering => locale.text("activity.answering").to_owned(),
        Activity::WritingCall { name, subject: Subject::Whole } => {
            locale.with("activity.writing_call", &[("name", name)])
        }
        // What a call will do is what the model works on while it writes it.
        Activity::WritingCall { name, subject } | Activity::Running { name, subject } => {
            doing(locale, name, &subject_text(locale, place, subject))
        }
    }
}

/// Words what a sub-agent does now, in few cells: `grep "door"`, `read src/a.rs`, `git log`.
#[must_use]
pub fn explorer(locale: &Locale, place: &Place, doing: Option<&Doing>) -> String {
    match doing {
        None => locale.text("activity.thinking").to_owned(),
        Some(Doing { name, pattern: Some(pattern), .. }) => format!("{name} \"{}\"", first_line(pattern)),
        Some(Doing { subject: Subject::Command { line }, .. }) => first_line(line),
        Some(Doing { name, subject, pattern: None }) => {
            format!("{name} {}", subject_text(locale, place, subject)).trim_end().to_owned()
        }
    }
}

fn doing(locale: &Locale, name: &str, what: &str) -> String {
    if what.is_empty() {
        return locale.with("activity.running", &[("what", name)]);
    }
    let key = format!("activity.tool.{name}");
    if locale.text(&key) == key {
        return locale.with("activity.running", &[("what", &format!("{name} {what}"))]);
    }
    locale.with(&key, &[("what", what)])
}

/// Words what a call is about: its subject, or what says more than that.
#[must_use]
pub fn about(locale: &Locale, place: &Place, call: &ToolCall, subject: &Subject) -> String {
    let text = |name: &str| call.input.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let plain = || subject_text(locale, place, subject);
    match (call.name.as_str(), subject) {
        ("grep" | "glob", _) => {
            let Some(pattern) = text("pattern") else { return plain() };
            let pattern = if call.name == "grep" { format!("\"{pattern}\"") } else { pattern.to_owned() };
            match plain() {
                folder if folder.is_empty() || folder == "." => pattern,
                folder => locale.with("title.within", &[("what", &pattern), ("where", &folder)]),
            }
        }
        ("move", Subject::Paths { paths }) => match paths.as_slice() {
            [from, to] => format!("{} → {}", place.shown(from).display(), place.shown(to).display()),
            _ => plain(),
        },
        ("shell", _) => match call.input.get("commands").and_then(Value::as_array) {
            Some(commands) if commands.len() > 1 => {
                commands.iter().filter_map(Value::as_str).map(first_line).collect::<Vec<_>>().join("; ")
            }
            Some(_) | None => plain(),
        },
        ("terminal", _) => match (text("action"), text("keys")) {
            (Some("read"), _) => locale.text("title.terminal_read").to_owned(),
            (Some("stop"), _) => locale.text("title.terminal_stop").to_owned(),
            (Some("send"), Some(keys)) => first_line(keys),
            _ => plain(),
        },
        (_, Subject::Whole) => text("question").unwrap_or_default().to_owned(),
        (_, Subject::Paths { .. } | Subject::Command { .. } | Subject::Host { .. }) => plain(),
    }
}

/// Words the title of a finished call, with what it is [`about`]: `Ran cargo test · 4.1 s · exit 1`.
#[must_use]
pub fn title_about(
    locale: &Locale,
    what: &str,
    name: &str,
    outcome: Outcome,
    facts: &ToolFacts,
    duration_ms: u64,
) -> String {
    let key = format!("title.{name}");
    let known = locale.text(&key);
    // Of what did not happen nobody says that it did: a command that failed was run, a change was not made.
    let done = outcome == Outcome::Ok || facts.exit_code.is_some() || facts.timed_out_after.is_some();
    let title = if known == key || !done || what.is_empty() && known.contains("{what}") {
        locale.with("title.other", &[("name", name), ("what", what)])
    } else {
        locale.with(&key, &[("what", what)])
    };
    let mut parts = vec![title.trim_end().to_owned()];
    if let (Some(added), Some(removed)) = (facts.added, facts.removed) {
        parts.push(format!("+{added} −{removed}"));
    } else if let Some(lines) = facts.lines {
        parts.push(locale.count(if name == "glob" { "title.files" } else { "title.lines" }, lines));
    }
    // Below a tenth of a second nobody waited.
    if duration_ms >= 100 {
        parts.push(seconds(duration_ms));
    }
    if let Some(limit) = facts.timed_out_after {
        parts.push(locale.with("title.timed_out", &[("seconds", &limit.to_string())]));
    } else if let Some(code) = facts.exit_code.filter(|code| *code != 0) {
        parts.push(locale.with("title.exit", &[("code", &code.to_string())]));
    }
    match outcome {
        Outcome::Ok => {}
        Outcome::Failed if facts.exit_code.is_some() || facts.timed_out_after.is_some() => {}
        Outcome::Failed => parts.push(locale.text("title.failed").to_owned()),
        Outcome::Denied => parts.push(locale.text("title.denied").to_owned()),
        Outcome::Interrupted => parts.push(locale.text("title.interrupted").to_owned()),
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
pub fn subject_text(locale: &Locale, place: &Place, subject: &Subject) -> String {
    match subject {
        Subject::Command { line } => first_line(line),
        Subject::Paths { paths } => match paths.as_slice() {
            [] => String::new(),
            [path] => {
                let shown = place.shown(path).display().to_string();
                if shown.is_empty() { ".".to_owned() } else { shown }
            }
            [path, rest @ ..] => {
                let path = place.shown(path).display().to_string();
                locale.with("title.and_more", &[("what", &path), ("count", &rest.len().to_string())])
            }
        },
        Subject::Host { host } => host.clone(),
        Subject::Whole => String::new(),
    }
}

/// Words why a person is asked; empty when the question says it all.
#[must_use]
pub fn reasons(locale: &Locale, place: &Place, reasons: &[Reason]) -> Vec<String> {
    let word = |reason: &Reason| match reason {
        Reason::MatchedRule { decision: Decision::Ask, rule, source } => {
            let key = if *source == Source::Project { "reason.project_rule" } else { "reason.rule" };
            Some(locale.with(key, &[("rule", &rule.to_string())]))
        }
        Reason::OutsideWorkspace { path } => {
            Some(locale.with("reason.outside", &[("path", &place.shown(path).display().to_string())]))
        }
        Reason::Credential { what } => Some(locale.with("reason.credential", &[("what", what)])),
        Reason::Protected { path } => {
            Some(locale.with("reason.protected", &[("path", &place.shown(path).display().to_string())]))
        }
        Reason::Segment { text, class: Class::Destructive } => {
            Some(locale.with("reason.destructive", &[("text", text)]))
        }
        Reason::Unparsed { text, .. } => Some(locale.with("reason.unparsed", &[("text", text)])),
        Reason::PrivateHost { host } => Some(locale.with("reason.private_host", &[("host", host)])),
        Reason::NeverAuto { why } => Some(never_auto(locale, why)),
        Reason::CannotUndo { files: 0 } => Some(locale.text("reason.no_undo").to_owned()),
        Reason::CannotUndo { files } => Some(locale.count("reason.not_undone", *files)),
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
    let with = |key: &str, name: &str, value: &str| locale.with(&format!("reason.never.{key}"), &[(name, value)]);
    match why {
        NeverAuto::HomeOrAbove { target } => with("home", "target", target),
        NeverAuto::WorkspaceOrAbove { target } => with("workspace", "target", target),
        NeverAuto::System { target } => with("system", "target", target),
        NeverAuto::Unresolved { word } => with("unresolved", "word", word),
        NeverAuto::UnseenScript => with("unseen_script", "", ""),
        NeverAuto::HiddenDestructive { looks } => with("hidden", "looks", looks),
        NeverAuto::Device { target } => with("device", "target", target),
        NeverAuto::Machine => with("machine", "", ""),
        NeverAuto::MayBeDenied => with("may_be_denied", "", ""),
    }
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
