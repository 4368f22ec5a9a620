//! Templates: messages that are read without being validated again.
//!
//! Theory of operation. An agent streams thousands of updates that differ in one text. A message that was read without
//! any objection is kept as a template: its text, and its *slots*, the places of strings, numbers and other values whose
//! members the model does not describe. A later message that is equal to it byte by byte outside of the slots, and has a
//! value of the right type in each slot, reads the same: it has the same method, session, variants and verdict, and each
//! place in it has moved by as much as the values before it are longer. Whether the message is allowed now is asked as
//! ever; only validation is saved. What matches no template is validated.
//!
//! The rest of the connection knows three steps: [`lookup`](TemplateCache::lookup) a text; where that finds nothing,
//! validate it with the cache's [`Scratch`]; [`insert`](TemplateCache::insert) the outcome, and give the buffers back.
//! Validation knows only that it may be given [`Slots`] to record in. A connection without a cache reads every text alike.

use std::ops::Range;
use std::sync::Arc;

use crate::json::Scanner;
use crate::jsonrpc::MAX_NAME_BYTES;
use crate::validation::table::{Method, Tables, TypeId};
use crate::validation::{is_plain, FieldIndex, Slots, StoredIndex, ROOM};

/// Maximum size of a template without the values in its slots.
const MAX_TEMPLATE_BYTES: usize = 1024;
/// Maximum number of templates. All of them are tried, so they are few.
const MAX_TEMPLATES: usize = 16;
/// Maximum number of templates of one kind of message.
const MAX_TEMPLATES_PER_KIND: usize = 4;
/// Maximum number of misses that a template survives.
const MAX_LIVES: u32 = 16;
/// Maximum number of messages to skip before a new template is recorded for a kind whose last one was never hit.
const MAX_BACKOFF: u32 = 256;

/// The result of parsing and validating a call.
#[derive(Debug)]
pub(super) struct ParsedCall<'a> {
    pub(super) row: &'static Method,
    pub(super) update: Option<&'static str>,
    pub(super) session: &'a Arc<str>,
    pub(super) field_index: &'a FieldIndex,
    pub(super) params: Range<usize>,
}

/// The same result, taken from a template.
#[derive(Debug)]
pub(super) struct CacheHit {
    pub(super) row: &'static Method,
    pub(super) update: Option<&'static str>,
    /// The session may have been closed since the template was recorded: look it up before use.
    pub(super) session: Arc<str>,
    pub(super) field_index: FieldIndex,
    pub(super) params: Range<usize>,
}

/// Buffers that validation fills, owned by the cache between messages.
///
/// Who takes them gives each back when its content is no longer needed. Where an error ends the work before, they are
/// dropped, which costs their allocations and nothing else.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) field_index: FieldIndex,
    pub(super) slots: Slots,
}

/// The templates of one direction, the most recently hit first.
#[derive(Debug, Default)]
pub(super) struct TemplateCache {
    #[allow(clippy::vec_box, reason = "a hit moves to the front")]
    list: Vec<Box<Template>>,
    /// Scratch: offset of each piece of a message relative to the template. Entry 0 is always 0; offsets are wrapping.
    offsets: Vec<usize>,
    scratch: Scratch,
    #[cfg(test)]
    off: bool,
}

#[derive(Debug)]
struct Template {
    row: &'static Method,
    update: Option<&'static str>,
    session: Arc<str>,
    /// The text around the slots, one piece behind the other.
    fixed: Box<str>,
    /// Where the slots were in the message that was recorded, and the types of their values, in order.
    slots: Box<[(Range<usize>, TypeId)]>,
    /// Eight bytes of the text and their place, just before the first slot: kinds of messages differ most there, so that
    /// most templates are ruled out by one comparison.
    fingerprint: (usize, [u8; 8]),
    params: Range<usize>,
    field_index: StoredIndex,
    has_hit: bool,
    /// Number of misses that it survives from now on.
    lives: u32,
    /// Number of messages of its kind to skip from now on before it may be replaced.
    skip: u32,
    /// What `skip` was at first.
    backoff: u32,
}

impl TemplateCache {
    /// Drops all templates: what was agreed on has changed, so texts may read differently.
    pub(super) fn clear(&mut self) {
        self.list.clear();
    }

