//! `/show`: a turn once more in full, through the person's pager where it is longer than the screen.

use crate::support::home::Home;
use crate::support::server::{Server, answer};
use crate::support::talk::{KEY, Person, axi};

#[test]
fn a_turn_longer_than_the_screen_goes_through_the_pager() {
    let home = Home::new();
    let long: String = (1..=40).map(|number: u8| ["row **", &number.to_string(), "**\n\n"].concat()).collect();
    let server = Server::start([answer::chat_text(&long), answer::chat_text("short")]);
    let mut person = Person::meets(axi(&home, &server).env("PAGER", "cat > paged.txt"));
    person.sends("one");
    person.sees("row 40");
    person.sees_prompt();
    person.sends("two");
    person.sees("short");
    person.sees_prompt();
    person.sends("/show 1");
    person.waits(|view| view.transcript().matches("short").count() == 2, "the answer again");
    person.sees_prompt();
    assert!(!home.work().join("paged.txt").exists(), "what fits the screen is printed");
    person.sends("/show 2");
    person.waits(
        |_| std::fs::read_to_string(home.work().join("paged.txt")).is_ok_and(|text| text.contains("40")),
        "the pager's output",
    );
    let paged = std::fs::read_to_string(home.work().join("paged.txt")).unwrap();
    assert!(paged.contains("❯") && paged.contains("one") && !paged.contains("short"), "{paged}");
    assert!(!paged.contains("**"), "{paged}");
    assert_eq!(person.pty.view(|view| view.transcript().matches("row 40").count()), 1);
}

#[test]
fn a_pager_that_is_not_there_is_told_and_nothing_is_lost() {
    let home = Home::new();
    let long: String = (1..=40).map(|number: u8| ["row ", &number.to_string(), "\n\n"].concat()).collect();
    let server = Server::start([answer::chat_text(&long)]);
    let mut person = Person::meets(axi(&home, &server).env("PAGER", "no-such-pager"));
    person.sends("one");
    person.sees("row 40");
    person.sees_prompt();
    person.sends("/show");
    person.waits(|view| view.transcript().matches("row 40").count() == 2, "the answer again");
    assert!(person.pty.view(|view| view.transcript().contains("no-such-pager")));
}

#[test]
fn a_resumed_turn_is_told_with_what_came_of_its_commands() {
    let home = Home::new();
    let call = answer::chat_call("call_1", "shell", r#"{"command":"sleep 0.1; false"}"#);
    let server = Server::start([call, answer::chat_text("It failed.")]);
    let mut person = Person::meets(axi(&home, &server).arg("--yes"));
    person.sends("try it");
    person.sees("It failed.");
    person.sees_prompt();
    let title = |text: &str| text.lines().find(|row| row.starts_with("✗ Ran ")).map(str::to_owned);
    let first = title(&person.pty.transcript()).expect("a title");
    assert!(first.contains(" s · exit 1"), "{first}");
    assert_eq!(person.leaves(), Some(0));
    let mut person = Person::meets(axi(&home, &server).arg("--continue"));
    person.sends("/show");
    person.sees("It failed.");
    assert_eq!(title(&person.pty.transcript()), Some(first));
}

#[test]
fn an_answer_is_printed_as_the_model_wrote_it() {
    let home = Home::new();
    let server = Server::start([
        answer::chat_text("The **first** one.\n\n```rust\nlet a = 1;\n```\n"),
        answer::chat_text("The *second* one, \u{1b}[31mred."),
    ]);
    let mut person = Person::meets(&axi(&home, &server));
    person.sends("one");
    person.sees("The first one.");
    person.sees_prompt();
    person.sends("two");
    person.sees("The second one");
    person.sees_prompt();
    person.sends("/raw");
    person.sees("The *second* one, ␛[31mred.");
    person.sees_prompt();
    person.sends("/raw 2");
    person.sees("The **first** one.\n\n```rust\nlet a = 1;\n```");
    person.sees_prompt();
    person.sends("/raw 9");
    person.sees_prompt();
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn a_log_is_written_without_being_asked_for_holds_no_key_and_has_a_copy_to_hand_on() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("Yes.")]);
    let mut command = axi(&home, &server);
    command.env("VTE_VERSION", "7600");
    let mut person = Person::meets(&command);
    person.sends("hello");
    person.sees("Yes.");
    person.sees_prompt();
    person.sends("/log");
    person.sees("a turn begins");
    person.sees("axi/logs/shared-");
    person.sees("copied");
    person.sees_prompt();
    // A link (OSC 8), and the path in the clipboard (OSC 52).
    let raw = person.pty.view(|view| String::from_utf8_lossy(view.raw()).into_owned());
    assert!(raw.contains(";file://") && raw.contains("\u{1b}]52;c;"), "{raw:?}");
    assert_eq!(person.leaves(), Some(0));
    let logs = std::fs::read_dir(home.path().join("state/axi/logs")).unwrap();
    let texts: Vec<String> = logs.map(|log| std::fs::read_to_string(log.unwrap().path()).unwrap()).collect();
    assert!(texts.concat().contains("a turn is over") && !texts.concat().contains(KEY), "{texts:?}");
}
