//! The REPL in a real terminal: what is asked before a tool runs, and what becomes of the answer.

use crate::support::home::Home;
use crate::support::server::{Gate, Server, answer};
use crate::support::talk::{Person, axi, is_choice, last_said, roles};

const TOUCH: &str = r#"{"command":"touch made.txt && echo so be it"}"#;
const DOWN: &str = "\x1b[B";

struct Scene {
    home: Home,
    server: Server,
    person: Person,
}

impl Scene {
    /// A person who asked for something that needs their approval, and sees the question.
    fn asked() -> Self {
        let home = Home::new();
        let server = Server::start([answer::chat_call("call_1", "shell", TOUCH)]);
        let mut person = Person::meets(&axi(&home, &server));
        person.sends("make the file");
        person.sees("$ touch made.txt && echo so be it");
        person.sees("Run this command? (Esc stops the turn)");
        person.sees_choice("Yes, once");
        Self { home, server, person }
    }

    fn made(&self) -> bool {
        self.home.work().join("made.txt").exists()
    }

    /// Types until this choice is under the menu's cursor.
    fn goes_to(&mut self, choice: &str) {
        for _ in 0..6 {
            let there = is_choice(&chosen(&self.person), choice);
            if there {
                return;
            }
            let before = chosen(&self.person);
            self.person.types(DOWN);
            self.person.waits(
                |view| {
                    view.text()
                        .lines()
                        .any(|row| row.starts_with('❯') && !row.contains("make the") && *row != before)
                },
                "the next choice",
            );
        }
        panic!("no {choice}:\n{}", self.person.pty.describe());
    }

    /// Leaves, and makes sure that every request kept the rule of calls and results.
    fn ends(self) {
        assert_eq!(self.server.violations(), Vec::<String>::new());
        assert_eq!(self.person.leaves(), Some(0));
    }
}

fn chosen(person: &Person) -> String {
    person.pty.view(|view| view.text().lines().rfind(|row| row.starts_with('❯')).unwrap_or_default().to_owned())
}

#[test]
fn enter_runs_it_once_and_the_answer_follows() {
    let mut scene = Scene::asked();
    assert!(!scene.made());
    scene.server.push(answer::chat_text("It is made."));
    scene.person.types("\r");
    scene.person.sees("It is made.");
    scene.person.sees_prompt();
    assert!(scene.made());
    assert_eq!(scene.person.count("✓ Ran touch made.txt && echo so be it"), 1);
    assert_eq!(scene.person.count("  so be it"), 1, "{}", scene.person.pty.transcript());
    assert!(last_said(&scene.server.requests()[1]).contains("so be it"));
    // Once is once: it is asked again.
    scene.server.push(answer::chat_call("call_2", "shell", TOUCH));
    scene.server.push(answer::chat_text("Again."));
    scene.person.sends("once more");
    scene.person.sees_choice("Yes, once");
    scene.person.types("\r");
    scene.person.sees("Again.");
    scene.ends();
}

#[test]
fn for_this_session_is_not_asked_again() {
    let mut scene = Scene::asked();
    scene.goes_to("Yes, and for the rest of this session");
    scene.server.push(answer::chat_text("It is made."));
    scene.person.types("\r");
    scene.person.sees("It is made.");
    std::fs::remove_file(scene.home.work().join("made.txt")).unwrap();
    scene.server.push(answer::chat_call("call_2", "shell", TOUCH));
    scene.server.push(answer::chat_text("Made again."));
    scene.person.sends("once more");
    scene.person.sees("Made again.");
    assert!(scene.made());
    scene.ends();
}

#[test]
fn no_denies_it_and_the_model_hears_so() {
    let mut scene = Scene::asked();
    scene.goes_to("No");
    scene.server.push(answer::chat_text("Then not."));
    scene.person.types("\r");
    scene.person.sees("Then not.");
    scene.person.sees_prompt();
    assert!(!scene.made());
    assert_eq!(
        scene.person.count("✗ Run touch made.txt && echo so be it · denied"),
        1,
        "{}",
        scene.person.pty.transcript()
    );
    let result = last_said(&scene.server.requests()[1]);
    assert!(result.contains("denied"), "{result}");
    scene.ends();
}

