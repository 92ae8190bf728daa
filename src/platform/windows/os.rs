//! What the standard library knows of a Unix alone, as far as Windows has it.

/// What is open.
pub(crate) mod fd {
    use std::os::windows::io::AsHandle;
    pub(crate) use std::os::windows::io::{BorrowedHandle as BorrowedFd, OwnedHandle as OwnedFd};

    /// Tells the number of its handle.
    pub(crate) trait AsRawFd {
        fn as_raw_fd(&self) -> usize;
    }

    impl<T: std::os::windows::io::AsRawHandle> AsRawFd for T {
        fn as_raw_fd(&self) -> usize {
            self.as_raw_handle() as usize
        }
    }

    /// Lends its handle.
    pub(crate) trait AsFd {
        fn as_fd(&self) -> BorrowedFd<'_>;
    }

    impl<T: AsHandle> AsFd for T {
        fn as_fd(&self) -> BorrowedFd<'_> {
            self.as_handle()
        }
    }
}

/// Texts of the system as bytes: those of UTF-8, and for half a pair of UTF-16 what UTF-8 would be.
pub(crate) mod ffi {
    use std::ffi::{OsStr, OsString};

    /// The bytes of a text.
    pub(crate) trait OsStrExt {
        fn as_bytes(&self) -> &[u8];
        /// Bytes that are no UTF-8 make an empty text: there is no such file here.
        fn from_bytes(bytes: &[u8]) -> &Self;
    }

    impl OsStrExt for OsStr {
        fn as_bytes(&self) -> &[u8] {
            self.as_encoded_bytes()
        }

        fn from_bytes(bytes: &[u8]) -> &Self {
            Self::new(std::str::from_utf8(bytes).unwrap_or_default())
        }
    }

    /// The bytes of a text that is owned.
    pub(crate) trait OsStringExt {
        fn from_vec(bytes: Vec<u8>) -> Self;
        fn into_vec(self) -> Vec<u8>;
    }

    impl OsStringExt for OsString {
        fn from_vec(bytes: Vec<u8>) -> Self {
            String::from_utf8_lossy(&bytes).into_owned().into()
        }

        fn into_vec(self) -> Vec<u8> {
            self.into_encoded_bytes()
        }
    }
}

/// Files.
pub(crate) mod fs {
    use std::fs::{DirBuilder, File, FileType, Metadata, OpenOptions, Permissions};
    use std::io;
    use std::os::windows::fs::{FileExt as _, MetadataExt as _};
    use std::path::Path;
    use std::time::UNIX_EPOCH;

    use windows_sys::Win32::Storage::FileSystem::{FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_OPEN_REPARSE_POINT};

    use super::super::fs::OFlags;
    use super::super::process::OWNER;

    /// Modes of files: what the profile of the user keeps from others is the owner's alone, and only writing can be
    /// forbidden.
    const FILE: u32 = 0o100_700;
    const DIRECTORY: u32 = 0o040_700;
    const LINK: u32 = 0o120_700;
    const WRITING: u32 = 0o200;

    /// What a file system of a Unix knows of a file. The number is the time at which the file was made: two files that
    /// were made within the same 100 ns count as one. Other names of a file are not known.
    pub(crate) trait MetadataExt {
        fn dev(&self) -> u64;
        fn ino(&self) -> u64;
        fn mode(&self) -> u32;
        fn nlink(&self) -> u64;
        fn uid(&self) -> u32;
        fn gid(&self) -> u32;
        fn rdev(&self) -> u64;
        fn size(&self) -> u64;
        fn blocks(&self) -> u64;
        fn mtime(&self) -> i64;
        fn mtime_nsec(&self) -> i64;
        fn ctime(&self) -> i64;
        fn ctime_nsec(&self) -> i64;
    }

    impl MetadataExt for Metadata {
        fn dev(&self) -> u64 {
            0
        }

        fn ino(&self) -> u64 {
            self.creation_time()
        }

        fn mode(&self) -> u32 {
            let kind = if self.is_symlink() {
                LINK
            } else if self.is_dir() {
                DIRECTORY
            } else {
                FILE
            };
            if self.permissions().readonly() { kind & !WRITING } else { kind }
        }

