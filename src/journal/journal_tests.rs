//! Changes of all kinds, killed at any moment, then taken back.

use std::collections::BTreeMap;
use std::fs::Permissions;
use std::time::{Duration, UNIX_EPOCH};

use proptest::prelude::*;

use crate::platform::os::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use super::record::object;
use super::*;

pub(super) struct Bench {
    _directory: tempfile::TempDir,
    pub(super) root: PathBuf,
    pub(super) work: PathBuf,
}

/// Everything about a tree that is to come back: kinds, contents, modes, times.
type Picture = BTreeMap<PathBuf, (String, u32, i64, i64)>;

impl Bench {
    pub(super) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        let work = root.join("work");
        std::fs::create_dir(&work).unwrap();
        let bench = Self { _directory: directory, root, work };
        bench.fill();
        bench
    }

    fn fill(&self) {
        for name in ["src/deep", "docs", "empty"] {
            std::fs::create_dir_all(self.work.join(name)).unwrap();
        }
        for (name, text, mode) in [
            ("a", "one\ntwo\nthree\n", 0o644),
            ("src/main", "fn main() {}\n", 0o755),
            ("src/deep/secret", "hidden", 0o400),
            ("docs/b", "", 0o600),
        ] {
            std::fs::write(self.work.join(name), text).unwrap();
            std::fs::set_permissions(self.work.join(name), Permissions::from_mode(mode)).unwrap();
        }
        symlink("../a", self.work.join("docs/link")).unwrap();
        symlink("nowhere", self.work.join("dangling")).unwrap();
        std::fs::set_permissions(self.work.join("docs"), Permissions::from_mode(0o750)).unwrap();
        // Times that nothing made now has.
        for (index, path) in self.paths().into_iter().rev().enumerate() {
            if !path.is_symlink() {
                let time = UNIX_EPOCH + Duration::new(1_000_000_000 + index as u64, 123_456_789);
                std::fs::File::open(&path).unwrap().set_modified(time).unwrap();
            }
        }
    }

    fn paths(&self) -> Vec<PathBuf> {
        let mut found = vec![self.work.clone()];
        let mut at = 0;
        while let Some(path) = found.get(at).cloned() {
            at += 1;
            if path.is_dir() && !path.is_symlink() {
                found.extend(path.read_dir().unwrap().map(|entry| entry.unwrap().path()));
            }
        }
        found.sort();
        found
    }

    fn picture(&self) -> Picture {
        let paths = self.paths().into_iter();
        let looked = paths.map(|path| {
            let metadata = path.symlink_metadata().unwrap();
            let content = if metadata.is_symlink() {
                format!("-> {}", path.read_link().unwrap().display())
            } else if metadata.is_dir() {
                "directory".to_owned()
            } else {
                String::from_utf8_lossy(&std::fs::read(&path).unwrap_or_default()).into_owned()
            };
            (path, (content, metadata.mode(), metadata.mtime(), metadata.mtime_nsec()))
        });
        looked.collect()
    }

    pub(super) fn journal(&self) -> Journal {
        let mut journal = Journal::new(self.root.join("journals"), "s");
        journal.begin_turn(0, 7, UNIX_EPOCH);
        journal
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.work.join(name)
    }

    pub(super) fn shell(&self, line: &str) {
        let ran = std::process::Command::new("bash").args(["-c", line]).current_dir(&self.work).status();
        assert!(ran.unwrap().success(), "{line}");
    }

    pub(super) fn touch(&self, name: &str, what: char) -> Touch {
        let how = match what {
            'r' => How::Removed,
            'm' => How::Attributes,
            _ => How::Any,
        };
        Touch { path: self.path(name), tree: what != 'f', how }
    }

    /// Runs a command with its pre-images; `whole` says whether axi lives to see its end.
    pub(super) fn change(&self, journal: &mut Journal, touches: &[Touch], line: &str, whole: bool) {
        assert_eq!(journal.before(touches).unwrap(), Unkept::default(), "{line}");
        self.shell(line);
        if whole {
            journal.after().unwrap();
        }
    }
}

/// Takes everything back by a journal that was opened anew.
pub(super) fn take_back(bench: &Bench, foreign: Foreign) -> TakenBack {
    let mut journal = Journal::new(bench.root.join("journals"), "s");
    let first = journal.turns().unwrap().first().map_or(0, |turn| turn.number);
    let plan = journal.plan(first).unwrap();
    journal.take_back(&plan, foreign).unwrap()
}

