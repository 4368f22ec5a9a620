//! The steps of a scenario: what the peer sends and hears, and what the host sees.

use std::collections::HashMap;
use std::future::Future;
use std::rc::Rc;
use std::time::{Duration, Instant};

use futures::channel::mpsc;
use futures::executor::{LocalPool, LocalSpawner};
use futures::future::{select, Either, RemoteHandle};
use futures::task::LocalSpawnExt;
use futures::{FutureExt, StreamExt};
use libacp::aio::{messages, timed, Transport};
use libacp::connection::Versions;
use libacp::Config;
use serde_json::{json, Value};

use super::world::{described, differs, ending, sleep, Seen, World};
use super::Failed;

/// Longer than anything takes that a scenario waits for.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a side adds.
pub(super) trait Side {
    /// Does what a step says that the host does, as a task of its own where it takes time.
    fn act(&mut self, play: &mut Play, step: &Value);

    /// Plays `initialize`.
    fn greeting(said: Value) -> Greeting;

    /// What the peer says in an `initialize` of version 2, where the scenario does not say it.
    fn of_version_2() -> Value {
        json!({"protocolVersion": 2, "info": {"name": "peer", "version": "1"}})
    }
}

/// `initialize`, as the peer plays it.
pub(super) enum Greeting {
    /// It asks, with these params.
    Asks(Value),
    /// It answers, with this result.
    Answers(Value),
}

/// A scenario while it is played.
pub(super) struct Play {
    pub(super) world: Rc<World>,
    pub(super) spawner: LocalSpawner,
    /// Calls of the host's by their names.
    pub(super) tasks: HashMap<String, RemoteHandle<()>>,
    /// Ways to cancel turns.
    pub(super) cancels: HashMap<String, mpsc::UnboundedSender<()>>,
    input: Option<mpsc::UnboundedSender<Result<String, std::io::Error>>>,
    output: mpsc::UnboundedReceiver<String>,
    seen: mpsc::UnboundedReceiver<Seen>,
}

/// The host's end of the wire.
pub(super) struct Wire {
    input: mpsc::UnboundedReceiver<Result<String, std::io::Error>>,
    output: mpsc::UnboundedSender<String>,
}

impl Wire {
    pub(super) fn transport(self) -> impl Transport {
        messages(self.input, self.output)
    }

    pub(super) fn timed(self) -> impl Transport {
        let start = Instant::now();
        timed(self.transport(), move || start.elapsed(), sleep)
    }
}

/// The configuration that a scenario wants.
pub(super) fn configured(mut config: Config, host: &Value) -> Config {
    for draft in host["drafts"].as_array().into_iter().flatten() {
        config.draft(draft.as_str().unwrap()).unwrap();
    }
    if host["policy"] == "strict" {
        config.policy = libacp::connection::Policy::Strict;
    }
    config.timeout = host["timeout"].as_u64();
    if let Some(versions) = host["versions"].as_array() {
        config.versions = Versions::of(versions.iter().map(|number| number.as_i64().unwrap())).unwrap();
    }
    config
}

/// Plays a scenario; `begin` makes the host and says what drives it.
pub(super) fn play<S: Side>(
    scenario: &Value,
    begin: impl FnOnce(Rc<World>, Wire, &LocalSpawner) -> (S, RemoteHandle<Result<(), String>>),
) -> Result<(), Failed> {
    let mut pool = LocalPool::new();
    let (world, seen) = World::new(scenario);
    let world = Rc::new(world);
    let (input, host_input) = mpsc::unbounded();
    let (host_output, output) = mpsc::unbounded();
    let wire = Wire { input: host_input, output: host_output };
    let (side, driving) = begin(Rc::clone(&world), wire, &pool.spawner());
    let spawner = pool.spawner();
    let play =
        Play { world, spawner, tasks: HashMap::new(), cancels: HashMap::new(), input: Some(input), output, seen };
    pool.run_until(play.run(scenario, side, driving))
}

impl Play {
    async fn run<S: Side>(
        mut self,
        scenario: &Value,
        mut side: S,
        driving: RemoteHandle<Result<(), String>>,
    ) -> Result<(), Failed> {
        if let Some(parts) = scenario["refused"].as_array() {
            self.input = None;
            let Err(text) = driving.await else { return differs("refused", "nothing was refused".to_owned()) };
            let missing = parts.iter().find(|part| !text.contains(part.as_str().unwrap()));
            return missing.map_or(Ok(()), |missing| differs("refused", format!("{missing} is not in {text:?}")));
        }
        if scenario["bare"] != true {
            let newest = scenario["host"]["versions"].as_array().and_then(|versions| versions.last()).cloned();
            let mut said = match newest.and_then(|version| version.as_u64()) {
                Some(2) => S::of_version_2(),
                _ => json!({"protocolVersion": 1}),
            };
            said.as_object_mut().unwrap().extend(scenario["peer"].as_object().cloned().unwrap_or_default());
            match S::greeting(said) {
                Greeting::Asks(params) => {
                    self.send(&json!({"id": 0, "method": "initialize", "params": params}));
                    self.frame(&json!("the answer to initialize")).await?;
                }
                Greeting::Answers(result) => {
                    let asked = self.frame(&json!("initialize")).await?;
                    self.send(&json!({"id": asked["id"], "result": result}));
                    pass_often().await;
                }
            }
        }
        for step in scenario["steps"].as_array().into_iter().flatten() {
            for _ in 0..step["times"].as_u64().unwrap_or(1) {
                self.step(step, &mut side).await?;
            }
        }
        self.input = None;
        match within(driving).await {
            Some(Ok(())) => {}
            Some(Err(text)) => return differs("refused", text),
            None => return differs("left over", "the connection does not end".to_owned()),
        }
        // What goes on after the end has ended with it.
        pass_often().await;
        if let Some(Some(frame)) = self.output.next().now_or_never() {
            return differs("left over", format!("the frame {frame}"));
        }
        match self.seen.next().now_or_never() {
            Some(Some(seen)) => differs("left over", format!("the event {}", seen.event)),
            _ => Ok(()),
        }
    }

