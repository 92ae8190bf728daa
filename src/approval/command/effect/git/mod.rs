//! git: which of its commands only look, which lose content, and what they touch.

use crate::approval::{Class, NeverAuto, Unparsed};
mod commands;
mod ground;

use self::ground::GitPlace;
use super::call::{Call, Field, Finding, Touched};
use super::reads::reads;
use crate::approval::program::{Action, Does, Program, lists};

pub(crate) use commands::{git_command_at, is_git_command};

/// Judges a call of git.
pub(super) fn judge(call: &Call<'_, '_>, program: &Program) -> Finding {
    let mut finding = command(call, program);
    if finding.class == Class::ReadOnly {
        reads(call, call.positionals().into_iter().skip(1).collect(), &mut finding);
        // `-L 1,9:FILE` is a reader of that file's history.
        let lines = call.value_of(["-L"]);
        let file = lines.as_ref().and_then(|lines| lines.start().rfind(':').map(|at| lines.without_start(at + 1)));
        if let Some(value) = file {
            reads(call, vec![&Field { value, written: None }], &mut finding);
        }
    }
    finding
}

fn command(call: &Call<'_, '_>, program: &Program) -> Finding {
    let ground = GitPlace::of(call);
    let doubt = ground.doubt;
    let rest = call.arguments.get(ground.command..).unwrap_or_default();
    let inner = Call { arguments: rest.get(1..).unwrap_or_default(), ..*call };
    let Some(command) = rest.first().map(|field| field.value.known().unwrap_or_default()) else {
        return Finding::new(Class::ReadOnly);
    };
    if command.is_empty() {
        // Any of the words behind it may be the command.
        let mut finding = Finding::unparsed(Unparsed::DynamicCommand);
        let loses =
            |field: &Field| matches!(field.value.start(), "clean" | "reset" | "checkout" | "restore" | "rm");
        if rest.iter().any(loses) {
            finding.never = rest.first().map(|field| NeverAuto::Unresolved { word: field.value.shown() });
        }
        return finding;
    }
    if matches!(command.as_str(), "-v" | "-h" | "--help") {
        return Finding::new(Class::ReadOnly);
    }
    let row = program.below().iter().find(|row| row.words.iter().eq([command.as_str()]));
    let mut finding =
        looks(&command, rest, &inner, program).unwrap_or_else(|| change(&command, row, &inner, &ground));
    let carries =
        |row: &Program| inner.has(row.carries) || inner.texts().iter().any(|text| row.carries_at.contains(text));
    if row.is_some_and(carries) {
        finding.unparsed = Some(Unparsed::Wrapper);
    }
    finding.unparsed = finding.unparsed.or(doubt);
    if doubt.is_some() {
        finding.class = finding.class.max(Class::Execute);
    }
    finding
}

/// Tells whether `git clean` only says what it would do: a pattern may look like the flag for it.
fn only_shows(call: &Call<'_, '_>) -> bool {
    let texts: Vec<String> = call.texts().into_iter().take_while(|text| text != "--").collect();
    let known = |text: &String| {
        let cluster = text.strip_prefix('-').is_some_and(|letters| letters.chars().all(|c| "dfnqxX".contains(c)));
        !text.is_empty()
            && (!text.starts_with('-') || cluster || matches!(text.as_str(), "--dry-run" | "--force" | "--quiet"))
    };
    let shows = |text: &String| {
        text == "--dry-run" || text.starts_with('-') && !text.starts_with("--") && text.contains('n')
    };
    texts.iter().all(known) && texts.iter().any(shows)
}

/// Tells whether git is to show what it takes for binary: to it, secret files are (`secret::files::git_attributes`).
fn shows_binary(words: &[String]) -> bool {
    let shows = words.first().is_some_and(|command| lists::GIT_SHOWS.contains(command.as_str()));
    shows
        && words.iter().take_while(|word| *word != "--").any(|word| {
            let short_for = |name: &str| word.len() > 3 && name.starts_with(word.as_str());
            word == "-a" || short_for("--text") || short_for("--binary")
        })
}

