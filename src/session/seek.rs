//! Searches a long session's file without loading it: only the messages that match the query are parsed.

use std::collections::{HashMap, VecDeque};
use std::path::Path;

use super::SessionError;
use super::entry::{HEAD, VERSION};
use super::holder::{Files, Holder, Line, Place};
use super::load;
use super::sought::{Has, Sought};
use crate::conversation::{Message, Role};

/// How many messages are parsed at most. While the file is scanned, so many hits are kept for each set of words.
const MOST: usize = 96;
/// How much a word counts that stands in one line of text with others, against one that stands anywhere.
const TOGETHER: f64 = 2.0;

/// What follows the time in a message's line.
const ROLE: &[u8] = b"\"kind\":\"message\",\"message\":{\"role\":\"";

/// What a search found in a session's file.
#[derive(Debug, Default, PartialEq)]
pub struct Told {
    /// The best messages, the oldest first, each with its number, counted from 0.
    pub messages: Vec<(usize, Message)>,
    /// The numbers of the messages that a person said.
    pub said: Vec<usize>,
}

/// Searches a session's file for words in lower case. Of messages with the same words only the newest are returned; a
/// message that alone has a word is always returned.
///
/// # Errors
/// [`SessionError`].
pub fn seek(path: &Path, words: &[String]) -> Result<Told, SessionError> {
    let Some(sought) = Sought::new(words) else { return Ok(Told::default()) };
    let seeker = load::held_lines(path, Seeker::new(&sought))?;
    Ok(seeker.told())
}

/// A message with some of the words.
struct Hit {
    number: usize,
    line: Line,
}

/// The messages that have the same words.
#[derive(Default)]
struct Alike {
    count: usize,
    newest: VecDeque<Hit>,
}

struct Seeker<'a> {
    sought: &'a Sought,
    files: Files,
    count: usize,
    said: Vec<usize>,
    found: HashMap<Has, Alike>,
    /// Whether the last message has calls.
    open: bool,
}

impl<'a> Seeker<'a> {
    fn new(sought: &'a Sought) -> Self {
        let (files, said, found) = (Files::default(), Vec::new(), HashMap::new());
        Self { sought, files, count: 0, said, found, open: false }
    }

    /// Counts a message. Returns false for results that answer no call: a loaded conversation leaves them out.
    fn stands(&mut self, role: Role, results: bool, calls: bool) -> bool {
        if results && !self.open {
            return false;
        }
        if !results {
            self.close();
        }
        self.open = calls;
        if role == Role::User && !results {
            self.said.push(self.count);
        }
        self.count += 1;
        true
    }

    fn keep(&mut self, line: &[u8], place: Place<'_>) {
        let Some(has) = self.sought.in_line(line) else { return };
        let line = Line { file: self.files.number(place.path), offset: place.offset, length: place.length };
        let alike = self.found.entry(has).or_default();
        alike.count += 1;
        alike.newest.push_back(Hit { number: self.count - 1, line });
        if alike.newest.len() > MOST {
            alike.newest.pop_front();
        }
    }

    /// Parses the messages with the rarest words.
    fn told(self) -> Told {
        let rarity = |bit: u32| {
            let having = self.found.iter().filter(|(has, _)| has.words & bit != 0);
            let having: usize = having.map(|(_, alike)| alike.count).sum();
            (as_float(self.count + 1) / (as_float(having) + 0.5)).ln_1p()
        };
        let rarity: Vec<f64> = (0..u32::BITS).map(|place| rarity(1 << place)).collect();
        let sum = |bits: u32| -> f64 {
            rarity.iter().enumerate().filter(|(place, _)| (bits >> place) & 1 == 1).map(|(_, rarity)| rarity).sum()
        };
        let mut kinds: Vec<(f64, &Alike)> =
            self.found.iter().map(|(has, alike)| (sum(has.words) + TOGETHER * sum(has.together), alike)).collect();
        kinds.sort_by(|(left, _), (right, _)| right.total_cmp(left));
        let best = kinds.into_iter().flat_map(|(_, alike)| alike.newest.iter().rev()).take(MOST);
        let Ok(files) = self.files.open() else { return Told::default() };
        let mut messages: Vec<(usize, Message)> =
            best.filter_map(|hit| Some((hit.number, hit.line.read(&files)?))).collect();
        messages.sort_by_key(|(number, _)| *number);
        Told { messages, said: self.said }
    }
}

impl Holder for Seeker<'_> {
    fn anew(&self) -> Self {
        Self::new(self.sought)
    }

    fn line(&mut self, line: &[u8], place: Place<'_>) -> bool {
        let head = &line[..line.len().min(HEAD)];
        let Some(role) = memchr::memmem::find(head, ROLE).map(|at| &line[at + ROLE.len()..]) else { return false };
        if !head.starts_with(format!("{{\"v\":{VERSION},").as_bytes()) {
            return false;
        }
        let role = match role {
            role if role.starts_with(b"user\",\"content\":[{") => Role::User,
            role if role.starts_with(b"assistant\",\"content\":[{") => Role::Assistant,
            _ => return false,
        };
        // JSON writes a quote within a text as `\"`, so these bytes are never part of a text.
        let has = |role_is, text: &[u8]| role == role_is && memchr::memmem::find(line, text).is_some();
        let results = has(Role::User, b"\"type\":\"tool_result\"");
        let calls = has(Role::Assistant, b"\"type\":\"tool_call\"");
        if self.stands(role, results, calls) {
            self.keep(line, place);
        }
        true
    }

    fn message(&mut self, message: Message, place: Place<'_>) {
        let calls = message.calls().next().is_some();
        if self.stands(message.role, message.has_results(), calls)
            && let Ok(line) = serde_json::to_vec(&message)
        {
            self.keep(&line, place);
        }
    }

    fn close(&mut self) {
        self.count += usize::from(std::mem::take(&mut self.open));
    }

    fn rewind(&mut self, messages: usize) {
        self.close();
        if self.said.contains(&messages) {
            self.count = messages;
            self.said.retain(|said| *said < messages);
            for alike in self.found.values_mut() {
                alike.newest.retain(|hit| hit.number < messages);
            }
        }
    }

    fn count(&self) -> usize {
        self.count
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of messages are far below 2^52")]
const fn as_float(count: usize) -> f64 {
    count as f64
}
