//! Explains a command line from facts: what the pages installed here say of each program and flag, and what the judge
//! knows. What has no source is said to have none; no word of a model stands here.

mod installed;
mod page;

pub use installed::Installed;
pub use page::{Entry, Page};

use std::path::{Path, PathBuf};

use crate::approval::command::{Judged, LineJudgement, Part, judge};
use crate::approval::{Class, Surroundings, runs_its_words};
use crate::locale::{Locale, word};

/// Words of a command in which a sub-command is looked for.
const SUBCOMMAND_WITHIN: usize = 4;
/// Where the programs lie that the pages here are of.
const SYSTEM: &[&str] = &[
    "/bin",
    "/sbin",
    "/usr/bin",
    "/usr/sbin",
    "/usr/games",
    "/usr/local/bin",
    "/usr/local/sbin",
    "/opt/homebrew/bin",
    "/snap/bin",
];
/// What runs a program that is a file or a text, whose words follow.
const LANGUAGES: &[&str] = &[
    "bun", "deno", "fish", "java", "lua", "node", "npx", "perl", "php", "python", "python3", "ruby", "strace",
    "ltrace",
];
/// Their flags in front of that.
const GIVES_PROGRAM: &[&str] = &["-c", "-e", "-m", "-jar"];
/// What runs a command in a container.
const CONTAINERS: &[&str] = &["docker", "podman", "kubectl"];
/// More paths are told by their number.
const MOST_PATHS: usize = 5;

/// Where pages come from: the page of a program and its sub-command, if there is one.
pub trait Pages {
    /// Looks a page up: of a program, or of one of its sub-commands with a page of its own.
    fn page(&self, program: &str, subcommand: Option<&str>) -> Option<Page>;
}

/// What is said of one part of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explained {
    /// The part, as it stands in the line.
    pub part: String,
    /// What is said of it, a line each: what it is about, and the words.
    pub facts: Vec<Fact>,
}

/// One thing that is said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// A program, and what its page says it is.
    Program {
        /// Its name.
        name: String,
        /// The page.
        page: String,
        /// What it says.
        says: Option<String>,
    },
    /// Nothing here says what it is.
    NoPage {
        /// The program.
        name: String,
    },
    /// A flag, a sub-command or an operand, and its own line of a page.
    Entry {
        /// As it was written.
        written: String,
        /// The page.
        page: String,
        /// What it says.
        entry: Entry,
    },
    /// The page has no line of its own for it.
    NoLine {
        /// As it was written.
        written: String,
        /// The page.
        page: String,
        /// Whether the page has it somewhere in its text.
        is_named: bool,
    },
    /// Words that are known only when the line runs.
    Later,
}

/// Explains the parts of a line.
#[must_use]
pub fn explained(judged: &LineJudgement, pages: &dyn Pages) -> Vec<Explained> {
    let mut all: Vec<Explained> = Vec::new();
    for part in &judged.parts {
        let Part::Command { words, outer } = &part.part else { continue };
        // A wrapper is explained around what it runs.
        let is_around = |other: &Judged| match &other.part {
            Part::Command { outer, .. } => outer.iter().any(|around| **around == *words),
            Part::Redirection { .. } => false,
        };
        if judged.parts.iter().any(is_around) {
            continue;
        }
        let mut facts = Vec::new();
        let inner = words.first().cloned().flatten();
        for (number, around) in outer.iter().enumerate() {
            // What a wrapper runs is explained by itself.
            let next = outer.get(number + 1).map_or(inner.clone(), |next| next.first().cloned().flatten());
            let end = around.iter().skip(1).position(|word| word.is_some() && *word == next);
            command(&around[..end.map_or(around.len(), |end| end + 1)], pages, &mut facts);
        }
        command(words, pages, &mut facts);
        // What was said once is not said again.
        facts.retain(|fact| !all.iter().any(|known: &Explained| known.facts.contains(fact)));
        if !facts.is_empty() {
            all.push(Explained { part: part.text.clone(), facts });
        }
    }
    all
}

