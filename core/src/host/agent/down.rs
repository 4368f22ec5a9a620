//! Updates of version 2 in version 1: as what that version has in their place, or not at all. All others go out as they are.
//!
//! What is told in pieces is kept in [`Shown`], as version 1 wants all of it each time.

use std::borrow::Cow;

use super::newer::{params, UPDATE};
use super::object::{is_object, text, Object};
use super::older::Older;
use super::shown::Shown;
use crate::connection::{Misuse, MisuseKind};
use crate::rules::RuleId;
use crate::validation::is_base64;
use crate::{json, Connection};

/// An update of an open session, and what was shown there before.
struct Down<'d> {
    connection: &'d mut Connection,
    shown: &'d mut Shown,
    session: &'d str,
    params: &'d str,
    update: &'d str,
}

type Tell = fn(Down<'_>) -> Result<(), Misuse>;

/// The kinds that are not told as they are, or of which something is kept.
const KINDS: &[(&str, Tell)] = &[
    ("tool_call", |down| down.call()),
    ("tool_call_update", |down| down.call()),
    ("tool_call_content_chunk", |down| down.chunk()),
    ("terminal_update", |down| down.terminal()),
    ("terminal_output_chunk", |down| down.printed()),
    ("plan", |down| down.plan()),
    ("plan_update", |down| down.plan_update()),
    ("plan_removed", |down| down.plan_removed()),
    ("state_update", |_| Ok(())),
];
/// Plans with ids, a draft of version 1 that clients have to take (PLAN-10), and what there is for all others.
pub(super) const PLANS: &[(&str, &str)] =
    &[("session/update:plan_update", "session/update:plan"), ("session/update:plan_removed", "session/update:plan")];
/// The id of the plan of version 1, which is the only one of its session.
pub(super) const PLAN: &str = "main";
/// The values that entries of a plan have in version 1.
const PRIORITIES: &[&str] = &["high", "medium", "low"];
const STATUSES: &[&str] = &["pending", "in_progress", "completed"];

impl Older {
    /// Sends a notification of either version.
    pub(super) fn notify(&mut self, connection: &mut Connection, method: &str, params: &str) -> Result<(), Misuse> {
        let update = json::member(params, "update").filter(|_| method == UPDATE);
        let kind = update.and_then(|update| json::unescape(json::member(update, "sessionUpdate")?));
        if let Some(with_id) = update.zip(kind.as_deref()).and_then(|(update, kind)| self.chunk(kind, params, update)) {
            return connection.notify(method, &with_id);
        }
        let row = kind.and_then(|kind| KINDS.iter().find(|(known, _)| *known == kind));
        let session =
            row.and_then(|_| json::unescape(json::member(params, "sessionId")?)).filter(|_| is_object(params));
        let (Some(update), Some((kind, tell)), Some(session)) = (update, row, session) else {
            return connection.notify(method, params);
        };
        let is_plan = |(named, _): &&(&str, &str)| named.strip_prefix(UPDATE).is_some_and(|rest| rest[1..] == **kind);
        if PLANS.iter().find(is_plan).is_some_and(|(named, _)| connection.can(named)) {
            return connection.notify(method, params);
        }
        let Some(shown) = self.shown(connection, &session) else { return connection.notify(method, params) };
        tell(Down { connection, shown, session: &session, params, update })
    }
}

impl Down<'_> {
    /// A tool call, whose content is kept. Version 1 has no status for one that was cancelled, and cancels none.
    fn call(mut self) -> Result<(), Misuse> {
        let content = json::member(self.update, "content").filter(|content| content.starts_with('['));
        let mut call = Object::of(self.update);
        let is_cancelled = call.text("status").is_some_and(|status| status == "cancelled");
        let own = content.filter(|content| self.shown.has_own(content));
        if is_cancelled {
            call.set("status", "\"failed\"");
        }
        if let Some(own) = own {
            call.set("content", self.shown.content(json::items(own)));
        }
        if call.take("capabilities").is_some() || is_cancelled || own.is_some() {
            self.send(&call)?;
        } else {
            self.connection.notify(UPDATE, self.params)?;
        }
        if let (Some(id), Some(content)) = (text(self.update, "/toolCallId"), content) {
            self.shown.replace(&id, content);
        }
        Ok(())
    }

    /// More content of a tool call.
    fn chunk(mut self) -> Result<(), Misuse> {
        let id = self.id("toolCallId", id!("TOOL-21"))?;
        let Some(item) = json::member(self.update, "content").filter(|item| item.starts_with('{')) else {
            return Err(missing(id!("TOOL-21"), "/update/content", "expected the item to append"));
        };
        let items = self.shown.appended(&id, item);
        let content = self.shown.content(items.iter().map(|item| &**item));
        self.tell(&id, &content)?;
        self.shown.put(&id, items);
        Ok(())
    }

    /// A terminal of the agent's, which is text where a tool call shows it.
    fn terminal(mut self) -> Result<(), Misuse> {
        let id = self.id("terminalId", id!("DTERM-01"))?;
        if let Some(output) = json::member(self.update, "output").filter(|output| *output != "null") {
            base64(text(output, "/data"), "/update/output/data")?;
        }
        if self.shown.terminal(&id, self.update) {
            return self.redraw(&id);
        }
        Ok(())
    }

    fn printed(mut self) -> Result<(), Misuse> {
        let id = self.id("terminalId", id!("DTERM-01"))?;
        let data = base64(text(self.update, "/data"), "/update/data")?;
        self.shown.printed(&id, &data);
        self.redraw(&id)
    }

    fn plan(self) -> Result<(), Misuse> {
        self.connection.notify(UPDATE, self.params)?;
        self.shown.plan = Some(PLAN.into());
        Ok(())
    }

    /// There is one plan, the one that was told last. One in another form than entries is not told.
    fn plan_update(mut self) -> Result<(), Misuse> {
        let Some(id) = text(self.update, "/plan/planId") else {
            return Err(missing(id!("PLAN-06"), "/update/plan/planId", "expected the id of the plan"));
        };
        let mut update = Object::of(self.update);
        let plan = update.take("plan").unwrap_or_default();
        if text(&plan, "/type").is_none_or(|kind| kind != "items") {
            return Ok(());
        }
        let known = |entry: &str| {
            let is = |place, all: &[&str]| text(entry, place).is_none_or(|value| all.contains(&&*value));
            is("/priority", PRIORITIES) && is("/status", STATUSES)
        };
        let entries = json::member(&plan, "entries").unwrap_or("[]");
        let entries = json::items(entries).into_iter().filter(|entry| known(entry));
        let entries = format!("[{}]", entries.collect::<Vec<_>>().join(","));
        update.set("sessionUpdate", "\"plan\"");
        update.set("entries", entries);
        self.send(&update)?;
        self.shown.plan = Some((*id).into());
        Ok(())
    }

    fn plan_removed(mut self) -> Result<(), Misuse> {
        let id = self.id("planId", id!("PLAN-06"))?;
        if self.shown.plan.as_deref() == Some(&*id) {
            let mut update = Object::of(self.update);
            update.take("planId");
            update.set("sessionUpdate", "\"plan\"");
            update.set("entries", "[]");
            self.send(&update)?;
            self.shown.plan = None;
        }
        Ok(())
    }

    /// Sends the update in place of the one that was said.
    fn send(&mut self, update: &Object<'_>) -> Result<(), Misuse> {
        let mut params = Object::of(self.params);
        params.set("update", update.write());
        self.connection.notify(UPDATE, &params.write())
    }

    /// Sends all of the content of a tool call.
    fn tell(&mut self, call: &str, content: &str) -> Result<(), Misuse> {
        let mut update = Object::default();
        update.set("sessionUpdate", "\"tool_call_update\"");
        update.set_text("toolCallId", call);
        update.set("content", content);
        self.connection.notify(UPDATE, &params(self.session, &update.write()))
    }

    /// Sends the content of each tool call that shows a terminal.
    fn redraw(&mut self, terminal: &str) -> Result<(), Misuse> {
        self.shown.showing(terminal).into_iter().try_for_each(|(call, content)| self.tell(&call, &content))
    }

    fn id(&self, member: &str, rule: RuleId) -> Result<String, Misuse> {
        let id = json::member(self.update, member).and_then(json::unescape).filter(|id| !id.is_empty());
        id.map(Cow::into_owned).ok_or_else(|| missing(rule, &format!("/update/{member}"), "expected an id"))
    }
}

fn missing(rule: RuleId, pointer: &str, message: &'static str) -> Misuse {
    Misuse::new(MisuseKind::Params, rule, message).at(pointer)
}

fn base64<'t>(data: Option<Cow<'t, str>>, pointer: &str) -> Result<Cow<'t, str>, Misuse> {
    data.filter(|data| is_base64(data)).ok_or_else(|| missing(id!("DTERM-07"), pointer, "expected bytes as base64"))
}
