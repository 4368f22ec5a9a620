//! The commonest messages of version 1 in one call each. What they lack is said with `acp_writer_template` and the calls
//! that take JSON text.

use libacp::connection::CallOptions;
use libacp::json::Writer;
use libacp::ErrorCode;

use crate::border::{acp_slice, acp_status, change};
use crate::connection::acp_connection;

/// The object that `write` fills, as JSON text.
fn object(write: impl FnOnce(&mut Writer) -> Result<(), acp_status>) -> Result<String, acp_status> {
    let mut writer = Writer::new();
    writer.begin_object();
    write(&mut writer)?;
    writer.end_object();
    writer.finish().map_err(|_| crate::border::ACP_INVALID_ARGUMENT)
}

/// Adds string members; of those with an empty value, none.
///
/// # Safety
/// As for [`acp_slice::text`].
unsafe fn strings(writer: &mut Writer, members: &[(&str, acp_slice)]) -> Result<(), acp_status> {
    for &(name, value) in members {
        // SAFETY: the caller's promise.
        let value = unsafe { value.text() }?;
        if !value.is_empty() {
            writer.key(name).string(value);
        }
    }
    Ok(())
}

/// Adds the member `content`: a content block of text.
///
/// # Safety
/// As for [`acp_slice::text`].
unsafe fn text_block(writer: &mut Writer, text: acp_slice) -> Result<(), acp_status> {
    // SAFETY: the caller's promise.
    writer.begin_object().key("type").string("text").key("text").string(unsafe { text.text() }?).end_object();
    Ok(())
}

