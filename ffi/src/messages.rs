//! The most common messages of version 1 in one call each. For everything else there are `acp_writer_template` and the
//! calls that take JSON text.

use libacp::connection::CallOptions;
use libacp::json::Writer;

use crate::border::{acp_slice, acp_status, change};
use crate::connection::acp_connection;

/// The object that `write` fills, as JSON text.
pub(crate) fn object(write: impl FnOnce(&mut Writer) -> Result<(), acp_status>) -> Result<String, acp_status> {
    let mut writer = Writer::new();
    writer.begin_object();
    write(&mut writer)?;
    writer.end_object();
    writer.finish().map_err(|_| crate::border::ACP_INVALID_ARGUMENT)
}

/// Adds string members, leaving out those with an empty value.
///
/// # Safety
/// As for [`acp_slice::text`].
unsafe fn strings(writer: &mut Writer, members: &[(&str, acp_slice)]) -> Result<(), acp_status> {
    for &(name, value) in members {
        // SAFETY: as `# Safety` requires.
        let value = unsafe { value.text() }?;
        if !value.is_empty() {
            writer.key(name).string(value);
        }
    }
    Ok(())
}

/// Writes a content block of text.
///
/// # Safety
/// As for [`acp_slice::text`].
unsafe fn text_block(writer: &mut Writer, text: acp_slice) -> Result<(), acp_status> {
    // SAFETY: as `# Safety` requires.
    writer.begin_object().key("type").string("text").key("text").string(unsafe { text.text() }?).end_object();
    Ok(())
}

/// Sends a request and writes its serial number.
///
/// # Safety
/// As for [`change`]; `out` is NULL or can be written.
unsafe fn request(
    connection: *mut acp_connection,
    method: &str,
    out: *mut u64,
    params: impl FnOnce(&mut Writer) -> Result<(), acp_status>,
) -> acp_status {
    // SAFETY: as `# Safety` requires.
    unsafe {
        change(connection, |connection| {
            let serial = connection.send(method, &object(params)?, CallOptions::default())?;
            if !out.is_null() {
                out.write(serial);
            }
            Ok(())
        })
    }
}

/// Sends a `session/update`.
///
/// # Safety
/// As for [`change`] and [`acp_slice::text`].
unsafe fn update(
    connection: *mut acp_connection,
    session: acp_slice,
    kind: &str,
    update: impl FnOnce(&mut Writer) -> Result<(), acp_status>,
) -> acp_status {
    // SAFETY: as `# Safety` requires.
    unsafe {
        change(connection, |connection| {
            let params = object(|writer| {
                writer.key("sessionId").string(session.text()?);
                writer.key("update").begin_object().key("sessionUpdate").string(kind);
                update(writer)?;
                writer.end_object();
                Ok(())
            })?;
            connection.tell("session/update", &params)
        })
    }
}

/// Answers one of the peer's requests.
///
/// # Safety
/// As for [`change`].
unsafe fn answer(
    connection: *mut acp_connection,
    serial: u64,
    result: impl FnOnce(&mut Writer) -> Result<(), acp_status>,
) -> acp_status {
    // SAFETY: as `# Safety` requires.
    unsafe {
        change(connection, |connection| {
            let result = object(result)?;
            connection.ask(|core| core.respond(serial, &result))
        })
    }
}

/// Adds the name and the capabilities of a side.
///
/// # Safety
/// As for [`acp_slice::text`].
unsafe fn introduce(
    writer: &mut Writer,
    names: [&str; 2],
    name: acp_slice,
    version: acp_slice,
    capabilities: acp_slice,
) -> Result<(), acp_status> {
    let [info, can] = names;
    // SAFETY: as `# Safety` requires.
    let (name, version, capabilities) = unsafe { (name.text()?, version.text()?, capabilities.text()?) };
    writer.key(info).begin_object().key("name").string(name).key("version").string(version).end_object();
    writer.key(can).json(if capabilities.is_empty() { "{}" } else { capabilities });
    Ok(())
}

/// The text that should be JSON and is not. Passed to the core as it is, it is refused with the reason.
///
/// # Safety
/// As for [`acp_slice::text`].
unsafe fn broken<'a>(json: acp_slice) -> Option<&'a str> {
    // SAFETY: as `# Safety` requires.
    let text = unsafe { json.text() }.ok().filter(|text| !text.is_empty())?;
    let mut writer = Writer::new();
    writer.json(text);
    writer.finish().is_err().then_some(text)
}

/// Sends a client's `initialize`.
///
/// - `connection`: the connection
/// - `name`: the client's name
/// - `version`: the client's version
/// - `capabilities`: JSON text of the `clientCapabilities` object; empty for none
/// - `*out`: the request's serial number; `out` may be NULL
/// - returns: `ACP_OK`; `ACP_MISUSE` if the protocol does not allow the request now or `capabilities` does not fit; or
///   a general error
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_client_initialize(
    connection: *mut acp_connection,
    name: acp_slice,
    version: acp_slice,
    capabilities: acp_slice,
    out: *mut u64,
) -> acp_status {
    // SAFETY: `connection`, `name`, `version`, `capabilities` and `out` are as the header requires.
    unsafe {
        if let Some(text) = broken(capabilities) {
            return change(connection, |client| client.send("initialize", text, CallOptions::default()).map(drop));
        }
        request(connection, "initialize", out, |writer| {
            introduce(writer, ["clientInfo", "clientCapabilities"], name, version, capabilities)
        })
    }
}

