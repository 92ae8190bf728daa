//! What is too large or too much to be copied.

use std::time::UNIX_EPOCH;

use super::super::{Foreign, Journal, Unkept};
use super::*;

#[test]
fn what_is_too_large_or_too_much_to_copy_is_said_before_and_after() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    let paths = [("a", 14), ("b", 10), ("c", 13)].map(|(name, length)| (root.join(name), vec![b'x'; length]));
    // How long a file may be and all together, and what is kept then.
    for (index, (file, copied, kept)) in
        [(14, 37, [0, 1, 2].as_slice()), (13, 37, &[1, 2]), (14, 36, &[0, 1])].into_iter().enumerate()
    {
        for (path, content) in &paths {
            std::fs::write(path, content).unwrap();
        }
        let target = create(&root.join(format!("clone {index}"))).unwrap();
        if share_content(&state::open(&paths[0].0).unwrap(), &target) {
            return crate::skip::skip("this file system makes clones, which are free: nothing is too much");
        }
        let mut journal = Journal::new(root.join("journals"), &format!("s{index}"));
        journal.limits = Limits { file, copied, ..Limits::default() };
        journal.begin_turn(0, 7, UNIX_EPOCH);
        let touches = paths.each_ref().map(|(path, _)| Touch { path: path.clone(), tree: false, how: How::Any });
        let lost = 3 - kept.len() as u64;
        assert_eq!(journal.before(&touches).unwrap(), Unkept { files: lost });
        for (path, _) in &paths {
            std::fs::write(path, "z").unwrap();
        }
        journal.after().unwrap();
        let plan = journal.plan(1).unwrap();
        let told: Vec<_> = plan.changes.iter().map(|change| (&change.path, change.lost)).collect();
        let expected: Vec<_> =
            paths.iter().enumerate().map(|(at, (path, _))| (path, !kept.contains(&at))).collect();
        assert_eq!(told, expected, "{file}, {copied}");
        let taken = journal.take_back(&plan, Foreign::Overwrite).unwrap();
        assert_eq!(taken.left.len() as u64, lost);
        for (at, (path, content)) in paths.iter().enumerate() {
            let expected = if kept.contains(&at) { content.as_slice() } else { b"z" };
            assert_eq!(std::fs::read(path).unwrap(), expected, "{file}, {copied}");
        }
    }
}
