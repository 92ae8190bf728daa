//! Real programs as servers: a few lines of sh, good and bad ones.

use std::path::Path;

use serde_json::json;
use tokio::sync::mpsc;

use super::*;
use crate::mcp::Part;
use crate::mcp::definition::Way;
use crate::mcp::sign_in::NoTokens;
use crate::mcp::state::ServerState;

/// A server whose answer to a call is what `on_call` prints; `$id` is the request's number.
fn script(on_call: &str) -> String {
    format!(
        r#"
answer() {{ printf '{{"jsonrpc":"2.0","id":%s,"result":%s}}\n' "$id" "$1"; }}
text() {{ answer "{{\"content\":[{{\"type\":\"text\",\"text\":\"$1\"}}]}}"; }}
tools='{{"name":"echo","description":"Says it again.","inputSchema":{{"type":"object"}},"annotations":{{"readOnlyHint":true}}}}'
echo started >>starts
while read -r line; do
  id=$(printf %s "$line" | sed -n 's/^{{"jsonrpc":"2.0","id":\([0-9]*\),.*/\1/p')
  case $line in
    *'"method":"initialize"'*) answer '{{"protocolVersion":"2025-06-18","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"lab","version":"1"}}}}' ;;
    *'"method":"tools/list"'*) answer "{{\"tools\":[$tools]}}" ;;
    *'"method":"tools/call"'*)
      {on_call} ;;
    *notifications/cancelled*) echo cancelled >>told ;;
  esac
done
"#
    )
}

struct Lab {
    folder: tempfile::TempDir,
    script: String,
}

