//! The picture in README is what axi prints: this runs the turn it shows, draws the screen and compares.
//!
//! `bash tests/picture.sh` draws it anew.

use std::path::Path;

use serde_json::json;

use crate::support::answer;
use crate::support::home::Home;
use crate::support::pty::Pty;
use crate::support::server::{Answer, Server};
use crate::support::svg;

/// Set to have the picture written instead of compared.
const DRAW: &str = "AXI_DRAW_PICTURE";

fn delta(delta: &serde_json::Value) -> String {
    json!({"choices": [{"index": 0, "delta": delta}]}).to_string()
}

/// The first message: reasoning, words, a call.
fn thinks_and_reads() -> Answer {
    let call = json!([{"index": 0, "id": "1", "type": "function",
                       "function": {"name": "read", "arguments": "{\"path\":\"median.sh\"}"}}]);
    Answer::sse([
        delta(&json!({"reasoning_content": "The median of 10 9 2 is 9, not 2: are they sorted as text?"})),
        delta(&json!({"content": "I read the script first."})),
        delta(&json!({"tool_calls": call})),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}).to_string(),
        "[DONE]".to_owned(),
    ])
}

const SCRIPT: &str = "\
#!/bin/sh
# Prints the median of its arguments.
printf '%s\\n' \"$@\" | sort | sed -n \"$((($# + 1) / 2))p\"
";
const TEST: &str = "\
check() { [ \"$1\" = \"$2\" ] && echo \"ok $3\" || echo \"not ok $3: $1, not $2\"; }
check \"$(sh median.sh 2 3 4)\" 3 'three in order'
check \"$(sh median.sh 10 9 2)\" 9 'two digits'
";
const ANSWER: &str = "\
**Fixed.** `sort` compared the numbers as text, where `10` comes before `2`:

| arguments | before | after |
| --- | ---: | ---: |
| `2 3 4` | 3 | 3 |
| `10 9 2` | **2** | 9 |

`sort -n` compares them as numbers. To be sure of it for good:

```sh
sh test.sh | grep -q '^not' && exit 1   # nothing may fail
```
";

#[test]
fn the_picture_shows_what_axi_prints() {
    let home = Home::new();
    home.write("work/median.sh", SCRIPT);
    home.write("work/test.sh", TEST);
    let edit = json!({"path": "median.sh", "old_string": "| sort |", "new_string": "| sort -n |"}).to_string();
    let run = json!({"command": "sh test.sh"}).to_string();
    let server = Server::start([
        thinks_and_reads(),
        answer::chat_call("2", "edit", &edit),
        answer::chat_call("3", "shell", &run),
        answer::chat_text(ANSWER),
    ]);
    let mut command = home.axi();
    command
        .args(["-m", "openai/gpt-5"])
        .env("OPENAI_BASE_URL", server.url("/v1"))
        .env("OPENAI_API_KEY", "x")
        .env("COLORTERM", "truecolor")
        .env("COLORFGBG", "15;0");
    let mut pty = Pty::options().size(76, 60).spawn(&command);
    pty.wait_for("gpt-5");
    pty.send("why does my median come out wrong?\r");
    pty.wait_for("Make this change?");
    pty.send("\r");
    pty.wait_for("Run this command?");
    pty.send("\r");
    pty.wait_for("nothing may fail");
    let ended = |text: String| text.trim_end().lines().last().is_some_and(|row| row.trim_end().ends_with('❯'));
    assert!(pty.wait_until(|view| ended(view.text()), std::time::Duration::from_secs(20)), "{}", pty.describe());
    let (text, drawn) = pty.view(|view| {
        let text = view.text();
        let rows = u16::try_from(text.trim_end().lines().count()).unwrap();
        (text, svg::picture(view.screen(), rows))
    });
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/picture.svg");
    if std::env::var_os(DRAW).is_some() {
        std::fs::write(&path, &drawn).unwrap();
        eprintln!("{text}\n{} bytes", drawn.len());
    }
    assert!(drawn.len() < 60_000, "{}", drawn.len());
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    // Durations are shown from a tenth of a second on: on a busy machine a row may have one more.
    if !text.contains(" s · ") && !text.contains(" s\n") {
        assert!(kept == drawn, "the picture is not what axi prints now: bash tests/picture.sh\n{text}");
    }
}
