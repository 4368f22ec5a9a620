//! The views of a connection, one of each session, and which message is about which.

use std::sync::Arc;

use super::fold::Told;
use super::prompts::Ending;
use super::terminals::is_about_one;
use super::{Origin, View};
use crate::engine::operations::Operation;
use crate::engine::questions::question;
use crate::engine::{OpenRequest, RuleMessage, Session, SessionState, State};
use crate::json;
use crate::jsonrpc::Id;
use crate::map::Map;
use crate::validation::table::Effect;

/// Sessions that updates name before the answer that names them, beyond the answers that are awaited.
const SPARE: usize = 4;
/// Views of sessions that are over.
const FROZEN: usize = 64;
/// All views together keep so many times what one may keep.
const TOGETHER: usize = 16;
/// It is looked again how much all views keep once so large a part of what one may keep was told, and a message counts for
/// so many bytes at least.
const PART: usize = 4;
const LEAST: usize = 64;

#[derive(Debug)]
struct Kept {
    view: View,
    /// No answer has named the session yet.
    early: bool,
    /// When it was last written.
    at: u64,
}

/// The views of a connection.
#[derive(Debug, Default)]
pub(crate) struct Views {
    all: Map<Arc<str>, Kept>,
    /// The one that was written last, and its number: the next message is most often about the same session.
    last: Option<(Arc<str>, u32)>,
    clock: u64,
    /// Bytes that were told since it was looked how much all views keep.
    told: usize,
    /// Where the next view begins: behind all that any had reached which is not there any more. So who has drawn one of
    /// those is told that another stands in its place.
    origin: Origin,
}

#[inline]
fn session<'s>(state: &'s State, id: &str) -> Option<&'s Session> {
    state.sessions.told("session/update", id)
}

impl Views {
    pub(crate) fn get(&self, id: &str) -> Option<&View> {
        self.all.get(id).filter(|kept| !kept.early).map(|kept| &kept.view)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &View)> {
        self.all.iter().filter(|(_, kept)| !kept.early).map(|(id, kept)| (id, &kept.view))
    }

    /// Forgets a view that is frozen; whether there was one.
    pub(crate) fn forget(&mut self, id: &str) -> bool {
        self.all.get(id).is_some_and(|kept| kept.view.is_frozen()) && self.remove(id)
    }

    fn remove(&mut self, id: &str) -> bool {
        self.last = None;
        let Some(Kept { view, .. }) = self.all.remove(id) else { return false };
        self.origin = self.origin.behind(&view);
        true
    }

    /// The view of a session that is known, made if there is none.
    #[inline]
    fn enter(&mut self, id: &Arc<str>, state: &State) -> Option<&mut View> {
        self.clock += 1;
        let number = match &self.last {
            Some((last, number)) if Arc::ptr_eq(last, id) => *number,
            _ => self.search(id, state)?,
        };
        let kept = self.all.numbered_mut(number)?;
        kept.at = self.clock;
        Some(&mut kept.view)
    }

    #[inline(never)]
    fn search(&mut self, id: &Arc<str>, state: &State) -> Option<u32> {
        let number = self.all.number(id).or_else(|| self.make(id, state))?;
        self.last = Some((Arc::clone(id), number));
        Some(number)
    }

    fn make(&mut self, id: &Arc<str>, state: &State) -> Option<u32> {
        let early = !state.sessions.is_known(id);
        let too_many = || self.all.iter().filter(|(_, kept)| kept.early).count() >= state.sessions.expected + SPARE;
        if early && too_many() {
            return None;
        }
        let view = View::new(&state.config.limits, self.origin);
        self.all.insert(Arc::clone(id), Kept { view, early, at: 0 });
        self.all.number(id)
    }

    /// A notification that went through.
    #[inline(never)]
    pub(crate) fn told(&mut self, message: &RuleMessage<'_>, state: &State) {
        let Some(id) = message.session else { return };
        let Some(session) = session(state, id) else { return };
        let Some(view) = self.enter(id, state).filter(|view| !view.is_frozen()) else { return };
        if let Some(operation) = message.operation {
            view.follow_replay(session.state == SessionState::Loading);
            view.apply(operation, Told { session, dialect: &state.tables.dialect });
        } else if message.method == "session/cancel" {
            view.cancelled(session);
        }
        self.told += message.body.map_or(0, str::len) + LEAST;
        if self.told > state.config.limits.view_bytes / PART {
            self.told = 0;
            self.fit(id, state);
        }
    }

    /// A request that went through, of either side.
    pub(crate) fn asked(&mut self, message: &RuleMessage<'_>, request: &Id, serial: u64, state: &State) {
        let (Some(id), Some(params)) = (message.session, message.body) else { return };
        let Some(session) = session(state, id) else { return };
        let row = state.method(message.method);
        let attaches = row.is_some_and(|row| row.effect == Effect::Attaches);
        let asks = question(message.method).is_some();
        let prompts = message.method == "session/prompt";
        let runs = message.method == "terminal/create";
        if !(attaches || asks || prompts || runs) {
            return;
        }
        let Some(view) = self.enter(id, state) else { return };
        if attaches {
            // Where it fails, the session is not open, and the view is frozen again.
            view.freeze(false);
            if session.state == SessionState::Loading {
                view.begin_replay(Some(serial));
            }
        }
        let told = Told { session, dialect: &state.tables.dialect };
        if runs {
            view.terminal_wanted(serial, params);
        } else if prompts {
            view.follow_replay(session.state == SessionState::Loading);
            view.prompted(serial, request, params, told.dialect.answer_ends_turn());
        } else if asks {
            if let Some(operation) = message.operation {
                view.apply(operation, told);
            }
            let tool = Operation::asked_about(message);
            view.asked(serial, request, message.method, params, tool.as_deref());
        }
    }

