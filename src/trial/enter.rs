//! Entering a trial: a process gives itself namespaces of its own and lays the layers over what the trial covers.
//!
//! Two processes, because a process-id namespace holds only the children of who made it: [`leave_others`] in the first,
//! [`Entry::mount`] in the second, which is the first process there: when it ends, all others do. An ordinary user
//! gets a user namespace too, in which only the own user and group are known. What the trial does not cover is
//! read-only there, by its mounts. This file starts nothing.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, open};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::thread::{
    CapabilitySet, CapabilitySets, UnshareFlags, capabilities, configure_capability_in_ambient_set,
    set_capabilities,
};

use super::kernel;
use super::roots::Root;

/// What a helper process is told of the trial that it enters.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Entry {
    /// The trial's directory.
    pub(super) directory: PathBuf,
    /// What is covered, with the name of its layers; those around come first.
    pub(super) covered: Vec<(PathBuf, String)>,
    /// What starts empty.
    pub(super) fresh: Vec<PathBuf>,
    /// What is really written.
    pub(super) open: Vec<PathBuf>,
    /// Where the command starts.
    pub(super) start: PathBuf,
    /// Whether the command gets the terminal as a job of its own.
    pub(super) job: bool,
}

/// The name of the file by which a helper tells how it went.
pub(super) const STANDING: &str = "standing";
/// The name of the file by which they tell whom the commands met; each adds to it.
pub(super) const MET: &str = "met";
/// What it says of a trial that was entered; anything else is why not.
pub const ENTERED: &str = "entered";

impl Entry {
    pub(super) fn of(directory: &Path, roots: &[Root], open: &[PathBuf], start: &Path) -> Self {
        let numbered = roots.iter().enumerate().filter(|(_, root)| !root.fresh);
        Self {
            directory: directory.to_owned(),
            covered: numbered.map(|(number, root)| (root.path.clone(), number.to_string())).collect(),
            fresh: roots.iter().filter(|root| root.fresh).map(|root| root.path.clone()).collect(),
            open: open.to_owned(),
            start: start.to_owned(),
            job: false,
        }
    }

    /// Has the command get the terminal as a job of its own, so that a shell in it can have jobs, too. Who had the terminal
    /// takes it back.
    #[must_use]
    pub const fn on_terminal(mut self, is_there: bool) -> Self {
        self.job = is_there;
        self
    }

    /// Tells whether the command gets the terminal as a job of its own.
    #[must_use]
    pub const fn is_job(&self) -> bool {
        self.job
    }

    /// Converts it into arguments for the helper process, ended by `--`.
    #[must_use]
    pub fn to_arguments(&self) -> Vec<OsString> {
        let mut arguments = vec!["--trial".into(), self.directory.clone().into(), "--start".into()];
        arguments.push(self.start.clone().into());
        for (path, number) in &self.covered {
            arguments.extend(["--cover".into(), path.clone().into(), number.into()]);
        }
        for path in &self.fresh {
            arguments.extend(["--fresh".into(), path.clone().into()]);
        }
        for path in &self.open {
            arguments.extend(["--open".into(), path.clone().into()]);
        }
        if self.job {
            arguments.push("--job".into());
        }
        arguments.push("--".into());
        arguments
    }

    /// Parses what [`Entry::to_arguments`] wrote, up to and including `--`; `None` for anything else.
    #[must_use]
    pub fn from_arguments(arguments: &mut dyn Iterator<Item = OsString>) -> Option<Self> {
        let mut read = Self::default();
        loop {
            match arguments.next()?.to_str()? {
                "--" => return Some(read),
                "--job" => read.job = true,
                "--trial" => read.directory = arguments.next()?.into(),
                "--start" => read.start = arguments.next()?.into(),
                "--cover" => read.covered.push((arguments.next()?.into(), arguments.next()?.into_string().ok()?)),
                "--open" => read.open.push(arguments.next()?.into()),
                "--fresh" => read.fresh.push(arguments.next()?.into()),
                _ => return None,
            }
        }
    }

    /// Lists what is covered.
    #[must_use]
    pub fn covers(&self) -> Vec<PathBuf> {
        self.covered.iter().map(|(path, _)| path).chain(&self.fresh).cloned().collect()
    }

    /// Opens the file by which the helper tells how it went. To be opened before [`leave_others`]: an open file would
    /// keep its mount writable.
    ///
    /// # Errors
    /// The system's error.
    pub fn standing(&self) -> io::Result<File> {
        File::options().create(true).write(true).truncate(true).open(self.directory.join(STANDING))
    }

