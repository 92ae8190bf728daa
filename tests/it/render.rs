//! `axi render`: what arrives is printed as it arrives, in every kind of output.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::Stdio;

use crate::support::home::Home;
use crate::support::pty::Pty;

#[test]
fn in_a_pipe_a_row_is_printed_when_it_is_final() {
    let home = Home::new();
    let mut child =
        home.axi().args(["render", "--width", "30"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut row = |expected: &str| {
        // Blocks for ever if the row is held back: the test runner's patience is the limit.
        let mut row = String::new();
        output.read_line(&mut row).unwrap();
        assert_eq!(row, format!("{expected}\n"));
    };
    input.write_all(b"a paragraph that is longer than one row of thir").unwrap();
    row("a paragraph that is longer");
    input.write_all(b"ty\n\n- it").unwrap();
    row("than one row of thirty");
    input.write_all(b"em one\n- item two\n\n```\ncode\n").unwrap();
    row("");
    row("• item one");
    row("• item two");
    row("");
    row("code");
    // A character in two pieces.
    input.write_all("```\n中".as_bytes().split_at(6).0).unwrap();
    input.write_all("```\n中".as_bytes().split_at(6).1).unwrap();
    drop(input);
    row("");
    row("中");
    assert!(child.wait().unwrap().success());
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_not_blamed_on_the_text() {
    let home = Home::new();
    home.write("work/text.md", "words\n");
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = home.axi().args(["render", "text.md"]).stdout(full).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.starts_with("error: stdout: "), "{told}");
}

#[test]
fn on_a_terminal_words_appear_before_their_row_is_full() {
    let home = Home::new();
    let mut command = home.command("bash");
    let axi = env!("CARGO_BIN_EXE_axi");
    command.args(["--norc", "-c", &format!("mkfifo words; cat words | '{axi}' render; echo status $?")]);
    let mut pty = Pty::options().size(40, 10).spawn(&command);
    let path = home.work().join("words");
    let seen = pty.wait_until(|_| path.exists(), std::time::Duration::from_millis(1));
    while !seen && !path.exists() {
        std::thread::yield_now();
    }
    let mut words = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    words.write_all(b"Hello, **wor").unwrap();
    pty.wait_for("Hello,");
    words.write_all(b"ld** and the rest").unwrap();
    pty.wait_for("Hello, world and the");
    drop(words);
    pty.wait_for("status 0");
    assert_eq!(pty.transcript().trim_end(), "Hello, world and the rest\nstatus 0");
    pty.wait_exit();
}

#[test]
fn rows_follow_the_width_of_the_terminal_while_text_arrives() {
    let home = Home::new();
    let mut command = home.command("bash");
    let axi = env!("CARGO_BIN_EXE_axi");
    command.args(["--norc", "-c", &format!("mkfifo words; cat words | '{axi}' render; echo status $?")]);
    let mut pty = Pty::options().size(60, 12).spawn(&command);
    let path = home.work().join("words");
    while !path.exists() {
        std::thread::yield_now();
    }
    let mut words = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    words.write_all(b"one two three four five six seven eight nine ten\n\nnow").unwrap();
    pty.wait_for("now");
    pty.resize(20, 12);
    words.write_all(b" it is narrow\n\none two three four five six seven eight nine ten\n\nthen").unwrap();
    pty.wait_for("then");
    pty.resize(40, 12);
    words.write_all(b" wide\n\none two three four five six seven eight nine ten\n").unwrap();
    drop(words);
    pty.wait_for("status 0");
    let rows = pty.transcript();
    assert!(rows.contains("one two three four\nfive six seven\neight nine ten\n\nthen wide\n"), "{rows}");
    assert!(rows.contains("one two three four five six seven eight\nnine ten\nstatus 0"), "{rows}");
    pty.wait_exit();
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    let home = Home::new();
    let text: String = "some words that fill rows\n\n".repeat(20_000);
    let file = home.write("work/long.md", &text);
    let mut child =
        home.axi().arg("render").arg(file).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert_eq!(first, "some words that fill rows\n");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(said, "");
}

#[test]
fn colours_are_for_those_who_want_them() {
    let home = Home::new();
    home.write("work/a.md", "# Title\n\nSee [it](https://a.b) and `code`.\n");
    let print = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = home.axi();
        command.args(["render", "a.md"]).args(arguments).envs(variables.iter().copied());
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let plain = print(&[], &[]);
    assert!(!plain.contains('\x1b') && plain.contains("Title"), "{plain:?}");
    assert_eq!(print(&["--color", "auto"], &[("NO_COLOR", "1")]), plain);
    let coloured = print(&["--color", "always"], &[]);
    assert!(coloured.contains("36mTitle"), "{coloured:?}");
    assert_eq!(print(&[], &[("CLICOLOR_FORCE", "1")]), coloured);
    assert_eq!(print(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]), plain);
    assert!(print(&["--width", "12"], &[]).lines().any(|line| line.starts_with("See it")), "narrow");
}

#[test]
fn what_axi_says_ends_its_rows_between_words() {
    for language in ["en", "ja", "zh-CN"] {
        let home = Home::new();
        let mut command = home.axi();
        command.args(["--lang", language, "-m", "nobody/nothing", "-p", "hi"]);
        let said = String::from_utf8(command.output().unwrap().stderr).unwrap();
        let mut pty = Pty::options().size(30, 16).spawn(&command);
        pty.wait_exit();
        let shown = pty.transcript();
        let rows: Vec<&str> = shown.trim_end().lines().collect();
        assert!(rows.len() > said.lines().count(), "{shown}");
        assert!(rows.iter().all(|row| !row.trim_start().starts_with(['，', '、', '。', '：', '）'])), "{shown}");
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        if language == "en" {
            assert_eq!(words(&shown), words(&said));
        } else {
            assert_eq!(words(&shown).concat(), words(&said).concat());
        }
    }
}

#[test]
fn a_file_that_is_not_there_is_told() {
    let home = Home::new();
    let output = home.axi().args(["render", "none.md"]).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    assert!(String::from_utf8(output.stderr).unwrap().contains("none.md"));
}
