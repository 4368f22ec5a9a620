//! How an agent takes prompts up, works, and ends its work.

use libacp::connection::Phase;
use libacp::{ErrorCode, Id};
use serde_json::{json, Value};

use super::agent::Agent;
use super::content::text;
use super::work::{Stage, Work};
use crate::choices::Choices;
use crate::host::{Answer, Asked, Host as _, Step, REFUSED};

/// Why work ends, where nobody has cancelled it.
const REASONS: &[&str] = &["end_turn", "max_tokens", "max_turn_requests", "refusal", "error", "cancelled", "_bored"];
/// States of work.
const WORKING: &[&str] = &["running", "requires_action", "_thinking"];

/// What a prompt begins with: by this the message that it becomes can be told from others.
fn begins(asked: &Asked) -> &Value {
    &asked.params["prompt"][0]
}

impl Agent {
    /// Deals with a prompt: takes it up and answers it, takes it up alone, or refuses it.
    pub(super) fn take_up(&mut self, at: usize, choices: &mut Choices) -> Step {
        let asked = &self.base.todo[at];
        // Of those that say the same, the first comes first.
        let same = |other: &Asked| {
            other.method == "session/prompt"
                && (&other.session, other.stale) == (&asked.session, asked.stale)
                && begins(other) == begins(asked)
                && !self.inserted.contains_key(&other.id)
        };
        let first = self.base.todo.iter().position(same).filter(|_| !self.inserted.contains_key(&asked.id));
        let at = first.unwrap_or(at);
        let asked = self.base.todo[at].clone();
        if let Some(id) = self.inserted.remove(&asked.id) {
            self.base.todo.remove(at);
            return self.base.reply(&asked, Answer::Result(json!({"messageId": id})));
        }
        let dropped = self.dropped.remove(&asked.id) || asked.stale;
        if dropped || (asked.cancelled && choices.one_in(2)) {
            self.base.todo.remove(at);
            return self.base.reply(&asked, Answer::Error(ErrorCode::REQUEST_CANCELLED));
        }
        let how = choices.below(8);
        if how == 7 {
            self.base.todo.remove(at);
            return self.base.reply(&asked, REFUSED);
        }
        let id = self.base.name("m");
        let content = asked.params["prompt"].clone();
        if let Some(work) = self.works.get_mut(&asked.session) {
            work.due |= !work.is_working() || work.cancelled;
            work.rested = false;
        }
        if how < 4 {
            self.base.todo.remove(at);
            if let Some(work) = self.works.get_mut(&asked.session) {
                work.unshown.push((id.clone(), content));
            }
            return self.base.reply(&asked, Answer::Result(json!({"messageId": id})));
        }
        self.inserted.insert(asked.id.clone(), id.clone());
        self.echo(&asked.session, &id, &content, choices)
    }

    /// Shows the message that a prompt became, whole or piece by piece.
    fn echo(&mut self, session: &str, id: &str, content: &Value, choices: &mut Choices) -> Step {
        self.base.count("echo");
        let whole = choices.below(3);
        if whole < 2 {
            let content = if whole == 0 { content.clone() } else { json!([]) };
            self.tell(session, json!({"sessionUpdate": "user_message", "messageId": id, "content": content}))?;
        }
        for block in content.as_array().into_iter().flatten().filter(|_| whole > 0) {
            self.tell(session, json!({"sessionUpdate": "user_message_chunk", "messageId": id, "content": block}))?;
        }
        self.remember(session, id, content);
        Ok(true)
    }

    /// Shows what was answered and not shown yet.
    pub(super) fn echo_one(&mut self, choices: &mut Choices) -> Step {
        let Some(session) = self.session(choices, |work| !work.unshown.is_empty()) else { return Ok(false) };
        let Some(work) = self.works.get_mut(&session) else { return Ok(false) };
        let (id, content) = work.unshown.remove(0);
        self.echo(&session, &id, &content, choices)
    }

