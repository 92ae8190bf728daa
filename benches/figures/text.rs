//! Makes markdown of any size, the same each time: headings, prose, lists, code, tables, quotes.

use std::fmt::Write as _;

/// A word of its own before the answer, so that a reader of the terminal can tell its first byte.
pub(crate) const FIRST: &str = "ZQX7";

/// A word of its own after the answer.
pub(crate) const LAST: &str = "ZQY7";

const WORDS: &[&str] = &[
    "the",
    "stream",
    "holds",
    "a",
    "block",
    "until",
    "its",
    "end",
    "is",
    "known",
    "then",
    "prints",
    "it",
    "once",
    "and",
    "never",
    "touches",
    "again",
    "so",
    "that",
    "scrollback",
    "stays",
    "true",
    "while",
    "terminal",
    "keeps",
    "own",
    "history",
    "of",
    "every",
    "line",
    "written",
    "by",
    "tool",
    "model",
    "shell",
    "budget",
    "token",
    "buffer",
    "width",
];

/// A generator of numbers that needs no crate (Knuth's MMIX constants).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 40).unwrap_or(0) % limit
    }

    fn word(&mut self) -> &'static str {
        WORDS[self.below(WORDS.len())]
    }

    fn sentence(&mut self) -> String {
        let count = 8 + self.below(9);
        let special = self.below(count);
        let words: Vec<String> = (0..count)
            .map(|index| {
                let word = self.word();
                match (index == special, self.below(4)) {
                    (true, 0) => format!("**{word}**"),
                    (true, 1) => format!("`{word}()`"),
                    (true, 2) => format!("*{word}*"),
                    (true, _) => format!("[{word}](https://example.com/{word})"),
                    (false, _) => word.to_owned(),
                }
            })
            .collect();
        words.join(" ") + "."
    }

    fn paragraph(&mut self) -> String {
        let sentences: Vec<String> = (0..4).map(|_| self.sentence()).collect();
        sentences.join(" ") + "\n\n"
    }
}

/// Markdown of `size` bytes, between [`FIRST`] and [`LAST`].
pub(crate) fn markdown(size: usize) -> String {
    let mut numbers = Numbers(7);
    let mut text = String::with_capacity(size + 4096);
    let mut section = 0;
    while text.len() < size {
        section += 1;
        add(&mut text, format_args!("## Section {section}: {} {}\n\n", numbers.word(), numbers.word()));
        text += &numbers.paragraph();
        for _ in 0..4 {
            add(&mut text, format_args!("- {}\n", numbers.sentence()));
        }
        text.push('\n');
        for number in 1..4 {
            add(&mut text, format_args!("{number}. {}\n", numbers.sentence()));
        }
        add(
            &mut text,
            format_args!(
                "\n```rust\nfn step_{section}(input: &str) -> Result<usize, Error> {{\n    let mut total = 0;\n    for (i, line) \
             in input.lines().enumerate() {{\n        if line.is_empty() {{ continue; }}\n        total += line.len() * i; \
             // count {section}\n    }}\n    Ok(total)\n}}\n```\n\n"
            ),
        );
        if section % 3 == 0 {
            text += "| name | value | note |\n| --- | ---: | --- |\n";
            for _ in 0..4 {
                add(
                    &mut text,
                    format_args!("| {} | {} | {} |\n", numbers.word(), numbers.below(9999), numbers.word()),
                );
            }
            text.push('\n');
        }
        if section % 4 == 0 {
            add(&mut text, format_args!("> {}\n> {}\n\n", numbers.sentence(), numbers.sentence()));
        }
        text += &numbers.paragraph();
    }
    text.truncate(size);
    format!("{FIRST} \n\n{text}\n\n{LAST}\n")
}

/// Writing into a string cannot fail.
fn add(text: &mut String, words: std::fmt::Arguments<'_>) {
    let _ = text.write_fmt(words);
}

/// Cuts a text into pieces of `count` characters.
pub(crate) fn pieces(text: &str, count: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(count).map(|piece| piece.iter().collect()).collect()
}
