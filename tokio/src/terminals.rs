//! Terminals for agents, as handlers of a client.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use libacp::aio::{ClientSession, Failure, Received, Reply, RequestError};
use libacp::schema::{v1, Family};
use libacp::typed::ClientSide;
use libacp::ErrorCode;
use tokio::sync::Semaphore;

use crate::command::{Command, Hear};
use crate::connection::{session, Connection};
use crate::output::Output;

/// Runs commands for agents, as child processes without input; see [`ClientExt::terminals`]. An agent that has this can
/// do anything that this process can.
///
/// A command gets the environment of this process, or [another](Self::environment), and the variables that the agent
/// adds. It starts in the directory that the agent names, or in that of its session. It is killed when it is released,
/// when its session or its connection ends, or when this process ends in any way, together with its children in the
/// same process group (on Windows: job object). The end of its output is kept, cut only between characters.
///
/// Clones share their [limit](Self::most), so one that is given to several clients limits them together.
///
/// [`ClientExt::terminals`]: crate::ClientExt::terminals
#[derive(Clone)]
pub struct Terminals {
    most: usize,
    places: Arc<Semaphore>,
    output_byte_limit: usize,
    environment: Option<Arc<[(OsString, OsString)]>>,
    hear: Option<Hook>,
}

type Hook = Arc<dyn Fn(&Printed<'_>) + Send + Sync>;

/// New output of a command.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Printed<'a> {
    /// The session in which it runs.
    pub session: &'a ClientSession,
    /// The terminal's id.
    pub terminal: &'a str,
    /// The text.
    pub text: &'a str,
}

impl Terminals {
    /// At most 64 terminals, and at most 1 MiB of output of each.
    pub fn new() -> Self {
        let most = 64;
        let places = Arc::new(Semaphore::new(most));
        Terminals { most, places, output_byte_limit: 1024 * 1024, environment: None, hear: None }
    }

    /// Sets how many terminals there may be at a time. A terminal counts until it was released and its command has
    /// ended.
    #[must_use]
    pub fn most(mut self, terminals: usize) -> Self {
        self.most = terminals.min(Semaphore::MAX_PERMITS);
        self.places = Arc::new(Semaphore::new(self.most));
        self
    }

    /// Sets how many bytes of output are kept per terminal, even if the agent asks for more.
    #[must_use]
    pub fn output_byte_limit(mut self, bytes: usize) -> Self {
        self.output_byte_limit = bytes;
        self
    }

    /// Sets the environment of commands before the agent adds to it, in place of that of this process.
    #[must_use]
    pub fn environment<N: Into<OsString>, V: Into<OsString>>(
        mut self,
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        self.environment = Some(variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect());
        self
    }

    /// Sets a function that is called with new output of commands, to show it live. It must not block. The text may
    /// contain control characters for a terminal.
    #[must_use]
    pub fn on_output(mut self, hook: impl Fn(&Printed<'_>) + Send + Sync + 'static) -> Self {
        self.hear = Some(Arc::new(hook));
        self
    }

    fn start(&self, session: &ClientSession, params: &v1::CreateTerminalRequest<'_>) -> Result<String, Failure> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let full = || {
            let message = format!("There are {} terminals already", self.most);
            RequestError::new(ErrorCode::INTERNAL_ERROR, message)
        };
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| full())?;
        params.env.iter().try_for_each(variable)?;
        let id = format!("term-{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let mut command = self.command(session, params);
        let wanted = params.output_byte_limit.and_then(|limit| usize::try_from(limit).ok());
        let output = Output::new(wanted.map_or(self.output_byte_limit, |limit| limit.min(self.output_byte_limit)));
        let hear = self.hear.clone().map(|hear| -> Hear {
            let (session, terminal) = (session.clone(), id.clone());
            Box::new(move |text| hear(&Printed { session: &session, terminal: &terminal, text }))
        });
        Connection::current()?.start(session, || {
            Command::start(id.clone(), &mut command, output, hear, place).map_err(|problem| {
                let message = format!("The command cannot be started: {}", problem.kind());
                RequestError::new(ErrorCode::INVALID_PARAMS, message)
            })
        })?;
        Ok(id)
    }