    /// Tells the state of a session: it begins to work, goes on in another way, or is as before.
    pub(super) fn tell_state(&mut self, choices: &mut Choices) -> Step {
        let Some(id) = self.session(choices, |_| true) else { return Ok(false) };
        let work = &self.works[&id];
        let (due, idle) = (work.due, !work.is_working());
        if work.unseen && choices.one_in(2) {
            return self.end_unseen(&id, choices);
        }
        match choices.below(5) {
            0 if idle => self.idle(&id, None, choices),
            1 if idle && !work.stopped => {
                let reason = work.reason;
                self.idle(&id, reason, choices)
            }
            // Some of what nobody has asked for begins blocked.
            2.. if idle && (due || choices.one_in(2)) => {
                let state = WORKING[choices.below(WORKING.len())];
                self.working(&id, state, choices)
            }
            2 | 3 if !idle => {
                let state = WORKING[choices.below(WORKING.len())];
                self.working(&id, state, choices)
            }
            _ if !idle => self.finish(&id, choices),
            _ => Ok(false),
        }
    }

    /// Ends what was cancelled before anything was told of it: with what there was, with its end alone, or with nothing.
    fn end_unseen(&mut self, id: &str, choices: &mut Choices) -> Step {
        let Some(work) = self.works.get_mut(id) else { return Ok(false) };
        let due = work.due;
        work.unseen = false;
        match choices.below(3) {
            0 if !work.is_working() => {
                self.working(id, "running", choices)?;
                self.works.entry(id.to_owned()).and_modify(|work| (work.due, work.cancelled) = (due, true));
                self.finish(id, choices)
            }
            1 if !work.is_working() => {
                work.messages.clear();
                self.base.count("an end without a beginning");
                self.idle(id, Some("cancelled"), choices)
            }
            _ => Ok(true),
        }
    }

    fn working(&mut self, id: &str, state: &'static str, choices: &mut Choices) -> Step {
        let update = json!({"sessionUpdate": "state_update", "state": state});
        let done = self.state(id, update, choices)?;
        if let Some(work) = self.works.get_mut(id) {
            (work.state, work.reason, work.due) = (state, None, false);
        }
        Ok(done)
    }

    pub(super) fn idle(&mut self, id: &str, reason: Option<&'static str>, choices: &mut Choices) -> Step {
        let mut update = json!({"sessionUpdate": "state_update", "state": "idle"});
        if let Some(reason) = reason {
            update["stopReason"] = json!(reason);
            if reason == "error" && !choices.one_in(4) {
                update["error"] = json!({"code": -32603, "message": "It broke."});
            }
            if self.drafts && choices.one_in(2) {
                update["usage"] = json!({"totalTokens": 3, "inputTokens": 1, "outputTokens": 2});
            }
        }
        let done = self.state(id, update, choices)?;
        if let Some(work) = self.works.get_mut(id) {
            (work.state, work.reason, work.rested) = ("idle", reason.or(work.reason), true);
            // The reason may have gone out as `cancelled`; what was cancelled does not go on.
            let session = self.base.connection.session(id);
            if session.is_some_and(|session| session.stop_reason() == Some("cancelled")) {
                work.messages.clear();
            }
        }
        Ok(done)
    }

    /// Tells a state with the background work that belongs to it.
    fn state(&mut self, id: &str, mut update: Value, choices: &mut Choices) -> Step {
        if let Some(list) = self.background(id, choices) {
            update["background"] = json!(list);
        }
        if let Some(work) = self.works.get_mut(id) {
            work.synced = true;
        }
        self.tell(id, update)
    }

    /// What runs in the background: once told, always. What has ended is left out.
    fn background(&mut self, id: &str, choices: &mut Choices) -> Option<Vec<Value>> {
        let work = self.works.get_mut(id)?;
        if work.background.is_none() && !choices.one_in(4) {
            return None;
        }
        let listed = work.background.take().unwrap_or_default();
        let mut list = Vec::new();
        let mut add = |item: Value, open: bool| {
            if open && (listed.contains(&item) || choices.one_in(3)) {
                list.push(item);
            }
        };
        for (tool, known) in &work.tools {
            add(json!({"type": "tool_call", "toolCallId": tool}), !known.ended);
        }
        for (terminal, known) in &work.terminals {
            add(json!({"type": "terminal", "terminalId": terminal}), !known.ended);
        }
        add(json!({"type": "_job", "id": 1}), true);
        work.background = Some(list.clone());
        Some(list)
    }

