//! How far a command would reach is said before it is asked, and links on the disk cannot hide it.

use serde_json::json;

use crate::support::home::Home;
use crate::support::server::{Server, answer};
use crate::support::skip::has;
use crate::support::talk::{Person, axi, run};

fn calls(command: &str) -> String {
    serde_json::json!({ "command": command }).to_string()
}

fn git(home: &Home, arguments: &[&str]) {
    let output = home.command("git").args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn what_would_be_lost_is_counted_in_the_question() {
    let home = Home::new();
    if !has("git") {
        return;
    }
    git(&home, &["init", "-q"]);
    for (name, bytes) in [("work/out/a.o", 1500), ("work/out/deep/b.o", 500), ("work/kept.o", 1000)] {
        home.write(name, &"x".repeat(bytes));
    }
    home.write("outside.o", "12345");
    git(&home, &["add", "kept.o"]);
    let server = Server::start([
        answer::chat_call("call_1", "shell", &calls("rm -rf o*t *.o ../outside.o")),
        answer::chat_text("As you like."),
    ]);
    let mut person = Person::meets(&axi(&home, &server));
    person.sends("clean up");
    person.sees_choice("No");
    person.sees("would delete 4 files, 2 directories (2.9 KB), 3 not in git;");
    person.sees("that is: out, kept.o");
    person.types("\x1b");
    person.sees_prompt();
    assert!(home.work().join("out/a.o").exists() && home.path().join("outside.o").exists());
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn a_link_to_above_home_is_never_run_unasked() {
    let home = Home::new();
    home.write("work/precious.txt", "x");
    let above = home.path().parent().unwrap();
    std::os::unix::fs::symlink(above, home.work().join("up")).unwrap();
    let name = home.path().file_name().unwrap().to_str().unwrap();
    for line in
        [format!("rm -rf up/{name}"), format!("mv up/{name} elsewhere"), format!("cd . && rm -r up/{name}/")]
    {
        let server =
            Server::start([answer::chat_call("call_1", "shell", &calls(&line)), answer::chat_text("Done.")]);
        let mut command = axi(&home, &server);
        command.args(["-p", "-y", "--allow", "shell(rm:*)", "--allow", "shell", "do it"]);
        let ran = run(&mut command);
        assert_eq!(ran.code, Some(5), "{line}: {}", ran.err);
        assert!(home.work().join("precious.txt").exists(), "{line}");
    }
}

#[test]
fn yes_still_runs_what_is_plainly_inside() {
    let home = Home::new();
    home.write("work/out/a.o", "x");
    let server =
        Server::start([answer::chat_call("call_1", "shell", &calls("rm -rf out")), answer::chat_text("Done.")]);
    let mut command = axi(&home, &server);
    command.args(["-p", "-y", "do it"]);
    let ran = run(&mut command);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(!home.work().join("out").exists());
}

#[test]
fn a_directory_swapped_for_a_link_while_the_question_is_open_is_not_written_through() {
    for (tool, input) in [
        ("write", json!({ "path": "dir/new", "content": "x" })),
        ("mkdir", json!({ "path": "dir/new" })),
        ("delete", json!({ "path": "dir/kept" })),
        ("move", json!({ "from": "dir/kept", "to": "dir/new" })),
    ] {
        let home = Home::new();
        home.write("work/dir/kept", "inside");
        home.write("outside/kept", "outside");
        let call = answer::chat_call("call_1", tool, &input.to_string());
        let server = Server::start([call, answer::chat_text("Went on.")]);
        let mut person = Person::meets(&axi(&home, &server));
        person.sends("change it");
        // What is deleted is not deleted by an Enter too many.
        person.sees_choice(if tool == "delete" { "No" } else { "Yes, once" });
        std::fs::rename(home.work().join("dir"), home.work().join("old")).unwrap();
        std::os::unix::fs::symlink("../outside", home.work().join("dir")).unwrap();
        person.types("y");
        person.sees("Went on.");
        let told = crate::support::talk::last_said(&server.requests()[1]);
        assert!(told.contains("something changed where this path leads"), "{tool}: {told}");
        let outside: Vec<_> = home.path().join("outside").read_dir().unwrap().flatten().collect();
        assert_eq!(outside.len(), 1, "{tool}");
        assert_eq!(std::fs::read_to_string(home.path().join("outside/kept")).unwrap(), "outside", "{tool}");
        assert_eq!(person.leaves(), Some(0));
    }
}
