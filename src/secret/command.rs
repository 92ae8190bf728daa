//! Secrets among the arguments of programs: `mysql -pX`, `curl -u a:X`, `echo X | sudo -S …`.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use super::name::{Naming, naming};
use super::table::{
    ARGUMENTS, Argument, KEEPS, PASSWORD_OPTIONS, PRINTERS, READS_SECRET, SETTERS, Take, USER_OPTIONS,
};

/// The most words that are looked at behind a program.
const MOST_WORDS: usize = 64;

/// How deep quotes are looked into.
const DEPTH: usize = 3;

/// The rows of each program.
static ROWS: LazyLock<Rows> = LazyLock::new(|| {
    let mut rows = Rows { by_name: HashMap::new(), lengths: [0; 256] };
    for row in ARGUMENTS {
        for program in row.programs {
            rows.by_name.entry(program).or_default().push(row);
            if let Some(first) = program.bytes().next() {
                rows.lengths[usize::from(first)] |= bit_of(program.len());
            }
        }
    }
    rows
});

struct Rows {
    by_name: HashMap<&'static str, Vec<&'static Argument>>,
    /// Of each first byte, how long the names are that begin with it, one bit a length: most words are no name.
    lengths: [u32; 256],
}

impl Rows {
    fn of(&self, program: &str) -> &[&'static Argument] {
        let first = program.bytes().next().map_or(0, usize::from);
        if self.lengths[first] & bit_of(program.len()) == 0 {
            return &[];
        }
        self.by_name.get(program).map_or(&[], Vec::as_slice)
    }
}

/// The bit of a length; the last one is that of all longer ones, too.
fn bit_of(length: usize) -> u32 {
    1 << length.min(31)
}

/// A word of a line.
struct Word<'a> {
    /// Without the quotes around it.
    text: &'a str,
    start: usize,
}

/// Finds them in a line.
pub(super) fn find(line: &str, found: &mut Vec<Range<usize>>) {
    find_in(line, 0, DEPTH, found);
    // A command as a list of words: `["redis-server", "--requirepass", "X"]`.
    for at in memchr::memchr_iter(b'[', line.as_bytes()) {
        if matches!(line.as_bytes().get(at + 1), Some(b'"' | b'\'')) {
            let list = &line[at..line[at..].find(']').map_or(line.len(), |end| at + end)];
            let blank = |byte: u8| if b"\"',[".contains(&byte) { b' ' } else { byte };
            // Each of these signs is one byte, and stays one.
            if let Ok(words) = String::from_utf8(list.bytes().map(blank).collect()) {
                find_in(&words, at, 0, found);
            }
        }
    }
}

fn find_in(line: &str, start: usize, depth: usize, found: &mut Vec<Range<usize>>) {
    if memchr::memchr2(b' ', b'\t', line.as_bytes()).is_none() {
        return;
    }
    let commands = commands(line);
    let mut inside = Vec::new();
    // Another line, in the quotes of this one: `alias db='mysql -pX'`, `sh -c "…"`.
    for word in commands.iter().flatten().filter(|word| depth > 0 && word.text.len() < line.len()) {
        if let Some(room) = word.text.find([' ', '\t']) {
            let open = word.text[..room].rfind(['"', '\'']).map_or(0, |at| at + 1);
            find_in(&word.text[open..], start + word.start + open, depth - 1, found);
        }
    }
    find_here(&commands, &mut inside);
    found.extend(inside.into_iter().map(|range| start + range.start..start + range.end));
}