    /// What reading a text would give, if it matches a template.
    pub(super) fn lookup(&mut self, text: &str, tables: &Tables) -> Option<CacheHit> {
        let TemplateCache { list, offsets, scratch, .. } = self;
        let at = list.iter().position(|template| template.matches(text, tables, offsets))?;
        list[..=at].rotate_right(1);
        let template = &mut list[0];
        template.has_hit = true;
        template.lives = (template.lives + 2).min(MAX_LIVES);
        let end = template.params.end;
        Some(CacheHit {
            row: template.row,
            update: template.update,
            session: Arc::clone(&template.session),
            field_index: template.field_index.moved(std::mem::take(&mut scratch.field_index), offsets),
            params: template.params.start..end.wrapping_add(offsets[usize::from(slots_before(&template.slots, end))]),
        })
    }

    /// Empty buffers, to validate a text that matches no template.
    pub(super) fn take_scratch(&mut self) -> Scratch {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.slots.clear();
        scratch
    }

    /// Gives a buffer back.
    #[inline]
    pub(super) fn recycle_index(&mut self, field_index: FieldIndex) {
        self.scratch.field_index = field_index.cleared();
    }

    /// Gives a buffer back.
    pub(super) fn recycle_slots(&mut self, slots: Slots) {
        self.scratch.slots = slots;
    }

    /// Records a text that was read without any objection, if its kind needs a template.
    pub(super) fn insert(&mut self, text: &str, parsed: &ParsedCall<'_>, slots: &Slots) {
        let ParsedCall { row, update, session, field_index, params } = parsed;
        let slots = slots.as_slice();
        let size = text.len() - slots.iter().map(|(slot, _)| slot.len()).sum::<usize>();
        if size > MAX_TEMPLATE_BYTES {
            return;
        }
        #[cfg(test)]
        if self.off {
            return;
        }
        let same = |template: &Template| template.update == *update && template.row.name == row.name;
        let room = self.list.len() < MAX_TEMPLATES
            && self.list.iter().filter(|template| same(template)).count() < MAX_TEMPLATES_PER_KIND;
        // Of this kind, the least recently hit.
        let last = self.list.iter().rposition(|template| same(template));
        let backoff = match last {
            Some(at) => self.list[at].missed(),
            None => Some(1),
        };
        let Some(backoff) = backoff.filter(|_| room || last.is_some()) else { return };
        let place = slots.first().map_or(text.len(), |(slot, _)| slot.start).saturating_sub(8);
        let Some(fingerprint) = fingerprint(text, place) else { return };
        let mut fixed = String::with_capacity(size);
        let end = slots.iter().fold(0, |done, (slot, _)| {
            fixed.push_str(&text[done..slot.start]);
            slot.end
        });
        fixed.push_str(&text[end..]);
        let template = Box::new(Template {
            row,
            update: *update,
            session: Arc::clone(session),
            fixed: fixed.into(),
            slots: slots.into(),
            fingerprint: (place, fingerprint),
            params: params.clone(),
            field_index: field_index.stored(|place| slots_before(slots, place)),
            has_hit: false,
            lives: 1,
            skip: backoff,
            backoff,
        });
        match last.filter(|_| !room) {
            Some(at) => self.list[at] = template,
            None => self.list.push(template),
        }
    }
}

impl Template {
    /// Records a miss. Returns the backoff of the replacement when this template should be replaced.
    fn missed(&mut self) -> Option<u32> {
        self.lives = self.lives.saturating_sub(1);
        self.skip = self.skip.saturating_sub(1);
        let backoff = if self.has_hit { 1 } else { (self.backoff * 2).min(MAX_BACKOFF) };
        (self.lives == 0 && self.skip == 0).then_some(backoff)
    }

    /// Whether a text matches; if it does, `offsets` says how far each of its pieces has moved.
    fn matches(&self, text: &str, tables: &Tables, offsets: &mut Vec<usize>) -> bool {
        if fingerprint(text, self.fingerprint.0) != Some(self.fingerprint.1) {
            return false;
        }
        let (mut rest, bytes) = (self.fixed.as_bytes(), text.as_bytes());
        let (mut done, mut at) = (0, 0);
        offsets.clear();
        offsets.push(0);
        for (slot, ty) in &self.slots {
            let (piece, after) = rest.split_at(slot.start - done);
            let end = at + piece.len();
            // The value begins where the slot does, without a blank.
            let begins = bytes.get(end).is_some_and(|byte| !byte.is_ascii_whitespace());
            if bytes.get(at..end) != Some(piece) || !begins {
                return false;
            }
            let mut scanner = Scanner::at(text, end, ROOM);
            if !is_plain(&mut scanner, &tables.types[usize::from(*ty)]) {
                return false;
            }
            at = scanner.offset();
            if at - end > MAX_NAME_BYTES && may_name_id(piece) {
                return false;
            }
            done = slot.end;
            rest = after;
            offsets.push(at.wrapping_sub(done));
        }
        bytes[at..] == *rest
    }
}