fn command(words: &[Option<String>], pages: &dyn Pages, facts: &mut Vec<Fact>) {
    let Some((Some(first), rest)) = words.split_first() else {
        facts.push(Fact::Later);
        return;
    };
    // A file of a project is no program of the system, even if it is called like one.
    let folder = first.rsplit_once('/').map(|(folder, _)| folder);
    let is_elsewhere = folder.is_some_and(|folder| !SYSTEM.contains(&folder));
    let name = if is_elsewhere { first } else { first.rsplit('/').next().unwrap_or(first) }.to_owned();
    let Some(page) = pages.page(&name, None).filter(|_| !is_elsewhere) else {
        facts.push(Fact::NoPage { name });
        return;
    };
    facts.push(Fact::Program { name: name.clone(), page: page.name.clone(), says: page.purpose() });
    let candidates = rest.iter().take(SUBCOMMAND_WITHIN).enumerate().filter_map(|(at, word)| {
        let word = word.as_deref()?;
        let plain = word.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-');
        (plain && word.starts_with(|letter: char| letter.is_ascii_alphabetic())).then_some((at, word))
    });
    let sub = candidates.clone().find_map(|(at, word)| Some((at, pages.page(&name, Some(word))?)));
    if let Some((at, own)) = &sub {
        let written = format!("{name} {}", rest[*at].as_deref().unwrap_or_default());
        facts.push(Fact::Program { name: written, page: own.name.clone(), says: own.purpose() });
    } else if let Some((_, word)) = candidates.clone().next()
        && rest.first().and_then(Option::as_deref) == Some(word)
        && let Some(entry) = page.word(word)
    {
        facts.push(Fact::Entry { written: word.to_owned(), page: page.name.clone(), entry });
    }
    let passes_on = runs_its_words(&name)
        || LANGUAGES.contains(&name.as_str())
        || (CONTAINERS.contains(&name.as_str())
            && sub.as_ref().is_some_and(|(at, _)| matches!(rest[*at].as_deref(), Some("run" | "exec"))));
    // A sub-command without a page: nothing here tells its flags.
    let is_untold = sub.is_none() && candidates.clone().next().is_some_and(|(at, _)| at == 0);
    let mut is_value = false;
    for (at, written) in rest.iter().enumerate() {
        let Some(written) = written.as_deref() else {
            is_value = false;
            continue;
        };
        if std::mem::take(&mut is_value) {
            continue;
        }
        if written == "--" {
            break;
        }
        let (page, other) = match &sub {
            Some((place, own)) if at > *place => (own, Some(&page)),
            Some(_) | None => (&page, None),
        };
        if written.starts_with('-') && written.len() > 1 {
            let before = facts.len();
            is_value = flags(written, page, other, facts);
            for fact in &mut facts[before..] {
                if let Fact::NoLine { is_named, .. } = fact {
                    *is_named |= is_untold;
                }
            }
            // What follows is for the program that is given there.
            if passes_on && GIVES_PROGRAM.contains(&written) {
                break;
            }
        } else if at == 0 && name == "tar" && sub.is_none() {
            // The oldest way: letters without a dash.
            letters(written, page, facts);
        } else if passes_on && sub.as_ref().is_none_or(|(place, _)| at > *place) {
            // Its own words end here.
            break;
        } else if let Some((operand, _)) = written.split_once('=')
            && let Some(entry) = page.word(&format!("{operand}="))
        {
            facts.push(Fact::Entry { written: written.to_owned(), page: page.name.clone(), entry });
        }
    }
}

/// Tells of a word of flags; returns whether the next word is the value of the last one.
fn flags(written: &str, page: &Page, other: Option<&Page>, facts: &mut Vec<Fact>) -> bool {
    let bare = written.split('=').next().unwrap_or(written);
    let find = |flag: &str| {
        let mut pages = std::iter::once(page).chain(other);
        pages.find_map(|page| Some((page, page.flag(flag)?)))
    };
    if let Some((page, entry)) = find(bare) {
        let is_open = entry.takes_value && !written.contains('=');
        facts.push(Fact::Entry { written: bare.to_owned(), page: page.name.clone(), entry });
        return is_open;
    }
    let is_bundle = !bare.starts_with("--") && bare.len() > 2;
    if is_bundle && find(&bare[..bare.char_indices().nth(2).map_or(bare.len(), |(at, _)| at)]).is_some() {
        return letters(&written[1..], page, facts);
    }
    facts.push(no_line(bare.to_owned(), page, other));
    false
}

fn no_line(written: String, page: &Page, other: Option<&Page>) -> Fact {
    let is_named = [Some(page), other].into_iter().flatten().any(|page| page.names(&written));
    Fact::NoLine { written, page: page.name.clone(), is_named }
}

/// Finds a flag that the installed pages of its program do not name anywhere, and the page. What is no plain flag, and what a short
/// page does not tell, is not looked at.
#[must_use]
pub fn unknown_flag(judged: &LineJudgement, pages: &dyn Pages) -> Option<(String, String)> {
    let is_flag = |flag: &str| {
        let name = flag.trim_start_matches('-');
        flag.len() - name.len() <= 2
            && name.starts_with(|letter: char| letter.is_ascii_alphabetic())
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-')
    };
    explained(judged, pages).into_iter().flat_map(|part| part.facts).find_map(|fact| match fact {
        Fact::NoLine { written, page, is_named: false } if is_flag(&written) => Some((written, page)),
        _ => None,
    })
}

