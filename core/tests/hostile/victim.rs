//! The host that is attacked: it feeds, polls and writes, or leaves one of these out.

use libacp::connection::{Event, Limits, Role, Versions};
use libacp::{Config, Connection, Id};

use crate::attacks::Attack;
use crate::ALLOCATOR;

/// What the transport hands over at once.
const PIECE: usize = 64 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Habit {
    /// Does all that it should.
    Good,
    /// Never writes what waits in `transmit`.
    NeverWrites,
}

#[derive(Debug)]
pub(crate) struct Victim {
    pub(crate) connection: Connection,
    habit: Habit,
    /// Answers every request with this.
    pub(crate) answer: Option<String>,
    most: usize,
    pub(crate) requests: usize,
    notifications: usize,
}

impl Victim {
    /// A connection with one session, `s-1`, whose turn runs.
    pub(crate) fn new(attack: &Attack) -> Self {
        let mut config = Config::new(attack.role);
        config.limits.frame = 1 << 20;
        config.versions = Versions::only(attack.version);
        if attack.unlimited {
            let Limits { pending, sessions, terminals, remembered, .. } = &mut config.limits;
            (*pending, *sessions, *terminals, *remembered) = (1 << 20, 1 << 20, 1 << 20, 1 << 20);
        }
        let connection = Connection::new(config);
        let mut victim =
            Victim { connection, habit: Habit::Good, answer: None, most: 0, requests: 0, notifications: 0 };
        match attack.role {
            Role::Client => {
                victim.connection.request("initialize", r#"{"clientCapabilities":{}}"#).expect("initialize");
                victim.line(r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":{"list":{}}}}}"#);
                victim.connection.request("session/new", r#"{"cwd":"/w","mcpServers":[]}"#).expect("session/new");
                victim.line(r#"{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s-1"}}"#);
                victim.connection.request("session/prompt", r#"{"sessionId":"s-1","prompt":[]}"#).expect("a prompt");
            }
            Role::Agent => {
                let version = attack.version;
                victim.line(&format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":{version},"clientCapabilities":{{"terminal":true}},"capabilities":{{}},"info":{{"name":"c","version":"1"}}}}}}"#));
                let welcome = if version == 1 {
                    r#"{"agentCapabilities":{"sessionCapabilities":{"close":{}}}}"#
                } else {
                    r#"{"info":{"name":"a","version":"1"},"capabilities":{"session":{}}}"#
                };
                victim.connection.respond(&Id::Number(0), welcome).expect("an answer to initialize");
                victim.line(r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}"#);
                victim.connection.respond(&Id::Number(1), r#"{"sessionId":"s-1"}"#).expect("a session");
            }
        }
        victim.connection.consume(usize::MAX);
        victim.habit = attack.habit;
        victim.requests = 0;
        victim
    }

    /// Bytes of the peer's, as they come.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        for piece in bytes.chunks(PIECE) {
            self.connection.receive(piece);
            self.look();
            self.serve();
        }
    }

    pub(crate) fn line(&mut self, text: &str) {
        self.connection.receive(text.as_bytes());
        self.feed(b"\n");
    }

    fn serve(&mut self) {
        while let Some(event) = self.connection.poll_event() {
            self.look();
            match event {
                Event::Request(request) => {
                    self.requests += 1;
                    if let Some(answer) = &self.answer {
                        let answer = answer.replace('#', &self.requests.to_string());
                        self.connection.respond(&request.id, &answer).expect("an answer that fits");
                    }
                }
                Event::Notification(_) => self.notifications += 1,
                _ => {}
            }
        }
        self.look();
        if self.habit == Habit::Good {
            self.connection.consume(usize::MAX);
        }
    }

    fn look(&mut self) {
        self.most = self.most.max(ALLOCATOR.allocated());
    }

    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// The peer says something sensible at last, once the host does what it should.
    pub(crate) fn understands_the_next(&mut self, attack: &str) {
        self.habit = Habit::Good;
        while self.connection.poll_timeout().is_some() || !self.connection.transmit().is_empty() {
            self.connection.consume(usize::MAX);
            self.serve();
        }
        // What was begun ends here.
        self.feed(b"\n");
        let before = self.notifications;
        self.feed(b"{\"jsonrpc\":\"2.0\",\"method\":\"_x/good\",\"params\":{}}\n");
        assert_eq!(self.notifications, before + 1, "{attack}: the next good message is lost");
        assert_eq!(self.connection.buffered(), 0, "{attack}");
    }
}
