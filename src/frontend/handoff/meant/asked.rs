//! What the line asks for beside that: what is kept, printed, packed or counted in.

use std::ops::Range;

use super::change::Change;
use super::text::{is_joint, is_search, raw, turns, words};

/// Keeps the file that is compressed, where the line says so: `gzip` and the like delete it.
pub(super) fn kept(line: &str, command: &mut String) -> Option<Change> {
    let words = words(line);
    let at = words.iter().position(|word| word.starts_with("keep"))?;
    let original = words[at..].iter().take(4).any(|word| word.starts_with("original") || word == "source");
    let is_turned = at > 0 && turns(&words[at - 1]);
    let all = raw(command)?;
    let mut packs = all.iter().filter(|word| ["gzip", "bzip2", "xz", "zstd"].contains(&&command[(*word).clone()]));
    let pack = packs.next().filter(|_| packs.next().is_none() && original && !is_turned)?;
    let is_flag = |word: &Range<usize>| {
        let word = &command[word.clone()];
        word.starts_with('-') && (word.contains(['k', 'c']) || word.starts_with("--"))
    };
    let end = pack.end;
    if all.iter().any(|word| word.start > end && is_flag(word)) {
        return None;
    }
    command.insert_str(end, " -k");
    Some(Change::Added { said: words[at..words.len().min(at + 3)].join(" "), now: "-k".to_owned() })
}

/// Prints the text of the line as it stands there: a small model gives "hello world" a capital and a comma.
pub(super) fn printed(line: &str, command: &mut String) -> Option<Change> {
    let (verb, said) = line.trim().split_once(' ')?;
    let said = said.trim();
    let quoted = ['\'', '"'].iter().find_map(|quote| said.strip_prefix(*quote)?.strip_suffix(*quote));
    let said = quoted.unwrap_or(said);
    let text = command
        .strip_prefix("echo ")
        .filter(|text| !text.contains(['$', '`', '>', '<', '|', ';', '&', '\\', '*']))?;
    let text = shlex::split(text)?.join(" ");
    let is_text = "print echo say output display".split(' ').any(|known| verb.eq_ignore_ascii_case(known));
    // A shell may take these for more than letters.
    let is_plain = !said.starts_with('-') && !said.contains(['\\', '$', '`']);
    if !is_text || !is_plain || said == text || words(said).is_empty() || words(said) != words(&text) {
        return None;
    }
    let now = format!("echo {}", shlex::try_quote(said).ok()?);
    let was = std::mem::replace(command, now.clone());
    Some(Change::Instead { said: said.to_owned(), was, now })
}

/// Does not compress an archive whose name in the line ends in `.tar`.
pub(super) fn plain_archive(line: &str, command: &mut String) -> Option<Change> {
    let all = raw(command)?;
    let word = |at: usize| all.get(at).map_or("", |range| &command[range.clone()]);
    let (was, archive) = (word(1).to_owned(), word(2).to_owned());
    let letters = was.strip_prefix('-').unwrap_or(&was);
    let is_made =
        letters.starts_with('c') && letters.ends_with('f') && letters.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_packed =
        ["gz", "zip", "compress", "bz", "xz", "pack"].iter().any(|word| line.to_lowercase().contains(word));
    let is_named = std::path::Path::new(&archive).extension().is_some_and(|end| end == "tar")
        && line.split_whitespace().any(|word| word.trim_matches(['\'', '"']) == archive);
    let now: String = was.chars().filter(|letter| !"zj".contains(*letter)).collect();
    (word(0) == "tar" && is_made && is_named && !is_packed && now != was)
        .then(|| command.replace_range(all[1].clone(), &now))?;
    Some(Change::Instead { said: archive, was, now })
}

/// Looks for the letters that the line quotes, in no other case.
pub(super) fn cased(line: &str, command: &mut String) -> Option<Change> {
    const CASE: &[&str] = &["case", "insensitiv", "ignor", "any", "upper", "lower", "either", "whatever"];
    let lower = line.to_lowercase();
    if CASE.iter().any(|word| lower.contains(word)) {
        return None;
    }
    let all = raw(command)?;
    let word = |at: usize| all.get(at).map_or("", |range| &command[range.clone()]);
    let starts = |at: usize| at == 0 || is_joint(word(at - 1)) || word(at - 1) == "-exec";
    let change = |at: usize| {
        let (program, flags, pattern) = (word(at), word(at + 1), word(at + 2).trim_matches(['\'', '"']));
        let letters = flags.strip_prefix('-').filter(|letters| letters.contains('i'))?;
        let is_plain = letters.bytes().all(|byte| b"EFGHRchilnorswx".contains(&byte)) && !pattern.is_empty();
        let is_quoted = ['\'', '"'].iter().any(|quote| line.contains(&format!("{quote}{pattern}{quote}")));
        let rest = letters.replace('i', "");
        let now = if rest.is_empty() { program.to_owned() } else { format!("{program} -{rest}") };
        let was = format!("{program} {flags}");
        let range = all[at].start..all[at + 1].end;
        (is_plain && is_quoted).then(|| (range, Change::Instead { said: pattern.to_owned(), was, now }))
    };
    let changes: Vec<(Range<usize>, Change)> =
        (0..all.len()).filter(|at| is_search(word(*at)) && starts(*at)).filter_map(change).collect();
    for (range, change) in changes.iter().rev() {
        if let Change::Instead { now, .. } = change {
            command.replace_range(range.clone(), now);
        }
    }
    changes.into_iter().next().map(|(_, change)| change)
}

/// Prints what an archive holds instead of leaving it on the disk, where the line says "stdout".
pub(super) fn streamed(line: &str, command: &mut String) -> Option<Change> {
    let said = ["stdout", "standard output"].into_iter().find(|said| line.contains(said))?;
    let all = raw(command)?;
    let word = |at: usize| all.get(at).map_or("", |range| &command[range.clone()]);
    let (flags, pipe) = (word(1), (2..all.len()).find(|at| is_joint(word(*at)))?);
    let letters = flags.strip_prefix('-').unwrap_or(flags);
    let is_read =
        letters.contains('x') && letters.ends_with('f') && letters.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_told = (2..pipe).any(|at| word(at).starts_with('-'));
    if word(0) != "tar" || !is_read || is_told || word(pipe) != "|" {
        return None;
    }
    command.insert_str(all[pipe - 1].end, " -O");
    Some(Change::Added { said: said.to_owned(), now: "-O".to_owned() })
}

/// Has `du` name files, where the line asks for all of them: by itself it names directories only.
pub(super) fn all_files(line: &str, command: &mut String) -> Option<Change> {
    let words = words(line);
    let before = ["all", "each", "every", "largest", "biggest", "smallest"];
    let said = words
        .windows(2)
        .find(|pair| before.contains(&pair[0].as_str()) && ["file", "files"].contains(&pair[1].as_str()))?;
    let all = raw(command)?;
    let word = |at: usize| all.get(at).map_or("", |range| &command[range.clone()]);
    let end = (1..all.len()).find(|at| is_joint(word(*at))).unwrap_or(all.len());
    let is_plain = |at: usize| match word(at).strip_prefix('-') {
        Some(letters) => letters.bytes().all(|byte| b"bhkm".contains(&byte)),
        None => !word(at).contains(['*', '?', '[', '{', '$', '`', ';', '<']),
    };
    if word(0) != "du" || !(1..end).all(is_plain) {
        return None;
    }
    let said = said.join(" ");
    command.insert_str(all[0].end, " -a");
    Some(Change::Added { said, now: "-a".to_owned() })
}
