//! What comes from outside tries to command the terminal, by every way that leads to the screen.

use super::*;
use crate::approval::Reason;
use crate::conversation::ContentBlock;

/// What models, tools, files and servers could send to a terminal that believes them.
const HOSTILE: &[&str] = &[
    "\x1b[2J\x1b[H",
    "\x1b]0;owned\x07",
    "\x1b]52;c;cm0gLXJmIH4=\x1b\\",
    "\x1bP+q544e\x1b\\",
    "\x1b_Gi=1;AAAA\x1b\\",
    "\x1b^x\x1b\\",
    "\x1bc",
    "\x1b[6n\x1b[c\x1b[>q",
    "\x1b[?1049h",
    "\u{9b}2J",
    "\u{9d}0;owned\u{9c}",
    "\u{90}x\u{9c}",
    "a\rb",
    "a\x08\x08b",
    "bell\x07",
    "\x0e\x0f",
    "nul\0del\x7f",
    "vt\x0bff\x0c",
    "\u{85}next",
    "\u{202e}gnp.exe\u{202c}",
    "\u{2066}isolated\u{2069}",
    "zero\u{200b}width\u{feff}\u{2060}",
    "tag\u{e0041}\u{e007f}",
    "line\u{2028}sep\u{2029}",
    "\u{ad}soft\u{34f}",
    "{cause} {what} {rule} {0}",
    "]8;;http://evil\x1b\\text\x1b]8;;\x1b\\",
    "`\x1b[31m` **\x1b[5m** [x](http://a\x1b]0;t\x07) <\x1b[1m>\n\n| \x1b[1m |\n| - |\n| \x1b[2m |\n",
    "```sh\x1b[1m\n\x1b[2Jcode\x07\n```\n",
];

/// Takes away what axi itself sends; what is left must be text.
fn without_ours(bytes: &[u8]) -> String {
    let text = String::from_utf8(bytes.to_vec()).expect("whole characters");
    let mut rest = text.as_str();
    let mut left = String::new();
    while let Some(start) = rest.find('\x1b') {
        left.push_str(&rest[..start]);
        rest = &rest[start..];
        let length =
            ours(rest).unwrap_or_else(|| panic!("not ours: {:?}", rest.chars().take(30).collect::<String>()));
        rest = &rest[length..];
    }
    left.push_str(rest);
    left.replace("\r\n", "\n")
}

/// The length of a sequence that the screen sends: styles, movements within the live rows, modes, marks.
fn ours(text: &str) -> Option<usize> {
    let progress = ["\x1b]9;4;0\x1b\\", "\x1b]9;4;2;100\x1b\\", "\x1b]9;4;3\x1b\\"];
    for fixed in ["\x1b7", "\x1b8", "\x1b]133;C\x1b\\"].into_iter().chain(progress) {
        if text.starts_with(fixed) {
            return Some(fixed.len());
        }
    }
    if let Some(rest) = text.strip_prefix("\x1b]133;D;") {
        return Some(9 + rest.find("\x1b\\")? + 1);
    }
    let rest = text.strip_prefix("\x1b[")?;
    let end = rest.find(|character: char| character.is_ascii_alphabetic())?;
    let (parameters, last) = (&rest[..end], rest.as_bytes()[end]);
    let plain = parameters.bytes().all(|byte| byte.is_ascii_digit() || byte == b';');
    let known = match last {
        b'm' => plain,
        b'A' | b'C' | b'D' | b'K' | b'L' | b'M' | b'X' => plain && !parameters.contains(';'),
        b'J' => parameters.is_empty(),
        b'h' | b'l' => ["?25", "?7", "?2026"].contains(&parameters),
        _ => false,
    };
    known.then_some(2 + end + 1)
}

fn is_command(character: char) -> bool {
    (character.is_control() && !matches!(character, '\n' | '\r' | '\t' | '\x08' | '\x0b'))
        || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}' | '\u{feff}' | '\u{2028}' | '\u{2029}' | '\u{e0000}'..='\u{e007f}')
}

