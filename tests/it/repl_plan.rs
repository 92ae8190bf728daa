//! The REPL in a real terminal: agents that only read, and what becomes of a plan.

use crate::support::home::Home;
use crate::support::server::{Server, answer};
use crate::support::talk::{Person, axi, last_said, run, said};

const TOUCH: &str = r#"{"command":"touch made.txt"}"#;

fn planned(editor: Option<&str>) -> (Home, Server, Person) {
    let home = Home::new();
    let server = Server::start([
        answer::chat_call("call_1", "shell", TOUCH),
        answer::chat_text("1. Make the file.\n2. Look at it."),
    ]);
    let mut command = axi(&home, &server);
    if let Some(editor) = editor {
        command.env("EDITOR", editor);
    }
    let mut person = Person::meets(&command);
    person.sends("/plan make a file");
    person.sees("2. Look at it.");
    person.sees("What do you want to do with this plan?");
    person.sees_choice("Accept it and build");
    (home, server, person)
}

#[test]
fn a_plan_only_reads_and_accepting_it_goes_on_in_build() {
    let (home, server, mut person) = planned(None);
    assert!(said(&server.requests()[0], 0).contains("You are planning"));
    assert!(last_said(&server.requests()[1]).contains("you can only read now"));
    assert!(!home.work().join("made.txt").exists());
    server.push(answer::chat_call("call_2", "shell", TOUCH));
    server.push(answer::chat_text("It is made."));
    person.types("\r");
    person.sees("I accept the plan. Carry it out now.");
    person.sees("Run this command?");
    person.types("\r");
    person.sees("It is made.");
    assert!(home.work().join("made.txt").exists());
    assert_eq!(last_said(&server.requests()[2]), "I accept the plan. Carry it out now.");
    assert!(!said(&server.requests()[2], 0).contains("You are planning"));
    assert_eq!(server.violations(), Vec::<String>::new());
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn a_plan_is_edited_in_the_persons_editor() {
    let (_home, server, mut person) = planned(Some("sed -i s/file/folder/"));
    server.push(answer::chat_text("As edited."));
    person.types("\x1b[B");
    person.sees_choice("Edit it, then build");
    person.types("\r");
    person.sees("As edited.");
    let told = last_said(&server.requests()[2]);
    let expected = "I accept this plan as I edited it. Carry it out now.\n\n1. Make the folder.\n2. Look at it.";
    assert_eq!(told, expected);
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn without_an_editor_the_plan_is_edited_on_the_line() {
    let (_home, server, mut person) = planned(None);
    person.types("\x1b[B");
    person.sees_choice("Edit it, then build");
    person.types("\r");
    person.sees("2. Look at it.");
    person.waits(|view| view.text().trim_end().ends_with("2. Look at it."), "the plan on the line");
    server.push(answer::chat_text("As edited."));
    person.types(" Twice.");
    person.sees("Look at it. Twice.");
    person.types("\r");
    person.sees("As edited.");
    let told = last_said(&server.requests()[2]);
    assert!(told.starts_with("I accept this plan") && told.ends_with("2. Look at it. Twice."), "{told}");
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn escape_goes_on_planning_and_dropping_ends_it() {
    let (_home, server, mut person) = planned(None);
    person.types("\x1b");
    person.sees("still planning");
    person.sees_prompt();
    person.sees("plan, only reads · ");
    server.push(answer::chat_text("Another plan."));
    person.sends("shorter");
    person.sees("Another plan.");
    assert!(said(&server.requests()[2], 0).contains("You are planning"));
    person.sees_choice("Accept it and build");
    for choice in ["Edit it, then build", "Go on planning", "Drop it"] {
        person.types("\x1b[B");
        person.sees_choice(choice);
    }
    person.types("\r");
    person.sees("plan dropped");
    person.sees_prompt();
    server.push(answer::chat_text("Hello."));
    person.sends("hello");
    person.sees("Hello.");
    assert!(!said(&server.requests()[3], 0).contains("You are planning"));
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn an_agent_is_named_picked_and_shown() {
    let home = Home::new();
    let server = Server::start([]);
    let mut command = axi(&home, &server);
    command.args(["--agent", "explore", "--lang", "zh-CN"]);
    let mut person = Person::meets(&command);
    person.sees("explore");
    person.sends("/agent nonsense");
    person.sees("build, plan, explore");
    person.sends("/agent");
    person.sees("当前智能体是 explore");
    person.types("\r");
    person.sees("build: 按你的规则做一切事");
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn in_print_mode_the_plan_is_the_answer() {
    let home = Home::new();
    let script = [answer::chat_call("call_1", "shell", TOUCH), answer::chat_text("1. Make it.")];
    let server = Server::start(script);
    let ran = run(axi(&home, &server).args(["-p", "-y", "--agent", "plan", "make a file"]));
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "1. Make it.\n"), "{}", ran.err);
    assert!(!home.work().join("made.txt").exists());
}
