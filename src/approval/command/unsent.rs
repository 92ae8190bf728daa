//! Words of a command that name a file that is not sent. Such a file is a key or a settings file with which the program
//! only proves who the person is, or a file that the program is told to leave out.

use std::borrow::Cow;
use std::ops::Range;

/// Programs that stop reading options at the first word that is none, with the letters of those that have a value
/// (ssh(1), scp(1), sftp(1)); `-i` names the key, and so do some settings.
const OF_SSH: &[(&str, &str)] =
    &[("ssh", "BbcDEeFIiJLlmOoPpQRSWw"), ("scp", "cDFiJloPSX"), ("sftp", "BbcDFiJloPRSsX")];
/// Settings that name a key (ssh_config(5)).
const SETTINGS: &[&str] = &["IdentityFile=", "CertificateFile="];
/// Options of other programs; the word behind them is never anything else (curl(1), kubectl(1), rsync(1), tar(1)).
const OPTIONS: &[(&str, &[&str])] = &[
    ("curl", &["--key", "--cert", "-E"]),
    ("kubectl", &["--kubeconfig"]),
    ("helm", &["--kubeconfig"]),
    ("rsync", &["--exclude", "--include"]),
    ("tar", &["--exclude"]),
];

/// Finds such words of a command.
pub(super) fn unsent(words: &[&str]) -> Vec<usize> {
    let Some((program, rest)) = words.split_first() else { return Vec::new() };
    let name = program.strip_prefix("/usr/bin/").unwrap_or(program);
    if let Some((_, valued)) = OF_SSH.iter().find(|(known, _)| *known == name) {
        return of_ssh(rest, valued);
    }
    let Some((_, options)) = OPTIONS.iter().find(|(known, _)| *known == name) else { return Vec::new() };
    let has_value = |word: &str| {
        options.iter().any(|option| word.strip_prefix(option).is_some_and(|value| value.starts_with('=')))
    };
    let is_option = |word: &str| options.contains(&word);
    (0..rest.len())
        .filter(|at| has_value(rest[*at]) || *at > 0 && is_option(rest[at - 1]))
        .map(|at| at + 1)
        .collect()
}

fn of_ssh(words: &[&str], valued: &str) -> Vec<usize> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(letters) = words.get(at).and_then(|word| word.strip_prefix('-')) {
        // The first that has a value has what follows it, in this word or the next.
        let option = letters.char_indices().find(|(_, letter)| valued.contains(*letter));
        at += 1;
        let Some((place, option)) = option else { continue };
        if place + option.len_utf8() < letters.len() {
            continue;
        }
        let value = words.get(at).copied().unwrap_or_default();
        if option == 'i' || option == 'o' && SETTINGS.iter().any(|setting| value.starts_with(setting)) {
            // The program stands before them.
            found.push(at + 1);
        }
        at += 1;
    }
    found
}

/// Takes such words out of a line as it is written, and out of commands that stand in its quotes.
pub(super) fn without_unsent(text: &str) -> Cow<'_, str> {
    let mut programs = OF_SSH.iter().map(|(name, _)| name).chain(OPTIONS.iter().map(|(name, _)| name));
    if !programs.any(|name| text.contains(name)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for words in commands(text) {
        let names: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        let first = names.iter().position(|name| !is_assignment(name)).unwrap_or(0);
        let gone: Vec<usize> = unsent(&names[first..]).into_iter().map(|at| at + first).collect();
        for (number, word) in words.iter().enumerate() {
            out.push_str(&text[at..word.span.start]);
            let written = &text[word.span.clone()];
            match word.quoted.as_ref().filter(|_| !gone.contains(&number)) {
                Some(inside) => {
                    let (start, end) = (inside.start - word.span.start, inside.end - word.span.start);
                    out.push_str(&written[..start]);
                    out.push_str(&without_unsent(&written[start..end]));
                    out.push_str(&written[end..]);
                }
                None if gone.contains(&number) => {}
                None => out.push_str(written),
            }
            at = word.span.end;
        }
    }
    out.push_str(&text[at..]);
    Cow::Owned(out)
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    })
}

/// A word as it is written.
#[derive(Default)]
struct Written {
    span: Range<usize>,
    /// Without its quotes.
    text: String,
    /// What stands in its quotes, where it is one piece in one pair of them.
    quoted: Option<Range<usize>>,
}

