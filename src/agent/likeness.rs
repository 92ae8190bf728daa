//! How much a line that was typed is like a question: the words both have, and the programs that do what it asks for.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::context::{each_word, wanted};

/// What people call what programs do.
const PURPOSES: &str = include_str!("purposes.words");

/// The usual constants of BM25 (Robertson and Zaragoza 2009). Lines are short, so that their length says less.
const K1: f64 = 1.2;
const B: f64 = 0.4;
/// How much it counts that a word of a line begins as one of the question, and that its program does what that says.
const BEGINS: f64 = 0.7;
const DOES: f64 = 0.6;
/// A shorter word is the beginning of too many.
const LEAST_BEGINNING: usize = 3;
/// The most words of a question that count.
const MOST_WORDS: usize = 32;
/// What stands before a program.
const BEFORE: &[&str] = &["sudo", "doas", "env", "time", "nohup", "nice", "exec", "command"];
/// Words that say little of what is sought, and how much they count.
const GENERAL: &str =
    " mak get put us se look keep show list tak giv run want need last first new old all now right thing command ";
const OF_GENERAL: f64 = 0.4;

/// A program, or one of its subcommands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Program {
    name: &'static str,
    subcommand: Option<&'static str>,
}

/// The programs whose purpose has a word, by its stem.
static PROGRAMS: LazyLock<HashMap<String, Vec<Program>>> = LazyLock::new(|| {
    let mut programs: HashMap<String, Vec<Program>> = HashMap::new();
    for row in PURPOSES.lines().filter(|row| !row.starts_with('#')) {
        let Some((named, purpose)) = row.split_once(':') else { continue };
        for stem in wanted(purpose) {
            programs.entry(stem).or_default().extend(named_in(named));
        }
    }
    programs
});

/// The programs before the colon of a row: one with a subcommand, or all that stand there.
fn named_in(named: &'static str) -> Vec<Program> {
    let has_subcommands =
        |name: &str| PURPOSES.lines().filter(|row| row.starts_with(&format!("{name} "))).count() > 1;
    let all: Vec<&'static str> = named.split_whitespace().collect();
    match all[..] {
        [name, subcommand] if has_subcommands(name) || matches!(name, "go") => {
            vec![Program { name, subcommand: Some(subcommand) }]
        }
        _ => all.into_iter().map(|name| Program { name, subcommand: None }).collect(),
    }
}

/// Which words of a question a line has, a bit each.
#[derive(Debug, Clone, Copy, Default)]
struct Has {
    whole: u32,
    begun: u32,
    done: u32,
    words: u32,
}

/// The words of a question.
pub(super) struct Question {
    words: Vec<String>,
    does: Vec<Vec<Program>>,
}

impl Question {
    /// Reads the words, as [`wanted`] gives them.
    pub(super) fn new(words: &[String]) -> Self {
        let words = words[..words.len().min(MOST_WORDS)].to_vec();
        let does = words.iter().map(|word| PROGRAMS.get(word).cloned().unwrap_or_default()).collect();
        Self { words, does }
    }

    fn looks(&self, line: &str) -> Has {
        let mut has = Has::default();
        each_word(line, &mut |word| {
            has.words += 1;
            for (place, wanted) in self.words.iter().enumerate() {
                if word == wanted {
                    has.whole |= 1 << place;
                } else if wanted.len() >= LEAST_BEGINNING && word.starts_with(wanted.as_str()) {
                    has.begun |= 1 << place;
                }
            }
        });
        if self.does.iter().any(|programs| !programs.is_empty()) {
            programs(line, &mut |name, subcommand| {
                for (place, does) in self.does.iter().enumerate() {
                    let is_it = |program: &Program| {
                        program.name == name && program.subcommand.is_none_or(|wanted| subcommand == Some(wanted))
                    };
                    if does.iter().any(is_it) {
                        has.done |= 1 << place;
                    }
                }
            });
        }
        has
    }

