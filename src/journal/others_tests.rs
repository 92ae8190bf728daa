//! What somebody else changed: before, while and after a turn's own changes, and while they are asked.

use std::time::UNIX_EPOCH;

use crate::platform::os::fs::symlink;

use super::plan::Author;
use super::tests::{Bench, take_back};
use super::*;

#[test]
fn nothing_is_put_where_a_link_leads_that_somebody_else_made() {
    for foreign in [Foreign::Leave, Foreign::Overwrite] {
        let bench = Bench::new();
        let mut journal = bench.journal();
        bench.change(&mut journal, &[bench.touch("src", 'r')], "rm -r src", true);
        let elsewhere = bench.root.join("elsewhere");
        std::fs::create_dir_all(elsewhere.join("deep")).unwrap();
        symlink(&elsewhere, bench.path("src")).unwrap();
        let taken = take_back(&bench, foreign);
        let entries = |path: &Path| path.read_dir().unwrap().count();
        assert_eq!((entries(&elsewhere), entries(&elsewhere.join("deep"))), (1, 0), "{taken:?}");
        let is_back = foreign == Foreign::Overwrite;
        assert_eq!((bench.path("src").is_symlink(), bench.path("src/main").exists()), (!is_back, is_back));
        if is_back {
            assert_eq!(taken.aside[0].1.read_link().unwrap(), elsewhere);
        } else {
            assert_eq!((taken.left.len(), taken.failed), (4, vec![]));
        }
    }
    // Above what the journal knows, too.
    let bench = Bench::new();
    let mut journal = bench.journal();
    bench.change(&mut journal, &[bench.touch("src/deep/secret", 'r')], "rm -f src/deep/secret", true);
    bench.shell("mkdir -p ../elsewhere/deep; mv src moved; ln -s ../elsewhere src");
    let taken = take_back(&bench, Foreign::Overwrite);
    assert!(!bench.root.join("elsewhere/deep/secret").exists(), "{taken:?}");
}

#[test]
fn what_somebody_else_put_in_the_place_of_a_file_is_put_aside() {
    let bench = Bench::new();
    let mut journal = bench.journal();
    bench.change(
        &mut journal,
        &[bench.touch("a", 'f'), bench.touch("docs/b", 'f')],
        "echo x > a; echo x > docs/b",
        true,
    );
    bench.shell("rm a docs/b; ln -s far a; mkfifo docs/b");
    let taken = take_back(&bench, Foreign::Overwrite);
    assert_eq!((taken.failed, taken.left, taken.aside.len()), (vec![], vec![], 2));
    assert_eq!(taken.aside[0].1.read_link().unwrap(), Path::new("far"));
    let pipe = taken.aside[1].1.symlink_metadata().unwrap().file_type();
    assert!(crate::platform::os::fs::FileTypeExt::is_fifo(&pipe));
}

#[test]
fn attributes_that_somebody_else_set_are_a_change_of_theirs() {
    let bench = Bench::new();
    let mut journal = bench.journal();
    bench.change(&mut journal, &[bench.touch("a", 'f')], "echo x > a", true);
    let set = crate::platform::fs::setxattr(
        bench.path("a"),
        "user.note",
        b"theirs",
        crate::platform::fs::XattrFlags::empty(),
    );
    if set.is_err() {
        return crate::skip::skip("this file system has no attributes of a user's own");
    }
    let taken = take_back(&bench, Foreign::Leave);
    assert_eq!((taken.left, taken.done), (vec![bench.path("a")], vec![]));
}

#[test]
fn what_was_written_while_a_command_ran_that_nobody_knows_is_put_aside() {
    let bench = Bench::new();
    let mut journal = bench.journal();
    let around = Touch { path: bench.work.clone(), tree: true, how: How::Around };
    // The person writes, in another window, what the command does not.
    bench.change(
        &mut journal,
        &[around],
        "echo made > result; echo edit >> a; echo notes > notes.md; rm docs/b",
        true,
    );
    let plan = journal.plan(1).unwrap();
    let standing =
        |name: &str| plan.changes.iter().find(|change| change.path == bench.path(name)).unwrap().standing;
    assert_eq!(["result", "a", "notes.md"].map(standing), [Author::Either; 3]);
    let taken = take_back(&bench, Foreign::Leave);
    let kept: Vec<_> = taken.aside.iter().map(|(_, copy)| std::fs::read_to_string(copy).unwrap()).collect();
    assert_eq!(kept, ["one\ntwo\nthree\nedit\n", "notes\n", "made\n"]);
    assert!(!bench.path("notes.md").exists() && bench.path("docs/b").exists());
}

