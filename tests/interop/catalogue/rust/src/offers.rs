//! What the client offers to agents: files, terminals, permissions, forms and extensions.

use std::cell::RefCell;
use std::future::pending;
use std::rc::Rc;
use std::sync::Arc;

use libacp::aio::{Client, Failure, Handlers, PermissionRequest, Received};
use libacp::connection::Versions;
use libacp::schema::{v1, Message, Raw};
use libacp::typed::ClientSide;
use libacp::Config;
use libacp_tokio::{ClientExt, Files, Terminals};
use serde_json::{json, Value};
use tokio::sync::{mpsc, Notify};

/// The ids of elicitations that are complete.
pub(crate) type Completed = Rc<RefCell<Vec<String>>>;

/// Bytes of a message that views keep.
const LARGE: usize = 16 * 1024 * 1024;

/// A client that rings when a permission is asked for, and hands on the agent's notes.
pub(crate) fn client(
    version: u16,
    asked: Arc<Notify>,
    note: mpsc::UnboundedSender<Value>,
    completed: Completed,
) -> Client<impl Handlers> {
    let switches = v1::SessionConfigOptionsCapabilities::new().boolean(v1::BooleanConfigOptionCapabilities::new());
    let forms = v1::ElicitationCapabilities::new().form(v1::ElicitationFormCapabilities::new());
    let forms = forms.url(v1::ElicitationUrlCapabilities::new());
    let offered = v1::ClientCapabilities::new()
        .elicitation(forms)
        .session(v1::ClientSessionCapabilities::new().config_options(switches));
    let mut config = Config::client();
    // The message of the largest step.
    (config.limits.view_content, config.limits.view_bytes) = (LARGE, 4 * LARGE);
    Client::new("catalogue", "1.0")
        .config(config)
        .versions(Versions::only(version))
        .views()
        .capabilities(offered)
        .files(Files::new())
        .terminals(Terminals::new())
        .permission(move |request: PermissionRequest| {
            let asked = Arc::clone(&asked);
            async move {
                asked.notify_one();
                let meta: Value = request.meta.as_ref().map(Raw::parse).transpose()?.unwrap_or_default();
                match request.title() {
                    "wait" => pending().await,
                    "allow" => Ok::<_, Failure>(request.allow()),
                    "meta" if meta["libacp.dev/trace"] == "abc" => Ok(request.allow()),
                    _ => Ok(request.reject()),
                }
            }
        })
        .on::<fn(v1::CreateElicitationRequest), _>(async |got| {
            let answer = if matches!(got.mode, v1::CreateElicitationRequestMode::Url(_)) {
                json!({"action": "accept"})
            } else if got.message == "Which colour?" {
                json!({"action": "accept", "content": {"colour": "blue"}})
            } else {
                json!({"action": "decline"})
            };
            Ok(v1::CreateElicitationResponse::detached(&answer.to_string())?.into())
        })
        .on_notification::<fn(v1::CompleteElicitationNotification), _>(async move |got| {
            completed.borrow_mut().push(got.elicitation_id.0.to_string());
            Ok(())
        })
        .on_extension("_libacp.dev/echo", async |got| Ok(got.into_params().into()))
        .on_extension_notification("_libacp.dev/noted", move |got: Received<ClientSide, fn(Raw)>| {
            let sent = got.parse::<Value>().map(|params| note.send(params));
            async move { sent.map(drop).map_err(Failure::from) }
        })
        .on_violation(|violation| eprintln!("{}: {}", violation.rule, violation.message))
}
