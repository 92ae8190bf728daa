//! `[try] apply`: what `-y` or a rule lets run, and nobody knows, runs in a trial first; only what is inside of the bounds is
//! applied by itself.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::support::editor::Editor;
use crate::support::home::Home;
use crate::support::server::{Server, answer};
use crate::support::talk::{Person, Ran, axi, last_said, run};
use crate::trial::{can_try, filled};

/// A workspace with programs that nobody knows: one only adds, the other deletes, too.
fn with_programs(settings: &str) -> Home {
    let home = filled();
    let programs = [
        (
            "add.sh",
            "#!/bin/sh\nmkdir -p out && echo built > out/built && echo log > /tmp/axi-bounds-$$ && rm /tmp/axi-bounds-$$\necho said\n",
        ),
        ("clean.sh", "#!/bin/sh\nrm -r d0\necho cleaned > cleaned\n"),
    ];
    for (name, text) in programs {
        let path = home.write(&format!("work/{name}"), text);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    home.write("config/axi/config.toml", settings);
    home
}

/// One turn in print mode that calls this line.
fn one(home: &Home, options: &[&str], line: &str) -> (Ran, Server) {
    let call = answer::chat_call("call_1", "shell", &json!({ "command": line }).to_string());
    let server = Server::start([call, answer::chat_text("done")]);
    let mut command = axi(home, &server);
    let ran = run(command.env_remove("AXI_TRIAL").args(["-p"]).args(options).arg("go"));
    (ran, server)
}

#[test]
fn what_deletes_nothing_is_applied_by_itself_and_what_deletes_is_not() {
    if !can_try() {
        return;
    }
    let home = with_programs("[try]\napply = \"no deletions\"\n");
    let there = |name: &str| home.work().join(name).exists();
    let rules = ["--allow", "shell(./add.sh:*)", "--allow", "shell(./clean.sh:*)"];
    for options in [&["-y"][..], &rules] {
        let (ran, server) = one(&home, options, "./add.sh");
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), "done\n"), "{}", ran.err);
        let told = last_said(&server.requests()[1]);
        assert!(told.contains("said") && !told.contains("trial"), "{told}");
        assert!(there("out/built"));
        std::fs::remove_dir_all(home.work().join("out")).unwrap();
        let (ran, server) = one(&home, options, "./clean.sh");
        assert_eq!(ran.code, Some(5), "{}", ran.err);
        assert_eq!(server.requests().len(), 1, "nobody could be asked, and the turn ends");
        assert_eq!(["d0/a", "cleaned"].map(there), [true, false], "nothing of it is applied: {}", ran.err);
    }
    // What is known is judged as ever.
    let (ran, _) = one(&home, &["-y"], "rm d0/a");
    assert_eq!((ran.code, there("d0/a")), (Some(0), false), "{}", ran.err);
}

