//! What operations do to a view.

use std::borrow::Cow;

use super::facts::Name;
use super::kind::EntryKind;
use super::prompts::Echo;
use super::{target, View};
use crate::engine::operations::{Does, Fact, Operation, Speaker, Thing};
use crate::engine::Session;
use crate::json;
use crate::text::joined;
use crate::validation::table::Dialect;

const USER: EntryKind = EntryKind::Message(Speaker::User);
/// The plan of a session that has one without an id.
const MAIN: &str = "main";
/// States in which nothing is known to go on.
const STILL: &[&str] = &["\"idle\"", "\"unknown\""];

/// Where a message is told.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told<'a> {
    pub(super) session: &'a Session,
    pub(super) dialect: &'a Dialect,
}

impl View {
    /// Applies an operation.
    pub(super) fn apply(&mut self, operation: &Operation<'_>, told: Told<'_>) {
        self.fold(operation, told);
        if self.replay.is_some() && operation.speaker() != Some(Speaker::User) && operation.does.is_shown() {
            target(&mut self.story, &mut self.next).answered = true;
        }
    }

    fn fold(&mut self, operation: &Operation<'_>, told: Told<'_>) {
        match operation.does {
            Does::Append(thing) => self.append(thing, operation),
            Does::Start(Thing::Plan) => self.plan_told(operation),
            Does::Start(thing) => self.put(thing, operation, true),
            Does::Patch(thing) => self.put(thing, operation, false),
            Does::Remove(thing) => {
                let story = target(&mut self.story, &mut self.next);
                let index = operation.id().and_then(|id| story.find(thing.into(), &id));
                if let Some(index) = index {
                    self.revision += 1;
                    story.remove(index, self.revision);
                }
            }
            Does::Tell(Fact::State) => self.state_told(operation.body),
            Does::Tell(Fact::Info) => self.info_told(operation),
            Does::Tell(Fact::Usage) => self.usage_told(operation),
            Does::Tell(Fact::Commands) => self.say(Name::Commands, Some(operation.body)),
            Does::Tell(Fact::Options) => self.options_told(operation.body, told.dialect),
            Does::Tell(Fact::Mode) => self.say(Name::Modes, Some(operation.body)),
            Does::EndReplay => target(&mut self.story, &mut self.next).end_run(),
            Does::Notice => {
                let index = self.push(EntryKind::Notice, None);
                self.set_all(index, operation);
                self.touched(index, true);
            }
            Does::Other => {
                let index = self.push(EntryKind::Update, None);
                let (most, kind) = (self.most, operation.member("sessionUpdate"));
                if let Some(entry) = target(&mut self.story, &mut self.next).get_mut(index) {
                    entry.set("sessionUpdate", kind, most);
                    entry.set("update", Some(operation.body), most);
                }
                self.touched(index, true);
            }
        }
    }

    /// An entry has changed: by growing at its end, or otherwise.
    pub(super) fn touched(&mut self, index: u64, rewritten: bool) {
        self.revision += 1;
        let hidden = self.next.as_ref().map_or(0, |_| self.story.bytes);
        let story = target(&mut self.story, &mut self.next);
        story.touch(index, self.revision, rewritten);
        let mut bounds = self.bounds;
        // While another conversation is shown, the two share what there is, and the new one has at least half.
        bounds.bytes -= hidden.min(bounds.bytes / 2);
        if story.is_over(bounds) && story.fit(bounds, index, &mut self.revision) {
            self.count();
        }
    }

    /// The numbers of what there is.
    pub(super) fn count(&mut self) {
        let (turn, trimmed, dropped) = (self.story.turn, self.story.trimmed, self.story.dropped);
        self.facts.count([turn, trimmed, dropped], &mut self.revision);
    }

    fn push(&mut self, kind: EntryKind, id: Option<&str>) -> u64 {
        let replays = self.replay.is_some();
        let story = target(&mut self.story, &mut self.next);
        if kind == USER {
            if replays {
                story.replay_turn();
            } else {
                story.begin_turn();
            }
        }
        let index = story.push(kind, id);
        if kind == USER {
            self.count();
        }
        index
    }

