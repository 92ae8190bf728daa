//! Passwords in tables, known by the head of their column: CSV, tables of Markdown and of databases, `INSERT INTO`.

use std::ops::Range;

use super::name::{Naming, naming};
use super::together::Together;
use super::value::is_ordinary;

/// What stands between cells.
/// `ROOM` stands for two blanks and more.
const SIGNS: &[char] = &['|', '│', ',', '\t', ';', ROOM];
const ROOM: char = ' ';
/// The most cells of a table, and the longest name of one (bytes).
const MOST: usize = 64;
const LONGEST_NAME: usize = 40;

/// The table that the lines belong to.
#[derive(Default)]
pub(super) struct Columns {
    table: Option<Table>,
}

struct Table {
    sign: char,
    cells: usize,
    secret: Vec<usize>,
}

impl Columns {
    /// Finds the values in the next line.
    ///
    /// A number of a line in a file looks like the first cell of one: `from` is where the line begins behind it.
    pub(super) fn find(&mut self, whole: &str, from: usize, found: &mut Vec<Range<usize>>) {
        let line = &whole[from..];
        inserted(line, found);
        if let Some(table) = &self.table {
            let of_whole = cells(whole, table.sign);
            let (cells, text, back) = if of_whole.len() == table.cells && from > 0 {
                (of_whole, whole, from)
            } else {
                (cells(line, table.sign), line, 0)
            };
            if cells.len() == table.cells {
                let values = table.secret.iter().filter_map(|at| cells.get(*at)).cloned();
                let values = values.filter(|cell| is_value(&text[cell.clone()]) && cell.start >= back);
                found.extend(values.map(|cell| cell.start - back..cell.end - back));
                return;
            }
            // The line below the head.
            if line.contains("--") && !line.contains(char::is_alphanumeric) {
                return;
            }
        }
        let before = found.len();
        beside(line, found);
        let is_head = found.len() == before;
        self.table = SIGNS.iter().filter(|_| is_head).find_map(|sign| head(line, *sign));
    }
}

/// The head of a table: names and nothing else.
fn head(line: &str, sign: char) -> Option<Table> {
    if line.len() > MOST * LONGEST_NAME || !line.contains(sign) || sign == ROOM && !line.contains("  ") {
        return None;
    }
    let cells = cells(line, sign);
    let names: Vec<&str> = cells.iter().map(|cell| &line[cell.clone()]).collect();
    let is_name = |name: &&str| {
        name.len() <= LONGEST_NAME
            && name.chars().all(|letter| letter.is_alphanumeric() || "_- .".contains(letter))
            && name.split(' ').count() <= 3
    };
    let written = names.iter().filter(|name| !name.is_empty()).count();
    if !(2..=MOST).contains(&cells.len()) || written < 2 || !names.iter().all(is_name) {
        return None;
    }
    // Options and their descriptions stand so, too.
    if sign == ROOM && names.iter().any(|name| name.contains(' ') || name.starts_with('-')) {
        return None;
    }
    let is_secret = |name: &str| naming(&name.replace(' ', "_")) == Some(Naming::Secret);
    let secret: Vec<usize> = (0..names.len()).filter(|at| is_secret(names[*at])).collect();
    // Words of a sentence: `the name, the password, and a host`.
    let is_sentence =
        sign == ',' && names.iter().any(|name| name.contains(' ') && name.starts_with(char::is_lowercase));
    (!secret.is_empty() && !is_sentence).then_some(Table { sign, cells: cells.len(), secret })
}

/// `| SecretAccessKey | X |`: the name and its value beside each other.
fn beside(line: &str, found: &mut Vec<Range<usize>>) {
    for sign in ['|', '│'] {
        if line.matches(sign).count() < 2 {
            continue;
        }
        for pair in cells(line, sign).windows(2) {
            let [name, value] = pair else { continue };
            let name = &line[name.clone()];
            let is_name = !name.is_empty()
                && name.len() <= LONGEST_NAME
                && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_- .".contains(letter));
            if is_name && naming(&name.replace(' ', "_")) == Some(Naming::Secret) && is_value(&line[value.clone()])
            {
                found.push(value.clone());
            }
        }
    }
}

