//! Describes what a command affects, in the person's language: how many files, how large they are, and what git
//! cannot restore. Pure.

use crate::approval::{BlastRadius, MOST_ENTRIES};
use crate::locale::{Locale, Plural, grouped, word};
use crate::terminal::sanitize_line;
use crate::tool::Roots;
use crate::tool::output::size;

/// The most targets that are named.
const MOST_NAMES: usize = 3;

/// Describes what a command would affect; empty if nothing exists at its targets. `line` is what the person sees
/// anyway.
#[must_use]
pub(super) fn rows(locale: &Locale, roots: &Roots, line: &str, reach: &BlastRadius) -> Vec<String> {
    if reach.unanswered {
        return vec![locale.text(word::reach::UNANSWERED).to_owned()];
    }
    let mut rows = Vec::new();
    if reach.filtered && (reach.more || reach.truncated) {
        // The number is neither a lower nor an upper bound.
        if reach.files > 0 || !reach.unresolved.is_empty() {
            rows.push(locale.text(word::reach::CANNOT_TELL).to_owned());
        }
    } else if reach.files > 0 || reach.directories > 0 || reach.truncated {
        rows.push(sentence(locale, reach));
    }
    rows.extend(names(locale, roots, line, reach));
    if !reach.made_outside.is_empty() {
        let shown: Vec<String> = reach
            .made_outside
            .iter()
            .take(MOST_NAMES)
            .map(|path| sanitize_line(&roots.shown(path).display().to_string()).into_owned())
            .collect();
        rows.push(locale.with(word::reach::MadeOutside { names: &shown.join(locale.text(word::reach::AND)) }));
    }
    rows
}

fn sentence(locale: &Locale, reach: &BlastRadius) -> String {
    let mut said = locale.with(word::reach::Would { deeds: &deeds(locale, reach) });
    if reach.files > 0 {
        said.push_str(&locale.with(word::reach::Size { size: &part(locale, reach, size(reach.bytes)) }));
    }
    match reach.untracked {
        0 => {}
        all if all == reach.files && !reach.truncated && !reach.more => {
            said.push_str(locale.text(word::reach::NONE_KEPT));
        }
        some => said.push_str(&locale.with(word::reach::NotKept { count: &part(locale, reach, grouped(some)) })),
    }
    if reach.outside > 0 {
        said.push_str(&locale.with(word::reach::Outside { count: &part(locale, reach, grouped(reach.outside)) }));
    }
    said
}

/// A sum over the files that were looked at, as exactly as the files are known.
fn part(locale: &Locale, reach: &BlastRadius, sum: String) -> String {
    if reach.truncated || reach.more {
        locale.with(word::reach::AtLeast { files: &sum })
    } else if reach.filtered {
        locale.with(word::reach::AtMost { files: &sum })
    } else {
        sum
    }
}

/// What would become of files.
#[derive(Debug, Clone, Copy)]
enum Deed {
    Delete,
    Move,
    Change,
    Touch,
}

impl Deed {
    fn of(self, locale: &Locale, what: &str) -> String {
        match self {
            Self::Delete => locale.with(word::reach::Delete { what }),
            Self::Move => locale.with(word::reach::Move { what }),
            Self::Change => locale.with(word::reach::Change { what }),
            Self::Touch => locale.with(word::reach::Touch { what }),
        }
    }
}

