//! The walls of the house, checked and not remembered: which room may import which, how long a file is, how it
//! begins, what it is called, and who prints. Each rule says its reason when it fails.

mod inside;
mod skips;
mod systems;
mod tools;

use crate::support::paths::own_paths;
use crate::support::rust_source::{Placed, Token, repository, rust_files, tokens};

/// What each room may import besides itself. A room that is not here has no floor yet: give it one.
const ARROWS: &[(&str, &[&str])] = &[
    ("conversation", &[]),
    ("terminal", &["character", "platform"]),
    ("character", &[]),
    (OF_TESTS, &[]),
    ("sse", &[]),
    ("secret", &["platform"]),
    ("file", &["platform"]),
    ("fingerprint", &[]),
    ("cause", &[]),
    ("platform", &[]),
    ("json_rpc", &[]),
    ("http_client", &[]),
    ("sandbox", &["secret", "platform"]),
    ("journal", &["file", "fingerprint", "platform"]),
    ("trial", &["file", "platform"]),
    ("child", &["sandbox", "trial", "secret", "platform"]),
    ("mcp", &["child", "secret", "character", "file", "cause", "sse", "json_rpc", "platform"]),
    ("config", &["locale", "file", "secret", "platform"]),
    ("locale", &["platform"]),
    ("shell", &[]),
    ("cli", &["locale", "shell"]),
    (
        "provider",
        &[
            "conversation",
            "sandbox",
            "journal",
            "secret",
            "character",
            "file",
            "fingerprint",
            "cause",
            "sse",
            "http_client",
            "platform",
        ],
    ),
    (
        "tool",
        &[
            "conversation",
            "sandbox",
            "journal",
            "trial",
            "child",
            "mcp",
            "secret",
            "character",
            "file",
            "fingerprint",
            "cause",
            "http_client",
            "platform",
            "shell",
        ],
    ),
    ("approval", KERNEL),
    ("session", KERNEL),
    ("context", &["conversation"]),
    (
        "agent",
        &[
            "provider",
            "tool",
            "approval",
            "session",
            "context",
            "conversation",
            "sandbox",
            "journal",
            "trial",
            "mcp",
            "secret",
            "file",
            "fingerprint",
            "platform",
        ],
    ),
    (
        "command",
        &[
            "agent",
            "provider",
            "tool",
            "approval",
            "session",
            "conversation",
            "sandbox",
            "journal",
            "trial",
            "mcp",
            "secret",
            "terminal",
            "config",
            "locale",
            "shell",
            "cli",
            "platform",
        ],
    ),
    (
        "frontend",
        &[
            "command",
            "agent",
            "provider",
            "tool",
            "approval",
            "session",
            "conversation",
            "sandbox",
            "journal",
            "trial",
            "mcp",
            "secret",
            "terminal",
            "config",
            "locale",
            "shell",
            "cli",
            "child",
            "file",
            "fingerprint",
            "json_rpc",
            "platform",
        ],
    ),
];

/// What a room of floor 2 may import: it reports facts, so it knows no terminal, no words and no settings.
const KERNEL: &[&str] =
    &["conversation", "sandbox", "journal", "secret", "character", "file", "fingerprint", "platform"];

/// The room that only tests have; each room's tests may import it.
const OF_TESTS: &str = "skip";

/// The rooms above all others, which may import everything.
const TOP: &[&str] = &["main", "app", "lib"];

/// The rooms that may open standard output or standard error at all; `child` has those of the command it becomes.
const WRITERS: &[&str] = &["terminal", "frontend", "app", "main", "child", "skip"];

/// More lines than this and a file tells two stories.
const LONGEST_FILE: usize = 500;

/// A function with more lines than this does several things.
const LONGEST_FUNCTION: usize = 100;

/// Names that say nothing about what is inside, so that everything ends up inside.
const EMPTY_NAMES: &[&str] = &["util", "utils", "common", "helper", "helpers", "manager", "managers", "misc"];

/// One broken rule.
#[derive(Debug, PartialEq, Eq)]
struct Fault {
    rule: &'static str,
    place: String,
}