/// The destructive corpus: what is touched (`f`: itself, `t`: with all below, `r`: it is removed,
/// `m`: its mode and owner), and the command.
const CORPUS: &[(&[(&str, char)], &str)] = &[
    (&[("a", 'f')], "echo more >> a"),
    (&[("a", 'f')], "echo x > a"),
    (&[("a", 'r')], "rm a"),
    (&[("src", 'r')], "rm -rf src"),
    (&[("src", 'r'), ("docs", 'r'), ("a", 'r'), ("empty", 'r')], "rm -rf src docs a empty"),
    (&[("empty", 'r')], "rmdir empty"),
    (&[("a", 't'), ("moved", 't')], "[ -d moved ] || mv a moved"),
    (&[("a", 't'), ("moved", 't')], "[ -d moved ] || { mv a moved; echo x >> moved; }"),
    (&[("src", 't'), ("docs/src", 't')], "mv src docs/"),
    (&[("new", 'f')], "echo x > new"),
    (&[("x/y/z", 'f')], "mkdir -p x/y/z"),
    (&[("copy", 't')], "cp -r src copy"),
    (&[("docs/src", 't')], "cp -r src docs/"),
    (&[("dangling", 'r')], "rm dangling"),
    (&[("dangling", 'r')], "rm dangling; mkdir dangling; echo x > dangling/in"),
    (&[("docs", 'r')], "rm -r docs; echo x > docs"),
    (&[("a", 'r')], "rm a; ln -s src a"),
    (&[("a", 'f')], "sed -i s/two/2/ a"),
    (&[("src/main", 'f')], "truncate -s 3 src/main"),
    (&[("src/deep/secret", 'f')], "chmod u+w src/deep/secret; echo open > src/deep/secret"),
    (&[("a", 'f'), ("hard", 't')], "ln a hard; rm hard; echo x >> a"),
    (&[("docs/b", 'f'), ("a", 'f')], "dd if=/dev/zero of=a bs=4 count=1 2>/dev/null; tee docs/b < a > /dev/null"),
];

#[test]
fn every_destructive_command_is_taken_back_with_contents_modes_and_times() {
    for whole in [true, false] {
        for (touches, line) in CORPUS {
            let bench = Bench::new();
            let before = bench.picture();
            let touches: Vec<Touch> = touches.iter().map(|(name, tree)| bench.touch(name, *tree)).collect();
            bench.change(&mut bench.journal(), &touches, line, whole);
            assert_ne!(bench.picture(), before, "{line}");
            let taken = take_back(&bench, Foreign::Leave);
            assert_eq!((&taken.failed[..], &taken.left[..]), (&[][..], &[][..]), "{line}, whole: {whole}");
            let mut after = bench.picture();
            let mut expected = before;
            if !whole {
                // Killed in between, times of directories may be somebody else's.
                for picture in [&mut after, &mut expected] {
                    for value in picture.values_mut().filter(|value| value.0 == "directory") {
                        (value.2, value.3) = (0, 0);
                    }
                }
            }
            assert_eq!(after, expected, "{line}, whole: {whole}");
        }
    }
}

/// What a call touches, and its command.
type Call = (&'static [(&'static str, char)], &'static str);

/// Changes that begin with modes: the calls of a turn.
const MODES_FIRST: &[&[Call]] = &[
    &[(&[("a", 'm'), ("a", 'f')], "chmod 600 a; sed -i s/one/1/ a")],
    &[(&[("a", 'f'), ("a", 'm')], "echo x >> a; chmod 600 a")],
    &[(&[("a", 'm'), ("a", 't')], "chmod 600 a; rm a")],
    &[(&[("a", 'm'), ("a", 't'), ("d", 't')], "chmod 600 a; mv a d")],
    &[(&[("src", 'm'), ("src", 't')], "chmod -R u+x src; rm -rf src")],
    &[(&[("a", 'm')], "chmod +x a"), (&[("a", 'f')], "echo z > a")],
    &[(&[("a", 'm')], "chmod +x a"), (&[("a", 'r')], "rm a")],
    &[(&[("a", 'm')], "chmod +x a"), (&[("a", 'm')], "chmod 600 a"), (&[("a", 't'), ("d", 't')], "mv a d")],
    &[(&[("src", 'm')], "chmod -R u+x src"), (&[("src", 'r')], "rm -rf src")],
    &[(&[("src", 'm')], "chmod -R u+x src"), (&[("src/main", 'f')], "echo z > src/main"), (&[("a", 'r')], "rm a")],
];

