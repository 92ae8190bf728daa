//! The apply_patch tool on real directories.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use axi::conversation::{Outcome, Preview, Subject};
use axi::tool::{ApplyPatchTool, ReadTool, Tool as _};
use serde_json::{Value, json};

use crate::support::tool_bench::ToolBench;

fn patch(body: &str) -> Value {
    json!({"patch": format!("*** Begin Patch\n{body}\n*** End Patch")})
}

#[test]
fn files_are_made_changed_moved_and_deleted_together() {
    let bench = ToolBench::new();
    bench.put("a.txt", "one\r\ntwo\r\n");
    bench.put("run.sh", "echo 1\n");
    bench.put("gone", "x\n");
    std::fs::set_permissions(bench.path("run.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let input = patch(
        "*** Add File: new/deep.txt\n+hello\n*** Update File: a.txt\n one\n-two \n+2\n\
         *** Update File: run.sh\n*** Move to: bin/run.sh\n-echo 1\n+echo 2\n*** Delete File: gone",
    );
    let paths = ["new/deep.txt", "a.txt", "run.sh", "bin/run.sh", "gone"].map(|name| bench.path(name)).to_vec();
    assert_eq!(ApplyPatchTool.read(&input, &bench.roots).subject(), Subject::Paths { paths });
    let output = bench.run(&ApplyPatchTool, input);
    assert_eq!(
        output.content,
        "Done:\nA new/deep.txt\nM a.txt (change 1 matched but for blanks at line ends)\nM run.sh -> bin/run.sh\nD gone"
    );
    assert_eq!((output.facts.added, output.facts.removed), (Some(3), Some(3)));
    assert_eq!(bench.get("new/deep.txt"), b"hello\n");
    assert_eq!(bench.get("a.txt"), b"one\r\n2\r\n");
    assert_eq!(bench.get("bin/run.sh"), b"echo 2\n");
    assert_eq!(bench.path("bin/run.sh").metadata().unwrap().permissions().mode() & 0o777, 0o755);
    assert!(!bench.path("run.sh").exists() && !bench.path("gone").exists());
}

#[test]
fn names_a_patch_makes_free_can_be_taken_by_it() {
    let bench = ToolBench::new();
    bench.put("a.rs", "one\n");
    bench.put("b", "old\n");
    let input = patch(
        "*** Update File: a.rs\n*** Move to: a/mod.rs\n-one\n+1\n*** Add File: a.rs\n+mod a;\n*** Delete File: b\n\
         *** Add File: b\n+new",
    );
    let output = bench.run(&ApplyPatchTool, input);
    assert_eq!(output.content, "Done:\nM a.rs -> a/mod.rs\nA a.rs\nD b\nA b");
    assert_eq!((bench.get("a/mod.rs"), bench.get("a.rs")), (b"1\n".to_vec(), b"mod a;\n".to_vec()));
    assert_eq!(bench.get("b"), b"new\n");
}

#[test]
fn a_diff_of_git_is_taken_too_and_says_what_moved() {
    let bench = ToolBench::new();
    bench.put("a", "0\n0\none\ntwo\n");
    let input = json!({"patch": "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"});
    let output = bench.run(&ApplyPatchTool, input);
    assert_eq!(output.content, "Done:\nM a (change 1 went to line 3, not 1)");
    assert_eq!(bench.get("a"), b"0\n0\none\n2\n");
}

#[test]
fn a_file_changed_since_it_was_read_is_refused_with_the_diff() {
    let bench = ToolBench::new();
    bench.put("a", "one\ntwo\n");
    bench.run(&ReadTool, json!({"path": "a"}));
    bench.put("a", "one\n2\n");
    let output = bench.run(&ApplyPatchTool, patch("*** Update File: a\n-one\n+1"));
    assert!(output.content.starts_with("a was changed since you last read it."), "{}", output.content);
    assert!(output.content.contains("-two\n+2\n") && output.content.ends_with("\nNothing was changed."));
    assert_eq!(bench.get("a"), b"one\n2\n");
}

#[test]
fn a_patch_that_fails_in_its_last_part_changes_nothing() {
    let bench = ToolBench::new();
    bench.put("a", "one\n");
    bench.put("b", "two\n");
    for last in [
        "*** Update File: b\n-three\n+3",
        "*** Add File: b\n+x",
        "*** Delete File: c",
        "*** Update File: a\n-1\n+2",
    ] {
        let input = patch(&format!("*** Add File: new\n+x\n*** Update File: a\n-one\n+1\n{last}"));
        let output = bench.run(&ApplyPatchTool, input.clone());
        assert_eq!(output.outcome, Outcome::Failed, "{last}");
        assert!(output.content.ends_with("\nNothing was changed."), "{}", output.content);
        assert!(bench.check(&ApplyPatchTool, &input).is_err());
        assert!(!bench.path("new").exists());
        assert_eq!(bench.get("a"), b"one\n");
    }
}

#[test]
fn a_write_that_fails_takes_the_others_back() {
    let bench = ToolBench::new();
    bench.put("a", "one\n");
    bench.put("gone", "x\n");
    bench.put("locked", "two\n");
    std::fs::set_permissions(bench.path("locked"), std::fs::Permissions::from_mode(0o444)).unwrap();
    let input = patch(
        "*** Add File: new\n+x\n*** Update File: a\n-one\n+1\n*** Delete File: gone\n*** Update File: locked\n-two\n+2",
    );
    let output = bench.run(&ApplyPatchTool, input);
    assert_eq!(output.content, "locked: permission denied.\nNothing was changed.");
    assert_eq!(
        (bench.get("a"), bench.get("gone"), bench.get("locked")),
        (b"one\n".to_vec(), b"x\n".to_vec(), b"two\n".to_vec())
    );
    assert!(!bench.path("new").exists());
}

#[test]
fn nothing_outside_of_the_workspace_is_touched() {
    let bench = ToolBench::new();
    let outside = bench.output_dir();
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("x"), "one\n").unwrap();
    symlink(&outside, bench.path("link")).unwrap();
    symlink("inside", bench.path("file-link")).unwrap();
    bench.put("inside", "one\n");
    for (body, says) in [
        ("*** Update File: link/x\n-one\n+1", "link/x is outside of the workspace."),
        ("*** Add File: ../y\n+1", "is outside of the workspace."),
        ("*** Delete File: link/x", "link/x is outside of the workspace."),
        ("*** Delete File: file-link", "file-link is a symbolic link; use the shell."),
    ] {
        let output = bench.run(&ApplyPatchTool, patch(body));
        assert!(output.content.contains(says), "{}", output.content);
    }
    assert_eq!(std::fs::read(outside.join("x")).unwrap(), b"one\n");
}

#[test]
fn a_person_sees_every_file_before_and_after() {
    let bench = ToolBench::new();
    bench.put("a", "one\n");
    let input = patch("*** Add File: b\n+x\n*** Delete File: a");
    let diff = |name: &str, old: Option<&str>, new: Option<&str>| Preview::Diff {
        path: bench.path(name),
        old: old.map(str::to_owned),
        new: new.map(str::to_owned),
    };
    let parts = vec![diff("b", None, Some("x\n")), diff("a", Some("one\n"), None)];
    assert_eq!(bench.check(&ApplyPatchTool, &input), Ok(Preview::Many { parts }));
}
