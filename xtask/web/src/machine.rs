//! What the page does on this machine for an agent: files inside of the root, and commands that begin there.
//!
//! The page has asked the user before it asks here. It says `{"id", "method", "params"}` and is told `{"id", "result"}` or
//! `{"id", "error"}`; what a command prints, and how it ends, comes as `{"terminal", "output"}` and `{"terminal", "exit"}`.
//! Commands end with the page's socket, each with all of its process group.

use std::collections::HashMap;
use std::error::Error;
use std::io::Read;
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use futures::{SinkExt, StreamExt};
use http::{Request, Response, StatusCode};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use libacp_files::Files;
use serde_json::{json, Value};
use tokio::sync::mpsc::{channel, Receiver, Sender};
use tokio_tungstenite::tungstenite::handshake::server::create_response_with_body;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::WebSocketStream;

use crate::commands;
use crate::site::Site;

/// How long the rest of a command's output may take after its end: a child of its may hold the pipe.
const LAST_WORDS: Duration = Duration::from_millis(250);
/// How long to wait before looking again.
const PAUSE: Duration = Duration::from_millis(10);
const PIECE: usize = 16 * 1024;
/// Bytes of one message, as in the core's limits.
const MESSAGE: usize = 32 << 20;
/// Messages that wait for the other side, in each direction.
const WAITING: usize = 16;

/// Where the page is told something. Whoever does so waits for a page that does not read.
type Page = Sender<String>;

/// The code of an error, and what it says; the agent is told both.
type Answer = Result<Value, (i32, String)>;
const INVALID: i32 = -32602;
const INTERNAL: i32 = -32603;

/// Answers a request for the page's socket, which is served from then on.
pub(crate) fn accept<B>(site: &'static Site, root: &'static Path, mut request: Request<B>) -> Response<()> {
    let upgrade = hyper::upgrade::on(&mut request);
    let Ok(response) = create_response_with_body(&request, || ()) else {
        let mut refused = Response::new(());
        *refused.status_mut() = StatusCode::BAD_REQUEST;
        return refused;
    };
    tokio::spawn(socket(site, root, upgrade));
    response
}

/// Carries messages between the page and a thread that answers them, until the page has gone.
async fn socket(site: &'static Site, root: &'static Path, upgrade: OnUpgrade) {
    let Ok(io) = upgrade.await else { return };
    let config = WebSocketConfig::default().max_message_size(Some(MESSAGE)).max_frame_size(Some(MESSAGE));
    let io: TokioIo<Upgraded> = TokioIo::new(io);
    let (mut output, mut input) = WebSocketStream::from_raw_socket(io, Role::Server, Some(config)).await.split();
    let (page, mut told) = channel(WAITING);
    let (asks, asked) = channel(WAITING);
    // It starts the commands, and what is started ends with the thread that has done so.
    if thread::Builder::new().spawn(move || drop(run(site, root, page, asked))).is_err() {
        return;
    }
    let tell = async {
        while let Some(text) = told.recv().await {
            if output.send(Message::text(text)).await.is_err() {
                break;
            }
        }
    };
    let hear = async {
        while let Some(Ok(message)) = input.next().await {
            match message {
                Message::Text(text) if asks.send(text.as_str().to_owned()).await.is_err() => break,
                Message::Close(_) => break,
                _ => {}
            }
        }
    };
    tokio::select! {
        () = tell => {}
        () = hear => {}
    }
}

/// Answers what the page asks for, until it has gone.
fn run(
    site: &'static Site,
    root: &'static Path,
    page: Page,
    mut asked: Receiver<String>,
) -> Result<(), Box<dyn Error>> {
    let mut machine = Machine { site, root, files: Files::new([root])?, page, commands: HashMap::new() };
    while let Some(text) = asked.blocking_recv() {
        let asked: Value = serde_json::from_str(&text)?;
        let told = match machine.answer(asked["method"].as_str().unwrap_or_default(), &asked["params"]) {
            Ok(result) => json!({"id": asked["id"], "result": result}),
            Err((code, message)) => json!({"id": asked["id"], "error": {"code": code, "message": message}}),
        };
        if machine.page.blocking_send(told.to_string()).is_err() {
            break;
        }
    }
    Ok(())
}

struct Machine {
    site: &'static Site,
    root: &'static Path,
    files: Files,
    page: Page,
    /// The commands that are not released, by the names of their terminals.
    commands: HashMap<String, Running>,
}

/// A command; it is ended when this is dropped.
struct Running {
    ends: Arc<AtomicBool>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
    }
}

