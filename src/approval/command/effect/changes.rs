//! The changes of a call: the targets that its row names, and those of programs that need a closer look.

use std::sync::Arc;

use super::super::known::{Chunk, Origin, Value};
use super::super::search::Search;
use super::call::{Call, Field, Finding, Touched};
use super::reads::reads;
use crate::approval::path::is_harmless_device;
use crate::approval::program::{Action, Does, Grammar, Program, Touches, Trait, Which};
use crate::approval::{Class, NeverAuto};

/// Judges a call that does more than look, by its row; `None` if the row does not say what it does.
pub(super) fn by_row(call: &Call<'_, '_>, program: &Program) -> Option<Finding> {
    let has_word = || call.texts().iter().any(|text| program.at.contains(text));
    let does = match program.does {
        Some(Does::Disk)
            if program.is(Trait::Lists) && call.has_flag("l", &["list"]) && call.positionals().is_empty() =>
        {
            return None;
        }
        _ if !program.at.is_empty() && has_word() => Some(program.at_does),
        Some(_) if !program.with.is_empty() && !call.has(program.with) => return None,
        does => does,
    };
    Some(match does? {
        Does::Writes => touched(call, program, Class::Write),
        Does::Destroys => touched(call, program, Class::Destructive),
        Does::Network => touched(call, program, Class::Network),
        Does::Halts => Finding::never(Class::Destructive, NeverAuto::Machine),
        Does::Disk => {
            let target = call.positionals().last().map(|field| field.value.shown()).unwrap_or_default();
            Finding::never(Class::Destructive, NeverAuto::Device { target })
        }
    })
}

/// Returns the targets that a row names.
fn touched(call: &Call<'_, '_>, program: &Program, class: Class) -> Finding {
    let mut finding = Finding::new(class);
    let positionals = call.positionals();
    let moves = program.touches().iter().any(|touches| touches.action == Action::Move);
    let unlinks = program.is(Trait::Unlinks);
    // The program asks before it removes, or it also removes empty directories.
    let asks = says(call, "iIdn", &["--i", "--d", "--no-c", "--o"]);
    let whole_trees = says(call, "rR", &["--r"]);
    let into = program.touches().iter().find(|touches| touches.which == Which::Last);
    let into = into.and_then(|touches| call.value_of(touches.flags.iter()));
    for touches in program.touches() {
        let Touches { action, which, flags, below } = *touches;
        let by_flag = call.value_of(flags.iter());
        let values: Vec<Value> = match (which, by_flag) {
            (Which::Nothing | Which::Last, Some(value)) => vec![value],
            (Which::Nothing, None) => Vec::new(),
            (Which::Last, None) => positionals.last().map(|field| field.value.clone()).into_iter().collect(),
            (Which::All, _) => values(&positionals),
            (Which::AfterFirst, _) => values(positionals.get(1..).unwrap_or_default()),
            (Which::Rest, _) if into.is_some() => {
                values(&positionals).into_iter().filter(|value| Some(value) != into.as_ref()).collect()
            }
            (Which::Rest, _) => values(positionals.split_last().map_or(&[][..], |(_, rest)| rest)),
        };
        let action = if stays(call, *touches) { Action::Overwrite } else { action };
        for value in values {
            // `-` stands for the screen.
            if class == Class::Network && value.start() == "-" {
                continue;
            }
            if moves && which == Which::Last && value.known().is_some_and(|text| text == "/dev/null") {
                finding.class = Class::Destructive;
            }
            // An unknown word may also be a flag; as a target it already forbids the call.
            let recursive = below && (!unlinks || whole_trees);
            let origin = match &value.origin {
                Origin::Line if asks => Origin::Perhaps,
                // `rm` skips `.`, and so everything below it.
                Origin::Search(search) if recursive => {
                    Origin::Search(Arc::new(Search { with_all_below: true, ..search.as_ref().clone() }))
                }
                other => other.clone(),
            };
            let value = Value { origin, ..value };
            finding.touched.push(Touched { value, action, recursive, filtered: false });
        }
    }
    finding
}