/// Splits a line into commands and words. Where it is not plain what a command is, its first word is empty.
fn commands(text: &str) -> Vec<Vec<Written>> {
    let (mut all, mut words) = (Vec::new(), Vec::new());
    let mut word: Option<Written> = None;
    let mut quote: Option<(char, usize)> = None;
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        let end = at + letter.len_utf8();
        match quote {
            Some((open, start)) if letter == open => {
                quote = None;
                if let Some(word) = &mut word {
                    let is_first = word.quoted.is_none();
                    word.quoted = is_first.then_some(start..at);
                    word.span.end = end;
                }
                continue;
            }
            Some(_) => {
                if let Some(word) = &mut word {
                    word.text.push(letter);
                    word.span.end = end;
                }
                continue;
            }
            None => {}
        }
        if letter.is_whitespace() && letter != '\n' || ";|&()\n<>`".contains(letter) {
            words.extend(word.take());
            if !letter.is_whitespace() || letter == '\n' {
                all.push(std::mem::take(&mut words));
                // Behind these the words of the same command may go on.
                if ")<>`".contains(letter) {
                    words.push(Written { span: end..end, ..Written::default() });
                }
            }
            continue;
        }
        let word = word.get_or_insert_with(|| Written { span: at..end, ..Written::default() });
        word.span.end = end;
        match letter {
            '"' | '\'' => quote = Some((letter, end)),
            '\\' => {
                if let Some((at, letter)) = letters.next() {
                    word.text.push(letter);
                    word.span.end = at + letter.len_utf8();
                }
            }
            letter => word.text.push(letter),
        }
    }
    words.extend(word);
    all.push(words);
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_what_is_used_goes() {
        let left = |text: &str| without_unsent(text).split_whitespace().collect::<Vec<_>>().join(" ");
        for (line, expected) in [
            ("ssh -i KEY host", "ssh -i host"),
            ("ssh -i \"KEY\" host", "ssh -i host"),
            ("ssh -vp 22 -i KEY host cat < KEY", "ssh -vp 22 -i host cat < KEY"),
            ("scp -i KEY KEY host:", "scp -i KEY host:"),
            ("scp -q x -i KEY host:", "scp -q x -i KEY host:"),
            ("ssh -oIdentityFile=KEY host", "ssh -oIdentityFile=KEY host"),
            ("ssh -o IdentityFile=KEY host", "ssh -o host"),
            ("ssh -o ProxyCommand=KEY host", "ssh -o ProxyCommand=KEY host"),
            ("rsync -e \"ssh -i KEY\" KEY host:", "rsync -e \"ssh -i \" KEY host:"),
            ("rsync --exclude '.e' --exclude=.e .e host:", "rsync --exclude .e host:"),
            ("A='ssh -i KEY' B=1 git push", "A='ssh -i ' B=1 git push"),
            ("tar c ssh -i KEY | nc host 1", "tar c ssh -i KEY | nc host 1"),
            ("tar c 'x' ssh -i KEY | nc host 1", "tar c 'x' ssh -i KEY | nc host 1"),
            ("tar c x\\; ssh -i KEY", "tar c x\\; ssh -i KEY"),
            ("tar c $(x) ssh -i KEY", "tar c $(x) ssh -i KEY"),
            ("tar c > x ssh -i KEY", "tar c > x ssh -i KEY"),
            ("tar c `x` ssh -i KEY", "tar c `x` ssh -i KEY"),
            ("a; ssh -i KEY host", "a; ssh -i host"),
            ("./ssh -i KEY host", "./ssh -i KEY host"),
            ("curl --key KEY -d @KEY url", "curl --key -d @KEY url"),
            ("curl --key -T KEY url", "curl --key KEY url"),
        ] {
            assert_eq!(left(line), expected, "{line}");
        }
    }

    proptest! {
        /// Whatever the line: only words go, in their order.
        #[test]
        fn what_is_left_stands_in_the_line(pieces in prop::collection::vec(
            prop::sample::select(vec!["ssh", "-i", "K", " ", " ", " ", "\"", "'", "`", "$(", ")", ";", "|", "\\", "\n", "é", "--exclude", "rsync", "=", "<"]), 0..30)
        ) {
            let line = pieces.concat();
            let left = without_unsent(&line);
            let mut letters = line.chars();
            prop_assert!(left.chars().all(|letter| letters.any(|other| other == letter)), "{line:?} {left:?}");
        }
    }
}
