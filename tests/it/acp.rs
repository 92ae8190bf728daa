//! `axi acp` as an editor sees it: sessions, prompts, calls, questions, modes, models.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::editor::Editor;
use crate::support::home::Home;
use crate::support::server::{Gate, Server, answer};
use crate::support::talk::{KEY, axi, last_said, said, session_files};

/// An editor at axi, which asks this server.
fn editor(home: &Home, server: &Server) -> Editor {
    Editor::meets(&mut axi(home, server))
}

fn ids(list: &Value, name: &str) -> Vec<String> {
    list.as_array().unwrap().iter().map(|row| row[name].as_str().unwrap().to_owned()).collect()
}

#[test]
fn it_begins_by_saying_what_it_can() {
    let (home, server) = (Home::new(), Server::start([]));
    let mut editor = Editor::start(&mut axi(&home, &server));
    let result =
        editor.ok("initialize", json!({"protocolVersion": 9, "clientCapabilities": {"auth": {"terminal": true}}}));
    assert_eq!(result["protocolVersion"], 1);
    assert_eq!(result["agentInfo"]["name"], "axi");
    let expected = json!({
        "loadSession": true,
        "promptCapabilities": {"image": true, "audio": false, "embeddedContext": true},
        "mcpCapabilities": {"http": true, "sse": false},
        "sessionCapabilities": {"list": {}, "delete": {}, "resume": {}, "close": {}},
    });
    assert_eq!(result["agentCapabilities"], expected);
    let ways = result["authMethods"].as_array().unwrap();
    assert_eq!(ids(&result["authMethods"], "id"), ["keys", "login"]);
    assert_eq!((&ways[1]["type"], &ways[1]["args"]), (&json!("terminal"), &json!(["--login"])));
    assert_eq!(editor.ok("authenticate", json!({"methodId": "keys"})), json!({}));
    // What needs a terminal is not offered to who has none.
    let mut plain = Editor::start(&mut axi(&home, &server));
    assert_eq!(ids(&plain.ok("initialize", json!({"protocolVersion": 1}))["authMethods"], "id"), ["keys"]);
    assert!(plain.leaves().success());
}

#[test]
fn a_prompt_is_answered_in_chunks_and_ends() {
    let (home, server) = (Home::new(), Server::start([answer::chat_text("It is a plover.")]));
    let mut editor = editor(&home, &server);
    let session = editor.opens(&home.work());
    assert_eq!(editor.prompted(&session, "which bird?"), "end_turn");
    let chunks = editor.updates("agent_message_chunk");
    let texts: Vec<_> = chunks.iter().map(|chunk| chunk["content"]["text"].as_str().unwrap()).collect();
    assert!(texts.len() > 1 && texts.concat() == "It is a plover.", "{texts:?}");
    assert!(chunks.iter().all(|chunk| chunk["messageId"] == chunks[0]["messageId"]), "{chunks:?}");
    assert_eq!(said(&server.requests()[0], 1), "which bird?");
    let about = editor.update("session_info_update");
    assert_eq!(about["title"], "which bird?");
    // One file, of the id the editor knows, as any session is kept.
    let files = session_files(&home);
    assert!(files.len() == 1 && files[0].to_string_lossy().contains(&session), "{files:?}");
    assert!(editor.leaves().success());
}

