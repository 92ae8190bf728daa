//! The file tools through the public trait, on real directories.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use axi::conversation::{Effect, Outcome, Preview, Subject};
use axi::tool::{
    EditTool, GlobTool, GrepTool, ListTool, MultiEditTool, ReadTool, Tool as _, Toolbox, WriteTool, followed, table,
};
use proptest::strategy::Strategy as _;
use serde_json::{Value, json};

use crate::support::tool_bench::ToolBench;

#[test]
fn every_specification_is_an_object_whose_arguments_are_the_tools_and_every_field_is_described_by_its_type() {
    let toolbox = Toolbox::new(table::standard(None, None));
    let names: Vec<String> = toolbox.specs().iter().map(|spec| spec.name.clone()).collect();
    assert_eq!(
        names,
        [
            "read",
            "write",
            "edit",
            "multi_edit",
            "apply_patch",
            "mkdir",
            "move",
            "delete",
            "glob",
            "grep",
            "list",
            "shell",
            "shell_job",
            "terminal",
            "web_fetch",
            "todo",
            "ask_user"
        ]
    );
    for spec in toolbox.specs() {
        assert_eq!(spec.input_schema["type"], "object", "{}", spec.name);
        let properties = spec.input_schema["properties"].as_object().unwrap();
        assert!(properties.values().all(|property| property["type"].is_string()), "{}", spec.name);
        let required = spec.input_schema["required"].as_array().cloned().unwrap_or_default();
        assert!(required.iter().all(|name| properties.contains_key(name.as_str().unwrap())), "{}", spec.name);
        // Every argument of the schema is one the tool takes, and nothing else is.
        let bench = ToolBench::new();
        let tool = toolbox.find(&spec.name).unwrap();
        let told = bench.run(tool.as_ref(), json!({"no_such_argument": 1})).content;
        assert!(
            told.starts_with(&format!("{}: unknown argument `no_such_argument`; it takes", spec.name)),
            "{told}"
        );
        assert!(properties.keys().all(|name| told.contains(name.as_str())), "{told}");
    }
    // Small local models read all of it at every turn: about four bytes a token.
    let bytes: usize =
        toolbox.specs().iter().map(|spec| spec.description.len() + spec.input_schema.to_string().len()).sum();
    assert!(bytes < 6500, "{bytes}");
}

#[test]
fn effects_and_subjects_are_declared() {
    let bench = ToolBench::new();
    symlink("/etc", bench.path("out")).unwrap();
    let toolbox = Toolbox::new(table::standard(None, None));
    for (name, effect) in [
        ("read", Effect::Read),
        ("glob", Effect::Read),
        ("grep", Effect::Read),
        ("list", Effect::Read),
        ("write", Effect::Write),
        ("edit", Effect::Write),
        ("multi_edit", Effect::Write),
        ("apply_patch", Effect::Write),
        ("mkdir", Effect::Write),
        ("move", Effect::Write),
        ("delete", Effect::Delete),
        ("todo", Effect::Read),
        ("web_fetch", Effect::Network),
        ("shell", Effect::Execute),
        ("shell_job", Effect::Read),
    ] {
        assert_eq!(toolbox.find(name).unwrap().read(&json!({}), &bench.roots).effect(), effect, "{name}");
    }
    for name in ["read", "write", "edit", "multi_edit", "mkdir", "delete", "list"] {
        let subject =
            followed(&toolbox.find(name).unwrap().read(&json!({"path": "out/none"}), &bench.roots).subject());
        let paths = vec![bench.path("out/none"), "/etc/none".into()];
        assert_eq!(subject, Subject::Paths { paths }, "{name}");
    }
    let subject = GlobTool.read(&json!({"pattern": "/etc/pam.d/*"}), &bench.roots).subject();
    assert_eq!(subject, Subject::Paths { paths: vec!["/etc/pam.d".into()] });
}

#[test]
fn reading_shows_numbered_lines_and_pages() {
    let bench = ToolBench::new();
    bench.put("a.txt", "one\r\ntwo\r\n");
    let output = bench.run(&ReadTool, json!({"file_path": "a.txt"}));
    assert_eq!(output.content, "     1\tone\n     2\ttwo\n(CRLF line ends)\n");
    bench.put("b.txt", (1..=3000).map(|number| number.to_string() + "\n").collect::<String>());
    let output = bench.run(&ReadTool, json!({"path": "b.txt"}));
    assert!(output.content.ends_with("  2000\t2000\n(lines 1-2000 of 3000; go on with offset 2001)\n"));
    assert_eq!(output.facts.lines, Some(2000));
    let output = bench.run(&ReadTool, json!({"path": "b.txt", "offset": 2999, "limit": 1}));
    assert_eq!(output.content, "  2999\t2999\n(lines 2999-2999 of 3000; go on with offset 3000)\n");
    let output = bench.run(&ReadTool, json!({"path": "b.txt", "offset": 4000}));
    assert_eq!(output.content, "Line 4000 is past the end: the file has 3000 lines.");
}

