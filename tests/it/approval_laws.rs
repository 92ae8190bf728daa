//! Laws of consent, over generated lines: quoting and wrapping change nothing, and no rule admits what was not shown.

use axi::approval::{Decision, Mode, Policy, Rule, Source};
use axi::conversation::{Effect, Subject};
use proptest::prelude::*;

use crate::approval::{grant, offered, place};

/// A policy that is as loose as rules can make it.
fn loosest() -> Policy {
    let mut policy = Policy::new(Mode::Build, true);
    for rule in
        ["*", "shell", "shell(rm:*)", "shell(sudo:*)", "shell(bash:*)", "shell(find:*)", "write(**)", "write"]
    {
        if let Ok(rule) = Rule::parse(rule) {
            assert!(policy.add_rule(Decision::Allow, rule, Source::User).is_ok());
        }
    }
    policy
}

fn decision(policy: &Policy, line: &str) -> Decision {
    let subject = Subject::Command { line: line.to_owned() };
    policy.decide("shell", Effect::Execute, &subject, &place()).verdict.decision
}

fn single_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A word spelled with any mixture of quotes that means the same.
fn spelled(word: &'static str) -> impl Strategy<Value = String> {
    proptest::collection::vec(0_u8..7, word.len()).prop_map(move |ways| {
        word.chars()
            .zip(ways)
            .map(|(character, way)| match way {
                0 => format!("\\{character}"),
                1 => format!("'{character}'"),
                2 => format!("\"{character}\""),
                3 => format!("$'\\x{:02x}'", u32::from(character)),
                4 => format!("''{character}"),
                5 | 6 => character.to_string(),
                _ => unreachable!("0 to 6"),
            })
            .collect()
    })
}

/// Home, or something above it, or everything in it.
fn at_home() -> impl Strategy<Value = String> {
    let spelled_out = prop_oneof![
        spelled("/"),
        spelled("/home"),
        spelled("/home/u"),
        spelled("/home/u/"),
        spelled("/home/./u/work/.."),
        spelled("//home//u"),
        spelled("../.."),
        spelled("../../../u"),
        spelled("/home/u/work/app/../.."),
        spelled("/usr/../home/u"),
        spelled(".."),
        spelled("../"),
        spelled("/home/u/work"),
        spelled("../../work/."),
    ];
    let expanded = prop_oneof![
        Just("~"),
        Just("~/"),
        Just("~u"),
        Just("~/."),
        Just("~/*"),
        Just("$HOME"),
        Just("\"$HOME\""),
        Just("${HOME}/"),
        Just("\"${HOME}\"/*"),
        Just("/home/*"),
        Just("/ho*/u"),
        Just("/*"),
        Just("~/x/.."),
        Just("${HOME:-/x}"),
        Just("`echo ~`"),
        Just("\"$(echo /home/u)\""),
        Just("/[h]ome/u"),
        Just("\"$PWD\"/.."),
        Just("$(pwd)/.."),
        Just("\"$UNKNOWN\"/"),
        Just("$EMPTY/"),
    ]
    .prop_map(ToOwned::to_owned);
    prop_oneof![spelled_out, expanded]
}

fn destructive() -> impl Strategy<Value = String> {
    let command = prop_oneof![
        (
            spelled("rm"),
            prop_oneof![Just("-rf"), Just("-r -f"), Just("--recursive"), Just("-fr --"), Just("-vrf x")]
        )
            .prop_map(|(name, flags)| format!("{name} {flags} @")),
        spelled("find").prop_map(|name| format!("{name} @ -delete")),
        spelled("find").prop_map(|name| format!("{name} @ -type f -exec rm {{}} +")),
        spelled("chmod").prop_map(|name| format!("{name} -R 000 @")),
        spelled("chown").prop_map(|name| format!("{name} -R x @")),
        spelled("mv").prop_map(|name| format!("{name} @ /tmp/x")),
        spelled("shred").prop_map(|name| format!("{name} -u @")),
        Just("rsync -a --delete empty/ @".to_owned()),
        Just("git -C @ clean -fdx".to_owned()),
        Just("truncate -s 0 @/*".to_owned()),
        Just("rmdir -p @".to_owned()),
        Just("pushd @ && rm -rf ./*".to_owned()),
        Just("(cd @; find . -delete)".to_owned()),
        Just("d=@; cd \"$d\" && rm -rf *".to_owned()),
        Just("printf '%s\\n' @ | xargs -I{} rm -rf {}".to_owned()),
        Just("while read x; do rm -rf \"$x\"; done <<< @".to_owned()),
        Just("cd @ && rm -rf *".to_owned()),
        Just("cd @; rm -rf ./*".to_owned()),
        Just("x=@; rm -rf \"$x\"".to_owned()),
        Just("x=@ y=rm; $y -rf $x".to_owned()),
        Just("for x in a @; do rm -r $x; done".to_owned()),
        Just("f() { rm -rf \"$1\"; }; f @".to_owned()),
        Just("echo @ | xargs rm -rf".to_owned()),
        Just("find @ | xargs rm -rf".to_owned()),
    ];
    (command, at_home()).prop_map(|(command, target)| command.replace('@', &target))
}

