//! What was typed at the shells' own prompts, from the files they keep.

use std::borrow::Cow;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use super::atuin;
use super::typed::Typed;

/// The most of a file that is read, in bytes: its end.
const MOST: u64 = 32 * 1024 * 1024;

/// The histories of all shells, and atuin's: where `HISTFILE` and the like say and where they are by default.
#[derive(Debug)]
pub struct Histories {
    files: Vec<(String, Form)>,
    atuin: Vec<Typed<'static>>,
}

impl Histories {
    /// Reads them; what cannot be read has no lines.
    #[must_use]
    pub fn read(home: Option<&Path>, variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let mut atuin = Vec::new();
        if let Some(path) = atuin::database(home, variable) {
            atuin::typed(&path, &mut atuin);
        }
        let files =
            files(home, variable).into_iter().filter_map(|(path, form)| Some((text_of(&path, form)?, form)));
        Self { files: files.collect(), atuin }
    }

    /// The lines: atuin's, and of each file the oldest first.
    #[must_use]
    pub fn typed(&self) -> Vec<Typed<'_>> {
        let mut all: Vec<Typed<'_>> = self.atuin.iter().map(Typed::borrowed).collect();
        for (text, form) in &self.files {
            match form {
                Form::Zsh => zsh(text, &mut all),
                Form::Bash => bash(text, &mut all),
                Form::Fish => fish(text, &mut all),
            }
        }
        all
    }
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

/// The end of a regular file, from a line's beginning. In zsh's some bytes are written as 0x83 and the byte with its bit 5
/// turned (zsh/Src/utils.c, `unmetafy`).
fn text_of(path: &Path, form: Form) -> Option<String> {
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
    if form == Form::Zsh && bytes.contains(&0x83) {
        bytes = plain(&bytes);
    }
    Some(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

fn plain(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(bytes.len());
    let mut bytes = bytes.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            0x83 => plain.extend(bytes.next().map(|next| next ^ 32)),
            byte => plain.push(byte),
        }
    }
    plain
}

fn add<'a>(text: impl Into<Cow<'a, str>>, when: Option<u64>, shell: &'static str, all: &mut Vec<Typed<'a>>) {
    let text = text.into();
    if !text.trim().is_empty() {
        all.push(Typed { text, when, shell, cwd: None, exit: None });
    }
}

/// zsh: a row, or `: START:SECONDS;row` (`EXTENDED_HISTORY`); a newline within has a backslash before it.
fn zsh<'a>(text: &'a str, all: &mut Vec<Typed<'a>>) {
    let mut rows = text.lines();
    while let Some(row) = rows.next() {
        let (when, line) = extended(row).map_or((None, row), |(when, line)| (Some(when), line));
        if !line.ends_with('\\') {
            add(line, when, "zsh", all);
            continue;
        }
        let mut line = line.to_owned();
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
fn bash<'a>(text: &'a str, all: &mut Vec<Typed<'a>>) {
    let mut when = None;
    let (mut from, mut at) = (0, 0);
    for row in text.split_inclusive('\n') {
        let begin = at;
        at += row.len();
        let row = row.trim_end_matches(['\r', '\n']);
        if let Some(time) = row.strip_prefix('#').and_then(|digits| digits.parse::<u64>().ok()) {
            add(text[from..begin].trim_matches('\n'), when, "bash", all);
            when = Some(time);
            from = at;
        } else if when.is_none() {
            add(row, None, "bash", all);
            from = at;
        }
    }
    add(text[from..].trim_matches('\n'), when, "bash", all);
}

/// fish: `- cmd: LINE` with `\n` and `\\`, `  when: SECONDS` below it.
fn fish<'a>(text: &'a str, all: &mut Vec<Typed<'a>>) {
    let mut line: Option<&str> = None;
    let mut when = None;
    let mut take = |line: Option<&'a str>, when: Option<u64>| match line {
        Some(line) if line.contains('\\') => add(unescaped(line), when, "fish", all),
        line => add(line.unwrap_or_default(), when, "fish", all),
    };
    for row in text.lines() {
        if let Some(written) = row.strip_prefix("- cmd: ") {
            take(line.replace(written), when.take());
        } else if let Some(time) = row.strip_prefix("  when: ") {
            when = time.trim().parse().ok();
        }
    }
    take(line, when);
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

    fn read(form: Form, bytes: &[u8]) -> Vec<(String, Option<u64>)> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let files = vec![(text_of(file.path(), form).unwrap(), form)];
        let histories = Histories { files, atuin: Vec::new() };
        histories.typed().into_iter().map(|typed| (typed.text.into_owned(), typed.when)).collect()
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
        let found = read(Form::Zsh, bytes);
        assert_eq!(found[..4], expected[..4]);
        // 0x83 0xa2 is 0x82, 0x83 0x8c is 0xac: the bytes of the euro sign.
        assert_eq!(found[4], expected[4]);
    }

    #[test]
    fn bash_with_and_without_times() {
        assert_eq!(read(Form::Bash, b"ls\n# a comment\n"), [line("ls", None), line("# a comment", None)]);
        let timed = b"old\n#1700000000\nmake\n#1700000005\nif x\nthen y; fi\n";
        let expected =
            [line("old", None), line("make", Some(1_700_000_000)), line("if x\nthen y; fi", Some(1_700_000_005))];
        assert_eq!(read(Form::Bash, timed), expected);
    }

    #[test]
    fn fish_with_its_escapes() {
        let bytes = b"- cmd: echo a\\nb \\\\ c\n  when: 1700000000\n  paths:\n    - a\n- cmd: ls\n";
        assert_eq!(read(Form::Fish, bytes), [line("echo a\nb \\ c", Some(1_700_000_000)), line("ls", None)]);
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
            let histories = Histories::read(Some(home.path()), &variable);
            let typed = histories.typed();
            let mut shells: Vec<_> = typed.iter().map(|typed| (typed.text.as_ref(), typed.shell)).collect();
            shells.sort_unstable();
            assert_eq!(shells, [("one", "zsh"), ("three", "fish"), ("two", "bash")]);
        }
        assert_eq!(Histories::read(None, &|_| None).typed(), []);
    }
}