fn fault(rule: &'static str, file: &str, line: usize, what: &str) -> Fault {
    Fault { rule, place: format!("{file}:{line}: {what}") }
}

const ARROW: &str = "rooms import downward only and never a room beside them (design.md, Directions), because a room \
                     that knows its callers can be neither tested nor changed alone; if two floors need a type, it \
                     belongs to the lower";
const NO_FLOOR: &str = "a new room needs its row in ARROWS of tests/it/floors.rs and in lib.rs, because a room \
                        without a floor may import anything";
const WHOLE_CONFIG: &str = "only app and main see the whole Config, because a function that takes all settings \
                            depends on all of them; pass the piece that is needed";
const TOO_LONG: &str = "a file has at most 500 lines, because nobody reads a longer one; split it by story, and \
                        keep data in no .rs file";
const LONG_FUNCTION: &str = "a function has at most 100 lines, because what it does cannot be seen at once; give its \
                             steps names, or make a value of what they share";
const EMPTY_NAME: &str = "no util, common, helper, manager: such a file collects what nobody placed; name it after \
                          the noun it is about";
const PRINTS: &str = "only the Screen and the front ends write, because a line printed beside them breaks the rows of \
                      a terminal and the JSON of a pipe; return the fact instead";
const NO_PURPOSE: &str = "a file opens with `//!`: what it is for and what it must not know, so that a newcomer knows \
                          where to look";
const SYSTEMS: &str = "what differs from system to system stands in src/platform, one file a system with the same items \
                       in each (the sandbox, its layers and its helpers apart), because nobody can see whether a \
                       condition that is spread over the house holds elsewhere; give the platform an item";
/// Where a system may be named, and what is about the layers of Linux alone.
const NAMES_SYSTEMS: &[&str] = &["platform", "sandbox", "trial", "child"];
const LAYERS: &[&str] = &["src/app/talk/tries.rs", "src/agent/trials.rs"];
const ALLOWS: &str =
    "silence a lint with `expect(…, reason = \"…\")`, because an `allow` stays when its cause is gone";

/// The room a file of src belongs to: the folder, or the file's own name at the top.
fn room_of(file: &str) -> &str {
    let inside = file.strip_prefix("src/").unwrap_or(file);
    let first = inside.split('/').next().unwrap_or(inside);
    first.strip_suffix(".rs").unwrap_or(first).split("_tests").next().unwrap_or(first)
}

/// How many modules lie between the crate's root and a file of src.
fn depth_of(file: &str) -> usize {
    let inside = file.strip_prefix("src/").unwrap_or(file);
    let folders = inside.matches('/').count();
    match inside.rsplit('/').next() {
        Some("lib.rs" | "main.rs") if folders == 0 => 0,
        Some("mod.rs") => folders,
        // `x_tests.rs` is the module `x::tests`, one deeper than its place says; `mod_tests.rs` is not.
        Some("mod_tests.rs") => folders + 1,
        Some(name) if name.ends_with("_tests.rs") => folders + 2,
        Some(_) | None => folders + 1,
    }
}

fn check_arrows(file: &str, source: &str) -> Vec<Fault> {
    let room = room_of(file);
    if TOP.contains(&room) {
        return Vec::new();
    }
    let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == room) else {
        return vec![fault(NO_FLOOR, file, 1, room)];
    };
    let mut faults = Vec::new();
    for named in own_paths(source, depth_of(file)) {
        let target = named.segments[0].as_str();
        let path = named.segments.join("::");
        let is_for_tests = target == OF_TESTS && file.ends_with("_tests.rs");
        if target != room && !allowed.contains(&target) && !is_for_tests {
            faults.push(fault(ARROW, file, named.line, &format!("{room} -> {path}")));
        }
        let whole = matches!(named.segments.get(1).map(String::as_str), Some("Config" | "*"));
        if target == "config" && whole && room != "config" {
            faults.push(fault(WHOLE_CONFIG, file, named.line, &path));
        }
    }
    faults
}

