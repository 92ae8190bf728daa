//! A planted home and workspace: whatever reads unasked, no secret file's content comes back.
#![cfg(target_os = "linux")]

use std::path::Path;

use axi::conversation::Outcome;
use axi::sandbox::Reach;
use axi::tool::{GrepTool, Tool};
use serde_json::json;

use crate::sandbox_escapes::Cage;
use crate::support::server::{Server, answer};
use crate::support::skip::skip;

/// What each planted file begins with, and what becomes of it when it is turned round, counted or encoded.
const CANARY: &str = "CANARY-7f3a9d-secret";
const TRACES: &[&str] = &["CANARY", "YRANAC", "Q0FOQVJZ", "4341 4e41", "43414e41", "C   A   N   A", "103 101 116"];

/// Below the workspace.
const HERE: &[&str] = &[
    ".env",
    "sub/.env",
    "a/b/c/.env.local",
    "server.pem",
    "a/tls.key",
    "a/b/id_ed25519",
    "config/secrets.yml",
    "deep/x/credentials.json",
    "sub/.netrc",
    "deep/.aws/config",
    "deploy/prod.env",
    "a/.npmrc",
    "store.p12",
];

/// Below home.
const HOME: &[&str] = &[
    ".ssh/id_rsa",
    ".ssh/config",
    ".aws/credentials",
    ".netrc",
    ".git-credentials",
    ".config/gh/hosts.yml",
    ".config/axi/config.toml",
    ".cache/huggingface/token",
    ".kaggle/kaggle.json",
    ".bash_history",
    "other/project/.env",
    "other/project/key.pem",
];

/// Lines that read a file, `F`.
const OF_FILE: &[&str] = &[
    "cat F",
    "cat < F",
    "cat -A F",
    "head -n 3 F",
    "head -c 20 F",
    "tail -n +1 F",
    "grep . F",
    "grep -a -o 'C.*' F",
    "grep -f F /dev/null F",
    "sed -n p F",
    "awk 1 F",
    "awk 'BEGIN { while ((getline x < \"F\") > 0) print x }'",
    "cut -c 1- F",
    "sort F",
    "uniq F",
    "nl F",
    "od -c F",
    "od -b F",
    "od -x F",
    "xxd F",
    "hexdump -C F",
    "strings F",
    "base64 F",
    "paste F",
    "tac F",
    "rev F",
    "fold F",
    "fmt F",
    "pr F",
    "expand F",
    "comm F /dev/null",
    "join F F",
    "diff F /dev/null",
    "diff -u /dev/null F",
    "cmp -b F /dev/zero",
    "dd if=F",
    "read -r x < F; echo \"$x\"",
    "mapfile x < F; echo \"${x[@]}\"",
    "echo \"$(< F)\"",
    "echo \"$(cat F)\"",
    "while read -r x; do echo \"$x\"; done < F",
    "exec 3< F; cat <&3; exec 3<&-",
    "cat /dev/fd/4 4< F",
    "cat /dev/stdin < F",
    "cat /proc/self/cwd/F",
    "cat ./sub/../F",
    "date -f F",
    "file -f F",
    "du --files0-from=F",
    "wc --files0-from=F",
    "sort --files0-from=F",
    "jq --rawfile x F -n '$x'",
    "jq --from-file F -n",
    "man ./F",
    "bash F",
    ". F",
    "bash -n F",
    "git diff --no-index /dev/null F",
    "git config -f F --list",
    "git grep --no-index C F",
    "tar cf - F | strings",
    "gzip -c F | zcat",
    "cp F $TMPDIR/x; cat $TMPDIR/x",
    "ln -s $PWD/F $TMPDIR/l; cat $TMPDIR/l; rm $TMPDIR/l",
    "tee $TMPDIR/t < F",
    "split -l 1 F $TMPDIR/s; cat $TMPDIR/s*",
    "perl -pe 1 F",
    "python3 -c 'print(open(\"F\").read())'",
    "openssl base64 -in F",
    "env -S 'cat F'",
    "timeout 5 cat F",
    "nice cat F",
    "xargs -a F echo",
    "echo F | xargs cat",
    "find F -exec cat {} +",
    "sh -c 'cat F'",
];

