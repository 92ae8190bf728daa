//! A test that cannot be made here says so where `tests/run` counts it.

use super::{Fault, fault, report, sources};
use crate::support::rust_source::{Token, repository, rust_files, tokens};

const SILENT: &str = "a skipped test says so with `skip::skip`, because what a test that passes prints with a macro is \
                      seen by nobody, and tests/run cannot count it";

/// How a line begins by which a test tells that it looks at less than its name says.
const BEGINS: &[&str] = &["skipped", "not run", "not tried", "not looked"];

fn check(file: &str, source: &str) -> Vec<Fault> {
    let tokens = tokens(source);
    let at = |index: usize| tokens.get(index).map(|placed| &placed.token);
    let mut faults = Vec::new();
    for (index, placed) in tokens.iter().enumerate() {
        let prints = ["print", "println", "eprint", "eprintln"].iter().any(|word| placed.token.is_word(word));
        let Some(Token::Text(said)) = at(index + 3).filter(|_| prints) else { continue };
        if BEGINS.iter().any(|begin| said.starts_with(begin)) {
            faults.push(fault(SILENT, file, placed.line, said));
        }
    }
    faults
}

#[test]
fn what_is_skipped_is_counted() {
    let mut files = sources();
    files.extend(rust_files(repository(), "tests"));
    report(files.iter().flat_map(|(file, source)| check(file, source)).collect());
}

#[test]
fn the_check_finds_a_line_that_nobody_counts() {
    let found = |source: &str| check("tests/it/x.rs", source).len();
    assert_eq!(found("return eprintln!(\"not run: there is no git\");"), 1);
    assert_eq!(found("eprintln!(\"not tried, no such program here: {line}\")"), 1);
    assert_eq!(
        found("skip(\"not run\"); eprintln!(\"holds | {}\", row.shell); eprintln!(); // eprintln!(\"skipped\")"),
        0
    );
}
