//! Prompts that repeat another one of their session by its `idempotencyKey` (LIFE-38).
//!
//! An agent's host sees only the first prompt of a key. A repetition that comes after the first one's answer is answered at
//! once, with the same message id. One that comes before is held and ends as the first one does, with its message id or its
//! error. Each such answer is reported by [`Event::Answered`]. After an error, the message is in no conversation, so the next
//! prompt with that key goes to the host again. Cancelling a repetition (`$/cancel_request`) changes nothing: it has an
//! answer when the first one has.

use std::borrow::Cow;
use std::sync::Arc;

use super::event::Json;
use super::report::Subject;
use super::{Answered, Connection, Event, Role};
use crate::engine::{key_of, Late, OpenRequest, Submitted};
use crate::json::{self, Writer};
use crate::jsonrpc::{write_error, write_result, ErrorCode, Id};

const PROMPT: &str = "session/prompt";

/// A repetition that waits for the answer to the first prompt.
#[derive(Debug)]
struct Held {
    id: Id,
    serial: u64,
    session: Arc<str>,
    first: Id,
}

/// The repetitions that wait, oldest first. They count as open requests of the peer (LIMIT-03).
#[derive(Debug, Default)]
pub(super) struct Repeats(Vec<Held>);

impl Repeats {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn has(&self, id: &Id) -> bool {
        self.0.iter().any(|held| held.id == *id)
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// How the first prompt has ended.
#[derive(Debug, Clone, Copy)]
pub(super) enum Ended<'a> {
    Result(&'a str),
    Error(ErrorCode, &'a str, Option<&'a str>),
}

impl Connection {
    /// Whether the agent has taken this prompt before; then it is answered, now or with the first.
    pub(super) fn takes_as_repeated(&mut self, subject: &Subject, session: Option<&Arc<str>>, params: &Json) -> bool {
        let mine = self.state.config.role() == Role::Agent && !self.observes && self.follows(id!("LIFE-38"));
        let (true, Some(PROMPT), Some(session), Some(id)) = (mine, subject.method.as_deref(), session, &subject.id)
        else {
            return false;
        };
        let key = json::pointer(params.as_str(), "/idempotencyKey").and_then(json::unescape);
        let Some((key, known)) = key.zip(self.state.sessions.get(session)) else { return false };
        let answer = match known.submitted(&key) {
            None => return false,
            Some(Submitted::Message(message)) => Ok(result(message)),
            Some(Submitted::Open) => {
                let mut open = self.state.inbound.of_session(session);
                let Some(first) = open.find(|open| key_of(open).as_deref() == Some(&*key)) else { return false };
                Err(first.id.clone())
            }
        };
        let (id, session) = (id.clone(), Arc::clone(session));
        self.batches.asked(&id);
        let serial = self.next_serial();
        match answer {
            Ok(answer) => self.end_repetition(id, serial, session, Ended::Result(&answer)),
            Err(first) => self.repeats.0.push(Held { id, serial, session, first }),
        }
        true
    }

    /// The first prompt has been answered, and with it those that repeat it.
    pub(super) fn end_repetitions(&mut self, first: &Id, ended: Ended<'_>) {
        let all = std::mem::take(&mut self.repeats.0).into_iter();
        let (over, wait): (Vec<_>, Vec<_>) = all.partition(|held| held.first == *first);
        self.repeats.0 = wait;
        for Held { id, serial, session, .. } in over {
            self.end_repetition(id, serial, session, ended);
        }
    }

    fn end_repetition(&mut self, id: Id, serial: u64, session: Arc<str>, ended: Ended<'_>) {
        let answer = match ended {
            Ended::Result(result) => write_result(&id, Cow::Borrowed(result)),
            Ended::Error(code, message, data) => write_error(&id, code, message, data),
        };
        self.reply_to(&id, &answer);
        self.inserted.answered(&id, matches!(ended, Ended::Result(_)), self.state.newest);
        let (method, session, rule) = (Cow::Borrowed(PROMPT), Some(session), id!("LIFE-38"));
        self.events.push(Event::Answered(Answered { id, serial, method, session, rule }));
    }