fn wrapped(line: &str, way: u8) -> String {
    let quoted = single_quoted(line);
    match way {
        0 => format!("sh -c {quoted}"),
        1 => format!("bash -lc {quoted}"),
        2 => format!("eval {quoted}"),
        3 => format!("( {line}\n)"),
        4 => format!("{{ {line}\n}}"),
        5 => format!("if true; then {line}\nfi"),
        6 => format!("ls && {line}"),
        7 => format!("ls\n{line}\nls"),
        8 => format!("echo \"$({line}\n)\""),
        9 => format!("g() {{ {line}\n}}; g"),
        10 => format!("bash <<'STOP'\n{line}\nSTOP"),
        11 => format!("echo {quoted} | sh"),
        12 => format!("z={quoted}; eval \"$z\""),
        13 => format!("sudo sh -c {quoted}"),
        14 => format!("env -i A=1 timeout 5 nice sh -c {quoted}"),
        15 => format!("git diff; {line} | cat"),
        16 => format!("while true; do {line}\ndone"),
        17 => format!("bash <<< {quoted}"),
        18 => format!("xargs -n1 sh -c {quoted} < list"),
        19 => format!("unknown-program {quoted}"),
        20 => format!("case a in a) {line}\n;; esac"),
        21 => format!("trap {quoted} EXIT"),
        22 => format!("cat <<END\n$({line}\n)\nEND"),
        23 => format!("! {line} &"),
        _ => line.to_owned(),
    }
}

/// Something that is not known to be harmless, hidden in a line behind what a rule allows.
fn hidden() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("git diff; @"),
        Just("git diff && @"),
        Just("git diff | @"),
        Just("git diff\n@"),
        Just("git diff & @"),
        Just("git diff $(@)"),
        Just("git diff \"`@`\""),
        Just("git diff <(@)"),
        Just("git diff > \"$(@)\""),
        Just("git diff ${x:-$(@)}"),
        Just("git diff <<X\n$(@)\nX"),
        Just("git diff || (@)"),
        Just("{ git diff; @; }"),
        Just("git diff $((1+$(@)))"),
        Just("! git diff | @"),
        Just("for i in $(@); do git diff; done"),
        Just("git diff # x\n@"),
        Just("git() { @; }; git diff"),
        Just("if @; then git diff; fi"),
        Just("echo a | xargs sh -c '@' git diff"),
        Just("git diff; bash -c '@'"),
        Just("env git diff | env @"),
        Just("X=$(@) git diff"),
        Just("git diff 2>&1 | sh -c '@'"),
        Just("[[ $(@) ]] && git diff"),
        Just("case $(@) in *) git diff;; esac"),
        Just("git diff \\\n; @"),
        Just("trap '@' EXIT; git diff"),
    ]
    .prop_map(|line| line.replace('@', "touch hidden"))
}