    fn append(&mut self, thing: Thing, operation: &Operation<'_>) {
        let (kind, id) = (EntryKind::from(thing), operation.id());
        let id = id.as_deref();
        if operation.body.is_empty() {
            return;
        }
        if kind == USER && self.awaits_echo() && self.echoed(id, operation.body) == Echo::Repeats {
            return;
        }
        let story = target(&mut self.story, &mut self.next);
        let known = match id {
            Some(id) => story.find(kind, id),
            None => story.run(kind),
        };
        let index = match (known, id) {
            (Some(index), _) => index,
            (None, Some(_)) => self.push(kind, id),
            (None, None) if matches!(thing, Thing::Message(_)) => {
                let index = self.push(kind, None);
                target(&mut self.story, &mut self.next).begin_run(index);
                index
            }
            (None, None) => return,
        };
        let most = self.most;
        let story = target(&mut self.story, &mut self.next);
        if thing == Thing::ToolCall || matches!(thing, Thing::Message(_)) && id.is_some() {
            story.end_run();
        }
        let Some(entry) = story.get_mut(index) else { return };
        let mut rewritten = known.is_none();
        if std::mem::take(&mut entry.awaits_echo) {
            entry.replace(None, most);
            rewritten = true;
        }
        rewritten |= entry.append(operation.body, most);
        self.touched(index, rewritten);
    }

    fn put(&mut self, thing: Thing, operation: &Operation<'_>, whole: bool) {
        let kind = EntryKind::from(thing);
        let Some(id) = operation.id() else { return };
        let id = &*id;
        let mut known = target(&mut self.story, &mut self.next).find(kind, id);
        if kind == USER && known.is_none() && self.awaits_echo() {
            let blocks = json::pointer(operation.body, "/content").map(json::items).unwrap_or_default();
            if let Some(Echo::Is(index)) = blocks.first().map(|block| self.echoed(Some(id), block)) {
                known = Some(index);
            }
        }
        let index = known.unwrap_or_else(|| self.push(kind, Some(id)));
        let story = target(&mut self.story, &mut self.next);
        if matches!(thing, Thing::ToolCall) {
            story.end_run();
        }
        if let Some(entry) = story.get_mut(index).filter(|_| whole) {
            entry.reset();
            story.begun_again(index);
        }
        let (_, content) = thing.members();
        let (changed, rewritten) = self.set_all_but(index, operation, content);
        if changed || known.is_none() || whole {
            self.touched(index, rewritten || known.is_none() || whole);
        }
    }

    fn set_all(&mut self, index: u64, operation: &Operation<'_>) {
        self.set_all_but(index, operation, "");
    }

    /// Sets the members that an operation has; whether that changes any, and whether the content.
    fn set_all_but(&mut self, index: u64, operation: &Operation<'_>, content: &str) -> (bool, bool) {
        let most = self.most;
        let Some(entry) = target(&mut self.story, &mut self.next).get_mut(index) else { return (false, false) };
        let (mut changed, mut rewritten) = (false, false);
        operation.each(|name, value| {
            if name == content {
                rewritten |= entry.replace(value, most) || entry.awaits_echo;
                entry.awaits_echo = false;
                changed |= rewritten;
            } else if name == "_meta" {
                changed |= entry.set_meta(value, most);
            } else {
                changed |= entry.set(name, value, most);
            }
        });
        (changed, rewritten)
    }