impl Lab {
    fn new(script: impl Into<String>) -> Self {
        Self { folder: tempfile::tempdir().unwrap(), script: script.into() }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn servers(&self) -> Servers {
        self.servers_within(Duration::from_secs(20))
    }

    fn servers_within(&self, start: Duration) -> Servers {
        let args = vec!["-c".to_owned(), self.script.clone()];
        let way =
            Way::Process { command: "sh".to_owned(), args, env: [("MODE".into(), "${MODE:-x}".into())].into() };
        let setup = Setup {
            cache: Some(self.path().join("cache")),
            helper: None,
            directory: self.path().to_owned(),
            tokens: Arc::new(NoTokens),
            client: Arc::new(|_| Err("none".to_owned())),
            variable: Box::new(|_, _| None),
            withheld: Box::new(|_| vec!["HOME".to_owned()]),
        };
        Servers::new(vec![(Definition { start, ..Definition::own("lab", way) }, true)], setup)
    }

    fn lines(&self, file: &str) -> usize {
        std::fs::read_to_string(self.path().join(file)).unwrap_or_default().lines().count()
    }
}

fn call() -> (Call, mpsc::Receiver<String>, mpsc::Receiver<crate::mcp::Asking>) {
    let (progress, lines) = mpsc::channel(8);
    let (asks, asked) = mpsc::channel(1);
    (Call { tool: "echo".to_owned(), arguments: json!({"a": 1}), progress, asks }, lines, asked)
}

async fn called(servers: &Servers) -> Result<Answer, Failure> {
    let (call, _lines, _asked) = call();
    servers.call("lab", call).await
}

fn text(text: &str) -> Answer {
    Answer { parts: vec![Part::Text(text.to_owned())], failed: false }
}

#[tokio::test]
async fn a_server_whose_tools_are_known_starts_with_its_first_call() {
    let lab = Lab::new(script("text fine"));
    let servers = lab.servers();
    servers.begin();
    servers.settled().await;
    assert_eq!(servers.offered()[0].tool.name, "echo");
    assert_eq!(servers.reports()[0].state, ServerState::Running);
    drop(servers);
    assert_eq!(lab.lines("starts"), 1);
    let again = lab.servers();
    again.begin();
    again.settled().await;
    assert_eq!((again.offered().len(), lab.lines("starts")), (1, 1));
    assert_eq!(again.reports()[0].state, ServerState::Known);
    assert_eq!(called(&again).await, Ok(text("fine")));
    assert_eq!(called(&again).await, Ok(text("fine")));
    assert_eq!((again.reports()[0].state, lab.lines("starts")), (ServerState::Running, 2));
    assert_eq!(again.troubles(), []);
}

#[tokio::test]
async fn a_server_that_says_nothing_is_named_once_and_skipped() {
    let lab = Lab::new("sleep 1000");
    let servers = lab.servers_within(Duration::from_millis(200));
    servers.begin();
    servers.settled().await;
    let failure = Failure::Slow { seconds: 0 };
    assert_eq!(servers.troubles(), [Trouble { server: "lab".into(), failure: failure.clone() }]);
    assert_eq!((servers.troubles(), servers.offered()), (vec![], vec![]));
    // It is not started again by every turn.
    servers.begin();
    assert_eq!(servers.reports()[0].state, ServerState::Failed);
}

#[tokio::test]
async fn what_cannot_be_started_says_why() {
    for (script, wanted) in [("echo 'no such file: a.db' >&2; exit 3", "no such file: a.db"), ("exit 4", "")] {
        let lab = Lab::new(script);
        let servers = lab.servers();
        servers.begin();
        servers.settled().await;
        let troubles = servers.troubles();
        let [Trouble { failure: Failure::Ended { code: Some(_), said }, .. }] = troubles.as_slice() else {
            panic!("{troubles:?}")
        };
        assert_eq!(said, wanted);
    }
}

#[tokio::test]
async fn one_that_dies_in_a_call_is_started_again_by_the_next_and_then_left_alone() {
    let lab = Lab::new(script("exit 7"));
    let servers = lab.servers();
    let ended = Err(Failure::Ended { code: Some(7), said: String::new() });
    assert_eq!(called(&servers).await, ended);
    assert_eq!(called(&servers).await, ended);
    assert_eq!(lab.lines("starts"), 2);
    assert!(matches!(called(&servers).await, Err(Failure::Resting { times: 2, .. })));
    assert_eq!(lab.lines("starts"), 2);
}

#[tokio::test]
async fn noise_between_messages_is_passed_over() {
    let lab = Lab::new(script("echo 'listening ...'; echo '{\"level\":\"info\"}'; echo '{'; text fine"));
    assert_eq!(called(&lab.servers()).await, Ok(text("fine")));
}

#[tokio::test]
async fn noise_without_end_ends_the_server() {
    let lab = Lab::new(script("while :; do echo 'noise noise noise noise noise noise noise noise'; done"));
    assert_eq!(called(&lab.servers()).await, Err(Failure::NotMcp));
}

#[tokio::test]
async fn an_answer_of_fifty_megabytes_is_thrown_away_and_the_server_goes_on() {
    let big = "if [ -e big ]; then text fine; else touch big; head -c 52428800 /dev/zero | tr '\\0' x; echo; fi";
    let lab = Lab::new(script(big));
    let servers = lab.servers();
    assert_eq!(called(&servers).await, Err(Failure::TooLarge { megabytes: 16 }));
    assert_eq!(called(&servers).await, Ok(text("fine")));
    assert_eq!(lab.lines("starts"), 1);
}

#[tokio::test]
async fn a_changed_list_of_tools_is_followed() {
    let changes = "tools=\"$tools,{\\\"name\\\":\\\"new\\\"}\"; \
                   echo '{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}'; text fine";
    let lab = Lab::new(script(changes));
    let servers = lab.servers();
    assert_eq!(called(&servers).await, Ok(text("fine")));
    let mut versions = servers.inner.version.subscribe();
    while servers.offered().len() < 2 {
        versions.changed().await.unwrap();
    }
    assert_eq!(servers.offered()[1].tool.name, "new");
}

#[tokio::test]
async fn a_call_nobody_waits_for_is_cancelled_at_the_server() {
    let once = "if [ -e told ]; then text fine; else \
                echo '{\"method\":\"notifications/progress\",\"params\":{\"progressToken\":'$id',\"progress\":1}}'; fi";
    let lab = Lab::new(script(once));
    let servers = lab.servers();
    let (call, mut lines, _asked) = call();
    {
        let mut calling = std::pin::pin!(servers.call("lab", call));
        tokio::select! {
            result = &mut calling => panic!("{result:?}"),
            line = lines.recv() => assert_eq!(line.as_deref(), Some("1")),
        }
    }
    // Before it reads of the next call it has read the cancellation.
    assert_eq!(called(&servers).await, Ok(text("fine")));
    assert_eq!(lab.lines("told"), 1);
}

#[tokio::test]
async fn a_server_asks_the_person_and_goes_on_with_the_answer() {
    let asks = r#"echo '{"jsonrpc":"2.0","id":"q1","method":"elicitation/create","params":{"message":"who?"}}'
      read -r said; case $said in *'"id":"q1"'*'"name":"me"'*) text fine ;; *) text "$id" ;; esac"#;
    let lab = Lab::new(script(asks));
    let servers = lab.servers();
    let (call, _lines, mut asked) = call();
    let person = async {
        let asking = asked.recv().await.unwrap();
        assert_eq!(asking.params["message"], "who?");
        asking.reply.send(json!({"action": "accept", "content": {"name": "me"}})).unwrap();
    };
    let (answer, ()) = tokio::join!(servers.call("lab", call), person);
    assert_eq!(answer, Ok(text("fine")));
}