#[test]
fn one_no_denies_the_batch_and_each_row_says_what_it_was_about() {
    let home = Home::new();
    let write = r#"{"path":"notes.md","content":"x\n"}"#;
    let calls = answer::chat_calls(&[("call_1", "shell", TOUCH), ("call_2", "write", write)]);
    let server = Server::start([calls, answer::chat_text("Then not.")]);
    let mut person = Person::meets(&axi(&home, &server));
    person.sends("make the files");
    person.sees_choice("Yes, once");
    person.types("n");
    person.sees("Then not.");
    assert_eq!(person.count("✗ Write notes.md · denied"), 1, "{}", person.pty.transcript());
    assert!(!home.work().join("notes.md").exists());
    assert_eq!(server.violations(), Vec::<String>::new());
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn no_with_words_tells_the_model_the_words() {
    let mut scene = Scene::asked();
    scene.goes_to("No, and say what to do instead");
    scene.server.push(answer::chat_text("As you like."));
    scene.person.types("\r");
    scene.person.sees("What instead?");
    scene.person.types("use mkdir 目录");
    scene.person.sees("use mkdir 目录");
    scene.person.types("\r");
    scene.person.sees("As you like.");
    assert!(!scene.made());
    let result = last_said(&scene.server.requests()[1]);
    assert!(result.contains("denied") && result.contains("use mkdir 目录"), "{result}");
    scene.ends();
}

#[test]
fn escape_or_ctrl_c_stops_the_turn_and_the_next_message_works() {
    for key in ["\x1b", "\x03"] {
        let mut scene = Scene::asked();
        scene.person.types(key);
        scene.person.sees_prompt();
        scene.person.sees("stopped");
        assert!(!scene.made());
        assert_eq!(scene.server.requests().len(), 1);
        scene.server.push(answer::chat_text("Something else."));
        scene.person.sends("never mind");
        scene.person.sees("Something else.");
        assert_eq!(roles(&scene.server.requests()[1]), ["system", "user", "assistant", "tool", "user"]);
        scene.ends();
    }
}

#[test]
fn ctrl_c_in_a_question_and_again_leaves() {
    let mut scene = Scene::asked();
    scene.person.types("\x03");
    scene.person.sees("stopped");
    scene.person.sees_prompt();
    scene.person.types("\x03");
    assert_eq!(scene.person.pty.wait_exit().code(), Some(0));
    assert!(!scene.made());
}

#[test]
fn keys_typed_before_the_question_never_answer_it() {
    let home = Home::new();
    let gate = Gate::new();
    let server = Server::start([answer::chat_call("call_1", "shell", TOUCH).gate_before(1, &gate)]);
    let mut person = Person::meets(&axi(&home, &server));
    person.sends("make the file");
    person.sees("preparing shell");
    person.types("\r\rnext message\r\r");
    person.sees("1 queued");
    gate.open();
    person.sees_choice("Yes, once");
    assert!(!home.work().join("made.txt").exists());
    let mut scene = Scene { home, server, person };
    scene.goes_to("No");
    scene.server.push(answer::chat_text("Then not."));
    scene.server.push(answer::chat_text("The next."));
    scene.person.types("\r");
    scene.person.sees("The next.");
    assert!(!scene.made());
    assert_eq!(last_said(&scene.server.requests()[2]), "next message");
    scene.ends();
}

#[test]
fn one_no_denies_the_rest_of_the_batch_and_all_get_results() {
    let home = Home::new();
    let other = r#"{"command":"touch other.txt"}"#;
    let server = Server::start([
        answer::chat_calls(&[("call_1", "shell", TOUCH), ("call_2", "shell", other)]),
        answer::chat_text("Then neither."),
    ]);
    let mut person = Person::meets(&axi(&home, &server));
    person.sends("make both");
    person.sees_choice("Yes, once");
    let mut scene = Scene { home, server, person };
    scene.goes_to("No");
    scene.person.types("\r");
    scene.person.sees("Then neither.");
    assert!(!scene.made() && !scene.home.work().join("other.txt").exists());
    assert_eq!(roles(&scene.server.requests()[1]), ["system", "user", "assistant", "tool", "tool"]);
    scene.ends();
}

#[test]
fn a_change_is_shown_line_by_line_before_it_is_made() {
    let home = Home::new();
    let path = home.write("work/poem.txt", "roses are red\nviolets are blue\n");
    let edit = r#"{"path":"poem.txt","old_string":"blue","new_string":"green"}"#;
    let server = Server::start([
        answer::chat_call("call_1", "read", r#"{"path":"poem.txt"}"#),
        answer::chat_call("call_2", "edit", edit),
        answer::chat_text("Changed."),
    ]);
    let mut person = Person::meets(&axi(&home, &server));
    person.sends("change it");
    person.sees("Make this change?");
    person.sees("2 - violets are blue");
    person.sees("2 + violets are green");
    person.sees_choice("Yes, once");
    person.types("\r");
    person.sees("Changed.");
    assert_eq!(std::fs::read_to_string(path).unwrap(), "roses are red\nviolets are green\n");
    assert_eq!(person.count("violets are green"), 1);
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn escape_ends_a_running_command_and_the_model_hears_so() {
    let home = Home::new();
    let wait = r#"{"command":"echo begun; mkfifo door; cat door"}"#;
    let server = Server::start([answer::chat_call("call_1", "shell", wait)]);
    let mut command = axi(&home, &server);
    command.arg("-y");
    let mut person = Person::meets(&command);
    person.sends("wait");
    person.sees("  begun");
    person.types("\x1b");
    person.sees("stopped");
    person.sees_prompt();
    server.push(answer::chat_text("Fine."));
    person.sends("go on");
    person.sees("Fine.");
    assert_eq!(roles(&server.requests()[1]), ["system", "user", "assistant", "tool", "user"]);
    assert_eq!(server.violations(), Vec::<String>::new());
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn escape_while_saying_what_instead_stops_the_turn() {
    let mut scene = Scene::asked();
    scene.goes_to("No, and say what to do instead");
    scene.person.types("\r");
    scene.person.sees("What instead?");
    scene.person.types("no id");
    scene.person.sees("no id");
    scene.person.types("\x1b");
    scene.person.sees("stopped");
    scene.person.sees_prompt();
    assert!(!scene.made());
    scene.server.push(answer::chat_text("Something else."));
    scene.person.sends("never mind");
    scene.person.sees("Something else.");
    scene.ends();
}

#[test]
fn long_words_about_what_to_do_instead_arrive_whole() {
    let mut scene = Scene::asked();
    scene.goes_to("No, and say what to do instead");
    scene.server.push(answer::chat_text("As you like."));
    scene.person.types("\r");
    scene.person.sees("What instead?");
    let words: Vec<String> = (0..40).map(|number| format!("word{number}")).collect();
    let words = words.join(" ");
    scene.person.types(&words);
    scene.person.sees("word39");
    scene.person.types("\r");
    scene.person.sees("As you like.");
    scene.person.sees_prompt();
    assert!(last_said(&scene.server.requests()[1]).contains(&words));
    let text = scene.person.pty.transcript();
    assert_eq!(text.matches("word39").count(), 1, "{text}");
    scene.ends();
}

#[test]
fn what_changes_while_the_question_stands_is_not_run() {
    // What the line finds by then, how it is made, and whether the person was told of as much.
    type Change = fn(&std::path::Path);
    let cases: [(&str, Change, bool); 5] = [
        ("rm *.log", |work| std::fs::write(work.join("new.log"), "new").unwrap(), false),
        ("echo x > b.txt", |work| std::fs::write(work.join("b.txt"), "mine").unwrap(), false),
        (
            "rm d/*",
            |work| {
                std::fs::rename(work.join("d"), work.join("e")).unwrap();
                std::os::unix::fs::symlink("../kept", work.join("d")).unwrap();
            },
            false,
        ),
        (
            "rm d/*",
            |work| {
                std::fs::rename(work.join("d"), work.join("e")).unwrap();
                std::os::unix::fs::symlink("other", work.join("d")).unwrap();
            },
            false,
        ),
        ("rm *.log", |work| std::fs::write(work.join("a.log"), "longer than before").unwrap(), true),
    ];
    for (line, changes, runs) in cases {
        let home = Home::new();
        for name in ["work/a.log", "work/d/1", "work/other/1", "kept/1"] {
            home.write(name, "x");
        }
        let arguments = serde_json::json!({ "command": line }).to_string();
        let server =
            Server::start([answer::chat_call("call_1", "shell", &arguments), answer::chat_text("So be it.")]);
        let mut person = Person::meets(&axi(&home, &server));
        person.sends("do it");
        person.sees("Run this command?");
        changes(&home.work());
        person.types("y");
        person.sees("So be it.");
        let told = last_said(&server.requests()[1]);
        assert_eq!(told.contains("while the question stood"), !runs, "{line}: {told}");
        assert!(home.path().join("kept/1").exists() && home.work().join("other/1").exists(), "{line}");
        assert_eq!(home.work().join("a.log").exists(), !runs, "{line}");
        let kept = std::fs::read_to_string(home.work().join("b.txt"));
        assert!(kept.is_err() || kept.unwrap() == "mine", "{line}");
        assert_eq!(person.leaves(), Some(0));
    }
}
