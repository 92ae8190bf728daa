//! Signing in to a server behind an address (OAuth), as a person meets it, and what hostile servers and authorities get:
//! nothing.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Instant;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::support::authority::{Authority, Waiting, visit};
use crate::support::home::Home;
use crate::support::pty::{PATIENCE, Pty};
use crate::support::server::{Answer, Recorded, Server, answer};
use crate::support::talk::{Person, Ran, axi, last_said, run};

fn login(home: &Home) -> Waiting {
    Waiting::start(home.axi().args(["mcp", "login", "far", "--file"]))
}

/// Signs in as a person does who agrees.
fn signed_in(home: &Home, authority: &Authority) -> Ran {
    let waiting = login(home);
    let state = waiting.field("state").to_owned();
    let page = waiting.returns(&[("code", "c0de"), ("state", &state), ("iss", &authority.issuer())]);
    assert_eq!(page, "HTTP/1.1 200 OK");
    let ran = waiting.ends();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    ran
}

fn form(request: &Recorded) -> Vec<(String, String)> {
    let url: reqwest::Url = format!("http://form/?{}", request.text).parse().unwrap();
    url.query_pairs().into_owned().collect()
}

fn value<'a>(fields: &'a [(String, String)], name: &str) -> &'a str {
    fields.iter().find(|(field, _)| field == name).map_or("", |(_, value)| value)
}

/// Every file below a folder in which a text stands.
fn holding(folder: &Path, text: &str, found: &mut Vec<String>) {
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            holding(&path, text, found);
        } else if String::from_utf8_lossy(&std::fs::read(&path).unwrap_or_default()).contains(text) {
            found.push(path.file_name().unwrap().to_string_lossy().into_owned());
        }
    }
}

#[test]
fn a_person_signs_in_and_the_token_goes_to_that_server_and_nowhere_else() {
    let authority = Authority::start();
    let home = authority.home();
    let ran = run(home.axi().args(["mcp", "test", "far"]));
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("far does not work: it wants you to sign in"), "{}", ran.err);
    assert!(ran.err.contains("axi mcp login far"), "{}", ran.err);
    let waiting = login(&home);
    let challenge = waiting.field("code_challenge").to_owned();
    let (server, issuer) = (authority.server.url("/mcp"), authority.issuer());
    for (name, expected) in [
        ("tenant", "1"),
        ("response_type", "code"),
        ("client_id", "axi-7"),
        ("code_challenge_method", "S256"),
        ("resource", &server),
        ("scope", "lab:read"),
    ] {
        assert_eq!(waiting.field(name), expected, "{name} in {}", waiting.address);
    }
    let uri = waiting.field("redirect_uri").to_owned();
    assert!(uri.starts_with("http://127.0.0.1:"), "{uri}");
    let about = &authority.asked("/as/register")[0].body;
    assert_eq!((&about["redirect_uris"], &about["application_type"]), (&json!([uri]), &json!("native")));
    let state = waiting.field("state").to_owned();
    assert_eq!(waiting.returns(&[("code", "c0de"), ("state", &state), ("iss", &issuer)]), "HTTP/1.1 200 OK");
    let ran = waiting.ends();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains(&format!("far wants you to sign in at {issuer}")), "{}", ran.err);
    assert!(ran.err.contains("signed in to far; the token is in ") && ran.err.contains("keys.json"), "{}", ran.err);
    let sent = form(&authority.asked("/as/token")[0]);
    let verifier = value(&sent, "code_verifier");
    let hash = ring::digest::digest(&ring::digest::SHA256, verifier.as_bytes());
    assert_eq!(URL_SAFE_NO_PAD.encode(hash), challenge);
    assert_eq!((value(&sent, "code"), value(&sent, "resource")), ("c0de", server.as_str()));
    assert_eq!((value(&sent, "redirect_uri"), value(&sent, "client_id")), (uri.as_str(), "axi-7"));
    // It works from here on, and what is secret is in one file for its owner alone.
    let test = run(home.axi().args(["mcp", "test", "far", "-vvv"]));
    assert_eq!(test.code, Some(0), "{}", test.err);
    let mut found = Vec::new();
    for secret in ["access-s3cret", "refresh-s3cret"] {
        holding(home.path(), secret, &mut found);
        assert!(!format!("{}{}{}{}", ran.out, ran.err, test.out, test.err).contains(secret));
    }
    assert_eq!(found, ["keys.json", "keys.json"]);
    let file = home.path().join("state/axi/keys.json");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    // The same name at another address is another server.
    let other = Server::start([]);
    other.decide(|_| Some(Answer::json(401, &json!({}))));
    home.write("config/axi/config.toml", &format!("[mcp.far]\nurl = \"{}\"\n", other.url("/mcp")));
    assert_eq!(run(home.axi().args(["mcp", "test", "far"])).code, Some(1));
    assert!(!other.requests().is_empty());
    assert!(other.requests().iter().all(|request| request.header("authorization").is_none()));
}

