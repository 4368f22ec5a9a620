//! Batches (version 2): several messages of the peer in one frame, and their answers in one frame.
//!
//! The entries are read in order, as if each had come alone. Only their answers differ: those of one batch wait until the last
//! of them is there, and are written as one array, as JSON-RPC has one array for one batch. An answer is the host's, a
//! refusal, or an automatic answer to a question.
//!
//! What waits is bounded. A batch has no more entries than requests may be open, and it waits for at least one open request,
//! so there are never more batches than open requests. An array is no longer than a frame: while a batch is open, space for a
//! short error is reserved for each answer that is missing. A batch whose errors would not fit is refused as a whole, and an
//! answer of the host that would use the reserved space is misuse (LIMIT-01). All that waits in batches counts towards the
//! budget of automatic answers; beyond that, nothing more is read from the peer.
//!
//! The host sends no batches: peers may refuse them, and a stream of messages says the same.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::event::Json;
use super::misuse::Misuse;
use super::report::{Breach, Subject};
use super::{Connection, Consequence, Policy};
use crate::engine::MisuseKind;
use crate::json::{self, Kind, Scanner};
use crate::jsonrpc::{write_error, ErrorCode, Id, MAX_NAME_BYTES};
use crate::map::{Map, Set};
use crate::room;
use crate::rules::Way;

/// Bytes of an error without data, or of how a question is ended, with a comma and without the id.
const ROOM: usize = 128;
/// Bytes of the longest id when it is written: each byte an escape of six.
const MAX_ID_BYTES: usize = 6 * MAX_NAME_BYTES + 2;
/// An escape of two bytes may be written as one of six.
const LONGER: usize = 3;

/// Calls that begin or end what other calls need, and so should not share a batch with them (BATCH-10).
const ALONE: &[&str] = &["initialize", "auth/login", "auth/logout", "session/new", "session/resume", "session/prompt"];
/// Updates of a terminal, whose order matters (BATCH-11).
const OF_A_TERMINAL: &[&str] = &["terminal_update", "terminal_output_chunk"];

/// The batches that wait for answers.
#[derive(Debug, Default)]
pub(super) struct Batches {
    open: Map<u64, Batch>,
    /// The batch that an open request's answer belongs to, and the bytes that are kept free for it.
    of: Map<Id, (u64, usize)>,
    reading: Option<Reading>,
    begun: u64,
    /// Bytes of all answers that wait.
    held: usize,
}

/// One batch.
#[derive(Debug, Default)]
struct Batch {
    /// The answers so far, each behind a bracket or a comma.
    text: String,
    /// Bytes of them that are the connection's own.
    own: usize,
    /// Requests that have no answer yet.
    open: usize,
    /// Bytes kept free for the answers that are not there yet.
    room: usize,
}

/// The batch that is being read.
#[derive(Debug)]
struct Reading {
    number: u64,
    /// What is kept free for the entry that is being read, until it is known whether it has an answer.
    room: Option<usize>,
    /// The terminals that entries were about.
    terminals: Set<(Option<Arc<str>>, Box<str>)>,
}

/// The array of a batch, complete.
#[derive(Debug, PartialEq, Eq)]
struct Array {
    text: String,
    own: usize,
}

impl Batch {
    /// Adds an answer, and says by how many bytes the text has grown.
    fn keep(&mut self, answer: &str) -> usize {
        room::make(&mut self.text, answer.len() + 2);
        if self.text.is_empty() {
            self.text.push('[');
            self.text.push_str(answer);
        } else if id!("BATCH-09").is_on(Way::Track) {
            self.text.push(',');
            self.text.push_str(answer);
        } else {
            self.text.insert_str(1, &format!("{answer},"));
        }
        answer.len() + 1
    }

    /// Bytes of the array with this answer, for which so much was kept free, where all further ones are as short as can be.
    fn size_with(&self, length: usize, room: usize) -> usize {
        self.text.len() + 1 + length + 1 + self.room.saturating_sub(room)
    }
}

