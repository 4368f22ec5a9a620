//! A reader that stops while its agent has a gigabyte to say: the server's memory, and what others notice of it.

use std::time::{Duration, Instant};

use anyhow::{ensure, Context, Result};
use serde_json::json;
use tokio::time::sleep;

use crate::served::{Served, PIECE};
use crate::wire::{prompt, say, socket, spread, Events, HttpPeer, Link, Peer, Socket, Way};

/// What the agent has to say.
const ALL: usize = 1 << 30;

/// Who does not read. What it has is open.
enum Stopped {
    Socket { _kept: Box<Socket> },
    Stream { session: String, events: Events },
}

/// Stops reading for so many seconds, and prints the most memory that the server took beyond what it had, in KiB, and how
/// long turns took: on other connections, and the longest of another session on the same one. The stream of the session that
/// is not read has to be lost then, as its reader has to be told.
#[allow(clippy::cast_precision_loss, reason = "small numbers")]
pub(crate) async fn run(way: Way, seconds: u64, command: &[&str]) -> Result<()> {
    let served = Served::start(command).await?;
    let address = served.address.as_str();
    let (other, session) = socket(address).await?;
    let mut other = Peer::Socket(Box::new(other), session);
    other.turn(2).await?;
    let before = served.memory()?;
    let text = format!("flood {}", ALL / PIECE);
    let (mut same, stopped) = if way == Way::WebSocket {
        let (mut stopped, session) = socket(address).await?;
        say(&mut stopped, prompt(2, &session, &text)).await?;
        (None, Stopped::Socket { _kept: Box::new(stopped) })
    } else {
        let posts = Link::open(address, way).await?;
        let mut peer = HttpPeer::open(address, &posts, &stream_link(address, way, &posts).await?).await?;
        let (session, events) = peer.session(1, &stream_link(address, way, &posts).await?).await?;
        let (second, heard) = peer.session(2, &stream_link(address, way, &posts).await?).await?;
        peer.post(Some(&session), prompt(3, &session, &text)).await?;
        (Some(Peer::Http(Box::new(peer), second, heard)), Stopped::Stream { session, events })
    };
    let begun = Instant::now();
    let until = begun + Duration::from_secs(seconds);
    let beside = async {
        let Some(peer) = &mut same else { return anyhow::Ok((0, Duration::ZERO)) };
        let (mut turns, mut longest) = (0, Duration::ZERO);
        for id in 4.. {
            if Instant::now() >= until {
                break;
            }
            longest = peer.turn(id).await.context("another session of the connection")?.max(longest);
            turns += 1;
            sleep(Duration::from_millis(100)).await;
        }
        Ok((turns, longest))
    };
    let watching = async {
        let (mut times, mut most) = (Vec::new(), 0);
        for id in 3.. {
            if Instant::now() >= until {
                break;
            }
            times.push(other.turn(id).await.context("another connection")?);
            most = most.max(served.memory()?);
            sleep(Duration::from_millis(50)).await;
        }
        anyhow::Ok((times, most))
    };
    let (beside, watching) = tokio::join!(beside, watching);
    let ((turns, waited), (times, most)) = (beside?, watching?);
    if let (Some(Peer::Http(peer, ..)), Stopped::Stream { session, mut events }) = (&same, stopped) {
        let lost = peer.is_lost(&session, &mut events, &Link::open(address, way).await?).await?;
        ensure!(lost, "the reader that stopped was told nothing");
    }
    let [middle, p99, longest] = spread(times)?;
    let line = json!({
        "seconds": begun.elapsed().as_secs_f64(), "kib": most.saturating_sub(before) as f64 / 1024.0,
        "turns_beside": turns, "waited_beside": waited.as_secs_f64(),
        "milliseconds": middle, "p99": p99, "longest": longest,
    });
    println!("{line}");
    Ok(())
}

/// What a stream is asked for on: over HTTP/1.1 each has a connection of TCP, over HTTP/2 all are on one.
async fn stream_link(address: &str, way: Way, posts: &Link) -> Result<Link> {
    if way == Way::Http2 {
        return Ok(posts.clone());
    }
    Link::open(address, way).await
}
