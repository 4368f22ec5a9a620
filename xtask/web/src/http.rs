//! Just enough HTTP: one request a connection, files or a WebSocket.

use std::error::Error;
use std::fs;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

use crate::visitors::Visit;
use crate::{bridge, Site};

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
}

/// Serves one connection.
pub(crate) fn serve(site: &Site, visit: &Visit) -> Result<(), Box<dyn Error>> {
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
        if path != "agent" || !site.hosts.iter().any(|host| host == origin) {
            return respond(stream, "403 Forbidden", "text/plain", b"");
        }
        stream.set_read_timeout(None)?;
        stream.set_write_timeout(None)?;
        return bridge::run(site, &visit.stream, &bytes);
    }
    if head.method != "GET" {
        return respond(stream, "405 Method Not Allowed", "text/plain", b"");
    }
    if path == "config.json" {
        let body = serde_json::json!({ "cwd": site.cwd }).to_string();
        return respond(stream, "200 OK", "application/json", body.as_bytes());
    }
    match file(site, path).and_then(|path| fs::read(&path).ok().map(|body| (kind(&path), body))) {
        Some((kind, body)) => respond(stream, "200 OK", kind, &body),
        None => respond(stream, "404 Not Found", "text/plain", b""),
    }
}

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
    Head {
        method: request.method.unwrap_or_default().to_owned(),
        path: target.split_once('?').map_or(target, |(path, _)| path).to_owned(),
        host: header("host"),
        origin: header("origin"),
        upgrade: header("upgrade").eq_ignore_ascii_case("websocket"),
    }
}

/// Folders of installed packages, by what the page calls them.
const LIBRARIES: [(&str, &str); 4] = [
    ("lib/libacp/", "libacp/dist"),
    ("lib/marked/", "marked/lib"),
    ("lib/dompurify/", "dompurify/dist"),
    ("lib/diff/", "diff/libesm"),
];

/// The file of a path: the page's own, or a library's. Nothing above either.
fn file(site: &Site, path: &str) -> Option<PathBuf> {
    let library = LIBRARIES.iter().find_map(|(name, folder)| Some((folder, path.strip_prefix(name)?)));
    let (folder, path) = match library {
        Some((folder, path)) => (site.packages.join(folder), path),
        None => (site.page.clone(), if path.is_empty() { "index.html" } else { path }),
    };
    let plain = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    plain.then(|| folder.join(path))
}

fn kind(path: &Path) -> &'static str {
    match path.extension().and_then(|end| end.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("json") => "application/json",
        Some("wasm") => "application/wasm",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    }
}

fn respond(mut stream: &TcpStream, status: &str, kind: &str, body: &[u8]) -> Result<(), Box<dyn Error>> {
    let size = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {size}\r\nConnection: close\r\n\
         Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\n\
         Content-Security-Policy: default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; img-src 'self' data:; \
         frame-ancestors 'none'; base-uri 'none'; form-action 'none'\r\n\r\n"
    )?;
    stream.write_all(body)?;
    stream.flush()?;
    Ok(())
}
