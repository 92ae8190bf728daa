//! Lays out the files of this directory at compile time: adding a language is adding one file, and a start of axi parses
//! none. Every key becomes a constant or a struct of `locale::word`, so that a key nobody has or nobody uses, or a
//! placeholder nobody fills, fails to compile. A language that lacks a key or a placeholder of English fails here.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

/// The language whose keys and placeholders all others have.
const FIRST: &str = "en";

/// The tag of the language that no one speaks: English in wide letters, and half as long again. A word in narrow letters is one that does not come from these files.
const PSEUDO: &str = "qps-ploc";

/// The plural categories of CLDR, in the order of `locale::Form`. A group that has `other` and none but these is a
/// plural: one message, in as many forms as its language has.
const FORMS: [&str; 6] = ["zero", "one", "two", "few", "many", "other"];

/// What a placeholder becomes in the text: the first one this character, the second one the next.
const FIRST_MARK: u8 = 1;

/// The placeholder that a library or the system speaks in: what the system says is said in the language.
const CAUSE: &str = "cause";

/// The most placeholders of a message: `FIRST_MARK` and those after it end before the tab.
const MOST: usize = 8;

/// How the module of keys begins. Less than the whole of axi does not say all that axi can say.
const HEAD: &str = r#"
/// The keys, as `locales/en.json` has them.
#[expect(clippy::struct_field_names, reason = "a placeholder may be called as its sentence")]
#[cfg_attr(doc, expect(rustdoc::bare_urls, reason = "a text is shown as it is"))]
#[cfg_attr(all(feature = "keychain", feature = "local", target_os = "linux"), deny(dead_code))]
#[cfg_attr(
    not(all(feature = "keychain", feature = "local", target_os = "linux")),
    allow(dead_code, reason = "some keys are about what is left out here")
)]
"#;

/// The texts of one key: one, or one a plural category.
enum Message {
    Plain(String),
    Plural(BTreeMap<String, String>),
}

type Messages = BTreeMap<String, Message>;

/// The placeholders of each key.
type Names<'a> = BTreeMap<&'a str, BTreeSet<String>>;

/// What is wrong with a file.
pub(crate) type Failure = Box<dyn Error>;

/// The rows of shell programs.
#[path = "../src/approval/program/build.rs"]
mod programs;

/// The rows of providers.
#[path = "../src/provider/build.rs"]
mod providers;

/// The rows of developer tools.
#[path = "../src/tool/devtool/build.rs"]
mod dev_tools;

fn main() -> Result<(), Failure> {
    let out = std::env::var("OUT_DIR")?;
    println!("cargo:rerun-if-changed=src/approval/program");
    let laid_out = programs::lay_out(Path::new("src/approval/program/rows"))?;
    std::fs::write(Path::new(&out).join("programs.rs"), laid_out.table)?;
    std::fs::write(Path::new(&out).join("program_words.rs"), laid_out.lists)?;
    println!("cargo:rerun-if-changed=src/provider/providers.json");
    println!("cargo:rerun-if-changed=src/provider/build.rs");
    let table = providers::lay_out(&std::fs::read_to_string("src/provider/providers.json")?)?;
    std::fs::write(Path::new(&out).join("providers.rs"), table)?;
    println!("cargo:rerun-if-changed=src/tool/devtool/tools.json");
    println!("cargo:rerun-if-changed=src/tool/devtool/build.rs");
    let table = dev_tools::lay_out(&std::fs::read_to_string("src/tool/devtool/tools.json")?)?;
    std::fs::write(Path::new(&out).join("dev_tools.rs"), table)?;
    println!("cargo:rerun-if-changed=locales");
    let mut files = Vec::new();
    for entry in std::fs::read_dir("locales")? {
        let path = entry?.path();
        if let Some(tag) = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".json")) {
            files.push((tag.to_owned(), std::fs::read_to_string(&path)?));
        }
    }
    // Tests walk axi in it; people get none.
    if std::env::var("PROFILE")? == "debug" {
        let english = files.iter().find(|(tag, _)| tag == FIRST).ok_or("locales/en.json is the first language")?;
        files.push((PSEUDO.to_owned(), pseudo(&serde_json::from_str(&english.1)?).to_string()));
    }
    let (languages, word) = generate(&files)?;
    std::fs::write(Path::new(&out).join("languages.rs"), languages)?;
    std::fs::write(Path::new(&out).join("word.rs"), word)?;
    Ok(())
}

