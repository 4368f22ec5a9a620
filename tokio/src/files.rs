//! Files for agents, as handlers of a client.

use std::fmt::Write as _;
use std::future::Future;
use std::sync::Arc;

use libacp::aio::{Failure, Received, Reply, RequestError};
use libacp::schema::{v1, Raw};
use libacp::typed::ClientSide;
use libacp::ErrorCode;
use libacp_files::{Asked, Options};
use tokio::sync::oneshot;

use crate::connection::{session, Connection};

pub(crate) type Read = fn(v1::ReadTextFileRequest);
pub(crate) type Write = fn(v1::WriteTextFileRequest);

/// Lets agents read and write the text files in the roots of their sessions; see [`ClientExt::files`].
///
/// The roots are the working directory of the session and its additional directories. They are opened when the host
/// requests the session, and stay the same directories even if their paths change; nothing outside them is accessible,
/// not even through links. The operations of a session take effect in the order of the requests. [`libacp_files`]
/// describes this in detail.
///
/// An agent that can write files can run programs, because editors, shells and version control run the content of some
/// files. Files that are known for this are not written unless the function set with [`may`](Self::may) allows it.
///
/// [`ClientExt::files`]: crate::ClientExt::files
#[derive(Debug, Clone, Default)]
pub struct Files {
    options: Options,
}

impl Files {
    /// Files of at most 10 MB, with [`guarded`](crate::guarded) deciding on each.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the largest size of a file, in bytes.
    #[must_use]
    pub fn most(mut self, bytes: u64) -> Self {
        self.options.most = bytes;
        self
    }

    /// Sets the function that decides on each file, in place of [`guarded`](crate::guarded). It is called after all
    /// links on the way to the file were followed and before anything is opened or created, on a thread that the files
    /// provide. It may block, for example to ask the user; only the files of the same session wait for it.
    #[must_use]
    pub fn may(mut self, may: impl Fn(&Asked<'_>) -> bool + Send + Sync + 'static) -> Self {
        self.options.may = Arc::new(may);
        self
    }
}

/// Lets agents read the text files in the roots of their sessions: [`Files`] without writing; see
/// [`ClientExt::read_only_files`](crate::ClientExt::read_only_files).
#[derive(Debug, Clone, Default)]
pub struct ReadOnlyFiles(Files);

impl ReadOnlyFiles {
    /// Files of at most 10 MB.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the largest size of a file, in bytes.
    #[must_use]
    pub fn most(self, bytes: u64) -> Self {
        ReadOnlyFiles(self.0.most(bytes))
    }

    /// Sets the function that decides on each file; see [`Files::may`].
    #[must_use]
    pub fn may(self, may: impl Fn(&Asked<'_>) -> bool + Send + Sync + 'static) -> Self {
        ReadOnlyFiles(self.0.may(may))
    }
}

/// The files of one client, as its handlers use them.
#[derive(Debug, Clone)]
pub struct Serving(Arc<Options>);

impl From<Files> for Serving {
    fn from(files: Files) -> Self {
        Serving(Arc::new(files.options))
    }
}

impl From<ReadOnlyFiles> for Serving {
    fn from(files: ReadOnlyFiles) -> Self {
        files.0.into()
    }
}

/// [`ClientExt::files`](crate::ClientExt::files) for clients whose connections are moved to other threads, as by
/// `tokio::spawn`: `files!(client, Files::new())`. This is a macro because the signature of a method cannot express
/// that the result is `Send` if the client is.
#[macro_export]
macro_rules! files {
    ($client:expr, $files:expr) => {{
        let files = $crate::private::Serving::from($files);
        let written = files.clone();
        $client
            .on(async move |received: $crate::private::Read| files.clone().read(received).await)
            .on(async move |received: $crate::private::Write| written.clone().write(received).await)
    }};
}

/// [`files!`] for [`ReadOnlyFiles`].
#[macro_export]
macro_rules! read_only_files {
    ($client:expr, $files:expr) => {{
        let files = $crate::private::Serving::from($files);
        $client.on(async move |received: $crate::private::Read| files.clone().read(received).await)
    }};
}

impl Serving {
    fn of<M: libacp::schema::Family>(
        &self,
        received: &Received<ClientSide, M>,
    ) -> Result<libacp_files::Files, Failure> {
        let key = Arc::as_ptr(&self.0) as usize;
        let options = || Options::clone(&self.0);
        let files = Connection::current()?
            .files(&session(received)?, key, |roots| libacp_files::Files::with(roots, options()))?;
        Ok(files)
    }

    /// Reads a file.
    pub async fn read(self, received: Received<ClientSide, Read>) -> Result<Reply<Read>, Failure> {
        let files = self.of(&received)?;
        let (line, limit) = (received.line.map(u64::from), received.limit.map(u64::from));
        let (path, (say, said)) = (received.path.to_string(), oneshot::channel());
        files.read_later(path, line, limit, |text| drop(say.send(text)));
        let text = result(said, &received.session_id.0, &received.path).await?;
        Ok(v1::ReadTextFileResponse::new(text).into())
    }

    /// Writes a file.
    pub async fn write(self, received: Received<ClientSide, Write>) -> Result<Reply<Write>, Failure> {
        let files = self.of(&received)?;
        let (path, (say, said)) = (received.path.to_string(), oneshot::channel());
        files.write_later(path, received.content.to_string(), |done| drop(say.send(done)));
        result(said, &received.session_id.0, &received.path).await?;
        Ok(Reply::default())
    }
}

async fn result<T>(
    said: impl Future<Output = Result<Result<T, libacp_files::Error>, oneshot::error::RecvError>>,
    session: &str,
    path: &str,
) -> Result<T, Failure> {
    let problem = match said.await? {
        Ok(result) => return Ok(result),
        Err(problem) => problem,
    };
    let mut error = RequestError::new(ErrorCode(problem.code()), problem.to_string());
    if problem == libacp_files::Error::Outside && Connection::current()?.is_in_missing_root(session, path) {
        // Not the agent's fault: the host named a directory that cannot be opened.
        error.message = "The folder of the session is not there, or cannot be opened".into();
    }
    if problem == libacp_files::Error::NotFound {
        error.data = Some(Raw::from_string(serde_json::json!({ "uri": uri(path) }).to_string())?);
    }
    Err(error.into())
}

/// The URI of a file (RFC 8089).
fn uri(path: &str) -> String {
    let mut uri = String::from("file://");
    if !path.starts_with('/') {
        uri.push('/');
    }
    for byte in path.bytes() {
        match byte {
            b'\\' if cfg!(windows) => uri.push('/'),
            b'/' | b':' | b'-' | b'_' | b'.' | b'~' => uri.push(byte.into()),
            _ if byte.is_ascii_alphanumeric() => uri.push(byte.into()),
            // Writing to a string cannot fail.
            _ => drop(write!(uri, "%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_uris() {
        assert_eq!(uri("/a b/\u{e4}#?.txt"), "file:///a%20b/%C3%A4%23%3F.txt");
        assert_eq!(uri("C:/x"), "file:///C:/x");
    }
}
