//! The hosts of the remote matrix: how each is set up and started, and which ways it knows.

use crate::setup::remote::{CPP, JAVASCRIPT, RUST, RUST_SDK};
use crate::setup::steps::{PYTHON, PYTHON_MODULE};
use crate::setup::Step;

/// What carries the messages.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Http1,
    Http2,
    WebSocket,
}

impl Way {
    /// The last argument of a host, and its name in the declarations.
    pub(super) fn name(self) -> &'static str {
        match self {
            Way::Http1 => "http",
            Way::Http2 => "http2",
            Way::WebSocket => "ws",
        }
    }

    pub(super) fn scheme(self) -> &'static str {
        if self == Way::WebSocket {
            "ws"
        } else {
            "http"
        }
    }
}

/// What a library of today's is expected to speak.
const ALL: &[Way] = &[Way::Http1, Way::Http2, Way::WebSocket];
const NO_HTTP2: &[Way] = &[Way::Http1, Way::WebSocket];
const HTTP1: &[Way] = &[Way::Http1];

/// A client or a server.
pub(super) struct Host {
    pub(super) name: &'static str,
    /// Whether it tells the violations of its peer.
    pub(super) ours: bool,
    /// Whether it waits for `--all`.
    pub(super) slow: bool,
    pub(super) step: &'static Step,
    pub(super) ways: &'static [Way],
    /// What starts it; a client is then told the address and the way, a server the port and the way.
    pub(super) command: &'static [&'static str],
}

const OURS: Host = Host { name: "", ours: true, slow: false, step: &PYTHON_MODULE, ways: ALL, command: &[] };
const OFFICIAL: Host = Host { ours: false, ..OURS };

pub(super) const CLIENTS: &[Host] = &[
    Host { name: "rust", step: &RUST, command: &["target/debug/examples/acp-remote-client"], ..OURS },
    Host { name: "python", command: &[PYTHON, "-B", "tests/interop/remote/python/client.py"], ..OURS },
    Host { name: "js", step: &JAVASCRIPT, command: &["node", "target/interop-remote/client.mjs"], ..OURS },
    // libcurl 7.88 fails on the second request of a connection of HTTP/2 without TLS, and Debian builds it without WebSocket.
    Host { name: "cpp", step: &CPP, ways: HTTP1, command: &["target/interop-remote-cpp/client"], ..OURS },
    Host {
        name: "ts-sdk",
        step: &JAVASCRIPT,
        ways: NO_HTTP2,
        command: &["node", "target/interop-remote/sdk-client.mjs"],
        ..OFFICIAL
    },
    // It speaks HTTP/2 with a client of httpx that is made for that, and then now and then waits for ever: a response waits
    // behind streams on which nothing happens.
    Host {
        name: "py-sdk",
        ways: NO_HTTP2,
        command: &[PYTHON, "-B", "tests/interop/remote/python/sdk_client.py"],
        ..OFFICIAL
    },
    Host {
        name: "rust-sdk",
        slow: true,
        step: &RUST_SDK,
        ways: NO_HTTP2,
        command: &["target/interop-remote-rust/debug/client"],
        ..OFFICIAL
    },
];

/// Starts an ASGI application with one of Python's servers.
macro_rules! asgi {
    ($server:literal, $module:literal) => {
        &[PYTHON, "-B", "tests/interop/remote/python/serve.py", $server, $module]
    };
}

pub(super) const SERVERS: &[Host] = &[
    Host { name: "rust", step: &RUST, command: &["target/debug/examples/acp-remote-server"], ..OURS },
    Host { name: "python", command: asgi!("hypercorn", "agent"), ..OURS },
    Host { name: "python/uvicorn", slow: true, ways: NO_HTTP2, command: asgi!("uvicorn", "agent"), ..OURS },
    Host { name: "python/granian", slow: true, command: asgi!("granian", "agent"), ..OURS },
    Host { name: "js", step: &JAVASCRIPT, command: &["node", "target/interop-remote/server.mjs"], ..OURS },
    Host {
        name: "ts-sdk",
        step: &JAVASCRIPT,
        ways: NO_HTTP2,
        command: &["node", "target/interop-remote/sdk-server.mjs"],
        ..OFFICIAL
    },
    Host { name: "py-sdk", command: asgi!("hypercorn", "sdk_agent"), ..OFFICIAL },
    Host { name: "py-sdk/uvicorn", slow: true, ways: NO_HTTP2, command: asgi!("uvicorn", "sdk_agent"), ..OFFICIAL },
    Host {
        name: "rust-sdk",
        slow: true,
        step: &RUST_SDK,
        ways: NO_HTTP2,
        command: &["target/interop-remote-rust/debug/server"],
        ..OFFICIAL
    },
];
