//! The client with the server, on real sockets: the same conversation over HTTP/1.1, HTTP/2 and WebSocket; streams and
//! connections that are cut in the middle of it.
#![cfg(unix)]

#[path = "support/served.rs"]
mod served;
#[path = "support/storyteller.rs"]
mod storyteller;

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use libacp::aio::{Client, Error, Failure};
use libacp_tokio::http::{connect, Action, Remote, ServerOptions, Target};
use served::{served, served_with};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::timeout;

/// More than anything here takes.
const LIMIT: Duration = Duration::from_secs(60);

fn remote(address: &str) -> Remote {
    let Target::Remote(remote) = connect(address).unwrap() else { panic!("{address} is an address") };
    *remote
}

/// The ways to an agent.
fn ways(address: &str) -> [Remote; 3] {
    let http = format!("http://{address}/acp");
    [remote(&http), remote(&http).http2(), remote(&format!("ws://{address}/acp"))]
}

fn in_time<R>(work: impl Future<Output = R>) -> impl Future<Output = R> {
    // On the heap: what a test does is large.
    let work = Box::pin(work);
    async { timeout(LIMIT, work).await.expect("an end in time") }
}

#[tokio::test]
async fn a_conversation() {
    let (address, service) = served().await;
    for way in ways(&address) {
        let client = Client::new("test", "1.0").permission(async |request| Ok(request.allow()));
        let talking = way.run(&client, async |agent| {
            let session = agent.new_session("/work").await?;
            assert_eq!(session.prompt("hello").read_text().await?, "You said: hello");
            assert_eq!(session.prompt("ask").read_text().await?, "allowed");
            let second = agent.new_session("/work").await?;
            let (one, two) = (session.prompt("count 500"), second.prompt("count 500"));
            let (mut one, mut two) = (one, two);
            let (one, two) = tokio::join!(one.read_text(), two.read_text());
            let numbers: Vec<String> = (0..500).map(|number: u32| number.to_string()).collect();
            let expected = numbers.join(" ") + " ";
            assert_eq!((one?, two?), (expected.clone(), expected));

            let mut turn = session.prompt("wait");
            assert_eq!(turn.update().await?.unwrap().text(), Some("waiting"));
            turn.cancel().await?;
            while turn.update().await?.is_some() {}
            assert_eq!(turn.stop_reason().unwrap().to_string(), "cancelled");

            let mut loading = agent.load_session("old", "/work");
            let mut told = String::new();
            while let Some(update) = loading.update().await? {
                told += update.text().unwrap_or_default();
            }
            assert_eq!(told, "Once upon a time");
            let old = loading.session().await?;
            assert_eq!(old.prompt("more").read_text().await?, "You said: more");
            agent.delete_session(second.id()).await?;
            Ok(())
        });
        in_time(talking).await.unwrap();
        in_time(async {
            while service.connections() > 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await;
    }
}

/// A proxy whose connections can be cut.
struct Proxy {
    address: String,
    cut: watch::Sender<u32>,
}

impl Proxy {
    async fn before(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, server) = (listener.local_addr().unwrap().to_string(), server.to_owned());
        let cut = watch::Sender::new(0);
        let cuts = cut.clone();
        tokio::spawn(async move {
            while let Ok((mut near, _)) = listener.accept().await {
                let (server, mut cuts) = (server.clone(), cuts.subscribe());
                tokio::spawn(async move {
                    let Ok(mut far) = TcpStream::connect(&server).await else { return };
                    tokio::select! {
                        _ = copy_bidirectional(&mut near, &mut far) => {}
                        _ = cuts.changed() => {}
                    }
                });
            }
        });
        Proxy { address, cut }
    }

    fn cut(&self) {
        self.cut.send_modify(|cuts| *cuts += 1);
    }
}

#[tokio::test]
async fn streams_that_are_cut_cost_nothing_over_http() {
    let (address, _service) = served().await;
    let proxy = Proxy::before(&address).await;
    for http2 in [false, true] {
        let mut way = remote(&format!("http://{}/acp", proxy.address));
        if http2 {
            way = way.http2();
        }
        let client = Client::new("test", "1.0");
        let talking = way.run(&client, async |agent| {
            let session = agent.new_session("/work").await?;
            let mut turn = session.prompt("slowly 50");
            let mut updates = 0;
            while turn.update().await?.is_some() {
                updates += 1;
                if updates == 10 || updates == 25 {
                    proxy.cut();
                }
            }
            // What was on its way may be missing; the turn ends all the same.
            assert!(updates > 25, "{updates}");
            assert_eq!(session.prompt("hello").read_text().await?, "You said: hello");
            Ok(())
        });
        in_time(talking).await.unwrap();
    }
}

#[tokio::test]
async fn a_lost_connection_is_opened_again_with_its_sessions() {
    let (address, service) = served().await;
    let proxy = Proxy::before(&address).await;
    // A socket is its connection.
    let events = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&events);
    let way = remote(&format!("ws://{}/acp", proxy.address)).on_event(move |event| {
        seen.lock().unwrap().push(match event {
            Action::Connected { .. } => "connected",
            Action::Lost(_) => "lost",
            Action::Attached { replayed: true, .. } => "attached",
            Action::Retrying { .. } => "retrying",
            Action::Closed(_) => "closed",
            _ => "other",
        });
    });
    let told = Arc::new(Mutex::new(String::new()));
    let hears = Arc::clone(&told);
    let client = Client::new("test", "1.0").on_update(async move |update| {
        hears.lock().unwrap().push_str(update.text().unwrap_or_default());
        Ok(())
    });
    let talking = way.run(&client, async |agent| {
        let session = agent.new_session("/work").await?;
        let mut turn = session.prompt("slowly 1000");
        turn.update().await?;
        proxy.cut();
        let problem = loop {
            match turn.update().await {
                Ok(Some(_)) => {}
                Ok(None) => panic!("the turn has ended"),
                Err(problem) => break problem,
            }
        };
        assert!(problem.to_string().contains("connection was lost"), "{problem}");
        assert_eq!(session.prompt("hello").read_text().await?, "You said: hello");
        Ok(())
    });
    in_time(talking).await.unwrap();
    // What was told before is not told again.
    assert_eq!(*told.lock().unwrap(), "");
    assert_eq!(*events.lock().unwrap(), ["connected", "lost", "retrying", "connected", "attached", "closed"]);
    in_time(service.close()).await;
}

