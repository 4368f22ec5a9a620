//! A message as a mould for the next ones.
//!
//! Theory of operation. An agent streams thousands of updates that are the same but for a text. One that was read and
//! had nothing wrong with it is kept with its *holes*: the places of the strings that may be anything, as far as reading
//! goes. A message that is equal to it byte by byte outside of the holes, and has some string in each of them, reads the
//! same: same method, session, variants and verdict, every place moved by what the strings before it are longer. Whether
//! it is allowed now is asked of each message as ever; only the walk is spared. What does not fit is read the long way.

use std::ops::Range;
use std::sync::Arc;

use super::incoming::{Checked, Message};
use super::Connection;
use crate::json::{Kind, Scanner};
use crate::jsonrpc::{IdMember, Member, Version};
use crate::validation::table::Method;
use crate::validation::Facts;

/// A longer message, or one with more holes, is no mould: reading it anew costs little beside its text.
const LONGEST: usize = 4096;
const HOLES: usize = 16;
/// After a mould that nothing has fitted, so many messages pass at most before the next one is made.
const PATIENCE: u32 = 256;

/// The mould, if there is one, and when to make another.
#[derive(Debug)]
pub(super) struct Moulds {
    mould: Option<Mould>,
    /// The method and variant of the message before: only what comes twice is worth a mould.
    before: Option<(&'static str, Option<&'static str>)>,
    /// Messages to let pass before the next mould is made, and how many that were the last time.
    wait: u32,
    patience: u32,
}

impl Default for Moulds {
    fn default() -> Self {
        Moulds { mould: None, before: None, wait: 0, patience: 1 }
    }
}

#[derive(Debug)]
struct Mould {
    text: String,
    /// In order, quotes included.
    holes: Vec<Range<usize>>,
    params: Range<usize>,
    facts: Facts,
    row: &'static Method,
    update: Option<&'static str>,
    session: Arc<str>,
    fitted: bool,
}

impl Moulds {
    /// Whether the next message is to be read with its holes noted.
    pub(super) fn wanted(&mut self) -> bool {
        self.wait = self.wait.saturating_sub(1);
        self.wait == 0
    }

    /// What was agreed on has changed.
    pub(super) fn forget(&mut self) {
        *self = Moulds::default();
    }

    /// Takes a message that was read the long way as a mould, if it is fit for one.
    fn learn(&mut self, text: &str, message: &Message, holes: Option<Vec<Range<usize>>>) {
        let Checked { edits, problems, invalid, session, open, update, facts, row, walked } = &message.checked;
        let this = row.map(|row| (row.name, *update));
        let again = this.is_some() && std::mem::replace(&mut self.before, this) == this;
        let (Some(row), Some(session), Some((Kind::Object, params)), Some(holes)) =
            (row, session, &message.params, holes)
        else {
            return;
        };
        let call = message.id == IdMember::Absent && message.version == Version::Right && message.twice.is_none();
        let right = edits.is_none() && problems.is_empty() && invalid.is_none() && *open && *walked;
        let answer = message.result.is_some() || message.error.is_some();
        if !again || !call || answer || !right || text.len() > LONGEST || holes.len() > HOLES {
            return;
        }
        let unused = self.mould.as_ref().is_some_and(|mould| !mould.fitted);
        self.patience = if unused { (self.patience * 2).min(PATIENCE) } else { 1 };
        self.wait = self.patience;
        self.mould = Some(Mould {
            text: text.to_owned(),
            holes,
            params: params.clone(),
            facts: facts.moved(Facts::default(), |place| place),
            row,
            update: *update,
            session: Arc::clone(session),
            fitted: false,
        });
    }
}

impl Mould {
    /// How a text lies in the mould: for each hole its end here, and how far what follows it has moved.
    fn fit(&self, text: &str, moves: &mut Vec<(usize, isize)>) -> Option<()> {
        let (mine, bytes) = (self.text.as_bytes(), text.as_bytes());
        let (mut done, mut at) = (0, 0);
        moves.clear();
        for hole in &self.holes {
            let fixed = &mine[done..hole.start];
            let end = at + fixed.len();
            if bytes.get(at..end)? != fixed {
                return None;
            }
            let mut scanner = Scanner::at(text, end, 1);
            scanner.string().ok()?;
            if !scanner.lone_surrogates().is_empty() {
                return None;
            }
            at = scanner.offset();
            done = hole.end;
            moves.push((done, at.cast_signed() - done.cast_signed()));
        }
        (bytes[at..] == mine[done..]).then_some(())
    }
}

