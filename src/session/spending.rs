//! Adds up what all sessions cost: reads only the lines of their files that record it.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::SessionStore;
use super::entry::{Entry, EntryKind};
use crate::conversation::{Money, Usage};

/// A text that occurs in each line about a request's cost, and in few others.
const MARK: &[u8] = b"\"kind\":\"usage\"";

/// What a request cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spending {
    /// When.
    pub time: SystemTime,
    /// `PROVIDER/MODEL`.
    pub model: String,
    /// Tokens.
    pub usage: Usage,
    /// The cost at that day's price, if the price was known.
    pub usd: Option<Money>,
}

impl SessionStore {
    /// Passes every request of all sessions since `since` to `take`; lines that cannot be read are skipped.
    pub fn spending(&self, since: SystemTime, take: &mut dyn FnMut(Spending)) {
        // A file that was last written before `since` has nothing later in it.
        for summary in self.list().into_iter().filter(|summary| summary.modified >= since) {
            let Ok(file) = File::open(&summary.path) else { continue };
            let mut reader = BufReader::new(file);
            let mut line = Vec::new();
            while reader.read_until(b'\n', &mut line).is_ok_and(|bytes| bytes > 0) {
                if let Some(spending) = read(&line).filter(|spending| spending.time >= since) {
                    take(spending);
                }
                line.clear();
            }
        }
    }
}

fn read(line: &[u8]) -> Option<Spending> {
    memchr::memmem::find(line, MARK)?;
    let entry: Entry = serde_json::from_slice(line).ok()?;
    let EntryKind::Usage { model, usage, usd } = entry.kind else { return None };
    Some(Spending { time: UNIX_EPOCH + Duration::from_millis(entry.time), model, usage, usd })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_what_a_request_cost_and_others_tell_nothing() {
        let now = UNIX_EPOCH + Duration::from_secs(7);
        let usage = Usage { input: 5, ..Usage::default() };
        let kind = EntryKind::Usage { model: "lab/m".into(), usage, usd: Some(Money::dollars(0.5)) };
        let line = Entry::line(kind, now).unwrap();
        let expected = Spending { time: now, model: "lab/m".into(), usage, usd: Some(Money::dollars(0.5)) };
        assert_eq!(read(&line), Some(expected));
        let older =
            br#"{"v":1,"t":7000,"kind":"usage","model":"lab/m","usage":{"input_tokens":5,"output_tokens":0}}"#;
        assert_eq!(read(older).map(|spending| (spending.usage, spending.usd)), Some((usage, None)));
        let title = Entry::line(EntryKind::Title { title: "\"kind\":\"usage\"".into() }, now).unwrap();
        assert_eq!((read(&title), read(b"{"), read(b"")), (None, None, None));
    }
}
