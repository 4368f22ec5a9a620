//! The record of what passes, where this side is the agent: that of the example hosts is a client's.

use std::fs::File;
use std::io::{Read, Result, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use serde_json::json;

/// The file, and when it was begun.
#[derive(Clone)]
pub(crate) struct Record(Arc<Mutex<File>>, Instant);

impl Record {
    pub(crate) fn new(path: &str) -> Result<Self> {
        Ok(Record(Arc::new(Mutex::new(File::create(path)?)), Instant::now()))
    }
}

/// A stream whose lines are written down as those of one side.
pub(crate) struct Recorded<S> {
    stream: S,
    /// `>` for what the client says, `<` for what the agent does.
    mark: char,
    record: Option<Record>,
    /// The line that has not ended.
    rest: Vec<u8>,
}

impl<S> Recorded<S> {
    pub(crate) fn new(stream: S, mark: char, record: Option<Record>) -> Self {
        Recorded { stream, mark, record, rest: Vec::new() }
    }

    fn pass(&mut self, bytes: &[u8]) -> Result<()> {
        let Some(Record(file, start)) = &self.record else { return Ok(()) };
        self.rest.extend_from_slice(bytes);
        while let Some(end) = self.rest.iter().position(|&byte| byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            let ms = start.elapsed().as_millis() as u64;
            let record = json!({"d": self.mark.to_string(), "ms": ms, "s": String::from_utf8_lossy(&line[..end])});
            writeln!(file.lock().unwrap_or_else(PoisonError::into_inner), "{record}")?;
        }
        Ok(())
    }
}

impl<S: Read> Read for Recorded<S> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let count = self.stream.read(buffer)?;
        self.pass(&buffer[..count])?;
        Ok(count)
    }
}

impl<S: Write> Write for Recorded<S> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        // First the record: the peer may have answered before this thread goes on.
        self.pass(bytes)?;
        self.stream.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        self.stream.flush()
    }
}
