//! What becomes of a message from the server: matched with its call wherever it comes (HTTP-11), held back if it ends a
//! history that may not have come yet (HTTP-12), handed to the host.

use super::memory::{Owner, Sent, Settled};
use super::questions::{renamed, Refused};
use super::streams::State;
use super::{Action, Client, ClosedWhy, Name, Phase};
use crate::http::head::fits_header;
use crate::http::route::{Effect, Form, Summary, Unreadable, NAME};
use crate::http::tolerance::Choice;
use crate::rules::Way;
use crate::Id;

/// An answer that waits for the stream of its session to be quiet.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) session: String,
    pub(super) id: Id,
    pub(super) json: String,
    pub(super) since: u64,
}

impl Client {
    /// A message came on a stream, or on the socket.
    pub(super) fn message(&mut self, name: &Name, json: &str) {
        let summary = match Summary::read(json) {
            Ok(summary) => summary,
            Err(why) => {
                let (rule, message) = match why {
                    Unreadable::Syntax => (id!("RPC-21"), "a message is not JSON and was dropped"),
                    Unreadable::Batch => (id!("HTTP-15"), "a batch was dropped"),
                    Unreadable::Message => (id!("RPC-22"), "a value that is no call and no answer was dropped"),
                };
                return self.report(rule, message, name.clone());
            }
        };
        match summary.form {
            Form::Request => {
                let id = summary.id.clone().unwrap_or(Id::Null);
                let session = summary.session.as_deref().map(str::to_owned);
                let known = match self.memory.questions.ask(id.clone(), session, self.options.limits.calls) {
                    Ok(known) => known.map(|known| renamed(json, summary.id_place.clone(), &known)),
                    Err(Refused::InUse) => {
                        return self.report(id!("RPC-10"), "a request whose id is in use was dropped", name.clone());
                    }
                    Err(Refused::TooMany) => {
                        return self.report(
                            id!("HTTP-27"),
                            "a request was dropped, as too many are open",
                            name.clone(),
                        );
                    }
                };
                self.drop_answers(&id);
                self.call_came(name, &summary, known.as_deref().unwrap_or(json));
            }
            Form::Notification if summary.method == "$/cancel_request" => {
                let Some(id) = &summary.cancels else { return self.call_came(name, &summary, json) };
                let known = match self.memory.questions.known(id) {
                    Some(known) if known == id => None,
                    Some(known) => Some(renamed(json, summary.cancels_place.clone(), known)),
                    // The agent has no such question.
                    None => return,
                };
                self.call_came(name, &summary, known.as_deref().unwrap_or(json));
            }
            Form::Notification => self.call_came(name, &summary, json),
            Form::Result | Form::Error => self.answer_came(name, &summary, json),
        }
    }

    fn call_came(&mut self, name: &Name, summary: &Summary<'_>, json: &str) {
        let session = summary.session.as_deref();
        if self.socket.is_none() && session != name.as_deref() {
            self.report(id!("HTTP-10"), "a message came on a stream that it does not belong to", name.clone());
        }
        let replays = |id: &Option<String>| id.is_some() && id.as_deref() == session;
        let replayed =
            self.memory.calls.values().any(|call| call.replays && call.sent != Sent::No && replays(&call.session));
        self.deliver(json, replayed);
    }

    fn answer_came(&mut self, name: &Name, summary: &Summary<'_>, json: &str) {
        let id = summary.id.clone().unwrap_or(Id::Null);
        let held = |held: &Held| held.id == id;
        let Some(call) = self.memory.calls.get(&id).filter(|_| !self.held.iter().any(held)) else {
            if id == Id::Null {
                return self.deliver(json, false);
            }
            return self.report(id!("HTTP-11"), "an answer to no open call was dropped", name.clone());
        };
        let (session, opens, waits) = (call.session.clone(), call.effect.opens(), call.effect == Effect::Attaches);
        if self.socket.is_some() {
            return self.finish_answer(&id, json.to_owned(), summary.made.as_deref(), summary.form == Form::Result);
        }
        let expected = if opens { None } else { session.clone() };
        if *name != expected {
            self.report(id!("HTTP-10"), "an answer came on a stream that it does not belong to", name.clone());
            if opens && !self.options.tolerance.has(Choice::LoadAnswer) {
                return self.lose_calls(vec![id]);
            }
        }
        let reads = session.as_ref().filter(|_| waits && name.is_none() && summary.form == Form::Result);
        let open = reads.filter(|session| {
            let stream = self.streams.get(&Some((*session).clone()));
            stream.is_some_and(|stream| stream.state != State::Early)
        });
        if let Some(session) = open.filter(|_| self.options.times.quiet > 0 && id!("HTTP-12").is_on(Way::Track)) {
            self.held.push(Held { session: session.clone(), id, json: json.to_owned(), since: self.now });
            return;
        }
        self.finish_answer(&id, json.to_owned(), summary.made.as_deref(), summary.form == Form::Result);
    }

