//! What judging a line costs, counted and not timed: how often memory is asked for, and how much.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use super::judge;
use super::tests::place;

std::thread_local! {
    static ASKED: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
}

struct Counting;

#[expect(unsafe_code, reason = "only an allocator sees what is asked for; this one hands everything on")]
// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that is about to end has no counter any more.
        let _ = ASKED.try_with(|asked| {
            let (times, bytes) = asked.get();
            asked.set((times + 1, bytes + layout.size() as u64));
        });
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// How often memory is asked for while a line is judged, and how many bytes.
fn cost(line: &str) -> (u64, u64) {
    let place = place();
    let before = ASKED.get();
    drop(judge(line, &place));
    let after = ASKED.get();
    (after.0 - before.0, after.1 - before.1)
}

/// The start, the piece that is repeated, and the end of a line.
const PIECES: &[(&str, &str, &str)] = &[
    ("", "sudo ", "ls"),
    ("", "env ", "ls"),
    ("", "env A=1 ", "ls"),
    ("", "nice ", "ls"),
    ("", "timeout 5 ", "rm -rf x"),
    ("", "xargs ", "rm"),
    ("", "find . -exec ", "rm {} +"),
    ("", "eval ", "ls"),
    ("", "time ", "ls"),
    ("foo ", "rm x ", ""),
    ("foo ", "env X ", "rm -rf ~"),
    ("foo ", "'rm x' ", ""),
    ("foo ", "sudo find ", ""),
    ("for f in ", "a ", "; do rm $f; done"),
    ("for f in ", "a b ", "; do cat $f > $f; done"),
    ("find ", "a ", "-delete"),
    ("find . ", "-o -name x ", "-delete"),
    ("find . -exec rm ", "{} ", "+"),
    ("", "find . | xargs ", "rm"),
    ("cat ", "*a ", ""),
    ("cat ", "[!a]*b ", ""),
    ("rm ", "a?[b-c]*a ", ""),
    ("rm {", "a,b,{", ""),
    ("rm ", "{", "}"),
    ("rm ", "[a", ""),
    ("", "set -- a b c; ", "rm $@"),
    ("", "x=(a b);", ""),
    ("((", "1+", "1))"),
    ("", "eval 'a' ", "ls"),
    ("rm ", "a b ", ""),
    ("rm ", "*", ""),
    ("rm ", "?x", ""),
    ("echo ", "{a,b}", ""),
    ("echo {", "a,", "b}"),
    ("echo ", "$(", ""),
    ("echo ", "`", ""),
    ("echo ", "$x", ""),
    ("echo ", "${x:-", ""),
    ("", "a=$a$a;", "rm $a"),
    ("a=12345678;", "a=$a$a;", "rm $a"),
    ("", "touch x;", ""),
    ("", "cd a;", "rm b"),
    ("", "cd a || cd b;", "rm b"),
    ("", "if a; then b; fi;", ""),
    ("", "for i in a b; do ", "ls"),
    ("", "x=1 ", "ls"),
    ("", "[[ a = b ]] &&", "ls"),
    ("", "f() { g; }; f;", ""),
    ("f() { touch a b c d; };", "f;", ""),
    ("", "ls|", "ls"),
    ("", "a && ", "b"),
    ("", "(", ""),
    ("", "{ ", ""),
    ("", "case x in ", ""),
    ("", "echo x > y;", ""),
    ("", "export A=1;", ""),
    ("", "trap 'rm x' EXIT;", ""),
    ("", "cat <<A\n", "A"),
    ("", "!", "ls"),
    ("", "\\", ""),
    ("", "git -C x ", "clean -fdx"),
    ("awk '", "{ print }", "'"),
    ("sed ", "-e s/a/b/ ", "f"),
];

/// Commands that change what is known; all that follow carry it along.
const CHANGES: &[&str] = &[
    "alias a=b;",
    "unalias -a;",
    "f() { g; };",
    "unset -f f;",
    "x=1;",
    "read x;",
    "export x=1;",
    "unset x;",
    "set -P;",
    "set -- a b;",
    "cd a;",
    "cd a || cd b;",
    "pushd a;",
    "trap 'rm x' EXIT;",
    "enable -n rm;",
    "hash -p /x rm;",
    "ln -s a b;",
    "mv a b;",
    "true || alias a=b;",
];

