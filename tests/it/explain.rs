//! Explaining a line: what is said of its programs and flags stands in the pages that are installed here, word for word.

use std::collections::HashMap;
use std::process::{Command, Stdio};

use axi::approval::Surroundings;
use axi::approval::command::judge;
use axi::frontend::explain::{Fact, Installed, explained};
use axi::sandbox::{Sandbox, Wanted};

use crate::support::skip::skip;

const LINES: &str = include_str!("corpus/explained_lines.txt");

/// A page as somebody else would print it: narrower, and without the blanks, hyphens and formatting that differ with
/// that; what bash says of its own commands; what a program says of itself.
fn printed(page: &str) -> String {
    let words: Vec<&str> = page.split(' ').collect();
    let mut command = match (page.split_once('('), words.as_slice()) {
        (Some((name, section)), _) => {
            let mut man = Command::new("man");
            man.env("MANWIDTH", "190").env("MANPAGER", "cat");
            man.args(["--nh", "--nj", "-S", section.trim_end_matches(')'), name]);
            man
        }
        (None, ["help", name]) => {
            let mut bash = Command::new("bash");
            bash.args(["-c", "help \"$1\"", "bash", name]);
            bash
        }
        (None, [program, rest @ ..]) => {
            let mut program = Command::new(program);
            program.args(rest).env("TERM", "dumb").env("NO_COLOR", "1");
            program
        }
        (None, []) => panic!("a page without a name"),
    };
    let output = command.stdin(Stdio::null()).output().unwrap();
    squeezed(&String::from_utf8_lossy(&output.stdout))
}

fn squeezed(text: &str) -> String {
    let mut plain = String::new();
    for letter in text.chars() {
        match letter {
            '\u{8}' => drop(plain.pop()),
            '‐' | '‑' | '−' => plain.push('-'),
            other => plain.push(other),
        }
    }
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn each_claim_stands_in_the_installed_page() {
    let is_here = Command::new("man").args(["-w", "ls"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !is_here.is_ok_and(|status| status.success()) {
        skip("no manual pages");
        return;
    }
    let lines: Vec<&str> = LINES.lines().collect();
    assert!(lines.len() >= 200, "{}", lines.len());
    // What has no page is asked for its help, held to reading.
    let temporary = std::env::temp_dir();
    let sandbox = Sandbox::new(Wanted::On, std::env::home_dir(), Vec::new(), Vec::new(), temporary);
    let pages = Installed::new(sandbox, Some(env!("CARGO_BIN_EXE_axi").into()));
    let mut printouts: HashMap<String, String> = HashMap::new();
    let (mut claims, mut helps, mut without, mut wrong) = (0, 0, Vec::new(), Vec::new());
    for line in &lines {
        for fact in
            explained(&judge(line, &Surroundings::default()), &pages).into_iter().flat_map(|part| part.facts)
        {
            let (page, head, says) = match fact {
                Fact::Entry { page, entry, .. } => (page, entry.head, entry.says),
                Fact::Program { page, says: Some(says), .. } => (page, String::new(), says),
                Fact::NoLine { written, page, .. } => {
                    without.push(format!("{line}: {written} in {page}"));
                    continue;
                }
                Fact::NoPage { name } => {
                    without.push(format!("{line}: {name}"));
                    continue;
                }
                Fact::Program { says: None, .. } | Fact::Later => continue,
            };
            helps += u32::from(!page.contains('('));
            let text = printouts.entry(page.clone()).or_insert_with(|| printed(&page));
            claims += 1;
            let (head, says) = (squeezed(&head), squeezed(says.trim_end_matches('…')));
            // The head, perhaps further heads of the same, and then what is said.
            let stands = text.match_indices(&head).any(|(at, _)| {
                let behind = &text[at + head.len()..];
                behind.find(&says).is_some_and(|found| head.is_empty() || found < 160)
            });
            if !stands {
                wrong.push(format!("{line}: {page}: {head} | {says}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {claims}:\n{}", wrong.len(), wrong.join("\n"));
    eprintln!(
        "{claims} claims about {} lines, {helps} of them from a --help or bash's own help, from {} pages; {} without a source",
        lines.len(),
        printouts.len(),
        without.len()
    );
    assert!(claims > 100, "{claims}");
    assert!(without.len() < claims / 4, "{claims} claims, without a source:\n{}", without.join("\n"));
}
