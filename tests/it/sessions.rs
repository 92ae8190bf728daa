//! Sessions from outside: listed, exported, imported, forked, printed again when they are gone on with.

use serde_json::Value;

use crate::support::home::Home;
use crate::support::server::{Server, answer};
use crate::support::talk::{Person, axi, in_the_middle, roles, run, said, session_files};

fn json(home: &Home, arguments: &[&str]) -> Value {
    let ran = run(home.axi().arg("sessions").args(arguments));
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    serde_json::from_str(&ran.out).unwrap()
}

fn id_of(path: &std::path::Path) -> String {
    path.file_stem().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn a_list_is_read_by_programs_and_a_page_needs_nothing_else() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("It **flies**."), answer::chat_text("two")]);
    assert_eq!(run(axi(&home, &server).args(["-p", "the <b>plover</b>?"])).code, Some(0));
    let list = json(&home, &["list", "--json"]);
    let row = &list[0];
    assert_eq!((row["title"].as_str(), row["turns"].as_u64()), (Some("the <b>plover</b>?"), Some(1)), "{row}");
    assert_eq!((&row["model"], &row["origin"]), (&"openai/any".into(), &"one-shot".into()));
    let id = row["id"].as_str().unwrap();
    assert_eq!(json(&home, &["search", "PLOVER", "--json"])[0]["id"], id);
    assert_eq!(json(&home, &["search", "role", "--json"]), serde_json::json!([]));
    let whole = json(&home, &["export", id, "--as", "json"]);
    assert_eq!(whole["messages"][1]["content"][0]["text"], "It **flies**.");
    let page = run(home.axi().args(["sessions", "export", id, "--as", "html"])).out;
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<strong>flies</strong>"), "{page}");
    assert!(
        page.contains("the &lt;b&gt;plover&lt;/b&gt;?") && !page.contains("http://") && !page.contains("https://"),
        "{page}"
    );
    assert_eq!(json(&home, &["--json"]), list);
    assert_eq!(json(&home, &["list", "--origin", "one-shot", "--json"]), list);
    assert_eq!(json(&home, &["list", "--origin", "repl", "--json"]), serde_json::json!([]));
    assert!(run(home.axi().args(["sessions", "list"])).out.contains("  one-shot  "));
    assert!(run(home.axi().args(["sessions", "list", "--origin", "acp"])).err.contains("no session began as acp"));
}

#[test]
fn a_session_is_one_row_whatever_its_directory_is_called() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("yes")]);
    let directory = home.work().join("a\nb\u{1b}[31m");
    std::fs::create_dir(&directory).unwrap();
    assert_eq!(run(axi(&home, &server).current_dir(&directory).args(["-p", "hello"])).code, Some(0));
    let listed = run(home.axi().arg("sessions")).out;
    assert_eq!(listed.lines().count(), 1, "{listed:?}");
    assert!(!listed.contains('\u{1b}'), "{listed:?}");
}

#[test]
fn a_session_of_another_agent_is_imported_and_gone_on_with() {
    let home = Home::new();
    let lines = concat!(
        "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"mend it\"},\"cwd\":\"/src\"}\n",
        "{\"type\":\"assistant\",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"Bash\",\"input\":{\"command\":\"make\"}}]}}\n",
    );
    let file = home.write("theirs.jsonl", lines);
    let ran = run(home.axi().args(["sessions", "import", file.to_str().unwrap()]));
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), lines, "theirs stays as it is");
    let id = id_of(&session_files(&home)[0]);
    assert!(
        ran.out.contains("Claude Code: 3 messages") && ran.out.contains(&format!("axi -r {id}")),
        "{}",
        ran.out
    );
    assert_eq!(json(&home, &["--json"])[0]["directory"], "/src");
    let server = Server::start([answer::chat_text("done")]);
    assert_eq!(run(axi(&home, &server).args(["-r", &id, "-p", "go on"])).code, Some(0));
    assert_eq!(roles(&server.requests()[0]), ["system", "user", "assistant", "tool", "user"]);
    let nothing = home.write("nothing", "hello\n");
    let ran = run(home.axi().args(["sessions", "import", nothing.to_str().unwrap()]));
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""));
    assert!(ran.err.contains("it contains no session of Claude Code or codex"), "{}", ran.err);
}

#[test]
fn the_second_axi_on_a_session_forks_it_and_says_so() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("one")]);
    let mut first = Person::meets(&axi(&home, &server));
    first.sends("remember the plover");
    first.sees("one");
    first.sees_prompt();
    server.push(answer::chat_text("two"));
    let ran = run(axi(&home, &server).args(["-c", "-p", "what was it?"]));
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "two\n"), "{ran:?}");
    assert!(ran.err.contains("this is a fork, and the two go on separately"), "{}", ran.err);
    assert_eq!(said(&server.requests()[1], 1), "remember the plover");
    let files = session_files(&home);
    assert_eq!(files.len(), 2);
    let list = json(&home, &["--json"]);
    let fork = list.as_array().unwrap().iter().find(|row| !row["forked_from"].is_null()).unwrap();
    assert!(files.iter().any(|path| id_of(path) == fork["forked_from"].as_str().unwrap()));
    // The first one heard nothing of it.
    server.push(answer::chat_text("three"));
    first.sends("and now?");
    first.sees("three");
    assert_eq!(roles(&server.requests()[2]), ["system", "user", "assistant", "user"]);
    assert_eq!(first.leaves(), Some(0));
    // Gone on with, it has its beginning and its own end.
    server.push(answer::chat_text("four"));
    let id = fork["id"].as_str().unwrap();
    assert_eq!(run(axi(&home, &server).args(["-r", id, "-p", "again"])).code, Some(0));
    let request = &server.requests()[3];
    assert_eq!([said(request, 1), said(request, 3)], ["remember the plover", "what was it?"]);
    let first_id = fork["forked_from"].as_str().unwrap();
    // A script has to say that it is sure.
    let ran = run(home.axi().args(["sessions", "delete", id]));
    assert!(ran.code == Some(5) && ran.err.contains("--yes"), "{ran:?}");
    let ran = run(home.axi().args(["sessions", "delete", "--yes", first_id]));
    assert!(ran.code == Some(1) && ran.err.contains("would lose its beginning"), "{ran:?}");
}