    /// A prompt of the host was answered. Earlier ones with its key that were not answered in time need not be waited for any
    /// more.
    pub(super) fn settle_earlier(&mut self, answered: &OpenRequest) {
        let Some((session, key)) = answered.session.as_ref().zip(key_of(answered)) else { return };
        let late = self.state.late.of_session(session);
        let same = late.filter(|late| late.late == Some(Late::Holds) && key_of(late) == Some(Cow::Borrowed(&*key)));
        let ids: Vec<Id> = same.map(|late| late.id.clone()).collect();
        for id in ids {
            self.end_turn(&id);
        }
    }
}

fn result(message: &str) -> String {
    let mut writer = Writer::new();
    writer.begin_object().key("messageId").string(message).end_object();
    writer.finish().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::Config;
    use super::*;
    use crate::versions::Versions;

    fn agent() -> Connection {
        let mut agent = Connection::new(Config { versions: Versions::ALL, ..Config::agent() });
        let hello = r#"{"info":{"name":"n","version":"1"},"capabilities":{"session":{}}}"#;
        for (id, method, params, result) in [
            (0, "initialize", r#"{"protocolVersion":2,"info":{"name":"n","version":"1"},"capabilities":{}}"#, hello),
            (1, "session/new", r#"{"cwd":"/w"}"#, r#"{"sessionId":"s"}"#),
        ] {
            let call = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}\n");
            agent.receive(call.as_bytes());
            assert!(matches!(agent.poll_event(), Some(Event::Request(_))));
            agent.respond(&Id::Number(id), result).unwrap();
        }
        agent
    }

    /// Whether the host is asked for this prompt.
    fn is_asked(agent: &mut Connection, id: i64, key: i64) -> bool {
        let prompt = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"session/prompt","params":{{"sessionId":"s","idempotencyKey":"{key}","prompt":[{{"type":"text","text":"{key}"}}]}}}}"#
        );
        agent.receive(format!("{prompt}\n").as_bytes());
        let event = agent.poll_event().unwrap();
        assert!(agent.poll_event().is_none() && matches!(event, Event::Request(_) | Event::Answered(_)), "{event:?}");
        matches!(event, Event::Request(_))
    }

    #[test]
    fn the_newest_keys_of_a_session_are_known() {
        let mut agent = agent();
        for key in 0..300 {
            assert!(is_asked(&mut agent, 10 + key, key));
            agent.respond(&Id::Number(10 + key), &format!("{{\"messageId\":\"m-{key}\"}}")).unwrap();
        }
        assert!(!is_asked(&mut agent, 1000, 299) && !is_asked(&mut agent, 1001, 44));
        assert!(is_asked(&mut agent, 1002, 43), "256 are kept");
    }

    #[test]
    fn nothing_is_kept_of_what_was_answered() {
        let mut agent = agent();
        for round in 0..50 {
            assert!(is_asked(&mut agent, 10 + 2 * round, round));
            let prompt = r#"{"sessionId":"s","prompt":[{"type":"text","text":"x"}],"idempotencyKey":"#;
            let again = format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"session/prompt\",\"params\":{prompt}\"{round}\"}}}}\n",
                11 + 2 * round
            );
            agent.receive(again.as_bytes());
            // LIFE-39: the content is another one.
            assert!(matches!(agent.poll_event(), Some(Event::Violation(_))) && agent.poll_event().is_none());
            assert_eq!(agent.repeats.len(), 1);
            agent.respond_error(&Id::Number(10 + 2 * round), ErrorCode::INTERNAL_ERROR, "no", None).unwrap();
            assert!(matches!(agent.poll_event(), Some(Event::Answered(_))) && agent.poll_event().is_none());
            assert!(agent.repeats.len() == 0 && agent.unanswered().next().is_none());
        }
    }
}
