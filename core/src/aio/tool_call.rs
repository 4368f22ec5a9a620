//! A tool call that reports its progress and can request permission.

use std::future::poll_fn;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::json;

use super::agent_session::AgentSession;
use super::error::Error;
use crate::schema::{v1, IntoOwned, Raw};

/// A tool call that was reported to the client. Started by [`Turn::tool_call`](super::Turn::tool_call).
///
/// End it with [`complete`](Self::complete) or [`fail`](Self::fail). If it is dropped before, because of an error or
/// because the turn was cancelled, it is reported as failed.
#[derive(Debug)]
pub struct ToolCall {
    session: AgentSession,
    id: v1::ToolCallId<'static>,
    title: String,
    status: Option<v1::ToolCallStatus<'static>>,
    content: Vec<v1::ToolCallContent<'static>>,
    over: bool,
}

impl ToolCall {
    pub(super) async fn start(session: &AgentSession, call: v1::ToolCall<'_>) -> Result<Self, Error> {
        let mut call = call.into_owned();
        if call.tool_call_id.as_str().is_empty() {
            call.tool_call_id = new_id("call").into();
        }
        let mut started = ToolCall {
            session: session.clone(),
            id: call.tool_call_id.clone(),
            title: call.title.to_string(),
            status: call.status.clone(),
            content: call.content.clone(),
            // Until it was reported, there is nothing to end.
            over: true,
        };
        session.update(&v1::SessionUpdate::ToolCall(call)).await?;
        started.over = false;
        Ok(started)
    }

    /// The tool call's id.
    pub fn id(&self) -> &str {
        self.id.as_str()
    }

    /// The title that was reported last.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The status that was reported last.
    pub fn status(&self) -> Option<&v1::ToolCallStatus<'static>> {
        self.status.as_ref()
    }

    /// An empty update of this call, to fill in and pass to [`update`](Self::update).
    pub fn changes(&self) -> v1::ToolCallUpdate<'static> {
        v1::ToolCallUpdate::new(self.id.clone())
    }

    /// Reports changes. Absent members stay unchanged; content and locations replace the earlier ones.
    ///
    /// # Errors
    /// [`Error`] if the update cannot be sent, here and in the other methods.
    pub async fn update(&mut self, changes: v1::ToolCallUpdate<'_>) -> Result<(), Error> {
        let changes = changes.into_owned();
        let (title, status) = (changes.title.clone(), changes.status.clone());
        let content = changes.content.clone();
        self.session.update(&v1::SessionUpdate::ToolCallUpdate(changes)).await?;
        self.over |= matches!(status, Some(v1::ToolCallStatus::Completed | v1::ToolCallStatus::Failed));
        self.status = status.or(self.status.take());
        self.title = title.map_or(std::mem::take(&mut self.title), |title| title.to_string());
        if let Some(content) = content {
            self.content = content;
        }
        Ok(())
    }

    /// Adds text to the content of the call.
    pub async fn text(&mut self, text: &str) -> Result<(), Error> {
        self.add(v1::Content::new(text.into()).into()).await
    }

    /// Adds a change of a file to the content of the call. Without `old_text`, the file is new.
    pub async fn diff(&mut self, path: &str, new_text: &str, old_text: Option<&str>) -> Result<(), Error> {
        let mut diff = v1::Diff::new(path, new_text);
        diff.old_text = old_text.map(Into::into);
        self.add(diff.into()).await
    }

    /// Adds a terminal to the content of the call, of the client's or of the agent's own. The client shows its output live.
    pub async fn show<'t>(&mut self, terminal: impl Into<v1::Terminal<'t>>) -> Result<(), Error> {
        self.add(terminal.into().into()).await
    }

    /// Adds an item to the content of the call, as [`text`](Self::text) and others do, which send all of the content each
    /// time. In version 2 this sends the item alone. Version 1 has no such update: the client gets the content again, of
    /// which the last 64 KiB.
    pub async fn append(&mut self, item: impl Into<v1::ToolCallContent<'_>>) -> Result<(), Error> {
        let item = item.into().into_owned();
        let chunk = json!({"toolCallId": self.id, "content": item});
        self.session.update_of_2("tool_call_content_chunk", &chunk).await?;
        self.content.push(item);
        Ok(())
    }

    /// Requests permission for the call, with the options to allow it once and to reject it once. If the call is
    /// allowed and pending, it is reported as in progress.
    pub async fn ask_permission(&mut self) -> Result<Permission, Error> {
        self.ask_permission_with(vec![]).await
    }

    /// Like [`ask_permission`](Self::ask_permission), with the agent's own options.
    pub async fn ask_permission_with(&mut self, options: Vec<v1::PermissionOption<'_>>) -> Result<Permission, Error> {
        let mut call = self.changes();
        call.title = Some(self.title.clone().into());
        let permission = ask_permission(&self.session, call, options).await?;
        if permission.allowed && self.status.as_ref().is_none_or(|status| *status == v1::ToolCallStatus::Pending) {
            let mut changes = self.changes();
            changes.status = Some(v1::ToolCallStatus::InProgress);
            self.update(changes).await?;
        }
        Ok(permission)
    }

    /// Reports the call as completed.
    pub async fn complete(mut self) -> Result<(), Error> {
        self.end(v1::ToolCallStatus::Completed, None).await
    }

    /// Reports the call as completed, with the raw output of the tool.
    pub async fn complete_with(mut self, raw_output: Raw<'_>) -> Result<(), Error> {
        self.end(v1::ToolCallStatus::Completed, Some(raw_output.into_owned())).await
    }

    /// Reports the call as cancelled. Version 1 has no such status: the call has failed there.
    pub async fn cancelled(mut self) -> Result<(), Error> {
        let update = json!({"sessionUpdate": "tool_call_update", "toolCallId": self.id, "status": "cancelled"});
        self.session.update_now(&update)?;
        self.over().await
    }

    /// Reports the call as failed, with the reason as its content.
    pub async fn fail(mut self, why: &str) -> Result<(), Error> {
        self.content.push(v1::Content::new(why.to_owned().into()).into());
        self.end(v1::ToolCallStatus::Failed, None).await
    }

    async fn add(&mut self, item: v1::ToolCallContent<'_>) -> Result<(), Error> {
        let mut content = self.content.clone();
        content.push(item.into_owned());
        let mut changes = self.changes();
        changes.content = Some(content);
        self.update(changes).await
    }

    /// Sends the end of the call without waiting first, so that a future that is dropped here does not leave the call
    /// open.
    async fn end(&mut self, status: v1::ToolCallStatus<'static>, output: Option<Raw<'static>>) -> Result<(), Error> {
        let mut changes = self.changes();
        changes.raw_output = output;
        if status == v1::ToolCallStatus::Failed {
            changes.content = Some(self.content.clone());
        }
        changes.status = Some(status);
        self.session.update_now(&v1::SessionUpdate::ToolCallUpdate(changes))?;
        self.over().await
    }

    /// The end was sent; waits for room.
    async fn over(&mut self) -> Result<(), Error> {
        self.over = true;
        let shared = &self.session.client().shared;
        poll_fn(|cx| shared.with(|state| state.room(cx))).await;
        Ok(())
    }
}

