//! What the line asks for beside that: what is kept, printed or packed.

use std::ops::Range;

use super::{Change, raw, turns, words};

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

/// Leaves an archive unpacked whose name in the line ends in `.tar`.
pub(super) fn unpacked(line: &str, command: &mut String) -> Option<Change> {
    let all = raw(command)?;
    let word = |at: usize| all.get(at).map_or("", |range| &command[range.clone()]);
    let (was, archive) = (word(1).to_owned(), word(2).to_owned());
    let letters = was.strip_prefix('-').unwrap_or(&was);
    let is_made =
        letters.starts_with('c') && letters.ends_with('f') && letters.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_packed =
        ["gz", "zip", "compress", "bz", "xz", "pack"].iter().any(|word| line.to_lowercase().contains(word));
    let is_named =
        archive.ends_with(".tar") && line.split_whitespace().any(|word| word.trim_matches(['\'', '"']) == archive);
    let now: String = was.chars().filter(|letter| !"zj".contains(*letter)).collect();
    (word(0) == "tar" && is_made && is_named && !is_packed && now != was)
        .then(|| command.replace_range(all[1].clone(), &now))?;
    Some(Change::Instead { said: archive, was, now })
}
