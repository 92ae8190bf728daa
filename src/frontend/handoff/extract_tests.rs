use super::*;

#[track_caller]
fn is(answer: &str, command: &str) {
    assert_eq!(extract(answer).as_deref(), Some(command), "{answer:?}");
}

#[test]
fn a_bare_command_is_itself() {
    for command in [
        "ls -l",
        "find . -name '*.log' -size +10M",
        "FOO=bar make -j4",
        "Rscript run.R",
        "for f in *.txt; do\n  mv \"$f\" \"${f%.txt}.md\"\ndone",
        "cat <<'EOF' > a\n# not a comment\n\nSome text.\nEOF",
        "echo `date`",
        "echo \"it's\" 'x'",
        "git commit -m \"Fix it.\"",
        "awk '{print $1}' a.txt",
        "curl -d '{\"command\": 1}' http://x",
        "printf '%s\\n' 你好",
        "! true",
        "[ -f a ] && echo yes",
        "git log --oneline | head -n 5",
        "python3 -c \"import os\nprint(os.name)\"",
    ] {
        is(command, command);
        is(&format!("\n{command}\n"), command);
        is(&format!("```bash\n{command}\n```"), command);
        is(&format!("<think>They want: rm -rf /\n```\nrm\n```</think>\n\n{command}"), command);
    }
}

#[test]
fn fences_in_every_style() {
    is("```\nls\n```", "ls");
    is("~~~sh\nls\n~~~", "ls");
    is("```ls -l```", "ls -l");
    is("```zsh\nls", "ls");
    is("Sure! Here is the command:\n\n```bash\n# list all\nls -la\n```\n\nThis lists all files.", "ls -la");
    is("```bash\n$ cd /tmp\n$ ls\na  b\n```", "cd /tmp && ls");
    is("Output will be:\n```text\na b\n```\nRun:\n```sh\nls\n```", "ls");
    is("1. Use this:\n   ```bash\n   du -sh *\n   ```", "du -sh *");
    is("First:\n```\nls\n```\nor:\n```\nls -a\n```", "ls");
}

#[test]
fn sentences_around_it_are_left_out() {
    is("Here is the command:\n\nls -la", "ls -la");
    is("Here's the command you need:\n    du -sh *\n\nIt shows sizes.", "du -sh *");
    is("You can use `du -sh *` to see the sizes.", "du -sh *");
    is("`tar xzf a.tgz`", "tar xzf a.tgz");
    is("ls -la\n\nThis command lists all files.", "ls -la");
    is("ls -la\nThis lists all files in the directory.", "ls -la");
    is("$ ls -la", "ls -la");
    is("❯ ls", "ls");
    is("Command: ls -la", "ls -la");
    is("**Command:** `ls -la`", "ls -la");
    is("\"ls -la\"", "ls -la");
    is("可以使用以下命令：\n\nls -la", "ls -la");
    is("命令：`ls -la`", "ls -la");
    is("# list files\nls -la", "ls -la");
    is("{\"command\": \"ls -la\"}", "ls -la");
    is("```json\n{\"command\": \"ls -la\"}\n```", "ls -la");
}

#[test]
fn where_there_is_no_command_there_is_none() {
    for answer in [
        "",
        "  \n",
        "NONE",
        "none.",
        "```\nNONE\n```",
        "<think>I wonder",
        "I'm sorry, but I can't help with that.",
        "I cannot do that",
        "抱歉，我无法完成。",
        "There is no command that does this.",
        "没有命令可以做到这一点。",
        "```\n```",
        "ls\x1b[A",
        "rm \u{202e}x",
    ] {
        assert_eq!(extract(answer), None, "{answer:?}");
    }
}

proptest::proptest! {
    #[test]
    fn no_answer_makes_it_panic_or_give_a_line_that_commands_the_terminal(answer in "(\\PC|[\\n\\x1b`~<>{}:\" $#])*") {
        if let Some(command) = extract(&answer) {
            proptest::prop_assert!(!command.trim().is_empty());
            proptest::prop_assert!(!command.contains(['\x1b', '\r', '\0']));
        }
    }
}

#[test]
fn an_answer_with_one_fence_of_shell_is_a_command() {
    let found = |answer: &str| only_command(answer);
    assert_eq!(
        found("Use this:\n\n```bash\n$ du -sh * | sort -h\n```\nIt sorts."),
        Some("du -sh * | sort -h".into())
    );
    assert_eq!(found("```sh\n# all of it\nls\npwd\n```"), Some("ls\npwd".into()));
    for none in [
        "It is `ls`.",
        "```python\nprint(1)\n```",
        "```\nls\n```",
        "```sh\nls\n```\nor\n```sh\nls -l\n```",
        "```sh\nls",
        "```sh\n\n```",
        "```sh\na\nb\nc\nd\ne\nf\n```",
        "```sh\nls \u{1b}[A\n```",
    ] {
        assert_eq!(found(none), None, "{none}");
    }
}
