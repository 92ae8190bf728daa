//! Changes of files: seen once, before they happen where a person is asked and after them where nobody is, and worked
//! out once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::BoxFuture;
use serde_json::Value;

use super::*;
use crate::conversation::ToolSpec;
use crate::tool::{EditTool, ToolContext, ToolOutput};

/// The tool that edits, counting how often it works out what an edit will look like.
#[derive(Default)]
struct Counting(AtomicUsize);

impl Tool for Counting {
    fn spec(&self) -> ToolSpec {
        EditTool.spec()
    }

    fn effect(&self, input: &Value, place: &Place) -> Effect {
        EditTool.effect(input, place)
    }

    fn subject(&self, input: &Value, place: &Place) -> Subject {
        EditTool.subject(input, place)
    }

    fn preview(&self, input: &Value, place: &Place) -> Result<Preview, String> {
        self.0.fetch_add(1, Ordering::Relaxed);
        EditTool.preview(input, place)
    }

    fn run<'a>(&'a self, input: Value, context: ToolContext<'a>) -> BoxFuture<'a, ToolOutput> {
        EditTool.run(input, context)
    }
}

#[test]
fn a_change_that_nobody_is_asked_about_is_shown_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.txt");
    let text = numbered("line ", 60);
    let turn = |asked: bool| {
        std::fs::write(&file, &text).unwrap();
        let counting = Arc::new(Counting::default());
        let mut stage = Stage::with(80, vec![Arc::clone(&counting) as Arc<dyn Tool>]);
        let mut call = call("edit");
        call.input = json!({"path": file, "old_string": "line 30\n", "new_string": "line thirty\n"});
        let subject = Subject::Paths { paths: vec![PathBuf::from("/work/a.txt")] };
        stage.start().show(AgentEvent::ToolRequested {
            call: call.clone(),
            effect: Effect::Write,
            subject: subject.clone(),
        });
        if asked {
            // The agent works it out for the question.
            stage.human.approve(&request("edit", Preview::Text { text: "the change".to_owned() }));
        }
        stage.show(AgentEvent::Waiting { activity: Activity::Running { name: "edit".to_owned(), subject } });
        std::fs::write(&file, text.replace("line 30", "line thirty")).unwrap();
        let facts = ToolFacts { added: Some(1), removed: Some(1), ..ToolFacts::default() };
        stage.show(AgentEvent::ToolFinished {
            call_id: "c".to_owned(),
            name: "edit".to_owned(),
            outcome: Outcome::Ok,
            content: "Edited.".to_owned(),
            facts,
            duration_ms: 3,
        });
        (stage.end(TurnEnd::Done).rows(), counting.0.load(Ordering::Relaxed))
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
    assert_eq!(turn(false), (expected.map(str::to_owned).to_vec(), 1));
    let asked = ["the change", "? Make this change?", "✓ Edited a.txt · +1 −1"];
    assert_eq!(turn(true), (asked.map(str::to_owned).to_vec(), 0));
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
    let (locale, place) = (Locale::new("en"), place());
    let told = |preview: &Preview| -> Vec<String> {
        diff::rows(preview, &locale, &place, stage.human.painter.ink()).iter().map(Line::text).collect()
    };
    let expected = ["  new.txt · new file", "  1 + one", "  a.txt", "  1 - two", "  1 + 2", "  gone.txt · deleted"];
    assert_eq!(told(&Preview::Many { parts: parts.clone() }), expected);
    // The title of the call names one.
    assert_eq!(told(&Preview::Many { parts: parts[..1].to_vec() }), ["  1 + one"]);
}
