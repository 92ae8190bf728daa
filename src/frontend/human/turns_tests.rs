//! Turns on a model of a terminal: what stands where, in which order, and that nothing from outside commands it.

use std::cell::Cell;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;

use super::super::again::turn;
use super::super::attention::Notifier;
use super::super::looks::Palette;
use super::*;
use crate::agent::{Activity, Failure, Notice as Warning, TurnEnd};
use crate::config::{Notifications, Notify, ReasoningView, ThemeChoice};
use crate::conversation::ContentBlock::{Reasoning, Text, ToolCall as Call, ToolResult as Answer};
use crate::conversation::{About, Effect, Message, Outcome, Preview, Subject, ToolCall, Usage};
use crate::terminal::{Capabilities, Depth, NotifyBy, Wrap};
use crate::tool::{Roots, Tool, ToolFacts, table};

/// A person who answers every question alike.
struct Says(Approval);

impl Asker<Vec<u8>> for Says {
    fn ask(&mut self, question: &Question, screen: &mut Screen<Vec<u8>>) -> Approval {
        screen.commit(&Line::styled(format!("? {}", question.prompt), nu_ansi_term::Style::default()));
        screen.flush();
        self.0.clone()
    }
}

pub(super) struct Stage {
    pub(super) human: Human<Vec<u8>>,
    clock: Rc<Cell<Instant>>,
    columns: u16,
}

fn palette(depth: Depth) -> Palette {
    Palette { choice: ThemeChoice::Dark, depth, background: None }
}

fn roots() -> Roots {
    Roots { cwd: "/work".into(), workspace: "/work".into(), home: None }
}

impl Stage {
    fn new(columns: u16) -> Self {
        Self::with(columns, Vec::new())
    }

    /// With these tools before all others.
    fn with(columns: u16, tools: Vec<std::sync::Arc<dyn Tool>>) -> Self {
        let size: fn() -> (u16, u16) = match columns {
            24 => || (24, 30),
            40 => || (40, 30),
            200 => || (200, 30),
            _ => || (80, 30),
        };
        Self::on(Screen::new(Vec::new(), columns, 30, Capabilities::FULL), size, columns, Depth::Ansi, tools)
    }

    fn linear(capabilities: Capabilities, depth: Depth) -> Self {
        Self::on(Screen::linear(Vec::new(), capabilities), || (80, 24), 80, depth, Vec::new())
    }

    fn on(
        screen: Screen<Vec<u8>>,
        size: fn() -> (u16, u16),
        columns: u16,
        depth: Depth,
        mut tools: Vec<std::sync::Arc<dyn Tool>>,
    ) -> Self {
        tools.extend(table::standard(None, None));
        let clock = Rc::new(Cell::new(Instant::now()));
        let now = Rc::clone(&clock);
        let palette = palette(depth);
        let looks = Looks {
            theme: palette.theme(),
            palette,
            styles: Vec::new(),
            wrap: Wrap::Word,
            hyperlinks: false,
            file_links: false,
            highlight: false,
            reasoning: ReasoningView::Show,
            notify: Notify::Auto,
            notifications: Notifications::default(),
            notifies_by: NotifyBy::Both,
            progress: true,
            resting_title: String::new(),
        };
        let human = Human::new(
            screen,
            HumanOptions {
                size,
                looks,
                locale: Locale::new("en"),
                place: Surroundings { cwd: "/work".into(), workspace: "/work".into(), ..Surroundings::default() },
                asker: Box::new(Says(Approval::Once)),
                rules: Rules::default(),
                tools: Toolbox::new(tools),
                keep_background: Box::new(|_| {}),
                notifier: Notifier { desktop: Box::new(|_, _| {}), redact: Box::new(str::to_owned) },
                clock: Box::new(move || now.get()),
            },
        );
        Self { human, clock, columns }
    }

    #[expect(clippy::needless_pass_by_value, reason = "a script reads better without borrows")]
    fn show(&mut self, event: AgentEvent) -> &mut Self {
        self.human.show(&event);
        self
    }

