//! Agents that do what a scenario says.

use std::cell::RefCell;
use std::rc::Rc;

use futures::executor::LocalSpawner;
use futures::task::LocalSpawnExt;
use libacp::aio::{Agent, ClientPeer, Local};
use libacp::schema::{v1, Message};
use libacp::Config;
use serde_json::{json, Value};

use super::handlers::of_agents;
use super::replay::{configured, play, Greeting, Play, Side};
use super::turns::{act, begun, ending, Subject};
use super::world::{worked, World};
use super::Failed;

/// The client, once a handler has seen it.
type Met = Rc<RefCell<Option<ClientPeer>>>;

struct Played(Met);

impl Side for Played {
    fn act(&mut self, play: &mut Play, step: &Value) {
        let client = self.0.borrow().clone().expect("a handler has seen the client");
        let params = step.get("with").map_or_else(|| json!({}), |params| play.world.fill(params));
        if let Some(method) = step["request"].as_str() {
            let call = client.request(method.to_owned(), &params);
            play.spawn(step["as"].as_str(), async move { Ok(serde_json::from_str(call.await?.as_str()).unwrap()) });
        } else if let Some(method) = step["notify"].as_str() {
            let tell = client.notify(method.to_owned(), &params);
            play.spawn(None, async move { tell.await.map(|()| Value::Null) });
        } else if let Some(id) = play.world.fill(&step["work"]).as_str() {
            let session = client.session(id).expect("the session is open");
            let (world, then) = (Rc::clone(&play.world), step["then"].as_array().cloned().unwrap_or_default());
            let body = async move |turn| ending(act(&world, "work", &Subject::Turn(turn), &then).await?);
            play.task(step["as"].as_str(), async move { worked(session.work(body).await) });
        } else {
            panic!("an agent does not do this: {step}");
        }
    }

    fn greeting(said: Value) -> Greeting {
        Greeting::Asks(said)
    }
}

pub(super) fn run(scenario: &Value) -> Result<(), Failed> {
    let met = Met::default();
    let seen = Rc::clone(&met);
    play(scenario, |world, wire, spawner: &LocalSpawner| {
        let agent = agent(scenario, &world, &met);
        let is_timed = scenario["host"]["timeout"].is_u64();
        let serving = async move {
            let served = if is_timed { agent.serve(wire.timed()).await } else { agent.serve(wire.transport()).await };
            served.map_err(|error| error.to_string())
        };
        (Played(seen), spawner.spawn_local_with_handle(serving).unwrap())
    })
}

fn agent(scenario: &Value, world: &Rc<World>, met: &Met) -> Agent<Local> {
    let host = &scenario["host"];
    let mut agent = Agent::new("vectors", "1").config(configured(Config::agent(), host));
    if let Some(capabilities) = host.get("capabilities") {
        agent = agent.capabilities(v1::AgentCapabilities::detached(&capabilities.to_string()).unwrap());
    }
    if let Some(methods) = host["auth_methods"].as_array() {
        let read = |method: &Value| v1::AuthMethod::detached(&method.to_string()).unwrap();
        agent = agent.auth_methods(methods.iter().map(read).collect());
    }
    if let Some(most) = host["max_requests"].as_u64() {
        agent = agent.at_most(most as usize);
    }
    if host["merge_chunks"] == true {
        agent = agent.merge_chunks();
    }
    if host["expose_errors"] == true {
        agent = agent.expose_errors();
    }
    let mut agent = agent.local();
    for key in scenario["handlers"].as_object().into_iter().flat_map(|handlers| handlers.keys()) {
        agent = if key == "session/prompt" { prompts(agent, world, met) } else { of_agents(agent, world, met, key) };
    }
    hooks(agent, world, scenario)
}

fn prompts(agent: Agent<Local>, world: &Rc<World>, met: &Met) -> Agent<Local> {
    let (world, met) = (Rc::clone(world), Rc::clone(met));
    let handler = async move |turn: libacp::aio::Turn| {
        *met.borrow_mut() = Some(turn.client().clone());
        let mut params = v1::PromptRequest::new(turn.session().id(), turn.blocks().to_vec());
        params.meta = turn.meta().cloned();
        begun(&world, "session/prompt", Some(turn.session().id()), Some(turn.id()), &params);
        let actions = world.actions("session/prompt");
        ending(act(&world, "session/prompt", &Subject::Turn(turn), &actions).await?)
    };
    agent.prompt(handler).local()
}

fn hooks(mut agent: Agent<Local>, world: &Rc<World>, scenario: &Value) -> Agent<Local> {
    for hook in scenario["hooks"].as_array().into_iter().flatten() {
        let (hook, world) = (hook.as_str().unwrap().to_owned(), Rc::clone(world));
        agent = match &*hook {
            "violation" => agent
                .on_violation(move |violation| world.tell(json!({"hook": hook, "rule": violation.rule.as_str()})))
                .local(),
            "advice" => {
                agent.on_advice(move |advice| world.tell(json!({"hook": hook, "rule": advice.rule.as_str()}))).local()
            }
            "error" => agent.on_error(move |method, _| world.tell(json!({"hook": hook, "method": method}))).local(),
            "late_response" => agent
                .on_late_response(move |response| world.tell(json!({"hook": hook, "method": response.method})))
                .local(),
            other => panic!("agents have no hook {other}"),
        };
    }
    agent
}