#[test]
fn reading_again_is_cheap_until_the_file_changes_or_the_memory_is_cleared() {
    let bench = ToolBench::new();
    bench.put("a", "one\n");
    let read = || bench.run(&ReadTool, json!({"path": "a"})).content;
    assert_eq!(read(), "     1\tone\n");
    assert_eq!(read(), "Unchanged since you last read it: lines 1-1 are in the conversation above.");
    bench.memory.forget_files();
    assert_eq!(read(), "     1\tone\n");
    // Same length, and perhaps the same time.
    bench.put("a", "two\n");
    assert_eq!(read(), "     1\ttwo\n");
}

#[test]
fn encodings_are_read_and_kept() {
    let bench = ToolBench::new();
    let little: Vec<u8> = "\u{feff}é\r\nb\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = "\u{feff}é\r\nb\r\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
    bench.put("le", &little);
    bench.put("be", &big);
    bench.put("mark", "\u{feff}é\r\nb\r\n");
    bench.put("latin", b"\xe9\r\nb and some more plain text\r\n");
    for (name, remark) in [
        ("le", "UTF-16 LE; CRLF line ends"),
        ("be", "UTF-16 BE; CRLF line ends"),
        ("mark", "CRLF line ends"),
        ("latin", "not UTF-8, read as Latin-1; CRLF line ends"),
    ] {
        let output = bench.run(&ReadTool, json!({"path": name}));
        assert!(output.content.starts_with("     1\té\n     2\tb"), "{}", output.content);
        assert!(output.content.ends_with(&format!("({remark})\n")), "{}", output.content);
        let edit = json!({"path": name, "old_string": "é\nb", "new_string": "è\nc\nd"});
        assert_eq!(bench.run(&EditTool, edit).outcome, Outcome::Ok, "{name}");
    }
    let text = "\u{feff}è\r\nc\r\nd\r\n";
    assert_eq!(bench.get("le"), text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>());
    assert_eq!(bench.get("be"), text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>());
    assert_eq!(bench.get("mark"), text.as_bytes());
    assert_eq!(bench.get("latin"), b"\xe8\r\nc\r\nd and some more plain text\r\n");
    let edit = json!({"path": "latin", "old_string": "d and", "new_string": "→"});
    assert_eq!(bench.run(&EditTool, edit).content, "latin is Latin-1, which has no '→'; use other characters.");
    bench.run(&WriteTool, json!({"path": "le", "content": "x\n"}));
    assert_eq!(bench.get("le"), b"\xff\xfex\0\r\0\n\0");
}

#[test]
fn what_is_no_text_is_said() {
    let bench = ToolBench::new();
    bench.put("program", b"\x7fELF\x02\x01\x01\0\0\0");
    bench.put("dot.png", b"\x89PNG\r\n\x1a\nrest");
    let broken = |megabytes: usize| [b"\x89PNG\r\n\x1a\n".to_vec(), vec![0; megabytes << 20]].concat();
    bench.put("big.png", broken(21));
    bench.put("broken.png", broken(6));
    bench.put("empty", "");
    let read = |name: &str| bench.run(&ReadTool, json!({"path": name}));
    assert_eq!(
        read("program").content,
        "program is a binary file (ELF program or library, 10 B); it is not shown."
    );
    let picture = read("dot.png");
    assert_eq!(picture.content, "A picture (image/png, 12 B).");
    assert_eq!(
        (picture.images[0].media_type.as_str(), picture.images[0].data.as_str()),
        ("image/png", "iVBORw0KGgpyZXN0")
    );
    assert!(read("big.png").content.contains("at most 20.0 MB"), "{}", read("big.png").content);
    assert_eq!(
        read("broken.png").content,
        "broken.png is a picture larger than models take, and cannot be scaled down."
    );
    assert_eq!(read("empty").content, "(The file is empty.)");
    assert_eq!(read(".").content, ". is a directory; use `list` to see what is in it.");
}

