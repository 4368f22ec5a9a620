//! Agents and clients on sockets: with tokio on several threads, and with smol.

use std::time::Duration;

use libacp::aio::{streams, Agent, Client, Error};
use libacp_examples_async::{shout, talk};

const HELLO: &[&str] = &["tool: Think about it", "tool: completed", "agent: HELLO", "end: end_turn"];
const WAIT: &[&str] = &["tool: Think about it", "tool: failed", "end: cancelled"];

#[test]
fn tokio_on_several_threads() {
    use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let serving = tokio::spawn(async move {
            let agent = std::sync::Arc::new(Agent::new("test", "1").prompt(shout));
            let mut clients = Vec::new();
            for _ in 0..3 {
                let (socket, _) = listener.accept().await.unwrap();
                let agent = std::sync::Arc::clone(&agent);
                clients.push(tokio::spawn(async move {
                    let (reader, writer) = socket.into_split();
                    agent.serve(streams(reader.compat(), writer.compat_write())).await
                }));
            }
            for client in clients {
                client.await.unwrap().unwrap();
            }
        });
        let mut clients = Vec::new();
        for number in 0..3 {
            clients.push(tokio::spawn(async move {
                let (reader, writer) = tokio::net::TcpStream::connect(address).await.unwrap().into_split();
                let (connecting, driving) =
                    Client::new("test", "1").connect(streams(reader.compat(), writer.compat_write()));
                let driving = tokio::spawn(driving);
                let agent = connecting.open().await.unwrap();
                let mut lines = Vec::new();
                let prompt = if number == 0 { "wait" } else { "hello" };
                talk(agent.clone(), "/work", prompt, number == 0, |line| lines.push(line)).await.unwrap();
                assert_eq!(lines, if number == 0 { WAIT } else { HELLO });

                // The runtime's own time limit; the turn goes on to its end, and the next one waits for that.
                let session = agent.new_session("/work").await.unwrap();
                let late = tokio::time::timeout(Duration::from_millis(20), session.prompt("wait").finish()).await;
                assert!(late.is_err());
                let answer = session.prompt("hello").finish().await.unwrap();
                assert_eq!(answer.stop_reason.as_str(), "end_turn");
                agent.close();
                driving.await.unwrap().unwrap();
                assert!(matches!(agent.new_session("/work").await, Err(Error::Closed { .. })));
            }));
        }
        for client in clients {
            client.await.unwrap();
        }
        serving.await.unwrap();
    });
}

#[test]
fn smol_with_its_own_sockets() {
    smol::block_on(async {
        let listener = smol::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let serving = smol::spawn(async move {
            let (socket, _) = listener.accept().await.unwrap();
            let agent = Agent::new("test", "1").prompt(shout);
            agent.serve(streams(socket.clone(), socket)).await
        });
        let socket = smol::net::TcpStream::connect(address).await.unwrap();
        let client = Client::new("test", "1");
        let lines = client.run(streams(socket.clone(), socket), async |agent| {
            let mut lines = Vec::new();
            talk(agent.clone(), "/work", "hello", false, |line| lines.push(line)).await?;
            talk(agent, "/work", "wait", true, |line| lines.push(line)).await?;
            Ok(lines)
        });
        assert_eq!(lines.await.unwrap(), [HELLO, WAIT].concat());
        serving.await.unwrap();
    });
}