    /// A request has ended: with a result, or otherwise.
    pub(crate) fn answered(&mut self, request: &OpenRequest, result: Option<&str>, state: &State) {
        let effect = request.row.map_or(Effect::None, |row| row.effect);
        let opened = result.filter(|_| effect == Effect::Makes).and_then(|result| json::pointer(result, "/sessionId"));
        let id: Option<Arc<str>> = match opened.and_then(json::unescape) {
            Some(id) => state.sessions.find(&id),
            None => request.session.clone(),
        };
        if let Some(id) = id {
            self.ended(&id, request, effect, result, state);
        }
        if state.sessions.expected == 0 {
            self.last = None;
            self.all.retain(|id, kept| !kept.early || state.sessions.is_known(id));
        }
    }

    fn ended(&mut self, id: &Arc<str>, request: &OpenRequest, effect: Effect, result: Option<&str>, state: &State) {
        let ending = result.map_or(Ending::Failed, Ending::Result);
        if let (Effect::Makes, true) = (effect, state.sessions.is_known(id)) {
            // One that is over has nothing to do with a new session of its id.
            self.forget(id);
            _ = self.enter(id, state);
        }
        let Some(kept) = self.all.get_mut(id) else { return };
        let view = &mut kept.view;
        match (effect, &*request.method) {
            (_, "session/prompt") => view.answered(request.serial, ending),
            (Effect::Ends | Effect::Deletes, _) if result.is_some() => return self.freeze(state),
            (Effect::Attaches, _) => view.end_replay(Some(request.serial), result.is_some()),
            (_, method) if is_about_one(method) => {
                return view.terminal_answered(request.serial, method, request.note.as_deref(), result);
            }
            (_, method) if question(method).is_some() => view.settled(request.serial),
            (Effect::Makes, _) => kept.early = false,
            (_, "session/set_mode" | "session/set_config_option") => {}
            _ => return,
        }
        let told = session(state, id).filter(|_| result.is_some() && request.method != "session/prompt");
        if let Some(session) = told {
            kept.view.look_up(Told { session, dialect: &state.tables.dialect });
        } else if effect == Effect::Attaches && !state.sessions.is_known(id) {
            // It is not open now.
            if kept.view.entries().next().is_none() {
                self.remove(id);
            } else {
                kept.view.freeze(true);
            }
        }
    }

    /// The error that a request has ended with.
    pub(crate) fn failed(&mut self, request: &OpenRequest, error: Option<&str>, state: &State) {
        let is_prompt = request.method == "session/prompt" && state.tables.dialect.answer_ends_turn();
        let session = request.session.as_ref().filter(|_| is_prompt);
        if let (Some(kept), Some(error)) = (session.and_then(|id| self.all.get_mut(id)), error) {
            kept.view.failed(request.serial, error);
        }
    }

    /// Nothing is told of any session any more.
    pub(crate) fn over(&mut self) {
        self.all.values_mut().for_each(|kept| kept.view.over());
    }

    /// Freezes the views of sessions that are over, of which the ones that were written last are kept.
    fn freeze(&mut self, state: &State) {
        let over: Vec<Arc<str>> = self
            .all
            .iter()
            .filter(|(id, kept)| !kept.early && !state.sessions.is_known(id))
            .map(|(id, _)| Arc::clone(id))
            .collect();
        for id in over {
            if let Some(kept) = self.all.get_mut(&id) {
                kept.view.freeze(true);
            }
        }
        while self.all.iter().filter(|(_, kept)| kept.view.is_frozen()).count() > FROZEN {
            self.drop_oldest(|kept| kept.view.is_frozen());
        }
    }

    fn drop_oldest(&mut self, of: impl Fn(&Kept) -> bool) -> bool {
        let oldest = self.all.iter().filter(|(_, kept)| of(kept)).min_by_key(|(_, kept)| kept.at);
        let Some(id) = oldest.map(|(id, _)| Arc::clone(id)) else { return false };
        self.remove(&id)
    }

    /// Keeps all views together within what they may take: first those go that are frozen, then the entries of those that
    /// were written longest ago.
    fn fit(&mut self, current: &Arc<str>, state: &State) {
        let most = state.config.limits.view_bytes.saturating_mul(TOGETHER);
        let sum = |all: &Map<Arc<str>, Kept>| all.values().map(|kept| kept.view.bytes()).sum::<usize>();
        while sum(&self.all) > most {
            if self.drop_oldest(|kept| kept.view.is_frozen()) {
                continue;
            }
            let others = self.all.iter().filter(|(id, kept)| *id != current && kept.view.entries().next().is_some());
            let Some(id) = others.min_by_key(|(_, kept)| kept.at).map(|(id, _)| Arc::clone(id)) else { return };
            let Some(kept) = self.all.get_mut(&id) else { return };
            kept.view.forget_entries();
        }
    }
}
