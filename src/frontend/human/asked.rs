//! A running tool's question as a person sees it: the question and its choices are rows for good, the answer is one
//! more.

use std::io::Write;

use super::said::HANG;
use super::{Human, Section};
use crate::conversation::{Answer, Question};
use crate::locale::word;
use crate::terminal::{Line, Span, sanitize, sanitize_line};

/// What may be answered to a question whose text and choices are on the screen, in the person's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// How many choices there are, the person's own words not counted.
    pub choices: usize,
    /// Whether more than one may be chosen.
    pub several: bool,
    /// Whether their own words are the choice after the last one.
    pub own_words: bool,
    /// What stands before their own words.
    pub words_prompt: String,
    /// Which keys do what.
    pub hint: String,
}

impl<W: Write> Human<W> {
    /// Puts a question and shows what was answered.
    pub(super) fn put(&mut self, question: &Question) -> Answer {
        self.end_stream();
        self.resized();
        self.begin(Section::Question);
        let theme = *self.theme();
        for (index, row) in sanitize(&question.text).lines().enumerate() {
            let mut line = Line::new();
            line.push(Span::new(if index == 0 { "? " } else { "  " }, theme.accent));
            line.push(Span::new(row.to_owned(), theme.strong));
            self.commit_rows(&line, HANG);
        }
        let own_words = question.free_text && !question.choices.is_empty();
        let own = own_words.then(|| self.locale.text(word::ask::OWN_WORDS).to_owned());
        let choices: Vec<String> =
            question.choices.iter().map(|choice| sanitize_line(choice).into_owned()).chain(own).collect();
        for (index, choice) in choices.iter().enumerate() {
            let mut line = Line::new();
            line.push(Span::new(format!("  {} ", index + 1), theme.accent));
            line.push(Span::plain(choice.clone()));
            self.commit_rows(&line, HANG);
        }
        let count = &choices.len().to_string();
        let hint = match (choices.len(), question.several) {
            (0, _) => self.locale.text(word::ask::HINT_WORDS).to_owned(),
            (_, false) => self.locale.with(word::ask::HintOne { count }),
            (_, true) => self.locale.with(word::ask::HintSeveral { count }),
        };
        let offer = Offer {
            choices: question.choices.len(),
            several: question.several,
            own_words,
            words_prompt: self.locale.text(word::ask::WORDS_PROMPT).to_owned(),
            hint,
        };
        let answer = self.interrupted_by(|asker, screen| asker.answer(&offer, screen));
        self.section = Section::Tool;
        if let Answer::Given { chosen, text } = &answer {
            let picked = chosen.iter().filter_map(|index| choices.get(*index)).cloned();
            let said = picked.chain(Some(sanitize_line(text).into_owned()).filter(|text| !text.is_empty()));
            let said = said.collect::<Vec<_>>().join(" · ");
            let said = if said.is_empty() { self.locale.text(word::ask::NONE).to_owned() } else { said };
            let mut line = Line::new();
            line.push(Span::new("❯ ", theme.accent));
            line.push(Span::plain(said));
            self.commit_rows(&line, HANG);
        }
        self.paint_live();
        answer
    }
}
