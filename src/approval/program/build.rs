//! Lays out the program rows at compile time: a new program is a new row, and axi parses none when it starts. This
//! file belongs to the build script, not to the crate.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// One text with positions in it: a table of references would have to be relocated at each start.
#[derive(Default)]
struct Table {
    text: String,
    texts: BTreeMap<String, String>,
    words: Vec<String>,
    lists: BTreeMap<Vec<String>, String>,
    changes: Vec<String>,
    rows: Vec<String>,
    names: BTreeMap<String, usize>,
}

/// A parsed row: its names or words, and its clauses.
struct Row {
    heads: Vec<String>,
    clauses: String,
    below: Vec<Row>,
}

/// The table as a Rust expression, and the word lists as its constants.
pub(crate) struct LaidOut {
    pub(crate) table: String,
    pub(crate) lists: String,
}

/// Lays out the `.rows` and `.words` files of a folder.
///
/// # Errors
/// What is wrong, with the file and the line.
pub(crate) fn lay_out(folder: &Path) -> Result<LaidOut, Box<dyn std::error::Error>> {
    let mut files: Vec<_> =
        std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_, std::io::Error>>()?;
    files.sort();
    let (mut table, mut lists) = (Table::default(), String::new());
    for file in files {
        let source = std::fs::read_to_string(&file)?;
        let place = |why| format!("{}:{why}", file.display());
        match file.extension().and_then(std::ffi::OsStr::to_str) {
            Some("rows") => {
                for (line, row) in read(&source).map_err(place)? {
                    table.program(&row).map_err(|why| place(format!("{line}: {why}")))?;
                }
            }
            Some("words") => {
                for (line, text) in logical_lines(&source) {
                    let (name, words) = text.split_once(" = ").ok_or_else(|| place(format!("{line}: no ` = `")))?;
                    let name = name.to_ascii_uppercase().replace('-', "_");
                    let words = table.list(&words.split_whitespace().collect::<Vec<_>>());
                    writeln!(lists, "pub(crate) const {name}: Words = {words};")?;
                }
            }
            _ => return Err(place(": neither rows nor words".to_owned()).into()),
        }
    }
    Ok(LaidOut { table: table.print()?, lists })
}

/// Returns the lines without comments; a line that begins with four blanks continues the one before.
fn logical_lines(source: &str) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    for (index, line) in source.lines().enumerate() {
        match (line.trim().is_empty() || line.starts_with('#'), line.starts_with("    "), lines.last_mut()) {
            (true, _, _) => {}
            (false, true, Some((_, begun))) => begun.extend([" ", line.trim()]),
            (false, _, _) => lines.push((index + 1, line.to_owned())),
        }
    }
    lines
}

/// Reads `names => clause; clause`. Rows of sub-commands are indented by two blanks, continued lines by four.
fn read(source: &str) -> Result<Vec<(usize, Row)>, String> {
    let mut rows: Vec<(usize, Row)> = Vec::new();
    for (number, line) in logical_lines(source) {
        let (heads, clauses) = line.split_once("=>").ok_or(format!("{number}: no `=>` in a row"))?;
        let row = |heads| Row { heads, clauses: clauses.to_owned(), below: Vec::new() };
        if line.starts_with(' ') {
            let (_, program) = rows.last_mut().ok_or(format!("{number}: belongs to no program"))?;
            program.below.push(row(heads.split(',').flat_map(|words| spelled_out(words.trim())).collect()));
        } else {
            rows.push((number, row(heads.split_whitespace().map(str::to_owned).collect())));
        }
    }
    Ok(rows)
}

/// Expands `a|b c|d` to `a c`, `a d`, `b c`, `b d`; `-` alone means no word.
fn spelled_out(words: &str) -> Vec<String> {
    if words == "-" {
        return vec![String::new()];
    }
    let mut all = vec![String::new()];
    for word in words.split_whitespace() {
        let longer = |start: &String, choice: &str| {
            if start.is_empty() { choice.to_owned() } else { format!("{start} {choice}") }
        };
        all = all.iter().flat_map(|start| word.split('|').map(move |choice: &str| longer(start, choice))).collect();
    }
    all
}

