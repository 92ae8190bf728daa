//! git: which of its commands only look, which lose content, and what they touch.

use crate::approval::{Class, Unparsed};
mod commands;
mod ground;

use self::ground::Ground;
use super::super::judgement::Action;
use super::call::{Call, Field, Finding, Touched};

pub(crate) use commands::{git_command_at, is_git_command};

/// A command that only looks: its words, the letters and long flags with which it does more.
struct Looks(&'static [&'static str], &'static str, &'static [&'static str]);

const DIFF: &[&str] = &["output", "ext-diff"];
const NONE: &[&str] = &[];

const LOOKS: &[Looks] = &[
    Looks(&["status"], "", NONE),
    Looks(&["diff"], "", DIFF),
    Looks(&["log"], "", DIFF),
    Looks(&["show"], "", DIFF),
    Looks(&["whatchanged"], "", DIFF),
    Looks(&["diff-tree"], "", DIFF),
    Looks(&["diff-index"], "", DIFF),
    Looks(&["diff-files"], "", DIFF),
    Looks(&["range-diff"], "", DIFF),
    Looks(&["shortlog"], "", DIFF),
    Looks(&["blame"], "", NONE),
    Looks(&["annotate"], "", NONE),
    Looks(&["grep"], "O", &["open-files-in-pager", "ext-grep"]),
    Looks(&["ls-files"], "", NONE),
    Looks(&["ls-tree"], "", NONE),
    Looks(&["cat-file"], "", &["filters", "textconv"]),
    Looks(&["rev-parse"], "", NONE),
    Looks(&["rev-list"], "", DIFF),
    Looks(&["describe"], "", NONE),
    Looks(&["merge-base"], "", NONE),
    Looks(&["name-rev"], "", NONE),
    Looks(&["for-each-ref"], "", NONE),
    Looks(&["show-ref"], "", &["exclude-existing"]),
    Looks(&["show-branch"], "", NONE),
    Looks(&["count-objects"], "", NONE),
    Looks(&["cherry"], "", NONE),
    Looks(&["check-ignore"], "", NONE),
    Looks(&["check-attr"], "", NONE),
    Looks(&["verify-commit"], "", NONE),
    Looks(&["verify-tag"], "", NONE),
    Looks(&["version"], "", NONE),
    Looks(&["--version"], "", NONE),
    Looks(&["--exec-path"], "", NONE),
    Looks(&["help"], "wi", &["web", "info"]),
    Looks(&["var"], "", NONE),
    Looks(&["stash", "list"], "", DIFF),
    Looks(&["stash", "show"], "", DIFF),
    Looks(&["worktree", "list"], "", NONE),
    Looks(&["submodule", "status"], "", NONE),
    Looks(&["submodule", "summary"], "", NONE),
    Looks(&["notes", "list"], "", NONE),
    Looks(&["notes", "show"], "", NONE),
    Looks(&["remote", "get-url"], "", NONE),
    Looks(&["reflog", "show"], "", DIFF),
    Looks(&["reflog", "list"], "", NONE),
    Looks(&["bisect", "log"], "", NONE),
    Looks(&["lfs", "ls-files"], "", NONE),
    Looks(&["lfs", "status"], "", NONE),
    Looks(&["config", "list"], "e", &["edit"]),
    Looks(&["config", "get"], "", NONE),
    Looks(&["fsck"], "", &["lost-found"]),
];

/// Commands with flags, or first words, that carry a command line of their own: a rule for the command never admits
/// what stands in there.
const CARRIERS: &[(&str, &str, &[&str], &[&str])] = &[
    ("archive", "", &["exec", "remote"], NONE),
    ("bisect", "", NONE, &["run", "visualize", "view"]),
    ("clone", "cu", &["upload-pack", "config", "template"], NONE),
    ("difftool", "x", &["extcmd"], NONE),
    ("fetch", "", &["upload-pack"], NONE),
    ("filter-branch", "", &["setup", "tree-filter", "index-filter", "msg-filter", "env-filter"], NONE),
    ("grep", "O", &["open-files-in-pager"], NONE),
    ("ls-remote", "", &["upload-pack", "exec"], NONE),
    ("pull", "", &["upload-pack"], NONE),
    ("push", "", &["receive-pack", "exec"], NONE),
    ("rebase", "x", &["exec"], NONE),
    ("submodule", "", NONE, &["foreach"]),
];

/// Judges a call of git.
pub(crate) fn classify(call: &Call<'_, '_>) -> Finding {
    let ground = Ground::of(call);
    let doubt = ground.doubt;
    let rest = call.arguments.get(ground.command..).unwrap_or_default();
    let inner = Call {
        name: call.name,
        arguments: rest.get(1..).unwrap_or_default(),
        state: call.state,
        input: call.input,
    };
    let Some(command) = rest.first().map(|field| field.value.known().unwrap_or_default()) else {
        return Finding::new(Class::ReadOnly);
    };
    if matches!(command.as_str(), "-v" | "-h" | "--help") {
        return Finding::new(Class::ReadOnly);
    }
    let mut finding = judge(&command, rest, &inner, &ground);
    let carries = |(name, letters, longs, words): &(&str, &str, &[&str], &[&str])| {
        *name == command
            && (inner.has_flag(letters, longs) || inner.texts().iter().any(|text| words.contains(&text.as_str())))
    };
    if CARRIERS.iter().any(carries) {
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

fn judge(command: &str, rest: &[Field], call: &Call<'_, '_>, ground: &Ground) -> Finding {
    let texts: Vec<String> = rest.iter().map(|field| field.value.known().unwrap_or_default()).collect();
    for Looks(words, letters, longs) in LOOKS {
        let matches = words.iter().zip(&texts).all(|(word, text)| word == text) && texts.len() >= words.len();
        if matches {
            let more = call.has_flag(letters, longs);
            return Finding::new(if more { Class::Execute } else { Class::ReadOnly });
        }
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
            !call.has_flag("", DIFF) && (positionals == 0 || !has(&["expire", "delete", "drop", "exists", "write"]))
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
    if looks {
        return Finding::new(Class::ReadOnly);
    }
    change(command, &texts, call, ground)
}

fn change(command: &str, texts: &[String], call: &Call<'_, '_>, ground: &Ground) -> Finding {
    let has = |wanted: &[&str]| texts[1..].iter().any(|text| wanted.contains(&text.as_str()));
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
        "reflog" | "filter-branch" | "filter-repo" | "update-ref" | "gc" | "prune" | "replace" => {
            Finding::new(Class::Destructive)
        }
        "worktree" if has(&["remove"]) => paths(Class::Destructive, 1),
        "worktree" if has(&["prune"]) => Finding::new(Class::Destructive),
        "push" => {
            let forced = call.has_flag("fd", &["force", "force-with-lease", "delete", "mirror", "prune"])
                || texts[1..].iter().any(|text| text.starts_with('+') || text.starts_with(':'));
            Finding::new(if forced { Class::Destructive } else { Class::Network })
        }
        "fetch" | "pull" | "clone" | "ls-remote" | "remote" | "submodule" | "request-pull" | "send-email"
        | "lfs" => Finding::new(Class::Network),
        "add" | "commit" | "stash" | "mv" | "apply" | "am" | "cherry-pick" | "revert" | "merge" | "rebase"
        | "checkout" | "switch" | "restore" | "reset" | "branch" | "tag" | "notes" | "init" | "config"
        | "worktree" | "format-patch" | "archive" | "bundle" | "sparse-checkout" | "update-index"
        | "symbolic-ref" | "read-tree" | "write-tree" | "bisect" => Finding::new(Class::Write),
        // An alias of the user's or the repository's settings can be any program.
        _ => Finding::new(Class::Execute),
    }
}
