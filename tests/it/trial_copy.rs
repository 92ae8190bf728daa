//! A trial in a copy, for where the system allows no layer: the same page, the same apply, and the command writes nowhere else.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::home::Home;
use crate::support::skip::skip;
use crate::support::talk::{Person, Ran, run};
use crate::trial::{changes, filled, timeless};
use crate::undo_random::picture;

fn in_copy(home: &Home) -> Command {
    let mut command = home.axi();
    command.env("AXI_TRIAL", "copy").arg("try");
    command
}

fn tries(home: &Home, options: &[&str], line: &str) -> Ran {
    run(in_copy(home).args(options).args(["--", line]))
}

/// Without a sandbox nothing holds a command to a copy.
pub(crate) fn can_copy() -> bool {
    let home = Home::new();
    let ran = tries(&home, &[], "true");
    if ran.code != Some(0) {
        skip(&ran.err);
    }
    ran.code == Some(0)
}

#[test]
fn a_copy_tells_the_same_as_a_layer_and_nothing_is_touched_or_left() {
    if !can_copy() {
        return;
    }
    let home = filled();
    let before = picture(&home.work());
    let line = "rm -r d0; echo more >> top; mkdir new; echo 1 > new/a; chmod 600 d1/a; ln -s top leads; \
                mkfifo pipe; exit 3";
    let ran = tries(&home, &["--json"], line);
    let set: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, &set["exit"]), (Some(0), &json!(3)), "{}", ran.err);
    let kinds: Vec<String> = changes(&ran).into_iter().map(|(kind, path)| format!("{kind} {path}")).collect();
    let told = [
        "deleted d0",
        "deleted d0/a",
        "deleted d0/b",
        "deleted d0/s0",
        "deleted d0/s0/a",
        "mode d1/a",
        "link leads",
        "added new",
        "added new/a",
        "added pipe",
        "changed top",
    ];
    assert_eq!(kinds, told);
    assert!(set["also"][0].as_str().unwrap().contains("in a copy"), "{set}");
    let page = tries(&home, &[], line).out;
    assert!(page.contains("- d0/s0/a") && page.contains("Tried in a copy"), "{page}");
    assert_eq!(picture(&home.work()), before);
    let left = |place: &Path| place.read_dir().is_ok_and(|mut entries| entries.next().is_some());
    assert!(!left(&home.path().join("state/axi/trials")));
}

#[test]
fn applied_from_a_copy_it_is_as_if_it_had_run_there_hard_links_and_holes_with_it() {
    if !can_copy() {
        return;
    }
    let (tried, direct) = (filled(), filled());
    for home in [&tried, &direct] {
        std::fs::write(home.work().join("one"), "1\n").unwrap();
        std::fs::hard_link(home.work().join("one"), home.work().join("two")).unwrap();
        std::fs::File::create(home.work().join("hole")).unwrap().set_len(3_000_000).unwrap();
    }
    let line = "echo written through one name >> one; ln one three; mv d0 moved; rm d1/a; chmod 711 d1; \
                printf end | dd of=hole bs=1 seek=2000000 conv=notrunc status=none; git add -A; git commit -qm x";
    let ran = tries(&tried, &["--apply", "--json"], line);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let _ = direct.command("sh").args(["-c", line]).current_dir(direct.work()).output().unwrap();
    assert_eq!(timeless(&tried), timeless(&direct), "{}", ran.err);
    let names = |home: &Home| home.work().join("two").metadata().unwrap().nlink();
    assert_eq!((names(&tried), names(&direct)), (3, 3));
    assert!(tried.work().join("hole").metadata().unwrap().blocks() < 2_000);
}

#[test]
fn what_a_program_writes_down_of_where_it_works_is_told() {
    if !can_copy() {
        return;
    }
    let home = filled();
    let ran = tries(&home, &[], "pwd > here; ln -s $PWD/top leads; basename $PWD > name; echo plain > plain");
    let rows: Vec<&str> = ran.out.lines().filter(|row| row.contains("names the path of the copy")).collect();
    assert_eq!(rows.len(), 2, "{}", ran.out);
    assert!(rows[0].contains("+ here") && rows[1].contains("> leads"), "{rows:?}");
    let ran = tries(&home, &["--apply"], "basename $PWD > name; mkdir -p ~/.cache/x || mkdir -p $XDG_CACHE_HOME/x");
    assert_eq!(std::fs::read_to_string(home.work().join("name")).unwrap(), "work\n", "{}", ran.err);
    assert!(!home.path().join(".cache").exists());
}