/// Lines that read all of a directory, `D`.
const OF_DIRECTORY: &[&str] = &[
    "grep -r C D",
    "grep -rh . D",
    "grep -R --include='*' C D",
    "find D -type f -exec cat {} +",
    "find D -type f -print0 | xargs -0 cat",
    "find D -name '*e*' -exec head -c 99 {} \\;",
    "shopt -s dotglob globstar; cat D/**",
    "cat D/.e* D/.[a-z]*/*",
    "ls -A D | xargs -I{} cat D/{}",
    "tar cf - D | strings",
    "git grep --no-index C -- D",
    "diff -r D /dev",
    "for f in D/* D/.*; do cat \"$f\"; done",
];

/// Links of the workspace to the `.env` of a directory below, read from there.
const OWN_LINKS: &[&str] = &[
    "/proc/self/cwd/.env",
    "/proc/thread-self/cwd/.env",
    "//proc/self/cwd/.env",
    "/proc/self/cwd/../sub/.env",
    "/dev/fd/../cwd/.env",
];

/// Lines of git that tell what was committed.
const OF_HISTORY: &[&str] = &[
    "git log -p",
    "git log -p --all -S secret",
    "git log -p --word-diff",
    "git show",
    "git show --format= HEAD",
    "git diff HEAD~1",
    "git diff HEAD~1 HEAD -- .",
    "git diff --cached HEAD~1",
    "git diff",
    "git diff-tree -p HEAD",
    "git diff-index -p HEAD~1",
    "git whatchanged -p",
    "git reflog -p",
    "git grep C",
    "git grep --cached C",
    "git grep C HEAD",
    "git grep C $(git rev-list --all)",
    "git stash list -p",
];

fn planted() -> Option<Cage> {
    let cage = Cage::new(Reach::ReadOnly)?;
    for name in HERE {
        cage.bench.put(name, format!("{CANARY}\npassword: {CANARY}\n"));
    }
    for name in HOME {
        let path = cage.home.join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).unwrap();
        std::fs::write(path, format!("{CANARY}\n")).unwrap();
    }
    cage.bench.put("notes.txt", "plain words\n");
    cage.bench.put("sub/.env.example", "plain sample\n");
    std::os::unix::fs::symlink(cage.bench.path(".env"), cage.bench.path("harmless.txt")).unwrap();
    std::os::unix::fs::symlink(cage.home.join(".ssh"), cage.bench.path("keys")).unwrap();
    // Links to what is each process's own: to the judge they lead elsewhere, or nowhere.
    for (at, own) in OWN_LINKS.iter().enumerate() {
        std::os::unix::fs::symlink(own, cage.bench.path(&format!("own{at}"))).unwrap();
    }
    // Second names that say nothing.
    std::fs::hard_link(cage.bench.path(".env"), cage.bench.path("sub/second.txt")).unwrap();
    std::fs::hard_link(cage.home.join(".ssh/id_rsa"), cage.bench.path("a/third.txt")).unwrap();
    std::fs::hard_link(cage.bench.path("notes.txt"), cage.bench.path("notes2.txt")).unwrap();
    Some(cage)
}

fn traces(text: &str) -> Option<&'static str> {
    TRACES.iter().find(|trace| text.contains(**trace)).copied()
}

