//! Long sessions with facts planted in them, made up or recorded, and a reader that only sees what is sent and may search.
//!
//! The reader knows no answer: of the lines it sees it takes the one that has most words of the question, and where
//! none has the words that matter it calls `recall` once with the question.

use axi::context::{Beside, Limits, Need, PASSAGES, need, plan, recall, view};
use axi::conversation::{
    ContentBlock, Conversation, Message, Outcome, Role, ToolCall, ToolFacts, ToolResult, tokens,
};

/// The window of the model that reads, in tokens.
pub(crate) const WINDOW: u64 = 32_000;
/// How many turns a session has that is made up.
const TURNS: usize = 120;
/// How many turns at the end have no fact: what is sent whole is no question.
const NEWEST: usize = 16;

/// What happens in a turn.
pub(crate) struct Turn {
    /// What the person says.
    pub(crate) said: String,
    /// The commands that are run, with the lines they print.
    pub(crate) rounds: Vec<(String, Vec<String>)>,
    /// What the model says at last.
    pub(crate) answer: String,
}

/// Something that was said once.
pub(crate) struct Fact {
    question: String,
    answer: String,
    /// The words without which a line is about something else.
    about: [&'static str; 2],
}

/// A session, its facts, and what the reader came to.
pub(crate) struct Score {
    /// How many facts were planted.
    pub(crate) facts: usize,
    /// How many of them stand in what is sent, or are found by one search.
    pub(crate) findable: usize,
    /// How many the reader answered.
    pub(crate) answered: usize,
    /// All tokens of the session.
    pub(crate) whole: u64,
    /// The tokens of what is sent, and of all that a search for the average fact returns.
    pub(crate) read: u64,
    /// How often it was cut.
    pub(crate) cuts: usize,
}

const FIRST: [&str; 12] = [
    "amber", "basalt", "cobalt", "dusky", "ember", "fallow", "gilded", "hazel", "ivory", "jasper", "khaki", "lilac",
];
const SECOND: [&str; 12] = [
    "ledger",
    "gateway",
    "cron",
    "importer",
    "cache",
    "worker",
    "router",
    "indexer",
    "mailer",
    "billing",
    "replica",
    "scheduler",
];
const NOISE: [&str; 16] = [
    "compiling",
    "checking",
    "running",
    "finished",
    "port",
    "ticket",
    "deployed",
    "failed",
    "library",
    "fetched",
    "request",
    "handled",
    "table",
    "migrated",
    "listening",
    "decided",
];

/// A reproducible sequence of numbers.
struct Random(u64);

impl Random {
    /// SplitMix64 (Steele, Lea and Flood 2014).
    const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.next() % most as u64).unwrap_or_default()
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

/// Where a fact is said.
enum Place {
    User(String),
    Output(String),
    Command(String),
    Answer(String),
}

fn fact(number: usize, random: &mut Random) -> (Fact, Place) {
    let (first, second) = (FIRST[number % 12], SECOND[(number / 12 + number) % 12]);
    let subject = format!("{first} {second}");
    let (question, answer, place) = match number % 5 {
        0 => {
            let port = (20_000 + random.below(40_000)).to_string();
            let said = format!("Please keep in mind: the {subject} must always listen on port {port}.");
            (format!("Which port must the {subject} listen on?"), port, Place::User(said))
        }
        1 => {
            let ticket = format!("OPS-{}", 10_000 + random.below(80_000));
            let said = format!("By the way, the ticket of the {subject} is {ticket}.");
            (format!("What is the ticket of the {subject}?"), ticket, Place::User(said))
        }
        2 => {
            let path = format!("src/part{}/mod{}.rs:{}", random.below(900), random.below(900), random.below(900));
            let line = format!("error[E0{}]: the {subject} failed at {path}", 100 + random.below(800));
            (format!("Where did the {subject} fail?"), path, Place::Output(line))
        }
        3 => {
            let host = format!("host-{}.example.org", 1_000 + random.below(9_000));
            let line = format!("deploy --to {host} '{subject}'");
            (format!("To which host was the {subject} deployed?"), host, Place::Command(line))
        }
        _ => {
            let library = format!("lib{}-{}", random.below(9_000), random.below(9_000));
            let line = format!("I decided that the {subject} uses the library {library}.");
            (format!("Which library was decided on for the {subject}?"), library, Place::Answer(line))
        }
    };
    (Fact { question, answer, about: [first, second] }, place)
}

fn noise(lines: usize, random: &mut Random) -> Vec<String> {
    let line = |_| {
        let words: Vec<&str> = (0..6).map(|_| random.pick(&NOISE)).collect();
        // The first or the second word of a subject, never both: what is asked for looks like this.
        let near = if random.below(2) == 0 { random.pick(&FIRST) } else { random.pick(&SECOND) };
        format!("{} {near} {} 0x{:08x}", words.join(" "), random.below(60_000), random.next() & 0xffff_ffff)
    };
    (0..lines).map(line).collect()
}

fn round(conversation: &mut Conversation, command: &str, lines: &[String]) {
    let call = ToolCall {
        id: format!("c{}", conversation.messages().len()),
        name: "run".into(),
        input: serde_json::json!({ "command": command }),
        invalid_input: None,
        extra: serde_json::Map::new(),
        model: String::new(),
        arguments: String::new(),
    };
    let facts = ToolFacts { exit_code: Some(0), ..ToolFacts::default() };
    let result = ToolResult { content: lines.join("\n"), facts, ..ToolResult::closed(&call, Outcome::Ok) };
    conversation.push_assistant(Message { role: Role::Assistant, content: vec![ContentBlock::ToolCall(call)] });
    conversation.push_results(vec![result]);
}

/// A session that is made up.
fn invented(random: &mut Random) -> Vec<Turn> {
    let turn = |turn| {
        let said = format!("Step {turn}: look at the {} and go on.", random.pick(&NOISE));
        let lines = 50 + random.below(60);
        let make = (format!("make step{turn}"), noise(lines, random));
        let search = (format!("grep -rn x{turn}"), noise(40, random));
        Turn { said, rounds: vec![make, search], answer: format!("Step {turn} is done.") }
    };
    (0..TURNS).map(turn).collect()
}

/// Says a fact somewhere in a turn.
fn plant(turn: &mut Turn, place: Place, random: &mut Random) {
    match place {
        Place::User(text) => turn.said = format!("{} {text}", turn.said),
        Place::Answer(text) => turn.answer = format!("{}\n\n{text}", turn.answer),
        Place::Command(line) => turn.rounds.push((line, vec!["done".to_owned()])),
        Place::Output(line) => match turn.rounds.first_mut() {
            Some((_, lines)) => lines.insert(random.below(lines.len() + 1), line),
            None => turn.rounds.push(("make".to_owned(), vec![line])),
        },
    }
}

/// Talks, and cuts as the agent does where the model sums nothing up.
fn talk(turns: Vec<Turn>, random: &mut Random) -> (Conversation, Vec<Fact>, usize) {
    let (mut conversation, mut facts, mut cuts) = (Conversation::new(), Vec::new(), 0);
    let limits = Limits { window: WINDOW, beginning: 3_000, answer: 4_000 };
    let with_facts = turns.len().saturating_sub(NEWEST);
    for (number, mut turn) in turns.into_iter().enumerate() {
        if number % 2 == 0 && number < with_facts {
            let (fact, place) = fact(facts.len(), random);
            facts.push(fact);
            plant(&mut turn, place, random);
        }
        conversation.push_user(Message::user(turn.said));
        for (command, lines) in &turn.rounds {
            round(&mut conversation, command, lines);
        }
        conversation.push_assistant(Message::assistant(turn.answer));
        while need(conversation.messages(), conversation.cut(), &limits) >= Need::Soft {
            let Some(cut) = plan(conversation.messages(), conversation.cut(), &Beside::default(), &limits) else {
                break;
            };
            conversation.push_cut(cut);
            cuts += 1;
        }
    }
    (conversation, facts, cuts)
}

/// All lines that are read of messages.
fn lines(messages: &[Message]) -> Vec<String> {
    let texts = messages.iter().flat_map(|message| &message.content).map(|block| match block {
        ContentBlock::Text { text } => text.clone(),
        ContentBlock::ToolResult(result) => result.content.clone(),
        ContentBlock::ToolCall(call) => call.input.to_string(),
        ContentBlock::Reasoning(_) | ContentBlock::Image(_) | ContentBlock::WireItem(_) => String::new(),
    });
    texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// The line a reader takes: it is about the subject, and has most words of the question.
fn best<'a>(lines: &'a [String], fact: &Fact) -> Option<&'a String> {
    let words: Vec<String> =
        fact.question.to_lowercase().split(|c: char| !c.is_alphanumeric()).map(str::to_owned).collect();
    let score = |line: &&String| {
        let lower = line.to_lowercase();
        words.iter().filter(|word| word.len() > 2 && lower.contains(&word[..word.len().min(5)])).count()
    };
    lines.iter().filter(|line| fact.about.iter().all(|word| line.contains(word))).max_by_key(score)
}

