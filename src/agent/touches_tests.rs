//! What is known of a line before it runs.

use super::*;
use crate::approval::Surroundings;
use crate::approval::command::judge;

struct Place(tempfile::TempDir, PathBuf);

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        for name in ["src", "docs"] {
            std::fs::create_dir(root.join(name)).unwrap();
        }
        for name in ["a.txt", "b.txt", ".c.txt", "src/main", "docs/a.txt"] {
            std::fs::write(root.join(name), "x").unwrap();
        }
        crate::platform::os::fs::symlink("a.txt", root.join("link")).unwrap();
        Self(directory, root)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.1.join(name)
    }

    /// Names of what is touched, with a mark for how; then `?` if there may be more.
    fn of(&self, line: &str) -> Vec<String> {
        let place = Surroundings {
            cwd: self.1.clone(),
            workspace: self.1.clone(),
            home: Some(self.0.path().join("nobody")),
            ..Surroundings::default()
        };
        let expected = of_line(&judge(line, &place), &self.1);
        let mut told: Vec<String> = expected
            .touches
            .iter()
            .map(|touch| {
                let mark = match touch.how {
                    How::Any => "",
                    How::Removed => "-",
                    How::Attributes => "+",
                    How::Around => "*",
                };
                format!("{mark}{}", touch.path.strip_prefix(&self.1).unwrap_or(&touch.path).display())
            })
            .collect();
        told.sort();
        told.dedup();
        if expected.unseen {
            told.push("?".to_owned());
        }
        told
    }
}

#[test]
fn targets_are_looked_up_on_the_disk_and_links_followed() {
    let place = Place::new();
    assert_eq!(place.of("rm *.txt"), ["-a.txt", "-b.txt"]);
    assert_eq!(place.of("rm -rf src docs/*"), ["-docs/a.txt", "-src"]);
    assert_eq!(place.of("echo x > link"), ["a.txt", "link"]);
    assert_eq!(place.of("rm link"), ["-link"]);
    assert_eq!(place.of("chmod -R 600 src"), ["+src"]);
    assert_eq!(place.of("mkdir -p x/y"), ["x/y"]);
}

#[test]
fn what_links_made_in_the_same_line_lead_to_is_touched() {
    let place = Place::new();
    crate::platform::os::fs::symlink("src", place.path("folder")).unwrap();
    crate::platform::os::fs::symlink("fresh", place.path("dangling")).unwrap();
    crate::platform::os::fs::symlink("../b.txt", place.path("docs/up")).unwrap();
    for (line, leads_to) in [
        ("ln -s a.txt s; echo z > s", "a.txt"),
        ("ln -sf a.txt s && cp b.txt s", "a.txt"),
        ("ln -s a.txt s; tee -a s < b.txt", "a.txt"),
        ("ln -s a.txt s; ln -s s t; echo z > t", "a.txt"),
        ("cd src && ln -s ../a.txt s && echo z > s", "a.txt"),
        ("mkdir new; ln -s ../a.txt new/; echo z > new/a.txt", "a.txt"),
        ("ln -s main src/s; echo z > src/s", "src/main"),
        ("ln b.txt docs; echo z > docs/b.txt", "b.txt"),
        ("ln a.txt h; echo z > h", "a.txt"),
        ("ln src/main; echo z > main", "src/main"),
        ("cp -l a.txt h; sed -i s/x/y/ h", "a.txt"),
        ("cp -al src copy; echo z > copy/main", "src/main"),
        ("ln -s src s; rm s/main", "src/main"),
        ("ln -s src s; rm -r s/", "src"),
        ("ln -s src s; rm s/*", "src/main"),
        ("ln -s src s; cd s; rm main", "src/main"),
        ("mv link l; echo z > l", "a.txt"),
        ("mv docs moved; echo z > moved/up", "b.txt"),
        ("cp -a docs copy; echo z > copy/up", "b.txt"),
        ("rm -r folder/", "src"),
        ("x=folder/; rm -r $x", "src"),
        ("echo z > dangling", "fresh"),
        ("ln -s nowhere s; echo z > s", "nowhere"),
    ] {
        let told = place.of(line);
        let has = told.iter().any(|name| name.trim_start_matches('-') == leads_to);
        assert!(has && !told.contains(&"?".to_owned()), "{line}: {told:?}");
    }
    assert!(place.of("chmod 600 link").contains(&"+a.txt".to_owned()));
}