    fn text(&mut self, text: &str) -> &mut Self {
        self.show(AgentEvent::TextDelta { text: text.to_owned() })
    }

    fn reason(&mut self, text: &str) -> &mut Self {
        self.show(AgentEvent::ReasoningDelta { text: text.to_owned() })
    }

    fn start(&mut self) -> &mut Self {
        self.show(AgentEvent::TurnStarted { session: "s".to_owned(), model: "p/m".to_owned() })
            .show(AgentEvent::Waiting { activity: Activity::Connecting })
    }

    fn end(&mut self, end: TurnEnd) -> &mut Self {
        self.show(AgentEvent::TurnEnded { end })
    }

    fn later(&mut self, milliseconds: u64) -> &mut Self {
        self.clock.set(self.clock.get() + Duration::from_millis(milliseconds));
        self
    }

    fn tool(&mut self, name: &str, subject: &Subject, outcome: Outcome, content: &str) -> &mut Self {
        let facts = match name {
            "shell" => ToolFacts { exit_code: Some(i32::from(outcome != Outcome::Ok)), ..ToolFacts::default() },
            _ => ToolFacts::default(),
        };
        self.show(AgentEvent::MessageEnded)
            .show(AgentEvent::ToolRequested {
                call: call(name),
                effect: Effect::Read,
                subject: subject.clone(),
                about: About::Subject,
            })
            .show(AgentEvent::Waiting {
                activity: Activity::Running { name: name.to_owned(), subject: subject.clone() },
            })
            .show(AgentEvent::ToolFinished {
                call_id: "c".to_owned(),
                name: name.to_owned(),
                outcome,
                content: content.to_owned(),
                facts,
                duration_ms: 4_100,
                change: None,
            })
    }

    fn bytes(&mut self) -> Vec<u8> {
        self.human.painter().screen().writer().clone()
    }

    /// Every row with its end cut, empty rows at the end left out.
    fn rows(&mut self) -> Vec<String> {
        let mut parser = vt100::Parser::new(200, self.columns, 0);
        parser.process(&self.bytes());
        let mut rows: Vec<String> =
            parser.screen().rows(0, self.columns).map(|row| row.trim_end().to_owned()).collect();
        while rows.last().is_some_and(String::is_empty) {
            rows.pop();
        }
        rows
    }
}

fn call(name: &str) -> ToolCall {
    ToolCall {
        id: "c".to_owned(),
        name: name.to_owned(),
        input: json!({}),
        invalid_input: None,
        extra: serde_json::Map::new(),
        model: String::new(),
        arguments: String::new(),
    }
}

fn numbered(word: &str, count: usize) -> String {
    let lines: Vec<String> = (1..=count).map(|line| format!("{word}{line}\n")).collect();
    lines.concat()
}

fn command(line: &str) -> Subject {
    Subject::Command { line: line.to_owned() }
}

fn path(path: &str) -> Subject {
    Subject::Paths { paths: vec![PathBuf::from(path)] }
}

fn request(name: &str, preview: Preview) -> ApprovalRequest {
    ApprovalRequest {
        call: call(name),
        effect: Effect::Execute,
        subject: command("cargo test"),
        preview,
        reasons: Vec::new(),
        reach: None,
        session_rule: None,
        widened: None,
        outlives: false,
        careful: false,
        trial: None,
        number: (1, 1),
        always_rule: None,
    }
}

