//! Counts, and on demand records, the lines that pass between the SDK and the agent's pipes.

use std::fs::File;
use std::io::{self, Write};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Instant;

use futures::{AsyncRead, AsyncWrite};
use serde_json::json;

/// The trace file, shared by both directions.
#[derive(Clone)]
pub struct Trace {
    file: Arc<File>,
    start: Instant,
}

impl Trace {
    pub fn create(path: &str) -> io::Result<Self> {
        Ok(Trace { file: Arc::new(File::create(path)?), start: Instant::now() })
    }
}

/// What has passed.
#[derive(Clone, Default)]
pub struct Totals {
    pub lines: u64,
    pub bytes: u64,
    line: Vec<u8>,
}

/// The counter of one direction.
pub struct Tap {
    direction: &'static str,
    trace: Option<Trace>,
    totals: Mutex<Totals>,
}

impl Tap {
    pub fn new(direction: &'static str, trace: Option<Trace>) -> Self {
        Tap { direction, trace, totals: Mutex::default() }
    }

    pub fn totals(&self) -> Totals {
        self.totals.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn feed(&self, data: &[u8]) -> io::Result<()> {
        let mut totals = self.totals.lock().unwrap_or_else(PoisonError::into_inner);
        totals.bytes += data.len() as u64;
        for part in data.split_inclusive(|byte| *byte == b'\n') {
            totals.line.extend_from_slice(part);
            if totals.line.pop_if(|last| *last == b'\n').is_none() {
                continue;
            }
            totals.lines += 1;
            let line = std::mem::take(&mut totals.line);
            if let Some(Trace { file, start }) = &self.trace {
                let ms = (start.elapsed().as_secs_f64() * 1e6).round() / 1e3;
                let record = json!({"d": self.direction, "ms": ms, "s": String::from_utf8_lossy(&line)});
                file.as_ref().write_all(format!("{record}\n").as_bytes())?;
            }
        }
        Ok(())
    }
}

/// A pipe end with its counter.
pub struct Tapped<T> {
    pipe: T,
    tap: Arc<Tap>,
}

impl<T> Tapped<T> {
    pub fn new(pipe: T, tap: Arc<Tap>) -> Self {
        Tapped { pipe, tap }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Tapped<T> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.pipe).poll_read(cx, buffer);
        if let Poll::Ready(Ok(count)) = polled {
            self.tap.feed(&buffer[..count])?;
        }
        polled
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Tapped<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.pipe).poll_write(cx, buffer);
        if let Poll::Ready(Ok(count)) = polled {
            self.tap.feed(&buffer[..count])?;
        }
        polled
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.pipe).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.pipe).poll_close(cx)
    }
}
