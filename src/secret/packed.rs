//! Archives with secret files in them, known by the names of their members: tar, also packed by gzip, zip, and the name
//! that gzip keeps of what it packed. What another program packed cannot be looked into here: it may hold one.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _, SeekFrom};
use std::path::Path;

use flate2::bufread::GzDecoder;

use super::files::is_secret;

/// The endings of archives, in lower case: jar, wheel and the like are zip.
const TAR: &[&str] = &[".tar"];
const GZIP: &[&str] = &[".gz", ".tgz"];
const ZIP: &[&str] = &[".zip", ".jar", ".war", ".whl", ".apk", ".xpi", ".vsix", ".nupkg"];
/// Those that cannot be looked into.
const CLOSED: &[&str] = &[
    ".tar.xz",
    ".txz",
    ".tar.lzma",
    ".tlz",
    ".tar.lz",
    ".tar.bz2",
    ".tbz",
    ".tbz2",
    ".tb2",
    ".tar.zst",
    ".tzst",
    ".tar.lz4",
    ".tar.br",
    ".tar.lzo",
    ".tar.z",
    ".taz",
    ".cpio.xz",
    ".cpio.zst",
    ".cpio.bz2",
    ".7z",
    ".rar",
    ".zpaq",
];

/// So much of a packed tar is looked through (bytes); its later members are not known.
const MOST_UNPACKED: u64 = 16 * 1024 * 1024;
/// So much of a zip's list of members is read (bytes).
const MOST_LISTED: u64 = 4 * 1024 * 1024;
/// So many members are looked at.
const MOST_MEMBERS: usize = 20_000;
/// A block of a tar (POSIX, pax, "ustar Interchange Format").
const BLOCK: usize = 512;

/// Tells whether a file of this name is an archive that has a secret file among its members; it is opened at `place`.
/// `false` where the members cannot be read.
#[must_use]
pub fn holds_secret(name: &Path, place: &Path) -> bool {
    let look_inside = if ends_with(name, ZIP) {
        in_zip
    } else if ends_with(name, GZIP) {
        in_gzip
    } else if ends_with(name, TAR) {
        in_plain_tar
    } else {
        return false;
    };
    File::open(place).and_then(look_inside).unwrap_or(false)
}

/// Tells the same, and `true` of an archive that cannot be looked into.
#[must_use]
pub fn may_hold_secret(name: &Path, place: &Path) -> bool {
    ends_with(name, CLOSED) || holds_secret(name, place)
}

fn ends_with(path: &Path, endings: &[&str]) -> bool {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let has = |end: &&str| {
        name.len().checked_sub(end.len()).is_some_and(|at| name[at..].eq_ignore_ascii_case(end.as_bytes()))
    };
    endings.iter().any(has)
}

/// Tells whether a member of this name is secret; it has no home to lie in.
fn is_secret_member(name: &[u8]) -> bool {
    let name = String::from_utf8_lossy(name);
    is_secret(&Path::new("/").join(name.trim_start_matches("./")), None)
}

fn in_gzip(file: File) -> io::Result<bool> {
    let unpacked = GzDecoder::new(BufReader::new(file));
    if unpacked.header().and_then(|header| header.filename()).is_some_and(is_secret_member) {
        return Ok(true);
    }
    in_tar(unpacked.take(MOST_UNPACKED), |tar, by| io::copy(&mut tar.take(by), &mut io::sink()).map(|_| ()))
}

fn in_plain_tar(file: File) -> io::Result<bool> {
    in_tar(BufReader::new(file), |tar, by| tar.seek_relative(i64::try_from(by).unwrap_or(i64::MAX)))
}

fn in_tar<R: Read>(mut tar: R, skip: impl Fn(&mut R, u64) -> io::Result<()>) -> io::Result<bool> {
    let mut long_name = None;
    for _ in 0..MOST_MEMBERS {
        let mut header = [0; BLOCK];
        tar.read_exact(&mut header)?;
        if &header[257..262] != b"ustar" {
            return Ok(false);
        }
        let until_zero = |part: &[u8]| part.split(|byte| *byte == 0).next().unwrap_or_default().to_vec();
        let size = octal(&header[124..136]);
        let padded = size.next_multiple_of(BLOCK as u64);
        // The name of the next member, where it does not fit: GNU's `L` and POSIX's `x`.
        if matches!(header[156], b'L' | b'x') && size <= MOST_LISTED {
            let mut content = Vec::new();
            tar.by_ref().take(padded).read_to_end(&mut content)?;
            let path = content.split(|byte| *byte == b'\n').find_map(|line| {
                line.windows(6).position(|part| part == b" path=").map(|at| line[at + 6..].to_vec())
            });
            long_name = if header[156] == b'L' { Some(until_zero(&content)) } else { path };
            continue;
        }
        let prefix = if &header[257..263] == b"ustar\0" { until_zero(&header[345..500]) } else { Vec::new() };
        let own = [prefix, until_zero(&header[..100])].into_iter().filter(|part| !part.is_empty());
        let name = long_name.take().unwrap_or_else(|| own.collect::<Vec<_>>().join(&b'/'));
        if header[156] != b'5' && is_secret_member(&name) {
            return Ok(true);
        }
        skip(&mut tar, padded)?;
    }
    Ok(false)
}