fn find_here(commands: &[Vec<Word<'_>>], found: &mut Vec<Range<usize>>) {
    for (at, command) in commands.iter().enumerate() {
        let begins = |sign: u8| command.iter().any(|word| word.text.as_bytes().first() == Some(&sign));
        programs(command, found);
        setters(command, found);
        if begins(b'-') {
            logins(command, found);
            kept(command, found);
        }
        // `echo X | sudo -S …`: what is printed is read as a secret; `(echo X; echo X) | passwd`: all of them print for it.
        if let Some(first) = command.iter().position(is_printer)
            && let Some(reader) = commands[at + 1..].iter().take(4).find(|next| !prints(next))
            && reads_secret(reader)
        {
            push_printed(&command[first + 1..], found);
        }
        if let Some(next) = commands.get(at + 1) {
            substituted(command, next, found);
        }
        if begins(b'<') {
            here(command, found);
        }
    }
}

/// Of each byte, whether it may end a word, or begin or end quotes.
const IS_SIGN: [bool; 256] = {
    let mut signs = [false; 256];
    let mut at = 0;
    while at < SIGNS.len() {
        signs[SIGNS[at] as usize] = true;
        at += 1;
    }
    signs
};
const SIGNS: &[u8] = b"\"' \t|;()&";

/// The last part of a path.
fn base(text: &str) -> &str {
    let slash = text.bytes().rposition(|byte| byte == b'/');
    slash.map_or(text, |slash| &text[slash + 1..])
}

/// Splits a line into commands and those into words, roughly: what is found in quotes is one word.
fn commands(line: &str) -> Vec<Vec<Word<'_>>> {
    let mut commands: Vec<Vec<Word<'_>>> = vec![Vec::new()];
    let bytes = line.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b' ' | b'\t' => at += 1,
            b'|' | b';' | b'&' | b'(' | b')' => {
                if commands.last().is_some_and(|command| !command.is_empty()) {
                    commands.push(Vec::new());
                }
                at += 1;
            }
            _ => {
                let start = at;
                let mut quote = None;
                while at < bytes.len() {
                    let byte = bytes[at];
                    if !IS_SIGN[usize::from(byte)] {
                        at += 1;
                        continue;
                    }
                    match quote {
                        Some(open) if byte == open => quote = None,
                        None if matches!(byte, b'"' | b'\'') => quote = Some(byte),
                        None if matches!(byte, b' ' | b'\t' | b'|' | b';' | b'(' | b')') => break,
                        None if byte == b'&' && bytes.get(at + 1).is_none_or(|next| b"& ".contains(next)) => break,
                        Some(_) | None => {}
                    }
                    at += 1;
                }
                let whole = &line[start..at];
                let inside = whole.trim_start_matches(['"', '\'', '`', '$']);
                let skipped = if inside.len() < whole.len() && whole.starts_with('$') && !whole.starts_with("$'") {
                    0
                } else {
                    whole.len() - inside.len()
                };
                let text = whole[skipped..].trim_end_matches(['"', '\'', '`']);
                if let Some(command) = commands.last_mut() {
                    command.push(Word { text, start: start + skipped });
                }
            }
        }
    }
    commands
}

fn push(start: usize, text: &str, found: &mut Vec<Range<usize>>) {
    let inside = text.trim_start_matches(['=', '"', '\'']);
    let start = start + (text.len() - inside.len());
    let is_variable = inside.starts_with(['$', '<']) || inside.starts_with("{{");
    if inside.chars().count() >= 3 && !is_variable {
        found.push(start..start + inside.len());
    }
}

