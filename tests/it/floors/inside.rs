//! The order inside the rooms: no circle of files, a face before each sub-room, no value with too many methods.

use std::collections::BTreeSet;

use super::{Fault, report, sources};
use crate::support::file_graph::FileGraph;
use crate::support::rust_source::{Token, tokens};

/// Circles that stay, because what they read or do is recursive itself.
const NATURAL: &[(&[&str], &str)] = &[
    (
        &["approval/command/read/lexer.rs", "approval/command/read/parser.rs"],
        "a word of the shell's grammar holds commands, which hold words: $(…)",
    ),
    (
        &["approval/command/follow/find.rs", "approval/command/follow/wrapper.rs"],
        "find runs commands, and a wrapper such as sudo runs find",
    ),
    (
        &["tool/edit/patch.rs", "tool/edit/patch_unified.rs"],
        "a patch may hold a unified diff, whose hunks are the patch's own",
    ),
];

/// A value with more methods than this is several values.
const MOST_METHODS: usize = 40;

/// A value whose methods stand in more files than this is a folder that calls itself a value.
const MOST_FILES: usize = 2;

const CIRCLE: &str = "no circle of files, because none of them can be read, tested or moved alone; put what both \
                      need into a file below both (NATURAL in tests/it/floors/inside.rs lists what is recursive itself)";
const FOLDERS: &str = "no circle in which a sub-room is, because it cannot be read, tested or moved without what stands \
                       beside it; put what both need into a file below both";
const FACE: &str = "a sub-room is reached through its face (mod.rs) only, because what lies behind it may change; \
                    re-export there what others need";
const ELSEWHERE: &str = "a file stands where its module says, because who reads `mod x` looks there; `#[path]` is for \
                         `_tests.rs`, and behind a `cfg` for one of several files";
const LARGE: &str = "a value has few methods, which stand in its own file or one beside it, because a part that can \
                     touch every field knows everything; cut it into values that own their fields";

fn check_circles(graph: &FileGraph) -> Vec<Fault> {
    let natural = |circle: &&Vec<&str>| {
        NATURAL.iter().any(|(row, _)| circle.iter().all(|file| row.iter().any(|own| file.ends_with(own))))
    };
    let circles = graph.circles();
    let left = circles.iter().filter(|circle| !natural(circle));
    left.map(|circle| {
        let arrows = graph.arrows_among(circle).join("\n        ");
        Fault {
            rule: CIRCLE,
            place: format!("src/{}: {} files\n        {arrows}", folder_of(circle), circle.len()),
        }
    })
    .collect()
}

fn check_folders(graph: &FileGraph) -> Vec<Fault> {
    let circles = graph.circles_of_folders().into_iter();
    circles
        .map(|(folder, circle)| {
            let arrows = graph.arrows_in(&folder, &circle).join("\n        ");
            Fault { rule: FOLDERS, place: format!("{folder}: {}\n        {arrows}", circle.join(" ")) }
        })
        .collect()
}

fn check_faces(graph: &FileGraph) -> Vec<Fault> {
    let found = graph.past_a_face().into_iter();
    found.map(|(file, line, path)| Fault { rule: FACE, place: format!("{file}:{line}: {path}") }).collect()
}

/// Finds a file that stands elsewhere than its module says. Tests stand beside what they test, and one of two files is
/// chosen by a condition.
fn check_paths(file: &str, source: &str) -> Vec<Fault> {
    let tokens = tokens(source);
    let is_word = |at: usize, word: &str| tokens.get(at).is_some_and(|placed| placed.token.is_word(word));
    let is_mark = |at: usize, mark: char| tokens.get(at).is_some_and(|placed| placed.token.is_mark(mark));
    let mut faults = Vec::new();
    for (at, placed) in tokens.iter().enumerate() {
        let opens = at >= 2 && is_word(at, "path") && is_mark(at - 1, '[') && is_mark(at - 2, '#');
        let Some(Token::Text(path)) = tokens.get(at + 2).map(|placed| &placed.token).filter(|_| opens) else {
            continue;
        };
        let begun = (0..at - 2).rev().find(|index| is_mark(*index, '#'));
        let is_chosen = is_mark(at.wrapping_sub(3), ']') && begun.is_some_and(|begun| is_word(begun + 2, "cfg"));
        if !is_chosen && !path.ends_with("_tests.rs") {
            faults.push(Fault { rule: ELSEWHERE, place: format!("{file}:{}: {path}", placed.line) });
        }
    }
    faults
}

