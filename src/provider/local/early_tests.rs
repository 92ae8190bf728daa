use proptest::prelude::*;
use serde_json::json;

use super::super::network::tests::{Dice, Like, Model};
use super::super::network::{Network, Next};
use super::*;
use crate::conversation::ToolIdentity;
use crate::platform::os::fs::FileExt as _;

/// An opening whose system prompt is said in the few tokens that a tiny model has.
fn opening(system: &str, kept: &Path) -> Opening {
    let tool = ToolSpec {
        name: "ab".into(),
        description: "a b".into(),
        input_schema: json!({"type": "object", "properties": {"a": {"type": "string"}}}),
        identity: ToolIdentity::default(),
    };
    Opening { system: system.to_owned(), tools: vec![tool], kept: kept.to_owned() }
}

/// What the engine has in memory after it has read the beginning.
fn engines(opening: &Opening, whole: &Path) -> (Vec<u32>, Memory) {
    let file = Gguf::open(whole).unwrap();
    let (tokenizer, network) = (Tokenizer::new(&file).unwrap(), Network::new(&file, 1).unwrap());
    let marks = Marks::find(&tokenizer).unwrap();
    let found = prompt(&tokenizer, marks, (&opening.system, &[], 0), &opening.tools, usize::MAX).unwrap();
    let (tokens, mut memory) = (found.tokens[..found.fixed].to_vec(), Memory::new(network.shape()));
    for pass in tokens.chunks(PASS) {
        network.read(pass, &mut memory, Next::Unwanted, &std::sync::atomic::AtomicBool::new(false)).unwrap();
    }
    (tokens, memory)
}

/// A file that arrives piece by piece.
struct Arriving {
    folder: tempfile::TempDir,
    bytes: Vec<u8>,
    whole: PathBuf,
    part: PathBuf,
    arrivals: Arc<Arrivals>,
}

impl Arriving {
    fn new(like: &Like<'_>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let whole = Model::write_like(folder.path(), like);
        let (bytes, part) = (std::fs::read(&whole).unwrap(), folder.path().join("part"));
        File::create(&part).unwrap();
        Self { folder, bytes, whole, part, arrivals: Arc::default() }
    }

    fn begin(&self, opening: &Opening) -> Early {
        Early::begin(opening.clone(), self.bytes.len() as u64, &self.arrivals).unwrap()
    }

    fn come(&self, bytes: Range<usize>) {
        let file = File::options().write(true).open(&self.part).unwrap();
        file.write_all_at(&self.bytes[bytes.clone()], bytes.start as u64).unwrap();
        self.arrivals.tell(&self.part, bytes.start as u64..bytes.end as u64);
    }
}

fn kept(mut early: Early) -> Option<Read> {
    early.thread.take().unwrap().join().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn layer_by_layer_in_any_order_of_arrival_comes_to_the_same_to_the_last_bit(
        system in "[ab]{0,150}",
        layers in 1_u32..4,
        mut cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        order in any::<u64>(),
    ) {
        let arriving = Arriving::new(&Like { layers, ..Like::default() });
        let opening = opening(&system, arriving.folder.path());
        let (tokens, memory) = engines(&opening, &arriving.whole);
        let early = arriving.begin(&opening);
        let size = arriving.bytes.len();
        let mut ends: Vec<usize> = cuts.drain(..).map(|cut| cut.index(size)).chain([0, size]).collect();
        ends.sort_unstable();
        let mut pieces: Vec<Range<usize>> = ends.windows(2).map(|ends| ends[0]..ends[1]).collect();
        let mut dice = Dice(order | 1);
        while !pieces.is_empty() {
            arriving.come(pieces.swap_remove(dice.roll() as usize % pieces.len()));
        }
        let read = kept(early).unwrap();
        prop_assert_eq!(&read.tokens, &tokens);
        prop_assert_eq!((&read.memory.keys, &read.memory.values), (&memory.keys, &memory.values));
        prop_assert_eq!(read.memory.length, tokens.len());
    }
}

#[test]
fn the_usual_format_comes_to_the_same_too() {
    let arriving = Arriving::new(&Like { layers: 2, head: 64, format: 12, ..Like::default() });
    let opening = opening("ab", arriving.folder.path());
    let (tokens, memory) = engines(&opening, &arriving.whole);
    let early = arriving.begin(&opening);
    arriving.come(0..arriving.bytes.len());
    let read = kept(early).unwrap();
    assert_eq!((&read.tokens, &read.memory.keys, &read.memory.values), (&tokens, &memory.keys, &memory.values));
}

#[test]
fn what_is_wanted_is_told_in_the_order_of_the_layers() {
    let arriving = Arriving::new(&Like { layers: 3, ..Like::default() });
    let model = Gguf::open(&arriving.whole).unwrap();
    let wanted = wanted(&model, &Shape::read(&model).unwrap()).unwrap();
    let starts: Vec<u64> =
        [EMBEDDING, "blk.0.attn_norm.weight", "blk.1.attn_norm.weight", "blk.2.attn_norm.weight"]
            .map(|name| model.place(name).unwrap().bytes.start as u64)
            .to_vec();
    let found: Vec<u64> = wanted.iter().map(|bytes| bytes.start).filter(|start| starts.contains(start)).collect();
    assert_eq!(found, starts);
    assert!(starts[2] > starts[3], "in the file the last layer comes before the second");
}