fn deeds(locale: &Locale, reach: &BlastRadius) -> String {
    let changed = reach.files.saturating_sub(reach.removed + reach.moved);
    let kinds = [(Deed::Delete, reach.removed), (Deed::Move, reach.moved), (Deed::Change, changed)];
    let mut some = kinds.iter().filter(|(_, count)| *count > 0);
    let bounded = reach.truncated || reach.filtered || reach.more;
    match (some.next(), some.next()) {
        // There are only directories, and other changes to directories are not counted.
        (None, _) if reach.truncated => Deed::Touch.of(locale, &bound(locale, reach)),
        (None, _) => Deed::Delete.of(locale, &counted(locale, word::reach::DIRECTORIES, reach.directories)),
        (Some((Deed::Delete, _)), None) if reach.removed_directories > 0 && !bounded => {
            let files = counted(locale, word::reach::FILES, reach.files);
            let directories = counted(locale, word::reach::DIRECTORIES, reach.removed_directories);
            Deed::Delete.of(locale, &[files, directories].join(locale.text(word::reach::AND)))
        }
        (Some((deed, _)), None) => deed.of(locale, &bound(locale, reach)),
        (Some(_), Some(_)) if bounded => Deed::Touch.of(locale, &bound(locale, reach)),
        (Some(_), Some(_)) => {
            let each = kinds.iter().filter(|(_, count)| *count > 0);
            let each: Vec<String> =
                each.map(|(deed, count)| deed.of(locale, &counted(locale, word::reach::FILES, *count))).collect();
            each.join(locale.text(word::reach::AND))
        }
    }
}

/// How many files, as exactly as it is known.
fn bound(locale: &Locale, reach: &BlastRadius) -> String {
    let files = |count: u64| counted(locale, word::reach::FILES, count);
    if reach.truncated {
        // Directories were looked at, too; and if time ran out the count may be far below the limit.
        let least = if reach.files + reach.directories >= MOST_ENTRIES { MOST_ENTRIES } else { reach.files };
        return locale.with(word::reach::MoreThan { files: &files(least) });
    }
    if reach.filtered {
        return locale.with(word::reach::AtMost { files: &files(reach.files) });
    }
    if reach.more {
        return locale.with(word::reach::AtLeast { files: &files(reach.files) });
    }
    files(reach.files)
}

/// Names what a glob or a variable stands for, where the line does not say it.
fn names(locale: &Locale, roots: &Roots, line: &str, reach: &BlastRadius) -> Option<String> {
    let words: Vec<&str> = line.split(|c: char| c.is_whitespace() || "/'\"=;|&()".contains(c)).collect();
    let hidden = |path: &&std::path::PathBuf| {
        // The prompt shows where it runs.
        *path != &roots.cwd
            && path.file_name().is_some_and(|name| !words.contains(&name.to_string_lossy().as_ref()))
    };
    let paths: Vec<_> = reach.existing.iter().filter(hidden).collect();
    if paths.is_empty() {
        return None;
    }
    let shown: Vec<String> = paths
        .iter()
        .take(MOST_NAMES)
        .map(|path| sanitize_line(&roots.shown(path).display().to_string()).into_owned())
        .collect();
    let shown = shown.join(locale.text(word::reach::AND));
    let more = paths.len().saturating_sub(MOST_NAMES);
    let exact = !(reach.truncated || reach.more || reach.filtered);
    Some(if !exact {
        locale.with(word::reach::NamesAmong { names: &shown })
    } else if more == 0 {
        locale.with(word::reach::Names { names: &shown })
    } else {
        let count = grouped(u64::try_from(more).unwrap_or(u64::MAX));
        locale.with(word::reach::NamesMore { names: &shown, count: &count })
    })
}