fn check_shape(file: &str, source: &str) -> Vec<Fault> {
    let mut faults = Vec::new();
    let lines = source.lines().count();
    if lines > LONGEST_FILE {
        faults.push(fault(TOO_LONG, file, lines, "the last line"));
    }
    // `x_tests.rs` says by its name what it is for.
    if !source.trim_start().starts_with("//!") && !file.ends_with("_tests.rs") {
        faults.push(fault(NO_PURPOSE, file, 1, source.lines().next().unwrap_or_default()));
    }
    let stem = file.strip_suffix(".rs").unwrap_or(file);
    let parts = stem.split(['/', '_']).filter(|part| EMPTY_NAMES.contains(part));
    faults.extend(parts.map(|part| fault(EMPTY_NAME, file, 1, part)));
    faults
}

fn check_words(file: &str, source: &str) -> Vec<Fault> {
    let mut faults = Vec::new();
    let tokens = tokens(source);
    let may_write = WRITERS.contains(&room_of(file));
    let at = |index: usize| tokens.get(index).map(|placed| &placed.token);
    for (index, placed) in tokens.iter().enumerate() {
        let Token::Word(word) = &placed.token else { continue };
        let next = at(index + 1);
        let is_macro = next == Some(&Token::Mark('!')) && at(index + 2) != Some(&Token::Mark('='));
        if is_macro && ["print", "println", "eprint", "eprintln", "dbg"].contains(&word.as_str()) {
            faults.push(fault(PRINTS, file, placed.line, &format!("{word}!")));
        }
        let before = |back: usize| index.checked_sub(back).and_then(&at);
        let in_std_io = before(3).is_some_and(|token| token.is_word("io")) && before(1) == Some(&Token::Mark(':'));
        if in_std_io && ["stdout", "stderr"].contains(&word.as_str()) && !may_write {
            faults.push(fault(PRINTS, file, placed.line, &format!("io::{word}")));
        }
        let opens_attribute = before(1) == Some(&Token::Mark('[')) || before(1) == Some(&Token::Mark(','));
        if word == "allow" && next == Some(&Token::Mark('(')) && opens_attribute {
            faults.push(fault(ALLOWS, file, placed.line, "allow"));
        }
        let opens_module =
            word == "mod" && matches!(next, Some(Token::Word(name)) if EMPTY_NAMES.contains(&name.as_str()));
        if opens_module {
            faults.push(fault(EMPTY_NAME, file, placed.line, "mod"));
        }
        let may_differ =
            NAMES_SYSTEMS.contains(&room_of(file)) || LAYERS.contains(&file) || file.ends_with("_tests.rs");
        if !may_differ && ["target_os", "unix", "windows"].contains(&word.as_str()) && in_condition(&tokens, index)
        {
            faults.push(fault(SYSTEMS, file, placed.line, word));
        }
    }
    faults
}

/// Whether a word stands in `cfg(…)`, `cfg!(…)` or `cfg_attr(…)`.
fn in_condition(tokens: &[Placed], index: usize) -> bool {
    let before = &tokens[index.saturating_sub(8)..index];
    before
        .iter()
        .rev()
        .take_while(|placed| !matches!(placed.token, Token::Mark(']' | ';' | '{')))
        .any(|placed| ["cfg", "cfg_attr"].iter().any(|word| placed.token.is_word(word)))
}

fn check_functions(file: &str, source: &str) -> Vec<Fault> {
    let tokens = tokens(source);
    let mut faults = Vec::new();
    for (index, placed) in tokens.iter().enumerate() {
        let Some(Token::Word(name)) = tokens.get(index + 1).map(|next| &next.token) else { continue };
        if !placed.token.is_word("fn") {
            continue;
        }
        // `;` within brackets is the length of an array; elsewhere it ends a function that has no body.
        let (mut brackets, mut braces) = (0_usize, 0_usize);
        for end in &tokens[index..] {
            match end.token {
                Token::Mark('(' | '[') => brackets += 1,
                Token::Mark(')' | ']') => brackets = brackets.saturating_sub(1),
                Token::Mark('{') => braces += 1,
                Token::Mark('}') => braces = braces.saturating_sub(1),
                Token::Mark(';') if brackets == 0 && braces == 0 => break,
                Token::Mark(_) | Token::Word(_) | Token::Text(_) => continue,
            }
            if end.token.is_mark('}') && braces == 0 {
                let lines = end.line - placed.line + 1;
                if lines > LONGEST_FUNCTION {
                    faults.push(fault(LONG_FUNCTION, file, placed.line, &format!("{name}, {lines} lines")));
                }
                break;
            }
        }
    }
    faults
}

