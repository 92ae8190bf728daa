//! A tool's call as an editor shows it: its kind, its title, the files it is about, the change it makes. Pure.

use std::path::Path;

use serde_json::{Value, json};

use crate::agent::ApprovalRequest;
use crate::approval::Reason;
use crate::conversation::{Preview, Subject, ToolVerb};
use crate::frontend::{reach, tool_words, words};
use crate::locale::{Locale, word};
use crate::terminal::{sanitize, sanitize_line};
use crate::tool::Roots;

/// The protocol's kind of a tool.
pub(super) const fn kind(verb: ToolVerb) -> &'static str {
    match verb {
        ToolVerb::Read | ToolVerb::List => "read",
        ToolVerb::Search | ToolVerb::FindFiles | ToolVerb::Explore => "search",
        ToolVerb::Edit | ToolVerb::Write | ToolVerb::Patch | ToolVerb::MakeDirectory => "edit",
        ToolVerb::Delete => "delete",
        ToolVerb::Move => "move",
        ToolVerb::Run | ToolVerb::UseTerminal | ToolVerb::LookAfterJobs => "execute",
        ToolVerb::Fetch => "fetch",
        ToolVerb::Plan => "think",
        ToolVerb::Ask | ToolVerb::Call | ToolVerb::Propose => "other",
    }
}

/// The title of a call that has not run, with what it is about.
pub(super) fn title(locale: &Locale, name: &str, verb: ToolVerb, about: &str) -> String {
    let wanted = tool_words::wanted(verb, about).or_else(|| tool_words::done(verb, about));
    let other = || locale.with(word::title::Other { name, what: about });
    sanitize_line(wanted.map_or_else(other, |wanted| locale.with(wanted)).trim_end()).into_owned()
}

/// A text as content of a call.
pub(super) fn text(text: &str) -> Value {
    json!({"type": "content", "content": {"type": "text", "text": sanitize(text)}})
}

/// What a call would do, or did: a change of a file as such, everything else as text.
pub(super) fn contents(preview: &Preview) -> Vec<Value> {
    match preview {
        Preview::Command { line } => vec![text(line)],
        Preview::Diff { path, old, new } => {
            vec![
                json!({"type": "diff", "path": path, "oldText": old, "newText": new.as_deref().unwrap_or_default()}),
            ]
        }
        Preview::Text { text } if text.is_empty() => Vec::new(),
        Preview::Text { text: words } => vec![text(words)],
        Preview::Many { parts } => parts.iter().flat_map(contents).collect(),
    }
}

/// The files a call is about; where a change is known, at the first line of it.
pub(super) fn locations(subject: &Subject, preview: Option<&Preview>) -> Vec<Value> {
    let Subject::Paths { paths } = subject else { return Vec::new() };
    let located = |path: &Path| match preview.and_then(|preview| first_changed(preview, path)) {
        Some(line) => json!({"path": path, "line": line}),
        None => json!({"path": path}),
    };
    paths.iter().map(|path| located(path)).collect()
}

/// The first line of a file that a change touches, from 1.
fn first_changed(preview: &Preview, file: &Path) -> Option<usize> {
    match preview {
        Preview::Diff { path, old: Some(old), new: Some(new) } if path == file => {
            Some(old.lines().zip(new.lines()).take_while(|(old, new)| old == new).count() + 1)
        }
        Preview::Many { parts } => parts.iter().find_map(|part| first_changed(part, file)),
        Preview::Diff { .. } | Preview::Command { .. } | Preview::Text { .. } => None,
    }
}

/// Lists what speaks against a call: how much it affects, and why the person is asked.
pub(super) fn doubts(locale: &Locale, roots: &Roots, request: &ApprovalRequest) -> Option<Value> {
    let mut reasons = request.reasons.clone();
    let mut rows = Vec::new();
    if let (Subject::Command { line }, Some(radius)) = (&request.subject, &request.reach) {
        rows = reach::rows(locale, roots, line, radius);
        if !rows.is_empty() {
            // The numbers say better how much the line can destroy.
            reasons.retain(|reason| !matches!(reason, Reason::Segment { text, .. } if text.trim() == line.trim()));
        }
    }
    rows.extend(words::reasons(locale, roots, &reasons));
    rows.extend(request.widened.map(|widened| words::widened(locale, widened).to_owned()));
    rows.extend(request.outlives.then(|| locale.text(word::reason::OUTLIVES).to_owned()));
    let rows: Vec<String> = rows.iter().map(|row| format!("! {}", sanitize_line(row.trim()))).collect();
    (!rows.is_empty()).then(|| text(&rows.join("\n")))
}

/// The entries of a plan, as the `todo` tool writes it.
pub(super) fn plan(written: &str) -> Vec<Value> {
    let entry = |row: &str| {
        let (status, step) = match row.split_at_checked(4)? {
            ("[ ] ", step) => ("pending", step),
            ("[>] ", step) => ("in_progress", step),
            ("[x] ", step) => ("completed", step),
            // A dropped step no longer belongs to the plan, and the protocol has no word for it.
            _ => return None,
        };
        Some(json!({"content": sanitize_line(step), "priority": "medium", "status": status}))
    };
    written.lines().filter_map(entry).collect()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn a_change_is_told_with_its_file_both_texts_and_its_first_line() {
        let path = PathBuf::from("/w/a.rs");
        let change = Preview::Diff { path: path.clone(), old: Some("a\nb\n".into()), new: Some("a\nc\n".into()) };
        let subject = Subject::Paths { paths: vec![path] };
        let told = json!([{"type": "diff", "path": "/w/a.rs", "oldText": "a\nb\n", "newText": "a\nc\n"}]);
        assert_eq!(json!(contents(&change)), told);
        assert_eq!(json!(locations(&subject, Some(&change))), json!([{"path": "/w/a.rs", "line": 2}]));
        assert_eq!(json!(locations(&subject, None)), json!([{"path": "/w/a.rs"}]));
    }

    #[test]
    fn a_plan_is_its_steps_without_those_that_were_dropped() {
        let told = plan("[x] look\n[>] build \u{1b}[31mit\n[ ] test\n[-] ship\n(rest)\n");
        let step =
            |content: &str, status: &str| json!({"content": content, "priority": "medium", "status": status});
        let expected = [step("look", "completed"), step("build ␛[31mit", "in_progress"), step("test", "pending")];
        assert_eq!(told, expected);
    }
}
