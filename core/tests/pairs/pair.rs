//! Two connections, and the bytes between them.

use libacp::connection::{Config, Connection, Policy, Role, Session, Versions};
use libacp::framing::Framing;

use crate::agent::{is_final, Agent};
use crate::choices::Choices;
use crate::client::Client;
use crate::host::{Base, Host, Log};

/// Rounds after which two hosts that only answer have nothing left to answer.
const ROUNDS: usize = 1_000;

#[derive(Debug)]
pub(crate) struct Pair {
    pub(crate) client: Client,
    pub(crate) agent: Agent,
    log: Log,
}

impl Pair {
    pub(crate) fn new(choices: &mut Choices) -> Self {
        let framing = if choices.one_in(4) { Framing::ContentLength } else { Framing::Lines };
        let drafts = choices.one_in(2);
        let mut config = |role: Role| {
            let mut config = Config::new(role);
            config.framing = framing;
            config.policy = if choices.one_in(3) { Policy::Strict } else { Policy::Tolerant };
            config
        };
        let (client, mut agent) = (config(Role::Client), config(Role::Agent));
        agent.versions = if choices.one_in(3) { Versions::ALL } else { Versions::only(1) };
        let log = Log::default();
        let base = |config| Base::new(config, true, log.clone());
        Pair {
            client: Client::new(client, drafts, base, choices),
            agent: Agent::new(agent, drafts, base, choices),
            log: log.clone(),
        }
    }

    pub(crate) fn log(&self) -> Vec<String> {
        self.log.take()
    }

    /// Something happens: bytes arrive, or a host does something.
    pub(crate) fn step(&mut self, choices: &mut Choices) -> Result<(), String> {
        match choices.below(6) {
            0 => flow(self.client.base(), self.agent.base(), usize::MAX),
            1 => flow(self.agent.base(), self.client.base(), usize::MAX),
            2 => flow(self.client.base(), self.agent.base(), choices.below(200)),
            3 => flow(self.agent.base(), self.client.base(), choices.below(200)),
            4 => return self.client.act(choices),
            _ => return self.agent.act(choices),
        }
        self.client.drain()?;
        self.agent.drain()
    }

    /// All bytes arrive and all requests are answered.
    pub(crate) fn settle(&mut self, choices: &mut Choices) -> Result<(), String> {
        for _ in 0..ROUNDS {
            flow(self.client.base(), self.agent.base(), usize::MAX);
            flow(self.agent.base(), self.client.base(), usize::MAX);
            self.client.drain()?;
            self.agent.drain()?;
            let answered = [self.client.answer_one(choices)?, self.agent.answer_one(choices)?];
            let quiet = |base: &mut Base| base.connection.transmit().is_empty();
            if answered == [false, false] && quiet(self.client.base()) && quiet(self.agent.base()) {
                return Ok(());
            }
        }
        Err("they never come to rest".into())
    }

    /// At rest both sides know the same.
    pub(crate) fn compare(&mut self) -> Result<(), String> {
        for base in [self.client.base(), self.agent.base()] {
            let (own, peers) = (base.connection.pending().count(), base.connection.unanswered().count());
            if own + peers + base.sent.len() + base.todo.len() > 0 {
                return Err(format!("at rest {own} and {peers} requests are open, the host has {:?}", base.sent));
            }
        }
        let (one, other) = (known(&self.client.base().connection), known(&self.agent.base().connection));
        if one != other {
            return Err(format!("the client knows {one:#?}, the agent {other:#?}"));
        }
        Ok(())
    }

    /// Terminals are released, one side goes, and nothing is left.
    pub(crate) fn part(&mut self, choices: &mut Choices, at_rest: bool) -> Result<(), String> {
        if at_rest {
            self.agent.release_all()?;
            self.settle(choices)?;
            let leaks = self.client.base().connection.open_terminals();
            if !leaks.is_empty() || !self.agent.base().connection.open_terminals().is_empty() {
                return Err(format!("never released: {leaks:?}"));
            }
        }
        let client_goes = choices.one_in(2);
        let (one, other): (&mut Base, &mut Base) = (self.client.base(), self.agent.base());
        let (goes, stays) = if client_goes { (one, other) } else { (other, one) };
        goes.connection.close();
        flow(goes, stays, usize::MAX);
        stays.connection.receive_eof();
        self.client.drain()?;
        self.agent.drain()?;
        for base in [self.client.base(), self.agent.base()] {
            if !base.over || !base.sent.is_empty() || base.connection.pending().count() > 0 {
                return Err(format!("over: {}, never ended: {:?}", base.over, base.sent));
            }
        }
        Ok(())
    }
}

/// Bytes go from one to the other.
pub(crate) fn flow(from: &mut Base, to: &mut Base, count: usize) {
    let bytes = from.connection.transmit();
    let count = count.min(bytes.len());
    to.connection.receive(&bytes[..count]);
    from.connection.consume(count);
}

/// What a connection says of its sessions.
fn known(connection: &Connection) -> Vec<(String, String)> {
    let mut all: Vec<_> = connection.sessions().map(|(id, session)| (id.to_string(), describe(session))).collect();
    all.sort();
    all
}

fn describe(session: &Session) -> String {
    // CANCEL-02: the client alone calls those cancelled that had not ended when it cancelled their turn.
    let status = |status| if is_final(status) { status } else { "not ended" };
    let tools: Vec<_> = session.tool_calls().map(|(id, known)| (id, status(known))).collect();
    let plans: Vec<_> = session.plan_ids().collect();
    let compactions: Vec<_> = session.open_compactions().collect();
    let roots: Vec<_> = session.roots().collect();
    let lists = (session.config_options(), session.commands(), session.plan());
    format!(
        "{:?} {:?} {:?} {:?} {tools:?} {plans:?} {compactions:?} {roots:?} {lists:?}",
        session.state,
        session.turn,
        session.terminals,
        session.mode()
    )
}
