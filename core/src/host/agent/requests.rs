//! The client's requests of version 2 as a handler of version 1 sees them, and its answers as the client expects them.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

use super::hello;
use super::newer::{current_state, params, tell_state, Newer, Session, UPDATE};
use super::object::{each, is_object, text, Object};
use super::options::Options;
use super::waiting::refuse;
use crate::connection::{Misuse, Request, RequestKey, Session as Open};
use crate::{json, Connection, ErrorCode, Event};

const NEW: &str = "session/new";
const LOAD: &str = "session/load";
const RESUME: &str = "session/resume";
const LIST: &str = "session/list";
/// Methods that have another name in version 1.
const RENAMED: &[(&str, &str)] = &[("auth/login", "authenticate"), ("auth/logout", "logout")];

/// What a request is whose answer changes its shape.
#[derive(Debug)]
pub(super) enum Asked {
    Hello,
    /// A session that the agent names.
    Make(Place),
    /// A session that the client names, with or without its history.
    Restore(Place, bool),
    /// This mode is being set.
    Mode(String),
    Option,
    Close,
}

/// Where a session works, as JSON text.
#[derive(Debug, Clone)]
pub(super) struct Place {
    cwd: String,
    roots: String,
}

impl Place {
    fn of(params: &str) -> Self {
        let get = |place, otherwise: &str| json::pointer(params, place).unwrap_or(otherwise).to_owned();
        Place { cwd: get("/cwd", "null"), roots: get("/additionalDirectories", "[]") }
    }
}

impl Newer {
    /// A request of the client, as the host sees it, if it sees it.
    pub(super) fn request(&mut self, connection: &mut Connection, mut request: Request, ready: &mut VecDeque<Event>) {
        let serial = request.serial;
        let asked = match (&*request.method, request.session.clone()) {
            ("initialize", _) => {
                request.set_params(hello::request(request.params()));
                Some(Asked::Hello)
            }
            (NEW | "session/fork", _) => {
                request.set_params(opening(request.params()));
                Some(Asked::Make(Place::of(request.params())))
            }
            (RESUME, Some(session)) => match self.restored(connection, &mut request, &session) {
                Some(asked) => Some(asked),
                None => return,
            },
            (LIST, _) if !self.serves(LIST) => return self.list(connection, &request),
            ("session/set_config_option", Some(session)) => Some(self.option(&mut request, &session)),
            ("session/prompt", _) => return self.prompted(connection, request, ready),
            ("session/close", Some(session)) => {
                self.stop(connection, &session, true, ready);
                Some(Asked::Close)
            }
            // One that has crossed the end of what it is about (TOOL-38, DTERM-15).
            ("tool_call/cancel", Some(session)) if !may_be_cancelled(connection, &session, request.params()) => {
                return refuse(connection, serial, ErrorCode::INVALID_PARAMS, "the tool call has ended");
            }
            ("terminal/cancel", Some(session)) if !may_be_cancelled(connection, &session, request.params()) => {
                return refuse(connection, serial, ErrorCode::INVALID_PARAMS, "the command of the terminal has ended");
            }
            (method, _) => {
                if let Some((_, old)) = RENAMED.iter().find(|(new, _)| *new == method) {
                    request.method = (*old).into();
                }
                None
            }
        };
        self.asked.extend(asked.map(|asked| (serial, asked)));
        ready.push_back(Event::Request(request));
    }

    /// What a `session/resume` is in version 1; `None` if it was answered.
    fn restored(&mut self, connection: &mut Connection, request: &mut Request, session: &str) -> Option<Asked> {
        let place = Place::of(request.params());
        let mut asked = Object::of(request.params());
        let replay = asked.take("replayFrom");
        let method = if replay.is_some() { LOAD } else { RESUME };
        let from_start = replay.is_none_or(|from| text(&from, "/type").is_some_and(|kind| kind == "start"));
        let asked = opening(&asked.write());
        if let Some(known) = self.sessions.get_mut(session) {
            known.message = None;
        }
        if !from_start || method == LOAD && !self.serves(LOAD) {
            let message = "the agent cannot replay a history from there";
            refuse(connection, request.serial, ErrorCode::INVALID_PARAMS, message);
            return None;
        }
        if !self.serves(method) {
            self.resume_open(connection, request.serial, session, place);
            return None;
        }
        request.method = method.into();
        request.set_params(asked);
        Some(Asked::Restore(place, method == LOAD))
    }