#[test]
fn a_token_is_made_anew_when_it_is_refused_and_forgotten_when_the_person_wants() {
    let authority = Authority::start();
    let home = authority.home();
    signed_in(&home, &authority);
    authority.change(|facts| facts.token = "none is good".to_owned());
    let test = || run(home.axi().args(["mcp", "test", "far"]));
    let ran = test();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let asked = authority.asked("/as/token");
    let sent = form(&asked[1]);
    assert_eq!((value(&sent, "grant_type"), value(&sent, "refresh_token")), ("refresh_token", "refresh-s3cret-1"));
    assert_eq!(value(&sent, "resource"), authority.server.url("/mcp"));
    // It was kept: the next one needs no other.
    assert_eq!((test().code, authority.asked("/as/token").len()), (Some(0), 2));
    // An authority that takes it back: the person is asked to sign in again, once, and told no secret.
    authority.change(|facts| {
        facts.token = "none is good".to_owned();
        let said = json!({"error": "invalid_grant", "error_description": "refresh-s3cret-2 is gone"});
        facts.refuses = Some(Answer::json(400, &said));
    });
    let ran = test();
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("it wants you to sign in") && !ran.err.contains("s3cret"), "{}", ran.err);
    assert_eq!(authority.asked("/as/token").len(), 3);
    let list = run(home.axi().args(["mcp", "logout", "far"]));
    assert!(list.code == Some(0) && list.err.contains("signed out of far"), "{}", list.err);
    let again = run(home.axi().args(["mcp", "logout", "far"]));
    // Without a keychain it cannot be known whether there was one.
    assert!(!again.err.contains("signed out"), "{}", again.err);
    let mut found = Vec::new();
    holding(home.path(), "s3cret", &mut found);
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn what_does_not_belong_to_the_sign_in_is_waited_past_and_another_issuer_ends_it() {
    let authority = Authority::start();
    let home = authority.home();
    let waiting = login(&home);
    let (state, issuer) = (waiting.field("state").to_owned(), authority.issuer());
    for fields in [
        vec![("code", "evil"), ("state", "other"), ("iss", &issuer)],
        vec![("code", "evil"), ("iss", &issuer)],
        vec![("code", "evil"), ("state", &state), ("state", &state), ("iss", &issuer)],
    ] {
        assert_eq!(waiting.returns(&fields), "HTTP/1.1 404 Not Found");
    }
    waiting.returns(&[("code", "evil"), ("state", &state), ("iss", "https://evil.example")]);
    let ran = waiting.ends();
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains(&format!("https://evil.example answers where {issuer} was asked")), "{}", ran.err);
    // One that says who it is and does not, and one that the person refused there.
    let waiting = login(&home);
    let state = waiting.field("state").to_owned();
    waiting.returns(&[("code", "evil"), ("state", &state)]);
    assert_eq!(waiting.ends().code, Some(1));
    let waiting = login(&home);
    let state = waiting.field("state").to_owned();
    waiting.returns(&[("error", "access_denied"), ("state", &state), ("iss", &issuer)]);
    let ran = waiting.ends();
    assert!(ran.code == Some(1) && ran.err.contains(&format!("{issuer} says: access_denied")), "{}", ran.err);
    assert_eq!(authority.asked("/as/token").len(), 0);
    assert!(!home.path().join("state/axi/keys.json").exists());
}

