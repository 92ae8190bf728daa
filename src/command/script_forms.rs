//! The forms in which commands are written: for bash, make, just and task.

use std::fmt::Write as _;

pub(super) fn shell(head: &str, begin: &str, bodies: &[(String, String)]) -> String {
    let mut script = format!(
        "#!/usr/bin/env bash\n{head}# `sh` is another shell on some systems.\n[ -n \"${{BASH_VERSION-}}\" ] || exec bash \"$0\" \"$@\"\nset -euo pipefail\n\n{begin}"
    );
    for (said, body) in bodies {
        let _ = write!(script, "\n{}{body}\n", comment(said));
    }
    script
}

/// Stops a make older than 3.82: it would run each line in a shell of its own, in the wrong directory.
pub(super) fn need_of_make(words: &str) -> String {
    format!("ifeq (,$(filter oneshell,$(.FEATURES)))\n$(error {words})\nendif\n")
}

pub(super) fn makefile(head: &str, begin: &str, bodies: &[(String, String)]) -> String {
    let names: Vec<String> = (1..=bodies.len()).map(|number| format!("step-{number}")).collect();
    let mut script = format!(
        "{head}SHELL := bash\n.SHELLFLAGS := -euo pipefail -c\n.ONESHELL:\n.PHONY: all {}\n\nall: {}\n",
        names.join(" "),
        names.join(" ")
    );
    for (number, (said, body)) in bodies.iter().enumerate() {
        let before = number.checked_sub(1).map(|before| format!(" {}", names[before])).unwrap_or_default();
        let _ = write!(script, "\n{}{}:{before}\n", comment(said), names[number]);
        for line in begin.lines().chain(body.lines()) {
            let _ = writeln!(script, "\t{}", line.replace('$', "$$"));
        }
    }
    script
}

pub(super) fn justfile(head: &str, begin: &str, bodies: &[(String, String)]) -> String {
    let names: Vec<String> = (1..=bodies.len()).map(|number| format!("step-{number}")).collect();
    let mut script = format!("{head}\nall: {}\n", names.join(" "));
    for (number, (said, body)) in bodies.iter().enumerate() {
        let _ = write!(
            script,
            "\n{}{}:\n    #!/usr/bin/env bash\n    set -euo pipefail\n",
            comment(said),
            names[number]
        );
        for line in begin.lines().chain(body.lines()) {
            let _ = writeln!(script, "    {}", line.replace("{{", "{{{{"));
        }
    }
    script
}

/// task's own shell is not bash: it hands each step to one.
pub(super) fn taskfile(head: &str, begin: &str, bodies: &[(String, String)]) -> String {
    let remark =
        |text: &str| text.chars().filter(|character| *character == '\n' || is_plain_yaml(*character)).collect();
    let head: String = remark(head);
    let mut script = format!("{head}version: '3'\n\ntasks:\n  default:\n    cmds:\n");
    for number in 1..=bodies.len() {
        let _ = writeln!(script, "      - task: step-{number}");
    }
    for (number, (said, body)) in bodies.iter().enumerate() {
        let body = format!("{begin}{body}").replace('\'', r"'\''");
        // Two braces begin an expression of task.
        let line = format!("bash -euo pipefail -c '{body}'").replace("{{", "{{\"{{\"}}");
        let (said, line): (String, String) = (remark(&comment(said)), scalar(&line));
        let _ = write!(script, "\n  {said}  step-{}:\n    cmds:\n      - {line}\n", number + 1);
    }
    script
}

/// Writes a text of YAML: as it is where every character stands for itself, else quoted (YAML 1.2, chapters 5 and 8).
fn scalar(text: &str) -> String {
    if text.chars().all(|character| character == '\n' || is_plain_yaml(character)) {
        return text.lines().fold("|-".to_owned(), |mut all, row| {
            all.push('\n');
            if !row.is_empty() {
                all.push_str("        ");
                all.push_str(row);
            }
            all
        });
    }
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            plain if is_plain_yaml(plain) => quoted.push(plain),
            other => drop(write!(quoted, "\\U{:08X}", u32::from(other))),
        }
    }
    quoted.push('"');
    quoted
}

/// Whether a character neither ends a row of YAML nor is forbidden there.
const fn is_plain_yaml(character: char) -> bool {
    !matches!(character, '\0'..='\u{8}' | '\n'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// A line that no shell runs and that make does not join with another line.
pub(super) fn comment(text: &str) -> String {
    let text: String = text.chars().filter(|character| !character.is_control()).collect();
    format!("# {}\n", text.trim_end_matches('\\'))
}