    fn command(&self, session: &ClientSession, params: &v1::CreateTerminalRequest<'_>) -> process::Command {
        let mut command = process::Command::new(&*params.command);
        command.args(params.args.iter().map(|argument| &**argument));
        if let Some(environment) = &self.environment {
            command.env_clear().envs(environment.iter().map(|(name, value)| (name, value)));
        }
        command.envs(params.env.iter().map(|variable| (&*variable.name, &*variable.value)));
        let given = params.cwd.as_ref().map(|cwd| PathBuf::from(cwd.to_string()));
        if let Some(folder) = given.or_else(|| session.roots().into_iter().next().map(PathBuf::from)) {
            command.current_dir(folder);
        }
        command
    }
}

impl Default for Terminals {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Terminals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Terminals").field("most", &self.most).finish_non_exhaustive()
    }
}

pub(crate) type Create = fn(v1::CreateTerminalRequest);
pub(crate) type Look = fn(v1::TerminalOutputRequest);
pub(crate) type Wait = fn(v1::WaitForTerminalExitRequest);
pub(crate) type Kill = fn(v1::KillTerminalRequest);
pub(crate) type Release = fn(v1::ReleaseTerminalRequest);

/// [`ClientExt::terminals`](crate::ClientExt::terminals) for clients whose connections are moved to other threads, as
/// by `tokio::spawn`: `terminals!(client, Terminals::new())`.
#[macro_export]
macro_rules! terminals {
    ($client:expr, $terminals:expr) => {{
        let terminals: $crate::Terminals = $terminals;
        $client
            .on(async move |received: $crate::private::Create| {
                $crate::private::create(terminals.clone(), received).await
            })
            .on($crate::private::output)
            .on($crate::private::wait)
            .on($crate::private::kill)
            .on($crate::private::release)
    }};
}

fn find<M: Family>(received: &Received<ClientSide, M>, id: &v1::TerminalId<'_>) -> Result<Arc<Command>, Failure> {
    Ok(Connection::current()?.command(&session(received)?, id.as_str())?)
}

/// Whether the system takes this as part of an environment. Not all names that it does not take are an error there.
fn variable(given: &v1::EnvVariable<'_>) -> Result<(), RequestError> {
    let message = if given.name.is_empty() || given.name.contains(['=', '\0']) {
        "Not the name of an environment variable"
    } else if given.value.contains('\0') {
        "Not the value of an environment variable"
    } else {
        return Ok(());
    };
    Err(RequestError::new(ErrorCode::INVALID_PARAMS, message))
}

fn failed(message: &'static str) -> RequestError {
    RequestError::new(ErrorCode::INTERNAL_ERROR, message)
}

/// Starts a command. Returns the terminal's id.
pub async fn create(terminals: Terminals, received: Received<ClientSide, Create>) -> Result<Reply<Create>, Failure> {
    Ok(v1::CreateTerminalResponse::new(terminals.start(&session(&received)?, &received)?).into())
}

/// The output so far, and how the command ended if it has.
pub async fn output(received: Received<ClientSide, Look>) -> Result<Reply<Look>, Failure> {
    Ok(find(&received, &received.terminal_id)?.output().into())
}

/// Waits until the command has ended.
pub async fn wait(received: Received<ClientSide, Wait>) -> Result<Reply<Wait>, Failure> {
    let command = find(&received, &received.terminal_id)?;
    Ok(command.wait().await.into())
}

/// Kills the command and keeps the terminal.
pub async fn kill(received: Received<ClientSide, Kill>) -> Result<Reply<Kill>, Failure> {
    find(&received, &received.terminal_id)?.kill().map_err(|_| failed("The command may not be ended"))?;
    Ok(Reply::default())
}

/// Kills the command and removes the terminal. If the command does not end, that is an error, and the terminal remains.
pub async fn release(received: Received<ClientSide, Release>) -> Result<Reply<Release>, Failure> {
    let command = find(&received, &received.terminal_id)?;
    if !command.killed().await {
        return Err(failed("The command does not end").into());
    }
    command.end();
    Connection::current()?.forget(&session(&received)?, command.id());
    Ok(Reply::default())
}
