use std::process::Command;

use super::*;

/// A snapshot as a hook writes it.
fn records(all: &[(&str, &str, &str)]) -> Vec<u8> {
    all.iter().flat_map(|(kind, name, text)| format!("{kind}\0{name}\0{text}\0").into_bytes()).collect()
}

fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok_and(|ran| ran.status.success());
    if !found {
        crate::skip::skip(format_args!("{program} is not installed"));
    }
    found
}

/// What a line prints in a bash that has read the script.
fn printed(found: &Found, line: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("env");
    let report = folder.path().join("told");
    std::fs::write(&file, format!("__axi_report='{}'\n{}", report.display(), found.script)).unwrap();
    let ran = Command::new("bash")
        .args(["-c", line])
        .env("BASH_ENV", &file)
        .env("GONE", "1")
        .current_dir(folder.path())
        .output()
        .unwrap();
    let left: Vec<_> = folder.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| name == "env" || name == "sub"), "{left:?}");
    String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr)
}

#[test]
fn bash_gives_aliases_functions_and_options() {
    let greet = "greet () \n{ \n    echo \"hi $1 $(_name)\"\n}";
    let found = found(
        "bash",
        &records(&[
            ("o", "braceexpand:emacs:history:pipefail:globstar:expand_aliases", ""),
            ("a", "gg", "echo 'ali\"ased'"),
            ("a", "rm", "rm -i"),
            ("a", "ls", "ls -i"),
            ("a", "bad;name", "x"),
            ("f", "greet", greet),
            ("f", "_name", "_name () \n{ \n    echo me\n}"),
            ("f", "_unneeded", "_unneeded () \n{ \n    :\n}"),
            ("f", "broken", "broken ( {"),
            ("f", "printf", "printf () \n{ \n    :\n}"),
        ]),
    );
    let line = "gg; greet you; false | true; echo $?; shopt globstar; type -t rm ls _unneeded broken; printf x";
    assert_eq!(printed(&found, line), "ali\"ased\nhi you me\n1\nglobstar       \ton\nfile\nalias\nx");
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(found.aliases.keys().cloned().collect::<Vec<_>>(), names(&["gg", "ls"]));
    assert_eq!(found.functions.keys().cloned().collect::<Vec<_>>(), names(&["_name", "broken", "greet"]));
    assert_eq!(found.functions["greet"], greet);
}

#[test]
fn a_function_of_zsh_runs_there_and_what_it_did_is_done_here() {
    if !has("zsh") {
        return;
    }
    let found = found(
        "zsh",
        &records(&[
            ("o", "extendedglob pipefail aliases", ""),
            ("p", "/nowhere", ""),
            ("a", "ll", "echo -l"),
            ("a", "odd", "echo *(/)"),
            (
                "f",
                "go",
                "go () {\n\tlocal a=(one two)\n\techo ${a[1]:u} $(_helper) $#\n\tcd sub 2>/dev/null\n\texport GO=\"it's\"\n\tunset GONE\n\treturn 3\n}",
            ),
            ("f", "_helper", "_helper () {\n\t[[ x1 == x<-> ]] && echo zsh\n}"),
        ]),
    );
    let line = "mkdir sub; ll; go 'a b'; echo $? \"$GO\" ${GONE-gone} ${PWD##*/}; type -t odd; false | true; echo $?; [[ -o pipefail ]] && echo on; echo \"$(go)\" ${PWD##*/}";
    assert_eq!(printed(&found, line), "-l\nONE zsh 1\n3 it's gone sub\n1\non\nONE zsh 0 sub\n");
    assert_eq!(found.foreign.iter().collect::<Vec<_>>(), ["go"]);
}

#[test]
fn a_function_of_fish_runs_there_and_its_aliases_are_aliases() {
    if !has("fish") {
        return;
    }
    let found = found(
        "fish",
        &records(&[
            (
                "f",
                "gs",
                "# Defined in - @ line 1\nfunction gs --wraps='echo status' --description 'alias gs echo status'\n  echo status $argv\n        \nend\n",
            ),
            (
                "f",
                "go",
                "function go\n    set -l a one two\n    echo (string upper $a[1]) (count $argv)\n    cd sub\n    set -gx GO 'it\\'s'\n    set -e GONE\n    return 3\nend\n",
            ),
        ]),
    );
    let line =
        "mkdir sub; gs now; go 'a b' c; echo $? \"$GO\" ${GONE-gone} ${PWD##*/}; [[ $PATH == *:* ]] && echo path";
    assert_eq!(printed(&found, line), "status now\nONE 2\n3 it's gone sub\npath\n");
    assert_eq!(found.aliases["gs"], "echo status");
    assert_eq!(found.foreign.iter().collect::<Vec<_>>(), ["go"]);
}

#[test]
fn what_is_not_whole_is_left_out() {
    assert_eq!(found("bash", b""), Found::default());
    assert_eq!(found("tcsh", &records(&[("a", "ll", "ls")])), Found::default());
    assert_eq!(found("bash", b"a\0ll"), Found::default());
    let many: Vec<(String, String)> = (0..200)
        .map(|number| (format!("f{number}"), format!("f{number} ()\n{{ {} ; }}", "x".repeat(4000))))
        .collect();
    let many: Vec<(&str, &str, &str)> =
        many.iter().map(|(name, text)| ("f", name.as_str(), text.as_str())).collect();
    assert_eq!(found("bash", &records(&many)), Found::default());
}
