//! What of the file system a trial covers: the workspace, what else is applied, and what is only lent for the while.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::platform::RealPath as _;
use crate::platform::os::ffi::OsStrExt as _;

use super::refused::Refused;

/// What a trial is to cover.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    /// The workspace.
    pub workspace: &'a Path,
    /// Other targets whose changes are applied, absolute: directories, or files, also such as do not exist yet.
    pub also: &'a [PathBuf],
    /// Directories that the command may write and whose changes are never applied: temporary files, caches.
    pub lent: &'a [PathBuf],
    /// Files and directories that it really writes.
    pub open: &'a [PathBuf],
}

/// What becomes of the changes in a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// They can be applied.
    Applied,
    /// They go with the trial.
    Lent,
}

/// One directory that a trial covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Root {
    /// The real path.
    pub(super) path: PathBuf,
    pub(super) purpose: Purpose,
    /// Whether it starts empty instead of showing what is there: other file systems are mounted in it, which a layer
    /// over it would not show.
    pub(super) fresh: bool,
}

/// Works out the directories; those inside come after those around them.
pub(super) fn roots(scope: &Scope<'_>, mounts: &[PathBuf]) -> Result<Vec<Root>, Refused> {
    let workspace = real(scope.workspace)?;
    let mut applied = vec![workspace.clone()];
    for path in scope.also {
        let directory = if path.is_dir() { Some(path.as_path()) } else { path.parent() };
        let Some(directory) = directory.and_then(|directory| directory.real_path().ok()) else { continue };
        if directory == Path::new("/") {
            return Err(Refused::TooMuch(directory));
        }
        applied.push(directory);
    }
    applied.sort();
    // What lies in one that is applied is applied with it.
    applied.dedup_by(|inside, around| inside.starts_with(around));
    for path in &applied {
        if path == Path::new("/") {
            return Err(Refused::TooMuch(path.clone()));
        }
    }
    // A layer does not show what is mounted below it: that gets its own.
    let inside: Vec<PathBuf> =
        mounts.iter().filter(|mount| applied.iter().any(|root| within(mount, root))).cloned().collect();
    if let Some(unfit) = inside.iter().find(|mount| !can_be_covered(mount)) {
        return Err(Refused::Mounted(unfit.clone()));
    }
    let mut lent: Vec<PathBuf> = scope.lent.iter().filter_map(|path| path.real_path().ok()).collect();
    lent.retain(|path| {
        path.is_dir() && path != Path::new("/") && !applied.iter().any(|root| path.starts_with(root))
    });
    lent.sort();
    lent.dedup_by(|inside, around| inside.starts_with(around));
    let is_covered = applied.clone();
    let lent = lent.into_iter().map(|path| {
        // Starting empty, that one leaves a place for layers where files outlive a restart.
        let fresh = path == Path::new("/var/tmp")
            || mounts
                .iter()
                .any(|mount| within(mount, &path) && !is_covered.iter().any(|root| within(mount, root)));
        Root { path, purpose: Purpose::Lent, fresh }
    });
    let applied =
        applied.into_iter().chain(inside).map(|path| Root { path, purpose: Purpose::Applied, fresh: false });
    let mut roots: Vec<Root> = lent.chain(applied).collect();
    roots.sort_by(|one, other| one.path.cmp(&other.path));
    // What is mounted twice at one place shows only what was mounted last.
    roots.dedup_by(|later, one| later.path == one.path);
    Ok(roots)
}

/// Tells whether something is mounted below a directory, not at it.
fn within(mount: &Path, directory: &Path) -> bool {
    mount.starts_with(directory) && mount != directory
}

/// Tells whether a layer can lie over what is mounted there: a directory whose files are files.
#[cfg(target_os = "linux")]
fn can_be_covered(mount: &Path) -> bool {
    let kind = crate::platform::fs::statfs(mount).map(|found| i128::from(found.f_type));
    mount.is_dir() && kind.is_ok_and(|kind| !OF_THE_KERNEL.iter().any(|own| i128::from(*own) == kind))
}

