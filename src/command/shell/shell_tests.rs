use std::path::PathBuf;

use super::*;
use crate::tool::{ShellState, Value};

fn state(directory: &str, variables: &[(&str, Value)]) -> ShellState {
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    ShellState { directory: directory.into(), variables, ..ShellState::default() }
}

fn exported(value: &str) -> Value {
    Value::Exported(value.to_owned())
}

fn left(runs: &[ShellRun], shell: &str) -> LeftInShells {
    let known = Known::default();
    left_in_shells(runs, ShellGoal { shell, directory: Path::new("/w"), known: &known })
}

fn lines(run: &ShellRun) -> [Option<String>; 3] {
    ["bash", "zsh", "fish"].map(|shell| left(std::slice::from_ref(run), shell).line)
}

fn run(line: &str, before: ShellState, after: ShellState) -> ShellRun {
    ShellRun { line: line.into(), before, after }
}

fn same(line: &str) -> [Option<String>; 3] {
    [Some(line.to_owned()), Some(line.to_owned()), Some(line.to_owned())]
}

#[test]
fn each_change_is_written_in_the_grammar_of_its_shell() {
    let before = || state("/w", &[("GONE", exported("1")), ("PATH", exported("/usr/bin:/bin"))]);
    let mut after =
        state("/w/deep er", &[("PATH", exported("/o pt/bin:/usr/bin:/bin")), ("A", exported("it's\n$x!"))]);
    after.variables.insert("b".into(), Value::List(vec!["1".into(), "2 3".into()]));
    after.aliases.insert("g".into(), "git status".into());
    after.functions.insert("hi".into(), Some("hi () \n{ \n    echo 'a b';\n    echo hi\n}".into()));
    after.options = vec!["pipefail".into()];
    let found = run("cd 'deep er'; b=(1 '2 3'); export A=x; hi () { :; }", before(), after);
    let [bash, zsh, fish] = lines(&found).map(Option::unwrap);
    assert_eq!(
        bash,
        "cd 'deep er' && export A=$'it\\'s\\n$x!' && export PATH='/o pt/bin:'\"$PATH\" && b=(1 '2 3') && unset GONE \
         && alias g='git status' && hi () { echo 'a b'; echo hi; } && set -o pipefail"
    );
    assert_eq!(zsh, bash);
    assert_eq!(
        fish,
        "cd 'deep er' && set -gx A 'it\\'s'\\n'$x!' && set -gx PATH '/o pt/bin' $PATH && set -g b 1 '2 3' && set -e \
         GONE && alias g 'git status' && function hi; bash -c 'hi () { echo \\'a b\\'; echo hi; }; hi \"$@\"' hi \
         $argv; end"
    );
    // fish has no such option, and that is said.
    assert_eq!(left(&[found], "fish").unwritten, ["pipefail"]);
}

#[test]
fn what_looks_like_a_secret_is_left_out_and_told() {
    let after = state(
        "/w",
        &[("GITHUB_TOKEN", exported("ghp_16C7e42F292c6912E7710c838347Ae178B4a")), ("A", exported("1"))],
    );
    let found = left(&[run("export A=1 GITHUB_TOKEN=x", state("/w", &[]), after)], "bash");
    assert_eq!((found.line.as_deref(), found.secret), (Some("export A=1"), vec!["GITHUB_TOKEN".to_owned()]));
}

#[test]
fn later_commands_count_and_what_only_made_something_does_not() {
    let at = |directory: &str, a: &str| state(directory, &[("A", exported(a))]);
    let first = run("cd x && export A=1", state("/w", &[]), at("/w/x", "1"));
    let second = run("cd y && export A=2", state("/w", &[]), at("/w/y", "2"));
    let other = run("cd build && make", state("/w", &[]), state("/w/build", &[]));
    assert_eq!(left(&[first.clone(), second, other], "zsh").line.as_deref(), Some("cd y && export A=2"));
    assert_eq!(left(&[], "zsh"), LeftInShells::default());
    assert_eq!(lines(&run("cd -", state("/w/x", &[]), state("/v", &[]))), same("cd /v"));
}

#[test]
fn a_virtual_environment_is_its_own_script() {
    let home = tempfile::tempdir().unwrap();
    let venv: PathBuf = home.path().join("venv");
    std::fs::create_dir_all(venv.join("bin")).unwrap();
    for script in ["activate", "activate.fish"] {
        std::fs::write(venv.join("bin").join(script), "").unwrap();
    }
    let path = venv.display().to_string();
    let after = state(
        "/w",
        &[("VIRTUAL_ENV", exported(&path)), ("PATH", exported("/v:/bin")), ("_OLD_VIRTUAL_PATH", exported("/bin"))],
    );
    let before = || state("/w", &[("PATH", exported("/bin"))]);
    let found = run(&format!("source {path}/bin/activate"), before(), after.clone());
    let [bash, zsh, fish] = lines(&found).map(Option::unwrap);
    assert_eq!((bash.as_str(), zsh.as_str()), (format!("source {path}/bin/activate").as_str(), bash.as_str()));
    assert_eq!(fish, format!("source {path}/bin/activate.fish"));
    assert_eq!(lines(&run("deactivate", after, before())), same("deactivate"));
}

#[test]
fn what_is_no_name_is_believed_by_nobody() {
    let mut after = state("/w", &[("A;rm -rf x", exported("1"))]);
    after.aliases.insert("a b".into(), "x".into());
    after.functions.insert("f".into(), Some("rm -rf x".into()));
    after.options = vec!["x;y".into()];
    let found = run("export A=1", state("/w", &[]), after);
    assert_eq!(lines(&found), [None, None, None]);
}

#[test]
fn what_direnv_loads_it_loads_again_itself() {
    let loaded = state(
        "/w/sub",
        &[("DIRENV_DIFF", exported("eJx8")), ("DIRENV_DIR", exported("-/w/sub")), ("KEY", exported("1"))],
    );
    let found = run("cd sub && eval \"$(direnv export bash)\"", state("/w", &[]), loaded.clone());
    assert_eq!(
        lines(&found).map(Option::unwrap),
        [
            "cd sub && eval \"$(direnv export bash)\"",
            "cd sub && eval \"$(direnv export zsh)\"",
            "cd sub && direnv export fish | source"
        ]
    );
    // What it says that it loaded is its own; the rest is not.
    let said = r#"{"p":{"PATH":"/bin"},"n":{"PATH":"/w/bin:/bin","KEY":"1"}}"#;
    let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, said.as_bytes()).unwrap();
    let packed = base64::Engine::encode(&base64::engine::general_purpose::URL_SAFE, packed.finish().unwrap());
    let mut told = loaded.clone();
    told.variables.insert("DIRENV_DIFF".into(), exported(&packed));
    told.variables.insert("OTHER".into(), exported("2"));
    let found = run("./set-up; eval \"$(direnv export bash)\"", state("/w/sub", &[]), told);
    assert_eq!(left(&[found], "bash").line.as_deref(), Some("eval \"$(direnv export bash)\" && export OTHER=2"));
    let mut also = loaded;
    also.variables.insert("A".into(), exported("1"));
    let found = run("eval \"$(direnv export bash)\"; export A=1", state("/w/sub", &[]), also);
    assert_eq!(left(&[found], "bash").line.as_deref(), Some("eval \"$(direnv export bash)\" && export A=1"));
}
