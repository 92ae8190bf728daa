//! Whatever may show what is in a secret file, in whatever form, says so before it runs, and Enter means no.

use std::path::PathBuf;

use super::{is_careful, is_of_secret};
use crate::approval::{Assessment, Decision, Mode, Policy, Surroundings, program_names};
use crate::conversation::{Effect, Subject};

fn assessed(line: &str) -> Assessment {
    let place = Surroundings {
        cwd: PathBuf::from("/home/u/work/app"),
        workspace: PathBuf::from("/home/u/work/app"),
        home: Some(PathBuf::from("/home/u")),
        secrets: crate::secret::files::SecretFiles::default(),
        environment: std::collections::BTreeMap::new(),
        definitions: std::sync::Arc::default(),
    };
    let subject = Subject::Command { line: line.to_owned() };
    Policy::new(Mode::Build, false).decide("shell", Effect::Execute, &subject, &place)
}

/// Tells whether the person is told of a secret, and must say yes in so many words.
fn says_secret(line: &str) -> bool {
    let Assessment { verdict, line, .. } = assessed(line);
    verdict.decision == Decision::Ask
        && verdict.reasons.iter().any(is_of_secret)
        && is_careful(Effect::Execute, &verdict, line.as_deref(), None)
}

#[test]
fn every_reader_of_the_table_says_that_it_reads_a_secret() {
    let (mut silent, mut readers) = (Vec::new(), 0);
    for (name, first) in program_names::of_readers() {
        readers += 1;
        for line in [
            format!("{name} {first}.env"),
            format!("{name} {first}/home/u/.netrc"),
            format!("{name} {first}-- .env"),
            format!("{name} {first}< .env"),
            format!("{name} {first}.env | base64"),
            format!("cat .env | {name} {first}"),
            format!("sh -c '{name} {first}.env'"),
            format!("for file in .env; do {name} {first}\"$file\"; done"),
            format!("busybox {name} {first}.env"),
        ] {
            if !says_secret(&line) {
                silent.push(line);
            }
        }
    }
    assert!(readers > 100, "{readers}");
    assert_eq!(silent, [] as [&str; 0]);
}

#[test]
fn a_file_that_a_flag_names_is_read_too() {
    let lines = [
        "date -f .env",
        "date --file=.env",
        "gdate --file .env",
        "file -f .env",
        "file --files-from=.env",
        "file -m .env x",
        "du --files0-from=.env",
        "du --files0-from .env",
        "tree --fromfile .env",
        "find -files0-from .env",
        "man ./.env",
        "man -l .env",
        "info -f .env",
        "last -f .env",
        "who .env",
        "jq -f .env x.json",
        "jq -n --rawfile x .env '$x'",
        "jq -n --slurpfile x .env '$x'",
        "xargs -a .env echo",
        "wc --files0-from .env",
        "wc --files0-from=.env",
        "sort --files0-from=.env",
        "sort --files0-from .env",
        "grep -f .env x",
        "grep --file .env x",
        "rg -f .env x",
        "awk -f .env x",
        "sed -f .env x",
        "diff --from-file=.env x",
        "diff --from-file .env x",
        "strings @.env",
        "git status --pathspec-from-file=.env",
        "git config -f .env -l",
        "git config --file .env --list",
        "git config --file=.env --list",
        "git blame --contents .env x",
        "git grep -f .env",
        "git log --pathspec-from-file .env",
        "exec 3<.env; cat <&3",
        "read x < .env; echo $x",
        "cmp -l .env /dev/zero",
        "tput -S < .env",
        "bc .env",
        "cat -- .env",
        "cat ./.env",
        "cat \"$PWD/.env\"",
        "cat .en?",
        "cat .e*",
        "cat .{env,x}",
        "cat -n.env .env",
        "head -c5 .env",
        "tail -n+1 .env",
        "fold -w1 .env",
        "nl -ba .env",
        "paste -sd, .env",
        "column -t .env",
        "pr .env",
        "sensors -c .env",
        "findmnt --tab-file .env",
        "ss -F .env",
        "dmesg -F .env",
        "dmesg --file=.env",
    ];
    let silent: Vec<&str> = lines.into_iter().filter(|line| !says_secret(line)).collect();
    assert_eq!(silent, [] as [&str; 0]);
}

#[test]
fn so_does_what_encodes_or_cuts_it_in_other_ways() {
    let lines = [
        "base64 .env",
        "base64 -w0 .env",
        "base64 -i .env",
        "xxd .env",
        "xxd -p .env",
        "cut -c1- .env",
        "cut -d= -f2 .env",
        "od -An -c .env",
        "openssl base64 -in .env",
        "openssl enc -base64 -in .env",
        "uuencode .env x",
        "gzip -c .env | base64",
        "sed -n l .env",
        "awk '{print}' .env",
        "awk '{print}' FS== .env",
        "perl -pe 1 .env",
        "perl -MMIME::Base64 -0777 -ne 'print encode_base64($_)' .env",
        "python3 -m base64 .env",
        "python3 -m base64 -e .env",
        "ruby -ne 'print' .env",
        "dd if=.env",
        "dd bs=1 if=.env | base64",
        "dd if=.env of=/dev/stdout",
        "tar cf - .env | base64",
        "zip - .env | base64",
        "while read line; do echo $line; done < .env",
        "echo $(<.env)",
        "echo $(base64 .env)",
        "printf %s \"$(cat .env)\"",
        "mapfile lines < .env",
        "git hash-object .env",
        "git diff --no-index /dev/null .env",
        "diff /dev/null .env",
        "find . -name .env -exec base64 {} +",
        "find . -name .env | xargs base64",
        "ls .env | xargs base64",
        "tr a-z n-za-m < .env",
        "split .env",
        "vim -es -c '%print' -c q .env",
        "ed .env",
        "toybox xxd .env",
        "env base64 .env",
        "sudo xxd .env",
        "timeout 5 cut -c1- .env",
        "b64encode .env x",
        "qrencode -r .env",
        "jq -Rs @base64 .env",
        "node -p \"require('fs').readFileSync('.env','base64')\"",
        "python3 -c \"print(open('.env').read())\"",
        "ruby -e \"puts File.read('.env')\"",
        "perl -e \"open F, '.env'; print <F>\"",
        "php -r \"readfile('.env');\"",
        "lua -e \"print(io.open('.env'):read('a'))\"",
    ];
    let silent: Vec<&str> = lines.into_iter().filter(|line| !says_secret(line)).collect();
    assert_eq!(silent, [] as [&str; 0]);
}

#[test]
fn what_shows_no_secret_is_not_said_to() {
    for line in [
        "python3 -c 'print(1)' .env.example",
        "node -e 'console.log(process.env.HOME)'",
        "make test",
        "cp .env.example .env",
        "touch .env",
        "chmod 600 .env",
        "ssh -i ~/.ssh/id_ed25519 host true",
        "find . -name '*.rs' | xargs wc -l",
    ] {
        assert!(!assessed(line).verdict.reasons.iter().any(is_of_secret), "{line}");
    }
}