/// Sends a client's `session/new` without MCP servers. `/sessionId` in the result is the id of the new session.
///
/// - `connection`: the connection
/// - `cwd`: the working directory, an absolute path
/// - `*out`: the request's serial number; `out` may be NULL
/// - returns: `ACP_OK`; `ACP_MISUSE` if the protocol does not allow the request now or `cwd` is not an absolute path;
///   or a general error
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_client_new_session(
    connection: *mut acp_connection,
    cwd: acp_slice,
    out: *mut u64,
) -> acp_status {
    // SAFETY: `connection`, `cwd` and `out` are as the header requires.
    unsafe {
        request(connection, "session/new", out, |writer| {
            writer.key("cwd").string(cwd.text()?).key("mcpServers").begin_array().end_array();
            Ok(())
        })
    }
}

/// Sends a client's `session/prompt` with one text. `/stopReason` in the result says why the turn ended. The time-out
/// of the configuration applies; for none, use `acp_connection_request_with` and `ACP_NEVER`.
///
/// - `connection`: the connection
/// - `session`: the session's id
/// - `text`: the text of the prompt
/// - `*out`: the request's serial number; `out` may be NULL
/// - returns: `ACP_OK`; `ACP_MISUSE` if the session is not open, a turn is running, or the protocol does not allow the
///   request for another reason; or a general error
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_client_prompt(
    connection: *mut acp_connection,
    session: acp_slice,
    text: acp_slice,
    out: *mut u64,
) -> acp_status {
    // SAFETY: `connection`, `session`, `text` and `out` are as the header requires.
    unsafe {
        request(connection, "session/prompt", out, |writer| {
            writer.key("sessionId").string(session.text()?).key("prompt").begin_array();
            text_block(writer, text)?;
            writer.end_array();
            Ok(())
        })
    }
}

/// Sends a client's `session/cancel`, which stops the prompt turn of a session. The prompt still ends with one
/// `ACP_EVENT_RESPONSE`. The agent's open permission requests of the session are answered with `cancelled`.
///
/// - `connection`: the connection
/// - `session`: the session's id
/// - returns: `ACP_OK`; `ACP_MISUSE` if the session is not open, or the protocol does not allow the notification for
///   another reason; or a general error
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_client_cancel(connection: *mut acp_connection, session: acp_slice) -> acp_status {
    // SAFETY: `connection` and `session` are as the header requires.
    unsafe {
        change(connection, |connection| {
            let params = object(|writer| {
                writer.key("sessionId").string(session.text()?);
                Ok(())
            })?;
            connection.tell("session/cancel", &params)
        })
    }
}

/// Answers an agent's `session/request_permission`.
///
/// - `connection`: the connection
/// - `serial`: the request's serial number, from its event
/// - `option`: the id of the option that the user chose; empty for none, which is the outcome `cancelled`
/// - returns: `ACP_OK`; `ACP_MISUSE` if no such request is open or it has no such option; or a general error
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_client_answer_permission(
    connection: *mut acp_connection,
    serial: u64,
    option: acp_slice,
) -> acp_status {
    // SAFETY: `connection` and `option` are as the header requires.
    unsafe {
        answer(connection, serial, |writer| {
            let chosen = if option.text()?.is_empty() { "cancelled" } else { "selected" };
            writer.key("outcome").begin_object().key("outcome").string(chosen);
            strings(writer, &[("optionId", option)])?;
            writer.end_object();
            Ok(())
        })
    }
}

/// Answers an agent's `fs/read_text_file`.
///
/// - `connection`: the connection
/// - `serial`: the request's serial number, from its event
/// - `content`: the text of the file, or of the lines that were asked for
/// - returns: `ACP_OK`; `ACP_MISUSE` if no such request is open; or a general error
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_client_answer_file(
    connection: *mut acp_connection,
    serial: u64,
    content: acp_slice,
) -> acp_status {
    // SAFETY: `connection` and `content` are as the header requires.
    unsafe {
        answer(connection, serial, |writer| {
            writer.key("content").string(content.text()?);
            Ok(())
        })
    }
}

/// Answers a client's `initialize`.
///
/// - `connection`: the connection
/// - `serial`: the request's serial number, from its event
/// - `name`: the agent's name
/// - `version`: the agent's version
/// - `capabilities`: JSON text of the `agentCapabilities` object; empty for none
/// - returns: `ACP_OK`; `ACP_MISUSE` if no such request is open or `capabilities` does not fit; or a general error
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_agent_answer_initialize(
    connection: *mut acp_connection,
    serial: u64,
    name: acp_slice,
    version: acp_slice,
    capabilities: acp_slice,
) -> acp_status {
    // SAFETY: `connection`, `name`, `version` and `capabilities` are as the header requires.
    unsafe {
        if let Some(text) = broken(capabilities) {
            return change(connection, |agent| agent.ask(|core| core.respond(serial, text)));
        }
        answer(connection, serial, |writer| {
            introduce(writer, ["agentInfo", "agentCapabilities"], name, version, capabilities)
        })
    }
}