    async fn step<S: Side>(&mut self, step: &Value, side: &mut S) -> Result<(), Failed> {
        if let Some(frame) = step.get("send") {
            let frame = self.world.fill(frame);
            self.send(&frame);
        } else if let Some(expected) = step.get("out") {
            let frame = self.frame(expected).await?;
            let expected = &typed(expected);
            if !self.world.is(expected, &frame) {
                return differs("frame", format!("expected {expected}, got {frame}"));
            }
        } else if let Some(expected) = step.get("see") {
            let Some(Some(seen)) = within(self.seen.next()).await else {
                return differs("event", format!("expected {expected}, and nothing came"));
            };
            if !self.world.is_event(expected, &seen) {
                return differs("event", format!("expected {expected}, got {}", seen.event));
            }
        } else if let Some(label) = step["go"].as_str() {
            self.world.go(label);
        } else if step["eof"] == true {
            self.input = None;
            pass_often().await;
        } else if let Some(name) = step["drop"].as_str() {
            self.tasks.remove(name);
            pass_often().await;
            self.world.tell(json!({"done": name, "error": {"kind": "dropped"}}));
        } else if let Some(name) = step["cancel"].as_str() {
            // A turn that was only awaited and has ended is nobody's any more.
            let _ = self.cancels[name].unbounded_send(());
            pass_often().await;
        } else if ["call", "request", "notify", "work", "close"].iter().any(|what| step.get(what).is_some()) {
            side.act(self, step);
            pass_often().await;
        } else if let Some(time) = step["wait"].as_u64() {
            sleep(Duration::from_millis(time)).await;
        }
        Ok(())
    }

    /// A call of the host's, which tells how it ended.
    pub(super) fn spawn(
        &mut self,
        name: Option<&str>,
        call: impl Future<Output = Result<Value, libacp::aio::Error>> + 'static,
    ) {
        self.task(name, call.map(|result| result.map_err(|error| described(&error))));
    }

    /// The same for all that the host does, with the error that the event has. What has no name is to succeed.
    pub(super) fn task(&mut self, name: Option<&str>, work: impl Future<Output = Result<Value, Value>> + 'static) {
        let (world, told) = (Rc::clone(&self.world), name.map(str::to_owned));
        let task = async move {
            let ended = work.await;
            if told.is_some() || ended.is_err() {
                world.tell(ending(told.as_deref().unwrap_or("what has no name"), ended));
            }
        };
        let task = self.spawner.spawn_local_with_handle(task).unwrap();
        if let Some(nameless) = self.tasks.insert(name.unwrap_or_default().to_owned(), task) {
            nameless.forget();
        }
    }

    fn send(&mut self, frame: &Value) {
        let mut whole = json!({"jsonrpc": "2.0"});
        whole.as_object_mut().unwrap().extend(frame.as_object().unwrap().clone());
        if let Some(input) = &self.input {
            input.unbounded_send(Ok(whole.to_string())).unwrap();
        }
    }

    async fn frame(&mut self, expected: &Value) -> Result<Value, Failed> {
        match within(self.output.next()).await {
            Some(Some(text)) => {
                let mut frame: Value = serde_json::from_str(&text).unwrap();
                assert_eq!(frame.as_object_mut().unwrap().remove("jsonrpc"), Some(json!("2.0")), "{text}");
                Ok(frame)
            }
            Some(None) => differs("frame", format!("expected {expected}, and the stream ended")),
            None => differs("frame", format!("expected {expected}, and nothing came")),
        }
    }
}

/// A frame as Rust's types write it: a list of servers that may be left out is left out when it is empty. In a load, it
/// may not.
fn typed(frame: &Value) -> Value {
    let mut frame = frame.clone();
    let loads = frame["params"].get("replayFrom").is_some();
    if frame["method"] == "session/resume" && !loads && frame["params"]["mcpServers"] == json!([]) {
        frame["params"].as_object_mut().unwrap().remove("mcpServers");
    }
    frame
}

/// Lets all others go on until they wait.
pub(super) async fn pass_often() {
    for _ in 0..50 {
        crate::pipe::pass().await;
    }
}

async fn within<T>(future: impl Future<Output = T> + Unpin) -> Option<T> {
    // Most is there at once, and needs no thread.
    let mut future = future;
    for _ in 0..50 {
        if let Some(there) = (&mut future).now_or_never() {
            return Some(there);
        }
        crate::pipe::pass().await;
    }
    match select(future, Box::pin(sleep(PATIENCE))).await {
        Either::Left((there, _)) => Some(there),
        Either::Right(_) => None,
    }
}