/// Lines made of one piece, as long as they may be.
fn repeated(length: usize) -> Vec<String> {
    let mut lines: Vec<String> = PIECES
        .iter()
        .map(|(start, piece, end)| {
            let times = (length - start.len() - end.len()) / piece.len();
            format!("{start}{}{end}", piece.repeat(times))
        })
        .collect();
    for change in CHANGES {
        lines.push(format!("{change}{}", "touch y;".repeat((length - change.len()) / 8)));
    }
    // Each name once.
    let each =
        |of: &dyn Fn(usize) -> String, width: usize| (0..length / width).map(of).collect::<Vec<_>>().concat();
    lines.push(each(&|at| format!("v{at:03}=1;"), 7));
    lines.push(each(&|at| format!("w{at:03}=1 "), 7) + "ls");
    lines.push(each(&|at| format!("cd d{at:03}||a; "), 12));
    let names = each(&|at| format!("f{at:04} "), 6);
    lines.push(format!("rm {names}"));
    lines.push(format!("foo rm {names}"));
    let mut nested = "ls".to_owned();
    while nested.len() < length / 2 {
        nested = format!("sh -c '{}'", nested.replace('\'', r"'\''"));
    }
    lines.push(nested.chars().take(length).collect());
    lines
}

#[test]
fn a_line_of_four_kilobytes_costs_little_whatever_it_says() {
    let mut worst: Vec<(u64, u64, String)> = repeated(4096)
        .into_iter()
        .map(|line| {
            let (times, bytes) = cost(&line);
            (times, bytes, line.chars().take(24).collect())
        })
        .collect();
    worst.sort_by(|one, other| other.cmp(one));
    assert!(worst[0].0 < 250_000, "{:#?}", &worst[..8]);
    worst.sort_by_key(|(_, bytes, _)| std::cmp::Reverse(*bytes));
    assert!(worst[0].1 < 24 << 20, "{:#?}", &worst[..8]);
}

#[test]
fn a_line_twice_as_long_costs_little_more_than_twice() {
    for (short, long) in repeated(2048).into_iter().zip(repeated(4096)) {
        let (short_times, short_bytes) = cost(&short);
        let (long_times, long_bytes) = cost(&long);
        let start: String = long.chars().take(24).collect();
        assert!(long_times < 3 * short_times + 4000, "{start}: {short_times} {long_times}");
        assert!(long_bytes < 3 * short_bytes + (1 << 20), "{start}: {short_bytes} {long_bytes}");
    }
}

#[test]
fn past_the_cut_a_line_is_asked_at_once() {
    for line in [format!("echo {}", "x".repeat(1 << 20)), format!("{}ls", "sudo ".repeat(1 << 17))] {
        let judgement = judge(&line, &place());
        assert_eq!(judgement.unparsed.first().map(|(_, why)| *why), Some(crate::approval::Unparsed::TooLong));
        assert!(cost(&line).0 < 400_000);
    }
    // Lists longer than are followed.
    let names = "a ".repeat(100);
    for line in [format!("for f in {names}; do rm $f; done"), format!("find {names}-delete")] {
        let judgement = judge(&line, &place());
        assert!(judgement.unparsed.iter().any(|(_, why)| *why == crate::approval::Unparsed::TooLong), "{line}");
        assert!(judgement.never_auto.is_some(), "{line}");
    }
    // Deeper than is opened: neither a rule nor `-y` runs what looks like a loss.
    let judgement = judge(&format!("{}rm -rf ~", "env ".repeat(100)), &place());
    assert!(judgement.never_auto.is_some());
    assert!(
        judge(&format!("{}ls", "env ".repeat(100)), &place())
            .unparsed
            .iter()
            .any(|(_, why)| *why == crate::approval::Unparsed::TooLong)
    );
}
