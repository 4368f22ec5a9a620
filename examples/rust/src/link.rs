//! A [`Connection`] with a reader thread and a writer thread.
//!
//! The core does no I/O: this file is all that a host with threads needs to drive it. One thread reads and hands over
//! what came, one writes what it is handed, and the connection stays on the host's own thread, which therefore never
//! blocks on a pipe: a host that writes while its peer does the same would wait for ever otherwise.

use std::io::{ErrorKind, Read, Write};
use std::sync::mpsc::{channel, sync_channel, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use libacp::{Connection, Event};

use crate::tap::{Direction, Tap};
use crate::{fail, Result};

/// Bytes of one read.
const READ: usize = 64 * 1024;
/// Reads that may wait for the connection: the peer is held back when they are full.
const WAITING: usize = 4;

/// A connection and the pipes to its peer.
pub struct Link {
    /// Calls may be made at any time; [`Link::event`] sends what they wrote.
    pub connection: Connection,
    /// What has passed.
    pub tap: Tap,
    deadline: Option<Instant>,
    input: Receiver<std::io::Result<Vec<u8>>>,
    output: Option<Sender<Vec<u8>>>,
    writer: Option<JoinHandle<std::io::Result<()>>>,
}

impl Link {
    /// Connects to a peer. [`Link::event`] does not wait beyond the deadline.
    pub fn new(
        connection: Connection,
        mut input: impl Read + Send + 'static,
        mut output: impl Write + Send + 'static,
        tap: Tap,
        deadline: Option<Instant>,
    ) -> Self {
        let (read, incoming) = sync_channel(WAITING);
        thread::spawn(move || loop {
            let mut buffer = vec![0; READ];
            let message = match input.read(&mut buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Ok(count) => {
                    buffer.truncate(count);
                    Ok(buffer)
                }
                Err(error) => Err(error),
            };
            let over = message.as_ref().map_or(true, Vec::is_empty);
            if read.send(message).is_err() || over {
                return;
            }
        });
        let (outgoing, to_write) = channel::<Vec<u8>>();
        let writer = thread::spawn(move || {
            for bytes in to_write {
                output.write_all(&bytes)?;
                output.flush()?;
            }
            Ok(())
        });
        Link { connection, tap, deadline, input: incoming, output: Some(outgoing), writer: Some(writer) }
    }

    /// Hands over to the writer what the connection has to send.
    pub fn flush(&mut self) -> Result<()> {
        let bytes = self.connection.transmit().to_vec();
        if bytes.is_empty() {
            return Ok(());
        }
        self.tap.feed(Direction::Sent, &bytes)?;
        self.connection.consume(bytes.len());
        match &self.output {
            Some(output) if output.send(bytes).is_ok() => Ok(()),
            _ => fail!("the peer no longer reads"),
        }
    }

    /// The next event: sends what waits, then reads until there is one.
    pub fn event(&mut self) -> Result<Event> {
        match self.event_by(self.deadline)? {
            Some(event) => Ok(event),
            None => fail!("the time is up"),
        }
    }

    /// As [`Link::event`], but waits until this moment at the longest, and gives nothing then: for hosts that have things
    /// to do by themselves.
    pub fn event_by(&mut self, due: Option<Instant>) -> Result<Option<Event>> {
        loop {
            // First the event, then the flush: reading may have made the core answer by itself.
            let event = self.connection.poll_event();
            self.flush()?;
            if event.is_some() {
                return Ok(event);
            }
            let Some(bytes) = self.read(due)? else { return Ok(None) };
            if bytes.is_empty() {
                self.connection.receive_eof();
            } else {
                self.tap.feed(Direction::Received, &bytes)?;
                self.connection.receive(&bytes);
            }
        }
    }

    /// Sends what waits and closes this side of the pipe.
    pub fn close_output(&mut self) -> Result<()> {
        self.flush()?;
        self.output = None;
        match self.writer.take().map(JoinHandle::join) {
            None => Ok(()),
            Some(Ok(written)) => Ok(written?),
            Some(Err(_)) => fail!("the writer thread failed"),
        }
    }

    /// What came, nothing at the end of the stream; `None` when nothing has come in time.
    fn read(&mut self, due: Option<Instant>) -> Result<Option<Vec<u8>>> {
        let message = match due {
            None => self.input.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(due) => self.input.recv_timeout(due.saturating_duration_since(Instant::now())),
        };
        match message {
            Ok(bytes) => Ok(Some(bytes?)),
            Err(RecvTimeoutError::Disconnected) => Ok(Some(Vec::new())),
            Err(RecvTimeoutError::Timeout) => Ok(None),
        }
    }
}
