//! A model file that says what a test wants: each token has exactly one that follows it.
//!
//! Its layer adds nothing, so that the last token alone says what comes next. A whole sentence, or a whole call, is one
//! token. A prompt always ends in a line end: what follows that is the answer.

use std::path::PathBuf;

use super::home::Home;

/// Numbers that stand for one token; there are at most as many tokens.
const WIDTH: u32 = 32;

/// Writes a model into the working directory that answers this, and ends; returns what `-m` calls it.
pub(crate) fn answering(home: &Home, answer: &str) -> String {
    write(home, &[("\n", answer), (answer, "<|im_end|>")]);
    "local/tiny.gguf".to_owned()
}

/// The same with what follows what.
pub(crate) fn write(home: &Home, follows: &[(&str, &str)]) -> PathBuf {
    let mut tokens = vec!["<|im_start|>", "<|im_end|>", "\n"];
    for token in follows.iter().flat_map(|(token, next)| [*token, *next]) {
        if !tokens.contains(&token) {
            tokens.push(token);
        }
    }
    assert!(tokens.len() <= WIDTH as usize, "too many tokens for this model");
    let place = |wanted: &str| tokens.iter().position(|token| *token == wanted).unwrap();
    let mut head = vec![0.0_f32; tokens.len() * WIDTH as usize];
    for (token, next) in follows {
        head[place(next) * WIDTH as usize + place(token)] = 10.0;
    }
    let mut embedding = vec![0.0_f32; tokens.len() * WIDTH as usize];
    for index in 0..tokens.len() {
        embedding[index * WIDTH as usize + index] = 1.0;
    }
    let (width, count) = (WIDTH as usize, tokens.len());
    let (ones, square) = (vec![1.0; width], vec![0.0; width * width]);
    let tensors = [
        ("token_embd.weight", count, embedding),
        ("output.weight", count, head),
        ("output_norm.weight", 1, ones.clone()),
        ("blk.0.attn_norm.weight", 1, ones.clone()),
        ("blk.0.attn_q.weight", width, square.clone()),
        ("blk.0.attn_k.weight", width, square.clone()),
        ("blk.0.attn_v.weight", width, square.clone()),
        ("blk.0.attn_output.weight", width, square.clone()),
        ("blk.0.ffn_norm.weight", 1, ones),
        ("blk.0.ffn_gate.weight", width, square.clone()),
        ("blk.0.ffn_up.weight", width, square.clone()),
        ("blk.0.ffn_down.weight", width, square),
    ];
    let mut file = File(b"GGUF\x03\0\0\0".to_vec());
    file.long(tensors.len());
    file.long(11);
    file.word("general.architecture", "qwen2");
    for (name, number) in [
        ("block_count", 1),
        ("embedding_length", WIDTH),
        ("feed_forward_length", WIDTH),
        ("attention.head_count", 1),
        ("attention.head_count_kv", 1),
        ("context_length", 8192),
    ] {
        file.text(&format!("qwen2.{name}"));
        file.int(4);
        file.int(number);
    }
    file.word("tokenizer.ggml.model", "gpt2");
    let shown: Vec<String> = tokens.iter().map(|token| spelled(token)).collect();
    file.array("tokenizer.ggml.tokens", 8, tokens.len());
    for token in &shown {
        file.text(token);
    }
    file.array("tokenizer.ggml.merges", 8, 0);
    file.array("tokenizer.ggml.token_type", 5, tokens.len());
    (0..tokens.len()).for_each(|index| file.int(if index < 2 { 3 } else { 1 }));
    let mut offset = 0;
    for (name, rows, numbers) in &tensors {
        file.text(name);
        file.int(2);
        file.long(width);
        file.long(*rows);
        file.int(0);
        file.long(offset);
        offset += numbers.len() * 4;
    }
    file.0.resize(file.0.len().next_multiple_of(32), 0);
    tensors.iter().flat_map(|(_, _, numbers)| numbers).for_each(|number| file.0.extend(number.to_le_bytes()));
    let path = home.work().join("tiny.gguf");
    std::fs::write(&path, file.0).unwrap();
    path
}

/// As GPT-2's table spells bytes: those that are not printed are moved behind all others.
fn spelled(token: &str) -> String {
    if token.starts_with("<|") {
        return token.to_owned();
    }
    let spell = |byte: u8| match byte {
        b'!'..=b'~' => char::from(byte),
        0..=b' ' => char::from_u32(256 + u32::from(byte)).unwrap(),
        _ => panic!("this model only knows ASCII"),
    };
    token.bytes().map(spell).collect()
}

struct File(Vec<u8>);

impl File {
    fn int(&mut self, number: u32) {
        self.0.extend(number.to_le_bytes());
    }

    fn long(&mut self, number: usize) {
        self.0.extend((number as u64).to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.long(text.len());
        self.0.extend(text.as_bytes());
    }

    fn word(&mut self, name: &str, word: &str) {
        self.text(name);
        self.int(8);
        self.text(word);
    }

    fn array(&mut self, name: &str, kind: u32, count: usize) {
        self.text(name);
        self.int(9);
        self.int(kind);
        self.long(count);
    }
}