#[tokio::test]
async fn what_is_switched_off_does_not_run() {
    let lab = Lab::new(script("text fine"));
    let servers = lab.servers();
    assert_eq!(called(&servers).await, Ok(text("fine")));
    assert!(servers.switch("lab", false) && !servers.switch("other", false));
    assert_eq!((called(&servers).await, servers.offered()), (Err(Failure::Off), vec![]));
    servers.switch("lab", true);
    assert_eq!(called(&servers).await, Ok(text("fine")));
    assert_eq!(lab.lines("starts"), 2);
    // Switched on again, one that runs goes on.
    servers.switch("lab", true);
    assert_eq!(called(&servers).await, Ok(text("fine")));
    assert_eq!(lab.lines("starts"), 2);
}

#[tokio::test]
async fn what_is_switched_off_while_it_starts_does_not_run() {
    let lab = Lab::new(format!("mkfifo go; read -r word <go\n{}", script("text fine")));
    let servers = lab.servers();
    servers.begin();
    assert!(servers.switch("lab", false));
    let (go, path) = (lab.path().join("go"), lab.path().to_owned());
    tokio::task::spawn_blocking(move || {
        let deadline = Instant::now() + Duration::from_mins(1);
        while !path.join("go").exists() {
            assert!(Instant::now() < deadline, "the server made no fifo");
            std::thread::yield_now();
        }
        std::fs::write(go, "go\n").unwrap();
    })
    .await
    .unwrap();
    servers.settled().await;
    assert_eq!((servers.reports()[0].state, called(&servers).await), (ServerState::Off, Err(Failure::Off)));
    assert!(servers.inner.locked()[0].line.is_none());
}

#[tokio::test]
async fn an_answer_makes_earlier_failures_forgotten() {
    let lab = Lab::new(script("if [ -e works ]; then text fine; else exit 7; fi"));
    let servers = lab.servers();
    assert!(called(&servers).await.is_err());
    std::fs::write(lab.path().join("works"), "").unwrap();
    assert_eq!(called(&servers).await, Ok(text("fine")));
    std::fs::remove_file(lab.path().join("works")).unwrap();
    // The next failure is the first again: the server is started by the call after it.
    assert!(called(&servers).await.is_err());
    std::fs::write(lab.path().join("works"), "").unwrap();
    assert_eq!(called(&servers).await, Ok(text("fine")));
}

#[tokio::test]
async fn a_server_gets_the_variables_it_names_and_none_that_are_withheld() {
    let lab = Lab::new(script("text \"mode=$MODE home=$HOME\""));
    assert_eq!(called(&lab.servers()).await, Ok(text("mode=x home=")));
}

#[test]
fn servers_end_with_axi_also_those_that_do_not_want_to() {
    let lab = Lab::new("trap '' TERM; echo $$ >number; sleep 1000 & while :; do sleep 1000; done");
    let servers = lab.servers();
    servers.begin();
    let file = lab.path().join("number");
    let deadline = Instant::now() + Duration::from_mins(1);
    while std::fs::read_to_string(&file).unwrap_or_default().trim().is_empty() {
        assert!(Instant::now() < deadline, "the server never said its number");
        std::thread::yield_now();
    }
    let number: i32 = std::fs::read_to_string(&file).unwrap().trim().parse().unwrap();
    drop(servers);
    let process = crate::platform::process::Pid::from_raw(number).unwrap();
    assert!(crate::platform::process::test_kill_process(process).is_err());
}

