//! The question before a tool runs: letters and digits, "always" by a rule that is shown, kept, listed, taken back.

use crate::support::home::Home;
use crate::support::pty::Pty;
use crate::support::server::{Answer, Server, answer};
use crate::support::talk::{Person, axi, last_said};

fn shell(id: &str, command: &str) -> Answer {
    answer::chat_call(id, "shell", &serde_json::json!({ "command": command }).to_string())
}

fn made(home: &Home) -> bool {
    home.work().join("made.txt").exists()
}

#[test]
fn a_letter_or_a_digit_answers_and_other_keys_do_not() {
    for (key, runs, then) in
        [("y", true, "Made."), ("1", true, "Made."), ("n", false, "Made."), ("4", false, "Made.")]
    {
        let home = Home::new();
        let server = Server::start([shell("call_1", "touch made.txt"), answer::chat_text("Made.")]);
        let mut person = Person::meets(&axi(&home, &server));
        person.sends("make it");
        person.sees_choice("Yes, once");
        // Neither what dialoguer takes for keys, nor a paste, nor an arrow in two pieces.
        for nothing in [" ", "j", "q", "x", "yes\r", "\x1b[200~y\x1b[201~"] {
            person.types(nothing);
            person.pty.wait_read();
        }
        person.types("\x1b");
        person.pty.wait_read();
        person.types("[A");
        person.sees_choice("Not yet: explain it");
        assert!(!made(&home));
        person.types(key);
        person.sees(then);
        person.sees_prompt();
        assert_eq!(made(&home), runs, "{key}");
        assert_eq!(last_said(&server.requests()[1]).contains("denied"), !runs);
        assert_eq!(person.leaves(), Some(0));
    }
}

#[test]
fn a_line_is_explained_by_facts_and_asked_about_again() {
    let home = Home::new();
    let server = Server::start([shell("call_1", "touch -x-odd made.txt"), answer::chat_text("Then not.")]);
    let mut person = Person::meets(&axi(&home, &server));
    person.sends("make it");
    person.sees_choice("Yes, once");
    person.types("e");
    person.sees("axi's judge: `touch -x-odd made.txt` changes files · uses made.txt");
    person.sees("/undo takes back the files that it names, as far as copies could be kept.");
    person.sees_choice("Yes, once");
    assert!(!made(&home));
    person.types("n");
    person.sees("Then not.");
    assert!(!made(&home));
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn what_can_never_be_allowed_is_not_run_by_an_enter_too_many() {
    let home = Home::new();
    let server = Server::start([shell("call_1", "rm -rf ~/"), answer::chat_text("Then not.")]);
    let mut person = Person::meets(&axi(&home, &server));
    person.sends("clean");
    person.sees_choice("No");
    person.sees("touches your home directory or above");
    assert_eq!(person.count("rest of this session") + person.count("Always"), 0);
    person.types("\r");
    person.sees("Then not.");
    assert!(home.work().exists());
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn an_enter_too_many_destroys_sends_and_reveals_nothing() {
    let home = Home::new();
    home.write("work/sub/.env", "TOKEN=abc");
    home.write("work/a.txt", "a");
    let mut calls: Vec<Answer> =
        ["cat sub/.env", "rm a.txt", "git push", "sudo ls"].iter().map(|line| shell("call", line)).collect();
    calls.push(answer::chat_call("call", "read", "{\"path\":\"sub/.env\"}"));
    calls.push(answer::chat_call("call", "delete", "{\"path\":\"a.txt\"}"));
    for call in calls {
        let server = Server::start([call, answer::chat_text("Then not.")]);
        let mut person = Person::meets(&axi(&home, &server));
        person.sends("go");
        person.sees_choice("No");
        person.types("\r");
        person.sees("Then not.");
        let told = last_said(&server.requests()[1]);
        assert!(told.contains("denied") && !told.contains("abc") && home.work().join("a.txt").exists(), "{told}");
        assert_eq!(person.leaves(), Some(0));
    }
}

#[test]
fn always_shows_the_rule_and_what_it_would_have_run_before_it_is_kept() {
    let home = Home::new();
    let config = home.write("config/axi/config.toml", "# mine\ntheme = \"dark\" # like this\n");
    let server = Server::start([
        shell("call_1", "touch made.txt"),
        answer::chat_text("One."),
        shell("call_2", "touch other.txt"),
        answer::chat_text("Two."),
        shell("call_3", "touch third.txt"),
        answer::chat_text("Three."),
    ]);
    let mut person = Person::meets(&axi(&home, &server));
    person.sends("one");
    person.sees_choice("Yes, once");
    person.types("y");
    person.sees("One.");
    person.sees_prompt();
    person.sends("two");
    person.sees_choice("Yes, once");
    person.types("a");
    person.sees("Without asking: `touch` with anything after it");
    person.sees("would have run 2 of the last 2 commands unasked");
    person.sees("  touch made.txt");
    person.sees_choice("Yes, keep it");
    // Back, and nothing is kept.
    person.types("n");
    person.sees_choice("Yes, once");
    assert!(!std::fs::read_to_string(&config).unwrap().contains("touch"));
    person.types("a");
    person.sees_choice("Yes, keep it");
    person.types("\r");
    person.sees("kept in ~/config/axi/config.toml");
    person.sees("Two.");
    person.sees_prompt();
    let kept = std::fs::read_to_string(&config).unwrap();
    assert!(
        kept.starts_with("# mine\ntheme = \"dark\" # like this\n") && kept.contains("shell(touch:*)"),
        "{kept}"
    );
    person.sends("three");
    person.sees("Three.");
    person.sees_prompt();
    assert!(home.work().join("third.txt").exists());
    person.sends("/permissions");
    person.sees("your settings");
    person.sees_prompt();
    person.sends("/permissions remove shell(touch:*)");
    person.sees("removed: shell(touch:*)");
    person.sees_prompt();
    assert!(!std::fs::read_to_string(&config).unwrap().contains("touch"));
    server.push(shell("call_4", "touch fourth.txt"));
    server.push(answer::chat_text("Four."));
    person.sends("four");
    person.sees_choice("Yes, once");
    person.types("n");
    person.sees("Four.");
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn linear_questions_take_a_number_or_a_letter_and_no_word() {
    let home = Home::new();
    let server = Server::start([shell("call_1", "touch made.txt"), answer::chat_text("Made.")]);
    let mut command = axi(&home, &server);
    command.arg("--linear");
    let mut person = Person { pty: Pty::options().spawn(&command) };
    person.sees("❯");
    person.types("make it\r");
    person.sees("1) Yes, once (y)");
    person.sees("1-6, y/s/a/n/f/e: ");
    // What is typed before a question stands is no answer to it.
    for (line, asked) in [("yellow\r", 2), ("\r", 3)] {
        person.types(line);
        person.waits(|view| view.text().matches("1-6, y/s/a/n/f/e: ").count() == asked, "the question again");
    }
    assert!(!made(&home));
    person.types("Y\r");
    person.sees("Made.");
    assert!(made(&home));
}
