//! An agent as a child process: how it is started, talked to and ended.

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
/// How long an agent may take to end when its input has.
const GRACE: Duration = Duration::from_secs(5);
/// How long what it has started may take when the agent itself has ended, and again when it was told.
const REST: Duration = Duration::from_millis(400);
/// How long what it said last may take to arrive.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// An agent that is a program: it is started by [`run`](Spawn::run) or [`connect`](Spawn::connect).
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
    grace: Duration,
    hear: Option<Hook>,
}

impl Spawn {
    /// One more argument.
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// More arguments.
    pub fn args(mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.arguments.extend(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    /// Sets a variable of its environment, which is that of this process otherwise.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.environment.push((name.as_ref().to_owned(), Some(value.as_ref().to_owned())));
        self
    }

    /// Takes a variable out of its environment.
    pub fn env_remove(mut self, name: impl AsRef<OsStr>) -> Self {
        self.environment.push((name.as_ref().to_owned(), None));
        self
    }

    /// Gives it no variables but those that are set from here on.
    pub fn env_clear(mut self) -> Self {
        self.clear = true;
        self.environment.clear();
        self
    }

    /// The folder in which it begins, in place of that of this process. Sessions have their own.
    pub fn current_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Whether it has a process group of its own (on Windows, a job object). It has by default: then what stands between,
    /// as `npx` and `sh -c`, ends with it, and Ctrl-C in a terminal does not reach it but the client, which decides. Without
    /// one, Ctrl-C ends both, and only the program itself is ended when the connection is closed.
    pub fn group(mut self, own: bool) -> Self {
        self.group = own;
        self
    }

    /// How long it may take to answer `initialize`: 30 seconds by default.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = limit;
        self
    }

    /// How long it may take to end when its input has, until it is told to (SIGTERM), and after that until it is killed
    /// (SIGKILL): 5 seconds each by default. On Windows it is killed at once after the first of them.
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Is called with each line that it prints to standard error, without the line end, in place of printing it to this
    /// process's. What it gets may steer the terminal in which it is shown.
    pub fn on_stderr(mut self, hook: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.hear = Some(Arc::new(hook));
        self
    }

    /// Starts the agent, does some work with it, and ends both; all of it is this future, and dropping it kills the agent.
    ///
    /// # Errors
    /// That of starting it, of `initialize`, or of the work; [`AgentEnded`] when the agent has ended before the work had and
    /// the work failed for that.
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

    /// Starts the agent, for programs that do not want to stay in one function: a handle to begin with, and the future that
    /// drives the connection, which is to be spawned. When that is dropped, the agent is killed.
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
    /// That of starting it.
    pub fn connect<H: Handlers>(self, client: Client<H>) -> io::Result<(Starting, impl Future<Output = ()>)> {
        let (running, transport) = self.start()?;
        let (say, ended) = watch::channel(None);
        let (connecting, driving) = connection::connect(client, transport);
        let (id, grace) = (running.process.id(), self.grace);
        let driving = async move {
            // How the transport ends changes nothing about how the agent does.
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
        let transport = streams(output.clone(), ChildStdin::from_std(stdin)?);
        Ok((Running { process, output, said }, transport))
    }
}

impl std::fmt::Debug for Spawn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Variables may be secrets.
        f.debug_struct("Spawn")
            .field("program", &self.program)
            .field("arguments", &self.arguments)
            .finish_non_exhaustive()
    }
}

/// An agent that runs.
struct Running {
    process: Process,
    output: Output,
    said: Said,
}

/// How an agent has ended, and whether that was its own idea.
struct End {
    ended: AgentEnded,
    early: bool,
}

impl Running {
    /// Waits for the agent to end, as its input has, then helps.
    async fn end(self, grace: Duration) -> End {
        let Running { process, output, said } = self;
        let early = output.is_over();
        let mut exit = None;
        for help in [Some(Help::Terminate), Some(Help::Kill), None] {
            exit = tokio::select! {
                exit = process.exited() => Some(exit),
                // Its last words are of no interest, but must not keep it from ending.
                () = output.ignored() => None,
                () = tokio::time::sleep(grace) => None,
            };
            match help {
                Some(help) if exit.is_none() => drop(process.signal(help)),
                _ => break,
            }
        }
        // What it has started may still be there.
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
    /// What to tell in place of a failure that only says that the connection is over.
    fn instead_of(self, failure: Failure) -> Failure {
        let closed = matches!(failure.downcast_ref::<Error>(), Some(Error::Closed { .. }));
        if self.early && closed {
            self.ended.into()
        } else {
            failure
        }
    }
}

/// What an agent prints to standard output. It is read to its end when the connection is over.
#[derive(Clone)]
struct Output(Arc<Printed>);

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

    /// Reads it, for as long as this is polled.
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
