//! Just enough HTTP: one request a connection, files or a WebSocket.

use std::error::Error;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Component, Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::{bridge, Site};

/// A head is not longer than this.
const HEAD: usize = 16 * 1024;
const PATIENCE: Duration = Duration::from_secs(10);

/// What matters of a request.
struct Head {
    method: String,
    path: String,
    host: String,
    origin: String,
    upgrade: bool,
    size: usize,
}

/// Serves one connection.
pub(crate) fn serve(site: &Site, mut stream: TcpStream) -> Result<(), Box<dyn Error>> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let Some(head) = peek(&stream)? else { return respond(&mut stream, "400 Bad Request", "text/plain", b"") };
    // A name that leads here from another site is no name of this server's.
    let known = site.hosts.contains(&head.host);
    let Some(path) = head.path.strip_prefix(&format!("/{}/", site.token)).filter(|_| known) else {
        return respond(&mut stream, "404 Not Found", "text/plain", b"");
    };
    if head.upgrade {
        let origin = head.origin.strip_prefix("http://").unwrap_or_default();
        if path != "agent" || !site.hosts.iter().any(|host| host == origin) {
            return respond(&mut stream, "403 Forbidden", "text/plain", b"");
        }
        stream.set_read_timeout(None)?;
        return bridge::run(site, stream);
    }
    // The head was only looked at.
    stream.read_exact(&mut vec![0; head.size])?;
    if head.method != "GET" {
        return respond(&mut stream, "405 Method Not Allowed", "text/plain", b"");
    }
    if path == "config.json" {
        let body = serde_json::json!({ "cwd": site.cwd }).to_string();
        return respond(&mut stream, "200 OK", "application/json", body.as_bytes());
    }
    match file(site, path).and_then(|path| fs::read(&path).ok().map(|body| (kind(&path), body))) {
        Some((kind, body)) => respond(&mut stream, "200 OK", kind, &body),
        None => respond(&mut stream, "404 Not Found", "text/plain", b""),
    }
}

/// Reads the head and leaves it where it is, so that the WebSocket's handshake finds it.
fn peek(stream: &TcpStream) -> Result<Option<Head>, Box<dyn Error>> {
    let mut buffer = vec![0; HEAD];
    let began = Instant::now();
    let mut seen = 0;
    while began.elapsed() < PATIENCE {
        let count = stream.peek(&mut buffer)?;
        let mut headers = [httparse::EMPTY_HEADER; 64];
        let mut request = httparse::Request::new(&mut headers);
        match request.parse(&buffer[..count]) {
            Ok(httparse::Status::Complete(size)) => return Ok(Some(read(&request, size))),
            Ok(httparse::Status::Partial) if count < HEAD && count > 0 => {}
            _ => return Ok(None),
        }
        if count == seen {
            sleep(Duration::from_millis(5));
        }
        seen = count;
    }
    Ok(None)
}

fn read(request: &httparse::Request<'_, '_>, size: usize) -> Head {
    let header = |name: &str| {
        let found = request.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
        found.and_then(|header| std::str::from_utf8(header.value).ok()).unwrap_or_default().to_owned()
    };
    let target = request.path.unwrap_or_default();
    Head {
        method: request.method.unwrap_or_default().to_owned(),
        path: target.split_once('?').map_or(target, |(path, _)| path).to_owned(),
        host: header("host"),
        origin: header("origin"),
        upgrade: header("upgrade").eq_ignore_ascii_case("websocket"),
        size,
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

fn respond(stream: &mut TcpStream, status: &str, kind: &str, body: &[u8]) -> Result<(), Box<dyn Error>> {
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
