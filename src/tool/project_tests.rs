use std::collections::BTreeSet;

use super::*;

/// A disk that has these files, below `/w`.
fn disk(files: &[&str]) -> BTreeSet<PathBuf> {
    let files = files.iter().map(|file| Path::new("/w").join(file));
    files.flat_map(|file| file.ancestors().map(Path::to_path_buf).collect::<Vec<_>>()).collect()
}

fn lines(line: &str) -> Vec<String> {
    vec![line.to_owned()]
}

/// Where a line belongs that would run in `directory`, when these projects were seen.
fn place(line: &str, directory: &str, files: &[&str], seen: &[&str]) -> String {
    let disk = disk(files);
    let seen: Vec<PathBuf> = seen.iter().map(|seen| Path::new("/w").join(seen)).collect();
    let known = Known {
        directory: Path::new(directory),
        workspace: Path::new("/w"),
        made: &[],
        seen: &seen,
        exists: &|path| disk.contains(path),
    };
    match belongs(&lines(line), &known) {
        Belongs::Here => "here".to_owned(),
        Belongs::There { directory, marker } => format!("{} {marker}", directory.display()),
        Belongs::OneOf { directories, .. } => format!("{} of them", directories.len()),
    }
}

#[test]
fn a_command_of_a_project_below_goes_there() {
    let files = ["app/Cargo.toml", "app/src/main.rs"];
    for line in [
        "cargo test",
        "RUST_LOG=debug cargo +nightly test --release -- --nocapture",
        "timeout 60 cargo build 2>&1 | tail -n 20",
        "cargo fmt && cargo clippy && echo done",
    ] {
        assert_eq!(place(line, "/w", &files, &["app"]), "/w/app Cargo.toml", "{line}");
    }
}

#[test]
fn what_is_not_certain_stays_where_it_is() {
    let files = ["app/Cargo.toml", "notes.txt", "hello.c", "app/Makefile"];
    for line in [
        "cargo new other",
        "cargo --version",
        "cargo test --manifest-path app/Cargo.toml",
        "cargo run -- notes.txt",
        "cargo test > out.txt",
        "cargo test; rm -rf target",
        "cargo test && rm -rf target",
        "cd app && cargo test",
        "cargo test | tee out",
        "cargo test $(cat x)",
        "cargo test 'unclosed",
        "make -C app",
        "make hello",
        "ls",
        "",
    ] {
        assert_eq!(place(line, "/w", &files, &["app"]), "here", "{line}");
    }
    assert_eq!(place("cargo test", "/w", &files, &[]), "here");
    assert_eq!(place("cargo test", "/w", &["Cargo.toml", "app/Cargo.toml"], &["app"]), "here");
    assert_eq!(place("cargo test", "/w", &["app/src/x"], &["app"]), "here");
    assert_eq!(place("cargo build && npm test", "/w", &["a/Cargo.toml", "b/package.json"], &["a", "b"]), "here");
}

#[test]
fn programs_that_do_not_look_above_go_to_the_nearest_project_there() {
    let files = ["Makefile", "sub/Makefile", "sub/deep/x", "pom.xml", "Cargo.toml"];
    assert_eq!(place("make test", "/w/sub/deep", &files, &[]), "/w/sub Makefile");
    assert_eq!(place("mvn test", "/w/sub/deep", &files, &[]), "/w pom.xml");
    assert_eq!(place("cargo test", "/w/sub/deep", &files, &[]), "here");
    // Not beyond the workspace.
    let disk: BTreeSet<PathBuf> = [PathBuf::from("/Makefile")].into();
    let known = Known {
        directory: Path::new("/w/sub"),
        workspace: Path::new("/w"),
        made: &[],
        seen: &[],
        exists: &|path| disk.contains(path),
    };
    assert_eq!(belongs(&lines("make"), &known), Belongs::Here);
}

#[test]
fn one_of_several_is_not_guessed_and_the_outer_of_two_is_the_root() {
    let files = ["a/Cargo.toml", "b/Cargo.toml", "b/inner/Cargo.toml", "a/Makefile", "b/Makefile"];
    assert_eq!(place("cargo test", "/w", &files, &["a", "b"]), "2 of them");
    assert_eq!(place("cargo test", "/w", &files, &["b", "b/inner"]), "/w/b Cargo.toml");
    assert_eq!(place("make", "/w", &files, &["a", "b"]), "here");
}

/// What a line has set up, when it ran in `/w` and left these files.
fn left(line: &str, files: &[&str]) -> Vec<(String, String)> {
    let disk = disk(files);
    let made = made(&lines(line), Path::new("/w"), &|path| disk.contains(path));
    made.into_iter()
        .map(|made| (made.directory.display().to_string(), made.evidence.display().to_string()))
        .collect()
}

#[test]
fn what_a_command_has_set_up_is_found() {
    for (line, files, directory) in [
        ("cargo new app", ["app/Cargo.toml"].as_slice(), "/w/app"),
        ("cargo new --bin app --vcs none", &["app/Cargo.toml"], "/w/app"),
        ("cargo init", &["Cargo.toml"], "/w"),
        ("npm create vite@latest shop -- --template vue", &["shop/package.json"], "/w/shop"),
        ("npx --yes create-react-app shop", &["shop/package.json"], "/w/shop"),
        ("npm init -y", &["package.json"], "/w"),
        ("mkdir -p x && cd x && go mod init example.org/x", &["x/go.mod"], "/w/x"),
        ("git init -b main deep", &["deep/.git/HEAD"], "/w/deep"),
        ("git clone https://example.org/some/tool.git", &["tool/.git/HEAD"], "/w/tool"),
        ("django-admin startproject site .", &["manage.py"], "/w/."),
        ("poetry new lib", &["lib/pyproject.toml"], "/w/lib"),
    ] {
        let found: Vec<PathBuf> = left(line, files).into_iter().map(|(directory, _)| directory.into()).collect();
        assert_eq!(found, [PathBuf::from(directory)], "{line}");
    }
    assert_eq!(left("cargo build", &["Cargo.toml"]), []);
    assert_eq!(left("cargo new app", &[]), []);
    assert_eq!(left("git status", &[".git/HEAD"]), []);
    assert_eq!(left("npx prettier .", &["package.json"]), []);
}

#[test]
fn the_same_again_is_known_as_long_as_it_is_there() {
    let disk_then = disk(&["app/Cargo.toml"]);
    let made = made(&lines("cargo new app"), Path::new("/w"), &|path| disk_then.contains(path));
    let again = |line: &str, directory: &str, files: &[&str]| {
        let disk = disk(files);
        let known = Known {
            directory: Path::new(directory),
            workspace: Path::new("/w"),
            made: &made,
            seen: &[],
            exists: &|path| disk.contains(path),
        };
        already(&lines(line), &known).map(|(_, whole)| whole)
    };
    assert_eq!(again("cargo new app", "/w", &["app/Cargo.toml"]), Some(true));
    assert_eq!(again("cargo  new 'app' 2>&1", "/w", &["app/Cargo.toml"]), Some(true));
    assert_eq!(again("cargo new app && cd app && cargo build", "/w", &["app/Cargo.toml"]), Some(false));
    assert_eq!(again("cargo new other", "/w", &["app/Cargo.toml"]), None);
    assert_eq!(again("cargo new app", "/w/sub", &["app/Cargo.toml"]), None);
    assert_eq!(again("cargo new app", "/w", &["app/x"]), None);
}
