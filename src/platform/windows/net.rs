//! Pairs of sockets, by which one thread wakes another. There are none with a name here.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::windows::io::{
    AsHandle, AsRawSocket as _, BorrowedHandle, IntoRawHandle as _, IntoRawSocket as _, OwnedHandle,
};
use std::path::Path;
use std::time::Duration;

/// One end of a pair.
#[derive(Debug)]
pub(crate) struct UnixStream(TcpStream);

/// What waits for others to connect.
#[derive(Debug)]
pub(crate) struct UnixListener(());

impl UnixStream {
    /// Makes two that are connected with each other and with nobody else.
    pub(crate) fn pair() -> io::Result<(Self, Self)> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let one = TcpStream::connect(listener.local_addr()?)?;
        let own = one.local_addr()?;
        loop {
            let (other, from) = listener.accept()?;
            // Anybody on this machine may have been faster.
            if from == own {
                one.set_nodelay(true)?;
                other.set_nodelay(true)?;
                return Ok((Self(one), Self(other)));
            }
        }
    }

    pub(crate) fn connect(_: impl AsRef<Path>) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        self.0.try_clone().map(Self)
    }

    pub(crate) fn set_nonblocking(&self, wanted: bool) -> io::Result<()> {
        self.0.set_nonblocking(wanted)
    }

    pub(crate) fn set_read_timeout(&self, limit: Option<Duration>) -> io::Result<()> {
        self.0.set_read_timeout(limit)
    }

    pub(crate) fn set_write_timeout(&self, limit: Option<Duration>) -> io::Result<()> {
        self.0.set_write_timeout(limit)
    }

    pub(crate) fn shutdown(&self, how: std::net::Shutdown) -> io::Result<()> {
        self.0.shutdown(how)
    }

    /// For the runtime.
    pub(crate) fn into_stream(self) -> TcpStream {
        self.0
    }
}

impl UnixListener {
    pub(crate) fn bind(_: impl AsRef<Path>) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn incoming(&self) -> std::iter::Empty<io::Result<UnixStream>> {
        std::iter::empty()
    }

    pub(crate) fn accept(&self) -> io::Result<(UnixStream, ())> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn set_nonblocking(&self, _: bool) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

impl Read for UnixStream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.read(bytes)
    }
}

impl Write for UnixStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for &UnixStream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        (&self.0).read(bytes)
    }
}

impl Write for &UnixStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&self.0).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[expect(unsafe_code, reason = "a socket is a handle of the kernel; the standard library keeps them apart")]
impl AsHandle for UnixStream {
    fn as_handle(&self) -> BorrowedHandle<'_> {
        let handle = self.0.as_raw_socket() as *mut std::ffi::c_void;
        // SAFETY: the socket is open as long as `self`, whose lifetime the result has.
        unsafe { BorrowedHandle::borrow_raw(handle) }
    }
}

#[expect(unsafe_code, reason = "as above")]
impl From<OwnedHandle> for UnixStream {
    fn from(handle: OwnedHandle) -> Self {
        use std::os::windows::io::FromRawSocket as _;
        let socket = handle.into_raw_handle() as std::os::windows::io::RawSocket;
        // SAFETY: the handle was owned, and is given away.
        Self(unsafe { TcpStream::from_raw_socket(socket) })
    }
}

#[expect(unsafe_code, reason = "as above")]
impl From<UnixStream> for OwnedHandle {
    fn from(stream: UnixStream) -> Self {
        use std::os::windows::io::FromRawHandle as _;
        let handle = stream.0.into_raw_socket() as *mut std::ffi::c_void;
        // SAFETY: the socket was owned by the stream, which has given it away.
        unsafe { Self::from_raw_handle(handle) }
    }
}