/// Judges a command that may only look; `None` where it does more.
fn looks(command: &str, rest: &[Field], call: &Call<'_, '_>, program: &Program) -> Option<Finding> {
    let texts: Vec<String> = rest.iter().map(|field| field.value.known().unwrap_or_default()).collect();
    let fits = |row: &&Program| {
        row.looks.is_some()
            && row.words.len() <= texts.len()
            && row.words.iter().zip(&texts).all(|(word, text)| word == text)
    };
    if let Some(row) = program.below().iter().find(fits) {
        let more = call.has(row.unless) || shows_binary(&texts);
        return Some(Finding::new(if more { Class::Execute } else { Class::ReadOnly }));
    }
    let only = |flags: &[&str]| {
        texts[1..].iter().all(|text| flags.iter().any(|flag| text == flag || text.starts_with(&format!("{flag}="))))
    };
    let has = |wanted: &[&str]| texts[1..].iter().any(|text| wanted.contains(&text.as_str()));
    let positionals = call.positionals().len();
    let looks = match command {
        "branch" => {
            let listing =
                has(&["--list", "-l", "--contains", "--merged", "--no-merged", "--points-at", "--show-current"]);
            !call.has_flag(
                "dDmMcCuft",
                &[
                    "delete",
                    "move",
                    "copy",
                    "force",
                    "set-upstream-to",
                    "unset-upstream",
                    "edit-description",
                    "track",
                    "create-reflog",
                ],
            ) && (positionals == 0 || listing)
        }
        "tag" => {
            let listing = has(&["--list", "-l", "-n", "--contains", "--merged", "--no-merged", "--points-at"]);
            !call.has_flag(
                "dasfumFev",
                &["delete", "annotate", "sign", "force", "message", "file", "edit", "local-user", "verify"],
            ) && (positionals == 0 || listing)
        }
        "remote" => only(&["-v", "--verbose"]),
        "reflog" => {
            !call.has_flag("", &["output", "ext-diff"])
                && !shows_binary(&texts)
                && (positionals == 0 || !has(&["expire", "delete", "drop", "exists", "write"]))
        }
        "config" => {
            let gets =
                has(&["--get", "--get-all", "--get-regexp", "--list", "-l", "--get-urlmatch", "--name-only"]);
            let changes = call.has_flag(
                "e",
                &["add", "unset", "unset-all", "replace-all", "rename-section", "remove-section", "edit"],
            ) || has(&["set", "unset", "edit", "rename-section", "remove-section"]);
            !changes && (gets || positionals == 1)
        }
        "submodule" => positionals == 0 && only(&["-q", "--quiet"]),
        "archive" => only(&["-l", "--list"]),
        "symbolic-ref" => positionals == 1 && !call.has_flag("dm", &["delete"]),
        _ => false,
    };
    looks.then(|| Finding::new(Class::ReadOnly))
}

fn change(command: &str, row: Option<&Program>, call: &Call<'_, '_>, ground: &GitPlace) -> Finding {
    let texts = call.texts();
    let has = |wanted: &[&str]| texts.iter().any(|text| wanted.contains(&text.as_str()));
    let whole = |class: Class| {
        let mut finding = Finding::new(class);
        finding.touched.push(Touched {
            value: ground.whole(),
            action: Action::Remove,
            recursive: true,
            filtered: true,
        });
        finding
    };
    let paths = |class: Class, skip: usize| {
        let mut finding = Finding::new(class);
        for field in call.positionals().into_iter().skip(skip) {
            finding.touched.push(Touched {
                value: ground.path(&field.value),
                action: Action::Remove,
                recursive: true,
                filtered: true,
            });
        }
        finding
    };
    match command {
        "clean" if !only_shows(call) => {
            if call.positionals().is_empty() {
                whole(Class::Destructive)
            } else {
                paths(Class::Destructive, 0)
            }
        }
        "clean" => Finding::new(Class::ReadOnly),
        "reset" if has(&["--hard", "--merge", "--keep"]) || call.has_flag("", &["hard"]) => {
            whole(Class::Destructive)
        }
        "checkout" if has(&["--", "."]) || call.has_flag("f", &["force"]) => whole(Class::Destructive),
        "switch" if call.has_flag("fC", &["force", "discard-changes", "force-create"]) => whole(Class::Destructive),
        "restore" if !call.has_flag("S", &["staged"]) || call.has_flag("W", &["worktree"]) => {
            paths(Class::Destructive, 0)
        }
        "rm" => paths(Class::Destructive, 0),
        "branch" if call.has_flag("DdfM", &["delete", "force"]) => Finding::new(Class::Destructive),
        "tag" if call.has_flag("df", &["delete", "force"]) => Finding::new(Class::Destructive),
        "stash" if has(&["drop", "clear", "pop"]) => Finding::new(Class::Destructive),
        "worktree" if has(&["remove"]) => paths(Class::Destructive, 1),
        "worktree" if has(&["prune"]) => Finding::new(Class::Destructive),
        "push" => {
            let forced = call.has_flag("fd", &["force", "force-with-lease", "delete", "mirror", "prune"])
                || texts.iter().any(|text| text.starts_with('+') || text.starts_with(':'));
            Finding::new(if forced { Class::Destructive } else { Class::Network })
        }
        _ => Finding::new(match row.and_then(|row| row.does) {
            Some(Does::Writes) => Class::Write,
            Some(Does::Network) => Class::Network,
            Some(Does::Destroys | Does::Disk | Does::Halts) => Class::Destructive,
            // An alias of the user's or the repository's settings can be any program.
            None => Class::Execute,
        }),
    }
}
