//! What would be hit, on a disk that is only a list.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use super::command::judge;
use super::{
    BlastRadius, Entry, FileSystem, NeverAuto, Surroundings, blast_radius, forbidden_on_disk, leads_outside,
};

/// Files with their sizes, directories, and links with where they lead.
struct List {
    files: BTreeMap<PathBuf, u64>,
    links: BTreeMap<PathBuf, PathBuf>,
}

impl FileSystem for List {
    fn entry(&self, path: &Path) -> Option<Entry> {
        if let Some(bytes) = self.files.get(path) {
            return Some(Entry { is_directory: false, is_file: true, bytes: *bytes });
        }
        if self.links.contains_key(path) {
            return Some(Entry { is_directory: false, is_file: false, bytes: 7 });
        }
        self.files.keys().any(|file| file.starts_with(path)).then_some(Entry {
            is_directory: true,
            is_file: false,
            bytes: 0,
        })
    }

    fn names(&self, directory: &Path) -> Vec<OsString> {
        let mut names: Vec<OsString> = self
            .files
            .keys()
            .chain(self.links.keys())
            .filter_map(|file| file.strip_prefix(directory).ok())
            .filter_map(|rest| rest.components().next())
            .map(|part| part.as_os_str().to_owned())
            .collect();
        names.sort();
        names.dedup();
        names
    }

    fn real_path(&self, path: &Path) -> Option<PathBuf> {
        let mut real = PathBuf::from("/");
        for part in path.components() {
            match part {
                Component::ParentDir => drop(real.pop()),
                Component::Normal(name) => real.push(name),
                Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
            }
            if let Some(target) = self.links.get(&real) {
                real = self.real_path(target)?;
            }
        }
        Some(real)
    }
}

fn radius(line: &str) -> BlastRadius {
    radius_at(line, "/home/u")
}

/// With a home that is called so.
fn radius_at(line: &str, home: &str) -> BlastRadius {
    let (list, place) = disk(home);
    blast_radius(&judge(line, &place), &place, &list, &|path| path.starts_with("/home/u/work/app/src"), &|| false)
}

fn disk(home: &str) -> (List, Surroundings) {
    let app = "/home/u/work/app";
    let files = [
        ("src/main.rs", 10),
        ("src/lib.rs", 20),
        ("build/a.o", 100),
        ("build/deep/b.o", 200),
        ("build/.hidden", 1),
        ("notes.txt", 5),
    ];
    let list = List {
        files: files
            .iter()
            .map(|(name, bytes)| (PathBuf::from(app).join(name), *bytes))
            .chain([(PathBuf::from("/home/u/other/x"), 3)])
            .collect(),
        links: [
            (PathBuf::from(app).join("up"), PathBuf::from("/home")),
            (PathBuf::from(app).join("python"), PathBuf::from("/usr/bin/python3")),
            (PathBuf::from(app).join("mine"), PathBuf::from("/home/u")),
            (PathBuf::from("/house"), PathBuf::from("/home")),
        ]
        .into(),
    };
    let place = Surroundings {
        cwd: PathBuf::from(app),
        workspace: PathBuf::from(app),
        home: Some(PathBuf::from(home)),
        secrets: crate::secret::files::SecretFiles::default(),
        environment: BTreeMap::from([("OUT".to_owned(), "build".to_owned())]),
        definitions: std::sync::Arc::default(),
    };
    (list, place)
}

fn counts(line: &str) -> (u64, u64, u64, u64) {
    let radius = radius(line);
    (radius.files, radius.bytes, radius.untracked, radius.outside)
}

#[test]
fn content_that_nobody_else_has_is_replaced_and_not_only_changed() {
    for line in ["> notes.txt", "tee notes.txt < x", "sort x > notes.txt"] {
        assert_eq!(radius(line).replaced, 1, "{line}");
    }
    // What is new, grows, goes or is kept by git.
    for line in [
        "> new.txt",
        "echo x >> notes.txt",
        "tee -a notes.txt < x",
        "rm notes.txt",
        "sort x > src/lib.rs",
        "mkdir new",
    ] {
        assert_eq!(radius(line).replaced, 0, "{line}");
    }
}

#[test]
fn everything_below_a_directory_counts() {
    assert_eq!(counts("rm -rf build"), (3, 301, 3, 0));
    assert_eq!(counts("rm -rf src build"), (5, 331, 3, 0));
    assert_eq!(counts("rm -rf build build/deep"), (3, 301, 3, 0));
}