#[test]
fn what_somebody_saved_anew_while_a_command_ran_is_kept_before_that_removes_it() {
    let bench = Bench::new();
    let mut journal = bench.journal();
    let around = Touch { path: bench.work.clone(), tree: true, how: How::Around };
    journal.before(&[around]).unwrap();
    let mut trash = journal.trash(false).unwrap().unwrap();
    bench.shell("echo mine > saved; mv saved a");
    assert!(trash.keep(&[bench.touch("a", 'r')]));
    bench.shell("rm a");
    trash.look_after().unwrap();
    journal.after().unwrap();
    let taken = take_back(&bench, Foreign::Overwrite);
    assert_eq!(std::fs::read_to_string(bench.path("a")).unwrap(), "one\ntwo\nthree\n");
    assert_eq!(std::fs::read_to_string(&taken.aside[0].1).unwrap(), "mine\n");
}

#[test]
fn what_something_else_changed_since_stays_or_is_put_aside() {
    let bench = Bench::new();
    let mut journal = bench.journal();
    bench.change(&mut journal, &[bench.touch("a", 'f'), bench.touch("new", 'f')], "echo x > a; echo y > new", true);
    std::fs::write(bench.path("a"), "somebody's own").unwrap();
    let plan = journal.plan(1).unwrap();
    let standings: Vec<_> = plan.changes.iter().map(|change| (change.path.clone(), change.standing)).collect();
    assert_eq!(standings, [(bench.path("a"), Author::Foreign), (bench.path("new"), Author::Ours)]);
    assert_eq!(plan.changes[0].lines, Some((3, 1)));

    let taken = journal.take_back(&plan, Foreign::Leave).unwrap();
    assert_eq!((taken.left, taken.done), (vec![bench.path("a")], vec![bench.path("new")]));
    assert_eq!(std::fs::read_to_string(bench.path("a")).unwrap(), "somebody's own");

    let plan = Plan { changes: plan.changes[..1].to_vec(), ..plan };
    let taken = journal.take_back(&plan, Foreign::Overwrite).unwrap();
    assert_eq!(std::fs::read_to_string(bench.path("a")).unwrap(), "one\ntwo\nthree\n");
    assert_eq!(std::fs::read_to_string(&taken.aside[0].1).unwrap(), "somebody's own");
}

#[test]
fn what_the_person_wrote_between_two_changes_is_asked_for_and_put_aside() {
    for new_turn in [true, false] {
        let bench = Bench::new();
        let mut journal = bench.journal();
        bench.change(
            &mut journal,
            &[bench.touch("a", 'f'), bench.touch("new", 'f')],
            "echo 1 > a; echo y > new",
            true,
        );
        std::fs::write(bench.path("a"), "mine").unwrap();
        // Only touched, it is still ours.
        std::fs::File::open(bench.path("new")).unwrap().set_modified(UNIX_EPOCH).unwrap();
        if new_turn {
            journal.begin_turn(2, 8, UNIX_EPOCH);
        }
        bench.change(
            &mut journal,
            &[bench.touch("a", 'f'), bench.touch("new", 'f')],
            "echo 2 > a; echo z > new",
            true,
        );
        let plan = journal.plan(1).unwrap();
        let standings: Vec<_> = plan.changes.iter().map(|change| change.standing).collect();
        assert_eq!(standings, [Author::Foreign, Author::Ours], "in a new turn: {new_turn}");
        let taken = journal.take_back(&plan, Foreign::Overwrite).unwrap();
        assert_eq!(std::fs::read_to_string(bench.path("a")).unwrap(), "one\ntwo\nthree\n");
        let aside = taken.aside.iter().map(|(_, copy)| std::fs::read_to_string(copy).unwrap());
        assert_eq!(aside.collect::<Vec<_>>(), ["mine", "2\n"], "in a new turn: {new_turn}");
    }
}

#[test]
fn what_changes_while_the_person_is_asked_is_left() {
    let bench = Bench::new();
    let mut journal = bench.journal();
    bench.change(&mut journal, &[bench.touch("a", 'f')], "echo x > a", true);
    let plan = journal.plan(1).unwrap();
    std::fs::write(bench.path("a"), "quick").unwrap();
    assert_eq!(journal.take_back(&plan, Foreign::Overwrite).unwrap().left, [bench.path("a")]);
    assert_eq!(std::fs::read_to_string(bench.path("a")).unwrap(), "quick");
}

#[test]
fn a_directory_with_somebody_elses_file_in_it_stays() {
    let bench = Bench::new();
    let mut journal = bench.journal();
    bench.change(&mut journal, &[bench.touch("made", 't')], "mkdir made; echo x > made/ours", true);
    std::fs::write(bench.path("made/theirs"), "t").unwrap();
    let taken = take_back(&bench, Foreign::Leave);
    assert_eq!((taken.left, taken.failed), (vec![bench.path("made")], vec![]));
    assert!(!bench.path("made/ours").exists() && bench.path("made/theirs").exists());
}