/// Every way text from outside takes to the screen.
fn everywhere(stage: &mut Stage, text: &str) {
    let owned = || text.to_owned();
    stage.start();
    for piece in text.chars() {
        stage.later(20).reason(piece.encode_utf8(&mut [0; 4]));
    }
    for piece in text.chars() {
        stage.later(20).text(piece.encode_utf8(&mut [0; 4]));
    }
    stage.text(&format!("\n\nword {text}"));
    let subjects = [command(text), path(&format!("/work/{text}")), Subject::Host { host: owned() }, Subject::Whole];
    for subject in subjects {
        for name in ["shell", "read", "todo", text] {
            let activity = Activity::Running { name: name.to_owned(), subject: subject.clone() };
            stage.later(100).show(AgentEvent::Waiting { activity });
            stage.later(100).show(AgentEvent::ToolOutput { call_id: "c".to_owned(), line: owned() });
            stage.tool(name, &subject, Outcome::Ok, &format!("[ ] {text}\n{text}"));
            stage.tool(name, &subject, Outcome::Failed, text);
        }
    }
    stage
        .later(100)
        .show(AgentEvent::Waiting { activity: Activity::WritingCall { name: owned(), subject: Subject::Whole } });
    let error = Failure::Status { provider: owned(), status: 500, message: owned(), retry_after_seconds: None };
    stage.later(100).show(AgentEvent::Retrying { attempt: 1, of: 2, wait_ms: 9, error: error.clone() });
    for notice in [
        Warning::BrokenMidway { error: error.clone() },
        Warning::NotSaved { path: text.into(), cause: owned() },
        Warning::Repeating { name: owned() },
    ] {
        stage.show(AgentEvent::Notice { notice });
    }
    let previews = Preview::Many {
        parts: vec![
            Preview::Command { line: owned() },
            Preview::Text { text: owned() },
            Preview::Diff {
                path: text.into(),
                old: Some(format!("{text}\nsame\n")),
                new: Some(format!("x{text}\nsame\n")),
            },
            Preview::Diff { path: text.into(), old: None, new: Some(owned()) },
        ],
    };
    let mut asked = request(text, previews);
    asked.subject = command(text);
    asked.session_rule = Some(owned());
    asked.reasons = vec![
        Reason::Credential { what: owned() },
        Reason::OutsideWorkspace { path: text.into() },
        Reason::Unparsed { text: owned(), why: crate::approval::Unparsed::Characters },
    ];
    stage.human.approve(&asked);
    stage.human.painter().say(text);
    stage.human.painter().fail(text, text);
    stage.human.painter().warn(text);
    stage.human.painter().markdown(text);
    let call = ToolCall {
        name: owned(),
        input: json!({"old_string": text, "new_string": "x", "patch": text}),
        ..call("x")
    };
    let result = crate::conversation::ToolResult {
        content: owned(),
        ..crate::conversation::ToolResult::closed(&call, Outcome::Ok)
    };
    let messages = [
        Message::user(text),
        Message {
            role: crate::conversation::Role::Assistant,
            content: vec![ContentBlock::Text { text: owned() }, ContentBlock::ToolCall(call)],
        },
        Message { role: crate::conversation::Role::User, content: vec![ContentBlock::ToolResult(result)] },
    ];
    let rows = stage.human.in_full(&messages);
    stage.human.painter().print(&rows);
    let paged = stage.human.painter().bytes(&rows);
    assert_eq!(without_ours(&paged).chars().find(|character| is_command(*character) || *character == '\x08'), None);
    stage.end(TurnEnd::ApprovalNeeded { name: owned(), subject: command(text), never_auto: false, unkept: false });
    stage.start().end(TurnEnd::Failed { error });
}

#[test]
fn nothing_from_outside_commands_the_terminal() {
    for text in HOSTILE {
        for stage in [&mut Stage::new(80), &mut Stage::new(40)] {
            everywhere(stage, text);
            let left = without_ours(&stage.bytes());
            assert_eq!(left.chars().find(|character| is_command(*character)), None, "{text:?}\n{left:?}");
        }
    }
}

#[test]
fn linear_mode_sends_lines_and_colours_only() {
    for text in HOSTILE.iter().chain(&["plain words, 中文"]) {
        let mut dumb = Stage::linear(Capabilities::PLAIN, Depth::Plain);
        everywhere(&mut dumb, text);
        let bytes = dumb.bytes();
        let wrong = bytes.iter().find(|byte| matches!(byte, 0..=8 | 11..=31 | 127));
        assert_eq!(wrong, None, "{text:?}\n{}", String::from_utf8_lossy(&bytes).escape_debug());
        let capabilities = Capabilities { styles: true, links: false, marks: false };
        let mut coloured = Stage::linear(capabilities, Depth::Ansi);
        everywhere(&mut coloured, text);
        let mut rest = String::from_utf8(coloured.bytes()).unwrap();
        while let Some(start) = rest.find('\x1b') {
            let length = rest[start..].find('m').unwrap() + 1;
            let sequence = &rest[start..start + length];
            let inner = &sequence[2..length - 1];
            assert!(
                sequence.starts_with("\x1b[") && inner.bytes().all(|byte| byte.is_ascii_digit() || byte == b';')
            );
            rest.replace_range(start..start + length, "");
        }
        // Without styles, markdown keeps the signs that they stand for.
        if !text.contains(['*', '`']) {
            assert_eq!(rest, String::from_utf8(bytes).unwrap(), "the same text, coloured");
        }
    }
}

#[test]
fn linear_mode_cuts_nothing() {
    let mut stage = Stage::linear(Capabilities::PLAIN, Depth::Plain);
    let long = "word ".repeat(60);
    stage.start().tool("shell", &command(&format!("echo {long}")), Outcome::Ok, &long).end(TurnEnd::Done);
    let text = String::from_utf8(stage.bytes()).unwrap();
    assert_eq!(text.lines().filter(|line| line.contains(long.trim())).count(), 3, "{text}");
}

#[test]
fn linear_mode_tells_what_happens_as_lines() {
    let mut stage = Stage::linear(Capabilities::PLAIN, Depth::Plain);
    whole_turn(&mut stage);
    let text = String::from_utf8(stage.bytes()).unwrap();
    let expected = WHOLE_TURN
        .replace("The tests fail.", "waiting for the model …\n\nThe tests fail.")
        .replace("the tests and", "the **tests** and")
        .replace("✓ Read", "reading src/parser.rs …\n✓ Read")
        .replace("✗ Ran cargo", "running cargo test …\n✗ Ran cargo")
        .replace("✓ Ran rm", "running rm a …\n✓ Ran rm");
    assert_eq!(text.trim_end(), expected);
}