fn soup() -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        Just("git diff"),
        Just("rm -rf"),
        Just(" "),
        Just("\n"),
        Just(";"),
        Just("|"),
        Just("&&"),
        Just("&"),
        Just("("),
        Just(")"),
        Just("{"),
        Just("}"),
        Just("$("),
        Just("`"),
        Just("\""),
        Just("'"),
        Just("\\"),
        Just("$"),
        Just("${"),
        Just("$(("),
        Just("))"),
        Just("<<X"),
        Just("X"),
        Just("<("),
        Just(">"),
        Just("<<<"),
        Just("[["),
        Just("]]"),
        Just("if"),
        Just("then"),
        Just("fi"),
        Just("for x in"),
        Just("do"),
        Just("done"),
        Just("case"),
        Just("esac"),
        Just(";;"),
        Just("~"),
        Just("*"),
        Just("x="),
        Just("f()"),
        Just("#"),
        Just("!"),
        Just("é"),
        Just("\u{202e}"),
        Just("{a,b}"),
        Just("{1..9}"),
        Just("sh -c"),
        Just("xargs"),
        Just("find . -exec"),
        Just("eval"),
        Just("$'\\x41'"),
        Just("-"),
        Just("=~"),
        Just("&>"),
    ];
    proptest::collection::vec(pieces, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn nothing_at_or_above_home_ever_runs_unasked(
        line in destructive(),
        ways in proptest::collection::vec(0_u8..25, 0..4),
    ) {
        let line = ways.iter().fold(line, |line, way| wrapped(&line, *way));
        let mut policy = loosest();
        prop_assert_ne!(decision(&policy, &line), Decision::Allow, "{}", line);
        // Nor does a yes for the session, or the rule that "always" would keep.
        grant(&mut policy, &line);
        if let Some(rule) = offered(&line) {
            prop_assert!(policy.add_rule(Decision::Allow, rule, Source::User).is_ok());
        }
        prop_assert_ne!(decision(&policy, &line), Decision::Allow, "{}", line);
    }

    #[test]
    fn no_rule_admits_what_was_not_shown(line in hidden(), ways in proptest::collection::vec(0_u8..25, 0..2)) {
        let mut policy = Policy::new(Mode::Build, false);
        for rule in ["shell(git diff:*)", "shell(git:*)", "shell(xargs:*)", "shell(env:*)", "shell(bash:*)", "shell(sh:*)"] {
            prop_assert!(policy.add_rule(Decision::Allow, Rule::parse(rule).map_err(|e| TestCaseError::fail(e.to_string()))?, Source::User).is_ok());
        }
        let line = ways.iter().fold(line, |line, way| wrapped(&line, *way));
        prop_assert_ne!(decision(&policy, &line), Decision::Allow, "{}", line);
    }

    #[test]
    fn a_rule_suggested_for_one_command_does_not_admit_another(
        command in prop_oneof![
            Just("cargo test"), Just("cargo build --release"), Just("npm test"), Just("git commit -m x"), Just("make -j4"),
            Just("python3 x.py"), Just("go build ./..."), Just("npx eslint ."), Just("mkdir a"), Just("docker build ."),
        ],
        line in hidden(),
    ) {
        let mut policy = Policy::new(Mode::Build, false);
        grant(&mut policy, command);
        if let Some(rule) = offered(command) {
            prop_assert!(policy.add_rule(Decision::Allow, rule, Source::User).is_ok());
        }
        prop_assert_eq!(decision(&policy, command), Decision::Allow, "{}", command);
        let line = line.replace("git diff", command);
        prop_assert_ne!(decision(&policy, &line), Decision::Allow, "{}", line);
    }

    #[test]
    fn no_text_breaks_the_judge(text in prop_oneof![soup(), ".{0,80}"]) {
        let policy = loosest();
        let _ = decision(&policy, &text);
        let _ = offered(&text);
    }

    #[test]
    fn bytes_break_nothing_either(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = decision(&loosest(), &String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn no_line_takes_long_to_judge() {
    let nested = format!("{}ls{}", "$(".repeat(200), ")".repeat(200));
    let loops = format!("{}ls{}", "for i in a b; do ".repeat(20), "; done".repeat(20));
    let braces = format!("echo {}{}", "{a,b}".repeat(40), "x".repeat(4000));
    let many = format!("echo {{{}}}{}", "a,".repeat(4000), "x".repeat(4000));
    let functions = (0..200).fold(String::new(), |all, i| all + &format!("f{i}() {{ f{}; f{}; }}; ", i + 1, i + 1));
    let long = "a".repeat(100_000);
    let commands = "touch x; ".repeat(1500);
    let lines = [nested, loops, braces, many, functions + "f0", long, commands];
    for line in lines.map(|line| format!("{line}; touch x")) {
        // Judged to the end within the limits is all that is asked here; how long it took is for a benchmark.
        assert_eq!(decision(&Policy::new(Mode::Build, false), &line), Decision::Ask);
    }
}
