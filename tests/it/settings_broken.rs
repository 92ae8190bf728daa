//! Settings that cannot be read, and a working directory that is gone: what needs neither goes on, the rest says what to
//! do, and what it says works.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use crate::support::home::Home;
use crate::support::talk::{Ran, run};

fn broken(content: &[u8]) -> Home {
    let home = Home::new();
    home.write("config/axi/config.toml", "");
    std::fs::write(home.path().join("config/axi/config.toml"), content).unwrap();
    home
}

fn ask(home: &Home, arguments: &[&str]) -> Ran {
    run(home.axi().args(arguments))
}

/// A shell that starts axi in a directory that it has removed.
fn gone(home: &Home, arguments: &str) -> Ran {
    let script =
        format!("mkdir gone && cd gone && rmdir ../gone && exec {} {arguments}", env!("CARGO_BIN_EXE_axi"));
    let mut shell: Command = home.command("/bin/sh");
    run(shell.args(["-c", &script]))
}

#[test]
fn what_needs_no_settings_runs_though_they_are_broken() {
    let home = broken(b"model = [broken\n");
    home.write("work/text.md", "plain words\n");
    for (arguments, told) in [
        (&["render", "text.md"][..], true),
        (&["sessions", "list"], true),
        (&["tools"], true),
        (&["completions", "bash"], false),
        (&["man"], false),
        (&["config", "show"], false),
        (&["config", "path"], false),
        (&["doctor"], false),
    ] {
        let ran = ask(&home, arguments);
        assert_eq!(ran.code, Some(0), "{arguments:?}: {ran:?}");
        assert_eq!(ran.err.contains("config.toml cannot be used"), told, "{arguments:?}: {ran:?}");
    }
    assert_eq!(ask(&home, &["render", "text.md"]).out, "plain words\n");
    assert_eq!(ask(&home, &["config", "show"]).out, "model = [broken\n");
    let doctor = ask(&home, &["doctor"]);
    assert!(
        doctor.out.contains("config.toml cannot be used") && doctor.out.contains("axi config edit"),
        "{doctor:?}"
    );
    for arguments in [&["-p", "hi"][..], &["models"]] {
        let ran = ask(&home, arguments);
        assert_eq!(ran.code, Some(3), "{arguments:?}: {ran:?}");
        assert!(ran.err.contains("axi config edit"), "{ran:?}");
    }
}

#[test]
fn broken_settings_are_mended_by_what_the_error_names() {
    let home = broken(b"model = [broken\n");
    let editor = home.write("bin/mend", "#!/bin/sh\nprintf 'model = \"lab/one\"\\n' >\"$1\"\n");
    std::fs::set_permissions(&editor, std::fs::Permissions::from_mode(0o755)).unwrap();
    let ran = run(home.axi().env("EDITOR", &editor).args(["config", "edit"]));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ask(&home, &["doctor"]).out.contains("lab/one"));
}

#[test]
fn without_an_editor_named_one_that_is_here_is_taken() {
    let home = broken(b"");
    let edits = |path: &str| run(home.axi().env("PATH", path).args(["config", "edit"]));
    let none = edits("/nonexistent");
    assert_eq!(none.code, Some(1), "{none:?}");
    assert!(none.err.contains("export EDITOR="), "{none:?}");
    let nano = home.write("bin/nano", "#!/bin/sh\necho 'model = \"lab/one\"' >\"$1\"\n");
    std::fs::set_permissions(&nano, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(edits(nano.parent().unwrap().to_str().unwrap()).code, Some(0));
    assert!(ask(&home, &["doctor"]).out.contains("lab/one"));
}

#[test]
fn a_settings_file_that_is_no_text_gets_a_hint_of_its_own() {
    let bytes = broken(b"model = \"\xff\"\n");
    let ran = ask(&bytes, &["-p", "hi"]);
    assert_eq!(ran.code, Some(3));
    assert!(ran.err.contains("UTF-8 text"), "{ran:?}");
    let folder = Home::new();
    std::fs::create_dir_all(folder.path().join("config/axi/config.toml")).unwrap();
    let ran = ask(&folder, &["-p", "hi"]);
    assert_eq!(ran.code, Some(3));
    assert!(ran.err.contains("move the directory"), "{ran:?}");
    assert_eq!(ask(&folder, &["config", "show"]).code, Some(1));
}

#[test]
fn settings_that_are_not_there_are_shown_as_that() {
    let ran = ask(&Home::new(), &["config", "show"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""));
    assert!(ran.err.contains("no settings yet") && ran.err.contains("config.toml"), "{ran:?}");
}

#[test]
fn a_removed_working_directory_stops_only_what_works_in_it() {
    let home = Home::new();
    let text = home.write("text.md", "plain words\n");
    let rendered = gone(&home, &format!("render '{}'", text.display()));
    assert_eq!((rendered.code, rendered.out.as_str()), (Some(0), "plain words\n"), "{rendered:?}");
    for arguments in ["sessions list", "doctor", "config path", "man"] {
        let ran = gone(&home, arguments);
        assert_eq!(ran.code, Some(0), "{arguments}: {ran:?}");
    }
    let ran = gone(&home, "-p hi");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.err.contains("cannot work in") && ran.err.contains("work/gone"), "{ran:?}");
    assert!(ran.err.contains("\nhint: ") && ran.err.contains("--cwd DIR"), "{ran:?}");
}
