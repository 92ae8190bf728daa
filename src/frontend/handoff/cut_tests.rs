use super::*;

const BASH: &str = include_str!("../../../tests/it/fixtures/captures/tmux-3.3-bash1.txt");
const ZSH: &str = include_str!("../../../tests/it/fixtures/captures/tmux-3.3-zsh1.txt");
const TWO_ROWS: &str = include_str!("../../../tests/it/fixtures/captures/tmux-3.3-zsh2.txt");

fn cut(screen: &str, command: &str, line: &str) -> Option<String> {
    last_output(screen, Wanted { command, line })
}

#[test]
fn real_screens_of_tmux_are_cut_at_the_prompts() {
    for screen in [BASH, ZSH, TWO_ROWS] {
        let found = cut(screen, "bash build.sh", "why did it fail").unwrap();
        let lines: Vec<&str> = found.lines().collect();
        assert_eq!((lines.len(), lines[0]), (43, "cc -c file1.c"));
        assert!(lines[40].ends_with("so that it wraps in the terminal"), "{}", lines[40]);
        assert_eq!(&lines[41..], ["", "make: *** [Makefile:2: file40.o] Error 1"]);
        assert_eq!(cut(screen, "echo before", "bash build.sh").as_deref(), Some("before"));
        // An empty line: its prompt is the last row.
        let empty = screen.replace("why did it fail", "");
        assert_eq!(cut(&empty, "bash build.sh", " ").as_ref(), Some(&found));
        // Another command is not mistaken for this one.
        assert_eq!(cut(screen, "make", "why did it fail"), None);
        assert_eq!(cut(screen, "build.sh", "why did it fail"), None);
    }
}

#[test]
fn marks_win_over_guesses() {
    let screen = "\x1b]133;A\x07$ ls\n\x1b]133;C\x07a\nb\n\x1b]133;D;0\x07\x1b]133;A\x07$ cat x\n\x1b]133;C\x1b\\\
                  cat: x: No such file\n\x1b]133;D;1\x1b\\\x1b]133;A\x1b\\$ why\n\x1b]133;C\x1b\\";
    assert_eq!(cut(screen, "something else", "why").as_deref(), Some("cat: x: No such file"));
}

#[test]
fn commands_of_several_lines_and_long_ones_are_found() {
    let screen = "$ for i in 1 2\n> do echo $i\n> done\n1\n2\n$ what\n";
    assert_eq!(cut(screen, "for i in 1 2\ndo echo $i\ndone", "what").as_deref(), Some("1\n2"));
    let long = "echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa bbbbbbbbbbbbbbbbbbbbbbbbbbbb";
    let screen = format!("$ {}\n{}\nout\n$ \n", &long[..60], &long[60..]);
    assert!(cut(&screen, long, "").unwrap().ends_with("out"));
}

#[test]
fn the_last_run_of_a_command_counts() {
    let screen = "$ make\nold\n$ make\nnew\n$ why\n";
    assert_eq!(cut(screen, "make", "why").as_deref(), Some("new"));
    // Its last line is kept although the run before ended in the same one.
    let screen = "make: *** Error 2\n$ make\nmake: *** Error 2\n$ why\n";
    assert_eq!(cut(screen, "make", "why").as_deref(), Some("make: *** Error 2"));
}

#[test]
fn what_is_not_certain_is_not_found() {
    for (screen, command, line) in [
        ("", "ls", ""),
        ("ls\na\n", "ls", ""),
        ("$ ls\n$ why\n", "ls", "why"),
        ("tools\na\n$ why", "ls", "why"),
        ("$ ls -l\na\n$ why", "ls", "why"),
        ("$ ls\na\n", "", ""),
        ("$ ls\na\n$ other", "ls", "why"),
        ("$ ls\na\nno prompt", "ls", ""),
        ("\x1b]133;D", "", ""),
    ] {
        assert_eq!(cut(screen, command, line), None, "{screen:?}");
    }
}

proptest::proptest! {
    #[test]
    fn no_screen_makes_it_panic(screen in "([a-c$ \\n❯]|\\x1b\\]133;[ACD]|\\x07|\\\\)*", command in "[a-c \\n]*", line in "[a-c ]*") {
        let _ = cut(&screen, &command, &line);
    }
}
