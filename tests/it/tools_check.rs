//! A person is asked only for what can be done: what a tool would refuse is refused before the question.

use std::os::unix::fs::symlink;

use axi::conversation::Outcome;
use axi::tool::{
    ApplyPatchTool, DeleteTool, EditTool, GlobTool, GrepTool, ListTool, MakeDirectoryTool, MoveTool, MultiEditTool,
    ReadTool, Tool, WriteTool,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::tool_bench::ToolBench;

/// Names a call may use: what stands there is in [`furnished`].
const NAMES: &[&str] = &[
    "read", "unread", "changed", "latin", "empty", "bytes", "full", "bare", "loop", "lost", "pipe", "new",
    "read/x", "new/x",
];

/// A workspace with a thing of each kind; of the files `read` and `latin` are as the model read them.
fn furnished() -> ToolBench {
    let bench = ToolBench::new();
    for name in ["read", "unread", "changed"] {
        bench.put(name, "one\ntwo\n");
    }
    bench.put("latin", b"one\n\xe9t\xe9\n");
    bench.put("empty", "");
    bench.put("bytes", b"one\0two");
    bench.put("full/x", "one\n");
    std::fs::create_dir(bench.path("bare")).unwrap();
    symlink("loop", bench.path("loop")).unwrap();
    symlink("nowhere", bench.path("lost")).unwrap();
    let mode = rustix::fs::Mode::from_bits_truncate(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, bench.path("pipe"), rustix::fs::FileType::Fifo, mode, 0).unwrap();
    for name in ["read", "latin", "changed"] {
        assert_eq!(bench.run(&ReadTool, json!({ "path": name })).outcome, Outcome::Ok);
    }
    bench.put("changed", "one\ntwo, by somebody else\n");
    bench
}

fn calls() -> impl Strategy<Value = (usize, Value)> {
    let name = || prop::sample::select(NAMES);
    let old = || prop::sample::select(&["one", "two\n", "three", "", "e"][..]);
    let new = || prop::sample::select(&["1", "", "中", "one"][..]);
    prop_oneof![
        (name(), old(), new(), any::<bool>()).prop_map(|(path, old, new, all)| {
            (0, json!({"path": path, "old_string": old, "new_string": new, "replace_all": all}))
        }),
        (name(), old(), new(), old()).prop_map(|(path, old, new, other)| {
            let edits = json!([{"old_string": old, "new_string": new}, {"old_string": other, "new_string": "x"}]);
            (1, json!({"path": path, "edits": edits}))
        }),
        (name(), new()).prop_map(|(path, content)| (2, json!({"path": path, "content": content}))),
        (name(), name(), old(), new(), 0..3).prop_map(|(path, other, old, new, kind)| {
            let (old, part) = (
                old.trim_end(),
                match kind {
                    0 => format!("*** Delete File: {other}\n"),
                    1 => format!("*** Add File: {other}\n+x\n"),
                    _ => String::new(),
                },
            );
            let patch = format!("*** Begin Patch\n*** Update File: {path}\n-{old}\n+{new}\n{part}*** End Patch");
            (3, json!({ "patch": patch }))
        }),
        (name(), any::<bool>()).prop_map(|(path, recursive)| (4, json!({"path": path, "recursive": recursive}))),
        (name(), name()).prop_map(|(from, to)| (5, json!({"from": from, "to": to}))),
        name().prop_map(|path| (6, json!({ "path": path }))),
        (name(), 0..4).prop_map(|(path, offset)| (7, json!({"path": path, "offset": offset}))),
        name().prop_map(|path| (8, json!({ "path": path }))),
        (name(), old()).prop_map(|(path, pattern)| (9, json!({"path": path, "pattern": format!("{pattern}*")}))),
        (name(), prop::sample::select(&["one", "(", "[", "x*"][..]))
            .prop_map(|(path, pattern)| (10, json!({"path": path, "pattern": pattern}))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(192) })]

    #[test]
    fn what_a_tool_refuses_is_refused_before_a_person_is_asked((tool, input) in calls()) {
        let tools: [&dyn Tool; 11] = [
            &EditTool, &MultiEditTool, &WriteTool, &ApplyPatchTool, &DeleteTool, &MoveTool, &MakeDirectoryTool, &ReadTool,
            &ListTool, &GlobTool, &GrepTool,
        ];
        let bench = furnished();
        let checked = bench.check(tools[tool], &input);
        let ran = bench.run(tools[tool], input.clone());
        prop_assert_eq!(
            checked.is_ok(), ran.outcome == Outcome::Ok,
            "{} {}\nchecked: {:?}\nran: {}", tools[tool].spec().name, input, checked, ran.content
        );
    }
}

#[test]
fn a_patch_that_changes_and_deletes_one_file_is_refused_before_a_person_is_asked() {
    let bench = furnished();
    let patch = "*** Begin Patch\n*** Update File: read\n-one\n+1\n*** Delete File: read\n*** End Patch";
    let refused = bench.check(&ApplyPatchTool, &json!({ "patch": patch })).unwrap_err();
    assert!(refused.contains("in the patch twice"), "{refused}");
    let replaced = "*** Begin Patch\n*** Delete File: read\n*** Add File: read\n+1\n*** End Patch";
    assert!(bench.check(&ApplyPatchTool, &json!({ "patch": replaced })).is_ok());
}
