//! A client and a server of ours over a network that loses, delays and breaks: requests that do not arrive, responses that do
//! not come back, streams that end in the middle of an event, readers that stop, connections that the server forgets. Whatever happens, no
//! message arrives twice or out of order in its session, none is missing of which the host is not told, each call ends exactly
//! once, each answer reaches the question that it was given for or none, memory stays within its limits, and once the network
//! works again, so does everything. In a third of the worlds streams are resumed.

#[path = "network/hosts.rs"]
mod hosts;
#[path = "support/rng.rs"]
mod rng;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet, VecDeque};

use hosts::Agent;
use libacp::http::{
    Client, ClientOptions, ConnectionKey, Event, Header, Outgoing, Request, SendError, Server, ServerOptions, Step,
};
use rng::Rng;
use serde_json::{json, Value};

/// Until then the network does what it likes, in milliseconds.
const STORM: u64 = 120_000;
/// Longer than anything is waited for.
const CALM: u64 = 1_500_000;
/// Bytes that may wait in a stream.
const STREAM: usize = 2048;
/// Bytes of a stream that are kept for who resumes it.
const RETAINED: usize = 4096;

/// Something on its way.
#[derive(Debug)]
enum Packet {
    Request(Outgoing),
    /// The client is gone from an exchange.
    Gone(u64),
    Head(u64, u16, Vec<(String, String)>),
    Data(u64, Vec<u8>),
    End(u64),
    Failed(u64, bool),
}

