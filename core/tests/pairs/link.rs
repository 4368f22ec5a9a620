//! The way from one host to the other, on which somebody may look on and something may pack messages into batches.

use libacp::connection::Observer;
use libacp::framing::{Decoder, Framing, Item, Outbox};
use serde_json::Value;

use crate::choices::Choices;
use crate::host::Base;

/// Frames are no longer than this.
const FRAME: usize = 1 << 20;
/// Messages of one batch at most.
const MOST: usize = 6;
/// Calls that stand in no batch: others depend on them (BATCH-10).
const ALONE: &[&str] = &["initialize", "auth/login", "auth/logout", "session/new", "session/resume", "session/prompt"];
/// Calls whose answer replaces what an update may have told since it was written: the answers of a batch wait for each
/// other, and updates do not.
const ORDERED: &[&str] = &["session/fork", "session/set_config_option"];

#[derive(Debug)]
pub(crate) struct Link {
    framing: Framing,
    decoder: Decoder,
    /// What has set out and not arrived.
    wire: Vec<u8>,
    /// Packs messages into batches.
    packs: bool,
    /// Who looks on stands where bytes set out, not where they arrive.
    near: bool,
    pub(crate) batches: usize,
}

impl Link {
    pub(crate) fn new(framing: Framing, packs: bool, near: bool) -> Self {
        Link { framing, decoder: Decoder::new(framing, FRAME), wire: Vec::new(), packs, near, batches: 0 }
    }

    /// What one side has said sets out, and so many bytes of what is on the way arrive.
    pub(crate) fn carry(
        &mut self,
        from: &mut Base,
        to: &mut Base,
        observer: &mut Observer,
        count: usize,
        choices: &mut Choices,
    ) {
        let role = from.connection.role();
        let said = from.connection.transmit();
        let sets_out = if self.packs || self.near { said.len() } else { count.min(said.len()) };
        let said = said[..sets_out].to_vec();
        from.connection.consume(sets_out);
        let said = if self.packs { self.pack(&said, choices) } else { said };
        if self.near {
            observer.receive(role, &said);
        }
        self.wire.extend(said);
        let arrives: Vec<u8> = self.wire.drain(..count.min(self.wire.len())).collect();
        if !self.near {
            observer.receive(role, &arrives);
        }
        to.connection.receive(&arrives);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.wire.is_empty()
    }

    fn pack(&mut self, said: &[u8], choices: &mut Choices) -> Vec<u8> {
        let mut out = Outbox::new(self.framing);
        let mut batch = Batch::default();
        self.decoder.push(said);
        while let Some(item) = self.decoder.poll() {
            let Item::Frame(frame) = item else { panic!("not a frame: {item:?}") };
            let text = String::from_utf8(frame).expect("UTF-8 is sent");
            if !batch.takes(&text) || choices.one_in(3) {
                self.batches += batch.send(&mut out);
            }
            if batch.takes(&text) {
                batch.add(text);
            } else {
                out.push(&text);
            }
        }
        self.batches += batch.send(&mut out);
        out.pending().to_vec()
    }
}

/// Messages that go together.
#[derive(Debug, Default)]
struct Batch {
    messages: Vec<String>,
    /// The terminals that they are about, each with its session.
    terminals: Vec<(String, String)>,
}

impl Batch {
    fn takes(&self, text: &str) -> bool {
        let message: Value = serde_json::from_str(text).expect("JSON is sent");
        let alone =
            message["method"].as_str().is_some_and(|method| ALONE.contains(&method) || ORDERED.contains(&method));
        // Answers are packed by who gives them.
        let is_call = message.is_object() && message.get("method").is_some();
        let again = terminal(&message).is_some_and(|terminal| self.terminals.contains(&terminal));
        is_call && !alone && !again && self.messages.len() < MOST
    }

    fn add(&mut self, text: String) {
        self.terminals.extend(terminal(&serde_json::from_str(&text).expect("JSON is sent")));
        self.messages.push(text);
    }

    /// A single message may be a batch too, but need not; how many batches were sent.
    fn send(&mut self, out: &mut Outbox) -> usize {
        let Batch { messages, .. } = std::mem::take(self);
        match &*messages {
            [] => return 0,
            [one] if one.len() % 2 == 0 => {
                out.push(one);
                return 0;
            }
            all => out.push(&format!("[{}]", all.join(","))),
        }
        1
    }
}

/// The terminal that an update is about.
fn terminal(message: &Value) -> Option<(String, String)> {
    let update = &message["params"]["update"];
    let of_one = matches!(update["sessionUpdate"].as_str()?, "terminal_update" | "terminal_output_chunk");
    let text = |value: &Value| value.as_str().map(str::to_owned);
    of_one.then(|| Some((text(&message["params"]["sessionId"])?, text(&update["terminalId"])?)))?
}
