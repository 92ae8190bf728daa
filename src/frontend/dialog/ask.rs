//! Taking the answer to a running tool's question: a digit, several digits and Enter, or a line of words.

use std::io::Write;

use super::terminal::Terminal;
use crate::conversation::Answer;
use crate::frontend::human::Answers;
use crate::terminal::{KeyReader, Line, Press, Screen, Span, Theme, escape_wait};

/// Waits for the answer. The question and its choices are on the screen.
pub(super) fn answer<W: Write>(terminal: &Terminal, offer: &Answers, screen: &mut Screen<W>) -> Answer {
    if terminal.plain {
        return by_line(terminal, offer);
    }
    if offer.choices == 0 {
        return words(terminal, offer, Vec::new());
    }
    let theme = if terminal.color { Theme::ansi() } else { Theme::plain() };
    let mut picked = Picked::default();
    // Questions can wait for a slow line; they must not be stopped by half an arrow key.
    let mut keys = KeyReader::new(escape_wait(true));
    let end = loop {
        screen.live(&Line::new(), &status(offer, &picked, &theme));
        screen.flush();
        let press = keys.press();
        terminal.signals.hold_still();
        match press {
            None => {}
            Some(Press::Suspend) => {
                screen.end_live();
                terminal.suspend();
                screen.forget();
            }
            Some(press) => {
                if press == Press::Interrupt
                    && let Some(tty) = &terminal.tty
                {
                    tty.note_interrupt();
                }
                if let Some(end) = picked.take(press, offer) {
                    break end;
                }
            }
        }
    };
    screen.end_live();
    match end {
        End::Chosen => Answer::Given { chosen: picked.chosen, text: String::new() },
        End::Words => words(terminal, offer, picked.chosen),
        End::Aborted => Answer::Aborted,
    }
}

/// How picking ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Chosen,
    /// The person wants to say it in their own words, beside what was chosen.
    Words,
    Aborted,
}

/// What is picked so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Picked {
    /// Indices, ascending.
    chosen: Vec<usize>,
    own_words: bool,
}

impl Picked {
    /// Applies a key; tells when that was the last one.
    fn take(&mut self, press: Press, offer: &Answers) -> Option<End> {
        match press {
            Press::Escape | Press::Interrupt | Press::End | Press::Gone => Some(End::Aborted),
            Press::Enter if !offer.several => offer.has_default.then_some(End::Chosen),
            Press::Enter if self.own_words => Some(End::Words),
            Press::Enter => Some(End::Chosen),
            Press::Backspace => {
                self.own_words = false;
                self.chosen.pop();
                None
            }
            Press::Up | Press::Down | Press::PageUp | Press::PageDown | Press::DeleteLine | Press::Suspend => None,
            Press::Character(character) => {
                let number = usize::try_from(character.to_digit(10)?).ok()?;
                self.number(number, offer)
            }
        }
    }

    fn number(&mut self, number: usize, offer: &Answers) -> Option<End> {
        let index = number.checked_sub(1)?;
        if index < offer.choices {
            if !offer.several {
                self.chosen = vec![index];
                return Some(End::Chosen);
            }
            match self.chosen.binary_search(&index) {
                Ok(at) => drop(self.chosen.remove(at)),
                Err(at) => self.chosen.insert(at, index),
            }
        } else if index == offer.choices && offer.own_words {
            if !offer.several {
                return Some(End::Words);
            }
            self.own_words = !self.own_words;
        }
        None
    }
}

/// Composes the row under the choices: what is picked, and which keys do what.
fn status(offer: &Answers, picked: &Picked, theme: &Theme) -> Line {
    let own = picked.own_words.then_some(offer.choices);
    let numbers: Vec<String> =
        picked.chosen.iter().copied().chain(own).map(|index| (index + 1).to_string()).collect();
    let mut line = Line::new();
    line.push(Span::new("❯ ", theme.accent));
    if !numbers.is_empty() {
        line.push(Span::new(numbers.join(", "), theme.strong));
        line.push(Span::plain("  "));
    }
    line.push(Span::new(offer.hint.clone(), theme.dim));
    line
}

fn words(terminal: &Terminal, offer: &Answers, chosen: Vec<usize>) -> Answer {
    match terminal.feedback(&offer.words_prompt) {
        Some(text) => Answer::Given { chosen, text: text.trim().to_owned() },
        None => Answer::Aborted,
    }
}

/// Reads a line as the terminal edits it: numbers, or words where they are an answer.
fn by_line(terminal: &Terminal, offer: &Answers) -> Answer {
    let prompt = format!("{}: ", offer.hint);
    loop {
        let Some(line) = terminal.read_line(&prompt) else { return Answer::Aborted };
        if line.contains('\x1b') {
            return Answer::Aborted;
        }
        match read(&line, offer) {
            Some(Read::Answer(answer)) => return answer,
            Some(Read::Words(chosen)) => return words(terminal, offer, chosen),
            None => {}
        }
    }
}

