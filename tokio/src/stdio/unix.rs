//! The standard streams, reserved for the protocol while the transport exists.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as Socket;
use std::pin::Pin;
use std::task::{ready, Context, Poll};

use rustix::fs::{fstat, FileType};
use rustix::io::{fcntl_dupfd_cloexec, ioctl_fionbio};
use rustix::stdio::{dup2_stdin, dup2_stdout, stderr, stdin, stdout};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::unix::pipe;
use tokio::net::UnixStream;
use tokio::sync::mpsc;

/// The size of a read from a file or a terminal.
const READ: usize = 16 * 1024;
/// The first file descriptor that is not a standard stream.
const FIRST: i32 = 3;

pub(super) enum Input {
    Pipe(pipe::Receiver),
    Socket(UnixStream),
    /// A file or a terminal, read on a thread that does not keep the program from ending.
    Thread(mpsc::Receiver<io::Result<Vec<u8>>>, Vec<u8>),
}

pub(super) enum Output {
    Pipe(pipe::Sender),
    Socket(UnixStream),
    /// A file or a terminal, written to directly.
    File(File),
}

/// The original streams, to be restored.
pub(super) struct Kept {
    input: OwnedFd,
    output: OwnedFd,
}

pub(super) fn open() -> io::Result<(Input, Output, Kept)> {
    let keep = |file: rustix::fd::BorrowedFd<'_>| fcntl_dupfd_cloexec(file, FIRST);
    let kept = Kept { input: keep(stdin())?, output: keep(stdout())? };
    let input = Input::new(kept.input.try_clone()?)?;
    let output = Output::new(kept.output.try_clone()?)?;
    // Output that was printed before belongs to the original stream.
    io::stdout().flush()?;
    dup2_stdin(File::open("/dev/null")?)?;
    dup2_stdout(stderr())?;
    Ok((input, output, kept))
}

impl Drop for Kept {
    fn drop(&mut self) {
        // Errors are ignored: nothing can be done about them, and the program may still end normally.
        drop(io::stdout().flush());
        for file in [&self.input, &self.output] {
            // Other processes share the pipe and expect blocking reads and writes.
            let _ = ioctl_fionbio(file, false);
        }
        let _ = dup2_stdin(&self.input);
        let _ = dup2_stdout(&self.output);
    }
}

fn kind(file: impl AsFd) -> io::Result<FileType> {
    Ok(FileType::from_raw_mode(fstat(file)?.st_mode))
}

fn socket(file: OwnedFd) -> io::Result<UnixStream> {
    let socket = Socket::from(file);
    socket.set_nonblocking(true)?;
    UnixStream::from_std(socket)
}

impl Input {
    fn new(file: OwnedFd) -> io::Result<Self> {
        Ok(match kind(&file)? {
            FileType::Fifo => Input::Pipe(pipe::Receiver::from_owned_fd(file)?),
            FileType::Socket => Input::Socket(socket(file)?),
            _ => {
                let (say, said) = mpsc::channel(1);
                let reading = move || read(File::from(file), &say);
                std::thread::Builder::new().name("acp-stdin".to_owned()).spawn(reading)?;
                Input::Thread(said, Vec::new())
            }
        })
    }
}

fn read(mut file: File, say: &mpsc::Sender<io::Result<Vec<u8>>>) {
    loop {
        let mut buffer = vec![0; READ];
        let read = file.read(&mut buffer).map(|count| {
            buffer.truncate(count);
            buffer
        });
        let over = read.as_ref().map_or(true, Vec::is_empty);
        if say.blocking_send(read).is_err() || over {
            return;
        }
    }
}

impl AsyncRead for Input {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Input::Pipe(pipe) => Pin::new(pipe).poll_read(cx, buffer),
            Input::Socket(socket) => Pin::new(socket).poll_read(cx, buffer),
            Input::Thread(said, left) => {
                if left.is_empty() {
                    let Some(read) = ready!(said.poll_recv(cx)) else { return Poll::Ready(Ok(())) };
                    *left = read?;
                }
                let count = left.len().min(buffer.remaining());
                buffer.put_slice(&left[..count]);
                left.drain(..count);
                Poll::Ready(Ok(()))
            }
        }
    }
}

impl Output {
    fn new(file: OwnedFd) -> io::Result<Self> {
        Ok(match kind(&file)? {
            FileType::Fifo => Output::Pipe(pipe::Sender::from_owned_fd(file)?),
            FileType::Socket => Output::Socket(socket(file)?),
            _ => Output::File(file.into()),
        })
    }
}

impl AsyncWrite for Output {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Output::Pipe(pipe) => Pin::new(pipe).poll_write(cx, bytes),
            Output::Socket(socket) => Pin::new(socket).poll_write(cx, bytes),
            Output::File(file) => Poll::Ready(file.write(bytes)),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