impl Connection {
    /// The message that a text is, if it lies in the mould.
    pub(super) fn moulded(&mut self, text: &str) -> Option<Message> {
        let mould = self.moulds.mould.as_mut()?;
        mould.fit(text, &mut self.moves)?;
        let session = self.state.sessions.find(&mould.session)?;
        mould.fitted = true;
        let moves = &self.moves;
        let moved = |place: usize| {
            let by = moves.iter().rev().find(|(end, _)| *end <= place).map_or(0, |(_, by)| *by);
            place.wrapping_add_signed(by)
        };
        let facts = mould.facts.moved(std::mem::take(&mut self.spare), moved);
        Some(Message {
            version: Version::Right,
            id: IdMember::Absent,
            method: Member::Is(mould.row.name.into()),
            params: Some((Kind::Object, mould.params.start..moved(mould.params.end))),
            result: None,
            error: None,
            twice: None,
            checked: Checked {
                session: Some(session),
                open: true,
                update: mould.update,
                facts,
                row: Some(mould.row),
                walked: true,
                ..Checked::default()
            },
        })
    }

    /// Has a message, and its holes if they were noted, for a mould.
    pub(super) fn learn(&mut self, text: &str, message: &Message, holes: Option<Vec<Range<usize>>>) {
        self.moulds.learn(text, message, holes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::Config;

    fn feed(client: &mut Connection, message: &str) -> String {
        client.receive(message.as_bytes());
        client.receive(b"\n");
        let mut out = String::new();
        while let Some(event) = client.poll_event() {
            out.push_str(&format!("{event:?}\n"));
        }
        out.push_str(&String::from_utf8_lossy(client.transmit()));
        client.consume(usize::MAX);
        out
    }

    fn client() -> Connection {
        let mut client = Connection::new(Config::client());
        client.request("initialize", "{}").unwrap();
        feed(&mut client, r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}"#);
        for (id, session) in [(2, "a"), (3, "b")] {
            client.request("session/new", r#"{"cwd":"/work","mcpServers":[]}"#).unwrap();
            feed(&mut client, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"sessionId":"{session}"}}}}"#));
        }
        client.request("session/prompt", r#"{"sessionId":"a","prompt":[]}"#).unwrap();
        client.consume(usize::MAX);
        client
    }

    const TEXTS: &[&str] = &[
        "",
        "x",
        "forty bytes of text, more or less, here",
        "\\n",
        "\\\"",
        "\\u00e9",
        "\\ud83d\\ude42",
        "\\ud83d",
        "\\q",
        "é 你好 🙂",
        "\u{1}",
        "\\",
        "\"",
        "\",\"x\":\"y",
    ];

    /// Updates that differ in their texts, and now and then in more.
    fn update(random: &mut impl FnMut(usize) -> usize) -> String {
        let mut text = |random: &mut dyn FnMut(usize) -> usize| {
            let rare = if random(4) == 0 { TEXTS.len() } else { 4 };
            TEXTS[random(rare)]
        };
        let session = ["a", "a", "a", "a", "b", "c", "\\u0061"][random(7)];
        let space = ["", "", "", " "][random(4)];
        let kind = ["agent_message_chunk", "agent_message_chunk", "agent_thought_chunk", "_own", "wrong"][random(5)];
        let more = ["", "", "", r#","messageId":"m""#, r#","_meta":{"a":["b"]}"#, r#","_meta":7"#][random(6)];
        let content = match random(6) {
            0..=2 => format!(r#"{{"type":"text","text":"{}"}}"#, text(random)),
            3 => format!(
                r#"{{"type":"text","text":"{}","annotations":{{"audience":["{}"]}}}}"#,
                text(random),
                text(random)
            ),
            4 => format!(r#"{{"text":"{}","type":"text"}}"#, text(random)),
            _ => format!(r#"{{"type":"resource_link","name":"{}","uri":"{}"}}"#, text(random), text(random)),
        };
        let update = match random(4) {
            0..=2 => format!(r#"{{"sessionUpdate":"{kind}","content":{content}{more}}}"#),
            _ => format!(
                r#"{{"sessionUpdate":"tool_call","toolCallId":"{}","title":"{}"{more}}}"#,
                text(random),
                text(random)
            ),
        };
        let end = ["", "", "", "x", "}"][random(5)];
        format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"{session}",{space}"update":{update}}}}}{end}"#
        )
    }

    #[test]
    fn what_lies_in_a_mould_reads_as_it_would_without() {
        let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
        let mut random = |below: usize| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            (seed % below as u64) as usize
        };
        let (mut fast, mut slow) = (client(), client());
        slow.moulds.wait = u32::MAX;
        let mut fitted = 0;
        for _ in 0..8_000 {
            let first = update(&mut random);
            // Runs of the same form, as moulds need them.
            for _ in 0..random(5) {
                let message =
                    if random(3) == 0 { update(&mut random) } else { first.replace("more or less", TEXTS[random(9)]) };
                fitted += usize::from(fast.moulded(&message).is_some());
                assert_eq!(feed(&mut fast, &message), feed(&mut slow, &message), "{message}");
            }
        }
        assert!(fitted > 300, "{fitted}");
        assert!(slow.moulds.mould.is_none());
    }
}