/// Whether the value behind this text may be an id, which is not as long as a text may be (LIMIT-07).
fn may_name_id(before: &[u8]) -> bool {
    let name = before.trim_ascii_end().strip_suffix(b":").unwrap_or(before).trim_ascii_end();
    // An escaped name may be any.
    name.ends_with(b"Id\"") || name.contains(&b'\\')
}

/// Number of slots that end before a place.
fn slots_before(slots: &[(Range<usize>, TypeId)], place: usize) -> u8 {
    slots.partition_point(|(slot, _)| slot.end <= place) as u8
}

fn fingerprint(text: &str, at: usize) -> Option<[u8; 8]> {
    text.as_bytes().get(at..at + 8)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use crate::connection::parse::from_template;
    use crate::connection::{Config, Connection, Versions};

    fn feed(client: &mut Connection, message: &str) -> String {
        client.receive(message.as_bytes());
        client.receive(b"\n");
        let mut out = String::new();
        while let Some(event) = client.poll_event() {
            let _ = writeln!(out, "{event:?}");
        }
        out.push_str(&String::from_utf8_lossy(client.transmit()));
        client.consume(usize::MAX);
        out
    }

    /// The versions, with all drafts or none.
    const SETTINGS: [(u16, bool); 4] = [(1, false), (1, true), (2, false), (2, true)];

    fn config(mut config: Config, (version, drafts): (u16, bool)) -> Config {
        config.versions = Versions::only(version);
        for name in crate::schema::drafts::DRAFTS.iter().filter(|_| drafts) {
            config.draft(name).unwrap();
        }
        config
    }

    fn client(setting: (u16, bool)) -> Connection {
        let mut client = Connection::new(config(Config::client(), setting));
        let (hello, welcome) = match setting.0 {
            1 => ("{}", r#"{"protocolVersion":1}"#),
            _ => (
                r#"{"info":{"name":"c","version":"1"}}"#,
                r#"{"protocolVersion":2,"info":{"name":"a","version":"1"},"capabilities":{"session":{}}}"#,
            ),
        };
        client.request("initialize", hello).unwrap();
        feed(&mut client, &format!(r#"{{"jsonrpc":"2.0","id":1,"result":{welcome}}}"#));
        for (id, session) in [(2, "a"), (3, "b")] {
            client.request("session/new", r#"{"cwd":"/work","mcpServers":[]}"#).unwrap();
            feed(&mut client, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"sessionId":"{session}"}}}}"#));
        }
        client.request("session/prompt", r#"{"sessionId":"a","prompt":[{"type":"text","text":"hi"}]}"#).unwrap();
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
    fn update(version: u16, random: &mut impl FnMut(usize) -> usize) -> String {
        let text = |random: &mut dyn FnMut(usize) -> usize| {
            let rare = if random(4) == 0 { TEXTS.len() } else { 4 };
            TEXTS[random(rare)]
        };
        let session = ["a", "a", "a", "a", "b", "c", "\\u0061"][random(7)];
        let space = ["", "", "", " "][random(4)];
        let gap = ["", "", "", "", "", " "][random(6)];
        let kind = ["agent_message_chunk", "agent_message_chunk", "agent_thought_chunk", "_own", "wrong"][random(5)];
        let more = ["", "", "", r#","messageId":"m""#, r#","_meta":{"a":["b"]}"#, r#","_meta":7"#][random(6)];
        let more =
            if version == 2 && !more.contains('I') { r#","messageId":"m""#.to_owned() + more } else { more.into() };
        let tag = ["text", "text", "text", "_chart", "wrong"][random(5)];
        let content = match random(7) {
            6 => {
                let value = if random(2) == 0 { "7".to_owned() } else { format!("\"{}\"", text(random)) };
                format!(r#"{{"type":"{tag}","text":{value}}}"#)
            }
            0..=2 => format!(r#"{{"type":"text","text":{gap}"{}"}}"#, text(random)),
            3 => format!(
                r#"{{"type":"text","text":"{}","annotations":{{"audience":["{}"]}}}}"#,
                text(random),
                text(random)
            ),
            4 => format!(r#"{{"text":"{}","type":"text"}}"#, text(random)),
            _ => format!(r#"{{"type":"resource_link","name":"{}","uri":"{}"}}"#, text(random), text(random)),
        };
        let number = ["1", "2", "30", "0", "-1", "1.5", "1e2", "18446744073709551616", "x"][random(9)];
        let path = ["/a", "/b/c", "C:\\\\x", "a", ""][random(5)];
        let status = ["pending", "in_progress", "completed", "odd", "_own"][random(5)];
        let update = match random(9) {
            6 => format!(r#"{{"sessionUpdate":"{kind}","a":"{}"{more}}}"#, text(random)),
            7 => {
                let state = ["running", "idle", "requires_action", "_own"][random(4)];
                format!(r#"{{"sessionUpdate":"state_update","state":"{state}"{more}}}"#)
            }
            8 => {
                let plan = ["items", "items", "_own"][random(3)];
                format!(
                    r#"{{"sessionUpdate":"plan_update","plan":{{"type":"{plan}","planId":"{}","entries":[]}}}}"#,
                    text(random)
                )
            }
            0..=2 => format!(r#"{{"sessionUpdate":"{kind}","content":{content}{more}}}"#),
            3 => format!(r#"{{"sessionUpdate":"usage_update","used":{number},"size":200000{more}}}"#),
            4 => format!(
                r#"{{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"{status}","locations":[{{"path":"{path}","line":{number}}}]}}"#
            ),
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

    fn agent(setting: (u16, bool)) -> Connection {
        let mut agent = Connection::new(config(Config::agent(), setting));
        let (hello, welcome) = match setting.0 {
            1 => (r#"{"protocolVersion":1,"clientCapabilities":{}}"#, "{}"),
            _ => (
                r#"{"protocolVersion":2,"info":{"name":"c","version":"1"},"capabilities":{}}"#,
                r#"{"info":{"name":"a","version":"1"},"capabilities":{"session":{}}}"#,
            ),
        };
        feed(&mut agent, &format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{hello}}}"#));
        agent.respond(&crate::Id::from(1), welcome).unwrap();
        for (id, session) in [(2, "a"), (3, "b")] {
            let call = r#""method":"session/new","params":{"cwd":"/work","mcpServers":[]}"#;
            feed(&mut agent, &format!(r#"{{"jsonrpc":"2.0","id":{id},{call}}}"#));
            agent.respond(&crate::Id::from(id), &format!(r#"{{"sessionId":"{session}"}}"#)).unwrap();
        }
        agent
    }

    /// What comes of sending the params of a message, and what is sent.
    fn tell(agent: &mut Connection, message: &str) -> String {
        let params = crate::json::pointer(message, "/params").unwrap_or(message);
        let outcome = agent.notify("session/update", params);
        format!("{outcome:?} {}", feed(agent, ""))
    }

    fn generator() -> impl FnMut(usize) -> usize {
        let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
        move |below| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            (seed % below as u64) as usize
        }
    }

    /// Runs of messages of the same form, as templates need them.
    fn messages(version: u16, mut each: impl FnMut(&str)) {
        let mut random = generator();
        for _ in 0..8_000 {
            let first = update(version, &mut random);
            for _ in 0..random(5) {
                if random(3) == 0 {
                    each(&update(version, &mut random));
                } else {
                    let number = ["30", "7", "0", "-1", "1.5"][random(5)];
                    each(&first.replace("more or less", TEXTS[random(9)]).replace(":1", &format!(":{number}")));
                }
            }
        }
    }

    #[test]
    fn what_matches_a_template_reads_as_it_would_without_one() {
        for setting in SETTINGS {
            let (mut fast, mut slow) = (client(setting), client(setting));
            slow.receiving.templates.off = true;
            let mut has_hit = 0;
            messages(setting.0, |message| {
                has_hit += usize::from(from_template(&mut fast.receiving.templates, &fast.state, message).is_some());
                assert_eq!(feed(&mut fast, message), feed(&mut slow, message), "{setting:?}: {message}");
            });
            assert!(has_hit > 300, "{setting:?}: {has_hit}");
            assert!(slow.receiving.templates.list.is_empty());
        }
    }

    #[test]
    fn what_matches_a_template_is_sent_as_it_would_be_without_one() {
        for setting in SETTINGS {
            let (mut fast, mut slow) = (agent(setting), agent(setting));
            slow.sending.templates.off = true;
            messages(setting.0, |message| {
                assert_eq!(tell(&mut fast, message), tell(&mut slow, message), "{setting:?}: {message}");
            });
            assert!(fast.sending.templates.list.iter().any(|template| template.has_hit));
            assert!(slow.sending.templates.list.is_empty());
        }
    }
}