    /// Ends the work of a session, if there is any, with all that belongs to it.
    pub(super) fn finish(&mut self, id: &str, choices: &mut Choices) -> Step {
        let Some(work) = self.works.get_mut(id) else { return Ok(false) };
        let unshown = std::mem::take(&mut work.unshown);
        let (due, cancelled) = (work.due, work.cancelled);
        for (message, content) in &unshown {
            self.echo(id, message, content, choices)?;
        }
        if self.works[id].unseen {
            self.end_unseen(id, choices)?;
        }
        if !self.works[id].is_working() && due {
            self.working(id, "running", choices)?;
        }
        if !self.works[id].is_working() {
            return Ok(!unshown.is_empty());
        }
        let reason = if cancelled { "cancelled" } else { REASONS[choices.below(REASONS.len())] };
        self.idle(id, Some(reason), choices)?;
        if let Some(work) = self.works.get_mut(id) {
            work.cancelled = false;
            // What was cancelled does not go on.
            if reason == "cancelled" {
                work.messages.clear();
            }
        }
        Ok(true)
    }

    /// The client cancels what goes on in a session, and what has not begun.
    pub(super) fn stop(&mut self, session: &str) {
        let prompts = self.base.todo.iter().filter(|asked| asked.method == "session/prompt" && !asked.stale);
        let waiting = prompts.filter(|asked| asked.session == session && !self.inserted.contains_key(&asked.id));
        let waiting: Vec<Id> = waiting.map(|asked| asked.id.clone()).collect();
        self.dropped.extend(waiting);
        if let Some(work) = self.works.get_mut(session) {
            work.cancel();
        }
    }

    /// Ends all that a session does, the background too, and the session.
    pub(super) fn close(&mut self, id: &str, choices: &mut Choices) -> Result<(), String> {
        let Some(work) = self.works.get(id) else { return Ok(()) };
        let tools: Vec<_> = work.tools.iter().filter(|(_, tool)| !tool.ended).map(|(id, _)| id.clone()).collect();
        let terminals: Vec<_> =
            work.terminals.iter().filter(|(_, known)| !known.ended).map(|(id, _)| id.clone()).collect();
        for tool in tools {
            self.end_tool(id, &tool, "cancelled")?;
        }
        for terminal in terminals {
            self.end_terminal(id, &terminal)?;
        }
        // On a message that came while other work was being cancelled, there was none yet.
        for _ in 0..2 {
            self.works.entry(id.to_owned()).and_modify(Work::cancel);
            self.finish(id, choices)?;
        }
        self.works.remove(id);
        self.base.leave(id);
        Ok(())
    }

    /// Tells of a session whose id is still on its way.
    pub(super) fn tell_early(&mut self, choices: &mut Choices) -> Step {
        let name = self.base.name("s");
        let makes = |asked: &&mut Asked| matches!(&*asked.method, "session/new" | "session/fork");
        let Some(asked) = choices.pick_from(self.base.todo.iter_mut().filter(makes)) else { return Ok(false) };
        let id = asked.early.get_or_insert(name).clone();
        self.works.entry(id.clone()).or_insert_with(|| Work::new(Stage::Early));
        self.update_one(&id, choices)
    }

    /// Something that was begun and goes on by itself.
    pub(super) fn rest_one(&mut self, choices: &mut Choices) -> Step {
        if self.base.connection.phase() != Phase::Ready {
            return Ok(false);
        }
        let open = self.works.iter().filter(|(_, work)| work.is_working() || work.due || !work.unshown.is_empty());
        let Some(id) = open.map(|(id, _)| id.clone()).next() else { return Ok(false) };
        self.finish(&id, choices)
    }

    /// A message of another client's, which nobody here has asked for.
    pub(super) fn other_client(&mut self) -> Value {
        text(&format!("{} from elsewhere", self.base.name("said")))
    }

    /// The first thing to answer, or one of them.
    pub(super) fn answer_some(&mut self, choices: &mut Choices) -> Step {
        let waiting = self.base.todo.len();
        if waiting == 0 {
            return Ok(false);
        }
        let at = choices.below(waiting);
        if self.base.todo[at].method == "session/prompt" {
            return self.take_up(at, choices);
        }
        let asked = self.base.todo.remove(at);
        let answer = self.answer(&asked, choices)?;
        self.base.reply(&asked, answer)
    }
}
