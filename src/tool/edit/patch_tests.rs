//! Patches as models write them.

use proptest::prelude::*;

use super::super::patch_apply::{Loose, Patched, apply};
use super::*;

fn hunks(body: &str) -> Vec<Hunk> {
    let patch = format!("*** Begin Patch\n*** Update File: a\n{body}\n*** End Patch");
    match parse(&patch).unwrap().remove(0) {
        FilePatch::Update { hunks, .. } => hunks,
        FilePatch::Add { .. } | FilePatch::Delete { .. } => panic!("an update was expected"),
    }
}

fn patched(text: &str, body: &str) -> Result<Patched, String> {
    apply(text, &hunks(body))
}

#[test]
fn all_kinds_are_parsed() {
    let patch = "```\n*** Begin Patch\n*** Add File: new.txt\n+one\n+\n*** Delete File: old.txt\n\
                 *** Update File: a.txt\n*** Move to: b.txt\n@@ fn main() {\n-x\n+y\n*** End Patch\n```";
    assert_eq!(
        parse(patch).unwrap(),
        [
            FilePatch::Add { path: "new.txt".to_owned(), text: "one\n\n".to_owned() },
            FilePatch::Delete { path: "old.txt".to_owned() },
            FilePatch::Update {
                path: "a.txt".to_owned(),
                destination: Some("b.txt".to_owned()),
                hunks: vec![Hunk {
                    anchors: vec!["fn main() {".to_owned()],
                    lines: vec![(Side::Old, "x".to_owned()), (Side::New, "y".to_owned())],
                    ..Hunk::default()
                }]
            }
        ]
    );
}

#[test]
fn what_is_no_patch_is_named() {
    for (patch, says) in [
        ("", "the patch must begin with the line `*** Begin Patch`"),
        ("*** Begin Patch", "the patch must end with the line `*** End Patch`"),
        ("*** Begin Patch\n*** End Patch", "the patch changes no file"),
        (
            "*** Begin Patch\nx\n*** End Patch",
            "line 2 of the patch: expected `*** Add File: `, `*** Update File: ` or `*** Delete File: `: \"x\"",
        ),
        (
            "*** Begin Patch\n*** Add File: a\nx\n*** End Patch",
            "line 3 of the patch: a line of a new file must begin with `+`: \"x\"",
        ),
        ("*** Begin Patch\n*** Update File: a\n x\n*** End Patch", "the update of a changes nothing"),
        (
            "*** Begin Patch\n*** Update File: a\n?x\n*** End Patch",
            "line 3 of the patch: a line of a change must begin with a blank, `-` or `+`: \"?x\"",
        ),
    ] {
        assert_eq!(parse(patch), Err(says.to_owned()));
    }
}

#[test]
fn hunks_are_applied_in_order_behind_their_anchors() {
    let text = "class A\n  x\nclass B\n  x\nend\n";
    assert_eq!(patched(text, "@@ class B\n-  x\n+  y").unwrap().text, "class A\n  x\nclass B\n  y\nend\n");
    assert_eq!(patched(text, "@@\n class B\n-  x\n+  y\n end").unwrap().text, "class A\n  x\nclass B\n  y\nend\n");
    assert_eq!(
        patched(text, "@@ class B\n class B\n-  x\n+  y").unwrap().text,
        "class A\n  x\nclass B\n  y\nend\n"
    );
    assert_eq!(patched(text, "@@\n-  x\n+  1\n@@\n-  x\n+  2").unwrap().text, "class A\n  1\nclass B\n  2\nend\n");
    assert_eq!(
        patched(text, "@@ -1,2 +1,2 @@\n-end\n+END\n*** End of File").unwrap().text,
        text.replace("end", "END")
    );
    assert_eq!(patched("a\nx\nb\nx\n", "-x\n+y\n*** End of File").unwrap().text, "a\nx\nb\ny\n");
}