    /// Opens the file by which the helper tells whom the command met; as [`Entry::standing`].
    ///
    /// # Errors
    /// The system's error.
    pub fn met(&self) -> io::Result<File> {
        File::options().create(true).append(true).open(self.directory.join(MET))
    }

    /// Opens what the layers are made of: before anything is mounted, for a layer around would stand between.
    fn layers(&self) -> Result<Vec<(&Path, Layer)>, (String, io::Error)> {
        let look = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = |path: &Path| {
            open(path, look, Mode::empty()).map_err(|cause| (path.display().to_string(), io::Error::from(cause)))
        };
        let mut layers: Vec<(&Path, Layer)> = Vec::new();
        for (path, number) in &self.covered {
            let own = self.directory.join(number);
            layers.push((path, [opened(path)?, opened(&own.join("upper"))?, opened(&own.join("work"))?]));
        }
        Ok(layers)
    }

    /// Lays the layers over what is covered, for all processes of these namespaces; all or none.
    ///
    /// # Errors
    /// What failed and the system's error.
    pub fn lay(&self) -> Result<(), (String, io::Error)> {
        for (path, layer) in &self.layers()? {
            cover(path, layer).inspect_err(|_| self.lift())?;
        }
        Ok(())
    }

    /// Takes the layers away again. Who works in one still sees it.
    pub fn lift(&self) {
        for (path, _) in self.covered.iter().rev() {
            // Of those that were not laid there is nothing to take away.
            let _ = rustix::mount::unmount(path.as_path(), rustix::mount::UnmountFlags::DETACH);
        }
    }

    /// Lays the layers over what is covered, and makes everything else read-only.
    ///
    /// # Errors
    /// What failed and the system's error: the process must then not go on.
    pub fn mount(&self) -> Result<(), (String, io::Error)> {
        let failed = |what: &str| {
            let what = what.to_owned();
            move |cause: rustix::io::Errno| (what, io::Error::from(cause))
        };
        // What keeps a right over its start is closed to itself in /proc (PR_SET_DUMPABLE, prctl(2)).
        let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::Dumpable);
        let layers = self.layers()?;
        let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
        mount_change("/", private).map_err(failed("private mounts"))?;
        // Of the new process ids; the old one would name other processes.
        let plain = MountFlags::NOSUID | MountFlags::NODEV;
        mount("proc", "/proc", "proc", plain | MountFlags::NOEXEC, None).map_err(failed("/proc"))?;
        let mut writable: Vec<&Path> = Vec::new();
        for path in &self.fresh {
            mount("axi", path.as_path(), "tmpfs", plain, Some(c"mode=1777")).map_err(failed("tmpfs"))?;
            writable.push(path);
        }
        self.open().map_err(failed("open directories"))?;
        for (path, layer) in &layers {
            // One around may start empty.
            drop(std::fs::create_dir_all(path));
            cover(path, layer)?;
            writable.push(path);
        }
        drop(layers);
        kernel::read_only_below(Path::new("/")).map_err(|cause| ("read-only mounts".to_owned(), cause))?;
        for path in writable {
            kernel::writable(path).map_err(|cause| (path.display().to_string(), cause))?;
        }
        for path in &self.open {
            // What is mounted read-only outside stays so.
            let _ = kernel::writable(path);
        }
        // Root could change the machine by it; others write what is their own processes'.
        if !rustix::process::geteuid().is_root() {
            kernel::writable(Path::new("/proc")).map_err(|cause| ("/proc".to_owned(), cause))?;
        }
        if Path::new("/dev/shm").is_dir() {
            // Programs that share memory fail without; the trial does not.
            let _ = mount("axi", "/dev/shm", "tmpfs", plain, Some(c"mode=1777"));
        }
        std::env::set_current_dir(&self.start).map_err(|cause| (self.start.display().to_string(), cause))
    }
}

impl Entry {
    /// Has mounts of their own for what is really written. The layers may lie in there: they are hidden.
    fn open(&self) -> rustix::io::Result<()> {
        for path in &self.open {
            rustix::mount::mount_bind_recursive(path.as_path(), path.as_path())?;
        }
        let Some(trials) = self.directory.parent() else { return Ok(()) };
        let real = trials.canonicalize().unwrap_or_else(|_| trials.to_owned());
        if self.open.iter().any(|path| real.starts_with(path)) {
            let plain = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
            mount("axi", real.as_path(), "tmpfs", plain, Some(c"mode=700"))?;
        }
        Ok(())
    }
}

