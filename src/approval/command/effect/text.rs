//! Judges calls of sed and awk by their scripts.

use super::super::known::Origin;
use super::call::{Call, Finding, Touched};
use super::changes::by_row;
use super::reads::reads;
use super::unknown::unknown;
use super::{awk, sed};
use crate::approval::Class;
use crate::approval::program::{Grammar, Program};

/// Judges a call of sed or awk: tells whether its script only looks.
pub(super) fn judge(call: &Call<'_, '_>, program: &Program) -> Finding {
    let is_sed = program.grammar == Grammar::Sed;
    let allowed: &[&str] = if is_sed {
        &[
            "-n",
            "-E",
            "-r",
            "-s",
            "-u",
            "-z",
            "-nE",
            "-En",
            "-nr",
            "-rn",
            "--quiet",
            "--silent",
            "--regexp-extended",
            "--posix",
            "--null-data",
            "--separate",
            "--unbuffered",
            "--debug",
            "--sandbox",
        ]
    } else {
        &[
            "--posix",
            "--traditional",
            "--re-interval",
            "-b",
            "--characters-as-bytes",
            "--csv",
            "-P",
            "-S",
            "--sandbox",
        ]
    };
    let (mut texts, mut files, mut at) = (Vec::new(), Vec::new(), 0);
    let mut known = true;
    let mut given = false;
    while let Some(field) = call.arguments.get(at) {
        let start = field.value.start();
        let next = || call.arguments.get(at + 1).and_then(|field| field.value.known());
        if is_sed && matches!(start, "-e" | "--expression" | "-ne" | "-Ee" | "-nEe" | "-re") {
            texts.push(next());
            given = true;
            at += 1;
        } else if is_sed && start.starts_with("--expression=") {
            texts.push(field.value.known().map(|text| text["--expression=".len()..].to_owned()));
            given = true;
        } else if !is_sed && matches!(start, "-F" | "-v" | "--field-separator" | "--assign") {
            at += 1;
        } else if start == "--" {
            files.extend(call.arguments.get(at + 1..).unwrap_or_default());
            break;
        } else if !is_sed
            && (start.starts_with("-F") || start.starts_with("-v") || start.starts_with("--field-separator="))
            || allowed.contains(&start)
        {
        } else if start.starts_with('-') && start != "-" {
            known = false;
        } else {
            files.push(field);
        }
        at += 1;
    }
    if !given && !files.is_empty() {
        let script = files.remove(0);
        texts.push(script.value.known());
    }
    let looks = texts.iter().all(|text| {
        text.as_deref().is_some_and(|text| if is_sed { sed::only_looks(text) } else { awk::only_looks(text) })
    });
    if known && looks && !texts.is_empty() {
        let mut finding = Finding::new(Class::ReadOnly);
        reads(call, files, &mut finding);
        return finding;
    }
    if is_sed && call.has_flag("i", &["in-place"]) && !call.has_flag("f", &["file"]) && looks {
        let mut finding = by_row(call, program).unwrap_or_else(|| Finding::new(Class::Write));
        let copies = copies(call, &finding);
        finding.touched.extend(copies);
        return finding;
    }
    unknown(call, program)
}

/// Returns the copies that `sed -i.bak` keeps: each takes the place of what has that name.
fn copies(call: &Call<'_, '_>, finding: &Finding) -> Vec<Touched> {
    let suffix = |text: &String| {
        let cluster =
            || text.strip_prefix('-')?.trim_start_matches(['n', 'E', 'r', 's', 'u', 'z']).strip_prefix('i');
        text.strip_prefix("--in-place=").or_else(cluster).filter(|suffix| !suffix.is_empty()).map(str::to_owned)
    };
    let Some(suffix) = call.texts().iter().find_map(suffix).filter(|suffix| !suffix.contains(['*', '/'])) else {
        return Vec::new();
    };
    let copy = |touched: &Touched| {
        let mut value = touched.value.clone();
        // A pattern for the copies also fits some that belong to no file.
        if value.known().is_none() && value.origin == Origin::Line {
            value.origin = Origin::Perhaps;
        }
        value.push_text(&suffix);
        Touched { value, ..touched.clone() }
    };
    finding.touched.iter().map(copy).collect()
}