#[test]
fn a_command_in_a_copy_writes_nowhere_else_and_leaves_no_process() {
    if !can_copy() {
        return;
    }
    let home = filled();
    let outside = home.write("kept.txt", "mine");
    std::fs::set_permissions(&outside, std::fs::Permissions::from_mode(0o640)).unwrap();
    let before = picture(&home.work());
    let (work, kept) = (home.work().display().to_string(), outside.display().to_string());
    let line = format!(
        "echo 1 > {work}/top; rm {work}/d0/a; chmod 600 {work}/top; touch {kept}; echo 2 > {kept}; chmod 777 {kept}; \
         touch /tmp/axi-copy-{0}; mktemp > /dev/null && echo temporary; \
         setsid sh -c 'trap \"\" TERM HUP; sleep 7{0}' > /dev/null 2>&1 &",
        std::process::id()
    );
    let ran = tries(&home, &["--json"], &line);
    let set: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(set["changes"], json!([]), "{}", ran.out);
    assert!(ran.err.contains("temporary"), "it has a place for temporary files: {}", ran.err);
    assert_eq!(picture(&home.work()), before);
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "mine");
    assert_eq!(outside.metadata().unwrap().mode() & 0o777, 0o640);
    assert!(!Path::new(&format!("/tmp/axi-copy-{}", std::process::id())).exists());
    let sleeps = format!("sleep\u{0}7{}\u{0}", std::process::id());
    let lives = |entry: std::fs::DirEntry| {
        std::fs::read_to_string(entry.path().join("cmdline")).is_ok_and(|line| line == sleeps)
    };
    assert!(!std::fs::read_dir("/proc").unwrap().flatten().any(lives), "a process lives on");
}

#[test]
fn a_command_in_a_copy_ends_nobody_elses_process() {
    if !can_copy() {
        return;
    }
    let home = filled();
    let mut other = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    let line = format!("kill -9 {}; sleep 1000 & kill -9 $! && echo own > ended", other.id());
    let ran = tries(&home, &["--json"], &line);
    let lives = other.try_wait().unwrap().is_none();
    other.kill().unwrap();
    other.wait().unwrap();
    assert_eq!(changes(&ran), [("added".to_owned(), "ended".to_owned())], "{}", ran.err);
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers = release.split(['.', '-']).map_while(|number| number.parse::<u32>().ok());
    if (numbers.next(), numbers.next()) < (Some(6), Some(12)) {
        return skip("Landlock holds no signals before Linux 6.12");
    }
    assert!(lives, "{}", ran.err);
}

#[test]
fn a_large_copy_is_made_only_where_somebody_says_so() {
    if !can_copy() {
        return;
    }
    let home = filled();
    // All of it is a hole: only its length is large.
    std::fs::File::create(home.work().join("large")).unwrap().set_len(600 * 1024 * 1024).unwrap();
    let refused = tries(&home, &["--json"], "echo x > top");
    assert_eq!(refused.code, Some(1), "{}", refused.out);
    assert!(refused.err.contains("axi try --copy"), "{}", refused.err);
    let made = run(home.axi().args(["try", "--copy", "--json", "--", "echo x > top"]));
    assert_eq!(changes(&made), [("changed".to_owned(), "top".to_owned())], "{}", made.err);
    let mut command = in_copy(&home);
    command.args(["--", "echo x > top"]);
    let mut person = Person { pty: crate::support::pty::Pty::options().spawn(&command) };
    person.sees_choice("Do not try");
    person.types("y");
    person.sees("~ top");
    person.sees_choice("Apply it");
    person.types("y");
    person.sees("1 change applied");
    assert_eq!(std::fs::read_to_string(home.work().join("top")).unwrap(), "x\n");
}
