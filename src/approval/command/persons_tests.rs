//! Names that the person's shell has a meaning for: aliases and functions are judged by what they run.

use std::sync::Arc;

use super::{Part, judge};
use crate::approval::{Class, Definitions, NeverAuto, Surroundings, Unparsed};

fn place() -> Surroundings {
    let owned = |all: &[(&str, &str)]| all.iter().map(|(name, text)| ((*name).into(), (*text).into())).collect();
    let definitions = Definitions {
        aliases: owned(&[
            ("ll", "ls -l"),
            ("ls", "ls --color"),
            ("grep", "rm -rf"),
            ("wipe", "rm -rf build; echo"),
            ("please", "sudo "),
            ("a", "b"),
            ("b", "a"),
            ("rmdir", "echo nope"),
            ("cp", "touch pwned; cp"),
        ]),
        functions: owned(&[
            ("cat", "cat () \n{ \n    rm -rf \"$1\"\n}"),
            ("cd", "cd () \n{ \n    builtin cd \"$@\" && ls\n}"),
            ("clean", "clean () \n{ \n    rmdir build\n}"),
            ("late", "late () \n{ \n    eval 'rmdir build'\n}"),
            ("odd", "odd () \n{ \n    echo ${x@Q} <<< 'a"),
        ]),
        foreign: [String::from("head")].into(),
    };
    Surroundings {
        cwd: "/home/u/app".into(),
        workspace: "/home/u/app".into(),
        home: Some("/home/u".into()),
        definitions: Arc::new(definitions),
        ..Surroundings::default()
    }
}

fn commands(line: &str) -> Vec<String> {
    let words = |part: &Part| match part {
        Part::Command { words, .. } => {
            Some(words.iter().map(|word| word.as_deref().unwrap_or("?")).collect::<Vec<_>>().join(" "))
        }
        Part::Redirection { .. } => None,
    };
    judge(line, &place()).parts.iter().filter_map(|part| words(&part.part)).collect()
}

fn class(line: &str) -> Class {
    judge(line, &place()).parts.iter().map(|part| part.class).max().unwrap()
}

fn is_doubted(line: &str) -> bool {
    judge(line, &place()).unparsed.iter().any(|(_, why)| *why == Unparsed::Redefined)
}

#[test]
fn an_alias_is_what_it_stands_for() {
    assert_eq!(commands("ll src | ll"), ["ls --color -l src", "ls --color -l"]);
    assert_eq!(class("ll src"), Class::ReadOnly);
    assert_eq!(class("ls src"), Class::ReadOnly);
    assert_eq!(class("grep x"), Class::Destructive);
    assert_eq!(class("true && grep -r x >log"), Class::Destructive);
    assert_eq!(commands("wipe x"), ["rm -rf build", "echo x"]);
    // Quoted, or behind a program, it is none.
    assert_eq!(class("\\grep x f"), Class::ReadOnly);
    assert_eq!(class("command grep x f"), Class::ReadOnly);
    assert_eq!(class("bash -c 'grep x f'"), Class::ReadOnly);
    // Two that name one another end.
    assert_eq!(commands("a c"), ["a c"]);
}

#[test]
fn an_alias_is_followed_behind_assignments_redirections_and_another() {
    assert_eq!(class("A=1 grep x"), Class::Destructive);
    assert_eq!(class(">log grep x"), Class::Destructive);
    for line in ["please grep /", "A=1 grep /", "grep  /", "please please grep /"] {
        assert!(judge(line, &place()).never_auto.is_some(), "{line}");
    }
    assert!(!is_doubted("ll src"));
}

#[test]
fn an_alias_stands_where_the_word_does_and_nowhere_in_front_of_it() {
    for line in ["LC_ALL=\"x cp y\" cp a b", "<<<\"x cp y\" cp a b", "cp=1 cp a b"] {
        assert!(commands(line).iter().any(|command| command == "touch pwned"), "{line}: {:?}", commands(line));
    }
}

#[test]
fn a_function_has_no_alias_put_in_that_was_not_there_when_it_was_defined() {
    assert_eq!(commands("rmdir x"), ["echo nope x"]);
    assert_eq!(commands("clean"), ["rmdir build"]);
    // What it reads as a line does have them, and so has a function of the line.
    assert!(commands("late").contains(&"echo nope build".to_owned()), "{:?}", commands("late"));
    assert!(commands("f() { rmdir x; }; f").contains(&"echo nope x".to_owned()));
}

#[test]
fn a_function_is_followed_and_one_that_nobody_reads_may_do_anything() {
    assert_eq!(class("cat notes.txt"), Class::Destructive);
    let targets = judge("cat notes.txt", &place()).targets;
    assert_eq!(targets[0].pattern.rough_path().unwrap(), std::path::Path::new("/home/u/app/notes.txt"));
    assert!(commands("cd src && rm x").iter().any(|command| command.starts_with("ls")));
    let targets = judge("cd src && rm x", &place()).targets;
    assert!(targets.iter().any(|target| target.pattern.rough_path().is_some_and(|path| path.ends_with("src/x"))));
    assert!(is_doubted("head notes.txt") && class("head notes.txt") >= Class::Execute);
    assert!(is_doubted("odd") && class("odd") >= Class::Execute);
    // A program does not find them.
    assert_eq!(class("command cat notes.txt"), Class::ReadOnly);
    // Afterwards nobody knows where the shell is.
    assert!(judge("head x; rm -rf y", &place()).never_auto != Some(NeverAuto::Machine));
    let targets = judge("head x; rm y", &place()).targets;
    assert!(!targets.iter().any(|target| target.pattern.rough_path().is_some_and(|path| path.ends_with("app/y"))));
}
