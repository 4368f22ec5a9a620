//! A running `acp serve`, which ends with the test.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

pub(crate) const ACP: &str = env!("CARGO_BIN_EXE_acp");

/// The process, and the address that it has said.
pub(crate) struct Server {
    pub(crate) process: Child,
    pub(crate) url: String,
}

impl Server {
    pub(crate) fn start(options: &[&str], agent: &[&str]) -> Self {
        let mut process = Command::new(ACP)
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(options)
            .arg("--")
            .args(agent)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Server { process, url: url.trim().to_owned() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}
