//! A running tool's question as a person sees it: the question and its choices are rows for good, the answer is one
//! more.

use std::io::Write;

use super::painter::{HANG, Painter, Section};
use super::question::Answers;
use crate::conversation::{Answer, Question};
use crate::frontend::words;
use crate::locale::word;
use crate::terminal::{Line, Span, sanitize, sanitize_line};

/// Shows a question; returns what may be answered, and the choices as they are shown.
pub(super) fn show<W: Write>(painter: &mut Painter<W>, question: &Question) -> (Answers, Vec<String>) {
    painter.begin(Section::Question);
    let theme = *painter.theme();
    let question = &words::asked(painter.locale(), question);
    for (index, row) in sanitize(&question.text).lines().enumerate() {
        let mut line = Line::new();
        line.push(Span::new(if index == 0 { "? " } else { "  " }, theme.accent));
        line.push(Span::new(row.to_owned(), theme.strong));
        painter.commit_rows(&line, HANG);
    }
    let own_words = question.free_text && !question.choices.is_empty();
    let own = own_words.then(|| painter.locale().text(word::ask::OWN_WORDS).to_owned());
    let choices: Vec<String> =
        question.choices.iter().map(|choice| sanitize_line(choice).into_owned()).chain(own).collect();
    for (index, choice) in choices.iter().enumerate() {
        let mut line = Line::new();
        line.push(Span::new(format!("  {} ", index + 1), theme.accent));
        line.push(Span::plain(choice.clone()));
        painter.commit_rows(&line, HANG);
    }
    let count = &choices.len().to_string();
    let hint = match (choices.len(), question.several) {
        (0, _) => painter.locale().text(word::ask::HINT_WORDS).to_owned(),
        (_, false) => painter.locale().with(word::ask::HintOne { count }),
        (_, true) => painter.locale().with(word::ask::HintSeveral { count }),
    };
    let default = question.default.as_deref().map(|default| sanitize_line(default).into_owned());
    let hint = match &default {
        Some(default) => format!("{hint} · {}", painter.locale().with(word::ask::HintDefault { default })),
        None => hint,
    };
    let answers = Answers {
        has_default: default.is_some(),
        choices: question.choices.len(),
        several: question.several,
        own_words,
        words_prompt: painter.locale().text(word::ask::WORDS_PROMPT).to_owned(),
        hint,
    };
    (answers, choices)
}

/// Shows what was answered.
pub(super) fn tell<W: Write>(painter: &mut Painter<W>, question: &Question, choices: &[String], answer: &Answer) {
    painter.continue_as(Section::Tool);
    if let Answer::Given { chosen, text } = answer {
        let picked = chosen.iter().filter_map(|index| choices.get(*index)).cloned();
        let said = picked.chain(Some(sanitize_line(text).into_owned()).filter(|text| !text.is_empty()));
        let said = said.collect::<Vec<_>>().join(" · ");
        let default = || question.default.as_deref().map(|default| sanitize_line(default).into_owned());
        let said = Some(said).filter(|said| !said.is_empty()).or_else(default);
        let said = said.unwrap_or_else(|| painter.locale().text(word::ask::NONE).to_owned());
        let mut line = Line::new();
        line.push(Span::new("❯ ", painter.theme().accent));
        line.push(Span::plain(said));
        painter.commit_rows(&line, HANG);
    }
}
