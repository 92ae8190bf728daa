//! Recorded sessions: what a small model on a real server said and did in one, and a look at each of the recorded
//! streams of providers that the tests have, with the recorded answers of models.

use std::path::Path;

use axi::context;
use axi::conversation::{ContentBlock, Message, Role};
use axi::session::load;

use super::story::Turn;

/// How much of a stream is looked at: what one read prints of it.
const LINES: usize = 60;
const LONGEST_LINE: usize = 300;

/// The turns of all that was recorded; fewer where files are missing. `root` is the project's directory.
pub(crate) fn turns(root: &Path) -> Vec<Turn> {
    let mut turns = of_session(&root.join("benches/recall/recorded.jsonl"));
    turns.extend(of_streams(&root.join("tests/it/fixtures/real")));
    turns
}

/// The turns of a session that axi wrote.
fn of_session(path: &Path) -> Vec<Turn> {
    let Ok(loaded) = load(path) else { return Vec::new() };
    let mut turns: Vec<Turn> = Vec::new();
    for (number, message) in context::turns(loaded.conversation.messages()) {
        if turns.len() < number {
            turns.push(Turn { said: message.text(), rounds: Vec::new(), answer: String::new() });
        }
        if let Some(turn) = turns.last_mut() {
            add(turn, message);
        }
    }
    turns
}

fn add(turn: &mut Turn, message: &Message) {
    for block in &message.content {
        match block {
            ContentBlock::ToolCall(call) => turn.rounds.push((call.input.to_string(), Vec::new())),
            ContentBlock::ToolResult(result) => {
                if let Some((_, lines)) = turn.rounds.iter_mut().find(|(_, lines)| lines.is_empty()) {
                    *lines = result.content.lines().map(str::to_owned).collect();
                }
            }
            ContentBlock::Text { text } if message.role == Role::Assistant => turn.answer.push_str(text),
            ContentBlock::Text { .. }
            | ContentBlock::Reasoning(_)
            | ContentBlock::Image(_)
            | ContentBlock::WireItem(_) => {}
        }
    }
}

/// A turn for each recorded stream.
fn of_streams(fixtures: &Path) -> Vec<Turn> {
    let read = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
    let answers = answers(&fixtures.join("markdown/answers"));
    let index = read(&fixtures.join("streams/INDEX.tsv"));
    let rows = index.lines().skip(1).zip(answers.iter().cycle());
    let turn = |(row, answer): (&str, &String)| {
        let file = row.split('\t').next().unwrap_or_default();
        let text = read(&fixtures.join("streams").join(file));
        let lines = text.lines().take(LINES).map(|line| line.chars().take(LONGEST_LINE).collect());
        Turn {
            said: format!("Look at {file} and tell me what the model answered there."),
            rounds: vec![
                (format!("grep -n {file} INDEX.tsv"), vec![row.to_owned()]),
                (format!("head -n {LINES} {file}"), lines.collect()),
            ],
            answer: answer.clone(),
        }
    };
    rows.map(turn).collect()
}

/// The recorded answers, in the order of their files' names.
fn answers(folder: &Path) -> Vec<String> {
    let mut paths: Vec<_> = folder.read_dir().into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let answer = |path: &std::path::PathBuf| {
        let bytes = std::fs::read(path).ok()?;
        let recorded: serde_json::Value = serde_json::from_slice(&bytes).ok()?;
        let pieces = recorded["chunks"].as_array()?.iter().filter_map(|piece| piece.as_str());
        Some(pieces.collect::<String>())
    };
    paths.iter().filter_map(answer).collect()
}