/// The cells of a line, without room and quotes around them.
fn cells(line: &str, sign: char) -> Vec<Range<usize>> {
    let mut cells = Vec::new();
    let mut start = 0;
    if sign == ROOM {
        return apart(line);
    }
    for part in line.split(sign).take(MOST + 1) {
        let inside = part.trim().trim_matches(['"', '\'', '`', '*']);
        let at = part.find(inside).unwrap_or(0);
        cells.push(start + at..start + at + inside.len());
        start += part.len() + sign.len_utf8();
    }
    cells
}

/// The cells of a line that stand two blanks apart and more.
fn apart(line: &str) -> Vec<Range<usize>> {
    let mut cells: Vec<Range<usize>> = Vec::new();
    for word in line.split_whitespace().take(MOST + 1) {
        let at = word.as_ptr() as usize - line.as_ptr() as usize;
        match cells.last_mut() {
            Some(last) if last.end + 1 == at => last.end = at + word.len(),
            _ => cells.push(at..at + word.len()),
        }
    }
    cells
}

fn is_value(text: &str) -> bool {
    let has = |is: fn(&u8) -> bool| text.bytes().any(|byte| is(&byte));
    // A closure in Rust, whose arguments stand between such signs; the name of a variable.
    let is_call = text.contains('(') && text.contains(')');
    let is_name = text.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    (4..=400).contains(&text.len())
        && !is_call
        && !is_name
        && !text.contains(char::is_whitespace)
        && !text.starts_with(['<', '$', '{', '(', '[', '%'])
        && !text.starts_with(super::level::MARK)
        && has(u8::is_ascii_alphabetic)
        && (has(u8::is_ascii_digit) || text.len() >= 6 && !is_ordinary(text))
}

/// `INSERT INTO users (name, password) VALUES ('me', 'X')`.
fn inserted(line: &str, found: &mut Vec<Range<usize>>) {
    static INTO: Together = Together::of_any_case(&["insert into "]);
    let Some(from) = INTO.first_end(line) else { return };
    let Some(names) = enclosed(line, from) else { return };
    let columns = cells(&line[names.clone()], ',');
    let secret: Vec<usize> = (0..columns.len())
        .filter(|at| {
            let column = &line[names.clone()][columns[*at].clone()];
            naming(column).is_some_and(|naming| naming != Naming::Drawn)
        })
        .collect();
    let mut at = names.end;
    while let Some(values) = enclosed(line, at).filter(|_| !secret.is_empty()) {
        let all = cells(&line[values.clone()], ',');
        for column in &secret {
            let value = all.get(*column).map(|cell| values.start + cell.start..values.start + cell.end);
            found.extend(value.filter(|value| value.len() >= 3 && is_value(&line[value.clone()])));
        }
        at = values.end;
    }
}

/// What stands in the next brackets.
fn enclosed(line: &str, from: usize) -> Option<Range<usize>> {
    let open = from + line[from..].find('(')? + 1;
    let close = open + line[open..].find(')')?;
    Some(open..close)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let mut columns = Columns::default();
        let mut values = Vec::new();
        for line in text.lines() {
            let mut found = Vec::new();
            columns.find(line, 0, &mut found);
            values.extend(found.into_iter().map(|range| line[range].to_owned()));
        }
        values
    }

    #[test]
    fn a_value_is_known_by_the_head_of_its_column() {
        for text in [
            "username,password\nme,hunter22",
            "name;url;Password;note\nx;https://x;\"hunter22\";",
            "| user | password |\n| --- | --- |\n| me | `hunter22` |",
            " name | password\n------+----------\n me   | hunter22",
            "id\tapi key\n1\thunter22",
            "|  SecretAccessKey |  hunter22  |",
            "label   token\nmykey   hunter22",
            "user  password\nme    hunter22",
            "INSERT INTO users (name, password) VALUES ('me', 'hunter22');",
            "insert into u(`id`,`pw`) values (1,'hunter22')",
        ] {
            assert_eq!(found(text), ["hunter22"], "{text}");
        }
        for text in [
            "the name, the password, and the host2\na, b1b1b1, c2c2c2",
            "fn connect(user, password, host) {\n(a1, b2b2b2, c3c3c3)",
            "| option | meaning |\n| password-file | where a1b2 stands |",
            "| token | yes |",
            "a, b, c\nd, e1e1e1, f",
            "INSERT INTO t (a, b) VALUES ('x1x1x1', 'y2y2y2')",
            "insert into",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }
}