#[tokio::test]
async fn nothing_of_a_project_runs_without_a_yes() {
    let lab = Lab::new(script("text fine"));
    let definition = lab.servers().reports().remove(0).definition;
    let setup = || Setup {
        cache: None,
        helper: None,
        directory: lab.path().to_owned(),
        tokens: Arc::new(NoTokens),
        client: Arc::new(|_| Err("none".to_owned())),
        variable: Box::new(|_, _| None),
        withheld: Box::new(|_| Vec::new()),
    };
    let servers = Servers::new(vec![(definition, false)], setup());
    servers.begin();
    servers.settled().await;
    assert_eq!(called(&servers).await, Err(Failure::NotAgreed));
    assert_eq!((lab.lines("starts"), servers.troubles()), (0, vec![]));
}

#[tokio::test]
async fn a_person_takes_a_resource_and_a_prompt() {
    let more = r#"
    *'"method":"resources/read"'*) case $line in
      *'"uri":"note://1"'*) answer '{"contents":[{"uri":"note://1","mimeType":"text/plain","text":"milk"}]}' ;;
      *) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32002,"message":"gone"}}\n' "$id" ;; esac ;;
    *'"method":"prompts/list"'*'"cursor":"2"'*) answer '{"prompts":[{"name":"ask","arguments":[{"name":"who"}]}]}' ;;
    *'"method":"prompts/list"'*) answer '{"prompts":[{"name":"other"}],"nextCursor":"2"}' ;;
    *'"method":"prompts/get"'*'"arguments":{"who":"the old man"}'*)
      answer '{"messages":[{"role":"user","content":{"type":"text","text":"Ask \u001b[31mhim\u202e."}},{"role":"user","content":{"type":"image","data":""}}]}' ;;
  esac
done"#;
    let script = script("text fine").replace(r#"{"tools":{}}"#, r#"{"tools":{},"prompts":{}}"#);
    let lab = Lab::new(script.replace("\n  esac\ndone", more));
    let servers = lab.servers();
    let read = servers.read("lab", "note://1").await;
    assert_eq!(read, Ok(text("[resource note://1]\nmilk")));
    let gone = Failure::Refused { code: -32002, message: "gone".into() };
    assert_eq!(servers.read("lab", "note://2").await, Err(gone));
    let words = ["the", "old", "man"].map(str::to_owned);
    assert_eq!(servers.prompt("lab", "ask", &words).await, Ok("Ask him.".to_owned()));
    assert_eq!(servers.prompt("lab", "nothing", &words).await, Err(Failure::NoSuchPrompt));
    assert!(servers.has("lab") && !servers.has("nobody"));
}

#[tokio::test]
async fn a_task_is_asked_after_until_it_has_a_result_and_is_cancelled_when_nobody_waits() {
    let more = r#"
    *'"method":"tasks/get"'*'"taskId":"t1"'*)
      if [ -e looked ]; then status=completed; else touch looked; status=working; fi
      answer "{\"taskId\":\"t1\",\"status\":\"$status\",\"statusMessage\":\"half\",\"pollInterval\":1}" ;;
    *'"method":"tasks/result"'*'"taskId":"t1"'*) text fine ;;
    *'"method":"tasks/cancel"'*'"taskId":"t1"'*) echo cancelled >>told ;;
  esac
done"#;
    let makes = r#"case $line in *'"task":{}'*) answer '{"task":{"taskId":"t1","status":"working","pollInterval":1}}' ;; *) text "no task" ;; esac"#;
    let of_task = script(makes).replace("\n  esac\ndone", more);
    let of_task = of_task.replace(r#""name":"echo","#, r#""name":"echo","execution":{"taskSupport":"required"},"#);
    let lab = Lab::new(of_task);
    let servers = lab.servers();
    servers.begin();
    servers.settled().await;
    let (first, mut lines, _asked) = call();
    assert_eq!(servers.call("lab", first).await, Ok(text("fine")));
    assert_eq!(lines.recv().await.as_deref(), Some("half"));
    // One that nobody waits for any more.
    std::fs::remove_file(lab.path().join("looked")).unwrap();
    let (again, mut lines, _asked) = call();
    tokio::select! {
        result = servers.call("lab", again) => panic!("{result:?}"),
        line = lines.recv() => assert_eq!(line.as_deref(), Some("half")),
    }
    let told = async {
        while lab.lines("told") == 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), told).await.expect("the server was not told");
}
