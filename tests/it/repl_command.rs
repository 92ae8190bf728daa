//! The REPL in a real terminal: slash commands, shell lines, leaving.

use serde_json::Value;

use crate::support::home::Home;
use crate::support::server::{Gate, Server, answer};
use crate::support::talk::{Person, axi, last_said, roles, said, session_files};

fn model(server: &Server, request: usize) -> Value {
    server.requests()[request].body["model"].clone()
}

#[test]
fn help_lists_commands_and_keys() {
    let home = Home::new();
    let server = Server::start([]);
    for line in ["/help", "?"] {
        let mut person = Person::on(crate::support::pty::Pty::options().size(80, 66), &axi(&home, &server));
        if line == "?" {
            person.types("?");
        } else {
            person.sends(line);
        }
        person.sees("/language");
        person.sees("show or change the model");
        person.sees("Ctrl+R");
        person.sees_prompt();
        assert_eq!(person.leaves(), Some(0));
    }
    assert!(server.requests().is_empty());
}

#[test]
fn another_model_is_asked_from_now_on_and_saved_beside_the_comments_where_that_is_said() {
    let home = Home::new();
    let settings =
        "# my settings\n\nlanguage = \"en\" # for now\n\n[permissions]\ndeny = [\"shell(rm:*)\"] # never\n";
    let path = home.write("config/axi/config.toml", settings);
    let server = Server::start(["one", "two"].map(answer::chat_text));
    let mut command = axi(&home, &server);
    command.env_remove("AXI_MODEL").args(["-m", "openai/any"]);
    let mut person = Person::meets(&command);
    person.sends("first");
    person.sees("one");
    person.sees_prompt();
    person.sends("/model openai/other");
    person.sees("using openai/other");
    person.sees("~/work · other ❯");
    person.sends("second");
    person.sees("two");
    assert_eq!([model(&server, 0), model(&server, 1)], ["any", "other"]);
    assert_eq!(said(&server.requests()[1], 1), "first", "the conversation goes on");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), settings, "nobody said that it is to be kept");
    person.sends("/model --save");
    person.sees("axi uses openai/other from the next start on");
    assert_eq!(person.leaves(), Some(0));
    let written = std::fs::read_to_string(path).unwrap();
    assert!(written.contains("model = \"openai/other\""), "{written}");
    for line in settings.lines() {
        assert!(written.contains(line), "{line:?} is gone from\n{written}");
    }
    // The next start knows it.
    server.push(answer::chat_text("three"));
    let mut command = axi(&home, &server);
    command.env_remove("AXI_MODEL");
    let mut person = Person::meets(&command);
    person.sends("third");
    person.sees("three");
    assert_eq!(model(&server, 2), "other");
    person.sends("/model cloud openai/third --save");
    person.sees("using openai/third, now and from the next start on");
    assert_eq!(person.leaves(), Some(0));
    let written = std::fs::read_to_string(home.path().join("config/axi/config.toml")).unwrap();
    assert_eq!(written.replace("model = \"openai/third\"\n", ""), settings, "all else stands as it stood");
}

#[test]
fn a_model_that_cannot_be_is_told_and_the_old_one_stays() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("still here")]);
    let mut person = Person::meets(&axi(&home, &server));
    for (line, what, hint) in [
        ("/model nowhere/x", "error: there is no provider named nowhere", "hint: known are: "),
        ("/model gpt", "error: gpt is not a model name", "hint: a model is named PROVIDER/MODEL"),
        ("/model anthropic/x", "error: there is no key for anthropic", "hint: set ANTHROPIC_API_KEY"),
    ] {
        person.sends(line);
        person.sees(what);
        person.sees(hint);
        person.sees_prompt();
    }
    person.sends("hello");
    person.sees("still here");
    assert_eq!(model(&server, 0), "any");
    assert_eq!(person.leaves(), Some(0));
    assert!(!home.path().join("config/axi/config.toml").exists());
}