/// Tells of letters that are a flag each, until one takes the rest as its value.
fn letters(written: &str, page: &Page, facts: &mut Vec<Fact>) -> bool {
    let count = written.chars().count();
    for (number, letter) in written.chars().enumerate() {
        let flag = format!("-{letter}");
        match page.flag(&flag) {
            Some(entry) => {
                let takes_value = entry.takes_value;
                facts.push(Fact::Entry { written: flag, page: page.name.clone(), entry });
                if takes_value {
                    return number + 1 == count;
                }
            }
            None => facts.push(no_line(flag, page, None)),
        }
    }
    false
}

/// Explains a line in words, a line each.
#[must_use]
pub fn explain(locale: &Locale, line: &str, place: &Surroundings, pages: &dyn Pages) -> Vec<String> {
    let judged = judge(line, place);
    let mut lines = Vec::new();
    for explained in explained(&judged, pages) {
        for fact in explained.facts {
            lines.push(match fact {
                Fact::Program { name, page, says: Some(says) } => format!("{name} — {says}  [{page}]"),
                Fact::Program { name, page, says: None } => format!("{name}  [{page}]"),
                Fact::NoPage { name } => locale.with(word::explain::NoPage { name: &name }),
                Fact::Entry { entry, .. } => format!("  {} — {}", entry.head, entry.says),
                Fact::NoLine { written, page, .. } => {
                    format!("  {}", locale.with(word::explain::NoLine { written: &written, page: &page }))
                }
                Fact::Later => locale.text(word::explain::LATER).to_owned(),
            });
        }
    }
    for part in &judged.parts {
        lines.push(of_judge(locale, part, place));
    }
    for (text, _) in &judged.unparsed {
        lines.push(locale.with(word::explain::Unparsed { text }));
    }
    lines.push(locale.text(undo(&judged)).to_owned());
    lines
}

fn of_judge(locale: &Locale, part: &Judged, place: &Surroundings) -> String {
    let what = locale.text(match part.class {
        Class::ReadOnly => word::explain::class::READ_ONLY,
        Class::Write => word::explain::class::WRITE,
        Class::Network => word::explain::class::NETWORK,
        Class::Execute => word::explain::class::EXECUTE,
        Class::Destructive => word::explain::class::DESTRUCTIVE,
    });
    let mut said = vec![what.to_owned()];
    let of =
        |reads: bool| part.paths.iter().filter(move |(_, only_reads)| *only_reads == reads).map(|(path, _)| path);
    for (reads, known) in [(true, of(true).collect::<Vec<_>>()), (false, of(false).collect())] {
        if known.is_empty() {
            continue;
        }
        let paths = &shown(&known, &place.cwd);
        said.push(if reads {
            locale.with(word::explain::Reads { paths })
        } else {
            locale.with(word::explain::Uses { paths })
        });
    }
    if let Some(name) = &part.credential {
        said.push(locale.with(word::explain::Secret { name }));
    }
    let (part, said) = (part.text.split_whitespace().collect::<Vec<_>>().join(" "), said.join(" · "));
    locale.with(word::explain::Judge { part: &part, said: &said })
}

fn shown(paths: &[&PathBuf], cwd: &Path) -> String {
    let names = paths.iter().take(MOST_PATHS).map(|path| {
        let near = path.strip_prefix(cwd).ok().filter(|near| !near.as_os_str().is_empty());
        near.unwrap_or(path).display().to_string()
    });
    let more = if paths.len() > MOST_PATHS { ", …" } else { "" };
    names.collect::<Vec<_>>().join(", ") + more
}

/// What of it could be taken back.
fn undo(judged: &LineJudgement) -> crate::locale::Word {
    let has = |class: Class| judged.parts.iter().any(|part| part.class == class);
    let all_read = judged.parts.iter().all(|part| part.class == Class::ReadOnly) && judged.unparsed.is_empty();
    if all_read {
        word::explain::undo::NOTHING
    } else if has(Class::Network) {
        word::explain::undo::NETWORK
    } else if judged.changes_more {
        word::explain::undo::MORE
    } else {
        word::explain::undo::NAMES
    }
}

#[cfg(test)]
#[path = "explain_tests.rs"]
mod tests;
