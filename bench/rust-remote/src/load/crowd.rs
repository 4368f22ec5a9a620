//! Many idle connections with one session each: what one costs the server, and how long a turn takes among them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{bail, Context, Result};
use rustix::process::{getrlimit, setrlimit, Resource};
use serde_json::json;
use tokio::sync::{watch, Semaphore};
use tokio::task::JoinSet;

use crate::served::Served;
use crate::wire::{socket, spread, HttpPeer, Link, Peer, Way};

/// How long those that are at work are.
const WORK: Duration = Duration::from_secs(10);
/// From the end of a turn to the next.
const PAUSE: Duration = Duration::from_millis(100);
/// Connections of ACP on one of TCP, over HTTP/2; over HTTP/1.1, those whose messages go out on one.
const SHARED: usize = 100;
/// Connections that are opened at a time.
const OPENING: usize = 32;

/// Opens the connections, lets one in a hundred work if any can, and prints what it took.
#[allow(clippy::cast_precision_loss, reason = "small numbers")]
pub(crate) async fn run(way: Way, count: usize, works: bool, command: &[&str]) -> Result<()> {
    let count = count.min(possible(way, !command.is_empty()));
    let served = Served::start(command).await?;
    // What the first connection takes is the program's, not the connection's.
    let link = if way == Way::WebSocket { None } else { Some(Link::open(&served.address, way).await?) };
    let mut first = peer(&served.address, way, link).await?;
    if works {
        first.turn(2).await?;
    }
    let before = served.memory()?;
    let begun = Instant::now();
    let mut peers = open(&served.address, way, count).await?;
    let opened = begun.elapsed();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let each = served.memory()?.saturating_sub(before) as f64 / count as f64;

    if !works {
        println!("{}", json!({"connections": count, "kib_each": each / 1024.0}));
        return Ok(());
    }
    let (over, _) = watch::channel(false);
    let mut idle = JoinSet::new();
    for mut peer in peers.split_off(count / 100) {
        let mut over = over.subscribe();
        idle.spawn(async move {
            tokio::select! {
                ended = peer.idle(Duration::from_secs(3600)) => ended,
                _ = over.changed() => Ok(()),
            }
        });
    }
    let mut working = JoinSet::new();
    for mut peer in peers {
        working.spawn(async move {
            let (begun, mut times) = (Instant::now(), Vec::new());
            for id in 2.. {
                if begun.elapsed() >= WORK {
                    break;
                }
                times.push(peer.turn(id).await?);
                tokio::time::sleep(PAUSE).await;
            }
            anyhow::Ok(times)
        });
    }
    let mut times = Vec::new();
    while let Some(ended) = working.join_next().await {
        times.extend(ended??);
    }
    over.send_replace(true);
    while let Some(ended) = idle.join_next().await {
        ended?.context("an idle connection")?;
    }
    let (turns, [middle, p99, longest]) = (times.len(), spread(times)?);
    let figures = json!({
        "connections": count, "kib_each": each / 1024.0, "seconds_to_open": opened.as_secs_f64(), "turns": turns,
        "milliseconds": middle, "p99": p99, "longest": longest,
    });
    println!("{figures}");
    Ok(())
}

/// How many connections there can be for the system's limit of descriptors, on both sides; it is raised as far as it can be.
fn possible(way: Way, programs: bool) -> usize {
    let mut limits = getrlimit(Resource::Nofile);
    limits.current = limits.maximum;
    // As it was, if that is not allowed.
    let _ = setrlimit(Resource::Nofile, limits);
    let limit =
        getrlimit(Resource::Nofile).current.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let sockets = match way {
        Way::Http => 2,
        Way::Http2 | Way::WebSocket => 1,
    };
    // A program has three pipes, and something to wait for its end by.
    limit.saturating_sub(400) / if programs { sockets + 3 } else { sockets }
}

async fn open(address: &str, way: Way, count: usize) -> Result<Vec<Peer>> {
    let room = Arc::new(Semaphore::new(OPENING));
    let mut opening = JoinSet::new();
    let mut shared = Vec::new();
    if way != Way::WebSocket {
        for _ in 0..count.div_ceil(SHARED) {
            shared.push(Link::open(address, way).await?);
        }
    }
    for number in 0..count {
        // Those that work, which are the first ones, each have one of their own.
        let link = shared.get(number % shared.len().max(1)).cloned();
        let (room, address) = (Arc::clone(&room), address.to_owned());
        opening.spawn(async move {
            let _permit = room.acquire().await?;
            anyhow::Ok((number, peer(&address, way, link).await?))
        });
    }
    let mut peers = Vec::new();
    while let Some(peer) = opening.join_next().await {
        match peer? {
            Ok(peer) => peers.push(peer),
            Err(problem) => bail!("connection {} of {count}: {problem:#}", peers.len() + 1),
        }
    }
    peers.sort_by_key(|(number, _)| *number);
    Ok(peers.into_iter().map(|(_, peer)| peer).collect())
}

/// One client with a session. Over HTTP/1.1 each of its streams has a connection of TCP.
async fn peer(address: &str, way: Way, posts: Option<Link>) -> Result<Peer> {
    let Some(posts) = posts else {
        let (socket, session) = socket(address).await?;
        return Ok(Peer::Socket(Box::new(socket), session));
    };
    let (main, own) = match way {
        Way::Http2 => (posts.clone(), posts.clone()),
        _ => (Link::open(address, way).await?, Link::open(address, way).await?),
    };
    let mut peer = HttpPeer::open(address, &posts, &main).await?;
    let (session, events) = peer.session(1, &own).await?;
    Ok(Peer::Http(Box::new(peer), session, events))
}
