//! Counts the lines and bytes that pass, and records them in a file where one is asked for.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::time::Instant;

use serde_json::json;

use crate::Result;

/// Which way a line goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From this host to its peer.
    Sent,
    /// From the peer to this host.
    Received,
}

/// What has passed in one direction.
#[derive(Debug, Default)]
pub struct Count {
    /// Complete lines.
    pub lines: u64,
    /// Bytes, line ends included.
    pub bytes: u64,
    /// The line that has not ended yet; kept only for the record.
    rest: Vec<u8>,
}

/// The counters of a connection.
#[derive(Debug)]
pub struct Tap {
    /// From this host to its peer.
    pub sent: Count,
    /// From the peer to this host.
    pub received: Count,
    record: Option<BufWriter<File>>,
    start: Instant,
}

impl Tap {
    /// Counters that stand at zero; with a path, a record of each line is written there.
    pub fn new(record: Option<&str>) -> Result<Self> {
        let record = record.map(File::create).transpose()?.map(BufWriter::new);
        Ok(Tap { sent: Count::default(), received: Count::default(), record, start: Instant::now() })
    }

    /// Takes note of bytes that pass.
    pub fn feed(&mut self, direction: Direction, bytes: &[u8]) -> Result<()> {
        let (count, arrow) = match direction {
            Direction::Sent => (&mut self.sent, ">"),
            Direction::Received => (&mut self.received, "<"),
        };
        count.bytes += bytes.len() as u64;
        for part in bytes.split_inclusive(|&byte| byte == b'\n') {
            let ends = part.ends_with(b"\n");
            count.lines += u64::from(ends);
            let Some(record) = &mut self.record else { continue };
            count.rest.extend_from_slice(part);
            if ends {
                let line = String::from_utf8_lossy(&count.rest[..count.rest.len() - 1]);
                let ms = self.start.elapsed().as_millis() as u64;
                writeln!(record, "{}", json!({"d": arrow, "ms": ms, "s": line}))?;
                record.flush()?;
                count.rest.clear();
            }
        }
        Ok(())
    }
}
