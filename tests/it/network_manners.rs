//! The network beneath a wire: a login page in a server's place, a server that falls silent, a connection used again.

use std::io::{BufRead, BufReader, Write as _};
use std::net::TcpListener;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::proxies::socks;
use crate::support::home::Home;
use crate::support::server::{Answer, Gate, Server, answer};
use crate::support::talk::{axi, run};

/// Asks a server that is elsewhere, as far as axi can tell.
fn asks(home: &Home, server: &Server) -> Command {
    let proxy = format!("socks5h://{}", socks(([127, 0, 0, 1], server.port()).into()));
    let mut command = axi(home, server);
    command.env("OPENAI_BASE_URL", "http://model.invalid/v1").env("ALL_PROXY", proxy).args(["-p", "hi"]);
    command
}

#[test]
fn a_login_page_in_the_servers_place_is_named_and_asked_once() {
    let pages = [
        Answer::new(302, "text/html").header("location", "http://login.hotel.example/?from=model.invalid"),
        Answer::new(200, "text/html; charset=utf-8").bytes("<!DOCTYPE html><title>Welcome</title>"),
        Answer::new(511, "text/html").bytes("<p>Accept our terms</p>"),
    ];
    for page in pages {
        let home = Home::new();
        let server = Server::start([page.clone()]);
        let ran = run(&mut asks(&home, &server));
        assert_eq!((ran.code, server.requests().len()), (Some(4), 1), "{page:?}: {}", ran.err);
        assert!(ran.err.contains("probably the login page of this network"), "{page:?}: {}", ran.err);
        assert!(ran.err.contains("in a browser"), "{page:?}: {}", ran.err);
    }
    // Nobody stands between this machine and itself: there a page is a wrong address.
    let home = Home::new();
    let server = Server::start([
        Answer::new(200, "text/html").bytes("<!DOCTYPE html>"),
        Answer::new(200, "text/html").bytes("<!DOCTYPE html>"),
    ]);
    let ran = run(axi(&home, &server).args(["-p", "hi"]));
    assert!(ran.err.contains("base_url") && !ran.err.contains("login page"), "{}", ran.err);
}

#[test]
fn an_answer_that_calls_itself_a_page_is_read_by_how_it_begins() {
    let home = Home::new();
    let chunk = json!({"choices": [{"index": 0, "delta": {"content": "heard"}, "finish_reason": "stop"}]});
    let events = format!("\ndata: {chunk}\n\ndata: [DONE]\n\n");
    let server = Server::start([Answer::new(200, "text/html; charset=utf-8").bytes(events)]);
    let ran = run(&mut asks(&home, &server));
    assert_eq!((ran.code, ran.out.trim()), (Some(0), "heard"), "{}", ran.err);
}

#[test]
fn a_list_of_models_and_a_key_are_not_taken_from_a_login_page() {
    let home = Home::new();
    let server = Server::start([]);
    server.route("GET /v1/models", Answer::new(200, "text/html").bytes("<p>Accept our terms</p>"));
    let proxy = format!("socks5h://{}", socks(([127, 0, 0, 1], server.port()).into()));
    home.write("config/axi/config.toml", "[providers.lab]\nbase_url = \"http://model.invalid/v1\"\n");
    let ran = run(home.axi().args(["models", "lab"]).env("ALL_PROXY", proxy));
    assert_eq!(ran.code, Some(4), "{}", ran.err);
    assert!(ran.err.contains("probably the login page of this network"), "{}", ran.err);
}

#[test]
fn a_server_that_falls_silent_is_given_up_as_the_setting_says_and_asked_again_where_nothing_was_shown() {
    let never = Gate::new();
    let home = Home::new();
    home.write("config/axi/config.toml", "idle_timeout = 1\n");
    let silent = Answer::new(200, "text/event-stream").bytes(": still here\n\n").gate(&never);
    let server = Server::start([silent, answer::chat_text("late")]);
    let ran = run(&mut asks(&home, &server));
    assert_eq!((ran.code, ran.out.trim(), server.requests().len()), (Some(0), "late", 2), "{}", ran.err);
    assert!(ran.err.contains("sent nothing for 1 s") && ran.err.contains("retry in "), "{}", ran.err);

    // What was shown is not taken back: the rest is for the person to ask for.
    let shown = json!({"choices": [{"index": 0, "delta": {"role": "assistant", "content": "the first half"}}]});
    let half = Answer::new(200, "text/event-stream").bytes(format!("data: {shown}\n\n")).gate(&never);
    let server = Server::start([half]);
    let ran = run(&mut asks(&home, &server));
    assert_eq!((ran.out.trim(), server.requests().len()), ("the first half", 1), "{}", ran.err);
    assert!(ran.err.contains("sent nothing for 1 s"), "{}", ran.err);
}

/// Speaks HTTP/1.1 on connections that stay open; counts them. Each request gets the next answer.
fn staying(answers: Vec<String>) -> (std::net::SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, made) = (listener.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
    let (count, answers) = (Arc::clone(&made), Arc::new(Mutex::new(answers.into_iter())));
    std::thread::spawn(move || {
        for near in listener.incoming().flatten() {
            count.fetch_add(1, Ordering::SeqCst);
            let answers = Arc::clone(&answers);
            std::thread::spawn(move || {
                let mut reader = BufReader::new(near.try_clone().unwrap());
                let mut near = near;
                while read_request(&mut reader) {
                    let Some(body) = answers.lock().unwrap().next() else { return };
                    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length";
                    let _ = write!(near, "{head}: {}\r\n\r\n{body}", body.len());
                }
            });
        }
    });
    (address, made)
}

/// Reads a request to its end; false where the client has hung up.
fn read_request(reader: &mut impl BufRead) -> bool {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return false;
        }
        if let Some(given) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = given.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            return reader.read_exact(&mut vec![0; length]).is_ok();
        }
    }
}

#[test]
fn a_second_request_goes_over_the_connection_of_the_first() {
    let chunk = |delta: &Value, end: Option<&str>| {
        format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta, "finish_reason": end}]}))
    };
    let call = json!({"index": 0, "id": "c1", "function": {"name": "list", "arguments": "{\"path\": \".\"}"}});
    let first = chunk(&json!({"tool_calls": [call]}), Some("tool_calls"));
    let second = chunk(&json!({"content": "seen"}), Some("stop"));
    let end = "data: [DONE]\n\n";
    let (address, made) = staying(vec![format!("{first}{end}"), format!("{second}{end}")]);
    let (home, server) = (Home::new(), Server::start([]));
    let mut command = axi(&home, &server);
    let proxy = format!("socks5h://{}", socks(address));
    command.env("OPENAI_BASE_URL", "http://model.invalid/v1").env("ALL_PROXY", proxy).args(["-p", "look"]);
    let ran = run(&mut command);
    assert_eq!((ran.code, ran.out.trim()), (Some(0), "seen"), "{}", ran.err);
    assert_eq!(made.load(Ordering::SeqCst), 1, "one connection for both requests");
}
