//! `axi self-check`: whether what was installed works on this machine, without a model and without a network.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};

use super::super::super::console::Console;
use super::super::super::context::App;
use super::super::check::Check;
use super::page::{self, Group};
use super::{guard, machine};
use crate::frontend::exit::Exit;
use crate::locale::{Locale, word};

/// What the server below answers, cut as a model's tokens are.
const ANSWER: [&str; 3] = ["it ", "**works", "**"];

/// What standard output has of it.
const PRINTED: &str = "it **works**";

pub(in crate::app) fn self_check(app: &App) -> Exit {
    let locale = &app.locale;
    let group = |id, says, checks| Group { id, says, checks };
    let groups = [
        group("system", word::doctor::SYSTEM, machine::system(app, locale)),
        group("files", word::doctor::FILES, machine::files(app, locale)),
        group("guard", word::doctor::GUARD, guard::checks(app, locale)),
        group("turn", word::doctor::TURN, vec![turn(app.process.program.as_deref(), locale)]),
    ];
    let printed = Console::new(locale).print(&page::text(&groups, locale));
    let is_well = groups.iter().flat_map(|group| &group.checks).all(|check| check.todo.is_none());
    if is_well { printed } else { Exit::Failed }
}

/// Has this program ask a server of its own, and looks at what it prints.
fn turn(program: Option<&Path>, locale: &Locale) -> Check {
    let name = locale.text(word::doctor::SCRIPTED);
    let bad = |found: String| Check::bad(name, found, locale.text(word::doctor::TURN_HINT));
    match program.ok_or(std::io::ErrorKind::NotFound.into()).and_then(ask) {
        Ok((true, text)) if text.trim() == PRINTED => Check::good(name, locale.text(word::doctor::TURN_WORKS)),
        Ok((_, text)) => bad(text),
        Err(error) => bad(error.to_string()),
    }
}

/// Whether it ended well, and what it printed: the answer, or what went wrong.
fn ask(program: &Path) -> std::io::Result<(bool, String)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || listener.incoming().flatten().try_for_each(|one| answer(&one)));
    let home = tempfile::tempdir()?;
    let settings = format!("[providers.here]\nprotocol = \"openai-chat\"\nbase_url = \"http://{address}/v1\"\n");
    let folder = home.path().join(".config/axi");
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("config.toml"), settings)?;
    let ended = Command::new(program)
        .args(["--print", "--no-session", "--model", "here/scripted", "hello"])
        .env_clear()
        .env("HOME", home.path())
        .current_dir(home.path())
        .stdin(Stdio::null())
        .output()?;
    let is_well = ended.status.success();
    let text = if is_well { ended.stdout } else { ended.stderr };
    Ok((is_well, String::from_utf8_lossy(&text).into_owned()))
}

/// Reads one request and answers it as a chat server does: with the stream, or with the list of its models.
fn answer(mut connection: &TcpStream) -> std::io::Result<()> {
    let mut input = BufReader::new(connection);
    let (mut line, mut first, mut length) = (String::new(), String::new(), 0);
    while input.read_line(&mut line)? > 2 {
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        if first.is_empty() {
            first.clone_from(&line);
        }
        line.clear();
    }
    input.by_ref().take(length).read_to_end(&mut Vec::new())?;
    let (kind, body) = if first.starts_with("POST") {
        let event =
            |text| format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n");
        let end = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
        ("text/event-stream", ANSWER.map(event).concat() + end)
    } else {
        ("application/json", r#"{"data":[{"id":"scripted"}]}"#.to_owned())
    };
    let length = body.len();
    let head =
        format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
    connection.write_all((head + &body).as_bytes())
}