impl Batches {
    /// Begins to read a batch whose answers need at least this many bytes.
    fn begin(&mut self, room: usize) {
        self.begun += 1;
        self.open.insert(self.begun, Batch { room, ..Batch::default() });
        self.reading = Some(Reading { number: self.begun, room: None, terminals: Set::default() });
    }

    /// What is being read.
    fn now(&mut self) -> Option<(&mut Reading, &mut Batch)> {
        let reading = self.reading.as_mut()?;
        let batch = self.open.get_mut(&reading.number)?;
        Some((reading, batch))
    }

    /// Begins an entry.
    fn enter(&mut self, room: usize) {
        if let Some(reading) = &mut self.reading {
            reading.room = Some(room);
        }
    }

    /// The entry is a request, which is open now.
    pub(super) fn asked(&mut self, id: &Id) {
        let Some((reading, batch)) = self.now().filter(|_| id!("BATCH-05").is_on(Way::Track)) else { return };
        let (number, Some(room)) = (reading.number, reading.room.take()) else { return };
        batch.open += 1;
        self.of.insert(id.clone(), (number, room));
    }

    /// The entry is answered by the connection: with this error or, where that is too long, with a shorter one.
    fn refused(&mut self, answer: &str, limit: usize, shorter: impl FnOnce() -> String) {
        let Some((reading, batch)) = self.now() else { return };
        let room = reading.room.take().unwrap_or_default();
        let shorter = (batch.size_with(answer.len(), room) > limit).then(shorter);
        let more = batch.keep(shorter.as_deref().unwrap_or(answer));
        batch.own += more;
        batch.room = batch.room.saturating_sub(room);
        self.held += more;
    }

    /// Ends an entry. Where it needs no answer, the space reserved for one is free again.
    fn leave(&mut self) {
        let Some((reading, batch)) = self.now() else { return };
        if let Some(room) = reading.room.take() {
            batch.room = batch.room.saturating_sub(room);
            // Without the rule, every entry is waited for.
            batch.open += usize::from(!id!("BATCH-06").is_on(Way::Track));
        }
    }

    /// Ends the batch that is being read.
    fn end(&mut self) -> Option<Array> {
        let number = self.reading.take()?.number;
        self.complete(number)
    }

    /// Adds the answer to an open request; the array, if it was the last.
    fn answered(&mut self, id: &Id, answer: &str, own: bool) -> Option<Array> {
        let (number, room) = self.of.remove(id)?;
        let batch = self.open.get_mut(&number)?;
        let more = batch.keep(answer);
        batch.own += if own { more } else { 0 };
        batch.open = batch.open.saturating_sub(1);
        batch.room = batch.room.saturating_sub(room);
        self.held += more;
        self.complete(number)
    }

    /// The array of a batch that has all of its answers.
    fn complete(&mut self, number: u64) -> Option<Array> {
        let is_read = self.reading.as_ref().is_none_or(|reading| reading.number != number);
        if !is_read || self.open.get(&number)?.open > 0 {
            return None;
        }
        let batch = self.open.remove(&number)?;
        self.array(batch)
    }

    /// What there is of a batch. BATCH-07: an empty array is not written.
    fn array(&mut self, Batch { mut text, own, .. }: Batch) -> Option<Array> {
        self.held = self.held.saturating_sub(text.len());
        if text.is_empty() {
            if id!("BATCH-07").is_on(Way::Track) {
                return None;
            }
            text.push('[');
        }
        text.push(']');
        Some(Array { text, own })
    }

    /// What there is of all batches, oldest first; nothing waits any more.
    fn give_up(&mut self) -> Vec<Array> {
        self.of.clear();
        let mut open = std::mem::take(&mut self.open);
        let numbers: Vec<u64> = open.keys().copied().collect();
        numbers.into_iter().filter_map(|number| open.remove(&number)).filter_map(|batch| self.array(batch)).collect()
    }

    /// Bytes of answers that wait for others.
    pub(super) fn held(&self) -> usize {
        self.held
    }
}