    /// Resumes a session without a handler, if it is open already.
    fn resume_open(&mut self, connection: &mut Connection, serial: u64, session: &str, place: Place) {
        let Some(known) = self.sessions.get_mut(session).filter(|known| known.number > 0) else {
            return refuse(connection, serial, ErrorCode::RESOURCE_NOT_FOUND, "no such session is open");
        };
        (known.cwd, known.roots) = (place.cwd, place.roots);
        let options = known.options.full();
        let state = current_state(connection, session, Some(known));
        // Both fail once the connection is over, and there is nobody to tell then.
        let _ = tell_state(connection, session, state, Object::default());
        let _ = connection.respond(serial, &format!("{{\"configOptions\":{options}}}"));
    }

    /// Lists the sessions that are open on this connection.
    fn list(&self, connection: &mut Connection, request: &Request) {
        let asked = Object::of(request.params());
        if asked.has("cursor") {
            return refuse(connection, request.serial, ErrorCode::INVALID_PARAMS, "there are no more pages");
        }
        let there = asked.text("cwd");
        let here = |known: &Session| there.is_none() || json::unescape(&known.cwd) == there;
        let open = self.sessions.iter().filter(|(_, known)| known.number > 0 && here(known));
        let mut open: Vec<_> = open.collect();
        open.sort_by_key(|(_, known)| known.number);
        let entry = |(id, known): (&Arc<str>, &Session)| {
            let mut entry = Object::default();
            entry.set_text("sessionId", id);
            entry.set("cwd", known.cwd.clone());
            if known.roots != "[]" {
                entry.set("additionalDirectories", known.roots.clone());
            }
            if let Some(title) = &known.title {
                entry.set("title", title.clone());
            }
            entry.write()
        };
        let list: Vec<String> = open.into_iter().map(entry).collect();
        // It fails once the connection is over.
        let _ = connection.respond(request.serial, &format!("{{\"sessions\":[{}]}}", list.join(",")));
    }

    /// A change of an option, or of the mode that an option was made of.
    fn option(&self, request: &mut Request, session: &str) -> Asked {
        let mut change = Object::of(request.params());
        let own = self.sessions.get(session).and_then(|known| known.options.mode_id());
        let mode = change.text("value").filter(|_| own.is_some() && change.text("configId") == own);
        let mode = mode.map(Cow::into_owned);
        if mode.is_some() {
            change.take("configId");
            change.take("type");
            change.rename("value", "modeId");
        } else if change.text("type").is_some_and(|kind| kind == "id") {
            change.take("type");
        }
        let change = change.write();
        request.set_params(change);
        if mode.is_some() {
            request.method = "session/set_mode".into();
        }
        mode.map_or(Asked::Option, Asked::Mode)
    }