/// Tells whether what a program may remove only loses its content, as none of the flags is given with which it goes.
fn stays(call: &Call<'_, '_>, touches: Touches) -> bool {
    let flags = || touches.flags.iter();
    let letters: String =
        flags().filter(|flag| !flag.starts_with("--")).flat_map(|flag| flag.chars().skip(1)).collect();
    let longs: Vec<&str> = flags().filter(|flag| flag.starts_with("--")).collect();
    let is_told = touches.which == Which::All && touches.action == Action::Remove && !touches.flags.is_empty();
    is_told && !says(call, &letters, &longs)
}

/// Tells whether the line shows that a flag is given. This is for counting; judging uses [`Call::has_flag`].
fn says(call: &Call<'_, '_>, letters: &str, longs: &[&str]) -> bool {
    call.arguments.iter().map(|field| field.value.start()).any(|start| {
        let cluster = start.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        cluster.is_some_and(|cluster| cluster.contains(|letter| letters.contains(letter)))
            || longs.iter().any(|long| start.starts_with(long))
    })
}

fn values(fields: &[&Field]) -> Vec<Value> {
    fields.iter().map(|field| field.value.clone()).collect()
}

/// Judges `tee`: when it writes to a device it only shows.
pub(super) fn copied_through(call: &Call<'_, '_>, program: &Program) -> Finding {
    if call.positionals().iter().all(|field| is_harmless_device(&field.value.shown())) {
        return Finding::new(Class::ReadOnly);
    }
    let mut finding = touched(call, program, Class::Write);
    if call.has_flag("a", &["append"]) {
        finding.touched.iter_mut().for_each(|touched| touched.action = Action::Change);
    }
    finding
}

/// Returns where an archive is unpacked; it may contain any names.
pub(super) fn unpacked(call: &Call<'_, '_>) -> Finding {
    let mut finding = Finding::new(Class::Execute);
    let flags: &[&str] = if call.is(Grammar::Unzip) { &["-d"] } else { &["-C", "--directory"] };
    if let Some(value) = call.value_of(flags.iter().copied()) {
        finding.touched.push(Touched { value, action: Action::Overwrite, recursive: false, filtered: false });
    }
    // The packed files are removed.
    if call.texts().iter().any(|text| text.starts_with("--remove")) {
        finding.class = Class::Destructive;
        for field in call.positionals() {
            let value = field.value.clone();
            finding.touched.push(Touched { value, action: Action::Remove, recursive: true, filtered: false });
        }
    }
    if unpacks(call) {
        let value = call.value_of(flags.iter().copied()).unwrap_or_else(|| Value::text("."));
        finding.touched.push(Touched { value, action: Action::Change, recursive: true, filtered: true });
    }
    finding
}

/// Tells whether an archive is unpacked, and not made.
fn unpacks(call: &Call<'_, '_>) -> bool {
    let first = call.arguments.first().map(|field| field.value.start()).unwrap_or_default();
    let bundle = !first.starts_with("--") && first.contains('x');
    call.is(Grammar::Unzip) || bundle || call.has_flag("x", &["extract", "get"])
}