/// Reads a session that is made up from this seed.
pub(crate) fn read(seed: u64) -> Score {
    let mut random = Random(seed);
    let turns = invented(&mut random);
    read_of(turns, &mut random)
}

/// Reads a session that was recorded, with facts of this seed planted in it.
pub(crate) fn read_recorded(turns: Vec<Turn>, seed: u64) -> Score {
    read_of(turns, &mut Random(seed))
}

fn read_of(turns: Vec<Turn>, random: &mut Random) -> Score {
    let (conversation, facts, cuts) = talk(turns, random);
    let messages = conversation.messages();
    let sent = view(messages, conversation.cut());
    let visible = lines(&sent);
    let (mut findable, mut answered, mut searched) = (0, 0, 0);
    for fact in &facts {
        let found = recall(messages, &fact.question, PASSAGES);
        let found: Vec<String> = found.iter().flat_map(|found| found.text.lines().map(str::to_owned)).collect();
        let holds = |lines: &[String]| lines.iter().any(|line| line.contains(&fact.answer));
        findable += usize::from(holds(&visible) || holds(&found));
        let taken = best(&visible, fact).or_else(|| {
            searched += found.iter().map(|line| tokens::estimate(line)).sum::<u64>();
            best(&found, fact)
        });
        answered += usize::from(taken.is_some_and(|line| line.contains(&fact.answer)));
    }
    let cost = |messages: &[Message]| messages.iter().map(tokens::estimate_message).sum::<u64>();
    let read = cost(&sent) + searched / facts.len() as u64;
    Score { facts: facts.len(), findable, answered, whole: cost(messages), read, cuts }
}
