//! `find`: what it runs, what it deletes, what it writes.

use super::super::Class;
use super::super::path::is_credential;
use super::call::{Action, Field, Finding, Input, Touched};
use super::value::Value;
use super::walk::Flow;
use super::wrapper::{Opening, replace};

/// Tests that pick only some of what lies below.
const FILTERS: &[&str] = &[
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-regex",
    "-iregex",
    "-lname",
    "-mtime",
    "-mmin",
    "-size",
    "-newer",
    "-ctime",
    "-atime",
    "-amin",
    "-cmin",
    "-user",
    "-group",
    "-perm",
    "-samefile",
    "-inum",
];

/// What takes a value and does nothing.
const VALUED: &[&str] = &[
    "-type",
    "-xtype",
    "-maxdepth",
    "-mindepth",
    "-printf",
    "-fstype",
    "-links",
    "-uid",
    "-gid",
    "-used",
    "-context",
];

/// Judges a call of find.
pub(crate) fn open<'s>(opening: &mut Opening<'_, '_, 's>, arguments: &[Field]) -> Flow<'s> {
    let mut at = 0;
    while arguments.get(at).is_some_and(|field| matches!(field.value.start(), "-H" | "-L" | "-P")) {
        at += 1;
    }
    let mut roots: Vec<Value> = Vec::new();
    let mut may_be_any = false;
    while let Some(field) = arguments.get(at) {
        let start = field.value.start();
        if start.starts_with('-') || matches!(start, "(" | ")" | "!" | ",") {
            break;
        }
        // What is not known, or a planted file's name, may be `-delete`.
        may_be_any |= start.is_empty();
        roots.push(field.value.clone());
        at += 1;
    }
    if roots.is_empty() {
        roots.push(Value::text("."));
    }
    let expression = arguments.get(at..).unwrap_or_default();
    let filtered = is_filtered(expression);
    let name = expression.iter().zip(expression.iter().skip(1)).find_map(|(flag, value)| {
        matches!(flag.value.start(), "-name" | "-iname" | "-path" | "-wholename").then(|| value.value.shown())
    });
    let items =
        if filtered || name.is_some() { opening.state.some_below(&roots, name.as_deref()) } else { roots.clone() };
    // Without a filter it is the directory itself, and all names below it.
    let items = if filtered || finds_secret(name.as_deref()) {
        items
    } else {
        let mut both = opening.state.some_below(&roots, None);
        both.extend(roots.clone());
        both
    };
    let mut finding = Finding::new(if may_be_any { Class::Execute } else { Class::ReadOnly });
    let mut at = 0;
    while let Some(field) = expression.get(at) {
        let test = field.value.start().to_owned();
        at += 1;
        match test.as_str() {
            "-delete" => {
                finding.class = Class::Destructive;
                for value in &roots {
                    let value = value.clone();
                    finding.touched.push(Touched { value, action: Action::Remove, recursive: true, filtered });
                }
            }
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let ends = |field: &Field| matches!(field.value.start(), ";" | "+");
                let length = expression[at..].iter().position(ends).unwrap_or(expression.len() - at);
                let inner = &expression[at..at + length];
                let items: Vec<Field> =
                    items.iter().map(|value| Field { value: value.clone(), written: None }).collect();
                let inner = replace(inner, "{}", &items);
                opening.run(&inner);
                at += length + 1;
            }
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                finding.class = finding.class.max(Class::Write);
                if let Some(file) = expression.get(at) {
                    let value = file.value.clone();
                    finding.touched.push(Touched {
                        value,
                        action: Action::Overwrite,
                        recursive: false,
                        filtered: false,
                    });
                }
                at += 1;
            }
            "-files0-from" | "" => finding.class = finding.class.max(Class::Execute),
            _ if FILTERS.contains(&test.as_str())
                || VALUED.contains(&test.as_str())
                || test.starts_with("-newer") =>
            {
                at += 1;
            }
            _ => {}
        }
    }
    opening.note_finding(&finding);
    Flow::same(opening.state.clone(), Input::Names(items))
}

fn finds_secret(name: Option<&str>) -> bool {
    name.is_some_and(|name| is_credential(std::path::Path::new(name), None))
}

fn is_filtered(expression: &[Field]) -> bool {
    let texts: Vec<String> = expression.iter().map(|field| field.value.shown()).collect();
    if texts.iter().any(|text| matches!(text.as_str(), "-o" | "-or" | "!" | "-not" | ",")) {
        return false;
    }
    texts.iter().enumerate().any(|(index, text)| {
        let value = texts.get(index + 1).map(String::as_str).unwrap_or_default();
        text == "-empty"
            || (FILTERS.contains(&text.as_str())
                && value.chars().any(char::is_alphanumeric)
                && !value.contains('…'))
    })
}
