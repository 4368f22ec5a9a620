//! An agent asks for far more than it reads. It is answered, at its own expense: not at that of the client's memory, nor
//! of the agent beside it.
//!
//! `LIBACP_TEST_READS` is how many reads of 10 MB it asks for at once; 1,000 take some minutes.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use futures::future::join;
use libacp::aio::{streams, Client, Failure};
use libacp_examples_async::read_text_file;
use libacp_files::Files;
use smol::Async;

const LARGE: usize = 10_000_000;

/// What the greedy agent does: it reads nothing, it reads, it has ended.
const DEAF: u8 = 0;
const READING: u8 = 1;
const OVER: u8 = 2;

/// What is kept of a message.
const SHOWN: usize = 1024;

/// An agent that opens its one session when it is asked to, and says when it was prompted. It shares this process with
/// its client, so it holds no message whole.
struct Agent {
    input: BufReader<UnixStream>,
    output: UnixStream,
    head: Vec<u8>,
}

impl Agent {
    fn new(stream: UnixStream) -> Self {
        Agent { input: BufReader::new(stream.try_clone().unwrap()), output: stream, head: Vec::new() }
    }

    /// The beginning of a message, and how long it is.
    fn read(&mut self) -> (&str, usize) {
        self.head.clear();
        let mut length = 0;
        loop {
            let there = self.input.fill_buf().unwrap();
            assert!(!there.is_empty(), "the client is gone");
            let end = there.iter().position(|&byte| byte == b'\n');
            let part = &there[..end.unwrap_or(there.len())];
            self.head.extend(part.iter().take(SHOWN - self.head.len()));
            length += part.len();
            let used = part.len() + usize::from(end.is_some());
            self.input.consume(used);
            if end.is_some() {
                return (std::str::from_utf8(&self.head).unwrap(), length);
            }
        }
    }

    /// The id of the next message.
    fn id(&mut self) -> String {
        self.read().0.split_once(r#""id":"#).unwrap().1.split([',', '}']).next().unwrap().to_owned()
    }

    /// Answers a request of the client's.
    fn answer(&mut self, result: &str) {
        let id = self.id();
        writeln!(self.output, r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#).unwrap();
    }

    /// Waits for its prompt, whose id it returns.
    fn begin(&mut self) -> String {
        self.answer(r#"{"protocolVersion":1}"#);
        self.answer(r#"{"sessionId":"one"}"#);
        self.id()
    }

    fn ask(&mut self, id: usize, path: &Path) {
        let path = path.display();
        let params = format!(r#"{{"sessionId":"one","path":"{path}"}}"#);
        let method = "fs/read_text_file";
        writeln!(self.output, r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#).unwrap();
    }

    fn end(&mut self, prompt: &str) {
        writeln!(self.output, r#"{{"jsonrpc":"2.0","id":{prompt},"result":{{"stopReason":"end_turn"}}}}"#).unwrap();
    }
}

/// Asks for everything at once, reads nothing for some seconds, then everything; the most that this process has grown by.
fn greedy(stream: UnixStream, file: &Path, reads: usize, doing: &AtomicU8) -> usize {
    let mut agent = Agent::new(stream);
    let prompt = agent.begin();
    let before = memory();
    (1..=reads).for_each(|id| agent.ask(id, file));
    let mut grown = 0;
    let mut look = || grown = grown.max(memory().saturating_sub(before));
    for _ in 0..60 {
        thread::sleep(Duration::from_millis(50));
        look();
    }
    doing.store(READING, Ordering::Relaxed);
    let mut answered: Vec<usize> = Vec::new();
    for _ in 0..reads {
        let (head, length) = agent.read();
        let id =
            head.strip_prefix(r#"{"jsonrpc":"2.0","id":"#).and_then(|rest| rest.split_once(r#","result":{"content":"#));
        let Some((id, _)) = id else { panic!("{head}") };
        assert!(length > LARGE, "{head}");
        answered.push(id.parse().unwrap());
        look();
    }
    answered.sort_unstable();
    assert_eq!(answered, (1..=reads).collect::<Vec<_>>());
    agent.end(&prompt);
    grown
}

/// Reads a small file again and again, and returns how long the 99th of 100 reads took while the other agent was deaf,
/// and while it read.
fn modest(stream: UnixStream, file: &Path, doing: &AtomicU8) -> [Duration; 2] {
    let mut agent = Agent::new(stream);
    let prompt = agent.begin();
    let mut took = [Vec::new(), Vec::new()];
    for id in 1.. {
        let now = doing.load(Ordering::Relaxed);
        if now == OVER {
            break;
        }
        let begin = Instant::now();
        agent.ask(id, file);
        assert!(agent.read().0.contains("a neighbour's"));
        took[usize::from(now)].push(begin.elapsed());
        thread::sleep(Duration::from_millis(1));
    }
    agent.end(&prompt);
    took.map(|mut took| {
        took.sort_unstable();
        assert!(took.len() > 10, "it went on");
        took[took.len() * 99 / 100]
    })
}

/// A client on one end of a stream, until its prompt has ended.
async fn client(stream: UnixStream, folder: &Path) -> Result<(), Failure> {
    let files = Files::new([folder])?;
    let stream = Async::new(stream)?;
    let folder = folder.to_str().unwrap().to_owned();
    Client::new("test", "1")
        .on(async move |received| read_text_file(&files, &received).await)
        .run(streams(&stream, &stream), async |agent| {
            let session = agent.new_session(&folder).await?;
            let mut turn = session.prompt("Go");
            while turn.update().await?.is_some() {}
            Ok(())
        })
        .await
}

/// Says that something is over, however it ends.
struct Over<'a>(&'a AtomicU8);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(OVER, Ordering::Relaxed);
    }
}

/// Bytes of this process that are in memory.
fn memory() -> usize {
    let status = fs::read_to_string("/proc/self/statm").unwrap();
    status.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

#[test]
fn an_agent_that_reads_no_answers() {
    let reads = std::env::var("LIBACP_TEST_READS").map_or(60, |reads| reads.parse().unwrap());
    let folder = std::env::temp_dir().join(format!("libacp-memory-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let (large, small) = (folder.join("large.txt"), folder.join("small.txt"));
    fs::write(&large, "0123456789abcde\n".repeat(LARGE / 16)).unwrap();
    fs::write(&small, "a neighbour's").unwrap();
    let (greedy_end, to_greedy) = UnixStream::pair().unwrap();
    let (modest_end, to_modest) = UnixStream::pair().unwrap();
    let doing = AtomicU8::new(DEAF);
    let (grown, took) = thread::scope(|scope| {
        let greedy = scope.spawn(|| {
            let _over = Over(&doing);
            greedy(greedy_end, &large, reads, &doing)
        });
        let modest = scope.spawn(|| modest(modest_end, &small, &doing));
        let (one, other) = smol::block_on(join(client(to_greedy, &folder), client(to_modest, &folder)));
        one.unwrap();
        other.unwrap();
        (greedy.join().unwrap(), modest.join().unwrap())
    });
    fs::remove_dir_all(&folder).unwrap();
    println!("{reads} reads: grown by {} KiB, a neighbour's round trips {took:?}", grown / 1024);
    assert!(grown <= 64 * 1024 * 1024, "grown by {grown} bytes");
    assert!(took[0] < Duration::from_millis(100), "a round trip of the neighbour's took {took:?}");
}