    /// How much each of some lines is like it; 0 where it has nothing of it.
    pub(super) fn scores<'a>(&self, lines: impl Iterator<Item = &'a str>) -> Vec<f64> {
        let all: Vec<Has> = lines.map(|line| self.looks(line)).collect();
        let average =
            (all.iter().map(|has| f64::from(has.words)).sum::<f64>() / as_float(all.len().max(1))).max(1.0);
        let rarity = |having: &dyn Fn(&Has) -> bool| {
            let having = as_float(all.iter().filter(|has| having(has)).count());
            ((as_float(all.len()) - having + 0.5) / (having + 0.5)).ln_1p()
        };
        let of_words: Vec<[f64; 2]> = (0..self.words.len())
            .map(|place| {
                let bit = 1 << place;
                let is_general = GENERAL.contains(&format!(" {} ", self.words[place]));
                let counts = if is_general { OF_GENERAL } else { 1.0 };
                [rarity(&|has| (has.whole | has.begun) & bit != 0), rarity(&|has| has.done & bit != 0)]
                    .map(|rarity| counts * rarity)
            })
            .collect();
        let score = |has: &Has| {
            let words = of_words.iter().enumerate().map(|(place, [said, done])| {
                let bit = 1_u32 << place;
                let weight = |bits: u32, weight: f64| if bits & bit == 0 { 0.0 } else { weight };
                weight(has.whole, *said).max(weight(has.begun, BEGINS * said)).max(weight(has.done, DOES * done))
            });
            let length = 1.0 - B + B * f64::from(has.words) / average;
            words.sum::<f64>() * (K1 + 1.0) / (1.0 + K1 * length)
        };
        all.iter().map(score).collect()
    }
}

/// Hands over the programs of a line, each with its next word that is no option.
fn programs<'a>(line: &'a str, take: &mut dyn FnMut(&'a str, Option<&'a str>)) {
    for part in line.split(['|', ';', '&', '\n', '(']) {
        let mut words = part.split_whitespace().filter(|word| !word.contains('=')).peekable();
        while let Some(before) = words.next_if(|word| BEFORE.contains(word)) {
            take(before, None);
        }
        let Some(program) = words.next() else { continue };
        let name = program.rsplit('/').next().unwrap_or(program);
        take(name, words.find(|word| !word.starts_with('-')));
    }
}

/// What lines have in common that differ in a name or a number only: the program, the options, how many words.
pub(super) fn form(line: &str) -> (String, usize) {
    let mut words = line.split_whitespace();
    let program = words.next().unwrap_or_default();
    let options = line.split_whitespace().filter(|word| word.starts_with('-'));
    let form: Vec<&str> = std::iter::once(program).chain(options).collect();
    (form.join(" "), words.count())
}

#[expect(clippy::cast_precision_loss, reason = "counts of lines are far below 2^52")]
const fn as_float(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::{Recalled, recalled};

    #[test]
    fn each_row_of_purposes_names_programs_and_words() {
        for row in PURPOSES.lines().filter(|row| !row.starts_with('#')) {
            let (named, purpose) = row.split_once(": ").unwrap_or_else(|| panic!("{row}"));
            assert!(!named.trim().is_empty() && !wanted(purpose).is_empty(), "{row}");
        }
    }

    #[test]
    fn programs_are_found_wherever_they_stand() {
        let mut found = Vec::new();
        programs("X=1 sudo /usr/bin/git -C a stash | wc -l; ls && (cd x)", &mut |name, next| {
            found.push((name, next));
        });
        let expected = [("sudo", None), ("git", Some("a")), ("wc", None), ("ls", None), ("cd", Some("x)"))];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_program_that_does_it_counts_less_than_the_word_itself() {
        let question = Question::new(&wanted("unpack the archive"));
        let scores = question.scores(["tar xzf heron.tgz", "unpack archive", "ls", "tarry"].into_iter());
        assert!(scores[1] > scores[0] && scores[0] > 0.0, "{scores:?}");
        assert_eq!(scores[2..], [0.0, 0.0]);
        let stash = Question::new(&wanted("shelve my changes"));
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

    fn typed(text: &str) -> Recalled {
        Recalled { text: text.to_owned(), when: None, cwd: None, exit: None, source: "zsh".to_owned() }
    }

    fn others(count: usize) -> Vec<String> {
        let names =
            ["plover", "finch", "gull", "tern", "robin", "crane", "swift", "raven", "wren", "kite", "egret"];
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

    /// Of a hundred questions in other words than the lines have, how many are answered by the first five.
    fn answered(others_count: usize) -> (usize, Vec<String>) {
        let written = include_str!("../../tests/it/fixtures/recall/questions.tsv");
        let questions: Vec<(&str, &str)> = written.lines().filter_map(|row| row.split_once('\t')).collect();
        assert_eq!(questions.len(), 100);
        let others = others(others_count);
        // Of equals the first comes first: theirs are the last.
        let lines = others.iter().map(String::as_str).chain(questions.iter().map(|(_, line)| *line));
        let all: Vec<Recalled> = lines.map(typed).collect();
        let mut missed = Vec::new();
        for (question, line) in &questions {
            let found = recalled(question, None, all.clone(), None, None);
            if !found.iter().take(5).any(|found| found.text == *line) {
                missed.push(format!("{question}: {line}"));
            }
        }
        (questions.len() - missed.len(), missed)
    }

    #[test]
    fn questions_in_other_words_find_the_line_among_the_first_five() {
        let (found, missed) = answered(4_000);
        assert!(found >= 85, "{found}\n{}", missed.join("\n"));
    }
}
