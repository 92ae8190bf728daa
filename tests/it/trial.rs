//! A trial: a command runs for real, and nothing has happened yet; applied, it is as if it had run there; dropped or
//! killed, nothing of it is left.
//!
//! `AXI_TRIAL_CASES` says how many random cases are tried, `AXI_UNDO_SEED` from which seed on.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::UNIX_EPOCH;

use axi::journal::{Foreign, Journal};
use serde_json::{Value, json};

use crate::support::home::Home;
use crate::support::server::{Server, answer};
use crate::support::skip::skip;
use crate::support::talk::{Person, Ran, axi, last_said, run};
use crate::undo_random::{FILES, Picture, Random, number, picture};

/// Lines about what a layer shows in another way: how many names a directory has, sockets.
const NOT_SAME: &[&str] = &["-links", "bind("];

/// Tells whether a line copies a directory into itself: where that ends depends on the order of its names.
fn copies_into_itself(line: &str) -> bool {
    let folders =
        || line.split_whitespace().map(|word| word.trim_end_matches(['.', '/'])).filter(|word| !word.is_empty());
    ["cp ", "tar "].iter().any(|copy| line.contains(copy))
        && folders().any(|one| folders().any(|other| Path::new(other).starts_with(one) && other != one))
}

/// The system allows no namespaces or no layers in some containers.
pub(crate) fn can_try() -> bool {
    let home = Home::new();
    let ran = run(home.axi().args(["try", "--", "true"]));
    if ran.code != Some(0) {
        skip(&ran.err);
    }
    ran.code == Some(0)
}

fn tries(home: &Home, options: &[&str], line: &str) -> Ran {
    run(home.axi().arg("try").args(options).args(["--", line]))
}

pub(crate) fn filled() -> Home {
    let home = Home::new();
    home.write(".gitconfig", "[user]\nname = n\nemail = n@localhost\n");
    for (number, name) in FILES[..7].iter().enumerate() {
        home.write(&format!("work/{name}"), &format!("{number} of {name}\n"));
    }
    std::os::unix::fs::symlink("../top", home.work().join("d1/link")).unwrap();
    let ran = home.command("sh").args(["-c", "git init -q && git add -A && git commit -qm 0"]).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    for path in picture(&home.work()).into_keys().rev().filter(|path| !path.is_symlink()) {
        let time = UNIX_EPOCH + std::time::Duration::from_mins(25_000_000);
        std::fs::File::open(&path).unwrap().set_modified(time).unwrap();
    }
    home
}

pub(crate) fn changes(ran: &Ran) -> Vec<(String, String)> {
    let set: Value = serde_json::from_str(&ran.out).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    set["changes"].as_array().unwrap().iter().map(|one| (text(&one["kind"]), text(&one["path"]))).collect()
}

#[test]
fn what_was_interrupted_is_not_applied() {
    let home = filled();
    if !can_try() {
        return;
    }
    let ran = tries(&home, &["--apply"], "echo half > half; kill -INT $$");
    assert_eq!(ran.code, Some(130), "{ran:?}");
    assert!(ran.out.contains("half") && !home.work().join("half").exists(), "{ran:?}");
    let ran = tries(&home, &["--apply"], "echo all > all; exit 3");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(home.work().join("all").exists(), "{ran:?}");
}

#[test]
fn what_a_command_would_change_is_told_deletions_first_and_nothing_is_touched() {
    if !can_try() {
        return;
    }
    let home = filled();
    let before = picture(&home.work());
    let line = "rm -r d0; echo more >> top; mkdir new; echo 1 > new/a; chmod 600 d1/a; ln -s top leads; exit 3";
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
        "changed top",
    ];
    assert_eq!(kinds, told);
    assert_eq!(picture(&home.work()), before);
    let page = tries(&home, &[], line).out;
    assert!(page.contains("trial · exit 3") && page.contains("- d0/s0/a"), "{page}");
    let patch = tries(&home, &["--patch"], "echo more >> top; rm d0/a").out;
    assert!(patch.contains("deleted file mode 100644") && patch.contains("+more"), "{patch}");
    assert_eq!(picture(&home.work()), before);
}