/// Answers a client's `session/new`.
///
/// - `connection`: the connection
/// - `serial`: the request's serial number, from its event
/// - `session`: the id of the new session, unique on the connection
/// - returns: `ACP_OK`; `ACP_MISUSE` if no such request is open or the id is in use; or a general error
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_agent_answer_new_session(
    connection: *mut acp_connection,
    serial: u64,
    session: acp_slice,
) -> acp_status {
    // SAFETY: `connection` and `session` are as the header requires.
    unsafe {
        answer(connection, serial, |writer| {
            writer.key("sessionId").string(session.text()?);
            Ok(())
        })
    }
}

/// Answers a client's `session/prompt`, which ends the turn.
///
/// - `connection`: the connection
/// - `serial`: the request's serial number, from its event
/// - `stop_reason`: one of `ACP_STOP_…`; `cancelled` is sent instead if the client has cancelled the turn
/// - returns: `ACP_OK`; `ACP_MISUSE` if no such request is open or the stop reason does not exist; or a general error
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_agent_answer_prompt(
    connection: *mut acp_connection,
    serial: u64,
    stop_reason: acp_slice,
) -> acp_status {
    // SAFETY: `connection` and `stop_reason` are as the header requires.
    unsafe {
        answer(connection, serial, |writer| {
            writer.key("stopReason").string(stop_reason.text()?);
            Ok(())
        })
    }
}

/// Sends a piece of the agent's answer: an update `agent_message_chunk` with a text.
///
/// - `connection`: the connection
/// - `session`: the session's id
/// - `text`: the text
/// - returns: `ACP_OK`; `ACP_MISUSE` if the protocol does not allow the update now; or a general error
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_agent_message(
    connection: *mut acp_connection,
    session: acp_slice,
    text: acp_slice,
) -> acp_status {
    // SAFETY: `connection`, `session` and `text` are as the header requires.
    unsafe { update(connection, session, "agent_message_chunk", |writer| text_block(writer.key("content"), text)) }
}

/// Sends a piece of the agent's reasoning: an update `agent_thought_chunk` with a text.
///
/// - `connection`: the connection
/// - `session`: the session's id
/// - `text`: the text
/// - returns: `ACP_OK`; `ACP_MISUSE` if the protocol does not allow the update now; or a general error
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_agent_thought(
    connection: *mut acp_connection,
    session: acp_slice,
    text: acp_slice,
) -> acp_status {
    // SAFETY: `connection`, `session` and `text` are as the header requires.
    unsafe { update(connection, session, "agent_thought_chunk", |writer| text_block(writer.key("content"), text)) }
}

/// Announces a tool call: an update `tool_call`.
///
/// - `connection`: the connection
/// - `session`: the session's id
/// - `id`: the id of the tool call, unique within its session
/// - `title`: what the call does, for the user
/// - `kind`: one of `ACP_TOOL_KIND_…`; empty to leave it out
/// - `status`: one of `ACP_TOOL_STATUS_…`; empty to leave it out
/// - returns: `ACP_OK`; `ACP_MISUSE` if the protocol does not allow the update now or a value does not exist; or a
///   general error
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_agent_tool_call(
    connection: *mut acp_connection,
    session: acp_slice,
    id: acp_slice,
    title: acp_slice,
    kind: acp_slice,
    status: acp_slice,
) -> acp_status {
    // SAFETY: `connection`, `session`, `id`, `title`, `kind` and `status` are as the header requires.
    unsafe {
        update(connection, session, "tool_call", |writer| {
            writer.key("toolCallId").string(id.text()?).key("title").string(title.text()?);
            strings(writer, &[("kind", kind), ("status", status)])
        })
    }
}

/// Updates a tool call: an update `tool_call_update`.
///
/// - `connection`: the connection
/// - `session`: the session's id
/// - `id`: the id of the tool call
/// - `status`: one of `ACP_TOOL_STATUS_…`; empty to leave it out
/// - `text`: a text that replaces all content of the call so far; empty to leave the content as it is
/// - returns: `ACP_OK`; `ACP_MISUSE` if the protocol does not allow the update now or the status does not exist; or a
///   general error
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_agent_tool_call_update(
    connection: *mut acp_connection,
    session: acp_slice,
    id: acp_slice,
    status: acp_slice,
    text: acp_slice,
) -> acp_status {
    // SAFETY: `connection`, `session`, `id`, `status` and `text` are as the header requires.
    unsafe {
        update(connection, session, "tool_call_update", |writer| {
            writer.key("toolCallId").string(id.text()?);
            strings(writer, &[("status", status)])?;
            if !text.text()?.is_empty() {
                writer.key("content").begin_array().begin_object().key("type").string("content");
                text_block(writer.key("content"), text)?;
                writer.end_object().end_array();
            }
            Ok(())
        })
    }
}