    /// Sends the answer to a request; `serial` is that of its key.
    pub(super) fn respond(
        &mut self,
        connection: &mut Connection,
        key: RequestKey<'_>,
        serial: u64,
        result: &str,
    ) -> Result<(), Misuse> {
        let session = connection.unanswered_by_serial(serial).and_then(|open| open.session.clone());
        let Some(asked) = self.asked.get(&serial).filter(|_| is_object(result)) else {
            connection.respond(key, result)?;
            if let Some(session) = session {
                self.forget_closed(connection, &session);
            }
            return Ok(());
        };
        let mut answer = Object::of(result);
        match (asked, session) {
            (Asked::Hello, _) => connection.respond(key, &hello::result(result))?,
            (Asked::Make(place), _) => {
                let options = Options::of(&mut answer);
                connection.respond(key, &answer.write())?;
                if let Some(id) = answer.text("sessionId") {
                    let place = place.clone();
                    self.opened(&Arc::from(&*id), place, options);
                }
            }
            (Asked::Restore(place, replay), Some(session)) => {
                let (place, options) = (place.clone(), Options::of(&mut answer));
                if *replay {
                    // One that the handler has said itself is enough.
                    let _ = connection.notify(UPDATE, &params(&session, r#"{"sessionUpdate":"replay_complete"}"#));
                }
                let state = current_state(connection, &session, self.sessions.get(&session));
                tell_state(connection, &session, state, Object::default())?;
                connection.respond(key, &answer.write())?;
                self.opened(&session, place, options);
            }
            (Asked::Mode(_) | Asked::Option, Some(session)) => {
                let known = self.sessions.entry(session).or_default();
                let mut options = known.options.clone();
                match asked {
                    Asked::Mode(mode) => _ = options.set_mode(mode),
                    _ => options.replace(answer.get("configOptions").unwrap_or("[]")),
                }
                answer.set("configOptions", options.full());
                connection.respond(key, &answer.write())?;
                known.options = options;
            }
            (Asked::Close, Some(session)) => {
                // Work that its handler has not ended ends here (SESS-79).
                if connection.session(&session).is_some_and(Open::is_under_way) {
                    let mut members = Object::default();
                    members.set("stopReason", "\"cancelled\"");
                    tell_state(connection, &session, "idle", members)?;
                    self.sessions.entry(Arc::clone(&session)).or_default().rest();
                }
                connection.respond(key, result)?;
                self.forget_closed(connection, &session);
            }
            (_, None) => connection.respond(key, result)?,
        }
        self.asked.remove(&serial);
        Ok(())
    }

    /// A request was refused.
    pub(super) fn refused(&mut self, connection: &mut Connection, serial: u64, session: Option<&str>) {
        self.asked.remove(&serial);
        if let Some(session) = session {
            self.forget_closed(connection, session);
        }
    }

    /// Whether a request asks for a history, which comes before its answer.
    pub(super) fn is_replay(&self, serial: u64) -> bool {
        matches!(self.asked.get(&serial), Some(Asked::Restore(_, true)))
    }

    fn opened(&mut self, session: &Arc<str>, place: Place, options: Options) {
        let newest = self.sessions.values().map(|known| known.number).max().unwrap_or(0);
        let known = self.sessions.entry(Arc::clone(session)).or_default();
        if known.number == 0 {
            known.number = newest + 1;
        }
        (known.cwd, known.roots, known.options, known.message) = (place.cwd, place.roots, options, None);
    }
}

/// Whether the client may cancel now what a request is about.
fn may_be_cancelled(connection: &Connection, session: &str, params: &str) -> bool {
    let Some(open) = connection.session(session) else { return false };
    match (text(params, "/toolCallId"), text(params, "/terminalId")) {
        (Some(id), _) => open.cancellable_tool_calls().any(|known| *known == *id),
        (None, Some(id)) => open.cancellable_terminals().any(|known| *known == *id),
        (None, None) => false,
    }
}

/// Params that open a session, as in version 1: what may be left out in version 2 is there, and programs have no type.
fn opening(params: &str) -> String {
    let mut params = Object::of(params);
    params.set_absent("mcpServers", "[]");
    params.change("mcpServers", |servers| each(servers, server));
    params.write()
}

fn server(server: &str) -> String {
    let mut server = Object::of(server);
    let lists: &[&str] = match server.text("type").as_deref() {
        Some("stdio") => &["args", "env"],
        Some("http") => &["headers"],
        _ => &[],
    };
    for list in lists {
        server.set_absent(list, "[]");
    }
    if server.text("type").is_some_and(|kind| kind == "stdio") {
        server.take("type");
    }
    server.write()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_those_of_version_1() {
        let given = r#"{"cwd":"/w","mcpServers":[{"type":"stdio","name":"a","command":"/a","args":["x"]},{"type":"http","name":"b","url":"https://b"},{"type":"_c"}]}"#;
        let expected = r#"{"cwd":"/w","mcpServers":[{"name":"a","command":"/a","args":["x"],"env":[]},{"type":"http","name":"b","url":"https://b","headers":[]},{"type":"_c"}]}"#;
        assert_eq!((opening(given), opening("{}")), (expected.to_owned(), r#"{"mcpServers":[]}"#.to_owned()));
    }
}
