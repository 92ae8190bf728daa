//! Links, names and near misses, on real directories.

use crate::platform::os::ffi::OsStrExt as _;
use crate::platform::os::fs::symlink;

use super::*;

fn roots(root: &Path) -> Roots {
    Roots { cwd: root.to_path_buf(), workspace: root.to_path_buf(), home: None }
}

#[test]
fn links_are_resolved_also_where_the_file_does_not_exist_yet() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    std::fs::create_dir(root.join("real")).unwrap();
    symlink("real", root.join("link")).unwrap();
    symlink("../elsewhere/new.txt", root.join("real/dangling")).unwrap();
    assert_eq!(real(&root.join("link/a/b")).unwrap(), root.join("real/a/b"));
    assert_eq!(real(&root.join("nothing/here")).unwrap(), root.join("nothing/here"));
    let dangling = real(&root.join("link/dangling")).unwrap();
    assert!(dangling.ends_with("elsewhere/new.txt"), "{dangling:?}");
}

#[test]
fn a_loop_of_links_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    symlink("b", directory.path().join("a")).unwrap();
    symlink("a", directory.path().join("b")).unwrap();
    assert!(real(&directory.path().join("a")).is_err());
}

#[test]
fn the_subject_of_a_link_out_of_the_workspace_names_its_target() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    symlink("/etc", root.join("out")).unwrap();
    assert_eq!(
        super::super::followed(&subject(&roots(&root), ["out/hostname-of-nobody"])),
        Subject::Paths { paths: vec![root.join("out/hostname-of-nobody"), "/etc/hostname-of-nobody".into()] }
    );
}

#[test]
fn odd_names_stay_on_one_line() {
    assert_eq!(escaped(Path::new("a b é")), "a b é");
    assert_eq!(escaped(Path::new("a\nb\"c\\")), "\"a\\nb\\\"c\\\\\"");
    assert_eq!(escaped(Path::new(std::ffi::OsStr::from_bytes(b"x\xff\x1b"))), "\"x\\xff\\u{1b}\"");
}

#[test]
fn near_misses_are_suggested() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    std::fs::create_dir_all(root.join("src/deep")).unwrap();
    std::fs::write(root.join("README.md"), "").unwrap();
    std::fs::write(root.join("src/deep/only_here.rs"), "").unwrap();
    let roots = roots(root);
    let says = |name: &str| missing(&roots, &root.join(name));
    assert_eq!(says("readme.md"), "readme.md does not exist. Did you mean: README.md?");
    assert_eq!(says("REDME.md"), "REDME.md does not exist. Did you mean: README.md?");
    symlink("nowhere", root.join("dangling")).unwrap();
    assert_eq!(says("dangling"), "dangling is a link to nowhere, which does not exist.");
    assert_eq!(says("lib/only_here.rs"), "lib/only_here.rs does not exist. Did you mean: src/deep/only_here.rs?");
    assert_eq!(says("qq/zz"), "qq/zz does not exist. Neither does its directory qq.");
}