#[test]
fn a_conversation_is_forked_from_before_a_turn_and_exported() {
    let home = Home::new();
    let server = Server::start(["one", "two", "three"].map(answer::chat_text));
    let mut person = Person::meets(&axi(&home, &server));
    for (line, answer) in [("first", "one"), ("second", "two")] {
        person.sends(line);
        person.sees(answer);
        person.sees_prompt();
    }
    person.sends("/session fork 2");
    person.sees("a fork:");
    person.sees_line("second");
    person.types(" try\r");
    person.sees("three");
    person.sees_prompt();
    let request = &server.requests()[2];
    assert_eq!([said(request, 1), said(request, 2), said(request, 3)], ["first", "one", "second try"]);
    assert_eq!(session_files(&home).len(), 2);
    person.sends("/export notes.html");
    person.sees("written: notes.html");
    person.sees_prompt();
    let page = std::fs::read_to_string(home.path().join("work/notes.html")).unwrap();
    assert!(page.contains("second try") && !page.contains("two"), "{page}");
    assert!(page.contains("<title>first</title>"), "{page}");
    person.sends("/export notes.html");
    person.sees("it already exists");
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn what_is_gone_on_with_is_printed_again_and_marked_and_a_turn_that_was_cut_off_can_go_on() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("the plover flies")]);
    let mut person = Person::meets(&axi(&home, &server));
    home.write("work/marsh.txt", "reeds and rushes");
    person.sends("what flies? @marsh.txt");
    person.sees("the plover flies");
    person.sees_prompt();
    assert_eq!(person.leaves(), Some(0));
    let mut command = axi(&home, &server);
    let mut person = Person::meets(command.arg("-c"));
    person.sees("earlier in this conversation:");
    person.sees("the plover flies");
    person.sees("now:");
    assert_eq!(person.count("the plover flies"), 1);
    // In the title and where it was said; what was attached is not what was said.
    assert_eq!((person.count("what flies?"), person.count("reeds")), (2, 0));
    let _gate = in_the_middle(&mut person, &server);
    person.pty.signal(rustix::process::Signal::KILL);
    person.pty.wait_exit();
    server.push(answer::chat_text("gamma"));
    let mut command = axi(&home, &server);
    let mut person = Person { pty: crate::support::pty::Pty::options().spawn(command.arg("-c")) };
    person.sees("the last turn was cut off");
    person.sees_prompt();
    person.sends("go on");
    person.sees("gamma");
    let requests = server.requests();
    assert_eq!(roles(requests.last().unwrap()).last().map(String::as_str), Some("user"));
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn what_was_typed_and_said_is_recalled_with_where_it_comes_from() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("the port of heron is 8017")]);
    assert_eq!(run(axi(&home, &server).args(["-p", "which port?"])).code, Some(0));
    let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let fetched = format!(": 1700000003:0;curl -H 'Authorization: token {token}' https://gull.example\n");
    home.write(".zsh_history", &format!(": 1700000000:0;ssh -p 8017 heron\n: 1700000001:0;ls\n{fetched}"));
    home.write(".bash_history", "#1700000002\nmake heron\n");
    let recall = |arguments: &[&str]| run(home.axi().arg("recall").args(arguments));
    let found: Value = serde_json::from_str(&recall(&["heron", "8017", "--json"]).out).unwrap();
    let of = |key: &str| found.as_array().unwrap().iter().map(|row| row[key].clone()).collect::<Vec<_>>();
    let id = id_of(&session_files(&home)[0]);
    assert_eq!(of("text"), ["the port of heron is 8017", "ssh -p 8017 heron"]);
    assert_eq!(of("source"), [format!("session:{id}"), "zsh".to_owned()]);
    assert_eq!((found[1]["when"].as_str(), &found[1]["exit"]), (Some("2023-11-14T22:13:20Z"), &Value::Null));
    assert!(found[0]["cwd"].is_string(), "{found}");
    let told = recall(&["make"]);
    assert!(told.code == Some(0) && told.out.ends_with("bash\n    make heron\n"), "{told:?}");
    // By what it does, and without its secret.
    let fetched = recall(&["how", "did", "I", "fetch", "the", "gull"]);
    assert!(fetched.out.contains("zsh\n    curl -H") && !fetched.out.contains(&token), "{fetched:?}");
    let none = recall(&["plover"]);
    assert!(none.code == Some(0) && none.out.is_empty() && none.err.contains("no shell history"), "{none:?}");
    assert_eq!(recall(&["plover", "--json"]).out, "[]\n");
    assert_eq!(recall(&[]).code, Some(2));
}
