//! Serving on a listener: HTTP/1.1 and HTTP/2 without TLS, told apart by their first bytes.

use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::{exchange, AgentService};

/// How long a head may take, the first as well as those after it.
const HEAD: Duration = Duration::from_secs(15);
/// How long connections may take to end once the service is closed.
const LAST: Duration = Duration::from_secs(2);
/// How long to wait when the system has no room for another connection.
const CROWDED: Duration = Duration::from_millis(100);
/// TCP connections for each connection of ACP: over HTTP/1.1, each stream takes one.
const SOCKETS: usize = 4;

/// Connections that wait to be accepted.
const BACKLOG: u32 = 4096;

/// Listens on an address, for [`serve`]. Port 0 is one that is free. Up to 4,096 connections wait to be accepted, if the system
/// allows so many: the usual 128 are too few for clients that all come back when a server or a proxy starts anew, and those
/// beyond wait for seconds. Has to be used in a runtime of tokio.
///
/// # Errors
/// If the address is in use, or not of this machine.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // On Windows this would let others take the address over.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Serves a service on a listener until [`AgentService::close`]. Dropping the future ends all connections.
///
/// Heads that do not come within 15 seconds end their connection. There is no TLS here: put a reverse proxy before it, or
/// mount the service in a server that has TLS.
///
/// # Errors
/// None at the moment: connections that cannot be accepted are left out.
pub async fn serve(listener: TcpListener, service: AgentService) -> io::Result<()> {
    let limits = service.shared().with(|state| state.server.options().limits);
    let room = Arc::new(Semaphore::new(limits.connections.saturating_mul(SOCKETS).clamp(64, Semaphore::MAX_PERMITS)));
    let builder = Arc::new(builder(&service));
    let mut connections = JoinSet::new();
    let closing = pin!(service.shared().closing());
    let accepting = async {
        loop {
            let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
            match listener.accept().await {
                Ok((stream, _)) => {
                    let (builder, service) = (Arc::clone(&builder), service.clone());
                    connections.spawn(async move {
                        connection(stream, &builder, service).await;
                        drop(permit);
                    });
                }
                Err(_) => sleep(CROWDED).await,
            }
            while connections.try_join_next().is_some() {}
        }
    };
    tokio::select! {
        () = closing => {}
        () = accepting => {}
    }
    drop(timeout(LAST, async { while connections.join_next().await.is_some() {} }).await);
    Ok(())
}

fn builder(service: &AgentService) -> Builder<TokioExecutor> {
    let options = service.shared().with(|state| state.server.options().clone());
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD);
    let mut http2 = builder.http2();
    http2.timer(TokioTimer::new()).enable_connect_protocol();
    // Each session has a stream.
    http2.max_concurrent_streams(u32::try_from(options.limits.sessions).unwrap_or(u32::MAX).saturating_add(64));
    http2.max_header_list_size(u32::try_from(options.limits.header_bytes).unwrap_or(u32::MAX));
    if options.times.keep_alive < u64::MAX {
        http2.keep_alive_interval(Duration::from_millis(options.times.keep_alive.max(1000))).keep_alive_timeout(HEAD);
    }
    builder
}

async fn connection(stream: TcpStream, builder: &Builder<TokioExecutor>, service: AgentService) {
    // Messages are short, and somebody waits for each.
    drop(stream.set_nodelay(true));
    let asked = Arc::new(Notify::new());
    let shared = Arc::clone(service.shared());
    let serving = service_fn(|request| {
        asked.notify_one();
        let shared = Arc::clone(&shared);
        async move { Ok::<_, std::convert::Infallible>(exchange::answer(shared, request).await) }
    });
    let mut serving = pin!(builder.serve_connection_with_upgrades(TokioIo::new(stream), serving));
    // The library waits for ever for the bytes that tell the versions apart.
    let silent = async {
        // No timer is left once something was asked: it would let a reader that has stopped take some more, and have its time anew.
        tokio::select! {
            () = asked.notified() => pending::<()>().await,
            () = sleep(HEAD) => {}
        }
    };
    tokio::select! {
        _ = serving.as_mut() => return,
        () = silent => return,
        () = service.shared().closing() => {}
    }
    serving.as_mut().graceful_shutdown();
    drop(timeout(LAST, serving).await);
}
