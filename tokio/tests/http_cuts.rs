//! A whole conversation between real sockets, once for each piece that either side sends: with all connections cut before that
//! piece is passed on, and with all cut behind it. Whatever is cut, each call ends once, with its answer or an error that says
//! so, and the conversation goes on.
#![cfg(unix)]

#[path = "support/served.rs"]
mod served;
#[path = "support/storyteller.rs"]
mod storyteller;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use libacp::aio::{AgentPeer, Client, ClientSession, Error, Failure};
use libacp_tokio::http::{connect, Action, Remote, Target};
use served::served;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{watch, Semaphore};
use tokio::task::LocalSet;
use tokio::time::{sleep, timeout};

/// More than one conversation takes.
const LIMIT: Duration = Duration::from_secs(60);
/// Conversations at the same time.
const AT_ONCE: usize = 24;
/// How long an answer may be missing behind a stream that broke.
const DOUBT: u64 = 1000;
/// How long a history may pause (HTTP-12), with as many conversations at once.
const QUIET: u64 = 300;
const NUMBERS: u32 = 10;

/// What is between the client and the server.
struct Relay {
    address: String,
    /// Pieces of either side.
    seen: AtomicUsize,
    /// The piece at which all connections are cut, and whether that piece is still passed on.
    at: usize,
    passes: bool,
    cuts: watch::Sender<()>,
}

impl Relay {
    async fn before(server: &str, at: usize, passes: bool) -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let relay = Arc::new(Relay { address, seen: AtomicUsize::new(0), at, passes, cuts: watch::Sender::new(()) });
        let (weak, server) = (Arc::downgrade(&relay), server.to_owned());
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let (Some(relay), Ok(far)) = (weak.upgrade(), TcpStream::connect(&server).await) else { return };
                // Otherwise small pieces wait for 40 ms.
                drop((near.set_nodelay(true), far.set_nodelay(true)));
                let ((here, back), (there, on)) = (near.into_split(), far.into_split());
                let mut cuts = relay.cuts.subscribe();
                tokio::spawn(async move {
                    tokio::select! {
                        () = relay.pass(here, on) => {}
                        () = relay.pass(there, back) => {}
                        _ = cuts.changed() => {}
                    }
                });
            }
        });
        relay
    }

    async fn pass(&self, mut from: OwnedReadHalf, mut to: OwnedWriteHalf) {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(count @ 1..) = from.read(&mut buffer).await {
            let cut = self.seen.fetch_add(1, Ordering::Relaxed) == self.at;
            if (!cut || self.passes) && to.write_all(&buffer[..count]).await.is_err() {
                return;
            }
            if cut {
                return self.cuts.send_replace(());
            }
        }
    }
}

/// What the host has been told of the transport, and which calls have failed.
#[derive(Debug, Default)]
struct Seen {
    /// What is cut where. Failures tell it.
    #[allow(dead_code, reason = "what is told is all of this")]
    place: String,
    /// A stream has broken, or the connection.
    broken: Mutex<bool>,
    failures: Mutex<Vec<String>>,
    violations: Mutex<Vec<String>>,
}

impl Seen {
    fn is_broken(&self) -> bool {
        *self.broken.lock().unwrap()
    }

    /// A call, and once more if it was lost.
    async fn again<T>(&self, mut call: impl AsyncFnMut() -> Result<T, Error>) -> Result<T, Failure> {
        match call().await {
            Ok(value) => return Ok(value),
            Err(problem) => {
                assert!(problem.to_string().contains("connection was lost"), "{problem}");
                self.failures.lock().unwrap().push(problem.to_string());
            }
        }
        call().await.map_err(Into::into)
    }
}

/// What a prompt is answered with. A turn that was lost may still run, so it is cancelled before the next one.
async fn say(seen: &Seen, session: &ClientSession, text: &str) -> Result<String, Failure> {
    let said = seen.again(async || {
        let said = session.prompt(text).read_text().await;
        if said.is_err() {
            drop(session.cancel().await);
            sleep(Duration::from_millis(100)).await;
        }
        said
    });
    said.await
}