#[test]
fn what_is_written_or_removed_after_its_mode_was_changed_comes_back_with_its_first_mode() {
    for calls in MODES_FIRST {
        for (whole, new_turns) in [(true, false), (true, true), (false, false), (false, true)] {
            let bench = Bench::new();
            let (before, mut journal) = (bench.picture(), bench.journal());
            for (touches, line) in *calls {
                let touches: Vec<Touch> = touches.iter().map(|(name, what)| bench.touch(name, *what)).collect();
                bench.change(&mut journal, &touches, line, whole);
                if new_turns {
                    journal.begin_turn(2, 8, UNIX_EPOCH);
                }
            }
            let taken = take_back(&bench, Foreign::Leave);
            let left = (&taken.failed[..], &taken.left[..]);
            assert_eq!(left, (&[][..], &[][..]), "{calls:?}, whole: {whole}, new turns: {new_turns}");
            let files = |mut picture: Picture| {
                // Killed in between, times of directories may be somebody else's.
                picture.retain(|_, value| whole || value.0 != "directory");
                picture
            };
            let after = files(bench.picture());
            assert_eq!(after, files(before), "{calls:?}, whole: {whole}, new turns: {new_turns}");
        }
    }
}

#[test]
fn what_the_person_wrote_before_a_change_of_its_mode_is_kept_when_more_is_changed() {
    let bench = Bench::new();
    let mut journal = bench.journal();
    bench.change(&mut journal, &[bench.touch("a", 'f')], "echo 1 > a", true);
    std::fs::write(bench.path("a"), "mine").unwrap();
    bench.change(&mut journal, &[bench.touch("a", 'm')], "chmod 600 a", true);
    bench.change(&mut journal, &[bench.touch("a", 'f')], "echo 2 > a", true);
    let taken = take_back(&bench, Foreign::Overwrite);
    assert_eq!(std::fs::read_to_string(bench.path("a")).unwrap(), "one\ntwo\nthree\n");
    let aside: Vec<_> = taken.aside.iter().map(|(_, copy)| std::fs::read_to_string(copy).unwrap()).collect();
    assert_eq!(aside, ["mine", "2\n"]);
}

#[test]
fn what_is_gone_though_only_its_mode_was_changed_is_said_to_be_lost() {
    let bench = Bench::new();
    let mut journal = bench.journal();
    bench.change(&mut journal, &[bench.touch("a", 'm')], "chmod 600 a; rm a", true);
    let plan = journal.plan(1).unwrap();
    assert_eq!(
        plan.changes.iter().map(|change| (&change.path, change.lost)).collect::<Vec<_>>(),
        [(&bench.path("a"), true)]
    );
}

#[test]
fn modes_of_a_whole_tree_come_back_without_copies() {
    let bench = Bench::new();
    let before = bench.picture();
    let touch = Touch { path: bench.work.clone(), tree: true, how: How::Attributes };
    let mut journal = bench.journal();
    bench.change(&mut journal, &[touch], "chmod -R a-rwx,u+rX .; chmod 555 docs", true);
    assert_eq!(journal.directory().join("objects").read_dir().unwrap().count(), 0);
    assert_eq!(take_back(&bench, Foreign::Leave).failed, []);
    assert_eq!(bench.picture(), before);
}

#[test]
fn two_writers_of_one_journal_leave_each_other_what_they_keep() {
    for how in ['f', 'r'] {
        let bench = Bench::new();
        let mut writers = [bench.journal(), bench.journal()];
        for (index, name) in ["a", "src/main", "docs/b"].into_iter().enumerate() {
            // Both have counted before the other has kept anything.
            for writer in &mut writers {
                writer.before(&[bench.touch(name, how)]).unwrap();
            }
            writers.rotate_left(index % 2);
        }
        let records = writers[0].log.read().unwrap();
        let objects = records.iter().filter_map(|record| match record {
            Record::Before { path, kept, .. } => kept.object().map(|number| (path, number)),
            Record::Turn(_)
            | Record::Again { .. }
            | Record::After { .. }
            | Record::Unseen { .. }
            | Record::Undone { .. } => None,
        });
        let objects: Vec<_> = objects.collect();
        assert_eq!(objects.len(), 6);
        for (path, number) in objects {
            let kept = std::fs::read(object(writers[0].directory(), number)).unwrap();
            assert_eq!(kept, std::fs::read(path).unwrap(), "{}", path.display());
        }
    }
}

#[test]
fn what_is_changed_by_a_path_through_a_link_comes_back() {
    let whole = [
        ("rm folder/main", &["folder/main"][..]),
        ("rm -r folder/*; rm folder", &["folder/main", "folder/deep", "folder"]),
    ];
    for (line, names) in whole {
        let bench = Bench::new();
        symlink("src", bench.path("folder")).unwrap();
        let before = bench.picture();
        let touches: Vec<Touch> = names.iter().map(|name| bench.touch(name, 'r')).collect();
        bench.change(&mut bench.journal(), &touches, line, true);
        assert_eq!(take_back(&bench, Foreign::Leave).failed, [], "{line}");
        assert_eq!(bench.picture(), before, "{line}");
    }
}