#[test]
fn what_is_written_outside_stays_outside_and_the_machine_is_read_only() {
    if !can_try() {
        return;
    }
    let home = filled();
    let marked = std::env::temp_dir().join(format!("axi-trial-test-{}", std::process::id()));
    let outside = home.write("kept.txt", "mine");
    let (marked_text, outside_text) = (marked.display(), outside.display());
    let line = format!("echo 1 > {marked_text} && cat {marked_text}; echo 2 > {outside_text}; touch /etc/axi-no");
    let ran = tries(&home, &["--json"], &line);
    assert!(!marked.exists() && !Path::new("/etc/axi-no").exists());
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "mine");
    let set: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(set["changes"], json!([]), "{}", ran.out);
    assert!(ran.err.contains('1'), "the command saw what it wrote: {}", ran.err);
}

#[test]
fn whom_a_command_talked_to_outside_is_told_and_its_own_servers_are_not() {
    if !can_try() {
        return;
    }
    let home = filled();
    let name = format!("axi-trial-test-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let _service = UnixListener::bind_addr(&address).unwrap();
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let line = format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo hello >&3; echo x > d0/a");
    let also = |script: &[&str], options: &[&str]| {
        let ran = run(home.axi().arg("try").args(options).arg("--").args(script));
        let set: Value = serde_json::from_str(&ran.out).unwrap();
        set["also"].as_array().unwrap().iter().map(|one| one.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let reached = also(&["bash", "-c", &line], &["--json"]);
    if reached == ["network and sockets: not seen"] {
        return skip("an axi around this one listens already");
    }
    assert_eq!(reached, [format!("network: 127.0.0.1:{port}")]);
    assert_eq!(also(&["bash", "-c", "echo x > top"], &["--json"]), Vec::<String>::new());
    let page = run(home.axi().args(["try", "--", "bash", "-c", &line])).out;
    assert!(page.contains(&format!("also talked to: 127.0.0.1:{port}")), "{page}");
    // Without network there is nobody to talk to but services of this machine.
    assert_eq!(also(&["bash", "-c", &line], &["--json", "--no-network"]), Vec::<String>::new());
    let python = home.command("python3").arg("--version").output();
    if !python.is_ok_and(|ran| ran.status.success()) {
        return skip("python3");
    }
    let script = format!(
        "import socket\n\
         own = socket.socket(); own.bind(('127.0.0.1', 0)); own.listen()\n\
         socket.socket().connect(own.getsockname())\n\
         near = socket.socket(socket.AF_UNIX); near.bind('\\0{name}-own'); near.listen()\n\
         socket.socket(socket.AF_UNIX).connect('\\0{name}-own')\n\
         socket.socket(socket.AF_UNIX).connect('\\0{name}')\n\
         packets = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n\
         packets.sendto(b'x', ('127.0.0.1', {port}))\n"
    );
    let expected = [format!("socket: @{name}"), format!("network: 127.0.0.1:{port}/udp")];
    assert_eq!(also(&["python3", "-c", &script], &["--json"]), expected);
}

#[test]
fn a_directory_is_renamed_in_one_call_as_outside_of_a_trial() {
    if !can_try() {
        return;
    }
    let script = "import os\n\
         os.rename('d0', 'renamed'); os.rename('renamed/s0', 'd1/s0'); os.mkdir('empty'); os.rename('d1', 'empty')\n\
         try: os.rename('empty', 'empty/inside')\n\
         except OSError as error: open('said', 'w').write(str(error.errno))\n";
    let (tried, direct) = (filled(), filled());
    let python = direct.command("python3").args(["-c", script]).current_dir(direct.work()).output();
    if !python.is_ok_and(|ran| ran.status.success()) {
        return skip("python3");
    }
    let ran = run(tried.axi().args(["try", "--apply", "--json", "--", "python3", "-c", script]));
    if ran.out.contains("not seen") {
        return skip("an axi around this one listens already");
    }
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(timeless(&tried), timeless(&direct), "{}", ran.err);
}

#[test]
fn what_was_in_a_directory_that_was_removed_and_made_again_goes_however_deep_it_lay() {
    if !can_try() {
        return;
    }
    let (tried, direct) = (filled(), filled());
    let line = "rm -r d0; mkdir -p d0/s0; echo new > d0/s0/new; \
                rm one two; echo 1 > one; ln one two";
    for home in [&tried, &direct] {
        std::fs::write(home.work().join("one"), "1\n").unwrap();
        std::fs::hard_link(home.work().join("one"), home.work().join("two")).unwrap();
    }
    let ran = tries(&tried, &["--apply", "--json"], line);
    assert!(changes(&ran).contains(&("deleted".to_owned(), "d0/s0/a".to_owned())), "{}", ran.out);
    let _ = direct.command("sh").args(["-c", line]).current_dir(direct.work()).output().unwrap();
    assert_eq!(timeless(&tried), timeless(&direct), "{}", ran.err);
}

#[test]
fn what_somebody_changed_meanwhile_is_refused_file_by_file_and_the_rest_is_applied_and_taken_back() {
    if !can_try() {
        return;
    }
    let home = filled();
    let line = "echo trial > top; echo trial > d0/a; rm d0/b; echo new > made; ln top name; ln d1/a other; ln made third; \
                ln d0/a good; echo ready; read go";
    let mut command = home.axi();
    command.args(["try", "--apply", "--", line]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut said = String::new();
    output.read_line(&mut said).unwrap();
    assert_eq!(said, "ready\n");
    for name in ["top", "d0/b", "made", "d1/a"] {
        std::fs::write(home.work().join(name), "theirs").unwrap();
    }
    child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    output.read_to_string(&mut said).unwrap();
    let mut errors = String::new();
    child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{errors}");
    let read = |name: &str| std::fs::read_to_string(home.work().join(name)).unwrap();
    assert_eq!([read("top"), read("d0/b"), read("made"), read("d0/a")], ["theirs", "theirs", "theirs", "trial\n"]);
    assert!(errors.contains("2 changes applied"), "{errors}");
    // A name of a file that is not there as the trial saw it would be one of theirs.
    for name in ["top", "d0/b", "made", "d1/a", "name", "other", "third"] {
        assert!(errors.contains(&format!("not applied: {name}")), "{name}: {errors}");
    }
    assert_eq!(["name", "other", "third"].map(|name| home.work().join(name).exists()), [false; 3]);
    assert_eq!(read("good"), "trial\n");
    let root = home.path().join("state/axi/journal");
    let session = root.read_dir().unwrap().flatten().next().unwrap().file_name().into_string().unwrap();
    let mut journal = Journal::new(root, &session);
    let turn = journal.turns().unwrap().last().unwrap().number;
    let plan = journal.plan(turn).unwrap();
    assert!(journal.take_back(&plan, Foreign::Leave).unwrap().failed.is_empty());
    assert_eq!(read("d0/a"), "1 of d0/a\n");
}

/// Where the trials of this user lie that have no other place.
fn left_by(process: u32) -> Vec<PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    let places = ["/var/tmp", "/dev/shm"].map(|place| Path::new(place).join(format!("axi-trials-{user}")));
    let entries = places.iter().filter_map(|place| place.read_dir().ok()).flatten().flatten();
    let own = format!("{process}-");
    entries.map(|entry| entry.path()).filter(|path| path.to_string_lossy().contains(&own)).collect()
}

#[test]
fn a_killed_trial_ends_all_its_processes_and_the_next_one_leaves_nothing_of_it() {
    if !can_try() {
        return;
    }
    let home = filled();
    let before = picture(&home.work());
    let line = "rm -r d0; setsid sh -c 'trap \"\" TERM HUP; echo ready; exec sleep 1000' & sleep 1000";
    let mut child = home.axi().args(["try", "--", line]).stdout(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut said = String::new();
    output.read_line(&mut said).unwrap();
    let process = child.id();
    // Once it is killed, any trial that begins may clean up behind it.
    assert!(!left_by(process).is_empty(), "there is nothing to clean");
    child.kill().unwrap();
    child.wait().unwrap();
    // It ends when the last process that could write it has ended.
    output.read_to_string(&mut said).unwrap();
    assert_eq!(said, "ready\n");
    // Another trial that begins in the same moment may be at it already, and is waited for.
    for _ in 0..100 {
        assert_eq!(tries(&home, &[], "true").code, Some(0));
        if left_by(process).is_empty() {
            break;
        }
    }
    assert_eq!(left_by(process), Vec::<PathBuf>::new());
    assert_eq!(picture(&home.work()), before);
}

/// A picture without the times that the run itself gave.
pub(crate) fn timeless(home: &Home) -> Picture {
    let work = home.work();
    let short = |path: &Path| path.strip_prefix(&work).unwrap().to_owned();
    let mut found = Picture::new();
    for (path, (content, mode, mut time, note, first)) in picture(&work) {
        if time.0 > 1_600_000_000 {
            time = (0, 0);
        }
        found.insert(short(&path), (content, mode, time, note, short(&first)));
    }
    found
}

fn differs(seed: u64) -> Option<String> {
    let mut random = Random(seed);
    let mut lines: Vec<String> = Vec::new();
    while lines.len() < 5 {
        let line = random.line();
        if !NOT_SAME.iter().any(|word| line.contains(word)) && !copies_into_itself(&line) {
            lines.push(line);
        }
    }
    let script = lines.join("\n");
    let (tried, direct) = (filled(), filled());
    let before = picture(&tried.work());
    let dropped = tries(&tried, &["--json"], &script);
    let touched = picture(&tried.work()) != before;
    let applied = tries(&tried, &["--apply", "--json"], &script);
    let _ = direct.command("sh").args(["-c", &script]).current_dir(direct.work()).output().unwrap();
    let (now, expected) = (timeless(&tried), timeless(&direct));
    let paths = now.keys().chain(expected.keys()).filter(|path| now.get(*path) != expected.get(*path));
    let wrong: Vec<String> = paths
        .map(|path| format!("{}\n  is     {:?}\n  direct {:?}", path.display(), now.get(path), expected.get(path)))
        .collect();
    for home in [&tried, &direct] {
        drop(home.command("chmod").args(["-R", "u+rwX", "."]).output());
    }
    let fine = !touched && wrong.is_empty() && dropped.code == Some(0) && applied.code == Some(0);
    (!fine).then(|| {
        let wrong = wrong.join("\n");
        format!("AXI_UNDO_SEED={seed} touched {touched}\n{script}\n{wrong}\n{}\n{}", dropped.err, applied.err)
    })
}

#[test]
fn nothing_changes_before_random_lines_are_applied_and_then_it_is_as_if_they_had_run_there() {
    if !can_try() {
        return;
    }
    let (first, cases) = (number("AXI_UNDO_SEED", 1), number("AXI_TRIAL_CASES", 5));
    let wrong: Vec<String> = (first..first + cases).filter_map(differs).collect();
    assert!(wrong.is_empty(), "{} of {cases} differ\n{}", wrong.len(), wrong.join("\n\n"));
}

#[test]
fn a_person_tries_a_command_from_its_question_and_applies_drops_or_goes_on_in_it() {
    if !can_try() {
        return;
    }
    let home = filled();
    let line = json!({ "command": "rm d0/a && echo gone" }).to_string();
    let server = Server::start([
        answer::chat_call("call_1", "shell", &line),
        answer::chat_text("dropped it"),
        answer::chat_call("call_2", "shell", &line),
        answer::chat_text("applied it"),
    ]);
    let mut command = axi(&home, &server);
    command.env_remove("AXI_TRIAL");
    let mut person = Person::meets(&command);
    person.sends("remove it");
    person.sees_choice("No");
    person.types("t");
    person.sees("would delete 1 file (");
    person.sees("- d0/a");
    person.sees("0 changed, 0 untracked →");
    // A key before the question never answers it.
    person.sees_choice("Drop it: the files here stay as they are");
    person.types("n");
    person.sees("dropped it");
    assert!(home.work().join("d0/a").exists());
    let told = last_said(&server.requests()[1]);
    assert!(told.contains("did not apply") && told.contains("- d0/a"), "the model is told: {told}");
    assert!(!told.contains("Drop it"), "and not what a person could answer: {told}");
    person.sends("remove it again");
    person.sees_choice("No");
    person.types("t");
    person.sees_choice("Drop it: the files here stay as they are");
    person.types("r");
    person.sees("Which command?");
    person.sends("echo more > made; ls d0");
    person.sees("- d0/a");
    person.sees("+ made (5 B)");
    person.sees_choice("Drop it: the files here stay as they are");
    assert!(home.work().join("d0/a").exists() && !home.work().join("made").exists());
    person.types("y");
    person.sees("applied it");
    assert!(!home.work().join("d0/a").exists() && home.work().join("made").exists());
    person.sends("/undo yes");
    person.sees("2 files and directories are as they were");
    assert!(home.work().join("d0/a").exists() && !home.work().join("made").exists());
    person.sends("!try echo x > top");
    person.sees("would change 1 file");
    person.sees_choice("Apply it");
    person.types("n");
    person.sees_prompt();
    assert_eq!(std::fs::read_to_string(home.work().join("top")).unwrap(), "0 of top\n");
    assert_eq!(server.violations(), Vec::<String>::new());
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn a_command_that_is_tried_from_its_question_gets_no_key_and_no_secret_that_its_line_does_not_name() {
    if !can_try() {
        return;
    }
    let home = filled();
    let line = "echo $DB_PASSWORD > made; env | cut -d= -f1 > seen";
    let server = Server::start([
        answer::chat_call("call_1", "shell", &json!({ "command": line }).to_string()),
        answer::chat_text("applied it"),
    ]);
    let mut command = axi(&home, &server);
    command.env_remove("AXI_TRIAL").env("GH_TOKEN", "ghp_of_the_test").env("DB_PASSWORD", "named");
    let mut person = Person::meets(&command);
    person.sends("look");
    person.sees_choice("No");
    person.types("t");
    person.sees_choice("Apply it");
    person.types("y");
    person.sees("applied it");
    let read = |name: &str| std::fs::read_to_string(home.work().join(name)).unwrap();
    let seen = read("seen");
    assert!(!seen.contains("OPENAI_API_KEY") && !seen.contains("GH_TOKEN") && seen.contains("HOME"), "{seen}");
    assert_eq!(read("made"), "named\n");
    // A person's own command gets what their shell would give it.
    let ran = run(home.axi().args(["try", "--apply", "--", "echo $GH_TOKEN > seen"]).env("GH_TOKEN", "own"));
    assert_eq!((ran.code, std::fs::read_to_string(home.work().join("seen")).unwrap().as_str()), (Some(0), "own\n"));
}

/// Root needs no user namespace: what others need shows only to one.
#[test]
fn what_root_tries_an_ordinary_user_tries_too() {
    const NOBODY: u32 = 65534;
    if !rustix::process::geteuid().is_root() || !can_try() {
        return;
    }
    let axi = Command::new(env!("CARGO_BIN_EXE_axi")).arg("--version").uid(NOBODY).gid(NOBODY).output();
    if !axi.is_ok_and(|ran| ran.status.success()) {
        return skip("no other user can run this axi");
    }
    let directory = tempfile::tempdir().unwrap();
    std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::chown(directory.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    let mut again = Command::new("/proc/self/exe");
    again.args(["trial::", "--skip", "ordinary_user"]).current_dir(directory.path());
    again.env("TMPDIR", directory.path()).env("HOME", directory.path()).uid(NOBODY).gid(NOBODY);
    let ran = again.output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
}