#[tokio::test]
async fn a_server_that_closes_the_socket_is_heard() {
    let mut options = ServerOptions::default();
    options.limits.body = 4000;
    let (address, _service) = served_with(options).await;
    let lost = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&lost);
    let way = remote(&format!("ws://{address}/acp")).on_event(move |event| {
        if let Action::Lost(lost) = event {
            seen.lock().unwrap().push((lost.calls.len(), lost.code));
        }
    });
    let client = Client::new("test", "1.0");
    let talking = way.run(&client, async |agent| {
        let session = agent.new_session("/work").await?;
        let problem = session.prompt("x".repeat(5000)).read_text().await.unwrap_err();
        assert!(problem.to_string().contains("connection was lost"), "{problem}");
        assert_eq!(session.prompt("hello").read_text().await?, "You said: hello");
        Ok(())
    });
    in_time(talking).await.unwrap();
    assert_eq!(*lost.lock().unwrap(), [(1, Some(1009))]);
}

#[tokio::test]
async fn what_cannot_be_reached_is_said() {
    let nobody = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = nobody.local_addr().unwrap().to_string();
    drop(nobody);
    for way in ways(&address) {
        let way = way.first(Duration::from_millis(600));
        let failed = in_time(way.run(&Client::new("test", "1.0"), async |_| Ok(()))).await.unwrap_err();
        assert!(failed.to_string().contains("cannot be reached"), "{failed}");
    }
    let (address, _service) = served().await;
    for address in [format!("http://{address}/other"), format!("ws://{address}/other")] {
        let failed = in_time(remote(&address).run(&Client::new("test", "1.0"), async |_| Ok(()))).await.unwrap_err();
        assert!(failed.to_string().contains("404"), "{failed}");
    }
}