struct World {
    rng: Rng,
    now: u64,
    client: Client,
    server: Server,
    /// The order of what is on its way: when it arrives, and a number.
    queue: BinaryHeap<Reverse<(u64, u64)>>,
    packets: HashMap<u64, Packet>,
    sequence: u64,
    /// When the last packet of an exchange arrives, by direction: what is on one exchange stays in order.
    last: HashMap<(u64, bool), u64>,
    broken: HashSet<u64>,
    streams: BTreeMap<u64, bool>,
    /// Streams whose reader takes nothing until then.
    frozen: HashMap<u64, u64>,
    agents: BTreeMap<ConnectionKey, Agent>,
    /// What the agents know of sessions: how many updates each has had.
    stored: HashMap<String, u64>,
    ticks_seen: HashMap<(ConnectionKey, String), u64>,
    loads: bool,
    // The host of the client.
    calls: HashMap<u64, Option<String>>,
    next: u64,
    sessions: Vec<String>,
    updates_seen: HashMap<String, u64>,
    resumes: bool,
    /// Sessions of which the host knows that something may be missing.
    gaps: HashSet<String>,
    /// How often it was told so of a stream, and how often a stream was resumed.
    told: usize,
    resumed: usize,
    ticks_sent: HashMap<String, u64>,
    ended: usize,
    lost: usize,
    /// Ids of questions, and what they are about.
    questions: Vec<(Value, u64)>,
    /// Those that were lost, and that the host answers all the same.
    late: Vec<(Value, u64)>,
    /// How many questions the agents have asked.
    asked: u64,
    /// How many of them had another id for the host, and how many of those were cancelled.
    renamed: usize,
    cancelled: usize,
    breaks: usize,
    log: VecDeque<String>,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut options = ServerOptions::default();
        options.limits.stream = STREAM;
        options.limits.unread = STREAM;
        options.times.idle = 60_000;
        options.times.stall = 20_000;
        let mut asking = ClientOptions::default();
        // Longer than one stream may be behind another here.
        asking.times.quiet = 800;
        asking.times.replay = 20_000;
        let resumes = seed % 3 == 0;
        if resumes {
            (asking.resumable, options.limits.retained) = (true, RETAINED);
        }
        let mut rng = Rng::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let loads = rng.one_in(2);
        World {
            rng,
            now: 0,
            client: Client::new(asking, seed),
            server: Server::new(options),
            queue: BinaryHeap::new(),
            packets: HashMap::new(),
            sequence: 0,
            last: HashMap::new(),
            broken: HashSet::new(),
            streams: BTreeMap::new(),
            frozen: HashMap::new(),
            agents: BTreeMap::new(),
            stored: HashMap::new(),
            ticks_seen: HashMap::new(),
            loads,
            calls: HashMap::new(),
            next: 1,
            sessions: Vec::new(),
            updates_seen: HashMap::new(),
            resumes,
            gaps: HashSet::new(),
            told: 0,
            resumed: 0,
            ticks_sent: HashMap::new(),
            ended: 0,
            lost: 0,
            questions: Vec::new(),
            late: Vec::new(),
            asked: 0,
            renamed: 0,
            cancelled: 0,
            breaks: 0,
            log: VecDeque::new(),
        }
    }

    fn storms(&self) -> bool {
        self.now < STORM
    }

    fn note(&mut self, text: &str) {
        if self.log.len() > 400 {
            self.log.pop_front();
        }
        self.log.push_back(format!("{:>8} {text}", self.now));
    }

    /// Puts something on its way. What is on one exchange in one direction arrives in order.
    fn post(&mut self, exchange: u64, up: bool, packet: Packet) {
        let delay = match self.rng.below(10) {
            0 if self.storms() => 500,
            1 | 2 => 50,
            _ => 5,
        };
        let last = self.last.entry((exchange, up)).or_default();
        let at = (self.now + 1 + self.rng.below(delay) as u64).max(*last);
        *last = at;
        self.sequence += 1;
        self.packets.insert(self.sequence, packet);
        self.queue.push(Reverse((at, self.sequence)));
    }

    /// An exchange breaks: nothing more of it arrives but the news.
    fn breaks(&mut self, exchange: u64) {
        if self.broken.insert(exchange) {
            self.breaks += 1;
            self.note(&format!("exchange {exchange} breaks"));
            self.streams.remove(&exchange);
            self.server.closed(exchange);
            self.post(exchange, false, Packet::Failed(exchange, true));
        }
    }

    fn arrive(&mut self, packet: Packet) {
        match packet {
            Packet::Request(request) => self.request(&request),
            Packet::Gone(exchange) => {
                self.streams.remove(&exchange);
                self.server.closed(exchange);
            }
            Packet::Head(exchange, status, headers) if !self.broken.contains(&exchange) => {
                let headers: Vec<Header> = headers.iter().map(|(name, value)| (&**name, value.as_bytes())).collect();
                self.client.response(exchange, status, &headers);
            }
            Packet::Data(exchange, bytes) if !self.broken.contains(&exchange) => self.client.data(exchange, &bytes),
            Packet::End(exchange) if !self.broken.contains(&exchange) => self.client.end(exchange),
            Packet::Failed(exchange, sent) => self.client.failed(exchange, sent),
            _ => {}
        }
    }

    fn request(&mut self, request: &Outgoing) {
        let mut headers: Vec<Header> = vec![("host", b"localhost")];
        headers.extend(request.headers.iter().map(|(name, value)| (&**name, value.as_bytes())));
        let head = Request::new(request.method, &request.target, &headers);
        let mut step = self.server.request(request.exchange, &head);
        if let Step::Body { .. } = step {
            step = self.server.body(request.exchange, request.body.as_bytes(), true);
        }
        if self.storms() && self.rng.one_in(15) {
            // It arrived, and the response does not.
            self.breaks(request.exchange);
            return;
        }
        match step {
            Step::Respond(response) => self.respond(request.exchange, &response),
            Step::Stream(response) => {
                self.streams.insert(request.exchange, true);
                let headers =
                    response.headers.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
                self.post(request.exchange, false, Packet::Head(request.exchange, response.status, headers));
            }
            Step::Wait => {}
            other => panic!("{other:?}"),
        }
    }

    fn respond(&mut self, exchange: u64, response: &libacp::http::Response) {
        self.note(&format!("response {exchange}: {} {}", response.status, response.body));
        let headers = response.headers.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        self.post(exchange, false, Packet::Head(exchange, response.status, headers));
        self.post(exchange, false, Packet::Data(exchange, response.body.clone().into_bytes()));
        self.post(exchange, false, Packet::End(exchange));
    }

    /// What the server has to say.
    fn serve(&mut self) {
        if self.server.wants_entropy() > 0 {
            let bytes: Vec<u8> = (0..self.server.wants_entropy()).map(|_| self.rng.below(256) as u8).collect();
            self.server.add_entropy(&bytes);
        }
        while let Some(event) = self.server.poll_event() {
            match event {
                Event::Opened { connection } => drop(self.agents.insert(connection, Agent::default())),
                Event::Closed { connection, why } => {
                    self.note(&format!("server closed {connection:?}: {why}"));
                    self.agents.remove(&connection);
                }
                Event::Message { connection, json } => self.agent(connection, &json),
                Event::Drained { connection } => {
                    if let Some(agent) = self.agents.get_mut(&connection) {
                        agent.full = false;
                    }
                }
                Event::Respond { exchange, response } => self.respond(exchange, &response),
                Event::Finish { exchange } => {
                    self.streams.insert(exchange, false);
                }
                Event::Violation(report) => self.note(&format!("server reports {report:?}")),
                _ => {}
            }
        }
        let keys: Vec<ConnectionKey> = self.agents.keys().copied().collect();
        for key in keys {
            while let Some(agent) = self.agents.get_mut(&key).filter(|agent| !agent.full) {
                let Some(json) = agent.outbox.front() else { break };
                match self.server.send(key, json) {
                    Ok(()) => drop(agent.outbox.pop_front()),
                    Err(SendError::Full) => agent.full = true,
                    Err(SendError::Closed) => break,
                    // The host answers a question of a connection that was closed by the time.
                    Err(error) => panic!("{error}: {json}"),
                }
            }
        }
        self.pump_streams();
    }

    /// Takes some bytes of each stream.
    fn pump_streams(&mut self) {
        let streams: Vec<(u64, bool)> = self.streams.iter().map(|(exchange, open)| (*exchange, *open)).collect();
        for (exchange, open) in streams {
            if self.storms() && self.rng.one_in(2000) {
                self.note(&format!("the reader of {exchange} takes nothing"));
                self.frozen.insert(exchange, self.now + 40_000);
            }
            if self.frozen.get(&exchange).is_some_and(|until| *until > self.now) && open {
                continue;
            }
            let waits = self.server.transmit(exchange).len();
            // What was kept of what it had is sent again; as much stays before it is worth moving the rest.
            let most = if self.resumes { 2 * (STREAM + RETAINED) } else { STREAM };
            assert!(waits <= most + 600, "{waits} bytes wait");
            if waits > 0 {
                let count = 1 + self.rng.below(waits.min(300));
                let bytes = self.server.transmit(exchange)[..count].to_vec();
                self.server.consume(exchange, count);
                self.post(exchange, false, Packet::Data(exchange, bytes));
                if self.storms() && self.rng.one_in(60) {
                    self.breaks(exchange);
                }
            } else if !open {
                self.streams.remove(&exchange);
                self.server.closed(exchange);
                self.post(exchange, false, Packet::End(exchange));
            }
        }
    }

    /// One moment.
    fn step(&mut self, wishes: bool) {
        self.now += if self.queue.is_empty() && !wishes { 500 } else { 5 };
        self.server.handle_timeout(self.now);
        self.client.handle_timeout(self.now);
        while let Some(&Reverse((at, number))) = self.queue.peek().filter(|first| first.0 .0 <= self.now) {
            let _ = at;
            self.queue.pop();
            let packet = self.packets.remove(&number).expect("a packet");
            self.arrive(packet);
            self.serve();
            self.act();
        }
        if self.storms() && self.rng.one_in(4000) {
            let keys: Vec<ConnectionKey> = self.agents.keys().copied().collect();
            if let Some(key) = keys.first() {
                self.note("the server loses a connection");
                self.server.close(*key);
            }
        }
        if wishes && self.rng.one_in(3) {
            self.wish();
        }
        self.serve();
        self.act();
    }
}

