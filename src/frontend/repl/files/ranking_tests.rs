//! Tests of which files are meant.

use proptest::prelude::*;

use super::*;

const NOW: u64 = 1_000_000_000;

fn entries(paths: &[&str]) -> Vec<FileEntry> {
    paths.iter().map(|path| FileEntry::new((*path).to_owned(), 0)).collect()
}

fn best<'entries>(entries: &'entries [FileEntry], typed: &str) -> Vec<&'entries str> {
    Ranking::default().best(entries, typed, NOW, &HashSet::new())
}

#[test]
fn names_come_before_folders_before_letters() {
    let entries = entries(&["docs/main/x.md", "src/main.rs", "m/a/i/n", "src/domain.rs", "main", "README"]);
    assert_eq!(best(&entries, "main"), ["main", "src/main.rs", "src/domain.rs", "docs/main/x.md", "m/a/i/n"]);
    assert_eq!(best(&entries, "./src/"), ["src/main.rs", "src/domain.rs"]);
    assert_eq!(best(&entries, "readme"), ["README"]);
    assert_eq!(best(&entries, "nothing"), Vec::<&str>::new());
}

#[test]
fn a_path_written_in_full_is_first() {
    let entries = entries(&["src/", "src/a.rs", "src/a.rs.bak", "x/src/a.rs"]);
    assert_eq!(best(&entries, "src/a.rs")[0], "src/a.rs");
    assert_eq!(best(&entries, "src/")[0], "src/");
}

#[test]
fn lately_changed_and_attached_files_come_first() {
    let mut list = entries(&["a", "b", "c", "deep/er/d"]);
    list.push(FileEntry::new("fresh".to_owned(), NOW - 5));
    let attached = HashSet::from(["c".to_owned()]);
    assert_eq!(Ranking::default().best(&list, "", NOW, &attached), ["c", "fresh", "a", "b", "deep/er/d"]);
}

#[test]
fn files_that_are_not_committed_come_before_those_that_are() {
    let mut list = entries(&["a.rs", "b.rs", "z.rs", "folder/"]);
    list[2].edited = true;
    assert_eq!(best(&list, ""), ["z.rs", "a.rs", "b.rs", "folder/"]);
    assert_eq!(best(&list, "rs"), ["z.rs", "a.rs", "b.rs"]);
}

#[test]
fn a_growing_list_is_looked_at_anew() {
    let mut list = entries(&["one.rs"]);
    let mut ranking = Ranking::default();
    assert_eq!(ranking.best(&list, "o", NOW, &HashSet::new()), ["one.rs"]);
    list.extend(entries(&["other.rs", "two.rs"]));
    assert_eq!(ranking.best(&list, "ot", NOW, &HashSet::new()), ["other.rs"]);
}

#[test]
fn a_key_looks_at_so_many_candidates_at_most() {
    let mut list: Vec<FileEntry> = (0..50_000)
        .map(|number| FileEntry::new(format!("part{:02}/folder/source{number}.rs", number % 50), 0))
        .chain(entries(&["p", "deep/in/a/corner/of/it/all/Picked.rs"]))
        .collect();
    sort(&mut list, NOW);
    let attached = HashSet::from(["deep/in/a/corner/of/it/all/Picked.rs".to_owned()]);
    let mut ranking = Ranking::default();
    ranking.take_in(&list);
    for word in ["", "p", "part", "part07", "pf", "prfrs", "p7s", "srs", "source12345.rs", "zzz"] {
        for end in 0..=word.len() {
            let wanted = &word[..end];
            let found = ranking.candidates(wanted, &attached);
            assert!(found.len() <= MOST + attached.len() + ROWS, "{wanted}: {}", found.len());
            let mut each = found.clone();
            each.sort_unstable();
            each.dedup();
            assert_eq!((each.len(), each.is_empty()), (found.len(), wanted.starts_with('z')), "{wanted}");
            assert!(ranking.fitting.as_ref().is_none_or(|(_, all)| all.len() < MOST));
        }
    }
    let mut first = |typed: &str| ranking.best(&list, typed, NOW, &attached)[0].to_owned();
    assert_eq!(first("p"), "p");
    assert_eq!(first("source12345.rs"), "part45/folder/source12345.rs");
    assert_eq!(first("part07/source5707"), "part07/folder/source5707.rs");
    assert_eq!(first(""), "deep/in/a/corner/of/it/all/Picked.rs");
}

proptest! {
    #[test]
    fn narrowing_finds_what_a_fresh_look_finds(
        paths in prop::collection::hash_set("[abAB/.]{1,6}", 1..40),
        words in prop::collection::vec("[ab/]{0,4}", 1..6),
    ) {
        let mut sorted: Vec<&str> = paths.iter().map(String::as_str).collect();
        sorted.sort_unstable();
        let list = entries(&sorted);
        let mut ranking = Ranking::default();
        for word in &words {
            for end in 0..=word.len() {
                let typed = &word[..end];
                prop_assert_eq!(ranking.best(&list, typed, NOW, &HashSet::new()), best(&list, typed));
            }
        }
    }
}