#[test]
fn lines_can_only_be_added() {
    assert_eq!(patched("a\nb\n", "+c").unwrap().text, "a\nb\nc\n");
    assert_eq!(patched("a\nb\n", "@@ a\n+c").unwrap().text, "a\nc\nb\n");
    assert_eq!(patched("", "+c").unwrap().text, "c\n");
    assert_eq!(patched("a\nb", "-b").unwrap().text, "a\n");
    assert_eq!(patched("a\nb", "-a\n+c").unwrap().text, "c\nb");
    assert_eq!(patched("a\n", "-a").unwrap().text, "");
}

#[test]
fn loose_matches_are_reported_and_context_stays_as_it_was() {
    let done = patched("\tif x {  \n\t\told();\n\t}\n", "@@\n if x {\n-    old();\n+\t\tnew();\n }").unwrap();
    assert_eq!(done.text, "\tif x {  \n\t\tnew();\n\t}\n");
    assert_eq!(done.loose, [Loose { hunk: 1, way: "but for indentation", moved: None }]);
    let done = patched("say “hi”\n", "-say \"hi\"\n+bye").unwrap();
    let way = "but for typographic characters";
    assert_eq!((done.text.as_str(), done.loose), ("bye\n", vec![Loose { hunk: 1, way, moved: None }]));
}

#[test]
fn numbers_choose_among_equal_places_and_what_moved_is_reported() {
    let text = "x\na\nx\nb\nx\n";
    assert_eq!(patched(text, "@@ -3,1 +3,1 @@\n-x\n+y").unwrap().text, "x\na\ny\nb\nx\n");
    let done = patched(text, "@@ -9,1 +9,1 @@\n-a\n+c\n@@ -11,1 +11,1 @@\n-b\n+d").unwrap();
    assert_eq!(done.text, "x\nc\nx\nd\nx\n");
    // The second is where the first one's distance lets it be expected.
    assert_eq!(done.loose, [Loose { hunk: 1, way: "", moved: Some((9, 2)) }]);
}

#[test]
fn every_line_keeps_its_own_end() {
    let mixed = "a\r\nb\nc\r\nd\n";
    assert_eq!(patched(mixed, " b\n-c\n+C\n+more\n d").unwrap().text, "a\r\nb\nC\nmore\nd\n");
    assert_eq!(patched("a\r\nb\r\n", " a\n-b\n+B\n+C").unwrap().text, "a\r\nB\r\nC\r\n");
    assert_eq!(patched("a\r\nb\r\n", "+c").unwrap().text, "a\r\nb\r\nc\r\n");
}

#[test]
fn what_is_not_there_is_said_with_its_place() {
    assert_eq!(
        patched("a\nb\n", "-a\n+x\n@@\n-a\n+y").unwrap_err(),
        "change 2: these lines are not in the file from line 2 on:\na"
    );
    assert_eq!(
        patched("a\n", "@@ zzz\n-a\n+y").unwrap_err(),
        "change 1: the line after @@ is not in the file from line 1 on:\nzzz"
    );
}

proptest! {
    #[test]
    fn a_patch_made_from_two_texts_gives_the_second(
        old in proptest::collection::vec("[abc]{0,2}", 1..12), at in 0_usize..12, gone in 0_usize..4,
        new in proptest::collection::vec("[xyz]{1,2}", 1..4),
    ) {
        let at = at.min(old.len());
        let gone = gone.min(old.len() - at);
        let mut body: Vec<String> = old[..at].iter().map(|line| format!(" {line}")).collect();
        body.extend(old[at..at + gone].iter().map(|line| format!("-{line}")));
        body.extend(new.iter().map(|line| format!("+{line}")));
        body.extend(old[at + gone..].iter().map(|line| format!(" {line}")));
        let expected = [&old[..at], &new, &old[at + gone..]].concat().join("\n") + "\n";
        prop_assert_eq!(patched(&(old.join("\n") + "\n"), &body.join("\n")).unwrap().text, expected);
    }

    #[test]
    fn nothing_makes_it_panic(text in "[ab\n ]{0,30}", body in "([ +@*-]?[ab ]{0,2}\n){0,8}") {
        if let Ok(files) = parse(&format!("*** Begin Patch\n*** Update File: a\n{body}*** End Patch")) {
            for file in files {
                if let FilePatch::Update { hunks, .. } = file {
                    let _ = apply(&text, &hunks);
                }
            }
        }
    }
}