impl Table {
    fn program(&mut self, row: &Row) -> Result<(), String> {
        let mut below = Vec::new();
        for sub in &row.below {
            for words in &sub.heads {
                let words: Vec<&str> = words.split_whitespace().collect();
                let words = self.list(&words);
                below.push(self.row(&words, sub, (0, 0))?);
            }
        }
        let place = (self.rows.len(), below.len());
        self.rows.extend(below);
        let heads: Vec<&str> = row.heads.iter().map(String::as_str).collect();
        let names = self.list(&heads);
        let laid_out = self.row(&names, row, place)?;
        for name in &row.heads {
            if self.names.insert(name.clone(), self.rows.len()).is_some() {
                return Err(format!("{name} has a row already"));
            }
        }
        self.rows.push(laid_out);
        Ok(())
    }

    fn row(&mut self, words: &str, row: &Row, below: (usize, usize)) -> Result<String, String> {
        let mut fields =
            BTreeMap::from([("words", words.to_owned()), ("below", format!("Span({}, {})", below.0, below.1))]);
        let (mut traits, mut changes) = (Vec::new(), Vec::new());
        for clause in row.clauses.split(';').filter(|clause| !clause.trim().is_empty()) {
            let mut parts = clause.split_whitespace();
            let verb = parts.next().unwrap_or_default();
            let rest: Vec<&str> = parts.collect();
            let (field, value) = match (verb, rest.as_slice()) {
                ("looks", []) => ("looks", "Some(Looks::Names)".to_owned()),
                ("prints", []) => ("looks", "Some(Looks::Contents)".to_owned()),
                ("searches", []) => ("looks", "Some(Looks::AfterPattern)".to_owned()),
                ("carries", ["at", words @ ..]) => ("carries_at", self.list(words)),
                ("unless" | "pattern" | "carries" | "logins", flags) => (field_of(verb), self.flags(flags)),
                ("only" | "valued" | "bare" | "optional", flags) => (field_of(verb), self.list(flags)),
                ("most", [number]) => ("most", format!("Some({number})")),
                ("plain", [number]) => {
                    traits.push("Plain".to_owned());
                    ("most", format!("Some({number})"))
                }
                ("skips", [number]) => ("skips", (*number).to_owned()),
                ("before", flags) => {
                    let valued: Vec<&str> = flags.iter().filter_map(|flag| flag.strip_suffix('=')).collect();
                    let plain: Vec<&str> = flags.iter().filter(|flag| !flag.ends_with('=')).copied().collect();
                    fields.insert("before_valued", self.list(&valued));
                    ("before", self.list(&plain))
                }
                ("writes" | "destroys" | "network" | "disk" | "halts", []) => {
                    ("does", format!("Some(Does::{})", camel(verb)))
                }
                ("destroys" | "halts", ["at", words @ ..]) => {
                    fields.insert("at", self.list(words));
                    ("at_does", format!("Does::{}", camel(verb)))
                }
                ("destroys", ["with", flags @ ..]) => {
                    fields.insert("with", self.flags(flags));
                    ("does", "Some(Does::Destroys)".to_owned())
                }
                ("removes" | "moves" | "overwrites" | "changes", which) => {
                    changes.push(self.change(verb, which)?);
                    continue;
                }
                ("grammar", [name]) => ("grammar", format!("Grammar::{}", camel(name))),
                ("runs", [how]) => ("runs", format!("Some(Runs::{})", camel(how))),
                ("names", [how]) => ("naming", format!("Some(Naming::{})", camel(how))),
                ("rule", [number]) => ("rule", (*number).to_owned()),
                ("help", ["below", words @ ..]) => {
                    traits.push("HelpsBelow".to_owned());
                    ("help_below", self.list(words))
                }
                ("help", ["-v"]) => {
                    traits.push("SmallV".to_owned());
                    continue;
                }
                ("help", ["at", words @ ..]) => ("help_at", self.list(words)),
                ("says", words) => ("says", self.place(&words.join(" "))),
                // The compiler rejects an unknown one.
                (_, []) => {
                    traits.push(camel(verb));
                    continue;
                }
                (_, _) => return Err(format!("no such clause:{clause}")),
            };
            if fields.insert(field, value).is_some() {
                return Err(format!("said twice:{clause}"));
            }
        }
        if !changes.is_empty() {
            fields.insert("changes", format!("Span({}, {})", self.changes.len(), changes.len()));
            self.changes.extend(changes);
        }
        let traits: Vec<String> = traits.iter().map(|name| format!("Trait::{name}.bit()")).collect();
        fields.insert("traits", if traits.is_empty() { "0".to_owned() } else { traits.join(" | ") });
        let fields: Vec<String> = fields.iter().map(|(field, value)| format!("{field}: {value}")).collect();
        Ok(format!("Program {{ {}, ..Program::NOTHING }}", fields.join(", ")))
    }

