//! Permission requests, as the client's handler sees them.

use std::borrow::Cow;
use std::marker::PhantomData;

use super::client_session::ClientSession;
use super::error::Failure;
use super::handlers::{Incoming, Kind};
use crate::json::{self, Writer};
use crate::schema::{self, v1, IntoOwned, Message, Raw};
use crate::Id;

/// A permission request of the agent.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PermissionRequest {
    /// The id of the request.
    pub id: Id,
    /// The session.
    pub session: ClientSession,
    /// The tool call that needs the permission. What it shows in a shape of version 2, such as a diff, is `Unrecognized`.
    pub tool_call: v1::ToolCallUpdate<'static>,
    /// The options to choose from.
    pub options: Vec<v1::PermissionOption<'static>>,
    /// The `_meta` of the request.
    pub meta: Option<Raw<'static>>,
    /// In version 2, why the agent asks.
    pub description: Option<String>,
    /// In version 2, what the permission is for, as JSON: the tool call is made of it if it is none.
    pub subject: Option<Raw<'static>>,
    /// In version 2, the title of the request.
    own_title: Option<String>,
    /// The title that an earlier update gave the tool call.
    known: Option<String>,
}

impl PermissionRequest {
    /// The title of the request, which version 2 has, else that of its tool call, else the one that an earlier update gave
    /// the call, else the call's id.
    pub fn title(&self) -> &str {
        let stated = self.tool_call.title.as_deref().filter(|title| !title.is_empty());
        let own = self.own_title.as_deref();
        own.or(stated).or(self.known.as_deref()).unwrap_or(self.tool_call.tool_call_id.as_str())
    }

    /// The id of the option that allows this call only. `None` if there is none; an option that allows it permanently
    /// is not used in its place.
    pub fn allow(&self) -> Option<String> {
        self.pick(&[v1::PermissionOptionKind::AllowOnce])
    }

    /// The id of the option that allows it permanently, if there is one.
    pub fn allow_always(&self) -> Option<String> {
        self.pick(&[v1::PermissionOptionKind::AllowAlways])
    }

    /// The id of the option that rejects this call only or, if there is none, of the one that rejects it permanently.
    pub fn reject(&self) -> Option<String> {
        self.pick(&[v1::PermissionOptionKind::RejectOnce, v1::PermissionOptionKind::RejectAlways])
    }

    fn pick(&self, kinds: &[v1::PermissionOptionKind<'_>]) -> Option<String> {
        let of_kind = |kind: &v1::PermissionOptionKind<'_>| self.options.iter().find(|option| option.kind == *kind);
        kinds.iter().find_map(of_kind).map(|option| option.option_id.to_string())
    }
}

/// The user's choice. Created from the id of an option, from `None` for no choice, or from a complete answer.
pub struct Choice(v1::RequestPermissionResponse<'static>);

impl From<Option<String>> for Choice {
    fn from(chosen: Option<String>) -> Self {
        use v1::RequestPermissionOutcome::{Cancelled, Selected};
        let outcome = chosen.map_or(Cancelled, |id| Selected(v1::SelectedPermissionOutcome::new(id)));
        Choice(v1::RequestPermissionResponse::new(outcome))
    }
}

impl From<v1::RequestPermissionResponse<'static>> for Choice {
    fn from(response: v1::RequestPermissionResponse<'static>) -> Self {
        Choice(response)
    }
}

/// An object with another value for one of its members.
fn with(object: &str, name: &str, value: &str) -> String {
    let mut out = Writer::new();
    out.begin_object();
    json::members(object)
        .iter()
        .filter(|(other, _)| other != name)
        .for_each(|(other, value)| _ = out.key(other).json(value));
    out.key(name).json(value).end_object();
    out.finish().unwrap_or_default()
}

/// The params whose tool call shows what has another shape in version 1, such as a diff: that stands there as it came.
fn of_version_2(incoming: &Incoming) -> Result<v1::RequestPermissionRequest<'static>, Failure> {
    let json = incoming.json();
    let call = json::pointer(json, "/toolCall").unwrap_or("{}");
    let items = json::items(json::pointer(call, "/content").unwrap_or("[]"));
    let mut params = v1::RequestPermissionRequest::detached(&with(json, "toolCall", &with(call, "content", "null")))?;
    let read = |item: &str| {
        schema::read::<v1::ToolCallContent<'_>>(item).map(IntoOwned::into_owned).or_else(|_| {
            let tag = json::pointer(item, "/type").and_then(json::unescape).unwrap_or_default().into_owned();
            Ok(v1::ToolCallContent::Unrecognized { tag: tag.into(), json: Raw::from_string(item.to_owned())? })
        })
    };
    params.tool_call.content = Some(items.into_iter().map(read).collect::<Result<_, Failure>>()?);
    Ok(params)
}

/// Permission requests, and the results of their handlers.
pub struct Permissions<A>(PhantomData<fn() -> A>);

impl<A> Permissions<A> {
    pub(super) const NEW: Self = Permissions(PhantomData);
}

impl<A: Into<Choice>> Kind for Permissions<A> {
    type Argument = PermissionRequest;
    type Answer = A;

    fn method(&self) -> &'static str {
        "session/request_permission"
    }

    fn argument(&self, incoming: &Incoming) -> Result<PermissionRequest, Failure> {
        let params: v1::RequestPermissionRequest<'static> = incoming.params().or_else(|_| of_version_2(incoming))?;
        let (Some(session), Some(id)) = (ClientSession::of(&incoming.shared, incoming.session()), incoming.id()) else {
            return Err(Failure::new("a request for permission without a session"));
        };
        let v1::RequestPermissionRequest { tool_call, options, meta, .. } = params;
        let call = tool_call.tool_call_id.as_str();
        let known = session.agent().kept(session.id(), |kept| kept.titles.of(call).map(str::to_owned)).flatten();
        let member = |name: &str| json::pointer(incoming.json(), name);
        let text = |name: &str| member(name).and_then(json::unescape).map(Cow::into_owned);
        Ok(PermissionRequest {
            id: id.clone(),
            session,
            tool_call,
            options,
            meta,
            description: text("/description"),
            subject: member("/subject").and_then(|subject| Raw::from_string(subject.to_owned()).ok()),
            own_title: text("/title"),
            known,
        })
    }

    fn result(&self, _: &Incoming, chosen: A) -> Result<String, Failure> {
        let Choice(response) = chosen.into();
        Ok(crate::schema::write(&response)?)
    }
}