/// The number of bytes that an entry's answer needs at least.
fn room_of(entry: &str) -> usize {
    let id = json::pointer(entry, "/id").map_or(0, |id| LONGER * id.len());
    ROOM + id.min(MAX_ID_BYTES)
}

impl Connection {
    /// Whether a version with batches is agreed on.
    fn has_batches(&self) -> bool {
        self.state.version.is_some() && self.state.tables.dialect.batches
    }

    /// FRAME-03: not every version has batches.
    pub(super) fn takes_batches(&self) -> bool {
        (self.has_batches() && id!("BATCH-01").is_on(Way::Track)) || !id!("FRAME-03").is_on(Way::Receive)
    }

    /// Whether a text that cannot be read begins like a batch. What an agent's libraries print may begin with a bracket too.
    pub(super) fn may_be_batch(&self, frame: &[u8]) -> bool {
        let mut bytes = frame.iter().filter(|byte| !byte.is_ascii_whitespace());
        self.has_batches() && bytes.next() == Some(&b'[') && bytes.next() == Some(&b'{')
    }

    /// A batch: an array, and nothing wrong with it as JSON.
    pub(super) fn batch(&mut self, text: &str) {
        self.receiving.hide_secrets(text.as_bytes());
        let limits = self.state.config.limits;
        let mut entries = self.entries(text);
        let rooms: Vec<usize> = entries.iter().map(|(_, entry)| room_of(entry)).collect();
        let room: usize = rooms.iter().sum();
        let refused = if entries.is_empty() {
            Some(Breach::new(id!("BATCH-03"), "an empty batch"))
        } else if entries.len() > limits.pending && id!("LIMIT-03").is_on(Way::Receive) {
            Some(Breach::new(id!("LIMIT-03"), format!("a batch of more than {}", limits.pending)))
        } else if room >= limits.frame && id!("LIMIT-01").is_on(Way::Receive) {
            Some(Breach::new(id!("LIMIT-01"), "a batch whose answers might not fit in a frame"))
        } else {
            None
        };
        if let Some(breach) = refused {
            return self.refuse(&Subject::default(), ErrorCode::INVALID_REQUEST, breach);
        }
        if !id!("BATCH-04").is_on(Way::Track) {
            entries.reverse();
        }
        if self.observes {
            // The answers come from the other side, in an array of its own.
            self.batches.reading = Some(Reading { number: 0, room: None, terminals: Set::default() });
            for (kind, entry) in entries {
                self.entry(kind, entry);
            }
            self.batches.reading = None;
            return;
        }
        self.batches.begin(room);
        for ((kind, entry), room) in entries.into_iter().zip(rooms) {
            self.batches.enter(room);
            self.entry(kind, entry);
            self.batches.leave();
            if self.lifecycle.is_closed() {
                break;
            }
        }
        if let Some(array) = self.batches.end() {
            self.send_array(array);
        }
    }