/// Writes the table of languages and the module of keys, from the tag and the text of each file.
pub(crate) fn generate(files: &[(String, String)]) -> Result<(String, String), Failure> {
    let mut languages = BTreeMap::new();
    for (tag, source) in files {
        let mut messages = Messages::new();
        let inside = |error: Failure| format!("locales/{tag}.json: {error}");
        let value = serde_json::from_str(source).map_err(|error| inside(error.into()))?;
        collect("", &value, &mut messages).map_err(inside)?;
        languages.insert(tag.as_str(), messages);
    }
    let first = languages.get(FIRST).ok_or("locales/en.json is the first language")?;
    let mut names = Names::new();
    for (key, message) in first {
        names.insert(key, placeholders(key, message)?);
    }
    let mut tables = String::from("&[\n");
    for (tag, messages) in &languages {
        let table = table(first, messages, &names).map_err(|error| format!("locales/{tag}.json: {error}"))?;
        writeln!(tables, "    Words {{ tag: {tag:?}, {table} }},")?;
    }
    tables.push_str("]\n");
    Ok((tables, items(first, &names)?))
}

/// The texts of a file in that language; placeholders stay.
pub(crate) fn pseudo(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields.iter().map(|(name, field)| (name.clone(), pseudo(field))).collect(),
        Value::String(text) => Value::String(widened(text)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => value.clone(),
    }
}

/// One text in wide letters, behind a mark of direction as tools for translators set them: `to {path}` becomes
/// `ｔｏ {path}～`.
fn widened(text: &str) -> String {
    if text.trim().is_empty() {
        return text.to_owned();
    }
    let (mut wide, mut letters, mut inside) = (String::from('\u{200f}'), 0, false);
    for letter in text.trim_end().chars() {
        inside = (inside || letter == '{') && letter != '}';
        if letter.is_ascii_alphabetic() && !inside {
            letters += 1;
            // The wide letters stand in the order of ASCII.
            wide.extend(char::from_u32(u32::from(letter) - u32::from('!') + 0xff01));
        } else {
            wide.push(letter);
        }
    }
    wide.extend(std::iter::repeat_n('～', letters / 2));
    wide + &text[text.trim_end().len()..]
}

/// A number as clippy wants a long one: `100_205`.
fn grouped(number: usize) -> String {
    if number < 100_000 { number.to_string() } else { format!("{}_{:03}", number / 1_000, number % 1_000) }
}

/// Reads `{"a": {"b": "text"}}` as `a.b -> text`.
fn collect(key: &str, value: &Value, messages: &mut Messages) -> Result<(), Failure> {
    match value {
        Value::Object(fields) if fields.contains_key("other") && fields.keys().all(|name| is_form(name)) => {
            let form = |(name, text): (&String, &Value)| Some((name.clone(), text.as_str()?.to_owned()));
            let forms: Option<_> = fields.iter().map(form).collect();
            messages.insert(key.to_owned(), Message::Plural(forms.ok_or_else(|| format!("{key} is no text"))?));
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                let good = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
                if !name.starts_with(|letter: char| letter.is_ascii_lowercase()) || !name.chars().all(good) {
                    return Err(format!("{key}.{name}: a key is made of a-z, 0-9 and _").into());
                }
                let inner = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
                collect(&inner, field, messages)?;
            }
        }
        Value::String(text) => {
            messages.insert(key.to_owned(), Message::Plain(text.clone()));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            return Err(format!("{key} is no text").into());
        }
    }
    Ok(())
}

