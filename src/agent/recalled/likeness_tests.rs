use super::*;
use crate::agent::{Line, recalled};
use crate::context::wanted;

fn asked(query: &str) -> Question {
    Question::new(query, &wanted(query))
}

#[test]
fn each_row_of_purposes_names_programs_and_words() {
    for row in PURPOSES.lines().filter(|row| !row.starts_with('#')) {
        let (named, purpose) = row.split_once(": ").unwrap_or_else(|| panic!("{row}"));
        assert!(!named.trim().is_empty() && !stems(purpose).is_empty(), "{row}");
    }
}

#[test]
fn a_word_behind_a_program_is_one_of_its_own_or_a_letter_of_its_flags() {
    for (rest, with, is) in [
        ("reset --soft HEAD~1", "--soft", true),
        ("reset --softly", "--soft", false),
        ("--sort=-%mem", "--sort", true),
        ("-rlD x", "-D", true),
        ("--Delta", "-D", false),
        ("-xzf a.tgz", "x", true),
        ("a.tgz x", "x", false),
        ("origin/main..HEAD", "..HEAD", true),
    ] {
        assert_eq!(is_with(rest, with), is, "{rest} {with}");
    }
}

#[test]
fn a_phrase_is_found_around_what_it_is_about() {
    let found = |query: &str| phrases(&stems(query)).into_iter().map(|(_, of)| of.join(" ")).collect::<Vec<_>>();
    assert_eq!(found("get rid of it"), ["get rid"]);
    assert_eq!(found("take the commit back"), ["tak back"]);
    assert_eq!(found("take it all the way home and back"), Vec::<String>::new());
}

#[test]
fn programs_are_found_wherever_they_stand() {
    let mut found = Vec::new();
    programs("X=1 sudo /usr/bin/git -C a stash | wc -l; ls && (cd x)", &mut |name, next| {
        found.push((name, next));
    });
    let expected =
        [("sudo", "/usr/bin/git -C a stash "), ("git", "-C a stash "), ("wc", "-l"), ("ls", ""), ("cd", "x)")];
    assert_eq!(found, expected);
}

#[test]
fn a_program_that_does_it_counts_less_than_the_word_itself() {
    let question = asked("unpack the archive");
    let scores = question.scores(["tar xzf heron.tgz", "unpack archive", "ls", "tarry"].into_iter());
    assert!(scores[1] > scores[0] && scores[0] > 0.0, "{scores:?}");
    assert_eq!(scores[2..], [0.0, 0.0]);
    let stash = asked("shelve my changes");
    let scores = stash.scores(["git stash", "git status"].into_iter());
    assert!(scores[0] > scores[1], "{scores:?}");
}

