//! The REPL in a real terminal: asking, stopping, typing ahead.

use rustix::process::Signal;
use time::{Duration, OffsetDateTime};

use crate::support::home::Home;
use crate::support::pty::Pty;
use crate::support::server::{Gate, Server, answer};
use crate::support::talk::{KEY, Person, axi, in_the_middle, last_said, roles, said, session_lines};

#[test]
fn a_message_is_sent_and_its_answer_stays_in_scrollback_once() {
    let home = Home::new();
    let words: Vec<String> = (0..300).map(|number| format!("word{number}x")).collect();
    let server = Server::start([answer::chat_text(&words.join(" "))]);
    let mut person = Person::meets(&axi(&home, &server));
    person.sees("~/work");
    person.sends("say many words");
    person.sees("word299x");
    person.sees_prompt();
    for word in words {
        assert_eq!(person.count(&word), 1, "{word}");
    }
    assert_eq!(person.count("say many words"), 1);
    assert_eq!(last_said(&server.requests()[0]), "say many words");
    assert_eq!(person.leaves(), Some(0));
    assert_eq!(session_lines(&home).last().unwrap()["end"], "done");
}

#[test]
fn a_message_on_the_command_line_is_sent_first() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("hello there"), answer::chat_text("and again")]);
    let mut command = axi(&home, &server);
    command.args(["hi", "you"]);
    let mut person = Person::meets(&command);
    person.sees("❯ hi you");
    person.sees("hello there");
    person.sends("more");
    person.sees("and again");
    assert_eq!(said(&server.requests()[1], 1), "hi you");
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn escape_stops_the_answer_keeps_what_came_and_the_next_message_works() {
    for key in ["\x1b", "\x03"] {
        let home = Home::new();
        let server = Server::start([]);
        let mut person = Person::meets(&axi(&home, &server));
        in_the_middle(&mut person, &server);
        person.types(key);
        server.wait_closed(1);
        person.sees("stopped");
        person.sees_prompt();
        assert_eq!(person.count("alpha beta"), 1);
        server.push(answer::chat_text("second answer"));
        person.sends("go on");
        person.sees("second answer");
        let request = &server.requests()[1];
        assert_eq!(roles(request), ["system", "user", "assistant", "user"]);
        assert_eq!([said(request, 2), said(request, 3)], ["alpha beta ", "go on"]);
        assert_eq!(server.violations(), Vec::<String>::new());
        assert_eq!(person.leaves(), Some(0));
    }
}