#[tokio::test]
async fn credentials_are_renewed() {
    let mut options = ServerOptions::default();
    options.token = libacp_tokio::http::Token::new("right");
    let (address, _service) = served_with(options).await;
    for way in ways(&address) {
        let refused = way.clone().token("wrong");
        let failed = in_time(refused.run(&Client::new("test", "1.0"), async |_| Ok(()))).await.unwrap_err();
        assert!(failed.to_string().contains("401") && !failed.to_string().contains("wrong"), "{failed}");
        let renewed = way.token("wrong").renew(async |status, challenge| {
            assert_eq!((status, challenge.as_deref()), (401, Some("Bearer")));
            Some("Bearer right".to_owned())
        });
        in_time(
            renewed.run(&Client::new("test", "1.0"), async |agent| agent.new_session("/").await.map_err(Into::into)),
        )
        .await
        .unwrap();
    }
}

#[tokio::test]
async fn a_host_that_stops_reading_holds_back_its_agent() {
    let (address, _service) = served().await;
    for way in ways(&address) {
        let client = Client::new("test", "1.0");
        let talking = way.run(&client, async |agent| {
            let session = agent.new_session("/work").await?;
            let mut turn = session.prompt("count 30000");
            turn.update().await?;
            tokio::time::sleep(Duration::from_millis(300)).await;
            let mut text = String::from("0 ");
            text += &turn.read_text().await?;
            assert!(text.ends_with(" 29999 ") && text.split(' ').count() == 30001);
            Ok(())
        });
        in_time(talking).await.unwrap();
    }
}

#[tokio::test]
async fn commands_are_targets() {
    let target = connect("sh -c 'exit 3'").unwrap();
    assert!(matches!(target, Target::Program(_)));
    let failed = target.run(&Client::new("test", "1.0"), async |_| Ok(())).await.unwrap_err();
    assert!(failed.to_string().contains("exit code 3"), "{failed}");
    assert!(connect("ftp://a/b").is_err() && connect("").is_err() && connect("'").is_err());
}

/// Programs match on this.
#[tokio::test]
async fn calls_after_the_end_are_closed() {
    let (address, service) = served().await;
    let way = remote(&format!("http://{address}/acp"));
    let (agent, end): (_, Result<(), Failure>) = {
        let mut kept = None;
        let end = in_time(way.run(&Client::new("test", "1.0"), async |agent| {
            kept = Some(agent);
            Ok(())
        }))
        .await;
        (kept.unwrap(), end)
    };
    end.unwrap();
    assert!(matches!(agent.new_session("/").await, Err(Error::Closed { .. })));
    in_time(service.close()).await;
}

/// Prints how fast it is: `cargo test -p libacp-tokio --release --features http --test http_client -- --ignored --nocapture`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it measures"]
async fn speed() {
    let (address, _service) = served().await;
    for (way, name) in ways(&address).into_iter().zip(["HTTP/1.1", "HTTP/2", "WebSocket"]) {
        let client = Client::new("test", "1.0");
        let measuring = way.run(&client, async |agent| {
            let session = agent.new_session("/work").await?;
            session.prompt("count 1000").finish().await?;
            let begun = Instant::now();
            session.prompt("count 50000").read_text().await?;
            let updates = 50_000.0 / begun.elapsed().as_secs_f64();
            let begun = Instant::now();
            for _ in 0..500 {
                session.prompt("hello").finish().await?;
            }
            let trips = 500.0 / begun.elapsed().as_secs_f64();
            println!("{name}: {updates:.0} updates/s, {trips:.0} round trips/s");
            Ok(())
        });
        in_time(measuring).await.unwrap();
    }
}