/// What people type all day; a name stands for each `@`.
const ALL_DAY: &[&str] = &[
    "ls -la @",
    "cd ~/src/@",
    "cd ..",
    "vim @.rs",
    "cat @.txt",
    "git status",
    "git diff @.rs",
    "git add @.rs",
    "git commit -m \"mend @\"",
    "git push",
    "git pull --rebase",
    "git checkout @",
    "git checkout -b @",
    "git log --oneline -5",
    "git stash pop",
    "git stash list",
    "git rebase main",
    "git rebase --continue",
    "git reset @.rs",
    "git branch -d @",
    "git show HEAD",
    "git tag v1.@",
    "git clone https://example.org/@.git",
    "make",
    "make @",
    "cargo check",
    "cargo test @",
    "cargo build",
    "npm install @",
    "npm test",
    "npm run dev",
    "python3 @.py",
    "pip install @",
    "docker ps",
    "docker images",
    "docker logs @",
    "docker stop @",
    "docker run --rm -it @ bash",
    "docker compose logs -f @",
    "kubectl get svc -n @",
    "kubectl describe pod @",
    "kubectl logs @",
    "ssh @",
    "ssh root@@.example.net",
    "scp @.txt @:",
    "rsync -av @/ backup/@/",
    "tar -tzf @.tgz",
    "tar -czf @.tgz @",
    "unzip @.zip",
    "grep -n @ src/@.rs",
    "rg @",
    "find . -name '@*'",
    "sed -n 1,20p @.txt",
    "awk '{print $2}' @.txt",
    "sort @.txt",
    "wc -l @.txt",
    "du -sh @",
    "df",
    "ps aux | grep @",
    "top",
    "kill %1",
    "curl -I https://@.example.org",
    "curl localhost:8080/@",
    "wget https://example.org/@.zip",
    "ping @",
    "dig @.example.org",
    "ip link",
    "ip route",
    "systemctl status @",
    "sudo systemctl start @",
    "journalctl -u @ --since today",
    "sudo apt update",
    "sudo apt install @",
    "apt search @",
    "dpkg -l @",
    "chmod 600 @.key",
    "chmod +x @.sh",
    "sudo chown marta @.txt",
    "mkdir -p @/src",
    "rm -r @",
    "rm @.tmp",
    "mv @.txt @.md",
    "cp @.txt @.bak",
    "ln -s @ link-@",
    "tail -f @.log",
    "less @.log",
    "head -3 @.csv",
    "echo @",
    "psql @",
    "pg_dump @ > @.sql",
    "redis-cli get @",
    "sqlite3 @.db .tables",
    "ffmpeg -i @.mp4 @.gif",
    "ffmpeg -i @.wav @.mp3",
    "convert @.png @.jpg",
    "pandoc @.md -o @.html",
    "openssl rand -hex 16",
    "ssh-keygen -R @",
    "gpg -d @.gpg",
    "tmux ls",
    "tmux new -s @",
    "crontab -l",
    "free",
    "lsblk",
    "mount",
    "helm list",
    "terraform init",
    "terraform apply",
    "aws s3 ls @",
    "adb devices",
    "esptool.py chip_id",
    "jq . @.json",
    "sha256sum @.iso",
    "date",
    "uptime",
    "history | grep @",
    "man @",
    "which @",
    "export @=1",
    "source .venv/bin/activate",
];

fn typed(text: &str) -> Line<'_> {
    Line { text, when: None, cwd: None, exit: None, source: "zsh" }
}

fn others(count: usize) -> Vec<String> {
    let names = ["plover", "finch", "gull", "tern", "robin", "crane", "swift", "raven", "wren", "kite", "egret"];
    let line = |number: usize| {
        let mut name = number / ALL_DAY.len();
        let mut line = String::new();
        for part in ALL_DAY[number % ALL_DAY.len()].split_inclusive('@') {
            line.push_str(part.strip_suffix('@').unwrap_or(part));
            if part.ends_with('@') {
                line.push_str(names[name % names.len()]);
                name /= names.len();
            }
        }
        line
    };
    let mut lines: Vec<String> = (0..count).map(line).collect();
    lines.sort();
    lines.dedup();
    lines
}

/// Questions in other words than the lines have, and the lines.
const FIRST: &str = include_str!("../../../tests/it/fixtures/recall/questions.tsv");
/// The same, written before anything was made of them; of each second one the misses were not looked at.
const SECOND: &str = include_str!("../../../tests/it/fixtures/recall/second.tsv");
/// As a person asks who wrote neither the words that axi knows nor the lines above; nothing was made of its misses.
const THIRD: &str = include_str!("../../../tests/it/fixtures/recall/third.tsv");

/// How many of them are answered by the first five.
fn answered(written: &str, others_count: usize) -> (usize, Vec<String>) {
    let questions: Vec<(&str, &str)> = written.lines().filter_map(|row| row.split_once('\t')).collect();
    assert!(questions.len() >= 100);
    let others = others(others_count);
    // Of equals the first comes first: theirs are the last.
    let lines = others.iter().map(String::as_str).chain(questions.iter().map(|(_, line)| *line));
    let all: Vec<Line<'_>> = lines.map(typed).collect();
    let mut missed = Vec::new();
    for (question, line) in &questions {
        let found = recalled(question, None, all.iter().copied(), None, None);
        if !found.iter().take(5).any(|found| found.text == *line) {
            missed.push(format!("{question}: {line}"));
        }
    }
    (questions.len() - missed.len(), missed)
}

#[test]
fn questions_in_other_words_find_the_line_among_the_first_five() {
    let (found, missed) = answered(FIRST, 4_000);
    assert!(found >= 85, "{found}\n{}", missed.join("\n"));
    let (found, missed) = answered(SECOND, 4_000);
    assert!(found >= 90, "{found}\n{}", missed.join("\n"));
    let (found, missed) = answered(THIRD, 4_000);
    assert!(found >= 80, "{found}\n{}", missed.join("\n"));
}