impl Drop for ToolCall {
    fn drop(&mut self) {
        if !self.over {
            let mut changes = self.changes();
            changes.status = Some(v1::ToolCallStatus::Failed);
            // If this fails too, the reason for which the call was dropped matters more.
            let _ = self.session.update_now(&v1::SessionUpdate::ToolCallUpdate(changes));
        }
    }
}

/// The user's answer to a request for permission.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Permission {
    /// The option that was chosen; `None` if none was.
    pub option_id: Option<v1::PermissionOptionId<'static>>,
    /// The kind of that option.
    pub kind: Option<v1::PermissionOptionKind<'static>>,
    /// Whether the option allows the tool call.
    pub allowed: bool,
    /// The `_meta` of the response.
    pub meta: Option<Raw<'static>>,
}

pub(super) async fn ask_permission(
    session: &AgentSession,
    call: v1::ToolCallUpdate<'_>,
    options: Vec<v1::PermissionOption<'_>>,
) -> Result<Permission, Error> {
    use v1::PermissionOptionKind::{AllowAlways, AllowOnce, RejectOnce};
    let options: Vec<v1::PermissionOption<'static>> = if options.is_empty() {
        let once = |id: &'static str, name: &'static str, kind| v1::PermissionOption::new(id, name, kind);
        vec![once("allow", "Allow", AllowOnce), once("reject", "Reject", RejectOnce)]
    } else {
        options.into_owned()
    };
    let request = v1::RequestPermissionRequest::new(session.id(), call, options.clone());
    let answer = session.client().call(&request).await?;
    let option_id = match answer.outcome {
        v1::RequestPermissionOutcome::Selected(selected) => Some(selected.option_id),
        _ => None,
    };
    let chosen = options.into_iter().find(|option| Some(&option.option_id) == option_id.as_ref());
    let kind = chosen.map(|option| option.kind);
    let allowed = matches!(kind, Some(AllowOnce | AllowAlways));
    Ok(Permission { option_id, kind, allowed, meta: answer.meta })
}

/// An id that no other tool call or terminal of this program has.
pub(super) fn new_id(of: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("{of}-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}
