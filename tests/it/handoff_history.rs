//! The agent's commands of a hand-off join the shell's history, or atuin's, where the settings ask for that, by the
//! rules that hold for the person's own lines; else they join none.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::support::pty::PATIENCE;
use crate::support::server::{Server, answer};
use crate::support::shells::{ROWS, Row};

/// Runs three commands in a hand-off, leaves the shell, and returns its history's file.
fn file(row: &Row, options: &str, setting: &str, prepare: &dyn Fn(&Path)) -> Option<String> {
    let server = Server::start([]);
    let before = match row.name() {
        "fish" => "function fish_prompt; echo '@@ '; end\nfunction fish_greeting; end\n",
        _ => "PS1='@@ '\nHISTFILE=~/.history HISTSIZE=50 SAVEHIST=50\n",
    };
    let load = format!("{before}{options}{}", row.load);
    let setting = format!("[permissions]\nallow = [\"shell\"]\n[history]\nagent_commands = \"{setting}\"\n");
    let mut person = row.start_prepared(&server, &load, &|home| {
        let config = home.join("config/axi");
        std::fs::create_dir_all(&config).unwrap();
        std::fs::write(config.join("config.toml"), &setting).unwrap();
        prepare(home);
    })?;
    for command in ["true one", "ls \"nothing here\"", "true one"] {
        let input = serde_json::json!({ "command": command }).to_string();
        server.push(answer::chat_call("call_1", "shell", &input));
    }
    server.push(answer::chat_text("Done it."));
    person.hands_over("go 'on'");
    person.sees("Done it.");
    person.sees_line("");
    person.types("exit\r");
    person.pty.wait_exit();
    let home = person.home.path();
    let places = [".history", "data/fish/fish_history", ".local/share/fish/fish_history"];
    let found = places.iter().find_map(|place| std::fs::read_to_string(home.join(place)).ok()).unwrap_or_default();
    let told = || std::fs::read_to_string(home.join("atuin.told")).unwrap_or_default();
    let begun = std::time::Instant::now();
    // Nobody waits for the end of an entry but this.
    while setting.contains("atuin") && told().matches("<end>").count() < 3 && begun.elapsed() < PATIENCE {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let told = told();
    Some(format!("{found}{told}"))
}

/// Times as `T`.
fn timeless(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        if letter.is_ascii_digit() {
            if !out.ends_with('T') {
                out.push('T');
            }
        } else {
            out.push(letter);
        }
    }
    out
}

#[test]
fn by_default_they_join_none() {
    for row in &ROWS {
        let Some(found) = file(row, "", "off", &|_| {}) else { continue };
        assert!(!found.contains("nothing here") && found.contains("go 'on'"), "{}: {found}", row.name());
    }
}

#[test]
fn zsh_has_them_by_its_own_options() {
    let row = &ROWS[0];
    let Some(plain) = file(row, "", "shell", &|_| {}) else { return };
    assert_eq!(plain, "go 'on'\ntrue one\nls \"nothing here\"\ntrue one\nexit\n");
    let extended = file(row, "setopt extended_history hist_ignore_all_dups\n", "shell", &|_| {}).unwrap();
    assert_eq!(timeless(&extended), ": T:T;go 'on'\n: T:T;ls \"nothing here\"\n: T:T;true one\n: T:T;exit\n");
    let own = "setopt inc_append_history\nzshaddhistory() { [[ $1 != true* ]] }\n";
    assert_eq!(file(row, own, "shell", &|_| {}).unwrap(), "go 'on'\nls \"nothing here\"\nexit\n");
    let ignored = file(row, "HISTORY_IGNORE='(ls *|exit)'\n", "shell", &|_| {}).unwrap();
    assert_eq!(ignored, "go 'on'\ntrue one\ntrue one\n");
}

#[test]
fn bash_has_them_by_its_own_options() {
    let row = &ROWS[1];
    let Some(plain) = file(row, "", "shell", &|_| {}) else { return };
    assert_eq!(plain, "go 'on'\ntrue one\nls \"nothing here\"\ntrue one\nexit\n");
    let timed = file(row, "HISTTIMEFORMAT=%s\nHISTCONTROL=erasedups\n", "shell", &|_| {}).unwrap();
    assert_eq!(timeless(&timed), "#T\ngo 'on'\n#T\nls \"nothing here\"\n#T\ntrue one\n#T\nexit\n");
    let ignored = file(row, "HISTIGNORE='true*:exit'\n", "shell", &|_| {}).unwrap();
    assert_eq!(ignored, "go 'on'\nls \"nothing here\"\n");
}

#[test]
fn fish_has_them_and_in_private_mode_none() {
    let row = &ROWS[2];
    let Some(found) = file(row, "", "shell", &|_| {}) else { return };
    let mut commands: Vec<&str> = found.lines().filter_map(|line| line.strip_prefix("- cmd: ")).collect();
    commands.sort_unstable();
    // Before 4, fish drops the older of equal lines when it next tidies the file.
    commands.dedup();
    assert_eq!(commands, ["exit", "go 'on'", "ls \"nothing here\"", "true one"], "{found}");
    assert!(found.lines().all(|line| line.starts_with("- cmd: ") || timeless(line) == "  when: T"), "{found}");
    let private = file(row, "set -g fish_private_mode 1\n", "shell", &|_| {}).unwrap();
    assert!(!private.contains("true one"), "{private}");
}

#[test]
fn atuin_is_told_with_author_intent_exit_code_and_time() {
    let told = |knows_kinds: bool| {
        move |home: &Path| {
            let refuses = if knows_kinds { "" } else { "case $* in *author-kind*) exit 2 ;; esac\n" };
            let script = format!(
                "#!/bin/sh\n{refuses}for word; do printf '<%s>' \"$word\"; done >>\"$HOME/atuin.told\"\n\
                 echo >>\"$HOME/atuin.told\"\n[ \"$2\" = start ] && echo id-7\n"
            );
            std::fs::write(home.join("bin/atuin"), script).unwrap();
            let mode = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(home.join("bin/atuin"), mode).unwrap();
        }
    };
    for (knows_kinds, kind) in [(true, "<--author-kind><agent>"), (false, "")] {
        let Some(found) = file(&ROWS[1], "", "atuin", &told(knows_kinds)) else { return };
        let (history, told) = found.split_at(found.find("<history>").unwrap());
        assert_eq!(history, "go 'on'\nexit\n");
        // Those that end may come late.
        let starts: Vec<&str> = told.lines().filter(|line| line.starts_with("<history><start>")).collect();
        let start = |line: &str| format!("<history><start><--author><axi>{kind}<--intent><go 'on'><--><{line}>");
        assert_eq!(starts, [start("true one"), start("ls \"nothing here\""), start("true one")]);
        let end = told.lines().find(|line| line.starts_with("<history><end><--exit><0><--duration><"));
        assert!(end.is_some_and(|line| line.ends_with("000><--><id-7>")), "{told}");
    }
}
