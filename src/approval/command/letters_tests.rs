//! Letters and blanks of several bytes between everything that the judge looks for.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;

fn read_below(folder: &Path, into: &mut BTreeSet<String>) {
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let name = path.to_str().unwrap();
        if path.is_dir() {
            read_below(&path, into);
        } else if !name.ends_with("_tests.rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let words = |line: &str| -> Vec<String> {
                if path.extension() == Some("rs".as_ref()) {
                    line.split('"').skip(1).step_by(2).map(str::to_owned).collect()
                } else {
                    line.split_whitespace().map(str::to_owned).collect()
                }
            };
            into.extend(text.lines().flat_map(words).filter(|word| !word.is_empty()));
        }
    }
}

/// The texts in quotes of the room's own source, and the words of its rows: all that is looked for is among them.
static WORDS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut words = BTreeSet::new();
    read_below(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/approval")), &mut words);
    words.into_iter().collect()
});

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_letter_between_what_is_looked_for_makes_it_panic(
        pieces in prop::collection::vec(
            (any::<prop::sample::Index>(), "[ \t'\"`<>*$(){}|;&=/~\\\\\u{a0}　密é😀\n]{0,3}"),
            1..12,
        ),
    ) {
        let line: String = pieces.iter().flat_map(|(word, sign)| [word.get(&WORDS).as_str(), sign.as_str()]).collect();
        let home = PathBuf::from("/home/u");
        let cwd = home.join("密/w");
        let place = Surroundings { cwd: cwd.clone(), workspace: cwd, home: Some(home), ..Surroundings::default() };
        let _ = judge(&line, &place);
    }
}
