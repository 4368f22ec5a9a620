//! A reader that stops while its agent has a gigabyte to say: the server's memory, and what others notice of it.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::json;
use tokio::time::sleep;

use crate::served::{Served, PIECE};
use crate::wire::{prompt, say, socket, spread, HttpPeer, Link, Peer, Way};

/// What the agent has to say.
const ALL: usize = 1 << 30;

/// Stops reading for so many seconds, and prints the most memory that the server took beyond what it had, in KiB, and how
/// long turns took: on other connections, and the longest of another session on the same one.
#[allow(clippy::cast_precision_loss, reason = "small numbers")]
pub(crate) async fn run(way: Way, seconds: u64) -> Result<()> {
    let served = Served::start(&[]).await?;
    let address = served.address.as_str();
    let (other, session) = socket(address).await?;
    let mut other = Peer::Socket(Box::new(other), session);
    other.turn(2).await?;
    let text = format!("flood {}", ALL / PIECE);
    // What is kept here is open and not read.
    let (mut same, _flooded, _stopped) = if way == Way::WebSocket {
        let (mut stopped, session) = socket(address).await?;
        say(&mut stopped, prompt(2, &session, &text)).await?;
        (None, None, Some(stopped))
    } else {
        let links = [Link::open(address, way).await?, Link::open(address, way).await?];
        let mut peer = HttpPeer::open(address, &links[0], &links[1]).await?;
        let (first, flooded) = peer.session(1, &Link::open(address, way).await?).await?;
        let (second, events) = peer.session(2, &Link::open(address, way).await?).await?;
        peer.post(Some(&first), prompt(3, &first, &text)).await?;
        (Some(Peer::Http(Box::new(peer), second, events)), Some(flooded), None)
    };
    let before = served.memory()?;
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
    let [middle, p99, longest] = spread(times)?;
    let line = json!({
        "seconds": begun.elapsed().as_secs_f64(), "kib": most.saturating_sub(before) as f64 / 1024.0,
        "turns_beside": turns, "waited_beside": waited.as_secs_f64(),
        "milliseconds": middle, "p99": p99, "longest": longest,
    });
    println!("{line}");
    Ok(())
}