#[test]
fn another_language_is_spoken_at_once_in_all_places() {
    let home = Home::new();
    let touch = r#"{"command":"touch made.txt"}"#;
    let server = Server::start([answer::chat_call("call_1", "shell", touch), answer::chat_text("done")]);
    let mut person = Person::on(crate::support::pty::Pty::options().size(80, 70), &axi(&home, &server));
    person.sends("/language zh-CN");
    person.sees("现在使用简体中文。");
    person.sees_prompt();
    person.sends("/model nowhere/x");
    person.sees("错误:");
    person.sees("提示:");
    person.sees_prompt();
    person.sends("/help");
    person.sees("查看或更换模型");
    person.sees_prompt();
    person.types("/mod");
    person.waits(|view| view.text().lines().last().is_some_and(|row| row.contains("查看或更换模型")), "the menu");
    person.types("\x15");
    person.sees_prompt();
    person.sends("make it");
    person.sees("运行这条命令吗？");
    person.sees_choice("是，仅此一次");
    person.types("\r");
    person.sees("已运行 touch made.txt");
    person.sees("done");
    assert_eq!(person.leaves(), Some(0));
    assert!(
        std::fs::read_to_string(home.path().join("config/axi/config.toml"))
            .unwrap()
            .contains("language = \"zh-CN\"")
    );
    // And by the next start, until told otherwise.
    let mut person = Person::meets(&axi(&home, &server));
    person.sends("/language en");
    person.sees("Now speaking English.");
    person.sees_prompt();
    person.sends("/language klingon");
    person.sees("error: there is no language klingon; there are: ");
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn a_new_session_forgets_and_begins_another_file() {
    for line in ["/new", "/clear"] {
        let home = Home::new();
        let server = Server::start(["first answer", "second answer"].map(answer::chat_text));
        let mut person = Person::meets(&axi(&home, &server));
        person.sends("first");
        person.sees("first answer");
        person.sees_prompt();
        person.sends(line);
        person.sees("new session");
        person.sees_prompt();
        let cleared = person.pty.view(|view| !view.text().contains("first answer"));
        assert_eq!(cleared, line == "/clear");
        person.sends("second");
        person.sees("second answer");
        assert_eq!(roles(&server.requests()[1]), ["system", "user"]);
        assert_eq!(person.leaves(), Some(0));
        assert_eq!(session_files(&home).len(), 2);
    }
}

#[test]
fn looking_around_leaves_no_session() {
    let home = Home::new();
    let server = Server::start([]);
    let mut person = Person::meets(&axi(&home, &server));
    person.sends("/usage");
    person.sees("nothing used yet");
    assert_eq!(person.leaves(), Some(0));
    assert!(session_files(&home).is_empty());
}

#[test]
fn a_command_that_is_not_there_is_told_with_the_nearest_one() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("a path")]);
    let mut person = Person::meets(&axi(&home, &server));
    person.sends("/modle");
    person.sees("there is no command /modle; did you mean /model?");
    person.sees_prompt();
    person.sends("/xyzzyx");
    person.sees("there is no command /xyzzyx");
    person.sees_prompt();
    assert!(server.requests().is_empty());
    person.sends("/usr/bin/env is what?");
    person.sees("a path");
    assert_eq!(last_said(&server.requests()[0]), "/usr/bin/env is what?");
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn leaving_by_command_ends_with_0() {
    let home = Home::new();
    let server = Server::start([]);
    for line in ["/exit", "/quit"] {
        let mut person = Person::meets(&axi(&home, &server));
        person.sends(line);
        assert_eq!(person.pty.wait_exit().code(), Some(0));
    }
}