impl Machine {
    fn answer(&mut self, method: &str, params: &Value) -> Answer {
        let text = |name: &str| params[name].as_str().ok_or_else(|| (INVALID, format!("{name} is missing")));
        let failed = |error: libacp_files::Error| (error.code(), error.to_string());
        match method {
            "read" => {
                let (line, limit) = (params["line"].as_u64(), params["limit"].as_u64());
                self.files.read_text_file(text("path")?, line, limit).map(Value::from).map_err(failed)
            }
            "write" => self.files.write_text_file(text("path")?, text("content")?).map(|()| json!({})).map_err(failed),
            "run" => self.run(text("command")?, params),
            "kill" => {
                if let Some(running) = self.commands.get(text("terminal")?) {
                    running.ends.store(true, Ordering::Relaxed);
                }
                Ok(json!({}))
            }
            "release" => {
                self.commands.remove(text("terminal")?);
                Ok(json!({}))
            }
            _ => Err((INVALID, "this is not served".to_owned())),
        }
    }

    fn run(&mut self, program: &str, params: &Value) -> Answer {
        let list = |name: &str| params[name].as_array().map_or(&[][..], Vec::as_slice);
        let inside = std::fs::canonicalize(params["cwd"].as_str().unwrap_or_default());
        let folder = inside.ok().filter(|folder| folder.starts_with(self.root));
        let folder = folder.ok_or_else(|| (INVALID, "The folder is outside of what may be used".to_owned()))?;
        let line = std::iter::once(program).chain(list("args").iter().filter_map(Value::as_str)).map(str::to_owned);
        let cannot = |error: std::io::Error| (INTERNAL, format!("The command cannot be started: {error}"));
        let mut command = commands::command(&line.collect::<Vec<_>>()).map_err(cannot)?;
        for variable in list("env") {
            command.env(variable["name"].as_str().unwrap_or_default(), variable["value"].as_str().unwrap_or_default());
        }
        command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = self.site.commands.start(&mut command).map_err(cannot)?;
        let terminal = child.id().to_string();
        let running = Running { ends: Arc::default() };
        let (site, page, ends, name) = (self.site, self.page.clone(), Arc::clone(&running.ends), terminal.clone());
        thread::spawn(move || watch(site, &page, child, &name, &ends));
        self.commands.insert(terminal.clone(), running);
        Ok(json!({ "terminal": terminal }))
    }
}

/// Tells the page what a command prints and how it ends.
fn watch(site: &Site, page: &Page, mut child: Child, terminal: &str, ends: &AtomicBool) {
    let out = child.stdout.take().map(|pipe| bring(pipe, page.clone(), terminal.to_owned()));
    let errors = child.stderr.take().map(|pipe| bring(pipe, page.clone(), terminal.to_owned()));
    let readers: Vec<JoinHandle<()>> = out.into_iter().chain(errors).collect();
    let ended = site.commands.wait(&mut child, ends);
    let since = Instant::now();
    while readers.iter().any(|reader| !reader.is_finished()) && since.elapsed() < LAST_WORDS {
        thread::sleep(PAUSE);
    }
    let exit = ended.and_then(|()| child.wait()).map_or_else(|_| json!({}), exit);
    // A page that is gone has no use for it.
    let _ = page.blocking_send(json!({"terminal": terminal, "exit": exit}).to_string());
}

#[cfg(unix)]
fn exit(status: ExitStatus) -> Value {
    use std::os::unix::process::ExitStatusExt;
    let named = |signal| match signal {
        2 => "SIGINT".to_owned(),
        9 => "SIGKILL".to_owned(),
        15 => "SIGTERM".to_owned(),
        other => other.to_string(),
    };
    status.signal().map_or_else(|| json!({"exitCode": status.code()}), |signal| json!({"signal": named(signal)}))
}

#[cfg(not(unix))]
fn exit(status: ExitStatus) -> Value {
    json!({"exitCode": status.code()})
}

/// Brings the page what comes out of a pipe, as text. A character may be split between two pieces.
fn bring(mut pipe: impl Read + Send + 'static, page: Page, terminal: String) -> JoinHandle<()> {
    thread::spawn(move || {
        let mut rest = Vec::new();
        let mut piece = vec![0; PIECE];
        while let Ok(count @ 1..) = pipe.read(&mut piece) {
            rest.extend_from_slice(&piece[..count]);
            let whole = whole(&rest);
            let text = String::from_utf8_lossy(&rest[..whole]).into_owned();
            rest.drain(..whole);
            if page.blocking_send(json!({"terminal": terminal, "output": text}).to_string()).is_err() {
                return;
            }
        }
        if !rest.is_empty() {
            let text = String::from_utf8_lossy(&rest);
            let _ = page.blocking_send(json!({"terminal": terminal, "output": text}).to_string());
        }
    })
}

/// How many bytes there are up to a character that has begun and not ended.
fn whole(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        _ => bytes.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::whole;

    #[test]
    fn characters_are_not_split() {
        let text = "aé€𝄞".as_bytes();
        assert_eq!(
            (0..=text.len()).map(|end| whole(&text[..end])).collect::<Vec<_>>(),
            [0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10]
        );
        assert_eq!(whole(b"a\xff"), 2, "what is no character at all does not wait");
    }
}
