//! SESS: opening, loading, resuming, listing, closing and deleting sessions.

use super::scene::{Message, On, Tracker};
use super::Area;
use crate::connection::{Session, SessionState, State};

pub(super) static AREA: Area = Area {
    name: "SESS",
    title: "Session setup, load, resume, list, close, delete, fork",
    rules: &[],
    checks: &[],
    trackers: &[
        Tracker { on: On::Call, messages: &["session/new", "session/fork"], track: expect },
        Tracker { on: On::Answer, messages: &["session/new", "session/fork"], track: created },
        Tracker {
            on: On::Call,
            messages: &["session/load"],
            track: |state, call| attach(state, call, SessionState::Loading),
        },
        Tracker {
            on: On::Call,
            messages: &["session/resume"],
            track: |state, call| attach(state, call, SessionState::Resuming),
        },
        Tracker { on: On::Answer, messages: &["session/load", "session/resume"], track: attached },
        Tracker { on: On::Answer, messages: &["session/close", "session/delete"], track: closed },
    ],
};

/// SESS-52: the session will be known by an answer that is under way.
fn expect(state: &mut State, _: &Message<'_>) -> Option<Box<str>> {
    state.sessions.expected += 1;
    None
}

fn created(state: &mut State, answer: &Message<'_>) -> Option<Box<str>> {
    state.sessions.expected = state.sessions.expected.saturating_sub(1);
    if let Some(id) = answer.text("/sessionId") {
        state.sessions.known.entry(id.into()).or_insert_with(|| Session::new(SessionState::Ready));
    }
    None
}

/// Notes whether the session was unknown before, so that a failure can forget it.
fn attach(state: &mut State, call: &Message<'_>, to: SessionState) -> Option<Box<str>> {
    let id = call.session?;
    let new = !state.sessions.known.contains_key(id);
    state.sessions.known.entry(id.clone()).or_insert_with(|| Session::new(to)).state = to;
    new.then(|| "new".into())
}

fn attached(state: &mut State, answer: &Message<'_>) -> Option<Box<str>> {
    let id = answer.session?;
    if answer.body.is_none() && answer.note() == Some("new") {
        state.sessions.known.remove(id);
    } else if let Some(session) = state.sessions.known.get_mut(id) {
        session.state = SessionState::Ready;
    }
    None
}

fn closed(state: &mut State, answer: &Message<'_>) -> Option<Box<str>> {
    answer.body?;
    state.sessions.known.remove(answer.session?);
    None
}
