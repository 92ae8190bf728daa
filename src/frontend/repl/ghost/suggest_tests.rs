//! Tests of when a model is asked for ghost text.

use std::sync::mpsc::{Receiver, Sender, channel};

use super::*;

const PATIENCE: Duration = Duration::from_secs(20);

/// What begins so is said in two parts.
const GROWS: &str = "grow";

/// Tells what it is asked, and answers what the test says or until it is cancelled.
struct Scripted {
    asked: Sender<Wanted>,
    answers: Receiver<Option<String>>,
}

impl Suggest for Scripted {
    fn suggest(
        &mut self,
        wanted: &Wanted,
        _: &Exchange,
        so_far: &mut dyn FnMut(&str),
        cancel: &CancellationToken,
    ) -> Option<String> {
        self.asked.send(wanted.clone()).ok()?;
        if let Wanted::Continuation(line) = wanted
            && line.starts_with(GROWS)
        {
            so_far(&format!("{line} wor"));
        }
        loop {
            if cancel.is_cancelled() {
                return Some("cancelled".to_owned());
            }
            if let Ok(answer) = self.answers.recv_timeout(Duration::from_millis(1)) {
                return answer;
            }
        }
    }
}

struct Fixture {
    suggestions: Suggestions,
    asked: Receiver<Wanted>,
    answers: Sender<Option<String>>,
}

fn fixture() -> Fixture {
    let (asked_sender, asked) = channel();
    let (answers, answers_receiver) = channel();
    let timing = SuggestTiming { quiet: Duration::from_millis(1), idle: Duration::from_millis(2) };
    let scripted = Box::new(Scripted { asked: asked_sender, answers: answers_receiver });
    let suggestions = Suggestions::start(scripted, timing).unwrap();
    Fixture { suggestions, asked, answers }
}

impl Fixture {
    fn answer(&self, line: &str, answer: &str) {
        self.suggestions.heard(line, true);
        self.asked.recv_timeout(PATIENCE).unwrap();
        self.answers.send(Some(answer.to_owned())).unwrap();
        self.wait_for_news();
    }

    /// Waits as the line does: only while an answer may come.
    fn wait_for_news(&self) {
        let begun = Instant::now();
        loop {
            let asking = self.suggestions.is_asking();
            if self.suggestions.take_news() {
                return;
            }
            assert!(asking, "nobody would look again");
            assert!(begun.elapsed() < PATIENCE);
            std::thread::yield_now();
        }
    }
}

#[test]
fn an_answer_is_shown_and_shrinks_as_it_is_typed() {
    let fixture = fixture();
    fixture.answer("explain th", "this function");
    assert_eq!(fixture.suggestions.suggestion("explain th").as_deref(), Some("is function"));
    assert_eq!(fixture.suggestions.suggestion("explain this f").as_deref(), Some("unction"));
    assert_eq!(fixture.suggestions.suggestion("explain this function"), None);
    assert_eq!(fixture.suggestions.suggestion("explain that"), None);
}

#[test]
fn the_beginning_of_an_answer_is_shown_before_its_end() {
    let fixture = fixture();
    fixture.suggestions.heard("grow", true);
    fixture.asked.recv_timeout(PATIENCE).unwrap();
    fixture.wait_for_news();
    assert_eq!(fixture.suggestions.suggestion("grow").as_deref(), Some(" wor"));
    fixture.answers.send(Some("grow words".to_owned())).unwrap();
    fixture.wait_for_news();
    assert_eq!(fixture.suggestions.suggestion("grow").as_deref(), Some(" words"));
    assert!(!fixture.suggestions.is_asking());
}

#[test]
fn a_key_cancels_what_is_asked() {
    let fixture = fixture();
    fixture.suggestions.heard("write a", true);
    assert_eq!(fixture.asked.recv_timeout(PATIENCE).unwrap(), Wanted::Continuation("write a".to_owned()));
    fixture.suggestions.heard("write a ", true);
    assert_eq!(fixture.asked.recv_timeout(PATIENCE).unwrap(), Wanted::Continuation("write a ".to_owned()));
    fixture.answers.send(Some("test".to_owned())).unwrap();
    fixture.wait_for_news();
    assert_eq!(fixture.suggestions.suggestion("write a ").as_deref(), Some("test"));
}

