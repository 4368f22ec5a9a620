//! Two connections, the bytes between them, and somebody who looks on.

use libacp::connection::{Config, Connection, Event, Observer, Policy, Role, Session, Versions};
use libacp::framing::Framing;

use crate::agent::is_final;
use crate::choices::Choices;
use crate::host::{Base, Host, Log};
use crate::link::Link;

/// Rounds after which two hosts that only answer have nothing left to answer.
const ROUNDS: usize = 1_000;

/// The hosts of one version.
pub(crate) trait Speech {
    type Client: Host;
    type Agent: Host;
    const VERSION: u16;
    /// What happens in one run.
    const STEPS: usize;
    /// The sides that may speak other versions beside it.
    const MAY_SPEAK_MORE: &'static [Role];
    /// What the hosts know of what is not stable.
    const DRAFTS: &'static [&'static str];
    /// The unions of which they send each variant: the type, the member that has it, and the tag.
    const UNIONS: &'static [(&'static str, &'static str, &'static str)];
    /// What they do not say all the same.
    const NEVER: &'static [&'static str];

    fn config(role: Role) -> Config {
        let mut config = Config::new(role);
        config.versions = Versions::only(Self::VERSION);
        config
    }
}

#[derive(Debug)]
pub(crate) struct Pair<V: Speech> {
    pub(crate) client: V::Client,
    pub(crate) agent: V::Agent,
    observer: Observer,
    /// From the client to the agent.
    there: Link,
    back: Link,
    log: Log,
}

impl<V: Speech> Pair<V> {
    pub(crate) fn new(choices: &mut Choices) -> Self {
        let framing = if choices.one_in(4) { Framing::ContentLength } else { Framing::Lines };
        let drafts = choices.one_in(2);
        let mut config = |role: Role| {
            let mut config = V::config(role);
            config.framing = framing;
            config.policy = if choices.one_in(3) { Policy::Strict } else { Policy::Tolerant };
            if drafts {
                for name in V::DRAFTS {
                    config.draft(name).expect("a draft");
                }
            }
            config
        };
        let (mut client, mut agent) = (config(Role::Client), config(Role::Agent));
        let mut looks_on = config(Role::Client);
        looks_on.versions = Versions::ALL;
        for config in [&mut client, &mut agent] {
            if V::MAY_SPEAK_MORE.contains(&config.role) && choices.one_in(3) {
                config.versions = Versions::ALL;
            }
        }
        let mut link = || Link::new(framing, V::VERSION > 1 && choices.one_in(2), choices.one_in(2));
        let (there, back) = (link(), link());
        let log = Log::default();
        let base = |config| Base::new(config, true, log.clone());
        Pair {
            client: V::Client::new(client, drafts, base, choices),
            agent: V::Agent::new(agent, drafts, base, choices),
            observer: Observer::new(looks_on),
            there,
            back,
            log: log.clone(),
        }
    }

    pub(crate) fn log(&self) -> Vec<String> {
        self.log.take()
    }

    /// How many batches were sent.
    pub(crate) fn batches(&self) -> usize {
        self.there.batches + self.back.batches
    }

    /// Something happens: bytes arrive, or a host does something.
    pub(crate) fn step(&mut self, choices: &mut Choices) -> Result<(), String> {
        match choices.below(6) {
            0 => self.there(usize::MAX, choices),
            1 => self.back(usize::MAX, choices),
            2 => self.there(choices.below(200), choices),
            3 => self.back(choices.below(200), choices),
            4 => return self.client.act(choices),
            _ => return self.agent.act(choices),
        }
        self.drain()
    }

    /// Bytes go from the client to the agent.
    fn there(&mut self, count: usize, choices: &mut Choices) {
        self.there.carry(self.client.base(), self.agent.base(), &mut self.observer, count, choices);
    }

    fn back(&mut self, count: usize, choices: &mut Choices) {
        self.back.carry(self.agent.base(), self.client.base(), &mut self.observer, count, choices);
    }

    fn drain(&mut self) -> Result<(), String> {
        self.client.drain()?;
        self.agent.drain()?;
        while let Some((from, event)) = self.observer.poll_event() {
            self.log.borrow_mut().push(format!("observer: {} {event:?}", from.name()));
            match event {
                Event::Violation(violation) => {
                    return Err(format!("who looks on says that the {} broke a rule: {violation:?}", from.name()));
                }
                Event::Closed(_) if self.observer.poll_event().is_some() => {
                    return Err("who looks on sees something after the end".into());
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// All bytes arrive, all requests are answered, and what goes on by itself ends.
    pub(crate) fn settle(&mut self, choices: &mut Choices) -> Result<(), String> {
        for _ in 0..ROUNDS {
            self.there(usize::MAX, choices);
            self.back(usize::MAX, choices);
            self.drain()?;
            let answered = [self.client.answer_one(choices)?, self.agent.answer_one(choices)?];
            if answered.contains(&true) || self.client.rest(choices)? || self.agent.rest(choices)? {
                continue;
            }
            let quiet = |base: &mut Base| base.connection.transmit().is_empty();
            if quiet(self.client.base()) && quiet(self.agent.base()) && self.there.is_empty() && self.back.is_empty() {
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
        let seen = self.observer.sessions().map(|(id, session)| (id.to_string(), describe(session)));
        let mut seen: Vec<_> = seen.collect();
        seen.sort();
        let open = [Role::Client, Role::Agent].map(|of| self.observer.open_requests(of).count());
        if seen != one || open != [0, 0] {
            return Err(format!("who looks on knows {seen:#?} and {open:?} requests, the client {one:#?}"));
        }
        Ok(())
    }

    /// Terminals are released, one side goes, and nothing is left.
    pub(crate) fn part(&mut self, choices: &mut Choices, at_rest: bool) -> Result<(), String> {
        if at_rest {
            self.agent.give_back()?;
            self.settle(choices)?;
            let leaks = self.client.base().connection.open_terminals();
            if !leaks.is_empty() || !self.agent.base().connection.open_terminals().is_empty() {
                return Err(format!("never released: {leaks:?}"));
            }
        }
        let client_goes = choices.one_in(2);
        if client_goes {
            self.client.base().connection.close();
            self.there(usize::MAX, choices);
            self.agent.base().connection.receive_eof();
        } else {
            self.agent.base().connection.close();
            self.back(usize::MAX, choices);
            self.client.base().connection.receive_eof();
        }
        // What was on its way to the one that is gone reaches nobody but who looks on.
        self.there(usize::MAX, choices);
        self.back(usize::MAX, choices);
        self.drain()?;
        self.observer.receive_eof(Role::Client);
        self.observer.receive_eof(Role::Agent);
        self.drain()?;
        for base in [self.client.base(), self.agent.base()] {
            if !base.over || !base.sent.is_empty() || base.connection.pending().count() > 0 {
                return Err(format!("over: {}, never ended: {:?}", base.over, base.sent));
            }
        }
        Ok(())
    }
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
    let displays: Vec<_> = session.display_terminals().collect();
    let work = (session.stop_reason(), session.stop_error(), session.background());
    format!(
        "{:?} {:?} {:?} {:?} {tools:?} {plans:?} {compactions:?} {roots:?} {lists:?} {displays:?} {work:?}",
        session.state,
        session.turn,
        session.terminals,
        session.mode()
    )
}