#[test]
fn a_call_is_told_from_its_request_to_its_result() {
    let home = Home::new();
    home.write("work/note.txt", "plover\n");
    let server =
        Server::start([answer::chat_call("c", "read", r#"{"path":"note.txt"}"#), answer::chat_text("A plover.")]);
    let mut editor = editor(&home, &server);
    let session = editor.opens(&home.work());
    assert_eq!(editor.prompted(&session, "which?"), "end_turn");
    let call = editor.update("tool_call");
    let path = home.work().join("note.txt");
    assert_eq!((&call["kind"], &call["status"]), (&json!("read"), &json!("pending")));
    assert_eq!(call["locations"], json!([{"path": path}]));
    assert!(call["title"].as_str().unwrap().contains("note.txt"), "{call}");
    let updates = editor.updates("tool_call_update");
    let states: Vec<_> = updates.iter().filter_map(|update| update["status"].as_str()).collect();
    assert_eq!(states, ["in_progress", "completed"]);
    assert!(updates.iter().all(|update| update["toolCallId"] == call["toolCallId"]));
    assert!(updates[1]["content"][0]["content"]["text"].as_str().unwrap().contains("plover"));
}

/// A change the model wants to make.
fn change(home: &Home) -> Server {
    home.write("work/a.txt", "one\ntwo\n");
    Server::start([
        answer::chat_call("r", "read", r#"{"path":"a.txt"}"#),
        answer::chat_call("c", "edit", r#"{"path":"a.txt","old_string":"two","new_string":"three"}"#),
        answer::chat_text("Done."),
    ])
}

fn content(home: &Home) -> String {
    std::fs::read_to_string(home.path().join("work/a.txt")).unwrap()
}

fn options(question: &Value) -> Vec<String> {
    ids(&question["params"]["options"], "optionId")
}

#[test]
fn a_change_is_asked_with_its_diff_and_made_after_a_yes() {
    let home = Home::new();
    let server = change(&home);
    let mut editor = editor(&home, &server);
    let session = editor.opens(&home.work());
    let prompt = editor.prompts(&session, "change it");
    let question = editor.question();
    let call = &question["params"]["toolCall"];
    let path = home.work().join("a.txt");
    let diff = json!({"type": "diff", "path": path, "oldText": "one\ntwo\n", "newText": "one\nthree\n"});
    assert_eq!(call["content"][0], diff);
    assert_eq!(call["locations"], json!([{"path": path, "line": 2}]));
    assert_eq!(call["kind"], "edit");
    let kinds = ids(&question["params"]["options"], "kind");
    assert!(options(&question).contains(&"once".to_owned()), "{question}");
    assert!(kinds.contains(&"allow_once".to_owned()) && kinds.contains(&"reject_once".to_owned()), "{kinds:?}");
    assert_eq!(content(&home), "one\ntwo\n", "nothing is done before the answer");
    editor.chooses(&question, "once");
    assert_eq!(editor.answer(prompt)["result"]["stopReason"], "end_turn");
    assert_eq!(content(&home), "one\nthree\n");
    let done = editor.updates("tool_call_update").pop().unwrap();
    assert_eq!((&done["status"], &done["content"]), (&json!("completed"), &json!([diff])));
}

#[test]
fn a_no_an_unknown_option_and_a_client_that_cannot_ask_change_nothing() {
    for (reply, stop) in [
        (json!({"outcome": {"outcome": "selected", "optionId": "no"}}), "end_turn"),
        (json!({"outcome": {"outcome": "selected", "optionId": "yes-to-all"}}), "end_turn"),
        (json!({"outcome": "selected"}), "end_turn"),
        (json!(null), "end_turn"),
        (json!({"outcome": {"outcome": "cancelled"}}), "cancelled"),
    ] {
        let home = Home::new();
        let server = change(&home);
        let mut editor = editor(&home, &server);
        let session = editor.opens(&home.work());
        let prompt = editor.prompts(&session, "change it");
        let question = editor.question();
        editor.answers(&question, reply.clone());
        assert_eq!(editor.answer(prompt)["result"]["stopReason"], stop, "{reply}");
        assert_eq!(content(&home), "one\ntwo\n", "{reply}");
        let last = editor.updates("tool_call_update").pop().unwrap();
        assert_eq!(last["status"], "failed");
    }
    // The method itself is refused.
    let home = Home::new();
    let server = change(&home);
    let mut editor = editor(&home, &server);
    let session = editor.opens(&home.work());
    let prompt = editor.prompts(&session, "change it");
    let question = editor.question();
    let error = json!({"jsonrpc": "2.0", "id": question["id"], "error": {"code": -32601, "message": "no"}});
    editor.writes(&error.to_string());
    assert_eq!(editor.answer(prompt)["result"]["stopReason"], "end_turn");
    assert_eq!(content(&home), "one\ntwo\n");
    assert!(editor.said("agent_message_chunk").contains("edit"));
}

#[test]
fn what_leaves_the_machine_is_asked_with_the_no_first_and_no_rule_for_ever() {
    let home = Home::new();
    let server =
        Server::start([answer::chat_call("c", "shell", r#"{"command":"rm -rf ~"}"#), answer::chat_text("Fine.")]);
    let mut editor = editor(&home, &server);
    let session = editor.opens(&home.work());
    let prompt = editor.prompts(&session, "clean up");
    let question = editor.question();
    assert_eq!(options(&question), ["no", "once"]);
    let told = question["params"]["toolCall"]["content"].to_string();
    assert!(told.contains("rm -rf ~") && told.contains("! "), "{told}");
    editor.chooses(&question, "always");
    assert_eq!(editor.answer(prompt)["result"]["stopReason"], "end_turn");
    assert!(home.work().exists(), "an option that was not offered is no yes");
}

#[test]
fn a_rule_is_kept_when_the_person_chooses_always() {
    let home = Home::new();
    let run =
        |word: &str| answer::chat_call("c", "shell", &json!({"command": format!("touch {word}")}).to_string());
    let server = Server::start([run("a"), run("b"), answer::chat_text("Done.")]);
    let mut editor = editor(&home, &server);
    let session = editor.opens(&home.work());
    let prompt = editor.prompts(&session, "touch");
    let question = editor.question();
    let listed = question["params"]["options"].as_array().unwrap();
    let Some(always) = listed.iter().find(|option| option["optionId"] == "always") else {
        // Where no rule is narrow enough none is offered, and the session's is asked for.
        editor.chooses(&question, "session");
        let second = editor.waits("end or question", |message| {
            message["id"] == prompt || message["method"] == "session/request_permission"
        });
        return assert!(second["method"].is_null() || options(&second).contains(&"session".to_owned()));
    };
    assert!(always["name"].as_str().unwrap().contains("touch"), "the rule stands in the option: {always}");
    editor.chooses(&question, "always");
    assert_eq!(editor.answer(prompt)["result"]["stopReason"], "end_turn");
    let settings = std::fs::read_to_string(home.path().join("config/axi/config.toml")).unwrap();
    assert!(settings.contains("touch"), "{settings}");
}

#[test]
fn a_stop_in_the_answer_is_dead_and_the_session_goes_on() {
    let home = Home::new();
    let gate = Gate::new();
    let server = Server::start([answer::chat_text("alpha beta gamma delta").gate_before(3, &gate)]);
    let mut editor = editor(&home, &server);
    let session = editor.opens(&home.work());
    let prompt = editor.prompts(&session, "count");
    editor.waits("beta", |message| message["params"]["update"]["content"]["text"] == "beta ");
    editor.tells("session/cancel", json!({"sessionId": session}));
    assert_eq!(editor.answer(prompt)["result"]["stopReason"], "cancelled");
    server.wait_closed(1);
    gate.open();
    server.push(answer::chat_text("Again."));
    assert_eq!(editor.prompted(&session, "go on"), "end_turn");
    assert!(editor.said("agent_message_chunk").ends_with("Again."));
}

#[test]
fn a_stop_ends_a_question_and_a_command() {
    let home = Home::new();
    let server = change(&home);
    let mut editor = editor(&home, &server);
    let session = editor.opens(&home.work());
    let prompt = editor.prompts(&session, "change it");
    let question = editor.question();
    editor.tells("session/cancel", json!({"sessionId": session}));
    assert_eq!(editor.answer(prompt)["result"]["stopReason"], "cancelled");
    // A yes that comes after the stop is too late.
    editor.chooses(&question, "once");
    assert_eq!(editor.ok("session/list", json!({}))["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(content(&home), "one\ntwo\n");
    drop(server);

    let home = Home::new();
    let server = Server::start([answer::chat_call("c", "shell", r#"{"command":"sleep 600"}"#)]);
    let mut command = axi(&home, &server);
    home.write("config/axi/config.toml", "[permissions]\nallow = [\"shell(sleep:*)\"]\n");
    let mut editor = Editor::meets(&mut command);
    let session = editor.opens(&home.work());
    let prompt = editor.prompts(&session, "sleep");
    editor.waits("the command runs", |message| message["params"]["update"]["status"] == "in_progress");
    // The other way to stop: the request itself.
    editor.tells("$/cancel_request", json!({"requestId": prompt}));
    assert_eq!(editor.answer(prompt)["result"]["stopReason"], "cancelled");
}

#[test]
fn a_plan_is_told_as_a_plan() {
    let home = Home::new();
    let todos =
        json!({"todos": [{"text": "look", "status": "completed"}, {"text": "build", "status": "in_progress"}]});
    let server = Server::start([answer::chat_call("c", "todo", &todos.to_string()), answer::chat_text("Done.")]);
    let mut editor = editor(&home, &server);
    let session = editor.opens(&home.work());
    assert_eq!(editor.prompted(&session, "plan"), "end_turn");
    let step = |content: &str, status: &str| json!({"content": content, "priority": "medium", "status": status});
    let expected = json!([step("look", "completed"), step("build", "in_progress")]);
    assert_eq!(editor.update("plan")["entries"], expected);
}

#[test]
fn files_links_and_pictures_of_a_prompt_reach_the_model() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("Seen.")]);
    let mut editor = editor(&home, &server);
    let session = editor.opens(&home.work());
    let file = format!("file://{}/open.rs", home.work().display());
    let prompt = json!([
        {"type": "text", "text": "Compare "},
        {"type": "resource_link", "uri": format!("file://{}/a.rs", home.work().display()), "name": "a.rs"},
        {"type": "resource", "resource": {"uri": file, "text": "fn unsaved() {}\n"}},
    ]);
    let done = editor.ok("session/prompt", json!({"sessionId": session, "prompt": prompt}));
    assert_eq!(done["stopReason"], "end_turn");
    let said = last_said(&server.requests()[0]);
    assert!(said.starts_with("Compare a.rs"), "{said}");
    assert!(said.contains("<file path=\"open.rs\">\nfn unsaved() {}\n</file>"), "{said}");
}

#[test]
fn a_session_is_listed_loaded_with_what_was_said_and_gone_on_with() {
    let home = Home::new();
    home.write("work/note.txt", "plover\n");
    let server = Server::start([
        answer::chat_call("c", "read", r#"{"path":"note.txt"}"#),
        answer::chat_text("It is a plover."),
    ]);
    let mut first = editor(&home, &server);
    let session = first.opens(&home.work());
    assert_eq!(first.prompted(&session, "which bird?"), "end_turn");
    assert!(first.leaves().success());

    let mut second = editor(&home, &server);
    let here = second.ok("session/list", json!({"cwd": home.work()}));
    assert_eq!(ids(&here["sessions"], "sessionId"), std::slice::from_ref(&session));
    assert_eq!(here["sessions"][0]["title"], "which bird?");
    let elsewhere = second.ok("session/list", json!({"cwd": "/nowhere"}));
    assert_eq!(elsewhere["sessions"], json!([]));
    let loaded = second.ok("session/load", json!({"sessionId": session, "cwd": home.work(), "mcpServers": []}));
    assert_eq!(loaded["modes"]["currentModeId"], "ask");
    assert_eq!(second.said("user_message_chunk"), "which bird?");
    assert_eq!(second.said("agent_message_chunk"), "It is a plover.");
    let call = second.update("tool_call");
    assert_eq!(call["kind"], "read");
    assert_eq!(second.update("tool_call_update")["status"], "completed");
    server.push(answer::chat_text("Yes."));
    assert_eq!(second.prompted(&session, "sure?"), "end_turn");
    let request = server.requests().pop().unwrap();
    assert_eq!(said(&request, 1), "which bird?");
    // Closed and taken up again without being told again.
    assert_eq!(second.ok("session/close", json!({"sessionId": session})), json!({}));
    assert_eq!(second.error("session/prompt", json!({"sessionId": session, "prompt": []})).0, -32002);
    drop(second.updates("user_message_chunk"));
    second.ok("session/resume", json!({"sessionId": session, "cwd": home.work(), "mcpServers": []}));
    assert_eq!(second.said("user_message_chunk"), "");
    assert_eq!(session_files(&home).len(), 1, "it is still the same session");
    assert_eq!(second.ok("session/delete", json!({"sessionId": session})), json!({}));
    assert_eq!(session_files(&home), Vec::<std::path::PathBuf>::new());
}

#[test]
fn modes_models_and_effort_are_the_editors_to_choose() {
    let home = Home::new();
    let server = change(&home);
    let mut editor = editor(&home, &server);
    let opened = editor.ok("session/new", json!({"cwd": home.work(), "mcpServers": []}));
    let session = opened["sessionId"].as_str().unwrap().to_owned();
    assert_eq!(ids(&opened["modes"]["availableModes"], "id"), ["ask", "accept-edits", "plan"]);
    assert_eq!(ids(&opened["configOptions"], "id"), ["mode", "model", "effort"]);
    assert_eq!(opened["configOptions"][1]["currentValue"], "openai/any");
    let set = |id: &str, value: &str| json!({"sessionId": session, "configId": id, "value": value});
    editor.ok("session/set_mode", json!({"sessionId": session, "modeId": "accept-edits"}));
    editor.waits("the mode", |message| message["params"]["update"]["currentModeId"] == "accept-edits");
    // Edits are accepted: nothing is asked.
    assert_eq!(editor.prompted(&session, "change it"), "end_turn");
    assert_eq!(content(&home), "one\nthree\n");
    // While it plans nothing can be changed.
    let options = editor.ok("session/set_config_option", set("mode", "plan"));
    assert_eq!(options["configOptions"][0]["currentValue"], "plan");
    server.push(answer::chat_call("c", "edit", r#"{"path":"a.txt","old_string":"three","new_string":"four"}"#));
    server.push(answer::chat_text("I may not."));
    assert_eq!(editor.prompted(&session, "change it"), "end_turn");
    assert_eq!(content(&home), "one\nthree\n");
    let options = editor.ok("session/set_config_option", set("model", "openai/other"));
    assert_eq!(options["configOptions"][1]["currentValue"], "openai/other");
    server.push(answer::chat_text("Hello."));
    assert_eq!(editor.prompted(&session, "hello"), "end_turn");
    assert_eq!(server.requests().pop().unwrap().body["model"], "other");
    for (id, value) in [("mode", "wild"), ("model", "nobody/x"), ("effort", "huge"), ("colour", "red")] {
        assert_eq!(editor.error("session/set_config_option", set(id, value)).0, -32602, "{id}");
    }
    assert_eq!(editor.error("session/set_mode", json!({"sessionId": session, "modeId": "wild"})).0, -32602);
    let effort = editor.ok("session/set_config_option", set("effort", "low"));
    assert_eq!(effort["configOptions"][2]["currentValue"], "low");
}

#[test]
fn commands_are_offered_and_answered_without_the_model() {
    let home = Home::new();
    home.write("config/axi/commands/greet.md", "---\ndescription: Says hello\n---\nGreet $ARGUMENTS warmly.\n");
    let server = Server::start([]);
    let mut editor = editor(&home, &server);
    let session = editor.opens(&home.work());
    let commands = ids(&editor.update("available_commands_update")["availableCommands"], "name");
    assert!(
        ["plan", "usage", "undo", "greet"].iter().all(|name| commands.contains(&(*name).to_owned())),
        "{commands:?}"
    );
    assert!(!commands.contains(&"theme".to_owned()));
    assert_eq!(editor.prompted(&session, "/agent plan"), "end_turn");
    assert!(editor.said("agent_message_chunk").contains("plan"));
    editor.waits("the mode", |message| message["params"]["update"]["currentModeId"] == "plan");
    assert_eq!(editor.prompted(&session, "/theme"), "end_turn");
    assert!(editor.said("agent_message_chunk").contains("/theme"));
    assert_eq!(server.requests().len(), 0, "the model is not asked");
    server.push(answer::chat_text("Hello!"));
    assert_eq!(editor.prompted(&session, "/greet Ada"), "end_turn");
    assert_eq!(last_said(&server.requests()[0]), "Greet Ada warmly.");
}

#[test]
fn a_question_of_the_model_is_a_form_for_who_has_forms() {
    let home = Home::new();
    let ask = r#"{"question":"Which?","choices":["red","blue"]}"#;
    let server = Server::start([answer::chat_call("c", "ask_user", ask), answer::chat_text("Blue it is.")]);
    let mut editor = editor(&home, &server);
    let session = editor.opens(&home.work());
    let prompt = editor.prompts(&session, "paint");
    let form = editor.waits("a form", |message| message["method"] == "elicitation/create");
    assert_eq!(form["params"]["requestedSchema"]["properties"]["choice"]["enum"], json!(["red", "blue"]));
    editor.answers(&form, json!({"action": "accept", "content": {"choice": "blue"}}));
    assert_eq!(editor.answer(prompt)["result"]["stopReason"], "end_turn");
    assert!(last_said(&server.requests()[1]).contains("The user chose: blue"));
}

#[test]
fn two_sessions_work_side_by_side_each_in_its_own_directory() {
    let home = Home::new();
    for name in ["one", "two"] {
        home.write(&format!("{name}/a.txt"), "one\ntwo\n");
    }
    let read = || answer::chat_call("r", "read", r#"{"path":"a.txt"}"#);
    let edit = || answer::chat_call("c", "edit", r#"{"path":"a.txt","old_string":"two","new_string":"three"}"#);
    let server = Server::start([read(), edit(), read(), edit(), answer::chat_text("Done.")]);
    let mut editor = editor(&home, &server);
    let open = |editor: &mut Editor, name: &str| editor.opens(&home.path().join(name));
    let (one, two) = (open(&mut editor, "one"), open(&mut editor, "two"));
    let first = editor.prompts(&one, "change it");
    let question = editor.question();
    // One waits for its person; the other is not held up by it.
    let second = editor.prompts(&two, "change it");
    let other = editor.question();
    assert_eq!((&question["params"]["sessionId"], &other["params"]["sessionId"]), (&json!(one), &json!(two)));
    editor.chooses(&other, "once");
    assert_eq!(editor.answer(second)["result"]["stopReason"], "end_turn");
    let read = |name: &str| std::fs::read_to_string(home.path().join(name).join("a.txt")).unwrap();
    assert_eq!((read("one").as_str(), read("two").as_str()), ("one\ntwo\n", "one\nthree\n"));
    editor.tells("session/cancel", json!({"sessionId": one}));
    assert_eq!(editor.answer(first)["result"]["stopReason"], "cancelled");
    assert_eq!(read("one"), "one\ntwo\n");
}

#[test]
fn a_secret_stays_out_of_the_files_of_a_session() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("Noted.")]);
    let mut editor = editor(&home, &server);
    let session = editor.opens(&home.work());
    assert_eq!(editor.prompted(&session, &format!("my key is {KEY}")), "end_turn");
    assert!(editor.leaves().success());
    let has_key =
        |path: &Path| std::fs::read(path).unwrap().windows(KEY.len()).any(|bytes| bytes == KEY.as_bytes());
    let mut folders = vec![home.path().join("state"), home.path().join("cache")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                assert!(!has_key(&path), "{}", path.display());
            }
        }
    }
}
