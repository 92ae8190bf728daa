//! Tests of the walk.

use std::fs;

use tempfile::TempDir;

use super::*;

fn tree() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for path in
        ["src/main.rs", "src/my file.rs", "target/out.o", ".github/ci.yml", ".git/config", "文档/说明.md", "a\nb"]
    {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    fs::write(folder.path().join(".gitignore"), "target/\n").unwrap();
    folder
}

fn index(folder: &TempDir) -> FileIndex {
    FileIndex::new(folder.path().to_owned(), Some(folder.path().join("src")), SharedState::default())
}

/// Asks until the walk is over, as repaints do.
fn offer(index: &FileIndex, typed: &str) -> Offer {
    loop {
        let offer = index.offer(0..typed.len() + 1, typed, KEY_WAIT);
        if !offer.pending {
            return offer;
        }
        std::thread::yield_now();
    }
}

fn labels(offer: &Offer) -> Vec<String> {
    let mut labels: Vec<String> = offer.rows.iter().map(|row| row.label.clone().unwrap()).collect();
    labels.sort();
    labels
}

#[test]
fn ignored_and_unspeakable_files_are_left_out() {
    let folder = tree();
    let expected = [
        ".github/",
        ".github/ci.yml",
        ".gitignore",
        "src/",
        "src/main.rs",
        "src/my file.rs",
        "文档/",
        "文档/说明.md",
    ];
    assert_eq!(labels(&offer(&index(&folder), "")), expected);
}

#[test]
fn rows_are_written_as_mentions() {
    let folder = tree();
    let index = index(&folder);
    let rows = offer(&index, "my").rows;
    assert_eq!((rows[0].value.as_str(), rows[0].more), ("@\"src/my file.rs\" ", false));
    let rows = offer(&index, "src").rows;
    assert_eq!((rows[0].value.as_str(), rows[0].more), ("@src/", true));
    fs::create_dir(folder.path().join("my dir")).unwrap();
    let fresh = FileIndex::new(folder.path().to_owned(), None, SharedState::default());
    let rows = offer(&fresh, "my dir").rows;
    assert_eq!((rows[0].value.as_str(), rows[0].more), ("@\"my dir/", true));
}

#[test]
fn a_folder_that_is_written_shows_what_is_in_it() {
    let folder = tree();
    let index = index(&folder);
    let inside = labels(&offer(&index, "src/"));
    assert!(inside.iter().all(|path| path.starts_with("src/") && path != "src/"), "{inside:?}");
    assert!(inside.contains(&"src/main.rs".to_owned()), "{inside:?}");
}

#[test]
fn what_exists_is_exact() {
    let folder = tree();
    let index = index(&folder);
    assert!(offer(&index, "src/main.rs").exact);
    assert!(offer(&index, "~/main.rs").exact);
    assert!(!offer(&index, "src/mai").exact);
    assert!(!offer(&index, "").exact);
}

#[test]
fn folders_outside_are_listed() {
    let folder = tree();
    let index = index(&folder);
    assert_eq!(labels(&offer(&index, "~/m")), ["~/main.rs", "~/my file.rs"]);
    let root = folder.path().display().to_string();
    assert_eq!(labels(&offer(&index, &format!("{root}/s"))), [format!("{root}/src/")]);
    assert_eq!(labels(&offer(&index, "/no/such/folder/x")), Vec::<String>::new());
}

#[test]
fn a_later_walk_sees_new_files() {
    let folder = tree();
    let index = index(&folder);
    offer(&index, "");
    fs::write(folder.path().join("later.rs"), "").unwrap();
    index.notes().walked = None;
    assert_eq!(labels(&offer(&index, "later")), ["later.rs"]);
}

#[test]
fn a_key_waits_for_no_list_and_sees_what_fits_of_the_last_one() {
    let folder = tree();
    let index = index(&folder);
    offer(&index, "");
    index.take_news();
    // Somebody else is at the entries for long.
    let busy = index.lock();
    let early = index.offer(0..5, "main", Duration::ZERO);
    assert_eq!((labels(&early), early.pending), (vec!["src/main.rs".to_owned()], true));
    assert!(index.is_working());
    drop(busy);
    let begun = Instant::now();
    while !index.take_news() {
        assert!(begun.elapsed() < Duration::from_secs(20), "nobody would paint the list");
        std::thread::yield_now();
    }
    assert_eq!(labels(&offer(&index, "main")), ["src/main.rs"]);
}