/// Fails with every fault, grouped under its rule.
fn report(mut faults: Vec<Fault>) {
    faults.sort_by(|a, b| (a.rule, &a.place).cmp(&(b.rule, &b.place)));
    let mut words = String::new();
    let mut rule = "";
    for fault in &faults {
        if fault.rule != rule {
            rule = fault.rule;
            words.extend(["\n", rule, ":\n"]);
        }
        words.extend(["    ", &fault.place, "\n"]);
    }
    assert!(faults.is_empty(), "{words}");
}

fn sources() -> Vec<(String, String)> {
    let files = rust_files(repository(), "src");
    assert!(files.iter().any(|(name, _)| name == "src/lib.rs"), "the check reads the real source: {files:?}");
    files
}

#[test]
fn rooms_import_downward_only() {
    report(sources().iter().flat_map(|(file, source)| check_arrows(file, source)).collect());
}

#[test]
fn files_are_short_named_and_say_what_they_are_for() {
    let mut files = sources();
    files.extend(rust_files(repository(), "tests"));
    files.extend(rust_files(repository(), "benches"));
    report(files.iter().flat_map(|(file, source)| check_shape(file, source)).collect());
}

#[test]
fn functions_are_short() {
    let mut files = sources();
    files.extend(rust_files(repository(), "tests"));
    files.extend(rust_files(repository(), "benches"));
    report(files.iter().flat_map(|(file, source)| check_functions(file, source)).collect());
}

#[test]
fn nobody_prints_beside_the_writers_and_no_lint_is_allowed_away() {
    report(sources().iter().flat_map(|(file, source)| check_words(file, source)).collect());
}

mod the_checker_can_fail {
    //! A check that cannot fail is no check: each rule is broken once on purpose, and kept once.

    use super::*;