fn check_methods(graph: &FileGraph) -> Vec<Fault> {
    let large = graph
        .methods()
        .into_iter()
        .filter(|(_, (methods, files))| *methods > MOST_METHODS || files.len() > MOST_FILES);
    large
        .map(|((name, home), (methods, files))| Fault {
            rule: LARGE,
            place: format!("{home}: {name}, {methods} in {files:?}"),
        })
        .collect()
}

/// The deepest folder of src that all files stand in.
fn folder_of(files: &[&str]) -> String {
    let folders = |file: &str| -> Vec<String> {
        let parts: Vec<_> = file.split('/').map(str::to_owned).collect();
        parts[1..parts.len() - 1].to_vec()
    };
    let mut shared = files.first().map(|file| folders(file)).unwrap_or_default();
    for file in files {
        let own = folders(file);
        let same = shared.iter().zip(&own).take_while(|(one, other)| one == other).count();
        shared.truncate(same);
    }
    shared.join("/")
}

#[test]
fn no_circle_no_way_past_a_face_and_no_value_that_does_everything() {
    let graph = FileGraph::read(&sources());
    let mut faults = check_circles(&graph);
    faults.extend(check_folders(&graph));
    faults.extend(check_faces(&graph));
    faults.extend(check_methods(&graph));
    report(faults);
}

#[test]
fn files_stand_where_their_modules_say() {
    report(sources().iter().flat_map(|(file, source)| check_paths(file, source)).collect());
}

#[test]
fn the_check_finds_a_file_that_stands_elsewhere() {
    let found = |source: &str| check_paths("src/a.rs", source).len();
    assert_eq!(found("#[path = \"b.rs\"]\nmod c;"), 1);
    assert_eq!(found("#[derive(Debug)]\n#[path = \"b.rs\"]\nmod c;"), 1);
    assert_eq!(found("#[cfg(test)]\n#[path = \"b_tests.rs\"]\nmod tests; #[path = \"c_tests.rs\"] mod more;"), 0);
    assert_eq!(
        found("#[cfg(not(unix))]\n#[path = \"none.rs\"]\nmod own;\n#[cfg_attr(unix, path = \"b.rs\")]\nmod c;"),
        0
    );
}

#[test]
fn the_natural_circles_are_still_there() {
    let files = sources();
    let names: BTreeSet<&str> = files.iter().map(|(file, _)| file.as_str()).collect();
    for (row, reason) in NATURAL {
        let gone: Vec<_> = row.iter().filter(|own| !names.iter().any(|file| file.ends_with(*own))).collect();
        assert!(gone.is_empty(), "NATURAL names files that are not there: {gone:?} ({reason})");
    }
}

#[test]
fn the_check_finds_a_circle_through_a_sub_room() {
    let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let files = [
        file("src/app/mod.rs", "mod context;\nmod models;"),
        file("src/app/context.rs", "use super::models::Asked;\npub struct App(Asked);"),
        file("src/app/models/mod.rs", "mod asked;\nmod choose;\npub(super) use asked::Asked;"),
        file("src/app/models/asked.rs", "pub struct Asked;"),
        file("src/app/models/choose.rs", "use super::super::context::App;\nfn f(_: App) {}"),
    ];
    let found = |files: &[(String, String)]| {
        check_folders(&FileGraph::read(files)).into_iter().map(|fault| fault.place).collect::<Vec<_>>()
    };
    assert!(check_circles(&FileGraph::read(&files)).is_empty());
    let arrows =
        "src/app/context.rs:1 -> src/app/models/asked.rs\n        src/app/models/choose.rs:1 -> src/app/context.rs";
    assert_eq!(found(&files), [format!("src/app: context.rs models/\n        {arrows}")]);
    assert_eq!(found(&files[..4]), [""; 0]);
}
