//! No call names a session that is neither open nor announced, whatever else is under way.
//!
//! Random hosts and peers open, load, fork, close and delete sessions, leave requests open, time out and cancel, and
//! make calls about all kinds of ids meanwhile. A model of its own, made of nothing but the calls and answers that went
//! through, says which sessions there are. Every call that is delivered or sent has to be about one of them.

#[path = "support/rng.rs"]
mod rng;

use std::collections::BTreeMap;

use libacp::connection::{CallOptions, Event, Policy, Role, Timeout};
use libacp::{Config, Connection, ErrorCode, Id};
use rng::Rng;

const RUNS: u64 = 1_000;
const STEPS: usize = 40;

/// What needs a session: calls of the agent's and of the client's, with the members beside the session's id.
const AGENTS: &[(&str, &str)] = &[
    ("fs/read_text_file", r#""path":"/w/a""#),
    ("fs/write_text_file", r#""path":"/w/a","content":"""#),
    ("terminal/create", r#""command":"ls""#),
    ("terminal/release", r#""terminalId":"t""#),
    (
        "session/request_permission",
        r#""toolCall":{"toolCallId":"c"},"options":[{"optionId":"y","name":"Y","kind":"allow_once"}]"#,
    ),
    ("elicitation/create", r#""mode":"form","message":"M","requestedSchema":{"type":"object","properties":{}}"#),
];
const CLIENTS: &[(&str, &str)] = &[
    ("session/prompt", r#""prompt":[{"type":"text","text":"hi"}]"#),
    ("session/set_mode", r#""modeId":"m""#),
    ("session/set_config_option", r#""configId":"o","value":"v""#),
    ("session/cancel", ""),
];
/// Calls of the client's that open and end sessions.
const OPENING: &[&str] = &["session/new", "session/new", "session/fork", "session/load", "session/resume"];
const ENDING: &[&str] = &["session/close", "session/delete"];

const CLIENT_CAN: &str = r#""clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true,"elicitation":{"form":{}}}"#;
const AGENT_CAN: &str =
    r#""agentCapabilities":{"loadSession":true,"sessionCapabilities":{"resume":{},"close":{},"delete":{},"fork":{}}}"#;

/// A request that opens or ends a session and has no answer yet.
#[derive(Debug, Clone)]
struct Open {
    id: Id,
    method: String,
    /// The session that it names, and which one of that id.
    session: Option<(String, u64)>,
}

/// Which sessions there are.
#[derive(Debug, Default)]
struct Model {
    /// By id: which one of that id it is, whether a call has opened it, and how many calls may.
    sessions: BTreeMap<String, (u64, bool, usize)>,
    lives: u64,
    open: Vec<Open>,
    made: usize,
}

impl Model {
    fn has(&self, id: &str) -> bool {
        self.sessions.contains_key(id)
    }

    fn asked(&mut self, id: Id, method: &str, session: Option<&str>) {
        let session = session.map(|name| {
            if attaches(method) {
                self.lives += 1;
                self.sessions.entry(name.to_owned()).or_insert((self.lives, false, 0)).2 += 1;
            }
            (name.to_owned(), self.sessions.get(name).map_or(0, |known| known.0))
        });
        self.open.push(Open { id, method: method.to_owned(), session });
    }

    /// The answer to an open call: whether it worked, and the session that it names. `waits` says of a call whether its
    /// answer is still waited for.
    fn answered(&mut self, open: &Open, worked: bool, named: Option<&str>, waits: impl Fn(&Id) -> bool) {
        let at = self.open.iter().position(|other| other.id == open.id).unwrap_or_default();
        self.open.retain(|other| other.id != open.id);
        if let Some(id) = named.filter(|_| worked) {
            self.lives += 1;
            self.sessions.insert(id.to_owned(), (self.lives, true, 0));
        }
        let Some((name, life)) = &open.session else { return };
        let Some(known) = self.sessions.get_mut(name).filter(|known| known.0 == *life) else { return };
        match &*open.method {
            "session/load" | "session/resume" => {
                known.1 |= worked;
                known.2 -= 1;
                if !known.1 && known.2 == 0 {
                    self.sessions.remove(name);
                }
            }
            "session/close" | "session/delete" if worked => {
                self.sessions.remove(name);
                self.attached_again(name, at, waits);
            }
            _ => {}
        }
    }

    /// A session that has ended is opened again by the calls that followed the one that has ended it.
    fn attached_again(&mut self, name: &str, from: usize, waits: impl Fn(&Id) -> bool) {
        let life = self.lives + 1;
        let mut count = 0;
        for open in self.open[from..].iter_mut().filter(|open| attaches(&open.method) && waits(&open.id)) {
            if let Some((_, of)) = open.session.as_mut().filter(|(id, _)| id == name) {
                (*of, count) = (life, count + 1);
            }
        }
        if count > 0 {
            self.lives = life;
            self.sessions.insert(name.to_owned(), (life, false, count));
        }
    }

    /// An id of any kind: of a session that there is, was, may be or never will be.
    fn any(&self, rng: &mut Rng) -> String {
        let known: Vec<&String> = self.sessions.keys().collect();
        match rng.below(6) {
            0 | 1 if !known.is_empty() => (*rng.pick(&known)).clone(),
            2 => format!("s-{}", rng.below(self.made + 2)),
            3 => format!("l-{}", rng.below(3)),
            _ => format!("x-{}", rng.below(3)),
        }
    }
}

struct World {
    connection: Connection,
    role: Role,
    model: Model,
    now: u64,
    next: i64,
    /// Calls that went through, and those that did not.
    through: usize,
    refused: usize,
}

impl World {
    fn new(role: Role, policy: Policy) -> Self {
        let mut config = Config::new(role);
        config.policy = policy;
        config.cancel_grace = Some(20);
        config.draft("session_fork").unwrap();
        let mut connection = Connection::new(config);
        match role {
            Role::Client => {
                connection.request("initialize", &format!("{{{CLIENT_CAN}}}")).unwrap();
                let hello = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":1,{AGENT_CAN}}}}}"#);
                connection.receive(format!("{hello}\n").as_bytes());
            }
            Role::Agent => {
                let params = format!(r#"{{"protocolVersion":1,{CLIENT_CAN}}}"#);
                let hello = format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{params}}}"#);
                connection.receive(format!("{hello}\n").as_bytes());
            }
        }
        while connection.poll_event().is_some() {}
        if role == Role::Agent {
            connection.respond(&Id::Number(0), &format!("{{{AGENT_CAN}}}")).unwrap();
        }
        World { connection, role, model: Model::default(), now: 0, next: 1_000, through: 0, refused: 0 }
    }

    fn feed(&mut self, message: &str) {
        self.connection.receive(message.as_bytes());
        self.connection.receive(b"\n");
        let client = self.role == Role::Client;
        while let Some(event) = self.connection.poll_event() {
            match event {
                Event::Request(request) => {
                    let session = request.session.as_deref();
                    if !client && (OPENING.contains(&&*request.method) || ENDING.contains(&&*request.method)) {
                        self.model.asked(request.id.clone(), &request.method, session);
                    } else if let Some(session) = session {
                        self.through += 1;
                        assert!(self.model.has(session), "delivered: {} about {session}: {message}", request.method);
                    }
                }
                Event::Notification(told) if &*told.method == "session/cancel" => {
                    let session = told.session.as_deref().unwrap();
                    assert!(self.model.has(session), "delivered: a cancel of {session}");
                }
                _ => {}
            }
        }
        self.connection.consume(usize::MAX);
    }

    /// The peer asks, or tells, about a session.
    fn peer_calls(&mut self, rng: &mut Rng) {
        let calls = if self.role == Role::Client { AGENTS } else { CLIENTS };
        let (method, members) = *rng.pick(calls);
        let params = params(&self.model.any(rng), members);
        self.next += 1;
        // A cancel is lost to nobody who sends it in the wrong form.
        let id = if method == "session/cancel" && !rng.one_in(4) {
            String::new()
        } else {
            format!(r#""id":{},"#, self.next)
        };
        self.feed(&format!(r#"{{"jsonrpc":"2.0",{id}"method":"{method}","params":{params}}}"#));
    }

    /// The host does.
    fn host_calls(&mut self, rng: &mut Rng) {
        let calls = if self.role == Role::Client { CLIENTS } else { AGENTS };
        let (method, members) = *rng.pick(calls);
        let session = self.model.any(rng);
        let params = params(&session, members);
        let sent = if method == "session/cancel" {
            self.connection.notify(method, &params).is_ok()
        } else {
            let timeout = if rng.one_in(3) { Timeout::After(5) } else { Timeout::Never };
            self.connection.request_with(method, &params, CallOptions::default().timeout(timeout)).is_ok()
        };
        if sent {
            self.through += 1;
            assert!(self.model.has(&session), "sent: {method} about {session}");
        } else {
            self.refused += 1;
        }
        self.feed("");
    }

    /// The client opens or ends a session.
    fn client_opens(&mut self, rng: &mut Rng) {
        let ends = rng.one_in(3);
        let method = *rng.pick(if ends { ENDING } else { OPENING });
        let session = match method {
            "session/new" => None,
            "session/load" | "session/resume" => Some(format!("l-{}", rng.below(3))),
            _ => Some(self.model.any(rng)),
        };
        let named = session.as_ref().map(|id| format!(r#""sessionId":"{id}","#)).unwrap_or_default();
        let params = if ends {
            format!("{{{}}}", named.trim_end_matches(','))
        } else {
            format!(r#"{{{named}"cwd":"/w","mcpServers":[]}}"#)
        };
        if self.role == Role::Client {
            let timeout = if rng.one_in(3) { Timeout::After(5) } else { Timeout::Never };
            if let Ok(id) = self.connection.request_with(method, &params, CallOptions::default().timeout(timeout)) {
                if rng.one_in(5) {
                    self.connection.cancel(&id).unwrap();
                }
                self.model.asked(id, method, session.as_deref());
            }
            self.feed("");
        } else {
            self.next += 1;
            let id = self.next;
            self.feed(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#));
        }
    }

    /// The agent answers one of these calls, perhaps after the client has given it up.
    fn agent_answers(&mut self, rng: &mut Rng) {
        if self.model.open.is_empty() {
            return;
        }
        let open = rng.pick(&self.model.open).clone();
        let worked = !rng.one_in(4);
        let names = matches!(&*open.method, "session/new" | "session/fork");
        // A fork has an id of its own (SESS-49).
        let source = open.session.as_ref().map(|(id, _)| id.clone());
        self.model.made += usize::from(source == Some(format!("s-{}", self.model.made)));
        let made = names.then(|| format!("s-{}", self.model.made));
        self.model.made += usize::from(names && worked);
        let result = made.as_ref().map_or("{}".to_owned(), |id| format!(r#"{{"sessionId":"{id}"}}"#));
        let (agent, connection) = (self.role == Role::Agent, &self.connection);
        let waits = |id: &Id| agent || connection.pending_by_id(id).is_some();
        self.model.answered(&open, worked, made.as_deref(), waits);
        match (self.role, worked) {
            (Role::Client, true) => {
                self.feed(&format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, open.id));
            }
            (Role::Client, false) => {
                self.feed(&format!(r#"{{"jsonrpc":"2.0","id":{},"error":{{"code":-1,"message":"no"}}}}"#, open.id));
            }
            (Role::Agent, true) => self.connection.respond(&open.id, &result).unwrap(),
            (Role::Agent, false) => {
                self.connection.respond_error(&open.id, ErrorCode::INTERNAL_ERROR, "no", None).unwrap();
            }
        }
        self.feed("");
    }

    /// The agent says something of a session, which it may do before the client knows of it.
    fn agent_tells(&mut self, rng: &mut Rng) {
        let update = r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}"#;
        let params = format!(r#"{{"sessionId":"{}","update":{update}}}"#, self.model.any(rng));
        match self.role {
            Role::Client => self.feed(&format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{params}}}"#)),
            Role::Agent => {
                let _ = self.connection.notify("session/update", &params);
                self.feed("");
            }
        }
    }

    fn step(&mut self, rng: &mut Rng) {
        match rng.below(10) {
            0 | 1 => self.client_opens(rng),
            2 => self.agent_answers(rng),
            3 => self.agent_tells(rng),
            4..=6 => self.peer_calls(rng),
            7 | 8 => self.host_calls(rng),
            _ => {
                self.now += 6;
                self.connection.handle_timeout(self.now);
                self.feed("");
            }
        }
    }
}

fn attaches(method: &str) -> bool {
    matches!(method, "session/load" | "session/resume")
}

fn params(session: &str, members: &str) -> String {
    let comma = if members.is_empty() { "" } else { "," };
    format!(r#"{{"sessionId":"{session}"{comma}{members}}}"#)
}

#[test]
fn calls_are_about_sessions_that_there_are() {
    for role in [Role::Client, Role::Agent] {
        for policy in [Policy::Tolerant, Policy::Strict, Policy::Off] {
            let (mut through, mut refused) = (0, 0);
            for seed in 1..=RUNS {
                let mut rng = Rng::new(seed * 0x9E37_79B9);
                let mut world = World::new(role, policy);
                for _ in 0..STEPS {
                    world.step(&mut rng);
                }
                through += world.through;
                refused += world.refused;
            }
            // Neither all nor nothing goes through.
            assert!(
                through > 1_000 && refused > 1_000,
                "{role:?} {policy:?}: {through} went through, {refused} did not"
            );
        }
    }
}