#[test]
fn answers_are_kept() {
    let fixture = fixture();
    fixture.answer("first line", " one");
    fixture.answer("second line", " two");
    fixture.suggestions.heard("first line", true);
    fixture.answer("third line", " three");
    assert_eq!(fixture.suggestions.suggestion("first line").as_deref(), Some(" one"));
    // "first line" was not asked again: the third was next.
    assert!(fixture.asked.try_recv().is_err());
}

#[test]
fn the_answer_that_was_used_longest_ago_goes_first() {
    let fixture = fixture();
    for number in 0..ANSWERS {
        fixture.answer(&format!("line {number:02}"), " more");
    }
    assert!(fixture.suggestions.suggestion("line 00").is_some());
    fixture.answer("one more line", " more");
    assert!(fixture.suggestions.suggestion("line 00").is_some());
    assert!(fixture.suggestions.suggestion("line 01").is_none());
}

#[test]
fn nobody_has_to_look_for_an_answer_that_does_not_come() {
    let fixture = fixture();
    assert!(!fixture.suggestions.is_asking());
    for line in ["", "/model", "hello"] {
        fixture.suggestions.heard(line, false);
        assert!(!fixture.suggestions.is_asking(), "{line}");
    }
    fixture.answer("write a", " test");
    assert!(!fixture.suggestions.is_asking());
}

#[test]
fn a_next_message_is_proposed_once_a_line() {
    let fixture = fixture();
    fixture.suggestions.heard("", true);
    // There was no turn yet to take it from.
    assert!(fixture.asked.recv_timeout(Duration::from_millis(50)).is_err());
    fixture.suggestions.new_line();
    let exchange = Exchange { said: "fix it".to_owned(), answered: "fixed".to_owned() };
    fixture.suggestions.set_exchange(exchange);
    fixture.answer("", "Now run the tests.");
    assert_eq!(fixture.suggestions.suggestion("").as_deref(), Some("Now run the tests."));
    assert_eq!(fixture.suggestions.suggestion("No"), None);
    fixture.suggestions.new_line();
    assert_eq!(fixture.suggestions.suggestion(""), None);
    fixture.answer("", "And commit.");
    assert_eq!(fixture.suggestions.suggestion("").as_deref(), Some("And commit."));
}

#[test]
fn only_ordinary_lines_are_continued() {
    assert_eq!(wanted(""), Some(Wanted::NextMessage));
    assert_eq!(wanted("why"), Some(Wanted::Continuation("why".to_owned())));
    assert_eq!(wanted("为什么"), Some(Wanted::Continuation("为什么".to_owned())));
    for line in [
        "wh",
        "  a ",
        "/model x",
        "!make test",
        "@src/main.rs",
        "see @src/ma",
        "?help",
        "password=hunter2",
        "x \u{FDD0}",
    ] {
        assert_eq!(wanted(line), None, "{line}");
    }
}

#[test]
fn answers_are_made_fit_for_a_row() {
    assert_eq!(tidy("fix the", "fix the bug"), " bug");
    assert_eq!(tidy("fix the ", " bug\nand more"), "bug");
    assert_eq!(tidy("fix the", "bug"), " bug");
    assert_eq!(tidy("please fix the pa", "parser first"), "rser first");
    assert_eq!(tidy("please fix the ", "the parser"), "parser");
    assert_eq!(tidy("please fix", "\"fix the parser\""), " the parser");
    assert_eq!(tidy("解释这个", "函数"), "函数");
    assert_eq!(tidy("fix the", " bu\u{1b}[31mg\u{7}x  \n"), " bu[31mgx");
    assert_eq!(tidy("", "\n\n  Run it.  \n"), "Run it.");
    assert_eq!(tidy("x", ""), "");
}
