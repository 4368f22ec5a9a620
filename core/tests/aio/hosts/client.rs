//! Clients that do what a scenario says.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use futures::executor::LocalSpawner;
use futures::task::LocalSpawnExt;
use libacp::aio::{AgentPeer, Choice, Client, ClientSession, Local};
use libacp::schema::{v1, Message};
use libacp::Config;
use serde_json::{json, Value};

use super::calls;
use super::handlers::{of_clients, typed};
use super::replay::{configured, play, Greeting, Play, Side};
use super::turns::{act, beginning, read, Subject};
use super::world::World;
use super::Failed;

/// The agent, once the connection is open, and the sessions that calls have opened.
#[derive(Clone, Default)]
pub(super) struct Played {
    pub(super) agent: Rc<RefCell<Option<AgentPeer>>>,
    pub(super) sessions: Rc<RefCell<HashMap<String, ClientSession>>>,
}

impl Side for Played {
    fn act(&mut self, play: &mut Play, step: &Value) {
        calls::act(self, play, step);
    }

    fn greeting(said: Value) -> Greeting {
        Greeting::Answers(said)
    }

    fn of_version_2() -> Value {
        json!({"protocolVersion": 2, "info": {"name": "peer", "version": "1"}, "capabilities": {"session": {}}})
    }
}

pub(super) fn run(scenario: &Value) -> Result<(), Failed> {
    play(scenario, |world, wire, spawner: &LocalSpawner| {
        let played = Played::default();
        let client = client(scenario, &world, &played.agent);
        let agent = Rc::clone(&played.agent);
        let is_timed = scenario["host"]["timeout"].is_u64();
        let (opening, told, bare) = (spawner.clone(), Rc::clone(&world), scenario["bare"] == true);
        let driving = async move {
            // The transports differ in their types.
            let (connecting, driven): (_, futures::future::LocalBoxFuture<'static, std::io::Result<()>>) = if is_timed {
                let (connecting, driven) = client.connect(wire.timed());
                (connecting, Box::pin(driven))
            } else {
                let (connecting, driven) = client.connect(wire.transport());
                (connecting, Box::pin(driven))
            };
            let open = async move {
                if let Ok(peer) = connecting.open().await {
                    if bare {
                        let hello = serde_json::to_value(peer.greeting().unwrap()).unwrap();
                        told.tell_read(
                            json!({"done": "initialize", "result": hello}),
                            typed::<v1::InitializeResponse<'static>>,
                        );
                    }
                    *agent.borrow_mut() = Some(peer);
                }
            };
            opening.spawn_local(open).unwrap();
            driven.await.map_err(|error| error.to_string())
        };
        (played, spawner.spawn_local_with_handle(driving).unwrap())
    })
}

fn client(scenario: &Value, world: &Rc<World>, met: &Rc<RefCell<Option<AgentPeer>>>) -> Client<Local> {
    let host = &scenario["host"];
    let mut client = Client::new("vectors", "1").config(configured(Config::client(), host));
    if let Some(capabilities) = host.get("capabilities") {
        client = client.capabilities(v1::ClientCapabilities::detached(&capabilities.to_string()).unwrap());
    }
    if host["expose_errors"] == true {
        client = client.expose_errors();
    }
    let mut client = ready_made(client.local(), host);
    for key in scenario["handlers"].as_object().into_iter().flat_map(|handlers| handlers.keys()) {
        client = if key == "session/request_permission" {
            permission(client, world)
        } else {
            of_clients(client, world, met, key)
        };
    }
    hooks(client, world, scenario)
}

fn permission(client: Client<Local>, world: &Rc<World>) -> Client<Local> {
    let world = Rc::clone(world);
    let handler = async move |request: libacp::aio::PermissionRequest| {
        let method = "session/request_permission";
        let (tool_call, options) = (request.tool_call, request.options);
        let mut params = v1::RequestPermissionRequest::new(request.session.id(), tool_call, options);
        params.meta = request.meta;
        let params = serde_json::to_value(&params).unwrap();
        let event = beginning(method, Some(request.session.id()), Some(&request.id), &params);
        world.tell_read(event, typed::<v1::RequestPermissionRequest<'static>>);
        let actions = world.actions(method);
        Ok(match act(&world, method, &Subject::Open(request.session), &actions).await? {
            None => Choice::from(None),
            Some(Value::String(id)) => Some(id).into(),
            Some(whole) => read::<v1::RequestPermissionResponse<'static>>(&whole).into(),
        })
    };
    client.permission(handler).local()
}

/// Files and terminals that give these answers: in Rust, they are handlers.
fn ready_made(mut client: Client<Local>, host: &Value) -> Client<Local> {
    macro_rules! answers {
        ($($method:literal => $params:ident, $result:ident;)*) => {
            $(for part in ["files", "terminals"] {
                if let Some(answer) = host[part].get($method) {
                    let answer = read::<v1::$result<'static>>(answer);
                    client = client.on::<fn(v1::$params), _>(async move |_| Ok(answer.clone().into())).local();
                }
            })*
        };
    }
    answers! {
        "fs/read_text_file" => ReadTextFileRequest, ReadTextFileResponse;
        "fs/write_text_file" => WriteTextFileRequest, WriteTextFileResponse;
        "terminal/create" => CreateTerminalRequest, CreateTerminalResponse;
        "terminal/output" => TerminalOutputRequest, TerminalOutputResponse;
        "terminal/wait_for_exit" => WaitForTerminalExitRequest, WaitForTerminalExitResponse;
        "terminal/kill" => KillTerminalRequest, KillTerminalResponse;
        "terminal/release" => ReleaseTerminalRequest, ReleaseTerminalResponse;
    }
    client
}

fn hooks(mut client: Client<Local>, world: &Rc<World>, scenario: &Value) -> Client<Local> {
    for hook in scenario["hooks"].as_array().into_iter().flatten() {
        let (hook, world) = (hook.as_str().unwrap().to_owned(), Rc::clone(world));
        client = match &*hook {
            "violation" => client
                .on_violation(move |violation| world.tell(json!({"hook": hook, "rule": violation.rule.as_str()})))
                .local(),
            "advice" => {
                client.on_advice(move |advice| world.tell(json!({"hook": hook, "rule": advice.rule.as_str()}))).local()
            }
            "error" => client.on_error(move |method, _| world.tell(json!({"hook": hook, "method": method}))).local(),
            "late_response" => client
                .on_late_response(move |response| world.tell(json!({"hook": hook, "method": response.method})))
                .local(),
            "update" => client
                .on_update(async move |received| {
                    let is = serde_json::to_value(&*received)?;
                    let session = received.session().map(|session| session.id().to_owned());
                    let mut event = json!({"hook": "update", "session": session, "is": is});
                    if let Some(meta) = received.meta() {
                        event["meta"] = meta.parse()?;
                    }
                    world.tell(event);
                    Ok(())
                })
                .local(),
            other => panic!("clients have no hook {other}"),
        };
    }
    client
}