#[test]
fn pipes_sockets_and_devices_are_refused_without_waiting() {
    let bench = ToolBench::new();
    std::process::Command::new("mkfifo").arg(bench.path("pipe")).status().unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(bench.path("socket")).unwrap();
    symlink("/dev/zero", bench.path("zero")).unwrap();
    for (name, says) in [
        ("pipe", "pipe is a FIFO, not a regular file; it is not touched."),
        ("socket", "socket is a socket, not a regular file; it is not touched."),
        ("zero", "zero is a device, not a regular file; it is not touched."),
    ] {
        assert_eq!(bench.run(&ReadTool, json!({"path": name})).content, says);
        assert_eq!(bench.run(&GrepTool, json!({"path": name, "pattern": "x"})).content, says);
        let written = bench.run(&WriteTool, json!({"path": name, "content": "x"}));
        assert_eq!(written.outcome, Outcome::Failed, "{}", written.content);
        assert!(written.content.contains("not a regular file"), "{}", written.content);
    }
    assert_eq!(bench.run(&GrepTool, json!({"pattern": "x"})).content, "No matches.");
}

#[test]
fn writing_makes_directories_and_follows_links() {
    let bench = ToolBench::new();
    let output = bench.run(&WriteTool, json!({"path": "new/deep/a.txt", "content": "1\n2\n"}));
    assert_eq!(output.content, "Made new/deep/a.txt. (+2 -0)");
    assert_eq!(bench.get("new/deep/a.txt"), b"1\n2\n");
    symlink("new/deep/a.txt", bench.path("link")).unwrap();
    symlink("not/yet.txt", bench.path("dangling")).unwrap();
    std::fs::set_permissions(bench.path("new/deep/a.txt"), std::fs::Permissions::from_mode(0o750)).unwrap();
    // The model wrote it and knows it; no reading is needed.
    let output = bench.run(&WriteTool, json!({"path": "link", "content": "1\n"}));
    assert_eq!(output.content, "Wrote link. (+0 -1)");
    assert_eq!(bench.get("new/deep/a.txt"), b"1\n");
    assert!(bench.path("link").is_symlink());
    assert_eq!(bench.path("link").metadata().unwrap().permissions().mode() & 0o777, 0o750);
    bench.run(&WriteTool, json!({"path": "dangling", "content": "x"}));
    assert_eq!(bench.get("not/yet.txt"), b"x");
    assert!(bench.path("dangling").is_symlink());
}

#[test]
fn a_file_nobody_read_or_that_changed_is_not_written_over() {
    let bench = ToolBench::new();
    bench.put("a", "one\ntwo\n");
    let write = json!({"path": "a", "content": "new\n"});
    assert_eq!(bench.run(&WriteTool, write.clone()).content, "a exists and you have not read it. Read it first.");
    let edit = json!({"path": "a", "old_string": "one", "new_string": "1"});
    assert_eq!(bench.run(&EditTool, edit.clone()).content, "a exists and you have not read it. Read it first.");
    bench.run(&ReadTool, json!({"path": "a"}));
    bench.put("a", "one\n2\n");
    for (tool, input) in [(&WriteTool as &dyn axi::tool::Tool, write.clone()), (&EditTool, edit)] {
        let says = bench.run(tool, input).content;
        assert!(says.starts_with("a was changed since you last read it. Read it again, then repeat.\n"), "{says}");
        assert!(says.contains("-two\n+2"), "{says}");
    }
    assert_eq!(bench.get("a"), b"one\n2\n");
    bench.run(&ReadTool, json!({"path": "a"}));
    assert_eq!(bench.run(&WriteTool, write).outcome, Outcome::Ok);
    bench.put("empty", "");
    assert_eq!(bench.run(&WriteTool, json!({"path": "empty", "content": "x"})).outcome, Outcome::Ok);
}

#[test]
fn edits_come_all_or_none() {
    let bench = ToolBench::new();
    bench.put("a", "one\ntwo\nthree");
    bench.run(&ReadTool, json!({"path": "a"}));
    let edits = |last: &str| {
        json!({"path": "a", "edits": [
            {"old_string": "one", "new_string": "1"},
            {"old_string": "1\ntwo", "new_string": "1\n2"},
            {"old_string": last, "new_string": "3"}
        ]})
    };
    let says = bench.run(&MultiEditTool, edits("four")).content;
    assert!(says.starts_with("Edit 3 of 3: old_string is not in the file."), "{says}");
    assert_eq!(bench.get("a"), b"one\ntwo\nthree");
    assert_eq!(
        bench.check(&MultiEditTool, &edits("three")),
        Ok(Preview::Diff {
            path: bench.path("a"),
            old: Some("one\ntwo\nthree".to_owned()),
            new: Some("1\n2\n3".to_owned())
        })
    );
    let output = bench.run(&MultiEditTool, edits("three"));
    assert_eq!(output.content, "Edited a: 3 replacements from line 1, 1, 3. (+3 -3)");
    assert_eq!(bench.get("a"), b"1\n2\n3");
    assert!(bench.check(&MultiEditTool, &json!({"path": "a", "edits": []})).is_err());
}

