//! Finds the single command in a model's answer, in whatever form the model wrote it. Pure.

use crate::tool::is_plain_line;

/// What a model is told to answer when there is no command.
pub(super) const NONE: &str = "NONE";

/// How answers begin that are no command, in lower case.
const REFUSALS: &[&str] = &[
    "i'm sorry",
    "i’m sorry",
    "i am sorry",
    "sorry,",
    "i cannot",
    "i can't",
    "i can’t",
    "抱歉",
    "很抱歉",
    "对不起",
];

/// Languages of fences that hold no command.
const NOT_SHELL: &[&str] = &["json", "text", "output", "markdown", "md", "yaml", "xml", "html"];

/// Finds the command; `None` if there is none, or if no line editor should get it.
#[must_use]
pub(super) fn extract(answer: &str) -> Option<String> {
    let answer = without_thoughts(answer).replace("\r\n", "\n");
    let answer = answer.trim();
    let found = from_json(answer).or_else(|| from_fence(answer)).unwrap_or_else(|| from_prose(answer));
    let command = without_prompts(&found);
    let command = unquoted(command.trim());
    let nothing = command.is_empty() || command.trim_matches(['"', '.', '`']).eq_ignore_ascii_case(NONE);
    let lower = command.to_lowercase();
    let refused = REFUSALS.iter().any(|refusal| lower.starts_with(refusal));
    (!nothing && !refused && is_plain_line(command)).then(|| command.to_owned())
}

/// Languages of fences that hold a command.
const SHELL: &[&str] = &["sh", "bash", "zsh", "fish", "shell", "console"];

/// The most lines of a command in an answer; more are a script.
const FENCED_LINES: usize = 5;

/// Finds the command of an answer with exactly one fence, which has a shell's commands in it.
#[must_use]
pub(super) fn only_command(answer: &str) -> Option<String> {
    let answer = without_thoughts(answer).replace("\r\n", "\n");
    let fences: Vec<&str> = answer.lines().filter(|line| line.trim_start().starts_with("```")).collect();
    let [opening, _closing] = fences.as_slice() else { return None };
    let language = opening.trim_start().trim_start_matches('`').trim().to_lowercase();
    if !SHELL.contains(&language.as_str()) {
        return None;
    }
    let command = without_prompts(&from_fence(&answer)?);
    let command = command.trim();
    let is_one = !command.is_empty() && command.lines().count() <= FENCED_LINES && is_plain_line(command);
    is_one.then(|| command.to_owned())
}

/// Removes what a model thought aloud.
fn without_thoughts(answer: &str) -> &str {
    match answer.rsplit_once("</think>") {
        Some((_, said)) => said,
        None => answer.split_once("<think>").map_or(answer, |(before, _)| before),
    }
}

fn from_json(answer: &str) -> Option<String> {
    let start = answer.find('{')?;
    let end = answer.rfind('}')?;
    let before = answer[..start].trim().trim_start_matches("```json").trim();
    if !before.is_empty() && !before.ends_with(':') {
        return None;
    }
    let value: serde_json::Value = serde_json::from_str(answer.get(start..=end)?).ok()?;
    ["command", "cmd"].iter().find_map(|name| value.get(name)?.as_str()).map(str::to_owned)
}

/// The first fence that can hold a command; one that is never closed ends with the answer.
fn from_fence(answer: &str) -> Option<String> {
    let mut lines = answer.lines();
    while let Some(line) = lines.next() {
        let opening = line.trim_start();
        let Some(mark) = ["```", "~~~"].into_iter().find(|mark| opening.starts_with(mark)) else { continue };
        let info = opening.trim_start_matches(['`', '~']).trim();
        if let Some(inside) = info.strip_suffix(mark) {
            // All of it on one line: ```ls -l```
            return Some(inside.trim().to_owned());
        }
        let body: Vec<&str> = lines.by_ref().take_while(|line| !line.trim_start().starts_with(mark)).collect();
        let is_other = NOT_SHELL.contains(&info.to_lowercase().as_str());
        if !is_other && body.iter().any(|line| !line.trim().is_empty()) {
            return Some(body.join("\n"));
        }
    }
    None
}

