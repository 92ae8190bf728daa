//! `axi acp` and clients that send nonsense, or are gone: the right error each, and axi ends by itself.

use serde_json::{Value, json};

use crate::support::editor::Editor;
use crate::support::home::Home;
use crate::support::server::{Answer, Gate, Server, answer};
use crate::support::talk::axi;

fn editor(home: &Home, server: &Server) -> Editor {
    Editor::meets(&mut axi(home, server))
}

#[test]
fn nonsense_is_answered_with_the_protocols_errors_and_the_connection_goes_on() {
    let (home, server) = (Home::new(), Server::start([]));
    let mut editor = Editor::start(&mut axi(&home, &server));
    let faults = |editor: &mut Editor, line: &str| {
        editor.writes(line);
        let answer = editor.waits("an error", |message| message.get("error").is_some());
        (answer["id"].clone(), answer["error"]["code"].as_i64().unwrap())
    };
    assert_eq!(faults(&mut editor, "{"), (Value::Null, -32700));
    assert_eq!(faults(&mut editor, "[]"), (Value::Null, -32600));
    assert_eq!(faults(&mut editor, r#"{"id":5,"method":7}"#), (json!(5), -32600));
    // Blank lines are nothing, and notifications nobody knows are passed over.
    editor.writes("");
    editor.tells("$/unknown", json!({}));
    let before = editor.error("session/new", json!({"cwd": home.work(), "mcpServers": []}));
    assert!(before.0 == -32600 && before.1.contains("initialize"), "{before:?}");
    assert_eq!(editor.error("initialize", json!({})).0, -32602);
    editor.ok("initialize", json!({"protocolVersion": 1}));
    assert_eq!(editor.error("session/fly", json!({})).0, -32601);
    let new = |cwd: Value, servers: Value| json!({"cwd": cwd, "mcpServers": servers});
    for wrong in [
        json!({}),
        new(json!(7), json!([])),
        new(json!("work"), json!([])),
        new(json!("/no/such/place"), json!([])),
        new(json!(home.work()), json!("x")),
    ] {
        assert_eq!(editor.error("session/new", wrong.clone()).0, -32602, "{wrong}");
    }
    let nobody = json!({"sessionId": "20200101-000000-00000000", "cwd": home.work(), "mcpServers": []});
    for method in ["session/load", "session/resume", "session/prompt", "session/close", "session/delete"] {
        assert_eq!(editor.error(method, nobody.clone()).0, -32002, "{method}");
    }
    assert_eq!(editor.error("session/list", json!({"cursor": "x"})).0, -32602);
    let session = editor.opens(&home.work());
    for wrong in [json!([]), json!("x"), json!([{"type": "audio", "data": "", "mimeType": "audio/wav"}])] {
        let prompt = json!({"sessionId": session, "prompt": wrong});
        assert_eq!(editor.error("session/prompt", prompt).0, -32602, "{wrong}");
    }
    assert!(editor.leaves().success());
}

#[test]
fn a_second_prompt_in_a_session_is_refused_while_the_first_is_answered() {
    let home = Home::new();
    let gate = Gate::new();
    let server = Server::start([answer::chat_text("alpha beta").gate_before(2, &gate)]);
    let mut editor = editor(&home, &server);
    let session = editor.opens(&home.work());
    let first = editor.prompts(&session, "one");
    let prompt = json!({"sessionId": session, "prompt": [{"type": "text", "text": "two"}]});
    let refused = editor.error("session/prompt", prompt);
    assert!(refused.0 == -32600 && refused.1.contains("being answered"), "{refused:?}");
    let again = json!({"sessionId": session, "cwd": home.work(), "mcpServers": []});
    assert_eq!(editor.error("session/load", again).0, -32600);
    gate.open();
    assert_eq!(editor.answer(first)["result"]["stopReason"], "end_turn");
    assert_eq!(editor.said("agent_message_chunk"), "alpha beta");
}

#[test]
fn a_client_that_is_gone_ends_the_turn_and_axi() {
    let home = Home::new();
    let gate = Gate::new();
    let server = Server::start([answer::chat_text("alpha beta").gate_before(2, &gate)]);
    let mut editor = editor(&home, &server);
    let session = editor.opens(&home.work());
    editor.prompts(&session, "one");
    server.wait_requests(1);
    assert!(editor.leaves().success());
    server.wait_closed(1);
    gate.open();
}

#[test]
fn a_client_that_is_gone_while_it_is_asked_has_not_agreed() {
    let home = Home::new();
    home.write("work/a.txt", "one\n");
    let edit = r#"{"path":"a.txt","old_string":"one","new_string":"two"}"#;
    let read = answer::chat_call("r", "read", r#"{"path":"a.txt"}"#);
    let server = Server::start([read, answer::chat_call("c", "edit", edit)]);
    let mut editor = editor(&home, &server);
    let session = editor.opens(&home.work());
    editor.prompts(&session, "change");
    editor.question();
    assert!(editor.leaves().success());
    assert_eq!(std::fs::read_to_string(home.work().join("a.txt")).unwrap(), "one\n");
}

#[test]
fn a_client_that_reads_no_more_ends_axi() {
    let (home, server) = (Home::new(), Server::start([answer::chat_text("alpha beta gamma")]));
    let mut editor = editor(&home, &server);
    let session = editor.opens(&home.work());
    // Its input stays open: what cannot be written is all that tells.
    editor.stops_reading();
    editor.prompts(&session, "one");
    assert!(editor.ends().success());
}

#[test]
fn a_signal_stops_the_turn_keeps_it_and_ends_axi() {
    let home = Home::new();
    let gate = Gate::new();
    let server = Server::start([answer::chat_text("alpha beta gamma").gate_before(3, &gate)]);
    let mut editor = editor(&home, &server);
    let session = editor.opens(&home.work());
    editor.prompts(&session, "count");
    editor.waits("beta", |message| message["params"]["update"]["content"]["text"] == "beta ");
    let id = rustix::process::Pid::from_raw(i32::try_from(editor.id()).unwrap()).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    assert_eq!(editor.ends().code(), Some(128 + 15));
    let kept = std::fs::read_to_string(crate::support::talk::session_files(&home).remove(0)).unwrap();
    assert!(kept.contains("alpha beta"), "{kept}");
}

#[test]
fn without_a_model_the_client_is_told_to_log_in() {
    let home = Home::new();
    let mut editor = Editor::meets(&mut home.axi());
    let new = json!({"cwd": home.work(), "mcpServers": []});
    let refused = editor.error("session/new", new);
    assert!(refused.0 == -32000 && refused.1.contains("model"), "{refused:?}");
    assert_eq!(editor.error("authenticate", json!({"methodId": "keys"})).0, -32000);
    assert!(editor.leaves().success());
}

#[test]
fn a_provider_that_fails_is_an_error_of_the_prompt_and_no_key_is_in_it() {
    let home = Home::new();
    let error = json!({"error": {"message": "Incorrect API key", "type": "invalid_request_error"}});
    let server = Server::start([Answer::json(401, &error)]);
    let mut editor = editor(&home, &server);
    let session = editor.opens(&home.work());
    let prompt = json!({"sessionId": session, "prompt": [{"type": "text", "text": "hello"}]});
    let refused = editor.error("session/prompt", prompt);
    assert!(refused.0 == -32000 && !refused.1.contains(crate::support::talk::KEY), "{refused:?}");
    server.push(answer::chat_text("Hello."));
    assert_eq!(editor.prompted(&session, "again"), "end_turn");
}

#[test]
fn servers_of_the_editor_are_started_and_their_tools_are_asked_about() {
    let home = Home::new();
    let lab = home.write("lab.sh", LAB);
    let call = answer::chat_call("call_1", "my-lab__echo", "{}");
    let server = Server::start([call, answer::chat_text("done")]);
    let mut editor = editor(&home, &server);
    let handed = |command: &str| {
        let env = json!([{"name": "WORD", "value": "plover"}]);
        json!([{"name": "my lab", "command": command, "args": [lab], "env": env}])
    };
    let new = json!({"cwd": home.work(), "mcpServers": handed("sh")});
    let session = editor.ok("session/new", new)["sessionId"].as_str().unwrap().to_owned();
    let prompt = editor.prompts(&session, "hi");
    let question = editor.question();
    editor.chooses(&question, "once");
    assert_eq!(editor.answer(prompt)["result"]["stopReason"], "end_turn");
    assert_eq!(crate::support::talk::last_said(&server.requests()[1]), "plover");
    // One that does not start holds nothing up.
    server.push(answer::chat_text("without"));
    let new = json!({"cwd": home.work(), "mcpServers": handed("/no/such/program")});
    let session = editor.ok("session/new", new)["sessionId"].as_str().unwrap().to_owned();
    assert_eq!(editor.prompted(&session, "hi"), "end_turn");
    assert!(editor.leaves().success());
}

/// A server of MCP with one tool, which says `$WORD`.
const LAB: &str = r#"
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
while read -r line; do
  id=$(printf %s "$line" | sed -n 's/^{"jsonrpc":"2.0","id":\([0-9]*\),.*/\1/p')
  case $line in
    *'"method":"initialize"'*) answer '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"lab","version":"1"}}' ;;
    *'"method":"tools/list"'*) answer '{"tools":[{"name":"echo"}]}' ;;
    *'"method":"tools/call"'*) answer "{\"content\":[{\"type\":\"text\",\"text\":\"$WORD\"}]}" ;;
  esac
done
"#;
