//! The agent's commands of a hand-off join the shell's history, or atuin's, where the settings ask for that, by the
//! rules that hold for the person's own lines; else they join none.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::support::home::Home;
use crate::support::pty::PATIENCE;
use crate::support::server::{Server, answer};
use crate::support::shells::{AtPrompt, ROWS, Row};

/// What the person asks, and what the agent runs then.
const ASKED: &str = "go 'on'";
const RUN: [&str; 3] = ["true one", "ls \"nothing here\"", "true one"];

/// As `RUN`, with what options of histories are about: blanks in front and within, equal lines, the history itself.
const MORE: [&str; 8] = [
    "true one",
    "true one",
    " true hidden",
    "true   wide  \"a  b\"",
    "history 1",
    "ls \"nothing here\"",
    "true one",
    "echo '!!' # not",
];

fn start(row: &Row, server: &Server, options: &str, setting: &str, prepare: &dyn Fn(&Path)) -> Option<AtPrompt> {
    let before = match row.name() {
        "fish" => "function fish_prompt; echo '@@ '; end\nfunction fish_greeting; end\n",
        _ => "PS1='@@ '\nHISTFILE=~/.history HISTSIZE=50 SAVEHIST=50\n",
    };
    let load = format!("{before}{options}{}", row.load);
    let setting = format!("[permissions]\nallow = [\"shell\"]\n[history]\nagent_commands = \"{setting}\"\n");
    row.start_prepared(server, &load, &|home| {
        let config = home.join("config/axi");
        std::fs::create_dir_all(&config).unwrap();
        std::fs::write(config.join("config.toml"), &setting).unwrap();
        prepare(home);
    })
}

/// Leaves the shell, and returns its history's file.
fn left(mut person: AtPrompt) -> (String, Home) {
    person.types("exit\r");
    person.pty.wait_exit();
    let home = person.home.path();
    let folders = ["data/fish", ".local/share/fish"].map(|folder| std::fs::read_dir(home.join(folder)));
    let fish = folders
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.to_string_lossy().ends_with("_history"));
    let places = std::iter::once(home.join(".history")).chain(fish);
    let found: String = places.filter_map(|place| std::fs::read_to_string(place).ok()).collect();
    (found, person.take_home())
}

/// Runs commands in a hand-off, leaves the shell, and returns its history's file and what atuin was told.
fn file(row: &Row, options: &str, setting: &str, prepare: &dyn Fn(&Path)) -> Option<String> {
    file_of(row, options, setting, &RUN, prepare)
}

fn file_of(row: &Row, options: &str, setting: &str, commands: &[&str], prepare: &dyn Fn(&Path)) -> Option<String> {
    let server = Server::start([]);
    let mut person = start(row, &server, options, setting, prepare)?;
    for command in commands {
        let input = serde_json::json!({ "command": command }).to_string();
        server.push(answer::chat_call("call_1", "shell", &input));
    }
    server.push(answer::chat_text("Done it."));
    person.hands_over(ASKED);
    person.sees("Done it.");
    person.sees_line("");
    let (found, home) = left(person);
    let told = || std::fs::read_to_string(home.path().join("atuin.told")).unwrap_or_default();
    let begun = std::time::Instant::now();
    // Nobody waits for the end of an entry but this.
    while setting.contains("atuin") && told().matches("<end>").count() < 3 && begun.elapsed() < PATIENCE {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let told = told();
    Some(format!("{found}{told}"))
}

/// Types the same lines at the prompt.
fn typed(row: &Row, options: &str) -> Option<String> {
    let server = Server::start([]);
    let mut person = start(row, &server, options, "off", &|_| {})?;
    for line in std::iter::once(&ASKED).chain(&MORE) {
        person.types("\x0c");
        person.waits(|view| view.text().trim_end() == "@@", "an empty screen");
        person.enters(line);
        person.sees_line("");
    }
    Some(left(person).0)
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
fn none_that_had_a_secret_joins_them_with_it_or_without() {
    let commands =
        ["true one", "true AXI-HIDDEN-0123456789", "true --password=Xk29fjq81mmz", "true [redacted] two"];
    for row in &ROWS {
        let Some(found) = file_of(row, "", "shell", &commands, &|_| {}) else { continue };
        assert!(found.contains("true one") && found.matches("true ").count() == 1, "{}: {found}", row.name());
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

/// Options under which the agent's commands stand in the file as if the person had typed them, to the byte but for times.
const OPTIONS: [(&str, &[&str]); 3] = [
    (
        "zsh",
        &[
            "",
            "setopt hist_ignore_space",
            "setopt hist_ignore_dups",
            "setopt hist_ignore_all_dups",
            "setopt hist_save_no_dups",
            "setopt hist_reduce_blanks",
            "setopt hist_no_store",
            "setopt extended_history",
            "setopt share_history hist_ignore_space",
            "setopt inc_append_history_time",
            "setopt hist_ignore_space hist_ignore_dups hist_reduce_blanks extended_history",
            "HISTORY_IGNORE='(ls *|true*)'",
            "zshaddhistory() { [[ $1 != true* ]] }",
            "SAVEHIST=3",
            "unset HISTFILE",
        ],
    ),
    (
        "bash",
        &[
            "",
            "HISTCONTROL=ignorespace",
            "HISTCONTROL=ignoredups",
            "HISTCONTROL=ignoreboth",
            "HISTCONTROL=erasedups",
            "HISTIGNORE='true*:exit'",
            "HISTIGNORE='&:history*'",
            "HISTIGNORE='[ ]*'",
            "HISTTIMEFORMAT=%s",
            "HISTSIZE=3",
            "HISTFILESIZE=2",
            "set +o history",
            "unset HISTFILE",
        ],
    ),
    ("fish", &["", "set -g fish_private_mode 1", "set -g fish_history other", "set -g fish_history ''"]),
];

#[test]
fn a_command_of_the_agent_stands_in_the_file_as_if_it_had_been_typed() {
    for (shell, options) in OPTIONS {
        let row = ROWS.iter().find(|row| row.name() == shell).unwrap();
        for option in options {
            let option = format!("{option}\n");
            let Some(typed) = typed(row, &option) else { break };
            let agents = file_of(row, &option, "shell", &MORE, &|_| {}).unwrap();
            let lines = |text: &str| timeless(text).lines().map(str::to_owned).collect::<Vec<_>>();
            let (mut typed, mut agents) = (lines(&typed), lines(&agents));
            if shell == "fish" {
                // fish orders what was added in one second as it likes, and keeps one of equal lines.
                for lines in [&mut typed, &mut agents] {
                    lines.sort();
                    lines.dedup();
                }
            }
            assert_eq!(agents, typed, "{shell}: {option}");
        }
    }
}

#[test]
fn atuin_is_told_with_author_intent_exit_code_and_time() {
    let told = |knows_kinds: bool| {
        move |home: &Path| {
            let refuses = if knows_kinds { "" } else { "case $* in *author-kind*) exit 2 ;; esac\n" };
            // One write a line: the end of an entry and the start of the next may run at once.
            let script = format!(
                "#!/bin/sh\n{refuses}line=; for word; do line=\"$line<$word>\"; done\n\
                 printf '%s\\n' \"$line\" >>\"$HOME/atuin.told\"\n[ \"$2\" = start ] && echo id-7\n"
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
