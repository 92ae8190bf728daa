//! The REPL in a real terminal: the model asks the person, and the turn goes on with the answer.

use crate::support::home::Home;
use crate::support::pty::Pty;
use crate::support::server::{Gate, Server, answer};
use crate::support::talk::{Person, axi, last_said, roles, run};

const COLOUR: &str = r#"{"question":"Which colour?\nIt is for the door.","choices":["red","green","blue"]}"#;
const SEVERAL: &str = r#"{"question":"Which ones?","choices":["red","green","blue"],"several":true}"#;
const OPEN: &str = r#"{"question":"What is its name?"}"#;

fn asked(question: &str) -> (Home, Server, Person) {
    let home = Home::new();
    let server = Server::start([answer::chat_call("call_1", "ask_user", question)]);
    let mut person = Person::meets(&axi(&home, &server));
    person.sends("paint it");
    (home, server, person)
}

#[test]
fn a_digit_answers_and_the_turn_goes_on_with_it() {
    let (_home, server, mut person) = asked(COLOUR);
    person.sees("? Which colour?\n  It is for the door.\n  1 red\n  2 green\n  3 blue\n  4 in your own words …");
    person.sees("1–4 answers · Esc stops the turn");
    server.push(answer::chat_text("Painted."));
    // Neither Enter nor a letter is an answer.
    person.types("\rx2");
    person.sees("Painted.");
    person.sees_prompt();
    assert_eq!(last_said(&server.requests()[1]), "The user chose: green\n");
    assert_eq!(person.count("❯ green\n✓ Asked you"), 1, "{}", person.pty.transcript());
    assert_eq!(server.violations(), Vec::<String>::new());
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn several_are_picked_until_enter_with_words_beside_them() {
    let (_home, server, mut person) = asked(SEVERAL);
    person.sees("1–4 choose, Enter answers");
    person.types("31");
    person.sees("❯ 1, 3");
    person.types("4");
    person.sees("❯ 1, 3, 4");
    person.types("\r");
    person.sees("Your answer");
    person.types("and a bit of 金色");
    person.sees("金色");
    server.push(answer::chat_text("Painted."));
    person.types("\r");
    person.sees("Painted.");
    let expected = "The user chose: red\nThe user chose: blue\nThe user said: and a bit of 金色\n";
    assert_eq!(last_said(&server.requests()[1]), expected);
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn an_open_question_is_answered_in_words() {
    let (_home, server, mut person) = asked(OPEN);
    person.sees("? What is its name?");
    person.sees("Your answer");
    person.types("Ada");
    person.sees("Ada");
    server.push(answer::chat_text("Hello Ada."));
    person.types("\r");
    person.sees("Hello Ada.");
    assert_eq!(last_said(&server.requests()[1]), "The user said: Ada\n");
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn escape_stops_the_turn_at_every_kind_of_question() {
    for (question, sees) in [(COLOUR, "1–4 answers"), (SEVERAL, "Enter answers"), (OPEN, "Your answer")] {
        for key in ["\x1b", "\x03"] {
            let (_home, server, mut person) = asked(question);
            person.sees(sees);
            person.types(key);
            person.sees("stopped");
            person.sees_prompt();
            assert_eq!(server.requests().len(), 1);
            server.push(answer::chat_text("Something else."));
            person.sends("never mind");
            person.sees("Something else.");
            assert_eq!(roles(&server.requests()[1]), ["system", "user", "assistant", "tool", "user"]);
            assert_eq!(server.violations(), Vec::<String>::new());
            assert_eq!(person.leaves(), Some(0));
        }
    }
}

#[test]
fn keys_typed_before_the_question_are_the_next_message_not_its_answer() {
    let home = Home::new();
    let gate = Gate::new();
    let server = Server::start([answer::chat_call("call_1", "ask_user", COLOUR).gate_before(1, &gate)]);
    let mut person = Person::meets(&axi(&home, &server));
    person.sends("paint it");
    person.sees("preparing ask_user");
    person.types("2\r");
    person.sees("1 queued");
    gate.open();
    person.sees("1–4 answers");
    server.push(answer::chat_text("Painted."));
    server.push(answer::chat_text("Next."));
    person.types("3");
    person.sees("Next.");
    assert_eq!(last_said(&server.requests()[1]), "The user chose: blue\n");
    assert_eq!(last_said(&server.requests()[2]), "2");
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn forty_columns_in_chinese_and_linear_mode_are_readable() {
    let home = Home::new();
    let server = Server::start([answer::chat_call("call_1", "ask_user", COLOUR)]);
    let mut command = axi(&home, &server);
    command.args(["--lang", "zh-CN"]);
    let mut person = Person::on(Pty::options().size(40, 12), &command);
    person.sends("paint it");
    person.sees("按 1–4 回答 · Esc 停止本轮");
    person.sees("  4 用自己的话回答……");
    server.push(answer::chat_text("好了。"));
    person.types("1");
    person.sees("好了。");
    assert_eq!(person.count("❯ red\n✓ 问了你"), 1, "{}", person.pty.transcript());
    assert_eq!(person.leaves(), Some(0));

    let server = Server::start([answer::chat_call("call_1", "ask_user", COLOUR)]);
    let mut command = axi(&home, &server);
    command.arg("--linear");
    let mut person = Person::meets(&command);
    person.sends("paint it");
    person.sees("  3 blue\n  4 in your own words …\n1–4 answers · Esc stops the turn:");
    server.push(answer::chat_text("Painted."));
    person.types("7\r");
    // What is typed before a question is asked again does not answer it.
    person.sees("Esc stops the turn: 7\n1–4 answers · Esc stops the turn:");
    person.types("dark grey\r");
    person.sees("Painted.");
    assert_eq!(last_said(&server.requests()[1]), "The user said: dark grey\n");
    assert!(!person.pty.view(|view| view.raw().contains(&0x1b)), "{}", person.pty.describe());
}

#[test]
fn without_a_person_the_model_is_told_so() {
    let home = Home::new();
    let script = [answer::chat_call("call_1", "ask_user", COLOUR), answer::chat_text("I took red.")];
    let server = Server::start(script);
    let ran = run(axi(&home, &server).args(["-p", "paint it"]));
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "I took red.\n"), "{}", ran.err);
    let told = last_said(&server.requests()[1]);
    assert!(told.starts_with("Nobody can be asked in this mode."), "{told}");
}