    fn change(&mut self, verb: &str, words: &[&str]) -> Result<String, String> {
        let flags: Vec<&str> = words.iter().filter(|word| word.starts_with('-')).copied().collect();
        let (mut which, mut below) = ("Nothing".to_owned(), false);
        for word in words.iter().filter(|word| !word.starts_with('-')) {
            match *word {
                "all" | "rest" | "last" | "after-first" => which = camel(word),
                "below" => below = true,
                _ => return Err(format!("{word} does not say which are meant")),
            }
        }
        let flags = self.list(&flags);
        let action = match verb {
            "removes" => "Remove",
            "moves" => "Move",
            "overwrites" => "Overwrite",
            _ => "Change",
        };
        Ok(format!("Touches {{ action: Action::{action}, which: Which::{which}, flags: {flags}, below: {below} }}"))
    }

    /// Separates letters from long names. Long names lose their two dashes; a name with one dash keeps it.
    fn flags(&mut self, flags: &[&str]) -> String {
        let letter = |flag: &&&str| flag.len() == 2 && flag.starts_with('-');
        let letters: String = flags.iter().filter(letter).map(|flag| &flag[1..]).collect();
        let longs: Vec<&str> =
            flags.iter().filter(|flag| !letter(flag)).map(|flag| flag.strip_prefix("--").unwrap_or(flag)).collect();
        format!("Flags {{ letters: {}, longs: {} }}", self.place(&letters), self.list(&longs))
    }

    fn list(&mut self, words: &[&str]) -> String {
        let key: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        if let Some(known) = self.lists.get(&key) {
            return known.clone();
        }
        let places: Vec<String> = words.iter().map(|word| self.place(word)).collect();
        let list = format!("Words({}, {})", self.words.len(), places.len());
        self.words.extend(places);
        self.lists.insert(key, list.clone());
        list
    }

    fn place(&mut self, text: &str) -> String {
        if let Some(known) = self.texts.get(text) {
            return known.clone();
        }
        let place = format!("Text({}, {})", self.text.len(), text.len());
        self.text.push_str(text);
        self.texts.insert(text.to_owned(), place.clone());
        place
    }

    fn print(mut self) -> Result<String, std::fmt::Error> {
        let names = std::mem::take(&mut self.names);
        let (mut exact, mut starts) = (String::new(), String::new());
        for (name, row) in &names {
            match name.strip_suffix('*') {
                Some(start) => write!(starts, "({}, {row}), ", self.place(start))?,
                None => write!(exact, "({}, {row}), ", self.place(name))?,
            }
        }
        let Self { text, words, changes, rows, .. } = self;
        let (words, changes, rows) = (words.join(", "), changes.join(", "), rows.join(",\n"));
        Ok(format!(
            "Table {{ text: {text:?}, words: &[{words}], changes: &[{changes}], names: &[{exact}], starts: &[{starts}], \
             rows: &[{rows}] }}"
        ))
    }
}

fn field_of(verb: &str) -> &'static str {
    match verb {
        "unless" => "unless",
        "pattern" => "pattern",
        "carries" => "carries",
        "logins" => "logins",
        "only" => "only",
        "bare" => "bare",
        "optional" => "optional",
        _ => "valued",
    }
}

/// Converts `runs-input` to `RunsInput`.
fn camel(word: &str) -> String {
    let upper = |part: &str| part[..1].to_ascii_uppercase() + &part[1..];
    word.split('-').filter(|part| !part.is_empty()).map(upper).collect()
}
