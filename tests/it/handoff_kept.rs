//! The line that README recommends: a start-up file reads a file that axi keeps, and no process is started for it.

use crate::support::home::Home;
use crate::support::server::{Server, answer};
use crate::support::shells::ROWS;
use crate::support::skip::has;
use crate::support::talk::run;

/// The line for a shell, as `axi init --keep` and people would have it, with the state where the tests have it.
fn line(shell: &str) -> String {
    let install = axi::shell::find(shell).unwrap().install;
    format!("{}\n", install.replace("~/.local/state", "$XDG_STATE_HOME"))
}

#[test]
fn the_first_shell_makes_the_file_and_the_next_reads_it() {
    for row in &ROWS {
        let server = Server::start(["Two.", "Three."].map(answer::chat_text));
        // The same home twice: what the first shell keeps is all that the second has, axi's name is a trap there.
        let load = line(row.shell);
        let Some(mut person) = row.start(&server, "", Some(&load), false) else { continue };
        person.hands_over("what is 1+1?");
        person.sees("Two.");
        let kept = person.home.path().join(format!("state/axi/hook.{}", row.shell));
        let text = std::fs::read_to_string(&kept).unwrap();
        let old = format!("{}\n# of an older axi\n", text.lines().next().unwrap());
        let prepare = |home: &std::path::Path| {
            std::fs::create_dir_all(home.join("state/axi")).unwrap();
            std::fs::write(home.join(format!("state/axi/hook.{}", row.shell)), &text).unwrap();
        };
        let watched = format!("{}{}", counting(row.shell), line(row.shell));
        let mut person = row.start_prepared(&server, &watched, &prepare).unwrap();
        person.enters("echo \"=$STARTED=\"");
        person.sees("==");
        person.sees_line("");
        person.hands_over("what is 1+2?");
        person.sees("Three.");
        // What an older axi left is renewed with the first key.
        std::fs::write(person.home.path().join(format!("state/axi/hook.{}", row.shell)), &old).unwrap();
        let ran = run(person.home.axi().args(["init", row.shell, "--keys", axi::shell::HOOK_VERSION]));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let renewed = std::fs::read_to_string(person.home.path().join(format!("state/axi/hook.{}", row.shell)));
        assert!(renewed.unwrap().len() > old.len());
    }
}

/// Has the shell say in `STARTED` that axi is run while it starts.
fn counting(shell: &str) -> String {
    match shell {
        "fish" => "set -g STARTED\nfunction axi; set -g STARTED yes; command axi $argv; end\n".to_owned(),
        _ => "STARTED=\naxi() { STARTED=yes; command axi \"$@\"; }\n".to_owned(),
    }
}

#[test]
fn where_there_is_no_axi_the_line_says_and_does_nothing() {
    for shell in ["zsh", "bash", "fish"].into_iter().filter(|shell| has(shell)) {
        let home = Home::new();
        let ran =
            run(home.command(shell).env("PATH", "/usr/bin:/bin").args(["-c", &format!("{}echo on", line(shell))]));
        assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "on\n", ""), "{shell}");
    }
}

#[test]
fn readme_and_docs_recommend_the_lines_that_the_table_has() {
    let readme = include_str!("../../README.md").replace("\\|", "|");
    let more = include_str!("../../docs/shell.md").replace("\\|", "|");
    for shell in axi::shell::SHELLS {
        assert!(more.contains(&format!("| `{}` |", shell.install)), "{}", shell.install);
        assert!(!shell.is_read || readme.contains(&format!("| `{}` |", shell.install)), "{}", shell.install);
    }
}