pub(super) fn attributes(call: &Call<'_, '_>) -> Finding {
    let recursive = call.has_flag("R", &["recursive"]);
    let class = if recursive { Class::Destructive } else { Class::Write };
    // Modes such as `-x` look like flags. The first target may then be taken for the mode, but no flag is
    // overlooked.
    let is_mode = |text: &str| text.len() > 1 && text[1..].chars().all(|c| "rwxXst".contains(c));
    let mode_is_flag =
        call.arguments.iter().any(|field| field.value.start().starts_with('-') && is_mode(field.value.start()));
    let reference = call.arguments.iter().any(|field| field.value.start().starts_with("--ref"));
    let positionals = call.positionals();
    let skipped = usize::from(!mode_is_flag && !reference);
    let targets: Vec<&Field> = positionals.iter().copied().skip(skipped).collect();
    // Adding permissions loses nothing.
    let adds = call.name == "chmod"
        && !mode_is_flag
        && positionals.first().is_some_and(|mode| {
            let mode = mode.value.start().trim_start_matches(['u', 'g', 'o', 'a']);
            mode.starts_with('+') && is_mode(mode)
        });
    let mut finding = Finding::new(class);
    for value in values(&targets) {
        finding.touched.push(Touched { value, action: Action::Attributes, recursive, filtered: false });
    }
    let hidden = |touched: &&Touched| touched.value.is_unknown() || touched.value.had_empty;
    if let Some(touched) = finding.touched.iter().find(hidden).filter(|_| !adds) {
        finding.never = Some(NeverAuto::Unresolved { word: touched.value.shown() });
    }
    // It follows each link below the targets.
    if recursive && call.has_flag("L", &[]) {
        for touched in &mut finding.touched {
            touched.value.chunks.push(Chunk::Unknown);
        }
    }
    finding
}

pub(super) fn disk_dump(call: &Call<'_, '_>) -> Finding {
    let mut finding = Finding::new(Class::Destructive);
    for field in call.arguments {
        if field.value.start().starts_with("of=") {
            let value = field.value.without_start(3);
            finding.touched.push(Touched { value, action: Action::Overwrite, recursive: false, filtered: false });
        } else if field.value.start().is_empty() {
            let value = Value::unknown();
            finding.touched.push(Touched { value, action: Action::Overwrite, recursive: false, filtered: false });
        }
    }
    if finding.touched.is_empty() {
        finding.class = Class::ReadOnly;
    }
    let inputs = call.arguments.iter().filter(|field| field.value.start().starts_with("if="));
    let inputs: Vec<Field> =
        inputs.map(|field| Field { value: field.value.without_start(3), written: None }).collect();
    reads(call, inputs.iter().collect(), &mut finding);
    finding
}

pub(super) fn synchronised(call: &Call<'_, '_>) -> Finding {
    let deletes = call.texts().iter().any(|text| text.starts_with("--del"));
    let moves = call.texts().iter().any(|text| text.starts_with("--remove"));
    let is_remote = |field: &&Field| field.value.shown().split('/').next().is_some_and(|first| first.contains(':'));
    let positionals = call.positionals();
    let remote = positionals.iter().any(is_remote);
    let class = match (deletes || moves, remote) {
        (true, _) => Class::Destructive,
        (false, true) => Class::Network,
        (false, false) => Class::Write,
    };
    let mut finding = Finding::new(class);
    if let Some(last) = positionals.last()
        && !is_remote(last)
    {
        let action = if deletes { Action::Remove } else { Action::Change };
        let mut value = last.value.clone();
        if deletes {
            // The directory behind a link is emptied; the link itself stays. What is at the source, too, stays.
            value.push_text("/.");
            if value.origin == Origin::Line {
                value.origin = Origin::Perhaps;
            }
        }
        finding.touched.push(Touched { value, action, recursive: true, filtered: false });
    }
    let sources = positionals.split_last().map_or(&[][..], |(_, sources)| sources);
    for source in sources.iter().filter(|source| moves && !is_remote(source)) {
        let value = source.value.clone();
        finding.touched.push(Touched { value, action: Action::Remove, recursive: true, filtered: false });
    }
    finding
}

pub(super) fn signalled(call: &Call<'_, '_>) -> Finding {
    let texts = call.texts();
    if call.name == "kill" && texts.first().is_some_and(|text| text == "-l" || text == "-L") {
        return Finding::new(Class::ReadOnly);
    }
    let everything = match call.name {
        "kill" => texts.iter().skip(1).any(|text| text == "-1") || texts.as_slice() == ["-1"],
        _ => call.has_flag("u", &["user", "uid"]) || texts.iter().any(|text| matches!(text.as_str(), "." | ".*")),
    };
    if everything {
        return Finding::never(Class::Destructive, NeverAuto::Machine);
    }
    Finding::new(Class::Destructive)
}