/// A turn with everything in it.
fn whole_turn(stage: &mut Stage) {
    stage.start().reason("The tests fail. I look at the ").later(20).reason("file first.\n\nThen I run them.");
    stage.later(8_000).text("\n\nI run the **tests** and look at what they say about the parser.");
    stage.tool("read", &path("/work/src/parser.rs"), Outcome::Ok, "1 fn parse");
    let output = numbered("line ", 9);
    stage.tool("shell", &command("cargo test"), Outcome::Failed, &output);
    stage.show(AgentEvent::Notice { notice: Warning::EmptyAnswer });
    stage.text("Two things:\n\n- one\n- two\n");
    let approval = stage.human.approve(&request("shell", Preview::Command { line: "rm a".to_owned() }));
    assert_eq!(approval, Approval::Once);
    stage.tool("shell", &command("rm a"), Outcome::Ok, "");
    stage.text("Done.");
    let error = Failure::Unreachable { url: "http://x".to_owned(), cause: "refused".to_owned() };
    stage.end(TurnEnd::Failed { error });
}

const WHOLE_TURN: &str = "\
The tests fail. I look at the file first.

Then I run them.

I run the tests and look at what they say about the parser.

✓ Read src/parser.rs · 4.1 s
✗ Ran cargo test · 4.1 s · exit 1
  … 4 more lines
  line 5
  line 6
  line 7
  line 8
  line 9

warning: the model answered with nothing; asking once more

Two things:

• one
• two

$ rm a
? Run this command?
✓ Ran rm a · 4.1 s

Done.

error: cannot reach http://x: refused
hint: is the server running, and the network up?";

#[test]
fn a_turn_stands_in_order_with_one_empty_row_between_sections() {
    let mut stage = Stage::new(80);
    whole_turn(&mut stage);
    assert_eq!(stage.rows().join("\n"), WHOLE_TURN);
    let mut wide = Stage::new(200);
    whole_turn(&mut wide);
    assert_eq!(wide.rows().join("\n"), WHOLE_TURN.replace("picks\n  another", "picks another"));
    let mut narrow = Stage::new(40);
    whole_turn(&mut narrow);
    let rows = narrow.rows();
    assert_eq!(rows[0..3], ["The tests fail. I look at the file", "first.", ""]);
    assert_eq!(rows[5..7], ["I run the tests and look at what they", "say about the parser."]);
    assert!(!rows.windows(2).any(|pair| pair[0].is_empty() && pair[1].is_empty()), "{rows:#?}");
}

#[test]
fn the_status_row_says_that_the_own_model_is_local() {
    let mut stage = Stage::new(80);
    stage.show(AgentEvent::TurnStarted { session: "s".to_owned(), model: "local/qwen".to_owned() });
    stage.show(AgentEvent::Waiting { activity: Activity::Connecting });
    assert_eq!(stage.rows(), ["⠋ waiting for the model · local"]);
}

#[test]
fn the_status_row_lives_below_the_text_and_leaves_nothing() {
    let mut stage = Stage::new(80);
    stage.start();
    assert_eq!(stage.rows(), ["⠋ waiting for the model"]);
    stage.later(3_000).text("Hello wor");
    assert_eq!(stage.rows(), ["Hello wor", "⠧ waiting for the model · 3 s · 3 tokens"]);
    stage.show(AgentEvent::Usage { usage: Usage { output: 70, ..Usage::default() }, usd: None, local: true });
    stage.later(60_000).human.tick();
    assert_eq!(stage.rows(), ["Hello wor", "⠧ waiting for the model · 1 min 3 s · 70 tokens"]);
    stage.text("ld.").end(TurnEnd::Done);
    assert_eq!(stage.rows(), ["Hello world."]);
    assert_eq!(stage.human.next_tick(), None, "nothing moves between turns");
}

#[test]
fn the_status_row_speaks_the_persons_language() {
    let mut stage = Stage::new(80);
    stage.human.painter().set_locale(Locale::new("zh-CN"));
    stage.start().later(3_000).text("好的");
    assert_eq!(stage.rows()[1], "⠧ 等待模型 · 3 s · 2 个 token");
    let writing = Activity::WritingCall { name: "write".into(), subject: path("/work/src/app.rs") };
    stage.later(100).show(AgentEvent::Waiting { activity: writing });
    assert_eq!(stage.rows()[1], "⠇ 正在写入 src/app.rs · 3 s · 2 个 token");
}

