//! Writing the messages on the wire to a file.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;
use std::process;

use libacp::aio::Traced;
use libacp::Role;

/// Appends messages to a file, one per line: the id of this process, its side, the direction, the message. Pass the
/// result to `trace` of an agent or a client. Several connections, and several processes, can share a file.
///
/// ```no_run
/// # fn example() -> std::io::Result<()> {
/// let client = libacp::aio::Client::new("example", "1.0").trace(libacp_tokio::trace_to("wire.log")?);
/// # drop(client);
/// # Ok(())
/// # }
/// ```
///
/// Messages contain prompts and files, so a new file is one that nobody else may read. Messages that cannot be written are left out.
///
/// # Errors
/// If the file cannot be opened.
pub fn trace_to(path: impl AsRef<Path>) -> io::Result<impl Fn(&Traced<'_>) + Send + Sync + 'static> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    Ok(move |traced: &Traced<'_>| {
        let role = if traced.role == Role::Agent { "agent" } else { "client" };
        let arrow = if traced.sent { "->" } else { "<-" };
        let mut line = format!("{} {role} {arrow} ", process::id()).into_bytes();
        line.extend_from_slice(traced.message);
        line.push(b'\n');
        // A single write, so that lines of several writers do not mix. The connection continues if it fails.
        drop((&file).write_all(&line));
    })
}
