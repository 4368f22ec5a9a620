//! What a client's host calls.

use std::rc::Rc;

use futures::channel::mpsc;
use futures::future::{select, Either};
use futures::{FutureExt, StreamExt, TryStreamExt};
use libacp::aio::{AgentPeer, Call, ClientSession, Error, LoadingSession, PromptTurn, Update};
use libacp::schema::{v1, IntoOwned, Raw};
use serde::Serialize;
use serde_json::{json, Value};

use super::client::Played;
use super::handlers::typed;
use super::replay::Play;
use super::turns::read;
use super::world::World;

pub(super) fn act(played: &Played, play: &mut Play, step: &Value) {
    let agent = played.agent.borrow().clone().expect("the connection is open");
    if step["close"] == true {
        return agent.close();
    }
    let name = step["as"].as_str();
    let params = step.get("with").map_or_else(|| json!({}), |params| play.world.fill(params));
    let session = step.get("session").map(|id| play.world.fill(id).as_str().unwrap().to_owned());
    let open =
        session.as_deref().and_then(|id| agent.session(id).or_else(|| played.sessions.borrow().get(id).cloned()));
    if let Some(method) = step["request"].as_str() {
        let method = method.to_owned();
        let call = match &open {
            Some(session) => session.request(method, &params),
            None => agent.request(method, &params),
        };
        return play.spawn(name, async move { Ok(call.await?.parse().unwrap()) });
    }
    if let Some(method) = step["notify"].as_str() {
        let tell = agent.notify(method.to_owned(), &params);
        return play.spawn(name, async move { tell.await.map(|()| Value::Null) });
    }
    let mut params = params;
    if let Some(id) = &session {
        params["sessionId"] = json!(id);
    }
    let method = step["call"].as_str().unwrap();
    match method {
        "session/prompt" => {
            let session = open.expect("the session is open");
            let turn = match params.get("_meta") {
                Some(meta) => session.prompt(blocks(&params)).meta(Raw::of(meta).unwrap()),
                None => session.prompt(blocks(&params)),
            };
            let (cancel, cancelled) = mpsc::unbounded();
            play.cancels.insert(name.unwrap().to_owned(), cancel);
            play.spawn(
                None,
                prompt(Rc::clone(&play.world), step.clone(), session, turn, cancelled).map(|()| Ok(json!({}))),
            );
            let task = play.tasks.remove("").unwrap();
            play.tasks.insert(name.unwrap().to_owned(), task);
        }
        "session/load" => {
            let loading = agent.load_session_with(&read(&params));
            play.spawn(name, load(Rc::clone(&play.world), step.clone(), loading, played.clone()));
        }
        _ => play.spawn(name, call(played.clone(), agent, method.to_owned(), open, params)),
    }
}

fn blocks(params: &Value) -> Vec<v1::ContentBlock<'static>> {
    params["prompt"].as_array().unwrap().iter().map(read).collect()
}

fn written(result: impl Serialize) -> Value {
    serde_json::to_value(result).unwrap()
}

/// A call with the data of extensions that its params have.
fn said<T>(call: Call<T>, params: &Value) -> Call<T> {
    match params.get("_meta") {
        Some(meta) => call.meta(Raw::of(meta).unwrap()),
        None => call,
    }
}

/// The answer that opened a session.
fn opened(played: &Played, session: ClientSession) -> Value {
    let answer = written(session.opened().unwrap());
    played.sessions.borrow_mut().insert(session.id().to_owned(), session);
    answer
}