#[test]
fn turns_go_back_one_by_one_or_together() {
    let bench = Bench::new();
    let pictures: Vec<Picture> = (1..=3)
        .map(|turn| {
            let before = bench.picture();
            let mut journal = bench.journal();
            bench.change(&mut journal, &[bench.touch("a", 'f')], &format!("echo turn {turn} >> a"), true);
            before
        })
        .collect();
    let mut journal = Journal::new(bench.root.join("journals"), "s");
    let plan = journal.plan(3).unwrap();
    journal.take_back(&plan, Foreign::Leave).unwrap();
    assert_eq!(bench.picture(), pictures[2]);
    assert_eq!(journal.turns().unwrap().iter().map(|turn| turn.number).collect::<Vec<_>>(), [1, 2]);
    let plan = journal.plan(1).unwrap();
    journal.take_back(&plan, Foreign::Leave).unwrap();
    assert_eq!(bench.picture(), pictures[0]);
    assert_eq!(journal.turns().unwrap(), []);
}

#[test]
fn the_time_of_a_directory_comes_back_where_nothing_else_changed() {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.path("made/deep")).unwrap();
    std::fs::write(bench.path("made/deep/file"), "x").unwrap();
    let before = bench.picture();
    let mut journal = bench.journal();
    bench.change(&mut journal, &[bench.touch("made", 't')], "touch -d 2001-01-01 made", true);
    assert_ne!(bench.picture(), before);
    let plan = journal.plan(1).unwrap();
    assert_eq!(plan.changes.iter().map(|change| &change.path).collect::<Vec<_>>(), [&bench.path("made")]);
    journal.take_back(&plan, Foreign::Leave).unwrap();
    assert_eq!(bench.picture(), before);
    assert_eq!(journal.plan(1).unwrap().changes, []);
}

#[test]
fn a_cut_line_and_a_command_nobody_could_know_do_no_harm() {
    use std::io::Write as _;
    let bench = Bench::new();
    let before = bench.picture();
    let mut journal = bench.journal();
    journal.unseen("./run.sh").unwrap();
    bench.change(&mut journal, &[bench.touch("a", 'f')], "echo x > a", true);
    let path = journal.directory().join("journal.jsonl");
    std::fs::File::options().append(true).open(path).unwrap().write_all(b"{\"kind\":\"aft").unwrap();
    let mut journal = bench.journal();
    bench.change(&mut journal, &[bench.touch("docs", 't')], "rm -r docs", true);
    assert_eq!(journal.plan(1).unwrap().unseen, ["./run.sh"]);
    assert_eq!(take_back(&bench, Foreign::Leave).failed, []);
    assert_eq!(bench.picture(), before);
}

#[test]
fn names_that_are_no_text_are_kept_too() {
    use crate::platform::os::ffi::OsStringExt as _;
    let bench = Bench::new();
    let odd = bench.work.join(std::ffi::OsString::from_vec(b"odd-\xff\n".to_vec()));
    std::fs::write(&odd, "x").unwrap();
    let before = bench.picture();
    let mut journal = bench.journal();
    journal.before(&[Touch { path: odd.clone(), tree: true, how: How::Any }]).unwrap();
    std::fs::remove_file(&odd).unwrap();
    journal.after().unwrap();
    take_back(&bench, Foreign::Leave);
    assert_eq!(bench.picture(), before);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Any changes in any order, in any number of turns, seen to their end or not: one undo brings all back.
    #[test]
    fn any_changes_in_any_order_are_taken_back(
        picks in prop::collection::vec((0..CORPUS.len(), any::<bool>(), any::<bool>()), 1..6),
    ) {
        let bench = Bench::new();
        let before = bench.picture();
        let mut journal = bench.journal();
        for (index, whole, new_turn) in picks {
            let (touches, line) = CORPUS[index];
            if new_turn {
                journal.begin_turn(0, 7, UNIX_EPOCH);
            }
            let touches: Vec<Touch> = touches.iter().map(|(name, tree)| bench.touch(name, *tree)).collect();
            journal.before(&touches).unwrap();
            // Not each can work after the others; half of one is a change, too.
            let ran = std::process::Command::new("bash").args(["-c", line]).current_dir(&bench.work).output();
            prop_assert!(ran.is_ok());
            if whole {
                journal.after().unwrap();
            }
        }
        let taken = take_back(&bench, Foreign::Overwrite);
        prop_assert_eq!(&taken.failed, &[]);
        prop_assert_eq!(&taken.left, &Vec::<PathBuf>::new());
        let after = bench.picture();
        let plain = |picture: &Picture| -> Vec<_> {
            picture.iter().map(|(path, (content, mode, ..))| (path.clone(), content.clone(), *mode)).collect()
        };
        prop_assert_eq!(plain(&after), plain(&before));
    }
}
