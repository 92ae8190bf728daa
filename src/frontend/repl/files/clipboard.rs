//! A picture from the clipboard, by the program that reads it on this system.
//!
//! A terminal's own way (OSC 52) gives text only, and most terminals refuse to be read.

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, SystemTime};

use crate::platform::PICTURE_PROGRAMS;
use crate::platform::os::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use crate::tool::kind::{Kind, kind};

/// A picture's size at most, in bytes.
const LARGEST: u64 = 20 * 1024 * 1024;
/// How long a program may take: the line waits for it.
const TIME_LIMIT: Duration = Duration::from_secs(3);
/// Pictures older than this are removed: the message that had them is in its session.
const KEPT: Duration = Duration::from_hours(7 * 24);

/// What writes the clipboard's picture as PNG on Windows, from WSL.
const POWERSHELL: &str = "Add-Type -AssemblyName System.Windows.Forms;\
    $p=[Windows.Forms.Clipboard]::GetImage();\
    if($p){$m=New-Object IO.MemoryStream;$p.Save($m,[Drawing.Imaging.ImageFormat]::Png);\
    $o=[Console]::OpenStandardOutput();$b=$m.ToArray();$o.Write($b,0,$b.Length)}";

/// Where the clipboard is read and its pictures are kept.
#[derive(Debug, Clone, Default)]
pub struct Clipboard {
    /// Programs that print its picture, tried in their order.
    pub programs: Vec<Vec<String>>,
    /// The folder for pictures; `None`: none can be kept.
    pub folder: Option<PathBuf>,
}

/// Why there is no picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoPicture {
    /// No program to read the clipboard with.
    #[error("no program reads the clipboard here")]
    NoProgram,
    /// The clipboard holds none.
    #[error("there is no picture in the clipboard")]
    Empty,
    /// It is larger than 20 MB.
    #[error("the picture has more than 20 MB")]
    TooLarge,
    /// It cannot be written to the disk.
    #[error("the picture cannot be kept")]
    NotKept,
}

impl Clipboard {
    /// Chooses the programs of this system by its environment.
    #[must_use]
    pub fn of(environment: &dyn Fn(&str) -> Option<String>, folder: Option<PathBuf>) -> Self {
        let is_set = |name: &str| environment(name).is_some_and(|value| !value.is_empty());
        let words = |line: &[&str]| line.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let mut programs = Vec::new();
        if is_set("WAYLAND_DISPLAY") {
            programs.push(words(&["wl-paste", "--no-newline", "--type", "image/png"]));
        }
        if is_set("DISPLAY") {
            programs.push(words(&["xclip", "-selection", "clipboard", "-t", "image/png", "-o"]));
        }
        if is_set("WSL_DISTRO_NAME") || is_set("WSL_INTEROP") {
            programs.push(words(&["powershell.exe", "-NoProfile", "-NonInteractive", "-Command", POWERSHELL]));
        }
        programs.extend(PICTURE_PROGRAMS.iter().map(|line| words(line)));
        Self { programs, folder }
    }

    /// Keeps the clipboard's picture in a file only this person can read. Waits for each program, at most 3 s.
    ///
    /// # Errors
    /// [`NoPicture`].
    pub(crate) fn picture(&self, now: SystemTime) -> Result<PathBuf, NoPicture> {
        let mut why = NoPicture::NoProgram;
        for program in &self.programs {
            let Ok(bytes) = output(program) else { continue };
            why = NoPicture::Empty;
            if bytes.len() as u64 > LARGEST {
                return Err(NoPicture::TooLarge);
            }
            if let Kind::Picture(media_type) = kind(&bytes) {
                let folder = self.folder.as_ref().ok_or(NoPicture::NotKept)?;
                return keep(folder, media_type, &bytes, now).map_err(|error| {
                    tracing::warn!(%error, "a picture could not be kept");
                    NoPicture::NotKept
                });
            }
        }
        Err(why)
    }
}

/// Runs a program and returns what it prints; what it says of an empty clipboard is of no interest.
fn output(program: &[String]) -> io::Result<Vec<u8>> {
    let (name, arguments) = program.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut child = Command::new(name)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let (tell, told) = channel();
    if let Some(printed) = child.stdout.take() {
        // Ends with the program, which is ended below.
        std::thread::Builder::new().name("clipboard".to_owned()).spawn(move || {
            let mut bytes = Vec::new();
            let read = printed.take(LARGEST + 1).read_to_end(&mut bytes);
            drop(tell.send(read.map(|_| bytes)));
        })?;
    }
    let read = told.recv_timeout(TIME_LIMIT);
    // It has ended, or it hangs.
    drop(child.kill());
    drop(child.wait());
    read.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
}

fn keep(folder: &Path, media_type: &str, bytes: &[u8], now: SystemTime) -> io::Result<PathBuf> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    for entry in std::fs::read_dir(folder)?.flatten() {
        let old = entry.metadata().and_then(|metadata| metadata.modified()).ok();
        if old.and_then(|changed| now.duration_since(changed).ok()).is_some_and(|age| age > KEPT) {
            drop(std::fs::remove_file(entry.path()));
        }
    }
    let ending = media_type.rsplit('/').next().unwrap_or("png");
    let stamp = now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_millis());
    let path = folder.join(format!("clipboard-{stamp}.{ending}"));
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    file.write_all(bytes)?;
    Ok(path)
}