#[test]
fn a_running_tool_shows_its_last_line_and_no_more() {
    let mut stage = Stage::new(80);
    stage.start().show(AgentEvent::Waiting {
        activity: Activity::Running { name: "shell".to_owned(), subject: command("make") },
    });
    for line in ["one", "two"] {
        stage.later(100).show(AgentEvent::ToolOutput { call_id: "c".to_owned(), line: line.to_owned() });
    }
    assert_eq!(stage.rows(), ["  two", "⠙ running make"].map(|row| row.replace('⠙', "⠹")));
}

#[test]
fn the_file_that_a_call_is_about_is_named_while_it_is_written() {
    let mut stage = Stage::new(80);
    let writing =
        |subject| AgentEvent::Waiting { activity: Activity::WritingCall { name: "write".into(), subject } };
    stage.start().text("Hi").show(AgentEvent::Waiting { activity: Activity::Answering });
    assert_eq!(stage.later(100).show(writing(Subject::Whole)).rows()[1], "⠙ preparing write · 1 token");
    let named = stage.later(100).show(writing(path("/work/src/app.rs"))).rows();
    assert_eq!(named[1], "⠹ writing src/app.rs · 1 token");
}

#[test]
fn the_status_row_is_painted_20_times_a_second_at_most() {
    let mut stage = Stage::new(80);
    stage.start();
    let mut painted = Vec::new();
    for step in 0..203 {
        let before = stage.bytes().len();
        let activity = Activity::WritingCall { name: format!("tool{step}"), subject: Subject::Whole };
        stage.later(5).show(AgentEvent::Waiting { activity });
        if stage.bytes().len() > before {
            painted.push(step);
        }
    }
    assert!((18..=21).contains(&painted.len()), "{painted:?}");
    // What was held back is shown soon, by the next tick.
    assert!(stage.human.next_tick().unwrap() < stage.clock.get() + Duration::from_millis(50));
    stage.later(50).human.tick();
    assert!(stage.rows()[0].contains("tool202"));
    let before = stage.bytes().len();
    stage.human.tick();
    assert_eq!(stage.bytes().len(), before, "nothing changed, nothing is written");
}

#[test]
fn reasoning_is_seen_as_the_person_wishes() {
    let turn = |view| {
        let mut stage = Stage::new(80);
        stage.human.painter().looks_mut().reasoning = view;
        stage.start().reason("First this.\n\nThen that, which");
        let live = stage.rows();
        stage.later(2_000).reason(" is all.\n").text("So.").end(TurnEnd::Done);
        (live, stage.rows())
    };
    let (_, shown) = turn(ReasoningView::Show);
    assert_eq!(shown, ["First this.", "", "Then that, which is all.", "", "So."]);
    let (live, hidden) = turn(ReasoningView::Hide);
    assert_eq!((live.len(), hidden), (1, vec!["So.".to_owned()]));
    let (live, summed) = turn(ReasoningView::Summary);
    assert_eq!(live[0], "Then that, which");
    assert_eq!(summed, ["thought 2 lines, 2 s", "", "So."]);
}

#[test]
fn a_long_command_leaves_room_for_what_came_of_it() {
    let mut stage = Stage::new(40);
    let line = "for i in 1 2 3 4 5 6 7; do echo counting $i; done";
    stage.start().tool("shell", &command(line), Outcome::Failed, "boom\n[exit code 1]").end(TurnEnd::Done);
    assert_eq!(stage.rows(), ["✗ Ran for i in 1 2 3 … · 4.1 s · exit 1", "  boom"]);
    let mut stage = Stage::new(24);
    stage.start().tool("shell", &command(line), Outcome::Failed, "boom\n[exit code 1]").end(TurnEnd::Done);
    assert_eq!(stage.rows(), ["✗ Ran for i in 1 … ·", "  4.1 s · exit 1", "  boom"]);
}