async fn script(seen: &Seen, agent: AgentPeer) -> Result<(), Failure> {
    let session = seen.again(async || agent.new_session("/work").await).await?;
    let asked = say(seen, &session, "ask").await?;
    // Its message may have been on a stream that broke.
    assert!(asked == "allowed" || (asked.is_empty() && seen.is_broken()), "{asked}, {seen:?}");

    let counted = say(seen, &session, &format!("count {NUMBERS}")).await?;
    let numbers: Vec<u32> = counted.split_whitespace().map(|number| number.parse().unwrap()).collect();
    assert!(numbers.windows(2).all(|two| two[0] < two[1]), "not once and in order: {numbers:?}, {seen:?}");
    assert!(numbers.len() == NUMBERS as usize || seen.is_broken(), "missing without a word: {numbers:?}, {seen:?}");

    let told = seen
        .again(async || {
            let (mut loading, mut told) = (agent.load_session("old", "/work"), Vec::new());
            while let Some(update) = loading.update().await? {
                told.push(update.text().unwrap_or_default().to_owned());
            }
            loading.session().await?;
            Ok(told)
        })
        .await?;
    let all = ["Once", " upon", " a time"];
    let places: Vec<usize> = told.iter().map(|text| all.iter().position(|it| it == text).unwrap()).collect();
    assert!(places.windows(2).all(|two| two[0] < two[1]), "not once and in order: {told:?}, {seen:?}");
    assert!(told.len() == all.len() || seen.is_broken(), "missing without a word: {told:?}, {seen:?}");

    // Nothing is cut any more, unless it was not before.
    let said = say(seen, &session, "hello").await?;
    assert!(said == "You said: hello" || seen.is_broken(), "{said}, {seen:?}");
    assert_eq!(
        session.prompt("again").read_text().await.ok().as_deref().unwrap_or("You said: again"),
        "You said: again"
    );
    Ok(())
}

/// One conversation; how many pieces it had.
async fn conversation(way: usize, server: String, at: usize, passes: bool) -> usize {
    let relay = Relay::before(&server, at, passes).await;
    let address = [format!("http://{}/acp", relay.address), format!("ws://{}/acp", relay.address)];
    let Target::Remote(remote) = connect(&address[usize::from(way == 2)]).unwrap() else { panic!() };
    let remote: Remote = if way == 1 { remote.http2() } else { *remote };
    let name = ["HTTP/1.1", "HTTP/2", "WebSocket"][way];
    let place = format!("{name}, cut {} piece {at}", if passes { "behind" } else { "before" });
    let seen = Arc::new(Seen { place: place.clone(), ..Seen::default() });
    let (tells, breaks) = (Arc::clone(&seen), Arc::clone(&seen));
    let remote = remote.options(|it| (it.times.doubt, it.times.retry, it.times.quiet) = (DOUBT, 20, QUIET)).on_event(
        move |event| {
            if matches!(event, Action::Gap { .. } | Action::Lost(_)) {
                *tells.broken.lock().unwrap() = true;
            }
        },
    );
    let client =
        Client::new("test", "1.0").permission(async |request| Ok(request.allow())).on_violation(move |violation| {
            // What announced a tool call may be missing behind a stream that broke.
            if violation.rule.as_str() != "TOOL-04" || !breaks.is_broken() {
                breaks.violations.lock().unwrap().push(format!("{}: {}", violation.rule, violation.message));
            }
        });
    let talks = Arc::clone(&seen);
    let talking = remote.run(&client, async move |agent| script(&talks, agent).await);
    timeout(LIMIT, Box::pin(talking)).await.unwrap_or_else(|_| panic!("{place}: no end")).expect(&place);
    assert_eq!(*seen.violations.lock().unwrap(), [""; 0], "{place}");
    // One call at a time is open.
    let failures = seen.failures.lock().unwrap().len();
    assert!(failures <= 1 && (failures == 0 || seen.is_broken()), "{place}: {failures} failures");
    relay.seen.load(Ordering::Relaxed)
}

async fn cut_everywhere(way: usize) {
    let (server, service) = served().await;
    let pieces = conversation(way, server.clone(), usize::MAX, false).await;
    assert!(pieces > 15, "{pieces}");
    let room = Arc::new(Semaphore::new(AT_ONCE));
    let local = LocalSet::new();
    let all: Vec<_> = (0..pieces)
        .flat_map(|at| [(at, false), (at, true)])
        .map(|(at, passes)| {
            let (room, server) = (Arc::clone(&room), server.clone());
            local.spawn_local(async move {
                let _place = room.acquire().await;
                conversation(way, server, at, passes).await
            })
        })
        .collect();
    local.await;
    for one in all {
        one.await.unwrap();
    }
    service.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_http1() {
    cut_everywhere(0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_http2() {
    cut_everywhere(1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_a_websocket() {
    cut_everywhere(2).await;
}
