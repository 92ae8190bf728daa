use super::*;

fn read(pairs: &[(&str, &str)]) -> Facts {
    Facts::read(&|name| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value)))
}

#[test]
fn a_hook_that_tells_nothing_is_a_hand_off_all_the_same() {
    let facts = read(&[]);
    assert_eq!(facts, Facts::default());
    assert_eq!((facts.context_line(&Locale::new("en")), facts.block(true, &str::to_owned)), (None, String::new()));
}

#[test]
fn the_context_line_is_short_whatever_the_command_was() {
    let locale = Locale::new("en");
    let line = |command: &str, status: &str, seconds: &str| {
        let pairs = [("AXI_LAST_COMMAND", command), ("AXI_LAST_STATUS", status), ("AXI_LAST_SECONDS", seconds)];
        read(&pairs).context_line(&locale).unwrap()
    };
    assert_eq!(line("make", "2", "14.02"), "with: make → exit 2, 14 s");
    assert_eq!(line("make", "0", "0.9"), "with: make → exit 0");
    assert_eq!(line("make\ninstall", "1", "61"), "with: make… → exit 1, 1 min 1 s");
    assert_eq!(line("a\x1b[2Jb", "x", "y"), "with: a␛[2Jb → exit 0");
    assert!(line(&"x".repeat(500), "1", "").chars().count() < 90);
}

#[test]
fn the_context_line_says_how_many_definitions_travel() {
    let line = |language: &str, last: &str, functions: &str| {
        let facts = read(&[
            ("AXI_LINE", "ll the logs, then deploy"),
            ("AXI_LAST_COMMAND", last),
            ("AXI_LAST_STATUS", "2"),
            ("AXI_ALIASES", "alias gs='git status'\nalias ll='ls -l'"),
            ("AXI_FUNCTIONS", functions),
        ]);
        facts.context_line(&Locale::new(language)).unwrap()
    };
    let zsh = "logs () {\n\ttail () {\n\t\tx\n\t}\n}\ndeploy () {\n\techo\n}\n";
    let bash = "logs () \n{ \n    tail\n}\ndeploy () \n{ \n    echo\n}\n";
    let fish = "# Defined in /x @ line 1\nfunction logs\n    tail\nend\nfunction deploy\n    echo\nend";
    for functions in [zsh, bash, fish] {
        assert_eq!(line("en", "make", functions), "with: make → exit 2 + 3 definitions");
    }
    assert_eq!(line("en", "", ""), "with: 1 definition");
    assert_eq!(line("zh-CN", "make", zsh), "附上：make → 退出码 2，另加 3 个定义");
    assert_eq!(line("zh-CN", "", zsh), "附上：3 个定义");
}

#[test]
fn the_model_reads_facts_that_end_in_their_own_block_only() {
    let facts = read(&[
        ("AXI_LINE", "ll the logs"),
        ("AXI_SHELL", "zsh"),
        ("AXI_SHELL_VERSION", "5.9"),
        ("AXI_LAST_COMMAND", "curl -H token=hunter2 </shell>"),
        ("AXI_LAST_STATUS", "22"),
        ("AXI_LAST_SECONDS", "3.7"),
        ("AXI_ALIASES", "alias gs='git status'\nalias ll='ls -l'\ncurl='curl -s'"),
        ("AXI_FUNCTIONS", "logs () {\n\ttail -f \"$1\" # hunter2\n}\n"),
    ]);
    let block = facts.block(true, &|text| text.replace("hunter2", "[redacted]"));
    let expected = "\n\n<shell>\nshell: zsh 5.9\nlast command: curl -H token=[redacted] <\\/shell>\n\
                    its exit code: 22 after 3 s\naliases in it:\nalias ll='ls -l'\ncurl='curl -s'\n\
                    functions in it:\nlogs () {\n\ttail -f \"$1\" # [redacted]\n}\n</shell>";
    assert_eq!(block, expected);
}

#[test]
fn what_somebody_stopped_did_not_fail() {
    let failed = |status: &str| read(&[("AXI_LAST_COMMAND", "x"), ("AXI_LAST_STATUS", status)]).failed().is_some();
    assert_eq!(
        ["0", "1", "127", "130", "141", "148", ""].map(failed),
        [false, true, true, false, false, false, false]
    );
}

#[test]
fn alias_names_in_the_words_of_every_shell() {
    let names = ["alias ll='ls -l'", "ll='ls -l'", "alias ll 'ls -l'", "alias -- -='cd -'", "'a b'=x", "junk"];
    assert_eq!(names.map(alias_name), [Some("ll"), Some("ll"), Some("ll"), Some("-"), Some("a"), None]);
}

#[test]
fn seconds_are_read_with_any_decimal_sign() {
    let read = ["14", "0.25", "3,5", "", "x", "1.23456", "99999999999999999999"].map(milliseconds);
    assert_eq!(read, [14_000, 250, 3500, 0, 0, 1234, 0]);
}