#[test]
fn the_last_message_is_sent_again_and_sessions_are_switched() {
    let home = Home::new();
    let server = Server::start(["one", "two", "three", "four"].map(answer::chat_text));
    let mut person = Person::meets(&axi(&home, &server));
    person.sends("first");
    person.sees("one");
    person.sees_prompt();
    person.sends("/retry");
    person.sees("two");
    person.sees_prompt();
    assert_eq!(last_said(&server.requests()[1]), "first");
    let id = session_files(&home).remove(0).file_stem().unwrap().to_str().unwrap().to_owned();
    person.sends("/new");
    person.sees("new session");
    person.sees_prompt();
    person.sends("other");
    person.sees("three");
    person.sees_prompt();
    person.sends(&format!("/session {id}"));
    person.sees("going on with “first”");
    person.sees_prompt();
    person.sends("last");
    person.sees("four");
    assert_eq!(roles(&server.requests()[3]).len(), 6);
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn a_shell_line_runs_with_the_terminal_and_asks_no_model() {
    let home = Home::new();
    let server = Server::start([]);
    let mut person = Person::meets(&axi(&home, &server));
    person.sends("!echo re''ady; read -r x; echo got $x; exit 3");
    person.sees("ready");
    person.types("words\r");
    person.sees("got words");
    person.sees("exit 3");
    person.sees_prompt();
    assert!(server.requests().is_empty());
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn a_mentioned_file_goes_with_the_message() {
    let home = Home::new();
    home.write("work/note.txt", "the word is plover\n");
    let server = Server::start([answer::chat_text("read it")]);
    let mut person = Person::meets(&axi(&home, &server));
    person.sends("what is in @note.txt ?");
    person.sees("attached note.txt · 1 line");
    person.sees("read it");
    assert!(last_said(&server.requests()[0]).contains("the word is plover"));
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn a_file_that_is_gone_when_the_line_is_sent_is_said_to_be() {
    let home = Home::new();
    // A name without a dot or a slash is known to be a file's only by having been picked.
    let paths = ["note.txt", "Makefile"].map(|name| home.write(&format!("work/{name}"), "the word is plover\n"));
    let server = Server::start([answer::chat_text("an answer")]);
    let mut person = Person::meets(&axi(&home, &server));
    for (typed, name, line) in
        [("see @no", "note.txt", "see @note.txt"), ("and @Ma", "Makefile", "see @note.txt and @Makefile")]
    {
        person.types(typed);
        person.sees(&format!("› {name}"));
        person.types("\t");
        person.waits(|view| view.text().contains(line) && !view.text().contains('›'), "the file taken");
    }
    for path in paths {
        std::fs::remove_file(path).unwrap();
    }
    person.types("\r");
    person.sees("not attached: note.txt");
    person.sees("not attached: Makefile");
    person.sees("an answer");
    let said = last_said(&server.requests()[0]);
    assert!(said.contains("<file path=\"note.txt\" error=\"not found\"/>"), "{said}");
    assert!(said.contains("<file path=\"Makefile\" error=\"not found\"/>"), "{said}");
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn why_a_file_or_a_session_is_not_there_is_said_in_the_persons_language() {
    let home = Home::new();
    std::fs::write(home.write("work/blob.bin", ""), b"\x7fELF\x02\x01\x01\0\0\0\0").unwrap();
    let server = Server::start([answer::chat_text("an answer")]);
    let mut command = axi(&home, &server);
    command.args(["--lang", "zh-CN"]);
    let mut person = Person::meets(&command);
    person.sends("/session delete nothing");
    person.sees("错误: 没有会话 nothing");
    person.sees_prompt();
    person.sends("what is @blob.bin ?");
    person.sees("未附上 blob.bin：是二进制文件");
    person.sees("an answer");
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn while_compact_asks_the_model_typing_is_shown_and_escape_gives_the_queued_line_back() {
    let home = Home::new();
    let gate = Gate::new();
    let long = "a word of an answer that is long ".repeat(200);
    let answers = (0..3).map(|number| answer::chat_text(&format!("{long} end{number}end")));
    let server = Server::start(answers);
    let mut person = Person::meets(&axi(&home, &server));
    for number in 0..3 {
        person.sends(&format!("question {number}"));
        person.sees(&format!("end{number}end"));
        person.sees_prompt();
    }
    server.push(answer::chat_text("a summary").gate_before(0, &gate));
    person.sends("/compact");
    gate.wait_reached();
    person.sees("esc");
    person.types("not yet");
    person.sees("› not yet");
    person.types("\r");
    person.sees("1 queued");
    person.types("\x1b");
    server.wait_closed(1);
    person.sees("1 queued message is back in the editor");
    person.sees_line("not yet");
    assert_eq!(server.requests().len(), 4);
}

#[test]
fn what_is_not_saved_can_be_exported_and_before_the_first_message_there_is_nothing() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("an answer")]);
    let mut command = axi(&home, &server);
    command.arg("--no-session");
    let mut person = Person::meets(&command);
    person.sends("/export");
    person.sees("there is nothing to export yet");
    person.sees_prompt();
    person.sends("a question");
    person.sees("an answer");
    person.sees_prompt();
    person.sends("/export md ~/out.txt");
    person.sees("written: ~/out.txt");
    let written = std::fs::read_to_string(home.path().join("out.txt")).unwrap();
    assert!(written.contains("a question") && written.contains("an answer"), "{written}");
    assert_eq!(person.leaves(), Some(0));
}