    /// The entries of a batch, or one more than it may have.
    fn entries<'t>(&self, text: &'t str) -> Vec<(Kind, &'t str)> {
        let limits = self.state.config.limits;
        let most = if id!("LIMIT-03").is_on(Way::Receive) { limits.pending } else { usize::MAX };
        let mut scanner = Scanner::new(text, limits.depth);
        let mut entries = Vec::new();
        let mut more = scanner.enter(Kind::Array).unwrap_or(false);
        while more && entries.len() <= most {
            let (Ok(kind), Ok(place)) = (scanner.peek(), scanner.skip()) else { break };
            entries.push((kind, &text[place]));
            more = scanner.more(Kind::Array).unwrap_or(false);
        }
        entries
    }

    fn entry(&mut self, kind: Kind, entry: &str) {
        let breach = match kind {
            Kind::Object => return self.text(entry.to_owned()),
            Kind::Array => Breach::new(id!("BATCH-12"), "a batch inside a batch"),
            _ => Breach::new(id!("BATCH-08"), format!("{} instead of a message in a batch", kind.name())),
        };
        self.refuse(&Subject::default(), ErrorCode::INVALID_REQUEST, breach);
    }

    /// BATCH-10, BATCH-11: whether a message goes through that nothing else is wrong with. What these rules forbid is clear
    /// all the same, as entries are served in their order.
    pub(super) fn may_be_batched(
        &mut self,
        subject: &Subject,
        update: Option<&str>,
        params: &Json,
        asks: bool,
    ) -> bool {
        let Some(reading) = &mut self.batches.reading else { return true };
        let terminal = update.filter(|kind| OF_A_TERMINAL.contains(kind));
        let terminal = terminal.and_then(|_| json::unescape(json::pointer(params.as_str(), "/update/terminalId")?));
        let breach = match (&subject.method, terminal) {
            (_, Some(terminal)) => {
                if reading.terminals.insert((subject.session.clone(), terminal.into()), ()) {
                    return true;
                }
                let pointer = "/update/terminalId".into();
                let message = "a second update of this terminal in one batch, whose entries have no order".into();
                Breach { rule: id!("BATCH-11"), message, pointer }
            }
            (Some(method), None) if ALONE.contains(&&**method) => {
                Breach::new(id!("BATCH-10"), "a call on which other calls depend, in a batch; send it on its own")
            }
            _ => return true,
        };
        if !breach.rule.is_on(Way::Receive) {
            return true;
        }
        let through = self.state.config.policy_for(breach.rule) != Policy::Strict;
        if through {
            self.report(subject, breach, Consequence::Delivered);
        } else if asks {
            self.refuse(subject, ErrorCode::INVALID_REQUEST, breach);
        } else {
            self.drop_message(subject, breach);
        }
        through
    }

    /// Answers what is being read with an error.
    pub(super) fn reply_error(&mut self, id: &Id, code: ErrorCode, data: &str) {
        if self.observes {
            return;
        }
        let answer = write_error(id, code, code.message(), Some(data));
        if self.batches.reading.is_some() && id!("BATCH-05").is_on(Way::Track) {
            let limit = self.state.config.limits.frame;
            self.batches.refused(&answer, limit, || write_error(id, code, code.message(), None));
        } else {
            self.reply(&answer);
        }
    }

    /// Answers an open request in the host's place.
    pub(super) fn reply_to(&mut self, id: &Id, answer: &str) {
        if !self.batches.of.contains_key(id) {
            return self.reply(answer);
        }
        if let Some(array) = self.batches.answered(id, answer, true) {
            self.send_array(array);
        }
    }

    /// Answers an open request as the host says.
    pub(super) fn send_answer(&mut self, id: &Id, answer: String) {
        if !self.batches.of.contains_key(id) {
            return self.sending.write(answer);
        }
        if let Some(array) = self.batches.answered(id, &answer, false) {
            self.send_array(array);
        }
    }

    /// An answer of the host that fits in a frame, and in its batch.
    pub(super) fn fitting_answer(
        &self,
        id: &Id,
        length: usize,
        write: impl FnOnce() -> String,
    ) -> Result<String, Misuse> {
        let answer = self.fits_frame(length, write)?;
        let limit = self.state.config.limits.frame;
        let batch = self.batches.of.get(id).and_then(|(number, room)| Some((self.batches.open.get(number)?, *room)));
        let size = batch.map_or(0, |(batch, room)| batch.size_with(answer.len(), room));
        if size > limit && id!("LIMIT-01").is_on(Way::Send) {
            let message = format!(
                "the answers of this batch would have {size} bytes, but the limit is {limit}; a short error always fits"
            );
            return Err(Misuse::new(MisuseKind::Limit, id!("LIMIT-01"), message));
        }
        Ok(answer)
    }

    /// Writes what there is of batches that are not complete: nobody will answer the rest of them.
    pub(super) fn send_batches(&mut self) {
        for array in self.batches.give_up() {
            self.send_array(array);
        }
    }

    fn send_array(&mut self, array: Array) {
        self.sending.write_batch(array.text, array.own);
    }
}
