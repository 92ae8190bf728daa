//! Networks that do not do what they should: a login page in a server's place, a server that falls silent.

use std::process::Command;

use serde_json::json;

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
        assert!(ran.err.contains("likely the login page of this network"), "{page:?}: {}", ran.err);
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
fn a_list_of_models_and_a_key_are_not_taken_from_a_login_page() {
    let home = Home::new();
    let server = Server::start([]);
    server.route("GET /v1/models", Answer::new(200, "text/html").bytes("<p>Accept our terms</p>"));
    let proxy = format!("socks5h://{}", socks(([127, 0, 0, 1], server.port()).into()));
    home.write("config/axi/config.toml", "[providers.lab]\nbase_url = \"http://model.invalid/v1\"\n");
    let ran = run(home.axi().args(["models", "lab"]).env("ALL_PROXY", proxy));
    assert_eq!(ran.code, Some(4), "{}", ran.err);
    assert!(ran.err.contains("likely the login page of this network"), "{}", ran.err);
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
    assert!(ran.err.contains("sent nothing for 1 s") && ran.err.contains("trying again"), "{}", ran.err);

    // What was shown is not taken back: the rest is for the person to ask for.
    let shown = json!({"choices": [{"index": 0, "delta": {"role": "assistant", "content": "the first half"}}]});
    let half = Answer::new(200, "text/event-stream").bytes(format!("data: {shown}\n\n")).gate(&never);
    let server = Server::start([half]);
    let ran = run(&mut asks(&home, &server));
    assert_eq!((ran.out.trim(), server.requests().len()), ("the first half", 1), "{}", ran.err);
    assert!(ran.err.contains("sent nothing for 1 s"), "{}", ran.err);
}
