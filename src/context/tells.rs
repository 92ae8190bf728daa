//! What a text of the person tells: a rule, a fact, something else, or only a question. Where not all of the person's
//! words fit, rules stay longest and questions go first.

use std::collections::HashSet;

/// What a text tells, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tells {
    /// It only asks.
    Question,
    /// It says something else: most often what is to be done now.
    Other,
    /// It says how something is.
    Fact,
    /// It says how things are to be done from now on.
    Rule,
}

/// Words of a sentence that says how things are to be done.
const RULES: &[&str] = &[
    "always ",
    "never ",
    " must ",
    "do not ",
    "don't ",
    "instead of ",
    "from now on",
    "remember ",
    "remember:",
    "keep in mind",
    "we decided",
    "decision:",
    "agreed",
    "only use",
    "make sure",
    "convention",
    "必须",
    "不要",
    "总是",
    "永远",
    "记住",
    "以后",
    "决定",
    "必ず",
    "しないで",
    "常に",
    "覚えて",
];

/// Words of a sentence that says how something is.
const FACTS: &[&str] = &[
    " is ",
    " are ",
    " was ",
    " were ",
    " we use ",
    " uses ",
    " i use ",
    " runs on ",
    " listens on ",
    " lives in ",
    " called ",
    " named ",
    " prefer",
    " belongs to ",
    " my name",
    " i'm ",
    " i am ",
    " fyi",
    "是",
    "叫",
    "我们用",
    "使用",
    "です",
    "ます",
];

/// How a request begins that has words of a fact: "tell me what is in it".
const REQUESTS: &[&str] = &[
    "tell ",
    "show ",
    "explain ",
    "describe ",
    "list ",
    "say ",
    "check ",
    "find ",
    "write ",
    "make ",
    "give ",
    "create ",
    "add ",
    "fix ",
    "run ",
    "implement ",
    "change ",
    "refactor ",
];

/// How a question begins that a person ends without its mark.
const QUESTIONS: &[&str] = &[
    "what",
    "which",
    "who",
    "whose",
    "when",
    "where",
    "why",
    "how",
    "is ",
    "are ",
    "was ",
    "were ",
    "do ",
    "does ",
    "did ",
    "can ",
    "could ",
    "would ",
    "should ",
    "remind me",
];

/// How a question ends.
const ASKING: &[char] = &['?', '？', '吗', '呢'];

/// Says what a text tells: the most that one of its sentences does.
pub(super) fn tells(text: &str) -> Tells {
    sentences(text).map(sentence_tells).max().unwrap_or(Tells::Other)
}

/// Whether one of its sentences is a question.
pub(super) fn asks(text: &str) -> bool {
    sentences(text).any(|sentence| sentence_tells(sentence) == Tells::Question)
}

/// Says what each of some texts tells, the oldest first. A sentence that was said before tells nothing new.
pub(super) fn each_tells<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<Tells> {
    let mut said = HashSet::new();
    let new = |text| {
        let tells = sentences(text).filter(|sentence| said.insert(*sentence)).map(sentence_tells).max();
        tells.unwrap_or(Tells::Question)
    };
    texts.map(new).collect()
}

/// The sentences of a text that tell a rule or a fact, in their order.
pub(super) fn telling(text: &str) -> impl Iterator<Item = &str> {
    sentences(text).filter(|sentence| sentence_tells(sentence) >= Tells::Fact)
}

/// Whether a line holds a sentence that says how things are to be done.
pub(super) fn tells_rule(line: &str) -> bool {
    line.len() > 8 && has_any(&line.to_lowercase(), RULES)
}

fn sentence_tells(sentence: &str) -> Tells {
    let lower = format!(" {}", sentence.to_lowercase());
    let begins = |words: &[&str]| words.iter().any(|word| lower[1..].starts_with(word));
    let asks = sentence.ends_with(ASKING);
    if asks || (begins(QUESTIONS) && !has_any(&lower, RULES)) {
        Tells::Question
    } else if has_any(&lower, RULES) {
        Tells::Rule
    } else if has_any(&lower, FACTS) && !begins(REQUESTS) {
        Tells::Fact
    } else {
        Tells::Other
    }
}

fn has_any(lower: &str, words: &[&str]) -> bool {
    words.iter().any(|word| lower.contains(word))
}

/// The sentences of a text. A dot ends one only before a space: `v1.2` and `main.rs` hold none.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.char_indices().find_map(|(at, character)| {
            let behind = at + character.len_utf8();
            let ends = match character {
                '.' | '!' | '?' => rest[behind..].starts_with(char::is_whitespace),
                '\n' | '。' | '！' | '？' => true,
                _ => false,
            };
            ends.then_some(behind)
        });
        let (sentence, behind) = rest.split_at(end.unwrap_or(rest.len()));
        rest = behind;
        Some(sentence.trim())
    })
    .filter(|sentence| !sentence.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_facts_questions_and_the_rest_are_told_apart() {
        let told = [
            ("Remember: the staging host is heron.", Tells::Rule),
            ("请记住：数据库端口是 6543。", Tells::Rule),
            ("We never push on Friday, do we agreed?", Tells::Question),
            ("Our database is PostgreSQL 14 on port 6543.", Tells::Fact),
            ("My name is Ada", Tells::Fact),
            ("サーバーは heron です。", Tells::Fact),
            ("what is in this directory", Tells::Question),
            ("数据库在哪里吗", Tells::Question),
            ("Show me what is in main.rs", Tells::Other),
            ("run the tests", Tells::Other),
            ("Which port? The gateway is on 8443.", Tells::Fact),
            ("", Tells::Other),
        ];
        for (text, expected) in told {
            assert_eq!(tells(text), expected, "{text}");
        }
        let again = "Mend it. Never push.";
        let texts = ["Never push.", again, "Never push."].into_iter();
        assert_eq!(each_tells(texts), [Tells::Rule, Tells::Other, Tells::Question]);
        let text = "Hello there. The port is 8443 in v1.2.3 of main.rs. Which host? Never push.";
        assert_eq!(telling(text).collect::<Vec<_>>(), ["The port is 8443 in v1.2.3 of main.rs.", "Never push."]);
    }
}