fn counted(locale: &Locale, plural: Plural, count: u64) -> String {
    locale.count_as(plural, count, &grouped(count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn said(language: &str, reach: &BlastRadius) -> String {
        let cwd = PathBuf::from("/work");
        let roots = Roots { cwd: cwd.clone(), workspace: cwd, home: None };
        rows(&Locale::new(language), &roots, "rm *.log", reach).join("\n")
    }

    #[test]
    fn it_says_what_would_be_lost() {
        let reach = BlastRadius {
            files: 1204,
            removed: 1204,
            directories: 30,
            bytes: 38_400_000,
            untracked: 12,
            outside: 3,
            ..BlastRadius::default()
        };
        let english = "would delete 1,204 files (36.6 MB), 12 not in git; 3 outside the workspace";
        assert_eq!(said("en", &reach), english);
        assert_eq!(
            said("zh-CN", &reach),
            "会删除 1,204 个文件（36.6 MB），其中 12 个不在 git 中；3 个在工作区之外"
        );
        let japanese =
            "ファイル 1,204 個を削除します（36.6 MB）。うち 12 個は git にありません。3 個はワークスペースの外です";
        assert_eq!(said("ja", &reach), japanese);
        let one = BlastRadius { files: 1, untracked: 1, bytes: 2, ..BlastRadius::default() };
        assert_eq!(said("en", &one), "would change 1 file (2 B), not in git");
        let mixed = BlastRadius { files: 6, removed: 3, moved: 2, bytes: 1500, ..BlastRadius::default() };
        let whole = BlastRadius {
            files: 1,
            removed: 1,
            directories: 2,
            removed_directories: 2,
            bytes: 2,
            ..BlastRadius::default()
        };
        assert_eq!(said("en", &whole), "would delete 1 file, 2 directories (2 B)");
        assert_eq!(said("en", &mixed), "would delete 3 files, move 2 files, change 1 file (1.4 KB)");
    }

    #[test]
    fn it_says_when_it_does_not_know_exactly() {
        let many = BlastRadius {
            files: 99_990,
            removed: 99_990,
            directories: 10,
            bytes: 5_100_000_000,
            truncated: true,
            ..BlastRadius::default()
        };
        assert_eq!(said("en", &many), "would delete more than 100,000 files (at least 4.7 GB)");
        assert_eq!(said("ja", &many), "ファイル 100,000 個より多くを削除します（少なくとも4.7 GB）");
        let slow = BlastRadius { files: 70, directories: 10, ..many.clone() };
        assert!(
            said("en", &slow).starts_with("would touch more than 70 files") || said("en", &slow).contains("70")
        );
        let some = BlastRadius { files: 7, removed: 7, filtered: true, ..BlastRadius::default() };
        assert_eq!(said("en", &some), "would delete at most 7 files (at most 0 B)");
        let some = BlastRadius { files: 7, removed: 7, more: true, ..BlastRadius::default() };
        assert_eq!(said("en", &some), "would delete at least 7 files (at least 0 B)");
        let untracked = BlastRadius { untracked: 7, outside: 2, bytes: 9, ..some.clone() };
        let english =
            "would delete at least 7 files (at least 9 B), at least 7 not in git; at least 2 outside the workspace";
        assert_eq!(said("en", &untracked), english);
        for neither in [BlastRadius { filtered: true, ..some }, BlastRadius { filtered: true, ..many }] {
            assert_eq!(said("en", &neither), "how many files it would change cannot be told before it runs");
        }
        let outside =
            BlastRadius { made_outside: vec!["/srv/a".into(), "/opt/b".into()], ..BlastRadius::default() };
        assert_eq!(said("en", &outside), "would write outside the workspace: /srv/a, /opt/b");
        let none = BlastRadius { unanswered: true, ..BlastRadius::default() };
        assert_eq!(said("en", &none), "how much it would hit is not known: the disk does not answer");
        assert_eq!(said("en", &BlastRadius::default()), "");
    }

    #[test]
    fn what_a_glob_stands_for_is_named() {
        let existing =
            ["a.log", "b.log", "\u{1b}[2Jc.log", "d.log", "e.log"].map(|name| PathBuf::from("/work").join(name));
        let reach = BlastRadius { files: 5, removed: 5, existing: existing.to_vec(), ..BlastRadius::default() };
        let said = said("en", &reach);
        assert!(
            said.starts_with("would delete 5 files (0 B)\nthat is: a.log, b.log, ") && !said.contains('\u{1b}'),
            "{said}"
        );
        assert!(said.ends_with(" and 2 more"), "{said}");
        // Where the count is a bound, the names are no list of all.
        for inexact in [
            BlastRadius { filtered: true, ..reach.clone() },
            BlastRadius { more: true, ..reach.clone() },
            BlastRadius { truncated: true, ..reach },
        ] {
            let said = self::said("en", &inexact);
            assert!(said.contains("\namong them: a.log, b.log, ") && !said.contains("that is"), "{said}");
        }
    }
}