#[test]
fn a_thousand_reading_lines_bring_no_secret_back() {
    let Some(cage) = planted() else { return };
    if !cage.bench.sandbox.judges_openings() {
        return skip("nobody can judge what is opened here");
    }
    let home = cage.home.display();
    let mut lines: Vec<String> = Vec::new();
    let below_home = HOME.iter().map(|name| format!("{home}/{name}"));
    let aliases = ["harmless.txt", "keys/id_rsa", "sub/second.txt", "a/third.txt"].map(str::to_owned);
    for file in HERE.iter().map(|name| (*name).to_owned()).chain(below_home).chain(aliases) {
        lines.extend(
            OF_FILE
                .iter()
                .filter(|line| !(file.starts_with('/') && line.contains("/F")))
                .map(|line| line.replace('F', &file)),
        );
    }
    let directories = [
        ".".to_owned(),
        "sub".to_owned(),
        "a".to_owned(),
        format!("{home}"),
        format!("{home}/other"),
        "keys/".to_owned(),
    ];
    for directory in directories {
        lines.extend(OF_DIRECTORY.iter().map(|line| line.replace('D', &directory)));
    }
    for line in OF_FILE.iter().filter(|line| !line.contains("/F")) {
        let read =
            (0..OWN_LINKS.len()).map(|at| format!("cd sub && {}", line.replace('F', &format!("../own{at}"))));
        lines.extend(read);
    }
    assert!(lines.len() >= 1000, "{}", lines.len());
    // Each in a shell of its own within one command: that a line fails is nobody's concern.
    for part in lines.chunks(50) {
        let script: Vec<String> = part.iter().map(|line| format!("( {line} ) </dev/null 2>&1")).collect();
        let output = cage.run(&script.join("\n"));
        if let Some(trace) = traces(&output.content) {
            let who = part.iter().filter(|line| traces(&cage.run(line).content).is_some());
            panic!("{trace}: {:#?}", who.collect::<Vec<_>>());
        }
    }
    let plain = cage.run("cat notes.txt sub/.env.example; grep -r plain .; cat < notes.txt");
    assert_eq!(plain.content.matches("plain words").count(), 4, "{}", plain.content);
    assert!(plain.content.contains("plain sample"), "{}", plain.content);
}

#[test]
fn what_was_committed_of_secret_files_is_not_told_unasked() {
    let Some(cage) = planted() else { return };
    let git = "git -c user.name=me -c user.email=me@here";
    let made = std::process::Command::new("sh")
        .args(["-c", &format!("git init -q . && {git} commit -q --allow-empty -m none && rm sub/second.txt a/third.txt && git add -f . && {git} commit -qm all")])
        .current_dir(cage.bench.path("."))
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", &cage.home)
        .status();
    assert!(made.unwrap().success());
    for line in OF_HISTORY {
        let told = cage.run(line).content;
        assert!(traces(&told).is_none(), "{line}: {told}");
    }
    let told = cage.run("git log -p -1; git grep plain HEAD").content;
    assert!(told.contains("+plain words"), "{told}");
    assert!(told.contains("HEAD:sub/.env.example:plain sample"), "{told}");
}

/// Lines of git that compare what lies there with what was committed; whether they show the other file's new line.
const OF_CHANGES: &[(&str, bool)] = &[
    ("git diff", true),
    ("git diff HEAD", true),
    ("git -C . -c color.ui=never diff", true),
    ("cd sub && git diff", true),
    ("git diff-files -p", true),
    ("git diff-index -p HEAD", true),
    ("git status -vv", true),
    ("git diff --stat", false),
];

