//! Real commands in a trial: until it is applied nothing is another, down to git's own files; applied, it is as if the
//! command had run there; dropped, nothing is left. What a trial says it does not keep is not in the list: files with several
//! names that are written by one of them.
//!
//! `AXI_TRIAL_COMMANDS` says how many of trials/commands.tsv are run, spread over the list; `all` runs each. A name alone runs
//! those that have it.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::support::home::Home;
use crate::support::skip::skip;
use crate::support::talk::run;
use crate::undo_random::picture;

const COMMANDS: &str = include_str!("trials/commands.tsv");
const WORKSPACE: &str = include_str!("trials/workspace.sh");
/// So many run in the suite.
const SOME: usize = 40;
/// What was made in a run has its own time: those before this are compared (seconds).
const MADE: i64 = 1_600_000_000;

struct Tried {
    name: &'static str,
    needs: &'static str,
    line: String,
}

fn commands() -> Vec<Tried> {
    let rows = COMMANDS.lines().filter(|row| !row.starts_with('#'));
    let tried = rows.map(|row| {
        let mut columns = row.split('\t');
        let (name, needs) = (columns.next().unwrap(), columns.next().unwrap());
        Tried { name, needs, line: serde_json::from_str(columns.next().unwrap()).unwrap() }
    });
    tried.collect()
}

/// Makes the workspace once; the cases get copies of it.
fn template() -> Home {
    let home = Home::new();
    let made = home.command("sh").args(["-c", WORKSPACE]).current_dir(home.work()).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    for path in picture(&home.work()).into_keys().rev().filter(|path| !path.is_symlink()) {
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_mins(25_000_000);
        std::fs::File::open(&path).unwrap().set_modified(time).unwrap();
    }
    home
}

fn copy(template: &Home) -> Home {
    let home = Home::new();
    let from = template.work().join(".");
    let copied = home.command("cp").arg("-a").arg(from).arg(home.work()).output().unwrap();
    assert!(copied.status.success(), "{copied:?}");
    home
}

/// Content or target, mode, times, names, number.
type Entry = (Vec<u8>, u32, (i64, i64), u64, u64);

/// Everything of a workspace, git's own files with it.
fn whole(work: &Path) -> BTreeMap<PathBuf, Entry> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![work.to_owned()];
    while let Some(path) = waiting.pop() {
        let metadata = path.symlink_metadata().unwrap();
        let content = if metadata.is_symlink() {
            path.read_link().unwrap().into_os_string().into_encoded_bytes()
        } else if metadata.is_file() {
            std::fs::read(&path).unwrap()
        } else {
            Vec::new()
        };
        if metadata.is_dir() {
            waiting.extend(path.read_dir().unwrap().map(|entry| entry.unwrap().path()));
        }
        let times = (metadata.mtime(), metadata.mtime_nsec());
        found.insert(path, (content, metadata.mode(), times, metadata.nlink(), metadata.ino()));
    }
    found
}

/// What there is without what only the run gave: its times, and where it was.
fn outcome(home: &Home) -> (BTreeMap<PathBuf, String>, String) {
    let work = home.work();
    let short = |path: &Path| path.strip_prefix(&work).unwrap().to_owned();
    let mut found = BTreeMap::new();
    for (path, (content, mode, time, note, first)) in picture(&work) {
        // The time of a directory in which names went and came back is not applied.
        let time = if time.0 > MADE || path.is_dir() && !path.is_symlink() { (0, 0) } else { time };
        // Who is not root gets copies where git would link, as with `--no-hardlinks`: these can be written.
        let is_copied = !rustix::process::geteuid().is_root() && path.to_string_lossy().contains("/objects/");
        let mode = if is_copied { mode | 0o200 } else { mode };
        let content = String::from_utf8_lossy(&content).replace(&*work.to_string_lossy(), "WORK");
        found.insert(short(&path), format!("{mode:o} {time:?} {note:?} {} {content}", short(&first).display()));
    }
    let history =
        "git log --all --format='%s %d' --date-order | sort; git status --porcelain; git stash list | wc -l";
    let said = home.command("sh").args(["-c", history]).current_dir(&work).output().unwrap();
    (found, String::from_utf8_lossy(&said.stdout).into_owned())
}

