//! Heads and bodies that come byte by byte, and sockets that say nothing: they are ended in time, cost little, and hold up
//! nobody.

use std::time::{Duration, Instant};

use anyhow::{ensure, Result};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::served::Served;
use crate::wire::{socket, spread, Peer};

/// Of each kind.
const COUNT: usize = 300;
/// From one byte to the next.
const PAUSE: Duration = Duration::from_millis(500);
/// Bodies may take 30 seconds, heads 15.
const LIMIT: Duration = Duration::from_secs(40);

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Silent,
    Head,
    Body,
}

/// Opens them, and prints how long the last of each kind was there, and what turns of others took meanwhile.
#[allow(clippy::cast_precision_loss, reason = "small numbers")]
pub(crate) async fn run() -> Result<()> {
    let served = Served::start(&[]).await?;
    let (at_work, session) = socket(&served.address).await?;
    let mut peer = Peer::Socket(Box::new(at_work), session);
    peer.turn(2).await?;
    let before = served.memory()?;
    let mut slow = JoinSet::new();
    for _ in 0..COUNT {
        for kind in [Kind::Silent, Kind::Head, Kind::Body] {
            let address = served.address.clone();
            slow.spawn(async move { anyhow::Ok((kind, ended(&address, kind).await?)) });
        }
    }
    let (mut times, mut most, mut longest) = (Vec::new(), 0, [Duration::ZERO; 3]);
    for id in 3.. {
        while let Some(one) = slow.try_join_next() {
            let (kind, after) = one??;
            let longest = &mut longest[kind as usize];
            *longest = after.max(*longest);
        }
        if slow.is_empty() {
            break;
        }
        times.push(peer.turn(id).await?);
        most = most.max(served.memory()?);
        sleep(Duration::from_millis(20)).await;
    }
    let [middle, p99, slowest] = spread(times)?;
    let line = json!({
        "connections": 3 * COUNT, "kib_each": most.saturating_sub(before) as f64 / 1024.0 / (3 * COUNT) as f64,
        "silent": longest[0].as_secs_f64(), "head": longest[1].as_secs_f64(), "body": longest[2].as_secs_f64(),
        "milliseconds": middle, "p99": p99, "longest": slowest,
    });
    println!("{line}");
    Ok(())
}

/// How long it took until the server had ended a connection.
async fn ended(address: &str, kind: Kind) -> Result<Duration> {
    let begun = Instant::now();
    let (mut input, mut output) = TcpStream::connect(address).await?.into_split();
    let head = format!(
        "POST /acp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: 4096\r\n\
         X-Long: {}\r\n\r\n",
        "x".repeat(4096)
    );
    let (at_once, slowly) = match kind {
        Kind::Silent => ("", String::new()),
        Kind::Head => ("", head),
        Kind::Body => (head.as_str(), " ".repeat(4096)),
    };
    output.write_all(at_once.as_bytes()).await?;
    let writing = async {
        for byte in slowly.bytes() {
            if output.write_all(&[byte]).await.is_err() {
                break;
            }
            sleep(PAUSE).await;
        }
        std::future::pending::<()>().await;
    };
    let reading = async {
        let mut answer = Vec::new();
        drop(input.read_to_end(&mut answer).await);
        answer
    };
    let answer = tokio::select! {
        answer = timeout(LIMIT, reading) => answer,
        () = writing => return Ok(begun.elapsed()),
    };
    let Ok(answer) = answer else {
        anyhow::bail!("a slow connection was not ended in {} s: {kind:?}", LIMIT.as_secs())
    };
    if kind == Kind::Body {
        ensure!(answer.starts_with(b"HTTP/1.1 408 "), "a slow body: {}", String::from_utf8_lossy(&answer));
    }
    Ok(begun.elapsed())
}