    /// A plan is told as a whole. Version 1 has one, without an id.
    fn plan_told(&mut self, operation: &Operation<'_>) {
        let id = operation.id().unwrap_or(MAIN.into());
        let story = target(&mut self.story, &mut self.next);
        story.end_run();
        let known = story.find(EntryKind::Plan, &id);
        let index = known.unwrap_or_else(|| self.push(EntryKind::Plan, Some(&id)));
        let (mut entries, mut meta) = ("[]", None);
        if operation.id.is_none() {
            operation.each(|name, value| match name {
                "entries" => entries = value.unwrap_or(entries),
                "_meta" => meta = value,
                _ => {}
            });
        }
        let plan = match operation.id {
            Some(_) => Cow::Borrowed(operation.body),
            None => Cow::Owned(joined(&[r#"{"type":"items","planId":"main","entries":"#, entries, "}"], "")),
        };
        let most = self.most;
        let Some(entry) = target(&mut self.story, &mut self.next).get_mut(index) else { return };
        let mut changed = entry.set("plan", Some(&plan), most);
        changed |= meta.is_some_and(|meta| entry.set_meta(Some(meta), most));
        if changed || known.is_none() {
            self.touched(index, true);
        }
    }

    fn info_told(&mut self, operation: &Operation<'_>) {
        operation.each(|name, value| match name {
            "title" => self.say(Name::Title, value),
            "updatedAt" => self.say(Name::UpdatedAt, value),
            _ => {}
        });
    }

    /// What an update of the usage leaves out stays as it was.
    fn usage_told(&mut self, operation: &Operation<'_>) {
        const NAMES: [&str; 3] = ["used", "size", "cost"];
        let mut all = [None; NAMES.len()];
        operation.each(|name, value| {
            if let Some(at) = NAMES.iter().position(|known| *known == name) {
                all[at] = Some(value.unwrap_or("null"));
            }
        });
        let known = self.facts.get(Name::Usage).filter(|_| all.contains(&None));
        for (name, value) in NAMES.iter().zip(&mut all) {
            *value = value.or_else(|| json::pointer(known?, &format!("/{name}")));
        }
        let [used, size, cost] = all.map(|value| value.unwrap_or("null"));
        let usage = joined(&[r#"{"used":"#, used, r#","size":"#, size, r#","cost":"#, cost, "}"], "");
        self.say(Name::Usage, Some(&usage));
    }

    /// The foreground works.
    pub(super) fn works(&mut self, state: &str) {
        target(&mut self.story, &mut self.next).begin_turn();
        self.count();
        self.say(Name::State, Some(state));
        self.say(Name::StopReason, None);
        self.say(Name::Error, None);
    }

    /// Whether nothing is known to go on in the foreground.
    pub(super) fn is_still(&self) -> bool {
        STILL.contains(&self.facts.or_default(Name::State))
    }

    /// The foreground does nothing any more.
    pub(super) fn rests(&mut self) {
        target(&mut self.story, &mut self.next).end_turn();
        self.say(Name::State, None);
    }

    /// Nobody tells how what is under way ends.
    pub(super) fn over(&mut self) {
        if !self.is_still() {
            self.rests();
        }
    }

    /// The work has ended for this reason.
    pub(super) fn stopped(&mut self, reason: Option<&str>, error: Option<&str>) {
        self.say(Name::StopReason, reason);
        self.say(Name::Error, error);
        if reason == Some("\"refusal\"") {
            // TURN-14.
            for index in target(&mut self.story, &mut self.next).of_turn() {
                if let Some(entry) = target(&mut self.story, &mut self.next).get_mut(index) {
                    entry.discarded = true;
                }
                self.touched(index, false);
            }
        }
    }

    /// The error that a prompt ended with. One that did not go through was no work.
    pub(super) fn failed(&mut self, serial: u64, error: &str) {
        if !self.prompts.iter().any(|prompt| prompt.serial() == serial) {
            return;
        }
        self.say(Name::StopReason, None);
        self.say(Name::Error, Some(error));
    }

    fn state_told(&mut self, update: &str) {
        let given = |place| json::pointer(update, place).filter(|value| *value != "null");
        if let Some(background) = given("/background") {
            self.say(Name::Background, Some(background));
        }
        let Some(state) = given("/state") else { return };
        if !STILL.contains(&state) {
            return self.works(state);
        }
        let worked = !self.is_still();
        let (reason, idle) = (given("/stopReason"), state == "\"idle\"");
        // Repeated, it ends nothing once more.
        if idle && (worked || reason.is_some()) {
            let error = given("/error").filter(|_| reason == Some("\"error\""));
            self.say(Name::TurnUsage, given("/usage"));
            if worked || self.facts.get(Name::StopReason) != reason {
                self.stopped(reason, error);
            }
            target(&mut self.story, &mut self.next).end_turn();
        } else if !idle {
            self.say(Name::StopReason, None);
            self.say(Name::Error, None);
        }
        self.say(Name::State, Some(state));
    }

    /// CANCEL-02: what has not ended counts as cancelled, until something else is said of it.
    pub(super) fn cancelled(&mut self, session: &Session) {
        // A turn that is replayed is over.
        let is_replayed = self.replay.is_some() && self.is_still();
        if is_replayed || !target(&mut self.story, &mut self.next).in_turn {
            return;
        }
        for index in target(&mut self.story, &mut self.next).worked_on() {
            let most = self.most;
            let Some(entry) = target(&mut self.story, &mut self.next).get_mut(index) else { continue };
            let goes_on = |id| session.work.background.has_tool_call(id);
            if entry.kind != EntryKind::ToolCall || entry.is_finished() || entry.id().is_some_and(goes_on) {
                continue;
            }
            entry.set("status", Some("\"cancelled\""), most);
            self.touched(index, false);
        }
    }

    /// What the engine keeps of a session once it was opened, or its settings were changed.
    pub(super) fn look_up(&mut self, Told { session, dialect }: Told<'_>) {
        self.say(Name::Commands, session.commands());
        let mode = session.mode().map(|mode| {
            let mut out = String::new();
            json::quote(&mut out, &mode);
            out
        });
        self.say(Name::Modes, mode.as_deref());
        self.facts.offer(session.available_modes(), &mut self.revision);
        match session.config_options() {
            Some(options) => self.options_told(options, dialect),
            None => self.say(Name::ConfigOptions, None),
        }
    }

    /// The mode may be one of the options.
    fn options_told(&mut self, options: &str, dialect: &Dialect) {
        self.facts.option_id = dialect.config_option_id;
        if self.facts.set(Name::ConfigOptions, Some(options), &mut self.revision) {
            self.facts.mark(Name::Modes, self.revision);
        }
    }
}