#[tokio::test]
async fn what_is_kept_is_what_the_first_question_looks_for() {
    let arriving = Arriving::new(&Like { layers: 2, ..Like::default() });
    let opening = opening("ab", &arriving.folder.path().join("kept"));
    let (tokens, memory) = engines(&opening, &arriving.whole);
    let early = arriving.begin(&opening);
    arriving.come(0..arriving.bytes.len());
    let mut told = Vec::new();
    early.keep(&arriving.whole, &mut |step| told.push(step), &CancellationToken::new()).await;
    assert!(told.iter().all(|step| matches!(step, Progress::Read { read, all } if read <= all)), "{told:?}");
    let shape = Shape::read(&Gguf::open(&arriving.whole).unwrap()).unwrap();
    let found = PrefixCache::new(&opening.kept, &arriving.whole).load(&tokens, &shape).unwrap();
    assert_eq!((found.keys, found.values), (memory.keys, memory.values));
}

#[tokio::test]
async fn a_file_that_stops_arriving_or_is_stopped_leaves_no_thread_and_keeps_nothing() {
    for cut in (0..10).map(|tenth| tenth * 1000) {
        let arriving = Arriving::new(&Like { layers: 3, ..Like::default() });
        let opening = opening("ab", &arriving.folder.path().join("kept"));
        let early = arriving.begin(&opening);
        let end = arriving.bytes.len() * cut / 10_000;
        arriving.come(0..end);
        if cut % 2000 == 0 {
            drop(early);
        } else {
            let cancel = CancellationToken::new();
            cancel.cancel();
            early.keep(&arriving.whole, &mut |_| (), &cancel).await;
        }
        assert_eq!(Arc::strong_count(&arriving.arrivals), 1, "no thread has it any more");
        assert!(!opening.kept.exists());
    }
}

#[tokio::test]
async fn what_was_read_of_a_source_that_was_given_up_is_not_kept() {
    let arriving = Arriving::new(&Like::default());
    let opening = opening("ab", &arriving.folder.path().join("kept"));
    let mut early = arriving.begin(&opening);
    arriving.come(0..arriving.bytes.len());
    let read = early.thread.take().unwrap().join().unwrap();
    early.thread = Some(std::thread::spawn(move || read));
    arriving.arrivals.forget();
    early.keep(&arriving.whole, &mut |_| (), &CancellationToken::new()).await;
    assert!(!opening.kept.exists());
}

#[test]
fn another_source_is_read_anew() {
    let arriving = Arriving::new(&Like { layers: 2, ..Like::default() });
    let opening = opening("abab", arriving.folder.path());
    let (tokens, memory) = engines(&opening, &arriving.whole);
    let early = arriving.begin(&opening);
    // The first source sends a model with slightly other weights, and breaks off in its second half.
    let first = Gguf::open(&arriving.whole).unwrap().place(EMBEDDING).unwrap().bytes.start;
    let mut bytes = arriving.bytes.clone();
    bytes[first..].iter_mut().step_by(4).for_each(|byte| *byte ^= 1);
    let other = arriving.folder.path().join("other");
    std::fs::write(&other, &bytes).unwrap();
    arriving.arrivals.tell(&other, 0..bytes.len() as u64 * 3 / 4);
    arriving.arrivals.forget();
    arriving.come(0..arriving.bytes.len());
    let read = kept(early).unwrap();
    assert_eq!((&read.tokens, &read.memory.keys, &read.memory.values), (&tokens, &memory.keys, &memory.values));
}

#[test]
fn a_file_that_says_anything_of_itself_ends_the_reading_and_no_more() {
    let arriving = Arriving::new(&Like { layers: 2, ..Like::default() });
    let opening = opening("ab", arriving.folder.path());
    let told = ReadSoFar::default();
    let (size, path) = (arriving.bytes.len(), arriving.folder.path().join("damaged"));
    let read = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        let arrivals = Arrivals::default();
        arrivals.tell(&path, 0..size as u64);
        attempt(&opening, size, &arrivals, &told)
    };
    // Cut anywhere, though it was told to be there.
    for length in (0..size).step_by(size / 40) {
        assert!(matches!(read(&arriving.bytes[..length]), Err(Missed::Model(_))), "cut at {length}");
    }
    let mut dice = Dice(11);
    for _ in 0..60 {
        let mut bytes = arriving.bytes.clone();
        for _ in 0..4 {
            let at = dice.roll() as usize % 1500;
            bytes[at] = dice.roll() as u8;
        }
        drop(read(&bytes));
    }
    assert!(read(&arriving.bytes).is_ok());
}

#[test]
fn tables_that_are_cut_are_waited_for_wherever_they_are_cut() {
    let arriving = Arriving::new(&Like { layers: 2, ..Like::default() });
    let size = arriving.bytes.len();
    let front = |length: usize| bytes_at(&File::open(&arriving.whole).unwrap(), 0, length).unwrap();
    let whole = Gguf::open(&arriving.whole).unwrap();
    let first = whole.place(EMBEDDING).unwrap().bytes.start;
    for length in (1..first - 31).step_by(7) {
        let cut = Gguf::arriving(front(length), size);
        assert!(matches!(cut, Err(ModelError::Short)), "cut at {length}");
    }
    let found = Gguf::arriving(front(first), size).unwrap();
    assert_eq!(found.place(EMBEDDING).unwrap().bytes, whole.place(EMBEDDING).unwrap().bytes);
    assert!(found.tensor(EMBEDDING).is_err(), "it has not arrived");
}