        fn nlink(&self) -> u64 {
            1
        }

        fn uid(&self) -> u32 {
            OWNER
        }

        fn gid(&self) -> u32 {
            OWNER
        }

        fn rdev(&self) -> u64 {
            0
        }

        fn size(&self) -> u64 {
            self.len()
        }

        fn blocks(&self) -> u64 {
            self.len().div_ceil(512)
        }

        fn mtime(&self) -> i64 {
            let since = self.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            since.and_then(|since| i64::try_from(since.as_secs()).ok()).unwrap_or_default()
        }

        fn mtime_nsec(&self) -> i64 {
            let since = self.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            since.map(|since| i64::from(since.subsec_nanos())).unwrap_or_default()
        }

        fn ctime(&self) -> i64 {
            self.mtime()
        }

        fn ctime_nsec(&self) -> i64 {
            self.mtime_nsec()
        }
    }

    /// The mode as permissions.
    pub(crate) trait PermissionsExt {
        fn mode(&self) -> u32;
        fn from_mode(mode: u32) -> Self;
    }

    impl PermissionsExt for Permissions {
        fn mode(&self) -> u32 {
            if self.readonly() { FILE & !WRITING } else { FILE }
        }

        /// Of the mode only the owner's right to write means anything.
        fn from_mode(mode: u32) -> Self {
            // PROOF: a program that runs was read from a file; no other way makes a value of this type.
            let own = std::env::current_exe().and_then(|own| own.metadata());
            let Ok(mut permissions) = own.map(|own| own.permissions()) else { return Self::from_mode(mode) };
            permissions.set_readonly(mode & WRITING == 0);
            permissions
        }
    }

    /// A new file's mode: what lies in the user's profile is the user's alone.
    pub(crate) trait OpenOptionsExt {
        fn mode(&mut self, mode: u32) -> &mut Self;
        fn custom_flags(&mut self, flags: i32) -> &mut Self;
    }

    impl OpenOptionsExt for OpenOptions {
        fn mode(&mut self, _: u32) -> &mut Self {
            self
        }

        fn custom_flags(&mut self, flags: i32) -> &mut Self {
            let flags = OFlags::from_bits_retain(flags.cast_unsigned());
            std::os::windows::fs::OpenOptionsExt::custom_flags(self, system_flags(flags))
        }
    }

    /// What the system calls the flags that it has.
    pub(in super::super) const fn system_flags(flags: OFlags) -> u32 {
        let link = if flags.contains(OFlags::NOFOLLOW) { FILE_FLAG_OPEN_REPARSE_POINT } else { 0 };
        let directory = if flags.contains(OFlags::DIRECTORY) { FILE_FLAG_BACKUP_SEMANTICS } else { 0 };
        link | directory
    }

    /// A new directory's mode.
    pub(crate) trait DirBuilderExt {
        fn mode(&mut self, mode: u32) -> &mut Self;
    }

    impl DirBuilderExt for DirBuilder {
        fn mode(&mut self, _: u32) -> &mut Self {
            self
        }
    }

    /// Kinds of files that are not here.
    pub(crate) trait FileTypeExt {
        fn is_fifo(&self) -> bool;
        fn is_socket(&self) -> bool;
        fn is_block_device(&self) -> bool;
        fn is_char_device(&self) -> bool;
    }

    impl FileTypeExt for FileType {
        fn is_fifo(&self) -> bool {
            false
        }

        fn is_socket(&self) -> bool {
            false
        }

        fn is_block_device(&self) -> bool {
            false
        }

        fn is_char_device(&self) -> bool {
            false
        }
    }

    /// Reading and writing at a place. The place of the file itself moves, so that no caller may count on it.
    pub(crate) trait FileExt {
        fn read_at(&self, bytes: &mut [u8], place: u64) -> io::Result<usize>;
        fn write_at(&self, bytes: &[u8], place: u64) -> io::Result<usize>;