#[test]
fn escape_before_the_first_word_stops_too() {
    let home = Home::new();
    let gate = Gate::new();
    let server =
        Server::start([answer::chat_text("never").gate_before(0, &gate), answer::chat_text("second answer")]);
    let mut person = Person::meets(&axi(&home, &server));
    person.sends("count");
    server.wait_requests(1);
    gate.wait_reached();
    person.sees("waiting for the model");
    person.types("\x1b");
    server.wait_closed(1);
    person.sees_prompt();
    person.sends("go on");
    person.sees("second answer");
    assert_eq!(server.violations(), Vec::<String>::new());
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn escape_that_arrives_together_with_enter_stops_the_turn() {
    for key in ["\x1b", "\x03"] {
        let home = Home::new();
        let gate = Gate::new();
        let server = Server::start([]);
        // Whether the first request was sent at all is open.
        server.route("POST /v1/chat/completions", answer::chat_text("an answer").gate_before(0, &gate));
        let mut person = Person::meets(&axi(&home, &server));
        person.types(format!("count\r{key}"));
        person.sees("stopped");
        person.sees_prompt();
        gate.open();
        person.sends("go on");
        person.sees("an answer");
        assert_eq!((person.count("stopped"), person.count("an answer")), (1, 1));
        assert_eq!(server.violations(), Vec::<String>::new());
        assert_eq!(person.leaves(), Some(0));
    }
}

#[test]
fn an_answer_is_over_at_its_end_mark_and_the_connection_is_closed() {
    let home = Home::new();
    let gate = Gate::new();
    let server = Server::start([answer::chat_text("the whole answer").gate(&gate)]);
    let mut person = Person::meets(&axi(&home, &server));
    person.sends("count");
    person.sees("the whole answer");
    person.sees_prompt();
    server.wait_closed(1);
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn ctrl_c_twice_leaves_at_once() {
    let home = Home::new();
    let server = Server::start([]);
    let mut person = Person::meets(&axi(&home, &server));
    in_the_middle(&mut person, &server);
    person.types("\x03\x03");
    assert_eq!(person.pty.wait_exit().code(), Some(0));
    server.wait_closed(1);
    assert!(session_lines(&home).iter().any(|line| line.to_string().contains("alpha beta ")));
}

#[test]
fn the_second_ctrl_c_leaves_though_the_prompt_is_back_before_it() {
    let home = Home::new();
    let server = Server::start([]);
    let mut person = Person::meets(&axi(&home, &server));
    in_the_middle(&mut person, &server);
    person.types("\x03");
    person.sees("stopped");
    person.sees_prompt();
    person.types("\x03");
    assert_eq!(person.pty.wait_exit().code(), Some(0));
}

#[test]
fn an_arrow_key_that_arrives_in_two_pieces_stops_nothing() {
    let home = Home::new();
    let server = Server::start([]);
    let mut person = Person::meets(&axi(&home, &server));
    let gate = in_the_middle(&mut person, &server);
    person.types("\x1b[");
    person.types("A\x1b[1;5");
    person.types("Dstill here");
    person.sees("› still here");
    gate.open();
    person.sees("gamma delta");
    person.sees_line("still here");
    assert_eq!(person.count("stopped"), 0);
}

#[test]
fn what_is_typed_during_a_turn_is_shown_and_waits_in_the_next_prompt() {
    let home = Home::new();
    let server = Server::start([]);
    let mut person = Person::meets(&axi(&home, &server));
    let gate = in_the_middle(&mut person, &server);
    person.types("and nowx\x7f 中文");
    person.sees("› and now 中文");
    gate.open();
    person.sees_line("and now 中文");
    server.push(answer::chat_text("second answer"));
    person.types("?\r");
    person.sees("second answer");
    assert_eq!(last_said(&server.requests()[1]), "and now 中文?");
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn enter_during_a_turn_queues_and_runs_next() {
    let home = Home::new();
    let server = Server::start([]);
    let mut person = Person::meets(&axi(&home, &server));
    let gate = in_the_middle(&mut person, &server);
    person.types("second\r");
    person.sees("1 queued");
    person.types("third\r");
    person.sees("2 queued");
    server.push(answer::chat_text("answer two"));
    server.push(answer::chat_text("answer three"));
    gate.open();
    person.sees("answer three");
    person.sees_prompt();
    let requests = server.requests();
    assert_eq!([last_said(&requests[1]), last_said(&requests[2])], ["second", "third"]);
    let text = person.pty.transcript();
    let places =
        ["alpha beta gamma delta", "❯ second", "answer two", "❯ third", "answer three"].map(|part| text.find(part));
    assert!(places.is_sorted() && places[0].is_some(), "{places:?}\n{text}");
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn escape_gives_the_queue_back_to_the_editor() {
    let home = Home::new();
    let server = Server::start([]);
    let mut person = Person::meets(&axi(&home, &server));
    in_the_middle(&mut person, &server);
    person.types("second\r");
    person.sees("1 queued");
    person.types("half");
    person.sees("› half");
    person.types("\x1b");
    server.wait_closed(1);
    person.sees("1 queued message is back in the editor");
    person
        .waits(|view| view.text().contains("second\n") && view.text().ends_with("half"), "the queue in the editor");
    server.push(answer::chat_text("done"));
    person.types("\r");
    person.sees("done");
    assert_eq!(last_said(&server.requests()[1]), "second\nhalf");
}

#[test]
fn a_queue_of_shell_lines_and_messages_comes_back_one_after_the_other() {
    let home = Home::new();
    let server = Server::start([]);
    let mut person = Person::meets(&axi(&home, &server));
    in_the_middle(&mut person, &server);
    person.types("!echo from-the-$((40+2))\rtouch made-by-a-message\r");
    person.sees("2 queued");
    person.types("\x1b");
    server.wait_closed(1);
    person.sees("2 queued lines are back in the editor, one after the other");
    person.waits(|view| view.text().ends_with("❯ !echo from-the-$((40+2))"), "the shell line alone");
    person.types("\r");
    person.sees("from-the-42");
    person.waits(|view| view.text().ends_with("❯ touch made-by-a-message"), "the message on the next line");
    server.push(answer::chat_text("done"));
    person.types("\r");
    person.sees("done");
    assert!(last_said(&server.requests()[1]).starts_with("touch made-by-a-message\n"));
    assert!(!home.work().join("made-by-a-message").exists());
}

#[test]
fn a_queued_line_is_run_as_what_its_sigil_says() {
    for (line, effect) in [("/usage", "10 tokens read, 5 written"), ("!echo from-the-$((40+2))", "from-the-42")] {
        let home = Home::new();
        let server = Server::start([]);
        let mut person = Person::meets(&axi(&home, &server));
        let gate = in_the_middle(&mut person, &server);
        person.types(format!("{line}\r"));
        person.sees("1 queued");
        gate.open();
        person.sees(effect);
        person.sees_prompt();
        assert_eq!(server.requests().len(), 1);
        assert_eq!(person.leaves(), Some(0));
    }
}

#[test]
fn a_provider_that_fails_is_told_with_what_to_do_and_the_prompt_is_back() {
    let home = Home::new();
    let body = serde_json::json!({"error": {"message": "no such model", "type": "invalid_request_error"}});
    let server = Server::start([crate::support::server::Answer::json(404, &body), answer::chat_text("better")]);
    let mut person = Person::meets(&axi(&home, &server));
    person.sends("hello");
    person.sees("error: openai has no model any");
    person.sees("hint: axi models openai");
    person.sees_prompt();
    person.sends("again");
    person.sees("better");
    assert_eq!(server.violations(), Vec::<String>::new());
    assert_eq!(person.leaves(), Some(0));
}

/// The time in so many seconds, as a header of HTTP says it.
fn date_in(seconds: i64) -> String {
    let then = OffsetDateTime::now_utc() + Duration::seconds(seconds);
    let (weekday, month) = (then.weekday().to_string(), then.month().to_string());
    let (hour, minute, second) = then.to_hms();
    let clock = format!("{hour:02}:{minute:02}:{second:02}");
    format!("{}, {:02} {} {} {clock} GMT", &weekday[..3], then.day(), &month[..3], then.year())
}

#[test]
fn a_server_says_in_seconds_or_by_a_date_when_it_wants_to_be_asked_and_escape_ends_the_countdown() {
    let home = Home::new();
    let body = serde_json::json!({"error": {"message": "overloaded ".repeat(20), "type": "server_error"}});
    for wait in ["100".to_owned(), date_in(100)] {
        let busy = crate::support::server::Answer::json(429, &body).header("retry-after", &wait);
        let server = Server::start([busy, answer::chat_text("better")]);
        let mut person = Person::on(Pty::options().size(40, 24), &axi(&home, &server));
        person.sends("hello");
        // Each second is shown, however narrow the terminal and long the server's words.
        for second in ["retry in 9", "8 s (", "7 s ("] {
            person.sees(second);
        }
        assert_eq!(server.requests().len(), 1);
        person.types("\x1b");
        person.sees("stopped");
        person.sees_prompt();
        person.sends("again");
        person.sees("better");
        assert_eq!(server.violations(), Vec::<String>::new());
        assert_eq!(person.leaves(), Some(0));
    }
}

#[test]
fn a_session_is_gone_on_with_and_told_by_its_first_words() {
    let home = Home::new();
    let server = Server::start(["one", "two"].map(answer::chat_text));
    let mut first = Person::meets(&axi(&home, &server));
    first.sends("remember the plover");
    first.sees("one");
    assert_eq!(first.leaves(), Some(0));
    let mut command = axi(&home, &server);
    command.arg("-c");
    let mut second = Person::meets(&command);
    second.sees("going on with “remember the plover”");
    second.sends("what was it?");
    second.sees("two");
    assert_eq!(said(&server.requests()[1], 1), "remember the plover");
    assert_eq!(second.leaves(), Some(0));
}

#[test]
fn a_terminal_that_goes_away_ends_axi() {
    let home = Home::new();
    let server = Server::start([]);
    let mut person = Person::on(Pty::options(), &axi(&home, &server));
    in_the_middle(&mut person, &server);
    person.pty.signal(Signal::HUP);
    assert_eq!(person.pty.wait_exit().code(), Some(129));
    server.wait_closed(1);
}

#[test]
fn a_key_that_is_typed_is_written_nowhere() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("a secret it is")]);
    let mut person = Person::meets(&axi(&home, &server));
    person.sends(&format!("is {KEY} a good key?"));
    person.sees("a secret it is");
    assert_eq!(person.leaves(), Some(0));
    let found = home.command("grep").args(["-rl", KEY, home.path().to_str().unwrap()]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&found.stdout), "");
}
