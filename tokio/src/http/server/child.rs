//! An agent that is a program: messages go to it and come from it as lines.

use std::pin::pin;

use libacp::framing::{Decoder, Framing, Item};
use libacp::rules::RuleId;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::sleep;

use super::notice::Notice;
use super::pipe::Pipe;
use crate::Spawn;

/// Bytes of one line of an agent.
const LINE: usize = 64 << 20;
/// The size of a read: as much as a pipe holds while the agent says much, little while it says nothing, which is most of the
/// time of most agents.
const READ: usize = 64 * 1024;
const IDLE: usize = 2 * 1024;
/// The rule for lines that cannot be read.
const UNREADABLE: RuleId = RuleId::of("RPC-21");

/// Runs the program of one connection until either is over.
pub(super) async fn relay(spawn: &Spawn, pipe: &Pipe) {
    let ended = |how: String| {
        pipe.fail(&how);
        pipe.tell(&Notice::AgentEnded { connection: pipe.number(), how });
    };
    let (running, output, input) = match spawn.launch() {
        Ok(launched) => launched,
        Err(problem) => {
            // What a client asks first is answered with the reason. Over a socket, it may not be there yet.
            pipe.receive().await;
            return ended(problem.to_string());
        }
    };
    let early = {
        let (up, down) = (pin!(up(pipe, input)), pin!(down(pipe, output)));
        tokio::select! {
            () = up => false,
            () = down => true,
            // A program that does not read what was said last never sees the end of its input.
            () = async { pipe.over().await; sleep(spawn.grace).await } => false,
        }
    };
    if early {
        // Nothing comes from it any more, so its last words are what there is to wait for.
        ended(running.ended(spawn).await.to_string());
    } else {
        running.ended(spawn).await;
    }
}

/// Passes on what the client says. Ends with the connection; then the program's input ends.
async fn up(pipe: &Pipe, mut input: impl tokio::io::AsyncWrite + Unpin) {
    let mut works = true;
    while let Some(json) = pipe.receive().await {
        // Between the tokens of a message, a line end is as good as a blank; in them, there is none.
        let mut line = json.into_bytes();
        line.iter_mut().filter(|byte| matches!(**byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
        line.push(b'\n');
        works = works && input.write_all(&line).await.is_ok() && input.flush().await.is_ok();
    }
}

/// Passes on what the program says. Ends with its output.
async fn down(pipe: &Pipe, mut output: impl tokio::io::AsyncRead + Unpin) {
    let (mut decoder, mut buffer) = (Decoder::new(Framing::Lines, LINE), vec![0; IDLE]);
    loop {
        let count = match output.read(&mut buffer).await {
            Ok(count) if count > 0 => count,
            _ => return,
        };
        decoder.push(&buffer[..count]);
        let size = match count {
            count if count == buffer.len() => READ,
            count if count < IDLE / 2 => IDLE,
            _ => buffer.len(),
        };
        if size != buffer.len() {
            buffer = vec![0; size];
        }
        while let Some(item) = decoder.poll() {
            let sent = match item {
                Item::Frame(frame) => {
                    if let Ok(json) = std::str::from_utf8(&frame) {
                        pipe.send(json).await
                    } else {
                        dropped(pipe, "a line is not UTF-8");
                        Ok(())
                    }
                }
                Item::TooLong { .. } => {
                    dropped(pipe, "a line is over the limit");
                    Ok(())
                }
                _ => Ok(()),
            };
            if sent.is_err() {
                // The connection is over, which the other direction sees.
                return std::future::pending().await;
            }
        }
    }
}

fn dropped(pipe: &Pipe, message: &'static str) {
    pipe.tell(&Notice::Dropped { connection: pipe.number(), rule: UNREADABLE, message });
}