    /// Hands over the answers that wait for a stream.
    pub(super) fn release_held(&mut self, name: &Name) {
        while let Some(at) = self.held.iter().position(|held| Some(&held.session) == name.as_ref()) {
            let held = self.held.remove(at);
            self.finish_answer(&held.id, held.json, None, true);
        }
    }

    /// A call has its answer.
    pub(super) fn finish_answer(&mut self, id: &Id, json: String, made: Option<&str>, succeeded: bool) {
        let Some(call) = self.memory.calls.remove(id) else { return };
        match call.owner {
            Owner::Host => {}
            Owner::Initialize => return self.initialized(&json, succeeded),
            Owner::Reopen => {
                if let Some(session) = call.session {
                    self.reopened(session, succeeded);
                }
                return;
            }
        }
        let first = self.memory.initialize_id.as_ref() == Some(id);
        if first && self.socket.is_some() && self.phase == Phase::Initializing {
            if succeeded {
                self.initialized(&json, true);
            } else {
                self.phase = Phase::New;
                (self.lost_since, self.tries) = (None, 0);
                self.drop_socket();
                self.lose_questions();
            }
        }
        if succeeded {
            match self.memory.settle(&call, made) {
                Settled::Opened(session) if self.socket.is_none() => self.session_opened(session),
                Settled::Ended(session) => {
                    let name = Some(session);
                    self.drop_lane(&name);
                    self.drop_stream(&name);
                }
                _ => {}
            }
        } else if let Some(session) = call.session.filter(|_| call.effect == Effect::Attaches) {
            // The stream was opened for a session that is none.
            if !self.memory.sessions.contains_key(&session) {
                self.drop_stream(&Some(session));
            }
        }
        self.deliver_owned(json, false);
        self.pump();
    }

    fn session_opened(&mut self, session: String) {
        if !fits_header(&session, NAME) {
            let message = "the id of a session cannot stand in a header; only WebSocket can carry the session";
            return self.report(id!("HTTP-22"), message, None);
        }
        let name = Some(session);
        if let Some(stream) = self.streams.get_mut(&name) {
            stream.early = false;
            if stream.state == State::Early {
                self.ask_for(&name);
            }
        }
        self.open_stream(&name, false);
    }

    pub(super) fn deliver(&mut self, json: &str, replayed: bool) {
        self.deliver_owned(json.to_owned(), replayed);
    }

    pub(super) fn deliver_owned(&mut self, json: String, replayed: bool) {
        self.actions.push_back(Action::Message { json, replayed });
    }

    /// Ends the conversation.
    pub(super) fn stop(&mut self, why: ClosedWhy) {
        if self.phase == Phase::Closed {
            return;
        }
        let exchanges: Vec<u64> = self
            .exchanges
            .iter()
            .filter(|(_, it)| !matches!(it.doing, super::Doing::Delete))
            .map(|(at, _)| *at)
            .collect();
        self.abort(exchanges);
        let calls: Vec<Id> = self.memory.calls.keys().cloned().collect();
        self.phase = Phase::Closed;
        self.lose_calls(calls);
        self.memory = super::Memory::default();
        self.streams.clear();
        self.lanes.clear();
        self.held.clear();
        self.socket = None;
        self.id = None;
        self.actions.push_back(Action::Closed(why));
    }
}
