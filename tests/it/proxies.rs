//! Proxies and certificates that the environment names: taken, or named as what is wrong.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Command;

use crate::support::home::Home;
use crate::support::server::{Server, answer};
use crate::support::talk::{axi, run};

/// Nothing listens there: port 1 takes root to bind, and nobody does.
const DEAD: &str = "http://127.0.0.1:1";
/// A name that never has an address (RFC 6761).
const NOWHERE: &str = "https://model.invalid/v1";

fn asks(home: &Home, server: &Server, address: &str, variables: &[(&str, &str)]) -> Command {
    let mut command = axi(home, server);
    command.env("OPENAI_BASE_URL", address).args(["-p", "hi"]);
    for name in ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"] {
        command.env_remove(name).env_remove(name.to_lowercase());
    }
    command.envs(variables.iter().copied());
    command
}

#[test]
fn a_proxy_that_is_dead_and_one_that_is_none_are_named() {
    let home = Home::new();
    let server = Server::start([]);
    let dead = run(&mut asks(&home, &server, NOWHERE, &[("HTTPS_PROXY", DEAD)]));
    assert_eq!(dead.code, Some(4), "{}", dead.err);
    assert!(dead.err.contains(&format!("cannot reach {DEAD}: the proxy did not connect")), "{}", dead.err);
    let none = run(&mut asks(&home, &server, NOWHERE, &[("ALL_PROXY", "proxy with blanks")]));
    assert!(none.err.contains("(ALL_PROXY)") && none.err.contains("socks5h://HOST:PORT"), "{}", none.err);
    // A secret in it is nobody's to read.
    let secret = [("HTTPS_PROXY", "http://ada:sesame@127.0.0.1:1")];
    let secret = run(&mut asks(&home, &server, NOWHERE, &secret));
    assert!(secret.err.contains(DEAD) && !secret.err.contains("sesame"), "{}", secret.err);
    for spared in ["*", "model.invalid", "model.invalid:443", ".invalid"] {
        let past = [("HTTPS_PROXY", DEAD), ("NO_PROXY", spared)];
        let past = run(&mut asks(&home, &server, NOWHERE, &past));
        assert!(
            past.err.contains("model.invalid") && !past.err.contains("proxy did not"),
            "{spared}: {}",
            past.err
        );
    }
    let other = [("HTTPS_PROXY", DEAD), ("NO_PROXY", "model.invalid:80")];
    let other = run(&mut asks(&home, &server, NOWHERE, &other));
    assert!(other.err.contains("the proxy did not connect"), "{}", other.err);
}

#[test]
fn certificates_that_are_not_where_the_variable_says_are_named() {
    let home = Home::new();
    let server = Server::start([]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("https://{}/v1", listener.local_addr().unwrap());
    let missing = run(&mut asks(&home, &server, &address, &[("SSL_CERT_FILE", "/nowhere/ca.pem")]));
    assert_eq!(missing.code, Some(4), "{}", missing.err);
    assert!(
        missing.err.contains("(SSL_CERT_FILE)") && missing.err.contains("names no readable certificate"),
        "{}",
        missing.err
    );
}

/// Takes what asks for a connection anywhere and leads it to `target`; see RFC 1928.
pub(crate) fn socks(target: std::net::SocketAddr) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut near) = stream else { return };
            let mut head = [0; 2];
            near.read_exact(&mut head).unwrap();
            near.read_exact(&mut vec![0; usize::from(head[1])]).unwrap();
            near.write_all(&[5, 0]).unwrap();
            let mut asked = [0; 4];
            near.read_exact(&mut asked).unwrap();
            let length = match asked[3] {
                1 => 4,
                3 => {
                    let mut length = [0];
                    near.read_exact(&mut length).unwrap();
                    usize::from(length[0])
                }
                _ => 16,
            };
            near.read_exact(&mut vec![0; length + 2]).unwrap();
            near.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).unwrap();
            let far = TcpStream::connect(target).unwrap();
            let (mut from, mut to) = (near.try_clone().unwrap(), far.try_clone().unwrap());
            std::thread::spawn(move || std::io::copy(&mut from, &mut to));
            let (mut from, mut to) = (far, near);
            std::thread::spawn(move || std::io::copy(&mut from, &mut to));
        }
    });
    address
}

#[test]
fn a_socks_proxy_is_taken() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("Through it.")]);
    let proxy = format!("socks5h://{}", socks(([127, 0, 0, 1], server.port()).into()));
    let ran = run(&mut asks(&home, &server, "http://model.invalid/v1", &[("ALL_PROXY", &proxy)]));
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "Through it.\n"), "{}", ran.err);
}