/// What a layer is made of: the directory below, what is written, and where the kernel works.
type Layer = [OwnedFd; 3];

/// Lays one layer over a directory.
fn cover(path: &Path, [below, upper, work]: &Layer) -> Result<(), (String, io::Error)> {
    let named = |file: &OwnedFd| format!("/proc/self/fd/{}", file.as_raw_fd());
    let (below, upper, work) = (named(below), named(upper), named(work));
    let options = format!("userxattr,lowerdir={below},upperdir={upper},workdir={work}");
    let options = std::ffi::CString::new(options).map_err(|error| (String::new(), error.into()))?;
    let plain = MountFlags::NOSUID | MountFlags::NODEV;
    mount("axi", path, "overlay", plain, Some(options.as_c_str()))
        .map_err(|cause| (format!("overlay {}", path.display()), cause.into()))
}

/// Gives this process namespaces of its own for mounts and, for its children, for processes. It must have one thread.
///
/// # Errors
/// What failed and the system's error.
pub fn leave_others() -> Result<(), (String, io::Error)> {
    let is_user = leave(UnshareFlags::NEWNS | UnshareFlags::NEWPID)?;
    if is_user { keep_mounting().map_err(|cause| ("capabilities".to_owned(), cause.into())) } else { Ok(()) }
}

/// Gives this process a namespace of its own for mounts, in which it can lay layers for all that it starts. It must have
/// one thread.
///
/// # Errors
/// What failed and the system's error.
pub fn leave_mounts() -> Result<(), (String, io::Error)> {
    leave(UnshareFlags::NEWNS)?;
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::Dumpable);
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).map_err(|cause| ("private mounts".to_owned(), cause.into()))
}

/// Gives this process such namespaces, and one of users where it needs that; tells whether it did.
fn leave(spaces: UnshareFlags) -> Result<bool, (String, io::Error)> {
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    // Root of the machine needs no user namespace, in which the files of others would be nobody's.
    if user.is_root() && kernel::unshare(spaces).is_ok() {
        return Ok(false);
    }
    let named = |what: &'static str| move |cause: io::Error| (what.to_owned(), cause);
    kernel::unshare(spaces | UnshareFlags::NEWUSER).map_err(limited).map_err(named("user namespace"))?;
    let (user, group) = (user.as_raw(), group.as_raw());
    // Without this an ordinary user may map no group (user_namespaces(7)).
    std::fs::write("/proc/self/setgroups", "deny").map_err(named("setgroups"))?;
    std::fs::write("/proc/self/uid_map", format!("{user} {user} 1\n")).map_err(named("uid_map"))?;
    std::fs::write("/proc/self/gid_map", format!("{group} {group} 1\n")).map_err(named("gid_map"))?;
    Ok(true)
}

/// The kernel says "no space left" where it makes no more of them (`ENOSPC`, user_namespaces(7)).
fn limited(cause: io::Error) -> io::Error {
    let is_limit = cause.raw_os_error() == Some(libc::ENOSPC);
    if is_limit { io::Error::other("the limit user.max_user_namespaces is reached") } else { cause }
}

/// Keeps the rights to mount over the start of the second process, which an ordinary user would lose there. All of
/// them: the kernel writes a layer with the rights of who mounted it, and its own directories are closed to everybody.
fn keep_mounting() -> rustix::io::Result<()> {
    let now = capabilities(None)?;
    set_capabilities(None, CapabilitySets { inheritable: now.permitted, ..now })?;
    for right in CapabilitySet::all().iter().filter(|right| now.permitted.contains(*right)) {
        configure_capability_in_ambient_set(right, true)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_reads_back_as_it_was_written() {
        let entry = Entry {
            directory: "/state/trials/1-0".into(),
            covered: vec![("/tmp".into(), "0".to_owned()), ("/tmp/a, b:c".into(), "1".to_owned())],
            fresh: vec!["/var/tmp".into()],
            start: "/tmp/a, b:c/sub".into(),
            open: vec!["/home/me/.cache/pip".into()],
            job: true,
        };
        let mut arguments = entry.to_arguments().into_iter().chain(["bash".into()]);
        assert_eq!(Entry::from_arguments(&mut arguments), Some(entry));
        assert_eq!(arguments.next(), Some("bash".into()));
        assert_eq!(Entry::from_arguments(&mut ["--other".into()].into_iter()), None);
    }
}