#[test]
fn what_a_new_link_leads_to_is_left_alone_where_nothing_is_done_through_it() {
    let place = Place::new();
    for line in ["ln -s src s", "ln -sf a.txt s; cat s", "rm -f s; ln -s src s", "ln a.txt h; rm h", "mv link l"] {
        let told = place.of(line);
        let has = told.iter().any(|name| ["a.txt", "src", "src/main", "?"].contains(&name.trim_start_matches('-')));
        assert!(!has, "{line}: {told:?}");
    }
    for line in ["cp -r src /tmp/odd-name && rm -rf /tmp/odd-name/main", "mv *.txt docs/; echo z > docs/new"] {
        assert!(!place.of(line).contains(&"?".to_owned()), "{line}");
    }
}

#[test]
fn where_a_new_link_leads_to_nobody_knows_is_said() {
    let place = Place::new();
    for line in [
        "ln -s $(pick) s; echo z > s",
        "ln -s $(pick) s; rm -r s/",
        "cd docs; ln -s ../a.txt; echo z > a.txt",
        "ln ?.txt src; echo z > src/a.txt",
        "ln -s src linked; rm -r l*/",
        "ln -s src linked; rm l*/main",
    ] {
        assert!(place.of(line).contains(&"?".to_owned()), "{line}: {:?}", place.of(line));
    }
}

#[test]
fn what_is_put_into_a_directory_has_the_name_it_was_given() {
    let place = Place::new();
    assert!(place.of("cp a.txt docs/").contains(&"docs/a.txt".to_owned()));
    assert!(place.of("mv src docs").contains(&"docs/src".to_owned()));
    assert!(place.of("mv src docs").contains(&"src".to_owned()));
}

#[test]
fn a_second_name_is_enough_only_for_what_is_removed_first() {
    let place = Place::new();
    assert_eq!(place.of("cat a.txt && rm a.txt"), ["-a.txt"]);
    assert!(place.of("rm -rf src && npm install").contains(&"-src".to_owned()));
    assert!(place.of("mv a.txt b.txt && rm src/main").contains(&"src/main".to_owned()));
    assert!(place.of("rm a.txt; mv src b").contains(&"a.txt".to_owned()));
}

#[test]
fn what_nobody_can_know_is_said() {
    let place = Place::new();
    assert_eq!(place.of("./run.sh"), ["?"]);
    assert_eq!(place.of("git checkout ."), ["?"]);
    assert_eq!(place.of("git clean -fdx"), ["?"]);
    assert!(place.of("rsync -a src/ docs/").contains(&"?".to_owned()));
    assert_eq!(place.of("find src -name '*.o' -delete"), ["-src"]);
    std::fs::File::create(place.path("src/large")).unwrap().set_len(FEW_BYTES + 1).unwrap();
    assert_eq!(place.of("find src -mtime +1 -delete"), ["?"]);
    assert_eq!(place.of("ls; git status"), [""; 0]);
    assert_eq!(place.of("git commit -m x"), [""; 0]);
    assert_eq!(place.of("curl https://x.example/a"), [""; 0]);
}

