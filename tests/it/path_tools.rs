//! mkdir, move and delete on real directories.

use std::os::unix::fs::symlink;

use axi::conversation::{Preview, Subject};
use axi::tool::{DeleteTool, MakeDirectoryTool, MoveTool, Tool as _};
use serde_json::json;

use crate::support::tool_bench::ToolBench;

#[test]
fn directories_are_made_with_their_parents() {
    let bench = ToolBench::new();
    let mkdir = |path: &str| bench.run(&MakeDirectoryTool, json!({ "path": path })).content;
    assert_eq!(mkdir("a/b"), "Made a/b.");
    assert_eq!(mkdir("a/b"), "a/b exists already.");
    bench.put("file", "");
    assert!(mkdir("file/x").starts_with("file/x: a part of this path is a file"));
    assert!(bench.check(&MakeDirectoryTool, &json!({"path": "file"})).is_err());
}

#[test]
fn files_and_directories_are_moved_but_never_over_others() {
    let bench = ToolBench::new();
    bench.put("a", "1");
    bench.put("b", "2");
    bench.put("sub/c", "3");
    let run = |from: &str, to: &str| bench.run(&MoveTool, json!({"from": from, "to": to})).content;
    assert_eq!(run("a", "new/place"), "Moved a to new/place.");
    assert_eq!(run("b", "sub"), "Moved b to sub/b.");
    assert_eq!(run("new/place", "sub/c"), "sub/c exists already; delete it first.");
    assert_eq!(run("sub", "sub/deeper"), "sub/deeper is sub itself or lies below it.");
    assert!(run("none", "x").starts_with("none does not exist."));
    assert!(run(".", "x").contains("it is not touched"));
    assert_eq!(
        (bench.get("new/place"), bench.get("sub/b"), bench.get("sub/c")),
        (b"1".to_vec(), b"2".to_vec(), b"3".to_vec())
    );
    let paths = vec![bench.path("sub/c"), bench.path("d")];
    assert_eq!(
        MoveTool.read(&json!({"from": "sub/c", "to": "d"}), &bench.roots).subject(),
        Subject::Paths { paths }
    );
}

#[test]
fn what_is_deleted_is_said_before_and_bases_are_not_touched() {
    let bench = ToolBench::new();
    bench.put("a", "1\n");
    bench.put("full/x/y", "");
    symlink("full", bench.path("link")).unwrap();
    let delete = |path: &str| bench.run(&DeleteTool, json!({ "path": path })).content;
    assert_eq!(
        bench.check(&DeleteTool, &json!({"path": "a"})),
        Ok(Preview::Diff { path: bench.path("a"), old: Some("1\n".to_owned()), new: None })
    );
    assert_eq!(
        bench.check(&DeleteTool, &json!({"path": "full", "recursive": true})),
        Ok(Preview::Text { text: "delete full and 2 entries in it\n  x/".to_owned() })
    );
    assert_eq!(delete("a"), "Deleted a.");
    assert_eq!(delete("full"), "full is a directory with 2 entries; set recursive to delete all of it.");
    assert_eq!(delete("link"), "Deleted link.");
    assert!(bench.path("full/x/y").exists());
    let all = bench.run(&DeleteTool, json!({"path": "full", "recursive": true})).content;
    assert_eq!(all, "Deleted full and 2 entries in it.");
    for base in [".", "..", "/", "../work/x/.."] {
        let says = bench.run(&DeleteTool, json!({"path": base, "recursive": true})).content;
        assert!(says.ends_with("holds the workspace or the home; it is not touched."), "{says}");
    }
    assert!(bench.roots.cwd.is_dir());
}
