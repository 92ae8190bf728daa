//! What a line reaches, from what it is judged to do.

use super::*;
use crate::approval::Surroundings;
use crate::approval::command::judge;

fn reach(line: &str, consent: Consent) -> Reach {
    let place = Surroundings {
        cwd: "/home/x/work".into(),
        workspace: "/home/x/work".into(),
        home: Some("/home/x".into()),
        ..Surroundings::default()
    };
    of_line(&judge(line, &place), consent)
}

fn workspace(network: bool, also: &[&str]) -> Reach {
    Reach::Workspace { network, also: also.iter().map(PathBuf::from).collect() }
}

#[test]
fn what_only_reads_only_reads_whoever_agreed() {
    for line in ["ls -la", "git status && git diff | head", "rg main src", "cat a b > /dev/null"] {
        assert_eq!(reach(line, Consent::None), Reach::ReadOnly, "{line}");
        assert_eq!(reach(line, Consent::Assumed), Reach::ReadOnly, "{line}");
    }
}

#[test]
fn the_network_is_for_what_was_shown_to_use_it_or_is_unknown() {
    assert_eq!(reach("curl https://x.example/a", Consent::None), workspace(true, &[]));
    assert_eq!(reach("./run.sh", Consent::None), workspace(true, &[]));
    assert_eq!(reach("gh repo delete a/b", Consent::None), workspace(true, &[]));
    assert_eq!(reach("rm -r old", Consent::None), workspace(false, &["/home/x/work/old", "/home/x/work"]));
}

#[test]
fn a_target_outside_opens_itself_and_its_directory_only_for_programs_that_are_known() {
    assert_eq!(reach("cp a /srv/site/b", Consent::None), workspace(false, &["/srv/site/b", "/srv/site"]));
    assert_eq!(reach("./run.sh > /srv/site/b", Consent::None), workspace(true, &["/srv/site/b"]));
}

#[test]
fn another_user_is_outside_whoever_agreed_unless_it_is_root_already() {
    let root = crate::platform::process::geteuid().is_root();
    for line in ["sudo apt install x", "ls && sudo rm a", "doas ls", "/usr/bin/sudo -u y ls", "env A=b sudo ls"] {
        assert_eq!(reach(line, Consent::None), Reach::Full, "{line}");
        assert_eq!(reach(line, Consent::Assumed) == Reach::Full, !root, "{line}");
    }
}

#[test]
fn more_is_more_only_beside_what_it_has() {
    assert!(is_more(&Reach::ReadOnly, Access::Workspace) && is_more(&workspace(true, &[]), Access::Full));
    assert!(
        is_more(&workspace(false, &[]), Access::Workspace) && !is_more(&workspace(true, &[]), Access::Workspace)
    );
    assert!(!is_more(&Reach::Full, Access::Full) && !is_more(&Reach::ReadOnly, Access::Usual));
    assert_eq!(extended(workspace(false, &["/a"]), Access::Workspace), workspace(true, &["/a"]));
    assert_eq!(extended(Reach::ReadOnly, Access::Usual), Reach::ReadOnly);
    assert_eq!(extended(Reach::ReadOnly, Access::Full), Reach::Full);
}