#[test]
fn an_authority_that_lies_or_is_weak_gets_nothing() {
    type Change = fn(&mut crate::support::authority::Facts);
    let cases: &[(Change, &str)] = &[
        (
            |facts| facts.authority["authorization_endpoint"] = json!("http://evil.example/a"),
            "http://evil.example/a is no https address",
        ),
        (|facts| facts.authority["authorization_endpoint"] = json!("file:///etc/passwd"), "is no https address"),
        (
            |facts| facts.authority["token_endpoint"] = json!("http://evil.example/t?x=y"),
            "http://evil.example/t is no https address",
        ),
        (|facts| facts.authority["issuer"] = json!("https://evil.example"), "https://evil.example answers where"),
        (
            |facts| facts.authority["code_challenge_methods_supported"] = json!(["plain"]),
            "does not offer PKCE with S256",
        ),
        (|facts| facts.authority["registration_endpoint"] = Value::Null, "[mcp.far] client_id"),
        (
            |facts| facts.resource["resource"] = json!("https://bank.example/mcp"),
            "it says to be https://bank.example/mcp, which is another",
        ),
        (
            |facts| facts.challenge = "Bearer resource_metadata=\"http://evil.example/m\"".to_owned(),
            "is no https address",
        ),
    ];
    for (change, told) in cases {
        let authority = Authority::start();
        authority.change(change);
        let home = authority.home();
        let ran = login(&home).ends();
        assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{told}: {}", ran.err);
        assert!(ran.err.contains(told), "{told}: {}", ran.err);
        assert_eq!(authority.asked("/as/token").len(), 0);
    }
}

#[test]
fn redirects_are_not_followed_and_a_token_that_is_none_is_not_kept() {
    let authority = Authority::start();
    let home = authority.home();
    let turn = authority.server.url("/turn");
    let round = Answer::new(302, "text/plain").header("location", &turn);
    authority.change(|facts| facts.refuses = Some(round.clone()));
    let waiting = login(&home);
    let (state, issuer) = (waiting.field("state").to_owned(), authority.issuer());
    waiting.returns(&[("code", "c0de"), ("state", &state), ("iss", &issuer)]);
    let ran = waiting.ends();
    assert!(ran.code == Some(1) && ran.err.contains("is not OAuth"), "{}", ran.err);
    assert_eq!((authority.asked("/turn").len(), authority.asked("/as/token").len()), (0, 1));
    let said = json!({"error": "invalid_request", "error_description": "c0de\u{1b}[2J is not good"});
    authority.change(|facts| facts.refuses = Some(Answer::json(400, &said)));
    let waiting = login(&home);
    let state = waiting.field("state").to_owned();
    waiting.returns(&[("code", "c0de"), ("state", &state), ("iss", &issuer)]);
    let ran = waiting.ends();
    assert!(ran.err.contains("says: invalid_request: … is not good"), "{}", ran.err);
    assert!(!home.path().join("state/axi/keys.json").exists());
}

#[test]
fn an_address_of_a_browser_elsewhere_is_pasted_and_a_given_client_signs_in_as_that() {
    let authority = Authority::start();
    authority.change(|facts| facts.authority["registration_endpoint"] = Value::Null);
    let home = authority.home();
    let settings = std::fs::read_to_string(home.path().join("config/axi/config.toml")).unwrap();
    home.write(
        "config/axi/config.toml",
        &format!("{settings}client_id = \"me\"\nclient_secret = \"${{FAR_SECRET}}\"\n"),
    );
    let mut waiting =
        Waiting::start(home.axi().args(["mcp", "login", "far", "--file"]).env("FAR_SECRET", "cl13nt secret"));
    assert_eq!(waiting.field("client_id"), "me");
    let (state, issuer) = (waiting.field("state").to_owned(), authority.issuer());
    waiting.types("what is this?");
    waiting.types(&waiting.back(&[("code", "c0de"), ("state", &state), ("iss", &issuer)]));
    let ran = waiting.ends();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let sent = &authority.asked("/as/token")[0];
    let basic = base64::engine::general_purpose::STANDARD.encode("me:cl13nt+secret");
    assert_eq!(sent.header("authorization"), Some(format!("Basic {basic}").as_str()));
    assert!(!sent.text.contains("cl13nt"));
}