#[test]
fn globs_variables_and_directories_are_resolved() {
    assert_eq!(counts("rm src/*.rs"), (2, 30, 0, 0));
    assert_eq!(counts("rm -rf \"$OUT\"/*"), (2, 300, 2, 0));
    assert_eq!(counts("cd build && rm -rf deep"), (1, 200, 1, 0));
    assert_eq!(counts("rm ../../other/x"), (1, 3, 1, 1));
    assert_eq!(counts("rm ~/other/x"), (1, 3, 1, 1));
    assert_eq!(counts("rm nothing*"), (0, 0, 0, 0));
}

#[test]
fn overwriting_counts_what_is_there() {
    assert_eq!(counts("echo x > notes.txt"), (1, 5, 1, 0));
    assert_eq!(counts("echo x > new.txt"), (0, 0, 0, 0));
    assert_eq!(counts("find build -name '*.o' -delete"), (2, 300, 2, 0));
    assert!(!radius("find build -name '*.o' -delete").filtered);
    assert_eq!(counts("find build -newer notes.txt -delete"), (3, 301, 3, 0));
    assert!(radius("find build -newer notes.txt -delete").filtered);
    assert_eq!(counts("find build -name '*.o' -newer notes.txt -delete"), (2, 300, 2, 0));
    assert!(radius("find build -name '*.o' -newer notes.txt -delete").filtered);
}

#[test]
fn what_is_not_known_is_named() {
    let radius = radius("rm -rf \"$UNSET/x\"");
    assert_eq!(radius.unresolved, ["…/x"]);
    assert!(matches!(radius.never_auto, Some(NeverAuto::Unresolved { .. })));
}

#[test]
fn links_are_followed_to_where_nothing_may_be_touched() {
    assert!(matches!(radius("rm -rf up/u").never_auto, Some(NeverAuto::HomeOrAbove { .. })));
    assert_eq!(radius("rm up").never_auto, None);
    assert_eq!(radius("rm -rf build").never_auto, None);
}

#[test]
fn what_would_be_made_outside_is_named_though_nothing_lies_there_yet() {
    let made = |line: &str| radius(line).made_outside;
    assert_eq!(made("cp notes.txt ~/bin/tool"), [PathBuf::from("/home/u/bin/tool")]);
    assert_eq!(made("cargo build && cp notes.txt ../../other/"), [PathBuf::from("/home/u/other")]);
    assert_eq!(made("echo x >> ~/.profile"), [PathBuf::from("/home/u/.profile")]);
    for none in ["cp notes.txt new.txt", "echo x > /tmp/y", "ls > /dev/null", "rm ~/nothing", "rm ~/other/x"] {
        assert_eq!(made(none), Vec::<PathBuf>::new(), "{none}");
    }
}

#[test]
fn no_spelling_of_home_hides_it() {
    for home in ["/home/u", "/home/u/", "/house/u", "/home/x/../u", "/home/u/work/app/mine"] {
        for line in [
            "rm -rf ~",
            "rm -rf ~/*",
            "rm -rf /home/u",
            "rm -rf /home/u/*",
            "rm -rf /house/u",
            "rm -rf /house/u/*",
            "rm -rf mine/",
            "rm -rf mine/*",
            "rm -rf mine/.",
            "chmod -R 700 mine/",
            "mv /house/u elsewhere",
        ] {
            let never = radius_at(line, home).never_auto;
            // A home above the workspace is above the workspace, too.
            let right = matches!(never, Some(NeverAuto::HomeOrAbove { .. } | NeverAuto::WorkspaceOrAbove { .. }));
            assert!(right, "{home}: {line}: {never:?}");
        }
        for line in ["rm -rf build", "rm python", "rm -rf mine/other/x", "rm /house/u/other/x"] {
            assert_eq!(radius_at(line, home).never_auto, None, "{home}: {line}");
        }
    }
}