#[test]
fn names_with_newlines_and_quotes_are_found_and_shown_on_one_line() {
    let bench = ToolBench::new();
    bench.put("a\nb\".txt", "needle\n");
    bench.put("sub/c.txt", "needle\n");
    let shown = "\"a\\nb\\\".txt\"";
    let found = bench.run(&GlobTool, json!({"pattern": "*.txt"})).content;
    let mut lines: Vec<&str> = found.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, [shown, "sub/c.txt"]);
    assert_eq!(bench.run(&ListTool, json!({})).content, format!("{shown}\nsub/\n  c.txt\n"));
    let found = bench.run(&GrepTool, json!({"pattern": "needle", "output": "files"})).content;
    assert_eq!(found, format!("{shown}\nsub/c.txt\n"));
    assert_eq!(bench.run(&ReadTool, json!({"path": "a\nb\".txt"})).outcome, Outcome::Ok);
}

#[test]
fn lists_honour_gitignore_and_show_links_and_loops_end() {
    let bench = ToolBench::new();
    bench.put(".git/HEAD", "");
    bench.put(".gitignore", "target\n");
    bench.put("target/x", "");
    bench.put("src/deep/deeper/x", "");
    symlink("..", bench.path("src/up")).unwrap();
    assert_eq!(bench.run(&ListTool, json!({})).content, ".gitignore\nsrc/\n  deep/\n  up -> ..\n");
    assert_eq!(bench.run(&ListTool, json!({"path": "src", "depth": 1})).content, "deep/\nup -> ..\n");
    assert_eq!(bench.run(&GlobTool, json!({"pattern": "**/x"})).content, "src/deep/deeper/x\n");
    assert_eq!(
        bench.run(&ListTool, json!({"path": ".gitignore"})).content,
        ".gitignore is not a directory; use `read`."
    );
}

#[test]
fn globs_come_newest_first_and_name_hidden_files_only_when_asked() {
    let bench = ToolBench::new();
    for (name, seconds) in [("old.rs", 10), ("new.rs", 30), ("sub/middle.rs", 20), (".hid/x.rs", 5)] {
        bench.put(name, "");
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        std::fs::File::options().write(true).open(bench.path(name)).unwrap().set_modified(time).unwrap();
    }
    let glob = |input: Value| bench.run(&GlobTool, input).content;
    assert_eq!(glob(json!({"pattern": "*.rs"})), "new.rs\nsub/middle.rs\nold.rs\n");
    assert_eq!(glob(json!({"pattern": "./sub/*.rs"})), "sub/middle.rs\n");
    assert_eq!(glob(json!({"pattern": "*.rs", "path": "sub"})), "sub/middle.rs\n");
    assert_eq!(glob(json!({"pattern": ".hid/*"})), ".hid/x.rs\n");
    assert_eq!(glob(json!({"pattern": format!("{}/s*/*.rs", bench.roots.cwd.display())})), "sub/middle.rs\n");
    assert!(glob(json!({"pattern": "{a"})).starts_with("glob: argument `pattern` is not a valid glob"));
    for number in 0..250 {
        bench.put(&format!("many/{number}"), "");
    }
    assert!(glob(json!({"pattern": "many/*"})).ends_with("(200 of 250 files, the newest; narrow the pattern)\n"));
}

#[test]
fn grep_shows_lines_context_counts_and_files() {
    let bench = ToolBench::new();
    bench.put("a.rs", "fn one() {}\n\nfn two() {}\nlast\n");
    bench.put("b.txt", "FN three\n");
    bench.put("bin", b"fn x\0y\n");
    let grep = |input: Value| bench.run(&GrepTool, input).content;
    assert_eq!(grep(json!({"pattern": r"fn \w+", "glob": "*.rs"})), "a.rs\n1:fn one() {}\n3:fn two() {}\n");
    assert_eq!(grep(json!({"pattern": "two", "context": 1})), "a.rs\n2-\n3:fn two() {}\n4-last\n");
    assert_eq!(grep(json!({"pattern": "fn", "ignore_case": true, "output": "files"})), "a.rs\nb.txt\n");
    assert_eq!(grep(json!({"pattern": "fn", "output": "count"})), "a.rs:2\n");
    assert_eq!(grep(json!({"pattern": "o() {", "literal": true})), "a.rs\n3:fn two() {}\n");
    assert_eq!(grep(json!({"pattern": "fn", "path": "bin"})), "bin\n(binary file matches)\n");
    assert_eq!(grep(json!({"pattern": "nothing here"})), "No matches.");
    assert!(grep(json!({"pattern": "("})).starts_with("grep: argument `pattern` is not valid"));
    let cut = grep(json!({"pattern": "fn", "limit": 1}));
    assert!(cut.contains("1:fn one() {}\n\n(cut; 2 matching lines in 1 files in all"), "{cut}");
}