#[test]
fn a_call_that_needs_more_is_told_and_the_next_sign_in_asks_for_it() {
    let authority = Authority::start();
    let home = authority.home();
    signed_in(&home, &authority);
    authority.change(|facts| facts.wants = Some("lab:write".to_owned()));
    let model = Server::start([answer::chat_call("call_1", "far__echo", "{}"), answer::chat_text("done")]);
    let ran = run(axi(&home, &model).args(["-p", "hi", "--allow", "far__echo"]));
    assert_eq!((ran.code, ran.out.trim()), (Some(0), "done"), "{}", ran.err);
    assert!(last_said(&model.requests()[1]).contains("it wants the user to sign in"));
    let waiting = login(&home);
    assert_eq!(waiting.field("scope"), "lab:read lab:write");
    let (state, issuer) = (waiting.field("state").to_owned(), authority.issuer());
    waiting.returns(&[("code", "c0de"), ("state", &state), ("iss", &issuer)]);
    assert_eq!(waiting.ends().code, Some(0));
}

#[test]
fn a_person_sees_what_needs_a_login_and_agrees_before_a_browser_opens() {
    let authority = Authority::start();
    let home = authority.home();
    let model = Server::start([answer::chat_text("one")]);
    let ran = run(axi(&home, &model).args(["-p", "hi"]));
    assert_eq!((ran.code, ran.out.trim()), (Some(0), "one"), "{}", ran.err);
    assert!(ran.err.contains("server far: it wants you to sign in; its tools are left out"), "{}", ran.err);
    assert!(ran.err.contains("axi mcp login far"), "{}", ran.err);
    let mut person = Person::meets(&axi(&home, &model));
    let limit = Instant::now() + PATIENCE;
    // It is asked in the background.
    while person.count("needs login · axi mcp login far") == 0 {
        assert!(Instant::now() < limit, "{}", person.pty.describe());
        person.sends("/mcp");
        person.sees_prompt();
    }
    // It puts the command onto the line; Enter runs it.
    person.sends("/mcp login far");
    person.sees_line("!axi mcp login far");
    person.types("\x15");
    assert_eq!(person.leaves(), Some(0));
    let opened = home.path().join("opened");
    let browser = home
        .write("browser.sh", "printf %s \"$1\" >\"$HOME/opened.new\"; mv \"$HOME/opened.new\" \"$HOME/opened\"\n");
    let mut command = home.axi();
    command.args(["mcp", "login", "far", "--file"]).env("BROWSER", format!("sh {} %s", browser.display()));
    let mut person = Person { pty: Pty::options().spawn(&command) };
    person.sees_choice("Yes, open it");
    assert!(!opened.exists());
    person.types("y");
    person.waits(|_| opened.exists(), "the browser");
    let address: reqwest::Url = std::fs::read_to_string(&opened).unwrap().parse().unwrap();
    let field = |name: &str| address.query_pairs().find(|(field, _)| field == name).unwrap().1.into_owned();
    let mut back: reqwest::Url = field("redirect_uri").parse().unwrap();
    back.query_pairs_mut().extend_pairs([
        ("code", "c0de"),
        ("state", &field("state")),
        ("iss", &authority.issuer()),
    ]);
    assert_eq!(visit(back.as_str()), "HTTP/1.1 200 OK");
    person.sees("signed in to far");
}

#[test]
fn to_a_program_nobody_signs_in_wherever_the_token_would_be_kept() {
    let home = Home::new();
    home.write("config/axi/config.toml", "[mcp.near]\ncommand = \"true\"\n");
    for arguments in [["mcp", "login", "near"].as_slice(), &["mcp", "login", "near", "--file"]] {
        let ran = run(home.axi().args(arguments));
        assert_eq!(ran.code, Some(1));
        assert!(ran.err.contains("not signed in to near: it is a program"), "{}", ran.err);
        assert!(!ran.err.contains("--file") && !ran.err.contains("keychain"), "{}", ran.err);
    }
}