/// Runs git there; `None` when there is none.
fn git(place: &Place, line: &str) -> Option<()> {
    let mut command = std::process::Command::new("git");
    let own = ["-c", "user.name=A", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
    command.args(own).args(line.split(' ')).current_dir(&place.1).env("GIT_CONFIG_GLOBAL", "/dev/null");
    assert!(command.output().ok()?.status.success(), "{line}");
    Some(())
}

#[test]
fn before_git_throws_away_what_it_does_not_keep_is_known() {
    let place = Place::new();
    if git(&place, "init -q").is_none() {
        return crate::skip::skip("git is not installed");
    }
    std::fs::write(place.path(".gitignore"), "ignored\n").unwrap();
    for line in ["add a.txt src .gitignore", "commit -qm first"] {
        git(&place, line);
    }
    for name in ["ignored", "added"] {
        std::fs::write(place.path(name), name).unwrap();
    }
    git(&place, "add added");
    std::fs::write(place.path("a.txt"), "changed").unwrap();
    std::fs::create_dir_all(place.path("inside/.git")).unwrap();
    std::fs::write(place.path("inside/other"), "another repository's").unwrap();
    let mut found: Vec<PathBuf> = unkept_by_git(&place.1.join("docs"), false)
        .into_iter()
        .map(|touch| touch.path)
        .filter(|path| !path.is_dir())
        .collect();
    found.sort();
    let expected = [".c.txt", "a.txt", "added", "b.txt", "docs/a.txt", "link"].map(|name| place.1.join(name));
    assert_eq!(found, expected);
}

#[test]
fn nothing_a_repository_names_is_run_to_know_what_it_does_not_keep() {
    let place = Place::new();
    if git(&place, "init -q").is_none() {
        return crate::skip::skip("git is not installed");
    }
    for line in ["add a.txt", "commit -qm first"] {
        git(&place, line);
    }
    let ran = place.path("ran");
    std::fs::write(place.path(".gitattributes"), "* filter=x diff=x\n").unwrap();
    let config = format!(
        "[filter \"x\"]\n\tclean = touch {0}; cat\n\tprocess = touch {0}\n[core]\n\tfsmonitor = touch {0}\n\
         [diff \"x\"]\n\ttextconv = touch {0}\n\tcommand = touch {0}\n",
        ran.display()
    );
    let mut file = std::fs::File::options().append(true).open(place.path(".git/config")).unwrap();
    std::io::Write::write_all(&mut file, config.as_bytes()).unwrap();
    // Of the same size: only its content tells, and git would have it filtered.
    std::fs::write(place.path("a.txt"), "y").unwrap();
    let found: Vec<PathBuf> =
        unkept_by_git(&place.1, false).into_iter().map(|touch| touch.path).filter(|path| !path.is_dir()).collect();
    assert!(found.contains(&place.path("a.txt")), "{found:?}");
    assert!(!ran.exists());
}

#[test]
fn of_much_only_what_find_asks_for_by_name_is_touched_and_the_rest_is_known_to_be_lost() {
    let ground = Place::new();
    std::fs::create_dir(ground.path("many")).unwrap();
    for number in 0..2_100 {
        let name = if number % 700 == 0 { format!("many/{number}.tmp") } else { format!("many/{number}.keep") };
        std::fs::write(ground.path(&name), "").unwrap();
    }
    assert_eq!(
        ground.of("find many -name '*.tmp' -type f -delete"),
        ["-many/0.tmp", "-many/1400.tmp", "-many/700.tmp"]
    );
    let lost = |line: &str| {
        let place = Surroundings { cwd: ground.1.clone(), workspace: ground.1.clone(), ..Surroundings::default() };
        of_line(&judge(line, &place), &ground.1).lost
    };
    // Of ages only what is left out is not looked at.
    let some = ["-many/0.tmp", "-many/1400.tmp", "-many/700.tmp"];
    assert_eq!(ground.of("find many -name '*.tmp' -mtime -1 -delete"), some);
    assert_eq!(ground.of("find many -name '*.[t]mp' -size -1k -delete"), some);
    assert!(lost("find many -mtime +1 -delete"));
    assert!(!lost("find many -name '*.tmp' -delete") && !lost("find many -mtime +1"));
}
