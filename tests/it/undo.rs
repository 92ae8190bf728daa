//! `/undo` and `/rewind` in the REPL: what tools and commands changed is shown, asked for and taken back, also after
//! axi was killed.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use crate::support::changes::Changes;
use crate::support::home::Home;
use crate::support::server::{Gate, Server, answer};
use crate::support::talk::{Person, axi, session_lines};

/// Content, mode and time of every file of the work directory.
fn picture(home: &Home) -> Vec<(String, String, u32, i64, i64)> {
    fn add(root: &Path, directory: &Path, found: &mut Vec<(String, String, u32, i64, i64)>) {
        for entry in directory.read_dir().unwrap().flatten() {
            let path = entry.path();
            let metadata = path.symlink_metadata().unwrap();
            let content = if metadata.is_file() { std::fs::read_to_string(&path).unwrap() } else { String::new() };
            let name = path.strip_prefix(root).unwrap().display().to_string();
            found.push((name, content, metadata.mode(), metadata.mtime(), metadata.mtime_nsec()));
            if metadata.is_dir() {
                add(root, &path, found);
            }
        }
    }
    let mut found = Vec::new();
    add(&home.work(), &home.work(), &mut found);
    found.sort();
    found
}

fn fill(home: &Home) {
    for (index, (name, text)) in
        [("work/a.txt", "one\ntwo\n"), ("work/src/b.txt", "b\n"), ("work/src/deep/c.txt", "c\n")]
            .into_iter()
            .enumerate()
    {
        let path = home.write(name, text);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        let time = UNIX_EPOCH + Duration::new(1_500_000_000 + index as u64, 123_456_789);
        std::fs::File::open(&path).unwrap().set_modified(time).unwrap();
    }
    for name in ["src/deep", "src"] {
        let directory = std::fs::File::open(home.work().join(name)).unwrap();
        directory.set_modified(UNIX_EPOCH + Duration::from_secs(1_400_000_000)).unwrap();
    }
}

const WRITE: &str = r#"{"path":"a.txt","content":"other\n"}"#;
const READ: &str = r#"{"path":"a.txt"}"#;
const REMOVE: &str = r#"{"command":"rm -rf src && echo x > new.txt && chmod 600 new.txt"}"#;

/// A model that reads and overwrites a file, removes a tree, and says so.
fn destructive() -> Vec<crate::support::server::Answer> {
    vec![
        answer::chat_call("call_0", "read", READ),
        answer::chat_calls(&[("call_1", "write", WRITE), ("call_2", "shell", REMOVE)]),
        answer::chat_text("all done"),
    ]
}

fn person(home: &Home, server: &Server) -> Person {
    Person::meets(axi(home, server).arg("-y"))
}

/// A person whose model has just broken things in a filled directory.
fn broken() -> (Home, Server, Person) {
    let home = Home::new();
    fill(&home);
    let server = Server::start(destructive());
    let mut person = person(&home, &server);
    person.sends("break things");
    person.sees("all done");
    (home, server, person)
}

