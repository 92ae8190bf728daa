//! Examples of commands from tldr-pages: what a small model is shown when its command cannot work here. They are shown only then;
//! shown before, they lead it away from what it knows.

use std::collections::{BTreeSet, HashMap};

/// A line each: a command, a tab, what it does; `#` begins a remark.
const TABLE: &str = include_str!("tldr.tsv");
/// How many are shown.
const MOST: usize = 2;
/// How much of what the ask says must be said of an example, 1 for all of it.
const ALIKE: f64 = 0.5;
/// Words that say nothing of what a command does.
const EMPTY: &str = "a all an and any are as at be by can do each find for from get give how i in into is it its list me my of on \
    or print show display tell that the this to use using what which with you your";

/// One example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Example {
    pub(super) command: &'static str,
    pub(super) says: &'static str,
}

impl Example {
    /// The program that it runs.
    pub(super) fn program(&self) -> &'static str {
        self.command.split(' ').next().unwrap_or_default()
    }
}

/// Finds the examples that say most of what is asked, of those that are `fit`.
pub(super) fn examples(asked: &str, fit: impl Fn(&Example) -> bool) -> Vec<Example> {
    let rows: Vec<(Example, BTreeSet<String>)> = TABLE.lines().filter_map(example).collect();
    let mut in_rows: HashMap<&str, f64> = HashMap::new();
    let mut count = 0.0;
    for (_, words) in &rows {
        count += 1.0;
        for word in words {
            *in_rows.entry(word).or_default() += 1.0;
        }
    }
    // A rare word says more.
    let weight = |word: &str| (count / (1.0 + in_rows.get(word).copied().unwrap_or(0.0_f64))).ln().max(0.0);
    let asked = words(asked);
    let all: f64 = asked.iter().map(|word| weight(word)).sum();
    let mut found: Vec<(usize, f64, Example)> = rows
        .iter()
        .filter_map(|(example, words)| {
            let same = asked.iter().filter(|word| words.contains(*word));
            let (count, sum) = same.fold((0, 0.0), |(count, sum), word| (count + 1, sum + weight(word)));
            let other: f64 = words.iter().filter(|word| !asked.contains(*word)).map(|word| weight(word)).sum();
            let is_alike = count > 0 && asked.len() > 1 && sum >= all * ALIKE;
            is_alike.then_some((count.min(2), sum - other / 8.0, *example))
        })
        .collect();
    // Two words in common say more than one that is rare.
    found.sort_by(|left, right| right.0.cmp(&left.0).then(right.1.total_cmp(&left.1)));
    let most = found.first().map_or(0, |(count, ..)| *count);
    let alike = found.into_iter().filter(|(count, ..)| *count == most).map(|(.., example)| example);
    alike.filter(|example| fit(example)).take(MOST).collect()
}

fn example(row: &'static str) -> Option<(Example, BTreeSet<String>)> {
    let (command, says) = row.split_once('\t').filter(|_| !row.starts_with('#'))?;
    let example = Example { command, says };
    let mut said = words(says);
    said.extend(words(example.program()));
    Some((example, said))
}

/// The words that say something, without their endings; a name of a file is "file".
fn words(text: &str) -> BTreeSet<String> {
    let kept = text.split_whitespace().flat_map(|word| {
        let word = word.trim_matches(|letter: char| !letter.is_alphanumeric());
        let is_name =
            word.contains(['/', '.', '_', '=', '$']) || word.chars().any(|letter| letter.is_ascii_digit());
        let word = if is_name { "file".to_owned() } else { word.to_lowercase() };
        word.split(|letter: char| !letter.is_alphanumeric()).map(str::to_owned).collect::<Vec<_>>()
    });
    let said = kept.filter(|word| !word.is_empty() && !EMPTY.split(' ').any(|empty| empty == word));
    said.map(|word| stem(&word).to_owned()).collect()
}

fn stem(word: &str) -> &str {
    let cut = ["ing", "es", "s", "ed"].iter().find_map(|end| word.strip_suffix(end).filter(|stem| stem.len() > 3));
    let stem = cut.unwrap_or(word);
    stem.strip_suffix('e').unwrap_or(stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(asked: &str) -> Option<&'static str> {
        examples(asked, |_| true).first().map(|example| example.command)
    }

    #[test]
    fn what_says_most_of_the_ask_comes_first() {
        assert_eq!(first("compress notes.txt, keeping the original file"), Some("gzip -k FILE"));
        assert_eq!(first("when has the system booted up, the date and time"), Some("uptime -s"));
        let installed =
            examples("display details of all network interfaces", |example| example.program() != "ifconfig");
        assert!(installed.iter().all(|example| example.program() != "ifconfig"));
    }

    #[test]
    fn an_ask_of_one_word_or_of_none_finds_nothing() {
        for asked in ["", "delete it", "reset it", "fix it", "你好"] {
            assert_eq!(examples(asked, |_| true), [], "{asked}");
        }
    }

    #[test]
    fn the_table_is_read_whole_and_says_whose_it_is() {
        let rows = TABLE.lines().filter(|row| !row.starts_with('#'));
        assert!(rows.clone().count() > 1_000 && rows.clone().all(|row| example(row).is_some()));
        assert!(TABLE.contains("CC-BY-4.0") && TABLE.contains("tldr-pages team"));
        assert!(!TABLE.contains("{{"));
    }
}