#[test]
fn a_parent_behind_a_link_is_the_one_of_the_place_really_reached() {
    for line in [
        "rm -rf mine/../u",
        "rm -rf mine/../u*",
        "rm -rf mi*/../u",
        "rm -rf up/../home/u",
        "cd mine && rm -rf ../u",
        "cd mine/../u && rm -rf *",
        "cd mine; cd ../u && rm -rf ./*",
        "cd -P mine/.. && rm -rf u",
        "cd -P mine; cd ..; rm -rf u",
        "set -P; cd mine; cd ..; rm -rf u",
        "set -o physical; cd mine; cd ..; rm -rf u",
        "bash -o physical -c 'cd mine; cd ..; rm -rf u'",
        "env -C mine/.. rm -rf u",
        "git -C mine/../u clean -ffdx",
        "mv mine/../u /tmp/x",
        "chmod 000 mine/../u",
    ] {
        let never = radius(line).never_auto;
        assert!(matches!(never, Some(NeverAuto::HomeOrAbove { .. })), "{line}: {never:?}");
    }
    for line in
        ["rm -rf build/../build/deep", "cd build && rm -rf ../build/deep", "cd build; cd ..; rm -rf build/deep"]
    {
        assert_eq!(radius(line).never_auto, None, "{line}");
    }
    assert_eq!(counts("rm -rf build/../build"), counts("rm -rf build"));
    assert_eq!(counts("cd src/.. && rm -rf build"), counts("rm -rf build"));
    // What is counted is what goes.
    assert_eq!(counts("rm -rf mine/../u/other"), (1, 3, 1, 1));
}

#[test]
fn what_follows_a_link_is_judged_by_where_that_leads() {
    for line in [
        "find -H mine -delete",
        "find -H mine -mindepth 1 -delete",
        "find mine/ -delete",
        "find min*/ -delete",
        "find -H up -delete",
        "chmod 000 mine",
        "chmod 000 up",
        "chown nobody mine",
        "chgrp x mi*e",
        "rsync -a --delete empty/ mine",
        "git -C mine clean -ffdx",
        "git --work-tree=mine clean -ffdx",
        "cd mine && find . -delete",
    ] {
        let never = radius(line).never_auto;
        assert!(matches!(never, Some(NeverAuto::HomeOrAbove { .. })), "{line}: {never:?}");
    }
    for line in ["find mine -delete", "rm mine", "mv mine other", "chmod 644 notes.txt", "find -H build -delete"] {
        assert_eq!(radius(line).never_auto, None, "{line}");
    }
}

#[test]
fn links_out_of_the_workspace_are_seen_where_a_rule_goes_by_names() {
    let (list, place) = disk("/home/u");
    let outside = |line: &str| leads_outside(&judge(line, &place), &place, &list);
    for line in [
        "cd mine && touch x",
        "touch mine/x",
        "echo x > mine/other/x",
        "rm mine/other/x",
        "touch mine/../u/other/x",
    ] {
        assert!(outside(line).is_some_and(|path| path.starts_with("/home/u")), "{line}: {:?}", outside(line));
    }
    for line in
        ["touch x", "cd src && touch x", "rm mine", "echo x > /tmp/x", "ls mine", "cargo test", "touch build/../x"]
    {
        assert_eq!(outside(line), None, "{line}");
    }
}

#[test]
fn no_yes_in_advance_covers_what_home_keeps_whatever_link_leads_there() {
    let (mut list, place) = disk("/home/u");
    list.files.insert(PathBuf::from("/home/u/.bashrc"), 7);
    list.links.insert(PathBuf::from("/home/u/work/app/rc"), PathBuf::from("/home/u/.bashrc"));
    let said = |line: &str| forbidden_on_disk(&judge(line, &place), &place, &list);
    for line in [
        "echo x > mine/.bashrc",
        "echo x >> mine/.config/new/deep/x",
        "cp notes.txt mine/.bashrc",
        "cp notes.txt up/u/.bashrc",
        "tee mine/.zshrc",
        "rm mine/.bashrc",
        "mkdir -p mine/.config/autostart",
        "echo x > rc",
        "chmod 777 rc",
        "sed -i s/a/b/ r*",
    ] {
        let never = said(line);
        assert!(
            matches!(never, Some(NeverAuto::RunsLater { .. } | NeverAuto::Settings { .. })),
            "{line}: {never:?}"
        );
    }
    for line in ["rm rc", "mv rc other", "echo x > mine/other/x", "echo x > notes.txt", "rm mine/other/x"] {
        assert_eq!(said(line), None, "{line}");
    }
}

#[test]
fn what_only_loses_its_content_is_not_said_to_go() {
    for (line, removed) in [
        ("truncate -s0 notes.txt", 0),
        ("shred notes.txt", 0),
        ("shred -n 1 notes.txt", 0),
        ("shred -u notes.txt", 1),
        ("shred -zun1 notes.txt", 1),
        ("shred --remove=wipe notes.txt", 1),
        ("srm notes.txt", 1),
    ] {
        let found = radius(line);
        assert_eq!((found.files, found.removed), (1, removed), "{line}");
    }
}
