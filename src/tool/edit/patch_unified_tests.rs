//! Diffs of git and of models.

use proptest::prelude::*;

use super::super::patch_apply::apply;
use super::*;

fn update(path: &str, hunks: Vec<Hunk>) -> FilePatch {
    FilePatch::Update { path: path.to_owned(), destination: None, hunks }
}

fn hunk(line: usize, lines: &[(Side, &str)]) -> Hunk {
    let lines = lines.iter().map(|(side, text)| (*side, (*text).to_owned())).collect();
    Hunk { line: Some(line), lines, ..Hunk::default() }
}

#[test]
fn all_that_git_says_of_files_is_read() {
    let diff = "commit 1234\n\ndiff --git a/new b/new\nnew file mode 100644\n--- /dev/null\n+++ b/new\n@@ -0,0 +1,2 @@\n\
                +one\n+two\n\\ No newline at end of file\ndiff --git a/gone b/gone\ndeleted file mode 100644\n\
                --- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\ndiff --git a/a b/b\nsimilarity index 90%\n\
                rename from a\nrename to b\n--- a/a\n+++ b/b\n@@ -3,2 +3,2 @@ fn x()\n c\n--- d\n++++ e\n\
                diff --git a/empty b/empty\nnew file mode 100644\nindex 0000000..e69de29\n\
                diff --git \"a/caf\\303\\251\" \"b/caf\\303\\251\"\n--- \"a/caf\\303\\251\"\n+++ \"b/caf\\303\\251\"\n\
                @@ -1 +1 @@\n-x\r\n+y\r\ndiff --git a/s b/s\nold mode 100644\nnew mode 100755\n";
    let renamed = FilePatch::Update {
        path: "a".to_owned(),
        destination: Some("b".to_owned()),
        hunks: vec![hunk(3, &[(Side::Both, "c"), (Side::Old, "-- d"), (Side::New, "+++ e")])],
    };
    assert_eq!(
        parse(diff).unwrap(),
        [
            FilePatch::Add { path: "new".to_owned(), text: "one\ntwo".to_owned() },
            FilePatch::Delete { path: "gone".to_owned() },
            renamed,
            FilePatch::Add { path: "empty".to_owned(), text: String::new() },
            update("café", vec![hunk(1, &[(Side::Old, "x\r"), (Side::New, "y\r")])]),
        ]
    );
}

#[test]
fn habits_of_models_are_taken() {
    let expected = vec![update("x", vec![hunk(1, &[(Side::Both, "a"), (Side::Old, "b"), (Side::New, "c")])])];
    for diff in [
        "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n",
        // Counted too small, and too large.
        "--- a/x\n+++ b/x\n@@ -1,1 +1,1 @@\n a\n-b\n+c",
        "--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n a\n-b\n+c",
        "--- old/x\n+++ x\t2026-01-01\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n-- \n2.39\n",
    ] {
        assert_eq!(parse(diff), Ok(expected.clone()), "{diff}");
        assert!(is_unified(diff));
    }
    assert!(!is_unified("*** Begin Patch\n--- a\n+++ b\n*** End Patch"));
}

#[test]
fn what_cannot_be_applied_is_named() {
    for (diff, says) in [
        ("diff --git a/x b/x\nBinary files a/x and b/x differ\n", "binary files cannot be patched"),
        ("diff --git a/x b/x\nnew file mode 120000\n", "symbolic links cannot be patched"),
        ("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", "the diff changes no file's text"),
        ("--- a/x\n+++ b/x\n@@ what\n", "no place of a change"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n x\n", "the diff of x changes nothing"),
    ] {
        assert!(parse(diff).unwrap_err().contains(says), "{:?}", parse(diff));
    }
}

proptest! {
    #[test]
    fn a_diff_made_from_two_texts_gives_the_second(
        old in "([ab]{0,1}\r?\n){0,15}[ab]{0,2}", new in "([ab]{0,1}\r?\n){0,15}[ab]{0,2}",
    ) {
        prop_assume!(old != new && !old.is_empty() && !new.is_empty());
        let diff = similar::TextDiff::from_lines(&old, &new).unified_diff().header("a/x", "b/x").to_string();
        let files = parse(&diff).unwrap();
        let [FilePatch::Update { hunks, .. }] = files.as_slice() else { panic!("{files:?}") };
        prop_assert_eq!(apply(&old, hunks).unwrap().text, new, "{}", diff);
    }

    #[test]
    fn nothing_makes_it_panic(body in "((diff --git |--- |\\+\\+\\+ |@@ -|[ +@\\\\-])?[ab\",/0-9+ \\\\-]{0,9}\n){0,9}") {
        let _ = parse(&body);
    }
}
