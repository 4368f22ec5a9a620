//! What operations do to a view.

use std::borrow::Cow;

use super::facts::Name;
use super::kind::EntryKind;
use super::{target, View};
use crate::engine::operations::{Does, Fact, Operation, Speaker, Thing};
use crate::engine::Session;
use crate::json::{self, Writer};
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
        match operation.does {
            Does::Append(thing) => self.append(thing, operation),
            Does::Start(Thing::Plan) => self.plan_told(operation),
            Does::Start(thing) => self.put(thing, operation, true),
            Does::Patch(thing) => self.put(thing, operation, false),
            Does::Remove(thing) => {
                let story = target(&mut self.story, &mut self.next);
                let index = operation.id.as_deref().and_then(|id| story.find(thing.into(), id));
                if let Some(index) = index {
                    self.revision += 1;
                    story.remove(index, self.revision);
                }
            }
            Does::Tell(Fact::State) => self.state_told(operation.body),
            Does::Tell(Fact::Info) => self.info_told(operation),
            Does::Tell(Fact::Usage) => self.usage_told(operation),
            Does::Tell(Fact::Commands | Fact::Options | Fact::Mode) => self.look_up(told),
            Does::EndReplay => target(&mut self.story, &mut self.next).end_run(),
            Does::Notice => {
                let index = self.push(EntryKind::Notice, None);
                self.set_all(index, operation);
                self.touched(index, true);
            }
            Does::Other => {
                let index = self.push(EntryKind::Update, None);
                let mut kind = String::new();
                json::quote(&mut kind, &operation.kind);
                let most = self.most;
                if let Some(entry) = target(&mut self.story, &mut self.next).get_mut(index) {
                    entry.set("sessionUpdate", Some(&kind), most);
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
        if rewritten {
            if let Some(entry) = story.get_mut(index) {
                entry.rewritten = self.revision;
            }
        }
        story.touch(index, self.revision);
        let mut bounds = self.bounds;
        // While another conversation is shown, the two share what there is, and the new one has at least half.
        bounds.bytes -= hidden.min(bounds.bytes / 2);
        if story.fit(bounds, index, &mut self.revision) {
            self.count();
        }
    }

    /// The numbers of what there is.
    pub(super) fn count(&mut self) {
        let (turn, trimmed, dropped) = (self.story.turn, self.story.trimmed, self.story.dropped);
        self.say(Name::Turn, Some(&turn.to_string()));
        self.say(Name::Trimmed, Some(&trimmed.to_string()));
        self.say(Name::Dropped, Some(&dropped.to_string()));
    }

    fn push(&mut self, kind: EntryKind, id: Option<&str>) -> u64 {
        let replays = self.replay.is_some();
        let story = target(&mut self.story, &mut self.next);
        if kind == USER {
            if replays {
                story.answer_turn();
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
        let (kind, id) = (EntryKind::from(thing), operation.id.as_deref());
        if kind == USER && !self.prompts.is_empty() {
            match self.echoed(id, operation.body) {
                Some(None) => return,
                Some(Some(_)) | None => {}
            }
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
        let Some(id) = operation.id.as_deref() else { return };
        let mut known = target(&mut self.story, &mut self.next).find(kind, id);
        if kind == USER && known.is_none() && !self.prompts.is_empty() {
            let blocks = json::pointer(operation.body, "/content").map(json::items).unwrap_or_default();
            known = blocks.first().and_then(|block| self.echoed(Some(id), block)).flatten();
        }
        let index = known.unwrap_or_else(|| self.push(kind, Some(id)));
        let story = target(&mut self.story, &mut self.next);
        if matches!(thing, Thing::ToolCall) {
            story.end_run();
        }
        if let Some(entry) = story.get_mut(index).filter(|_| whole) {
            entry.reset();
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
        for (name, value) in operation.changes() {
            if name == content {
                entry.replace(value, most);
                entry.awaits_echo = false;
                (changed, rewritten) = (true, true);
            } else if name == "_meta" {
                changed |= entry.set_meta(value, most);
            } else {
                changed |= entry.set(&name, value, most);
            }
        }
        (changed, rewritten)
    }

    /// A plan is told as a whole. Version 1 has one, without an id.
    fn plan_told(&mut self, operation: &Operation<'_>) {
        let id = operation.id.as_deref().unwrap_or(MAIN);
        let story = target(&mut self.story, &mut self.next);
        story.end_run();
        let known = story.find(EntryKind::Plan, id);
        let index = known.unwrap_or_else(|| self.push(EntryKind::Plan, Some(id)));
        let plan = match operation.id {
            Some(_) => Some(Cow::Borrowed(operation.body)),
            None => {
                let mut out = Writer::new();
                let entries = json::pointer(operation.body, "/entries").unwrap_or("[]");
                out.begin_object().key("type").string("items").key("planId").string(MAIN).key("entries").json(entries);
                out.end_object();
                out.finish().ok().map(Cow::Owned)
            }
        };
        let most = self.most;
        let Some(entry) = target(&mut self.story, &mut self.next).get_mut(index) else { return };
        let meta = json::pointer(operation.body, "/_meta").filter(|_| operation.id.is_none());
        let mut changed = entry.set("plan", plan.as_deref(), most);
        changed |= meta.is_some_and(|meta| entry.set_meta(Some(meta), most));
        if changed || known.is_none() {
            self.touched(index, true);
        }
    }

    fn info_told(&mut self, operation: &Operation<'_>) {
        for (name, value) in operation.changes() {
            match &*name {
                "title" => self.say(Name::Title, value),
                "updatedAt" => self.say(Name::UpdatedAt, value),
                _ => {}
            }
        }
    }

    fn usage_told(&mut self, operation: &Operation<'_>) {
        let known: Option<String> = self.facts.get(Name::Usage).map(Into::into);
        let changes: Vec<_> = operation.changes().collect();
        let mut out = Writer::new();
        out.begin_object();
        for name in ["used", "size", "cost"] {
            let place = format!("/{name}");
            let before = || known.as_deref().and_then(|known| json::pointer(known, &place));
            let told = changes.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
            out.key(name).json(told.unwrap_or_else(before).unwrap_or("null"));
        }
        out.end_object();
        self.say(Name::Usage, out.finish().ok().as_deref());
    }

    /// The foreground works.
    pub(super) fn works(&mut self, state: &str) {
        target(&mut self.story, &mut self.next).begin_turn();
        self.count();
        self.say(Name::State, Some(state));
        self.say(Name::StopReason, None);
        self.say(Name::Error, None);
    }

    /// The foreground does nothing any more.
    pub(super) fn rests(&mut self) {
        target(&mut self.story, &mut self.next).end_turn();
        self.say(Name::State, None);
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

    /// The error that a prompt ended with.
    pub(super) fn failed(&mut self, error: &str) {
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
        let worked = !STILL.contains(&self.facts.or_default(Name::State));
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
        for index in target(&mut self.story, &mut self.next).of_turn() {
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

    /// What the engine keeps of a session, which answers and updates tell.
    pub(super) fn look_up(&mut self, Told { session, dialect }: Told<'_>) {
        let options = session.config_options().map(|list| renamed(list, dialect));
        self.say(Name::ConfigOptions, options.as_deref());
        self.say(Name::Commands, session.commands());
        let mode = session.mode();
        let modes = mode.map(|mode| {
            let derived = || options.as_deref().and_then(modes_of);
            let list = session.available_modes().map(Cow::Borrowed).or_else(|| derived().map(Cow::Owned));
            let mut out = Writer::new();
            out.begin_object().key("currentModeId").string(&mode).key("availableModes");
            out.json(list.as_deref().unwrap_or("null")).end_object();
            out.finish().unwrap_or_default()
        });
        self.say(Name::Modes, modes.as_deref());
    }
}

/// Config options with the names that version 2 has for their members.
fn renamed<'a>(list: &'a str, dialect: &Dialect) -> Cow<'a, str> {
    const ID: &str = "configId";
    if dialect.config_option_id == ID {
        return Cow::Borrowed(list);
    }
    let groups = |out: &mut Writer, value: &str| {
        out.begin_array();
        for item in json::items(value) {
            out.begin_object();
            for (name, value) in json::members(item) {
                out.key(if name == "group" { "groupId" } else { &name }).json(value);
            }
            out.end_object();
        }
        out.end_array();
    };
    let renamed = json::list(json::items(list).into_iter(), |out, option| {
        out.begin_object();
        for (name, value) in json::members(option) {
            match &*name {
                name if name == dialect.config_option_id => _ = out.key(ID).json(value),
                "options" if value.starts_with('[') => groups(out.key("options"), value),
                name => _ = out.key(name).json(value),
            }
        }
        out.end_object();
    });
    Cow::Owned(renamed)
}

/// The modes that the config option for them offers.
fn modes_of(options: &str) -> Option<String> {
    let is_mode = |option: &&str| json::pointer(option, "/category") == Some("\"mode\"");
    let option = json::items(options).into_iter().find(is_mode)?;
    let values = json::items(json::pointer(option, "/options")?);
    let all = values.into_iter().flat_map(|value| match json::pointer(value, "/options") {
        Some(group) => json::items(group),
        None => vec![value],
    });
    Some(json::list(all, |out, value| {
        out.begin_object();
        for (name, member) in [("id", "/value"), ("name", "/name"), ("description", "/description")] {
            if let Some(member) = json::pointer(value, member) {
                out.key(name).json(member);
            }
        }
        out.end_object();
    }))
}
