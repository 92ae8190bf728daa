//! Programs that get their work in the line: a database gets its queries, Python a module of its own. They only
//! look if that work only looks. A program in the line (`python3 -c`, `node -e`) is always asked about, because it
//! may do anything.

use super::call::{Call, Field, Finding};
use super::reads::reads;
use super::special::operands;
use crate::approval::Class;
use crate::approval::program::lists;
use crate::approval::program::{Grammar, Program};

/// Judges a call of Python; `None` if it does more than look.
pub(super) fn python(call: &Call<'_, '_>, program: &Program) -> Option<Finding> {
    if program.grammar == Grammar::Python { Some(looks(call, &module(call)?)) } else { None }
}

/// Judges a call of sqlite; `None` if it does more than look.
pub(super) fn sqlite(call: &Call<'_, '_>, _: &Program) -> Option<Finding> {
    Some(looks(call, &[queried(call)?]))
}

fn looks(call: &Call<'_, '_>, files: &[Field]) -> Finding {
    let mut finding = Finding { runs_program: true, ..Finding::new(Class::ReadOnly) };
    reads(call, files.iter().collect(), &mut finding);
    finding
}

/// Returns the files that a harmless module reads.
fn module(call: &Call<'_, '_>) -> Option<Vec<Field>> {
    let flags = call.arguments.iter().take_while(|field| lists::PYTHON_FLAGS.contains(field.value.start())).count();
    let rest = call.arguments.get(flags..).unwrap_or_default();
    let (first, behind) = rest.split_first()?;
    match first.value.known()?.as_str() {
        "-m" => {
            let (module, arguments) = behind.split_first()?;
            let module = module.value.known()?;
            if module == "pip" {
                let (command, rest) = arguments.split_first()?;
                let plain = |field: &Field| field.value.known().is_some_and(|text| !text.starts_with("--"));
                let looks =
                    matches!(command.value.known()?.as_str(), "list" | "show" | "freeze" | "check" | "--version");
                return (looks && rest.iter().all(plain)).then(Vec::new);
            }
            if module != "json.tool" {
                return None;
            }
            let known = |field: &&Field| {
                let text = field.value.start();
                lists::JSON_FLAGS.contains(text) || text.strip_prefix("--indent=").is_some_and(is_number)
            };
            let files: Vec<&Field> = arguments.iter().filter(|field| !known(field)).collect();
            // A second file is written to; an unknown word may stand for two.
            let single =
                |field: &&Field| field.value.known().is_some_and(|text| text == "-" || !text.starts_with('-'));
            (files.len() <= 1 && files.iter().all(single)).then(|| files.into_iter().cloned().collect())
        }
        _ => None,
    }
}

/// Returns the database that a call only looks at.
fn queried(call: &Call<'_, '_>) -> Option<Field> {
    let valued = ["-separator", "-nullvalue", "-newline"];
    let plain = [
        "-readonly",
        "-json",
        "-csv",
        "-column",
        "-header",
        "-noheader",
        "-line",
        "-list",
        "-markdown",
        "-table",
        "-box",
        "-batch",
        "-bail",
        "-html",
        "-quote",
        "-tabs",
        "-ascii",
        "-safe",
    ];
    let flag = |field: &Field| {
        let text = field.value.known().unwrap_or_else(|| "-".to_owned());
        // Two dashes mean the same as one.
        let text = if text.starts_with("--") { text[1..].to_owned() } else { text };
        !text.starts_with('-') || plain.contains(&text.as_str()) || valued.contains(&text.as_str())
    };
    let words = operands(call, |flag| {
        flag.strip_prefix('-').is_some_and(|flag| valued.contains(&flag) || valued.contains(&&*format!("-{flag}")))
    });
    let (file, queries) = words.split_first()?;
    let looks = |field: &&Field| field.value.known().is_some_and(|text| query_looks(&text));
    let looks = !queries.is_empty() && queries.iter().all(looks) && call.arguments.iter().all(flag);
    // A name in this form contains settings, or names another file.
    let plain = match file.value.known() {
        Some(text) => {
            !text.starts_with("file:") || text.split_once('?').is_some_and(|(_, settings)| settings == "mode=ro")
        }
        None => !file.value.start().starts_with("file:") && !file.value.start().is_empty(),
    };
    (looks && plain).then(|| (*file).clone())
}

fn query_looks(text: &str) -> bool {
    let text = text.trim();
    if text.starts_with('.') {
        let mut words = text.split_whitespace();
        let known = words.next().is_some_and(|word| lists::SQLITE_DOTS.contains(word));
        return known && !text.contains(['|', '\n', ';', '/', '"', '\'']);
    }
    let statements = text.split(';').map(|part| part.trim().to_ascii_lowercase()).filter(|part| !part.is_empty());
    let mut any = false;
    for statement in statements {
        any = true;
        let mut words = statement.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let first = words.next().unwrap_or_default();
        let shows = match first {
            "select" | "explain" | "values" => true,
            "with" => !words.clone().any(|word| word == "replace"),
            "pragma" => {
                let rest = statement["pragma".len()..].trim();
                let name: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
                let behind = rest[name.len()..].trim();
                lists::SQLITE_PRAGMAS.contains(name.as_str()) && !behind.contains('=')
                    || lists::SQLITE_SETTINGS.contains(name.as_str()) && behind.is_empty()
            }
            _ => false,
        };
        if !shows
            || words.any(|word| lists::SQLITE_MORE.contains(word))
            || statement.contains("--")
            || statement.contains("/*")
        {
            return false;
        }
    }
    any
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::query_looks;

    #[test]
    fn queries_that_show_are_told_from_those_that_change() {
        for looks in [
            "select name from sqlite_master where type='table'",
            "SELECT 1; select 2;",
            ".tables",
            ".schema users",
            "pragma table_info(users)",
            "PRAGMA journal_mode;",
            "with a as (select 1) select * from a",
            "explain query plan select * from a",
        ] {
            assert!(query_looks(looks), "{looks}");
        }
        for more in [
            "",
            "drop table a",
            "select 1; drop table a",
            ".shell touch x",
            ".output x",
            ".dump |sh",
            ".schema\n.shell x",
            "pragma journal_mode=wal",
            "pragma wal_checkpoint",
            "pragma writable_schema = 1",
            "with a as (select 1) delete from b",
            "with a as (select 1) replace into b select 1",
            "select writefile('x', 'y')",
            "select load_extension('./x')",
            "select edit('x', 'vi')",
            "explain delete from a",
            "attach 'x' as y",
        ] {
            assert!(!query_looks(more), "{more}");
        }
    }
}
