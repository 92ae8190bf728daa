//! What atuin keeps of the commands that were run, read from its database as it lies on the disk: to ask atuin itself
//! would take longer than the search.
//!
//! The file is SQLite's (<https://sqlite.org/fileformat2.html>), with the newest pages perhaps still in a log beside it.
//! Only the leaves of one table are read; what does not fit is left out.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::typed::Typed;

/// The most of a database that is read, in bytes.
const MOST: u64 = 512 * 1024 * 1024;

/// The longest row, in bytes.
const LONGEST: usize = 1024 * 1024;

/// No tree of SQLite is deeper.
const DEEPEST: u32 = 20;

/// Where it is: as atuin's own settings have it.
pub(super) fn database(home: Option<&Path>, variable: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    let below = |name: &str, folder: &str| {
        set(name).map(PathBuf::from).or_else(|| Some(home?.join(folder))).map(|folder| folder.join("atuin"))
    };
    let expanded = |path: &str| match (path.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    };
    if let Some(path) = set("ATUIN_DB_PATH") {
        return Some(expanded(&path));
    }
    let folder = set("ATUIN_CONFIG_DIR").map(PathBuf::from).or_else(|| below("XDG_CONFIG_HOME", ".config"));
    let settings = folder.and_then(|folder| std::fs::read_to_string(folder.join("config.toml")).ok());
    let named = settings.as_deref().and_then(|text| {
        let settings = text.parse::<toml_edit::DocumentMut>().ok()?;
        Some(expanded(settings.get("db_path")?.as_str()?))
    });
    named.or_else(|| Some(below("XDG_DATA_HOME", ".local/share")?.join("history.db")))
}

/// Reads all commands, in no order; none where there is no database that can be read.
pub(super) fn typed(path: &Path, all: &mut Vec<Typed<'static>>) {
    let Some(database) = Database::open(path) else { return };
    if database.history(all).is_none() {
        tracing::info!(path = %path.display(), "not all of atuin's history can be read");
    }
}

/// A database: its pages, and those of its log.
struct Database {
    file: Vec<u8>,
    log: Vec<u8>,
    page: usize,
    usable: usize,
    /// Where in the log the newest of a page begins.
    newer: HashMap<usize, usize>,
}

/// A value of a row.
enum Value<'a> {
    Nothing,
    Number(i64),
    Text(&'a [u8]),
}

impl Database {
    fn open(path: &Path) -> Option<Self> {
        let read = |path: &Path| {
            let length = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?.len();
            (length <= MOST).then(|| std::fs::read(path).ok())?
        };
        let file = read(path)?;
        file.starts_with(b"SQLite format 3\0").then_some(())?;
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        let log = read(Path::new(&log)).unwrap_or_default();
        let page = match short(&file, 16)? {
            1 => 65536,
            size if size >= 512 && size.is_power_of_two() => size,
            _ => return None,
        };
        let usable = page.checked_sub(usize::from(*file.get(20)?)).filter(|usable| *usable >= 480)?;
        let newer = newer(&log, page);
        Some(Self { file, log, page, usable, newer })
    }

    fn page(&self, number: usize) -> Option<&[u8]> {
        if let Some(at) = self.newer.get(&number) {
            self.log.get(*at..at + self.page)
        } else {
            let at = number.checked_sub(1)?.checked_mul(self.page)?;
            self.file.get(at..at.checked_add(self.page)?)
        }
    }

    fn history(&self, all: &mut Vec<Typed<'static>>) -> Option<()> {
        let mut table: Option<(usize, String)> = None;
        let mut left = self.file.len() / self.page + self.newer.len() + 1;
        self.rows(1, DEEPEST, &mut left, &mut |row| {
            if let [Value::Text(b"table"), Value::Text(b"history"), _, Value::Number(root), Value::Text(sql)] = row
            {
                table = usize::try_from(*root).ok().map(|root| (root, String::from_utf8_lossy(sql).into_owned()));
            }
        })?;
        let (root, sql) = table?;
        let columns = columns(&sql);
        let at = |name: &str| columns.iter().position(|column| column == name);
        let (command, time, cwd, exit) = (at("command")?, at("timestamp")?, at("cwd"), at("exit"));
        let gone = at("deleted_at");
        self.rows(root, DEEPEST, &mut left, &mut |row| {
            let value = |at: Option<usize>| row.get(at?);
            let number = |at| if let Some(Value::Number(number)) = value(at) { Some(*number) } else { None };
            if number(gone).is_none()
                && let Some(text) = text_of(value(Some(command))).filter(|text| !text.trim().is_empty())
            {
                // In nanoseconds.
                let when = number(Some(time)).and_then(|time| u64::try_from(time / 1_000_000_000).ok());
                let cwd = text_of(value(cwd));
                // atuin has -1 for one that did not end.
                let exit = number(exit).and_then(|code| i32::try_from(code).ok()).filter(|code| *code >= 0);
                all.push(Typed { text: text.into(), when, shell: "atuin", cwd: cwd.map(Into::into), exit });
            }
        })
    }

