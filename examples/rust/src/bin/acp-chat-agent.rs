//! `acp-chat-agent [FOLDER]`: the agent of [`libacp_examples::chat`] on the standard streams. Sessions are kept in the
//! folder, or in one among the machine's temporary files.

use std::error::Error;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::mpsc::{sync_channel, RecvTimeoutError};
use std::thread;
use std::time::Instant;

use libacp_examples::chat::agent::Agent;
use libacp_examples::chat::store::Store;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| std::env::temp_dir().join("libacp-chat-agent"));
    let mut agent = Agent::new(Store::open(&folder)?);

    let (sender, pieces) = sync_channel::<Vec<u8>>(16);
    thread::spawn(move || {
        let mut stdin = std::io::stdin().lock();
        let mut buffer = vec![0; 16 * 1024];
        while let Ok(count @ 1..) = stdin.read(&mut buffer) {
            if sender.send(buffer[..count].to_vec()).is_err() {
                return;
            }
        }
    });

    let mut stdout = std::io::stdout().lock();
    loop {
        let piece = match agent.due() {
            Some(due) => pieces.recv_timeout(due.saturating_duration_since(Instant::now())),
            None => pieces.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match piece {
            Ok(bytes) => agent.connection.receive(&bytes),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => agent.connection.receive_eof(),
        }
        let open = agent.events()?;
        if open {
            agent.steps(Instant::now())?;
        }
        let bytes = agent.connection.transmit();
        let count = bytes.len();
        if stdout.write_all(bytes).and_then(|()| stdout.flush()).is_err() || !open {
            // Nobody listens any more.
            return Ok(());
        }
        agent.connection.consume(count);
    }
}
