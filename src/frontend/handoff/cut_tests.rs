use super::*;

const BASH: &str = include_str!("../../../tests/it/fixtures/captures/tmux-3.3-bash1.txt");
const ZSH: &str = include_str!("../../../tests/it/fixtures/captures/tmux-3.3-zsh1.txt");
const TWO_ROWS: &str = include_str!("../../../tests/it/fixtures/captures/tmux-3.3-zsh2.txt");
/// A command that takes two rows, and an error that does, 80 columns wide.
const OTHERS: [&str; 3] = [
    include_str!("../../../tests/it/fixtures/captures/wezterm-20250223-bash.txt"),
    include_str!("../../../tests/it/fixtures/captures/screen-4.9-zsh.txt"),
    include_str!("../../../tests/it/fixtures/captures/zellij-0.45-fish.txt"),
];

fn cut(screen: &str, command: &str, line: &str) -> Option<String> {
    cut_at(80, screen, command, line)
}

fn cut_at(columns: usize, screen: &str, command: &str, line: &str) -> Option<String> {
    last_output(screen, Wanted { command, line, columns })
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
fn real_screens_of_others_are_cut_behind_a_command_of_two_rows() {
    let command = "bash build.sh --target x86_64-unknown-linux-gnu --features one,two,three --jobs 4 --verbose";
    // WezTerm and screen break what is too long, zellij joins it.
    for (screen, broken) in OTHERS.into_iter().zip([1, 1, 0]) {
        let found = cut(screen, command, "why did it fail").unwrap();
        let lines: Vec<&str> = found.lines().collect();
        assert_eq!((lines.len(), lines[0]), (33 + broken, "cc -c one.c"));
        assert_eq!(lines.last(), Some(&"make: *** [Makefile:2: one.o] Error 1"));
        assert_eq!(cut(screen, "echo before", command).as_deref(), Some("before"));
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
    // Where rows are not joined, none of the command is its output.
    let screen = format!("$ {}\n{}\nout\n$ \n", &long[..60], &long[60..]);
    assert_eq!(cut_at(62, &screen, long, "").as_deref(), Some("out"));
    let screen =
        format!("a/path$ {}\n{}\n{}\nout\na/path$ why did it\nfail\n", &long[..10], &long[10..28], &long[28..46]);
    assert_eq!(cut_at(18, &screen, &long[..46], "why did it fail").as_deref(), Some("out"));
    assert_eq!(cut(&screen, &long[..46], "why did it fail"), None, "these rows are not full");
    // Nor where it has several lines.
    let screen = "$ for i in 1; do\n> printf '%s\\n' a\naaaaaaa\n> done\nx\n$ why\n";
    let command = "for i in 1; do\nprintf '%s\\n' aaaaaaaa\ndone";
    assert_eq!(cut_at(17, screen, command, "why").as_deref(), Some("x"));
    // A command is no other one with the first word it printed.
    assert_eq!(cut("$ make\ntest\nok, that is it\n$ why\n", "make test", "why"), None);
}

#[test]
fn a_line_that_is_there_twice_is_no_output() {
    let screen = "$ make\nodd\n$ why\n$ AXI_LINE=\"$(__axi_line)\" axi handoff # why\n";
    assert_eq!(cut(screen, "make", "why").as_deref(), Some("odd"));
    assert_eq!(cut("$ make\nodd\n$ axi handoff # why\n", "make", "why").as_deref(), Some("odd"));
    // What ran last is not taken for that, nor what it printed.
    assert_eq!(cut("$ make\nold\n$ make\n$ axi handoff # make\n", "make", "make"), None);
    assert_eq!(cut("$ cat x\n$ why\n$ why\n", "cat x", "why").as_deref(), Some("$ why"));
}

#[test]
fn a_prompt_of_which_screen_leaves_one_byte_is_one_where_it_stands_alone() {
    // GNU screen 4.9 with starship's or pure's ❯, and a time at the right.
    let screen =
        "~/work on main\no make          14:20\nno rule to make\ngo make\n~/work on main\no why      14:20\n";
    assert_eq!(cut(screen, "make", "why").as_deref(), Some("no rule to make\ngo make"));
    assert_eq!(cut("\u{fffd} make\nout\n\u{fffd} why", "make", "why").as_deref(), Some("out"));
}

#[test]
fn prompts_without_a_command_are_no_output() {
    let screen = "~/w $ make\nout\n$\n~/w $\n~/w $        14:20\n~/w $ why\n";
    assert_eq!(cut(screen, "make", "why").as_deref(), Some("out\n$"));
    assert_eq!(cut("$ make\nout\n$\n$\n$", "make", "").as_deref(), Some("out"));
    let screen = "\n~/w\n❯ make\nout\n\n~/w\n❯\n\n~/w\n❯\n\n~/w\n❯ why\n";
    assert_eq!(cut(screen, "make", "why").as_deref(), Some("out"));
    assert_eq!(cut("$ make\n$\n$ why\n", "make", "why"), None);
    // As Zellij 0.43 has it after a pane was split.
    assert_eq!(cut("zz% make\nout\nzz%\n\nzz% why\n", "make", "why").as_deref(), Some("out"));
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
    fn no_screen_makes_it_panic(screen in "([a-c$ \\n❯]|\\x1b\\]133;[ACD]|\\x07|\\\\)*", command in "[a-c \\n]*", line in "[a-c ]*", columns in 0_usize..9) {
        let _ = cut_at(columns, &screen, &command, &line);
    }
}

#[test]
fn what_a_shell_says_of_a_command_is_no_prompt_with_that_command() {
    for (sign, said) in
        [("@@$", "zsh: permission denied: ./run.sh"), ("me@host:~/w %", "zsh: command not found: ./run.sh")]
    {
        let screen = format!("{sign} ./run.sh\n{said}\n{sign}");
        assert_eq!(cut(&screen, "./run.sh", "").as_deref(), Some(said));
        let screen = format!("{sign} ./run.sh\n{said}\n{sign}  axi handoff");
        assert_eq!(cut(&screen, "./run.sh", "").as_deref(), Some(said));
    }
}
