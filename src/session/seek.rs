//! Searches a long session's file without loading it: only the messages that match the query are parsed.

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::path::Path;

use super::entry::{EntryKind, HEAD, ReadLine, VERSION, read_line};
use super::holder::{Files, Line};
use super::load::DEEPEST;
use super::parts::{Lines, on_threads, parts, read_part};
use super::sought::{Has, Sought};
use super::{SessionError, SessionId};
use crate::conversation::{Message, Role};

/// How many messages are parsed at most. While the file is scanned, so many hits are kept for each set of words.
const MOST: usize = 96;
/// How much a word counts that stands in one line of text with others, against one that stands anywhere.
const TOGETHER: f64 = 2.0;

/// What stands before the kind of a line, and what follows the kind of a message.
const KIND: &[u8] = b"\"kind\":\"";
const ROLE: &[u8] = b"message\",\"message\":{\"role\":\"";
/// How a line of this version begins.
const OURS: [u8; 7] = [b'{', b'"', b'v', b'"', b':', b'0' + VERSION.to_le_bytes()[0], b','];
/// The kinds of lines that change which messages there are.
const TELLING: [&[u8]; 4] = [b"message\"", b"rewound\"", b"cut\"", b"forked\""];

/// What a search found in a session's file.
#[derive(Debug, Default, PartialEq)]
pub struct Matches {
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
pub fn seek(path: &Path, words: &[String]) -> Result<Matches, SessionError> {
    let Some(sought) = Sought::new(words) else { return Ok(Matches::default()) };
    Ok(Seeker::read(path, u64::MAX, DEEPEST, &sought)?.matches())
}

/// What a line says about which messages there are.
enum Telling {
    Spoken(Spoken),
    Rewound(u64),
    Cut,
    Forked { from: SessionId, bytes: u64 },
}

/// A message, and where it stands in its file.
struct Spoken {
    role: Role,
    results: bool,
    calls: bool,
    /// Which of the words it has.
    has: Option<Has>,
    offset: u64,
    length: u64,
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

/// The messages of a session, counted in their order.
#[derive(Default)]
struct Seeker {
    files: Files,
    count: usize,
    said: Vec<usize>,
    found: HashMap<Has, Alike>,
    /// Whether the last message has calls.
    open: bool,
}

impl Seeker {
    /// Reads the first `most` bytes of a session's file; for a fork, the other session's file as well.
    fn read(path: &Path, most: u64, deepest: u32, sought: &Sought) -> Result<Self, SessionError> {
        let failed = |cause| SessionError::Io { path: path.to_owned(), cause };
        let file = File::open(path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let all_parts: Vec<_> = parts(length.min(most)).collect();
        let told = on_threads(all_parts.len(), |number, buffer| {
            let mut told = Vec::new();
            let mut take = |lines: &Lines<'_>| {
                tellings(lines, sought, &mut told);
                true
            };
            read_part(&file, all_parts[number].clone(), buffer, &mut take).map(|()| told)
        });
        let mut seeker = Self::default();
        for part in told {
            for telling in part.map_err(failed)? {
                seeker.take(telling, path, deepest, sought);
            }
        }
        Ok(seeker)
    }

    fn take(&mut self, telling: Telling, path: &Path, deepest: u32, sought: &Sought) {
        match telling {
            Telling::Spoken(spoken) => {
                if self.stands(&spoken) {
                    self.keep(&spoken, path);
                }
            }
            Telling::Rewound(messages) => self.rewind(usize::try_from(messages).unwrap_or(usize::MAX)),
            Telling::Cut => self.close(),
            Telling::Forked { from, bytes } => {
                let other = path.with_file_name(format!("{from}.jsonl"));
                let base = deepest.checked_sub(1).map(|deepest| Self::read(&other, bytes, deepest, sought));
                if let Some(Ok(mut base)) = base {
                    base.close();
                    *self = base;
                }
            }
        }
    }

    /// Counts a message. Returns false for results that answer no call: a loaded conversation leaves them out.
    fn stands(&mut self, spoken: &Spoken) -> bool {
        if spoken.results && !self.open {
            return false;
        }
        if !spoken.results {
            self.close();
        }
        self.open = spoken.calls;
        if spoken.role == Role::User && !spoken.results {
            self.said.push(self.count);
        }
        self.count += 1;
        true
    }

    /// Answers the calls that a crash left open.
    fn close(&mut self) {
        self.count += usize::from(std::mem::take(&mut self.open));
    }

    /// Goes back to so many messages, as [`crate::conversation::Conversation::rewind`] does.
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