/// Everything but prompts and loads: by its convenience, or where there is none by its type.
async fn call(
    played: Played,
    agent: AgentPeer,
    method: String,
    session: Option<ClientSession>,
    params: Value,
) -> Result<Value, Error> {
    let text = |member: &str| params[member].as_str().unwrap_or_default();
    let plain = params.get("_meta").is_none();
    let empty = |(): ()| json!({});
    let only_cwd =
        params["mcpServers"].as_array().is_none_or(Vec::is_empty) && params.get("additionalDirectories").is_none();
    match (&*method, session) {
        ("session/new", _) if only_cwd => Ok(opened(&played, said(agent.new_session(text("cwd")), &params).await?)),
        ("session/new", _) => Ok(opened(&played, agent.new_session_with(&read(&params)).await?)),
        ("session/resume", _) if only_cwd => {
            Ok(opened(&played, said(agent.resume_session(text("sessionId"), text("cwd")), &params).await?))
        }
        ("session/resume", _) => Ok(opened(&played, agent.resume_session_with(&read(&params)).await?)),
        ("session/list", _) => {
            let sessions: Vec<_> = agent.list_sessions_with(read(&params)).try_collect().await?;
            Ok(json!({"sessions": written(sessions)}))
        }
        // Whoever reads the answer's `_meta` calls by the type.
        ("authenticate", _) if plain => agent.authenticate(text("methodId")).await.map(empty),
        ("authenticate", _) => agent.call(&read::<v1::AuthenticateRequest<'static>>(&params)).await.map(written),
        ("logout", _) if plain => agent.logout().await.map(empty),
        ("logout", _) => agent.call(&read::<v1::LogoutRequest<'static>>(&params)).await.map(written),
        ("session/delete", _) if plain => agent.delete_session(text("sessionId")).await.map(empty),
        ("session/delete", _) => agent.call(&read::<v1::DeleteSessionRequest<'static>>(&params)).await.map(written),
        ("session/set_mode", Some(session)) if plain => session.set_mode(text("modeId")).await.map(empty),
        ("session/set_mode", _) => agent.call(&read::<v1::SetSessionModeRequest<'static>>(&params)).await.map(written),
        ("session/close", Some(session)) if plain => session.close().await.map(empty),
        ("session/close", _) => agent.call(&read::<v1::CloseSessionRequest<'static>>(&params)).await.map(written),
        ("session/set_config_option", Some(session)) if plain => {
            let options = match params["value"].as_bool() {
                Some(value) => session.set_config_option(text("configId"), value).await?,
                None => session.set_config_option(text("configId"), text("value")).await?,
            };
            Ok(json!({"configOptions": written(options)}))
        }
        ("session/set_config_option", _) => {
            agent.call(&read::<v1::SetSessionConfigOptionRequest<'static>>(&params)).await.map(written)
        }
        ("tool_call/cancel", Some(session)) => session.cancel_tool_call(text("toolCallId")).await.map(empty),
        ("session/fork", _) => {
            let request = read::<v1::ForkSessionRequest<'static>>(&params);
            agent.call(&request).await.map(written)
        }
        (other, _) => panic!("clients have no convenience for {other}"),
    }
}

fn show(world: &World, name: &str, update: &Update) {
    let mut event = json!({"update": name, "is": written(update)});
    if let Some(meta) = update.meta() {
        event["meta"] = meta.parse().unwrap();
    }
    world.tell(event);
}

async fn load(world: Rc<World>, step: Value, mut loading: LoadingSession, played: Played) -> Result<Value, Error> {
    if step.get("iterate").is_some() {
        while let Some(update) = loading.update().await? {
            show(&world, step["as"].as_str().unwrap(), &update);
        }
    }
    Ok(opened(&played, loading.session().await?))
}

/// A turn that is iterated over or awaited, and can be cancelled at any time.
async fn prompt(
    world: Rc<World>,
    step: Value,
    session: ClientSession,
    mut turn: PromptTurn,
    mut cancelled: mpsc::UnboundedReceiver<()>,
) {
    let name = step["as"].as_str().unwrap();
    let told = |result| world.tell(super::world::done(name, result));
    if let Some(label) = step["begin"].as_str() {
        let mut label = Box::pin(world.wait(label));
        while let Either::Left((Some(()), rest)) = select(cancelled.next(), label).await {
            turn.cancel().await.unwrap();
            label = rest;
        }
    }
    let Some(iterate) = step.get("iterate") else {
        let mut finish = Box::pin(turn.finish());
        loop {
            match select(cancelled.next(), finish).await {
                Either::Left((_, rest)) => {
                    session.cancel().await.unwrap();
                    finish = rest;
                }
                Either::Right((result, _)) => {
                    // Its type has no id of a message.
                    let event = super::world::done(name, result.map(written));
                    return world.tell_read(event, typed::<v1::PromptResponse<'static>>);
                }
            }
        }
    };
    let mut shown = 0;
    let ended = loop {
        let next = match select(cancelled.next(), Box::pin(turn.update())).await {
            Either::Left(_) => None,
            Either::Right((next, _)) => Some(next),
        };
        match next {
            None => turn.cancel().await.unwrap(),
            Some(Ok(Some(update))) => {
                show(&world, name, &update);
                shown += 1;
                if let Some(label) = step["wait"].as_str().filter(|_| shown == 1) {
                    world.wait(label).await;
                }
                if iterate.as_u64() == Some(shown) {
                    drop(turn);
                    // What it leaves to others is there before anybody asks.
                    super::replay::pass_often().await;
                    return told(Ok(json!({})));
                }
            }
            Some(Ok(None)) => {
                let mut result = written(turn.result().cloned().unwrap().into_owned());
                if let Some(id) = turn.message_id() {
                    result["messageId"] = json!(id);
                }
                break Ok(result);
            }
            Some(Err(error)) => break Err(error),
        }
    };
    told(ended);
    // Who keeps the turn may still cancel it.
    while cancelled.next().await.is_some() {
        turn.cancel().await.unwrap();
    }
}