#[test]
fn a_diff_goes_on_behind_a_changed_secret_file_and_says_that_it_does_not_show_it() {
    let Some(cage) = planted() else { return };
    if !cage.bench.sandbox.judges_openings() {
        return skip("nobody can judge what is opened here");
    }
    let git = "git -c user.name=me -c user.email=me@here";
    let made = std::process::Command::new("sh")
        .args(["-c", &format!("git init -q . && git add -f .env sub notes.txt && {git} commit -qm all")])
        .current_dir(cage.bench.path("."))
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", &cage.home)
        .status();
    assert!(made.unwrap().success());
    for name in [".env", "sub/.env"] {
        cage.bench.put(name, format!("{CANARY} is another one now\n"));
    }
    cage.bench.put("notes.txt", "plain words\nmore of them\n");
    for (line, shows) in OF_CHANGES {
        let told = cage.run(line);
        assert_eq!(told.outcome, Outcome::Ok, "{line}: {}", told.content);
        assert!(traces(&told.content).is_none(), "{line}: {}", told.content);
        assert_eq!(told.content.contains("more of them"), *shows, "{line}: {}", told.content);
        assert!(told.content.contains("[secret files, not shown: .env"), "{line}: {}", told.content);
    }
    let names = cage.run("git status --porcelain").content;
    assert!(names.contains(" M .env") && names.contains(" M notes.txt"), "{names}");
    // Only what compares a repository is given anything in its place.
    for line in
        ["git diff --no-index /dev/null .env", "git hash-object .env", "git grep --untracked is", "cat .env"]
    {
        let told = cage.run(line);
        assert!(told.content.contains("denied"), "{line}: {}", told.content);
    }
}

/// Lines that read archives with a secret file in them, or one that was packed under another name.
const OF_ARCHIVES: &[&str] = &[
    "cat a.tar",
    "strings a.tar",
    "grep -a C a.tar",
    "tar xOf a.tar",
    "tar xOf a.tar .env",
    "tar xzOf b.tar.gz",
    "zcat b.tar.gz | strings",
    "gzip -dc b.tar.gz | tail -c 99",
    "zcat env.gz",
    "gunzip -c < env.gz",
    "gzip -dc env.gz | rev",
    "zgrep . env.gz",
    "cd sub && zcat ../env.gz",
    "base64 a.tar",
    "xz -dc d.tar.xz | strings",
    "xzcat d.tar.xz",
    "tar xJOf d.tar.xz",
    "find . -name '*.tar' -exec strings {} +",
    "cp env.gz $TMPDIR/x; zcat < $TMPDIR/x",
    "for f in *.gz; do zcat $f; done",
    "python3 -c 'import gzip; print(gzip.open(\"env.gz\").read())'",
];

#[test]
fn what_an_archive_holds_of_secret_files_is_not_told() {
    let Some(cage) = planted() else { return };
    if !cage.bench.sandbox.judges_openings() {
        return skip("nobody can judge what is opened here");
    }
    let line = "tar cf a.tar notes.txt .env && tar czf b.tar.gz sub && gzip -kf .env && mv .env.gz env.gz
        tar czf plain.tar.gz notes.txt && gzip -kf notes.txt; ! command -v xz || tar cJf d.tar.xz sub";
    let made = std::process::Command::new("sh").args(["-c", line]).current_dir(cage.bench.path(".")).status();
    assert!(made.unwrap().success());
    for line in OF_ARCHIVES {
        let told = cage.run(line).content;
        assert!(traces(&told).is_none(), "{line}: {told}");
    }
    let plain = cage.run("zcat notes.txt.gz; tar xzOf plain.tar.gz notes.txt; tar tzf plain.tar.gz");
    assert_eq!(
        (plain.outcome, plain.content.matches("plain words").count()),
        (Outcome::Ok, 2),
        "{}",
        plain.content
    );
}

