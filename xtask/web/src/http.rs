//! Just enough HTTP: one request a connection, files or a WebSocket.

use std::error::Error;
use std::fs;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::visitors::Visit;
use crate::{bridge, machine, Site};

/// A head is not longer than this.
const HEAD: usize = 16 * 1024;
/// How long a whole head may take. Browsers connect ahead of what they want, and on a busy machine send it much later;
/// where room is needed, `visitors` sends those away who have not said anything.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long somebody may take who does not read the answer.
const UNREAD: Duration = Duration::from_secs(10);

/// What matters of a request.
struct Head {
    method: String,
    path: String,
    host: String,
    origin: String,
    upgrade: bool,
    /// What the body may be compressed with.
    codings: String,
}

/// Serves one connection.
pub(crate) fn serve(site: &Arc<Site>, visit: &Visit) -> Result<(), Box<dyn Error>> {
    let stream = &*visit.stream;
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(UNREAD))?;
    // Strangers cannot make this program say anything: what fails with them is nobody's concern.
    let Ok(Some(bytes)) = receive(stream) else {
        let _ = respond(stream, "400 Bad Request", "text/plain", b"");
        return Ok(());
    };
    let head = read(&bytes);
    // A name that leads here from another site is no name of this server's.
    let known = site.hosts.contains(&head.host);
    let Some(path) = head.path.strip_prefix(&format!("/{}/", site.token)).filter(|_| known) else {
        let _ = respond(stream, "404 Not Found", "text/plain", b"");
        return Ok(());
    };
    if !visit.let_stay() {
        return respond(stream, "503 Service Unavailable", "text/plain", b"");
    }
    if head.upgrade {
        let origin = head.origin.strip_prefix("http://").unwrap_or_default();
        let own = site.hosts.iter().any(|host| host == origin);
        let wait = || stream.set_read_timeout(None).and_then(|()| stream.set_write_timeout(None));
        return match (path, &site.root) {
            ("agent", _) if own => wait().map_err(Into::into).and_then(|()| bridge::run(site, &visit.stream, &bytes)),
            ("machine", Some(root)) if own => {
                wait().map_err(Into::into).and_then(|()| machine::run(site, root, &visit.stream, &bytes))
            }
            _ => respond(stream, "403 Forbidden", "text/plain", b""),
        };
    }
    if head.method != "GET" {
        return respond(stream, "405 Method Not Allowed", "text/plain", b"");
    }
    if path == "config.json" {
        let body = serde_json::json!({ "cwd": site.cwd, "root": site.root }).to_string();
        return respond(stream, "200 OK", "application/json", body.as_bytes());
    }
    let Some((path, kind)) = file(site, path) else { return respond(stream, "404 Not Found", "text/plain", b"") };
    for (coding, end) in CODINGS {
        let made = path.with_extension(format!("{}{end}", path.extension().unwrap_or_default().to_string_lossy()));
        if takes(&head.codings, coding) {
            if let Ok(body) = fs::read(made) {
                return respond(stream, "200 OK", &format!("{kind}\r\nContent-Encoding: {coding}"), &body);
            }
        }
    }
    match fs::read(path) {
        Ok(body) => respond(stream, "200 OK", kind, &body),
        Err(_) => respond(stream, "404 Not Found", "text/plain", b""),
    }
}

/// Whether an `Accept-Encoding` names a coding, and not to refuse it.
fn takes(codings: &str, coding: &str) -> bool {
    codings.split(',').any(|it| {
        let (name, weight) = it.split_once(';').unwrap_or((it, ""));
        let weight = weight.trim().strip_prefix("q=").and_then(|weight| weight.parse().ok());
        name.trim() == coding && weight.unwrap_or(1.0) > 0.0
    })
}

/// What files are compressed with beforehand, and how the names of these end; the best first.
const CODINGS: [(&str, &str); 2] = [("br", ".br"), ("gzip", ".gz")];

/// What has come once the head is whole. Each byte is looked at once, so that a head that comes in many pieces costs little
/// more than one that comes at once.
fn receive(mut stream: &TcpStream) -> io::Result<Option<Vec<u8>>> {
    const END: &[u8] = b"\r\n\r\n";
    let deadline = Instant::now() + PATIENCE;
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    while bytes.len() < HEAD {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        stream.set_read_timeout(Some(left))?;
        let count = stream.read(&mut piece)?;
        if count == 0 {
            break;
        }
        let old = bytes.len().saturating_sub(END.len() - 1);
        bytes.extend_from_slice(&piece[..count]);
        if bytes[old..].windows(END.len()).any(|window| window == END) {
            return Ok(Some(bytes));
        }
    }
    Ok(None)
}

/// What a whole head says; of one that is none, nothing that leads anywhere.
fn read(bytes: &[u8]) -> Head {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut request = httparse::Request::new(&mut headers);
    let whole = request.parse(bytes).is_ok_and(|status| status.is_complete());
    let header = |name: &str| {
        let found = request.headers.iter().find(|header| whole && header.name.eq_ignore_ascii_case(name));
        found.and_then(|header| std::str::from_utf8(header.value).ok()).unwrap_or_default().to_owned()
    };
    let target = request.path.unwrap_or_default();
    // Who says two hosts means that each of two readers takes another one.
    let hosts = request.headers.iter().filter(|header| header.name.eq_ignore_ascii_case("host")).count();
    Head {
        method: request.method.unwrap_or_default().to_owned(),
        path: target.split_once('?').map_or(target, |(path, _)| path).to_owned(),
        host: if hosts == 1 { header("host") } else { String::new() },
        origin: header("origin"),
        codings: header("accept-encoding"),
        upgrade: header("upgrade").eq_ignore_ascii_case("websocket"),
    }
}

/// The file of a path, and its type: what is in the page's folder, and nothing above it.
fn file(site: &Site, path: &str) -> Option<(PathBuf, &'static str)> {
    let path = Path::new(if path.is_empty() { "index.html" } else { path });
    let plain = path.components().all(|part| matches!(part, Component::Normal(_)));
    let kind = kind(path).filter(|_| plain)?;
    Some((site.page.join(path), kind))
}

/// Nothing else is served.
fn kind(path: &Path) -> Option<&'static str> {
    Some(match path.extension()?.to_str()? {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "wasm" => "application/wasm",
        "svg" => "image/svg+xml",
        _ => return None,
    })
}

/// What a document may do. The page makes its elements by itself: no text becomes HTML or a script.
const POLICY: &str = "\r\nReferrer-Policy: no-referrer\r\nContent-Security-Policy: default-src 'none'; \
    script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
    frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

fn respond(mut stream: &TcpStream, status: &str, kind: &str, body: &[u8]) -> Result<(), Box<dyn Error>> {
    let size = body.len();
    // Scripts, styles and data are bound by the policy of the document that they are loaded for.
    let is_document = kind.starts_with("text/html") || kind.starts_with("image/svg");
    let policy = if is_document { POLICY } else { "" };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {size}\r\nConnection: close\r\n\
         Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nVary: Accept-Encoding{policy}\r\n\r\n"
    )?;
    stream.write_all(body)?;
    stream.flush()?;
    Ok(())
}
