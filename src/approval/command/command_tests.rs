//! What is found in a line: parts, targets, suggested rules.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::{Part, judge, suggest_rule};
use crate::approval::{Class, NeverAuto, Surroundings};

pub(super) fn place() -> Surroundings {
    Surroundings {
        cwd: PathBuf::from("/home/u/work/app"),
        workspace: PathBuf::from("/home/u/work/app"),
        home: Some(PathBuf::from("/home/u")),
        secrets: crate::secret::files::SecretFiles::default(),
        environment: BTreeMap::new(),
        definitions: std::sync::Arc::default(),
    }
}

/// The commands found, each as its words, `?` where a word is only known when it runs.
fn commands(line: &str) -> Vec<String> {
    judge(line, &place())
        .parts
        .iter()
        .filter_map(|part| match &part.part {
            Part::Command { words, .. } => {
                Some(words.iter().map(|word| word.as_deref().unwrap_or("?")).collect::<Vec<_>>().join(" "))
            }
            Part::Redirection { .. } => None,
        })
        .collect()
}

fn targets(line: &str) -> Vec<String> {
    judge(line, &place())
        .targets
        .iter()
        .map(|target| target.pattern.rough_path().map_or_else(String::new, |path| path.display().to_string()))
        .collect()
}

fn suggested(line: &str) -> Option<String> {
    suggest_rule(&judge(line, &place())).map(|rule| rule.to_string())
}

#[test]
fn every_command_of_a_line_is_found() {
    assert_eq!(commands("a | b && c; d & (e)"), ["a", "b", "c", "d", "e"]);
    // Inner commands come first, innermost first.
    assert_eq!(commands("a $(b `c`) <(d)"), ["c", "b ?", "d", "a ? ?"]);
    assert_eq!(commands("sudo env x=1 nice b 'c d'"), ["sudo env x=1 nice b c d", "b c d"]);
    assert_eq!(commands("bash -c 'a; b'"), ["a", "b"]);
    assert_eq!(commands("cat <<X | sh\na b\nX"), ["cat", "a b"]);
    assert_eq!(commands("f() { a \"$1\"; }; f b"), ["a ?"]);
}

#[test]
fn targets_follow_directories_and_variables() {
    assert_eq!(targets("rm a ../b ~/c"), ["/home/u/work/app/a", "/home/u/work/b", "/home/u/c"]);
    assert_eq!(targets("cd x && rm a"), ["/home/u/work/app/x/a"]);
    assert_eq!(targets("cd x; rm a"), ["/home/u/work/app/x/a", "/home/u/work/app/a"]);
    assert_eq!(targets("d=x; rm $d/{a,b}"), ["/home/u/work/app/x/a", "/home/u/work/app/x/b"]);
    assert_eq!(targets("for f in *.o; do rm \"$f\"; done"), ["/home/u/work/app/*.o"]);
    assert_eq!(targets("mv a b"), ["/home/u/work/app/a", "/home/u/work/app/b"]);
    assert_eq!(targets("ls > out 2>/dev/null"), ["/home/u/work/app/out"]);
}

#[test]
fn classes_are_the_worst_a_command_may_do() {
    let class = |line: &str| judge(line, &place()).parts.iter().map(|part| part.class).max();
    assert_eq!(class("ls"), Some(Class::ReadOnly));
    assert_eq!(class("touch a"), Some(Class::Write));
    assert_eq!(class("curl x"), Some(Class::Network));
    assert_eq!(class("frobnicate"), Some(Class::Execute));
    assert_eq!(class("rm a"), Some(Class::Destructive));
}

#[test]
fn rules_are_suggested_narrowly() {
    assert_eq!(suggested("cargo test --workspace"), Some("shell(cargo test:*)".to_owned()));
    assert_eq!(suggested("git commit -m 'a b'"), Some("shell(git commit:*)".to_owned()));
    assert_eq!(suggested("cd x && npm test | tail -5"), Some("shell(npm test:*)".to_owned()));
    // One answer to one question, which another program may ask for another thing.
    assert_eq!(suggested("terminal_keys 1 'y<enter>'"), None);
    assert_eq!(suggested("npm run build"), Some("shell(npm run build)".to_owned()));
    for line in [
        "python3 x.py",
        "rm -rf target",
        "sudo cargo test",
        "bash -c 'cargo test'",
        "ls",
        "git push --force",
        "a; b",
    ] {
        assert_eq!(suggested(line), None, "{line}");
    }
}

#[test]
fn a_push_that_rewrites_is_named_whatever_else_the_line_is_called() {
    let pushed = |line: &str| match judge(line, &place()).never_auto {
        Some(NeverAuto::Push { branch, remote }) => Some((branch, remote)),
        Some(_) | None => None,
    };
    for (line, branch, remote) in [
        ("git push -f origin config", "config", "origin"),
        ("git -C config push -f", "HEAD", "origin"),
        ("git push --force -o ci.skip origin main", "main", "origin"),
        ("git push -f origin +a b", "a, b", "origin"),
        ("git push -f -- origin main", "main", "origin"),
        ("git -c a.b=c push --force up push", "push", "up"),
        ("git push --mirror config", "HEAD", "config"),
    ] {
        assert_eq!(pushed(line), Some((branch.to_owned(), remote.to_owned())), "{line}");
    }
    assert_eq!(pushed("git push origin config"), None);
}
