//! The standard streams carry the protocol and nothing else, whatever they are and whoever prints.
#![cfg(unix)]

mod support;

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

use support::{example, Folder};

const ASKED: &str = concat!(
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}"#,
    "\n",
);

/// One line, which is the answer.
fn check(output: &str) {
    let answer: serde_json::Value = serde_json::from_str(output).expect(output);
    assert!(answer["id"] == 0 && answer["result"]["protocolVersion"] == 1, "{output}");
}

#[test]
fn pipes() {
    let mut agent = Command::new(example("echo"));
    let mut agent = agent.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut asking = agent.stdin.take().unwrap();
    asking.write_all(ASKED.as_bytes()).unwrap();
    drop(asking);
    let output = agent.wait_with_output().unwrap();
    let (said, errors) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    // The program prints, and so does a child of it, which has no input.
    let (before, rest) = said.split_once('\n').unwrap();
    let (rest, after) = rest.trim_end().rsplit_once('\n').unwrap();
    assert_eq!((before, after), ("before", "after"));
    check(rest);
    assert_eq!(errors, "printed\nchild: 0 bytes\n");
    assert!(output.status.success());
}

#[test]
fn sockets() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let stream = || OwnedFd::from(theirs.try_clone().unwrap());
    let mut agent =
        Command::new(example("agent")).stdin(stream()).stdout(stream()).stderr(Stdio::null()).spawn().unwrap();
    drop(theirs);
    let mut ours = ours;
    ours.write_all(ASKED.as_bytes()).unwrap();
    ours.shutdown(std::net::Shutdown::Write).unwrap();
    let mut said = String::new();
    ours.read_to_string(&mut said).unwrap();
    check(&said);
    assert!(agent.wait().unwrap().success());
}

#[test]
fn files() {
    let folder = Folder::new();
    fs::write(folder.0.join("in"), ASKED).unwrap();
    let status = Command::new(example("agent"))
        .stdin(File::open(folder.0.join("in")).unwrap())
        .stdout(File::create(folder.0.join("out")).unwrap())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    let said = fs::read_to_string(folder.0.join("out")).unwrap();
    check(&said);
}
