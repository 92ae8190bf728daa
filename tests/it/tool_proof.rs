//! The tools against what others made: every commit of this repository as a patch and as edits.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use axi::conversation::Outcome;
use axi::tool::{ApplyPatchTool, EditTool, ReadTool};
use serde_json::json;

use crate::support::skip::skip;
use crate::support::tool_bench::ToolBench;

/// Commits of an ordinary run.
const SOME: usize = 25;

/// This repository, or another one that is named by `PROOF_REPOSITORY`.
fn repository() -> PathBuf {
    std::env::var_os("PROOF_REPOSITORY").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from)
}

/// Runs git in this repository; `None` where it fails (no git, no history).
fn git(arguments: &[&str]) -> Option<Vec<u8>> {
    let output = Command::new("git").arg("-C").arg(repository()).args(arguments).output().ok()?;
    output.status.success().then_some(output.stdout)
}

/// The files of a commit's change, before and after: `None` where there was none.
fn sides(commit: &str) -> Option<BTreeMap<String, [Option<Vec<u8>>; 2]>> {
    let parent = format!("{commit}^");
    let names = git(&["diff", "--no-renames", "--name-only", "-z", &parent, commit])?;
    let names = String::from_utf8(names).ok()?;
    let at = |revision: &str, name: &str| git(&["show", &format!("{revision}:{name}")]);
    Some(
        names.split_terminator('\0').map(|name| (name.to_owned(), [at(&parent, name), at(commit, name)])).collect(),
    )
}

/// Applies commits to their parents; returns how many were applied and how many hold what no patch of text can.
fn apply(commits: &[&str]) -> (usize, usize) {
    let (mut applied, mut not_text) = (0, 0);
    for commit in commits {
        let Some(files) = sides(commit) else { continue };
        let Some(diff) = git(&["diff", "-M", &format!("{commit}^"), commit]) else { continue };
        let Ok(diff) = String::from_utf8(diff) else {
            not_text += 1;
            continue;
        };
        if diff.is_empty() {
            // A commit without a change.
            continue;
        }
        let bench = ToolBench::new();
        for (name, [before, _]) in &files {
            if let Some(before) = before {
                bench.put(name, before);
            }
        }
        let output = bench.run(&ApplyPatchTool, json!({"patch": diff}));
        if output.outcome == Outcome::Failed
            && ["binary files", "symbolic links", "no file's text"].iter().any(|why| output.content.contains(why))
        {
            not_text += 1;
            continue;
        }
        assert_eq!(output.outcome, Outcome::Ok, "{commit}: {}", output.content);
        assert!(!output.content.contains("(change "), "{commit} did not fit exactly: {}", output.content);
        for (name, [_, after]) in files {
            assert_eq!(std::fs::read(bench.path(&name)).ok(), after, "{commit}: {name}");
        }
        applied += 1;
    }
    (applied, not_text)
}

/// Makes each change of a commit's diff as an edit; returns how many were made and how many texts stand there more
/// than once.
fn edit(commits: &[&str]) -> (usize, usize) {
    let (mut made, mut ambiguous) = (0, 0);
    for commit in commits {
        let Some(files) = sides(commit) else { continue };
        for (name, sides) in files {
            let [Some(before), Some(after)] = sides else { continue };
            let (Ok(before), Ok(_)) = (String::from_utf8(before), std::str::from_utf8(&after)) else { continue };
            let parent = format!("{commit}^");
            let Some(diff) = git(&["diff", "--no-renames", &parent, commit, "--", &name]) else { continue };
            let Ok(diff) = String::from_utf8(diff) else { continue };
            let bench = ToolBench::new();
            bench.put("file", &before);
            bench.run(&ReadTool, json!({"path": "file", "limit": 1_000_000}));
            let mut whole = true;
            for (old, new) in hunks(&diff) {
                let now = String::from_utf8(bench.get("file")).unwrap();
                if old.is_empty() || now.matches(&old).count() != 1 {
                    (ambiguous, whole) = (ambiguous + 1, false);
                    continue;
                }
                let input = json!({"path": "file", "old_string": old, "new_string": new});
                let output = bench.run(&EditTool, input);
                assert_eq!(output.outcome, Outcome::Ok, "{commit}: {name}: {}", output.content);
                made += 1;
            }
            // Line ends are kept: a commit that is about them is not made by edits.
            let ends = |bytes: &[u8]| bytes.windows(2).filter(|pair| pair == b"\r\n").count();
            if ends(before.as_bytes()) > 0 && ends(&after) == 0 {
                continue;
            }
            if whole && diff.contains("\n@@") {
                assert_eq!(bench.get("file"), after, "{commit}: {name}");
            }
        }
    }
    (made, ambiguous)
}

/// The text before and after of each part of a diff.
fn hunks(diff: &str) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    let mut last = "";
    for line in diff.split_inclusive('\n') {
        if line.starts_with("@@") {
            all.push(Default::default());
            continue;
        }
        let Some((old, new)) = all.last_mut() else { continue };
        match line.split_at(1) {
            (" ", text) => {
                old.push_str(text);
                new.push_str(text);
            }
            ("-", text) => old.push_str(text),
            ("+", text) => new.push_str(text),
            // "\ No newline at end of file" is about the line before.
            _ => {
                if last != "+" {
                    old.pop();
                }
                if last != "-" {
                    new.pop();
                }
            }
        }
        last = line.get(..1).unwrap_or_default();
    }
    all
}

fn commits() -> Vec<String> {
    let list = git(&["rev-list", "--no-merges", "HEAD"]).unwrap_or_default();
    String::from_utf8_lossy(&list).lines().map(str::to_owned).collect()
}

#[test]
fn the_last_commits_apply_to_their_parents_and_give_their_children() {
    let commits = commits();
    let some: Vec<&str> = commits.iter().map(String::as_str).take(SOME).collect();
    let (applied, _) = apply(&some);
    edit(&some[..some.len().min(5)]);
    if applied == 0 {
        skip("no history of git here");
    }
}

/// Run for the figure: `cargo test --test it every_commit -- --ignored --nocapture`; `PROOF_REPOSITORY` names another
/// one, `PROOF_COMMITS` how many of its last commits.
#[test]
#[ignore = "takes minutes; the last commits are tried at every run"]
fn every_commit_applies_to_its_parent_and_gives_its_child() {
    let commits = commits();
    let most = std::env::var("PROOF_COMMITS").ok().and_then(|most| most.parse().ok()).unwrap_or(usize::MAX);
    let all: Vec<&str> = commits.iter().map(String::as_str).take(most).collect();
    let (applied, not_text) = apply(&all);
    let (made, ambiguous) = edit(&all);
    let said = format!(
        "{applied} of {} commits applied, {not_text} hold what is no text; {made} edits made, {ambiguous} not unique\n",
        all.len()
    );
    let _ = std::io::Write::write_all(&mut std::io::stderr(), said.as_bytes());
}