#[test]
fn a_search_skips_secret_files_and_says_how_many() {
    let Some(mut cage) = planted() else { return };
    let search = |cage: &Cage, input| cage.bench.run(&GrepTool, input);
    for glob in [None, Some("*"), Some(".*"), Some("**/.env*"), Some("*.pem"), Some("{.*,*}")] {
        for path in [".", "sub", "a", "keys", &cage.home.display().to_string(), "harmless.txt/.."] {
            for pattern in ["C", "secret", "."] {
                let mut input = json!({"pattern": pattern, "path": path});
                if let Some(glob) = glob {
                    input["glob"] = glob.into();
                }
                // What is named is asked for before it is read.
                let found = search(&cage, input);
                let asked = path == "keys";
                assert!(asked || traces(&found.content).is_none(), "{glob:?} {path}: {}", found.content);
            }
        }
    }
    let found = search(&cage, json!({"pattern": "C", "path": ".", "glob": ".env*"}));
    assert_eq!(found.outcome, Outcome::Ok);
    assert!(found.content.ends_with("(3 secret files not searched; name one to ask for it)"), "{}", found.content);
    // Where the sandbox is off, too: this is no matter of the kernel.
    cage.bench.sandbox = axi::sandbox::Sandbox::new(
        axi::sandbox::Wanted::Off,
        Some(cage.home.clone()),
        vec![cage.home.join(".config/axi")],
        Vec::new(),
        "/tmp".into(),
    );
    let found = search(&cage, json!({"pattern": "C", "path": cage.home, "glob": "*"}));
    assert!(
        traces(&found.content).is_none() && found.content.contains("secret files not searched"),
        "{}",
        found.content
    );
    // Somebody was asked about this one.
    let found = search(&cage, json!({"pattern": "C", "path": ".env"}));
    assert!(found.content.contains(CANARY), "{}", found.content);
    assert_eq!(GrepTool.spec().name, "grep");
}

#[test]
fn a_secret_file_under_a_second_name_is_not_read_unasked() {
    let home = crate::support::home::Home::new();
    home.write("work/deep/.env", "TOKEN=second-name-canary\n");
    std::fs::hard_link(home.work().join("deep/.env"), home.work().join("notes.txt")).unwrap();
    home.write("work/a.txt", "nothing\n");
    std::fs::hard_link(home.work().join("a.txt"), home.work().join("b.txt")).unwrap();
    let read = |path: &str| answer::chat_call("call_1", "read", &json!({ "path": path }).to_string());
    let server = Server::start([read("b.txt"), read("notes.txt"), answer::chat_text("done")]);
    let ran = crate::support::talk::run(crate::support::talk::axi(&home, &server).args(["-p", "look"]));
    assert_eq!(ran.code, Some(5), "{}", ran.err);
    let sent: String = server.requests().iter().map(|request| request.body.to_string()).collect();
    assert!(sent.contains("nothing") && !sent.contains("second-name-canary"), "{sent}");
}

#[test]
fn what_an_agreed_line_made_of_a_secret_file_is_not_read_unasked() {
    let home = crate::support::home::Home::new();
    home.write("work/deep/.env", "a quokka sits here\n");
    let shell = |line: &str| answer::chat_call("call_1", "shell", &json!({ "command": line }).to_string());
    let read = answer::chat_call("call_2", "read", &json!({ "path": "copy" }).to_string());
    let replies =
        [shell("cp deep/.env copy"), shell("grep -rs quok . ; cat cop*; true"), read, answer::chat_text("done")];
    let server = Server::start(replies);
    let options = ["--allow", "shell(cp deep/.env copy)", "-p", "look"];
    let ran = crate::support::talk::run(crate::support::talk::axi(&home, &server).args(options));
    assert!(home.work().join("copy").exists(), "{}", ran.err);
    assert_eq!(ran.code, Some(5), "{}", ran.err);
    let sent: String = server.requests().iter().map(|request| request.body.to_string()).collect();
    assert!(!sent.contains("sits here"), "{sent}");
}

#[test]
fn what_a_person_sees_or_names_by_another_name_is_not_sent() {
    let home = crate::support::home::Home::new();
    home.write("work/.env", "a quokka sits here\n");
    std::os::unix::fs::symlink(".env", home.work().join("notes.txt")).unwrap();
    let server = Server::start([answer::chat_text("well")]);
    let mut person = crate::support::talk::Person::meets(&crate::support::talk::axi(&home, &server));
    person.sends("!cat .env");
    person.sees("the model is not told");
    person.sees_prompt();
    person.sends("/pin notes.txt");
    person.sees("it leads to a secret file");
    person.sees_prompt();
    person.sends("look at @notes.txt");
    person.sees("well");
    person.sees_prompt();
    let sent = server.requests()[0].body.to_string();
    assert!(sent.contains("cat .env") && !sent.contains("quokka"), "{sent}");
}
