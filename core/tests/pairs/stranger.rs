//! One side keeps to the rules, and what reaches it is another matter: messages that are changed, doubled, kept back
//! until they are out of place, or no messages at all.

use std::collections::HashMap;

use libacp::connection::{Policy, Role};
use libacp::json::pointer;
use libacp::Id;
use serde_json::Value;

use crate::choices::Choices;
use crate::host::{Base, Host, Log};
use crate::mutate;
use crate::pair::Speech;
use crate::rng::Rng;

/// What the good side tracks at most.
const PENDING: usize = 12;
const SESSIONS: usize = 4;
const TERMINALS: usize = 2;
const REMEMBERED: usize = 8;
const FRAME: usize = 32_000;

/// A text that stands in changed messages and must not come back.
const CANARY: &str = "canary-7f3a";

#[derive(Debug)]
pub(crate) struct Meeting<V: Speech> {
    pub(crate) client: V::Client,
    pub(crate) agent: V::Agent,
    good: Role,
    /// Lines of the bad side's that are late.
    held: Vec<Vec<u8>>,
    /// How often each id was named by what the good side received, and by its answers.
    named: HashMap<Id, usize>,
    answered: HashMap<Id, usize>,
    log: Log,
}

impl<V: Speech> Meeting<V> {
    pub(crate) fn new(choices: &mut Choices) -> Self {
        let log = Log::default();
        let good = if choices.one_in(2) { Role::Client } else { Role::Agent };
        let drafts = choices.one_in(2);
        let mut config = |role: Role| {
            let mut config = V::config(role);
            if drafts {
                for name in V::DRAFTS {
                    config.draft(name).expect("a draft");
                }
            }
            config.policy = [Policy::Tolerant, Policy::Strict, Policy::Off][choices.below(3)];
            if role == good {
                let limits = &mut config.limits;
                (limits.pending, limits.sessions, limits.frame) = (PENDING, SESSIONS, FRAME);
                (limits.terminals, limits.remembered) = (TERMINALS, REMEMBERED);
            }
            config
        };
        let (client, agent) = (config(Role::Client), config(Role::Agent));
        let base = |config| Base::new(config, false, log.clone());
        Meeting {
            client: V::Client::new(client, drafts, base, choices),
            agent: V::Agent::new(agent, drafts, base, choices),
            good,
            held: Vec::new(),
            named: HashMap::new(),
            answered: HashMap::new(),
            log: log.clone(),
        }
    }

    pub(crate) fn log(&self) -> Vec<String> {
        self.log.take()
    }

    fn bases(&mut self) -> (&mut Base, &mut Base) {
        let (client, agent) = (self.client.base(), self.agent.base());
        match self.good {
            Role::Client => (client, agent),
            Role::Agent => (agent, client),
        }
    }

    pub(crate) fn step(&mut self, choices: &mut Choices) -> Result<(), String> {
        match choices.below(6) {
            0 => self.hear_bad(choices),
            1 | 2 => self.hear_good()?,
            3 | 4 => self.client.act(choices)?,
            _ => self.agent.act(choices)?,
        }
        self.client.drain()?;
        self.agent.drain()?;
        self.check_limits()
    }

    /// What the bad side says, and what becomes of it on the way.
    fn hear_bad(&mut self, choices: &mut Choices) {
        let bytes = self.bases().1.connection.transmit().to_vec();
        self.bases().1.connection.consume(bytes.len());
        let lines: Vec<Vec<u8>> = bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        for line in lines {
            match choices.below(12) {
                0..=5 => self.give(&line),
                6..=8 => self.give(&changed(line, choices)),
                9 => self.held.push(line),
                10 => {
                    self.give(&line);
                    self.give(&line);
                }
                _ => {}
            }
        }
        if let Some(late) = choices.pick(&self.held).filter(|_| choices.one_in(3)).cloned() {
            self.give(&late);
        }
        if choices.one_in(8) {
            let length = choices.below(60);
            let mut noise = mutate::noise(&mut rng(choices), length);
            noise.push(b'\n');
            self.give(&noise);
        }
    }

    fn give(&mut self, bytes: &[u8]) {
        for line in bytes.split(|byte| *byte == b'\n') {
            let id = std::str::from_utf8(line).ok().and_then(|line| pointer(line, "/id")).and_then(Id::from_json);
            if let Some(id) = id {
                *self.named.entry(id).or_default() += 1;
            }
        }
        self.log.borrow_mut().push(format!("arrives: {}", String::from_utf8_lossy(bytes).trim_end()));
        self.bases().0.connection.receive(bytes);
    }

    /// What the good side says: no answer too many, and nothing in them of what was received.
    fn hear_good(&mut self) -> Result<(), String> {
        let bytes = self.bases().0.connection.transmit().to_vec();
        self.bases().0.connection.consume(bytes.len());
        let text = std::str::from_utf8(&bytes).map_err(|error| error.to_string())?;
        for line in text.lines() {
            let message: Value = serde_json::from_str(line).map_err(|error| format!("{error}: {line}"))?;
            let id = pointer(line, "/id").and_then(Id::from_json);
            let (None, Some(id)) = (message.get("method"), id) else { continue };
            if let Some(error) = message.get("error") {
                let mut error = error.clone();
                if let Some(data) = error["data"].as_object_mut() {
                    data.retain(|name, _| name != "method" && name != "sessionId");
                }
                if error.to_string().contains(CANARY) {
                    return Err(format!("what was received comes back: {line}"));
                }
            }
            if id != Id::Null {
                let answers = self.answered.entry(id.clone()).or_default();
                *answers += 1;
                if *answers > self.named.get(&id).copied().unwrap_or_default() {
                    return Err(format!("an answer that nobody waits for: {line}"));
                }
            }
        }
        self.bases().1.connection.receive(&bytes);
        Ok(())
    }

    fn check_limits(&mut self) -> Result<(), String> {
        let good = &self.bases().0.connection;
        let within = good.unanswered().count() <= PENDING
            && good.pending().count() <= PENDING
            && good.buffered() <= FRAME
            && good.sessions().count() <= SESSIONS
            && good.sessions().all(|(_, session)| {
                session.terminals.len() <= TERMINALS
                    && session.tool_calls().count() <= REMEMBERED
                    && session.plan_ids().count() <= REMEMBERED
                    && session.open_compactions().count() <= REMEMBERED
            });
        within.then_some(()).ok_or_else(|| {
            let sessions: Vec<_> = good.sessions().collect();
            format!("more than the limits: {} unanswered, {sessions:?}", good.unanswered().count())
        })
    }

    /// The bad side goes: everything that the good side waits for has ended.
    pub(crate) fn part(&mut self) -> Result<(), String> {
        self.bases().0.connection.receive_eof();
        self.client.drain()?;
        self.agent.drain()?;
        self.hear_good()?;
        let good = self.bases().0;
        if !good.over || !good.sent.is_empty() || good.connection.pending().count() > 0 {
            return Err(format!("over: {}, never ended: {:?}", good.over, good.sent));
        }
        Ok(())
    }
}

fn rng(choices: &mut Choices) -> Rng {
    Rng::new(choices.below(1 << 30) as u64 + 1)
}

/// A message made worse, its line end apart.
fn changed(mut line: Vec<u8>, choices: &mut Choices) -> Vec<u8> {
    let mut rng = rng(choices);
    line.pop();
    if rng.one_in(3) {
        mutate::aim(&mut rng, &mut line);
    }
    mutate::mutate(&mut rng, &mut line);
    if rng.one_in(2) {
        mutate::plant(&mut rng, &mut line, CANARY);
    }
    line.push(b'\n');
    line
}