#[test]
fn a_cancelled_turn_stops_every_tool() {
    let bench = ToolBench::new();
    bench.put("a", "x\n");
    bench.cancel.cancel();
    for tool in table::standard(None, None) {
        let input = match tool.spec().name.as_str() {
            "glob" | "grep" => json!({"pattern": "x"}),
            "list" => json!({}),
            "shell" => json!({"command": "sleep 308.5"}),
            "ask_user" => json!({"question": "x"}),
            "write" => json!({"path": "a", "content": "y"}),
            "edit" => json!({"path": "a", "old_string": "x", "new_string": "y"}),
            "apply_patch" => json!({"patch": "*** Begin Patch\n*** Delete File: a\n*** End Patch"}),
            "move" => json!({"from": "a", "to": "b"}),
            "todo" | "shell_job" | "terminal" => continue,
            "web_fetch" => json!({"url": "http://127.0.0.1:9/"}),
            "multi_edit" => json!({"path": "a", "edits": [{"old_string": "x", "new_string": "y"}]}),
            _ => json!({"path": "a"}),
        };
        assert_eq!(bench.run(tool.as_ref(), input).outcome, Outcome::Interrupted, "{}", tool.spec().name);
    }
    assert_eq!(bench.get("a"), b"x\n");
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]
    #[test]
    fn no_input_makes_a_tool_panic(
        values in proptest::collection::vec(proptest::prelude::prop_oneof![
            proptest::prelude::Just(Value::Null),
            proptest::prelude::any::<bool>().prop_map(Value::from),
            proptest::prelude::any::<i64>().prop_map(Value::from),
            proptest::prelude::any::<f64>().prop_map(Value::from),
            "[a~./*{\\[\n\0\"]{0,6}".prop_map(Value::from),
            "\\PC{0,20}".prop_map(Value::from),
            proptest::prelude::Just(json!([{"old_string": "a", "new_string": 1}])),
        ], 8),
    ) {
        let bench = ToolBench::new();
        bench.put("a", "a\n");
        for tool in table::standard(None, None) {
            let spec = tool.spec();
            let names = spec.input_schema["properties"].as_object().unwrap().keys();
            let input = Value::Object(names.cloned().zip(values.iter().cloned()).collect());
            let _ = tool.read(&input, &bench.roots).effect();
            let subject = followed(&tool.read(&input, &bench.roots).subject());
            let preview = bench.check(tool.as_ref(), &input);
            // Run what only looks, and what looks only at the workspace.
            let within = matches!(subject, Subject::Paths { paths } if paths.iter().all(|path| path.starts_with(&bench.roots.cwd)));
            if !["shell", "terminal"].contains(&spec.name.as_str()) && (preview.is_err() || within) {
                let _ = bench.run(tool.as_ref(), input);
            }
        }
    }
}

/// Run alone for the figure: `cargo test --test it gigabyte_file -- --ignored --nocapture`.
#[test]
#[ignore = "writes a gigabyte, and its memory can only be measured alone in its process"]
fn a_gigabyte_file_is_read_in_pieces_in_bounded_memory() {
    let bench = ToolBench::new();
    let file = std::fs::File::create(bench.path("big")).unwrap();
    let mut file = std::io::BufWriter::new(file);
    for number in 0..(1 << 26) {
        std::io::Write::write_all(&mut file, format!("{number:015}\n").as_bytes()).unwrap();
    }
    std::io::Write::flush(&mut file).unwrap();
    let first = bench.run(&ReadTool, json!({"path": "big", "limit": 2})).content;
    assert!(first.ends_with("(lines 1-2 of a file of 1.0 GB; go on with offset 3)\n"), "{first}");
    let last = bench.run(&ReadTool, json!({"path": "big", "offset": (1 << 26)})).content;
    assert_eq!(last, "67108864\t000000067108863\n");
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    let kilobytes: u64 = peak.split_ascii_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(kilobytes < 64 * 1024, "{peak}");
}