/// Sends a request and writes its number.
///
/// # Safety
/// As for [`change`]; `out` is NULL or can be written.
unsafe fn request(
    connection: *mut acp_connection,
    method: &str,
    out: *mut u64,
    params: impl FnOnce(&mut Writer) -> Result<(), acp_status>,
) -> acp_status {
    // SAFETY: the caller's promise.
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

/// Sends an update of a session.
///
/// # Safety
/// As for [`change`].
unsafe fn update(
    connection: *mut acp_connection,
    session: acp_slice,
    kind: &str,
    update: impl FnOnce(&mut Writer) -> Result<(), acp_status>,
) -> acp_status {
    // SAFETY: the caller's promise.
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

/// Answers a request of the peer's.
///
/// # Safety
/// As for [`change`].
unsafe fn answer(
    connection: *mut acp_connection,
    serial: u64,
    result: impl FnOnce(&mut Writer) -> Result<(), acp_status>,
) -> acp_status {
    // SAFETY: the caller's promise.
    unsafe {
        change(connection, |connection| {
            let result = object(result)?;
            connection.ask(|core| core.respond(serial, &result))
        })
    }
}

/// Adds who a side is, and what it can do (JSON text, empty for nothing).
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
    // SAFETY: the caller's promise.
    let (name, version, capabilities) = unsafe { (name.text()?, version.text()?, capabilities.text()?) };
    writer.key(info).begin_object().key("name").string(name).key("version").string(version).end_object();
    writer.key(can).json(if capabilities.is_empty() { "{}" } else { capabilities });
    Ok(())
}

/// Text of the host's that is to be JSON and is not. Said to the core as it is, it is refused with the reason.
///
/// # Safety
/// As for [`acp_slice::text`].
unsafe fn broken<'a>(json: acp_slice) -> Option<&'a str> {
    // SAFETY: the caller's promise.
    let text = unsafe { json.text() }.ok().filter(|text| !text.is_empty())?;
    let mut writer = Writer::new();
    writer.json(text);
    writer.finish().is_err().then_some(text)
}

/// The client's `initialize`: its name and version, and its capabilities as JSON text (empty for none).
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_client_initialize(
    connection: *mut acp_connection,
    name: acp_slice,
    version: acp_slice,
    capabilities: acp_slice,
    out: *mut u64,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection`, `name`, `version`, `capabilities` and `out`.
    unsafe {
        if let Some(text) = broken(capabilities) {
            return change(connection, |client| client.send("initialize", text, CallOptions::default()).map(drop));
        }
        request(connection, "initialize", out, |writer| {
            introduce(writer, ["clientInfo", "clientCapabilities"], name, version, capabilities)
        })
    }
}

/// The client's `session/new` in a working directory, without MCP servers. The result's `/sessionId` is the session's id.
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_client_new_session(
    connection: *mut acp_connection,
    cwd: acp_slice,
    out: *mut u64,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection`, `cwd` and `out`.
    unsafe {
        request(connection, "session/new", out, |writer| {
            writer.key("cwd").string(cwd.text()?).key("mcpServers").begin_array().end_array();
            Ok(())
        })
    }
}

/// The client's `session/prompt` of one text. The result's `/stopReason` says why the turn ended. It has the time-out of
/// the configuration; for a turn without one there is `acp_connection_request_with` and `ACP_NEVER`.
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_client_prompt(
    connection: *mut acp_connection,
    session: acp_slice,
    text: acp_slice,
    out: *mut u64,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection`, `session`, `text` and `out`.
    unsafe {
        request(connection, "session/prompt", out, |writer| {
            writer.key("sessionId").string(session.text()?).key("prompt").begin_array();
            text_block(writer, text)?;
            writer.end_array();
            Ok(())
        })
    }
}

/// The client's `session/cancel`.
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_client_cancel(connection: *mut acp_connection, session: acp_slice) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection` and `session`.
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

/// The client's answer to `session/request_permission`: the option that was chosen, by its id; empty where none was, which
/// is the outcome `cancelled`.
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_client_answer_permission(
    connection: *mut acp_connection,
    serial: u64,
    option: acp_slice,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection` and `option`.
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

/// The client's answer to `fs/read_text_file`.
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_client_answer_file(
    connection: *mut acp_connection,
    serial: u64,
    content: acp_slice,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection` and `content`.
    unsafe {
        answer(connection, serial, |writer| {
            writer.key("content").string(content.text()?);
            Ok(())
        })
    }
}

/// The agent's answer to `initialize`: its name and version, and its capabilities as JSON text (empty for none).
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_agent_answer_initialize(
    connection: *mut acp_connection,
    serial: u64,
    name: acp_slice,
    version: acp_slice,
    capabilities: acp_slice,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection`, `name`, `version` and `capabilities`.
    unsafe {
        if let Some(text) = broken(capabilities) {
            return change(connection, |agent| agent.ask(|core| core.respond(serial, text)));
        }
        answer(connection, serial, |writer| {
            introduce(writer, ["agentInfo", "agentCapabilities"], name, version, capabilities)
        })
    }
}

/// The agent's answer to `session/new`: the id of the new session, which no other one of the connection has.
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_agent_answer_new_session(
    connection: *mut acp_connection,
    serial: u64,
    session: acp_slice,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection` and `session`.
    unsafe {
        answer(connection, serial, |writer| {
            writer.key("sessionId").string(session.text()?);
            Ok(())
        })
    }
}

/// The agent's answer to `session/prompt`: why the turn ended (`ACP_STOP_…`).
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_agent_answer_prompt(
    connection: *mut acp_connection,
    serial: u64,
    stop_reason: acp_slice,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection` and `stop_reason`.
    unsafe {
        answer(connection, serial, |writer| {
            writer.key("stopReason").string(stop_reason.text()?);
            Ok(())
        })
    }
}

/// Something that the agent says: an update `agent_message_chunk` with a text.
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_agent_message(
    connection: *mut acp_connection,
    session: acp_slice,
    text: acp_slice,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection`, `session` and `text`.
    unsafe { update(connection, session, "agent_message_chunk", |writer| text_block(writer.key("content"), text)) }
}

/// Something that the agent thinks: an update `agent_thought_chunk` with a text.
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_agent_thought(
    connection: *mut acp_connection,
    session: acp_slice,
    text: acp_slice,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection`, `session` and `text`.
    unsafe { update(connection, session, "agent_thought_chunk", |writer| text_block(writer.key("content"), text)) }
}

/// A tool call that begins: an update `tool_call`. `kind` (`ACP_TOOL_KIND_…`) and `status` (`ACP_TOOL_STATUS_…`) may be
/// empty.
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
    // SAFETY: the caller keeps what the header says of `connection`, `session`, `id`, `title`, `kind` and `status`.
    unsafe {
        update(connection, session, "tool_call", |writer| {
            writer.key("toolCallId").string(id.text()?).key("title").string(title.text()?);
            strings(writer, &[("kind", kind), ("status", status)])
        })
    }
}

/// A tool call that goes on: an update `tool_call_update`. `status` (`ACP_TOOL_STATUS_…`) may be empty; so may `text`, which
/// takes the place of all that the call has shown.
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_agent_tool_call_update(
    connection: *mut acp_connection,
    session: acp_slice,
    id: acp_slice,
    status: acp_slice,
    text: acp_slice,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection`, `session`, `id`, `status` and `text`.
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

/// Answers a request that the host does not serve: `method not found`, with the method in the data.
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_connection_respond_not_served(connection: *mut acp_connection, serial: u64) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection`.
    unsafe {
        change(connection, |connection| {
            let method = connection.core().unanswered_by_serial(serial).map(|request| request.method.clone());
            let data = object(|writer| {
                writer.key("method").string(method.as_deref().unwrap_or_default());
                Ok(())
            })?;
            let code = ErrorCode::METHOD_NOT_FOUND;
            connection.ask(|core| core.respond_error(serial, code, "Method not found", Some(&data)))
        })
    }
}

/// Answers a request that the host could not serve, as a call of its own was refused: `internal error`, with the rule of the
/// last refusal in the data. What is said of it stays as it was.
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_connection_respond_refused(connection: *mut acp_connection, serial: u64) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection`.
    unsafe {
        change(connection, |connection| {
            let rule = connection.error.as_ref().map(|error| error.rule.as_str().to_owned());
            let data = object(|writer| {
                if let Some(rule) = &rule {
                    writer.key("rule").string(rule);
                }
                Ok(())
            })?;
            let data = rule.is_some().then_some(&*data);
            let code = ErrorCode::INTERNAL_ERROR;
            connection.ask(|core| core.respond_error(serial, code, "Internal error", data))
        })
    }
}