        fn read_exact_at(&self, mut bytes: &mut [u8], mut place: u64) -> io::Result<()> {
            while !bytes.is_empty() {
                match self.read_at(bytes, place) {
                    Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                    Ok(count) => {
                        bytes = &mut bytes[count..];
                        place += count as u64;
                    }
                    Err(error) => return Err(error),
                }
            }
            Ok(())
        }

        fn write_all_at(&self, mut bytes: &[u8], mut place: u64) -> io::Result<()> {
            while !bytes.is_empty() {
                match self.write_at(bytes, place)? {
                    0 => return Err(io::ErrorKind::WriteZero.into()),
                    count => {
                        bytes = &bytes[count..];
                        place += count as u64;
                    }
                }
            }
            Ok(())
        }
    }

    impl FileExt for File {
        fn read_at(&self, bytes: &mut [u8], place: u64) -> io::Result<usize> {
            self.seek_read(bytes, place)
        }

        fn write_at(&self, bytes: &[u8], place: u64) -> io::Result<usize> {
            self.seek_write(bytes, place)
        }
    }

    /// Makes a link; the system wants to know whether to a directory.
    pub(crate) fn symlink(target: impl AsRef<Path>, link: impl AsRef<Path>) -> io::Result<()> {
        let (target, link) = (target.as_ref(), link.as_ref());
        let place = link.parent().map_or_else(|| target.to_owned(), |parent| parent.join(target));
        if place.is_dir() {
            return std::os::windows::fs::symlink_dir(target, link);
        }
        std::os::windows::fs::symlink_file(target, link)
    }

    /// There is one owner.
    fn owned(user: Option<u32>, group: Option<u32>) -> io::Result<()> {
        let is_owner = [user, group].into_iter().flatten().all(|id| id == OWNER);
        if is_owner { Ok(()) } else { Err(io::ErrorKind::Unsupported.into()) }
    }

    pub(crate) fn chown(_: impl AsRef<Path>, user: Option<u32>, group: Option<u32>) -> io::Result<()> {
        owned(user, group)
    }

    pub(crate) fn lchown(_: impl AsRef<Path>, user: Option<u32>, group: Option<u32>) -> io::Result<()> {
        owned(user, group)
    }

    pub(crate) fn fchown(_: &File, user: Option<u32>, group: Option<u32>) -> io::Result<()> {
        owned(user, group)
    }
}

pub(crate) use super::net;

/// Processes.
pub(crate) mod process {
    use std::io;
    use std::process::{Command, ExitStatus};

    /// How a program is started.
    pub(crate) trait CommandExt {
        /// The helper that becomes the command makes the job that holds all it starts; there are no groups.
        fn process_group(&mut self, group: i32) -> &mut Self;
        /// Runs the program in this process's place: with its input and output, and its exit code as one's own.
        /// Comes back only with a failure.
        fn exec(&mut self) -> io::Error;
        /// The name is always the program's.
        fn arg0(&mut self, name: impl AsRef<std::ffi::OsStr>) -> &mut Self;
    }

    impl CommandExt for Command {
        fn process_group(&mut self, _: i32) -> &mut Self {
            self
        }

        fn exec(&mut self) -> io::Error {
            match self.status() {
                Ok(status) => std::process::exit(status.code().unwrap_or(1)),
                Err(error) => error,
            }
        }

        fn arg0(&mut self, _: impl AsRef<std::ffi::OsStr>) -> &mut Self {
            self
        }
    }

    /// Ends by a signal, which there are none of.
    pub(crate) trait ExitStatusExt {
        fn signal(&self) -> Option<i32>;
        /// From what `wait(2)` says: the code is in the second byte.
        fn from_raw(raw: i32) -> Self;
    }

    impl ExitStatusExt for ExitStatus {
        fn signal(&self) -> Option<i32> {
            None
        }

        fn from_raw(raw: i32) -> Self {
            let code = if raw & 0x7f == 0 { raw >> 8 } else { 128 + (raw & 0x7f) };
            <Self as std::os::windows::process::ExitStatusExt>::from_raw(code.cast_unsigned())
        }
    }
}