#[test]
fn the_last_turn_is_shown_and_taken_back_with_times_and_modes() {
    let home = Home::new();
    fill(&home);
    let before = picture(&home);
    let mut script = destructive();
    script.push(answer::chat_text("I see"));
    let server = Server::start(script);
    let mut person = person(&home, &server);
    person.sends("break things");
    person.sees("all done");
    assert!(!home.work().join("src").exists() && home.work().join("new.txt").exists());
    person.sends("/undo");
    person.sees("a.txt as it was (+2 −1)");
    person.sees("src/deep/c.txt comes back");
    person.sees("new.txt removed");
    person.sees_choice("Yes, take it back");
    // An arrow goes there, a digit answers.
    person.types("\x1b[B");
    person.sees_choice("No, change nothing");
    person.types("1");
    person.sees("are as they were.");
    assert_eq!(picture(&home), before);
    person.sends("what now");
    person.sees("I see");
    let told = server.requests().last().unwrap().body.to_string();
    assert!(told.contains("The user took back earlier changes"), "{told}");
    person.sends("/undo");
    person.sees("No turn of this session changed files");
    assert_eq!(server.violations(), Vec::<String>::new());
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn a_turn_that_left_nothing_to_take_back_asks_nothing_and_hides_no_earlier_one() {
    let home = Home::new();
    home.write("work/a.txt", "old\n");
    let call =
        |line: &str| answer::chat_call("call_1", "shell", &serde_json::json!({ "command": line }).to_string());
    let server = Server::start([
        call("echo x > b.txt; rm b.txt"),
        answer::chat_text("first"),
        call("echo new > a.txt"),
        answer::chat_text("second"),
        call("echo x > b.txt; rm b.txt"),
        answer::chat_text("third"),
    ]);
    let mut person = person(&home, &server);
    person.sends("make and remove");
    person.sees("first");
    person.sends("/undo");
    person.sees("No turn of this session changed files");
    person.sees_prompt();
    person.pty.view(|view| assert!(!view.text().contains("Yes, take it back"), "{}", view.text()));
    person.sends("change");
    person.sees("second");
    person.sends("make and remove again");
    person.sees("third");
    person.sends("/undo");
    person.sees_choice("Yes, take it back");
    person.types("y");
    person.sees("as it was");
    person.sees_prompt();
    assert_eq!(std::fs::read_to_string(home.work().join("a.txt")).unwrap(), "old\n");
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn nothing_is_changed_by_a_no() {
    let (home, _server, mut person) = broken();
    let broken = picture(&home);
    person.sends("/undo no");
    person.sees("Nothing was changed.");
    assert_eq!(picture(&home), broken);
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn a_rewind_takes_files_and_conversation_back_and_the_message_is_on_the_line() {
    let home = Home::new();
    fill(&home);
    let before = picture(&home);
    let mut script = vec![answer::chat_text("hello there")];
    script.extend(destructive());
    script.push(answer::chat_text("fresh start"));
    let server = Server::start(script);
    let mut person = person(&home, &server);
    person.sends("good morning");
    person.sees("hello there");
    person.sends("break things");
    person.sees("all done");
    person.sends("/rewind 2 both");
    person.sees("Back before that message");
    assert_eq!(picture(&home), before);
    // The message came back to the line.
    person.types(" not\r");
    person.sees("fresh start");
    let body = server.requests().last().unwrap().body.to_string();
    assert!(body.contains("good morning") && body.contains("break things not"), "{body}");
    assert!(!body.contains("all done"), "{body}");
    assert_eq!(server.violations(), Vec::<String>::new());
    assert_eq!(person.leaves(), Some(0));
    let kinds: Vec<String> =
        session_lines(&home).iter().map(|line| line["kind"].as_str().unwrap_or_default().to_owned()).collect();
    assert!(kinds.contains(&"rewound".to_owned()), "{kinds:?}");
    assert!(session_lines(&home).iter().any(|line| line.to_string().contains("all done")), "the file keeps all");

    server.push(answer::chat_text("resumed well"));
    let mut person = Person::meets(axi(&home, &server).arg("-c"));
    person.sends("still there?");
    person.sees("resumed well");
    let body = server.requests().last().unwrap().body.to_string();
    assert!(body.contains("break things not") && !body.contains("all done"), "{body}");
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn killed_in_the_middle_the_next_axi_takes_it_back() {
    let home = Home::new();
    fill(&home);
    let before = picture(&home);
    let gate = Gate::new();
    let mut script = destructive();
    script.truncate(2);
    let slow = r#"{"command":"rm src/b.txt && echo half > a.txt && sleep 30 && rm -r src"}"#;
    script.push(answer::chat_call("call_3", "shell", slow));
    script[1] = answer::chat_call("call_1", "write", WRITE);
    let server = Server::start(script);
    let mut doomed = axi(&home, &server);
    doomed
        .args(["-y", "-p", "break things"])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null());
    let mut child = doomed.spawn().unwrap();
    let half = || std::fs::read_to_string(home.work().join("a.txt")).is_ok_and(|text| text == "half\n");
    Changes::of(&home.work()).until("half of the command", half);
    child.kill().unwrap();
    child.wait().unwrap();
    drop(gate);
    let mut person = Person::meets(axi(&home, &server).arg("-c"));
    person.sends("/undo");
    person.sees("src/b.txt comes back");
    person.sees_choice("Yes, take it back");
    person.types("\r");
    person.sees("as they were.");
    let plain = |picture: Vec<(String, String, u32, i64, i64)>| -> Vec<_> {
        // Times of directories may be somebody else's after a kill.
        picture.into_iter().map(|(name, text, mode, ..)| (name, text, mode)).collect()
    };
    assert_eq!(plain(picture(&home)), plain(before));
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn what_somebody_else_changed_since_stays_unless_it_is_said() {
    let (home, _server, mut person) = broken();
    home.write("work/a.txt", "mine\n");
    person.sends("/undo");
    person.sees("something else changed it since");
    person.sees_choice("Yes, take it back");
    person.types("\r");
    person.sees("left as it is: a.txt");
    assert_eq!(std::fs::read_to_string(home.work().join("a.txt")).unwrap(), "mine\n");
    assert!(home.work().join("src/deep/c.txt").exists());
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn without_a_session_nothing_is_kept_and_that_is_said() {
    let home = Home::new();
    fill(&home);
    let server = Server::start(destructive());
    let mut person = Person::meets(axi(&home, &server).args(["-y", "--no-session"]));
    person.sends("break things");
    person.sees("all done");
    person.sends("/undo");
    person.sees("This session keeps nothing");
    assert!(!home.path().join("state/axi/journal").exists());
    assert_eq!(person.leaves(), Some(0));
}