fn run(seed: u64) -> Counts {
    let mut world = World::new(seed);
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}});
        world.client.send(&hello.to_string()).expect("the first message");
        world.calls.insert(0, None);
        while world.storms() {
            world.step(true);
        }
        // A reader that takes nothing may do so for a while, and its stream is given up after that.
        let frozen = |world: &World| world.frozen.values().any(|until| world.now < until + 40_000);
        while world.now < CALM && (!world.calls.is_empty() || !world.queue.is_empty() || frozen(&world)) {
            while let Some((id, about)) = world.questions.pop() {
                let _ = world.reply(&id, about);
            }
            world.step(false);
        }
        assert!(world.calls.is_empty(), "calls that did not end: {:?}", world.calls);
        // Everything works again.
        let before = world.ended;
        world.call("session/new", None);
        world.call("session/list", None);
        for session in world.sessions.clone() {
            world.call("session/prompt", Some(&session));
        }
        let (expected, until) = (world.calls.len(), world.now + 100_000);
        while world.now < until && !world.calls.is_empty() {
            world.step(false);
            while let Some((id, about)) = world.questions.pop() {
                world.reply(&id, about).expect("an answer");
            }
        }
        assert_eq!(world.ended - before, expected, "open: {:?}", world.calls);
    }));
    if outcome.is_err() {
        let log: Vec<String> = world.log.into_iter().collect();
        panic!("seed {seed}\n{}", log.join("\n"));
    }
    Counts {
        ended: world.ended,
        lost: world.lost,
        breaks: world.breaks,
        gaps: if world.resumes { 0 } else { world.told },
        gaps_of_resumed: if world.resumes { world.told } else { 0 },
        resumed: world.resumed,
        renamed: world.renamed,
        cancelled: world.cancelled,
    }
}

/// What has happened in a world, so that the test says something.
#[derive(Debug, Default)]
struct Counts {
    ended: usize,
    lost: usize,
    breaks: usize,
    gaps: usize,
    gaps_of_resumed: usize,
    resumed: usize,
    renamed: usize,
    cancelled: usize,
}

#[test]
fn whatever_the_network_does() {
    let mut all = Counts::default();
    for seed in setting("FIRST", 1)..=setting("ROUNDS", 100) {
        let one = run(seed);
        all.ended += one.ended;
        all.lost += one.lost;
        all.breaks += one.breaks;
        all.gaps += one.gaps;
        all.gaps_of_resumed += one.gaps_of_resumed;
        all.resumed += one.resumed;
        all.renamed += one.renamed;
        all.cancelled += one.cancelled;
    }
    assert!(all.ended > 500 && all.lost > 20 && all.breaks > 200 && all.gaps > 200 && all.resumed > 200, "{all:?}");
    assert!(all.renamed > 20 && all.cancelled > 0, "{all:?}");
    // Only what broke before anything of it came, and what was kept no more.
    assert!(all.gaps_of_resumed * 5 < all.resumed, "{all:?}");
}

/// The first and the last seed, for who wants to search.
fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(usual)
}
