//! An agent in a child process: starting it, connecting to it, ending it.

use std::ffi::{OsStr, OsString};
use std::future::{pending, Future};
use std::io;
use std::path::PathBuf;
use std::pin::{pin, Pin};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use libacp::aio::{AgentPeer, Client, Error, Failure, Handlers};
use tokio::io::{AsyncRead, AsyncReadExt, ReadBuf};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::{watch, Notify};
use tokio::time::timeout;

use crate::agent_process::Starting;
use crate::connection;
use crate::ended::AgentEnded;
use crate::process::{Exit, Help, Orphaned, Process};
use crate::stderr::{Hook, Said};
use crate::streams::{streams, Streams};

/// How long an agent may take to answer `initialize`.
const TIMEOUT: Duration = Duration::from_secs(30);
/// How long an agent may take to end after its input has ended.
const GRACE: Duration = Duration::from_secs(5);
/// How long the agent's own child processes may take to end after the agent, and again after SIGTERM.
const REST: Duration = Duration::from_millis(400);
/// How long to wait for the last lines of standard error.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// An agent that is a program. [`run`](Spawn::run) or [`connect`](Spawn::connect) starts it.
///
/// ```no_run
/// use libacp::aio::{Client, Failure};
/// use libacp_tokio::spawn;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Failure> {
/// let client = Client::new("example", "1.0");
/// let agent = spawn("npx").args(["-y", "some-agent"]).env("SOME_KEY", "…").current_dir("/work");
/// agent.run(&client, async |agent| {
///     println!("{:?}", agent.info());
///     Ok(())
/// }).await
/// # }
/// ```
pub fn spawn(program: impl Into<OsString>) -> Spawn {
    Spawn {
        program: program.into(),
        arguments: Vec::new(),
        clear: false,
        environment: Vec::new(),
        folder: None,
        group: true,
        timeout: TIMEOUT,
        grace: GRACE,
        hear: None,
    }
}

/// See [`spawn`](spawn()).
#[derive(Clone)]
#[must_use = "nothing is started before `run` or `connect`"]
pub struct Spawn {
    program: OsString,
    arguments: Vec<OsString>,
    clear: bool,
    environment: Vec<(OsString, Option<OsString>)>,
    folder: Option<PathBuf>,
    group: bool,
    pub(crate) timeout: Duration,
    pub(crate) grace: Duration,
    hear: Option<Hook>,
}

impl Spawn {
    /// Adds an argument.
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    pub fn args(mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.arguments.extend(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    /// Sets an environment variable. Otherwise the agent inherits the environment of this process.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.environment.push((name.as_ref().to_owned(), Some(value.as_ref().to_owned())));
        self
    }

    /// Removes an environment variable.
    pub fn env_remove(mut self, name: impl AsRef<OsStr>) -> Self {
        self.environment.push((name.as_ref().to_owned(), None));
        self
    }

    /// Removes all environment variables; those that are set afterwards remain.
    pub fn env_clear(mut self) -> Self {
        self.clear = true;
        self.environment.clear();
        self
    }

    /// Sets the directory in which the agent starts, in place of that of this process. Sessions have their own.
    pub fn current_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Sets whether the agent has its own process group (on Windows, its own job object); it has one by default. With
    /// it, wrappers such as `npx` and `sh -c` end together with the agent, and Ctrl-C in a terminal reaches only the
    /// client, which decides what to do. Without it, Ctrl-C ends both, and closing the connection ends only the started
    /// program.
    pub fn group(mut self, own: bool) -> Self {
        self.group = own;
        self
    }

    /// Sets how long the agent may take to answer `initialize`; 30 seconds by default.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = limit;
        self
    }

    /// Sets how long the agent may take to end after its input has ended before it is terminated (SIGTERM), and then
    /// again before it is killed (SIGKILL); 5 seconds each by default. On Windows it is killed after the first period.
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Sets a function that is called with each line that the agent prints to standard error, without its line end. A
    /// line of more than 64 KiB comes in parts. Without it, the lines are printed to the standard error of this
    /// process. Lines may contain control characters for a terminal.
    pub fn on_stderr(mut self, hook: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.hear = Some(Arc::new(hook));
        self
    }

    /// Starts the agent, runs `work` with it, and ends both. The returned future does everything; dropping it kills the
    /// agent.
    ///
    /// # Errors
    /// If the agent cannot be started, or the error of `initialize` or of `work`; [`AgentEnded`] if `work` failed
    /// because the agent had ended.
    pub async fn run<H, F, R>(&self, client: &Client<H>, work: F) -> Result<R, Failure>
    where
        H: Handlers,
        F: AsyncFnOnce(AgentPeer) -> Result<R, Failure>,
    {
        let (running, transport) = self.start()?;
        let met = Notify::new();
        let result = {
            let working = pin!(connection::run(client, transport, async |agent| {
                met.notify_one();
                work(agent).await
            }));
            tokio::select! {
                biased;
                result = working => result,
                problem = self.late(&met) => Err(problem),
            }
        };
        let ended = running.end(self.grace).await;
        result.map_err(|failure| ended.instead_of(failure))
    }

