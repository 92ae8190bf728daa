//! Ordinary commands that only look: inside the sandbox each says what it says outside.
#![cfg(target_os = "linux")]

use std::path::PathBuf;
use std::process::Command;

use axi::sandbox::{Reach, Sandbox, SandboxState, Wanted};
use axi::tool::{ShellTool, ToolOutput};
use serde_json::json;

use crate::support::skip::skip;
use crate::support::tool_bench::ToolBench;

/// What models run all day without being asked.
const LINES: &[&str] = &[
    "ls",
    "ls -la",
    "ls -R src",
    "ls ~ / /etc | wc -l",
    "pwd",
    "cat Cargo.toml",
    "cat Cargo.toml src/main.rs | head -n 3",
    "head -c 20 README.md",
    "tail -n 2 README.md",
    "tail -n +2 README.md",
    "wc -l README.md src/*.rs",
    "nl README.md",
    "tac README.md",
    "rev README.md",
    "sort README.md | uniq -c | sort -rn",
    "cut -d' ' -f1 README.md",
    "tr a-z A-Z < README.md",
    "grep -rn fn src",
    "grep -c main src/main.rs",
    "rg -n main",
    "rg --files",
    "find . -name '*.rs' -not -path './.git/*'",
    "find . -type f -size -10k | sort | head",
    "du -sh src",
    "df . | tail -n +2 | wc -l",
    "stat -c '%n %s' README.md",
    "file README.md",
    "md5sum README.md",
    "sha256sum src/main.rs",
    "diff README.md Cargo.toml; true",
    "cmp README.md README.md",
    "comm README.md README.md",
    "od -c README.md | head -2",
    "xxd README.md | head -2",
    "basename $PWD; dirname src/main.rs; realpath README.md; readlink -f src",
    "which bash ls",
    "type cat; command -v bash",
    "echo \"$HOME\" | wc -c",
    "printf '%s\\n' a b c",
    "seq 3; expr 1 + 1; date +%Y > /dev/null",
    "uname -s; id -u; whoami; nproc; hostname",
    "env | grep -c ^PATH=",
    "ps -o pid= -p $$ | wc -l",
    "test -f README.md && [ -d src ] && echo yes",
    "for f in src/*.rs; do echo \"$f\"; done",
    "cat <<'END' | wc -l\none\ntwo\nEND",
    "diff <(sort README.md) <(sort README.md)",
    "awk '{print NF}' README.md",
    "sed -n 1,2p README.md",
    "jq -r .name package.json",
    "python3 --version",
    "node --version",
    "git status",
    "git status --short --branch",
    "git log --oneline -5",
    "git log -p -1",
    "git diff",
    "git diff --stat HEAD",
    "git show HEAD --stat",
    // Without the line that is not committed: it is given the time of now.
    "git blame HEAD -- README.md",
    "git branch -a",
    "git remote -v",
    "git ls-files",
    "git rev-parse HEAD",
    "git describe --always",
    "git stash list",
    "git config --get user.name",
    "git grep -n main",
    "git shortlog -s HEAD",
    "cargo --version",
    "cargo metadata --offline --format-version 1 --no-deps 2>/dev/null",
    "cargo tree --offline 2>/dev/null",
    "rustc --version",
    "tar tf box.tar",
    "gzip -dc box.gz",
    "make -n",
];

fn workspace() -> ToolBench {
    let mut bench = ToolBench::new();
    bench.put("README.md", "one two\nthree\nfour five six\n");
    bench.put("src/main.rs", "fn main() {\n    println!(\"hello\");\n}\n");
    bench.put("Cargo.toml", "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    bench.put("package.json", "{\"name\": \"small\"}\n");
    bench.put("Makefile", "all:\n\techo all\n");
    let script = "git init -q && git config user.name A && git config user.email a@b && cargo generate-lockfile --offline -q; \
                  git add -A && git commit -qm first && echo more >> README.md; \
                  tar cf box.tar src && gzip -c README.md > box.gz";
    let prepared = Command::new("bash").args(["-c", script]).current_dir(&bench.roots.cwd).status();
    assert!(prepared.is_ok_and(|status| status.success()));
    bench.sandbox = Sandbox::new(Wanted::On, std::env::home_dir(), Vec::new(), Vec::new(), std::env::temp_dir());
    bench
}

fn run(bench: &ToolBench, line: &str) -> ToolOutput {
    let shell = ShellTool::new(Some(PathBuf::from(env!("CARGO_BIN_EXE_axi"))));
    bench.run(&shell, json!({"command": line, "timeout": 60}))
}

#[test]
fn commands_that_only_look_say_the_same_inside() {
    let mut bench = workspace();
    if !matches!(bench.sandbox.state(), SandboxState::On(_)) {
        return skip(format_args!("no sandbox here: {:?}", bench.sandbox.state()));
    }
    let mut tried = 0;
    for line in LINES {
        bench.reach = Reach::Full;
        let outside = run(&bench, line);
        if outside.facts.exit_code == Some(127) {
            skip(format_args!("no such program here: {line}"));
            continue;
        }
        bench.reach = Reach::ReadOnly;
        let inside = run(&bench, line);
        // rg finds on several threads, in no order.
        let rows = |output: &ToolOutput| {
            let mut rows: Vec<String> = output.content.lines().map(str::to_owned).collect();
            rows.sort();
            rows
        };
        assert_eq!((rows(&inside), inside.facts.exit_code), (rows(&outside), outside.facts.exit_code), "{line}");
        tried += 1;
    }
    assert!(tried >= 60, "{tried} of {} commands are here", LINES.len());
}

#[test]
fn approved_builds_and_commits_work_inside_the_workspace() {
    let mut bench = workspace();
    let SandboxState::On(support) = bench.sandbox.state() else { return skip("no sandbox here") };
    if !support.holds_workspace() {
        return skip(format_args!("{support:?} cannot hold what is approved"));
    }
    bench.reach = Reach::Workspace { network: false, also: Vec::new() };
    for line in [
        "git add -A && git commit -qm second && git log --oneline | wc -l",
        "git checkout -qb side && git stash list && git gc -q && git tag v1",
        "git worktree add -q ../side2 2>/dev/null; git switch -q -",
        "mkdir -p a/b && mv README.md a/b/ && cp -a a/b/README.md . && ln a/b/README.md c && rm -r a c",
        "python3 -c 'open(\"made\", \"w\").write(\"x\")' && rm made",
        "install -m 750 README.md installed && [ $(stat -c %a installed) = 750 ] && touch -r README.md installed",
        "mkdir out && tar xpf box.tar -C out && cmp out/src/main.rs src/main.rs && cp -a out out2 && rm -r out out2",
        "[ $(stat -c %Y src/main.rs) = $(tar xOf box.tar src/main.rs > x; touch -r src/main.rs x; stat -c %Y x) ] && rm x",
        "python3 -m venv --without-pip venv && ./venv/bin/python -c 'print(1)' && rm -r venv",
        "chmod 600 /proc/self/fd/1; echo x > made && exec 3< made && chmod 640 /dev/fd/3 && [ $(stat -c %a made) = 640 ]",
        "CARGO_TARGET_DIR=$PWD/target cargo build --offline -q && ./target/debug/small",
    ] {
        let output = run(&bench, line);
        let missing = output.facts.exit_code == Some(127);
        assert!(missing || output.facts.exit_code == Some(0), "{line}\n{}", output.content);
    }
}