#[test]
fn of_what_did_not_happen_nobody_says_that_it_did() {
    let mut stage = Stage::new(80);
    let file = path("/work/a.txt");
    stage.start().tool("edit", &file, Outcome::Failed, "old_string is not there");
    stage.tool("edit", &file, Outcome::Denied, "The user denied this call.");
    stage.tool("read", &file, Outcome::Interrupted, "Interrupted.").end(TurnEnd::Interrupted);
    let expected = [
        "✗ Edit a.txt · 4.1 s · failed",
        "  old_string is not there",
        "✗ Edit a.txt · 4.1 s · denied",
        "✗ Read a.txt · 4.1 s · stopped",
        "",
        "stopped",
    ];
    assert_eq!(stage.rows(), expected);
}

#[test]
fn reasoning_is_dim_from_its_first_word_on() {
    let mut stage = Stage::new(80);
    stage.start().reason("a `b` _c_ and").later(20).reason(" more\n\n").later(20).text("Answer.");
    let mut parser = vt100::Parser::new(30, 80, 0);
    parser.process(&stage.bytes());
    let dim = |row, column| parser.screen().cell(row, column).is_some_and(vt100::Cell::dim);
    let plain: Vec<u16> = (0..14).filter(|column| !dim(0, *column)).collect();
    assert_eq!(plain, Vec::<u16>::new());
    assert!(!dim(2, 0) && stage.rows()[2] == "Answer.");
}

#[test]
fn a_plan_is_boxes() {
    let mut stage = Stage::new(80);
    stage.start().tool("todo", &Subject::Whole, Outcome::Ok, "[x] look\n[>] build\n[ ] test\n[-] ship\n");
    stage.end(TurnEnd::Done);
    assert_eq!(stage.rows(), ["✓ Planned · 4.1 s", "  ☑ look", "  ▸ build", "  ☐ test", "  ☒ ship"]);
}

#[test]
fn a_turn_is_printed_again_in_full() {
    let stage = Stage::new(80);
    let mut call = call("shell");
    call.input = json!({"command": "seq 9"});
    let output = numbered("", 9);
    let result = crate::conversation::ToolResult {
        content: output,
        facts: ToolFacts { exit_code: Some(0), ..ToolFacts::default() },
        duration_ms: 4_100,
        ..crate::conversation::ToolResult::closed(&call, Outcome::Ok)
    };
    let assistant = |content| Message { role: crate::conversation::Role::Assistant, content };
    let thought = crate::conversation::Reasoning {
        text: "Why not.".to_owned(),
        signature: None,
        redacted: None,
        model: "p/m".to_owned(),
    };
    let messages = [
        Message::user(
            "first of all that was said in this long long conversation, which is broken between its words",
        ),
        assistant(vec![Text { text: "one".to_owned() }]),
        Message::user("second\nrow"),
        assistant(vec![Reasoning(thought), Text { text: "I **count**.".to_owned() }, Call(call)]),
        Message { role: crate::conversation::Role::User, content: vec![Answer(result)] },
        assistant(vec![Text { text: "Nine.".to_owned() }]),
    ];
    let rows = |back| -> Option<Vec<String>> {
        let rows = stage.human.in_full(turn(&messages, back)?);
        Some(rows.iter().map(Line::text).collect())
    };
    let mut expected: Vec<String> =
        ["❯ second", "  row", "", "Why not.", "", "I count.", "", "✓ Ran seq 9 · 4.1 s"]
            .map(str::to_owned)
            .to_vec();
    expected.extend((1..=9).map(|line| format!("  {line}")));
    expected.extend([String::new(), "Nine.".to_owned()]);
    assert_eq!(rows(1), Some(expected));
    assert_eq!(
        rows(2),
        Some(
            [
                "❯ first of all that was said in this long long conversation, which is broken",
                "  between its words",
                "",
                "one"
            ]
            .map(str::to_owned)
            .to_vec()
        )
    );
    assert_eq!((rows(3), rows(0)), (None, None));
}

#[path = "hostile_tests.rs"]
mod hostile;

#[path = "change_tests.rs"]
mod changes;