fn octal(digits: &[u8]) -> u64 {
    let digits = digits.iter().filter(|byte| (b'0'..b'8').contains(byte));
    digits.fold(0, |number: u64, digit| number.saturating_mul(8).saturating_add(u64::from(digit - b'0')))
}

/// The list of members stands at the end (APPNOTE.TXT, 4.3.12 and 4.3.16).
fn in_zip(mut file: File) -> io::Result<bool> {
    const END: usize = 22;
    let length = file.metadata()?.len();
    let tail = length.min(END as u64 + u64::from(u16::MAX));
    file.seek(SeekFrom::Start(length - tail))?;
    let mut bytes = Vec::new();
    file.by_ref().take(tail).read_to_end(&mut bytes)?;
    let Some(at) = bytes.windows(END).rposition(|part| part.starts_with(b"PK\x05\x06")) else { return Ok(false) };
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    let (size, start) = (number(&bytes[at + 12..at + 16]), number(&bytes[at + 16..at + 20]));
    file.seek(SeekFrom::Start(start))?;
    let mut list = Vec::new();
    file.take(size.min(MOST_LISTED)).read_to_end(&mut list)?;
    let mut rest = list.as_slice();
    while let Some(entry) = rest.get(..46).filter(|entry| entry.starts_with(b"PK\x01\x02")) {
        let [name, extra, comment] =
            [28, 30, 32].map(|at| usize::try_from(number(&entry[at..at + 2])).unwrap_or(0));
        let Some(named) = rest.get(46..46 + name) else { break };
        if is_secret_member(named) {
            return Ok(true);
        }
        rest = rest.get(46 + name + extra + comment..).unwrap_or_default();
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// What is made of `.env` and `plain` by a line of the shell, and whether it holds a secret.
    const MADE: &[(&str, &str, bool)] = &[
        ("a.tar", "tar cf a.tar plain .env", true),
        ("b.tar", "tar cf b.tar ./deep/.env", true),
        ("c.tar", "tar cf c.tar plain", false),
        ("posix.tar", "tar --format=posix -cf posix.tar deep", true),
        ("old.tar", "tar --format=ustar -cf old.tar deep", true),
        ("d.tar.gz", "tar czf d.tar.gz plain .env", true),
        ("e.TGZ", "tar czf e.TGZ deep", true),
        ("f.tgz", "tar czf f.tgz plain", false),
        ("env.gz", "gzip -k .env && mv .env.gz env.gz", true),
        ("plain.gz", "gzip -k plain", false),
        ("no.tar", "cp plain no.tar", false),
        ("cut.tar.gz", "tar cz plain | head -c 30 > cut.tar.gz", false),
        ("none.zip", "touch none.zip", false),
    ];

    fn is_held(directory: &Path, name: &str) -> bool {
        holds_secret(Path::new(name), &directory.join(name))
    }

    #[test]
    fn an_archive_is_known_by_its_members_whatever_it_is_called() {
        let place = tempfile::tempdir().unwrap();
        let long = format!("deep/{}", "long-name-of-a-directory/".repeat(8));
        std::fs::create_dir_all(place.path().join(&long)).unwrap();
        for name in [".env", "plain", &format!("{long}/.env"), "deep/.env"] {
            std::fs::write(place.path().join(name), "x\n").unwrap();
        }
        for (name, line, held) in MADE {
            let made = Command::new("sh").args(["-c", line]).current_dir(place.path()).status().unwrap();
            assert!(made.success(), "{line}");
            assert_eq!(is_held(place.path(), name), *held, "{line}");
        }
        assert!(!holds_secret(Path::new("notes.txt"), &place.path().join("a.tar")));
        // What cannot be looked into may hold one; a single file that another program packed is known by its name.
        for (name, may) in
            [("x.tar.xz", true), ("X.TZST", true), ("x.7z", true), ("x.csv.xz", false), ("f.tgz", false)]
        {
            assert_eq!(may_hold_secret(Path::new(name), &place.path().join(name)), may, "{name}");
        }
    }

    #[test]
    fn a_zip_is_known_by_its_list() {
        let entry = |name: &str| {
            let mut entry = [b"PK\x01\x02".as_slice(), &[0; 42]].concat();
            entry[28] = u8::try_from(name.len()).unwrap();
            [entry.as_slice(), name.as_bytes()].concat()
        };
        for (second, held) in [("sub/.env", true), ("sub/a.rs", false), (".env.example", false)] {
            let list = [entry("plain"), entry(second)].concat();
            let size = u8::try_from(list.len()).unwrap();
            let end = [b"PK\x05\x06".as_slice(), &[0; 8], &[size, 0, 0, 0], &[4, 0, 0, 0], &[0, 0]].concat();
            let place = tempfile::tempdir().unwrap();
            std::fs::write(place.path().join("a.zip"), [b"data".as_slice(), &list, &end].concat()).unwrap();
            assert_eq!(is_held(place.path(), "a.zip"), held, "{second}");
        }
    }
}
