//! What a confinement says, and that it arrives as it was sent.

use std::ffi::OsString;

use super::*;

fn sandbox(wanted: Wanted) -> Sandbox {
    let hidden = vec![PathBuf::from("/home/x/.config/axi")];
    Sandbox::new(
        wanted,
        Some("/home/x".into()),
        hidden,
        vec!["/home/x/.local/state/axi/outputs".into()],
        "/tmp".into(),
    )
}

fn ground(workspace: &Path) -> WorkDirectories<'_> {
    WorkDirectories { workspace, directory: workspace, temporary: Path::new("/tmp/own"), line: "" }
}

#[test]
fn a_confinement_arrives_as_it_was_sent_and_nothing_else_is_taken() {
    use crate::platform::os::ffi::OsStringExt as _;
    let odd = PathBuf::from(OsString::from_vec(b"/a \xff--".to_vec()));
    let sent = Confinement {
        alone: true,
        read_only: true,
        judged: true,
        network: true,
        apart: true,
        home: Some("/home/x".into()),
        hidden: vec!["--write".into(), odd.clone()],
        readable: vec!["/r".into()],
        writable: vec![odd],
    };
    let mut arguments = sent.to_arguments();
    arguments.push("bash".into());
    let mut arguments = arguments.into_iter();
    assert_eq!(Confinement::from_arguments(&mut arguments), Some(sent));
    assert_eq!(arguments.next(), Some("bash".into()));
    for wrong in [vec!["bash"], vec!["--write"], vec!["--home", "/x"], vec![]] {
        assert_eq!(Confinement::from_arguments(&mut wrong.into_iter().map(OsString::from)), None);
    }
}

#[test]
fn off_and_full_confine_nothing() {
    let place = tempfile::tempdir().unwrap();
    assert_eq!(sandbox(Wanted::Off).state(), SandboxState::Off);
    assert_eq!(sandbox(Wanted::Off).confinement(&Reach::ReadOnly, ground(place.path())), None);
    assert_eq!(sandbox(Wanted::On).confinement(&Reach::Full, ground(place.path())), None);
}

#[cfg(target_os = "linux")]
#[test]
fn a_reader_writes_its_own_directory_only_and_a_place_of_work_is_no_secret() {
    let SandboxState::On(support) = sandbox(Wanted::On).state() else {
        return crate::skip::skip("no sandbox here");
    };
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join(".env"), "KEY=1").unwrap();
    let made = sandbox(Wanted::On).confinement(&Reach::ReadOnly, ground(place.path())).unwrap();
    assert_eq!(made.writable, [Path::new("/tmp/own")]);
    assert!(made.hidden.contains(&place.path().join(".env")));
    assert!(!made.network);

    let inside = sandbox(Wanted::On);
    let made = inside.confinement(&Reach::ReadOnly, ground(Path::new("/home/x/.config/axi/commands"))).unwrap();
    assert_eq!(made.hidden, Vec::<PathBuf>::new());

    if support.holds_workspace() {
        let reach = Reach::Workspace { network: true, also: vec!["/shown".into()] };
        let made = sandbox(Wanted::On).confinement(&reach, ground(place.path())).unwrap();
        assert!(made.writable.contains(&place.path().to_path_buf()) && made.writable.contains(&"/shown".into()));
        assert!(made.network && !made.read_only);
    }
}

#[test]
fn where_the_model_has_a_command_run_is_not_written_for_it() {
    let sandbox = sandbox(Wanted::On);
    let ground = WorkDirectories { directory: Path::new("/"), ..ground(Path::new("/home/x/work")) };
    let reach = Reach::Workspace { network: false, also: Vec::new() };
    let Some(held) = sandbox.confinement(&reach, ground) else { return crate::skip::skip("no sandbox here") };
    assert!(!held.writable.contains(&PathBuf::from("/")), "{held:?}");
    assert!(held.writable.contains(&PathBuf::from("/home/x/work")), "{held:?}");
}
