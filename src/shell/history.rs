//! What was typed at the shells' own prompts, from the files they keep.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use super::atuin;
use super::typed::Typed;

/// The most of a file that is read, in bytes: its end.
const MOST: u64 = 32 * 1024 * 1024;

/// Reads the histories of all shells, each oldest first, and atuin's: where `HISTFILE` and the like say and where they
/// are by default.
#[must_use]
pub fn typed(home: Option<&Path>, variable: &dyn Fn(&str) -> Option<String>) -> Vec<Typed> {
    let mut all = Vec::new();
    if let Some(path) = atuin::database(home, variable) {
        atuin::typed(&path, &mut all);
    }
    for (path, form) in files(home, variable) {
        if let Some(bytes) = end_of(&path) {
            match form {
                Form::Zsh => zsh(&bytes, &mut all),
                Form::Bash => bash(&bytes, &mut all),
                Form::Fish => fish(&bytes, &mut all),
            }
        }
    }
    all
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Zsh,
    Bash,
    Fish,
}

fn files(home: Option<&Path>, variable: &dyn Fn(&str) -> Option<String>) -> Vec<(PathBuf, Form)> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    let mut found = Vec::new();
    if let Some(named) = set("HISTFILE").map(PathBuf::from).filter(|path| path.is_absolute()) {
        let is_bash = named.to_string_lossy().contains("bash");
        found.push((named, if is_bash { Form::Bash } else { Form::Zsh }));
    }
    let zsh_folder = set("ZDOTDIR").map(PathBuf::from).or_else(|| home.map(Path::to_owned));
    if let Some(folder) = zsh_folder {
        found.extend([".zsh_history", ".zhistory", ".histfile"].map(|name| (folder.join(name), Form::Zsh)));
    }
    if let Some(home) = home {
        found.push((home.join(".bash_history"), Form::Bash));
    }
    let data = set("XDG_DATA_HOME").map(PathBuf::from).or_else(|| Some(home?.join(".local/share")));
    if let Some(data) = data {
        let name = set("fish_history").filter(|name| name != "default").unwrap_or_else(|| "fish".to_owned());
        found.push((data.join("fish").join(format!("{name}_history")), Form::Fish));
    }
    let mut seen = Vec::new();
    found.retain(|(path, _)| {
        let is_new = !seen.contains(path);
        seen.push(path.clone());
        is_new
    });
    found
}

/// The end of a regular file, from a line's beginning.
fn end_of(path: &Path) -> Option<Vec<u8>> {
    // A pipe would be waited for.
    let length = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?.len();
    let mut file = File::open(path).ok()?;
    let from = length.saturating_sub(MOST);
    file.seek(SeekFrom::Start(from)).ok()?;
    let mut bytes = Vec::new();
    file.take(MOST).read_to_end(&mut bytes).ok()?;
    if from > 0 {
        let first = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |newline| newline + 1);
        bytes.drain(..first);
    }
    Some(bytes)
}

fn add(text: String, when: Option<u64>, shell: &'static str, all: &mut Vec<Typed>) {
    if !text.trim().is_empty() {
        all.push(Typed { text, when, shell, cwd: None, exit: None });
    }
}

/// zsh: a row, or `: START:SECONDS;row` (`EXTENDED_HISTORY`); a newline within has a backslash before it, and some bytes
/// are written as 0x83 and the byte with its bit 5 turned (zsh/Src/utils.c, `unmetafy`).
fn zsh(bytes: &[u8], all: &mut Vec<Typed>) {
    let mut plain = Vec::with_capacity(bytes.len());
    let mut bytes = bytes.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            0x83 => plain.extend(bytes.next().map(|next| next ^ 32)),
            byte => plain.push(byte),
        }
    }
    let text = String::from_utf8_lossy(&plain);
    let mut rows = text.lines();
    while let Some(row) = rows.next() {
        let (when, mut line) = match extended(row) {
            Some((when, line)) => (Some(when), line.to_owned()),
            None => (None, row.to_owned()),
        };
        while line.ends_with('\\') {
            let Some(next) = rows.next() else { break };
            line.pop();
            line.push('\n');
            line.push_str(next);
        }
        add(line, when, "zsh", all);
    }
}

fn extended(row: &str) -> Option<(u64, &str)> {
    let (times, line) = row.strip_prefix(": ")?.split_once(';')?;
    let (start, lasted) = times.split_once(':')?;
    lasted.parse::<u64>().ok()?;
    Some((start.parse().ok()?, line))
}