/// Leaves out the sentences around a command that is not fenced.
fn from_prose(answer: &str) -> String {
    let here_document = answer.contains("<<");
    let mut lines: Vec<&str> = Vec::new();
    for line in answer.lines() {
        let blank = line.trim().is_empty() || line.trim_matches(['`', '~', ' ']).is_empty();
        if lines.is_empty() && (blank || is_prose(line) && !is_labelled(line)) {
            continue;
        }
        // What follows an empty line explains.
        if !here_document && (blank || is_prose(line)) && !is_labelled(line) {
            break;
        }
        lines.push(line);
    }
    let text = if lines.is_empty() { answer.to_owned() } else { lines.join("\n") };
    let text = text.trim();
    if let Some((label, command)) = text.split_once([':', '：']).filter(|_| is_labelled(text)) {
        let command = command.trim();
        return in_backticks(command).unwrap_or(if command.is_empty() { label } else { command }).to_owned();
    }
    let is_sentence = lines.is_empty() || text.starts_with('`');
    match in_backticks(text).filter(|_| is_sentence) {
        Some(command) => command.to_owned(),
        None if lines.is_empty() => String::new(),
        None => text.to_owned(),
    }
}

/// `Command: ls`, `**Command:** ls`.
fn is_labelled(line: &str) -> bool {
    let line = line.trim_start_matches(['*', '#', '-', ' ']).to_lowercase();
    ["command:", "command：", "answer:", "shell:", "bash:", "zsh:", "命令:", "命令："]
        .iter()
        .any(|label| line.starts_with(label) && line.len() > label.len() + 1)
}

/// The first text in single backticks.
fn in_backticks(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once('`')?;
    let (inside, _) = rest.split_once('`')?;
    Some(inside.trim()).filter(|inside| !inside.is_empty())
}

/// Tells whether a text begins and ends like a sentence; a command does neither.
fn is_prose(line: &str) -> bool {
    let line = line.trim();
    let ends = line.ends_with(['.', ':', '!', '?', '。', '：', '！', '？']);
    let first = line.split_whitespace().next().unwrap_or_default();
    let word = first.trim_end_matches([',', '.', '!', ':']).replace(['\'', '’'], "");
    let capital = line.chars().next().is_some_and(char::is_uppercase) && word.chars().all(char::is_alphabetic);
    let wide = line.chars().next().is_some_and(|character| !character.is_ascii() && character.is_alphabetic());
    let words = line.split_whitespace().count();
    (capital && (ends || words >= 4)) || (wide && (ends || line.chars().count() >= 6))
}

/// Leaves out the prompts before commands, what the commands printed, and comments.
fn without_prompts(found: &str) -> String {
    const PROMPTS: &[&str] = &["$ ", "% ", "❯ "];
    let prompted =
        |line: &str| PROMPTS.iter().find_map(|prompt| line.trim_start().strip_prefix(prompt).map(str::to_owned));
    if found.lines().find(|line| !line.trim().is_empty()).and_then(prompted).is_some() {
        let commands: Vec<String> =
            found.lines().filter_map(prompted).map(|command| command.trim().to_owned()).collect();
        return commands.join(" && ");
    }
    if found.contains("<<") {
        return found.to_owned();
    }
    // An interactive zsh takes a comment for a command.
    let kept: Vec<&str> =
        found.lines().filter(|line| !line.trim_start().starts_with("# ") && !line.trim().is_empty()).collect();
    kept.join("\n")
}

/// Takes quotes off that stand around all of it.
fn unquoted(command: &str) -> &str {
    for quote in ['`', '"', '\''] {
        let inside = command.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
        if let Some(inside) = inside
            && !inside.contains(quote)
            && (quote == '`' || inside.contains(' '))
        {
            return inside.trim();
        }
    }
    command
}

#[cfg(test)]
#[path = "extract_tests.rs"]
mod tests;