    /// Goes through the rows of a table. `left` is how many more pages there can be.
    fn rows(&self, number: usize, depth: u32, left: &mut usize, each: &mut dyn FnMut(&[Value<'_>])) -> Option<()> {
        let page = self.page(number)?;
        *left = left.checked_sub(1)?;
        let head = if number == 1 { 100 } else { 0 };
        let cells = short(page, head + 3)?;
        match page.get(head)? {
            0x0d => {
                for cell in 0..cells {
                    let at = short(page, head + 8 + cell * 2)?;
                    // One row that cannot be read is no reason to leave the others out.
                    if let Some(payload) = self.payload(page, at)
                        && let Some(row) = row(&payload)
                    {
                        each(&row);
                    }
                }
            }
            0x05 => {
                for cell in 0..cells {
                    let at = short(page, head + 12 + cell * 2)?;
                    self.rows(long(page, at)?, depth.checked_sub(1)?, left, each)?;
                }
                self.rows(long(page, head + 8)?, depth.checked_sub(1)?, left, each)?;
            }
            _ => return None,
        }
        Some(())
    }

    /// What a cell of a leaf holds; the end of a long one lies on pages of its own.
    fn payload<'a>(&'a self, page: &'a [u8], at: usize) -> Option<std::borrow::Cow<'a, [u8]>> {
        let (size, at) = varint(page, at)?;
        let (_, at) = varint(page, at)?;
        let size = usize::try_from(size).ok().filter(|size| *size <= LONGEST)?;
        let most = self.usable - 35;
        if size <= most {
            return Some(page.get(at..at.checked_add(size)?)?.into());
        }
        let least = (self.usable - 12) * 32 / 255 - 23;
        let here = least + (size - least) % (self.usable - 4);
        let here = if here <= most { here } else { least };
        let mut whole = page.get(at..at + here)?.to_vec();
        let mut next = long(page, at + here)?;
        while whole.len() < size {
            let page = self.page(next)?;
            let part = (size - whole.len()).min(self.usable - 4);
            whole.extend(page.get(4..4 + part)?);
            next = long(page, 0)?;
        }
        Some(whole.into())
    }
}

fn text_of(value: Option<&Value<'_>>) -> Option<String> {
    let Some(Value::Text(text)) = value else { return None };
    (!text.is_empty()).then(|| String::from_utf8_lossy(text).into_owned())
}

/// Where in a log the newest of each page begins: of what was written whole.
fn newer(log: &[u8], page: usize) -> HashMap<usize, usize> {
    let (mut whole, mut begun) = (HashMap::new(), HashMap::new());
    if long(log, 8) != Some(page) {
        return whole;
    }
    let salts = log.get(16..24);
    let mut at = 32;
    while let (Some(number), Some(ends)) = (long(log, at), long(log, at + 4)) {
        // What stands behind is of an older log.
        if log.get(at + 8..at + 16) != salts || log.len() < at + 24 + page {
            break;
        }
        begun.insert(number, at + 24);
        if ends > 0 {
            whole.extend(begun.drain());
        }
        at += 24 + page;
    }
    whole
}

/// The columns of a table, in their order, from the words it was made with.
fn columns(sql: &str) -> Vec<String> {
    let inside = sql.split_once('(').map_or("", |(_, inside)| inside);
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for letter in inside.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => parts.push(String::new()),
            letter => {
                if let Some(part) = parts.last_mut().filter(|_| depth == 0) {
                    part.push(letter);
                }
            }
        }
    }
    let names = parts.iter().filter_map(|part| part.split_whitespace().next());
    names.map(|name| name.trim_matches(['"', '`', '[', ']']).to_lowercase()).collect()
}

/// The values of a row.
fn row(payload: &[u8]) -> Option<Vec<Value<'_>>> {
    let (head, mut at) = varint(payload, 0)?;
    let head = usize::try_from(head).ok()?;
    let mut behind = head;
    let mut values = Vec::new();
    while at < head {
        let (kind, next) = varint(payload, at)?;
        at = next;
        let length = match kind {
            0 | 8 | 9 => 0,
            1..=4 => usize::try_from(kind).ok()?,
            5 => 6,
            6 | 7 => 8,
            12.. => usize::try_from((kind - 12) / 2).ok()?,
            _ => return None,
        };
        let bytes = payload.get(behind..behind.checked_add(length)?)?;
        behind += length;
        values.push(match kind {
            8 | 9 => Value::Number(kind - 8),
            1..=6 => Value::Number(number(bytes)),
            13.. if kind % 2 == 1 => Value::Text(bytes),
            _ => Value::Nothing,
        });
    }
    Some(values)
}

/// A number of SQLite: the highest byte first, with its sign.
fn number(bytes: &[u8]) -> i64 {
    let sign = if bytes.first().is_some_and(|first| *first > 127) { -1 } else { 0 };
    bytes.iter().fold(sign, |number, byte| number << 8 | i64::from(*byte))
}

/// A number of one to nine bytes, and where it ends.
fn varint(bytes: &[u8], at: usize) -> Option<(i64, usize)> {
    let mut number = 0_i64;
    for index in 0..9 {
        let byte = *bytes.get(at.checked_add(index)?)?;
        if index == 8 {
            return Some((number << 8 | i64::from(byte), at + 9));
        }
        number = number << 7 | i64::from(byte & 127);
        if byte < 128 {
            return Some((number, at + index + 1));
        }
    }
    None
}

fn short(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(at..at.checked_add(2)?)?;
    Some(usize::from(bytes[0]) << 8 | usize::from(bytes[1]))
}

fn long(bytes: &[u8], at: usize) -> Option<usize> {
    Some(short(bytes, at)? << 16 | short(bytes, at.checked_add(2)?)?)
}

#[cfg(test)]
#[path = "atuin_tests.rs"]
mod tests;