/// bash: a row, below `#SECONDS` where `HISTTIMEFORMAT` is set; the rows between two of those are one line.
fn bash(bytes: &[u8], all: &mut Vec<Typed>) {
    let text = String::from_utf8_lossy(bytes);
    let mut when = None;
    let mut line = String::new();
    for row in text.lines() {
        let time = row.strip_prefix('#').and_then(|digits| digits.parse::<u64>().ok());
        if let Some(time) = time {
            add(std::mem::take(&mut line), when, "bash", all);
            when = Some(time);
        } else if when.is_none() {
            add(row.to_owned(), None, "bash", all);
        } else {
            if !line.is_empty() {
                line.push('\n');
            }
            line.push_str(row);
        }
    }
    add(line, when, "bash", all);
}

/// fish: `- cmd: LINE` with `\n` and `\\`, `  when: SECONDS` below it.
fn fish(bytes: &[u8], all: &mut Vec<Typed>) {
    let text = String::from_utf8_lossy(bytes);
    let mut line: Option<String> = None;
    let mut when = None;
    for row in text.lines() {
        if let Some(written) = row.strip_prefix("- cmd: ") {
            add(line.take().unwrap_or_default(), when.take(), "fish", all);
            line = Some(unescaped(written));
        } else if let Some(time) = row.strip_prefix("  when: ") {
            when = time.trim().parse().ok();
        }
    }
    add(line.unwrap_or_default(), when, "fish", all);
}

fn unescaped(written: &str) -> String {
    let mut text = String::with_capacity(written.len());
    let mut characters = written.chars();
    while let Some(character) = characters.next() {
        match (character, character == '\\') {
            (_, true) => match characters.next() {
                Some('n') => text.push('\n'),
                Some(other) => text.push(other),
                None => text.push('\\'),
            },
            (plain, false) => text.push(plain),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(form: fn(&[u8], &mut Vec<Typed>), bytes: &[u8]) -> Vec<(String, Option<u64>)> {
        let mut all = Vec::new();
        form(bytes, &mut all);
        all.into_iter().map(|typed| (typed.text, typed.when)).collect()
    }

    fn line(text: &str, when: Option<u64>) -> (String, Option<u64>) {
        (text.to_owned(), when)
    }

    #[test]
    fn zsh_with_times_rows_and_bytes_of_its_own() {
        let bytes = b": 1700000000:3;make all\nls\n: 1700000001:0;for x in 1\\\ndo echo $x; done\n: not:a;time\necho \xe2\x83\xa2\x83\x8c\n";
        let expected = [
            line("make all", Some(1_700_000_000)),
            line("ls", None),
            line("for x in 1\ndo echo $x; done", Some(1_700_000_001)),
            line(": not:a;time", None),
            line("echo \u{20ac}", None),
        ];
        let found = read(zsh, bytes);
        assert_eq!(found[..4], expected[..4]);
        // 0x83 0xa2 is 0x82, 0x83 0x8c is 0xac: the bytes of the euro sign.
        assert_eq!(found[4], expected[4]);
    }

    #[test]
    fn bash_with_and_without_times() {
        assert_eq!(read(bash, b"ls\n# a comment\n"), [line("ls", None), line("# a comment", None)]);
        let timed = b"old\n#1700000000\nmake\n#1700000005\nif x\nthen y; fi\n";
        let expected =
            [line("old", None), line("make", Some(1_700_000_000)), line("if x\nthen y; fi", Some(1_700_000_005))];
        assert_eq!(read(bash, timed), expected);
    }

    #[test]
    fn fish_with_its_escapes() {
        let bytes = b"- cmd: echo a\\nb \\\\ c\n  when: 1700000000\n  paths:\n    - a\n- cmd: ls\n";
        assert_eq!(read(fish, bytes), [line("echo a\nb \\ c", Some(1_700_000_000)), line("ls", None)]);
    }

    #[test]
    fn files_are_where_shells_keep_them_and_each_is_read_once() {
        let home = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = home.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(".zsh_history", "one\n");
        write(".bash_history", "two\n");
        write(".local/share/fish/fish_history", "- cmd: three\n");
        let named = home.path().join(".bash_history").display().to_string();
        for histfile in [None, Some(named)] {
            let variable = |name: &str| histfile.clone().filter(|_| name == "HISTFILE");
            let mut shells: Vec<_> =
                typed(Some(home.path()), &variable).into_iter().map(|typed| (typed.text, typed.shell)).collect();
            shells.sort();
            let expected = [("one", "zsh"), ("three", "fish"), ("two", "bash")];
            assert_eq!(shells, expected.map(|(text, shell)| (text.to_owned(), shell)));
        }
        assert_eq!(typed(None, &|_| None), []);
    }
}