#[cfg(not(target_os = "linux"))]
const fn can_be_covered(_: &Path) -> bool {
    false
}

/// File systems in which the kernel shows itself (statfs(2)): proc, sysfs, devpts, cgroup, cgroup2, debugfs, tracefs, bpf.
#[cfg(target_os = "linux")]
const OF_THE_KERNEL: &[i64] =
    &[0x9fa0, 0x6265_6572, 0x1cd1, 0x27_e0eb, 0x6367_7270, 0x6462_6720, 0x7472_6163, 0xcafe_4a11];

/// Lists what is really written, those inside after those around them; nothing that is covered.
pub(super) fn opened(scope: &Scope<'_>, roots: &[Root]) -> Vec<PathBuf> {
    let real = scope.open.iter().filter_map(|path| path.real_path().ok());
    let is_free = |path: &PathBuf| path != Path::new("/") && !roots.iter().any(|root| path.starts_with(&root.path));
    let mut open: Vec<PathBuf> = real.filter(is_free).collect();
    open.sort();
    open.dedup_by(|inside, around| inside.starts_with(around));
    open
}

fn real(path: &Path) -> Result<PathBuf, Refused> {
    path.real_path().map_err(|cause| Refused::Unusable { path: path.to_owned(), cause })
}

/// Lists where something is mounted (`proc_pid_mountinfo(5)`); none where that cannot be known.
pub(super) fn mounts() -> Vec<PathBuf> {
    let text = std::fs::read("/proc/self/mountinfo").unwrap_or_default();
    let points = text.split(|byte| *byte == b'\n').filter_map(|line| line.split(|byte| *byte == b' ').nth(4));
    points.map(|point| PathBuf::from(OsStr::from_bytes(&unescaped(point)))).collect()
}

/// Undoes the octal escapes of a space, a tab, a newline and a backslash.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, behind)) = rest.split_first() {
        let digits = behind.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) if *first == b'\\' => {
                plain.push(byte);
                rest = &behind[3..];
            }
            Some(_) | None => {
                plain.push(*first);
                rest = behind;
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_inside_comes_later_and_what_is_applied_is_never_only_lent() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().canonicalize().unwrap();
        for name in ["work/cache", "other"] {
            std::fs::create_dir_all(place.join(name)).unwrap();
        }
        let (workspace, new) = (place.join("work"), place.join("other/new"));
        let also = [new, workspace.join("inside")];
        let lent = [place.clone(), workspace.join("cache")];
        let scope = Scope { workspace: &workspace, also: &also, lent: &lent, open: &[] };
        let found = roots(&scope, &[]).unwrap();
        let root = |path: PathBuf, purpose| Root { path, purpose, fresh: false };
        let expected = [
            root(place.clone(), Purpose::Lent),
            root(place.join("other"), Purpose::Applied),
            root(workspace.clone(), Purpose::Applied),
        ];
        assert_eq!(found, expected);
        let mounted = workspace.join("usb");
        std::fs::write(&mounted, "a file").unwrap();
        assert!(
            matches!(roots(&scope, std::slice::from_ref(&mounted)), Err(Refused::Mounted(path)) if path == mounted)
        );
        let disk = workspace.join("cache");
        let found = roots(&scope, std::slice::from_ref(&disk)).unwrap();
        assert_eq!(found, [expected.as_slice(), [root(disk, Purpose::Applied)].as_slice()].concat());
        let fresh = roots(&scope, &[place.join("elsewhere")]).unwrap();
        assert_eq!(fresh.iter().map(|root| root.fresh).collect::<Vec<_>>(), [true, false, false]);
    }

    #[test]
    fn a_mount_point_with_a_space_is_read_as_it_is() {
        assert_eq!(unescaped(br"/media/my\040disk\134x"), b"/media/my disk\\x");
    }
}