#[test]
fn outside_of_the_paths_nothing_is_applied_by_itself() {
    if !can_try() {
        return;
    }
    let home = with_programs("[try]\napply = \"all\"\npaths = [\"out\", \"d0\"]\n");
    let there = |name: &str| home.work().join(name).exists();
    let (ran, _) = one(&home, &["-y"], "./add.sh");
    assert_eq!((ran.code, there("out/built")), (Some(0), true), "{}", ran.err);
    let (ran, _) = one(&home, &["-y"], "./clean.sh");
    assert_eq!((ran.code, there("d0"), there("cleaned")), (Some(5), true, false), "{}", ran.err);
    // What makes programs run is never changed unasked, wherever it lies.
    let hook =
        home.write("work/out/plant.sh", "#!/bin/sh\nmkdir -p out/.axi && echo 'x = 1' > out/.axi/config.toml\n");
    std::fs::set_permissions(hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    let (ran, _) = one(&home, &["-y"], "./out/plant.sh");
    assert_eq!((ran.code, there("out/.axi/config.toml")), (Some(5), false), "{}", ran.err);
}

#[test]
fn what_could_not_be_taken_back_is_asked_about_whatever_the_bounds_are() {
    if !can_try() {
        return;
    }
    let home = with_programs("[try]\napply = \"all\"\n");
    let large = home.work().join("large");
    // More than a journal copies; all of it is a hole.
    std::fs::File::create(&large).unwrap().set_len(300 * 1024 * 1024).unwrap();
    let over = home.write("work/over.sh", "#!/bin/sh\necho x > large\n");
    std::fs::set_permissions(over, std::fs::Permissions::from_mode(0o755)).unwrap();
    let (ran, _) = one(&home, &["-y"], "./over.sh");
    let length = large.metadata().unwrap().len();
    if ran.code == Some(0) && length == 2 {
        // Where files share their blocks a large one is kept for nothing.
        return;
    }
    assert_eq!((ran.code, length), (Some(5), 300 * 1024 * 1024), "{}", ran.err);
}

#[test]
fn a_person_is_asked_about_the_rest_and_can_take_it_back() {
    if !can_try() {
        return;
    }
    let home = with_programs("[try]\napply = \"no deletions\"\n");
    let call = || answer::chat_call("call_1", "shell", &json!({ "command": "./clean.sh" }).to_string());
    let server = Server::start([call(), answer::chat_text("first"), call(), answer::chat_text("second")]);
    let mut command = axi(&home, &server);
    let mut person = Person::meets(command.env_remove("AXI_TRIAL").arg("-y"));
    person.sends("go");
    person.sees("- d0/a");
    person.sees("1–4 answers");
    person.types("3");
    person.sees("first");
    let told = last_said(&server.requests()[1]);
    assert!(told.contains("Not all of what it changed was applied") && told.contains("d0/a"), "{told}");
    assert!(home.work().join("d0/a").exists());
    person.sees_prompt();
    person.types("\x0c");
    person.waits(|view| !view.text().contains("first"), "an empty screen");
    person.sends("again");
    person.sees("1–4 answers");
    person.types("1");
    person.sees("second");
    assert!(!home.work().join("d0").exists() && home.work().join("cleaned").exists());
    person.sees_prompt();
    person.sends("/undo yes");
    person.sees("as they were");
    assert!(home.work().join("d0/a").exists() && !home.work().join("cleaned").exists());
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn where_nothing_can_be_tried_an_unknown_program_is_asked_about() {
    let home = with_programs("[try]\napply = \"all\"\n");
    let call = answer::chat_call("call_1", "shell", &json!({ "command": "./add.sh" }).to_string());
    let server = Server::start([call]);
    let ran = run(axi(&home, &server).args(["-p", "-y", "go"]));
    assert_eq!((ran.code, home.work().join("out").exists()), (Some(5), false), "{}", ran.err);
}

#[test]
fn in_an_editor_its_person_is_asked_about_the_rest() {
    if !can_try() {
        return;
    }
    let home = with_programs(
        "[try]\napply = \"no deletions\"\n[permissions]\nallow = [\"shell(./add.sh:*)\", \"shell(./clean.sh:*)\"]\n",
    );
    let call = |line: &str| answer::chat_call("call_1", "shell", &json!({ "command": line }).to_string());
    let server = Server::start([call("./add.sh"), call("./clean.sh"), answer::chat_text("done")]);
    let mut editor = Editor::meets(axi(&home, &server).env_remove("AXI_TRIAL"));
    let session = editor.opens(&home.work());
    let prompt = editor.prompts(&session, "go");
    let question = editor.question();
    assert!(home.work().join("out/built").exists(), "what is inside of the bounds was not asked about");
    let (call, options) = (&question["params"]["toolCall"], &question["params"]["options"]);
    assert!(call["content"].to_string().contains("- d0/a"), "{question}");
    assert!(call["content"].to_string().contains("\"newText\":\"cleaned\\n\""), "{question}");
    assert_eq!((&options[0]["optionId"], &options[1]["optionId"]), (&json!("nothing"), &json!("all")));
    assert!(home.work().join("d0/a").exists(), "nothing is done before the answer");
    editor.chooses(&question, "all");
    assert_eq!(editor.answer(prompt)["result"]["stopReason"], "end_turn");
    assert!(!home.work().join("d0").exists() && home.work().join("cleaned").exists());
}