    /// Starts the agent, for programs that use it in more than one function. Returns a handle to open the connection
    /// with, and the future that drives the connection, which has to be spawned. Dropping that future kills the agent.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), libacp::aio::Failure> {
    /// let (starting, driving) = libacp_tokio::spawn("agent").connect(libacp::aio::Client::new("example", "1.0"))?;
    /// tokio::spawn(driving);
    /// let agent = starting.open().await?;
    /// let session = agent.new_session("/work").await?;
    /// session.prompt("Hello").finish().await?;
    /// println!("{}", agent.close().await.exit);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the agent cannot be started.
    pub fn connect<H: Handlers>(self, client: Client<H>) -> io::Result<(Starting, impl Future<Output = ()>)> {
        let (running, transport) = self.start()?;
        let (say, ended) = watch::channel(None);
        let (connecting, driving) = connection::connect(client, transport);
        let (id, grace) = (running.process.id(), self.grace);
        let driving = async move {
            // An error of the transport changes nothing about how the agent ends.
            drop(driving.await);
            say.send_replace(Some(running.end(grace).await.ended));
        };
        Ok((Starting { connecting, id, ended, spawn: self }, driving))
    }

    async fn late(&self, met: &Notify) -> Failure {
        if timeout(self.timeout, met.notified()).await.is_ok() {
            pending::<()>().await;
        }
        self.too_late()
    }

    pub(crate) fn too_late(&self) -> Failure {
        Failure::new(format!("the agent has not answered `initialize` after {:?}", self.timeout))
    }

    fn start(&self) -> io::Result<(Running, Streams<Output, ChildStdin>)> {
        let (running, output, input) = self.launch()?;
        Ok((running, streams(output, input)))
    }

    /// Starts the agent, with its output and its input.
    pub(crate) fn launch(&self) -> io::Result<(Running, Output, ChildStdin)> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        if self.clear {
            command.env_clear();
        }
        for (name, value) in &self.environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let name = self.program.to_string_lossy();
        let (process, pipes) = Process::start(&mut command, self.group, Orphaned::Waits)
            .map_err(|problem| io::Error::new(problem.kind(), format!("cannot start `{name}`: {problem}")))?;
        let (Some(stdin), Some(stdout), Some(stderr)) = (pipes.stdin, pipes.stdout, pipes.stderr) else {
            return Err(io::Error::other("the agent has no pipes"));
        };
        let said = Said::hear(ChildStderr::from_std(stderr)?, self.hear.clone());
        let output = Output::new(ChildStdout::from_std(stdout)?);
        let input = ChildStdin::from_std(stdin)?;
        Ok((Running { process, output: output.clone(), said }, output, input))
    }
}

impl std::fmt::Debug for Spawn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Environment variables may be secrets.
        f.debug_struct("Spawn")
            .field("program", &self.program)
            .field("arguments", &self.arguments)
            .finish_non_exhaustive()
    }
}

/// A running agent.
pub(crate) struct Running {
    process: Process,
    output: Output,
    said: Said,
}

/// How an agent has ended, and whether it ended before the connection was closed.
struct End {
    ended: AgentEnded,
    early: bool,
}

impl Running {
    /// Ends the agent as the client's end of the connection does, and says how it ended.
    #[cfg(feature = "http")]
    pub(crate) async fn ended(self, spawn: &Spawn) -> AgentEnded {
        self.end(spawn.grace).await.ended
    }

    /// Waits for the agent to end after its input has ended; terminates and kills it if it does not.
    async fn end(self, grace: Duration) -> End {
        let Running { process, output, said } = self;
        let early = output.is_over();
        let mut exit = None;
        for help in [Some(Help::Terminate), Some(Help::Kill), None] {
            exit = tokio::select! {
                exit = process.exited() => Some(exit),
                // The output is read and dropped, because a full pipe must not keep the agent from ending.
                () = output.ignored() => None,
                () = tokio::time::sleep(grace) => None,
            };
            match help {
                Some(help) if exit.is_none() => drop(process.signal(help)),
                _ => break,
            }
        }
        // Processes that it has started may still be running.
        for help in [Help::Terminate, Help::Kill] {
            if timeout(REST, output.clone().over()).await.is_ok() {
                break;
            }
            drop(process.signal(help));
        }
        drop(process.signal(Help::Kill));
        process.let_go();
        let stderr = said.last(LAST_WORDS).await;
        End { ended: AgentEnded { exit: exit.unwrap_or(Exit::Unknown), stderr }, early }
    }
}

impl End {
    /// Replaces a failure that only says that the connection has ended.
    fn instead_of(self, failure: Failure) -> Failure {
        let closed = matches!(failure.downcast_ref::<Error>(), Some(Error::Closed { .. }));
        if self.early && closed {
            self.ended.into()
        } else {
            failure
        }
    }
}

/// The standard output of an agent. It is read to its end after the connection has ended.
#[derive(Clone)]
pub(crate) struct Output(Arc<Printed>);

struct Printed {
    pipe: Mutex<ChildStdout>,
    over: AtomicBool,
}

impl Output {
    fn new(pipe: ChildStdout) -> Self {
        Output(Arc::new(Printed { pipe: Mutex::new(pipe), over: AtomicBool::new(false) }))
    }

    fn is_over(&self) -> bool {
        self.0.over.load(Ordering::Relaxed)
    }

    /// Reads it and never resolves.
    async fn ignored(&self) {
        self.clone().over().await;
        pending::<()>().await;
    }

    /// Reads it to its end.
    async fn over(mut self) {
        let mut buffer = vec![0; 16 * 1024];
        while !self.is_over() && self.read(&mut buffer).await.is_ok_and(|count| count > 0) {}
    }
}

impl AsyncRead for Output {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let mut pipe = self.0.pipe.lock().unwrap_or_else(PoisonError::into_inner);
        let result = Pin::new(&mut *pipe).poll_read(cx, buffer);
        if result.is_ready() && buffer.filled().len() == before {
            self.0.over.store(true, Ordering::Relaxed);
        }
        result
    }
}