/// Tells whether a character turns the direction of those around it. A file may have them, axi's words have none: a
/// terminal lays a row out by the direction of its letters, and what is shown lets no such mark through, whoever set it.
const fn is_direction(letter: char) -> bool {
    matches!(letter, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn is_form(name: &str) -> bool {
    FORMS.contains(&name)
}

/// The names in the braces of a message, in all its forms.
fn placeholders(key: &str, message: &Message) -> Result<BTreeSet<String>, Failure> {
    let (texts, mut names): (Vec<&String>, BTreeSet<String>) = match message {
        Message::Plain(text) => (vec![text], BTreeSet::new()),
        Message::Plural(forms) => (forms.values().collect(), BTreeSet::from(["count".to_owned()])),
    };
    for text in texts {
        if text.chars().any(|letter| letter.is_control() && letter != '\n') {
            return Err(format!("{key} holds a control character").into());
        }
        names.extend(named(text).map(str::to_owned));
    }
    if names.len() > MOST {
        return Err(format!("{key} has more than {MOST} placeholders").into());
    }
    if matches!(message, Message::Plural(_)) && names.len() > 1 {
        return Err(format!("{key}: the only placeholder of a plural is {{count}}").into());
    }
    Ok(names)
}

/// The names between braces, where they are names.
fn named(text: &str) -> impl Iterator<Item = &str> {
    let inside = text.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0));
    inside
        .filter(|name| !name.is_empty() && name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_'))
}

/// Lays out the texts of one language in the order of the first one's keys.
fn table(first: &Messages, messages: &Messages, names: &Names<'_>) -> Result<String, Failure> {
    if let Some(foreign) = messages.keys().find(|key| !first.contains_key(*key)) {
        return Err(format!("{foreign} is not in {FIRST}.json").into());
    }
    // One text and places in it: a table of references would have to be relocated at each start.
    let (mut text, mut places) = (String::new(), String::new());
    let mut add = |key: &str, word: &str| {
        let mut marked = word.replace(is_direction, "");
        for (mark, name) in (FIRST_MARK..).zip(&names[key]) {
            marked = marked.replace(&format!("{{{name}}}"), &char::from(mark).to_string());
        }
        let place = format!("({}, {}), ", grouped(text.len()), marked.len());
        text.push_str(&marked);
        place
    };
    for (key, model) in first {
        let message = messages.get(key).ok_or_else(|| format!("{key} is missing"))?;
        match (model, message) {
            (Message::Plain(_), Message::Plain(word)) => {
                if placeholders(key, message)? != names[key.as_str()] {
                    return Err(format!("{key} has other placeholders than {:?}", names[key.as_str()]).into());
                }
                let same = |text: &str| text.trim().is_empty();
                if let Message::Plain(english) = model
                    && same(english) != same(word)
                {
                    return Err(format!("{key} is empty in one of the two").into());
                }
                places.push_str(&add(key, word));
            }
            (Message::Plural(_), Message::Plural(forms)) => {
                placeholders(key, message)?;
                let other = add(key, &forms["other"]);
                for form in FORMS {
                    let own = forms.get(form).filter(|_| form != "other").map(|word| add(key, word));
                    places.push_str(own.as_ref().unwrap_or(&other));
                }
            }
            (Message::Plain(_), Message::Plural(_)) | (Message::Plural(_), Message::Plain(_)) => {
                return Err(format!("{key} is a plural in one of the two").into());
            }
        }
    }
    Ok(format!("text: {text:?}, places: &[{places}]"))
}

/// Writes a constant or a struct for each key, in modules as its file has groups.
fn items(first: &Messages, names: &Names<'_>) -> Result<String, Failure> {
    let most = names.values().map(BTreeSet::len).max().unwrap_or_default();
    let mut written = format!("{HEAD}pub(crate) mod word {{\npub(super) const MOST: usize = {most};\n");
    let mut open: Vec<&str> = Vec::new();
    let mut place = 0;
    for (key, message) in first {
        let mut groups: Vec<&str> = key.split('.').collect();
        let name = groups.pop().unwrap_or_default();
        let shared = open.iter().zip(&groups).take_while(|(left, right)| left == right).count();
        for _ in shared..open.len() {
            written.push_str("}\n");
        }
        for group in &groups[shared..] {
            writeln!(written, "pub(crate) mod {group} {{")?;
        }
        open = groups;
        let (english, slots, kind) = match message {
            Message::Plain(text) => (text, 1, "Word"),
            Message::Plural(forms) => (&forms["other"], FORMS.len(), "Plural"),
        };
        // A bracket would be a link.
        writeln!(written, "#[doc = {:?}]", english.replace('[', "\\["))?;
        let constant = kind == "Plural" || names[key.as_str()].is_empty();
        written.push_str(&if constant {
            as_constant(name, kind, place)
        } else {
            as_struct(name, &names[key.as_str()], place)?
        });
        place += slots;
    }
    written.push_str(&"}\n".repeat(open.len() + 1));
    Ok(written)
}

fn as_constant(name: &str, kind: &str, place: usize) -> String {
    format!("pub(crate) const {}: crate::locale::{kind} = crate::locale::{kind}({place});\n", name.to_uppercase())
}

fn as_struct(name: &str, fields: &BTreeSet<String>, place: usize) -> Result<String, Failure> {
    let name: String = name.split('_').map(|part| part[..1].to_uppercase() + &part[1..]).collect();
    let mut text = format!("pub(crate) struct {name}<'a> {{\n");
    for field in fields {
        writeln!(text, "    pub(crate) {field}: &'a str,")?;
    }
    let values: Vec<String> = fields.iter().map(|field| format!("self.{field}")).collect();
    writeln!(text, "}}\nimpl<'a> crate::locale::Message<'a> for {name}<'a> {{")?;
    writeln!(text, "    fn filled(self) -> crate::locale::Filled<'a> {{")?;
    let cause = fields.iter().position(|field| field == CAUSE).map(|at| format!(".with_cause({at})"));
    let cause = cause.unwrap_or_default();
    writeln!(text, "        crate::locale::Filled::new({place}, &[{}]){cause}\n    }}\n}}", values.join(", "))?;
    Ok(text)
}