/// What a line says.
#[derive(Debug, PartialEq, Eq)]
enum Read {
    Answer(Answer),
    /// The number of "in my own words" was among them.
    Words(Vec<usize>),
}

/// Understands a line; `None` for one that is no answer.
fn read(line: &str, offer: &Answers) -> Option<Read> {
    let line = line.trim();
    let given = |chosen, text: &str| Some(Read::Answer(Answer::Given { chosen, text: text.to_owned() }));
    if offer.choices == 0 {
        return given(Vec::new(), line);
    }
    let numbers: Option<Vec<usize>> = line
        .split([',', ' ', '，', '、'])
        .filter(|word| !word.is_empty())
        .map(|word| word.parse::<usize>().ok().filter(|number| *number > 0))
        .collect();
    match numbers {
        Some(numbers) if numbers.len() <= 1 && !offer.several => match numbers.first() {
            Some(&number) if number <= offer.choices => given(vec![number - 1], ""),
            Some(&number) if offer.own_words && number == offer.choices + 1 => Some(Read::Words(Vec::new())),
            None if offer.has_default => given(Vec::new(), ""),
            Some(_) | None => None,
        },
        Some(mut numbers) if offer.several => {
            numbers.sort_unstable();
            numbers.dedup();
            let last = offer.choices + usize::from(offer.own_words);
            if numbers.iter().any(|number| *number > last) {
                return None;
            }
            let chosen = numbers.iter().filter(|number| **number <= offer.choices).map(|number| number - 1);
            let chosen: Vec<usize> = chosen.collect();
            if chosen.len() < numbers.len() { Some(Read::Words(chosen)) } else { given(chosen, "") }
        }
        None if offer.own_words => given(Vec::new(), line),
        Some(_) | None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(choices: usize, several: bool, own_words: bool) -> Answers {
        Answers {
            choices,
            several,
            own_words,
            has_default: false,
            words_prompt: String::new(),
            hint: String::new(),
        }
    }

    fn press(keys: &str, offer: &Answers) -> (Picked, Option<End>) {
        let mut picked = Picked::default();
        for key in keys.chars() {
            let press = match key {
                '\r' => Press::Enter,
                '\x1b' => Press::Escape,
                '\x7f' => Press::Backspace,
                other => Press::Character(other),
            };
            if let Some(end) = picked.take(press, offer) {
                return (picked, Some(end));
            }
        }
        (picked, None)
    }

    #[test]
    fn one_digit_answers_and_nothing_else_does() {
        let one = offer(3, false, false);
        assert_eq!(press("\rx094\x7f2", &one), (Picked { chosen: vec![1], own_words: false }, Some(End::Chosen)));
        assert_eq!(press("\r4", &one).1, None);
        assert_eq!(press("4", &offer(3, false, true)).1, Some(End::Words));
        assert_eq!(press("x\x1b", &one).1, Some(End::Aborted));
    }

    #[test]
    fn several_digits_turn_on_and_off_until_enter() {
        let several = offer(3, true, true);
        let expected = (Picked { chosen: vec![0, 2], own_words: false }, Some(End::Chosen));
        assert_eq!(press("3221\r", &several), expected);
        assert_eq!(press("24\r", &several), (Picked { chosen: vec![1], own_words: true }, Some(End::Words)));
        assert_eq!(press("\r", &several).1, Some(End::Chosen));
    }

    #[test]
    fn a_line_is_numbers_or_words() {
        let given = |chosen: &[usize], text: &str| {
            Some(Read::Answer(Answer::Given { chosen: chosen.to_vec(), text: text.into() }))
        };
        assert_eq!(read(" 2 ", &offer(3, false, false)), given(&[1], ""));
        assert_eq!(read("4", &offer(3, false, false)), None);
        assert_eq!(read("4", &offer(3, false, true)), Some(Read::Words(vec![])));
        assert_eq!(read("1 2", &offer(3, false, true)), None);
        assert_eq!(read("3，1,1", &offer(3, true, false)), given(&[0, 2], ""));
        assert_eq!(read("2 4", &offer(3, true, true)), Some(Read::Words(vec![1])));
        assert_eq!(read("", &offer(3, true, false)), given(&[], ""));
        assert_eq!(read("两个都要", &offer(3, false, true)), given(&[], "两个都要"));
        assert_eq!(read("both", &offer(3, false, false)), None);
        assert_eq!(read(" 42 ", &offer(0, false, false)), given(&[], "42"));
    }
}
