use super::super::gguf::Gguf;
use super::super::network::tests::Model;
use super::*;
use crate::conversation::{ToolIdentity, ToolVerb};

/// A vocabulary of two letters: what else is said has no tokens.
fn words() -> Tokenizer {
    let folder = tempfile::tempdir().unwrap();
    Tokenizer::new(&Gguf::open(&Model::write(folder.path())).unwrap()).unwrap()
}

fn encoded(tokenizer: &Tokenizer, text: &str) -> Vec<u32> {
    let mut tokens = Vec::new();
    tokenizer.encode(text, &mut tokens);
    tokens
}

fn tool(verb: ToolVerb) -> ToolSpec {
    ToolSpec {
        name: "tool".into(),
        description: String::new(),
        input_schema: json!({"type": "object"}),
        identity: ToolIdentity { verb, ..ToolIdentity::default() },
    }
}

fn said(role: Role, text: &str) -> Message {
    Message { role, ..Message::user(text) }
}

/// Exchanges of a question and an answer of `length` tokens each, then a question.
fn talk(exchanges: usize, length: usize) -> Vec<Message> {
    let text = "a".repeat(length);
    let mut messages: Vec<Message> = (0..exchanges * 2)
        .map(|index| said(if index % 2 == 0 { Role::User } else { Role::Assistant }, &text))
        .collect();
    messages.push(Message::user("bbb"));
    messages
}

fn ends_with_the_question(tokenizer: &Tokenizer, prompt: &Prompt, question: &str) -> bool {
    let question = encoded(tokenizer, question);
    prompt.tokens.windows(question.len()).any(|window| window == question)
}

#[test]
fn a_long_conversation_loses_its_beginning_says_so_and_keeps_its_question() {
    let tokenizer = words();
    let marks = Marks::find(&tokenizer).unwrap();
    let tools = [tool(ToolVerb::Run)];
    let ask = |messages: &[Message], limit| prompt(&tokenizer, marks, ("b\n\nab", messages, 0), &tools, limit);
    let short = ask(&talk(1, 10), 7000).unwrap();
    let long = ask(&talk(500, 50), 7000).unwrap();
    assert!(long.tokens.len() <= 7000 && long.tokens.len() > 6500, "{}", long.tokens.len());
    assert!(ends_with_the_question(&tokenizer, &long, "bbb"));
    // What is the same for every conversation stays, so that it is found again.
    assert_eq!(long.fixed, short.fixed);
    assert_eq!(long.tokens[..long.fixed], short.tokens[..short.fixed]);
    let note = encoded(&tokenizer, LEFT_OUT);
    assert!(long.tokens.windows(note.len()).any(|window| window == note));
    assert!(!short.tokens.windows(note.len()).any(|window| window == note));
    assert_eq!(ask(&[Message::user("a".repeat(8000))], 7000), None);
}

#[test]
fn a_result_is_never_left_without_its_call() {
    let tokenizer = words();
    let marks = Marks::find(&tokenizer).unwrap();
    let block = |block: Value| vec![serde_json::from_value::<ContentBlock>(block).unwrap()];
    let call = json!({"type": "tool_call", "id": "1", "name": "shell", "input": {}});
    let result = json!({"type": "tool_result", "call_id": "1", "name": "shell", "content": "a".repeat(100), "outcome": "ok"});
    let mut messages = vec![Message::user("bbb")];
    for _ in 0..40 {
        messages.push(Message { content: block(call.clone()), ..said(Role::Assistant, "") });
        messages.push(Message { content: block(result.clone()), ..Message::user("") });
    }
    let cut = prompt(&tokenizer, marks, ("", &messages, 0), &[], 1500).unwrap();
    let spoken = |text: &str| encoded(&tokenizer, text);
    let note = spoken(LEFT_OUT);
    let behind = cut.tokens.windows(note.len()).position(|window| window == note).unwrap() + note.len();
    let beginning = [vec![marks.end], spoken("\n"), vec![marks.start], spoken("assistant\n")].concat();
    assert_eq!(cut.tokens[behind..behind + beginning.len()], beginning);
}