    fn keep(&mut self, spoken: &Spoken, path: &Path) {
        let Some(has) = spoken.has else { return };
        let line = Line { file: self.files.number(path), offset: spoken.offset, length: spoken.length };
        let alike = self.found.entry(has).or_default();
        alike.count += 1;
        alike.newest.push_back(Hit { number: self.count - 1, line });
        if alike.newest.len() > MOST {
            alike.newest.pop_front();
        }
    }

    /// Parses the messages with the rarest words.
    fn matches(self) -> Matches {
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
        let Ok(files) = self.files.open() else { return Matches::default() };
        let mut messages: Vec<(usize, Message)> =
            best.filter_map(|hit| Some((hit.number, hit.line.read(&files)?))).collect();
        messages.sort_by_key(|(number, _)| *number);
        Matches { messages, said: self.said }
    }
}

/// Adds what lines say about which messages there are.
fn tellings(lines: &Lines<'_>, sought: &Sought, told: &mut Vec<Telling>) {
    let mut next = sought.next(lines.lower, 0);
    let mut start = 0;
    while start < lines.text.len() {
        let line = lines.line_of(start);
        let (text, lower) = (&lines.text[line.clone()], &lines.lower[line.clone()]);
        start = line.end + 1;
        let place = (lines.offset + line.start as u64, line.len() as u64);
        let may_have = next.is_some_and(|next| next < line.end);
        if may_have {
            next = sought.next(lines.lower, line.end);
        }
        let has = || may_have.then(|| sought.in_line(text, lower)).flatten();
        told.extend(message(text, place, has).map(Telling::Spoken).or_else(|| telling(text, place, sought)));
    }
}

/// Reads what counts of a line that axi wrote for a message. Its text is not parsed.
fn message(line: &[u8], (offset, length): (u64, u64), has: impl FnOnce() -> Option<Has>) -> Option<Spoken> {
    let rest = kind_of(line).filter(|_| line.starts_with(&OURS))?.strip_prefix(ROLE)?;
    let role = match rest {
        rest if rest.starts_with(b"user\",\"content\":[{") => Role::User,
        rest if rest.starts_with(b"assistant\",\"content\":[{") => Role::Assistant,
        _ => return None,
    };
    // JSON writes a quote within a text as `\"`, so these bytes are never part of a text.
    let has_block = |role_is, block: &[u8]| role == role_is && memchr::memmem::find(rest, block).is_some();
    let results = has_block(Role::User, b"\"type\":\"tool_result\"");
    let calls = has_block(Role::Assistant, b"\"type\":\"tool_call\"");
    Some(Spoken { role, results, calls, has: has(), offset, length })
}

/// Parses a line of another form, if it may tell something.
fn telling(line: &[u8], (offset, length): (u64, u64), sought: &Sought) -> Option<Telling> {
    let of_no_use = |kind: &[u8]| !TELLING.iter().any(|telling| kind.starts_with(telling));
    if kind_of(line).is_some_and(of_no_use) {
        return None;
    }
    let (ReadLine::Whole(kind) | ReadLine::Part(kind)) = read_line(line) else { return None };
    match kind {
        EntryKind::Message { message } => {
            let calls = message.calls().next().is_some();
            let written = serde_json::to_vec(&message).unwrap_or_default();
            let has = sought.in_line(&written, &written.to_ascii_lowercase());
            let (role, results) = (message.role, message.has_results());
            Some(Telling::Spoken(Spoken { role, results, calls, has, offset, length }))
        }
        EntryKind::Rewound { messages } => Some(Telling::Rewound(messages)),
        EntryKind::Cut { .. } => Some(Telling::Cut),
        EntryKind::Forked { from, bytes, .. } => Some(Telling::Forked { from, bytes }),
        EntryKind::Started { .. }
        | EntryKind::Usage { .. }
        | EntryKind::Model { .. }
        | EntryKind::Title { .. }
        | EntryKind::Topic { .. }
        | EntryKind::TurnEnded { .. }
        | EntryKind::Changed { .. }
        | EntryKind::CutUndone
        | EntryKind::Unanswered { .. }
        | EntryKind::Noted { .. }
        | EntryKind::NotesTold
        | EntryKind::Pinned { .. } => None,
    }
}

/// A line from its kind on.
fn kind_of(line: &[u8]) -> Option<&[u8]> {
    memchr::memmem::find(&line[..line.len().min(HEAD)], KIND).map(|at| &line[at + KIND.len()..])
}

#[expect(clippy::cast_precision_loss, reason = "counts of messages are far below 2^52")]
const fn as_float(count: usize) -> f64 {
    count as f64
}
