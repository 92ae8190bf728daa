//! What a project tells: its instructions, those below when a file there is touched, what is remembered, its skills.

use crate::support::home::Home;
use crate::support::server::{Server, answer};
use crate::support::talk::{Person, axi, last_said, run, said};

#[test]
fn another_agents_file_stands_in_and_those_below_are_told_when_a_file_there_is_read() {
    let home = Home::new();
    home.write("work/CLAUDE.md", "Use tabs.\n@docs/style.md\n@../private.md\n");
    home.write("work/docs/style.md", "Short names.\n");
    home.write("private.md", "never sent\n");
    home.write("work/api/AGENTS.md", "The api is frozen.\n");
    home.write("work/api/main.rs", "fn main() {}\n");
    std::fs::create_dir(home.work().join(".git")).unwrap();
    let server = Server::start([
        answer::chat_call("call_1", "read", r#"{"path":"api/main.rs"}"#),
        answer::chat_call("call_2", "read", r#"{"path":"api/main.rs","offset":1}"#),
        answer::chat_text("Done."),
    ]);
    assert_eq!(run(axi(&home, &server).args(["-p", "look"])).code, Some(0));
    let system = said(&server.requests()[0], 0);
    assert!(system.contains("Use tabs.\nShort names.") && !system.contains("never sent"), "{system}");
    assert!(!system.contains("The api is frozen."), "{system}");
    let told: Vec<bool> =
        server.requests().iter().map(|request| last_said(request).contains("The api is frozen.")).collect();
    assert_eq!(told, [false, true, false], "once, with the first result");
}

#[test]
fn skills_of_a_project_are_named_only_where_it_is_trusted_and_ones_own_always() {
    let home = Home::new();
    home.write(".agents/skills/mine/SKILL.md", "---\nname: mine\ndescription: Mends boats.\n---\nBody.\n");
    let server = Server::start([answer::chat_text("one"), answer::chat_text("two")]);
    assert_eq!(run(axi(&home, &server).args(["-p", "hi"])).code, Some(0));
    home.write("work/.claude/skills/theirs/SKILL.md", "---\nname: theirs\ndescription: Sinks boats.\n---\nBody.\n");
    let ran = run(axi(&home, &server).args(["-p", "hi"]));
    assert!(ran.code == Some(0) && ran.err.contains("SKILL.md"), "{ran:?}");
    for request in server.requests() {
        let system = said(&request, 0);
        assert!(system.contains("- mine: Mends boats. (") && !system.contains("theirs"), "{system}");
        assert!(!system.contains("Body."), "{system}");
    }
}

#[test]
fn what_is_remembered_is_told_to_later_conversations_and_stands_in_a_file() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("one"), answer::chat_text("two")]);
    let mut person = Person::meets(&axi(&home, &server));
    person.sends("/remember never push to main");
    person.sees("remembered in .axi/memory.md");
    person.sees_prompt();
    person.sends("hello");
    person.sees("one");
    assert!(server.requests()[0].text.contains("never push to main"));
    assert_eq!(person.leaves(), Some(0));
    assert_eq!(std::fs::read_to_string(home.work().join(".axi/memory.md")).unwrap(), "- never push to main\n");
    assert_eq!(run(axi(&home, &server).args(["-p", "hi"])).code, Some(0));
    assert!(said(&server.requests()[1], 0).contains("- never push to main"));
    // Who made the project could have the file lead anywhere.
    std::fs::remove_file(home.work().join(".axi/memory.md")).unwrap();
    let outside = home.write("outside", "x\n");
    std::os::unix::fs::symlink(&outside, home.work().join(".axi/memory.md")).unwrap();
    let mut person = Person::meets(&axi(&home, &server));
    person.sends("/remember y");
    person.sees("a symbolic link");
    assert_eq!(person.leaves(), Some(0));
    assert_eq!(std::fs::read_to_string(outside).unwrap(), "x\n");
}

#[test]
fn commands_of_other_agents_are_commands() {
    let home = Home::new();
    home.write(".claude/commands/greet.md", "Greet $1 and $2.");
    let server = Server::start([answer::chat_text("one")]);
    let mut person = Person::meets(&axi(&home, &server));
    person.sends("/greet Ada Bob");
    person.sees("one");
    assert_eq!(last_said(&server.requests()[0]), "Greet Ada and Bob.");
    assert_eq!(person.leaves(), Some(0));
}