/// `AXI_TRIAL_BY=copy`: they are tried in copies.
fn axi(home: &Home) -> std::process::Command {
    let mut command = home.axi();
    if let Ok(by) = std::env::var("AXI_TRIAL_BY") {
        command.env("AXI_TRIAL", by);
    }
    command
}

fn differs(template: &Home, tried: &Tried) -> Option<String> {
    let (home, direct) = (copy(template), copy(template));
    let before = whole(&home.work());
    let dropped = run(axi(&home).args(["try", "--json", "--", &tried.line]));
    let is_untouched = whole(&home.work()) == before;
    let left = home.path().join("state/axi/trials");
    let is_left = left.read_dir().is_ok_and(|mut entries| entries.next().is_some());
    let applied = run(axi(&home).args(["try", "--apply", "--json", "--", &tried.line]));
    let _ = direct.command("sh").args(["-c", &tried.line]).current_dir(direct.work()).output().unwrap();
    let (now, expected) = (outcome(&home), outcome(&direct));
    let paths = now.0.keys().chain(expected.0.keys()).filter(|path| now.0.get(*path) != expected.0.get(*path));
    let short = |text: Option<&String>| text.map(|text| text.chars().take(200).collect::<String>());
    let mut wrong: Vec<String> = paths
        .map(|path| {
            let (is, direct) = (short(now.0.get(path)), short(expected.0.get(path)));
            format!("{}\n    is     {is:?}\n    direct {direct:?}", path.display())
        })
        .collect();
    wrong.dedup();
    if now.1 != expected.1 {
        wrong.push(format!("git\n    is     {:?}\n    direct {:?}", now.1, expected.1));
    }
    for home in [&home, &direct] {
        drop(home.command("chmod").args(["-R", "u+rwX", "."]).output());
    }
    let fine =
        is_untouched && !is_left && wrong.is_empty() && [&dropped, &applied].iter().all(|ran| ran.code == Some(0));
    (!fine).then(|| {
        let (name, line, wrong) = (tried.name, &tried.line, wrong.join("\n  "));
        let errors: String = format!("{}{}", dropped.err, applied.err).chars().take(800).collect();
        format!("{name}: untouched {is_untouched}, left {is_left}\n  {line}\n  {wrong}\n{errors}")
    })
}

/// Tells whether a program is here.
fn is_here(home: &Home, program: &str) -> bool {
    home.command("sh").args(["-c", &format!("command -v {program}")]).output().is_ok_and(|ran| ran.status.success())
}

#[test]
fn a_real_command_changes_nothing_until_it_is_applied_and_then_as_if_it_had_run_there() {
    let home = Home::new();
    let ran = run(home.axi().args(["try", "--", "true"]));
    if ran.code != Some(0) {
        return skip(&ran.err);
    }
    let all = commands();
    assert!(all.len() >= 300, "{}", all.len());
    let wanted = std::env::var("AXI_TRIAL_COMMANDS").unwrap_or_default();
    let step = match wanted.as_str() {
        "all" => 1,
        number => all.len() / number.parse::<usize>().unwrap_or(SOME).max(1),
    };
    let by_name = !wanted.is_empty() && wanted != "all" && wanted.parse::<usize>().is_err();
    let template = template();
    let (mut ran, mut missing, mut wrong) = (0, BTreeMap::<&str, usize>::new(), Vec::new());
    for (number, tried) in all.iter().enumerate() {
        if if by_name { !tried.name.contains(&wanted) } else { number % step.max(1) != 0 } {
            continue;
        }
        if let Some(program) =
            tried.needs.split(' ').find(|program| !program.is_empty() && !is_here(&home, program))
        {
            *missing.entry(program).or_default() += 1;
            continue;
        }
        ran += 1;
        wrong.extend(differs(&template, tried));
    }
    for (program, count) in missing {
        skip(format!("{program} ({count} commands)"));
    }
    assert!(wrong.is_empty(), "{} of {ran} differ\n{}", wrong.len(), wrong.join("\n\n"));
}