fn programs(command: &[Word<'_>], found: &mut Vec<Range<usize>>) {
    for (at, word) in command.iter().enumerate() {
        let program = base(word.text);
        // Behind a place in a file or a mark of a change: `run.sh:3:mysql`, `+mysql`.
        let sign = program.bytes().rposition(|byte| matches!(byte, b'=' | b':' | b'+'));
        let program = sign.map_or(program, |sign| &program[sign + 1..]).trim_start_matches(['\'', '"']);
        let rest = &command[at + 1..command.len().min(at + 1 + MOST_WORDS)];
        if rest.is_empty() {
            continue;
        }
        for row in ROWS.of(program) {
            if row.with.is_empty() || rest.iter().any(|word| word.text == row.with) {
                argument(row, rest, found);
            }
        }
    }
}

fn argument(row: &Argument, rest: &[Word<'_>], found: &mut Vec<Range<usize>>) {
    let Argument { option, take, .. } = row;
    if let Take::Place(place) = take {
        let plain = rest.iter().filter(|word| !word.text.starts_with('-'));
        if let Some(word) = plain.clone().nth(place - 1) {
            push(word.start, word.text, found);
        }
        return;
    }
    for (at, word) in rest.iter().enumerate() {
        let behind = if is_cluster(word.text, option, take) { Some("") } else { word.text.strip_prefix(option) };
        let Some(behind) = behind else { continue };
        let is_long = option.starts_with("--");
        let next = || rest.get(at + 1);
        let start = word.start + word.text.len() - behind.len();
        match take {
            Take::Attached => push(start, behind, found),
            Take::After if behind.is_empty() => {
                if let Some(next) = next() {
                    push(next.start, next.text, found);
                }
            }
            Take::Option if behind.is_empty() => {
                if let Some(next) = next().filter(|next| !next.text.starts_with('-')) {
                    push(next.start, next.text, found);
                }
            }
            Take::Option if !is_long || behind.starts_with('=') => push(start, behind, found),
            Take::Behind(mark) => {
                let (start, text) = match next() {
                    Some(next) if behind.is_empty() => (next.start, next.text),
                    _ if !is_long || behind.starts_with('=') => (start, behind),
                    _ => continue,
                };
                match text.split_once(mark) {
                    // Where the password says nothing, the name is the token.
                    Some((before, "")) if before.len() >= 8 => push(start, before, found),
                    Some((before, secret)) => push(start + before.len() + mark.len(), secret, found),
                    None => {}
                }
            }
            Take::Option | Take::After | Take::Place(_) => {}
        }
    }
}

/// `-sSu`, where the option is `-u`: the value is the next word.
fn is_cluster(word: &str, option: &str, take: &Take) -> bool {
    let next = matches!(take, Take::Option | Take::Behind(_) | Take::After);
    let letters = word.strip_prefix('-').filter(|letters| (2..=5).contains(&letters.len()));
    next && option.len() == 2
        && letters.is_some_and(|letters| {
            letters.bytes().all(|byte| byte.is_ascii_alphabetic())
                && option.as_bytes().ends_with(&letters.as_bytes()[letters.len() - 1..])
        })
}

/// `set -gx API_TOKEN X`, `aws configure set aws_secret_access_key X`.
fn setters(command: &[Word<'_>], found: &mut Vec<Range<usize>>) {
    let Some(setter) = command.iter().position(|word| {
        let name = base(word.text);
        SETTERS.contains(&name) || name.ends_with(":set") || name.ends_with(":add")
    }) else {
        return;
    };
    for pair in command[setter + 1..].windows(2) {
        let [name, value] = pair else { continue };
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:/@[]\"'".contains(&byte);
        let mut parts = name.text.split([':', '.', '/', '[', ']']);
        let is_secret = name.text.len() <= 256 && name.text.bytes().all(is_name) && !name.text.starts_with('-');
        if is_secret && parts.any(|part| naming(part) == Some(Naming::Secret)) && !value.text.starts_with('-') {
            push(value.start, value.text, found);
        }
    }
}

/// `-u me -p X`: behind the user stands the password, whatever the program. A port is none.
fn logins(command: &[Word<'_>], found: &mut Vec<Range<usize>>) {
    let is_attached = |word: &Word<'_>| {
        let mut rows = ARGUMENTS.iter().filter(|row| row.option == "-p" && matches!(row.take, Take::Attached));
        rows.any(|row| row.programs.contains(&word.text))
    };
    for words in command.windows(4) {
        let [user, name, option, password] = words else { continue };
        let is_login = USER_OPTIONS.contains(&user.text) && PASSWORD_OPTIONS.contains(&option.text);
        let is_port = password.text.bytes().all(|byte| byte.is_ascii_digit() || b":.".contains(&byte));
        let is_option = name.text.starts_with('-') || password.text.starts_with('-');
        if is_login && !is_port && !is_option && !command.iter().any(is_attached) {
            push(password.start, password.text, found);
        }
    }
}

/// `az keyvault secret set -n a --value X`.
fn kept(command: &[Word<'_>], found: &mut Vec<Range<usize>>) {
    let Some(at) = command.iter().position(|word| word.text == "--value" || word.text.starts_with("--value="))
    else {
        return;
    };
    let is_secure = |word: &Word<'_>| word.text.eq_ignore_ascii_case("securestring") || names_secret(word);
    if !command.iter().any(is_secure) {
        return;
    }
    match (command[at].text.strip_prefix("--value="), command.get(at + 1)) {
        (Some(value), _) => push(command[at].start + "--value=".len(), value, found),
        (None, Some(next)) if !next.text.starts_with('-') => push(next.start, next.text, found),
        (None, _) => {}
    }
}

/// Tells whether a word, or a part of it between colons, is the name of a secret and no option.
fn names_secret(word: &Word<'_>) -> bool {
    !word.text.starts_with('-')
        && word.text.len() <= 256
        && word.text.split(':').any(|part| naming(part) == Some(Naming::Secret))
}

fn is_printer(word: &Word<'_>) -> bool {
    let sign = word.text.bytes().rposition(|byte| matches!(byte, b':' | b'+'));
    PRINTERS.contains(&sign.map_or(word.text, |sign| &word.text[sign + 1..]))
}

/// Tells whether a command does nothing but print.
fn prints(command: &[Word<'_>]) -> bool {
    command.first().is_some_and(is_printer)
}

/// `--key-file <(echo X)`: what is printed is read as the file of a secret.
fn substituted(command: &[Word<'_>], next: &[Word<'_>], found: &mut Vec<Range<usize>>) {
    let ([.., option, sign], [printer, words @ ..]) = (command, next) else { return };
    let name = option.text.trim_start_matches('-');
    let name = name.strip_suffix("file").map_or(name, |name| name.trim_end_matches(['-', '_']));
    let reads = sign.text == "<" && (name == "key" || naming(name).is_some());
    if reads && PRINTERS.contains(&printer.text) {
        push_printed(words, found);
    }
}

fn push_printed(words: &[Word<'_>], found: &mut Vec<Range<usize>>) {
    for word in words {
        let is_form = word.text.starts_with('%') && word.text.len() <= 16;
        if !word.text.starts_with('-') && !is_form {
            push(word.start, word.text.trim_end_matches("\\n"), found);
        }
    }
}

/// `sudo -S … <<< X`.
fn here(command: &[Word<'_>], found: &mut Vec<Range<usize>>) {
    let Some(at) = command.iter().position(|word| word.text.starts_with("<<<")) else { return };
    let word = &command[at];
    let behind = &word.text[3..];
    if !reads_secret(command) {
        return;
    }
    if behind.is_empty() {
        if let Some(next) = command.get(at + 1) {
            push(next.start, next.text, found);
        }
    } else {
        push(word.start + 3, behind, found);
    }
}

fn reads_secret(command: &[Word<'_>]) -> bool {
    let has = |text: &str| command.iter().any(|word| word.text == text);
    // `docker secret create a -`
    let keeps = |word: &Word<'_>| word.text.split(':').any(|part| KEEPS.contains(&part));
    if command.iter().any(keeps) && command.iter().any(names_secret) {
        return true;
    }
    let is = |name: &str| command.iter().any(|word| base(word.text) == name);
    READS_SECRET.iter().any(|word| match *word {
        // These read one only when they are told to.
        "sudo" | "doas" => is(word) && (has("-S") || has("--stdin") || has("-kS") || has("-Sk")),
        word if word.starts_with('-') => has(word),
        word => is(word),
    })
}