#[test]
fn for_a_line_few_older_messages_are_read_and_the_question_whole() {
    let tokenizer = words();
    let marks = Marks::find(&tokenizer).unwrap();
    let ask =
        |messages: &[Message], verb| prompt(&tokenizer, marks, ("", messages, 0), &[tool(verb)], 7000).unwrap();
    let rest = |prompt: &Prompt| prompt.tokens.len() - prompt.fixed;
    let work = ask(&talk(30, 50), ToolVerb::Run);
    let line = ask(&talk(30, 50), ToolVerb::Propose);
    assert!(rest(&work) > 3000 && rest(&line) < LINE_BEFORE + 100, "{} {}", rest(&work), rest(&line));
    assert!(ends_with_the_question(&tokenizer, &line, "bbb"));
    let long = "b".repeat(LINE_BEFORE * 2);
    let mut messages = talk(3, 50);
    messages.push(said(Role::Assistant, "a"));
    messages.push(Message::user(&long));
    assert!(ends_with_the_question(&tokenizer, &ask(&messages, ToolVerb::Propose), &long));
}

#[test]
fn messages_that_are_the_same_each_time_are_kept_where_there_are_no_tools() {
    let tokenizer = words();
    let marks = Marks::find(&tokenizer).unwrap();
    let messages = |question: &str| [Message::user("a"), said(Role::Assistant, "b"), Message::user(question)];
    let ask = |question: &str, stable| prompt(&tokenizer, marks, ("ab", &messages(question), stable), &[], 7000);
    let (one, other) = (ask("aab", 2).unwrap(), ask("bba", 2).unwrap());
    assert_eq!((one.fixed, &one.tokens[..one.fixed]), (other.fixed, &other.tokens[..other.fixed]));
    let shown = encoded(&tokenizer, "b");
    assert!(one.tokens[..one.fixed].windows(shown.len()).any(|window| window == shown));
    assert!(!ends_with_the_question(
        &tokenizer,
        &Prompt { tokens: one.tokens[..one.fixed].to_vec(), fixed: 0 },
        "aab"
    ));
    // Of a cut conversation nothing is the same.
    let long: Vec<Message> = (0..200).map(|_| Message::user("a".repeat(50))).collect();
    assert_eq!(prompt(&tokenizer, marks, ("ab", &long, 2), &[], 1500).unwrap().fixed, 0);
    assert_eq!(ask("aab", 0).unwrap().fixed, 0);
}

/// What a question becomes with these marks: marks by their names, other tokens by their bytes.
fn worded(marks: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let tokenizer = Tokenizer::new(&Gguf::open(&Model::write_with(folder.path(), marks)).unwrap()).unwrap();
    let found = Marks::find(&tokenizer).unwrap();
    let messages = [Message::user("ab")];
    let asked = prompt(&tokenizer, found, ("b", &messages, 0), &[], 100).unwrap();
    asked.tokens.iter().map(|token| String::from_utf8_lossy(tokenizer.bytes(*token))).collect()
}

#[test]
fn a_line_begins_as_a_text_of_its_family_does() {
    let folder = tempfile::tempdir().unwrap();
    let line = |marks: &[&str], text| {
        let tokenizer = Tokenizer::new(&Gguf::open(&Model::write_with(folder.path(), marks)).unwrap()).unwrap();
        let found = line_prompt(&tokenizer, Marks::find(&tokenizer).unwrap(), ("ab", text), 100)?;
        let words = found.tokens.iter().map(|token| String::from_utf8_lossy(tokenizer.bytes(*token)));
        Some((words.collect::<String>(), found.fixed))
    };
    let llama = ["<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"];
    assert_eq!(line(&llama, "a "), Some(("<|begin_of_text|>aba".to_owned(), 2)));
    assert_eq!(line(&["<|im_start|>", "<|im_end|>"], "a "), Some(("aba".to_owned(), 1)));
}

/// The vocabulary has no letters but a and b: "user" and "system" are nothing, "assistant" is "aa".
#[test]
fn a_question_is_worded_as_the_family_of_the_file_was_taught() {
    assert_eq!(
        worded(&["<|im_start|>", "<|im_end|>"]),
        "<|im_start|>\nb<|im_end|>\n<|im_start|>\nab<|im_end|>\n<|im_start|>aa\n"
    );
    assert_eq!(
        worded(&["<|im_start|>", "<|im_end|>", "<think>", "</think>"]),
        "<|im_start|>\nb<|im_end|>\n<|im_start|>\nab<|im_end|>\n<|im_start|>aa\n<think>\n\n</think>\n\n"
    );
    assert_eq!(
        worded(&["<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"]),
        "<|begin_of_text|><|start_header_id|><|end_header_id|>\n\nb<|eot_id|><|start_header_id|><|end_header_id|>\
         \n\nab<|eot_id|><|start_header_id|>aa<|end_header_id|>\n\n"
    );
}
