//! Changes of files: seen once, before they happen where a person is asked and after them where nobody is.

use super::*;
use crate::frontend::human::diff;

#[test]
fn a_change_that_nobody_is_asked_about_is_shown_after_it() {
    let old = numbered("line ", 60);
    let change = Preview::Diff {
        path: PathBuf::from("/work/a.txt"),
        old: Some(old.clone()),
        new: Some(old.replace("line 30", "line thirty")),
    };
    let turn = |asked: bool| {
        let mut stage = Stage::new(80);
        let subject = Subject::Paths { paths: vec![PathBuf::from("/work/a.txt")] };
        stage.start().show(AgentEvent::ToolRequested {
            call: call("edit"),
            effect: Effect::Write,
            subject: subject.clone(),
            about: crate::conversation::About::Subject,
        });
        if asked {
            stage.human.approve(&request("edit", Preview::Text { text: "the change".to_owned() }));
        }
        stage.show(AgentEvent::Waiting { activity: Activity::Running { name: "edit".to_owned(), subject } });
        let facts = ToolFacts { added: Some(1), removed: Some(1), ..ToolFacts::default() };
        stage.show(AgentEvent::ToolFinished {
            call_id: "c".to_owned(),
            name: "edit".to_owned(),
            outcome: Outcome::Ok,
            content: "Edited.".to_owned(),
            facts,
            duration_ms: 3,
            change: Some(change.clone()),
        });
        stage.end(TurnEnd::Done).rows()
    };
    let expected = [
        "✓ Edited a.txt · +1 −1",
        "  27   line 27",
        "  28   line 28",
        "  29   line 29",
        "  30 - line 30",
        "  30 + line thirty",
        "  31   line 31",
        "  32   line 32",
        "  33   line 33",
    ];
    assert_eq!(turn(false), expected);
    assert_eq!(turn(true), ["the change", "? Make this change?", "✓ Edited a.txt · +1 −1 · allowed once"]);
}

#[test]
fn each_file_of_a_patch_is_named() {
    let part = |name: &str, old: Option<&str>, new: Option<&str>| Preview::Diff {
        path: format!("/work/{name}").into(),
        old: old.map(str::to_owned),
        new: new.map(str::to_owned),
    };
    let parts = vec![
        part("new.txt", None, Some("one\n")),
        part("a.txt", Some("two\n"), Some("2\n")),
        part("gone.txt", Some("three\n"), None),
    ];
    let stage = Stage::new(80);
    let (locale, roots) = (Locale::new("en"), roots());
    let told = |preview: &Preview| -> Vec<String> {
        diff::rows(preview, &locale, &roots, stage.human.painter.ink()).iter().map(Line::text).collect()
    };
    let expected = ["  new.txt · new file", "  1 + one", "  a.txt", "  1 - two", "  1 + 2", "  gone.txt · deleted"];
    assert_eq!(told(&Preview::Many { parts: parts.clone() }), expected);
    // The title of the call names one.
    assert_eq!(told(&Preview::Many { parts: parts[..1].to_vec() }), ["  1 + one"]);
}
