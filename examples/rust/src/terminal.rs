//! Commands that the client runs for the agent.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{json, Value};

use crate::{fail, Failure, Result};

/// Between two looks at whether the command has ended.
const PAUSE: Duration = Duration::from_millis(2);

/// What a command has printed: the last bytes of it, where there is a limit.
#[derive(Debug, Default)]
struct Output {
    bytes: Vec<u8>,
    truncated: bool,
}

/// One command, running or ended.
#[derive(Debug)]
pub struct Terminal {
    child: Child,
    output: Arc<Mutex<Output>>,
    readers: Vec<JoinHandle<()>>,
}

impl Terminal {
    /// Starts the command of a `terminal/create`.
    pub fn start(params: &Value) -> Result<Self> {
        let program = params["command"].as_str().unwrap_or_default();
        let mut command = Command::new(program);
        let list = |name: &str| params[name].as_array().map_or(&[][..], Vec::as_slice);
        command.args(list("args").iter().filter_map(Value::as_str));
        for variable in list("env") {
            command.env(variable["name"].as_str().unwrap_or_default(), variable["value"].as_str().unwrap_or_default());
        }
        if let Some(folder) = params["cwd"].as_str() {
            command.current_dir(Path::new(folder));
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| Failure::from(error).at(program))?;
        let limit = params["outputByteLimit"].as_u64().map_or(usize::MAX, |limit| limit as usize);
        let output = Arc::new(Mutex::new(Output::default()));
        let mut readers = Vec::new();
        if let Some(stdout) = child.stdout.take() {
            readers.push(collect(stdout, limit, Arc::clone(&output)));
        }
        if let Some(stderr) = child.stderr.take() {
            readers.push(collect(stderr, limit, Arc::clone(&output)));
        }
        Ok(Terminal { child, output, readers })
    }

    /// Waits for the end of the command and of its output; the result of `terminal/wait_for_exit`.
    pub fn wait(&mut self, deadline: Instant) -> Result<Value> {
        loop {
            if let Some(status) = self.child.try_wait()? {
                for reader in self.readers.drain(..) {
                    if reader.join().is_err() {
                        fail!("a thread that reads a command's output failed");
                    }
                }
                return Ok(exit(status));
            }
            if Instant::now() >= deadline {
                fail!("a command did not end in time");
            }
            thread::sleep(PAUSE);
        }
    }

    /// The result of `terminal/output`.
    pub fn output(&mut self) -> Result<Value> {
        let status = self.child.try_wait()?.map(exit);
        let output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&output.bytes);
        let mut result = json!({"output": text, "truncated": output.truncated});
        if let Some(status) = status {
            result["exitStatus"] = status;
        }
        Ok(result)
    }
}

/// What is released is ended.
impl Drop for Terminal {
    fn drop(&mut self) {
        // Both fail only for a command that has ended and been waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn exit(status: ExitStatus) -> Value {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (None, Some(signal)) => json!({"signal": signal.to_string()}),
        (code, _) => json!({"exitCode": code}),
    }
}

fn collect(mut pipe: impl Read + Send + 'static, limit: usize, output: Arc<Mutex<Output>>) -> JoinHandle<()> {
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        // A command that ends while its pipe is read is its end like any other.
        while let Ok(count @ 1..) = pipe.read(&mut buffer) {
            let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
            output.bytes.extend_from_slice(&buffer[..count]);
            let excess = output.bytes.len().saturating_sub(limit);
            if excess > 0 {
                output.truncated = true;
                // The specification asks for whole characters: what is left of one goes too.
                let rest = output.bytes[excess..].iter().take_while(|&&byte| byte & 0xC0 == 0x80).count();
                output.bytes.drain(..excess + rest);
            }
        }
    })
}