    fn rules(faults: Vec<Fault>) -> Vec<&'static str> {
        faults.into_iter().map(|fault| fault.rule).collect()
    }

    fn arrows(file: &str, source: &str) -> Vec<&'static str> {
        rules(check_arrows(file, source))
    }

    #[test]
    fn on_arrows() {
        assert_eq!(arrows("src/agent/mod.rs", "use crate::provider::Provider;"), [""; 0]);
        assert_eq!(arrows("src/agent/mod.rs", "use crate::frontend::Human;"), [ARROW]);
        assert_eq!(arrows("src/tool/shell.rs", "use crate::{conversation::Effect, session::Session};"), [ARROW]);
        assert_eq!(arrows("src/tool/shell.rs", "fn f() { crate::terminal::screen() }"), [ARROW]);
        assert_eq!(arrows("src/tool/mod.rs", "use super::provider::Provider;"), [ARROW]);
        assert_eq!(arrows("src/tool/shell.rs", "use super::provider::Provider;"), [""; 0]);
        assert_eq!(arrows("src/tool/shell_tests.rs", "use super::super::super::agent::Agent;"), [ARROW]);
        assert_eq!(arrows("src/locale.rs", "use crate::cli::Arguments;"), [ARROW]);
        assert_eq!(arrows("src/session/mod.rs", "use crate::locale::Locale;"), [ARROW]);
        assert_eq!(arrows("src/cellar/mod.rs", ""), [NO_FLOOR]);
        assert_eq!(arrows("src/shell/shell_tests.rs", "fn f() { crate::skip::skip(1) }"), [""; 0]);
        assert_eq!(arrows("src/shell/mod.rs", "fn f() { crate::skip::skip(1) }"), [ARROW]);
        assert_eq!(arrows("src/app.rs", "use crate::config::Config;"), [""; 0]);
    }

    #[test]
    fn on_the_whole_config() {
        assert_eq!(arrows("src/frontend/human.rs", "use crate::config::Theme;"), [""; 0]);
        assert_eq!(arrows("src/frontend/human.rs", "use crate::config::{Theme, Config};"), [WHOLE_CONFIG]);
        assert_eq!(arrows("src/frontend/human.rs", "use crate::config::*;"), [WHOLE_CONFIG]);
    }

    #[test]
    fn on_length_opening_and_name() {
        let long = format!("//! x\n{}", "\n".repeat(500));
        assert_eq!(rules(check_shape("src/tool/read.rs", "//! Reads.\n")), [""; 0]);
        assert_eq!(rules(check_shape("src/tool/read.rs", &long)), [TOO_LONG]);
        assert_eq!(rules(check_shape("src/tool/table.rs", &long)), [TOO_LONG]);
        assert_eq!(rules(check_shape("src/tool/read.rs", "use x;\n//! late")), [NO_PURPOSE]);
        assert_eq!(rules(check_shape("src/tool/read.rs", "")), [NO_PURPOSE]);
        assert_eq!(rules(check_shape("src/tool/read_tests.rs", "use super::*;")), [""; 0]);
        assert_eq!(rules(check_shape("src/cli_util.rs", "//! x")), [EMPTY_NAME]);
        assert_eq!(rules(check_shape("src/common/mod.rs", "//! x")), [EMPTY_NAME]);
        assert_eq!(rules(check_words("src/tool/mod.rs", "mod helpers;")), [EMPTY_NAME]);
    }

    #[test]
    fn on_long_functions() {
        let function = |lines: usize| format!("fn f(x: [u8; 3]) {{{}}}", "\n".repeat(lines - 1));
        let functions = |source: &str| rules(check_functions("src/tool/read.rs", source));
        assert_eq!(functions(&function(100)), [""; 0]);
        assert_eq!(functions(&function(101)), [LONG_FUNCTION]);
        assert_eq!(functions(&format!("impl A {{ fn g() {{ if x {{ }} }} {} }}", function(101))), [LONG_FUNCTION]);
        assert_eq!(functions(&format!("trait A {{ fn g(); }}\nconst X: fn() = y;{}", "\n".repeat(200))), [""; 0]);
    }

    #[test]
    fn on_printing_and_allowing() {
        let words = |source| rules(check_words("src/tool/mod.rs", source));
        assert_eq!(words("println!(\"x\")"), [PRINTS]);
        assert_eq!(words("std::io::stdout().flush()"), [PRINTS]);
        assert_eq!(rules(check_words("src/terminal/screen.rs", "std::io::stdout().flush()")), [""; 0]);
        assert_eq!(words("// println!(\"x\")\nlet print = 1; if print != 2 { command.stdout(x) }"), [""; 0]);
        assert_eq!(words("#[allow(dead_code)]"), [ALLOWS]);
        assert_eq!(words("#[cfg_attr(test, allow(dead_code))]"), [ALLOWS]);
        assert_eq!(words("policy.allow(rule); fn allow() {}"), [""; 0]);
    }

    #[test]
    fn on_systems_named_outside_of_the_seam() {
        let words = |file: &str, source: &str| rules(check_words(file, source));
        for source in ["#[cfg(target_os = \"linux\")]", "if cfg!(target_os = \"macos\") {", "#[cfg(not(windows))]"]
        {
            assert_eq!(words("src/tool/mod.rs", source), [SYSTEMS], "{source}");
            assert_eq!(words("src/platform/mod.rs", source), [""; 0]);
            assert_eq!(words("src/tool/shell/shell_tests.rs", source), [""; 0]);
        }
        assert_eq!(
            words("src/tool/mod.rs", "#[cfg(test)]\nuse std::os::unix::fs; let windows = a.windows(2);"),
            [""; 0]
        );
    }
}
